import { bool, list, messageType, text, timestamp } from "../gateway/fields";
import { timestampToMs } from "../gateway/time";
import { bundle, pattern, uid } from "./common";
import type { KindTable } from "./kindTable";

const tagName = pattern("^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$");
const imageDigest = pattern("^sha256:[0-9a-f]{64}$", 'must be "sha256:" and 64 hexadecimal digits');

export const tag: KindTable = {
  kind: "Tag",
  prefix: "/registry/v2",
  collection: "tags",
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
    digest: { ...text(), matches: ({ value }, wanted) => value.digest === wanted },
    updatedSince: {
      ...timestamp(),
      matches: ({ updatedAt }, wanted) => updatedAt >= (timestampToMs(wanted) ?? 0),
    },
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
      ({ hidden, shownBy }) => request[shownBy] === true || !hidden.test(value.name as string),
    ),
  events: {
    name: "platform.registry.tag",
    group: ({ uid: own }) => own.split("/")[0] ?? "",
  },
};

/** Names that a list leaves out unless a parameter includes them. */
const hiddenNames = [
  { hidden: /^sha256-/, shownBy: "includeReferrers" },
  { hidden: /-20[0-9]{6}$/, shownBy: "includeDates" },
  { hidden: /-r[0-9]+$/, shownBy: "includeEpochs" },
] as const;
