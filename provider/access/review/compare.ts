import { ownEffect } from "../../fields/fieldSpec";
import { equal } from "../../fields/equal";
import { timestampNanos } from "../../fields/formats";
import { NORMALIZED, mergeLive } from "../../fields/mergeLive";
import { UNCONFIRMED, compareTexts, groupBy, isUnknown, SECRET_MASK } from "../../fields/values";
import { urnParts } from "../documents/engineState";
import type { SourceLocation, RecordedResource } from "../documents/engineState";
import { inventoryGaps, listsObject } from "../documents/inventory";
import type { Inventory } from "../documents/inventory";
import { DocumentError } from "../documents/jsonText";
import { decidedOp } from "../documents/preview";
import type { Preview } from "../documents/preview";
import { specs } from "../documents/specs";
import { digestRecord } from "../documents/stateExport";
import type { StateExport } from "../documents/stateExport";
import { compareKeys, createEffectSide, describeEffects } from "../effects";
import type { FieldEffect, EffectContext } from "../effects";
import {
  accessKinds,
  isAccessField,
  graphOf,
  GroupHierarchy,
  labelByKey,
  readRoleCapabilities,
} from "../graph/accessKinds";
import { fieldsWhere, pathsMeant, textAtPath } from "../graph/describedFields";
import { compareGrants, tupleOf } from "../graph/grant";
import type { Grant, GrantChange, GrantedRole, GroupNode, Subject } from "../graph/grant";
import { ownerOf, withoutRetained } from "../graph/keys";
import { textsOfTrusts } from "../graph/principals";
import { buildGraphs, planResources } from "../graph/graphBuilder";
import type { AccessGraphs, PlannedChange } from "../graph/graphBuilder";
import { withInputs } from "../graph/entities";
import type { Entity, AccessGraph, Entities } from "../graph/model";
import { isPathWithin, isReference, mapLeaves, topProperty } from "../graph/references";
import { Languages } from "../trust/languages";
import { addMeanwhile, diffGrants, changesByMoves } from "./grantChanges";

/** What happens to one resource. */
export interface ResourceChange {
  readonly op: "create" | "update" | "replace" | "delete" | "same" | "read";
  /** The registry key; the type token of a resource that is not of this package, which has no entities. */
  readonly kind: string;
  readonly urn?: string;
  /** Absent for a create. */
  readonly before?: Entity;
  /** Absent for a delete. */
  readonly after?: Entity;
  /** What the stack records of what it manages, where `before` is of the server. */
  readonly recorded?: Entity;
  /** What the program declares of what it manages, where `after` is of the server. */
  readonly planned?: Entity;
  readonly fields: readonly FieldEffect[];
  /** What the change adds to `ignoreChanges`: paths. */
  readonly newlyIgnored?: readonly string[];
  /** What was there before stays at the server, deleted or replaced by the program as it may be. */
  readonly isLeftOnServer?: true;
  /** It stays since the server refuses to delete it: the keys of what stays and refers to it. */
  readonly refusedBy?: ReadonlySet<string>;
  /** No inventory lists it: what was there before is what the stack records, and may differ from the server. */
  readonly isRecordOnly?: true;
  /** The stack records it, and the server does not have it: it was deleted otherwise. */
  readonly isMissing?: true;
  /** The uid that the stack records is that of an object of another kind. */
  readonly isOfOtherKind?: true;
  /** The update changes only what the stack records: it sends nothing to the server. */
  readonly sendsNothing?: true;
  /** Why nothing can be said of what it does; such a change has no entities. */
  readonly notReviewed?: string;
  /** The version of its package, where it is known. */
  readonly packageVersion?: string | undefined;
  /** Of what is not reviewed: a digest of its inputs. */
  readonly inputsDigest?: string | undefined;
  readonly location?: SourceLocation;
  /** Properties that are secret on both sides, so that a change cannot be seen. */
  readonly secretsMayHaveChanged: readonly string[];
}

/** The same change compared with what the stack records, where that differs from the server and the change keeps the server's. */
export interface ComparisonAsRecorded {
  readonly comparison: Comparison;
  readonly kept: readonly KeptChange[];
  /** The stack managed nothing before: what it takes over may be a whole organisation. */
  readonly isFirstImport: boolean;
}

/** A change, and what was done to its object by hand that the program takes over. */
export interface KeptChange {
  readonly change: ResourceChange;
  /** The object as the stack records it, where somebody deleted it. */
  readonly lost?: Entity;
  /** From what the stack records to what the server has; empty of an object that no stack managed. */
  readonly fields: readonly FieldEffect[];
}

