import { CodedError, errorMessage, withCode } from "../errors/codedError";
import type { ErrorCode } from "../errors/registry";
import { hasUserinfo, isSafe, printableAddress } from "../text/address";
import { withoutTrailing } from "../text/plain";
import { logLine } from "../text/printable";
import { createRemoteJWKSet, customFetch, errors, jwtVerify } from "jose";
import type { JWTPayload, JWTVerifyGetKey } from "jose";
import { createHash, timingSafeEqual } from "node:crypto";
import { Agent as HttpAgent, get as httpGet } from "node:http";
import type { IncomingMessage } from "node:http";
import { Agent as HttpsAgent, get as httpsGet } from "node:https";
import { buffer } from "node:stream/consumers";

/**
 * Why an event was not accepted:
 * - `malformed`: the request is no event of the platform;
 * - `refused`: the signature, the issuer, the group, the body or the time does not match;
 * - `unavailable`: the issuer's keys could not be fetched, so the event could not be checked.
 */
export type EventProblem = "malformed" | "refused" | "unavailable";

const STATUS: Readonly<Record<EventProblem, number>> = { malformed: 400, refused: 401, unavailable: 503 };

const ERROR_CODES: Readonly<Record<EventProblem, ErrorCode>> = {
  malformed: "PP8001",
  refused: "PP8002",
  unavailable: "PP8003",
};

/** An event that was not accepted. The message contains nothing of the token. */
export class EventError extends CodedError {
  override readonly name = "EventError";
  readonly code = "EVENT";
  /** The status with which a receiver responds: 400, 401, or 503 (then the event is delivered again). */
  readonly status: number;

  constructor(
    readonly problem: EventProblem,
    message: string,
    status = STATUS[problem],
  ) {
    super(ERROR_CODES[problem], logLine(message));
    this.status = status;
  }
}

/** The receiver itself is wrong, and no event. */
export const wrongArgument = (message: string): TypeError => new TypeError(withCode(message, "PP8004"));

export interface VerifyEventOptions {
  /** The platform's issuer, as in `https://issuer.example.com`: its published keys must have signed the event. */
  readonly issuer: string;
  /**
   * The uid of the group of the subscription, or of several. Whoever has a group on the platform can subscribe
   * your address, so an event for another group's subscription is as untrusted as an unsigned one.
   */
  readonly group: string | readonly string[];
  /** How much the clocks may differ; 60 seconds by default. */
  readonly clockToleranceSeconds?: number;
  /** The time to check against; now by default. */
  readonly now?: Date;
}

/** A verified event of the platform: act on its type and subject, then read the resource. */
export interface PlatformEvent {
  /** The same in every delivery of one event by the platform. Not signed: a copy may have another one. */
  readonly id: string;
  /** As delivered: `dev.chainguard.api.iam.group.created.v1`. Not signed. */
  readonly type: string;
  /** The type without prefix and version: `iam.group.created`. Ignore types that you do not know. */
  readonly name: string;
  /** Where it comes from. Not signed. */
  readonly source: string;
  /** The uid of the resource that the event is about. Not signed. */
  readonly subject: string;
  /** RFC 3339; absent where the platform sends none. Not signed. */
  readonly time?: string;
  /** The uid of the group that it belongs to. Not signed. */
  readonly group?: string;
  /** The uid of the group whose subscription was served: from the signature. */
  readonly subscriptionGroup: string;
  /** What the body contains, where it is not the resource itself. Not signed. */
  readonly bodyType?: string;
  /** Further attributes by lower-case name, as `identityprovider`. Not signed. */
  readonly extensions: Readonly<Record<string, string>>;
  /** Who caused it: from the signed body. */
  readonly actor?: unknown;
  /** The resource, or the request; absent where there is none. From the signed body. */
  readonly body?: unknown;
}

/**
 * Verifies a delivery of the platform to a subscription's sink and returns its event: a CloudEvent in binary mode
 * whose bearer token the issuer signed, for this body and for the subscription of one of these groups.
 *
 * The signature covers the body and the group of the subscription, not the headers: take `type` and `subject` as
 * a hint of where to look, and read the resource. Events may come twice, or in any order.
 *
 * @param headers of the request.
 * @param body the raw body, before anything has parsed it.
 * @throws EventError, with the status that a receiver responds with; TypeError for wrong arguments.
 */
export async function verifyEvent(
  headers: EventHeaders,
  body: string | Uint8Array,
  options: VerifyEventOptions,
): Promise<PlatformEvent> {
  const raw = toBytes(body);
  const verifyBody = await verifyHeaders(headers, options);
  return verifyBody(raw);
}

