import { isUid, parentOf } from "../../api/uid";
import type { Json } from "../../engine/spec";
import { kindOf } from "../documents/engineState";
import type { RecordedResource } from "../documents/engineState";
import { declaredOf, entityOf, entityOfObject, keyOf, unresolvedPaths } from "./entities";
import { accessKinds, bindingKeys, grantsOf } from "./grants";
import type { Inventory } from "../documents/inventory";
import { compositeKey } from "./keys";
import type { Assumption, Entity, AccessGraph } from "./model";
import { operations } from "../documents/operations";
import type { Op } from "../documents/operations";
import type { PreviewStep } from "../documents/preview";
import { isReference, mapLeaves, specs } from "./references";
import { ReferenceResolver } from "./resolver";
import type { StateExport } from "../documents/stateExport";
import { remainingUnmanaged } from "./unmanaged";
import { isUnread, reasonOf } from "./unread";
import type { UnreadValue } from "./unread";

/** All that is known of one urn, its steps taken together. */
export interface ResourcePlan {
  readonly urn: string;
  readonly op: Op;
  readonly before?: RecordedResource;
  readonly after?: RecordedResource;
}

/**
 * One plan for each urn. A later step knows more than an earlier one: after a refresh it begins with
 * what the server holds. Rests of replacements are no one's any more.
 */
export function planResources(
  steps: readonly PreviewStep[],
  recorded: StateExport | undefined,
): ResourcePlan[] {
  const plans = new Map<string, ResourcePlan>();
  for (const resource of recorded?.resources ?? []) {
    plans.set(resource.urn, { urn: resource.urn, op: "same", before: resource, after: resource });
  }
  const whole = new Set<string>();
  for (const { op: told, urn, before, after } of steps) {
    const op = operations.get(told);
    // The old half of a replacement is marked for its delete; alone it is the rest of an earlier one.
    if (op === undefined || (op === "delete" && before?.pendingDelete === true)) continue;
    if (told === "create-replacement" && whole.has(urn)) continue;
    if (told === "replace") whole.add(urn);
    const earlier = plans.get(urn);
    plans.set(urn, {
      urn,
      op,
      // Deleted by hand, and made again: there is nothing before.
      before: op === "create" ? undefined : (before ?? earlier?.before),
      after: op === "delete" ? undefined : after,
    });
  }
  return [...plans.values()];
}

/** Everything that exists, with what it grants. */
export function graphOf(entities: ReadonlyMap<string, Entity>): AccessGraph {
  return { entities, grants: grantsOf(entities) };
}

export function graphOfInventory(inventory: Inventory): AccessGraph {
  return graphOf(new Map(inventory.objects.map(entityOfObject).map((entity) => [entity.key, entity])));
}

export function graphOfState(recorded: StateExport): AccessGraph {
  return acceptAssumed(buildGraphs(planResources([], recorded), undefined).after);
}

/** A graph in which what was read with `.get` counts like all else: for questions, not for a judgement. */
export function acceptAssumed({ entities }: AccessGraph): AccessGraph {
  return graphOf(
    new Map([...entities].map(([key, { assumed: _assumed, ...entity }]) => [key, entity as Entity])),
  );
}

type ManagedResource = RecordedResource & { readonly kind: string };

const isManagedKind = (resource: RecordedResource | undefined): resource is ManagedResource =>
  resource?.kind !== undefined;

/** The uid of a resource; undefined of what is new, and of an id that no server of the API gives. */
const uidOf = (resource: RecordedResource | undefined): string | undefined =>
  isUid(resource?.id) ? resource.id : undefined;

/** What becomes of one resource; of one that is not of this package there are no entities. */
export interface PlannedChange {
  readonly plan: ResourcePlan;
  /** The registry key; the type token of what is not of this package. */
  readonly kind: string;
  readonly before?: Entity;
  readonly after?: Entity;
  readonly isLeftOnServer?: true;
  readonly isRefused?: true;
  /** Why nothing can be said of what it does. */
  readonly notReviewed?: string;
}

export interface AccessGraphs {
  readonly before: AccessGraph;
  readonly after: AccessGraph;
  readonly changes: readonly PlannedChange[];
  /** What could not be resolved, a line each. */
  readonly unresolved: readonly string[];
}

/** Bindings keep a role from being deleted, and what is in a group keeps the group. */
const BLOCKED_BY_DEPENDENTS: ReadonlySet<string> = new Set(["Role", "Group"]);

