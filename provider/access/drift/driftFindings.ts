import { createHash } from "node:crypto";
import { toFieldChange } from "../report/report";
import type { Difference } from "../report/report";
import type { Finding, Severity } from "../review/finding";
import { suppressionEntry } from "./baseline";
import type { DetectedDifference } from "./difference";
import type { DriftRequest } from "./request";

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

/** Identifies a difference in later runs too: no run data is in it. */
function fingerprintDifference({ kind, spec, uid, managed, fields }: DetectedDifference): string {
  const properties = fields.map(({ path }) => path).sort();
  const identity = [`drift-${kind}`, spec.kind, uid, managed?.resource.urn ?? "", ...properties];
  return createHash("sha256").update(JSON.stringify(identity)).digest("hex").slice(0, 32);
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
    answers: { revert, adopt, suppress: suppressionEntry(finding, now) },
    fingerprint: finding.fingerprint,
  };
}
