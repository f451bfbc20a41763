import type { FieldMaker, Message } from "../gateway/descriptor";
import { int32, int64, list, messageType, object, text, timestamp } from "../gateway/descriptor";
import { documents, vulnerabilities } from "../data/advisories";
import { invalidArgument } from "../gateway/status";
import { severity } from "./advisory";
import type { KindTable } from "./kindTable";
import { pageFields } from "./methods";

const name = (suffix: string): string => `chainguard.platform.advisory.v2.${suffix}`;
const service = "advisory.v2.SecurityAdvisoryService";
const mostIds = 1000;

const eventKind = (of: string, fields: Record<string, FieldMaker> = {}): FieldMaker =>
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
      open: true,
    },
    {
      rpc: `${service}/ListResolvedVulnsReports`,
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
  rules: {
    parent: "",
    custom: {
      ListDocuments({ request: { id, cves } }, { store }) {
        const wanted = new Set(cves as string[] | undefined);
        const isWanted = (advisory: Message): boolean =>
          [advisory.id as string, ...((advisory.aliases ?? []) as string[])].some((each) => wanted.has(each));
        const found = [...store.all("Document")]
          .map(({ value }) => value)
          .filter((value) => id === undefined || value.id === id)
          .filter((value) => wanted.size === 0 || ((value.advisories ?? []) as Message[]).some(isWanted));
        return { documents: found };
      },
      /** No query can carry image references, so over REST this never gets further: contract, section 7. */
      ListResolvedVulnsReports({ request }) {
        const missing = ["startTime", "endTime", "imageRefs"].filter((field) => request[field] === undefined);
        if (missing.length > 0) {
          throw invalidArgument(missing.map((field) => ({ field, description: `${field} is required` })));
        }
        return { resolvedVulnsReports: [] };
      },
    },
    builtIn: documents,
  },
};

export const vulnerabilityMetadata: KindTable = {
  kind: "VulnerabilityMetadata",
  prefix: "/advisory/v2",
  collection: "vulnerabilityMetadata",
  service,
  message: metadataMessage,
  methods: [],
  unscoped: true,
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
      open: true,
    },
  ],
  rules: {
    parent: "",
    custom: {
      ListVulnerabilityMetadata({ request }, world) {
        const { id, ids = [] } = request as { id?: string; ids?: string[] };
        if (ids.length > mostIds) {
          throw invalidArgument([{ field: "ids", description: `ids holds at most ${mostIds} items` }]);
        }
        const wanted = new Set(id === undefined ? ids : [...ids, id]);
        return world.list(
          "VulnerabilityMetadata",
          request,
          ({ value }) => wanted.size === 0 || wanted.has(value.id as string),
        );
      },
    },
    builtIn: vulnerabilities,
  },
};
