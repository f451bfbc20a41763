import type { FieldSpec, Message } from "../gateway/fields";
import { list, messageType, object, text, timestamp } from "../gateway/fields";
import { advisoryDocuments, vulnerabilities } from "../data/advisories";
import { invalidArgument, invalidField } from "../gateway/status";
import { severity } from "./advisory";
import type { KindTable } from "./kindTable";
import { pageFields, pageOf } from "./methods";

const service = "advisory.v2.SecurityAdvisoryService";
const mostIds = 1000;

const eventKind = (fields: Record<string, FieldSpec> = {}): FieldSpec => object(fields, { oneof: "kind" });

const documentMessage = messageType({
  id: text(),
  advisories: list(
    object({
      id: text(),
      events: list(
        object({
          timestamp: timestamp(),
          detection: eventKind(),
          truePositiveDetermination: eventKind(),
          fixed: eventKind({ fixedVersion: text() }),
          falsePositiveDetermination: eventKind(),
          analysisNotPlanned: eventKind(),
          fixNotPlanned: eventKind(),
          pendingUpstreamFix: eventKind(),
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
  service,
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
  service,
  message: metadataMessage,
  methods: [],
  isUnscoped: true,
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
