import { aggregatedKind, isReadAs } from "../../fields/resourceSpec";
import type { ResourceSpec } from "../../fields/resourceSpec";
import { compareTexts, groupBy } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { limitLines, listFirst } from "../../text/plain";
import { parentOf } from "../../text/uid";
import type { Inventory, InventoryObject } from "../documents/inventory";
import { specs } from "../documents/specs";
import type { StateExport } from "../documents/stateExport";
import { describeEffects, createEffectContext, mayWiden } from "../effects";
import type { EffectContext, EffectSide } from "../effects";
import { bindingsOfOwners, isBindingOf } from "../graph/accessKinds";
import { graphOf } from "../graph/resolveGrants";
import { Directory } from "../graph/directory";
import { entityOfObject, toEntity, entityKey, saidByProgram } from "../graph/entities";
import { wholeOf } from "../graph/entityKeys";
import { NOT_IN_PROGRAM, isGain, pathIn, roleOn, tupleOf } from "../graph/grant";
import type { Grant } from "../graph/grant";
import type { Entities, Entity } from "../graph/model";
import { mapReferences, listReferences } from "../graph/inputLeaves";
import type { Coverage, DriftReport, ManagedCount } from "../report/report";
import type { Rules } from "../report/reviewReport";
import { compareSides, unresolvedGrants } from "../review/compare";
import type { Comparison, ResourceChange } from "../review/compare";
import { findLastOwners, isOwnerOfRoot } from "../rules/facts";
import type { OwnRule } from "../rules/ownRules";
import { grantLine } from "../rules/wording";
import type { Suppressor } from "../suppressions/applyPolicy";
import { PatternComparer } from "../trust/patternComparer";
import { DifferenceDescriber, maskSecrets, stackCommand } from "./differenceDescriber";
import { findingOf, reportDifference, reportDrift, sortDriftFindings } from "./driftReport";
import {
  ComparisonScope,
  DriftNotes,
  ManagedResources,
  StateComparison,
  findUnmanaged,
  isUndeclarable,
} from "./stateComparison";
import type {
  ChangedResources,
  ComparedResource,
  DetectedDifference,
  ManagedResource,
} from "./stateComparison";

/** Which findings decide the exit code. */
export const driftThresholds = ["any", "widened", "unmanaged", "never"] as const;
export type DriftThreshold = (typeof driftThresholds)[number];

/** The input of a drift run. */
export interface DriftRequest {
  /** What each stack records. Without any, `since` is compared. */
  readonly states: readonly StateExport[];
  /** The live organisation: one document for each root. */
  readonly inventories: readonly Inventory[];
  /** Older inventories of the same roots: they date a difference. */
  readonly since?: readonly Inventory[];
  readonly failOn: DriftThreshold;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly version: string;
  /** The risk rules; none run without them. */
  readonly rules?: Rules;
  /** Those of them that are the organisation's own, for the report. */
  readonly ownRules?: readonly OwnRule[];
  /** Restricts the run to what events name, and who changed that. */
  readonly changed?: ChangedResources;
  /** Whether resources below other groups are left out on purpose, and do not make the run incomplete. */
  readonly isPartial?: boolean;
  /** Applies the policy file. */
  readonly suppress?: Suppressor;
}

interface Countable {
  readonly isManaged: boolean;
}

const countAll = (objects: readonly Countable[]): ManagedCount => ({
  managed: objects.filter(({ isManaged }) => isManaged).length,
  total: objects.length,
});

/** How many of the objects of each key are managed. */
const countManaged = <T extends Countable>(objects: readonly T[], keyOf: (object: T) => string) =>
  [...groupBy(objects, (object) => [keyOf(object)])]
    .sort(([a], [b]) => compareTexts(a, b))
    .map(([key, all]) => [key, countAll(all)] as const);

function sideOfDirectory({ capabilities }: Directory): EffectSide {
  return { findName: (uid) => uid, findCapabilities: capabilities };
}

/** How many lines say what an object gives that no stack manages. */
const MOST_GIVEN = 6;

const LAST_OWNER_ADVICE = "adopt it into a program, or suppress it; bind a second owner before you remove it";

/** A difference without the command that would delete the last owner of a root group, or what makes it one. */
function keepLastOwner(
  difference: DetectedDifference,
  lastOwners: ReturnType<typeof findLastOwners>,
): DetectedDifference {
  const { what, uid, details } = difference;
  const root = what === "unmanaged" ? lastOwners.get(uid) : undefined;
  if (root === undefined) return difference;
  return {
    ...difference,
    revert: undefined,
    advice: LAST_OWNER_ADVICE,
    details: [...details, `not to be deleted: without it ${pathIn(root.path)} has no owner`],
  };
}

