import { objectKey, aggregatedKind } from "../../fields/resourceSpec";
import { compareTexts, groupBy } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { parentOf } from "../../text/uid";
import type { Inventory, InventoryObject } from "../documents/inventory";
import { specs } from "../documents/specs";
import type { StateExport } from "../documents/stateExport";
import { describeEffects, createEffectContext } from "../effects";
import type { EffectContext, EffectSide } from "../effects";
import { bindingKeys, graphOf, GroupHierarchy } from "../graph/accessKinds";
import { Directory } from "../graph/directory";
import { entityOfObject, toEntity, entityKey } from "../graph/entities";
import type { Entities, Entity } from "../graph/model";
import { mapReferences, listReferences } from "../graph/references";
import type { Coverage, DriftReport, ManagedCount } from "../report/report";
import type { Rules } from "../report/reviewReport";
import { compareSides, unresolvedGrants } from "../review/compare";
import type { Comparison, ResourceChange } from "../review/compare";
import type { Finding } from "../review/finding";
import { findLastOwners, isOwnerOfRoot } from "../rules/facts";
import type { OwnRule } from "../rules/ownRules";
import type { SuppressionResult } from "../suppressions/applyPolicy";
import { PatternComparer } from "../trust/patternComparer";
import { DifferenceDescriber, maskSecrets } from "./differenceDescriber";
import { findingOf, reportDifference, reportDrift, sortDriftFindings } from "./driftReport";
import {
  ComparisonScope,
  DriftNotes,
  ManagedResources,
  StateComparison,
  UnmanagedObjects,
  isUndeclarable,
} from "./stateComparison";
import type { ComparedResource, DetectedDifference, ManagedResource } from "./stateComparison";

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
  /** Restricts the run to these uids. */
  readonly onlyUids?: ReadonlySet<string>;
  /** Who changed the object of a uid. */
  readonly actors?: ReadonlyMap<string, string>;
  /** Whether resources below other groups are left out on purpose, and do not make the run incomplete. */
  readonly isPartial?: boolean;
  /** Applies the policy file. `isComplete`: everything was compared. */
  readonly suppress?: (
    findings: readonly Finding[],
    isComplete: boolean,
    comparison: Comparison,
  ) => SuppressionResult;
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

/** Compares an older inventory with a newer one, whoever manages the objects. */
class InventoryComparison {
  readonly differences: DetectedDifference[] = [];
  compared = 0;
  private readonly kinds: ReadonlySet<string>;
  private readonly refused: ReadonlySet<string>;

  constructor(
    private readonly older: Directory,
    private readonly directory: Directory,
    private readonly scope: ComparisonScope,
    private readonly describer: DifferenceDescriber,
    private readonly effects: EffectContext,
  ) {
    this.kinds = new Set(older.inventories.flatMap(({ kinds }) => kinds));
    this.refused = new Set(older.inventories.flatMap(({ refused }) => refused.map(({ kind }) => kind)));
  }

  run(notes: DriftNotes): void {
    for (const kind of this.kinds) {
      if (this.directory.inventories.every(({ kinds }) => kinds.includes(kind))) continue;
      notes.incomplete.add(
        `${specs[kind]?.noun ?? kind}: not compared: only one of the inventories contains it`,
      );
    }
    for (const object of this.older.all()) this.compare(object);
  }

  /** Whether an object was created after the older inventory. */
  isNew({ kind, uid }: InventoryObject): boolean {
    return this.kinds.has(kind) && !this.refused.has(kind) && this.older.find(kind, uid) === undefined;
  }

  private compare(older: InventoryObject): void {
    const { kind, uid, inputs, builtIn } = older;
    const spec = specs[kind];
    if (spec === undefined || !this.scope.includes(spec, uid)) return;
    const now = this.directory.find(kind, uid);
    if (now === undefined) {
      if (builtIn !== undefined || !this.scope.lists(kind, uid)) return;
      this.compared += 1;
      this.differences.push(this.describer.describeRemoved(spec, older));
      return;
    }
    this.compared += 1;
    const changes = describeEffects(spec, inputs, now.inputs, this.effects);
    if (changes.length > 0) this.differences.push(this.describer.describeEdited(spec, older, now, changes));
  }
}

