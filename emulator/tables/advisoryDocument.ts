import type { FieldSpec, Message } from "../gateway/descriptor";
import { int32, int64, list, messageType, object, text, timestamp } from "../gateway/descriptor";
import { advisoryDocuments, vulnerabilities } from "../data/advisories";
import { invalidArgument, invalidField } from "../gateway/status";
import { severity } from "./advisory";
import type { KindTable } from "./kindTable";
import { pageFields } from "./methods";

const name = (suffix: string): string => `chainguard.platform.advisory.v2.${suffix}`;
const service = "advisory.v2.SecurityAdvisoryService";
const mostIds = 1000;

const eventKind = (of: string, fields: Record<string, FieldSpec> = {}): FieldSpec =>
  object(messageType(name(`Event.${of}`), fields), { oneof: "kind" });

const documentMessage = messageType(name("Document"), {
  id: text(),
  advisories: list(
    object(
      messageType(name("Document.Advisory"), {
        id: text(),
        events: list(
          object(
            messageType(name("Document.Event"), {
              timestamp: timestamp(),
              detection: eventKind("Detection"),
              truePositiveDetermination: eventKind("TruePositiveDetermination"),
              fixed: eventKind("Fixed", { fixedVersion: text() }),
              falsePositiveDetermination: eventKind("FalsePositiveDetermination"),
              analysisNotPlanned: eventKind("AnalysisNotPlanned"),
              fixNotPlanned: eventKind("FixNotPlanned"),
              pendingUpstreamFix: eventKind("PendingUpstreamFix"),
            }),
          ),
        ),
        aliases: list(text()),
        packageNamespace: text(),
      }),
    ),
  ),
});

const metadataMessage = messageType(name("VulnerabilityMetadata"), {
  id: text(),
  summary: text(),
  details: text(),
  references: list(object(messageType(name("Reference"), { type: text(), url: text() }))),
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
      request: messageType(name("ListDocumentsRequest"), { id: text(), cves: list(text()) }),
      response: messageType(name("ListDocumentsResponse"), { documents: list(object(documentMessage)) }),
      isPublic: true,
    },
    {
      rpc: `${service}/ListResolvedVulnsReports`,
      capabilities: ["REPO_LIST", "MANIFEST_METADATA_LIST", "APK_LIST", "TAG_LIST"],
      verb: "GET",
      pattern: "/advisory/v2/images/resolvedVulns",
      request: messageType(name("ListResolvedVulnsReportsRequest"), {
        startTime: timestamp(),
        endTime: timestamp(),
        imageRefs: list(object(messageType(name("ImageRef"), { repo: text() }))),
      }),
      response: messageType(name("ListResolvedVulnsReportsResponse"), {
        resolvedVulnsReports: list(
          object(messageType(name("ResolvedVulnsReport"), { date: text(), resolvedVulns: list(text()) })),
        ),
      }),
    },
  ],
  behaviour: {
    parent: "",
    custom: {
      ListDocuments({ request: { id, cves } }, { store }) {
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
      /** A query cannot contain image references, so every REST request fails here. */
      ListResolvedVulnsReports({ request }) {
        const missing = ["startTime", "endTime", "imageRefs"].filter((field) => request[field] === undefined);
        if (missing.length > 0) {
          throw invalidArgument(missing.map((field) => ({ field, description: `${field} is required` })));
        }
        return { resolvedVulnsReports: [] };
      },
    },
    builtIn: advisoryDocuments,
  },
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
      request: messageType(name("ListVulnerabilityMetadataRequest"), {
        id: text(),
        ids: list(text()),
        ...pageFields,
      }),
      response: messageType(name("ListVulnerabilityMetadataResponse"), {
        vulnerabilityMetadata: list(object(metadataMessage)),
        nextPageToken: text(),
        totalCount: int64({ optional: true }),
        skipped: int32(),
      }),
      isPublic: true,
    },
  ],
  behaviour: {
    parent: "",
    custom: {
      ListVulnerabilityMetadata({ request }, context) {
        const { id, ids = [] } = request as { id?: string; ids?: string[] };
        if (ids.length > mostIds) {
          throw invalidField("ids", `ids holds at most ${mostIds} items`);
        }
        const requestedIds = new Set(id === undefined ? ids : [...ids, id]);
        return context.list(
          "VulnerabilityMetadata",
          request,
          ({ value }) => requestedIds.size === 0 || requestedIds.has(value.id as string),
        );
      },
    },
    builtIn: vulnerabilities,
  },
};
