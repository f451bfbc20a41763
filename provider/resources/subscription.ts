import type * as pulumi from "@pulumi/pulumi";
import { PlatformResource } from "../engine/resource";
import { defineResource, parentGroup } from "../engine/spec";

/** The arguments of a Subscription. */
export interface SubscriptionArgs {
  /** The uid of the group whose events, and those of all below it, are delivered. Changing it replaces the subscription. */
  parentUid: pulumi.Input<string>;
  /** The https address that receives the events. Changing it replaces the subscription. */
  sink: pulumi.Input<string>;
}

/** Delivers the events of a group as CloudEvents to a sink. Contract, sections 5 and 11. */
export class Subscription extends PlatformResource {
  /** @internal */
  static readonly spec = defineResource<SubscriptionArgs>({
    kind: "Subscription",
    noun: "subscription",
    collection: "/events/v2/subscriptions",
    events: "events.subscription",
    listsByName: false,
    readsByList: {},
    untimed: true,
    fields: {
      parentUid: parentGroup({ required: true }),
      sink: {
        type: "string",
        format: "httpsUrl",
        required: true,
        immutable: true,
        security: true,
        access: "match",
      },
    },
    gives: "always",
  });

  declare readonly parentUid: pulumi.Output<string>;
  declare readonly sink: pulumi.Output<string>;

  constructor(name: string, args: SubscriptionArgs, opts?: pulumi.CustomResourceOptions) {
    super(Subscription.spec, name, args, opts);
  }

  /** Reads a subscription that this program does not manage. */
  static get(name: string, uid: pulumi.Input<string>, opts?: pulumi.CustomResourceOptions): Subscription {
    return new Subscription(name, undefined as unknown as SubscriptionArgs, { ...opts, id: uid });
  }
}
