import type { FieldSpec } from "../../fields/fieldSpec";
import { aggregatedKind, identityKey, onSameObject } from "../../fields/resourceSpec";
import type { ResourceSpec } from "../../fields/resourceSpec";
import { isUnknown, SECRET_MASK, isObject, getOrCompute } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { isUid, parentOf } from "../../text/uid";
import type { RecordedResource } from "../documents/engineState";
import { listsObject } from "../documents/inventory";
import type { InventoryObject, Inventory } from "../documents/inventory";
import { specs } from "../documents/specs";
import { accessKinds, bindingKeys } from "./accessKinds";
import type { JoinedStep } from "./graphBuilder";
import { pathsMeant, textAt } from "./describedFields";
import { compositeKey } from "./entityKeys";
import type { Entity } from "./model";
import { isPathWithin, isReference, leavesIn, mapLeaves } from "./inputLeaves";
import type { Leaf } from "./inputLeaves";
import { isUnread, unreadAt, reasonOf } from "./unread";
import type { UnreadPlace, UnreadReason, UnreadValue } from "./unread";

/** A key for each resource: the uid, but where that is another resource's too. */
export function entityKey(kind: string, uid: string, parentUid: Json | undefined): string {
  return specs[kind]?.sharesParentUid === true || uid === parentUid ? compositeKey("part", uid, kind) : uid;
}

function readKnownName(inputs: Props): string | undefined {
  const { name } = inputs;
  return typeof name === "string" && name !== "" && !isUnread(name) && name !== SECRET_MASK
    ? name
    : undefined;
}

/** Whether a value stands for none at all. */
const isEmpty = (value: Json | undefined): boolean => value === undefined || value === null || value === "";

/**
 * Whether a value has the form of its field. Another type in the place of an object is reported as unreadable, and so is a
 * reference that is no uid: it could look like the key of another resource.
 */
function hasFormOf(field: FieldSpec, value: Json | undefined): boolean {
  if (value === undefined || value === null) return true;
  switch (field.type) {
    case "string":
      return typeof value === "string" && (!isReference({ field }) || value === "" || isUid(value));
    case "enum":
      return typeof value === "string";
    case "boolean":
      return typeof value === "boolean";
    case "integer":
      return typeof value === "number";
    default:
      // The members of lists, maps and objects are visited instead, so a value here has another type than
      // these.
      return false;
  }
}

/** Whether a program leaves out what it must declare: without it a grant leads nowhere, and would not be seen. */
function isMissing({ field, isRequired }: Leaf, value: Json | undefined): boolean {
  return isRequired && (isReference({ field }) ? isEmpty(value) : value === null);
}

interface ReadInputs {
  readonly inputs: Props;
  readonly unread: readonly UnreadValue[];
  /** Where a secret by its nature stood in plain text. */
  readonly plaintextSecrets: readonly string[];
}

/**
 * Inputs in which each value is exact, or a placeholder of a value that was not read.
 *
 * @param mustBeComplete a program must declare all that is required.
 */
function readInputs(
  spec: ResourceSpec | undefined,
  inputs: Props,
  secretPaths: readonly string[],
  placeOf: (reason: UnreadReason) => Omit<UnreadPlace, "path">,
  mustBeComplete = false,
): ReadInputs {
  const unread: UnreadValue[] = [];
  const plaintextSecrets: string[] = [];
  const secret = new Set(secretPaths);
  const isInSecret = (path: string): boolean => secretPaths.some((outer) => isPathWithin(path, outer));
  const readLeaf = (value: Json | undefined, leaf: Leaf): Json | undefined => {
    const { path, property, field, decidesAccess } = leaf;
    const isHidden = value === SECRET_MASK && secret.has(path);
    if (field.secret === true && (value ?? "") !== "" && !isUnknown(value)) {
      if (value !== SECRET_MASK && !isInSecret(path)) plaintextSecrets.push(path);
      return SECRET_MASK;
    }
    const reason = isHidden
      ? "secret"
      : isUnknown(value)
        ? "unknown"
        : isUnread(value) || !hasFormOf(field, value) || (mustBeComplete && isMissing(leaf, value))
          ? "unreadable"
          : undefined;
    if (reason === undefined) return value;
    unread.push({ path, property, reason, decidesAccess });
    return unreadAt(reason, { ...placeOf(reason), path });
  };
  const isVisitedAbsent = (field: FieldSpec): boolean =>
    mustBeComplete && field.required === true && isReference({ field });
  const read = mapLeaves(spec, inputs, readLeaf, isVisitedAbsent);
  return { inputs: read, unread, plaintextSecrets };
}

