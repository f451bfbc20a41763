const maxDurationSeconds = 315_576_000_000n;

/** An instant with nanoseconds, kept apart because a Date has milliseconds only. */
export interface Instant {
  readonly epochMs: number;
  readonly nanos: number;
}

const rfc3339 =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?(Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])$/;

/** RFC 3339 with `Z` or an offset and up to 9 digits, as a canonical UTC text; undefined when it is none. */
export function canonicalTimestamp(value: string): string | undefined {
  const instant = parseTimestamp(value);
  return instant && formatTimestamp(instant);
}

export function parseTimestamp(value: string): Instant | undefined {
  const [, local = "", digits = "", zone = ""] = rfc3339.exec(value) ?? [];
  const epochMs = Date.parse(local + zone);
  if (Number.isNaN(epochMs)) return undefined;
  // The parser of JavaScript takes February 30 for March 2.
  const isInCalendar = new Date(`${local}Z`).toISOString().startsWith(local);
  const isInRange = [local, new Date(epochMs).toISOString()].every((text) => /^(?!0000)[0-9]{4}-/.test(text));
  return isInCalendar && isInRange ? { epochMs, nanos: Number(digits.padEnd(9, "0")) } : undefined;
}

/** Formats milliseconds since 1970 as a timestamp. */
export function msToTimestamp(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return formatTimestamp({ epochMs: seconds * 1000, nanos: Math.round((ms - seconds * 1000) * 1_000_000) });
}

/** The same, cut to its second. */
export function wholeSecond(ms: number): string {
  return formatTimestamp({ epochMs: Math.floor(ms / 1000) * 1000, nanos: 0 });
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

/** `"86400s"`, `"1.5s"` (as `"1.500s"`), `"-1s"`; undefined when it is no duration, or too long. */
export function canonicalDuration(value: string): string | undefined {
  const found = /^([+-]?)([0-9]+)(?:\.([0-9]{0,9}))?s$/.exec(value);
  if (!found) return undefined;
  const [, sign = "", whole = "0", digits = ""] = found;
  const seconds = BigInt(whole);
  const nanos = Number(digits.padEnd(9, "0"));
  if (seconds > maxDurationSeconds || (seconds === maxDurationSeconds && nanos > 0)) return undefined;
  const minus = sign === "-" && (seconds > 0n || nanos > 0) ? "-" : "";
  return `${minus}${seconds}${fraction(nanos)}s`;
}

function fraction(nanos: number): string {
  if (nanos === 0) return "";
  const digits = String(nanos).padStart(9, "0");
  if (digits.endsWith("000000")) return `.${digits.slice(0, 3)}`;
  return `.${digits.endsWith("000") ? digits.slice(0, 6) : digits}`;
}
