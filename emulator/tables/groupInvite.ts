import { bool, duration, list, messageType, object, text, timestamp } from "../gateway/descriptor";
import { capability, uid } from "./common";
import type { KindTable } from "./kindTable";

const name = (suffix: string): string => `chainguard.platform.iam.v2.${suffix}`;

export const groupInvite: KindTable = {
  kind: "GroupInvite",
  prefix: "/iam/v2",
  collection: "groupInvites",
  service: "iam.v2.GroupInvitesService",
  message: messageType(name("GroupInvite"), {
    uid,
    roleUid: text({ required: true }),
    ttl: duration({ required: true }),
    email: text(),
    singleUse: bool(),
    code: text({ outputOnly: true }),
    keyId: text({ outputOnly: true }),
    role: object(
      messageType(name("GroupInvite.Role"), {
        uid: text(),
        name: text(),
        description: text(),
        capabilities: list(capability),
      }),
      { outputOnly: true },
    ),
    expirationTime: timestamp({ outputOnly: true }),
    createTime: timestamp({ outputOnly: true }),
  }),
  methods: ["list", "get", "create", "delete"],
  filters: { keyId: text() },
};
