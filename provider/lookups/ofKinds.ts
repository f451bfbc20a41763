import { boolean, enumOf, string } from "../fields/builders";
import type { ArgumentsOf } from "../fields/builders";
import * as kinds from "../kinds/exports";
import { digestPattern, uidArgument, withOptions } from "./arguments";
import { lookupsOf } from "./lookup";
import type { ByNameArgs, ByUidArgs, ListArgs, NamedListArgs } from "./lookup";

const picked = withOptions(boolean(), { picks: true });

/* The lookups that every kind with a list has, in the order of kinds/exports.ts: exactly one object, and all that match. */

/** Selects one group: by `uid`, or by `name`. */
export interface GetGroupArgs extends ByNameArgs {}

/** Which groups to list. All by default. */
export interface GetGroupsArgs extends NamedListArgs {}

const groups = lookupsOf<GetGroupArgs, GetGroupsArgs, kinds.GetGroupResult>(kinds.Group);

/** Finds exactly one group. Throws where there is none, and where there are several, with their uids and parents. */
export const getGroup = groups.get;

/** Returns what `getGroup` returns, as an output. Its arguments can be outputs of other resources. */
export const getGroupOutput = groups.getOutput;

/** Lists the groups that match and that the token may see. */
export const getGroups = groups.list;

/** Returns what `getGroups` returns, as an output. Its arguments can be outputs of other resources. */
export const getGroupsOutput = groups.listOutput;

const identityFilters = {
  /** `RELATIONSHIP_TYPE_` and one of `CLAIM_MATCH`, `STATIC`, `AWS_IDENTITY`, `SERVICE_PRINCIPAL`. */
  relationshipType: enumOf("RELATIONSHIP_TYPE_", "CLAIM_MATCH STATIC AWS_IDENTITY SERVICE_PRINCIPAL"),
};

/** Selects one identity: by `uid`, or by `name`. */
export interface GetIdentityArgs extends ByNameArgs {}

/** Which identities to list. All by default. */
export interface GetIdentitiesArgs extends NamedListArgs, ArgumentsOf<typeof identityFilters> {}

const identities = lookupsOf<GetIdentityArgs, GetIdentitiesArgs, kinds.GetIdentityResult>(kinds.Identity, {
  filters: identityFilters,
});

/** Finds exactly one identity. Throws where there is none, and where there are several, with their uids and parents. */
export const getIdentity = identities.get;

/** Returns what `getIdentity` returns, as an output. Its arguments can be outputs of other resources. */
export const getIdentityOutput = identities.getOutput;

/** Lists the identities that match and that the token may see. */
export const getIdentities = identities.list;

/** Returns what `getIdentities` returns, as an output. Its arguments can be outputs of other resources. */
export const getIdentitiesOutput = identities.listOutput;

const roleSelects = {
  /** True: only a built-in role. False: only custom ones. */
  builtIn: picked,
};

const roleFilters = {
  /** True: only built-in roles. False: only custom ones. Picked out of the list by this package, not by the server. */
  builtIn: picked,
};

/** Selects one role: by `uid`, or by `name`. */
export interface GetRoleArgs extends ByNameArgs, ArgumentsOf<typeof roleSelects> {}

/** Which roles to list. All by default: built-in and custom ones mixed. */
export interface GetRolesArgs extends NamedListArgs, ArgumentsOf<typeof roleFilters> {}

const roles = lookupsOf<GetRoleArgs, GetRolesArgs, kinds.GetRoleResult>(kinds.Role, {
  selects: roleSelects,
  filters: roleFilters,
});

/**
 * Finds exactly one role. Role lists mix custom roles with built-in ones: give `builtIn: true` for a built-in role.
 * Throws where there is none, and where there are several, with their uids and parents.
 */
export const getRole = roles.get;

/** Returns what `getRole` returns, as an output. Its arguments can be outputs of other resources. */
export const getRoleOutput = roles.getOutput;

/** Lists the roles that match and that the token may see. */
export const getRoles = roles.list;

/** Returns what `getRoles` returns, as an output. Its arguments can be outputs of other resources. */
export const getRolesOutput = roles.listOutput;

const bindingFilters = {
  /** Only bindings of the identity with this uid. */
  identityUid: string({ format: "uid", wire: "identity" }),
  /** Only what is granted on the group with this uid. */
  groupUid: string({ format: "uid", wire: "group" }),
  /** Only grants of the role with this uid. */
  roleUid: string({ format: "uid", wire: "role" }),
};

