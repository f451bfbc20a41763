import { compareSides, unresolvedGrants } from "../review/compare";
import { specs } from "../documents/specs";
import { objectKey } from "../../fields/identity";
import type { Directory } from "../graph/directory";
import { describeEffects, createEffectSide } from "../effects";
import type { EffectContext } from "../effects";
import { toEntity, entityOfObject, entityKey } from "../graph/entities";
import { bindingKeys } from "../graph/accessKinds";
import type { Entities, Entity } from "../graph/model";
import type { Languages } from "../trust/languages";
import type { Comparison, ResourceChange } from "../review/comparison";
import { graphOf } from "../graph/grants";
import type { ComparedResource, DetectedDifference, ManagedResource } from "./difference";
import { isReference, mapLeaves } from "../graph/references";
import { maskSecrets } from "./secretValues";
import { aggregatedKind } from "../../fields/resourceSpec";
import type { Json, Props } from "../../fields/values";

/** What the graphs are built from. */
interface DriftSides {
  readonly directory: Directory;
  readonly compared: readonly ComparedResource[];
  readonly differences: readonly DetectedDifference[];
  /** Whether the run compared everything that exists. */
  readonly isComplete: boolean;
  /** Compares patterns, within the budget of the run. */
  readonly languages: Languages;
}

function keyOfManaged({ spec, uid, resource }: ManagedResource): string {
  return entityKey(spec.kind, uid, resource.inputs["parentUid"]);
}

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
export function bindingKeysOfCollections(
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

/** Builds the access graphs of both sides: what the programs declare, and the live organisation. */
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
        const spec = specs[kind];
        if (spec === undefined) continue;
        mapLeaves(spec, inputs, (value, leaf) => {
          const live = isReference(leaf) && typeof value === "string" ? this.after.get(value) : undefined;
          if (live !== undefined && !this.before.has(live.key)) {
            this.before.set(live.key, live);
            added += 1;
          }
          return value;
        });
      }
    }
  }

  /** Clears references to objects that no longer exist, since they grant no access. */
  private pruneDanglingReferences(differences: readonly DetectedDifference[]): void {
    const deletedUids = new Set<Json | undefined>(
      differences
        .filter(({ kind, spec }) => kind === "deleted" && !spec.sharesParentUid)
        .map(({ uid }) => uid),
    );
    if (deletedUids.size === 0) return;
    for (const [key, entity] of this.after) {
      const spec = specs[entity.kind];
      if (spec === undefined) continue;
      const inputs = mapLeaves(spec, entity.inputs, (value, leaf) =>
        isReference(leaf) && deletedUids.has(value) ? "" : value,
      );
      this.after.set(key, { ...entity, inputs });
    }
  }

  /** Adds the resources that aggregate other objects; returns the keys of the bindings that they own. */
  private addCollections(compared: readonly ComparedResource[]): ReadonlySet<string> {
    for (const { managed, after } of compared) {
      if (after === undefined || aggregatedKind(managed.spec) === undefined) continue;
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
  private applyDifference({ kind, spec, uid, managed, before, after }: DetectedDifference): void {
    if (kind === "contested") return;
    const key =
      managed === undefined
        ? entityKey(spec.kind, uid, (before ?? after)?.["parentUid"])
        : keyOfManaged(managed);
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
  return differences.flatMap(({ kind, spec, uid, managed, ...sides }): ResourceChange[] => {
    if (kind === "contested") return [];
    const parent = (sides.before ?? sides.after)?.["parentUid"];
    const key = managed === undefined ? entityKey(spec.kind, uid, parent) : keyOfManaged(managed);
    const [old, now] = [before.get(key), after.get(key)];
    const effects = { ...context, secretPaths: managed?.resource.secretPaths };
    return [
      {
        op: operationOf[kind],
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
 * Compares access as the programs declare it with live access, as a review does: before is the live organisation with every
 * difference undone, after is the live organisation.
 */
export function compareDrift(sides: DriftSides): Comparison {
  const { directory, differences, isComplete: isWhole, languages } = sides;
  const graphs = new DriftGraphs(sides);
  const [before, after] = [graphOf(graphs.before), graphOf(graphs.after)];
  const context = {
    before: createEffectSide(graphs.before),
    after: createEffectSide(graphs.after),
    languages,
  };
  const compared = compareSides(before, after, languages);
  return {
    before,
    after,
    changes: listResourceChanges(differences, before.entities, after.entities, context),
    ...compared,
    unresolved: unresolvedGrants(compared.grants, after),
    complete: isWhole,
    incomplete: [],
    inventory: directory.inventories[0],
    recorded: objectsByUid(before.entities),
    languages,
    drift: { isWhole },
  };
}
