import type * as pulumi from "@pulumi/pulumi";
import * as read from "./answers";
import type { LookupInputs } from "./arguments";
import { ask, askLater, byUid, listing, listRules } from "./lookup";
import type { ByUidArgs, ListArgs } from "./lookup";

/** Selects one subscription. */
export type GetSubscriptionArgs = ByUidArgs;

/** Where the events of a group and all below it are delivered. Contract, sections 5 and 11. */
export interface GetSubscriptionResult {
  /** The uid. */
  uid: string;
  /** The uid of its group. */
  parentUid: string;
  /** The https URL that events are sent to. */
  sink: string;
}

/** Which subscriptions to list. All by default. Their lists know no names. */
export type GetSubscriptionsArgs = ListArgs;

const COLLECTION = "/events/v2/subscriptions";

const readSubscription = read.object<GetSubscriptionResult>({
  uid: read.text,
  parentUid: read.certainParent,
  sink: read.text,
});

const oneSubscription = byUid("getSubscription", COLLECTION, readSubscription);

const subscriptions = listing<GetSubscriptionsArgs, GetSubscriptionResult>({
  call: "getSubscriptions",
  collection: COLLECTION,
  rules: listRules,
  read: readSubscription,
});

/** Reads one subscription. Throws where there is none. */
export function getSubscription(args: GetSubscriptionArgs): Promise<GetSubscriptionResult> {
  return ask(oneSubscription, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getSubscriptionOutput(
  args: LookupInputs<GetSubscriptionArgs>,
): pulumi.Output<GetSubscriptionResult> {
  return askLater(oneSubscription, args);
}

/** Lists the subscriptions that match and that the token may see. */
export function getSubscriptions(args: GetSubscriptionsArgs = {}): Promise<GetSubscriptionResult[]> {
  return ask(subscriptions, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getSubscriptionsOutput(
  args: LookupInputs<GetSubscriptionsArgs> = {},
): pulumi.Output<GetSubscriptionResult[]> {
  return askLater(subscriptions, args);
}
