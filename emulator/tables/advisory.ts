import type { FieldSpec, Message } from "../gateway/fields";
import { bytes, enumeration, list, messageType, object, text, timestamp } from "../gateway/fields";
import { advisories } from "../data/advisories";
import type { Entry } from "../service/store";
import { times, uid } from "./common";
import type { KindTable } from "./kindTable";

const eventKind = (fields: Record<string, FieldSpec> = {}): FieldSpec => object(fields, { oneof: "kind" });

/** Kinds of events in the order of their filter's numbers. */
const eventKinds: Readonly<Record<string, FieldSpec>> = {
  detection: eventKind(),
  truePositiveDetermination: eventKind(),
  fixed: eventKind({
    fixedVersion: text(),
    grypeDbBuilt: text(),
    grypeDbChecksum: text(),
    note: text(),
    scannerVersion: text(),
  }),
  falsePositiveDetermination: eventKind(),
  analysisNotPlanned: eventKind(),
  fixNotPlanned: eventKind(),
  pendingUpstreamFix: eventKind(),
  patched: eventKind(),
};

const constantCase = (camel: string): string =>
  camel.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

const eventFilter = enumeration("EVENT_TYPE_FILTER", Object.keys(eventKinds).map(constantCase).join(" "));
const reviewState = enumeration("REVIEW_STATE", "PENDING APPROVED REQUEST_CHANGES REJECTED");

export const severity = object({
  type: enumeration("TYPE", "CVSS_V2 CVSS_V3 CVSS_V4"),
  score: text(),
});

/** Filters that take any of several values of a field. */
const listFilters: Readonly<Record<string, string>> = {
  advisoryIds: "advisoryId",
  legacyAdvisoryIds: "legacyAdvisoryId",
  artifactTypes: "artifactType",
  artifactArchitectures: "artifactArchitecture",
  componentNames: "componentName",
  componentTypes: "componentType",
  componentLocations: "componentLocation",
};

const stringLists = (...names: string[]): Record<string, FieldSpec> =>
  Object.fromEntries(names.map((field) => [field, list(text())]));

const readEvents = ({ value }: Entry): readonly Message[] => (value.events ?? []) as Message[];
const filterOf = (event: Message | undefined): string | undefined => {
  const kind = Object.keys(eventKinds).find((each) => event?.[each] !== undefined);
  return kind && `EVENT_TYPE_FILTER_${constantCase(kind)}`;
};
const includes = (filterValue: unknown, value: unknown): boolean =>
  (filterValue as unknown[]).includes(value);
const containsIgnoringCase = (value: unknown, part: string): boolean =>
  typeof value === "string" && value.toLowerCase().includes(part.toLowerCase());

const matches: NonNullable<KindTable["matches"]> = {
  ...Object.fromEntries(
    Object.entries(listFilters).map(([filter, field]) => [
      filter,
      (entry: Entry, filterValue: unknown) => includes(filterValue, entry.value[field]),
    ]),
  ),
  // With an origin, which means all packages built from it, the names are ignored.
  artifactNames: (entry, filterValue, _, request) =>
    request.origin !== undefined || includes(filterValue, entry.value.artifactName),
  origin: ({ value: { artifactName } }, filterValue) =>
    artifactName === filterValue || (artifactName as string).startsWith(`${filterValue as string}-`),
  aliases: (entry, filterValue) =>
    ((entry.value.aliases ?? []) as string[]).some((alias) => includes(filterValue, alias)),
  eventAuthors: (entry, filterValue) => readEvents(entry).some(({ author }) => includes(filterValue, author)),
  excludeEventAuthors: (entry, filterValue) =>
    !readEvents(entry).some(({ author }) => includes(filterValue, author)),
  eventReviewers: (entry, filterValue) =>
    readEvents(entry).some(({ reviewer }) => includes(filterValue, reviewer)),
  eventReviewStates: (entry, filterValue) =>
    readEvents(entry).some((event) => includes(filterValue, event.reviewState)),
  eventTypes: (entry, filterValue) =>
    readEvents(entry).some((event) => includes(filterValue, filterOf(event))),
  latestEventType: (entry, filterValue) => filterOf(readEvents(entry).at(-1)) === filterValue,
  query: ({ value }, filterValue) =>
    [value.advisoryId, value.artifactName, value.componentName, ...((value.aliases ?? []) as string[])].some(
      (each) => containsIgnoringCase(each, filterValue as string),
    ),
};

export const advisory: KindTable = {
  kind: "Advisory",
  prefix: "/vulnerabilities/v2",
  collection: "advisories",
  service: "vulnerabilities.v2.AdvisoriesService",
  message: messageType({
    uid,
    advisoryId: text(),
    ...times,
    deleteTime: timestamp({ optional: true }),
    author: text(),
    artifactName: text(),
    artifactType: text(),
    artifactArchitecture: text(),
    componentName: text(),
    componentType: text(),
    componentLocation: text(),
    aliases: list(text()),
    severities: list(severity),
    legacyAdvisoryId: text({ optional: true }),
    events: list(
      object({
        uid: text(),
        createTime: timestamp(),
        findings: bytes(),
        author: text(),
        reviewer: text(),
        reviewState,
        issue: text({ optional: true }),
        ...eventKinds,
      }),
    ),
  }),
  methods: ["list", "get"],
  capabilities: "ADVISORIES",
  filters: {
    ...stringLists(
      ...Object.keys(listFilters),
      "artifactNames",
      "aliases",
      "eventAuthors",
      "excludeEventAuthors",
      "eventReviewers",
    ),
    eventReviewStates: list(reviewState),
    eventTypes: list(eventFilter),
    latestEventType: eventFilter,
    origin: text(),
    query: text(),
  },
  parent: "",
  matches,
  builtIn: advisories,
};