function toBytes(body: string | Uint8Array): Uint8Array {
  const input: unknown = body;
  if (typeof input === "string") return Buffer.from(input);
  if (input instanceof Uint8Array) return input;
  throw wrongArgument(
    "body must be the raw body of the request, a string or bytes: its signature is over those",
  );
}

/**
 * The part of `verifyEvent` that needs no body: a receiver refuses an unsigned request before it reads more. What it returns
 * makes the event of the body, and throws an EventError where the bearer token is for another one.
 *
 * @throws EventError, with the status that a receiver responds with; TypeError for wrong arguments.
 */
export async function verifyHeaders(
  headers: EventHeaders,
  options: VerifyEventOptions,
): Promise<(raw: Uint8Array) => PlatformEvent> {
  const { groups, ...checks } = readVerifyOptions(options);
  const values = readHeaders(headers);
  const token = readBearerToken(values);
  const payload = await verifyToken(token, checks);
  const subscriptionGroup = readSubscriptionGroup(payload, groups);
  const attributes = readAttributes(values);
  return (raw) => {
    checkDigest(payload, raw);
    return createEvent(attributes, raw, subscriptionGroup);
  };
}

function readGroups(group: VerifyEventOptions["group"]): readonly string[] {
  const groups = (typeof group === "string" ? [group] : group).filter((uid) => uid !== "");
  if (groups.length === 0) throw wrongArgument("group must be the uid of the group of the subscription");
  return groups;
}

/** Every comparison with NaN is false, so that no token would ever expire. */
function checkTimes(toleranceSeconds: number, now: Date): void {
  if (!Number.isFinite(toleranceSeconds) || toleranceSeconds < 0) {
    throw wrongArgument("clockToleranceSeconds must be a number of seconds of at least 0");
  }
  if (Number.isNaN(now.getTime())) throw wrongArgument("now must be a valid Date");
}

/** @throws TypeError where an option is wrong, before any event has come. */
export function readVerifyOptions(options: VerifyEventOptions): TokenChecks & { groups: readonly string[] } {
  const { issuer, clockToleranceSeconds = 60, now = new Date() } = options;
  parseIssuer(issuer);
  checkTimes(clockToleranceSeconds, now);
  return { issuer, now, clockToleranceSeconds, groups: readGroups(options.group) };
}

/**
 * Headers of a request, by name in any case: `headers` or `headersDistinct` of Node's `http`, `Headers` of `fetch`,
 * `headers` or `multiValueHeaders` of AWS Lambda, a `Map`, or a plain object.
 */
export type EventHeaders =
  | Headers
  | Readonly<Record<string, string | readonly string[] | null | undefined>>
  | Iterable<readonly [string, string | readonly string[]]>;

/** CloudEvents attributes by lower-case name. */
type Attributes = Readonly<Record<string, string>>;

const HEADERS_TYPE =
  "headers must be an object of header names and values, Headers of fetch, or pairs of a name and a value; not rawHeaders";

/** `Headers` and Node join repeated values by ", ", which neither a token nor an encoded attribute contains. */
function splitValues(name: string, value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.flatMap((text) => {
    if (typeof text !== "string") {
      throw new EventError("malformed", `the header ${name} must be a string or an array of strings`);
    }
    return text.split(/,[ \t]+/);
  });
}

const isRelevant = (name: string): boolean => name === "authorization" || name.startsWith("ce-");

/** The headers that decide an event. Equal values of one header are one value; different ones are refused. */
function readHeaders(headers: EventHeaders): ReadonlyMap<string, string> {
  const input: unknown = headers;
  if (input === null || typeof input !== "object") throw wrongArgument(HEADERS_TYPE);
  const entries: Iterable<readonly [string, unknown]> =
    Symbol.iterator in headers ? headers : Object.entries(headers);
  const values = new Map<string, string>();
  for (const entry of entries) {
    if (!Array.isArray(entry) || typeof entry[0] !== "string") throw wrongArgument(HEADERS_TYPE);
    const [key, value] = entry as [string, unknown];
    const name = key.toLowerCase();
    if (value === undefined || value === null || !isRelevant(name)) continue;
    for (const text of splitValues(name, value)) {
      if ((values.get(name) ?? text) !== text) {
        throw new EventError(
          "malformed",
          `the header ${name} has several different values: an event has one`,
        );
      }
      values.set(name, text);
    }
  }
  return values;
}

/** The bearer token of a request. @throws EventError where there is none. */
function readBearerToken(headers: ReadonlyMap<string, string>): string {
  const token = /^bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  if (token === undefined) throw new EventError("refused", "it carries no bearer token");
  return token;
}

