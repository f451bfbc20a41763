import { createHash, timingSafeEqual } from "node:crypto";
import { createRemoteJWKSet, customFetch, errors, jwtVerify } from "jose";
import type { JWTPayload, JWTVerifyGetKey } from "jose";
import { hasUserinfo, printableAddress } from "../api/address";
import { logLine } from "../api/logText";
import { isSafe } from "../api/loopback";
import { getChecked } from "./getChecked";

/**
 * Headers of a request, by name in any case: `headers` or `headersDistinct` of Node's `http`, `Headers` of `fetch`,
 * `headers` or `multiValueHeaders` of AWS Lambda, a `Map`, or a plain object.
 */
export type EventHeaders =
  | Headers
  | Readonly<Record<string, string | readonly string[] | null | undefined>>
  | Iterable<readonly [string, string | readonly string[]]>;

export interface VerifyEventOptions {
  /** The platform's issuer, as in `https://issuer.example.com`: its published keys must have signed the event. */
  readonly issuer: string;
  /**
   * The uid of the group of the subscription, or of several. Whoever has a group on the platform can subscribe
   * your address, so an event of another's subscription is as foreign as an unsigned one.
   */
  readonly group: string | readonly string[];
  /** How much the clocks may differ; 60 seconds by default. */
  readonly clockToleranceSeconds?: number;
  /** The time to check against; now by default. */
  readonly now?: Date;
}

/** A verified event of the platform (contract, section 11): act on its type and subject, then read the resource. */
export interface PlatformEvent {
  /** The same for every delivery of one event: what comes twice has the same id. Not signed. */
  readonly id: string;
  /** As delivered: `dev.chainguard.api.iam.group.created.v1`. Not signed. */
  readonly type: string;
  /** The type without prefix and version: `iam.group.created`. Types that you do not know are to be ignored. */
  readonly name: string;
  /** Where it comes from. Not signed. */
  readonly source: string;
  /** The uid of what it happened to. Not signed. */
  readonly subject: string;
  /** RFC 3339; absent where it was not told. Not signed. */
  readonly time?: string;
  /** The uid of the group that it belongs to. Not signed. */
  readonly group?: string;
  /** The uid of the group whose subscription was served: from the signature. */
  readonly subscriptionGroup: string;
  /** What the body holds, where it is not the resource itself. Not signed. */
  readonly bodyType?: string;
  /** Further attributes by lower-case name, as `identityprovider`. Not signed. */
  readonly extensions: Readonly<Record<string, string>>;
  /** Who did it: from the signed body. */
  readonly actor?: unknown;
  /** The resource, or the request; absent where there is none. From the signed body. */
  readonly body?: unknown;
}

/**
 * Why an event was not accepted:
 * - `malformed`: no event of the platform, whoever sent it;
 * - `refused`: not signed, not by this issuer, not for this group, not this body, or out of date;
 * - `unavailable`: the issuer's keys could not be had, so nothing can be said.
 */
export type EventProblem = "malformed" | "refused" | "unavailable";

const STATUS: Readonly<Record<EventProblem, number>> = { malformed: 400, refused: 401, unavailable: 503 };

/** An event that was not accepted. The message holds nothing of the token. */
export class EventError extends Error {
  override readonly name = "EventError";
  readonly code = "EVENT";
  /** What a receiver answers: 400, 401, or 503 (then the event is delivered again). */
  readonly status: number;

  constructor(
    readonly problem: EventProblem,
    message: string,
  ) {
    super(logLine(message));
    this.status = STATUS[problem];
  }
}

const AUDIENCE = "customer";
const SUBJECT_PREFIX = "webhook:";
/** No shared secrets: with those, a public key could pass for one. */
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];
const TYPE = /^dev\.chainguard\.api\.(.+)\.v\d+$/;
const STANDARD_ATTRIBUTES = new Set([
  "specversion",
  "id",
  "source",
  "type",
  "subject",
  "time",
  "group",
  "audience",
  "bodytype",
]);
const TIMEOUT_MS = 10_000;
const HEADERS_TYPE =
  "headers must be an object of header names and values, Headers of fetch, or pairs of a name and a value; not rawHeaders";

