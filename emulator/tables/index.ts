import type { Method } from "../gateway/routes";
import { accountAssociation } from "./accountAssociation";
import { advisory } from "./advisory";
import { advisoryDocument, vulnerabilityMetadata } from "./advisoryDocument";
import { artifact, artifactVersion } from "./artifact";
import { externalGroupRoleMapping } from "./externalGroupRoleMapping";
import { group } from "./group";
import { groupInvite } from "./groupInvite";
import { callerMetadata, identity } from "./identity";
import { identityProviders } from "./identityProvider";
import type { KindTable } from "./kindTable";
import { standardMethods } from "./methods";
import { methodsWithoutKind } from "./methodsWithoutKind";
import { repo, repoReadme } from "./repo";
import { role } from "./role";
import { roleBinding } from "./roleBinding";
import { subscription } from "./subscription";
import { tag } from "./tag";
import { termsAcceptance } from "./termsAcceptance";

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
  // Before the repo: its address also matches that of a repo with a longer uid.
  repoReadme,
  repo,
  tag,
  subscription,
  callerMetadata,
  termsAcceptance,
  artifact,
  artifactVersion,
  advisory,
  advisoryDocument,
  vulnerabilityMetadata,
];

/** Custom methods come first, because their paths also match those with a uid. */
export const allMethods: readonly Method[] = [
  ...[...kindTables.flatMap(({ custom = [] }) => custom), ...methodsWithoutKind].map((method): Method => ({
    ...method,
    run: (call, platform) => ({ message: method.run(call, platform) }),
  })),
  ...kindTables.flatMap(standardMethods),
];