/** Attributes are percent-encoded in headers (CloudEvents, HTTP binding, 3.1.3.2). */
function decodeAttribute(value: string, name: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw new EventError("malformed", `the header ce-${name} is not percent-encoded UTF-8`);
  }
}

function readAttributes(headers: ReadonlyMap<string, string>): Attributes {
  const attributes = [...headers]
    .filter(([name]) => name.startsWith("ce-"))
    .map(([name, value]): [string, string] => [name.slice(3), decodeAttribute(value, name.slice(3))]);
  return Object.fromEntries(attributes);
}

function requireAttribute(attributes: Attributes, name: string): string {
  const value = attributes[name];
  if (value === undefined || value === "") {
    throw new EventError(
      "malformed",
      `the header ce-${name} is missing: this is not an event in binary mode`,
    );
  }
  return value;
}

/** No set of keys is near this. */
const MAX_BYTES = 1024 * 1024;

/** An agent's own option, which neither NODE_TLS_REJECT_UNAUTHORIZED nor the global agent overrides. */
const secured = new HttpsAgent({ rejectUnauthorized: true });
const plain = new HttpAgent();

async function read(message: IncomingMessage): Promise<Buffer> {
  let size = 0;
  message.on("data", ({ length }: Buffer) => {
    size += length;
    if (size > MAX_BYTES)
      message.destroy(new CodedError("PP8003", `its response is larger than ${MAX_BYTES} bytes`));
  });
  return await buffer(message);
}

/**
 * A GET as by `fetch`, except that the certificate is always checked, and that a redirect is a response like another.
 *
 * @throws Error when there is no response.
 */
async function getChecked(
  address: string,
  { headers, signal }: { readonly headers?: Headers; readonly signal: AbortSignal },
): Promise<Response> {
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { headers: Object.fromEntries(headers ?? []), signal };
    const request = address.startsWith("https:")
      ? httpsGet(address, { ...options, agent: secured }, resolve)
      : httpGet(address, { ...options, agent: plain }, resolve);
    request.once("error", (error) => reject(signal.aborted ? (signal.reason as Error) : error));
  });
  const body = await read(message);
  const status = message.statusCode ?? 0;
  // A response without a body refuses even an empty one.
  return new Response(body.length === 0 ? null : new Uint8Array(body), { status });
}

const TIMEOUT_MS = 10_000;

/** Public keys by issuer. */
const keySets = new Map<string, JWTVerifyGetKey>();

/** @throws TypeError where it is no https address without user name, query and fragment. */
function parseIssuer(issuer: string): URL {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  if (!url || !isSafe(url) || hasUserinfo(url) || url.search !== "" || url.hash !== "") {
    throw wrongArgument(
      `issuer must be an address as in "https://issuer.example.com", not ${JSON.stringify(printableAddress(issuer))}`,
    );
  }
  return url;
}

const configurationAddress = (issuer: string): string =>
  `${withoutTrailing(issuer, "/")}/.well-known/openid-configuration`;

/** The address of an issuer's keys, as its configuration names it now. */
async function fetchKeysAddress(issuer: string, signal: AbortSignal): Promise<string> {
  const base = parseIssuer(issuer);
  const response = await getChecked(configurationAddress(issuer), { signal });
  if (!response.ok) throw new CodedError("PP8003", `its configuration responds with HTTP ${response.status}`);
  const document: unknown = await response.json();
  const { issuer: named, jwks_uri: address } = (document ?? {}) as Record<string, unknown>;
  if (named !== issuer) throw new CodedError("PP8003", "its configuration names another issuer");
  if (typeof address !== "string" || !URL.canParse(address))
    throw new CodedError("PP8003", "its configuration names no keys");
  const keys = new URL(address);
  if ((keys.protocol !== "https:" && !(base.protocol === "http:" && isSafe(keys))) || hasUserinfo(keys)) {
    throw new CodedError("PP8003", "its keys are not at an https address without user name and password");
  }
  return keys.href;
}

/**
 * The keys of an issuer: fetched at the first event, when they are old, and when a key is not among them. Each time the
 * configuration is read again, since the issuer may have moved its keys.
 */
function keySetOf(issuer: string): JWTVerifyGetKey {
  const known = keySets.get(issuer);
  if (known !== undefined) return known;
  const keySet = createRemoteJWKSet(new URL(configurationAddress(issuer)), {
    timeoutDuration: TIMEOUT_MS,
    [customFetch]: async (_address, options) =>
      getChecked(await fetchKeysAddress(issuer, options.signal), options),
  });
  keySets.set(issuer, keySet);
  return keySet;
}