/**
 * Adds the grants that name the object of a difference now: by them an object gives what no stack manages, and one that is
 * restored gives more again. The rest of the report takes them as unchanged.
 */
function createGiving({ after, grants }: Comparison, effects: EffectContext) {
  const byKey = groupBy(after.grants, ({ subject, role }) => [subject.key, wholeOf(subject.key), role.key]);
  const gained = new Set(grants.filter(isGain).map(({ grant }) => tupleOf(grant)));
  return (difference: DetectedDifference): DetectedDifference => {
    const { what, spec, managed, direction, before, after: now, details } = difference;
    const key = keyOfDifference(difference);
    const naming = byKey.get(key) ?? [];
    if (naming.length === 0) return difference;
    if (what === "unmanaged" && mayWiden(direction)) {
      const given = naming.filter((grant) => !gained.has(tupleOf(grant)));
      const lines = [...new Set(given.map((grant) => `it gives: ${grantLine(grant)}`))];
      return { ...difference, details: [...details, ...limitLines(lines, MOST_GIVEN)] };
    }
    if (what !== "changed" || managed === undefined || before === undefined || now === undefined)
      return difference;
    const directions = describeEffects(spec, now, before, effects).map((each) => each.direction);
    if (!directions.some(mayWiden)) return difference;
    const gives = directions.includes("widened") ? "gives" : "may give";
    // Whom an identity trusts is another one then.
    const lineOf = (grant: Grant): string => (grant.role.key === key ? grantLine(grant) : roleOn(grant));
    const lines = [...new Set(naming.map(lineOf))].sort();
    return {
      ...difference,
      details: [...details, `to restore it ${gives} access by ${listFirst(lines, 3)}`],
    };
  };
}

/** What a run compares by. */
export interface DriftRun {
  readonly directory: Directory;
  readonly scope: ComparisonScope;
  readonly describer: DifferenceDescriber;
  readonly effects: EffectContext;
  readonly notes: DriftNotes;
  readonly managed: ManagedResources;
}

/** What a run has found. */
interface DriftFound {
  readonly differences: readonly DetectedDifference[];
  /** The resources of the states that were compared. */
  readonly resources: readonly ComparedResource[];
  /** How many objects were compared. */
  readonly compared: number;
}

/** The differences, where the command that restores what refers to a deleted object restores that too: by itself it fails. */
function withReferred(differences: readonly DetectedDifference[]): readonly DetectedDifference[] {
  const deleted = new Map(
    differences.flatMap(({ what, uid, managed }) =>
      what === "deleted" && managed !== undefined ? [[uid, managed] as const] : [],
    ),
  );
  const referredBy = (first: ManagedResource): ManagedResource[] => {
    const found = new Set([first]);
    for (const { spec, resource } of found)
      for (const uid of listReferences(spec, resource.inputs)) {
        const referred = deleted.get(uid);
        if (referred?.stackName === first.stackName) found.add(referred);
      }
    return [...found].slice(1);
  };
  return differences.map((difference) => {
    const { managed, revert } = difference;
    if (managed === undefined) return difference;
    const { resource, stackName } = managed;
    const urns = referredBy(managed).map((referred) => referred.resource.urn);
    const isRestored = revert === stackCommand("revert", resource.urn, stackName);
    return urns.length === 0 || !isRestored
      ? difference
      : { ...difference, revert: stackCommand("revert", resource.urn, stackName, ...urns) };
  });
}

/** Compares what states record with the live organisation. */
async function compareStates(run: DriftRun): Promise<DriftFound> {
  const states = new StateComparison(run);
  await states.run();
  const read = new Set(
    states.compared.filter(({ after }) => after !== undefined).map(({ managed }) => managed),
  );
  const isOwned = createOwnedCheck(states.compared, "after");
  const unmanaged = findUnmanaged(
    run,
    ({ kind, uid }) => run.managed.ownersOf(kind, uid).length === 0,
    false,
    // Whoever makes an identity chooses its name, and so whether a pattern of names ignores its bindings.
    (object, owner) => read.has(owner) && !isOwned(entityOfObject(object)),
  );
  const differences = [...withReferred(states.differences), ...unmanaged];
  return { differences, resources: states.compared, compared: states.compared.length };
}

