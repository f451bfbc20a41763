import { equal } from "../../fields/equal";
import type { FieldSpec } from "../../fields/fieldSpec";
import { sortedJson } from "../../fields/formats";
import { fingerprintOf } from "../documents/digest";
import { urnParts } from "../documents/engineState";
import { inventoryGaps, isWithin } from "../documents/inventory";
import type { Inventory } from "../documents/inventory";
import { DocumentError, labelOfUrn } from "../documents/jsonText";
import { specs } from "../documents/specs";
import { describeInterrupted } from "../documents/stateExport";
import type { StateExport } from "../documents/stateExport";
import { isGrantPart } from "../graph/accessKinds";
import { grantKey } from "../graph/resolveGrants";
import { entityOfObject } from "../graph/entities";
import { NEW_GRANT, nameIn, pathIn, tupleOf } from "../graph/grant";
import type { GrantChange, Grant } from "../graph/grant";
import { replaceKeys } from "../graph/entityKeys";
import { mustBeAnnounced } from "../../fields/fieldAccess";
import type { Entity } from "../graph/model";
import { leavesIn, mapReferences, topProperty } from "../graph/inputLeaves";
import { isUnread } from "../graph/unread";
import { countBy, fitReport } from "../report/fitReport";
import { createIgnoreCheck, isComparable, isVerified, writtenInputs } from "../report/expected";
import { describeField } from "../report/render/words";
import { SCHEMA_VERSION } from "../report/report";
import type {
  ExpectedAccess,
  FieldChange,
  ReviewReport,
  Provenance,
  TrustChange,
  VerifyReport,
} from "../report/report";
import { severities, sortFindings } from "../review/finding";
import type { Finding } from "../review/finding";
import type { LiveEntity, Differences, EntityDifference, ResolvedAccess } from "./compareExpected";
import { GRANTED_AGAIN, compareExpected, entityLabel, resolveCreated } from "./compareExpected";

/** The documents of a verification. */
export interface VerifySources {
  /** The approved report of a review, as `parseReviewReport` reads it. */
  readonly review: ReviewReport;
  /** The organisation after the update. */
  readonly inventory: Inventory;
  /** What the stack records after the update: which uid each created resource has. */
  readonly state?: StateExport;
}

/** The report cannot say what existed before. */
export const NO_INVENTORY =
  "the report has no expected access: write it with review --inventory FILE --output json=FILE";

/** @throws DocumentError for an inventory that cannot show what the update has done: it is older than another document. */
function checkInventoryTime(
  { review, inventory, state }: VerifySources,
  { inventoryTime }: ExpectedAccess,
): void {
  const earlier = [
    ["the inventory of the review", inventoryTime],
    ["the report", review.provenance.time],
    ["the state", state?.time],
  ] as const;
  for (const [name, time] of earlier) {
    if (time === undefined || Date.parse(inventory.takenAt) > Date.parse(time)) continue;
    throw new DocumentError(
      "PP6004",
      `the inventory was taken at ${inventory.takenAt}, not after ${name} (${time}): take it after the update, and then verify`,
    );
  }
}

/** What the review expects. @throws DocumentError where the documents do not belong together. */
function readExpected({ review, inventory, state }: VerifySources): ExpectedAccess {
  const { expected } = review;
  if (expected === undefined) {
    throw new DocumentError("PP6006", NO_INVENTORY);
  }
  if (inventory.root !== expected.root) {
    throw new DocumentError(
      "PP6004",
      `the inventory covers the group ${inventory.root}, and the report the group ${expected.root}: give --root, or an inventory, of ${expected.root}`,
    );
  }
  checkInventoryTime({ review, inventory, state }, expected);
  const [stack] = review.stacks;
  if (state?.stack !== undefined && stack !== undefined && state.stack !== stack) {
    throw new DocumentError(
      "PP6004",
      `the state is of stack ${state.stack}, and the report of stack ${stack}: give --stack or --state of ${stack}`,
    );
  }
  return expected;
}

/** The organisation as entities, with what the state records of each. */
function liveEntities({ inventory, state }: VerifySources): Map<string, LiveEntity> {
  const recorded = new Map(
    (state?.resources ?? [])
      .filter(({ kind, id, external }) => kind !== undefined && id !== undefined && !external)
      .map((resource) => [`${resource.kind} ${resource.id}`, resource] as const),
  );
  const entities = new Map<string, LiveEntity>();
  for (const object of inventory.objects) {
    const { kind, uid, createTime } = object;
    const spec = specs[kind];
    if (spec === undefined) continue;
    const live = entityOfObject(object);
    const resource = recorded.get(`${kind} ${uid}`);
    entities.set(live.key, {
      ...live,
      inputs: writtenInputs(spec, live.inputs, (_key, field) => isComparable(field)),
      createTime,
      urn: resource?.urn,
      location: resource?.location,
      recordedOutputs: resource?.outputs,
      declared: resource?.inputs,
    });
  }
  return entities;
}

