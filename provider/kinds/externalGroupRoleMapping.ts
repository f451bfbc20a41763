import { resource } from "../program/resource";
import { uidOrParent } from "../fields/wire";
import { parentProvider } from "./common";
import {
  kind,
  string,
  time,
  type ArgsOf,
  type OfKind,
  type Resolved,
  type ResultOf,
} from "../fields/builders";

const grants = { required: true, immutable: true, security: true } as const;

const externalGroupRoleMapping = kind({
  kind: "ExternalGroupRoleMapping",
  collection: "/iam/v2/externalGroupRoleMappings",
  capabilities: "IAM_IDENTITY_PROVIDERS",
  eventPrefix: "iam.external_group_role_mappings",
  identifiedBy: ["parentUid", "externalGroupId", "roleUid", "scope"],
  listing: { contents: "complete" },
  grantsAccess: "always",
  fields: {
    /** The uid of the identity provider whose groups are meant. Changing it replaces the mapping. */
    parentUid: parentProvider,
    /** The group, as the provider's `groupsClaim` names it. Changing it replaces the mapping. */
    externalGroupId: string({ ...grants, access: "subject" }),
    /** The uid of the role that members of the group get. Changing it replaces the mapping. */
    roleUid: string({ ...grants, format: "uid", access: "role" }),
    /** The uid of the root group on which they get it. Changing it replaces the mapping. */
    scope: string({
      ...grants,
      format: "groupUid",
      pattern: { regex: /^[^/]*$/, must: "the uid of a root group, which has no slash" },
      access: "subject",
    }),
  },
  reads: {
    /** The uid of the identity provider. */
    identityProviderUid: uidOrParent,
    /** When it was made: RFC 3339, as the API wrote it. */
    createTime: time,
  },
});

/** The arguments of an ExternalGroupRoleMapping. Nothing of a mapping can be changed: each change replaces it. */
export interface ExternalGroupRoleMappingArgs extends ArgsOf<typeof externalGroupRoleMapping>, OfKind {}
/** A role that members of a group at an identity provider get. */
export interface GetExternalGroupRoleMappingResult extends ResultOf<typeof externalGroupRoleMapping> {}
/** Gives a role to all members of a group of an identity provider. */
export class ExternalGroupRoleMapping extends resource<ExternalGroupRoleMappingArgs>(
  externalGroupRoleMapping,
) {}
export interface ExternalGroupRoleMapping extends Resolved<ExternalGroupRoleMappingArgs> {}
