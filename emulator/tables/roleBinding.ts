import type { Message } from "../gateway/fields";
import { list, messageType, object, text, timestamp } from "../gateway/fields";
import { invalidField } from "../gateway/status";
import type { PlatformService } from "../service/platformService";
import { prepareCreate } from "../service/writes";
import { uid } from "./common";
import type { KindTable, AuthenticatedCall } from "./kindTable";

const batchLimit = 25;
const descriptionFields = { uid: text(), name: text(), description: text() };

const bindingMessage = messageType({
  uid,
  identityUid: text({ required: true }),
  roleUid: text({ required: true }),
  identity: object(
    {
      ...descriptionFields,
      subject: text(),
      issuer: text(),
      email: text(),
    },
    { outputOnly: true },
  ),
  group: object(descriptionFields, {
    outputOnly: true,
  }),
  role: object(descriptionFields, {
    outputOnly: true,
  }),
  createTime: timestamp({ outputOnly: true }),
});

const batchRequest = messageType({
  parent: text(),
  requests: list(
    object({
      parent: text(),
      roleBinding: object(bindingMessage),
    }),
  ),
  roleUid: text(),
});

export const roleBinding: KindTable = {
  kind: "RoleBinding",
  prefix: "/iam/v2",
  collection: "roleBindings",
  message: bindingMessage,
  methods: ["list", "get", "create", "update", "delete"],
  capabilities: "IAM_ROLE_BINDINGS",
  filters: {
    identity: { ...text(), matches: ({ value }, wanted) => value.identityUid === wanted },
    group: { ...text(), matches: ({ parent }, wanted) => parent === wanted },
    role: { ...text(), matches: ({ value }, wanted) => value.roleUid === wanted },
  },
  custom: [
    {
      rpc: "iam.v2.RoleBindingsService/BatchCreateRoleBindings",
      capabilities: ["IAM_ROLE_BINDINGS_CREATE"],
      verb: "POST",
      pattern: "/iam/v2/roleBindings:batchCreate",
      body: "*",
      request: batchRequest,
      response: messageType({ roleBindings: list(object(bindingMessage)) }),
      run: batchCreate,
      event: { name: "iam.rolebindings.created.batch", subject: "parent" },
    },
  ],
  parent: "Group",
  events: { name: "iam.rolebindings" },
  hasIdempotentDelete: true,
  references: [
    { field: "identityUid", kind: "Identity", onDelete: "cascade" },
    { field: "roleUid", kind: "Role", onDelete: "refuse" },
  ],
  toResponse(entry, platform) {
    const response = { ...entry.value };
    const form = platform.settings.bindingResponse;
    if (form !== "flat") {
      response.identity = describeIdentity(entry.value.identityUid as string, platform);
      response.group = describeByUid("Group", entry.parent, platform);
      response.role = describeByUid("Role", entry.value.roleUid as string, platform);
    }
    if (form === "hydrated") {
      delete response.identityUid;
      delete response.roleUid;
    }
    return response;
  },
};

function batchCreate({ request }: AuthenticatedCall, platform: PlatformService): Message {
  const parent = (request.parent ?? "") as string;
  const roleUid = request.roleUid as string | undefined;
  const inner = (request.requests ?? []) as Message[];
  if (parent === "") throw invalidField("parent", "parent is required");
  if (inner.length === 0) throw invalidField("requests", "requests is required");
  if (inner.length > batchLimit) throw invalidField("requests", `requests holds at most ${batchLimit} items`);
  const commits = inner.map((item, index) => {
    const at = `requests[${index}]`;
    if (item.parent !== undefined && item.parent !== parent) {
      throw invalidField(`${at}.parent`, "parent must be the parent of the batch");
    }
    const binding = { ...((item.roleBinding ?? {}) as Message) };
    if (roleUid !== undefined && binding.roleUid !== undefined && binding.roleUid !== roleUid) {
      throw invalidField(`${at}.roleBinding.roleUid`, "roleUid must be the roleUid of the batch");
    }
    if (roleUid !== undefined) binding.roleUid = roleUid;
    return prepareCreate(platform, "RoleBinding", parent, binding, `${at}.roleBinding.`);
  });
  return { roleBindings: commits.map((commit) => platform.toResponse(commit())) };
}

function describeByUid(kind: string, of: string, platform: PlatformService): Message {
  const { name, description } = platform.store.find(kind, of)?.value ?? {};
  return { uid: of, name, description };
}

function describeIdentity(of: string, platform: PlatformService): Message {
  const value = platform.store.find("Identity", of)?.value;
  const match = (value?.claimMatch ?? value?.staticKeys) as Message | undefined;
  const { issuer, subject } = match ?? platform.store.findPerson(of) ?? {};
  return { ...describeByUid("Identity", of, platform), issuer, subject };
}