export interface VerifyOptions {
  readonly provenance: Provenance;
}

function toTrustChange({ entity, fields }: EntityDifference): TrustChange {
  const { kind, name, key, urn, uid } = entity;
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
  const findings = sortFindings([...unannounced.map(grantFinding), ...changed.map(entityFinding)]);
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
  const resolved = resolveCreated(expected, [...live.values()], sources.state);
  const { inside, outside } = splitByRoot(resolved.entities, expected.root);
  const before = splitByRoot(resolved.before, expected.root).inside;
  const { inventory, state } = sources;
  const differences = compareExpected({ expected: inside, before, live }, { expected, inventory, state });
  const announced = compareWithAnnouncement(sources.review, differences, resolved.newKeys);
  const entities = [...differences.entities, ...compareRecorded(expected, resolved, state)];
  const incomplete = [
    ...describeGaps(sources, expected.root, outside),
    ...describeUnreviewed(expected, state),
    ...differences.gaps,
    ...describeMissing(differences),
  ];
  return buildReport(sources, options, announced, { ...differences, entities }, [...new Set(incomplete)]);
}

/**
 * What the state records that only a program knows, as whose bindings a GroupAccess leaves alone or what `ignoreChanges`
 * names, and the review did not announce: the next review would take it for what was there before.
 */
function compareRecorded(
  review: ExpectedAccess,
  { entities, before, newKeys }: ResolvedAccess,
  state: StateExport | undefined,
): EntityDifference[] {
  const announced = new Map(review.declared?.map(({ urn, inputs }) => [urn, inputs]));
  const findIgnored = createIgnoreCheck(review);
  const former = new Map([...before.values()].map((entity) => [entity.urn, entity]));
  const staying = new Set([...entities.values()].map((entity) => entity.urn));
  return (state?.resources ?? []).flatMap((resource): EntityDifference[] => {
    const { kind = "", urn, id, inputs, external } = resource;
    const spec = external ? undefined : specs[kind];
    const old = former.get(urn);
    // What was to be deleted and is still there is reported as that.
    if (spec === undefined || (old !== undefined && !staying.has(urn))) return [];
    const expected = mapReferences(spec, announced.get(urn) ?? {}, (value) =>
      typeof value === "string" ? (newKeys.get(value) ?? value) : value,
    );
    // Of what the review could not read, it has a finding.
    const unread = leavesIn(spec, expected).flatMap(({ path, value }) =>
      isUnread(value) ? [topProperty(path)] : [],
    );
    const isExpected = (key: string, field: FieldSpec): boolean =>
      unread.includes(key) ||
      equal(field, expected[key], inputs[key]) ||
      // An announced change that was not done is reported as that.
      (old?.changes?.includes(key) === true && equal(field, old.inputs[key], inputs[key]));
    const fields = Object.entries(spec.fields).flatMap(([path, field]): FieldChange[] => {
      const isOfProgram = !isComparable(field) && !field.secret && mustBeAnnounced(path, field);
      if (!isOfProgram || isExpected(path, field)) return [];
      const [was, is] = [expected[path], inputs[path]].map((value) =>
        value === undefined ? undefined : sortedJson(value),
      );
      return [{ path, before: was, after: is }];
    });
    const added = staying.has(urn) ? findIgnored(resource) : [];
    if (added.length > 0) fields.push({ path: "ignoreChanges", before: undefined, after: sortedJson(added) });
    const entity = { key: urn, kind, uid: id, urn, name: urnParts(urn).name, inputs, secretPaths: [] };
    return fields.length === 0 ? [] : [{ entity, what: "changed", fields }];
  });
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
    ...(state !== undefined && state.pendingOperations > 0 ? [describeInterrupted(state)] : []),
    ...[...names]
      .sort()
      .map(
        (name) =>
          `${name} is outside of the group ${root}, so it was not verified: review and verify with an inventory of a group that contains it`,
      ),
  ];
}

/** What the review took for resources of this package, and the state shows that another plugin manages: no preview shows that. */
function describeUnreviewed({ entities }: ExpectedAccess, state: StateExport | undefined): string[] {
  const judged = new Set(entities.map(({ urn }) => urn));
  return (state?.resources ?? []).flatMap(({ urn, notReviewed }) =>
    notReviewed !== undefined && judged.has(urn)
      ? [
          `${labelOfUrn(urn)} was not verified, since ${notReviewed}: give the review an export of the stack too (--before), and find out who changed the provider`,
        ]
      : [],
  );
}

const ADVICE =
  "run pulumi up again where the report says that a part of the announced update was not done; otherwise remove it, or review the change that adds it. Then find out who made the change, and whether it was used: a deployment of another project in between may have";

