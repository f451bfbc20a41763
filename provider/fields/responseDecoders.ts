import { parentOf } from "../text/uid";
import type { Decoder, FieldSpec, OneOf, Reads } from "./fieldSpec";
import { emptyWireValue, wireName } from "./wire";

/*
 * Decoders of responses. Absent, null, empty and zero mean the same there, and a value of a wrong type is taken for one
 * that is not set: no response makes a lookup fail midway. What is not set: strings read "", booleans false, numbers 0,
 * lists and maps empty; times, names of enums and objects are left out.
 */

type JsonObject = Readonly<Record<string, unknown>>;

/** A decoder for every member: a forgotten one does not compile. */
export type Decoders<T> = { readonly [K in keyof T]-?: Decoder<T[K]> };

export function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function string(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function optionalString(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}

function boolean(value: unknown): boolean {
  return value === true;
}

/** A whole number; the API may write it as a string. */
function isInteger(value: unknown): boolean {
  return Number.isSafeInteger(typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value);
}

/** An int32. */
function int32(value: unknown): number {
  return isInteger(value) ? Number(value) : 0;
}

/** An int64, exact: in decimal digits. */
function int64(value: unknown): string {
  if (Number.isSafeInteger(value)) return String(value);
  return typeof value === "string" && /^-?\d+$/.test(value) ? BigInt(value).toString() : "0";
}

/** The string as the server wrote it. Year 1 and the epoch are how servers write a time that is not set. */
function time(value: unknown): string | undefined {
  const isZero = /^(0001|1970)-01-01T00:00:00(\.0+)?(Z|[+-]00:00)$/.test(string(value));
  return isZero ? undefined : optionalString(value);
}

/** The name of an enum's value; of one newer than the gateway, its number as a string. */
function enumName(value: unknown): string | undefined {
  if (Number.isSafeInteger(value)) return value === 0 ? undefined : String(value);
  const isZero = typeof value === "string" && /^UNKNOWN$|_UNSPECIFIED$/.test(value);
  return isZero ? undefined : optionalString(value);
}

function enumNames(value: unknown): string[] {
  const items: unknown[] = Array.isArray(value) ? value : [];
  return items.map(enumName).filter((name) => name !== undefined);
}

/** A map, in the order of the response; entries of a wrong type are left out. */
function mapOf<T>(value: unknown, decode: (item: unknown) => T | undefined): Record<string, T> {
  const entries = isRecord(value) ? Object.entries(value) : [];
  return Object.fromEntries(
    entries
      .map(([key, item]): [string, T | undefined] => [key, decode(item)])
      .filter((entry): entry is [string, T] => entry[1] !== undefined),
  );
}

/** Numbers by name; left out where there are none. */
function int32Map(value: unknown): Record<string, number> | undefined {
  const numbers = mapOf(value, int32);
  return Object.keys(numbers).length > 0 ? numbers : undefined;
}

/** A list of objects; items that are none are left out. */
function objects<T>(decode: (value: unknown) => T): (value: unknown) => T[] {
  return (value) => (Array.isArray(value) ? value.filter(isRecord).map((item) => decode(item)) : []);
}

function isBlank(value: unknown): boolean {
  if (value === null || typeof value !== "object") return !value;
  return Object.keys(value).length === 0;
}

/** Nothing where nothing in it is set. */
function unlessBlank<T extends object>(members: T): T | undefined {
  return Object.values(members).every(isBlank) ? undefined : members;
}

/** An object, member by member. */
function object<T extends object>(decoders: Decoders<T>): (value: unknown) => T {
  return (value) => decodeShape({ fields: {}, reads: decoders }, value) as T;
}

/** An object that is left out where nothing in it is set. */
function optionalObject<T extends object>(decoders: Decoders<T>): (value: unknown) => T | undefined {
  const decode = object(decoders);
  return (value) => unlessBlank(decode(value));
}

/** The uid of the parent, from the uid itself; left out at a root. */
function optionalParentUid(_value: unknown, { uid }: JsonObject): string | undefined {
  return optionalString(parentOf(string(uid)));
}

/** The parent's uid, of a kind that always has a parent. */
function parentUid(value: unknown, body: JsonObject): string {
  return optionalParentUid(value, body) ?? "";
}

/** Whether an object is a root: it has no parent. */
function isRoot(value: unknown, body: JsonObject): boolean {
  return optionalParentUid(value, body) === undefined;
}

/** The uid of the parent where a response names it, else from the uid itself. */
function uidOrParent(value: unknown, body: JsonObject): string {
  return optionalString(value) ?? parentUid(value, body);
}

/** The uid of a referenced object: its own field, else that of the object that the response embeds. */
function uidOrEmbedded(member: string): Decoder<string> {
  return (value, body) => {
    const embedded = body[member];
    return optionalString(value) ?? (isRecord(embedded) ? string(embedded["uid"]) : "");
  };
}

/** A value of a response as its type; undefined where it has another. Zero, false and what is empty are values. */
function typed(field: FieldSpec, value: unknown): unknown {
  switch (field.type) {
    case "string":
      if (field.format === "int64" && Number.isSafeInteger(value)) return int64(value);
      if (typeof value !== "string") return undefined;
      if (field.format === "timestamp") return time(value);
      return field.format === "int64" ? int64(value) : value;
    case "enum":
      return enumName(value);
    case "boolean":
      return typeof value === "boolean" ? value : undefined;
    case "integer":
      return isInteger(value) ? int32(value) : undefined;
    case "list":
      if (!Array.isArray(value)) return undefined;
      return value.map((item) => typed(field.items, item)).filter((item) => item !== undefined);
    case "map":
      return isRecord(value) ? mapOf(value, (item) => typed(field.values, item)) : undefined;
    case "object":
      return isRecord(value) ? decodeShape(field, value) : undefined;
  }
}

/** What a lookup reads of a member that is not set, or of another type: what clears it; undefined where it is left out. */
function unset(field: FieldSpec): unknown {
  if (field.type === "enum" || field.type === "object") return undefined;
  if (field.type !== "string") return emptyWireValue(field);
  if (field.format === "timestamp") return undefined;
  return field.format === "int64" ? "0" : "";
}

/** What a lookup reads of a member. `isChoice`: one of several of which only one is set. */
function decodeMember(field: FieldSpec, isChoice: boolean, value: unknown, body: JsonObject): unknown {
  if (field.type === "string" && field.hydratedIn !== undefined)
    return uidOrEmbedded(field.hydratedIn)(value, body);
  if (field.type === "object") return unlessBlank(decodeShape(field, value));
  const known = typed(field, value) ?? unset(field);
  return isChoice && known === "" ? undefined : known;
}

/** The part of a description that says how to decode an object or a resource. */
interface DecodableShape {
  readonly fields: Readonly<Record<string, FieldSpec>>;
  readonly oneOfs?: readonly OneOf[];
  readonly reads?: Reads;
}

/** Not what no response holds. */
function isRead({ inputOnly, subresource, createOnly }: FieldSpec): boolean {
  return !inputOnly && !subresource && !createOnly;
}

function decodeShape({ fields, oneOfs = [], reads = {} }: DecodableShape, value: unknown): JsonObject {
  const body = isRecord(value) ? value : {};
  const members = Object.entries(fields)
    .filter(([key, field]) => isRead(field) && !Object.hasOwn(reads, key))
    .map(([key, field]): [string, unknown] => {
      const isChoice = oneOfs.some((oneOf) => oneOf.members.includes(key));
      return [key, decodeMember(field, isChoice, body[wireName(key, field)], body)];
    });
  const others = Object.entries(reads).map(([key, decode]): [string, unknown] => [
    key,
    decode(body[key], body),
  ]);
  return Object.fromEntries([...members, ...others].filter(([, member]) => member !== undefined));
}

interface DecodableResource extends DecodableShape {
  readonly outputs?: DecodableShape["fields"];
  readonly sharesParentUid?: boolean;
}

/**
 * A resource, as lookups return it, by its description. The uids of it and of its parent are read from its own, unless a
 * response tells them in another way.
 */
export function resourceDecoder(resource: DecodableResource): (value: unknown) => object {
  const { fields, outputs, reads, sharesParentUid } = resource;
  const ownUid: Decoder<string> = (_value, { uid }) => string(uid);
  const parents = Object.entries(fields)
    .filter(([, field]) => field.path)
    .map(([key]) => [key, sharesParentUid ? ownUid : parentUid] as const);
  const shape = {
    ...resource,
    fields: { ...fields, ...outputs },
    reads: { uid: string, ...Object.fromEntries(parents), ...reads },
  };
  return (value) => decodeShape(shape, value);
}

/** The decoders, by the names that descriptions use. */
export const decode = {
  string,
  optionalString,
  strings,
  boolean,
  int32,
  int32Map,
  int64,
  time,
  enumName,
  enumNames,
  object,
  objects,
  optionalObject,
  parentUid,
  optionalParentUid,
  isRoot,
  uidOrEmbedded,
  uidOrParent,
};
