import { UNKNOWN } from "../engine/spec";
import type { Json, Props } from "../engine/spec";
import { isUnknown } from "../engine/values";
import { HIDDEN, kindOf, urnParts } from "./engineState";
import type { RecordedResource } from "./engineState";
import { operations } from "./operations";
import type { Op } from "./operations";
import { accessKinds, boundBy, grantsOf, RETAINED } from "./grants";
import type { Inventory, InventoryObject } from "./inventory";
import type { Entity, World } from "./model";
import { isReference, mapLeaves, referredKind, specs } from "./references";
import type { Leaf } from "./references";
import type { PreviewStep } from "./preview";
import type { StateExport } from "./stateExport";

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

function nameOf(inputs: Props): string | undefined {
  const { name } = inputs;
  return typeof name === "string" && name !== "" && !isUnknown(name) && name !== HIDDEN ? name : undefined;
}

/** Inputs without anything that is a secret by its nature; where it stood open. */
function masked(
  kind: string,
  inputs: Props,
  hidden: readonly string[],
): { inputs: Props; exposed: string[] } {
  const spec = specs[kind];
  if (spec === undefined) return { inputs, exposed: [] };
  const exposed: string[] = [];
  const safe = mapLeaves(spec, inputs, (value, { path, field }) => {
    if (field.secret !== true || (value ?? "") === "" || isUnknown(value)) return value;
    if (value !== HIDDEN && !hidden.includes(path)) exposed.push(path);
    return HIDDEN;
  });
  return { inputs: safe, exposed };
}

function unknownPaths(kind: string, inputs: Props): string[] {
  const spec = specs[kind];
  const paths: string[] = [];
  if (spec === undefined) return paths;
  mapLeaves(spec, inputs, (value, { path }) => {
    if (isUnknown(value)) paths.push(path);
    return value;
  });
  return paths;
}

/** What the server alone says of a managed resource, as its state holds it. */
function detailsOf(kind: string, outputs: Props): { details?: Props; exposed: string[] } {
  const names = Object.keys(specs[kind]?.outputs ?? {}).filter(
    (name) => outputs[name] !== undefined && !isUnknown(outputs[name]),
  );
  if (names.length === 0) return { exposed: [] };
  const { inputs, exposed } = masked(
    kind,
    Object.fromEntries(names.map((name) => [name, outputs[name]])),
    [],
  );
  return { details: inputs, exposed };
}

/** A key for each resource: the uid, but where that is another resource's too. */
export function keyOf(kind: string, uid: string, parentUid: Json | undefined): string {
  return specs[kind]?.sharesParentUid === true || uid === parentUid ? `${kind}:${uid}` : uid;
}

/** What `.get` read: a state has no inputs of it, only what was answered. */
function declaredOf(resource: RecordedResource): Props {
  if (!resource.external || Object.keys(resource.inputs).length > 0) return resource.inputs;
  const fields = specs[resource.kind ?? ""]?.fields ?? {};
  return Object.fromEntries(Object.entries(resource.outputs).filter(([key]) => key in fields));
}

/** A resource of a state as an entity. */
export function entityOf(
  resource: RecordedResource & { readonly kind: string },
  key: string,
  uid: string | undefined,
): Entity {
  const { inputs, exposed } = masked(resource.kind, declaredOf(resource), resource.hidden);
  const told = detailsOf(resource.kind, resource.outputs);
  const open = [...exposed, ...told.exposed];
  return {
    key,
    kind: resource.kind,
    uid,
    urn: resource.urn,
    name: nameOf(inputs),
    inputs,
    unresolved: unknownPaths(resource.kind, inputs),
    hidden: resource.hidden,
    location: resource.location,
    ...(open.length > 0 ? { exposed: open } : {}),
    ...(resource.external ? { external: true } : {}),
    ...(resource.protect ? { protect: true } : {}),
    ...(told.details ? { details: told.details } : {}),
  };
}

/** A resource of the live organisation as an entity. */
export function entityOfObject(object: InventoryObject): Entity {
  const { inputs } = masked(object.kind, object.inputs, []);
  return {
    key: keyOf(object.kind, object.uid, object.inputs["parentUid"]),
    kind: object.kind,
    uid: object.uid,
    name: nameOf(inputs),
    inputs,
    unresolved: [],
    hidden: [],
    external: true,
    ...(object.builtIn ? { builtIn: true } : {}),
    ...(object.lastSeenTime === undefined ? {} : { lastSeenTime: object.lastSeenTime }),
    ...(object.details === undefined ? {} : { details: object.details }),
  };
}

/** Everything that exists, with what it grants. */
export function worldOf(entities: ReadonlyMap<string, Entity>): World {
  return { entities, grants: grantsOf(entities) };
}

