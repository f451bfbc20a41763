import { randomBytes } from "node:crypto";
import type { FieldMaker, Message, MessageType } from "../gateway/descriptor";
import {
  bool,
  copyValue,
  duration,
  enumOf,
  enumType,
  list,
  messageType,
  object,
  text,
  timestamp,
  unset,
} from "../gateway/descriptor";
import type { Method } from "../gateway/routes";
import { durationMs, millisecondsOf, timestampOf } from "../gateway/scalars";
import { aborted, failedPrecondition, invalidArgument, notFound } from "../gateway/status";
import type { Entry } from "../service/store";
import { times, uid } from "./common";
import { descriptionFlags, nameFlags } from "./formats";
import type { KindTable, ServedCall, World, Write } from "./kindTable";

const name = (suffix: string): string => `chainguard.platform.iam.v2.${suffix}`;
const service = "iam.v2.IdentityProvidersService";

function scimMethod(
  rpc: string,
  verb: string,
  request: Record<string, FieldMaker>,
  response: Record<string, FieldMaker>,
): Method {
  return {
    rpc: `${service}/${rpc}`,
    verb: "POST",
    pattern: `/iam/v2/identityProviders/{identityProviderUid=**}:${verb}`,
    body: "*",
    request: messageType(name(`${rpc}Request`), { identityProviderUid: text(), ...request }),
    response: messageType(name(`${rpc}Response`), { identityProviderUid: text(), etag: text(), ...response }),
  };
}

const token = { token: text(), endpointUrl: text(), expireTime: timestamp() };

export const identityProviders: KindTable = {
  kind: "IdentityProvider",
  prefix: "/iam/v2",
  collection: "identityProviders",
  service,
  message: messageType(
    name("IdentityProvider"),
    {
      uid,
      name: text(nameFlags),
      description: text(descriptionFlags),
      defaultRole: text({ required: true }),
      oidc: object(
        messageType(name("IdentityProvider.OIDC"), {
          issuer: text({ required: true }),
          clientId: text({ required: true }),
          clientSecret: text(),
          additionalScopes: list(text()),
          groupsClaim: text(),
          correlationRule: enumOf(
            enumType("CORRELATION_RULE", "SUB_EQUALS_EXTERNAL_ID OID_EQUALS_EXTERNAL_ID"),
          ),
          pkceEnabled: bool(),
        }),
        { oneof: "configuration" },
      ),
      scim: object(
        messageType(name("IdentityProvider.SCIM"), {
          enabled: bool(),
          endpointUrl: text(),
          tokenExpireTime: timestamp(),
          previousTokenExpireTime: timestamp(),
          credentialState: enumOf(enumType("CREDENTIAL_STATE", "NOT_ISSUED LIVE EXPIRED REVOKED ROTATING")),
          etag: text(),
        }),
        { outputOnly: true },
      ),
      ...times,
    },
    ["configuration"],
  ),
  methods: ["list", "get", "create", "update", "delete"],
  nameFilter: true,
  custom: [
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
  ],
  rules: {
    parent: "Group",
    references: [{ field: "defaultRole", kind: "Role", onDelete: "refuse" }],
    check(write, world) {
      if (write.parent.includes("/")) {
        write.refuse("parent", "an identity provider belongs to a root group");
      }
      const role = write.value.defaultRole as string | undefined;
      if (role !== undefined && !world.store.find("Role", role)) {
        write.refuse("defaultRole", `role "${role}" does not exist`);
      }
      const oidc = write.value.oidc as Message | undefined;
      if (oidc) checkOidc(oidc, write);
    },
    complete({ value }) {
      (value.oidc as Message).correlationRule ??= defaultRule;
      value.scim ??= { credentialState: "CREDENTIAL_STATE_NOT_ISSUED", etag: newEtag() };
    },
    answer(entry, world, form) {
      const answer = copyValue(entry.value);
      unset(answer.oidc as Message, "clientSecret");
      if (form === "list") delete answer.scim;
      else answer.scim = currentScim(entry, world);
      return answer;
    },
    custom: {
      GenerateScimToken: generate,
      RegenerateScimToken: regenerate,
      RevokeScimToken: revoke,
      SetScimEnabled: setEnabled,
    },
    events: { name: "iam.identity_providers", actions: ["created", "updated", "deleted"] },
  },
};