/** Public keys by issuer: fetched at the first event, and again when a key is not among them. */
const keySets = new Map<string, Promise<JWTVerifyGetKey>>();

function parseIssuer(issuer: string): URL {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  if (!url || !isSafe(url) || hasUserinfo(url) || url.search !== "" || url.hash !== "") {
    throw new TypeError(
      `issuer must be an address as in "https://issuer.example.com", not ${JSON.stringify(printableAddress(issuer))}`,
    );
  }
  return url;
}

async function fetchKeySet(issuer: string): Promise<JWTVerifyGetKey> {
  const base = parseIssuer(issuer);
  const response = await getChecked(`${issuer.replace(/\/+$/, "")}/.well-known/openid-configuration`, {
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`its configuration answers HTTP ${response.status}`);
  const document: unknown = await response.json();
  const { issuer: named, jwks_uri: address } = (document ?? {}) as Record<string, unknown>;
  if (named !== issuer) throw new Error("its configuration names another issuer");
  if (typeof address !== "string" || !URL.canParse(address))
    throw new Error("its configuration names no keys");
  const keys = new URL(address);
  if ((keys.protocol !== "https:" && !(base.protocol === "http:" && isSafe(keys))) || hasUserinfo(keys)) {
    throw new Error("its keys are not at an https address without user name and password");
  }
  return createRemoteJWKSet(keys, { timeoutDuration: TIMEOUT_MS, [customFetch]: getChecked });
}

async function readKeys(issuer: string): Promise<JWTVerifyGetKey> {
  const known = keySets.get(issuer) ?? fetchKeySet(issuer);
  keySets.set(issuer, known);
  try {
    return await known;
  } catch (error) {
    keySets.delete(issuer);
    throw keysUnavailable(issuer, error);
  }
}

function keysUnavailable(issuer: string, error: unknown): EventError {
  return new EventError(
    "unavailable",
    `the keys of ${issuer} could not be had: ${error instanceof Error ? error.message : "no answer"}`,
  );
}

/** The values of one header. `Headers` and Node join repeated ones by ", ", which neither a token nor an encoded attribute contains. */
function splitValues(name: string, value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.flatMap((text) => {
    if (typeof text !== "string") {
      throw new EventError("malformed", `the header ${name} must be a string or an array of strings`);
    }
    return text.split(/,[ \t]+/);
  });
}

/** The headers that an event is read from. A value that is given twice is one value; two different ones are refused. */
function readHeaders(headers: EventHeaders): ReadonlyMap<string, string> {
  const given: unknown = headers;
  if (given === null || typeof given !== "object") throw new TypeError(HEADERS_TYPE);
  const entries: Iterable<readonly [string, unknown]> =
    Symbol.iterator in headers ? headers : Object.entries(headers);
  const found = new Map<string, string>();
  for (const entry of entries) {
    if (!Array.isArray(entry) || typeof entry[0] !== "string") throw new TypeError(HEADERS_TYPE);
    const [key, value] = entry as [string, unknown];
    const name = key.toLowerCase();
    if (value === undefined || value === null || !(name === "authorization" || name.startsWith("ce-")))
      continue;
    for (const text of splitValues(name, value)) {
      if ((found.get(name) ?? text) !== text) {
        throw new EventError(
          "malformed",
          `the header ${name} has several different values: an event has one`,
        );
      }
      found.set(name, text);
    }
  }
  return found;
}

/** Attributes are percent-encoded in headers (CloudEvents, HTTP binding, 3.1.3.2). */
function decodeAttribute(value: string, name: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw new EventError("malformed", `the header ce-${name} is not percent-encoded UTF-8`);
  }
}

function readAttributes(headers: ReadonlyMap<string, string>): Record<string, string> {
  const attributes = [...headers]
    .filter(([name]) => name.startsWith("ce-"))
    .map(([name, value]): [string, string] => [name.slice(3), decodeAttribute(value, name.slice(3))]);
  return Object.fromEntries(attributes);
}

