import { randomBytes } from "node:crypto";
import type { FieldSpec, Message, MessageType } from "../gateway/descriptor";
import {
  bool,
  clearField,
  copyValue,
  duration,
  enumOf,
  enumType,
  messageType,
  text,
  timestamp,
} from "../gateway/descriptor";
import type { Method } from "../gateway/routes";
import { durationToMs, timestampToMs, msToTimestamp } from "../gateway/scalars";
import { aborted, failedPrecondition, invalidField, notFound } from "../gateway/status";
import type { Entry } from "../service/store";
import type { AuthenticatedCall, KindBehaviour, ServiceContext } from "./kindTable";

const name = (suffix: string): string => `chainguard.platform.iam.v2.${suffix}`;
const service = "iam.v2.IdentityProvidersService";

/** The SCIM settings of an identity provider. */
export const scimMessage = messageType(name("IdentityProvider.SCIM"), {
  enabled: bool(),
  endpointUrl: text(),
  tokenExpireTime: timestamp(),
  previousTokenExpireTime: timestamp(),
  credentialState: enumOf(enumType("CREDENTIAL_STATE", "NOT_ISSUED LIVE EXPIRED REVOKED ROTATING")),
  etag: text(),
});

function scimMethod(
  rpc: string,
  verb: string,
  request: Record<string, FieldSpec>,
  response: Record<string, FieldSpec>,
): Method {
  return {
    rpc: `${service}/${rpc}`,
    capabilities: ["IAM_SCIM_MANAGE", "IAM_IDENTITY_PROVIDERS_LIST"],
    verb: "POST",
    pattern: `/iam/v2/identityProviders/{identityProviderUid=**}:${verb}`,
    body: "*",
    request: messageType(name(`${rpc}Request`), { identityProviderUid: text(), ...request }),
    response: messageType(name(`${rpc}Response`), { identityProviderUid: text(), etag: text(), ...response }),
  };
}

const token = { token: text(), endpointUrl: text(), expireTime: timestamp() };

export const scimMethods: readonly Method[] = [
  scimMethod(
    "GenerateScimToken",
    "generateScimToken",
    { expireTime: timestamp(), neverExpires: bool() },
    token,
  ),
  scimMethod(
    "RegenerateScimToken",
    "regenerateScimToken",
    { etag: text(), overlap: duration(), expireTime: timestamp(), neverExpires: bool() },
    { ...token, previousTokenExpireTime: timestamp(), requestedOverlap: duration() },
  ),
  scimMethod("RevokeScimToken", "revokeScimToken", {}, { enabled: bool(), revokeTime: timestamp() }),
  scimMethod("SetScimEnabled", "setScimEnabled", { enabled: bool(), etag: text() }, { enabled: bool() }),
];

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const defaultLifeMs = 365 * dayMs;
const longestLifeMs = 2 * 365 * dayMs;
const defaultOverlap = "3600s";
const longestOverlapMs = dayMs;
/** SCIM can be enabled only when this many owners do not depend on it. */
const ownersNeeded = 2;

const statesWithoutToken = ["CREDENTIAL_STATE_NOT_ISSUED", "CREDENTIAL_STATE_REVOKED"];

function newEtag(): string {
  return randomBytes(8).toString("hex");
}

/** The SCIM settings of a new identity provider. */
export function newScim(): Message {
  return { credentialState: "CREDENTIAL_STATE_NOT_ISSUED", etag: newEtag() };
}

/** The stored state says whether a token was issued or revoked; the rest depends on the time. */
export function currentScim({ uid: own, value }: Entry, context: ServiceContext): Message {
  const scim = copyValue(value.scim as Message);
  scim.endpointUrl = `${context.url()}/scim/v2/${own}`;
  if (statesWithoutToken.includes(scim.credentialState as string)) return scim;
  const now = context.now();
  const previous = timestampToMs(scim.previousTokenExpireTime);
  if (previous !== undefined && previous <= now) clearField(scim, "previousTokenExpireTime");
  const isExpired = (timestampToMs(scim.tokenExpireTime) ?? Infinity) <= now;
  scim.credentialState = isExpired
    ? "CREDENTIAL_STATE_EXPIRED"
    : scim.previousTokenExpireTime !== undefined
      ? "CREDENTIAL_STATE_ROTATING"
      : "CREDENTIAL_STATE_LIVE";
  return scim;
}

/** Stores changes of the SCIM settings under a new etag. */
function writeScim(entry: Entry, changes: Message, { store }: ServiceContext): Message {
  const scim = copyValue(entry.value.scim as Message);
  for (const [field, value] of Object.entries(changes)) {
    if (value === undefined) clearField(scim, field);
    else scim[field] = value;
  }
  scim.etag = newEtag();
  store.update(entry, { ...entry.value, scim }, entry.updatedAt);
  return scim;
}

function emitScimEvent(
  what: string,
  entry: Entry,
  response: Message,
  type: MessageType,
  call: AuthenticatedCall,
  context: ServiceContext,
) {
  // Only the caller gets the token itself.
  const message = { ...response };
  clearField(message, "token");
  context.emit(
    {
      name: `iam.identity_providers.${what}`,
      subject: entry.uid,
      group: entry.parent,
      body: { message, type },
    },
    call.caller,
  );
}

function requireProvider({ request }: AuthenticatedCall, context: ServiceContext): Entry {
  return context.requireEntry("IdentityProvider", request.identityProviderUid);
}

