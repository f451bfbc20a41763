import { parentOf } from "../text/uid";
import type { ReadsOf } from "./builders";
import { isSent, isSet } from "./equal";
import type { FieldSpec, OneOf, Reads } from "./fieldSpec";
import { formats } from "./formats";
import type { ResourceSpec } from "./resourceSpec";
import { isObject, stringOrEmpty } from "./values";
import type { Json, Props } from "./values";
import { hasType, partsOf, replaceParts, typeNames } from "./walk";
import type { Part } from "./walk";

/*
 * The JSON that the API takes and returns: values are written for a request, and a response is read, for inputs or as the
 * result of a lookup.
 */

type Fields = Readonly<Record<string, FieldSpec>>;

/** The name of a field on the wire. */
export function wireName(key: string, spec: FieldSpec): string {
  return spec.wire ?? key;
}

/** A value as it is sent: fields renamed, unset members left out. */
export function toWire(field: FieldSpec, value: Json | undefined): Json {
  if (value === undefined || value === null) return null;
  if (field.type === "string" && field.format !== undefined && typeof value === "string") {
    return formats[field.format].toWire?.(value) ?? value;
  }
  if (typeof value !== "object" || !hasType(field, value, "program")) return value;
  const send = (part: Part): Json | undefined =>
    field.type === "object" && !isSent(part.field, part.value) ? undefined : toWire(part.field, part.value);
  return replaceParts(field, partsOf(field, value), send, wireName);
}

/** Returns the value that clears a field when the mask names it. */
export function emptyWireValue(spec: FieldSpec): Json {
  switch (spec.type) {
    case "string":
      return spec.format !== undefined && formats[spec.format].isNullable ? null : "";
    case "enum":
      return `${spec.prefix}UNSPECIFIED`;
    case "boolean":
      return false;
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

/**
 * A value of a response; undefined where it has another type than its field. What is empty is a value: an item of a list
 * may be. Of objects, inputs leave out the members that are not set, and a result has something empty in their place.
 */
function readValue(field: FieldSpec, value: Json | undefined, form: "inputs" | "result"): Json | undefined {
  if (value === undefined || value === null || !hasType(field, value, "api")) return undefined;
  switch (field.type) {
    case "string":
      if (field.format === "int64") return BigInt(value as string | number).toString();
      return form === "result" && field.format === "timestamp" && !isSet(field, value) ? undefined : value;
    case "enum":
      return form === "result" ? nameOfEnum(value as string | number) : value;
    case "boolean":
      return value;
    case "integer":
      return Number(value);
    case "list":
    case "map":
      return replaceParts(field, partsOf(field, value), (part) => readValue(part.field, part.value, form));
    case "object":
      return form === "result" ? readResult(field, value as Props) : readInputs(field.fields, value as Props);
  }
}

/** The name of an enum's value; of one newer than the gateway, its number as a string. */
function nameOfEnum(value: string | number): string | undefined {
  const isZero = value === 0 || value === "" || /^UNKNOWN$|_UNSPECIFIED$/.test(String(value));
  return isZero ? undefined : String(value);
}

/** A value of a response, in the form of inputs; undefined where it is not set. */
export function fromWire(field: FieldSpec, value: Json | undefined): Json | undefined {
  const read = readValue(field, value, "inputs");
  return isSet(field, read) ? read : undefined;
}

function readInputs(fields: Fields, body: Props): Props {
  const entries = Object.entries(fields)
    .map(([key, field]): [string, Json | undefined] => [key, fromWire(field, body[wireName(key, field)])])
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries);
}

/** A response in which the uid of an object that it contains stands in place of a missing one. */
function withHydratedUids(fields: Fields, body: Props): Props {
  const uids = Object.entries(fields).flatMap(([key, field]): [string, Json | undefined][] => {
    if (field.type !== "string" || field.hydratedIn === undefined || (body[key] ?? "") !== "") return [];
    const object = body[field.hydratedIn];
    return isObject(object) ? [[key, object["uid"]]] : [];
  });
  return uids.length === 0 ? body : { ...body, ...Object.fromEntries(uids) };
}

/** A response in the form of the fields. */
export function normalizeBody(spec: ResourceSpec, response: Props, uid: string): Props {
  return withHydratedUids(spec.fields, spec.operations?.normalizeResponse?.(response, uid) ?? response);
}

/** The uid of the parent, from the uid of a resource. */
export function parentUidOf(spec: ResourceSpec, uid: string): string | undefined {
  return spec.sharesParentUid ? uid : parentOf(uid);
}

/** The fields of a response that a program can set, in the form of inputs. */
export function readBody(spec: ResourceSpec, body: Props, uid: string): Props {
  return readInputs(spec.fields, normalizeBody(spec, body, uid));
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
  return { ...Object.fromEntries(kept), ...readInputs(fields, normalized) };
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

/** What is described of an object that a lookup returns. */
interface ResultShape {
  readonly fields: Fields;
  readonly oneOfs?: readonly OneOf[];
  readonly reads?: Reads;
}

/**
 * An object, as lookups return it. A value of a wrong type is taken for one that is not set: no response makes a lookup fail
 * midway. Then strings read "", booleans false, numbers 0, lists and maps empty; times, names of enums and objects are left
 * out.
 */
function readResult({ fields, oneOfs = [], reads = {} }: ResultShape, body: Props): Props {
  const read = (key: string, field: FieldSpec): Json | undefined => {
    const value = readValue(field, body[wireName(key, field)], "result") ?? unsetResult(field);
    const isChoice = oneOfs.some(({ members }) => members.includes(key));
    const isEmptyThroughout =
      field.type === "object" && isObject(value) ? Object.values(value).every(isEmpty) : isEmpty(value);
    return (isChoice || field.type === "object" || field.leftOut) && isEmptyThroughout ? undefined : value;
  };
  const members = [
    ...Object.entries(fields).filter(([key, field]) => isReturned(field) && !Object.hasOwn(reads, key)),
    ...Object.entries(reads),
  ].map(([key, described]): [string, unknown] => [
    key,
    typeof described === "function" ? described(body[key], body) : read(key, described),
  ]);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined)) as Props;
}