/** The members that only the server sets on a managed resource, from its state. */
function readServerDetails(
  kind: string,
  outputs: Props,
): { details?: Props; plaintextSecrets: readonly string[] } {
  const names = Object.keys(specs[kind]?.outputs ?? {}).filter(
    (name) => outputs[name] !== undefined && !isUnknown(outputs[name]),
  );
  if (names.length === 0) return { plaintextSecrets: [] };
  const recorded = Object.fromEntries(names.map((name) => [name, outputs[name]]));
  const place = { urn: "", side: "before" } as const;
  const { inputs, plaintextSecrets } = readInputs(specs[kind], recorded, [], () => place);
  return { details: inputs, plaintextSecrets };
}

/** What a program declares of a resource; of one that was read with `.get`, what was answered. */
export function declaredOf(resource: RecordedResource): Props {
  if (!resource.external || Object.keys(resource.inputs).length > 0) return resource.inputs;
  const fields = specs[resource.kind ?? ""]?.fields ?? {};
  return Object.fromEntries(Object.entries(resource.outputs).filter(([key]) => Object.hasOwn(fields, key)));
}

/** How a resource of a state becomes an entity. */
interface Reading {
  readonly key: string;
  readonly uid: string | undefined;
  readonly side: UnreadPlace["side"];
  /** The engine has compared its secrets with those from before, and found them equal. */
  readonly isSame?: boolean;
  /** A program declares it, and so all that is required. */
  readonly mustBeComplete?: boolean;
}

/** A resource of a state as an entity. */
export function toEntity(
  resource: RecordedResource & { readonly kind: string },
  { key, uid, side, isSame = false, mustBeComplete = false }: Reading,
): Entity {
  const { kind, urn, secretPaths } = resource;
  const placeOf = (reason: UnreadReason): Omit<UnreadPlace, "path"> => ({
    urn,
    side: isSame && reason === "secret" ? "before" : side,
  });
  const { inputs, unread, plaintextSecrets } = readInputs(
    specs[kind],
    declaredOf(resource),
    secretPaths,
    placeOf,
    mustBeComplete,
  );
  const recorded = readServerDetails(kind, resource.outputs);
  const plaintext = [...plaintextSecrets, ...recorded.plaintextSecrets];
  return {
    key,
    kind,
    uid,
    urn,
    name: readKnownName(inputs),
    inputs,
    secretPaths,
    location: resource.location,
    ...(unread.length > 0 ? { unread } : {}),
    ...(plaintext.length > 0 ? { plaintextSecrets: plaintext } : {}),
    ...(resource.external ? { external: true } : {}),
    ...(resource.protect ? { protect: true } : {}),
    ...(recorded.details ? { details: recorded.details } : {}),
  };
}

/** A resource of the live organisation as an entity. */
export function entityOfObject(object: InventoryObject): Entity {
  const { kind, uid } = object;
  const { inputs, unread } = readInputs(specs[kind], object.inputs, [], () => ({ urn: uid, side: "before" }));
  return {
    key: entityKey(kind, uid, object.inputs["parentUid"]),
    kind,
    uid,
    name: readKnownName(inputs),
    inputs,
    secretPaths: [],
    external: true,
    ...(unread.length > 0 ? { unread } : {}),
    ...(object.builtIn ? { builtIn: true } : {}),
    lastSeenTime: object.lastSeenTime,
    updateTime: object.updateTime,
    details: object.details,
  };
}

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

/** What decides access and may be a secret: an address may hold a token, a variable a password. */
const SECRET_MEANINGS = ["events.receiver", "images.variables"] as const;

/**
 * Hides the server's value where the program keeps it secret, so that no report shows it. Who may do what is no secret: the
 * inventory shows it, and it is judged as it is.
 */
