import { parseKind } from "../documents/engineState";
import type { Inventory } from "../documents/inventory";
import { accessKinds, bindingKeys } from "./accessKinds";
import { toEntity, entityOfObject } from "./entities";
import { graphOf } from "./grants";
import { compositeKey } from "./keys";
import { mergeLive } from "./mergeLive";
import type { AccessGraph, Entity } from "./model";
import { isManagedKind, PlanKeys, recordedUid } from "./planKeys";
import { plannedEntity } from "./plannedEntity";
import { ReferenceResolver } from "./resolver";
import type { ResourcePlan } from "./resourcePlan";
import { ServerRemovals } from "./serverRemovals";
import { remainingUnmanaged } from "./unmanaged";

/** What happens to one resource; one of another package has no entities. */
export interface PlannedChange {
  readonly plan: ResourcePlan;
  /** The registry key; the type token of a resource of another package. */
  readonly kind: string;
  readonly before?: Entity;
  readonly after?: Entity;
  readonly isLeftOnServer?: true;
  readonly isRefused?: true;
  /** Why the review cannot judge what it does. */
  readonly notReviewed?: string;
}

export interface AccessGraphs {
  readonly before: AccessGraph;
  readonly after: AccessGraph;
  readonly changes: readonly PlannedChange[];
  /** References that could not be resolved, a line each. */
  readonly unresolved: readonly string[];
}

interface EntityPair {
  readonly before?: Entity;
  readonly after?: Entity;
}

/** A program may claim anything about a resource that it only reads. */
const asUnverified = (entity: Entity): Entity => ({ ...entity, external: true, assumed: true });

/** Adds an entity; one that the program manages replaces one that it reads. */
function putEntity(entities: Map<string, Entity>, entity: Entity): void {
  const other = entities.get(entity.key);
  if (other === undefined || (other.external === true && entity.external !== true)) {
    entities.set(entity.key, entity);
  } else if (entity.external !== true && entity.urn !== undefined && entity.urn !== other.urn) {
    entities.set(entity.urn, { ...entity, key: entity.urn });
  }
}

/** Builds the access graphs before and after a change. */
class GraphBuilder {
  readonly before = new Map<string, Entity>();
  readonly after = new Map<string, Entity>();
  readonly resolver: ReferenceResolver;
  private readonly changes: PlannedChange[] = [];
  /** Entities with what the inventory adds to them. */
  private readonly merged = new Map<Entity, Entity>();
  private readonly keys = new PlanKeys();
  private readonly removals: ServerRemovals;

  constructor(plans: readonly ResourcePlan[], inventory: Inventory | undefined) {
    const byUrn = new Map(plans.map((plan) => [plan.urn, plan]));
    this.resolver = new ReferenceResolver(byUrn, (plan) => this.keys.of(plan));
    const own = plans.filter(
      ({ before, after }) => isManagedKind(after ?? before) && isManagedKind(before ?? after),
    );
    this.removals = new ServerRemovals(own, this.keys, plans, inventory);
    for (const plan of plans) this.addForeign(plan);
    for (const plan of own) this.add(plan);
    if (inventory) this.addInventory(inventory);
  }

  /** The changes, with what only the server knows: rules need when an identity was last seen. */
  mergedChanges(): PlannedChange[] {
    const mergedOf = (entity: Entity | undefined) => entity && (this.merged.get(entity) ?? entity);
    return this.changes.map((change) => ({
      ...change,
      before: mergedOf(change.before),
      after: mergedOf(change.after),
    }));
  }

  /** A resource of another package, or one that only has a type of this one. */
  private addForeign(plan: ResourcePlan): void {
    const { op, before, after } = plan;
    const type = (after ?? before)?.type ?? "";
    const notReviewed = after?.notReviewed ?? before?.notReviewed;
    if (op === "same" || type === "" || type.startsWith("pulumi:")) return;
    if (notReviewed !== undefined) this.changes.push({ plan, kind: type, notReviewed });
    else if (parseKind(type) === undefined && op !== "read") this.changes.push({ plan, kind: type });
  }