function sideOfDirectory({ capabilities }: Directory): EffectSide {
  return { findName: (uid) => uid, findCapabilities: capabilities };
}

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
    details: [...details, `not to be deleted: without it ${root.path} has no owner`],
  };
}

/** Finds how the live organisation differs from what programs declare, or from an older inventory. */
class DriftDetector {
  private readonly notes = new DriftNotes();
  private readonly directory: Directory;
  private readonly older: Directory | undefined;
  private readonly effects: EffectContext;
  private readonly scope: ComparisonScope;
  private readonly describer: DifferenceDescriber;
  private readonly managed: ManagedResources;
  private readonly unmanaged: UnmanagedObjects;
  private differences: readonly DetectedDifference[] = [];
  private resources: readonly ComparedResource[] = [];
  private compared = 0;

  constructor(private readonly request: DriftRequest) {
    const { inventories, since, states, now } = request;
    this.directory = new Directory(inventories);
    this.older = since && new Directory(since);
    const side = sideOfDirectory(this.directory);
    this.effects = { before: side, after: side, comparer: new PatternComparer() };
    this.scope = new ComparisonScope(request, this.notes);
    this.describer = new DifferenceDescriber(this.directory, this.older, now);
    this.managed = new ManagedResources(states, this.notes);
    this.unmanaged = new UnmanagedObjects(this.directory, this.scope, this.describer, this.managed);
  }

  async detect(): Promise<DriftReport> {
    this.noteRefusals();
    if (this.request.states.length > 0) await this.compareStates();
    else if (this.older !== undefined) this.compareInventories(this.older);
    if (this.compared === 0 && this.request.onlyUids === undefined) {
      this.notes.incomplete.add(
        "nothing was compared: the states contain no resource of this package below the groups of the inventories",
      );
    }
    return this.report();
  }

  private noteRefusals(): void {
    for (const { refused } of this.request.inventories) {
      for (const { kind, scope, code, message } of refused) {
        const at = scope === undefined ? "" : ` at ${this.directory.pathOf(scope)}`;
        this.notes.incomplete.add(`${specs[kind]?.noun ?? kind}${at}: not compared: ${code}: ${message}`);
      }
    }
  }

  private async compareStates(): Promise<void> {
    const { directory, scope, describer, effects, notes, managed } = this;
    const states = new StateComparison({ directory, scope, describer, effects, notes }, managed);
    await states.run();
    this.resources = states.compared;
    this.compared = states.compared.length;
    // What a state hides is said to be unresolved.
    const isRead = ({ managed: { resource }, after }: ComparedResource): boolean =>
      after !== undefined && !resource.secretPaths.some((path) => path.startsWith("bindings"));
    const read = new Set(states.compared.filter(isRead).map((compared) => compared.managed));
    const owned = bindingKeysOfCollections(states.compared, "after");
    const unmanaged = this.unmanaged.find(
      ({ kind, uid }) => managed.ownersOf(kind, uid).length === 0,
      states.differences.filter(({ what }) => what === "deleted"),
      false,
      // Whoever makes an identity chooses its name, and so whether a pattern of names ignores its bindings.
      (object, owner) =>
        read.has(owner) && !bindingKeys(entityOfObject(object)).every((key) => owned.has(key)),
    );
    this.differences = [...states.differences, ...unmanaged];
  }

  private compareInventories(older: Directory): void {
    const effects = { ...this.effects, before: sideOfDirectory(older) };
    const inventories = new InventoryComparison(older, this.directory, this.scope, this.describer, effects);
    inventories.run(this.notes);
    this.compared = inventories.compared;
    const created = this.unmanaged.find((object) => inventories.isNew(object), [], true);
    this.differences = [...inventories.differences, ...created];
  }

