import { equal } from "../../fields/equal";
import type { FieldSpec } from "../../fields/fieldSpec";
import { ambiguityOf, canonicalJwks } from "../../fields/formats";
import type { ResourceSpec } from "../../fields/resourceSpec";
import { compareTexts } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { sha256 } from "../documents/digest";
import { urnParts } from "../documents/engineState";
import { describeStaleness } from "../documents/inventory";
import type { Inventory } from "../documents/inventory";
import { comparePlan, withPlanned } from "../documents/plan";
import type { UpdatePlan } from "../documents/plan";
import { specs } from "../documents/specs";
import { accessKinds, isAccessField, isShownByGrants } from "../graph/accessKinds";
import { entityOfObject } from "../graph/entities";
import { mustBeAnnounced } from "../graph/fieldAccess";
import { tupleOf } from "../graph/grant";
import { GrantIndex } from "../graph/grantIndex";
import type { Entity } from "../graph/model";
import { mapLeaves } from "../graph/references";
import { compare } from "../review/compare";
import type { Sources, Comparison, ResourceChange } from "../review/compare";
import { sortFindings, severities } from "../review/finding";
import type { Finding, Severity } from "../review/finding";
import type { OwnRule } from "../rules/ownRules";
import type { SuppressionResult } from "../suppressions/applyPolicy";
import { proposeEntry } from "../suppressions/writeEntries";
import { countFailing, countBy, countGrants, sortGrants, reportOwnRules, fitReport } from "./fitReport";
import { toFieldChange, SCHEMA_VERSION, reportDigest } from "./report";
import type {
  Provenance,
  TrustChange,
  ReviewReport,
  DeclaredResource,
  ExpectedAccess,
  ExpectedEntity,
} from "./report";

/** What the rules find in a comparison. */
export type Rules = (comparison: Comparison) => readonly Finding[];

export interface ReviewOptions {
  readonly failOn: Severity | "never";
  readonly rules: Rules;
  /** Those of them that are the organisation's own, for the report. */
  readonly ownRules?: readonly OwnRule[];
  /** Sets the findings apart that a policy file suppresses. The comparison says what exists before the change. */
  readonly judge?: (findings: readonly Finding[], comparison: Comparison) => SuppressionResult;
  readonly provenance: Provenance;
  /** The update plan that `up` is held to. */
  readonly plan?: UpdatePlan;
}

/** Changes of what existing grants mean. */
function trustChanges({ changes, after }: Comparison): TrustChange[] {
  const index = new GrantIndex(after.grants);
  return changes.flatMap(({ op, kind, urn, after: entity, fields }): TrustChange[] => {
    const relevant = fields.filter(
      ({ path, effect }) =>
        isAccessField(kind, path) || (effect !== "none" && !isShownByGrants(kind, path, effect)),
    );
    if ((op !== "update" && op !== "replace") || entity === undefined || relevant.length === 0) return [];
    const touched = index.about({ key: entity.key, urn });
    return [
      {
        kind,
        name: entity.name ?? urnParts(urn ?? "").name,
        urn,
        uid: entity.uid,
        location: entity.location,
        fields: relevant.map(toFieldChange),
        grants: new Set(touched.map(tupleOf)).size,
      },
    ];
  });
}

/** Whether a change may have to do with who may do what. */
function concernsAccess({ kind, fields, op }: ResourceChange): boolean {
  // A change that shows no field is one of a secret, or of what a reference leads to.
  if (op === "update" && fields.length > 0) return fields.some(({ effect }) => effect !== "none");
  return accessKinds[kind] !== undefined;
}

/** Whom, by what and where the changed grants are about. */
function keysOfGrants({ grants }: Comparison): ReadonlySet<string | undefined> {
  const both = grants.flatMap(({ grant, before }) => [grant, ...(before ? [before] : [])]);
  return new Set(both.flatMap(({ urn, subject, role, group }) => [urn, subject.key, role.key, group.key]));
}

/** Whether the program gives an object up, and the server is not asked to delete it. */
const isGivenUp = ({ op, isLeftOnServer, refusedBy }: ResourceChange): boolean =>
  op === "delete" && isLeftOnServer === true && refusedBy === undefined;