function hideSecrets(spec: ResourceSpec, live: Props, { urn = "", secretPaths }: Entity): Props {
  if (secretPaths.length === 0) return live;
  const mayBeSecret = SECRET_MEANINGS.flatMap((meaning) => pathsMeant(spec.kind, meaning));
  const isShown = ({ path, decidesAccess }: Leaf): boolean =>
    decidesAccess && !mayBeSecret.some((outer) => isPathWithin(path, outer));
  // A secret inside a list hides all of the list, whose order may differ.
  const hidden = secretPaths.map((path) => ({ path, start: path.replace(/\[\d.*/s, "") }));
  return mapLeaves(spec, live, (value, leaf) => {
    if (leaf.field.secret === true || isShown(leaf)) return value;
    const secret = hidden.find(({ start }) => isPathWithin(leaf.path, start));
    return secret === undefined ? value : unreadAt("secret", { urn, side: "before", path: secret.path });
  });
}

/** An entity with other inputs, and what they say about it. */
export function withInputs(entity: Entity, inputs: Props): Entity {
  const unread = leavesIn(specs[entity.kind], inputs).flatMap(({ value, path, property, decidesAccess }) =>
    isUnread(value) ? [{ path, property, reason: reasonOf(value), decidesAccess }] : [],
  );
  return { ...entity, inputs, unread: unread.length > 0 ? unread : undefined, name: textAt(inputs, "name") };
}

/** The objects of the live organisation, by the keys of the resources that record them. */
export class LiveObjects {
  private readonly byKey: ReadonlyMap<string, Entity>;
  private readonly kindByUid = new Map<string, string>();
  /** The bindings of each group. */
  private readonly grants = new Map<string, Set<string>>();
  /** What a create writes over where it names it by its arguments. */
  private readonly byIdentity = new Map<string, Entity>();

  constructor(private readonly inventory: Inventory | undefined) {
    const entities = (inventory?.objects ?? []).map(entityOfObject);
    this.byKey = new Map(entities.map((entity) => [entity.key, entity]));
    for (const entity of entities) {
      if (entity.uid === entity.key) this.kindByUid.set(entity.key, entity.kind);
      const spec = specs[entity.kind];
      const identity =
        spec && onSameObject(spec) === "takenOver" ? identityKey(spec, entity.inputs) : undefined;
      if (identity !== undefined) this.byIdentity.set(identity, entity);
      if (accessKinds[entity.kind]?.binding !== true) continue;
      const group = parentOf(entity.uid ?? "") ?? "";
      const keys = getOrCompute(this.grants, group, () => new Set());
      for (const key of bindingKeys(entity)) keys.add(key);
    }
  }

  all(): Iterable<Entity> {
    return this.byKey.values();
  }

  get(key: string): Entity | undefined {
    return this.byKey.get(key);
  }

  /** The object that a create of this identity writes over. */
  overwrittenBy(identity: string): Entity | undefined {
    return this.byIdentity.get(identity);
  }

  /** Whether a uid is that of an object of another kind. */
  isOfOtherKind(kind: string, uid: string): boolean {
    const own = this.kindByUid.get(uid);
    return own !== undefined && own !== kind && specs[kind]?.sharesParentUid !== true;
  }

  /** Whether there is an inventory that lists this kind. */
  hasKind(kind: string): boolean {
    return this.inventory?.kinds.includes(kind) === true;
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

/** What only a program says of an object. */
export function saidByProgram(resource: Entity) {
  const { urn, location, protect, external, secretPaths, plaintextSecrets } = resource;
  return { urn, location, protect, external, secretPaths, plaintextSecrets };
}

/** A live object as the resource of a program. */
function asManaged(spec: ResourceSpec, live: Entity, recorded: Entity): Entity {
  const { key, details } = recorded;
  const all = details || live.details ? { ...details, ...live.details } : undefined;
  const entity: Entity = { ...live, ...saidByProgram(recorded), key, details: all };
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
export function uidAfter({ op, before, after }: JoinedStep): string | undefined {
  if (op === "create" || op === "replace") return undefined;
  if (op === "import") return isUid(after?.importId) ? after.importId : recordedUid(after);
  return recordedUid(before) ?? recordedUid(after);
}

/** The key of each resource of a change: one before it and after it. */
export class ResourceKeys {
  private readonly keys = new WeakMap<JoinedStep, string>();

  constructor(private readonly live: LiveObjects) {}

  /** Whether the uid that a stack records is that of an object of another kind: it then identifies nothing. */
  isOfOtherKind(step: JoinedStep): boolean {
    const { before, after } = step;
    const uid = recordedUid(before) ?? uidAfter(step);
    const kind = (before ?? after)?.kind;
    return uid !== undefined && kind !== undefined && this.live.isOfOtherKind(kind, uid);
  }

  /** The uid before the change. */
  uidOf(step: JoinedStep): string | undefined {
    return this.isOfOtherKind(step) ? undefined : recordedUid(step.before);
  }

  of(step: JoinedStep): string {
    return getOrCompute(this.keys, step, () => {
      const resource = step.before ?? step.after;
      const uid = recordedUid(step.before) ?? uidAfter(step);
      const parent = resource === undefined ? undefined : declaredOf(resource)["parentUid"];
      const hasOwnKey = uid !== undefined && !this.isOfOtherKind(step);
      return hasOwnKey ? entityKey(resource?.kind ?? "", uid, parent) : step.urn;
    });
  }
}
