const rfc3339 =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?(Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])$/;

/**
 * RFC 3339 with `Z` or an offset and up to 9 digits as a text in UTC with 0, 3, 6 or 9 digits, as many as are needed;
 * undefined when it is none.
 */
export function canonicalTimestamp(value: string): string | undefined {
  const [, local = "", digits = "", zone = ""] = rfc3339.exec(value) ?? [];
  const epochMs = Date.parse(local + zone);
  if (Number.isNaN(epochMs)) return undefined;
  const utc = new Date(epochMs).toISOString();
  // The parser of JavaScript takes February 30 for March 2.
  const isInCalendar = new Date(`${local}Z`).toISOString().startsWith(local);
  const isInRange = [local, utc].every((text) => /^(?!0000)[0-9]{4}-/.test(text));
  return isInCalendar && isInRange ? `${utc.slice(0, 19)}${fraction(digits)}Z` : undefined;
}

/** Milliseconds since 1970, and micros of one of them, as a timestamp. */
export function msToTimestamp(ms: number, micros = 0): string {
  const [whole = "", digits = ""] = new Date(Math.floor(ms)).toISOString().slice(0, -1).split(".");
  return `${whole}${fraction(digits + String(micros).padStart(3, "0"))}Z`;
}

/** The same, cut to its second. */
export function wholeSecond(ms: number): string {
  return msToTimestamp(Math.floor(ms / 1000) * 1000);
}

/** Converts a timestamp to milliseconds since 1970; undefined for none. */
export function timestampToMs(timestamp: unknown): number | undefined {
  return typeof timestamp === "string" ? Date.parse(timestamp) : undefined;
}

/** Converts a canonical duration such as `1.500s` to milliseconds. */
export function durationToMs(canonical: string): number {
  return Number(canonical.slice(0, -1)) * 1000;
}

/** The same instant cut to exactly three digits. */
export function millisecondTimestamp(canonical: string): string {
  const [whole = "", digits = ""] = canonical.slice(0, -1).split(".");
  return `${whole}.${digits.slice(0, 3).padEnd(3, "0")}Z`;
}

const maxDurationSeconds = 315_576_000_000n;

/** `"86400s"`, `"1.5s"` (as `"1.500s"`), `"-1s"`; undefined when it is no duration, or too long. */
export function canonicalDuration(value: string): string | undefined {
  const found = /^([+-]?)([0-9]+)(?:\.([0-9]{0,9}))?s$/.exec(value);
  if (!found) return undefined;
  const [, sign = "", whole = "0", digits = ""] = found;
  const seconds = BigInt(whole);
  const decimals = fraction(digits);
  if (seconds > maxDurationSeconds || (seconds === maxDurationSeconds && decimals !== "")) return undefined;
  const minus = sign === "-" && (seconds > 0n || decimals !== "") ? "-" : "";
  return `${minus}${seconds}${decimals}s`;
}

/** The decimals of a second in groups of three, without groups of zeros at the end. */
function fraction(digits: string): string {
  const needed = digits.replace(/0+$/, "");
  return needed === "" ? "" : `.${needed.padEnd(Math.ceil(needed.length / 3) * 3, "0")}`;
}
