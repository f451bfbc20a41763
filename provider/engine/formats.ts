import { createPublicKey } from "node:crypto";
import { RE2JS } from "re2js";
import type { Format } from "./spec";

/** The nanoseconds of a duration such as `86400s`, `1.5s`, `24h` or `1h30m`; undefined if it is none. */
export function durationNanos(text: string): bigint | undefined {
  const unit: Record<string, bigint> = { h: 3_600_000_000_000n, m: 60_000_000_000n, s: 1_000_000_000n };
  const whole = /^(-?)((?:\d+(?:\.\d{1,9})?[hms])+)$/.exec(text);
  if (!whole) return undefined;
  const parts = [...(whole[2] ?? "").matchAll(/(\d+)(?:\.(\d+))?([hms])/g)];
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

/** A duration in the only form the API takes: seconds with up to nine digits (contract, section 2). */
export function durationToWire(text: string): string {
  const nanos = durationNanos(text);
  if (nanos === undefined) return text;
  const sign = nanos < 0n ? "-" : "";
  const size = nanos < 0n ? -nanos : nanos;
  const fraction = (size % 1_000_000_000n).toString().padStart(9, "0").replace(/0+$/, "");
  return `${sign}${size / 1_000_000_000n}${fraction ? `.${fraction}` : ""}s`;
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

/** The content of a JWKS in one spelling: keys of objects sorted, white space gone. */
export function canonicalJwks(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text), (_key, value: unknown) =>
      value !== null && typeof value === "object" && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    );
  } catch {
    return undefined;
  }
}

/** The members of a JWK that make it private (RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1). */
const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

function jwksProblem(text: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'must be a JSON Web Key Set as text: {"keys": [ … ]}; this is not JSON';
  }
  const keys = value !== null && typeof value === "object" && "keys" in value ? value.keys : undefined;
  if (!Array.isArray(keys)) return 'must be a JSON Web Key Set: an object with a list "keys"';
  if (keys.length === 0) return 'must hold at least one key in "keys"';
  for (const [i, key] of (keys as unknown[]).entries()) {
    if (key === null || typeof key !== "object" || !("kty" in key) || typeof key.kty !== "string") {
      return `must be a JSON Web Key Set: keys[${i}] has no "kty"`;
    }
    const secret = PRIVATE_MEMBERS.find((member) => member in key);
    if (secret !== undefined) {
      return `must hold public keys only: keys[${i}] has the private member "${secret}"; give the public half, and treat this key as exposed`;
    }
  }
  return undefined;
}

const UID = /^[0-9a-f]{40}(\/[0-9a-f]{16})*$/;

function urlProblem(text: string, protocols: readonly string[]): string | undefined {
  const must = `must be an absolute ${protocols.join(" or ")} URL, as in ${protocols[0] ?? ""}://example.com/path`;
  if (!URL.canParse(text) || /[\s\\]/.test(text)) return must;
  const url = new URL(text);
  if (!protocols.includes(url.protocol.slice(0, -1)) || url.hostname === "") return must;
  if (url.username !== "" || url.password !== "") return "must not hold a user name or a password";
  return undefined;
}

function regexProblem(text: string): string | undefined {
  try {
    RE2JS.compile(text);
    return undefined;
  } catch (error) {
    const why =
      error instanceof Error ? error.message.replace(/^error parsing regexp: /, "").slice(0, 200) : "";
    return `must be a regular expression in RE2 syntax (no look-around, no back-references): ${why}`;
  }
}

/** The header is looked at too: from a private key Node would take the public half. */
function isRsaPublicKey(text: string): boolean {
  if (!/^\s*-----BEGIN (RSA )?PUBLIC KEY-----\s/.test(text)) return false;
  try {
    return createPublicKey(text).asymmetricKeyType === "rsa";
  } catch {
    return false;
  }
}

const problems: Record<Format, (text: string) => string | undefined> = {
  uid: (text) =>
    UID.test(text)
      ? undefined
      : "must be a uid: 40 hex digits, then 16 more after each slash; use the id of a resource or a lookup",
  groupUid: (text) =>
    UID.test(text)
      ? undefined
      : "must be the uid of a group: 40 hex digits, then 16 more after each slash; use the id of a Group or of getGroup",
  regex: regexProblem,
  duration: (text) =>
    durationNanos(text) === undefined
      ? 'must be a duration, as in "86400s", "24h" or "1h30m"; at most 315576000000s'
      : undefined,
  timestamp: (text) =>
    timestampNanos(text) === undefined
      ? 'must be an RFC 3339 time with a zone, as in "2027-01-31T12:00:00Z"'
      : undefined,
  jwks: jwksProblem,
  url: (text) => urlProblem(text, ["https", "http"]),
  httpsUrl: (text) => urlProblem(text, ["https"]),
  keyringFile: (text) =>
    /^[A-Za-z0-9_@+-][A-Za-z0-9_.@+-]*$/.test(text)
      ? undefined
      : "must be a plain file name: letters, digits and _ . @ + -, without a leading dot or a slash",
  rsaPublicKey: (text) =>
    isRsaPublicKey(text)
      ? undefined
      : 'must be an RSA public key in PEM, beginning "-----BEGIN PUBLIC KEY-----"',
};

/** What is wrong with a text of a format, beginning "must …"; undefined if nothing is. */
export function formatProblem(format: Format, text: string): string | undefined {
  return problems[format](text);
}
