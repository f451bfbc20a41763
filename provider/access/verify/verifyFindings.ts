import { sha256 } from "../documents/digest";
import type { Finding } from "../review/finding";
import { nameIn } from "../graph/grant";
import type { GrantChange } from "../graph/grant";
import { describeField } from "../report/render/words";
import { describeDifferences } from "./announcement";
import { entityLabel, GRANTED_AGAIN } from "./compareExpected";
import type { Differences, EntityDifference } from "./compareExpected";

const ADVICE = "remove it, or review the change that adds it; then find out who made the change";

function fingerprint(...parts: readonly (string | undefined)[]): string {
  return sha256(JSON.stringify(parts)).slice(0, 32);
}

/** What the half of an update makes, since some of it was done and some was not. */
const PARTIAL_ADVICE =
  "run pulumi up again, since a part of the announced update was not done, and then verify; otherwise remove it";

const isUndone = ({ what }: EntityDifference): boolean => what === "unapplied" || what === "remaining";

/** The finding of a grant that the review did not announce, with the changes by which it has become more. */
function grantFinding(
  { change, grant, reason }: GrantChange,
  causes: readonly EntityDifference[],
  undone: readonly string[],
): Finding {
  const { subject, role, group } = grant;
  const roleName = nameIn(role);
  const fields = causes.flatMap(({ entity, fields: changed }) =>
    changed.map((field) => `${entityLabel(entity)}: ${describeField(field)}`),
  );
  return {
    id: "verify-unannounced",
    rule: "verify-unannounced",
    severity: "critical",
    message:
      change === "gained"
        ? `${subject.displayName} holds ${roleName} at ${group.path}, which the review did not announce`
        : `${subject.displayName} has more access through ${roleName} at ${group.path} than the review announced`,
    details: [...(change === "gained" && reason !== GRANTED_AGAIN ? [] : [reason]), ...fields, ...undone],
    advice: undone.length > 0 && causes.length === 0 ? PARTIAL_ADVICE : ADVICE,
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
function entityFinding({ kind, entity, what, fields }: EntityDifference): Finding {
  const properties = [...new Set(fields.map(({ path }) => path))];
  const how = what === "new" ? "exists" : `has changed (${properties.join(", ")})`;
  return {
    id: "verify-changed",
    rule: "verify-changed",
    severity: "critical",
    message: `${entityLabel(entity)} ${how}, which the review did not announce`,
    details: fields.map(describeField),
    advice: ADVICE,
    kind,
    ...(entity.name === undefined ? {} : { name: entity.name }),
    ...(entity.urn === undefined ? {} : { urn: entity.urn }),
    ...(entity.uid === undefined ? {} : { uid: entity.uid }),
    fingerprint: fingerprint("verify-changed", kind, entity.key, ...properties),
  };
}

/** The findings of what the review did not announce: a change that a grant shows stands in the finding of that. */
export function findUnannounced(
  grants: readonly GrantChange[],
  changed: readonly EntityDifference[],
  all: Differences["causes"],
): Finding[] {
  const byKey = new Map(changed.map((difference) => [difference.entity.key, difference]));
  const shown = new Set<EntityDifference>();
  const findings = grants.map((change) => {
    const { grant, before } = change;
    const causes = [grant.subject.key, grant.role.key].flatMap((key) => byKey.get(key) ?? []);
    const isContinuing = before !== undefined;
    if (isContinuing) for (const cause of causes) shown.add(cause);
    const differing = [grant.subject.key, grant.role.key, grant.group.key].flatMap(
      (key) => all.get(key) ?? [],
    );
    const undone = describeDifferences(differing.filter(isUndone));
    return grantFinding(change, isContinuing ? causes : [], undone);
  });
  return [...findings, ...changed.filter((difference) => !shown.has(difference)).map(entityFinding)];
}
