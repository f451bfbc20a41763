/*
 * What programs use. Each module below exports nothing else, so that a kind needs one line here, and one more where it
 * has lookups.
 */
export { adopt } from "./engine/adopt";
export * from "./resources/accountAssociation";
export * from "./resources/externalGroupRoleMapping";
export * from "./resources/group";
export * from "./resources/groupAccess";
export * from "./resources/groupInvite";
export * from "./resources/identity";
export * from "./resources/identityProvider";
export * from "./resources/repo";
export * from "./resources/repoReadme";
export * from "./resources/role";
export * from "./resources/roleBinding";
export * from "./resources/scimToken";
export * from "./resources/subscription";
export * from "./resources/tag";
export * from "./resources/termsAcceptance";
export type { BoundGroup, BoundIdentity, BoundRole, InviteRole } from "./resources/common";

export * from "./functions/accountAssociation";
export * from "./functions/advisory";
export * from "./functions/advisoryDocument";
export * from "./functions/artifact";
export * from "./functions/externalGroupRoleMapping";
export * from "./functions/group";
export * from "./functions/groupInvite";
export * from "./functions/identity";
export * from "./functions/identityProvider";
export * from "./functions/image";
export * from "./functions/ping";
export * from "./functions/repo";
export * from "./functions/role";
export * from "./functions/roleBinding";
export * from "./functions/subscription";
export * from "./functions/tag";
export * from "./functions/terms";
export type { AdvisorySeverity } from "./functions/advisoryParts";
export type { LookupInputs } from "./functions/validators";
export type { ByUidArgs, LimitArgs, ListArgs } from "./functions/lookup";