class GraphBuilder {
  readonly before = new Map<string, Entity>();
  readonly after = new Map<string, Entity>();
  changes: PlannedChange[] = [];
  readonly resolver: ReferenceResolver;
  /** Entities with what the inventory adds to them. */
  private readonly merged = new Map<Entity, Entity>();
  private readonly byUrn: ReadonlyMap<string, ResourcePlan>;
  private readonly keys = new Map<string, string>();
  /** What is at the server no longer once all is done. */
  private readonly removed = new Set<string>();
  /** Replaced, and still at the server beside its successor, which has its key: the keys of these, by uid. */
  private readonly retained = new Map<string, string>();
  /** What the server refuses to delete, since something that stays refers to it. */
  private readonly refused = new Set<string>();

  constructor(
    private readonly plans: readonly ResourcePlan[],
    private readonly inventory: Inventory | undefined,
  ) {
    this.byUrn = new Map(plans.map((plan) => [plan.urn, plan]));
    this.resolver = new ReferenceResolver(this.byUrn, (plan) => this.key(plan));
  }

  /** The uid that stays; undefined of what is made anew. */
  private static uidAfter({ op, before, after }: ResourcePlan): string | undefined {
    if (op === "create" || op === "replace") return undefined;
    if (op === "import") return isUid(after?.importId) ? after.importId : uidOf(after);
    return uidOf(before) ?? uidOf(after);
  }

  private key(plan: ResourcePlan): string {
    const known = this.keys.get(plan.urn);
    if (known !== undefined) return known;
    const resource = plan.before ?? plan.after;
    const uid = uidOf(plan.before) ?? GraphBuilder.uidAfter(plan);
    const parent = resource === undefined ? undefined : declaredOf(resource)["parentUid"];
    const key = uid === undefined ? plan.urn : keyOf(resource?.kind ?? "", uid, parent);
    this.keys.set(plan.urn, key);
    return key;
  }

  /** What a resource will be: a reference to what is not made yet is taken to be the id of its one source. */
  private plannedEntity(plan: ResourcePlan, resource: ManagedResource): Entity {
    const reading = { key: this.key(plan), uid: GraphBuilder.uidAfter(plan), side: "after" } as const;
    const planned = entityOf(resource, { ...reading, isSame: plan.op === "same" });
    const spec = specs[resource.kind];
    if (spec === undefined) return planned;
    const assumptions: Assumption[] = [];
    const inputs = mapLeaves(spec, planned.inputs, (value, leaf) => {
      if (!isReference(leaf)) return value;
      if (isUnread(value)) {
        if (reasonOf(value) !== "unknown") return value;
        const source = this.resolver.resolve(resource, leaf);
        if (source === undefined) return value;
        assumptions.push({ path: leaf.path, property: leaf.property, key: source });
        return source;
      }
      return this.pruneDanglingRef(value);
    });
    const assumed = new Set(assumptions.map(({ path }) => path));
    const unread = (planned.unread ?? []).filter(({ path }) => !assumed.has(path));
    // A secret that the engine has compared is what it was.
    const isTold = ({ reason }: UnreadValue): boolean => plan.op !== "same" || reason !== "secret";
    this.resolver.report(resource, unread.filter(isTold));
    return {
      ...planned,
      inputs,
      unresolved: unresolvedPaths(unread),
      ...(planned.unread ? { unread } : {}),
      ...(assumptions.length > 0 ? { assumptions } : {}),
    };
  }

  private static put(entities: Map<string, Entity>, entity: Entity): void {
    const other = entities.get(entity.key);
    if (other === undefined || (other.external === true && entity.external !== true)) {
      entities.set(entity.key, entity);
    } else if (entity.external !== true && entity.urn !== undefined && entity.urn !== other.urn) {
      entities.set(entity.urn, { ...entity, key: entity.urn });
    }
  }

  /** Whether a step takes a resource from the server. */
  private isRemovedFromServer({ op, before }: ResourcePlan): boolean {
    if ((op !== "delete" && op !== "replace") || before === undefined) return false;
    if (before.external || before.retainOnDelete || this.refused.has(before.id ?? "")) return false;
    // The engine leaves it to the delete of the other, which the API does not do.
    const other = this.byUrn.get(before.deletedWith ?? "");
    return other?.op !== "delete" && other?.op !== "replace";
  }