/** Two graphs and what lies between them. */
export interface Comparison {
  /** SHA-256 of what the preview shows of the stack before the change: see `digestRecord`. Absent where there is no preview. */
  readonly record?: string;
  readonly stack?: string;
  readonly before: AccessGraph;
  readonly after: AccessGraph;
  /** All that is there at some time of the update; undefined where it only adds. */
  readonly meanwhile?: AccessGraph;
  readonly changes: readonly ResourceChange[];
  readonly grants: readonly GrantChange[];
  readonly unchanged: number;
  readonly groups: readonly GroupNode[];
  readonly unresolved: readonly string[];
  readonly complete: boolean;
  readonly incomplete: readonly string[];
  /** The live organisation, where it was given. */
  readonly inventory?: Inventory;
  /** All of them, where drift compares several organisations. */
  readonly inventories?: readonly Inventory[];
  /** What the patterns of the change were compared with: who asks more of them shares its budget. */
  readonly languages?: Languages;
  /**
   * What exists before the change, by uid, from states and the inventory alone: what a suppression may name.
   * Without it a suppression matches by uid only.
   */
  readonly recorded?: ReadonlyMap<string, Entity>;
  /** Set where the change makes official what was made by hand. */
  readonly asRecorded?: ComparisonAsRecorded;
  /** Set where the change has happened already: both sides are facts. `isWhole`: everything that exists was compared. */
  readonly drift?: { readonly isWhole: boolean };
}

/** What a comparison is made from. */
export interface Sources {
  readonly preview: Preview;
  /** The stack before, where the preview does not show what stays as it is. */
  readonly before?: StateExport;
  /** The live organisation: what no program knows, names and capabilities of built-in roles, last sign-ins. */
  readonly inventory?: Inventory;
}

/** A change of a resource that others refer to may change what resources mean that are not shown. */
const isReferredTo = (kind: string): boolean =>
  accessKinds[kind] !== undefined && accessKinds[kind].grants === undefined;

/** Whether a change may alter what unchanged resources mean; nothing unchanged refers to a new one. */
function changesAccessFields({ kind, op, fields }: ResourceChange): boolean {
  if (op !== "update") return op !== "create";
  return fields.some(({ path }) => isAccessField(kind, path));
}

/** Whether a secret may differ, as far as the engine says, which has compared its values. */
function mayDiffer(secret: string, { differing }: PlannedChange["plan"]): boolean {
  return differing?.some((path) => isPathWithin(secret, path) || isPathWithin(path, secret)) ?? true;
}

/** Whether an update changes only what the stack records: the provider compares the arguments with the recorded outputs. */
function sendsNothing({ op, before, after }: PlannedChange["plan"], kind: string): boolean {
  if (op !== "update" || before === undefined || after === undefined) return false;
  const olds = { ...before.inputs, ...before.outputs };
  const isConfirmed = olds[UNCONFIRMED] !== true;
  return isConfirmed && specs[kind]?.operations?.sendsNothing?.(olds, after.inputs) === true;
}

/** The paths that the program ignores from now on. */
function newlyIgnored({ before, unrefreshed, after }: PlannedChange["plan"]): string[] {
  const olds = (unrefreshed ?? before)?.ignoreChanges ?? [];
  return (after?.ignoreChanges ?? []).filter((path) => !olds.includes(path));
}

function changeOf(
  { plan, kind, before, after, notReviewed, packageVersion, recorded, planned, ...known }: PlannedChange,
  context: EffectContext,
): ResourceChange {
  const op = plan.op === "import" ? "read" : plan.op;
  const spec = specs[kind];
  const both = before !== undefined && after !== undefined && op !== "same";
  const ignored = newlyIgnored(plan);
  const secretPaths = (after?.secretPaths ?? []).filter((path) => before?.secretPaths.includes(path));
  const secret =
    op === "update" || op === "replace" ? secretPaths.filter((path) => mayDiffer(path, plan)) : [];
  return {
    op,
    kind,
    urn: plan.urn,
    before,
    after,
    fields: spec !== undefined && both ? describeEffects(spec, before.inputs, after.inputs, context) : [],
    secretsMayHaveChanged: secret,
    ...(ignored.length === 0 ? {} : { newlyIgnored: ignored }),
    ...(secret.length === 0 && sendsNothing(plan, kind) ? { sendsNothing: true } : {}),
    ...known,
    ...(recorded === undefined || recorded.external === true ? {} : { recorded }),
    ...(planned === undefined || planned.external === true ? {} : { planned }),
    ...(notReviewed === undefined
      ? {}
      : {
          notReviewed,
          packageVersion,
          inputsDigest: (plan.after ?? plan.before)?.inputsDigest,
          location: plan.after?.location ?? plan.before?.location,
        }),
  };
}

