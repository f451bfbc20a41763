/* What programs use. Each module below exports nothing else. */
export { adopt } from "./program/adopt";
export * from "./kinds/exports";

export * from "./lookups/ofKinds";
export * from "./lookups/accountAssociation";
export * from "./lookups/advisory";
export * from "./lookups/artifact";
export * from "./lookups/group";
export * from "./lookups/identity";
export * from "./lookups/image";
export * from "./lookups/ping";
export * from "./lookups/repo";
export * from "./lookups/terms";
export type { LookupInputs } from "./lookups/arguments";
export type { ByUidArgs, LimitArgs, ListArgs } from "./lookups/lookup";
