export { adopt } from "./engine/adopt";
export { AccountAssociation } from "./resources/accountAssociation";
export type {
  AccountAssociationArgs,
  AmazonAccountArgs,
  AzureTenantArgs,
  ChainguardServicesArgs,
  GithubAppArgs,
  GithubAppsArgs,
  GithubInstallationArgs,
  GoogleProjectArgs,
} from "./resources/accountAssociation";
export { ExternalGroupRoleMapping } from "./resources/externalGroupRoleMapping";
export type { ExternalGroupRoleMappingArgs } from "./resources/externalGroupRoleMapping";
export { Group } from "./resources/group";
export type { GroupArgs } from "./resources/group";
export { GroupAccess } from "./resources/groupAccess";
export type { GroupAccessArgs, GroupAccessBindingArgs, GroupAccessIgnoreArgs } from "./resources/groupAccess";
export { GroupInvite } from "./resources/groupInvite";
export type { GroupInviteArgs } from "./resources/groupInvite";
export { Identity } from "./resources/identity";
export type { AwsIdentityArgs, ClaimMatchArgs, IdentityArgs, StaticKeysArgs } from "./resources/identity";
export { IdentityProvider } from "./resources/identityProvider";
export type { IdentityProviderArgs, OidcArgs } from "./resources/identityProvider";
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
export { RepoReadme } from "./resources/repoReadme";
export type { RepoReadmeArgs } from "./resources/repoReadme";
export { Role } from "./resources/role";
export type { RoleArgs } from "./resources/role";
export { RoleBinding } from "./resources/roleBinding";
export type { RoleBindingArgs } from "./resources/roleBinding";
export { ScimToken } from "./resources/scimToken";
export type { ScimTokenArgs } from "./resources/scimToken";
export { Subscription } from "./resources/subscription";
export type { SubscriptionArgs } from "./resources/subscription";
export { TermsAcceptance } from "./resources/termsAcceptance";
export type { TermsAcceptanceArgs } from "./resources/termsAcceptance";
export { Tag } from "./resources/tag";
export type { TagArgs } from "./resources/tag";

