import { Subscription } from "../resources/subscription";
import type { GetSubscriptionResult } from "../resources/subscription";
import { invoke, invokeAny, invokeAnyOutput, invokeOutput } from "./invoke";
import { lookupsOf } from "./lookup";
import type { ByUidArgs, ListArgs } from "./lookup";

/** Selects one subscription. */
export type GetSubscriptionArgs = ByUidArgs;

/** Which subscriptions to list. All by default. Their lists know no names. */
export type GetSubscriptionsArgs = ListArgs;

const { one, list } = lookupsOf<GetSubscriptionArgs, GetSubscriptionsArgs, GetSubscriptionResult>(
  Subscription,
  {
    calls: ["getSubscription", "getSubscriptions"],
  },
);

/** Reads one subscription. Throws where there is none. */
export const getSubscription = invoke(one);

/** The same with inputs, for arguments that are known only when other resources are. */
export const getSubscriptionOutput = invokeOutput(one);

/** Lists the subscriptions that match and that the token may see. */
export const getSubscriptions = invokeAny(list);

/** The same with inputs, for arguments that are known only when other resources are. */
export const getSubscriptionsOutput = invokeAnyOutput(list);