  build(): void {
    const ours = this.plans.filter(
      ({ before, after }) => isManagedKind(after ?? before) && isManagedKind(before ?? after),
    );
    this.findRemovals(ours);
    for (const plan of this.plans) this.addForeign(plan);
    for (const plan of ours) this.add(plan);
    if (this.inventory) this.addInventory(this.inventory);
    this.mergeIntoChanges();
  }

  private findRemovals(ours: readonly ResourcePlan[]): void {
    // What the server refuses to delete may keep something else.
    for (let known = -1; known < this.refused.size;) {
      known = this.refused.size;
      this.removed.clear();
      for (const plan of ours) {
        const uid = uidOf(plan.before);
        // Kinds that share their parent's uid are referred to by nobody.
        if (uid !== undefined && this.key(plan) === uid && this.isRemovedFromServer(plan))
          this.removed.add(uid);
      }
      this.findRefusals(ours);
    }
    for (const plan of ours) {
      const uid = uidOf(plan.before);
      if (
        uid === undefined ||
        this.key(plan) !== uid ||
        plan.op !== "replace" ||
        this.isRemovedFromServer(plan)
      )
        continue;
      this.retained.set(uid, compositeKey("retained", uid));
    }
  }

  private findRefusals(ours: readonly ResourcePlan[]): void {
    const kept = new Set<string>();
    for (const plan of ours) {
      const uid = uidOf(plan.before);
      if (uid !== undefined && this.removed.has(uid) && BLOCKED_BY_DEPENDENTS.has(plan.before?.kind ?? ""))
        kept.add(uid);
    }
    if (kept.size === 0) return;
    const refuse = (kind: string, property: string, value: Json | undefined): void => {
      const holds = property === "parentUid" || (property === "roleUid" && kind === "RoleBinding");
      if (typeof value === "string" && kept.has(value) && holds) this.refused.add(value);
    };
    const gone = new Set<string>();
    const bound = new Set<string>();
    for (const plan of ours) {
      const resource = plan.after ?? plan.before;
      const [kind, uid] = [resource?.kind ?? "", uidOf(plan.before)];
      if (uid !== undefined && this.isRemovedFromServer(plan)) gone.add(keyOf(kind, uid, undefined));
      if (isManagedKind(plan.before) && accessKinds[kind]?.ownsBindings) {
        const reading = { key: this.key(plan), uid, side: "before" } as const;
        for (const one of bindingKeys(entityOf(plan.before, reading))) bound.add(one);
      }
      if (resource === undefined || (plan.op === "delete" && this.isRemovedFromServer(plan))) continue;
      for (const [property, value] of Object.entries(declaredOf(resource))) {
        // A part of a group is no obstacle: it goes with it.
        if (specs[kind]?.sharesParentUid === true && property === "parentUid") continue;
        refuse(kind, property, value);
      }
    }
    for (const object of this.inventory?.objects ?? []) {
      const { kind, uid, inputs } = object;
      const isManaged = this.isManaged(keyOf(kind, uid, inputs["parentUid"]));
      if (isManaged || specs[kind]?.sharesParentUid === true) continue;
      if (bindingKeys(entityOfObject(object)).some((one) => bound.has(one))) continue;
      refuse(kind, "parentUid", parentOf(uid));
      refuse(kind, "roleUid", inputs["roleUid"]);
    }
  }

  private managed: ReadonlySet<string> | undefined;

  private isManaged(key: string): boolean {
    this.managed ??= new Set(
      this.plans
        .filter(({ before, after }) => (before ?? after)?.external !== true)
        .map((plan) => this.key(plan)),
    );
    return this.managed.has(key);
  }

  /** What is not of this package, or only looks like it. */
  private addForeign(plan: ResourcePlan): void {
    const { op, before, after } = plan;
    const type = (after ?? before)?.type ?? "";
    const notReviewed = after?.notReviewed ?? before?.notReviewed;
    if (op === "same" || type === "" || type.startsWith("pulumi:")) return;
    if (notReviewed !== undefined) this.changes.push({ plan, kind: type, notReviewed });
    else if (kindOf(type) === undefined && op !== "read") this.changes.push({ plan, kind: type });
  }