function requireAttribute(attributes: Readonly<Record<string, string>>, name: string): string {
  const value = attributes[name];
  if (value === undefined || value === "") {
    throw new EventError("malformed", `the header ce-${name} is missing: this is no event in binary mode`);
  }
  return value;
}

/** The part of jose's messages that a receiver's log needs; never the token. */
function toEventError(error: unknown, issuer: string): EventError {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid)
    return keysUnavailable(issuer, error);
  if (error instanceof errors.JWTExpired) return new EventError("refused", "its token has expired");
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === "nbf" && error.reason === "check_failed") return notYetValid("nbf");
    return new EventError(
      "refused",
      `its token is not for this receiver: claim ${error.claim} ${error.reason}`,
    );
  }
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed) {
    return new EventError("refused", `its token is not signed by ${issuer}`);
  }
  // A failed fetch of the keys: jose passes on what fetch threw, and its own error for any status but 200.
  if (!(error instanceof errors.JOSEError) || error.code === "ERR_JOSE_GENERIC")
    return keysUnavailable(issuer, error);
  return new EventError("refused", "its token is no valid JSON web token");
}

/** jose compares `exp` and `nbf` where they are given; an event needs an end, and cannot be signed in the future. */
function checkLifetime(payload: JWTPayload, now: number, tolerance: number): void {
  if (payload.exp === undefined) {
    throw new EventError("refused", "its token never expires: the claim exp is missing");
  }
  if (payload.iat !== undefined && payload.iat > now / 1000 + tolerance) throw notYetValid("iat");
}

function notYetValid(claim: string): EventError {
  return new EventError(
    "refused",
    `its token is from the future (claim ${claim}): compare the clocks of this machine and of the issuer`,
  );
}

function readSubscriptionGroup(payload: JWTPayload, groups: readonly string[]): string {
  const subject = payload.sub ?? "";
  const group = subject.startsWith(SUBJECT_PREFIX) ? subject.slice(SUBJECT_PREFIX.length) : undefined;
  if (group === undefined) throw new EventError("refused", "its token is not for a webhook");
  if (!groups.includes(group)) {
    throw new EventError("refused", "its token is for the subscription of another group");
  }
  return group;
}

function checkDigest(payload: JWTPayload, raw: Uint8Array): void {
  const webhook: unknown = payload["webhook"];
  const claimed =
    webhook !== null && typeof webhook === "object" && "digest" in webhook ? webhook.digest : undefined;
  const expected = Buffer.from(`sha256:${createHash("sha256").update(raw).digest("hex")}`);
  const given = Buffer.from(typeof claimed === "string" ? claimed : "");
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new EventError(
      "refused",
      "its token is for another body: pass the bytes as they came, not parsed JSON",
    );
  }
}

function parseBody(raw: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(raw).toString("utf8"));
  } catch {
    value = undefined;
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new EventError("malformed", "the body is no JSON object");
  }
  return value as Record<string, unknown>;
}

function toBytes(body: string | Uint8Array): Uint8Array {
  const given: unknown = body;
  if (typeof given === "string") return Buffer.from(given);
  if (given instanceof Uint8Array) return given;
  throw new TypeError(
    "body must be the raw body of the request, a string or bytes: its signature is over those",
  );
}

function readGroups(group: VerifyEventOptions["group"]): readonly string[] {
  const groups = (typeof group === "string" ? [group] : group).filter((uid) => uid !== "");
  if (groups.length === 0) throw new TypeError("group must be the uid of the group of the subscription");
  return groups;
}

/** Every comparison with a time that is no number is false, so nothing would ever have expired. */
function checkTimes(toleranceSeconds: number, now: Date): void {
  if (!Number.isFinite(toleranceSeconds) || toleranceSeconds < 0) {
    throw new TypeError("clockToleranceSeconds must be a number of seconds of at least 0");
  }
  if (Number.isNaN(now.getTime())) throw new TypeError("now must be a valid Date");
}

