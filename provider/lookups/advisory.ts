import { decode } from "../fields/responseDecoders";
import type { Decoded } from "../fields/builders";
import { decodeSeverities, eventKind } from "./advisoryParts";
import * as take from "./arguments";
import type { ArgumentsOf } from "./arguments";
import { functionsOf } from "./invoke";
import { listArguments, lookupByUid, lookupList } from "./lookup";
import type { ByUidArgs, ListArgs } from "./lookup";

/** Selects one advisory. */
export type GetAdvisoryArgs = ByUidArgs;

const event = {
  /** The uid; empty where there is none. */
  uid: decode.string,
  /** When it was written: RFC 3339, as the API wrote it. */
  createTime: decode.time,
  /** What was found: bytes in base64; empty where there is nothing. */
  findings: decode.string,
  /** Who wrote it; empty where that is not known. */
  author: decode.string,
  /** Who reviewed it; empty before a review. */
  reviewer: decode.string,
  /** `REVIEW_STATE_…`; left out where it is not set. */
  reviewState: decode.enumName,
  /** Where it is discussed. */
  issue: decode.optionalString,
};

/** Something that was found out or done about a vulnerability. */
export interface AdvisoryEvent extends Decoded<typeof event> {
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
  uid: decode.string,
  /** The uid of its parent; left out where it has none. */
  parentUid: decode.optionalParentUid,
  /** The id of the advisory, as in `CGA-…`. */
  advisoryId: decode.string,
  /** The id that it had before. */
  legacyAdvisoryId: decode.optionalString,
  /** Who wrote it; empty where that is not known. */
  author: decode.string,
  /** The name of the artifact. */
  artifactName: decode.string,
  /** The type of the artifact, as in `apk`. */
  artifactType: decode.string,
  /** The architecture of the artifact. */
  artifactArchitecture: decode.string,
  /** The name of the component in it. */
  componentName: decode.string,
  /** The type of the component. */
  componentType: decode.string,
  /** Where the component is in the artifact. */
  componentLocation: decode.string,
  /** Other ids of the vulnerability, as in `CVE-…`. */
  aliases: decode.strings,
  /** How severe it is, in different systems. */
  severities: decodeSeverities,
  /** What was found out and done, in the order of the response. */
  events: decode.objects(
    decode.object<AdvisoryEvent>({
      ...event,
      ...eventKind(["createTime", "findings"]),
    }),
  ),
  /** When it was made: RFC 3339, as the API wrote it. */
  createTime: decode.time,
  /** When it last changed: RFC 3339, as the API wrote it. */
  updateTime: decode.time,
  /** When it was withdrawn: RFC 3339, as the API wrote it. */
  deleteTime: decode.time,
};

/** What is known of one vulnerability in one component of one artifact. */
export interface GetAdvisoryResult extends Decoded<typeof advisory> {}

const eventType = take.enumName(
  "EVENT_TYPE_FILTER_",
  "DETECTION TRUE_POSITIVE_DETERMINATION FIXED FALSE_POSITIVE_DETERMINATION ANALYSIS_NOT_PLANNED FIX_NOT_PLANNED PENDING_UPSTREAM_FIX PATCHED",
);

const filters = {
  /** Only with these ids of advisories. */
  advisoryIds: take.texts,
  /** Only with these ids that they had before. */
  legacyAdvisoryIds: take.texts,
  /** Only for artifacts of these names. Not beside `origin`. */
  artifactNames: take.texts,
  /** Only for artifacts of these types. */
  artifactTypes: take.texts,
  /** Only for artifacts of these architectures. */
  artifactArchitectures: take.texts,
  /** Only for components of these names. */
  componentNames: take.texts,
  /** Only for components of these types. */
  componentTypes: take.texts,
  /** Only for components at these places. */
  componentLocations: take.texts,
  /** Only with these other ids, as in `CVE-…`. */
  aliases: take.texts,
  /** Only with events of these authors. */
  eventAuthors: take.texts,
  /** Only with events of other authors than these. */
  excludeEventAuthors: { ...take.texts, excludes: true },
  /** Only with events that these have reviewed. */
  eventReviewers: take.texts,
  /** Only with events in these states: `REVIEW_STATE_` and `PENDING`, `APPROVED`, `REQUEST_CHANGES`, `REJECTED`. */
  eventReviewStates: take.listOf(take.enumName("REVIEW_STATE_", "PENDING APPROVED REQUEST_CHANGES REJECTED")),
  /** Only with events of these types: `EVENT_TYPE_FILTER_…`, as in `EVENT_TYPE_FILTER_FIXED`. */
  eventTypes: take.listOf(eventType),
  /** Only those whose latest event is of this type: `EVENT_TYPE_FILTER_…`. */
  latestEventType: eventType,
  /** Only for artifacts that are built from this one. */
  origin: take.text,
  /** Words to look for. */
  query: take.text,
};

/** Which advisories to list. All by default. A list keeps what matches any of its items. */
export interface GetAdvisoriesArgs extends ListArgs, ArgumentsOf<typeof filters> {}

const COLLECTION = "/vulnerabilities/v2/advisories";

const decodeAdvisory = decode.object<GetAdvisoryResult>(advisory);

// Advisories come from elsewhere; the form of their uids is not promised.
const oneAdvisory = functionsOf(lookupByUid("getAdvisory", COLLECTION, decodeAdvisory, take.anyUid));

const advisories = functionsOf(
  lookupList<GetAdvisoriesArgs, GetAdvisoryResult>({
    call: "getAdvisories",
    takes: { ...listArguments, ...filters },
    collection: COLLECTION,
    read: decodeAdvisory,
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