/** Selects one role binding. */
export type GetRoleBindingArgs = ByUidArgs;

/** Which role bindings to list. All by default. Their lists know no names. */
export interface GetRoleBindingsArgs extends ListArgs, ArgumentsOf<typeof bindingFilters> {}

const bindings = lookupsOf<GetRoleBindingArgs, GetRoleBindingsArgs, kinds.GetRoleBindingResult>(
  kinds.RoleBinding,
  { filters: bindingFilters },
);

/** Reads one role binding. Throws where there is none. */
export const getRoleBinding = bindings.get;

/** Returns what `getRoleBinding` returns, as an output. Its arguments can be outputs of other resources. */
export const getRoleBindingOutput = bindings.getOutput;

/** Lists the role bindings that match and that the token may see. */
export const getRoleBindings = bindings.list;

/** Returns what `getRoleBindings` returns, as an output. Its arguments can be outputs of other resources. */
export const getRoleBindingsOutput = bindings.listOutput;

/** Selects one repository: by `uid`, or by `name`. */
export interface GetRepoArgs extends ByNameArgs {}

/** Which repositories to list. All by default. */
export interface GetReposArgs extends NamedListArgs {}

const repositories = lookupsOf<GetRepoArgs, GetReposArgs, kinds.GetRepoResult>(kinds.Repo);

/** Finds exactly one repository. Throws where there is none, and where there are several, with their uids and parents. */
export const getRepo = repositories.get;

/** Returns what `getRepo` returns, as an output. Its arguments can be outputs of other resources. */
export const getRepoOutput = repositories.getOutput;

/** Lists the repositories that match and that the token may see. */
export const getRepos = repositories.list;

/** Returns what `getRepos` returns, as an output. Its arguments can be outputs of other resources. */
export const getReposOutput = repositories.listOutput;

const tagFilters = {
  /** Only tags that point to this digest: `sha256:` and 64 hex digits. */
  digest: string({ pattern: digestPattern }),
  /** Only tags that changed since: RFC 3339 with its zone. */
  updatedSince: string({ format: "timestamp" }),
  /** True: also tags that refer to another image, as in `sha256-…`. */
  includeReferrers: boolean(),
  /** True: also tags that end in a date, as in `…-20260128`. */
  includeDates: boolean(),
  /** True: also tags that end in the number of a build, as in `…-r3`. */
  includeEpochs: boolean(),
  /**
   * True: only tags at the end of their life. False: only those that are not. Picked out of the list by
   * this package: the server cannot.
   */
  deprecated: picked,
};

/** Selects one tag: by `uid`, or by `name` and the repository. */
export interface GetTagArgs extends ByNameArgs {}

/** Which tags to list: those of one repository by `childrenOf`. */
export interface GetTagsArgs extends NamedListArgs, ArgumentsOf<typeof tagFilters> {}

const tags = lookupsOf<GetTagArgs, GetTagsArgs, kinds.GetTagResult>(kinds.Tag, { filters: tagFilters });

/** Finds exactly one tag. Throws where there is none, and where there are several, with their uids and repositories. */
export const getTag = tags.get;

/** Returns what `getTag` returns, as an output. Its arguments can be outputs of other resources. */
export const getTagOutput = tags.getOutput;

/** Lists the tags that match and that the token may see. */
export const getTags = tags.list;

/** Returns what `getTags` returns, as an output. Its arguments can be outputs of other resources. */
export const getTagsOutput = tags.listOutput;

/** Selects one subscription. */
export type GetSubscriptionArgs = ByUidArgs;

/** Which subscriptions to list. All by default. Their lists know no names. */
export type GetSubscriptionsArgs = ListArgs;

const subscriptions = lookupsOf<GetSubscriptionArgs, GetSubscriptionsArgs, kinds.GetSubscriptionResult>(
  kinds.Subscription,
);

/** Reads one subscription. Throws where there is none. */
export const getSubscription = subscriptions.get;

/** Returns what `getSubscription` returns, as an output. Its arguments can be outputs of other resources. */
export const getSubscriptionOutput = subscriptions.getOutput;

/** Lists the subscriptions that match and that the token may see. */
export const getSubscriptions = subscriptions.list;

/** Returns what `getSubscriptions` returns, as an output. Its arguments can be outputs of other resources. */
export const getSubscriptionsOutput = subscriptions.listOutput;

