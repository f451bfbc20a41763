import { withoutTrailing } from "../text/plain";
import { UNKNOWN } from "./description";
import type { FieldSpec, Json } from "./description";

/** The nanoseconds of a duration such as `86400s`, `1.5s`, `24h` or `1h30m`; undefined if it is none. */
export function durationNanos(text: string): bigint | undefined {
  const unit: Record<string, bigint> = { h: 3_600_000_000_000n, m: 60_000_000_000n, s: 1_000_000_000n };
  const whole = /^(-?)((?:\d+(?:\.\d{1,9})?[hms])+)$/.exec(text);
  if (!whole) return undefined;
  const parts = [...(whole[2] ?? "").matchAll(/(\d+)(?:\.(\d+))?([hms])/gy)];
  const order = parts.map((part) => "hms".indexOf(part[3] ?? ""));
  if (order.some((rank, i) => i > 0 && rank <= (order[i - 1] ?? 0))) return undefined;
  let nanos = 0n;
  for (const [, integer = "0", fraction = "", letter = "s"] of parts) {
    const per = unit[letter] ?? 0n;
    nanos += BigInt(integer) * per + (BigInt(fraction.padEnd(9, "0")) * per) / 1_000_000_000n;
  }
  if (nanos > 315_576_000_000n * 1_000_000_000n) return undefined;
  return whole[1] === "-" ? -nanos : nanos;
}

/** Converts a duration to the only form that the API accepts: seconds with up to nine decimals. */
export function durationToWire(text: string): string {
  const nanos = durationNanos(text);
  if (nanos === undefined) return text;
  const sign = nanos < 0n ? "-" : "";
  const size = nanos < 0n ? -nanos : nanos;
  const fraction = (size % 1_000_000_000n).toString().padStart(9, "0");
  return `${sign}${size / 1_000_000_000n}${size % 1_000_000_000n === 0n ? "" : `.${withoutTrailing(fraction, "0")}`}s`;
}

const DAYS_IN_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** An RFC 3339 instant in nanoseconds since the epoch; undefined if the API would refuse it. */
export function timestampNanos(text: string): bigint | undefined {
  const match =
    /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(Z|[+-](\d{2}):(\d{2}))$/.exec(text);
  if (!match) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  const days = DAYS_IN_MONTH[month - 1];
  if (year < 1 || days === undefined || day < 1 || day > days) return undefined;
  if (month === 2 && day === 29 && (year % 4 !== 0 || (year % 100 === 0 && year % 400 !== 0)))
    return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const offsetHours = Number(match[9] ?? 0);
  const offsetMinutes = Number(match[10] ?? 0);
  if (offsetHours > 23 || offsetMinutes > 59) return undefined;
  const offset = (offsetHours * 60 + offsetMinutes) * (match[8]?.startsWith("-") ? -60 : 60);
  const local = new Date(0);
  local.setUTCFullYear(year, month - 1, day);
  local.setUTCHours(hour, minute, second);
  const seconds = BigInt(local.getTime() / 1000) - BigInt(offset);
  return seconds * 1_000_000_000n + BigInt((match[7] ?? "").padEnd(9, "0"));
}

/** The members of a JWK that make it private (RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1). */
const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/** The members of a key set and of its keys that RFC 7517, RFC 7518 and RFC 8037 define. */
const KNOWN_MEMBERS = [
  ...PRIVATE_MEMBERS,
  ...[
    "keys",
    "kty",
    "use",
    "key_ops",
    "alg",
    "kid",
    "x5u",
    "x5c",
    "x5t",
    "x5t#S256",
    "crv",
    "x",
    "y",
    "n",
    "e",
  ],
];

/** The name of a member that makes a JWK private; undefined for a public key. */
export function findPrivateMember(jwk: object): string | undefined {
  return PRIVATE_MEMBERS.find((member) => member in jwk);
}

/** A name as parsers that ignore case compare it: they also take `ſ` for `s`, and the sign of Kelvin for `k`. */
const foldCase = (name: string): string => name.toUpperCase().toLowerCase();

