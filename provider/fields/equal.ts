import type { FieldSpec } from "./fieldSpec";
import { formats } from "./formats";
import { compareTexts, isObject, isUnknown } from "./values";
import type { Json } from "./values";
import { hasType, partsOf, replaceParts } from "./walk";

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

const isEmpty = (value: Json): boolean =>
  value !== null && typeof value === "object" && Object.keys(value).length === 0;

interface CanonicalOptions {
  /** Whether fields whose drift is ignored are part of the form. */
  readonly includesIgnored?: boolean;
}

/** The items of a set, each once, in an order of their own. */
function canonicalSet(items: readonly Json[]): Json[] {
  const byText = new Map(items.map((item) => [JSON.stringify(item), item]));
  return [...byText].sort(([a], [b]) => compareTexts(a, b)).map(([, item]) => item);
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
  if (typeof value !== "object" || !hasType(spec, value, "program"))
    return isEmpty(value) ? undefined : value;
  const parts = partsOf(spec, value);
  if (spec.type !== "list") parts.sort((a, b) => compareTexts(a.key, b.key));
  // An item and an entry are there also where they are not set.
  const unset = spec.type === "object" ? undefined : null;
  const form = replaceParts(spec, parts, (part) => canonical(part.field, part.value, options) ?? unset);
  if (isEmpty(form)) return undefined;
  return spec.type === "list" && spec.unordered ? canonicalSet(form as Json[]) : form;
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
