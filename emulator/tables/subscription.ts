import type { Format } from "../gateway/fields";
import { messageType, text } from "../gateway/fields";
import { uid } from "./common";
import type { KindTable } from "./kindTable";

const httpsUrl: Format = {
  requirement: "must be an https URL",
  accepts: (value) => /^https:\/\/[^/?#]/.test(value) && URL.canParse(value),
};

export const subscription: KindTable = {
  kind: "Subscription",
  prefix: "/events/v2",
  collection: "subscriptions",
  message: messageType({
    uid,
    sink: text({ required: true, immutable: true, format: httpsUrl }),
  }),
  methods: ["list", "get", "create", "delete"],
  capabilities: "EVENTS_SUBSCRIPTION",
  parent: "Group",
  events: { name: "events.subscription" },
};
