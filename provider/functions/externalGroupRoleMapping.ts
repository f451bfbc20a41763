import type * as pulumi from "@pulumi/pulumi";
import * as read from "./answers";
import * as take from "./arguments";
import type { LookupInputs } from "./arguments";
import { ask, askLater, byUid, listing, listRules } from "./lookup";
import type { ByUidArgs, ListArgs } from "./lookup";

/** Selects one mapping. */
export type GetExternalGroupRoleMappingArgs = ByUidArgs;

/** A role that members of a group at an identity provider get. Contract, section 5. */
export interface GetExternalGroupRoleMappingResult {
  /** The uid. */
  uid: string;
  /** The uid of its identity provider. */
  parentUid: string;
  /** The id of the group at the identity provider. */
  externalGroupId: string;
  /** The uid of the role. */
  roleUid: string;
  /** The uid of the root group that the role is granted on. */
  scope: string;
  /** The uid of the identity provider. */
  identityProviderUid: string;
  /** When it was made: RFC 3339, as the API wrote it. */
  createTime?: string;
}

/** Which mappings to list. All by default. Their lists know no names. */
export interface GetExternalGroupRoleMappingsArgs extends ListArgs {
  /** Only those of the identity provider with this uid. */
  identityProviderUid?: string;
}

const COLLECTION = "/iam/v2/externalGroupRoleMappings";

const readMapping = read.object<GetExternalGroupRoleMappingResult>({
  uid: read.text,
  parentUid: read.certainParent,
  externalGroupId: read.text,
  roleUid: read.text,
  scope: read.text,
  identityProviderUid: (value, whole) => read.optionalText(value) ?? read.certainParent(undefined, whole),
  createTime: read.time,
});

const oneMapping = byUid("getExternalGroupRoleMapping", COLLECTION, readMapping);

const mappings = listing<GetExternalGroupRoleMappingsArgs, GetExternalGroupRoleMappingResult>({
  call: "getExternalGroupRoleMappings",
  collection: COLLECTION,
  rules: { ...listRules, identityProviderUid: take.sentAs("identityProviderUid", take.uid) },
  read: readMapping,
});

/** Reads one mapping. Throws where there is none. */
export function getExternalGroupRoleMapping(
  args: GetExternalGroupRoleMappingArgs,
): Promise<GetExternalGroupRoleMappingResult> {
  return ask(oneMapping, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getExternalGroupRoleMappingOutput(
  args: LookupInputs<GetExternalGroupRoleMappingArgs>,
): pulumi.Output<GetExternalGroupRoleMappingResult> {
  return askLater(oneMapping, args);
}

/** Lists the mappings that match and that the token may see. */
export function getExternalGroupRoleMappings(
  args: GetExternalGroupRoleMappingsArgs = {},
): Promise<GetExternalGroupRoleMappingResult[]> {
  return ask(mappings, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getExternalGroupRoleMappingsOutput(
  args: LookupInputs<GetExternalGroupRoleMappingsArgs> = {},
): pulumi.Output<GetExternalGroupRoleMappingResult[]> {
  return askLater(mappings, args);
}
