import { createHash } from "node:crypto";
import type { Json } from "../../fields/values";
import { toFieldChange } from "../report/report";
import type { Difference } from "../report/report";
import { topProperty } from "../graph/references";
import type { Finding, Severity } from "../review/finding";
import { proposeEntry } from "../suppressions/writeEntries";
import type { DetectedDifference } from "./difference";
import { inputsToPin } from "../rules/findingValue";
import type { DriftRequest } from "./request";
import { isSecretArgument, maskSecrets } from "./secretValues";

const severityOf: Readonly<Record<DetectedDifference["direction"], Severity>> = {
  widened: "high",
  unknown: "high",
  narrowed: "medium",
  neutral: "low",
};

const directionLines: Readonly<Record<DetectedDifference["direction"], readonly string[]>> = {
  widened: ["access is widened"],
  unknown: ["whether access is widened is unknown"],
  narrowed: ["access is narrowed"],
  neutral: [],
};

/**
 * The value that a difference consists of. A secret value is in no fingerprint, so the time of the change stands for
 * it.
 */
function liveValue({
  kind,
  spec,
  managed,
  fields,
  before = {},
  after,
  details,
  at,
}: DetectedDifference): Json {
  if (kind === "contested") return [...details];
  // Of a deleted object what it was: the program may declare more in its place.
  if (after === undefined) {
    return inputsToPin(spec.kind, managed === undefined ? before : maskSecrets(managed, before).inputs, []);
  }
  const paths = fields.map(({ path }) => path);
  if (managed === undefined) return inputsToPin(spec.kind, after, paths);
  const isSecret = isSecretArgument(managed.resource);
  const hasSecret = paths.some((path) => isSecret(topProperty(path)));
  const { inputs } = maskSecrets(managed, after);
  const ends = fields.filter(({ path }) => Object.hasOwn(spec.outputs ?? {}, path));
  return [
    inputsToPin(spec.kind, inputs, paths),
    hasSecret ? (at ?? null) : null,
    ...ends.map(({ path, after: end }) => [path, end ?? null]),
  ];
}

/** Identifies a difference, and the live value, in later runs too: no run data is in it. */
function fingerprintDifference(difference: DetectedDifference): string {
  const { kind, direction, spec, uid, managed, fields } = difference;
  const properties = fields.map(({ path }) => path).sort();
  const identity = [`drift-${kind}`, direction, spec.kind, uid, managed?.resource.urn ?? "", ...properties];
  return createHash("sha256")
    .update(JSON.stringify([identity, liveValue(difference)]))
    .digest("hex")
    .slice(0, 32);
}

/** The finding of a difference. */
export function findingOf(difference: DetectedDifference): Finding {
  const { kind, spec, uid, name, direction, managed } = difference;
  const id = `drift-${kind}`;
  const reasons = difference.fields.filter(({ reason }) => reason !== "");
  return {
    id,
    rule: id,
    severity: kind === "contested" ? "medium" : severityOf[direction],
    message: difference.message,
    details: [
      ...directionLines[direction],
      ...reasons.map(({ path, reason }) => `${path}: ${reason}`),
      ...difference.details,
    ],
    advice: difference.advice,
    kind: spec.kind,
    name,
    urn: managed?.resource.urn,
    uid,
    location: managed?.resource.location,
    fingerprint: fingerprintDifference(difference),
    drift: { kind, direction, paths: difference.fields.map(({ path }) => path) },
  };
}

/** A difference as a report has it, with the answers to its finding. */
export function reportDifference(
  difference: DetectedDifference,
  finding: Finding,
  { actors: who, now }: Pick<DriftRequest, "actors" | "now">,
): Difference {
  const { kind, spec, uid, name, direction, managed, at, revert, adopt } = difference;
  return {
    kind,
    direction,
    type: spec.kind,
    uid,
    urn: managed?.resource.urn,
    name,
    stack: managed?.stack,
    fields: difference.fields.map(toFieldChange),
    actor: who?.get(uid),
    at,
    answers: { revert, adopt, suppress: proposeEntry(finding, "drift", now) },
    fingerprint: finding.fingerprint,
  };
}
