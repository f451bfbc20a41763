/* What programs use. Each module below exports nothing else. */
export { adopt } from "./program/adopt";
export * from "./kinds/exports";
export type { BoundGroup, BoundIdentity, BoundRole, InviteRole } from "./kinds/common";

export * from "./lookups/accountAssociation";
export * from "./lookups/advisory";
export * from "./lookups/advisoryDocument";
export * from "./lookups/artifact";
export * from "./lookups/externalGroupRoleMapping";
export * from "./lookups/group";
export * from "./lookups/groupInvite";
export * from "./lookups/identity";
export * from "./lookups/image";
export * from "./lookups/ping";
export * from "./lookups/repo";
export * from "./lookups/role";
export * from "./lookups/roleBinding";
export * from "./lookups/tag";
export * from "./lookups/terms";
export * from "./lookups/usual";
export type { AdvisorySeverity } from "./lookups/advisoryParts";
export type { LookupInputs } from "./lookups/validators";
export type { ByUidArgs, LimitArgs, ListArgs } from "./lookups/lookup";
