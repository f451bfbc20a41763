import type * as pulumi from "@pulumi/pulumi";
import * as read from "./answers";
import * as take from "./arguments";
import type { LookupInputs } from "./arguments";
import { ask, askLater, byUid, listing, listRules } from "./lookup";
import type { ByUidArgs, ListArgs } from "./lookup";

/** Selects one advisory. */
export type GetAdvisoryArgs = ByUidArgs;

/** How severe a vulnerability is. */
export interface AdvisorySeverity {
  /** The system of the score: `TYPE_CVSS_V2`, `TYPE_CVSS_V3`, `TYPE_CVSS_V4`. Left out where it is not set. */
  type?: string;
  /** The score in that system. */
  score: string;
}

/** Something that was found out or done about a vulnerability. */
export interface AdvisoryEvent {
  /** The uid; empty where there is none. */
  uid: string;
  /** When it was written: RFC 3339, as the API wrote it. */
  createTime?: string;
  /** What was found: bytes in base64; empty where there is nothing. */
  findings: string;
  /** Who wrote it; empty where that is not known. */
  author: string;
  /** Who reviewed it; empty where nobody has. */
  reviewer: string;
  /** `REVIEW_STATE_…`; left out where it is not set. */
  reviewState?: string;
  /** Where it is discussed. */
  issue?: string;
  /**
   * What it is: `detection`, `truePositiveDetermination`, `fixed`, `falsePositiveDetermination`,
   * `analysisNotPlanned`, `fixNotPlanned`, `pendingUpstreamFix`, `patched`, or one newer than this package.
   */
  kind?: string;
  /** What an event of its kind says, as in `fixedVersion`: the API's JSON. */
  content: Record<string, unknown>;
}

/** What is known of one vulnerability in one component of one artifact. Contract, section 7. */
export interface GetAdvisoryResult {
  /** The uid. */
  uid: string;
  /** The uid of its parent; left out where it has none. */
  parentUid?: string;
  /** The id of the advisory, as in `CGA-…`. */
  advisoryId: string;
  /** The id that it had before. */
  legacyAdvisoryId?: string;
  /** Who wrote it; empty where that is not known. */
  author: string;
  /** The name of the artifact. */
  artifactName: string;
  /** The type of the artifact, as in `apk`. */
  artifactType: string;
  /** The architecture of the artifact. */
  artifactArchitecture: string;
  /** The name of the component in it. */
  componentName: string;
  /** The type of the component. */
  componentType: string;
  /** Where the component is in the artifact. */
  componentLocation: string;
  /** Other ids of the vulnerability, as in `CVE-…`. */
  aliases: string[];
  /** How severe it is, in different systems. */
  severities: AdvisorySeverity[];
  /** What was found out and done, in the order of the answer. */
  events: AdvisoryEvent[];
  /** When it was made: RFC 3339, as the API wrote it. */
  createTime?: string;
  /** When it last changed: RFC 3339, as the API wrote it. */
  updateTime?: string;
  /** When it was withdrawn: RFC 3339, as the API wrote it. */
  deleteTime?: string;
}

/** Which advisories to list. All by default. A list keeps what matches any of its items. */
export interface GetAdvisoriesArgs extends ListArgs {
  /** Only with these ids of advisories. */
  advisoryIds?: string[];
  /** Only with these ids that they had before. */
  legacyAdvisoryIds?: string[];
  /** Only for artifacts of these names. Not beside `origin`. */
  artifactNames?: string[];
  /** Only for artifacts of these types. */
  artifactTypes?: string[];
  /** Only for artifacts of these architectures. */
  artifactArchitectures?: string[];
  /** Only for components of these names. */
  componentNames?: string[];
  /** Only for components of these types. */
  componentTypes?: string[];
  /** Only for components at these places. */
  componentLocations?: string[];
  /** Only with these other ids, as in `CVE-…`. */
  aliases?: string[];
  /** Only with events of these authors. */
  eventAuthors?: string[];
  /** Only with events of other authors than these. */
  excludeEventAuthors?: string[];
  /** Only with events that these have reviewed. */
  eventReviewers?: string[];
  /** Only with events in these states: `REVIEW_STATE_` and `PENDING`, `APPROVED`, `REQUEST_CHANGES`, `REJECTED`. */
  eventReviewStates?: string[];
  /** Only with events of these types: `EVENT_TYPE_FILTER_…`, as in `EVENT_TYPE_FILTER_FIXED`. */
  eventTypes?: string[];
  /** Only those whose latest event is of this type: `EVENT_TYPE_FILTER_…`. */
  latestEventType?: string;
  /** Only for artifacts that are built from this one. */
  origin?: string;
  /** Words to look for. */
  query?: string;
}

