import { isUid, parentOf } from "../../api/uid";
import type { Json } from "../../engine/spec";
import { kindOf } from "../documents/engineState";
import type { RecordedResource } from "../documents/engineState";
import { declaredOf, entityOf, entityOfObject, keyOf, unresolvedPaths } from "./entities";
import { accessKinds, boundBy, grantsOf } from "./grants";
import type { Inventory } from "../documents/inventory";
import { compositeKey } from "./keys";
import type { Assumption, Entity, World } from "./model";
import { operations } from "../documents/operations";
import type { Op } from "../documents/operations";
import type { PreviewStep } from "../documents/preview";
import { isReference, mapLeaves, specs } from "./references";
import { ReferenceResolver } from "./resolver";
import type { StateExport } from "../documents/stateExport";
import { staysUnmanaged } from "./unmanaged";
import { isUnread, reasonOf } from "./unread";
import type { UnreadValue } from "./unread";

/** All that is known of one urn, its steps taken together. */
export interface Fate {
  readonly urn: string;
  readonly op: Op;
  readonly before?: RecordedResource;
  readonly after?: RecordedResource;
}

/**
 * One fate for each urn. A later step knows more than an earlier one: after a refresh it begins with
 * what the server holds. Rests of replacements are no one's any more.
 */
export function fatesOf(steps: readonly PreviewStep[], recorded: StateExport | undefined): Fate[] {
  const fates = new Map<string, Fate>();
  for (const resource of recorded?.resources ?? []) {
    fates.set(resource.urn, { urn: resource.urn, op: "same", before: resource, after: resource });
  }
  const whole = new Set<string>();
  for (const { op: told, urn, before, after } of steps) {
    const op = operations.get(told);
    // The old half of a replacement is marked for its delete; alone it is the rest of an earlier one.
    if (op === undefined || (op === "delete" && before?.pendingDelete === true)) continue;
    if (told === "create-replacement" && whole.has(urn)) continue;
    if (told === "replace") whole.add(urn);
    const earlier = fates.get(urn);
    fates.set(urn, {
      urn,
      op,
      // Deleted by hand, and made again: there is nothing before.
      before: op === "create" ? undefined : (before ?? earlier?.before),
      after: op === "delete" ? undefined : after,
    });
  }
  return [...fates.values()];
}

/** Everything that exists, with what it grants. */
export function worldOf(entities: ReadonlyMap<string, Entity>): World {
  return { entities, grants: grantsOf(entities) };
}

export function worldOfInventory(inventory: Inventory): World {
  return worldOf(new Map(inventory.objects.map(entityOfObject).map((entity) => [entity.key, entity])));
}

export function worldOfState(recorded: StateExport): World {
  return believed(buildWorlds(fatesOf([], recorded), undefined).after);
}

/** A world in which what was read with `.get` counts like all else: for questions, not for a judgement. */
export function believed({ entities }: World): World {
  return worldOf(
    new Map([...entities].map(([key, { assumed: _assumed, ...entity }]) => [key, entity as Entity])),
  );
}

type OurResource = RecordedResource & { readonly kind: string };

const isOurs = (resource: RecordedResource | undefined): resource is OurResource =>
  resource?.kind !== undefined;

/** The uid of a resource; undefined of what is new, and of an id that no server of the API gives. */
const uidOf = (resource: RecordedResource | undefined): string | undefined =>
  isUid(resource?.id) ? resource.id : undefined;

/** What becomes of one resource; of one that is not of this package there are no entities. */
export interface Change {
  readonly fate: Fate;
  /** The registry key; the type token of what is not of this package. */
  readonly kind: string;
  readonly before?: Entity;
  readonly after?: Entity;
  readonly stays?: true;
  readonly isRefused?: true;
  /** Why nothing can be said of what it does. */
  readonly notReviewed?: string;
}

export interface Worlds {
  readonly before: World;
  readonly after: World;
  readonly changes: readonly Change[];
  /** What could not be resolved, a line each. */
  readonly unresolved: readonly string[];
}

/** Bindings keep a role from being deleted, and what is in a group keeps the group. */
const KEPT_BY_OTHERS: ReadonlySet<string> = new Set(["Role", "Group"]);

class Builder {
  readonly before = new Map<string, Entity>();
  readonly after = new Map<string, Entity>();
  changes: Change[] = [];
  readonly resolver: ReferenceResolver;
  /** Entities with what the inventory adds to them. */
  private readonly completed = new Map<Entity, Entity>();
  private readonly byUrn: ReadonlyMap<string, Fate>;
  private readonly keys = new Map<string, string>();
  /** What is at the server no longer once all is done. */
  private readonly gone = new Set<string>();
  /** Replaced, and still at the server beside its successor, which has its key: the keys of these, by uid. */
  private readonly retained = new Map<string, string>();
  /** What the server refuses to delete, since something that stays refers to it. */
  private readonly refused = new Set<string>();

