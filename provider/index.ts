/* What programs use. Each module below exports nothing else. */
export { adopt } from "./engine/program/adopt";
export * from "./resources/exports";
export type { BoundGroup, BoundIdentity, BoundRole, InviteRole } from "./resources/common";

export * from "./functions/accountAssociation";
export * from "./functions/advisory";
export * from "./functions/advisoryDocument";
export * from "./functions/artifact";
export * from "./functions/externalGroupRoleMapping";
export * from "./functions/group";
export * from "./functions/groupInvite";
export * from "./functions/identity";
export * from "./functions/image";
export * from "./functions/ping";
export * from "./functions/repo";
export * from "./functions/role";
export * from "./functions/roleBinding";
export * from "./functions/tag";
export * from "./functions/terms";
export * from "./functions/usual";
export type { AdvisorySeverity } from "./functions/advisoryParts";
export type { LookupInputs } from "./functions/validators";
export type { ByUidArgs, LimitArgs, ListArgs } from "./functions/lookup";
