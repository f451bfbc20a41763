const int64Min = -(2n ** 63n);
const int64Max = 2n ** 63n - 1n;
const maxDurationSeconds = 315_576_000_000n;
const wholeNumber = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/**
 * Parses a whole JSON number (`12`, `12.0`, `1.2e3`) without rounding; undefined for any other.
 * @param bits 32 or 64; values out of range are undefined.
 */
export function parseWholeNumber(raw: string, bits: 32 | 64): bigint | undefined {
  const found = wholeNumber.exec(raw);
  if (!found) return undefined;
  const [, sign, digitsBefore = "0", fraction = "", exponentText = "0"] = found;
  const exponent = Number(exponentText);
  if (Math.abs(exponent) > 100) return undefined;
  let digits = digitsBefore + fraction;
  const shift = exponent - fraction.length;
  if (shift >= 0) {
    digits += "0".repeat(shift);
  } else {
    const cut = digits.padStart(-shift + 1, "0");
    if (/[^0]/.test(cut.slice(shift))) return undefined;
    digits = cut.slice(0, shift);
  }
  const value = BigInt(`${sign === "-" ? "-" : ""}${digits}`);
  const [min, max] = bits === 32 ? [-(2n ** 31n), 2n ** 31n - 1n] : [int64Min, int64Max];
  return value < min || value > max ? undefined : value;
}

/** An instant with nanoseconds, kept apart because a Date has milliseconds only. */
export interface Instant {
  readonly epochMs: number;
  readonly nanos: number;
}

const rfc3339 =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))$/;

/** RFC 3339 with `Z` or an offset and up to 9 digits, as a canonical UTC text; undefined when it is none. */
export function canonicalTimestamp(value: string): string | undefined {
  const instant = parseTimestamp(value);
  return instant && formatTimestamp(instant);
}

export function parseTimestamp(value: string): Instant | undefined {
  const found = rfc3339.exec(value);
  if (!found) return undefined;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (year < 1 || hour > 23 || minute > 59 || second > 59) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  date.setUTCHours(hour, minute, second);
  let epochMs = date.getTime();
  if (found[8] !== undefined) {
    const [offsetHours, offsetMinutes] = [Number(found[9]), Number(found[10])];
    if (offsetHours > 23 || offsetMinutes > 59) return undefined;
    epochMs -= (found[8] === "-" ? -1 : 1) * (offsetHours * 60 + offsetMinutes) * 60_000;
  }
  const utcYear = new Date(epochMs).getUTCFullYear();
  if (utcYear < 1 || utcYear > 9999) return undefined;
  return { epochMs, nanos: Number((found[7] ?? "").padEnd(9, "0")) };
}

/** Formats milliseconds since 1970 as a timestamp. */
export function msToTimestamp(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return formatTimestamp({ epochMs: seconds * 1000, nanos: Math.round((ms - seconds * 1000) * 1_000_000) });
}

/** Converts a timestamp to milliseconds since 1970, with its fraction; undefined for none. */
export function timestampToMs(timestamp: unknown): number | undefined {
  const instant = typeof timestamp === "string" ? parseTimestamp(timestamp) : undefined;
  return instant && instant.epochMs + instant.nanos / 1_000_000;
}

/** Converts a canonical duration such as `1.500s` to milliseconds. */
export function durationToMs(canonical: string): number {
  return Number(canonical.slice(0, -1)) * 1000;
}

/** UTC with 0, 3, 6 or 9 digits, as many as are needed. `epochMs` counts whole seconds. */
export function formatTimestamp({ epochMs, nanos }: Instant): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}${fraction(nanos)}Z`;
}

/** The same instant cut to exactly three digits. */
export function millisecondTimestamp(canonical: string): string {
  const [whole = "", digits = ""] = canonical.slice(0, -1).split(".");
  return `${whole}.${digits.slice(0, 3).padEnd(3, "0")}Z`;
}

/** `"86400s"`, `"1.5s"` (as `"1.500s"`), `"-1s"`; "range" when too long, undefined when it is no duration. */
export function canonicalDuration(value: string): { text: string } | "range" | undefined {
  const found = /^([+-]?)([0-9]+)(?:\.([0-9]{0,9}))?s$/.exec(value);
  if (!found) return undefined;
  const [, sign = "", whole = "0", digits = ""] = found;
  const seconds = BigInt(whole);
  const nanos = Number(digits.padEnd(9, "0"));
  if (seconds > maxDurationSeconds || (seconds === maxDurationSeconds && nanos > 0)) return "range";
  const minus = sign === "-" && (seconds > 0n || nanos > 0) ? "-" : "";
  return { text: `${minus}${seconds}${fraction(nanos)}s` };
}

function fraction(nanos: number): string {
  if (nanos === 0) return "";
  const digits = String(nanos).padStart(9, "0");
  if (digits.endsWith("000000")) return `.${digits.slice(0, 3)}`;
  return `.${digits.endsWith("000") ? digits.slice(0, 6) : digits}`;
}
