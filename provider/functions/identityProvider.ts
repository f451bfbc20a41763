import { IdentityProvider } from "../resources/identityProvider";
import type { GetIdentityProviderResult } from "../resources/identityProvider";
import { invoke, invokeAny, invokeAnyOutput, invokeOutput } from "./invoke";
import { lookupsOf } from "./lookup";
import type { ByNameArgs, NamedListArgs } from "./lookup";

/** Selects one identity provider: by `uid`, or by `name`. */
export interface GetIdentityProviderArgs extends ByNameArgs {}

/** Which identity providers to list. All by default. */
export interface GetIdentityProvidersArgs extends NamedListArgs {}

const { one, list } = lookupsOf<GetIdentityProviderArgs, GetIdentityProvidersArgs, GetIdentityProviderResult>(
  IdentityProvider,
  {
    calls: ["getIdentityProvider", "getIdentityProviders"],
  },
);

/**
 * Finds exactly one identity provider, with the state of SCIM. Throws where there is none, and where
 * there are several, with their uids and parents.
 */
export const getIdentityProvider = invoke(one);

/** The same with inputs, for arguments that are known only when other resources are. */
export const getIdentityProviderOutput = invokeOutput(one);

/** Lists the identity providers that match and that the token may see. */
export const getIdentityProviders = invokeAny(list);

/** The same with inputs, for arguments that are known only when other resources are. */
export const getIdentityProvidersOutput = invokeAnyOutput(list);