/** The groups of both sides, with what has changed about each. */
function groupNodes(before: Entities, after: Entities): GroupNode[] {
  const hierarchies = { before: new GroupHierarchy(before), after: new GroupHierarchy(after) };
  const keys = [...before.values(), ...after.values()]
    .filter(({ kind }) => kind === "Group")
    .map(({ key }) => key);
  const nodes = [...new Set(keys)].map((key): GroupNode => {
    const [old, now] = [before.get(key), after.get(key)];
    const at = now === undefined ? hierarchies.before : hierarchies.after;
    const change =
      old === undefined
        ? "added"
        : now === undefined
          ? "removed"
          : hierarchies.before.parentOf(key) !== hierarchies.after.parentOf(key)
            ? "moved"
            : old.name !== now.name
              ? "renamed"
              : "same";
    const parentKey = at.parentOf(key);
    return { ...at.scope(key), change, parentKey };
  });
  return nodes.sort((a, b) => compareTexts(a.path, b.path) || compareTexts(a.key, b.key));
}

/** What a reader of the changes cannot know. */
export function unresolvedGrants(
  changes: readonly GrantChange[],
  after: AccessGraph,
  hasInventory: boolean,
): string[] {
  const why = hasInventory ? "the inventory does not have it" : "give --inventory";
  const lines = new Set<string>();
  for (const { grant } of changes) {
    const { role, subject } = grant;
    if (role.capabilities === undefined && role.uid !== undefined && role.name === undefined) {
      lines.add(`role ${role.uid}: its name and its capabilities are not known: ${why}`);
    } else if (role.capabilities === undefined && (role.uid !== undefined || after.entities.has(role.key))) {
      // A reference that leads nowhere yet is told where it stands.
      lines.add(`role ${role.name ?? labelByKey(after.entities, role.key)}: its capabilities are not known`);
    }
    if (subject.type === "identity" && subject.urn === undefined && subject.name === undefined) {
      lines.add(`identity ${subject.uid ?? subject.key}: who may assume it is not known: ${why}`);
    }
  }
  return [...lines];
}

/** Whether a preview leaves out unchanged resources. One may be the stack itself, which every preview counts. */
const mayOmitResources = ({ omittedUnchanged }: Preview): boolean => omittedUnchanged > 1;

/** Why the comparison does not see all that it should, a line each. */
function findGaps(
  { preview, before, inventory }: Sources,
  changes: readonly ResourceChange[],
  graphs: AccessGraphs,
): string[] {
  const isEmpty = graphs.before.entities.size + graphs.after.entities.size === 0;
  const covered = before !== undefined || inventory?.complete === true;
  const changed = changes.filter(({ op }) => op !== "same" && op !== "read");
  const changedReferents = changed.filter(
    (change) => isReferredTo(change.kind) && changesAccessFields(change),
  );
  const lacksUnchanged = preview.omittedUnchanged > 0 && !covered;
  const pending = before?.pendingOperations ?? 0;
  return [
    ...preview.problems,
    ...graphs.problems,
    ...(isEmpty && !mayOmitResources(preview)
      ? ["nothing was compared: the preview names no resource of the platform"]
      : []),
    ...(lacksUnchanged && changedReferents.length > 0
      ? [
          `resources that unchanged ones refer to change (${changedReferents
            .slice(0, 3)
            .map(({ urn }) => urnParts(urn ?? "").name)
            .join(
              ", ",
            )}), and the preview does not show the unchanged ones: write it with --show-sames, or give --before`,
        ]
      : []),
    ...(inventory === undefined ? [] : inventoryGaps(inventory)),
    ...changes
      .filter(({ isOfOtherKind }) => isOfOtherKind)
      .map(
        ({ kind, urn }) =>
          `${kind} ${urnParts(urn ?? "").name}: the object with the uid that the stack records is of another kind: import the stack's state again, or delete the resource from it (pulumi state delete)`,
      ),
    ...(pending > 0
      ? [
          `an update of the stack was interrupted, and its state does not say how ${pending === 1 ? "1 operation" : `${pending} operations`} ended: run pulumi refresh, export the state again (pulumi stack export), and review again`,
        ]
      : []),
  ];
}

/** @throws DocumentError where the two documents are of different stacks. */
function checkStacks({ preview, before }: Sources): void {
  if (before?.stack === undefined || preview.stack === undefined || before.stack === preview.stack) return;
  throw new DocumentError(
    "PP6004",
    `--before is an export of stack ${before.stack}, and the preview is of ${preview.stack}: give both of one stack`,
  );
}

