import { fitReport } from "../report/fitReport";
import { SCHEMA_VERSION } from "../report/report";
import type { Provenance, TrustChange, VerifyReport } from "../report/report";
import { severities, sortFindings } from "../review/finding";
import type { Finding } from "../review/finding";
import { countBy } from "../report/counts";
import { compareWithAnnouncement, describeDifferences, describeMissing } from "./announcement";
import type { AnnouncedChanges } from "./announcement";
import { GRANTED_AGAIN, compareExpected, entityLabel } from "./compareExpected";
import type { Differences, EntityDifference } from "./compareExpected";
import { resolveCreated } from "./resolveCreated";
import { liveEntities, readExpected } from "./sources";
import type { VerifySources } from "./sources";
import { urnParts } from "../documents/engineState";
import { inventoryGaps, isWithin } from "../documents/inventory";
import { isGrantPart } from "../graph/accessKinds";
import type { Entity } from "../graph/model";
import { isVerified } from "../report/expectedAccess";
import { fingerprintOf } from "../documents/digest";
import { nameIn } from "../graph/grant";
import type { GrantChange } from "../graph/grant";
import { describeField } from "../report/render/words";

export interface VerifyOptions {
  readonly provenance: Provenance;
}

function toTrustChange({ kind, entity, fields }: EntityDifference): TrustChange {
  const { name, key, urn, uid } = entity;
  return { kind, name: name ?? key, urn, uid, fields, grants: 0 };
}

function buildReport(
  { review }: VerifySources,
  { provenance }: VerifyOptions,
  announced: AnnouncedChanges,
  differences: Differences,
  incomplete: readonly string[],
): VerifyReport {
  const { confirmed, unannounced, missing } = announced;
  const changed = differences.entities.filter(({ what }) => what === "new" || what === "changed");
  const findings = sortFindings(findUnannounced(unannounced, changed, differences.causes));
  return fitReport({
    schemaVersion: SCHEMA_VERSION,
    tool: { name: "pulumi-platform", version: provenance.package },
    command: "verify",
    stacks: review.stacks,
    complete: incomplete.length === 0,
    incomplete,
    failOn: "low",
    failing: findings.length,
    summary: {
      confirmed: confirmed.length,
      unannounced: unannounced.length,
      missing: missing.length,
      unchanged: differences.unchanged,
      findings: countBy(findings, severities, ({ severity }) => severity),
      suppressed: 0,
    },
    grants: confirmed,
    unannounced,
    missing,
    trust: changed.map(toTrustChange),
    findings,
    suppressed: [],
    unresolved: differences.unread,
    policy: { unused: [], expired: [] },
    provenance,
    plan: review.plan,
    reviewDigest: review.digest,
  });
}

/**
 * Compares what an approved review announced with what the organisation contains after the update. Does no I/O:
 * the same input gives the same report.
 *
 * @throws DocumentError where the documents do not belong together.
 */
export function verify(sources: VerifySources, options: VerifyOptions): VerifyReport {
  const expected = readExpected(sources);
  const live = liveEntities(sources);
  const resolved = resolveCreated(expected, live.values(), sources.state);
  const { inside, outside } = splitByRoot(resolved.entities, expected.root);
  const before = splitByRoot(resolved.before, expected.root).inside;
  const { inventory, state } = sources;
  const differences = compareExpected({ expected: inside, before, live }, { expected, inventory, state });
  const announced = compareWithAnnouncement(sources.review, differences, resolved.newKeys);
  const incomplete = [
    ...describeGaps(sources, expected.root, outside),
    ...differences.gaps,
    ...describeMissing(differences),
  ];
  return buildReport(sources, options, announced, differences, [...new Set(incomplete)]);
}

/** Splits what the review expects: an object outside of the group of the inventory cannot be verified. */
function splitByRoot<E extends Entity>(
  expected: ReadonlyMap<string, E>,
  root: string,
): { readonly inside: Map<string, E>; readonly outside: readonly E[] } {
  const inside = new Map<string, E>();
  const outside: E[] = [];
  for (const [key, entity] of expected) {
    const { uid, builtIn, kind } = entity;
    const isListed = uid === undefined || builtIn === true || isWithin(uid, root);
    // The subject and role of a grant may lie elsewhere; a grant itself may not.
    if (isListed || isGrantPart(kind)) {
      if (isListed || kind !== "Group") inside.set(key, entity);
    } else outside.push(entity);
  }
  return { inside, outside };
}

/** Why the verification is incomplete, a line each. */
function describeGaps(
  { inventory, state }: VerifySources,
  root: string,
  outside: readonly Entity[],
): string[] {
  const elsewhere = (state?.resources ?? []).filter(
    ({ kind, id, external }) =>
      kind !== undefined && isVerified(kind) && !external && !isWithin(id ?? root, root),
  );
  const names = new Set([
    ...outside.map(entityLabel),
    ...elsewhere.map(({ kind, urn }) => `${kind} ${urnParts(urn).name}`),
  ]);
  return [
    ...inventoryGaps(inventory),
    ...((state?.pendingOperations ?? 0) > 0
      ? [
          `the update was interrupted: ${state?.pendingOperations} pending operations in the state; run pulumi up again`,
        ]
      : []),
    ...[...names]
      .sort()
      .map(
        (name) =>
          `${name} is outside of the group ${root}, so it was not verified: review and verify with an inventory of a group that contains it`,
      ),
  ];
}

const ADVICE = "remove it, or review the change that adds it; then find out who made the change";

/** What the half of an update makes, since some of it was done and some was not. */
const PARTIAL_ADVICE =
  "run pulumi up again, since a part of the announced update was not done, and then verify; otherwise remove it. Find out whether it was used meanwhile";

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
    fingerprint: fingerprintOf(["verify-unannounced", subject.key, role.key, group.key]),
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
    fingerprint: fingerprintOf(["verify-changed", kind, entity.key, ...properties]),
  };
}

/** The findings of what the review did not announce: a change that a grant shows stands in the finding of that. */
function findUnannounced(
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
