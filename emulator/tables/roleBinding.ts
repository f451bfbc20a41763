import type { Message } from "../gateway/descriptor";
import { list, messageType, newMessage, object, text, timestamp } from "../gateway/descriptor";
import { invalidArgument } from "../gateway/status";
import { uid } from "./common";
import type { KindTable, ServedCall, World } from "./kindTable";

const batchLimit = 25;
const described = { uid: text(), name: text(), description: text() };

const bindingMessage = messageType("chainguard.platform.iam.v2.RoleBinding", {
  uid,
  identityUid: text({ required: true }),
  roleUid: text({ required: true }),
  identity: object(
    messageType("chainguard.platform.iam.v2.RoleBinding.Identity", {
      ...described,
      subject: text(),
      issuer: text(),
      email: text(),
    }),
    { outputOnly: true },
  ),
  group: object(messageType("chainguard.platform.iam.v2.RoleBinding.Group", described), { outputOnly: true }),
  role: object(messageType("chainguard.platform.iam.v2.RoleBinding.Role", described), { outputOnly: true }),
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
  filters: { identity: text(), group: text(), role: text() },
  custom: [
    {
      rpc: "iam.v2.RoleBindingsService/BatchCreateRoleBindings",
      verb: "POST",
      pattern: "/iam/v2/roleBindings:batchCreate",
      body: "*",
      request: batchRequest,
      response: batchResponse,
    },
  ],
  rules: {
    parent: "Group",
    events: { name: "iam.rolebindings", actions: ["created", "updated", "deleted"] },
    deleteIsIdempotent: true,
    references: [
      { field: "identityUid", kind: "Identity", onDelete: "cascade" },
      { field: "roleUid", kind: "Role", onDelete: "refuse" },
    ],
    check(write, world) {
      const { identityUid, roleUid } = write.value as { identityUid?: string; roleUid?: string };
      const { store } = world;
      if (identityUid !== undefined && !store.find("Identity", identityUid) && !store.person(identityUid)) {
        write.refuse("identityUid", `identity "${identityUid}" does not exist`);
      }
      if (roleUid !== undefined && !store.find("Role", roleUid)) {
        write.refuse("roleUid", `role "${roleUid}" does not exist`);
      }
    },
    answer(entry, world) {
      const answer = { ...entry.value };
      const form = world.settings.bindingAnswer;
      if (form !== "flat") {
        answer.identity = hydrateIdentity(entry.value.identityUid as string, world);
        answer.group = hydrate("Group", entry.parent, world);
        answer.role = hydrate("Role", entry.value.roleUid as string, world);
      }
      if (form === "hydrated") {
        delete answer.identityUid;
        delete answer.roleUid;
      }
      return answer;
    },
    matches: {
      identity: (entry, wanted) => entry.value.identityUid === wanted,
      role: (entry, wanted) => entry.value.roleUid === wanted,
      group: (entry, wanted) => entry.parent === wanted,
    },
    custom: { BatchCreateRoleBindings: batchCreate },
  },
};

function batchCreate({ request, caller }: ServedCall, world: World): Message {
  const parent = (request.parent ?? "") as string;
  const roleUid = request.roleUid as string | undefined;
  const inner = (request.requests ?? []) as Message[];
  const refuse = (field: string, description: string): never => {
    throw invalidArgument([{ field, description }]);
  };
  if (parent === "") refuse("parent", "parent is required");
  if (inner.length === 0) refuse("requests", "requests is required");
  if (inner.length > batchLimit) refuse("requests", `requests holds at most ${batchLimit} items`);
  const commits = inner.map((item, index) => {
    const at = `requests[${index}]`;
    if (item.parent !== undefined && item.parent !== parent) {
      refuse(`${at}.parent`, "parent must be the parent of the batch");
    }
    const binding = { ...((item.roleBinding ?? newMessage()) as Message) };
    if (roleUid !== undefined && binding.roleUid !== undefined && binding.roleUid !== roleUid) {
      refuse(`${at}.roleBinding.roleUid`, "roleUid must be the roleUid of the batch");
    }
    if (roleUid !== undefined) binding.roleUid = roleUid;
    return world.prepareCreate("RoleBinding", parent, binding, `${at}.roleBinding.`);
  });
  const answer = newMessage();
  answer.roleBindings = commits.map((commit) => world.answer(commit()));
  world.emit(
    {
      name: "iam.rolebindings.created.batch",
      subject: parent,
      group: parent,
      body: { message: answer, type: batchResponse },
    },
    caller,
  );
  return answer;
}

function hydrate(kind: string, of: string, world: World): Message {
  const answer = newMessage();
  answer.uid = of;
  const value = world.store.find(kind, of)?.value;
  if (value?.name !== undefined) answer.name = value.name;
  if (value?.description !== undefined) answer.description = value.description;
  return answer;
}

function hydrateIdentity(of: string, world: World): Message {
  const answer = hydrate("Identity", of, world);
  const value = world.store.find("Identity", of)?.value;
  const match = (value?.claimMatch ?? value?.staticKeys) as Message | undefined;
  const { issuer, subject } = match ?? world.store.person(of) ?? {};
  if (issuer !== undefined) answer.issuer = issuer;
  if (subject !== undefined) answer.subject = subject;
  return answer;
}
