export { Group } from "./resources/group";
export type { GroupArgs } from "./resources/group";
export { Identity } from "./resources/identity";
export type { AwsIdentityArgs, ClaimMatchArgs, IdentityArgs, StaticKeysArgs } from "./resources/identity";
export { Repo } from "./resources/repo";
export type {
  CustomOverlayArgs,
  OverlayAccountsArgs,
  OverlayCertificateArgs,
  OverlayCertificatesArgs,
  OverlayContentsArgs,
  OverlayGroupArgs,
  OverlayKeyArgs,
  OverlayUserArgs,
  RepoArgs,
  SyncConfigArgs,
} from "./resources/repo";
export { Role } from "./resources/role";
export type { RoleArgs } from "./resources/role";
export { RoleBinding } from "./resources/roleBinding";
export type { RoleBindingArgs } from "./resources/roleBinding";
export { Subscription } from "./resources/subscription";
export type { SubscriptionArgs } from "./resources/subscription";

export { getGroup, getGroupOutput } from "./functions/group";
export type { GetGroupArgs, GetGroupResult } from "./functions/group";
export { lookupIdentity, lookupIdentityOutput } from "./functions/identity";
export type { LookupIdentityArgs, LookupIdentityResult } from "./functions/identity";
export { ping } from "./functions/ping";
export type { PingResult } from "./functions/ping";
export { getRole, getRoleOutput } from "./functions/role";
export type { GetRoleArgs, GetRoleResult } from "./functions/role";
