/*
 * THE list: one line for each kind, in the order in which lists show them. Programs get what these files export.
 * `npm run docs` adds new ones.
 */
export * from "./group";
export * from "./identity";
export * from "./role";
export * from "./roleBinding";
export * from "./groupAccess";
export * from "./repo";
export * from "./repoReadme";
export * from "./tag";
export * from "./subscription";
export * from "./identityProvider";
export * from "./scimToken";
export * from "./termsAcceptance";
export * from "./accountAssociation";
export * from "./groupInvite";
export * from "./externalGroupRoleMapping";