/** Not what no response holds. */
function isReturned({ inputOnly, subresource, createOnly }: FieldSpec): boolean {
  return !inputOnly && !subresource && !createOnly;
}

/** What a result has of a member that is not set: what clears it, or undefined where it is left out. */
function unsetResult(field: FieldSpec): Json | undefined {
  if (field.type === "enum") return undefined;
  if (field.type === "object") return readResult(field, {});
  if (field.type !== "string") return emptyWireValue(field);
  if (field.format === "timestamp") return undefined;
  return field.format === "int64" ? "0" : "";
}

function isEmpty(value: Json | undefined): boolean {
  return value !== null && typeof value === "object" ? Object.keys(value).length === 0 : !value;
}

/** Reads the members of a table from a response, as a lookup returns them. */
export function resultReader<R extends object>(reads: ReadsOf<R>): (response: unknown) => R {
  return (response) => readResult({ fields: {}, reads }, isObject(response) ? response : {}) as R;
}

/**
 * Reads a resource from a response, as lookups return it. The uids of it and of its parent are read from its own, unless a
 * response tells them in another way.
 */
export function resourceReader(
  spec: Pick<ResourceSpec, "fields" | "oneOfs" | "outputs" | "reads" | "sharesParentUid">,
): (response: unknown) => object {
  const { fields, outputs, reads, sharesParentUid } = spec;
  const parents = Object.entries(fields)
    .filter(([, field]) => field.path)
    .map(([key]) => [key, sharesParentUid ? ownUid : parentUid] as const);
  const shape = {
    ...spec,
    fields: { ...fields, ...outputs },
    reads: { uid: ownUid, ...Object.fromEntries(parents), ...reads },
  };
  return (response) => readResult(shape, withHydratedUids(fields, isObject(response) ? response : {}));
}

// What a response tells of an object in another way than by a member of its own: for the `reads` of kinds.

type Body = Readonly<Record<string, unknown>>;

const ownUid = (_value: unknown, { uid }: Body): string => stringOrEmpty(uid);

/** The uid of the parent, from the uid itself; left out at a root. */
export function optionalParentUid(value: unknown, body: Body): string | undefined {
  return parentOf(ownUid(value, body));
}

/** The parent's uid, of a kind that always has a parent. */
export function parentUid(value: unknown, body: Body): string {
  return optionalParentUid(value, body) ?? "";
}

/** Whether an object is a root: it has no parent. */
export function isRoot(value: unknown, body: Body): boolean {
  return optionalParentUid(value, body) === undefined;
}

/** The uid of the parent where a response names it, else from the uid itself. */
export function uidOrParent(value: unknown, body: Body): string {
  return stringOrEmpty(value) || parentUid(value, body);
}
