import type { FieldSpec, Message } from "../gateway/fields";
import { bytes, enumeration, list, messageType, object, text, timestamp } from "../gateway/fields";
import { advisories, advisoryDocuments, vulnerabilities } from "../data/advisories";
import { invalidArgument, invalidField } from "../gateway/status";
import type { Entry } from "../service/store";
import { times, uid } from "./common";
import type { Filter, KindTable } from "./kindTable";
import { pageFields, pageOf } from "./methods";

const eventKind = (fields: Record<string, FieldSpec> = {}): FieldSpec => object(fields, { oneof: "kind" });

/** Kinds of events in documents. */
const documentEventKinds: Readonly<Record<string, FieldSpec>> = {
  detection: eventKind(),
  truePositiveDetermination: eventKind(),
  fixed: eventKind({ fixedVersion: text() }),
  falsePositiveDetermination: eventKind(),
  analysisNotPlanned: eventKind(),
  fixNotPlanned: eventKind(),
  pendingUpstreamFix: eventKind(),
};

/** Kinds of events in the order of their filter's numbers. */
const eventKinds: Readonly<Record<string, FieldSpec>> = {
  ...documentEventKinds,
  fixed: eventKind({
    fixedVersion: text(),
    grypeDbBuilt: text(),
    grypeDbChecksum: text(),
    note: text(),
    scannerVersion: text(),
  }),
  patched: eventKind(),
};

const constantCase = (camel: string): string =>
  camel.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

const eventFilter = enumeration("EVENT_TYPE_FILTER", Object.keys(eventKinds).map(constantCase).join(" "));
const reviewState = enumeration("REVIEW_STATE", "PENDING APPROVED REQUEST_CHANGES REJECTED");

const severity = object({
  type: enumeration("TYPE", "CVSS_V2 CVSS_V3 CVSS_V4"),
  score: text(),
});

const readEvents = ({ value }: Entry): readonly Message[] => (value.events ?? []) as Message[];
const filterOf = (event: Message | undefined): string | undefined => {
  const kind = Object.keys(eventKinds).find((each) => event?.[each] !== undefined);
  return kind && `EVENT_TYPE_FILTER_${constantCase(kind)}`;
};
const includes = (filterValue: unknown, value: unknown): boolean =>
  (filterValue as unknown[]).includes(value);

/** A filter that takes any of several values. */
const anyOf = (item: FieldSpec, matches: Filter["matches"]): Filter => ({ ...list(item), matches });
/** The same for the values of a field. */
const anyOfField = (field: string): Filter =>
  anyOf(text(), ({ value }, wanted) => includes(wanted, value[field]));
/** The same for the values of any of its events. */
const anyOfEvents = (item: FieldSpec, valueOf: (event: Message) => unknown): Filter =>
  anyOf(item, (entry, wanted) => readEvents(entry).some((event) => includes(wanted, valueOf(event))));

const filters: Readonly<Record<string, Filter>> = {
  advisoryIds: anyOfField("advisoryId"),
  legacyAdvisoryIds: anyOfField("legacyAdvisoryId"),
  artifactTypes: anyOfField("artifactType"),
  artifactArchitectures: anyOfField("artifactArchitecture"),
  componentNames: anyOfField("componentName"),
  componentTypes: anyOfField("componentType"),
  componentLocations: anyOfField("componentLocation"),
  // With an origin, which means all packages built from it, the names are ignored.
  artifactNames: anyOf(
    text(),
    ({ value }, wanted, request) => request.origin !== undefined || includes(wanted, value.artifactName),
  ),
  origin: {
    ...text(),
    matches: ({ value: { artifactName } }, wanted) =>
      artifactName === wanted || (artifactName as string).startsWith(`${wanted as string}-`),
  },
  aliases: anyOf(text(), ({ value }, wanted) =>
    ((value.aliases ?? []) as string[]).some((alias) => includes(wanted, alias)),
  ),
  eventAuthors: anyOfEvents(text(), ({ author }) => author),
  excludeEventAuthors: anyOf(
    text(),
    (entry, wanted) => !readEvents(entry).some(({ author }) => includes(wanted, author)),
  ),
  eventReviewers: anyOfEvents(text(), ({ reviewer }) => reviewer),
  eventReviewStates: anyOfEvents(reviewState, (event) => event.reviewState),
  eventTypes: anyOfEvents(eventFilter, filterOf),
  latestEventType: {
    ...eventFilter,
    matches: (entry, wanted) => filterOf(readEvents(entry).at(-1)) === wanted,
  },
  query: {
    ...text(),
    matches: ({ value }, wanted) =>
      [
        value.advisoryId,
        value.artifactName,
        value.componentName,
        ...((value.aliases ?? []) as string[]),
      ].some(
        (each) => typeof each === "string" && each.toLowerCase().includes((wanted as string).toLowerCase()),
      ),
  },
};