/** The version of an object, which tells of a token that was made anew and ends as the one before. */
const versionOf = (spec: ResourceSpec): ResourceSpec => ({
  ...spec,
  fields: isReadAs(spec, "etag") ? { etag: { type: "string", access: "permission" } } : {},
  oneOfs: [],
});

/** Notes what only one of two inventories of a group lists: what came or went there is not seen. */
function noteUnlisted(older: Directory, newer: Directory, notes: DriftNotes): void {
  for (const { root, kinds, refused } of older.inventories) {
    const others = newer.inventoryOf(root)?.kinds ?? [];
    for (const kind of [...kinds, ...others]) {
      if (kinds.includes(kind) && others.includes(kind)) continue;
      notes.incomplete.add(
        `${specs[kind]?.noun ?? kind}: not compared: only one of the inventories contains it`,
      );
    }
    for (const { kind } of refused) {
      notes.incomplete.add(
        `${specs[kind]?.noun ?? kind}: what is new is not seen: the older inventory lacks its list, or a part of it`,
      );
    }
  }
}

/** Compares an older inventory with a newer one, whoever manages the objects. */
function compareInventories(run: DriftRun, older: Directory): DriftFound {
  const { directory, describer, notes } = run;
  const effects = { ...run.effects, before: sideOfDirectory(older) };
  noteUnlisted(older, directory, notes);
  const differences: DetectedDifference[] = [];
  let compared = 0;
  for (const object of older.all()) {
    const { kind, uid, inputs, builtIn } = object;
    const spec = specs[kind];
    if (spec === undefined) continue;
    const now = directory.find(kind, uid);
    if (now === undefined && (builtIn !== undefined || !directory.lists(kind, uid))) continue;
    compared += 1;
    if (now === undefined) {
      differences.push(describer.describeDeleted(spec, uid, inputs));
      continue;
    }
    const changes = [
      ...describeEffects(spec, inputs, now.inputs, effects),
      ...describeEffects(versionOf(spec), object.details ?? {}, now.details ?? {}, effects),
    ];
    const sides = { before: inputs, after: now.inputs };
    if (changes.length > 0) differences.push(describer.describeChanged(spec, uid, changes, sides));
  }
  /** Whether an object was created after the older inventory. */
  const isNew = ({ kind, uid }: InventoryObject): boolean =>
    older.lists(kind, uid) && older.find(kind, uid) === undefined;
  return { differences: [...differences, ...findUnmanaged(run, isNew, true)], resources: [], compared };
}

/** Measures what share of the live organisation its programs declare, of all that a program can declare. */
function measureCoverage(
  { directory, managed, scope }: DriftRun,
  resources: readonly ComparedResource[],
): Coverage {
  const isDeclared = createOwnedCheck(resources, "before");
  const objects = [...directory.all()].flatMap((object) => {
    const { kind, uid } = object;
    const spec = specs[kind];
    if (spec === undefined || isUndeclarable(spec, object, scope)) return [];
    const isManaged = managed.ownersOf(kind, uid).length > 0 || isDeclared(entityOfObject(object));
    return [{ kind, group: (spec.sharesParentUid ? uid : parentOf(uid)) ?? "", isManaged }];
  });
  const groups = countManaged(objects, ({ group }) => group);
  return {
    ...countAll(objects),
    byKind: countManaged(objects, ({ kind }) => kind).map(([kind, count]) => ({ kind, ...count })),
    byGroup: groups.map(([uid, count]) => ({ uid, path: directory.pathOf(uid), ...count })),
  };
}

/**
 * Compares what stacks record with the live organisation: what was changed, what was deleted, what no stack manages, and
 * what two resources manage. An object has changed only if the provider's own diff of the recorded arguments and the live
 * ones says so. Without stacks it compares an older inventory.
 */
export async function findDrift(request: DriftRequest): Promise<DriftReport> {
  const { inventories, since, states, now } = request;
  const notes = new DriftNotes();
  const directory = new Directory(inventories);
  const older = since && new Directory(since);
  const [side, comparer] = [sideOfDirectory(directory), new PatternComparer()];
  const scope = new ComparisonScope(request, directory, notes);
  const describer = new DifferenceDescriber(directory, older, now);
  const managed = new ManagedResources(states, notes);
  const effects = { before: side, after: side, comparer };
  const run: DriftRun = { directory, scope, describer, effects, notes, managed };
  for (const { kind, scope: group, code, message } of inventories.flatMap(({ refused }) => refused)) {
    const at = group === undefined ? "" : ` at ${directory.pathOf(group)}`;
    notes.incomplete.add(`${specs[kind]?.noun ?? kind}${at}: not compared: ${code}: ${message}`);
  }
  const nothing: DriftFound = { differences: [], resources: [], compared: 0 };
  const found =
    states.length > 0
      ? await compareStates(run)
      : older === undefined
        ? nothing
        : compareInventories(run, older);
  if (found.compared === 0 && request.changed === undefined) {
    notes.incomplete.add(
      "nothing was compared: the states contain no resource of this package below the groups of the inventories",
    );
  }
  return buildReport(request, run, found);
}

