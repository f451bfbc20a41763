/*
 * What programs of the native form use: the same classes and functions, of resources that the plugin manages.
 * `npm run docs` writes this file.
 */
import * as kinds from "../kinds/exports";
import { native } from "../program/resource";

export * from "../index";
export * from "./enumerations";
export { Provider } from "../program/provider";
export type { ProviderArgs } from "../program/provider";

/** Group, managed by the plugin. @see {@link kinds.Group} */
export class Group extends native(kinds.Group) {}

/** Identity, managed by the plugin. @see {@link kinds.Identity} */
export class Identity extends native(kinds.Identity) {}

/** Role, managed by the plugin. @see {@link kinds.Role} */
export class Role extends native(kinds.Role) {}

/** RoleBinding, managed by the plugin. @see {@link kinds.RoleBinding} */
export class RoleBinding extends native(kinds.RoleBinding) {}

/** GroupAccess, managed by the plugin. @see {@link kinds.GroupAccess} */
export class GroupAccess extends native(kinds.GroupAccess) {}

/** Repo, managed by the plugin. @see {@link kinds.Repo} */
export class Repo extends native(kinds.Repo) {}

/** RepoReadme, managed by the plugin. @see {@link kinds.RepoReadme} */
export class RepoReadme extends native(kinds.RepoReadme) {}

/** Tag, managed by the plugin. @see {@link kinds.Tag} */
export class Tag extends native(kinds.Tag) {}

/** Subscription, managed by the plugin. @see {@link kinds.Subscription} */
export class Subscription extends native(kinds.Subscription) {}

/** IdentityProvider, managed by the plugin. @see {@link kinds.IdentityProvider} */
export class IdentityProvider extends native(kinds.IdentityProvider) {}

/** ScimToken, managed by the plugin. @see {@link kinds.ScimToken} */
export class ScimToken extends native(kinds.ScimToken) {}

/** TermsAcceptance, managed by the plugin. @see {@link kinds.TermsAcceptance} */
export class TermsAcceptance extends native(kinds.TermsAcceptance) {}

/** AccountAssociation, managed by the plugin. @see {@link kinds.AccountAssociation} */
export class AccountAssociation extends native(kinds.AccountAssociation) {}

/** GroupInvite, managed by the plugin. @see {@link kinds.GroupInvite} */
export class GroupInvite extends native(kinds.GroupInvite) {}

/** ExternalGroupRoleMapping, managed by the plugin. @see {@link kinds.ExternalGroupRoleMapping} */
export class ExternalGroupRoleMapping extends native(kinds.ExternalGroupRoleMapping) {}