export function worldOfInventory(inventory: Inventory): World {
  return worldOf(new Map(inventory.objects.map(entityOfObject).map((entity) => [entity.key, entity])));
}

export function worldOfState(recorded: StateExport): World {
  return buildWorlds(fatesOf([], recorded), undefined).after;
}

const isOurs = (resource: RecordedResource | undefined): resource is RecordedResource & { kind: string } =>
  resource?.kind !== undefined;

/** What becomes of one resource; of one that is not of this package there are no entities. */
export interface Change {
  readonly fate: Fate;
  /** The registry key; the type token of what is not of this package. */
  readonly kind: string;
  readonly before?: Entity;
  readonly after?: Entity;
}

export interface Worlds {
  readonly before: World;
  readonly after: World;
  readonly changes: readonly Change[];
  /** What could not be resolved, a line each. */
  readonly unresolved: readonly string[];
}

class Builder {
  readonly before = new Map<string, Entity>();
  readonly after = new Map<string, Entity>();
  readonly changes: Change[] = [];
  readonly unresolved: string[] = [];
  private readonly byUrn: ReadonlyMap<string, Fate>;
  private readonly keys = new Map<string, string>();
  /** What is at the server no longer once all is done. */
  private readonly gone = new Set<string>();
  /** Replaced, and still at the server beside its successor, which has its key: the keys of these, by uid. */
  private readonly retained = new Map<string, string>();

  constructor(private readonly fates: readonly Fate[]) {
    this.byUrn = new Map(fates.map((fate) => [fate.urn, fate]));
  }

  /** The uid that stays; undefined of what is made anew. */
  private static uidAfter({ op, before, after }: Fate): string | undefined {
    if (op === "create" || op === "replace") return undefined;
    if (op === "import") return after?.importId ?? after?.id;
    return before?.id ?? after?.id;
  }

  private key(fate: Fate): string {
    const known = this.keys.get(fate.urn);
    if (known !== undefined) return known;
    const resource = fate.before ?? fate.after;
    const uid = fate.before?.id ?? Builder.uidAfter(fate);
    const parent = resource === undefined ? undefined : declaredOf(resource)["parentUid"];
    const key = uid === undefined ? fate.urn : keyOf(resource?.kind ?? "", uid, parent);
    this.keys.set(fate.urn, key);
    return key;
  }

  private who({ urn }: Fate): string {
    const { type, name } = urnParts(urn);
    return `${type.slice(type.lastIndexOf(":") + 1)} ${name}`;
  }

  /** The dependencies that an unknown reference may come from, as far as the engine tells them. */
  private resolve(fate: Fate, resource: RecordedResource, leaf: Leaf): string | undefined {
    const urns = resource.dependencies?.[leaf.property] ?? [];
    const wanted = referredKind(leaf);
    const fits = (urn: string): boolean => {
      const kind = (this.byUrn.get(urn)?.after ?? this.byUrn.get(urn)?.before)?.kind;
      return kind !== undefined && (wanted === undefined || kind === wanted);
    };
    const fitting = urns.filter(fits);
    // An object or a map holds more than one reference: only what is new can be the unknown one.
    const isPart = leaf.path !== leaf.property;
    const candidates = isPart
      ? fitting.filter((urn) => ["create", "replace"].includes(this.byUrn.get(urn)?.op ?? ""))
      : fitting;
    const [only] = candidates;
    if (only !== undefined && candidates.length === 1 && (isPart || urns.length === 1)) {
      const of = this.byUrn.get(only);
      return of === undefined ? undefined : this.key(of);
    }
    const names = urns.map((urn) => urnParts(urn).name).sort();
    const cause =
      names.length === 0
        ? "the document does not tell what it depends on"
        : `it depends on ${names.join(", ")}, and which of it is not told`;
    this.unresolved.push(`${this.who(fate)}: ${leaf.path} is not known yet: ${cause}`);
    return undefined;
  }