  private report(): DriftReport {
    const { request, notes, compared, directory } = this;
    const comparison = compareDrift({
      directory,
      compared: this.resources,
      differences: this.differences,
      isComplete: this.scope.isComplete && notes.incomplete.size === 0,
      comparer: this.effects.comparer,
    });
    const groups = new GroupHierarchy(comparison.after.entities);
    const lastOwners = findLastOwners(comparison.after, groups);
    const detected = this.differences
      .map((difference) => keepLastOwner(difference, lastOwners))
      .map((difference) => ({ difference, finding: findingOf(difference) }));
    const byFinding = new Map(detected.map(({ difference, finding }) => [finding, difference]));
    const risks = (request.rules?.(comparison) ?? []).map((risk) =>
      risk.grant !== undefined && isOwnerOfRoot(risk.grant, groups) && lastOwners.has(risk.grant.uid ?? "")
        ? { ...risk, advice: LAST_OWNER_ADVICE }
        : risk,
    );
    const times = new Map(this.differences.map(({ uid, at }) => [uid, at ?? ""]));
    const findings = sortDriftFindings(
      [...byFinding.keys(), ...risks],
      ({ uid, grant }) => times.get(uid ?? "") ?? times.get(grant?.uid ?? "") ?? "",
    );
    const differences = findings.flatMap((finding) => {
      const difference = byFinding.get(finding);
      return difference === undefined ? [] : [reportDifference(difference, finding, request)];
    });
    const coverage = request.states.length > 0 && this.scope.isComplete ? this.measureCoverage() : undefined;
    return reportDrift({ request, notes, comparison, compared, findings, differences, coverage });
  }

  /** Measures what share of the live organisation its programs declare, of all that a program can declare. */
  private measureCoverage(): Coverage {
    const { directory, managed, resources, scope } = this;
    const declared = bindingKeysOfCollections(resources, "before");
    const objects = [...directory.all()].flatMap((object) => {
      const { kind, uid } = object;
      const spec = specs[kind];
      if (spec === undefined || isUndeclarable(spec, object, scope)) return [];
      const keys = bindingKeys(entityOfObject(object));
      const isManaged =
        managed.ownersOf(kind, uid).length > 0 || (keys.length > 0 && keys.every((key) => declared.has(key)));
      return [{ kind, group: (spec.sharesParentUid ? uid : parentOf(uid)) ?? "", isManaged }];
    });
    const groups = countManaged(objects, ({ group }) => group);
    return {
      ...countAll(objects),
      byKind: countManaged(objects, ({ kind }) => kind).map(([kind, count]) => ({ kind, ...count })),
      byGroup: groups.map(([uid, count]) => ({ uid, path: directory.pathOf(uid), ...count })),
    };
  }
}

/**
 * Compares what stacks record with the live organisation: what was changed, what was deleted, what no stack manages, and
 * what two resources manage. An object has changed only if the provider's own diff of the recorded arguments and the live
 * ones says so.
 */
export function findDrift(request: DriftRequest): Promise<DriftReport> {
  return new DriftDetector(request).detect();
}

/** What the graphs are built from. */
interface DriftSides {
  readonly directory: Directory;
  readonly compared: readonly ComparedResource[];
  readonly differences: readonly DetectedDifference[];
  /** Whether the run compared everything that exists. */
  readonly isComplete: boolean;
  /** Compares patterns, within the budget of the run. */
  readonly comparer: PatternComparer;
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

/** The program's view of an object whose live form is known. */
function asManaged(live: Entity, { resource }: ManagedResource): Entity {
  const { urn, location, protect } = resource;
  return { ...live, external: undefined, urn, location, ...(protect ? { protect } : {}) };
}

/** The keys of the bindings of resources that own all bindings of a group, on one side of the comparison. */
function bindingKeysOfCollections(
  resources: readonly ComparedResource[],
  side: "before" | "after",
): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const compared of resources) {
    const { resource, spec, uid } = compared.managed;
    const inputs = compared[side];
    if (aggregatedKind(spec) === undefined || inputs === undefined) continue;
    const complete: Parameters<typeof toEntity>[0] = {
      ...resource,
      kind: spec.kind,
      inputs,
      secretPaths: [],
    };
    for (const key of bindingKeys(toEntity(complete, { key: keyOfManaged(compared.managed), uid, side })))
      keys.add(key);
  }
  return keys;
}

/** Builds the access graphs of both sides: the live organisation with each difference undone, and as it is. */
class DriftGraphs {
  readonly before: Map<string, Entity>;
  readonly after = new Map<string, Entity>();
  private readonly managed = new Map<string, ComparedResource>();

