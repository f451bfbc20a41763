import type { FieldMaker } from "../gateway/descriptor";
import {
  bool,
  bytes,
  enumOf,
  enumType,
  int32,
  int64,
  list,
  messageType,
  object,
  text,
  timestamp,
} from "../gateway/descriptor";
import type { Method } from "../gateway/routes";
import { emptyMessage, times } from "./common";
import { listFields, pageFields } from "./methods";

const name = (suffix: string): string => `chainguard.platform.${suffix}`;

const eventKind = (fields: Record<string, FieldMaker>, of: string): FieldMaker =>
  object(messageType(name(`vulnerabilities.v2.Advisory.${of}`), fields), { oneof: "kind" });

const advisory = messageType(name("vulnerabilities.v2.Advisory"), {
  uid: text(),
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
  severities: list(
    object(
      messageType(name("vulnerabilities.v2.Advisory.Severity"), {
        type: enumOf(enumType("TYPE", "CVSS_V2 CVSS_V3 CVSS_V4")),
        score: text(),
      }),
    ),
  ),
  legacyAdvisoryId: text({ optional: true }),
  events: list(
    object(
      messageType(name("vulnerabilities.v2.Advisory.Event"), {
        uid: text(),
        createTime: timestamp(),
        findings: bytes(),
        author: text(),
        reviewer: text(),
        reviewState: enumOf(enumType("REVIEW_STATE", "PENDING APPROVED REQUEST_CHANGES REJECTED")),
        issue: text({ optional: true }),
        detection: eventKind({}, "Detection"),
        truePositiveDetermination: eventKind({}, "TruePositiveDetermination"),
        fixed: eventKind(
          {
            fixedVersion: text(),
            grypeDbBuilt: text(),
            grypeDbChecksum: text(),
            note: text(),
            scannerVersion: text(),
          },
          "Fixed",
        ),
        falsePositiveDetermination: eventKind({}, "FalsePositiveDetermination"),
        analysisNotPlanned: eventKind({}, "AnalysisNotPlanned"),
        fixNotPlanned: eventKind({}, "FixNotPlanned"),
        pendingUpstreamFix: eventKind({}, "PendingUpstreamFix"),
        patched: eventKind({}, "Patched"),
      }),
    ),
  ),
});

const eventFilter = enumOf(
  enumType(
    "EVENT_TYPE_FILTER",
    "DETECTION TRUE_POSITIVE_DETERMINATION FIXED FALSE_POSITIVE_DETERMINATION ANALYSIS_NOT_PLANNED " +
      "FIX_NOT_PLANNED PENDING_UPSTREAM_FIX PATCHED",
  ),
);

const manyTexts = (names: string): Record<string, FieldMaker> =>
  Object.fromEntries(names.split(" ").map((field) => [field, list(text())]));

const ecosystem = enumOf(enumType("ECOSYSTEM", "JAVA PYTHON"));

const artifact = {
  uid: text(),
  name: text(),
  description: text(),
  ...times,
};

