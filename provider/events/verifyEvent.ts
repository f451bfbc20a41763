import { withCode } from "../errorCodes/codedError";
import { EventError } from "./eventError";
import { readAttributes, readBearerToken, readHeaders, requireAttribute } from "./headers";
import type { Attributes, EventHeaders } from "./headers";
import { parseIssuer } from "./issuerKeys";
import { checkDigest, readSubscriptionGroup, verifyToken } from "./token";
import type { TokenChecks } from "./token";

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
  /** The same in every delivery of one event. Not signed. */
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

function toBytes(body: string | Uint8Array): Uint8Array {
  const input: unknown = body;
  if (typeof input === "string") return Buffer.from(input);
  if (input instanceof Uint8Array) return input;
  throw new TypeError(
    withCode(
      "body must be the raw body of the request, a string or bytes: its signature is over those",
      "PP8004",
    ),
  );
}

function readGroups(group: VerifyEventOptions["group"]): readonly string[] {
  const groups = (typeof group === "string" ? [group] : group).filter((uid) => uid !== "");
  if (groups.length === 0)
    throw new TypeError(withCode("group must be the uid of the group of the subscription", "PP8004"));
  return groups;
}

/** Every comparison with NaN is false, so that no token would ever expire. */
function checkTimes(toleranceSeconds: number, now: Date): void {
  if (!Number.isFinite(toleranceSeconds) || toleranceSeconds < 0) {
    throw new TypeError(
      withCode("clockToleranceSeconds must be a number of seconds of at least 0", "PP8004"),
    );
  }
  if (Number.isNaN(now.getTime())) throw new TypeError(withCode("now must be a valid Date", "PP8004"));
}

/** @throws TypeError where an option is wrong, before any event has come. */
export function readVerifyOptions(options: VerifyEventOptions): TokenChecks & { groups: readonly string[] } {
  const { issuer, clockToleranceSeconds = 60, now = new Date() } = options;
  parseIssuer(issuer);
  checkTimes(clockToleranceSeconds, now);
  return { issuer, now, clockToleranceSeconds, groups: readGroups(options.group) };
}

/** A delivery whose headers and bearer token are verified, and whose body is not read yet. */
export interface SignedDelivery {
  /** The signed part of the bearer token: equal in every copy of one delivery, whatever its headers say. */
  readonly signedPart: string;
  /** The attributes of the headers by lower-case name; they are not signed. */
  readonly attributes: Attributes;
  /** @throws EventError where the bearer token is for another body. */
  readonly verifyBody: (raw: Uint8Array) => PlatformEvent;
}

/**
 * The part of `verifyEvent` that needs no body: a receiver refuses an unsigned request before it reads more.
 *
 * @throws EventError, with the status that a receiver responds with; TypeError for wrong arguments.
 */
export async function verifyHeaders(
  headers: EventHeaders,
  options: VerifyEventOptions,
): Promise<SignedDelivery> {
  const { groups, ...checks } = readVerifyOptions(options);
  const values = readHeaders(headers);
  const token = readBearerToken(values);
  const payload = await verifyToken(token, checks);
  const subscriptionGroup = readSubscriptionGroup(payload, groups);
  const attributes = readAttributes(values);
  const verifyBody = (raw: Uint8Array): PlatformEvent => {
    checkDigest(payload, raw);
    return createEvent(attributes, raw, subscriptionGroup);
  };
  return { signedPart: token.slice(0, token.lastIndexOf(".")), attributes, verifyBody };
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
  const { verifyBody } = await verifyHeaders(headers, options);
  return verifyBody(raw);
}
