import type { JsonObject } from "../api/client";
import { parentOf } from "../api/uid";

/*
 * Readers of answers. Absent, null, empty and zero mean the same there (contract, section 2), and a
 * value of a wrong type is taken for one that is not set: no answer makes a lookup fail midway.
 * What is not set: texts read "", booleans false, numbers 0, lists and maps empty; times, names of
 * enums and objects are left out.
 */

/** Reads a member; `whole` is the object that holds it. */
export type Reader<T> = (value: unknown, whole: JsonObject) => T;

/** A reader for every member: a forgotten one does not compile. */
export type Readers<T> = { readonly [K in keyof T]-?: Reader<T[K]> };

export function isRecord(value: unknown): value is JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function optionalText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}

export function flag(value: unknown): boolean {
  return value === true;
}

/** An int32. */
export function count(value: unknown): number {
  const number = typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(number) ? (number as number) : 0;
}

/** An int64, exact: in decimal digits. */
export function decimal(value: unknown): string {
  if (Number.isSafeInteger(value)) return String(value);
  return typeof value === "string" && /^-?\d+$/.test(value) ? BigInt(value).toString() : "0";
}

/** The text as it was answered. Year 1 and the epoch are how servers write a time that is not set. */
export function time(value: unknown): string | undefined {
  const isZero = /^(0001|1970)-01-01T00:00:00(\.0+)?(Z|[+-]00:00)$/.test(text(value));
  return isZero ? undefined : optionalText(value);
}

/** The name of an enum's value; of one newer than the gateway, its number as text. */
export function enumName(value: unknown): string | undefined {
  if (Number.isSafeInteger(value)) return value === 0 ? undefined : String(value);
  const isZero = typeof value === "string" && /^UNKNOWN$|_UNSPECIFIED$/.test(value);
  return isZero ? undefined : optionalText(value);
}

export function enumNames(value: unknown): string[] {
  const items: unknown[] = Array.isArray(value) ? value : [];
  return items.map(enumName).filter((name) => name !== undefined);
}

/** A map, in the order of the answer; entries of a wrong type are left out. */
function mapOf<T>(value: unknown, read: (item: unknown) => T | undefined): Record<string, T> {
  const entries = isRecord(value) ? Object.entries(value) : [];
  return Object.fromEntries(
    entries
      .map(([key, item]): [string, T | undefined] => [key, read(item)])
      .filter((entry): entry is [string, T] => entry[1] !== undefined),
  );
}

export function textMap(value: unknown): Record<string, string> {
  return mapOf(value, (item) => (typeof item === "string" ? item : undefined));
}

export function countMap(value: unknown): Record<string, number> | undefined {
  const counts = mapOf(value, count);
  return Object.keys(counts).length > 0 ? counts : undefined;
}

export function objectMap<T>(read: (value: unknown) => T): (value: unknown) => Record<string, T> {
  return (value) => mapOf(value, (item) => (isRecord(item) ? read(item) : undefined));
}

/** A list of objects; items that are none are left out. */
export function objects<T>(read: (value: unknown) => T): (value: unknown) => T[] {
  return (value) => (Array.isArray(value) ? value.filter(isRecord).map((item) => read(item)) : []);
}

/** An object, member by member. */
export function object<T extends object>(readers: Readers<T>): (value: unknown) => T {
  const members = Object.entries<Reader<unknown>>(readers);
  return (value) => {
    const whole = isRecord(value) ? value : {};
    const read = members.map(([key, reader]): [string, unknown] => [key, reader(whole[key], whole)]);
    return Object.fromEntries(read.filter(([, member]) => member !== undefined)) as T;
  };
}

function isBlank(value: unknown): boolean {
  if (value === null || typeof value !== "object") return !value;
  return Object.keys(value).length === 0;
}

/** An object that is left out where nothing in it is set. */
export function optional<T extends object>(readers: Readers<T>): (value: unknown) => T | undefined {
  const read = object(readers);
  return (value) => {
    const members = read(value);
    return Object.values(members).every(isBlank) ? undefined : members;
  };
}

/** The uid of the parent, from the uid itself; left out at a root. */
export function parent(_value: unknown, { uid }: JsonObject): string | undefined {
  return optionalText(parentOf(text(uid)));
}

/** The same of what always has a parent. */
export function certainParent(value: unknown, whole: JsonObject): string {
  return parent(value, whole) ?? "";
}

/** A uid that an answer holds beside the object it stands for, or only in that (contract, section 5). */
export function uidOrIn(member: string): Reader<string> {
  return (value, whole) => {
    const hydrated = whole[member];
    return optionalText(value) ?? (isRecord(hydrated) ? text(hydrated["uid"]) : "");
  };
}

/** The one member that says what an event is: a known one, or an object that is none of the plain members. */
function oneKind(
  whole: JsonObject,
  kinds: readonly string[],
  plain: readonly string[],
): [string, JsonObject] | undefined {
  const found = Object.entries(whole).filter(
    (entry): entry is [string, JsonObject] => isRecord(entry[1]) && !plain.includes(entry[0]),
  );
  return found.find(([key]) => kinds.includes(key)) ?? found[0];
}

/** The readers of an event's kind and of what it says. */
export function kindOfEvent(
  kinds: readonly string[],
  plain: readonly string[],
): Readers<{ kind?: string; content: Record<string, unknown> }> {
  return {
    kind: (_value, whole) => oneKind(whole, kinds, plain)?.[0],
    content: (_value, whole) => oneKind(whole, kinds, plain)?.[1] ?? {},
  };
}