/** Selects one identity provider: by `uid`, or by `name`. */
export type GetIdentityProviderArgs = ByNameArgs;

/** Which identity providers to list. All by default. */
export type GetIdentityProvidersArgs = NamedListArgs;

const providers = lookupsOf<
  GetIdentityProviderArgs,
  GetIdentityProvidersArgs,
  kinds.GetIdentityProviderResult
>(kinds.IdentityProvider);

/** Finds exactly one identity provider. Throws where there is none, and where there are several, with their uids and parents. */
export const getIdentityProvider = providers.get;

/** Returns what `getIdentityProvider` returns, as an output. Its arguments can be outputs of other resources. */
export const getIdentityProviderOutput = providers.getOutput;

/** Lists the identity providers that match and that the token may see. */
export const getIdentityProviders = providers.list;

/** Returns what `getIdentityProviders` returns, as an output. Its arguments can be outputs of other resources. */
export const getIdentityProvidersOutput = providers.listOutput;

/** Selects one account association: by `uid`, which is that of its group, or by `name`. */
export interface GetAccountAssociationArgs extends Omit<ByNameArgs, "parentUid"> {}

/** Which account associations to list. All by default, ordered by their group. */
export interface GetAccountAssociationsArgs extends NamedListArgs {}

const associations = lookupsOf<
  GetAccountAssociationArgs,
  GetAccountAssociationsArgs,
  kinds.GetAccountAssociationResult
>(kinds.AccountAssociation);

/** Finds exactly one account association. Throws where there is none, and where there are several, with their uids. */
export const getAccountAssociation = associations.get;

/** Returns what `getAccountAssociation` returns, as an output. Its arguments can be outputs of other resources. */
export const getAccountAssociationOutput = associations.getOutput;

/** Lists the account associations that match and that the token may see. */
export const getAccountAssociations = associations.list;

/** Returns what `getAccountAssociations` returns, as an output. Its arguments can be outputs of other resources. */
export const getAccountAssociationsOutput = associations.listOutput;

const inviteFilters = {
  /** Only those whose code was made with this key. */
  keyId: string(),
};

/** Selects one invite. */
export type GetGroupInviteArgs = ByUidArgs;

/** Which invites to list. All by default, the newest first. Their lists know no names. */
export interface GetGroupInvitesArgs extends ListArgs, ArgumentsOf<typeof inviteFilters> {}

const invites = lookupsOf<GetGroupInviteArgs, GetGroupInvitesArgs, kinds.GetGroupInviteResult>(
  kinds.GroupInvite,
  { filters: inviteFilters },
);

/** Reads one invite. Throws where there is none. */
export const getGroupInvite = invites.get;

/** Returns what `getGroupInvite` returns, as an output. Its arguments can be outputs of other resources. */
export const getGroupInviteOutput = invites.getOutput;

/** Lists the invites that match and that the token may see. */
export const getGroupInvites = invites.list;

/** Returns what `getGroupInvites` returns, as an output. Its arguments can be outputs of other resources. */
export const getGroupInvitesOutput = invites.listOutput;

const mappingFilters = {
  /** Only those of the identity provider with this uid. */
  identityProviderUid: uidArgument,
};

/** Selects one mapping. */
export type GetExternalGroupRoleMappingArgs = ByUidArgs;

/** Which mappings to list. All by default. Their lists know no names. */
export interface GetExternalGroupRoleMappingsArgs extends ListArgs, ArgumentsOf<typeof mappingFilters> {}

const mappings = lookupsOf<
  GetExternalGroupRoleMappingArgs,
  GetExternalGroupRoleMappingsArgs,
  kinds.GetExternalGroupRoleMappingResult
>(kinds.ExternalGroupRoleMapping, { filters: mappingFilters });

/** Reads one mapping. Throws where there is none. */
export const getExternalGroupRoleMapping = mappings.get;

/** Returns what `getExternalGroupRoleMapping` returns, as an output. Its arguments can be outputs of other resources. */
export const getExternalGroupRoleMappingOutput = mappings.getOutput;

/** Lists the mappings that match and that the token may see. */
export const getExternalGroupRoleMappings = mappings.list;

/** Returns what `getExternalGroupRoleMappings` returns, as an output. Its arguments can be outputs of other resources. */
export const getExternalGroupRoleMappingsOutput = mappings.listOutput;
