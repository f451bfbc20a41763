import { isUid, parentOf } from "../../text/uid";
import type { FieldSpec } from "../../fields/fieldSpec";
import { aggregatedKind } from "../../fields/resourceSpec";
import type { ResourceSpec } from "../../fields/resourceSpec";
import { isObject } from "../../fields/values";
import type { Props } from "../../fields/values";
import { listsObject } from "../documents/inventory";
import type { Inventory } from "../documents/inventory";
import { specs } from "../documents/specs";
import { accessKinds, bindingKeys } from "./accessKinds";
import { declaredOf, entityKey, entityOfObject } from "./entities";
import type { Entity } from "./model";
import { mapLeaves, pathsAround } from "./references";
import { isUnread, reasonOf, unreadAt } from "./unread";
import type { UnreadValue } from "./unread";
import type { RecordedResource } from "../documents/engineState";
import type { ResourcePlan } from "./resourcePlan";

/** What the live organisation says of a resource: its object, that there is none, or nothing. */
export type LiveState = { readonly entity: Entity } | "missing" | "notListed";

/** The values of an object, with the recorded ones of what no response contains. */
function addUnreturned(fields: Readonly<Record<string, FieldSpec>>, recorded: Props, live: Props): Props {
  const added: Props = { ...live };
  for (const [key, field] of Object.entries(fields)) {
    const [old, now] = [recorded[key], live[key]];
    if (field.inputOnly || field.secret) added[key] = old;
    else if (field.type === "object" && isObject(old) && isObject(now)) {
      added[key] = addUnreturned(field.fields, old, now);
    }
  }
  return added;
}

/** A value that the program keeps secret stays hidden: a report must not show the server's. */
function hideSecrets(spec: ResourceSpec, live: Props, { urn = "", secretPaths }: Entity): Props {
  if (secretPaths.length === 0) return live;
  const hidden = new Map<string, string>();
  for (const path of secretPaths) {
    // A secret inside a list hides all of the list, whose order may differ.
    const start = path.split("[")[0] ?? path;
    if (!hidden.has(start)) hidden.set(start, path);
  }
  return mapLeaves(spec, live, (value, leaf) => {
    if (leaf.field.secret === true) return value;
    const path = pathsAround(leaf.path).flatMap((around) => hidden.get(around) ?? [])[0];
    return path === undefined ? value : unreadAt("secret", { urn, side: "before", path });
  });
}

/** An entity with other inputs, and what they say about it. */
export function withInputs(entity: Entity, inputs: Props): Entity {
  const spec = specs[entity.kind];
  const unread: UnreadValue[] = [];
  if (spec !== undefined) {
    mapLeaves(spec, inputs, (value, { path, property, decidesAccess }) => {
      if (isUnread(value)) unread.push({ path, property, reason: reasonOf(value), decidesAccess });
      return value;
    });
  }
  const { name } = inputs;
  const isName = typeof name === "string" && name !== "" && !isUnread(name);
  return {
    ...entity,
    inputs,
    unread: unread.length > 0 ? unread : undefined,
    name: isName ? name : undefined,
  };
}

/** The objects of the live organisation, by the keys of the resources that record them. */
export class LiveObjects {
  private readonly byKey: ReadonlyMap<string, Entity>;
  private readonly kindByUid = new Map<string, string>();
  /** The bindings of each group. */
  private readonly grants = new Map<string, Set<string>>();

  constructor(private readonly inventory: Inventory | undefined) {
    const entities = (inventory?.objects ?? []).map(entityOfObject);
    this.byKey = new Map(entities.map((entity) => [entity.key, entity]));
    for (const entity of entities) {
      if (entity.uid === entity.key) this.kindByUid.set(entity.key, entity.kind);
      if (accessKinds[entity.kind]?.binding !== true) continue;
      const group = parentOf(entity.uid ?? "") ?? "";
      const keys = this.grants.get(group) ?? new Set();
      this.grants.set(group, keys);
      for (const key of bindingKeys(entity)) keys.add(key);
    }
  }

  all(): Iterable<Entity> {
    return this.byKey.values();
  }

  get(key: string): Entity | undefined {
    return this.byKey.get(key);
  }

  /** Whether a uid is that of an object of another kind. */
  isOfOtherKind(kind: string, uid: string): boolean {
    const own = this.kindByUid.get(uid);
    return own !== undefined && own !== kind && specs[kind]?.sharesParentUid !== true;
  }