/** What a reader of the comparison cannot know, a line each. */
function findUnresolved(
  { preview, inventory }: Sources,
  graphs: AccessGraphs,
  changes: readonly ResourceChange[],
  grants: readonly GrantChange[],
): string[] {
  const secrets = changes.flatMap(({ urn, kind, secretsMayHaveChanged }) =>
    secretsMayHaveChanged.map(
      (path) => `${kind} ${urnParts(urn ?? "").name}: ${path} is ${SECRET_MASK}: it may have changed`,
    ),
  );
  return [
    ...graphs.unresolved,
    ...unresolvedGrants(grants, graphs.after, inventory !== undefined),
    ...secrets,
    ...(mayOmitResources(preview)
      ? [
          `${preview.omittedUnchanged} unchanged resources are not shown, nor are changes of their options, such as ignoreChanges and protect: write the preview with --show-sames`,
        ]
      : []),
  ];
}

/** What lies between two graphs. */
export function compareSides(
  before: AccessGraph,
  after: AccessGraph,
  languages: Languages,
): Pick<Comparison, "grants" | "unchanged" | "groups"> {
  const { changes, unchanged } = diffGrants(before, after, languages);
  const grants = [...changes, ...changesByMoves(before, after)].sort((a, b) =>
    compareGrants(a.grant, b.grant),
  );
  return { grants, unchanged, groups: groupNodes(before.entities, after.entities) };
}

/** What lies between two graphs, and what an update does between them. */
function compareUpdate(
  before: AccessGraph,
  after: AccessGraph,
  languages: Languages,
  changes: readonly ResourceChange[],
): ReturnType<typeof compareSides> & Pick<Comparison, "meanwhile"> {
  const sides = compareSides(before, after, languages);
  const olds = changes.flatMap(({ op, before: old }) =>
    old !== undefined && (op === "update" || op === "replace" || op === "delete") ? [old] : [],
  );
  const { grants, meanwhile } = addMeanwhile(sides.grants, before, after, olds);
  const sorted = grants.sort((a, b) => compareGrants(a.grant, b.grant));
  return { ...sides, grants: sorted, meanwhile };
}

/**
 * The states that a preview shows of the stack: where a refresh changed one, both. Which of them count is told by the operations,
 * which the plan has too, and by nothing that a state says of itself. What a run replaces is marked for its delete in that run; what
 * it deletes and has that mark is the rest of an earlier one. What is only read is as the refresh says, where there is one.
 */
function recordedBefore({ steps }: Preview): RecordedResource[] {
  const refreshed = new Set(steps.flatMap(({ op, urn }) => (op === "refresh" ? [urn] : [])));
  return steps.flatMap((step) => {
    const { op, urn, before } = step;
    if (before === undefined || IMPORT.test(op) || (op === "read" && refreshed.has(urn))) return [];
    if (op === "delete" && before.pendingDelete) return [before];
    return decidedOp(step) === undefined ? [] : [{ ...before, pendingDelete: false }];
  });
}

/**
 * Compares access before and after what a preview foresees.
 *
 * @throws DocumentError where the documents are of different stacks.
 */
export function compare(sources: Sources): Comparison {
  checkStacks(sources);
  const { preview, before: recorded, inventory } = sources;
  const graphs = buildGraphs(planResources(preview.steps, recorded), inventory);
  const { before, after } = graphs;
  const languages = new Languages();
  const context = {
    before: createEffectSide(before.entities),
    after: createEffectSide(after.entities),
    languages,
  };
  const changes = graphs.changes.map((change) => changeOf(change, context));
  const sides = compareUpdate(before, after, languages, changes);
  const incomplete = findGaps(sources, changes, graphs);
  const comparison: Comparison = {
    stack: preview.stack ?? recorded?.stack,
    before,
    after,
    changes,
    ...sides,
    unresolved: findUnresolved(sources, graphs, changes, sides.grants),
    complete: incomplete.length === 0,
    incomplete,
    inventory,
    languages,
    recorded: recordedObjects(preview, recorded, inventory),
    record: digestRecord(recordedBefore(preview)),
  };
  const pairs = graphs.changes.map((planned, index) => [planned, changes[index] as ResourceChange] as const);
  const side =
    inventory === undefined ? undefined : recordedSide(graphs, pairs, context, mayOmitResources(preview));
  if (side === undefined) return comparison;
  const { kept, isFirstImport, ...own } = side;
  const ownSides = compareUpdate(own.before, own.after, languages, own.changes);
  const asRecorded = { ...comparison, ...own, ...ownSides };
  return { ...comparison, asRecorded: { comparison: asRecorded, kept, isFirstImport } };
}

/**
 * A change in the terms of the stack: what was changed by hand is as recorded on both sides, but for what the change makes
 * official, which is new in it. What was deleted by hand is there.
 */
interface RecordedSide {
  readonly before: AccessGraph;
  readonly after: AccessGraph;
  readonly changes: readonly ResourceChange[];
  readonly kept: readonly KeptChange[];
  readonly isFirstImport: boolean;
}

type Pair = readonly [PlannedChange, ResourceChange];