export {
  checkAccountAssociation,
  checkAccountAssociationOutput,
  getAccountAssociation,
  getAccountAssociationOutput,
  getAccountAssociations,
  getAccountAssociationsOutput,
} from "./functions/accountAssociation";
export type {
  AssociatedAmazon,
  AssociatedAzure,
  AssociatedChainguard,
  AssociatedGithub,
  AssociatedGoogle,
  CheckAccountAssociationArgs,
  CheckAccountAssociationResult,
  GetAccountAssociationArgs,
  GetAccountAssociationResult,
  GetAccountAssociationsArgs,
  GithubInstallation,
  GithubInstallations,
} from "./functions/accountAssociation";
export { getAdvisories, getAdvisoriesOutput, getAdvisory, getAdvisoryOutput } from "./functions/advisory";
export type {
  AdvisoryEvent,
  AdvisorySeverity,
  GetAdvisoriesArgs,
  GetAdvisoryArgs,
  GetAdvisoryResult,
} from "./functions/advisory";
export {
  getAdvisoryDocuments,
  getAdvisoryDocumentsOutput,
  getVulnerabilityMetadata,
  getVulnerabilityMetadataOutput,
} from "./functions/advisoryDocument";
export type {
  AdvisoryDocument,
  DocumentAdvisory,
  DocumentEvent,
  GetAdvisoryDocumentsArgs,
  GetVulnerabilityMetadataArgs,
  VulnerabilityMetadata,
  VulnerabilityReference,
} from "./functions/advisoryDocument";
export type { LookupInputs } from "./functions/arguments";
export {
  getArtifactCount,
  getArtifactCountOutput,
  getArtifactVersions,
  getArtifactVersionsOutput,
  getArtifacts,
  getArtifactsOutput,
} from "./functions/artifact";
export type {
  ArtifactCount,
  GetArtifactCountArgs,
  GetArtifactCountResult,
  GetArtifactResult,
  GetArtifactVersionResult,
  GetArtifactVersionsArgs,
  GetArtifactsArgs,
} from "./functions/artifact";
export {
  getExternalGroupRoleMapping,
  getExternalGroupRoleMappingOutput,
  getExternalGroupRoleMappings,
  getExternalGroupRoleMappingsOutput,
} from "./functions/externalGroupRoleMapping";
export type {
  GetExternalGroupRoleMappingArgs,
  GetExternalGroupRoleMappingResult,
  GetExternalGroupRoleMappingsArgs,
} from "./functions/externalGroupRoleMapping";
export {
  checkEligibility,
  checkEligibilityOutput,
  getGroup,
  getGroupOutput,
  getGroups,
  getGroupsOutput,
  lookupGroup,
  lookupGroupOutput,
} from "./functions/group";
export type { CheckEligibilityResult, GetGroupArgs, GetGroupResult, GetGroupsArgs } from "./functions/group";
export {
  getGroupInvite,
  getGroupInviteOutput,
  getGroupInvites,
  getGroupInvitesOutput,
} from "./functions/groupInvite";
export type {
  GetGroupInviteArgs,
  GetGroupInviteResult,
  GetGroupInvitesArgs,
  InviteRole,
} from "./functions/groupInvite";
export {
  getIdentities,
  getIdentitiesOutput,
  getIdentity,
  getIdentityOutput,
  lookupIdentity,
  lookupIdentityOutput,
} from "./functions/identity";
export type {
  GetIdentitiesArgs,
  GetIdentityArgs,
  GetIdentityResult,
  IdentityAws,
  IdentityClaimMatch,
  IdentityStaticKeys,
  LookupIdentityArgs,
  LookupIdentityResult,
} from "./functions/identity";
export {
  getIdentityProvider,
  getIdentityProviderOutput,
  getIdentityProviders,
  getIdentityProvidersOutput,
} from "./functions/identityProvider";
export type {
  GetIdentityProviderArgs,
  GetIdentityProviderResult,
  GetIdentityProvidersArgs,
  IdentityProviderOidc,
  IdentityProviderScim,
} from "./functions/identityProvider";
export {
  getImageArchitectures,
  getImageArchitecturesOutput,
  getImageSize,
  getImageSizeOutput,
} from "./functions/image";
export type {
  GetImageArchitecturesArgs,
  GetImageArchitecturesResult,
  GetImageSizeArgs,
  GetImageSizeResult,
} from "./functions/image";
export type { ByUidArgs, LimitArgs, ListArgs } from "./functions/lookup";
export { ping, pingOutput } from "./functions/ping";
export type { PingResult } from "./functions/ping";
export {
  getRepo,
  getRepoOutput,
  getRepoReadme,
  getRepoReadmeOutput,
  getRepos,
  getReposOutput,
} from "./functions/repo";
export type {
  GetRepoArgs,
  GetRepoReadmeArgs,
  GetRepoReadmeResult,
  GetRepoResult,
  GetReposArgs,
  RepoCustomOverlay,
  RepoOverlayAccounts,
  RepoOverlayCertificate,
  RepoOverlayCertificates,
  RepoOverlayContents,
  RepoOverlayGroup,
  RepoOverlayKey,
  RepoOverlayUser,
  RepoSyncConfig,
} from "./functions/repo";
export { getRole, getRoleOutput, getRoles, getRolesOutput } from "./functions/role";
export type { GetRoleArgs, GetRoleResult, GetRolesArgs } from "./functions/role";
export {
  getRoleBinding,
  getRoleBindingOutput,
  getRoleBindings,
  getRoleBindingsOutput,
} from "./functions/roleBinding";
export type {
  BoundGroup,
  BoundIdentity,
  BoundRole,
  GetRoleBindingArgs,
  GetRoleBindingResult,
  GetRoleBindingsArgs,
} from "./functions/roleBinding";
export {
  getSubscription,
  getSubscriptionOutput,
  getSubscriptions,
  getSubscriptionsOutput,
} from "./functions/subscription";
export type {
  GetSubscriptionArgs,
  GetSubscriptionResult,
  GetSubscriptionsArgs,
} from "./functions/subscription";
export { getTag, getTagOutput, getTags, getTagsOutput } from "./functions/tag";
export type { GetTagArgs, GetTagResult, GetTagsArgs } from "./functions/tag";
export { getTermsAcceptances, getTermsAcceptancesOutput } from "./functions/terms";
export type { AcceptedTerms, GetTermsAcceptancesArgs } from "./functions/terms";
