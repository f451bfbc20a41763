import { getGroupOutput, getSubscriptionsOutput } from "pulumi-platform";

const acme = getGroupOutput({ name: "acme" });
const subscriptions = getSubscriptionsOutput({ childrenOf: acme.uid });

export const sinks = subscriptions.apply((all) => all.map(({ sink }) => sink));
