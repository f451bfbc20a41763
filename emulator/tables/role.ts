import { createHash } from "node:crypto";
import builtInRoles from "../data/builtinRoles.json";
import { list, messageType, newMessage, text } from "../gateway/descriptor";
import { capability, times, uid } from "./common";
import { descriptionFlags, nameFlags } from "./formats";
import type { KindTable } from "./kindTable";

export const role: KindTable = {
  kind: "Role",
  prefix: "/iam/v2",
  collection: "roles",
  service: "iam.v2.RolesService",
  message: messageType("chainguard.platform.iam.v2.Role", {
    uid,
    name: text(nameFlags),
    description: text(descriptionFlags),
    capabilities: list(capability, { required: true }),
    ...times,
  }),
  methods: ["list", "get", "create", "update", "delete"],
  capabilities: "IAM_ROLES",
  hasNameFilter: true,
  rules: {
    parent: "Group",
    events: { name: "iam.roles", actions: ["created", "updated", "deleted"] },
    builtIn: () =>
      Object.entries(builtInRoles).map(([name, { description, capabilities }]) => {
        const value = newMessage();
        value.name = name;
        if (description !== "") value.description = description;
        value.capabilities = [...capabilities];
        value.createTime = value.updateTime = "2023-01-01T00:00:00Z";
        return { uid: createHash("sha1").update(`built-in role ${name}`).digest("hex"), value };
      }),
  },
};