const defaultRule = "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID";

function checkOidc(oidc: Message, write: Write): void {
  const before = write.before?.oidc as Message | undefined;
  if (before) {
    // Only a mask that names the secret itself can wipe it: contract, section 5.
    if (before.clientSecret !== undefined && !write.namesExactly("oidc.clientSecret")) {
      oidc.clientSecret ??= before.clientSecret;
    }
    if ((oidc.correlationRule ?? defaultRule) !== before.correlationRule) {
      write.refuse("oidc.correlationRule", "correlationRule cannot change");
    }
  }
  if (oidc.clientSecret === undefined && !oidc.pkceEnabled) {
    write.refuse("oidc.clientSecret", "clientSecret, pkceEnabled or both are required");
  }
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const defaultLifeMs = 365 * dayMs;
const longestLifeMs = 2 * 365 * dayMs;
const defaultOverlap = "3600s";
const longestOverlapMs = dayMs;
/** Before SCIM is switched on, so many people must be able to get in without it. */
const ownersNeeded = 2;

const unissued = ["CREDENTIAL_STATE_NOT_ISSUED", "CREDENTIAL_STATE_REVOKED"];

function newEtag(): string {
  return randomBytes(8).toString("hex");
}

/** What is stored knows of issuing and revoking; the rest of the state is a matter of time. */
function currentScim({ uid: own, value }: Entry, world: World): Message {
  const scim = copyValue(value.scim as Message);
  scim.endpointUrl = `${world.url()}/scim/v2/${own}`;
  if (unissued.includes(scim.credentialState as string)) return scim;
  const now = world.now();
  const previous = millisecondsOf(scim.previousTokenExpireTime);
  if (previous !== undefined && previous <= now) unset(scim, "previousTokenExpireTime");
  const isExpired = (millisecondsOf(scim.tokenExpireTime) ?? Infinity) <= now;
  scim.credentialState = isExpired
    ? "CREDENTIAL_STATE_EXPIRED"
    : scim.previousTokenExpireTime !== undefined
      ? "CREDENTIAL_STATE_ROTATING"
      : "CREDENTIAL_STATE_LIVE";
  return scim;
}

function refuse(field: string, description: string): never {
  throw invalidArgument([{ field, description }]);
}

/** Stores changes of the SCIM settings under a new etag. */
function writeScim(entry: Entry, changes: Message, { store }: World): Message {
  const scim = copyValue(entry.value.scim as Message);
  for (const [field, value] of Object.entries(changes)) {
    if (value === undefined) unset(scim, field);
    else scim[field] = value;
  }
  scim.etag = newEtag();
  store.update(entry, { ...entry.value, scim }, entry.updatedAt);
  return scim;
}

function tell(
  what: string,
  entry: Entry,
  answer: Message,
  type: MessageType,
  call: ServedCall,
  world: World,
) {
  // The token itself is told to nobody but the caller.
  const message = { ...answer };
  unset(message, "token");
  world.emit(
    {
      name: `iam.identity_providers.${what}`,
      subject: entry.uid,
      group: entry.parent,
      body: { message, type },
    },
    call.caller,
  );
}

function provider({ request }: ServedCall, world: World): Entry {
  return world.existing("IdentityProvider", request.identityProviderUid);
}

function checkEtag({ request }: ServedCall, entry: Entry): void {
  if (request.etag === undefined) refuse("etag", "etag is required");
  if (request.etag !== (entry.value.scim as Message).etag) {
    throw aborted(`etag is not the current one of identity provider "${entry.uid}"`);
  }
}

/** Undefined for a token that never expires. */
function expiryOf({ expireTime, neverExpires }: Message, world: World): string | undefined {
  if (expireTime !== undefined && neverExpires) {
    refuse("expireTime", "expireTime and neverExpires exclude each other");
  }
  if (neverExpires) return undefined;
  const now = world.now();
  const asked = millisecondsOf(expireTime) ?? now + defaultLifeMs;
  if (asked <= now) refuse("expireTime", "expireTime must be in the future");
  if (asked > now + longestLifeMs) refuse("expireTime", "expireTime is at most two years ahead");
  return timestampOf(asked);
}

function issued(entry: Entry, scim: Message, world: World): Message {
  return {
    identityProviderUid: entry.uid,
    token: `cgscim_${randomBytes(32).toString("hex")}`,
    endpointUrl: currentScim(entry, world).endpointUrl,
    expireTime: scim.tokenExpireTime,
    etag: scim.etag,
  };
}

function generate(call: ServedCall, world: World): Message {
  const entry = provider(call, world);
  const { credentialState } = entry.value.scim as Message;
  const tokenExpireTime = expiryOf(call.request, world);
  if (!unissued.includes(credentialState as string)) {
    throw failedPrecondition("TOKEN_EXISTS", entry.uid, "a token exists; regenerate or revoke it");
  }
  const changes = { credentialState: "CREDENTIAL_STATE_LIVE", tokenExpireTime };
  const answer = issued(entry, writeScim(entry, changes, world), world);
  tell("scim_token.generated", entry, answer, call.method.response, call, world);
  return answer;
}

function regenerate(call: ServedCall, world: World): Message {
  const entry = provider(call, world);
  const { request } = call;
  const tokenExpireTime = expiryOf(request, world);
  const requestedOverlap = (request.overlap ?? defaultOverlap) as string;
  const overlapMs = Math.min(durationMs(requestedOverlap), longestOverlapMs);
  if (overlapMs < 0) refuse("overlap", "overlap must not be negative");
  const current = currentScim(entry, world);
  if (unissued.includes(current.credentialState as string)) {
    throw notFound("ScimToken", entry.uid);
  }
  checkEtag(call, entry);
  const now = world.now();
  const until = Math.min(now + overlapMs, millisecondsOf(current.tokenExpireTime) ?? Infinity);
  const previousTokenExpireTime = until > now ? timestampOf(until) : undefined;
  const scim = writeScim(
    entry,
    { credentialState: "CREDENTIAL_STATE_LIVE", tokenExpireTime, previousTokenExpireTime },
    world,
  );
  const answer = { ...issued(entry, scim, world), previousTokenExpireTime, requestedOverlap };
  tell("scim_token.regenerated", entry, answer, call.method.response, call, world);
  return answer;
}

function revoke(call: ServedCall, world: World): Message {
  const entry = provider(call, world);
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
    world,
  );
  const answer = { identityProviderUid: entry.uid, etag, enabled, revokeTime: timestampOf(world.now()) };
  tell("scim_token.revoked", entry, answer, call.method.response, call, world);
  return answer;
}

function setEnabled(call: ServedCall, world: World): Message {
  const entry = provider(call, world);
  checkEtag(call, entry);
  const { enabled } = call.request;
  if (enabled && owners(entry.parent, world) < ownersNeeded) {
    throw failedPrecondition(
      "OWNERS_REQUIRED",
      entry.parent,
      `group "${entry.parent}" needs ${ownersNeeded} bindings of the role owner first`,
    );
  }
  const { etag } = writeScim(entry, { enabled }, world);
  const answer = { identityProviderUid: entry.uid, enabled, etag };
  tell("scim_enabled.updated", entry, answer, call.method.response, call, world);
  return answer;
}

function owners(group: string, { store }: World): number {
  return store.childrenOf({ kind: "Group", uid: group }).filter(({ kind, value }) => {
    const role = kind === "RoleBinding" ? store.find("Role", value.roleUid as string) : undefined;
    return role?.builtIn === true && role.value.name === "owner";
  }).length;
}
