import { sha256 } from "../documents/digest";
import { urnParts } from "../documents/engineState";
import { grantKey } from "../review/grantChanges";
import { GroupHierarchy } from "../graph/grants";
import type { Inventory } from "../documents/inventory";
import { DocumentError } from "../documents/jsonText";
import type { Entity } from "../graph/model";
import { specs } from "../graph/references";
import { SCHEMA_VERSION, severities } from "../report/report";
import type {
  ExpectedAccess,
  Finding,
  GrantChange,
  Provenance,
  ReviewReport,
  TrustChange,
  VerifyReport,
} from "../report/report";
import { countBy, sortFindings } from "../review/review";
import type { StateExport } from "../documents/stateExport";
import { entityOfObject } from "../graph/entities";
import { compareExpected, entityLabel } from "./compareExpected";
import type { Differences, EntityDifference } from "./compareExpected";
import { comparableInputs, isVerified, isWithin } from "./expected";
import { resolveCreated } from "./resolveCreated";
import type { ResolvedAccess } from "./resolveCreated";

/** What a verification is made from. */
export interface VerifySources {
  /** The approved report of a review, as `parseReviewReport` reads it. */
  readonly review: ReviewReport;
  /** The organisation after the update. */
  readonly inventory: Inventory;
  /** What the stack records after the update: it tells which uid each created resource has. */
  readonly state?: StateExport;
}

export interface VerifyOptions {
  readonly provenance: Provenance;
}

function fingerprint(...parts: readonly (string | undefined)[]): string {
  return sha256(JSON.stringify(parts)).slice(0, 32);
}

const ADVICE = "take it away, or review the change that brings it; then find out who made it";

