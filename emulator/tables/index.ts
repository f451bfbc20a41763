import type { Method } from "../gateway/routes";
import { accountAssociation } from "./accountAssociation";
import { externalGroupRoleMapping } from "./externalGroupRoleMapping";
import { group } from "./group";
import { groupInvite } from "./groupInvite";
import { identity } from "./identity";
import { identityProviders } from "./identityProvider";
import type { KindTable } from "./kindTable";
import { standardMethods } from "./methods";
import { readOnlyMethods } from "./readOnly";
import { repo } from "./repo";
import { role } from "./role";
import { roleBinding } from "./roleBinding";
import { subscription } from "./subscription";
import { tag } from "./tag";

/** Every kind of resource: one line each. */
export const kindTables: readonly KindTable[] = [
  group,
  identity,
  role,
  roleBinding,
  identityProviders,
  accountAssociation,
  groupInvite,
  externalGroupRoleMapping,
  repo,
  tag,
  subscription,
];

/** Custom methods stand first: their addresses would else be taken for uids. */
export const allMethods: readonly Method[] = [
  ...kindTables.flatMap((table) => table.custom ?? []),
  ...readOnlyMethods,
  ...kindTables.flatMap(standardMethods),
];
