import { resource } from "../program/resource";
import { kind, string, type ArgsOf, type OfKind, type Resolved, type ResultOf } from "../fields/builders";
import { parentGroup } from "./common";

const subscription = kind({
  kind: "Subscription",
  collection: "/events/v2/subscriptions",
  capabilities: "EVENTS_SUBSCRIPTION",
  eventPrefix: "events.subscription",
  listing: { contents: "complete" },
  grantsAccess: "always",
  fields: {
    /** The uid of the group whose events, and those of all below it, are delivered. Changing it replaces the subscription. */
    parentUid: parentGroup,
    /** The https address that receives the events. Changing it replaces the subscription. */
    sink: string({ format: "httpsUrl", required: true, immutable: true, access: "events.receiver" }),
  },
});

/** The arguments of a Subscription. */
export interface SubscriptionArgs extends ArgsOf<typeof subscription>, OfKind {}
/** Where the events of a group and all below it are delivered. */
export interface GetSubscriptionResult extends ResultOf<typeof subscription> {}
/** Delivers the events of a group as CloudEvents to a sink: a webhook. */
export class Subscription extends resource<SubscriptionArgs>(subscription) {}
export interface Subscription extends Resolved<SubscriptionArgs> {}
