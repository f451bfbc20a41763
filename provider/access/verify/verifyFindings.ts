import { sha256 } from "../documents/digest";
import type { Finding } from "../review/finding";
import type { GrantChange } from "../graph/grant";
import { entityLabel } from "./compareExpected";
import type { EntityDifference } from "./compareExpected";

const ADVICE = "remove it, or review the change that adds it; then find out who made the change";

function fingerprint(...parts: readonly (string | undefined)[]): string {
  return sha256(JSON.stringify(parts)).slice(0, 32);
}

/** The finding of a grant that the review did not announce. */
export function grantFinding({ change, grant, reason }: GrantChange): Finding {
  const { subject, role, group } = grant;
  const roleName = role.name ?? role.uid ?? role.key;
  return {
    id: "verify-unannounced",
    rule: "verify-unannounced",
    severity: "critical",
    message:
      change === "gained"
        ? `${subject.displayName} holds ${roleName} at ${group.path}, which the review did not announce`
        : `${subject.displayName} has more access through ${roleName} at ${group.path} than the review announced`,
    details: change === "gained" ? [] : [reason],
    advice: ADVICE,
    kind: grant.sourceKind,
    ...(subject.name === undefined ? {} : { name: subject.name }),
    ...(grant.urn === undefined ? {} : { urn: grant.urn }),
    ...(grant.uid === undefined ? {} : { uid: grant.uid }),
    ...(grant.location === undefined ? {} : { location: grant.location }),
    grant,
    fingerprint: fingerprint("verify-unannounced", subject.key, role.key, group.key),
  };
}

/** The finding of an object that exists, or differs, without the review having announced it. */
export function entityFinding({ kind, entity, what, fields }: EntityDifference): Finding {
  const properties = [...new Set(fields.map(({ path }) => path))];
  const how = what === "new" ? "exists" : `has changed (${properties.join(", ")})`;
  return {
    id: "verify-changed",
    rule: "verify-changed",
    severity: "critical",
    message: `${entityLabel(entity)} ${how}, which the review did not announce`,
    details: fields.map(
      ({ path, before, after }) => `${path}: ${before ?? "not set"} → ${after ?? "not set"}`,
    ),
    advice: ADVICE,
    kind,
    ...(entity.name === undefined ? {} : { name: entity.name }),
    ...(entity.urn === undefined ? {} : { urn: entity.urn }),
    ...(entity.uid === undefined ? {} : { uid: entity.uid }),
    fingerprint: fingerprint("verify-changed", kind, entity.key, ...properties),
  };
}