/** Whether a value that came by hand is still there after the change, as far as the two differ. */
function isKept({ path, added }: FieldEffect, later: readonly FieldEffect[]): boolean {
  const next = later.find((each) => each.path === path);
  if (next === undefined) return !later.some((each) => isPathWithin(path, each.path));
  return (added ?? []).some((member) => next.removed?.includes(member) !== true);
}

/** What somebody changed by hand of a managed object. */
function fieldsChangedByHand({ plan, recorded, before }: PlannedChange, context: EffectContext) {
  const spec = specs[recorded?.kind ?? ""];
  if (plan.op === "read" || spec === undefined || recorded === undefined || before === undefined) return [];
  if (recorded.external === true || before.inputs === recorded.inputs) return [];
  const normalized = plan.before?.outputs[NORMALIZED];
  const olds = { ...recorded.inputs, ...(normalized === undefined ? {} : { [NORMALIZED]: normalized }) };
  return describeEffects(spec, recorded.inputs, mergeLive(spec, olds, before.inputs).inputs, context);
}

/** Of what was changed by hand of a managed object, what is in the program from now on. */
function keptFields(
  byHand: readonly FieldEffect[],
  { plan, recorded, planned, before, after }: PlannedChange,
  context: EffectContext,
): readonly FieldEffect[] {
  const spec = specs[recorded?.kind ?? ""];
  if (spec === undefined || recorded === undefined || planned === undefined) return [];
  if (before === undefined || after === undefined) return [];
  // What a preview has refreshed is in the stack from the update on, also where the program changes nothing.
  if (plan.op === "same") return plan.unrefreshed === undefined ? [] : byHand;
  const effects = (old: Entity["inputs"], now: Entity["inputs"]) => describeEffects(spec, old, now, context);
  const [declared, later] = [effects(recorded.inputs, planned.inputs), effects(before.inputs, after.inputs)];
  return byHand.filter(
    (effect) =>
      declared.some(({ path }) => isPathWithin(path, effect.path) || isPathWithin(effect.path, path)) &&
      isKept(effect, later),
  );
}

/** An object of the server that no stack managed, and that the program takes over as it is. */
const isAdopted = ({ plan, before, after }: PlannedChange): boolean =>
  plan.op === "import" &&
  before !== undefined &&
  before.assumed !== true &&
  after !== undefined &&
  after.external !== true;

/** An object that somebody deleted, and that the program no longer declares: as the stack records it. */
const lostByHand = ({ plan, recorded, isMissing }: PlannedChange): Entity | undefined =>
  isMissing === true && (plan.op === "delete" || plan.op === "replace") ? recorded : undefined;

/** Whether the stack managed anything before: its first import may take over a whole organisation. */
const managesAnything = ({ plan, recorded }: PlannedChange): boolean =>
  plan.op !== "create" && plan.op !== "import" && recorded !== undefined && recorded.external !== true;

/** Names what a grant gives, to whom by their key, and to whom by the trust that lets them in: another identity may have the same. */
function tellGrants({ entities }: AccessGraph): (grant: Grant) => string[] {
  const trusts = textsOfTrusts(entities);
  return (grant) => {
    const trust = trusts.get(grant.subject.key);
    const sameTrust = trust && tupleOf({ ...grant, subject: { ...grant.subject, key: trust } });
    return [tupleOf(grant), ...(sameTrust === undefined ? [] : [sameTrust])];
  };
}

/** What a change grants that its resource did not grant before, with the change. */
function newGrants({ before, after }: AccessGraphs, pairs: readonly Pair[]): Map<string, ResourceChange> {
  const byUrn = new Map(pairs.map(([, change]) => [change.urn, change]));
  const grantOf = (grant: Grant): string => JSON.stringify([grant.urn, tupleOf(grant)]);
  const olds = new Set(before.grants.map(grantOf));
  const tell = tellGrants(after);
  return new Map(
    after.grants.flatMap((grant) => {
      const change = grant.urn === undefined ? undefined : byUrn.get(grant.urn);
      const isWritten = change !== undefined && change.op !== "same" && change.op !== "delete";
      return isWritten && change.after?.external !== true && !olds.has(grantOf(grant))
        ? tell(grant).map((key) => [key, change] as const)
        : [];
    }),
  );
}

/** The object as it was before somebody changed by hand what the program takes over. */
function asRecordedBefore(live: Entity, recorded: Entity, fields: readonly FieldEffect[]): Entity {
  const properties = fields.map(({ path }) => topProperty(path));
  const olds = Object.fromEntries(properties.map((key) => [key, recorded.inputs[key]]));
  return withInputs(live, { ...live.inputs, ...olds });
}