function buildReport(request: DriftRequest, run: DriftRun, found: DriftFound): DriftReport {
  const { notes, scope } = run;
  const { differences: all, resources, compared } = found;
  const comparison = compareDrift(run, found);
  const { hierarchy } = comparison.after;
  const lastOwners = findLastOwners(comparison.after);
  const byFinding = new Map(
    all
      .map(createGiving(comparison, run.effects))
      .map((difference) => keepLastOwner(difference, lastOwners))
      .map((difference) => [findingOf(difference), difference]),
  );
  const risks = (request.rules?.(comparison) ?? []).map((risk) =>
    risk.grant !== undefined && isOwnerOfRoot(risk.grant, hierarchy) && lastOwners.has(risk.grant.uid ?? "")
      ? { ...risk, advice: LAST_OWNER_ADVICE }
      : risk,
  );
  const times = new Map(all.map(({ uid, at }) => [uid, at ?? ""]));
  const findings = sortDriftFindings(
    [...byFinding.keys(), ...risks],
    ({ uid, grant }) => times.get(uid ?? "") ?? times.get(grant?.uid ?? "") ?? "",
  );
  const differences = findings.flatMap((finding) => {
    const difference = byFinding.get(finding);
    return difference === undefined ? [] : [reportDifference(difference, finding, request)];
  });
  const coverage =
    request.states.length > 0 && scope.isComplete ? measureCoverage(run, resources) : undefined;
  const old = new Set(all.flatMap(({ uid, mayBeOlder }) => (mayBeOlder === true ? [uid] : [])));
  const grants = comparison.grants.map((change) =>
    change.change === "gained" && old.has(change.grant.uid ?? "")
      ? { ...change, reason: NOT_IN_PROGRAM }
      : change,
  );
  const worded = { ...comparison, grants };
  return reportDrift({ request, notes, comparison: worded, compared, findings, differences, coverage });
}

function keyOfManaged({ spec, uid, resource }: ManagedResource): string {
  return entityKey(spec.kind, uid, resource.inputs["parentUid"]);
}

/** The key of the object that a difference is about. */
const keyOfDifference = ({ spec, uid, managed, before, after }: DetectedDifference): string =>
  managed === undefined ? entityKey(spec.kind, uid, (before ?? after)?.["parentUid"]) : keyOfManaged(managed);

/** A managed resource with the arguments of one side. */
function entityOfManaged(managed: ManagedResource, inputs: Props, side: "before" | "after"): Entity {
  const { spec, uid, resource } = managed;
  const shown = maskSecrets(managed, inputs);
  const read = { ...resource, kind: spec.kind, ...shown };
  return toEntity(read, { key: keyOfManaged(managed), uid, side });
}

/** Tells whether resources that own all bindings of a group have all that an object grants, on one side of the comparison. */
function createOwnedCheck(
  resources: readonly ComparedResource[],
  side: "before" | "after",
): (object: Entity) => boolean {
  const owned = bindingsOfOwners(
    resources.flatMap(({ managed, [side]: inputs }) => {
      const { resource, spec, uid } = managed;
      if (aggregatedKind(spec) === undefined || inputs === undefined) return [];
      const complete = { ...resource, kind: spec.kind, inputs, secretPaths: [] };
      return [toEntity(complete, { key: keyOfManaged(managed), uid, side })];
    }),
  );
  return (object) => isBindingOf(owned, object);
}