function grantFinding({ change, grant, reason }: GrantChange): Finding {
  const { subject, role, group } = grant;
  const roleName = role.name ?? role.uid ?? role.key;
  const verb = change === "gained" ? "holds" : "holds more by";
  return {
    id: "verify-unannounced",
    rule: "verify-unannounced",
    severity: "critical",
    message: `${subject.displayName} ${verb} ${roleName} at ${group.path}, which the review did not announce`,
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

function entityFinding({ kind, entity, what, fields }: EntityDifference): Finding {
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

/** The organisation as entities; what the state records of one adds its URN and line. */
function liveEntities({ inventory, state }: VerifySources): Map<string, Entity> {
  const recorded = new Map(
    (state?.resources ?? [])
      .filter(({ kind, id, external }) => kind !== undefined && id !== undefined && !external)
      .map((resource) => [`${resource.kind} ${resource.id}`, resource] as const),
  );
  const entities = new Map<string, Entity>();
  for (const object of inventory.objects) {
    const spec = specs[object.kind];
    if (spec === undefined || !isVerified(object.kind)) continue;
    const live = entityOfObject(object);
    const resource = recorded.get(`${object.kind} ${object.uid}`);
    entities.set(live.key, {
      ...live,
      inputs: comparableInputs(spec, live.inputs),
      ...(resource === undefined ? {} : { urn: resource.urn, location: resource.location }),
    });
  }
  return entities;
}

/** What lies outside of the group that was looked at cannot be verified, and is not expected to be seen. */
function splitByRoot(expected: ResolvedAccess["entities"], root: string) {
  const inside = new Map<string, Entity>();
  const outside: Entity[] = [];
  for (const [key, entity] of expected) {
    const { uid, builtIn, kind } = entity;
    const isSeen = uid === undefined || builtIn === true || isWithin(uid, root);
    // Who and what a grant names may lie elsewhere; a grant itself may not.
    if (isSeen || ["Group", "Identity", "Role"].includes(kind)) {
      if (isSeen || kind !== "Group") inside.set(key, entity);
    } else outside.push(entity);
  }
  return { inside, outside };
}

/** Why the verification does not see all that it should, a line each. */
function describeGaps(
  { inventory, state }: VerifySources,
  root: string,
  outside: readonly Entity[],
): string[] {
  const refused = inventory.refused.map(
    ({ kind, code }) => `the inventory lacks ${kind}: the server answered ${code}`,
  );
  const elsewhere = (state?.resources ?? []).filter(
    ({ kind, id, external }) =>
      kind !== undefined && isVerified(kind) && !external && !isWithin(id ?? root, root),
  );
  const names = new Set([
    ...outside.map(entityLabel),
    ...elsewhere.map(({ kind, urn }) => `${kind} ${urnParts(urn).name}`),
  ]);
  return [
    ...refused,
    ...(inventory.complete || refused.length > 0 ? [] : ["the inventory is not complete"]),
    ...((state?.pendingOperations ?? 0) > 0
      ? [`the update was interrupted: ${state?.pendingOperations} operations are open`]
      : []),
    ...[...names]
      .sort()
      .map((name) => `${name} lies outside of ${root}, which was looked at: it is not verified`),
  ];
}

const describeGrant = ({ subject, role, group }: GrantChange["grant"]): string =>
  `${subject.displayName}: ${role.name ?? role.uid ?? role.key} at ${group.path}`;

const STILL_HELD = "announced as lost, and still held";

interface AnnouncedChanges {
  /** Announced changes that came. */
  readonly confirmed: readonly GrantChange[];
  /** Announced changes that did not come. */
  readonly missing: readonly GrantChange[];
  /** What is there besides. */
  readonly unannounced: readonly GrantChange[];
}

/** Sorts what differs: what was announced as lost and is still there is not new access. */
function compareWithAnnouncement(review: ReviewReport, differences: Differences): AnnouncedChanges {
  const { more, less, expected, actual } = differences;
  const tuple = ({ subject, role, group }: GrantChange["grant"]): string =>
    JSON.stringify([subject.key, role.key, group.key]);
  const lost = new Set(
    review.grants.filter(({ change }) => change === "lost").map(({ grant }) => tuple(grant)),
  );
  const stays = (change: GrantChange): boolean => change.change === "gained" && lost.has(tuple(change.grant));
  const places = {
    expected: new GroupHierarchy(expected.entities),
    actual: new GroupHierarchy(actual.entities),
  };
  const differing = new Set(
    [...more, ...less].map(({ grant, before }) => grantKey(before ?? grant, places.expected)),
  );
  const remaining = new Set(more.filter(stays).map(({ grant }) => tuple(grant)));
  const isMissing = ({ change, grant }: GrantChange): boolean =>
    change === "lost" ? remaining.has(tuple(grant)) : differing.has(grantKey(grant, places.expected));
  return {
    confirmed: review.grants.filter((change) => !isMissing(change)),
    missing: [
      ...less,
      ...more.filter(stays).map((change): GrantChange => ({
        ...change,
        change: "lost",
        reason: STILL_HELD,
      })),
    ],
    unannounced: more.filter((change) => !stays(change)),
  };
}

function describeMissing(
  { missing }: AnnouncedChanges,
  differences: Differences,
  absent: ResolvedAccess["absent"],
): string[] {
  return [
    ...missing.map(({ grant, before, reason }) =>
      reason === STILL_HELD
        ? `${STILL_HELD}: ${describeGrant(grant)}`
        : `announced, and not there: ${describeGrant(before ?? grant)}`,
    ),
    ...differences.entities
      .filter(({ what }) => what === "gone")
      .map(({ entity }) => `announced, and not there: ${entityLabel(entity)}`),
    ...absent
      .filter(({ kind }) => kind === "Group" || kind === "Identity" || kind === "Role")
      .map(({ kind, name, urn }) => `announced, and not there: ${kind} ${name ?? urnParts(urn ?? "").name}`),
  ];
}

/** @throws DocumentError where the documents do not belong together. */
function checkSources({ review, inventory, state }: VerifySources): ExpectedAccess {
  const { expected } = review;
  if (expected === undefined) {
    throw new DocumentError(
      "the review was made without an inventory, so it does not know what existed before: review with --inventory",
    );
  }
  if (inventory.root !== expected.root) {
    throw new DocumentError(
      `the review is about the group ${expected.root}, and the inventory about ${inventory.root}: take one of the same group`,
    );
  }
  if (Date.parse(inventory.takenAt) < Date.parse(expected.inventoryTime)) {
    throw new DocumentError(
      `the inventory (${inventory.takenAt}) is older than that of the review (${expected.inventoryTime}): take one after the update`,
    );
  }
  const [stack] = review.stacks;
  if (state?.stack !== undefined && stack !== undefined && state.stack !== stack) {
    throw new DocumentError(
      `the review is of stack ${stack}, and the state of ${state.stack}: give both of one stack`,
    );
  }
  return expected;
}

function buildReport(
  { review }: VerifySources,
  { provenance }: VerifyOptions,
  announced: AnnouncedChanges,
  differences: Differences,
  incomplete: readonly string[],
): VerifyReport {
  const { confirmed, unannounced, missing } = announced;
  const changed = differences.entities.filter(({ what }) => what !== "gone");
  const findings = sortFindings([...unannounced.map(grantFinding), ...changed.map(entityFinding)]);
  return {
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
    trust: changed.map(({ kind, entity, fields }): TrustChange => ({
      kind,
      name: entity.name ?? entity.key,
      urn: entity.urn,
      uid: entity.uid,
      fields,
      grants: 0,
    })),
    findings,
    suppressed: [],
    unresolved: [],
    policy: { unused: [], expired: [] },
    provenance,
    plan: review.plan,
    reviewDigest: review.digest,
  };
}

/**
 * Compares what an approved review announced with what the organisation holds after the update. Reads nothing and
 * writes nothing: the same input gives the same report.
 *
 * @throws DocumentError where the documents do not belong together.
 */
export function verify(sources: VerifySources, options: VerifyOptions): VerifyReport {
  const expected = checkSources(sources);
  const live = liveEntities(sources);
  const { entities, absent } = resolveCreated(expected, live.values(), sources.state);
  const { inside, outside } = splitByRoot(entities, expected.root);
  const differences = compareExpected(inside, live);
  const announced = compareWithAnnouncement(sources.review, differences);
  const incomplete = [
    ...describeGaps(sources, expected.root, outside),
    ...describeMissing(announced, differences, absent),
  ];
  return buildReport(sources, options, announced, differences, [...new Set(incomplete)]);
}
