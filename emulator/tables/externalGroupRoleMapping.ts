import { list, messageType, object, text, timestamp } from "../gateway/descriptor";
import { uid } from "./common";
import type { KindTable } from "./kindTable";

const name = (suffix: string): string => `chainguard.platform.iam.v2.${suffix}`;

const mapping = messageType(name("ExternalGroupRoleMapping"), {
  uid,
  externalGroupId: text({ required: true }),
  roleUid: text({ required: true }),
  scope: text({ required: true }),
  identityProviderUid: text({ outputOnly: true }),
  createTime: timestamp({ outputOnly: true }),
});

export const externalGroupRoleMapping: KindTable = {
  kind: "ExternalGroupRoleMapping",
  prefix: "/iam/v2",
  collection: "externalGroupRoleMappings",
  service: "iam.v2.ExternalGroupRoleMappingsService",
  message: mapping,
  methods: ["list", "get", "create", "delete"],
  filters: { identityProviderUid: text() },
  custom: [
    {
      rpc: "iam.v2.ExternalGroupRoleMappingsService/BatchDeleteExternalGroupRoleMappings",
      verb: "POST",
      pattern: "/iam/v2/externalGroupRoleMappings:batchDelete",
      body: "*",
      request: messageType(name("BatchDeleteExternalGroupRoleMappingsRequest"), {
        parent: text(),
        names: list(text()),
      }),
      response: messageType(name("BatchDeleteExternalGroupRoleMappingsResponse"), {
        parent: text(),
        externalGroupRoleMappings: list(object(mapping)),
      }),
    },
  ],
};
