/* Values of properties, and what this package and the engine write among them. */

/** A JSON value as the engine hands it over and takes it back. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined };

/** The properties of one resource: inputs, or outputs. */
export type Props = Record<string, Json | undefined>;

/** How the engine writes a value that is not known before something else is made. */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** The key by which the engine marks a special value; its value is the type of it. */
export const SIGNATURE = "4dabf18193072939515e22adb298388d";

/** The type of a secret among the engine's special values. */
export const SECRET_TYPE = "1b47061264138c4ac30d75fd1eb44270";

/** The placeholder of a secret's value, in the engine's documents and in those of this package. */
export const SECRET_MASK = "[secret]";

/** Among the inputs of a resource that takes over what exists: the uid of that. See adopt.ts. */
export const ADOPT = "__adopt";

/** The property by which the engine finds the code of a dynamic resource. */
export const PROVIDER_TEXT = "__provider";

/** The input in which a program says what is wrong with its arguments: `WrongArguments`. No state has it. */
export const WRONG_ARGUMENTS = "__wrongArguments";

/**
 * Marks the outputs of a resource that was written and then could not be read: the next read completes them, and the next update
 * writes it although its arguments are the same.
 */
export const UNCONFIRMED = "__unconfirmed";

/**
 * Marks the outputs of a resource that `pulumi import` or a program's `import` took over, until its next update: the state has it
 * before any program may declare it.
 */
export const IMPORTED = "__imported";

export function isUnknown(value: unknown): boolean {
  return value === UNKNOWN;
}

/** Whether a value is unknown anywhere inside. */
export function containsUnknown(value: Json | undefined): boolean {
  if (isUnknown(value)) return true;
  if (Array.isArray(value)) return value.some(containsUnknown);
  if (value !== null && typeof value === "object") return Object.values(value).some(containsUnknown);
  return false;
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The value where it is a string; otherwise the empty one. */
export function stringOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The strings of a list; none where it is no list. */
export function stringsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

export function isObject(value: unknown): value is Record<string, Json | undefined> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** A member of an object itself, never one of its prototype: labels and names may be `constructor`. */
export function ownMember<T>(object: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Compares texts by code units, which gives the same order on every machine. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Adds an item to the list of a key. */
export function addTo<K, T>(lists: Map<K, T[]>, key: K, item: T): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}

/** Computes a value when it is first asked for, and answers with the same one from then on. */
export function once<T>(compute: () => T): () => T {
  let known: { readonly value: T } | undefined;
  return () => (known ??= { value: compute() }).value;
}

/** What a map has of a key, as `Map.prototype.getOrInsertComputed` will do it. */
export function getOrCompute<K, V>(
  map: { get(key: K): V | undefined; has(key: K): boolean; set(key: K, value: V): unknown },
  key: K,
  compute: () => NoInfer<V>,
): V {
  const known = map.get(key);
  if (known !== undefined || map.has(key)) return known as V;
  const value = compute();
  map.set(key, value);
  return value;
}

/** Lists items by their keys; one without a key is in no list. */
export function groupBy<T>(
  items: Iterable<T>,
  keysOf: (item: T) => Iterable<string | undefined>,
): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    for (const key of new Set(keysOf(item))) if (key !== undefined) addTo(groups, key, item);
  }
  return groups;
}

/** The engine takes plain JSON only; an `undefined` anywhere is an error there. */
export function toPlainJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
