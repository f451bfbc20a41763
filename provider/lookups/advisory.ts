import { enumOf, list, resultObject, string, time, times } from "../fields/builders";
import type { ArgumentsOf, ReadsOf, Returned } from "../fields/builders";
import { isObject } from "../fields/values";
import { optionalParentUid, resultReader } from "../fields/wire";
import type { JsonObject } from "../http/client";
import { splitByUrlLength } from "../http/query";
import { textsArgument, withOptions } from "./arguments";
import { functionsOf } from "./invoke";
import { listArguments, lookupByUid, lookupList } from "./lookup";
import type { ByUidArgs, ListArgs } from "./lookup";

/* What is known of vulnerabilities: advisories, one for a component of an artifact, documents of packages, and metadata. */

const severity = {
  /** The system of the score: `TYPE_CVSS_V2`, `TYPE_CVSS_V3`, `TYPE_CVSS_V4`. Left out where it is not set. */
  type: enumOf("TYPE_", []),
  /** The score in that system. */
  score: string(),
};

/** How severe a vulnerability is. */
export interface AdvisorySeverity extends Returned<typeof severity> {}

const severityList = list(resultObject<AdvisorySeverity>(severity));

/** The kinds of events, which the API writes as the one member that is set. */
const EVENT_KINDS = [
  "detection",
  "truePositiveDetermination",
  "fixed",
  "falsePositiveDetermination",
  "analysisNotPlanned",
  "fixNotPlanned",
  "pendingUpstreamFix",
  "patched",
];

/** The member that contains the data of an event: a known one, or an object that is none of the plain members. */
function kindMember(
  body: JsonObject,
  plain: readonly string[],
): [string, Record<string, unknown>] | undefined {
  const found = Object.entries(body).filter(
    (entry): entry is [string, Record<string, unknown>] => isObject(entry[1]) && !plain.includes(entry[0]),
  );
  return found.find(([key]) => EVENT_KINDS.includes(key)) ?? found[0];
}

/** The kind and the data of an event. `plain`: members of every event that may be objects too. */
function eventKind(plain: readonly string[]): ReadsOf<{ kind?: string; content: Record<string, unknown> }> {
  return {
    kind: (_value, body) => kindMember(body, plain)?.[0],
    content: (_value, body) => kindMember(body, plain)?.[1] ?? {},
  };
}

/** Selects one advisory. */
export type GetAdvisoryArgs = ByUidArgs;

const advisoryEvent = {
  /** The uid; empty where there is none. */
  uid: string(),
  /** When it was written: RFC 3339, as the API wrote it. */
  createTime: time,
  /** What was found: bytes in base64; empty where there is nothing. */
  findings: string(),
  /** Who wrote it; empty where that is not known. */
  author: string(),
  /** Who reviewed it; empty before a review. */
  reviewer: string(),
  /** `REVIEW_STATE_…`; left out where it is not set. */
  reviewState: enumOf("REVIEW_STATE_", []),
  /** Where it is discussed. */
  issue: string({ leftOut: true }),
};

/** Something that was found out or done about a vulnerability. */
export interface AdvisoryEvent extends Returned<typeof advisoryEvent> {
  /**
   * What it is: `detection`, `truePositiveDetermination`, `fixed`, `falsePositiveDetermination`,
   * `analysisNotPlanned`, `fixNotPlanned`, `pendingUpstreamFix`, `patched`, or one newer than this package.
   */
  kind?: string;
  /** The data of an event of its kind, as in `fixedVersion`: the API's JSON. */
  content: Record<string, unknown>;
}

const advisory = {
  /** The uid. */
  uid: string(),
  /** The uid of its parent; left out where it has none. */
  parentUid: optionalParentUid,
  /** The id of the advisory, as in `CGA-…`. */
  advisoryId: string(),
  /** The id that it had before. */
  legacyAdvisoryId: string({ leftOut: true }),
  /** Who wrote it; empty where that is not known. */
  author: string(),
  /** The name of the artifact. */
  artifactName: string(),
  /** The type of the artifact, as in `apk`. */
  artifactType: string(),
  /** The architecture of the artifact. */
  artifactArchitecture: string(),
  /** The name of the component in it. */
  componentName: string(),
  /** The type of the component. */
  componentType: string(),
  /** Where the component is in the artifact. */
  componentLocation: string(),
  /** Other ids of the vulnerability, as in `CVE-…`. */
  aliases: list(string()),
  /** How severe it is, in different systems. */
  severities: severityList,
  /** What was found out and done, in the order of the response. */
  events: list(resultObject<AdvisoryEvent>({ ...advisoryEvent, ...eventKind(["createTime", "findings"]) })),
  ...times,
  /** When it was withdrawn: RFC 3339, as the API wrote it. */
  deleteTime: time,
};