  /** Whether the inventory contains each object of this kind there. */
  lists(kind: string, uid: string): boolean {
    const listed = aggregatedKind(specs[kind] ?? {}) ?? kind;
    return this.inventory !== undefined && listsObject(this.inventory, listed, uid);
  }

  /** What the server has of a resource, in the place of what a stack records of it. */
  find(recorded: Entity): LiveState {
    const { kind, uid, key } = recorded;
    const spec = specs[kind];
    if (uid === undefined || spec === undefined) return "notListed";
    const isListed = this.lists(kind, uid);
    if (aggregatedKind(spec) !== undefined) {
      return isListed ? { entity: this.withLiveBindings(recorded, uid) } : "notListed";
    }
    const live = this.byKey.get(key);
    if (live === undefined) return isListed ? "missing" : "notListed";
    return { entity: asManaged(spec, live, recorded) };
  }

  /** A resource that owns all bindings of a group, with those that the group has. What cannot be read stays. */
  private withLiveBindings(recorded: Entity, group: string): Entity {
    const { bindings } = recorded.inputs;
    if (!isObject(bindings)) return recorded;
    const live = this.grants.get(group) ?? new Set();
    const held = Object.entries(bindings).filter(([, binding]) => {
      if (!isObject(binding)) return true;
      const { identityUid, roleUid } = binding;
      if (isUnread(identityUid) || isUnread(roleUid)) return true;
      return live.has(JSON.stringify([identityUid, roleUid, group]));
    });
    return withInputs(recorded, { ...recorded.inputs, bindings: Object.fromEntries(held) });
  }
}

/** A live object as the resource of a program. */
function asManaged(spec: ResourceSpec, live: Entity, recorded: Entity): Entity {
  const { urn, location, protect, external, secretPaths, plaintextSecrets, details } = recorded;
  const entity: Entity = {
    ...live,
    key: recorded.key,
    urn,
    location,
    secretPaths,
    protect,
    external,
    plaintextSecrets,
    details: details || live.details ? { ...details, ...live.details } : undefined,
  };
  const known = addUnreturned(spec.fields, recorded.inputs, live.inputs);
  return withInputs(entity, hideSecrets(spec, known, recorded));
}

/** A resource of a kind of this package. */
export type RecordedOfKind = RecordedResource & { readonly kind: string };

export const isManagedKind = (resource: RecordedResource | undefined): resource is RecordedOfKind =>
  resource?.kind !== undefined;

/** The uid of a resource; undefined of a new one, and of an id that no server of the API assigns. */
export const recordedUid = (resource: RecordedResource | undefined): string | undefined =>
  isUid(resource?.id) ? resource.id : undefined;

/** The uid after the change; undefined where the change creates the resource. */
export function uidAfter({ op, before, after }: ResourcePlan): string | undefined {
  if (op === "create" || op === "replace") return undefined;
  if (op === "import") return isUid(after?.importId) ? after.importId : recordedUid(after);
  return recordedUid(before) ?? recordedUid(after);
}

/** The key of each planned resource: one before and after the change. */
export class PlanKeys {
  private readonly keys = new Map<string, string>();

  constructor(private readonly live: LiveObjects) {}

  /** Whether the uid that a stack records is that of an object of another kind: it then identifies nothing. */
  isOfOtherKind(plan: ResourcePlan): boolean {
    const { before, after } = plan;
    const uid = recordedUid(before) ?? uidAfter(plan);
    const kind = (before ?? after)?.kind;
    return uid !== undefined && kind !== undefined && this.live.isOfOtherKind(kind, uid);
  }

  /** The uid before the change. */
  uidOf(plan: ResourcePlan): string | undefined {
    return this.isOfOtherKind(plan) ? undefined : recordedUid(plan.before);
  }

  of(plan: ResourcePlan): string {
    const known = this.keys.get(plan.urn);
    if (known !== undefined) return known;
    const resource = plan.before ?? plan.after;
    const uid = recordedUid(plan.before) ?? uidAfter(plan);
    const parent = resource === undefined ? undefined : declaredOf(resource)["parentUid"];
    const key =
      uid === undefined || this.isOfOtherKind(plan) ? plan.urn : entityKey(resource?.kind ?? "", uid, parent);
    this.keys.set(plan.urn, key);
    return key;
  }
}
