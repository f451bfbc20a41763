import { parentOf } from "../text/uid";
import { isSent, isSet } from "./equal";
import type { FieldSpec } from "./fieldSpec";
import { formats } from "./formats";
import type { ResourceSpec } from "./resourceSpec";
import { isObject } from "./values";
import type { Json, Props } from "./values";
import { hasType, partsOf, typeNames } from "./walk";

/* The JSON that the API takes and returns: values are written for a request, and read from a response. */

/** The name of a field on the wire. */
export function wireName(key: string, spec: FieldSpec): string {
  return spec.wire ?? key;
}

/** A value as it is sent: fields renamed, unset members left out. */
export function toWire(spec: FieldSpec, value: Json | undefined): Json {
  if (value === undefined || value === null) return null;
  if (spec.type === "string" && spec.format !== undefined && typeof value === "string") {
    return formats[spec.format].toWire?.(value) ?? value;
  }
  if (spec.type === "list" && Array.isArray(value)) return value.map((item) => toWire(spec.items, item));
  if (spec.type === "map" && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, toWire(spec.values, member)]),
    );
  }
  if (spec.type === "object" && isObject(value)) {
    return Object.fromEntries(
      Object.entries(spec.fields)
        .filter(([key, field]) => isSent(field, value[key]))
        .map(([key, field]) => [wireName(key, field), toWire(field, value[key])]),
    );
  }
  return value;
}

/** Returns the value that clears a field when the mask names it. */
export function emptyWireValue(spec: FieldSpec): Json {
  switch (spec.type) {
    case "string":
      return spec.format !== undefined && formats[spec.format].isNullable ? null : "";
    case "enum":
      return `${spec.prefix}UNSPECIFIED`;
    case "boolean":
      return spec.default ?? false;
    case "integer":
      return 0;
    case "list":
      return [];
    case "map":
      return {};
    case "object":
      return null;
  }
}

/** Builds the body of a create from the fields that the program set. */
export function buildCreateBody(spec: ResourceSpec, inputs: Props): Props {
  return Object.fromEntries(
    Object.entries(spec.fields)
      .filter(([key, field]) => !field.path && !field.subresource && isSent(field, inputs[key]))
      .map(([key, field]) => [wireName(key, field), toWire(field, inputs[key])]),
  );
}

/** A value of a response, in the form of inputs; undefined where it is not set. */
export function fromWire(spec: FieldSpec, value: Json | undefined): Json | undefined {
  if (!isSet(spec, value) && !(spec.type === "object" && isObject(value))) return undefined;
  if (spec.type === "list" && Array.isArray(value)) {
    return value.map((item) => fromWire(spec.items, item) ?? item);
  }
  if (spec.type === "map" && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, fromWire(spec.values, member) ?? member ?? null]),
    );
  }
  if (spec.type === "object" && isObject(value)) {
    const members = readFields(spec.fields, value);
    return Object.keys(members).length === 0 ? undefined : members;
  }
  // The API may write a number as a string.
  return spec.type === "integer" && typeof value === "string" ? Number(value) : value;
}

function readFields(fields: Readonly<Record<string, FieldSpec>>, body: Props): Props {
  const entries = Object.entries(fields)
    .map(([key, field]): [string, Json | undefined] => [key, fromWire(field, body[wireName(key, field)])])
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries);
}

/** The uid of a field, or that of the object that a response contains instead. A value of another type is passed on. */
function resolveHydratedUid(field: FieldSpec, uid: Json | undefined, body: Props): Json | undefined {
  if (field.type !== "string" || field.hydratedIn === undefined) return uid;
  if (uid !== undefined && uid !== null && uid !== "") return uid;
  const object = body[field.hydratedIn];
  return isObject(object) ? object["uid"] : undefined;
}

/** A response in the form of the fields. */
export function normalizeBody(spec: ResourceSpec, response: Props, uid: string): Props {
  const body = spec.operations?.normalizeResponse?.(response, uid) ?? response;
  const uids = Object.entries(spec.fields)
    .filter(([, field]) => field.type === "string" && field.hydratedIn !== undefined)
    .map(([key, field]) => [key, resolveHydratedUid(field, body[key], body)] as const);
  return uids.length === 0 ? body : { ...body, ...Object.fromEntries(uids) };
}

/** The uid of the parent, from the uid of a resource. */
export function parentUidOf(spec: ResourceSpec, uid: string): string | undefined {
  return spec.sharesParentUid ? uid : parentOf(uid);
}

/** The fields of a response that a program can set, in the form of inputs. */
export function readBody(spec: ResourceSpec, body: Props, uid: string): Props {
  return readFields(spec.fields, normalizeBody(spec, body, uid));
}

/** The outputs in a response; an output that it omits, or that is returned only once, is kept. */
export function readOutputs(spec: ResourceSpec, body: Props, uid: string, olds: Props): Props {
  const fields = spec.outputs ?? {};
  const normalized = normalizeBody(spec, body, uid);
  const kept = Object.entries(fields)
    .filter(
      ([key, field]) =>
        olds[key] !== undefined && (field.createOnly || !(wireName(key, field) in normalized)),
    )
    .map(([key]) => [key, olds[key]] as const);
  return { ...Object.fromEntries(kept), ...readFields(fields, normalized) };
}

/** Finds the first value that does not have its field's type: its path, and the expected type. Every field accepts null. */
function findMismatch(field: FieldSpec, path: string, value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (!hasType(field, value, "api")) return `${path.replace(/^\./, "")} is not ${typeNames[field.type]}`;
  for (const part of partsOf(field, value, wireName)) {
    const wrong = findMismatch(part.field, `${path}${part.at}`, part.value);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

/** The first value of a response that does not have the type of its field, as in `name is not a string`; undefined if there is none. */
export function findSchemaMismatch(spec: ResourceSpec, body: Props, uid: string): string | undefined {
  const fields = { ...spec.fields, ...spec.outputs };
  return findMismatch({ type: "object", fields }, "", normalizeBody(spec, body, uid));
}