/** The finding of a grant that the review did not announce, or that has become more. */
function grantFinding({ change, grant, reason }: GrantChange): Finding {
  const { subject, role, group } = grant;
  const roleName = nameIn(role);
  return {
    id: "verify-unannounced",
    rule: "verify-unannounced",
    severity: "critical",
    message:
      change === "gained"
        ? `${subject.displayName} holds ${roleName} at ${pathIn(group.path)}, which the review did not announce`
        : `${subject.displayName} has more access through ${roleName} at ${pathIn(group.path)} than the review announced`,
    details: change === "gained" && reason !== GRANTED_AGAIN ? [] : [reason],
    advice: ADVICE,
    kind: grant.sourceKind,
    name: subject.name,
    urn: grant.urn,
    uid: grant.uid,
    location: grant.location,
    grant,
    fingerprint: fingerprintOf(["verify-unannounced", subject.key, role.key, group.key]),
  };
}

/** The finding of an object that exists, or differs, without the review having announced it. */
function entityFinding({ entity, what, fields }: EntityDifference): Finding {
  const { kind, name, urn, uid, key } = entity;
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
    name,
    urn,
    uid,
    fingerprint: fingerprintOf(["verify-changed", kind, key, ...properties]),
  };
}

/** What the review announced, beside what happened. */
interface AnnouncedChanges {
  /** Announced changes that happened. */
  readonly confirmed: readonly GrantChange[];
  /** Announced changes that did not happen. */
  readonly missing: readonly GrantChange[];
  /** Access that was not announced. */
  readonly unannounced: readonly GrantChange[];
}

const STILL_GRANTED = "announced as lost, but still granted";
const STILL_MORE = "announced as narrowed, but still as it was";
const LESS = "less access than there was, and nothing announced it";

const describeGrant = ({ grant, before = grant }: GrantChange): string => {
  const { subject, role, group } = before;
  return `${subject.displayName}: ${nameIn(role)} at ${pathIn(group.path)}`;
};

/** A grant that names what was created as the server names it. */
function withNewKeys(grant: Grant, newKeys: ReadonlyMap<string, string>): Grant {
  const { subject, role, group } = grant;
  const renamed = <K extends { readonly key: string }>(part: K): K => ({
    ...part,
    key: replaceKeys(part.key, newKeys),
  });
  return { ...grant, subject: renamed(subject), role: renamed(role), group: renamed(group) };
}

/** Compares what the review announced with what differs: access that was to be lost and remains is not new. */
function compareWithAnnouncement(
  review: ReviewReport,
  differences: Differences,
  newKeys: ResolvedAccess["newKeys"],
): AnnouncedChanges {
  const { more, remaining, less, taken, ungranted, hierarchy } = differences;
  const remainingKeys = new Set(remaining.map(({ grant }) => tupleOf(grant)));
  const differing = new Set(
    [...more, ...remaining, ...less, ...taken, ...ungranted].map(({ grant, before }) =>
      grantKey(before ?? grant, hierarchy),
    ),
  );
  const isMissing = ({ change, grant }: GrantChange): boolean =>
    change === "lost"
      ? remainingKeys.has(tupleOf(grant))
      : differing.has(grantKey(withNewKeys(grant, newKeys), hierarchy));
  return {
    confirmed: review.grants.filter((change) => !isMissing(change)).map(asMade),
    missing: [...less, ...taken, ...remaining.map(asNotLost)],
    unannounced: more,
  };
}

/** One of several grants that a resource could make is known to be made once it is there. */
function asMade(change: GrantChange): GrantChange {
  if (change.grant.isOneOf !== true) return change;
  return { ...change, grant: { ...change.grant, isOneOf: undefined }, reason: NEW_GRANT };
}

/** A grant that is still there, as the announced change that did not happen. */
function asNotLost(change: GrantChange): GrantChange {
  return change.change === "gained"
    ? { ...change, change: "lost", reason: STILL_GRANTED }
    : { ...change, change: "narrowed", reason: STILL_MORE };
}

/** What is not as announced without being more access, a line each. */
function describeMissing({ remaining, less, taken, narrowed, entities }: Differences): string[] {
  const pathsOf = (fields: readonly FieldChange[]): string =>
    [...new Set(fields.map(({ path }) => path))].join(", ");
  return [
    ...less.map((change) => `announced, but missing: ${describeGrant(change)}`),
    ...taken.map((change) => `${LESS}: ${describeGrant(change)}`),
    ...narrowed.map(({ entity, fields }) => `${entityLabel(entity)} has changed: ${pathsOf(fields)}`),
    ...remaining.map(asNotLost).map((change) => `${change.reason}: ${describeGrant(change)}`),
    ...entities.flatMap(({ entity, what, fields }) => {
      const label = entityLabel(entity);
      if (what === "deleted") return [`announced, but missing: ${label}`];
      if (what === "remaining") return [`announced as deleted, but still there: ${label}`];
      return what === "unapplied" ? [`announced, but missing: ${label}: ${pathsOf(fields)}`] : [];
    }),
  ];
}
