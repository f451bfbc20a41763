import { isUid } from "../../text/uid";
import type { FieldSpec } from "../../fields/fieldSpec";
import type { ResourceSpec } from "../../fields/resourceSpec";
import { isUnknown, SECRET_MASK } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import type { RecordedResource } from "../documents/engineState";
import type { InventoryObject } from "../documents/inventory";
import { compositeKey } from "./keys";
import type { Entity } from "./model";
import { isPathWithin, isReference, mapLeaves } from "./references";
import type { Leaf } from "./references";
import { specs } from "../documents/specs";
import { isUnread, unreadAt } from "./unread";
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
  if (spec === undefined) return { inputs, unread: [], plaintextSecrets: [] };
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
    ...(object.lastSeenTime === undefined ? {} : { lastSeenTime: object.lastSeenTime }),
    ...(object.updateTime === undefined ? {} : { updateTime: object.updateTime }),
    ...(object.details === undefined ? {} : { details: object.details }),
  };
}
