import { randomBytes } from "node:crypto";
import type { FieldSpecs, Message } from "../gateway/fields";
import { bool, duration, enumeration, list, messageType, object, text, timestamp } from "../gateway/fields";
import { aborted, failedPrecondition, invalidField, notFound } from "../gateway/status";
import { durationToMs, msToTimestamp, timestampToMs } from "../gateway/time";
import type { PlatformService } from "../service/platformService";
import type { Entry } from "../service/store";
import { descriptionFlags, nameFlags, times, uid } from "./common";
import type { CustomMethod, KindTable, Write } from "./kindTable";

/** The SCIM settings of an identity provider. */
const scimMessage = messageType({
  enabled: bool(),
  endpointUrl: text(),
  tokenExpireTime: timestamp(),
  previousTokenExpireTime: timestamp(),
  credentialState: enumeration("CREDENTIAL_STATE", "NOT_ISSUED LIVE EXPIRED REVOKED ROTATING"),
  etag: text(),
});

/** A method of the SCIM settings, whose response is also its event. */
function scimMethod(
  name: string,
  event: string,
  fields: { readonly request: FieldSpecs; readonly response: FieldSpecs },
  run: (entry: Entry, request: Message, platform: PlatformService) => Message,
): CustomMethod {
  return {
    rpc: `iam.v2.IdentityProvidersService/${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    capabilities: ["IAM_SCIM_MANAGE", "IAM_IDENTITY_PROVIDERS_LIST"],
    verb: "POST",
    pattern: `/iam/v2/identityProviders/{identityProviderUid=**}:${name}`,
    body: "*",
    request: messageType({ identityProviderUid: text(), ...fields.request }),
    response: messageType({ identityProviderUid: text(), etag: text(), ...fields.response }),
    run({ request }, platform) {
      const entry = platform.requireEntry("IdentityProvider", request.identityProviderUid);
      return { identityProviderUid: entry.uid, ...run(entry, request, platform) };
    },
    event: { name: `iam.identity_providers.${event}`, subject: "identityProviderUid", about: "provider" },
  };
}

const token = { token: text(), endpointUrl: text(), expireTime: timestamp() };
const lifetime = { expireTime: timestamp(), neverExpires: bool() };

const scimMethods: readonly CustomMethod[] = [
  scimMethod(
    "generateScimToken",
    "scim_token.generated",
    { request: lifetime, response: token },
    generateToken,
  ),
  scimMethod(
    "regenerateScimToken",
    "scim_token.regenerated",
    {
      request: { etag: text(), overlap: duration(), ...lifetime },
      response: { ...token, previousTokenExpireTime: timestamp(), requestedOverlap: duration() },
    },
    regenerateToken,
  ),
  scimMethod(
    "revokeScimToken",
    "scim_token.revoked",
    { request: {}, response: { enabled: bool(), revokeTime: timestamp() } },
    revokeToken,
  ),
  scimMethod(
    "setScimEnabled",
    "scim_enabled.updated",
    { request: { enabled: bool(), etag: text() }, response: { enabled: bool() } },
    setScimEnabled,
  ),
];

export const identityProviders: KindTable = {
  kind: "IdentityProvider",
  prefix: "/iam/v2",
  collection: "identityProviders",
  message: messageType(
    {
      uid,
      name: text(nameFlags),
      description: text(descriptionFlags),
      defaultRole: text({ required: true }),
      oidc: object(
        {
          issuer: text({ required: true }),
          clientId: text({ required: true }),
          clientSecret: text(),
          additionalScopes: list(text()),
          groupsClaim: text(),
          correlationRule: enumeration("CORRELATION_RULE", "SUB_EQUALS_EXTERNAL_ID OID_EQUALS_EXTERNAL_ID"),
          pkceEnabled: bool(),
        },
        { oneof: "configuration" },
      ),
      scim: object(scimMessage, { outputOnly: true }),
      ...times,
    },
    ["configuration"],
  ),
  methods: ["list", "get", "create", "update", "delete"],
  capabilities: "IAM_IDENTITY_PROVIDERS",
  furtherCapabilities: { create: ["IAM_ROLE_BINDINGS_CREATE"], update: ["IAM_ROLE_BINDINGS_CREATE"] },
  hasNameFilter: true,
  custom: scimMethods,
  parent: "Group",
  references: [{ field: "defaultRole", kind: "Role", onDelete: "refuse" }],
  check(write) {
    if (write.parent.includes("/")) {
      write.addViolation("parent", "an identity provider belongs to a root group");
    }
    const oidc = write.value.oidc as Message | undefined;
    if (oidc) checkOidc(oidc, write);
  },
  complete({ value }) {
    (value.oidc as Message).correlationRule ??= defaultRule;
    value.scim ??= newScim();
  },
  toResponse(entry, platform, form) {
    const response = structuredClone(entry.value);
    (response.oidc as Message).clientSecret = undefined;
    if (form === "list") delete response.scim;
    else response.scim = currentScim(entry, platform);
    return response;
  },
  events: { name: "iam.identity_providers" },
};

const defaultRule = "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID";

function checkOidc(oidc: Message, write: Write): void {
  const before = write.before?.oidc as Message | undefined;
  if (before) {
    // Only a mask that names the secret itself clears it, because responses never contain it.
    if (before.clientSecret !== undefined && !write.namesExactly("oidc.clientSecret")) {
      oidc.clientSecret ??= before.clientSecret;
    }
    if ((oidc.correlationRule ?? defaultRule) !== before.correlationRule) {
      write.addViolation("oidc.correlationRule", "correlationRule cannot change");
    }
  }
  if (oidc.clientSecret === undefined && !oidc.pkceEnabled) {
    write.addViolation("oidc.clientSecret", "clientSecret, pkceEnabled or both are required");
  }
}

// SCIM.

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
function newScim(): Message {
  return { credentialState: "CREDENTIAL_STATE_NOT_ISSUED", etag: newEtag() };
}

/** The stored state says whether a token was issued or revoked; the rest depends on the time. */
function currentScim({ uid: own, value }: Entry, platform: PlatformService): Message {
  const scim = structuredClone(value.scim as Message);
  scim.endpointUrl = `${platform.url()}/scim/v2/${own}`;
  if (statesWithoutToken.includes(scim.credentialState as string)) return scim;
  const now = platform.now();
  const previous = timestampToMs(scim.previousTokenExpireTime);
  if (previous !== undefined && previous <= now) scim.previousTokenExpireTime = undefined;
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
  const scim = structuredClone(entry.value.scim as Message);
  for (const [field, value] of Object.entries(changes)) {
    if (value === undefined) scim[field] = undefined;
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
