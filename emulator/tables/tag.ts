import { bool, list, messageType, text, timestamp } from "../gateway/fields";
import { timestampToMs } from "../gateway/time";
import { uid } from "./common";
import { bundle, imageDigest, tagName } from "./formats";
import type { KindTable } from "./kindTable";

export const tag: KindTable = {
  kind: "Tag",
  prefix: "/registry/v2",
  collection: "tags",
  service: "registry.v2.TagsService",
  message: messageType({
    uid,
    name: text({ required: true, format: tagName }),
    digest: text({ required: true, format: imageDigest }),
    deprecated: bool(),
    bundles: list(text(), { format: bundle }),
    updateTime: timestamp({ outputOnly: true }),
  }),
  methods: ["list", "get", "create", "delete"],
  capabilities: "TAG",
  hasNameFilter: true,
  filters: {
    digest: text(),
    updatedSince: timestamp(),
    includeReferrers: bool(),
    includeDates: bool(),
    includeEpochs: bool(),
  },
  parent: "Repo",
  findOverwritten: ({ parent, value }, { store }) =>
    store.childrenOf({ kind: "Repo", uid: parent }).find((entry) => {
      return entry.kind === "Tag" && entry.value.name === value.name;
    }),
  isListed: ({ value }, request) =>
    hiddenNames.every(
      ({ pattern, shownBy }) => request[shownBy] === true || !pattern.test(value.name as string),
    ),
  matches: {
    digest: (entry, filterValue) => entry.value.digest === filterValue,
    updatedSince: (entry, filterValue) => entry.updatedAt >= (timestampToMs(filterValue) ?? 0),
  },
  events: {
    name: "platform.registry.tag",
    actions: ["created", "deleted"],
    group: ({ uid: own }) => own.split("/")[0] ?? "",
  },
};

/** Names that a list leaves out unless a parameter includes them. */
const hiddenNames = [
  { pattern: /^sha256-/, shownBy: "includeReferrers" },
  { pattern: /-20[0-9]{6}$/, shownBy: "includeDates" },
  { pattern: /-r[0-9]+$/, shownBy: "includeEpochs" },
] as const;