export const advisory: KindTable = {
  kind: "Advisory",
  prefix: "/vulnerabilities/v2",
  collection: "advisories",
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
  filters,
  parent: "",
  builtIn: advisories,
};

const service = "advisory.v2.SecurityAdvisoryService";
const mostIds = 1000;

const documentMessage = messageType({
  id: text(),
  advisories: list(
    object({
      id: text(),
      events: list(
        object({
          timestamp: timestamp(),
          ...documentEventKinds,
        }),
      ),
      aliases: list(text()),
      packageNamespace: text(),
    }),
  ),
});

const metadataMessage = messageType({
  id: text(),
  summary: text(),
  details: text(),
  references: list(object({ type: text(), url: text() })),
  severities: list(severity),
});

export const advisoryDocument: KindTable = {
  kind: "Document",
  prefix: "/advisory/v2",
  collection: "documents",
  message: documentMessage,
  methods: [],
  custom: [
    {
      rpc: `${service}/ListDocuments`,
      verb: "GET",
      pattern: "/advisory/v2/documents",
      request: messageType({ id: text(), cves: list(text()) }),
      response: messageType({ documents: list(object(documentMessage)) }),
      isPublic: true,
      run({ request: { id, cves } }, { store }) {
        const requestedIds = new Set(cves as string[] | undefined);
        const isRequested = (advisory: Message): boolean =>
          [advisory.id as string, ...((advisory.aliases ?? []) as string[])].some((each) =>
            requestedIds.has(each),
          );
        const found = [...store.all("Document")]
          .map(({ value }) => value)
          .filter((value) => id === undefined || value.id === id)
          .filter(
            (value) => requestedIds.size === 0 || ((value.advisories ?? []) as Message[]).some(isRequested),
          );
        return { documents: found };
      },
    },
    {
      rpc: `${service}/ListResolvedVulnsReports`,
      capabilities: ["REPO_LIST", "MANIFEST_METADATA_LIST", "APK_LIST", "TAG_LIST"],
      verb: "GET",
      pattern: "/advisory/v2/images/resolvedVulns",
      request: messageType({
        startTime: timestamp(),
        endTime: timestamp(),
        imageRefs: list(object({ repo: text() })),
      }),
      response: messageType({
        resolvedVulnsReports: list(object({ date: text(), resolvedVulns: list(text()) })),
      }),
      /** A query cannot contain image references, so every REST request fails here. */
      run({ request }) {
        const missing = ["startTime", "endTime", "imageRefs"].filter((field) => request[field] === undefined);
        if (missing.length > 0) {
          throw invalidArgument(missing.map((field) => ({ field, description: `${field} is required` })));
        }
        return { resolvedVulnsReports: [] };
      },
    },
  ],
  parent: "",
  builtIn: advisoryDocuments,
};

export const vulnerabilityMetadata: KindTable = {
  kind: "VulnerabilityMetadata",
  prefix: "/advisory/v2",
  collection: "vulnerabilityMetadata",
  message: metadataMessage,
  methods: [],
  defaultOrder: "id asc",
  columns: { id: "id" },
  custom: [
    {
      rpc: `${service}/ListVulnerabilityMetadata`,
      verb: "GET",
      pattern: "/advisory/v2/metadata",
      request: messageType({
        id: text(),
        ids: list(text()),
        ...pageFields,
      }),
      response: pageOf("vulnerabilityMetadata", metadataMessage),
      isPublic: true,
      run({ request }, platform) {
        const { id, ids = [] } = request as { id?: string; ids?: string[] };
        if (ids.length > mostIds) {
          throw invalidField("ids", `ids holds at most ${mostIds} items`);
        }
        const requestedIds = new Set(id === undefined ? ids : [...ids, id]);
        return platform.list(
          "VulnerabilityMetadata",
          request,
          ({ value }) => requestedIds.size === 0 || requestedIds.has(value.id as string),
        );
      },
    },
  ],
  parent: "",
  builtIn: vulnerabilities,
};