/** What no other part of the report shows: changes that concern no access, and what is new or goes and has none. */
function unrelated(comparison: Comparison): ReviewReport["unrelated"] {
  const counts = new Map<string, { kind: string; op: string; count: number }>();
  const shown = keysOfGrants(comparison);
  const isShown = (change: ResourceChange): boolean => {
    const { op, urn, before, after } = change;
    if (!concernsAccess(change)) return false;
    const isWhole = op === "create" || op === "delete";
    return !isWhole || [urn, before?.key, after?.key].some((key) => key !== undefined && shown.has(key));
  };
  for (const change of comparison.changes) {
    const { kind } = change;
    if (change.op === "same" || change.op === "read" || isShown(change)) continue;
    const op = isGivenUp(change) ? "left at the server" : change.op;
    const key = `${kind} ${op}`;
    const known = counts.get(key) ?? { kind, op, count: 0 };
    counts.set(key, { ...known, count: known.count + 1 });
  }
  return [...counts.values()].sort((a, b) => compareTexts(a.kind, b.kind) || compareTexts(a.op, b.op));
}

/** The most findings that get an entry, worst first, because nobody reads thousands. */
const MOST_ENTRIES = 500;

/** What the rules find, after the policy file; each finding that is left has an entry that would suppress it. */
function findAndSuppress(
  comparison: Comparison,
  { rules, judge, provenance }: ReviewOptions,
): SuppressionResult {
  const found = sortFindings(rules(comparison));
  const judged = judge?.(found, comparison) ?? { findings: found, suppressed: [], unused: [], expired: [] };
  const now = Date.parse(provenance.time);
  return {
    ...judged,
    findings: sortFindings(judged.findings).map((finding, i) =>
      i >= MOST_ENTRIES || Number.isNaN(now)
        ? finding
        : { ...finding, policyEntry: proposeEntry(finding, "review", now) },
    ),
    suppressed: sortFindings(judged.suppressed),
  };
}

/** Turns a comparison and what the rules find in it into a report. */
export function reportOn(comparison: Comparison, options: ReviewOptions): ReviewReport {
  const { failOn, plan, provenance } = options;
  const { findings, suppressed, unused, expired, changed, standing } = findAndSuppress(comparison, options);
  const report = fitReport<ReviewReport>({
    schemaVersion: SCHEMA_VERSION,
    tool: { name: "pulumi-platform", version: provenance.package },
    command: "review",
    stacks: comparison.stack === undefined ? [] : [comparison.stack],
    complete: comparison.complete,
    incomplete: comparison.incomplete,
    failOn,
    failing: countFailing(findings, failOn),
    summary: {
      ...countGrants(comparison.grants),
      unchanged: comparison.unchanged,
      findings: countBy(findings, severities, ({ severity }) => severity),
      suppressed: suppressed.length,
    },
    grants: sortGrants(comparison.grants, findings),
    trust: trustChanges(comparison),
    findings,
    suppressed,
    unresolved: comparison.unresolved,
    unrelated: unrelated(comparison),
    groups: comparison.groups,
    policy: { unused, expired, changed, standing },
    ...reportOwnRules(options.ownRules),
    provenance,
    plan: plan && { digest: plan.digest, record: comparison.record },
    expected: expectedAccess(comparison),
  });
  return { ...report, digest: reportDigest(report) };
}

/** What the rules find where nothing changes: what was there before, and what a review of the change finds beside it. */
export function findBefore(
  { preview: given, ...sources }: Sources,
  { rules, plan }: Pick<ReviewOptions, "rules" | "plan">,
): readonly Finding[] {
  const preview = withPlanned(given, plan);
  const steps = preview.steps.flatMap(({ urn, before }) =>
    before === undefined || before.pendingDelete ? [] : [{ op: "same", urn, before, after: before }],
  );
  return rules(compare({ ...sources, preview: { ...preview, steps } }));
}

/**
 * Reviews a preview: who gains or loses what, and what is dangerous about it. Reads nothing and writes
 * nothing: the same input gives the same report.
 *
 * @throws DocumentError where the documents do not belong together.
 */
