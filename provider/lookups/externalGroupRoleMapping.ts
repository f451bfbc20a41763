import { ExternalGroupRoleMapping } from "../kinds/externalGroupRoleMapping";
import type { GetExternalGroupRoleMappingResult } from "../kinds/externalGroupRoleMapping";
import { validate } from "./validators";
import { invoke, invokeWithOptionalArgs, invokeWithOptionalArgsOutput, invokeOutput } from "./invoke";
import { defineLookups } from "./lookup";
import type { ByUidArgs, ListArgs } from "./lookup";

/** Selects one mapping. */
export type GetExternalGroupRoleMappingArgs = ByUidArgs;

/** Which mappings to list. All by default. Their lists know no names. */
export interface GetExternalGroupRoleMappingsArgs extends ListArgs {
  /** Only those of the identity provider with this uid. */
  identityProviderUid?: string;
}

const { one, list } = defineLookups<
  GetExternalGroupRoleMappingArgs,
  GetExternalGroupRoleMappingsArgs,
  GetExternalGroupRoleMappingResult
>(ExternalGroupRoleMapping, {
  calls: ["getExternalGroupRoleMapping", "getExternalGroupRoleMappings"],
  filters: { identityProviderUid: validate.sentAs("identityProviderUid", validate.uid) },
});

/** Reads one mapping. Throws where there is none. */
export const getExternalGroupRoleMapping = invoke(one);

/** Returns what `getExternalGroupRoleMapping` returns, as an output. Its arguments can be outputs of other resources. */
export const getExternalGroupRoleMappingOutput = invokeOutput(one);

/** Lists the mappings that match and that the token may see. */
export const getExternalGroupRoleMappings = invokeWithOptionalArgs(list);

/** Returns what `getExternalGroupRoleMappings` returns, as an output. Its arguments can be outputs of other resources. */
export const getExternalGroupRoleMappingsOutput = invokeWithOptionalArgsOutput(list);