function checkEtag({ request }: AuthenticatedCall, entry: Entry): void {
  if (request.etag === undefined) throw invalidField("etag", "etag is required");
  if (request.etag !== (entry.value.scim as Message).etag) {
    throw aborted(`etag is not the current one of identity provider "${entry.uid}"`);
  }
}

/** Returns when a requested token expires; undefined for one that never expires. @throws StatusError */
function resolveExpiry({ expireTime, neverExpires }: Message, context: ServiceContext): string | undefined {
  if (expireTime !== undefined && neverExpires) {
    throw invalidField("expireTime", "expireTime and neverExpires exclude each other");
  }
  if (neverExpires) return undefined;
  const now = context.now();
  const requested = timestampToMs(expireTime) ?? now + defaultLifeMs;
  if (requested <= now) throw invalidField("expireTime", "expireTime must be in the future");
  if (requested > now + longestLifeMs)
    throw invalidField("expireTime", "expireTime is at most two years ahead");
  return msToTimestamp(requested);
}

function issuedTokenResponse(entry: Entry, scim: Message, context: ServiceContext): Message {
  return {
    identityProviderUid: entry.uid,
    token: `cgscim_${randomBytes(32).toString("hex")}`,
    endpointUrl: currentScim(entry, context).endpointUrl,
    expireTime: scim.tokenExpireTime,
    etag: scim.etag,
  };
}

function generateToken(call: AuthenticatedCall, context: ServiceContext): Message {
  const entry = requireProvider(call, context);
  const { credentialState } = entry.value.scim as Message;
  const tokenExpireTime = resolveExpiry(call.request, context);
  if (!statesWithoutToken.includes(credentialState as string)) {
    throw failedPrecondition("TOKEN_EXISTS", entry.uid, "a token exists; regenerate or revoke it");
  }
  const changes = { credentialState: "CREDENTIAL_STATE_LIVE", tokenExpireTime };
  const response = issuedTokenResponse(entry, writeScim(entry, changes, context), context);
  emitScimEvent("scim_token.generated", entry, response, call.method.response, call, context);
  return response;
}

function regenerateToken(call: AuthenticatedCall, context: ServiceContext): Message {
  const entry = requireProvider(call, context);
  const { request } = call;
  const tokenExpireTime = resolveExpiry(request, context);
  const requestedOverlap = (request.overlap ?? defaultOverlap) as string;
  const overlapMs = Math.min(durationToMs(requestedOverlap), longestOverlapMs);
  if (overlapMs < 0) throw invalidField("overlap", "overlap must not be negative");
  const current = currentScim(entry, context);
  if (statesWithoutToken.includes(current.credentialState as string)) {
    throw notFound("ScimToken", entry.uid);
  }
  checkEtag(call, entry);
  const now = context.now();
  const until = Math.min(now + overlapMs, timestampToMs(current.tokenExpireTime) ?? Infinity);
  const previousTokenExpireTime = until > now ? msToTimestamp(until) : undefined;
  const scim = writeScim(
    entry,
    { credentialState: "CREDENTIAL_STATE_LIVE", tokenExpireTime, previousTokenExpireTime },
    context,
  );
  const response = {
    ...issuedTokenResponse(entry, scim, context),
    previousTokenExpireTime,
    requestedOverlap,
  };
  emitScimEvent("scim_token.regenerated", entry, response, call.method.response, call, context);
  return response;
}

function revokeToken(call: AuthenticatedCall, context: ServiceContext): Message {
  const entry = requireProvider(call, context);
  if ((entry.value.scim as Message).credentialState === "CREDENTIAL_STATE_NOT_ISSUED") {
    throw notFound("ScimToken", entry.uid);
  }
  const { etag, enabled } = writeScim(
    entry,
    {
      credentialState: "CREDENTIAL_STATE_REVOKED",
      tokenExpireTime: undefined,
      previousTokenExpireTime: undefined,
    },
    context,
  );
  const response = {
    identityProviderUid: entry.uid,
    etag,
    enabled,
    revokeTime: msToTimestamp(context.now()),
  };
  emitScimEvent("scim_token.revoked", entry, response, call.method.response, call, context);
  return response;
}

function setScimEnabled(call: AuthenticatedCall, context: ServiceContext): Message {
  const entry = requireProvider(call, context);
  checkEtag(call, entry);
  const { enabled } = call.request;
  if (enabled && countOwnerBindings(entry.parent, context) < ownersNeeded) {
    throw failedPrecondition(
      "OWNERS_REQUIRED",
      entry.parent,
      `group "${entry.parent}" needs ${ownersNeeded} bindings of the role owner first`,
    );
  }
  const { etag } = writeScim(entry, { enabled }, context);
  const response = { identityProviderUid: entry.uid, enabled, etag };
  emitScimEvent("scim_enabled.updated", entry, response, call.method.response, call, context);
  return response;
}

/** How many bindings of `owner` a group has: SCIM needs two, so that a directory cannot lock everyone out. */
function countOwnerBindings(group: string, { store }: ServiceContext): number {
  return store.childrenOf({ kind: "Group", uid: group }).filter(({ kind, value }) => {
    const role = kind === "RoleBinding" ? store.find("Role", value.roleUid as string) : undefined;
    return role?.builtIn === true && role.value.name === "owner";
  }).length;
}

/** The implementations of `scimMethods`. */
export const scimHandlers: NonNullable<KindBehaviour["custom"]> = {
  GenerateScimToken: generateToken,
  RegenerateScimToken: regenerateToken,
  RevokeScimToken: revokeToken,
  SetScimEnabled: setScimEnabled,
};
