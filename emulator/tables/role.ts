import { createHash } from "node:crypto";
import builtInRoles from "../data/builtinRoles.json";
import { list, messageType, text } from "../gateway/fields";
import { capability, descriptionFlags, nameFlags, times, uid } from "./common";
import type { KindTable } from "./kindTable";

/** The uid of a built-in role, which depends on its name alone. */
export const builtInRoleUid = (name: keyof typeof builtInRoles): string =>
  createHash("sha1").update(`built-in role ${name}`).digest("hex");

export const role: KindTable = {
  kind: "Role",
  prefix: "/iam/v2",
  collection: "roles",
  message: messageType({
    uid,
    name: text(nameFlags),
    description: text(descriptionFlags),
    capabilities: list(capability, { required: true }),
    ...times,
  }),
  methods: ["list", "get", "create", "update", "delete"],
  capabilities: "IAM_ROLES",
  hasNameFilter: true,
  parent: "Group",
  events: { name: "iam.roles" },
  builtIn: () =>
    (Object.keys(builtInRoles) as (keyof typeof builtInRoles)[]).map((name) => {
      const { description, capabilities } = builtInRoles[name];
      const time = "2023-01-01T00:00:00Z";
      const value = {
        name,
        description,
        capabilities: [...capabilities],
        createTime: time,
        updateTime: time,
      };
      return { uid: builtInRoleUid(name), value };
    }),
};