  private foreseen(fate: Fate, resource: RecordedResource & { kind: string }): Entity {
    const known = entityOf(resource, this.key(fate), Builder.uidAfter(fate));
    const spec = specs[resource.kind];
    if (spec === undefined) return known;
    const inputs = mapLeaves(spec, known.inputs, (value, leaf) => {
      if (!isReference(leaf)) return value;
      return isUnknown(value)
        ? (this.resolve(fate, resource, leaf) ?? UNKNOWN)
        : this.withoutSuccessor(value);
    });
    for (const path of known.unresolved) {
      const top = spec.fields[path.split(/[.[]/)[0] ?? ""];
      const stillUnknown = unknownPaths(resource.kind, inputs).includes(path);
      const told = this.unresolved.some((line) => line.startsWith(`${this.who(fate)}: ${path} `));
      if (top?.security === true && stillUnknown && !told) {
        this.unresolved.push(`${this.who(fate)}: ${path} is not known yet`);
      }
    }
    return { ...known, inputs, unresolved: unknownPaths(resource.kind, inputs) };
  }

  private static put(entities: Map<string, Entity>, entity: Entity): void {
    const other = entities.get(entity.key);
    if (other === undefined || (other.external === true && entity.external !== true)) {
      entities.set(entity.key, entity);
    } else if (entity.external !== true && entity.urn !== undefined && entity.urn !== other.urn) {
      entities.set(entity.urn, { ...entity, key: entity.urn });
    }
  }

  private static readonly leaves = ({ op, before }: Fate): boolean =>
    (op === "delete" || op === "replace") && before?.external !== true && before?.retainOnDelete !== true;

  build(): void {
    const ours = this.fates.filter(({ before, after }) => isOurs(after ?? before));
    for (const fate of ours) {
      const { op, before } = fate;
      // Kinds that share their parent's uid are referred to by nobody.
      if (before?.id === undefined || this.key(fate) !== before.id) continue;
      if (Builder.leaves(fate)) this.gone.add(before.id);
      else if (op === "replace") this.retained.set(before.id, this.key(fate) + RETAINED);
    }
    for (const fate of this.fates) {
      const type = (fate.after ?? fate.before)?.type ?? "";
      const isForeign = kindOf(type) === undefined && type !== "" && !type.startsWith("pulumi:");
      if (isForeign && fate.op !== "same" && fate.op !== "read") this.changes.push({ fate, kind: type });
    }
    for (const fate of ours) {
      const { op } = fate;
      const key = this.key(fate);
      const recorded = isOurs(fate.before) ? entityOf(fate.before, key, fate.before.id) : undefined;
      let after = isOurs(fate.after) ? this.foreseen(fate, fate.after) : undefined;
      let before = recorded;
      if (op === "read" || op === "import") {
        // A step that reads shows what it read in the state before, or not at all.
        const told = [after, recorded].find((entity) => Object.keys(entity?.inputs ?? {}).length > 0);
        after = after && { ...after, ...(told ? { inputs: told.inputs, name: told.name } : {}) };
        before = after;
      }
      // What only leaves the program stays where it is.
      if (op === "delete" && recorded && !Builder.leaves(fate)) {
        after = { ...this.asItStays(recorded), external: true };
      }
      if (before) Builder.put(this.before, before);
      if (after) Builder.put(this.after, after);
      if (op === "replace" && recorded && !Builder.leaves(fate)) {
        const own = key + RETAINED;
        this.after.set(own, { ...this.asItStays(recorded), key: own, external: true });
      }
      const kind = (after ?? before)?.kind;
      if (kind !== undefined) this.changes.push({ fate, kind, before, after });
    }
  }

  /** Adds what no program knows, and what only the server tells. */
  addInventory(inventory: Inventory): void {
    const owners = [...this.before.values()].filter(({ kind }) => accessKinds[kind]?.ownsBindings);
    const owned = new Set(owners.flatMap(boundBy));
    const replaced = new Set(
      this.changes.filter(({ fate }) => fate.op === "replace").map(({ before }) => before?.key),
    );
    for (const object of inventory.objects) {
      const live = entityOfObject(object);
      const { key, lastSeenTime, details, builtIn } = live;
      const extra = {
        ...(builtIn ? { builtIn } : {}),
        ...(lastSeenTime === undefined ? {} : { lastSeenTime }),
      };
      const complete = (entity: Entity): Entity => ({
        ...entity,
        ...(Object.keys(entity.inputs).length === 0 ? { inputs: live.inputs, name: live.name } : {}),
        ...extra,
        ...(details === undefined ? {} : { details: { ...details, ...entity.details } }),
      });
      const [before, after] = [this.before.get(key), this.after.get(key)];
      if (before) this.before.set(key, complete(before));
      if (after && !replaced.has(key)) this.after.set(key, complete(after));
      // A binding of a resource that owns all of them is no other grant.
      const bound = boundBy(live);
      const isOwned = bound.length > 0 && bound.every((one) => owned.has(one));
      if (before || after || isOwned) continue;
      this.before.set(key, live);
      if (!this.gone.has(key)) this.after.set(key, this.asItStays(live));
    }
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
  const builder = new Builder(fates);
  builder.build();
  if (inventory) builder.addInventory(inventory);
  return {
    before: worldOf(builder.before),
    after: worldOf(builder.after),
    changes: builder.changes,
    unresolved: builder.unresolved,
  };
}