/** The access graphs of both sides: the live organisation with each difference undone, and as it is. */
function buildDriftGraphs({ directory }: DriftRun, { resources, differences }: DriftFound) {
  const isOwned = createOwnedCheck(resources, "after");
  // What owns all bindings of its group stands for them.
  const live = [...directory.all()].map(entityOfObject).filter((entity) => !isOwned(entity));
  const after = new Map(live.map((entity) => [entity.key, entity]));
  for (const { managed, after: inputs } of resources) {
    if (inputs === undefined) continue;
    // As before, so that a value that nobody can read is the same one on both sides.
    const read = entityOfManaged(managed, inputs, "before");
    const { details, lastSeenTime, ...object } = after.get(read.key) ?? read;
    const known = managed.resource.secretPaths.length > 0 ? read : { ...object, ...saidByProgram(read) };
    after.set(read.key, { ...known, details, lastSeenTime });
  }
  const before = new Map(after);
  for (const difference of differences) applyDifference(difference, before, after);
  // Puts back what no program manages where a resource of a program refers to it: it was there when the resource was
  // recorded, and without it an unchanged grant would look like a new one.
  for (let added = -1; added !== 0;) {
    added = 0;
    for (const entity of [...before.values()]) {
      for (const key of listReferences(specs[entity.kind], entity.inputs)) {
        const live = after.get(key);
        if (live === undefined || before.has(live.key)) continue;
        before.set(live.key, live);
        added += 1;
      }
    }
  }
  // Clears references to objects that no longer exist, since they grant no access.
  const deletedUids = new Set<Json | undefined>(
    differences.filter(({ what, spec }) => what === "deleted" && !spec.sharesParentUid).map(({ uid }) => uid),
  );
  for (const [key, entity] of deletedUids.size === 0 ? [] : after) {
    const inputs = mapReferences(specs[entity.kind], entity.inputs, (value) =>
      deletedUids.has(value) ? "" : value,
    );
    after.set(key, { ...entity, inputs });
  }
  return { before, after };
}

/** Undoes a difference in the graph before it, and masks secrets in the graph after it. */
function applyDifference(
  difference: DetectedDifference,
  allBefore: Map<string, Entity>,
  allAfter: Map<string, Entity>,
): void {
  const { what, spec, uid, managed, before, after } = difference;
  if (what === "contested") return;
  const key = keyOfDifference(difference);
  const live = allAfter.get(key);
  const entityBefore = (inputs: Props): Entity =>
    managed === undefined
      ? entityOfObject({ kind: spec.kind, uid, inputs })
      : entityOfManaged(managed, inputs, "before");
  if (before === undefined) allBefore.delete(key);
  else allBefore.set(key, entityBefore(before));
  if (managed !== undefined && after !== undefined) {
    const now = entityOfManaged(managed, after, "after");
    const details = live?.details ?? now.details;
    allAfter.set(key, { ...now, details, lastSeenTime: live?.lastSeenTime });
  }
}

const operationOf = { changed: "update", deleted: "delete", unmanaged: "create" } as const;

/** The changes of resources that lead from one graph to the other. */
function listResourceChanges(
  differences: readonly DetectedDifference[],
  before: Entities,
  after: Entities,
  context: EffectContext,
): ResourceChange[] {
  return differences.flatMap((difference): ResourceChange[] => {
    const { what, spec, managed } = difference;
    if (what === "contested") return [];
    const key = keyOfDifference(difference);
    const [old, now] = [before.get(key), after.get(key)];
    const effects = { ...context, secretPaths: managed?.resource.secretPaths };
    return [
      {
        op: operationOf[what],
        kind: spec.kind,
        urn: managed?.resource.urn,
        before: old,
        after: now,
        fields:
          old === undefined || now === undefined
            ? []
            : describeEffects(spec, old.inputs, now.inputs, effects),
        secretsMayHaveChanged: [],
      },
    ];
  });
}

/** The objects that a suppression may name, by uid: those that programs declare, and those that did not change. */
function objectsByUid(before: Entities): Map<string, Entity> {
  const objects = [...before.values()].filter(
    ({ uid, kind }) => uid !== undefined && specs[kind]?.sharesParentUid !== true,
  );
  return new Map(objects.map((entity) => [entity.uid ?? "", entity]));
}

/**
 * Compares access as a review does: before is the live organisation with every difference undone, after is the live
 * organisation.
 */
function compareDrift(run: DriftRun, found: DriftFound): Comparison {
  const { directory, notes, scope } = run;
  const { comparer } = run.effects;
  const graphs = buildDriftGraphs(run, found);
  const [before, after] = [graphOf(graphs.before), graphOf(graphs.after)];
  const context = createEffectContext(graphs.before, graphs.after, comparer);
  const compared = compareSides(before, after, comparer);
  return {
    before,
    after,
    changes: listResourceChanges(found.differences, before.entities, after.entities, context),
    ...compared,
    unresolved: unresolvedGrants(compared.grants, after, directory.inventories.length > 0),
    complete: scope.isComplete && notes.incomplete.size === 0,
    incomplete: [],
    inventories: directory.inventories,
    existing: objectsByUid(before.entities),
    comparer,
    drift: true,
  };
}
