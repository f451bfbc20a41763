import { decode, isRecord } from "../fields/responseDecoders";
import type { Decoders } from "../fields/responseDecoders";
import type { Decoded } from "../fields/builders";

/** What advisories and their documents have in common. */

const severity = {
  /** The system of the score: `TYPE_CVSS_V2`, `TYPE_CVSS_V3`, `TYPE_CVSS_V4`. Left out where it is not set. */
  type: decode.enumName,
  /** The score in that system. */
  score: decode.string,
};

/** How severe a vulnerability is. */
export interface AdvisorySeverity extends Decoded<typeof severity> {}

export const decodeSeverities = decode.objects(decode.object<AdvisorySeverity>(severity));

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

type JsonObject = Readonly<Record<string, unknown>>;

/** The member that contains the data of an event: a known one, or an object that is none of the plain members. */
function kindMember(
  body: JsonObject,
  plain: readonly string[],
): [string, Record<string, unknown>] | undefined {
  const found = Object.entries(body).filter(
    (entry): entry is [string, Record<string, unknown>] => isRecord(entry[1]) && !plain.includes(entry[0]),
  );
  return found.find(([key]) => EVENT_KINDS.includes(key)) ?? found[0];
}

/** The decoders of an event's kind and data. `plain`: members of every event that may be objects too. */
export function eventKind(
  plain: readonly string[],
): Decoders<{ kind?: string; content: Record<string, unknown> }> {
  return {
    kind: (_value, body) => kindMember(body, plain)?.[0],
    content: (_value, body) => kindMember(body, plain)?.[1] ?? {},
  };
}