export function review(sources: Sources, options: ReviewOptions): ReviewReport {
  const preview = withPlanned(sources.preview, options.plan);
  const comparison = compare({ ...sources, preview });
  const stale =
    sources.inventory && describeStaleness(sources.inventory, Date.parse(options.provenance.time));
  const problems = [
    ...(stale === undefined ? [] : [stale]),
    ...(options.plan === undefined ? [] : comparePlan(options.plan, sources.preview)),
  ];
  if (problems.length === 0) return reportOn(comparison, options);
  const incomplete = [...comparison.incomplete, ...problems];
  return reportOn({ ...comparison, complete: false, incomplete }, options);
}

/** Whether `verify` looks at a kind: every one of which an argument, besides the parent, may matter. */
export function isVerified(kind: string): boolean {
  return Object.entries(specs[kind]?.fields ?? {}).some(
    ([key, field]) => key !== "parentUid" && mustBeAnnounced(key, field),
  );
}

/** Whether the server returns an argument, itself or as the end that follows from it. */
export function isComparable(field: FieldSpec): boolean {
  return !field.inputOnly || field.returnedAs !== undefined;
}

/** The arguments that `verify` compares: what the server returns, and no change of which is harmless. */
function comparedInputs(spec: ResourceSpec, inputs: Props): Props {
  return writtenInputs(spec, inputs, (key, field) => isComparable(field) && mustBeAnnounced(key, field));
}

/** Arguments in the form in which both sides of a comparison are written: key sets may hold private keys. */
export function writtenInputs(
  spec: ResourceSpec,
  inputs: Props,
  isWanted: (key: string, field: FieldSpec) => boolean,
): Props {
  const compared = Object.entries(spec.fields)
    .filter(([key, field]) => inputs[key] !== undefined && isWanted(key, field))
    .map(([key]) => [key, inputs[key]]);
  return mapLeaves(spec, Object.fromEntries(compared) as Props, (value, { field }) => {
    if (field.type !== "string" || field.format !== "jwks" || typeof value !== "string") return value;
    const keys = ambiguityOf(value) === undefined ? canonicalJwks(value) : value;
    return keys === undefined ? value : `sha256:${sha256(keys)}`;
  });
}

/**
 * What the server set that no argument holds, without secrets. The time of the last write stands for the values that the
 * report does not show.
 */
function outputsOf(spec: ResourceSpec, { details = {}, unread = [], updateTime }: Entity): Props {
  const entries = Object.entries(details).filter(
    ([key, value]) => value !== undefined && isComparedOutput(spec, key),
  );
  const version = unread.length === 0 || updateTime === undefined ? {} : { updateTime };
  return { ...Object.fromEntries(entries), ...version };
}

/** Whether `verify` compares what the server set: outputs that are no secret, and the version that each write changes. */
export function isComparedOutput({ outputs = {} }: ResourceSpec, key: string): boolean {
  return key === "etag" || (Object.hasOwn(outputs, key) && outputs[key]?.secret !== true);
}

/** Answers whether a change leaves an entity as it is. */
function createUntouched({ changes }: Comparison): (entity: Entity) => boolean {
  const touched = new Set(
    changes
      .filter(({ op }) => op !== "same" && op !== "read")
      // A part has the uid of what it belongs to, and changes with it.
      .flatMap(({ before, after }) => [before?.key, before?.uid, after?.key, after?.uid]),
  );
  return ({ key, uid }) => !touched.has(key) && (uid === undefined || !touched.has(uid));
}

function describeEntity(spec: ResourceSpec, entity: Entity): ExpectedEntity {
  const { key, kind, uid, urn, name, builtIn, inputs, candidates } = entity;
  return { key, kind, uid, urn, name, builtIn, inputs: comparedInputs(spec, inputs), candidates };
}

/** An object after the change. Of a kind that nothing may matter of, only what the change touches is announced. */
function describeAfter(entity: Entity, isUntouched: boolean, inventory: Inventory): ExpectedEntity[] {
  const { kind } = entity;
  const spec = specs[kind];
  if (spec === undefined || (isUntouched && !isVerified(kind))) return [];
  const described = describeEntity(spec, entity);
  // What a stack recorded some time ago of a kind that the inventory does not list says nothing of what the server sets.
  const isRead = spec.listing?.onDemand !== true || inventory.kinds.includes(kind);
  const outputs = isUntouched && isRead ? outputsOf(spec, entity) : {};
  return [{ ...described, ...(Object.keys(outputs).length === 0 ? {} : { outputs }) }];
}

