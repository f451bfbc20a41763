import { list, messageType, object, text, timestamp } from "../gateway/fields";
import type { Message } from "../gateway/fields";
import { alreadyExists, invalidField } from "../gateway/status";
import type { PlatformService } from "../service/platformService";
import { removeEntry } from "../service/writes";
import { uid } from "./common";
import type { KindTable, AuthenticatedCall } from "./kindTable";

const mapping = messageType({
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
  message: mapping,
  methods: ["list", "get", "create", "delete"],
  capabilities: "IAM_IDENTITY_PROVIDERS",
  furtherCapabilities: { create: ["IAM_ROLE_BINDINGS_CREATE"] },
  filters: { identityProviderUid: { ...text(), matches: ({ parent }, wanted) => parent === wanted } },
  custom: [
    {
      rpc: "iam.v2.ExternalGroupRoleMappingsService/BatchDeleteExternalGroupRoleMappings",
      capabilities: ["IAM_IDENTITY_PROVIDERS_DELETE"],
      verb: "POST",
      pattern: "/iam/v2/externalGroupRoleMappings:batchDelete",
      body: "*",
      request: messageType({ parent: text(), names: list(text()) }),
      response: messageType({
        parent: text(),
        externalGroupRoleMappings: list(object(mapping)),
      }),
      run: batchDelete,
      event: {
        name: "iam.external_group_role_mappings.deleted.batch",
        subject: "parent",
        about: "mappings",
      },
    },
  ],
  parent: "IdentityProvider",
  references: [{ field: "roleUid", kind: "Role", onDelete: "refuse" }],
  check(write, platform) {
    const { value, parent } = write;
    const root = rootUid(parent);
    if (value.scope !== undefined && value.scope !== root) {
      write.addViolation("scope", `scope must be the root group "${root}"`);
    }
    const same = platform.store
      .childrenOf({ kind: "IdentityProvider", uid: parent })
      .find((other) => distinct.every((field) => other.value[field] === value[field]));
    if (same) throw alreadyExists("ExternalGroupRoleMapping", same.uid, `mapping "${same.uid}" is equal`);
  },
  complete({ value, parent }) {
    value.identityProviderUid = parent;
  },
  events: {
    name: "iam.external_group_role_mappings",
    group: ({ parent }) => rootUid(parent),
    isOfProvider: true,
  },
};

/** No two mappings of a provider are equal in these. */
const distinct = ["externalGroupId", "roleUid", "scope"] as const;

function rootUid(of: string): string {
  return of.split("/")[0] ?? "";
}

/** Deletes all mappings or none. */
function batchDelete({ request }: AuthenticatedCall, platform: PlatformService): Message {
  const names = [...new Set((request.names ?? []) as string[])];
  if (request.parent === undefined) throw invalidField("parent", "parent is required");
  if (names.length === 0) throw invalidField("names", "names is required");
  const parent = platform.requireEntry("IdentityProvider", request.parent).uid;
  const entries = names
    .map((uid) => platform.store.find("ExternalGroupRoleMapping", uid))
    .filter((entry) => entry !== undefined);
  for (const entry of entries) {
    if (entry.parent !== parent)
      throw invalidField("names", `mapping "${entry.uid}" belongs to another provider`);
  }
  for (const entry of entries) removeEntry(platform.store, entry);
  return { parent, externalGroupRoleMappings: entries.map((entry) => platform.toResponse(entry)) };
}