/** What the change leaves as somebody made it by hand is not its doing: the object as the stack records it. */
function asRecordedAfter(
  { recorded, before, after }: PlannedChange,
  left: readonly FieldEffect[],
): Entity | undefined {
  const spec = specs[recorded?.kind ?? ""];
  if (spec === undefined || recorded === undefined || before === undefined || after === undefined)
    return after;
  const isLeft = ({ path }: FieldEffect): boolean => {
    const key = topProperty(path);
    const field = spec.fields[key];
    return field !== undefined && equal(field, before.inputs[key], after.inputs[key]);
  };
  return asRecordedBefore(after, recorded, left.filter(isLeft));
}

/** Removes what no stack managed. What others refer to stays known: what they hold is not the doing of this change. */
function removeAdopted(entities: Map<string, Entity>, adopted: readonly Entity[]): void {
  for (const { key } of adopted) entities.delete(key);
  const referred = new Set<string>();
  for (const { kind, inputs } of entities.values()) {
    const spec = specs[kind];
    if (spec === undefined) continue;
    mapLeaves(spec, inputs, (value, leaf) => {
      if (isReference(leaf) && typeof value === "string") referred.add(value);
      return value;
    });
  }
  for (const entity of adopted) if (referred.has(entity.key)) entities.set(entity.key, entity);
}

/**
 * The change without what was done by hand, but for what it makes official. Undefined where nothing was done by hand.
 * @param mayManageMore whether the preview leaves out unchanged resources, which the stack may manage.
 */
function recordedSide(
  graphs: AccessGraphs,
  pairs: readonly Pair[],
  context: EffectContext,
  mayManageMore: boolean,
): RecordedSide | undefined {
  const [olds, news] = [graphs.before, graphs.after].map(({ entities }) => new Map(entities)) as [
    Map<string, Entity>,
    Map<string, Entity>,
  ];
  const kept = new Map<ResourceChange, readonly FieldEffect[]>();
  const losses = new Map<ResourceChange, Entity>();
  let isAnyByHand = false;
  for (const [planned, change] of pairs) {
    const byHand = fieldsChangedByHand(planned, context);
    const fields = keptFields(byHand, planned, context);
    const lost = lostByHand(planned);
    if (isAdopted(planned) || lost !== undefined || fields.length > 0) kept.set(change, fields);
    if (lost !== undefined) {
      losses.set(change, lost);
      olds.set(lost.key, lost);
    }
    const { before, recorded } = planned;
    const old = before && olds.get(before.key);
    if (old === undefined || recorded === undefined || byHand.length === 0) continue;
    isAnyByHand = true;
    olds.set(old.key, asRecordedBefore(old, recorded, byHand));
    const left = byHand.filter((effect) => !fields.includes(effect));
    const now = asRecordedAfter(planned, left);
    if (now !== undefined && news.has(now.key)) news.set(now.key, now);
  }
  const adopted = pairs.flatMap(([planned]) =>
    isAdopted(planned) && planned.before ? [planned.before] : [],
  );
  const declared = newGrants(graphs, pairs);
  const byHand = groupBy(
    graphs.before.grants.filter(({ urn, uid }) => urn === undefined && uid !== undefined),
    ({ uid = "" }) => [uid],
  );
  const tell = tellGrants(graphs.before);
  for (const [uid, grants] of byHand) {
    const owners = grants.map((grant) =>
      tell(grant)
        .map((key) => declared.get(key))
        .find((owner) => owner !== undefined),
    );
    const [entity, owner] = [olds.get(uid), owners[0]];
    if (entity === undefined || owner === undefined || owners.includes(undefined)) continue;
    adopted.push(entity);
    if (!kept.has(owner)) kept.set(owner, []);
  }
  if (kept.size === 0 && !isAnyByHand) return undefined;
  removeAdopted(olds, adopted);
  const side = { ...context, before: createEffectSide(olds), after: createEffectSide(news) };
  const changes = pairs.map(([planned, change]): ResourceChange => {
    const spec = specs[change.kind];
    const before = change.before && olds.get(change.before.key);
    const after = change.after && news.get(change.after.key);
    const lost = losses.get(change);
    if (lost !== undefined) return { ...change, before: lost };
    if (isAdopted(planned)) return { ...change, op: "create", before: undefined };
    if (spec === undefined || before === undefined) return change;
    if (before === change.before && after === change.after) return change;
    if (after === undefined) return { ...change, before };
    const fields = describeEffects(spec, before.inputs, after.inputs, side);
    const op = change.op === "same" && kept.has(change) ? "update" : change.op;
    return { ...change, op, before, after, fields };
  });
  return {
    before: graphOf(olds),
    after: graphOf(news),
    changes,
    kept: [...kept].map(([change, fields]): KeptChange => {
      const lost = losses.get(change);
      return lost === undefined ? { change, fields } : { change, fields, lost };
    }),
    isFirstImport: !mayManageMore && !pairs.some(([planned]) => managesAnything(planned)),
  };
}