  private add(plan: ResourcePlan): void {
    const { op } = plan;
    const recorded = this.recordedEntity(plan);
    const { before, after } = this.entitiesOf(plan, recorded);
    if (before) putEntity(this.before, before);
    if (after) putEntity(this.after, after);
    if (recorded) this.addRemaining(plan, recorded, after);
    const kind = (after ?? before)?.kind;
    if (kind === undefined) return;
    const isLeftOnServer = (op === "delete" || op === "replace") && !this.removals.isRemovedFromServer(plan);
    const isRefused = this.removals.isRefused(recordedUid(plan.before));
    this.changes.push({
      plan,
      kind,
      before,
      after,
      ...(isLeftOnServer ? { isLeftOnServer } : {}),
      ...(isRefused ? { isRefused } : {}),
    });
  }

  private recordedEntity(plan: ResourcePlan): Entity | undefined {
    const { before } = plan;
    if (!isManagedKind(before)) return undefined;
    return toEntity(before, { key: this.keys.of(plan), uid: recordedUid(before), side: "before" });
  }

  private entitiesOf(plan: ResourcePlan, recorded: Entity | undefined): EntityPair {
    const { op } = plan;
    const planned = isManagedKind(plan.after)
      ? plannedEntity(plan, plan.after, this.keys.of(plan), this.resolver, this.removals)
      : undefined;
    if (op === "read" || op === "import") {
      // A step that reads shows what it read in the state before, or not at all.
      const read = [planned, recorded].find((entity) => Object.keys(entity?.inputs ?? {}).length > 0);
      const after = planned && { ...planned, ...(read ? { inputs: read.inputs, name: read.name } : {}) };
      const isExternal = op === "read" || after?.external === true;
      return {
        before: after && asUnverified(after),
        after: after && isExternal ? asUnverified(after) : after,
      };
    }
    const before = recorded?.external === true ? asUnverified(recorded) : recorded;
    // A resource that only leaves the program stays on the server.
    if (op === "delete" && before && !this.removals.isRemovedFromServer(plan)) {
      return { before, after: { ...this.removals.rewriteReplacedRefs(before), external: true } };
    }
    return { before, after: planned?.external === true ? asUnverified(planned) : planned };
  }

  /** What of a replaced or changed resource stays on the server, outside of the program. */
  private addRemaining(plan: ResourcePlan, recorded: Entity, after: Entity | undefined): void {
    if (plan.op === "replace" && !this.removals.isRemovedFromServer(plan)) {
      const key = compositeKey("retained", this.keys.of(plan));
      this.after.set(key, { ...this.removals.rewriteReplacedRefs(recorded), key, external: true });
    }
    const unmanaged = remainingUnmanaged(recorded, after, plan.op);
    if (unmanaged) this.after.set(unmanaged.key, this.removals.rewriteReplacedRefs(unmanaged));
  }

  /** Adds the objects that no program manages, and what only the server knows of the others. */
  private addInventory(inventory: Inventory): void {
    const owners = [...this.before.values()].filter(({ kind }) => accessKinds[kind]?.ownsBindings);
    const owned = new Set(owners.flatMap(bindingKeys));
    const replaced = new Set(
      this.changes.filter(({ plan }) => plan.op === "replace").map(({ before }) => before?.key),
    );
    for (const object of inventory.objects) {
      const live = entityOfObject(object);
      const { key } = live;
      const [before, after] = [this.before.get(key), this.after.get(key)];
      if (before) this.before.set(key, this.merge(before, live));
      if (after && !replaced.has(key)) this.after.set(key, this.merge(after, live));
      // A binding that belongs to a resource that owns all of them is no other grant.
      const bindings = bindingKeys(live);
      const isOwned = bindings.length > 0 && bindings.every((binding) => owned.has(binding));
      if (before || after || isOwned) continue;
      this.before.set(key, live);
      if (!this.removals.isRemoved(key)) this.after.set(key, this.removals.rewriteReplacedRefs(live));
    }
  }

  private merge(entity: Entity, live: Entity): Entity {
    const merged = mergeLive(entity, live);
    if (entity.assumed !== true) this.merged.set(entity, merged);
    return merged;
  }
}

/** The access graphs before and after a change. */
export function buildGraphs(plans: readonly ResourcePlan[], inventory: Inventory | undefined): AccessGraphs {
  const builder = new GraphBuilder(plans, inventory);
  return {
    before: graphOf(builder.before),
    after: graphOf(builder.after),
    changes: builder.mergedChanges(),
    unresolved: builder.resolver.problemLines(),
  };
}