/** What is known of one vulnerability in one component of one artifact. */
export interface GetAdvisoryResult extends Returned<typeof advisory> {}

const eventType = enumOf(
  "EVENT_TYPE_FILTER_",
  "DETECTION TRUE_POSITIVE_DETERMINATION FIXED FALSE_POSITIVE_DETERMINATION ANALYSIS_NOT_PLANNED FIX_NOT_PLANNED PENDING_UPSTREAM_FIX PATCHED",
);

const advisoryFilters = {
  /** Only with these ids of advisories. */
  advisoryIds: textsArgument,
  /** Only with these ids that they had before. */
  legacyAdvisoryIds: textsArgument,
  /** Only for artifacts of these names. Not beside `origin`. */
  artifactNames: textsArgument,
  /** Only for artifacts of these types. */
  artifactTypes: textsArgument,
  /** Only for artifacts of these architectures. */
  artifactArchitectures: textsArgument,
  /** Only for components of these names. */
  componentNames: textsArgument,
  /** Only for components of these types. */
  componentTypes: textsArgument,
  /** Only for components at these places. */
  componentLocations: textsArgument,
  /** Only with these other ids, as in `CVE-…`. */
  aliases: textsArgument,
  /** Only with events of these authors. */
  eventAuthors: textsArgument,
  /** Only with events of other authors than these. */
  excludeEventAuthors: withOptions(textsArgument, { excludes: true }),
  /** Only with events that these have reviewed. */
  eventReviewers: textsArgument,
  /** Only with events in these states: `REVIEW_STATE_` and `PENDING`, `APPROVED`, `REQUEST_CHANGES`, `REJECTED`. */
  eventReviewStates: list(enumOf("REVIEW_STATE_", "PENDING APPROVED REQUEST_CHANGES REJECTED")),
  /** Only with events of these types: `EVENT_TYPE_FILTER_…`, as in `EVENT_TYPE_FILTER_FIXED`. */
  eventTypes: list(eventType),
  /** Only those whose latest event is of this type: `EVENT_TYPE_FILTER_…`. */
  latestEventType: eventType,
  /** Only for artifacts that are built from this one. */
  origin: string(),
  /** Words to look for. */
  query: string(),
};

/** Which advisories to list. All by default. A list keeps what matches any of its items. */
export interface GetAdvisoriesArgs extends ListArgs, ArgumentsOf<typeof advisoryFilters> {}

const ADVISORIES = "/vulnerabilities/v2/advisories";

const readAdvisory = resultReader<GetAdvisoryResult>(advisory);

/** Advisories come from elsewhere; the form of their uids is not promised, but that a path can contain them. */
const anyUid = string({
  required: true,
  pattern: { regex: /^(?!\.\.?(\/|$))[^/]+(\/(?!\.\.?(\/|$))[^/]+)*$/, must: "a uid as the API gave it" },
});

const oneAdvisory = functionsOf(lookupByUid("getAdvisory", ADVISORIES, readAdvisory, anyUid));

const advisories = functionsOf(
  lookupList<GetAdvisoriesArgs, GetAdvisoryResult>({
    call: "getAdvisories",
    takes: { ...listArguments, ...advisoryFilters },
    collection: ADVISORIES,
    read: readAdvisory,
    problem: ({ origin, artifactNames }) =>
      origin !== undefined && artifactNames !== undefined
        ? "give either origin or artifactNames: beside origin the server ignores artifactNames"
        : undefined,
  }),
);

/**
 * Reads one advisory. Throws where there is none.
 *
 * @capability CAP_ADVISORIES_LIST
 */
export const getAdvisory = oneAdvisory.call;

/** Returns what `getAdvisory` returns, as an output. Its arguments can be outputs of other resources. */
export const getAdvisoryOutput = oneAdvisory.output;

/**
 * Lists the advisories that match.
 *
 * @capability CAP_ADVISORIES_LIST
 */
export const getAdvisories = advisories.call;

/** Returns what `getAdvisories` returns, as an output. Its arguments can be outputs of other resources. */
export const getAdvisoriesOutput = advisories.output;

const documentArguments = {
  /** Only the document with this id: the name of a package. */
  id: string(),
  /** Only documents about these vulnerabilities, as in `CVE-…`. */
  cves: textsArgument,
};

