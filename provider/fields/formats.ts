import { createPublicKey } from "node:crypto";
import { isIP } from "node:net";
import type { RE2JS } from "re2js";
import { isNestedDeeper, tryParseJson, withoutTrailing } from "../text/plain";
import { printable } from "../text/printable";
import { quote } from "../text/suggestions";
import { isUid } from "../text/uid";

/*
 * The formats of texts: each is one entry of `formats`, at the end. Checks, comparisons, requests, the review and the values of tests
 * come from it.
 */

/** What a format is. */
interface TextFormat {
  /** What is wrong with a text, beginning "must …"; undefined if nothing is. */
  readonly problem: (text: string) => string | undefined;
  /** What it is, for the reference: "Must be …". */
  readonly words: string;
  /** Texts that mean different things, in the form of the API; from less to more where the format knows which is more. */
  readonly examples: readonly [string, string, ...string[]];
  /** What a program would write, where that is short: for who gives a number in its place. */
  readonly sample?: string;
  /** The one text for all that mean the same, or undefined for "not set"; by default the text itself. */
  readonly canonical?: (text: string) => string | undefined;
  /** The only form that the API accepts. */
  readonly toWire?: (text: string) => string;
  /** A text that is not set is null on the wire, not the empty one. */
  readonly isNullable?: true;
  /** How late or how long it is, of what may end access; undefined where a text cannot be read. */
  readonly amount?: (text: string) => bigint | undefined;
  /**
   * Tells of a text whether some others together mean all that it means, as networks hold one another; undefined where one of
   * them cannot be read.
   */
  readonly coverage?: (texts: readonly string[]) => ((text: string) => boolean) | undefined;
}

export const DAY_MS = 86_400_000;

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

/** An RFC 3339 instant in nanoseconds since the epoch; undefined if the API would refuse it. */
export function timestampNanos(text: string): bigint | undefined {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:Z|([+-])(\d\d):(\d\d))$/.exec(text);
  if (!match) return undefined;
  const [, local = "", fraction = "", sign, hours = "00", minutes = "00"] = match;
  const at = new Date(`${local}Z`);
  // The parser takes the 30th of February for a day of March.
  if (Number.isNaN(at.getTime()) || !at.toISOString().startsWith(local)) return undefined;
  if (local.startsWith("0000") || Number(hours) > 23 || Number(minutes) > 59) return undefined;
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -60 : 60);
  const seconds = BigInt(at.getTime() / 1000) - BigInt(offset);
  return seconds * 1_000_000_000n + BigInt(fraction.padEnd(9, "0"));
}

/** Year 1 and the epoch: how servers write a time that is not set. */
const ZERO_TIMES: readonly (bigint | undefined)[] = [-62_135_596_800_000_000_000n, 0n];

/** A time in nanoseconds; undefined where the text is none, or says that none is set. */
export function givenTimeNanos(text = ""): bigint | undefined {
  const nanos = timestampNanos(text);
  return ZERO_TIMES.includes(nanos) ? undefined : nanos;
}

function canonicalTime(text: string): string | undefined {
  const nanos = timestampNanos(text);
  return ZERO_TIMES.includes(nanos) ? undefined : (nanos?.toString() ?? text);
}

