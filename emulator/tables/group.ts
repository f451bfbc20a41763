import { bool, enumeration, int32, map, messageType, object, text } from "../gateway/fields";
import type { Message } from "../gateway/fields";
import { Code, errorInfo, invalidField, notFound, StatusError } from "../gateway/status";
import type { PlatformService } from "../service/platformService";
import type { Caller } from "../service/tokens";
import type { Entry } from "../service/store";
import { descriptionFlags, emptyMessage, nameFlags, times, uid } from "./common";
import type { KindTable } from "./kindTable";

export const groupMessage = messageType({
  uid,
  name: text(nameFlags),
  description: text(descriptionFlags),
  kind: enumeration("ORG_KIND", "STARTER CUSTOMER DEV INFRA AWS_MARKETPLACE"),
  verified: bool(),
  resourceLimits: map(int32(), { outputOnly: true }),
  status: enumeration("ORG_STATUS", "INITIALIZING READY SUSPENDED", { outputOnly: true }),
  ...times,
});

export const group: KindTable = {
  kind: "Group",
  prefix: "/iam/v2",
  collection: "groups",
  message: groupMessage,
  methods: ["list", "get", "create", "update", "delete"],
  capabilities: "IAM_GROUPS",
  hasNameFilter: true,
  custom: [
    {
      rpc: "iam.v2.GroupsService/LookupGroup",
      verb: "GET",
      pattern: "/iam/v2/groups:lookupGroup",
      request: emptyMessage,
      response: messageType({
        group: object(groupMessage),
      }),
      run({ caller }, platform) {
        const found = groupOf(caller, platform);
        if (!found) throw notFound("Group", domainOf(caller));
        return { group: platform.toResponse(found) };
      },
    },
    {
      rpc: "iam.v2.GroupsService/CheckEligibility",
      verb: "GET",
      pattern: "/iam/v2/groups:checkEligibility",
      request: emptyMessage,
      response: messageType({ eligible: bool() }),
      run: ({ caller }, platform) => ({ eligible: groupOf(caller, platform) !== undefined }),
    },
    {
      rpc: "iam.v2.GroupsService/RequestGroupAccess",
      verb: "POST",
      pattern: "/iam/v2/groups/{groupUid=**}:requestGroupAccess",
      body: "*",
      request: messageType({ groupUid: text() }),
      response: emptyMessage,
      run({ request, caller }, platform) {
        const entry = platform.requireEntry("Group", request.groupUid);
        if (entry.parent !== "") {
          throw invalidField("groupUid", "access is requested to root groups");
        }
        const requests = platform.store.accessRequests;
        const key = `${caller.uid} ${entry.uid}`;
        if (requests.has(key)) {
          throw new StatusError(Code.resourceExhausted, "Resource exhausted: access is requested already", [
            errorInfo("ALREADY_REQUESTED"),
          ]);
        }
        requests.add(key);
        return {};
      },
    },
  ],
  parent: "Group",
  events: {
    name: "iam.group",
    group: ({ uid: own, parent }, action) => (action === "deleted" ? parent : own),
  },
  mayBeRoot: true,
  refusesDeleteWithChildren: true,
  check(write, platform) {
    const { value, before, parent } = write;
    if (write.isFullReplacement && before) {
      // A full replacement includes kind and status, and every group has a status.
      write.addViolation("updateMask", "* would replace kind and status, which hold values");
    }
    if (parent !== "") {
      const inherited = findRootGroup(parent, platform)?.value.kind;
      if (value.kind !== undefined && value.kind !== inherited) {
        write.addViolation("kind", "kind is set on root groups only and inherited below them");
      }
      delete value.kind;
    } else if (value.verified && value.kind === undefined) {
      write.addViolation("kind", "kind is required for a verified group");
    }
  },
  toResponse(entry, platform) {
    const response: Message = { ...entry.value, status: "ORG_STATUS_READY" };
    const kind = findRootGroup(entry.uid, platform)?.value.kind;
    if (kind !== undefined) response.kind = kind;
    return response;
  },
};

function domainOf({ email }: Caller): string {
  return email.slice(email.lastIndexOf("@") + 1).toLowerCase();
}

/** How groups come by their domains is not public: here a verified root group is named like its domain. */
function groupOf(caller: Caller, platform: PlatformService): Entry | undefined {
  const domain = domainOf(caller);
  return [...platform.store.all("Group")].find(
    ({ parent, value }) => parent === "" && value.verified === true && value.name === domain,
  );
}

function findRootGroup(groupUid: string, platform: PlatformService): Entry | undefined {
  return platform.store.find("Group", groupUid.split("/")[0] ?? "");
}
