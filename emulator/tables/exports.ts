/*
 * THE list: one line for each kind of resource, in the order in which lists show them. `npm run docs` adds new ones.
 */
export { group } from "./group";
export { identity } from "./identity";
export { role } from "./role";
export { roleBinding } from "./roleBinding";
export { identityProviders } from "./identityProvider";
export { accountAssociation } from "./accountAssociation";
export { groupInvite } from "./groupInvite";
export { externalGroupRoleMapping } from "./externalGroupRoleMapping";
// Before the repo: its address also matches that of a repo with a longer uid.
export { repoReadme } from "./repo";
export { repo } from "./repo";
export { tag } from "./tag";
export { subscription } from "./subscription";
export { callerMetadata } from "./identity";
export { termsAcceptance } from "./termsAcceptance";
export { artifact } from "./artifact";
export { artifactVersion } from "./artifact";
export { advisory } from "./advisory";
export { advisoryDocument } from "./advisory";
export { vulnerabilityMetadata } from "./advisory";