/** Methods that belong to no kind of resource with a life of its own. */
export const readOnlyMethods: readonly Method[] = [
  {
    rpc: "ping.v2.PingService/Ping",
    verb: "GET",
    pattern: "/ping/v2/ping",
    request: emptyMessage,
    response: messageType(name("ping.v2.Response"), { response: text() }),
    open: true,
  },
  {
    rpc: "iam.v2.TermsService/AcceptTerms",
    verb: "POST",
    pattern: "/iam/v2/terms/{group=**}",
    body: "*",
    request: messageType(name("iam.v2.AcceptTermsRequest"), { group: text(), documentIds: list(text()) }),
    response: messageType(name("iam.v2.AcceptTermsResponse"), { group: text(), documentIds: list(text()) }),
  },
  {
    rpc: "libraries.v2.ArtifactsService/CountArtifacts",
    verb: "GET",
    pattern: "/libraries/v2/artifacts/count",
    request: messageType(name("libraries.v2.CountArtifactsRequest"), { ecosystems: list(ecosystem) }),
    response: messageType(name("libraries.v2.CountArtifactsResponse"), {
      counts: list(
        object(messageType(name("libraries.v2.ArtifactCount"), { ecosystem, totalCount: int64() })),
      ),
    }),
  },
  {
    rpc: "libraries.v2.ArtifactsService/ListArtifactVersions",
    verb: "GET",
    pattern: "/libraries/v2/artifacts/{artifactId}/versions",
    request: messageType(name("libraries.v2.ListArtifactVersionsRequest"), {
      artifactId: text(),
      ...pageFields,
    }),
    response: messageType(name("libraries.v2.ListArtifactVersionsResponse"), {
      artifactVersions: list(
        object(
          messageType(name("libraries.v2.ArtifactVersion"), {
            ...artifact,
            version: text(),
            sizeBytes: int64(),
          }),
        ),
      ),
      nextPageToken: text(),
      totalCount: int64(),
      skipped: int32(),
    }),
  },
  {
    rpc: "libraries.v2.ArtifactsService/ListArtifacts",
    verb: "GET",
    pattern: "/libraries/v2/artifacts",
    request: messageType(name("libraries.v2.ListArtifactsRequest"), {
      ecosystems: list(ecosystem),
      query: text(),
      cudaVersion: text(),
      remediated: bool(),
      ...pageFields,
    }),
    response: messageType(name("libraries.v2.ListArtifactsResponse"), {
      artifacts: list(
        object(
          messageType(name("libraries.v2.Artifact"), {
            ...artifact,
            ecosystem,
            latestVersion: text(),
            versionCount: int32(),
          }),
        ),
      ),
      nextPageToken: text(),
      totalCount: int64(),
      skipped: int32(),
    }),
  },
  {
    rpc: "vulnerabilities.v2.AdvisoriesService/ListAdvisories",
    verb: "GET",
    pattern: "/vulnerabilities/v2/advisories",
    request: messageType(name("vulnerabilities.v2.ListAdvisoriesRequest"), {
      ...listFields,
      ...manyTexts(
        "advisoryIds legacyAdvisoryIds artifactNames artifactTypes artifactArchitectures componentNames " +
          "componentTypes componentLocations aliases eventAuthors excludeEventAuthors eventReviewers",
      ),
      eventReviewStates: list(enumOf(enumType("REVIEW_STATE", "PENDING APPROVED REQUEST_CHANGES REJECTED"))),
      eventTypes: list(eventFilter),
      latestEventType: eventFilter,
      origin: text(),
      query: text(),
    }),
    response: messageType(name("vulnerabilities.v2.ListAdvisoriesResponse"), {
      advisories: list(object(advisory)),
      nextPageToken: text(),
      totalCount: int64({ optional: true }),
      skipped: int32(),
    }),
  },
  {
    rpc: "vulnerabilities.v2.AdvisoriesService/GetAdvisory",
    verb: "GET",
    pattern: "/vulnerabilities/v2/advisories/{uid=**}",
    request: messageType(name("vulnerabilities.v2.GetAdvisoryRequest"), { uid: text() }),
    response: advisory,
  },
  {
    rpc: "advisory.v2.SecurityAdvisoryService/ListDocuments",
    verb: "GET",
    pattern: "/advisory/v2/documents",
    request: messageType(name("advisory.v2.ListDocumentsRequest"), { id: text(), cves: list(text()) }),
    response: messageType(name("advisory.v2.ListDocumentsResponse"), {
      documents: list(object(messageType(name("advisory.v2.Document"), { id: text() }))),
    }),
    open: true,
  },
  {
    rpc: "advisory.v2.SecurityAdvisoryService/ListVulnerabilityMetadata",
    verb: "GET",
    pattern: "/advisory/v2/metadata",
    request: messageType(name("advisory.v2.ListVulnerabilityMetadataRequest"), {
      id: text(),
      ids: list(text()),
      ...pageFields,
    }),
    response: messageType(name("advisory.v2.ListVulnerabilityMetadataResponse"), {
      vulnerabilityMetadata: list(
        object(
          messageType(name("advisory.v2.VulnerabilityMetadata"), {
            id: text(),
            summary: text(),
            details: text(),
          }),
        ),
      ),
      nextPageToken: text(),
      totalCount: int64({ optional: true }),
      skipped: int32(),
    }),
    open: true,
  },
  {
    rpc: "advisory.v2.SecurityAdvisoryService/ListResolvedVulnsReports",
    verb: "GET",
    pattern: "/advisory/v2/images/resolvedVulns",
    request: messageType(name("advisory.v2.ListResolvedVulnsReportsRequest"), {
      startTime: timestamp(),
      endTime: timestamp(),
      imageRefs: list(object(messageType(name("advisory.v2.ImageRef"), { repo: text() }))),
    }),
    response: messageType(name("advisory.v2.ListResolvedVulnsReportsResponse"), {
      resolvedVulnsReports: list(
        object(
          messageType(name("advisory.v2.ResolvedVulnsReport"), { date: text(), resolvedVulns: list(text()) }),
        ),
      ),
    }),
  },
  ...(["POST", "GET"] as const).map((verb): Method => ({
    rpc: "oidc.SecurityTokenService/Exchange",
    verb,
    pattern: "/sts/exchange",
    request: messageType(name("oidc.ExchangeRequest"), {
      aud: list(text()),
      identity: text(),
      identityProvider: text(),
      scopes: list(text()),
      cap: list(text()),
    }),
    response: messageType(name("oidc.RawToken"), {
      token: text(),
      refreshToken: text(),
      expiry: timestamp(),
    }),
  })),
];