/** What an import shows as the state before is what the program's own provider read. */
const IMPORT = /^import/;

function toRecordedEntity(kind: string, uid: string, inputs: Entity["inputs"]): Entity {
  const { name } = inputs;
  const isName = typeof name === "string" && name !== "" && name !== SECRET_MASK && !isUnknown(name);
  return { key: uid, kind, uid, ...(isName ? { name } : {}), inputs, secretPaths: [] };
}

/**
 * The objects that exist before a change, by uid. What an inventory lists is as it says; an exported state, and then the old
 * states of a preview, describe what no inventory lists. Nothing here comes from the program under review.
 */
export function recordedObjects(
  preview: Preview,
  before: StateExport | undefined,
  inventory: Inventory | undefined,
): Entities {
  const objects = new Map<string, Entity>();
  const add = (kind: string | undefined, uid: string | undefined, inputs: Entity["inputs"]): void => {
    const spec = specs[kind ?? ""];
    if (kind === undefined || uid === undefined || spec === undefined || spec.sharesParentUid) return;
    if (!objects.has(uid)) objects.set(uid, toRecordedEntity(kind, uid, inputs));
  };
  const addResource = ({ kind, id, inputs, outputs }: RecordedResource): void => {
    // What an inventory would contain, and does not, does not exist.
    if (inventory !== undefined && listsObject(inventory, kind ?? "", id ?? "")) return;
    // A state records no inputs of a resource that `.get` read.
    add(kind, id, Object.keys(inputs).length > 0 ? inputs : outputs);
  };
  for (const { kind, uid, inputs } of inventory?.objects ?? []) add(kind, uid, inputs);
  for (const resource of before?.resources ?? []) addResource(resource);
  for (const { op, before: old } of preview.steps) if (old && !IMPORT.test(op)) addResource(old);
  return objects;
}

/** Fields of a key set or of an end: by an added key or a later end nobody loses what they sign in with. */
export const isCredential = (kind: string, path: string): boolean =>
  pathsMeant(kind, "trust.keys").includes(path) || expiries(kind).some((field) => field.path === path);

const expiries = fieldsWhere((field) => ownEffect(field) === "expiry");

/** The fields of a change by which somebody who could sign in may be unable to. */
export function fieldsThatLockOut({ op, kind, before, after, fields }: ResourceChange): FieldEffect[] {
  if (op !== "update" && op !== "replace") return [];
  return fields.filter(({ path, direction }) => {
    if (direction === "neutral" || !isAccessField(kind, path)) return false;
    // A trust that widens may accept others than before.
    if (direction !== "widened" || !isCredential(kind, path)) return true;
    const [old, now] = [before, after].map((side) => textAtPath(side?.inputs, path));
    // Compared the other way round, a set that keeps each old key only shrinks.
    return pathsMeant(kind, "trust.keys").includes(path) && compareKeys(now, old).direction !== "narrowed";
  });
}

/**
 * The grants of before that are there until everything new is made, with what their roles keep. What replaces a resource, or
 * takes a grant or a capability away, may do so before the same is given elsewhere, and the update may fail in between. A resource
 * that only goes is deleted last.
 */
export function listLasting({
  before,
  changes,
  after,
}: Pick<Comparison, "before" | "changes" | "after">): Grant[] {
  // By uid too: what was made by hand has no urn before it is adopted.
  const changed = new Map(
    changes.flatMap((change) =>
      [change.urn, change.before?.urn, change.before?.uid].flatMap((key) =>
        key === undefined ? [] : [[key, change] as const],
      ),
    ),
  );
  const written = new Set(
    changes.flatMap(({ op, after: entity }) =>
      entity !== undefined && (op === "update" || op === "replace") ? [entity.key] : [],
    ),
  );
  /** By its resource or uid: whom it is for, and where. A role that is exchanged in place is so in one request. */
  const places = ({ urn, uid, subject, group }: Grant): string[] =>
    [urn, uid].flatMap((by) => (by === undefined ? [] : [JSON.stringify([by, subject.key, group.key])]));
  let kept: ReadonlyMap<string, readonly Grant[]> | undefined;
  /** The role that a grant has until the end, its own or another one in its place. */
  const roleLeft = (grant: Grant): GrantedRole | undefined => {
    const { op, isLeftOnServer } = changed.get(grant.urn ?? "") ?? changed.get(grant.uid ?? "") ?? {};
    if (op === "replace") return isLeftOnServer === true ? grant.role : undefined;
    // A resource that only goes is deleted last; one that is made may adopt the object.
    if (op === undefined || op === "delete" || op === "same") return grant.role;
    const now = (kept ??= groupBy(after.grants, places));
    const roles = places(grant).flatMap((place) => now.get(place)?.map(({ role }) => role) ?? []);
    return roles.some(({ key }) => key === grant.role.key) ? grant.role : roles[0];
  };
  return before.grants.flatMap((grant) => {
    const [role, left] = [grant.role, roleLeft(grant)];
    if (left === undefined) return [];
    const isOther = left.key !== role.key;
    if (!isOther && !written.has(role.key)) return [grant];
    const now = isOther ? left.capabilities : readRoleCapabilities(after.entities.get(role.key));
    if (!isOther && now === undefined) return [grant];
    const capabilities = role.capabilities?.filter((each) => now?.includes(each));
    return [{ ...grant, role: { ...left, capabilities } }];
  });
}

