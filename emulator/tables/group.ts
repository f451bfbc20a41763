import {
  bool,
  enumOf,
  enumType,
  int32,
  map,
  messageType,
  newMessage,
  object,
  text,
} from "../gateway/descriptor";
import type { Message } from "../gateway/descriptor";
import { Code, errorInfo, invalidField, notFound, StatusError } from "../gateway/status";
import type { Caller } from "../service/caller";
import type { Entry } from "../service/store";
import { emptyMessage, times, uid } from "./common";
import { descriptionFlags, nameFlags } from "./formats";
import type { KindTable, ServiceContext } from "./kindTable";

const orgKind = enumType("ORG_KIND", "STARTER CUSTOMER DEV INFRA AWS_MARKETPLACE");

export const groupMessage = messageType("chainguard.platform.iam.v2.Group", {
  uid,
  name: text(nameFlags),
  description: text(descriptionFlags),
  kind: enumOf(orgKind),
  verified: bool(),
  resourceLimits: map(int32(), { outputOnly: true }),
  status: enumOf(enumType("ORG_STATUS", "INITIALIZING READY SUSPENDED"), { outputOnly: true }),
  ...times,
});

export const group: KindTable = {
  kind: "Group",
  prefix: "/iam/v2",
  collection: "groups",
  service: "iam.v2.GroupsService",
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
      response: messageType("chainguard.platform.iam.v2.LookupGroupResponse", {
        group: object(groupMessage),
      }),
    },
    {
      rpc: "iam.v2.GroupsService/CheckEligibility",
      verb: "GET",
      pattern: "/iam/v2/groups:checkEligibility",
      request: emptyMessage,
      response: messageType("chainguard.platform.iam.v2.CheckEligibilityResponse", { eligible: bool() }),
    },
    {
      rpc: "iam.v2.GroupsService/RequestGroupAccess",
      verb: "POST",
      pattern: "/iam/v2/groups/{groupUid=**}:requestGroupAccess",
      body: "*",
      request: messageType("chainguard.platform.iam.v2.RequestGroupAccessRequest", { groupUid: text() }),
      response: emptyMessage,
    },
  ],
  behaviour: {
    parent: "Group",
    events: {
      name: "iam.group",
      actions: ["created", "updated", "deleted"],
      group: ({ uid: own, parent }, action) => (action === "deleted" ? parent : own),
    },
    mayBeRoot: true,
    refusesDeleteWithChildren: true,
    check(write, context) {
      const { value, before, parent } = write;
      if (write.isFullReplacement && before) {
        // A full replacement includes kind and status, and every group has a status.
        write.addViolation("updateMask", "* would replace kind and status, which hold values");
      }
      if (parent !== "") {
        const inherited = findRootGroup(parent, context)?.value.kind;
        if (value.kind !== undefined && value.kind !== inherited) {
          write.addViolation("kind", "kind is set on root groups only and inherited below them");
        }
        delete value.kind;
      } else if (value.verified && value.kind === undefined) {
        write.addViolation("kind", "kind is required for a verified group");
      }
    },
    toResponse(entry, context) {
      const response: Message = { ...entry.value, status: "ORG_STATUS_READY" };
      const kind = findRootGroup(entry.uid, context)?.value.kind;
      if (kind !== undefined) response.kind = kind;
      return response;
    },
    custom: {
      LookupGroup({ caller }, context) {
        const found = groupOf(caller, context);
        if (!found) throw notFound("Group", domainOf(caller));
        return { group: context.toResponse(found) };
      },
      CheckEligibility: ({ caller }, context) => ({ eligible: groupOf(caller, context) !== undefined }),
      RequestGroupAccess({ request, caller }, context) {
        const entry = context.requireEntry("Group", request.groupUid);
        if (entry.parent !== "") {
          throw invalidField("groupUid", "access is requested to root groups");
        }
        const requests = context.store.accessRequests;
        const key = `${caller.uid} ${entry.uid}`;
        if (requests.has(key)) {
          throw new StatusError(Code.resourceExhausted, "Resource exhausted: access is requested already", [
            errorInfo("ALREADY_REQUESTED"),
          ]);
        }
        requests.add(key);
        return newMessage();
      },
    },
  },
};

function domainOf({ email }: Caller): string {
  return email.slice(email.lastIndexOf("@") + 1).toLowerCase();
}

/** How groups come by their domains is not public: here a verified root group is named like its domain. */
function groupOf(caller: Caller, context: ServiceContext): Entry | undefined {
  const domain = domainOf(caller);
  return [...context.store.all("Group")].find(
    ({ parent, value }) => parent === "" && value.verified === true && value.name === domain,
  );
}

function findRootGroup(groupUid: string, context: ServiceContext): Entry | undefined {
  return context.store.find("Group", groupUid.split("/")[0] ?? "");
}