/** The members of a JWK that make it private (RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1). */
const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/** The members of a key set and of its keys that RFC 7517, RFC 7518 and RFC 8037 define. */
const KNOWN_MEMBERS = [
  ...PRIVATE_MEMBERS,
  ..."keys kty use key_ops alg kid x5u x5c x5t x5t#S256 crv x y n e".split(" "),
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

/** Objects and arrays inside one another in a key set. What RFC 7517 defines has five. */
const MOST_KEY_SET_LEVELS = 20;

/**
 * Why two parsers can read different keys from one key set; undefined where they cannot. Some ignore the case of names, of a
 * repeated name some take the first value, and some refuse what is deeply nested.
 */
function findAmbiguity(text: string, value: unknown): string | undefined {
  if (isNestedDeeper(value, MOST_KEY_SET_LEVELS))
    return `it is nested more than ${MOST_KEY_SET_LEVELS} levels deep, which some parsers refuse`;
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
  const value = tryParseJson(text);
  return value !== null && typeof value === "object" ? findAmbiguity(text, value) : undefined;
}

/** JSON of a value with the members of objects in one order: the same text for equal values. */
export function sortedJson(json: unknown): string {
  return JSON.stringify(json, (_key, value: unknown) =>
    value !== null && typeof value === "object" && !Array.isArray(value)
      ? Object.fromEntries(
          Object.keys(value)
            .sort()
            .map((key) => [key, (value as Record<string, unknown>)[key]]),
        )
      : value,
  );
}

/** The content of a JWKS in canonical form: sorted members, no white space. */
export function canonicalJwks(text: string): string | undefined {
  const value = tryParseJson(text);
  const isRead = value !== undefined && findAmbiguity(text, value) === undefined;
  return isRead ? sortedJson(value) : undefined;
}

const MAX_INT64 = 2n ** 63n - 1n;

function jwksProblem(text: string): string | undefined {
  const value = tryParseJson(text);
  if (value === undefined) return 'must be a JSON Web Key Set as a string: {"keys": [ … ]}; this is not JSON';
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

/** Says what is wrong with a URL; undefined if nothing is. @param isShown Whether a message may repeat it. */
function findUrlProblem(text: string, protocols: readonly string[], isShown = false): string | undefined {
  const must = `must be an absolute ${protocols.join(" or ")} URL, as in ${protocols[0] ?? ""}://example.com/path`;
  // The parser of URLs accepts `https:example.com` and `https:/example.com` too, which the server refuses.
  const isAbsolute = protocols.some((protocol) => new RegExp(`^${protocol}://[^/?#\\s\\\\]`).test(text));
  if (!isAbsolute || !URL.canParse(text) || /[\s\\]/.test(text)) {
    // What has another form may hold a password, and the address of a receiver is often all that guards it.
    const isHost = isShown && /^[\w-]+(?:\.[\w-]+)+(?::\d+)?(?:\/[\w./~-]*)?$/.test(text);
    return isHost ? `${must}, not ${quote(text)}; did you mean ${quote(`https://${text}`)}?` : must;
  }
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") return "must not contain a user name or a password";
  return undefined;
}

/** Loaded at the first use: a program that declares resources compiles no expression. */
// eslint-disable-next-line @typescript-eslint/no-require-imports
const re2 = (): typeof RE2JS => (require("re2js") as { RE2JS: typeof RE2JS }).RE2JS;

/** A longer pattern is not judged: it is 200 repositories written out, which no reviewer compares. */
export const LONGEST_PATTERN = 5000;

function regexProblem(text: string): string | undefined {
  // The server alone checks a longer one: the time to compile it may grow with the square of its length.
  if (text.length > LONGEST_PATTERN) return undefined;
  try {
    re2().compile(text);
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

/** The addresses of a network, as numbers. */
interface Network {
  readonly bits: 32 | 128;
  readonly first: bigint;
  readonly last: bigint;
}

/** The groups of an address of 128 bits, as numbers in hexadecimal digits. */
function groupsOf(address: string): string[] {
  // The parser of URLs writes each address in one form.
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const [before, after] = [head, tail ?? ""].map((part) => (part === "" ? [] : part.split(":")));
  const gap = tail === undefined ? 0 : 8 - (before?.length ?? 0) - (after?.length ?? 0);
  return [...(before ?? []), ...Array<string>(gap).fill("0"), ...(after ?? [])];
}

/** Reads a network in CIDR notation; undefined where it is none, or an address in a network. */
function parseNetwork(text: string): Network | undefined {
  const [, address = "", length = ""] = /^([0-9A-Fa-f.:]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const version = isIP(address);
  if (version === 0) return undefined;
  const bits = version === 4 ? 32 : 128;
  if (Number(length) > bits) return undefined;
  const parts =
    version === 4 ? address.split(".").map(BigInt) : groupsOf(address).map((part) => BigInt(`0x${part}`));
  const size = BigInt(bits / parts.length);
  const first = parts.reduce((number, part) => (number << size) | part, 0n);
  const others = (1n << BigInt(bits - Number(length))) - 1n;
  return (first & others) === 0n ? { bits, first, last: first | others } : undefined;
}

function canonicalNetwork(text: string): string {
  const network = parseNetwork(text);
  return network === undefined ? text : `${network.bits} ${network.first} ${network.last}`;
}

/** Tells of a network whether each of its addresses is in one of these. */
function networkCoverage(texts: readonly string[]): ((text: string) => boolean) | undefined {
  const merged: { bits: number; first: bigint; last: bigint }[] = [];
  const networks = texts.map(parseNetwork);
  if (!networks.every((network) => network !== undefined)) return undefined;
  networks.sort((a, b) => a.bits - b.bits || (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  for (const { bits, first, last } of networks) {
    const before = merged.at(-1);
    if (before?.bits !== bits || before.last + 1n < first) merged.push({ bits, first, last });
    else if (last > before.last) before.last = last;
  }
  return (text) => {
    const network = parseNetwork(text);
    if (network === undefined) return false;
    return merged.some(
      ({ bits, first, last }) => bits === network.bits && first <= network.first && network.last <= last,
    );
  };
}

const uidProblem = (what: string) => (text: string) => (isUid(text) ? undefined : `must be ${what}`);

const ROOT = "19d3a64f20c64ba3ccf1bc86ce59d03e705959ad";
const uids = [ROOT, `${ROOT}/efb53f2857d567f2`, `${ROOT}/0d1e2f3a4b5c6d7e`] as const;

/** A JSON Web Key Set with one, two or three keys. */
const keySets = [1, 2, 3].map((count) =>
  JSON.stringify({ keys: Array.from({ length: count }, (_, i) => ({ kty: "EC", kid: `key-${i + 1}` })) }),
) as [string, string, string];

const rsaKey = (content: string): string =>
  `-----BEGIN PUBLIC KEY-----\nMFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBA${content}CAwEAAQ==\n-----END PUBLIC KEY-----\n`;

/** Each format, by its name. */
const entries = {
  uid: {
    words: "a uid",
    problem: uidProblem(
      "a uid: 40 hex digits, then 16 more after each slash; use the id of a resource or a lookup",
    ),
    examples: uids,
  },
  groupUid: {
    words: "the uid of a group",
    problem: uidProblem(
      "the uid of a group: 40 hex digits, then 16 more after each slash; use the id of a Group or of getGroup",
    ),
    examples: uids,
  },
  /** A regular expression in RE2's syntax. */
  regex: {
    words: "a regular expression in RE2 syntax that matches the whole string",
    problem: regexProblem,
    examples: ["^x$", "^x", ".*"],
  },
  duration: {
    words: 'a duration, as in `"24h"`',
    problem: (text) =>
      durationNanos(text) === undefined
        ? `must be a duration, as in "86400s", "24h" or "1h30m"; at most 315576000000s, not ${quote(printable(text, 40))}`
        : undefined,
    examples: ["3600s", "5400s", "86400s"],
    sample: "24h",
    canonical: (text) => durationNanos(text)?.toString() ?? text,
    toWire: durationToWire,
    isNullable: true,
    amount: durationNanos,
  },
  timestamp: {
    words: "an RFC 3339 time with a zone",
    problem: (text) =>
      timestampNanos(text) === undefined
        ? 'must be an RFC 3339 time with a zone, as in "2027-01-31T12:00:00Z"'
        : undefined,
    examples: ["2030-01-01T00:00:00Z", "2031-06-30T23:59:59Z", "2032-01-01T00:00:00.001Z"],
    sample: "2027-01-31T12:00:00Z",
    canonical: canonicalTime,
    isNullable: true,
    amount: timestampNanos,
  },
  int64: {
    words: "a whole number in decimal digits",
    problem: (text) =>
      /^(0|[1-9]\d{0,18})$/.test(text) && BigInt(text) <= MAX_INT64
        ? undefined
        : `must be a whole number up to ${MAX_INT64}, as in 12345`,
    examples: ["7", "12345", "9007199254740993"],
    sample: "12345",
  },
  jwks: {
    words: "a JSON Web Key Set with public keys only",
    problem: jwksProblem,
    examples: keySets,
    canonical: (text) => canonicalJwks(text) ?? text,
  },
  url: {
    words: "an `https` or `http` URL",
    problem: (text) => findUrlProblem(text, ["https", "http"], true),
    examples: ["https://a.example.com", "https://b.example.com/path", "http://c.example.com:8080"],
    sample: "https://example.com/path",
  },
  httpsUrl: {
    words: "an `https` URL",
    problem: (text) => findUrlProblem(text, ["https"]),
    examples: ["https://a.example.com", "https://b.example.com/path", "https://c.example.com:8443"],
    sample: "https://example.com/path",
  },
  /** A network: only its own address, not one in it, which servers read differently. */
  cidr: {
    words: "a network in CIDR notation",
    problem: (text) =>
      parseNetwork(text) === undefined
        ? 'must be a network in CIDR notation that begins with its first address, as in "203.0.113.0/24", "203.0.113.7/32" or "2001:db8::/32"'
        : undefined,
    examples: ["203.0.113.0/24", "2001:db8::/32", "198.51.100.7/32"],
    sample: "203.0.113.0/24",
    canonical: canonicalNetwork,
    coverage: networkCoverage,
  },
  keyringFile: {
    words: "a plain file name",
    problem: (text) =>
      /^[A-Za-z0-9_@+-][A-Za-z0-9_.@+-]*$/.test(text)
        ? undefined
        : "must be a plain file name: letters, digits and _ . @ + -, without a leading dot or a slash",
    examples: ["a.rsa.pub", "b.rsa.pub", "c.rsa.pub"],
  },
  rsaPublicKey: {
    words: "an RSA public key in PEM",
    problem: (text) =>
      isRsaPublicKey(text)
        ? undefined
        : 'must be an RSA public key in PEM, beginning "-----BEGIN PUBLIC KEY-----"',
    examples: [
      rsaKey("NqLYUfnhfdBzvfFQBh6HInVKcgKV/3c\nrND1xytsDctMxGnMKVSxsvNdtyW/oh9XXMiCtjb1kjw8tzUihN1/6Y0"),
      rsaKey("OCPvMRof4msfeQX2YOLUWO0hXlttXyy\nYRo0LayxorPfqBiBrPPyHO+fVa95zNrHTl9rRRH51iP5n/XSUxu3qu0"),
    ],
  },
} satisfies Record<string, TextFormat>;

/** The name of a format that `check` verifies. */
export type Format = keyof typeof entries;

export const formats: Readonly<Record<Format, TextFormat>> = entries;

/** What a text of each format is, in words. */
export const formatWords: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(formats).map(([name, { words }]) => [name, words]),
);

/** Whether a regular expression in RE2's syntax matches a complete string. */
export function matchesPattern(pattern: string, text: string): boolean {
  return re2().compile(pattern).matches(text);
}
