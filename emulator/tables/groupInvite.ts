import { createHash, randomBytes } from "node:crypto";
import type { Message } from "../gateway/fields";
import { bool, duration, list, messageType, object, text, timestamp } from "../gateway/fields";
import { durationToMs, msToTimestamp } from "../gateway/time";
import type { Entry } from "../service/store";
import { capability, uid } from "./common";
import type { KindTable } from "./kindTable";

export const groupInvite: KindTable = {
  kind: "GroupInvite",
  prefix: "/iam/v2",
  collection: "groupInvites",
  message: messageType({
    uid,
    roleUid: text({ required: true }),
    // Required, but not kept.
    ttl: duration(),
    email: text(),
    singleUse: bool(),
    code: text({ outputOnly: true }),
    keyId: text({ outputOnly: true }),
    role: object(
      {
        uid: text(),
        name: text(),
        description: text(),
        capabilities: list(capability),
      },
      { outputOnly: true },
    ),
    expirationTime: timestamp({ outputOnly: true }),
    createTime: timestamp({ outputOnly: true }),
  }),
  methods: ["list", "get", "create", "delete"],
  capabilities: "IAM_GROUP_INVITES",
  furtherCapabilities: { create: ["IAM_ROLE_BINDINGS_CREATE"] },
  filters: { keyId: { ...text(), matches: ({ value }, wanted) => value.keyId === wanted } },
  defaultOrder: "created_at desc",
  parent: "Group",
  references: [{ field: "roleUid", kind: "Role", onDelete: "keep" }],
  check(write) {
    const { ttl } = write.value as { ttl?: string };
    if (ttl === undefined) write.addViolation("ttl", "ttl is required");
    else if (durationToMs(ttl) <= 0) write.addViolation("ttl", "ttl must be positive");
  },
  complete({ value, now }) {
    value.code = randomBytes(32).toString("hex");
    value.keyId = createHash("sha256").update(value.code).digest("hex").slice(0, 32);
    value.expirationTime = msToTimestamp(now + durationToMs(value.ttl as string));
    value.ttl = undefined;
  },
  toResponse(entry, { store }, form) {
    const response = { ...entry.value };
    const role = store.find("Role", entry.value.roleUid as string);
    if (role) response.role = pick(role);
    if (form !== "create") delete response.code;
    return response;
  },
  events: {
    name: "iam.group_invite",
    bodyFields: ["uid", "expirationTime"],
  },
};

function pick({ uid: roleUid, value }: Entry): Message {
  const { name: roleName, description, capabilities } = value;
  return { uid: roleUid, name: roleName, description, capabilities };
}