function keysUnavailable(issuer: string, error: unknown): EventError {
  return new EventError("unavailable", `the keys of ${issuer} could not be fetched: ${errorMessage(error)}`);
}

const AUDIENCE = "customer";
const SUBJECT_PREFIX = "webhook:";
/** Asymmetric only: among symmetric algorithms, a public key could pass for a shared secret. */
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];

/** What a token is checked against. */
interface TokenChecks {
  readonly issuer: string;
  readonly now: Date;
  readonly clockToleranceSeconds: number;
}

/** @throws EventError where the issuer did not sign the token for a receiver of events, or it is out of date. */
async function verifyToken(token: string, checks: TokenChecks): Promise<JWTPayload> {
  const { issuer, now, clockToleranceSeconds } = checks;
  try {
    const { payload } = await jwtVerify(token, keySetOf(issuer), {
      issuer,
      audience: AUDIENCE,
      requiredClaims: ["exp"],
      algorithms: ALGORITHMS,
      clockTolerance: clockToleranceSeconds,
      currentDate: now,
    });
    // Jose accepts a token that is issued in the future.
    const { iat = 0 } = payload;
    if (iat > now.getTime() / 1000 + clockToleranceSeconds) throw notYetValid("iat");
    return payload;
  } catch (error) {
    throw error instanceof EventError ? error : toEventError(error, issuer);
  }
}

/** jose's messages can contain the token, so only a part of them reaches a receiver's log. */
function toEventError(error: unknown, issuer: string): EventError {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid)
    return keysUnavailable(issuer, error);
  if (error instanceof errors.JWTExpired) return new EventError("refused", "its token has expired");
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === "nbf" && error.reason === "check_failed") return notYetValid("nbf");
    if (error.claim === "exp" && error.reason === "missing") {
      return new EventError("refused", "its token never expires: the claim exp is missing");
    }
    return new EventError(
      "refused",
      `its token is not for this receiver: claim ${error.claim} ${error.reason}`,
    );
  }
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed) {
    return new EventError("refused", `its token is not signed by ${issuer}`);
  }
  // Where the keys cannot be fetched, jose throws what fetch threw, or its generic error for a status other than 200.
  if (!(error instanceof errors.JOSEError) || error.code === "ERR_JOSE_GENERIC")
    return keysUnavailable(issuer, error);
  return new EventError("refused", "its token is not a valid JSON web token");
}

function notYetValid(claim: string): EventError {
  return new EventError(
    "refused",
    `its token is from the future (claim ${claim}): compare the clocks of this machine and of the issuer`,
  );
}

/** The group whose subscription a token is for. @throws EventError where it is none of `groups`. */
function readSubscriptionGroup(payload: JWTPayload, groups: readonly string[]): string {
  const subject = typeof payload.sub === "string" ? payload.sub : "";
  const group = subject.startsWith(SUBJECT_PREFIX) ? subject.slice(SUBJECT_PREFIX.length) : undefined;
  if (group === undefined) throw new EventError("refused", "its token is not for a webhook");
  if (!groups.includes(group)) {
    throw new EventError("refused", "its token is for the subscription of another group");
  }
  return group;
}

/** @throws EventError where the token is for another body. */
function checkDigest(payload: JWTPayload, body: Uint8Array): void {
  const webhook: unknown = payload["webhook"];
  const claimed =
    webhook !== null && typeof webhook === "object" && "digest" in webhook ? webhook.digest : undefined;
  const expected = Buffer.from(`sha256:${createHash("sha256").update(body).digest("hex")}`);
  const actual = Buffer.from(typeof claimed === "string" ? claimed : "");
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) {
    throw new EventError(
      "refused",
      "its token is for another body: pass the bytes as they came, not parsed JSON",
    );
  }
}

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

function parseBody(raw: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(raw).toString("utf8"));
  } catch {
    value = undefined;
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new EventError("malformed", "the body is not a JSON object");
  }
  return value as Record<string, unknown>;
}

function createEvent(attributes: Attributes, raw: Uint8Array, subscriptionGroup: string): PlatformEvent {
  const type = requireAttribute(attributes, "type");
  const { actor, body: content } = parseBody(raw);
  const extensions = Object.entries(attributes).filter(([name]) => !STANDARD_ATTRIBUTES.has(name));
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
    extensions: Object.fromEntries(extensions),
    ...(actor === undefined ? {} : { actor }),
    ...(content === undefined ? {} : { body: content }),
  };
}