const knownByFolded = new Map(KNOWN_MEMBERS.map((name) => [foldCase(name), name]));

/** Each object inside a value, and the value itself. */
function objectsIn(value: unknown): object[] {
  const objects: object[] = [];
  const open = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === null || typeof next !== "object") continue;
    if (!Array.isArray(next)) objects.push(next);
    for (const member of Object.values(next)) if (member !== undefined) open.push(member);
  }
  return objects;
}

/** How many members the objects of a valid JSON text name: only a name has a colon behind it. */
const countNames = (text: string): number =>
  [...text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g)].filter(([, colon]) => colon !== undefined).length;

/**
 * Why two parsers can read different keys from one key set; undefined where they cannot. Some ignore the case of names,
 * and of a repeated name some take the first value.
 */
export function findAmbiguity(text: string, value: unknown): string | undefined {
  const names = objectsIn(value).map((object) => Object.keys(object));
  for (const name of names.flat()) {
    const known = knownByFolded.get(foldCase(name));
    if (known !== undefined && known !== name) {
      return `the member ${JSON.stringify(name.slice(0, 40))} equals "${known}" but for case, and some parsers take it for that one`;
    }
  }
  const counts = names.reduce((sum, { length }) => sum + length, 0);
  return countNames(text) === counts ? undefined : "a member is repeated, and parsers take different ones";
}

/** Why a key set is not read alike by all parsers; undefined where it is, or is no key set. */
export function ambiguityOf(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? findAmbiguity(text, value) : undefined;
  } catch {
    return undefined;
  }
}

/** JSON of a value with the members of objects in one order: the same text for equal values. */
export function sortedJson(json: unknown): string {
  return JSON.stringify(json, (_key, value: unknown) =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => compareTexts(a, b)))
      : value,
  );
}

/** The content of a JWKS in canonical form: sorted members, no white space. */
export function canonicalJwks(text: string): string | undefined {
  try {
    return sortedJson(JSON.parse(text));
  } catch {
    return undefined;
  }
}

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

export function isObject(value: unknown): value is Record<string, Json | undefined> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** Compares texts by code units, which gives the same order on every machine. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Year 1 and the epoch: how servers write a time that is not set. */
const ZERO_TIMES: readonly (bigint | undefined)[] = [-62_135_596_800_000_000_000n, 0n];

function canonicalString(spec: FieldSpec, value: string): string | undefined {
  if (spec.type === "enum") {
    const defaults = ["UNSPECIFIED", spec.default ?? ""].map((name) => `${spec.prefix}${name}`);
    return defaults.includes(value) ? undefined : value;
  }
  const format = spec.type === "string" ? spec.format : undefined;
  switch (format) {
    case "duration":
      return durationNanos(value)?.toString() ?? value;
    case "timestamp": {
      const nanos = timestampNanos(value);
      return ZERO_TIMES.includes(nanos) ? undefined : (nanos?.toString() ?? value);
    }
    case "jwks":
      return canonicalJwks(value) ?? value;
    default:
      return value;
  }
}

/** Whether a value is the one that the server uses if none is set: the zero of the type, or the default of the field. */
function isDefault(spec: FieldSpec, value: Json): boolean {
  if (typeof value === "boolean") return value === ((spec.type === "boolean" && spec.default) ?? false);
  return value === "" || value === 0;
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
  return [...byText.keys()].sort(compareTexts).map((text) => byText.get(text) ?? null);
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
  if (value === undefined || value === null || isDefault(spec, value)) return undefined;
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

/** Whether two values are equal as drift compares them: without fields that have `ignoreDrift`, such as descriptions. */
export function equalForDrift(spec: FieldSpec, a: Json | undefined, b: Json | undefined): boolean {
  const [one, other] = [a, b].map((value) => canonical(spec, value, { includesIgnored: false }));
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Whether a value is set: neither absent nor the default of its type. */
export function isSet(spec: FieldSpec, value: Json | undefined): boolean {
  return canonical(spec, value) !== undefined;
}
