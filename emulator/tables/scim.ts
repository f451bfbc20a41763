import { randomBytes } from "node:crypto";
import type { FieldSpecs, Message } from "../gateway/fields";
import {
  bool,
  clearField,
  copyValue,
  duration,
  enumeration,
  messageType,
  text,
  timestamp,
} from "../gateway/fields";
import { durationToMs, timestampToMs, msToTimestamp } from "../gateway/time";
import { aborted, failedPrecondition, invalidField, notFound } from "../gateway/status";
import { fullNameOf } from "../service/events";
import type { PlatformService } from "../service/platformService";
import type { Entry } from "../service/store";
import type { CustomMethod } from "./kindTable";

const service = "iam.v2.IdentityProvidersService";

/** The SCIM settings of an identity provider. */
export const scimMessage = messageType({
  enabled: bool(),
  endpointUrl: text(),
  tokenExpireTime: timestamp(),
  previousTokenExpireTime: timestamp(),
  credentialState: enumeration("CREDENTIAL_STATE", "NOT_ISSUED LIVE EXPIRED REVOKED ROTATING"),
  etag: text(),
});

const token = { token: text(), endpointUrl: text(), expireTime: timestamp() };

/** A method of the SCIM settings, whose response is also its event. */
interface ScimMethod {
  readonly name: string;
  readonly event: string;
  readonly request: FieldSpecs;
  readonly response: FieldSpecs;
  readonly run: (entry: Entry, request: Message, platform: PlatformService) => Message;
}

