// Written by `npm run docs` from the descriptions of kinds that have no file of their own here.
import { Subscription } from "../kinds/subscription";
import type { GetSubscriptionResult } from "../kinds/subscription";
import { IdentityProvider } from "../kinds/identityProvider";
import type { GetIdentityProviderResult } from "../kinds/identityProvider";
import { invoke, invokeWithOptionalArgs, invokeWithOptionalArgsOutput, invokeOutput } from "./invoke";
import { defineLookups } from "./lookup";
import type { ByNameArgs, ByUidArgs, ListArgs, NamedListArgs } from "./lookup";

/** Selects one subscription. */
export type GetSubscriptionArgs = ByUidArgs;

/** Which subscriptions to list. All by default. Their lists know no names. */
export type GetSubscriptionsArgs = ListArgs;

const subscription = defineLookups<GetSubscriptionArgs, GetSubscriptionsArgs, GetSubscriptionResult>(
  Subscription,
  { calls: ["getSubscription", "getSubscriptions"] },
);

/** Reads one subscription. Throws where there is none. */
export const getSubscription = invoke(subscription.one);

/** Returns what `getSubscription` returns, as an output. Its arguments can be outputs of other resources. */
export const getSubscriptionOutput = invokeOutput(subscription.one);

/** Lists the subscriptions that match and that the token may see. */
export const getSubscriptions = invokeWithOptionalArgs(subscription.list);

/** Returns what `getSubscriptions` returns, as an output. Its arguments can be outputs of other resources. */
export const getSubscriptionsOutput = invokeWithOptionalArgsOutput(subscription.list);

/** Selects one identity provider: by `uid`, or by `name`. */
export type GetIdentityProviderArgs = ByNameArgs;

/** Which identity providers to list. All by default. */
export type GetIdentityProvidersArgs = NamedListArgs;

const identityProvider = defineLookups<
  GetIdentityProviderArgs,
  GetIdentityProvidersArgs,
  GetIdentityProviderResult
>(IdentityProvider, { calls: ["getIdentityProvider", "getIdentityProviders"] });

/** Finds exactly one identity provider. Throws where there is none, and where there are several, with their uids and parents. */
export const getIdentityProvider = invoke(identityProvider.one);

/** Returns what `getIdentityProvider` returns, as an output. Its arguments can be outputs of other resources. */
export const getIdentityProviderOutput = invokeOutput(identityProvider.one);

/** Lists the identity providers that match and that the token may see. */
export const getIdentityProviders = invokeWithOptionalArgs(identityProvider.list);

/** Returns what `getIdentityProviders` returns, as an output. Its arguments can be outputs of other resources. */
export const getIdentityProvidersOutput = invokeWithOptionalArgsOutput(identityProvider.list);
