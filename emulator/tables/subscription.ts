import { messageType, text } from "../gateway/fields";
import { uid } from "./common";
import { httpsUrl } from "./formats";
import type { KindTable } from "./kindTable";

export const subscription: KindTable = {
  kind: "Subscription",
  prefix: "/events/v2",
  collection: "subscriptions",
  service: "events.v2.SubscriptionsService",
  message: messageType({
    uid,
    sink: text({ required: true, immutable: true, format: httpsUrl }),
  }),
  methods: ["list", "get", "create", "delete"],
  capabilities: "EVENTS_SUBSCRIPTION",
  parent: "Group",
  events: { name: "events.subscription", actions: ["created", "deleted"] },
};