/**
 * Answers whether a holder's grant may come after the grants of holders of before are gone: the update may end in between.
 *
 * @param then A grant of each holder of before.
 * @param isLasting Whether a holder of before holds it until everything new is made, by key.
 */
export function createLate(
  then: readonly Grant[],
  isLasting: (holder: string) => boolean,
): (now: Grant) => boolean {
  const held = new Set(then.map(({ subject }) => subject.key));
  const brief = then.filter(({ subject }) => !isLasting(subject.key));
  return ({ subject, urn }) =>
    held.has(subject.key) ? !isLasting(subject.key) : brief.some((old) => old.urn !== urn);
}

/**
 * Why nobody can say that a holder can sign in after a change: its trust, or that of its directory, is new, another one or
 * narrower; or an earlier change may have locked it out, since it has not signed in with what it trusts now.
 */
export type SignInDoubt = "changed" | "unseen";

/** A write within so long of the last sign-in is not after it: the clocks of the server may differ. */
const SAME_TIME_NANOS = 60_000_000_000n;

/** Answers whether an identity has not signed in since it was written last, as far as the inventory tells. */
function createUnseen(inventory: Inventory | undefined): (holder: Subject) => boolean {
  const objects = (inventory?.objects ?? []).filter(({ kind }) => accessKinds[kind]?.assumable === true);
  const byUid = new Map(objects.map((object) => [object.uid, object]));
  const isEachTold = objects.some(({ lastSeenTime }) => lastSeenTime !== undefined);
  return ({ uid = "" }) => {
    const object = byUid.get(uid);
    if (object === undefined) return false;
    const { updateTime = "", lastSeenTime, createTime } = object;
    if (lastSeenTime === undefined && isEachTold) return true;
    // Of a server that tells of no sign-in: whether it was written after it was made.
    const [written, seen] = [timestampNanos(updateTime), timestampNanos(lastSeenTime ?? createTime ?? "")];
    return written !== undefined && seen !== undefined && written - seen > SAME_TIME_NANOS;
  };
}

/** Answers why nobody can say that a holder can sign in after a change; undefined for one that surely can. */
export function createSignInDoubt({
  before,
  after,
  changes,
  drift,
  inventory,
}: Pick<Comparison, "before" | "after" | "changes" | "drift" | "inventory">): (
  holder: Subject,
) => SignInDoubt | undefined {
  const changed = new Set(
    changes.flatMap((change) =>
      change.after !== undefined && fieldsThatLockOut(change).length > 0 ? [change.after.key] : [],
    ),
  );
  const isUnseen = createUnseen(inventory);
  let trusts:
    { readonly before: ReadonlySet<string>; readonly after: ReadonlyMap<string, string> } | undefined;
  const isNewTrust = (key: string): boolean => {
    trusts ??= {
      before: new Set(textsOfTrusts(before.entities).values()),
      after: textsOfTrusts(after.entities),
    };
    const trust = trusts.after.get(key);
    return trust === undefined || !trusts.before.has(trust);
  };
  let held: ReadonlySet<string> | undefined;
  return (holder) => {
    const { key, type } = holder;
    if (type === "service" || type === "externalGroup") {
      held ??= new Set(before.grants.map(({ subject }) => subject.key));
      // Whether anybody is in a group, or whether the platform has a service, no document tells.
      if (drift === undefined && !held.has(key)) return "changed";
    }
    // A service of the platform signs in by nothing that a program says.
    if (type === "service") return undefined;
    const keys = [key, ownerOf(key) ?? ""].map(withoutRetained);
    if (keys.some((each) => changed.has(each))) return "changed";
    const isNew =
      keys.some((each) => after.entities.has(each)) && !keys.some((each) => before.entities.has(each));
    // What drift finds on one side only is in no program, and may be older than all.
    if (drift === undefined && isNew && isNewTrust(key)) return "changed";
    return isUnseen(holder) ? "unseen" : undefined;
  };
}
