import { bool, list, messageType, text, timestamp } from "../gateway/descriptor";
import { uid } from "./common";
import { bundle, tagName } from "./formats";
import type { KindTable } from "./kindTable";

export const tag: KindTable = {
  kind: "Tag",
  prefix: "/registry/v2",
  collection: "tags",
  service: "registry.v2.TagsService",
  message: messageType("chainguard.platform.registry.v2.Tag", {
    uid,
    name: text({ required: true, format: tagName }),
    digest: text({ required: true }),
    deprecated: bool(),
    bundles: list(text(), { format: bundle }),
    updateTime: timestamp({ outputOnly: true }),
  }),
  methods: ["list", "get", "create", "delete"],
  nameFilter: true,
  filters: {
    digest: text(),
    updatedSince: timestamp(),
    includeReferrers: bool(),
    includeDates: bool(),
    includeEpochs: bool(),
  },
};