/** Which documents to read. All by default. */
export interface GetAdvisoryDocumentsArgs extends ArgumentsOf<typeof documentArguments> {}

const documentEvent = {
  /** When: RFC 3339, as the API wrote it. */
  timestamp: time,
};

/** Something that was found out or done about a vulnerability. */
export interface DocumentEvent extends Returned<typeof documentEvent> {
  /** What it is, as in `detection` or `fixed`. */
  kind?: string;
  /** The data of an event of its kind, as in `fixedVersion`: the API's JSON. */
  content: Record<string, unknown>;
}

const statement = {
  /** The id of the advisory. */
  id: string(),
  /** What was found out and done, in the order of the response. */
  events: list(resultObject<DocumentEvent>({ ...documentEvent, ...eventKind(["timestamp"]) })),
  /** Other ids of the vulnerability, as in `CVE-…`. */
  aliases: list(string()),
  /** The namespace of the package; empty where there is none. */
  packageNamespace: string(),
};

/** What a document states about one vulnerability. */
export interface DocumentAdvisory extends Returned<typeof statement> {}

const document = {
  /** The id: the name of the package. */
  id: string(),
  /** One for each vulnerability. */
  advisories: list(resultObject<DocumentAdvisory>(statement)),
};

/** The security advisories of one package. */
export interface AdvisoryDocument extends Returned<typeof document> {}

const metadataArguments = {
  /** Their ids, as in `CVE-2026-0001`. Many ids are sent in several requests. */
  ids: withOptions(list(string(), { required: true }), { canSplit: () => true }),
};

/** Selects vulnerabilities. */
export interface GetVulnerabilityMetadataArgs extends ArgumentsOf<typeof metadataArguments> {}

const reference = {
  /** Its type; left out if the response has none. */
  type: enumOf("", []),
  /** Its address. */
  url: string(),
};

/** A text to read on. */
export interface VulnerabilityReference extends Returned<typeof reference> {}

const vulnerability = {
  /** The id. */
  id: string(),
  /** One line; empty where there is none. */
  summary: string(),
  /** The whole text; empty where there is none. */
  details: string(),
  /** Texts to read on. */
  references: list(resultObject<VulnerabilityReference>(reference)),
  /** How severe it is, in different systems. */
  severities: severityList,
};

/** What is known of a vulnerability wherever it is. */
export interface VulnerabilityMetadata extends Returned<typeof vulnerability> {}

const readDocument = resultReader<AdvisoryDocument>(document);

const documents = functionsOf<GetAdvisoryDocumentsArgs, AdvisoryDocument[]>({
  call: "getAdvisoryDocuments",
  takes: documentArguments,
  run: async (client, args) => {
    if (args.cves?.length === 0) return [];
    const path = "/advisory/v2/documents";
    const response = await client.get(path, { ...args });
    return (await client.extractList(path, response, "documents")).map(readDocument);
  },
});

const readMetadata = resultReader<VulnerabilityMetadata>(vulnerability);

const MOST_IDS = 1000;

const metadata = functionsOf<GetVulnerabilityMetadataArgs, VulnerabilityMetadata[]>({
  call: "getVulnerabilityMetadata",
  takes: metadataArguments,
  run: async (client, { ids }) => {
    const parts = await Promise.all(
      splitByUrlLength("ids", ids, { maxValues: MOST_IDS }).map(async (part) => {
        const responses: VulnerabilityMetadata[] = [];
        const options = { member: "vulnerabilityMetadata" };
        for await (const item of client.list("/advisory/v2/metadata", { ids: part }, options)) {
          responses.push(readMetadata(item));
        }
        return responses;
      }),
    );
    const places = new Map([...new Set(ids)].map((id, place) => [id, place]));
    const findPosition = ({ id }: VulnerabilityMetadata): number => places.get(id) ?? places.size;
    const once = new Map(parts.flat().map((response) => [response.id, response]));
    return [...once.values()].sort((one, other) => findPosition(one) - findPosition(other));
  },
});

/** Reads the security advisories of packages. */
export const getAdvisoryDocuments = documents.call;

/** Returns what `getAdvisoryDocuments` returns, as an output. Its arguments can be outputs of other resources. */
export const getAdvisoryDocumentsOutput = documents.output;

/** Reads what is known of vulnerabilities, in the order of `ids`, each once. What nothing is known of is left out. */
export const getVulnerabilityMetadata = metadata.call;

/** Returns what `getVulnerabilityMetadata` returns, as an output. Its arguments can be outputs of other resources. */
export const getVulnerabilityMetadataOutput = metadata.output;