/** An object before the change that updates, replaces or deletes it, with all that the change sets to something else. */
function describeBefore(change: ResourceChange): ExpectedEntity[] {
  const { op, kind, before, after } = change;
  const spec = specs[kind];
  if (spec === undefined || before === undefined || op === "same" || op === "read") return [];
  if (isGivenUp(change)) return [];
  // What needs no capability to delete cannot be taken back: its delete sends no request.
  const isPermanent = spec.capabilities?.delete.length === 0;
  if (isPermanent && op !== "update") return [];
  const described = describeEntity(spec, before);
  if (op !== "update" || after === undefined) return [described];
  const isChanged = (key: string, field: FieldSpec): boolean => {
    const [old, now] = [before.inputs[key], after.inputs[key]];
    return !field.secret && !equal(field, old, now) && !(isPermanent && isPartOf(now, old));
  };
  const changes = Object.entries(spec.fields).filter(([key, field]) => isChanged(key, field));
  const inputs = { ...described.inputs, ...writtenInputs(spec, before.inputs, isChanged) };
  return [{ ...described, inputs, changes: changes.map(([key]) => key) }];
}

/** The arguments of a program that a review announces: all that may matter, but what is a secret. */
export function declaredInputs(spec: ResourceSpec, inputs: Props): Props {
  return writtenInputs(spec, inputs, (key, field) => !field.secret && mustBeAnnounced(key, field));
}

/** What the program declares of a resource, where that is not what the server will have. */
function describeDeclared({ kind, urn, planned, after }: ResourceChange): DeclaredResource[] {
  const spec = specs[kind];
  if (spec === undefined || urn === undefined || planned === undefined || !isVerified(kind)) return [];
  const inputs = declaredInputs(spec, planned.inputs);
  const expected = comparedInputs(spec, after?.inputs ?? {});
  const isSame = Object.entries(spec.fields).every(([key, field]) =>
    equal(field, inputs[key], expected[key]),
  );
  const { candidates } = planned;
  return after !== undefined && isSame ? [] : [{ urn, kind, inputs, candidates }];
}

/** The bindings of the inventory that are no entities, since a resource owns all bindings of their group. */
function ownedBindings({ before, after }: Comparison, { objects }: Inventory): ExpectedEntity[] {
  return objects.flatMap((object) => {
    const spec = specs[object.kind];
    if (spec === undefined || accessKinds[object.kind]?.binding !== true) return [];
    const entity = entityOfObject(object);
    const isEntity = before.entities.has(entity.key) || after.entities.has(entity.key);
    return isEntity ? [] : [describeEntity(spec, entity)];
  });
}

function isPartOf(items: Json | undefined, of: Json | undefined): boolean {
  return Array.isArray(items) && Array.isArray(of) && items.every((item) => of.includes(item));
}

const byKindAndKey = (a: ExpectedEntity, b: ExpectedEntity): number =>
  compareTexts(a.kind, b.kind) || compareTexts(a.key, b.key);

/** What a comparison expects to exist afterwards; undefined without an inventory, which alone knows the rest. */
function expectedAccess(comparison: Comparison): ExpectedAccess | undefined {
  const { before, after, changes, inventory } = comparison;
  if (inventory === undefined) return undefined;
  const collectUids = (entities: Iterable<Entity>): Set<string> =>
    new Set([...entities].flatMap(({ uid }) => (uid === undefined ? [] : [uid])));
  const remaining = collectUids(after.entities.values());
  const isUntouched = createUntouched(comparison);
  const owned = ownedBindings(comparison, inventory);
  const declared = changes.flatMap(describeDeclared);
  return {
    root: inventory.root,
    inventoryTime: inventory.takenAt,
    kinds: inventory.kinds,
    entities: [...after.entities.values()]
      .flatMap((entity) => describeAfter(entity, isUntouched(entity), inventory))
      .sort(byKindAndKey),
    ...(owned.length === 0 ? {} : { owned: owned.sort(byKindAndKey) }),
    ...(declared.length === 0 ? {} : { declared: declared.sort((a, b) => compareTexts(a.urn, b.urn)) }),
    before: changes.flatMap(describeBefore).sort(byKindAndKey),
    removed: [...collectUids(before.entities.values())].filter((uid) => !remaining.has(uid)).sort(),
  };
}
