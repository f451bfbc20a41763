import type { FieldSpec } from "./fieldSpec";
import { formats } from "./formats";
import { compareTexts, isObject, isUnknown } from "./values";
import type { Json } from "./values";

function canonicalString(spec: FieldSpec, value: string): string | undefined {
  if (spec.type === "enum") {
    const defaults = ["UNSPECIFIED", spec.default ?? ""].map((name) => `${spec.prefix}${name}`);
    return defaults.includes(value) ? undefined : value;
  }
  const format = spec.type === "string" && spec.format !== undefined ? formats[spec.format] : undefined;
  return format?.canonical === undefined ? value : format.canonical(value);
}

/** Whether a value is the zero of its type, which the server uses if none is set. */
function isZero(value: Json): boolean {
  return value === false || value === "" || value === 0;
}

interface CanonicalOptions {
  /** Whether fields whose drift is ignored are part of the form. */
  readonly includesIgnored?: boolean;
}

function canonicalList(spec: FieldSpec, value: Json[], options: CanonicalOptions): Json | undefined {
  if (value.length === 0) return undefined;
  if (spec.type !== "list") return value;
  const items = value.map((item) => canonical(spec.items, item, options) ?? null);
  if (!spec.unordered) return items;
  const byText = new Map(items.map((item) => [JSON.stringify(item), item]));
  return [...byText.keys()].sort().map((text) => byText.get(text) ?? null);
}

function canonicalMembers(
  spec: FieldSpec,
  value: Record<string, Json | undefined>,
  options: CanonicalOptions,
): [string, Json | undefined][] {
  if (spec.type === "map") {
    return Object.entries(value).map(([key, member]) => [
      key,
      canonical(spec.values, member, options) ?? null,
    ]);
  }
  if (spec.type !== "object") return Object.entries(value);
  return Object.entries(spec.fields)
    .map(([key, field]): [string, Json | undefined] => [key, canonical(field, value[key], options)])
    .filter(([, member]) => member !== undefined);
}

/**
 * The canonical form of a value, which all equal values share; undefined if it means "not set": absent, null or the
 * default of the type. A value of a wrong type is its own canonical form.
 */
export function canonical(
  spec: FieldSpec,
  value: Json | undefined,
  options: CanonicalOptions = {},
): Json | undefined {
  if (value === undefined || value === null || isZero(value)) return undefined;
  if (spec.ignoreDrift && options.includesIgnored === false) return undefined;
  if (isUnknown(value)) return value;
  if (typeof value === "string") return canonicalString(spec, value);
  if (Array.isArray(value)) return canonicalList(spec, value, options);
  if (!isObject(value)) return value;
  const entries = canonicalMembers(spec, value, options);
  if (entries.length === 0) return undefined;
  return Object.fromEntries(entries.sort(([a], [b]) => compareTexts(a, b)));
}

/** Whether two values mean the same to the API. */
export function equal(spec: FieldSpec, a: Json | undefined, b: Json | undefined): boolean {
  return JSON.stringify(canonical(spec, a)) === JSON.stringify(canonical(spec, b));
}

/** Whether two values are equal as drift compares them: without fields that have `ignoreDrift`, such as the name of a GitHub installation. */
export function equalForDrift(spec: FieldSpec, a: Json | undefined, b: Json | undefined): boolean {
  const [one, other] = [a, b].map((value) => canonical(spec, value, { includesIgnored: false }));
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Whether a value is set: neither absent nor the default of its type. */
export function isSet(spec: FieldSpec, value: Json | undefined): boolean {
  return canonical(spec, value) !== undefined;
}

/** Whether a program gave a value that a create sends: one that is set, or a default that is spelled out. */
export function isSent(spec: FieldSpec, value: Json | undefined): boolean {
  if (isSet(spec, value)) return true;
  if (spec.type === "enum") return spec.default !== undefined && value === `${spec.prefix}${spec.default}`;
  if (spec.type !== "object" || !isObject(value)) return false;
  return Object.entries(spec.fields).some(([key, field]) => isSent(field, value[key]));
}