const COLLECTION = "/vulnerabilities/v2/advisories";

/** The kinds of events, which the API writes as the one member that is set. */
export const EVENT_KINDS = [
  "detection",
  "truePositiveDetermination",
  "fixed",
  "falsePositiveDetermination",
  "analysisNotPlanned",
  "fixNotPlanned",
  "pendingUpstreamFix",
  "patched",
];

export const readSeverities = read.objects(
  read.object<AdvisorySeverity>({ type: read.enumName, score: read.text }),
);

const readAdvisory = read.object<GetAdvisoryResult>({
  uid: read.text,
  parentUid: read.parent,
  advisoryId: read.text,
  legacyAdvisoryId: read.optionalText,
  author: read.text,
  artifactName: read.text,
  artifactType: read.text,
  artifactArchitecture: read.text,
  componentName: read.text,
  componentType: read.text,
  componentLocation: read.text,
  aliases: read.texts,
  severities: readSeverities,
  events: read.objects(
    read.object<AdvisoryEvent>({
      uid: read.text,
      createTime: read.time,
      findings: read.text,
      author: read.text,
      reviewer: read.text,
      reviewState: read.enumName,
      issue: read.optionalText,
      ...read.kindOfEvent(EVENT_KINDS, ["createTime", "findings"]),
    }),
  ),
  createTime: read.time,
  updateTime: read.time,
  deleteTime: read.time,
});

// Advisories come from elsewhere; the form of their uids is not promised.
const oneAdvisory = byUid("getAdvisory", COLLECTION, readAdvisory, take.anyUid);

const texts = (parameter: string) => take.sentAs(parameter, take.listOf(take.text));
const eventType = take.enumName(
  "EVENT_TYPE_FILTER_",
  "DETECTION TRUE_POSITIVE_DETERMINATION FIXED FALSE_POSITIVE_DETERMINATION ANALYSIS_NOT_PLANNED FIX_NOT_PLANNED PENDING_UPSTREAM_FIX PATCHED",
);

const advisories = listing<GetAdvisoriesArgs, GetAdvisoryResult>({
  call: "getAdvisories",
  collection: COLLECTION,
  rules: {
    ...listRules,
    advisoryIds: texts("advisoryIds"),
    legacyAdvisoryIds: texts("legacyAdvisoryIds"),
    artifactNames: texts("artifactNames"),
    artifactTypes: texts("artifactTypes"),
    artifactArchitectures: texts("artifactArchitectures"),
    componentNames: texts("componentNames"),
    componentTypes: texts("componentTypes"),
    componentLocations: texts("componentLocations"),
    aliases: texts("aliases"),
    eventAuthors: texts("eventAuthors"),
    excludeEventAuthors: { ...texts("excludeEventAuthors"), excludes: true },
    eventReviewers: texts("eventReviewers"),
    eventReviewStates: take.sentAs(
      "eventReviewStates",
      take.listOf(take.enumName("REVIEW_STATE_", "PENDING APPROVED REQUEST_CHANGES REJECTED")),
    ),
    eventTypes: take.sentAs("eventTypes", take.listOf(eventType)),
    latestEventType: take.sentAs("latestEventType", eventType),
    origin: take.sentAs("origin", take.text),
    query: take.sentAs("query", take.text),
  },
  read: readAdvisory,
  problem: ({ origin, artifactNames }) =>
    origin !== undefined && artifactNames !== undefined
      ? "give either origin or artifactNames: beside origin the server ignores artifactNames"
      : undefined,
});

/** Reads one advisory. Throws where there is none. */
export function getAdvisory(args: GetAdvisoryArgs): Promise<GetAdvisoryResult> {
  return ask(oneAdvisory, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getAdvisoryOutput(args: LookupInputs<GetAdvisoryArgs>): pulumi.Output<GetAdvisoryResult> {
  return askLater(oneAdvisory, args);
}

/** Lists the advisories that match. */
export function getAdvisories(args: GetAdvisoriesArgs = {}): Promise<GetAdvisoryResult[]> {
  return ask(advisories, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getAdvisoriesOutput(
  args: LookupInputs<GetAdvisoriesArgs> = {},
): pulumi.Output<GetAdvisoryResult[]> {
  return askLater(advisories, args);
}