  constructor(
    private readonly fates: readonly Fate[],
    private readonly inventory: Inventory | undefined,
  ) {
    this.byUrn = new Map(fates.map((fate) => [fate.urn, fate]));
    this.resolver = new ReferenceResolver(this.byUrn, (fate) => this.key(fate));
  }

  /** The uid that stays; undefined of what is made anew. */
  private static uidAfter({ op, before, after }: Fate): string | undefined {
    if (op === "create" || op === "replace") return undefined;
    if (op === "import") return isUid(after?.importId) ? after.importId : uidOf(after);
    return uidOf(before) ?? uidOf(after);
  }

  private key(fate: Fate): string {
    const known = this.keys.get(fate.urn);
    if (known !== undefined) return known;
    const resource = fate.before ?? fate.after;
    const uid = uidOf(fate.before) ?? Builder.uidAfter(fate);
    const parent = resource === undefined ? undefined : declaredOf(resource)["parentUid"];
    const key = uid === undefined ? fate.urn : keyOf(resource?.kind ?? "", uid, parent);
    this.keys.set(fate.urn, key);
    return key;
  }

  /** What a resource will be: a reference to what is not made yet is taken to be the id of its one source. */
  private foreseen(fate: Fate, resource: OurResource): Entity {
    const reading = { key: this.key(fate), uid: Builder.uidAfter(fate), side: "after" } as const;
    const planned = entityOf(resource, { ...reading, isSame: fate.op === "same" });
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
      return this.withoutSuccessor(value);
    });
    const assumed = new Set(assumptions.map(({ path }) => path));
    const unread = (planned.unread ?? []).filter(({ path }) => !assumed.has(path));
    // A secret that the engine has compared is what it was.
    const isTold = ({ reason }: UnreadValue): boolean => fate.op !== "same" || reason !== "secret";
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
  private leaves({ op, before }: Fate): boolean {
    if ((op !== "delete" && op !== "replace") || before === undefined) return false;
    if (before.external || before.retainOnDelete || this.refused.has(before.id ?? "")) return false;
    // The engine leaves it to the delete of the other, which the API does not do.
    const other = this.byUrn.get(before.deletedWith ?? "");
    return other?.op !== "delete" && other?.op !== "replace";
  }

  build(): void {
    const ours = this.fates.filter(({ before, after }) => isOurs(after ?? before) && isOurs(before ?? after));
    this.findGone(ours);
    for (const fate of this.fates) this.addForeign(fate);
    for (const fate of ours) this.add(fate);
    if (this.inventory) this.addInventory(this.inventory);
    this.completeChanges();
  }

  private findGone(ours: readonly Fate[]): void {
    // What the server refuses to delete may keep something else.
    for (let known = -1; known < this.refused.size;) {
      known = this.refused.size;
      this.gone.clear();
      for (const fate of ours) {
        const uid = uidOf(fate.before);
        // Kinds that share their parent's uid are referred to by nobody.
        if (uid !== undefined && this.key(fate) === uid && this.leaves(fate)) this.gone.add(uid);
      }
      this.findRefused(ours);
    }
    for (const fate of ours) {
      const uid = uidOf(fate.before);
      if (uid === undefined || this.key(fate) !== uid || fate.op !== "replace" || this.leaves(fate)) continue;
      this.retained.set(uid, compositeKey("retained", uid));
    }
  }

  private findRefused(ours: readonly Fate[]): void {
    const kept = new Set<string>();
    for (const fate of ours) {
      const uid = uidOf(fate.before);
      if (uid !== undefined && this.gone.has(uid) && KEPT_BY_OTHERS.has(fate.before?.kind ?? ""))
        kept.add(uid);
    }
    if (kept.size === 0) return;
    const refuse = (kind: string, property: string, value: Json | undefined): void => {
      const holds = property === "parentUid" || (property === "roleUid" && kind === "RoleBinding");
      if (typeof value === "string" && kept.has(value) && holds) this.refused.add(value);
    };
    const gone = new Set<string>();
    const bound = new Set<string>();
    for (const fate of ours) {
      const resource = fate.after ?? fate.before;
      const [kind, uid] = [resource?.kind ?? "", uidOf(fate.before)];
      if (uid !== undefined && this.leaves(fate)) gone.add(keyOf(kind, uid, undefined));
      if (isOurs(fate.before) && accessKinds[kind]?.ownsBindings) {
        const reading = { key: this.key(fate), uid, side: "before" } as const;
        for (const one of boundBy(entityOf(fate.before, reading))) bound.add(one);
      }
      if (resource === undefined || (fate.op === "delete" && this.leaves(fate))) continue;
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
      if (boundBy(entityOfObject(object)).some((one) => bound.has(one))) continue;
      refuse(kind, "parentUid", parentOf(uid));
      refuse(kind, "roleUid", inputs["roleUid"]);
    }
  }

  private managed: ReadonlySet<string> | undefined;

  private isManaged(key: string): boolean {
    this.managed ??= new Set(
      this.fates
        .filter(({ before, after }) => (before ?? after)?.external !== true)
        .map((fate) => this.key(fate)),
    );
    return this.managed.has(key);
  }

  /** What is not of this package, or only looks like it. */
  private addForeign(fate: Fate): void {
    const { op, before, after } = fate;
    const type = (after ?? before)?.type ?? "";
    const notReviewed = after?.notReviewed ?? before?.notReviewed;
    if (op === "same" || type === "" || type.startsWith("pulumi:")) return;
    if (notReviewed !== undefined) this.changes.push({ fate, kind: type, notReviewed });
    else if (kindOf(type) === undefined && op !== "read") this.changes.push({ fate, kind: type });
  }

  private add(fate: Fate): void {
    const { op } = fate;
    const key = this.key(fate);
    const reading = { key, uid: uidOf(fate.before), side: "before" } as const;
    const recorded = isOurs(fate.before) ? entityOf(fate.before, reading) : undefined;
    let after = isOurs(fate.after) ? this.foreseen(fate, fate.after) : undefined;
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
    if (op === "delete" && before && !this.leaves(fate)) {
      after = { ...this.asItStays(before), external: true };
    }
    if (before) Builder.put(this.before, before);
    if (after) Builder.put(this.after, after);
    if (op === "replace" && recorded && !this.leaves(fate)) {
      const own = compositeKey("retained", key);
      this.after.set(own, { ...this.asItStays(recorded), key: own, external: true });
    }
    const unmanaged = recorded && staysUnmanaged(recorded, after, op);
    if (unmanaged) this.after.set(unmanaged.key, this.asItStays(unmanaged));
    const kind = (after ?? before)?.kind;
    if (kind === undefined) return;
    const stays = (op === "delete" || op === "replace") && !this.leaves(fate);
    const isRefused = this.refused.has(reading.uid ?? "");
    this.changes.push({
      fate,
      kind,
      before,
      after,
      ...(stays ? { stays } : {}),
      ...(isRefused ? { isRefused } : {}),
    });
  }

  /** Adds what no program knows, and what only the server tells. */
  private addInventory(inventory: Inventory): void {
    const owners = [...this.before.values()].filter(({ kind }) => accessKinds[kind]?.ownsBindings);
    const owned = new Set(owners.flatMap(boundBy));
    const replaced = new Set(
      this.changes.filter(({ fate }) => fate.op === "replace").map(({ before }) => before?.key),
    );
    for (const object of inventory.objects) {
      const live = entityOfObject(object);
      const { key } = live;
      const [before, after] = [this.before.get(key), this.after.get(key)];
      if (before) this.before.set(key, this.complete(before, live));
      if (after && !replaced.has(key)) this.after.set(key, this.complete(after, live));
      // A binding of a resource that owns all of them is no other grant.
      const bound = boundBy(live);
      const isOwned = bound.length > 0 && bound.every((one) => owned.has(one));
      if (before || after || isOwned) continue;
      this.before.set(key, live);
      if (!this.gone.has(key)) this.after.set(key, this.asItStays(live));
    }
  }

  /** What a document says of a resource, with what the server says of it: of what was only read the server alone counts. */
  private complete(entity: Entity, live: Entity): Entity {
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
    this.completed.set(entity, completed);
    return completed;
  }

  /** Rules read the changes too: they need what only the server tells, as when an identity was last seen. */
  private completeChanges(): void {
    const completeOf = (entity: Entity | undefined) => entity && (this.completed.get(entity) ?? entity);
    this.changes = this.changes.map((change) => ({
      ...change,
      before: completeOf(change.before),
      after: completeOf(change.after),
    }));
  }

  /** A reference that is written out, and leads to what is no more, or to what stays beside its successor. */
  private withoutSuccessor(value: Json | undefined): Json | undefined {
    if (typeof value !== "string") return value;
    return this.gone.has(value) ? "" : (this.retained.get(value) ?? value);
  }

  /** What no run changes refers to what it has always referred to. */
  private asItStays(entity: Entity): Entity {
    const spec = specs[entity.kind];
    if (spec === undefined || this.gone.size + this.retained.size === 0) return entity;
    const inputs = mapLeaves(spec, entity.inputs, (value, leaf) =>
      isReference(leaf) ? this.withoutSuccessor(value) : value,
    );
    return { ...entity, inputs };
  }
}

/** The worlds before and after what a preview foresees. */
export function buildWorlds(fates: readonly Fate[], inventory: Inventory | undefined): Worlds {
  const builder = new Builder(fates, inventory);
  builder.build();
  return {
    before: worldOf(builder.before),
    after: worldOf(builder.after),
    changes: builder.changes,
    unresolved: builder.resolver.lines(),
  };
}
