import { createPublicKey } from "node:crypto";
import { RE2JS } from "re2js";
import { isUid } from "../text/uid";
import type { Format } from "./description";
import { findAmbiguity, findPrivateMember, durationNanos, timestampNanos } from "./values";

const MAX_INT64 = 2n ** 63n - 1n;

function jwksProblem(text: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'must be a JSON Web Key Set as a string: {"keys": [ … ]}; this is not JSON';
  }
  const ambiguity = findAmbiguity(text, value);
  if (ambiguity !== undefined)
    return `must be a JSON Web Key Set that every parser reads alike: ${ambiguity}`;
  const keys = value !== null && typeof value === "object" && "keys" in value ? value.keys : undefined;
  if (!Array.isArray(keys)) return 'must be a JSON Web Key Set: an object with a list "keys"';
  if (keys.length === 0) return 'must contain at least one key in "keys"';
  for (const [i, key] of (keys as unknown[]).entries()) {
    if (key === null || typeof key !== "object" || !("kty" in key) || typeof key.kty !== "string") {
      return `must be a JSON Web Key Set: keys[${i}] has no "kty"`;
    }
    const secret = findPrivateMember(key);
    if (secret !== undefined) {
      return `must contain only public keys: keys[${i}] has the private member "${secret}"; give the public half, and treat this key as exposed`;
    }
  }
  return undefined;
}

/** Says what is wrong with a URL; undefined if nothing is. */
function findUrlProblem(text: string, protocols: readonly string[]): string | undefined {
  const must = `must be an absolute ${protocols.join(" or ")} URL, as in ${protocols[0] ?? ""}://example.com/path`;
  // The parser of URLs accepts `https:example.com` and `https:/example.com` too, which the server refuses.
  const isAbsolute = protocols.some((protocol) => new RegExp(`^${protocol}://[^/?#\\s\\\\]`).test(text));
  if (!isAbsolute || !URL.canParse(text) || /[\s\\]/.test(text)) return must;
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") return "must not contain a user name or a password";
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

/** The header is checked too, because Node would accept a private key and use its public half. */
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
    isUid(text)
      ? undefined
      : "must be a uid: 40 hex digits, then 16 more after each slash; use the id of a resource or a lookup",
  groupUid: (text) =>
    isUid(text)
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
  int64: (text) =>
    /^(0|[1-9]\d{0,18})$/.test(text) && BigInt(text) <= MAX_INT64
      ? undefined
      : `must be a whole number up to ${MAX_INT64}, as in 12345`,
  jwks: jwksProblem,
  url: (text) => findUrlProblem(text, ["https", "http"]),
  httpsUrl: (text) => findUrlProblem(text, ["https"]),
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

/** Whether a regular expression in RE2's syntax matches a complete string. */
export function matchesPattern(pattern: string, text: string): boolean {
  return RE2JS.compile(pattern).matches(text);
}