  private add(plan: ResourcePlan): void {
    const { op } = plan;
    const key = this.key(plan);
    const reading = { key, uid: uidOf(plan.before), side: "before" } as const;
    const recorded = isManagedKind(plan.before) ? entityOf(plan.before, reading) : undefined;
    let after = isManagedKind(plan.after) ? this.plannedEntity(plan, plan.after) : undefined;
    let before = recorded;
    if (op === "read" || op === "import") {
      // A step that reads shows what it read in the state before, or not at all.
      const told = [after, recorded].find((entity) => Object.keys(entity?.inputs ?? {}).length > 0);
      after = after && { ...after, ...(told ? { inputs: told.inputs, name: told.name } : {}) };
      before = after;
    }
    // What was read is the program's word, and so is what it says that it takes over.
    if (before && (before.external === true || op === "read" || op === "import")) {
      before = { ...before, external: true, assumed: true };
    }
    if (after && (after.external === true || op === "read"))
      after = { ...after, external: true, assumed: true };
    // What only leaves the program stays where it is.
    if (op === "delete" && before && !this.isRemovedFromServer(plan)) {
      after = { ...this.rewriteReplacedRefs(before), external: true };
    }
    if (before) GraphBuilder.put(this.before, before);
    if (after) GraphBuilder.put(this.after, after);
    if (op === "replace" && recorded && !this.isRemovedFromServer(plan)) {
      const own = compositeKey("retained", key);
      this.after.set(own, { ...this.rewriteReplacedRefs(recorded), key: own, external: true });
    }
    const unmanaged = recorded && remainingUnmanaged(recorded, after, op);
    if (unmanaged) this.after.set(unmanaged.key, this.rewriteReplacedRefs(unmanaged));
    const kind = (after ?? before)?.kind;
    if (kind === undefined) return;
    const isLeftOnServer = (op === "delete" || op === "replace") && !this.isRemovedFromServer(plan);
    const isRefused = this.refused.has(reading.uid ?? "");
    this.changes.push({
      plan,
      kind,
      before,
      after,
      ...(isLeftOnServer ? { isLeftOnServer } : {}),
      ...(isRefused ? { isRefused } : {}),
    });
  }

  /** Adds what no program knows, and what only the server tells. */
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
      if (before) this.before.set(key, this.mergeLive(before, live));
      if (after && !replaced.has(key)) this.after.set(key, this.mergeLive(after, live));
      // A binding of a resource that owns all of them is no other grant.
      const bound = bindingKeys(live);
      const isOwned = bound.length > 0 && bound.every((one) => owned.has(one));
      if (before || after || isOwned) continue;
      this.before.set(key, live);
      if (!this.removed.has(key)) this.after.set(key, this.rewriteReplacedRefs(live));
    }
  }

  /** What a document says of a resource, with what the server says of it: of what was only read the server alone counts. */
  private mergeLive(entity: Entity, live: Entity): Entity {
    const { urn, location, assumed: isAssumed, ...told } = entity;
    if (isAssumed === true) return { ...live, urn, location };
    const { lastSeenTime, details, builtIn } = live;
    const completed = {
      ...told,
      urn,
      location,
      ...(builtIn ? { builtIn } : {}),
      ...(lastSeenTime === undefined ? {} : { lastSeenTime }),
      ...(details === undefined ? {} : { details: { ...details, ...entity.details } }),
    };
    this.merged.set(entity, completed);
    return completed;
  }

  /** Rules read the changes too: they need what only the server tells, as when an identity was last seen. */
  private mergeIntoChanges(): void {
    const completeOf = (entity: Entity | undefined) => entity && (this.merged.get(entity) ?? entity);
    this.changes = this.changes.map((change) => ({
      ...change,
      before: completeOf(change.before),
      after: completeOf(change.after),
    }));
  }

  /** A reference that is written out, and leads to what is no more, or to what stays beside its successor. */
  private pruneDanglingRef(value: Json | undefined): Json | undefined {
    if (typeof value !== "string") return value;
    return this.removed.has(value) ? "" : (this.retained.get(value) ?? value);
  }

  /** What no run changes refers to what it has always referred to. */
  private rewriteReplacedRefs(entity: Entity): Entity {
    const spec = specs[entity.kind];
    if (spec === undefined || this.removed.size + this.retained.size === 0) return entity;
    const inputs = mapLeaves(spec, entity.inputs, (value, leaf) =>
      isReference(leaf) ? this.pruneDanglingRef(value) : value,
    );
    return { ...entity, inputs };
  }
}

/** The graphs before and after what a preview foresees. */
export function buildGraphs(plans: readonly ResourcePlan[], inventory: Inventory | undefined): AccessGraphs {
  const builder = new GraphBuilder(plans, inventory);
  builder.build();
  return {
    before: graphOf(builder.before),
    after: graphOf(builder.after),
    changes: builder.changes,
    unresolved: builder.resolver.problemLines(),
  };
}