  constructor({ directory, compared, differences }: DriftSides) {
    for (const resource of compared) {
      const { spec, uid } = resource.managed;
      this.managed.set(objectKey(spec.kind, uid), resource);
    }
    const owned = this.addCollections(compared);
    for (const object of directory.all()) this.addLive(entityOfObject(object), owned);
    this.before = new Map(this.after);
    for (const difference of differences) this.applyDifference(difference);
    this.keepReferredObjects();
    this.pruneDanglingReferences(differences);
  }

  /**
   * Puts back what no program manages where a resource of a program refers to it: it was there when the resource was
   * recorded, and without it an unchanged grant would look like a new one.
   */
  private keepReferredObjects(): void {
    for (let added = -1; added !== 0;) {
      added = 0;
      for (const { kind, inputs } of [...this.before.values()]) {
        for (const key of listReferences(specs[kind], inputs)) {
          const live = this.after.get(key);
          if (live === undefined || this.before.has(live.key)) continue;
          this.before.set(live.key, live);
          added += 1;
        }
      }
    }
  }

  /** Clears references to objects that no longer exist, since they grant no access. */
  private pruneDanglingReferences(differences: readonly DetectedDifference[]): void {
    const deletedUids = new Set<Json | undefined>(
      differences
        .filter(({ what, spec }) => what === "deleted" && !spec.sharesParentUid)
        .map(({ uid }) => uid),
    );
    if (deletedUids.size === 0) return;
    for (const [key, entity] of this.after) {
      const inputs = mapReferences(specs[entity.kind], entity.inputs, (value) =>
        deletedUids.has(value) ? "" : value,
      );
      this.after.set(key, { ...entity, inputs });
    }
  }

  /** Adds the resources that aggregate other objects; returns the keys of the bindings that they own. */
  private addCollections(compared: readonly ComparedResource[]): ReadonlySet<string> {
    for (const { managed, after } of compared) {
      if (after === undefined || aggregatedKind(managed.spec) === undefined) continue;
      // As before, so that a value that nobody can read is the same one on both sides.
      this.after.set(keyOfManaged(managed), entityOfManaged(managed, after, "before"));
    }
    return bindingKeysOfCollections(compared, "after");
  }

  private addLive(live: Entity, owned: ReadonlySet<string>): void {
    const keys = bindingKeys(live);
    if (keys.length > 0 && keys.every((key) => owned.has(key))) return;
    const compared = this.managed.get(objectKey(live.kind, live.uid ?? ""));
    if (compared?.after === undefined) {
      this.after.set(live.key, live);
    } else if (compared.managed.resource.secretPaths.length > 0) {
      const masked = entityOfManaged(compared.managed, compared.after, "before");
      this.after.set(live.key, { ...masked, details: live.details, lastSeenTime: live.lastSeenTime });
    } else {
      this.after.set(live.key, asManaged(live, compared.managed));
    }
  }

  /** Undoes a difference in the graph before it, and masks secrets in the graph after it. */
  private applyDifference(difference: DetectedDifference): void {
    const { what, spec, uid, managed, before, after } = difference;
    if (what === "contested") return;
    const key = keyOfDifference(difference);
    const live = this.after.get(key);
    if (managed !== undefined) {
      if (before !== undefined) this.before.set(key, entityOfManaged(managed, before, "before"));
      if (after !== undefined) {
        const now = entityOfManaged(managed, after, "after");
        this.after.set(key, {
          ...now,
          details: live?.details ?? now.details,
          lastSeenTime: live?.lastSeenTime,
        });
      }
    } else if (before === undefined) {
      this.before.delete(key);
    } else {
      this.before.set(key, entityOfObject({ kind: spec.kind, uid, inputs: before }));
    }
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
function compareDrift(sides: DriftSides): Comparison {
  const { directory, differences, isComplete: isWhole, comparer } = sides;
  const graphs = new DriftGraphs(sides);
  const [before, after] = [graphOf(graphs.before), graphOf(graphs.after)];
  const context = createEffectContext(graphs.before, graphs.after, comparer);
  const compared = compareSides(before, after, comparer);
  return {
    before,
    after,
    changes: listResourceChanges(differences, before.entities, after.entities, context),
    ...compared,
    unresolved: unresolvedGrants(compared.grants, after, directory.inventories.length > 0),
    complete: isWhole,
    incomplete: [],
    inventory: directory.inventories[0],
    inventories: directory.inventories,
    existing: objectsByUid(before.entities),
    comparer,
    drift: { isWhole },
  };
}
