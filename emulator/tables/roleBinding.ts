import type { Message } from "../gateway/descriptor";
import { list, messageType, newMessage, object, text, timestamp } from "../gateway/descriptor";
import { invalidField } from "../gateway/status";
import { uid } from "./common";
import type { KindTable, AuthenticatedCall, ServiceContext } from "./kindTable";

const batchLimit = 25;
const descriptionFields = { uid: text(), name: text(), description: text() };

const bindingMessage = messageType("chainguard.platform.iam.v2.RoleBinding", {
  uid,
  identityUid: text({ required: true }),
  roleUid: text({ required: true }),
  identity: object(
    messageType("chainguard.platform.iam.v2.RoleBinding.Identity", {
      ...descriptionFields,
      subject: text(),
      issuer: text(),
      email: text(),
    }),
    { outputOnly: true },
  ),
  group: object(messageType("chainguard.platform.iam.v2.RoleBinding.Group", descriptionFields), {
    outputOnly: true,
  }),
  role: object(messageType("chainguard.platform.iam.v2.RoleBinding.Role", descriptionFields), {
    outputOnly: true,
  }),
  createTime: timestamp({ outputOnly: true }),
});

const batchRequest = messageType("chainguard.platform.iam.v2.BatchCreateRoleBindingsRequest", {
  parent: text(),
  requests: list(
    object(
      messageType("chainguard.platform.iam.v2.CreateRoleBindingRequest", {
        parent: text(),
        roleBinding: object(bindingMessage),
      }),
    ),
  ),
  roleUid: text(),
});

const batchResponse = messageType("chainguard.platform.iam.v2.BatchCreateRoleBindingsResponse", {
  roleBindings: list(object(bindingMessage)),
});

export const roleBinding: KindTable = {
  kind: "RoleBinding",
  prefix: "/iam/v2",
  collection: "roleBindings",
  service: "iam.v2.RoleBindingsService",
  message: bindingMessage,
  methods: ["list", "get", "create", "update", "delete"],
  capabilities: "IAM_ROLE_BINDINGS",
  filters: { identity: text(), group: text(), role: text() },
  custom: [
    {
      rpc: "iam.v2.RoleBindingsService/BatchCreateRoleBindings",
      capabilities: ["IAM_ROLE_BINDINGS_CREATE"],
      verb: "POST",
      pattern: "/iam/v2/roleBindings:batchCreate",
      body: "*",
      request: batchRequest,
      response: batchResponse,
    },
  ],
  behaviour: {
    parent: "Group",
    events: { name: "iam.rolebindings", actions: ["created", "updated", "deleted"] },
    hasIdempotentDelete: true,
    references: [
      { field: "identityUid", kind: "Identity", onDelete: "cascade" },
      { field: "roleUid", kind: "Role", onDelete: "refuse" },
    ],
    check(write, context) {
      const { identityUid, roleUid } = write.value as { identityUid?: string; roleUid?: string };
      const { store } = context;
      if (
        identityUid !== undefined &&
        !store.find("Identity", identityUid) &&
        !store.findPerson(identityUid)
      ) {
        write.addViolation("identityUid", `identity "${identityUid}" does not exist`);
      }
      if (roleUid !== undefined && !store.find("Role", roleUid)) {
        write.addViolation("roleUid", `role "${roleUid}" does not exist`);
      }
    },
    toResponse(entry, context) {
      const response = { ...entry.value };
      const form = context.settings.bindingResponse;
      if (form !== "flat") {
        response.identity = describeIdentity(entry.value.identityUid as string, context);
        response.group = describeByUid("Group", entry.parent, context);
        response.role = describeByUid("Role", entry.value.roleUid as string, context);
      }
      if (form === "hydrated") {
        delete response.identityUid;
        delete response.roleUid;
      }
      return response;
    },
    matches: {
      identity: (entry, filterValue) => entry.value.identityUid === filterValue,
      role: (entry, filterValue) => entry.value.roleUid === filterValue,
      group: (entry, filterValue) => entry.parent === filterValue,
    },
    custom: { BatchCreateRoleBindings: batchCreate },
  },
};

function batchCreate({ request, caller }: AuthenticatedCall, context: ServiceContext): Message {
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
    const binding = { ...((item.roleBinding ?? newMessage()) as Message) };
    if (roleUid !== undefined && binding.roleUid !== undefined && binding.roleUid !== roleUid) {
      throw invalidField(`${at}.roleBinding.roleUid`, "roleUid must be the roleUid of the batch");
    }
    if (roleUid !== undefined) binding.roleUid = roleUid;
    return context.prepareCreate("RoleBinding", parent, binding, `${at}.roleBinding.`);
  });
  const response = newMessage();
  response.roleBindings = commits.map((commit) => context.toResponse(commit()));
  context.emit(
    {
      name: "iam.rolebindings.created.batch",
      subject: parent,
      group: parent,
      body: { message: response, type: batchResponse },
    },
    caller,
  );
  return response;
}

function describeByUid(kind: string, of: string, context: ServiceContext): Message {
  const response = newMessage();
  response.uid = of;
  const value = context.store.find(kind, of)?.value;
  if (value?.name !== undefined) response.name = value.name;
  if (value?.description !== undefined) response.description = value.description;
  return response;
}

function describeIdentity(of: string, context: ServiceContext): Message {
  const response = describeByUid("Identity", of, context);
  const value = context.store.find("Identity", of)?.value;
  const match = (value?.claimMatch ?? value?.staticKeys) as Message | undefined;
  const { issuer, subject } = match ?? context.store.findPerson(of) ?? {};
  if (issuer !== undefined) response.issuer = issuer;
  if (subject !== undefined) response.subject = subject;
  return response;
}