/** A delivery whose headers and bearer are verified, and whose body is not read yet. */
export interface SignedDelivery {
  /** The signed part of the bearer: equal in every copy of one delivery, whatever its headers say. */
  readonly signedPart: string;
  /** The attributes of the headers by lower-case name; they are not signed. */
  readonly attributes: Readonly<Record<string, string>>;
  /** @throws EventError where the bearer is for another body. */
  readonly verifyBody: (raw: Uint8Array) => PlatformEvent;
}

/**
 * The part of `verifyEvent` that needs no body: a receiver refuses an unsigned request before it reads more.
 *
 * @throws EventError, with the status that a receiver answers; TypeError for wrong arguments.
 */
export async function verifyHeaders(
  headers: EventHeaders,
  options: VerifyEventOptions,
): Promise<SignedDelivery> {
  const { issuer, clockToleranceSeconds = 60, now = new Date() } = options;
  parseIssuer(issuer);
  checkTimes(clockToleranceSeconds, now);
  const groups = readGroups(options.group);
  const given = readHeaders(headers);
  const token = /^bearer +(\S+)$/i.exec(given.get("authorization") ?? "")?.[1];
  if (token === undefined) throw new EventError("refused", "it carries no bearer token");

  const keys = await readKeys(issuer);
  let payload: JWTPayload;
  try {
    ({ payload } = await jwtVerify(token, keys, {
      issuer,
      audience: AUDIENCE,
      algorithms: ALGORITHMS,
      clockTolerance: clockToleranceSeconds,
      currentDate: now,
    }));
  } catch (error) {
    throw toEventError(error, issuer);
  }
  checkLifetime(payload, now.getTime(), clockToleranceSeconds);
  const subscriptionGroup = readSubscriptionGroup(payload, groups);
  const attributes = readAttributes(given);
  const verifyBody = (raw: Uint8Array): PlatformEvent => {
    checkDigest(payload, raw);
    return createEvent(attributes, raw, subscriptionGroup);
  };
  return { signedPart: token.slice(0, token.lastIndexOf(".")), attributes, verifyBody };
}

function createEvent(
  attributes: Readonly<Record<string, string>>,
  raw: Uint8Array,
  subscriptionGroup: string,
): PlatformEvent {
  const type = requireAttribute(attributes, "type");
  const { actor, body: content } = parseBody(raw);
  return {
    id: requireAttribute(attributes, "id"),
    type,
    name: TYPE.exec(type)?.[1] ?? type,
    source: requireAttribute(attributes, "source"),
    subject: requireAttribute(attributes, "subject"),
    ...(attributes["time"] ? { time: attributes["time"] } : {}),
    ...(attributes["group"] ? { group: attributes["group"] } : {}),
    subscriptionGroup,
    ...(attributes["bodytype"] ? { bodyType: attributes["bodytype"] } : {}),
    extensions: Object.fromEntries(
      Object.entries(attributes).filter(([name]) => !STANDARD_ATTRIBUTES.has(name)),
    ),
    ...(actor === undefined ? {} : { actor }),
    ...(content === undefined ? {} : { body: content }),
  };
}

/**
 * Verifies a delivery of the platform to a subscription's sink, and says what it tells: a CloudEvent in binary
 * mode whose bearer token the issuer signed, for this body and for the subscription of one of these groups.
 *
 * The signature covers the body and the group of the subscription, not the headers: take `type` and `subject` as
 * a hint of where to look, and read the resource. Events may come twice, or in any order.
 *
 * @param headers of the request.
 * @param body the raw body, before anything has parsed it.
 * @throws EventError, with the status that a receiver answers; TypeError for wrong arguments.
 */
export async function verifyEvent(
  headers: EventHeaders,
  body: string | Uint8Array,
  options: VerifyEventOptions,
): Promise<PlatformEvent> {
  const raw = toBytes(body);
  const { verifyBody } = await verifyHeaders(headers, options);
  return verifyBody(raw);
}