export const scimMethods: readonly CustomMethod[] = (
  [
    {
      name: "GenerateScimToken",
      event: "scim_token.generated",
      request: { expireTime: timestamp(), neverExpires: bool() },
      response: token,
      run: generateToken,
    },
    {
      name: "RegenerateScimToken",
      event: "scim_token.regenerated",
      request: { etag: text(), overlap: duration(), expireTime: timestamp(), neverExpires: bool() },
      response: { ...token, previousTokenExpireTime: timestamp(), requestedOverlap: duration() },
      run: regenerateToken,
    },
    {
      name: "RevokeScimToken",
      event: "scim_token.revoked",
      request: {},
      response: { enabled: bool(), revokeTime: timestamp() },
      run: revokeToken,
    },
    {
      name: "SetScimEnabled",
      event: "scim_enabled.updated",
      request: { enabled: bool(), etag: text() },
      response: { enabled: bool() },
      run: setScimEnabled,
    },
  ] as readonly ScimMethod[]
).map(({ name, event, request, response, run }) => {
  const type = messageType({ identityProviderUid: text(), etag: text(), ...response });
  return {
    rpc: `${service}/${name}`,
    capabilities: ["IAM_SCIM_MANAGE", "IAM_IDENTITY_PROVIDERS_LIST"],
    verb: "POST",
    pattern: `/iam/v2/identityProviders/{identityProviderUid=**}:${name.charAt(0).toLowerCase()}${name.slice(1)}`,
    body: "*",
    request: messageType({ identityProviderUid: text(), ...request }),
    response: type,
    run(call, platform) {
      const entry = platform.requireEntry("IdentityProvider", call.request.identityProviderUid);
      const message = { identityProviderUid: entry.uid, ...run(entry, call.request, platform) };
      platform.events.publish(
        {
          name: `iam.identity_providers.${event}`,
          subject: entry.uid,
          group: entry.parent,
          // Only the caller gets the token itself.
          body: {
            message: { ...message, token: undefined },
            type,
            typeName: fullNameOf(service, `${name}Response`),
          },
        },
        call.caller,
      );
      return message;
    },
  };
});

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
export function currentScim({ uid: own, value }: Entry, platform: PlatformService): Message {
  const scim = copyValue(value.scim as Message);
  scim.endpointUrl = `${platform.url()}/scim/v2/${own}`;
  if (statesWithoutToken.includes(scim.credentialState as string)) return scim;
  const now = platform.now();
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
function writeScim(entry: Entry, changes: Message, { store }: PlatformService): Message {
  const scim = copyValue(entry.value.scim as Message);
  for (const [field, value] of Object.entries(changes)) {
    if (value === undefined) clearField(scim, field);
    else scim[field] = value;
  }
  scim.etag = newEtag();
  store.update(entry, { ...entry.value, scim }, entry.updatedAt);
  return scim;
}

function checkEtag({ etag }: Message, entry: Entry): void {
  if (etag === undefined) throw invalidField("etag", "etag is required");
  if (etag !== (entry.value.scim as Message).etag) {
    throw aborted(`etag is not the current one of identity provider "${entry.uid}"`);
  }
}

/** Returns when a requested token expires; undefined for one that never expires. @throws StatusError */
function resolveExpiry({ expireTime, neverExpires }: Message, platform: PlatformService): string | undefined {
  if (expireTime !== undefined && neverExpires) {
    throw invalidField("expireTime", "expireTime and neverExpires exclude each other");
  }
  if (neverExpires) return undefined;
  const now = platform.now();
  const requested = timestampToMs(expireTime) ?? now + defaultLifeMs;
  if (requested <= now) throw invalidField("expireTime", "expireTime must be in the future");
  if (requested > now + longestLifeMs)
    throw invalidField("expireTime", "expireTime is at most two years ahead");
  return msToTimestamp(requested);
}

function issuedToken(entry: Entry, scim: Message, platform: PlatformService): Message {
  return {
    token: `cgscim_${randomBytes(32).toString("hex")}`,
    endpointUrl: currentScim(entry, platform).endpointUrl,
    expireTime: scim.tokenExpireTime,
    etag: scim.etag,
  };
}

function generateToken(entry: Entry, request: Message, platform: PlatformService): Message {
  const { credentialState } = entry.value.scim as Message;
  const tokenExpireTime = resolveExpiry(request, platform);
  if (!statesWithoutToken.includes(credentialState as string)) {
    throw failedPrecondition("TOKEN_EXISTS", entry.uid, "a token exists; regenerate or revoke it");
  }
  const changes = { credentialState: "CREDENTIAL_STATE_LIVE", tokenExpireTime };
  return issuedToken(entry, writeScim(entry, changes, platform), platform);
}

function regenerateToken(entry: Entry, request: Message, platform: PlatformService): Message {
  const tokenExpireTime = resolveExpiry(request, platform);
  const requestedOverlap = (request.overlap ?? defaultOverlap) as string;
  const overlapMs = Math.min(durationToMs(requestedOverlap), longestOverlapMs);
  if (overlapMs < 0) throw invalidField("overlap", "overlap must not be negative");
  const current = currentScim(entry, platform);
  if (statesWithoutToken.includes(current.credentialState as string)) {
    throw notFound("ScimToken", entry.uid);
  }
  checkEtag(request, entry);
  const now = platform.now();
  const until = Math.min(now + overlapMs, timestampToMs(current.tokenExpireTime) ?? Infinity);
  const previousTokenExpireTime = until > now ? msToTimestamp(until) : undefined;
  const changes = { credentialState: "CREDENTIAL_STATE_LIVE", tokenExpireTime, previousTokenExpireTime };
  const scim = writeScim(entry, changes, platform);
  return { ...issuedToken(entry, scim, platform), previousTokenExpireTime, requestedOverlap };
}

function revokeToken(entry: Entry, _: Message, platform: PlatformService): Message {
  if ((entry.value.scim as Message).credentialState === "CREDENTIAL_STATE_NOT_ISSUED") {
    throw notFound("ScimToken", entry.uid);
  }
  const changes = {
    credentialState: "CREDENTIAL_STATE_REVOKED",
    tokenExpireTime: undefined,
    previousTokenExpireTime: undefined,
  };
  const { etag, enabled } = writeScim(entry, changes, platform);
  return { etag, enabled, revokeTime: msToTimestamp(platform.now()) };
}

function setScimEnabled(entry: Entry, request: Message, platform: PlatformService): Message {
  checkEtag(request, entry);
  const { enabled } = request;
  if (enabled && countOwnerBindings(entry.parent, platform) < ownersNeeded) {
    throw failedPrecondition(
      "OWNERS_REQUIRED",
      entry.parent,
      `group "${entry.parent}" needs ${ownersNeeded} bindings of the role owner first`,
    );
  }
  const { etag } = writeScim(entry, { enabled }, platform);
  return { enabled, etag };
}

/** How many bindings of `owner` a group has: SCIM needs two, so that a directory cannot lock everyone out. */
function countOwnerBindings(group: string, { store }: PlatformService): number {
  return store.childrenOf({ kind: "Group", uid: group }).filter(({ kind, value }) => {
    const role = kind === "RoleBinding" ? store.find("Role", value.roleUid as string) : undefined;
    return role?.builtIn === true && role.value.name === "owner";
  }).length;
}
