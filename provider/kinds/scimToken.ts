import { equal, isSet } from "../fields/equal";
import { durationNanos, durationToWire } from "../fields/formats";
import type { Api, CheckContext, Failure, ReadingApi } from "../fields/resourceSpec";
import { isObject } from "../fields/values";
import type { Json, Props } from "../fields/values";
import { HandlerError } from "../lifecycle/messages";
import { hasCode } from "../errors/codedError";
import { ALIAS_OPTION } from "../text/aliasOption";
import { resource } from "../program/resource";
import { boolean, kind, secret, shape, string, time } from "../fields/builders";
import type { ArgsOf, OfKind, OutputsOf, Resolved } from "../fields/builders";
import { checkEnd, DAY_NANOS, parentProvider } from "./common";

const COLLECTION = "/iam/v2/identityProviders";
const TO_MANAGE_SCIM = ["CAP_IAM_SCIM_MANAGE", "CAP_IAM_IDENTITY_PROVIDERS_LIST"];

const { fields } = shape({
  fields: {
    /** The uid of the identity provider: an IdentityProvider's id. Changing it replaces the token. */
    parentUid: parentProvider,
    /**
     * When the token stops counting: RFC 3339, at most two years ahead. The server's default is one year. Changing it
     * rotates the token.
     */
    expireTime: string({
      format: "timestamp",
      normalized: true,
      serverFilled: true,
      access: "signIn.tokenEnd",
    }),
    /** A token without an end, instead of `expireTime`. Changing it rotates the token. */
    neverExpires: boolean({ security: false, access: "signIn.tokenEndless" }),
    /**
     * How long the old token stays valid after a rotation: `0s` to `24h`, one hour if not given. Changing it changes
     * nothing before the next rotation.
     */
    overlap: string({ format: "duration", inputOnly: true, access: "expiry" }),
    /** Any text: giving another one rotates the token. */
    rotate: string({ inputOnly: true, access: "other" }),
  },
});

/** A change of one of them rotates the token. */
const TRIGGERS = ["expireTime", "neverExpires", "rotate"] as const;

function checkTimes(inputs: Props, _unknown: ReadonlySet<string>, { olds, now }: CheckContext): Failure[] {
  const { expireTime, overlap } = inputs;
  const calendar = { now, recorded: olds["expireTime"], days: 731, must: "must be at most two years ahead" };
  const failures = checkEnd("expireTime", expireTime, calendar);
  const span = typeof overlap === "string" ? durationNanos(overlap) : undefined;
  if (span !== undefined && (span < 0n || span > DAY_NANOS)) {
    failures.push({ property: "overlap", reason: 'must be between "0s" and "24h"', code: "PP1010" });
  }
  return failures;
}

/** The SCIM part of an identity provider. */
async function readScim(api: ReadingApi, provider: string): Promise<Props> {
  const { uid, scim } = (await api.get(api.resourcePath(COLLECTION, provider))) as Props;
  if (uid !== provider || !(isObject(scim) || scim === undefined || scim === null)) {
    throw new HandlerError(
      "PP4008",
      `the response is not about the identity provider ${provider}; ${api.addressAdvice}`,
    );
  }
  return scim ?? {};
}

/** An expired token is there, and can be rotated; a revoked one is not. */
function hasToken({ credentialState }: Props): boolean {
  return ["LIVE", "EXPIRED", "ROTATING"].some((state) => credentialState === `CREDENTIAL_STATE_${state}`);
}

function toResponse(provider: string, expireTime: Json | undefined, more: Props): Props {
  const isEndless = !isSet(time, expireTime);
  return {
    ...more,
    uid: provider,
    expireTime,
    neverExpires: isEndless,
    tokenExpireTime: expireTime ?? null,
    // Absent where it is empty: it would then be taken for left out, and the recorded time kept.
    previousTokenExpireTime: more["previousTokenExpireTime"] ?? null,
  };
}

function expiryBody({ expireTime, neverExpires }: Props): Props {
  return {
    ...(isSet(time, expireTime) ? { expireTime } : {}),
    ...(neverExpires === true ? { neverExpires } : {}),
  };
}

async function generateToken(api: Api, inputs: Props): Promise<Props> {
  const provider = inputs["parentUid"] as string;
  try {
    const path = api.resourcePath(COLLECTION, provider, ":generateScimToken");
    const response = (await api.post(path, expiryBody(inputs), { isIdempotent: false })) as Props;
    return toResponse(provider, response["expireTime"], response);
  } catch (error) {
    if (hasCode(error, "FAILED_PRECONDITION") && hasToken(await readScim(api, provider))) {
      throw new HandlerError(
        "PP4007",
        `creating SCIM token below ${provider}: this identity provider already has a token, created elsewhere or by a run whose response was lost; a token is returned only at creation, so it cannot be adopted: if this resource was renamed or moved in the program, connect it to its old name (${ALIAS_OPTION}); else revoke it (POST ${api.resourcePath(COLLECTION, provider, ":revokeScimToken")}), then run again`,
      );
    }
    throw error;
  }
}

const keepsToken = (olds: Props, news: Props): boolean =>
  TRIGGERS.every((key) => equal(fields[key], olds[key], news[key]));

async function rotateToken(api: Api, provider: string, olds: Props, news: Props): Promise<Props> {
  if (keepsToken(olds, news)) return { uid: provider };
  const { overlap } = news;
  const body = {
    ...expiryBody(news),
    ...(typeof overlap === "string" && overlap !== "" ? { overlap: durationToWire(overlap) } : {}),
  };
  for (let isFirst = true; ; isFirst = false) {
    const { etag } = await readScim(api, provider);
    try {
      const path = api.resourcePath(COLLECTION, provider, ":regenerateScimToken");
      // A repetition with a fresh etag would rotate twice, and cut short the token that is in use.
      const response = (await api.post(path, { ...body, etag }, { isIdempotent: false })) as Props;
      return toResponse(provider, response["expireTime"], response);
    } catch (error) {
      if (hasCode(error, "ABORTED")) {
        if (isFirst) continue;
        throw error;
      }
      const now = await readScim(api, provider).catch(() => undefined);
      if (now === undefined || now["etag"] === etag) throw error;
      throw new HandlerError(
        "PP4003",
        `updating SCIM token ${provider}: it was rotated, but the response was lost, and a token is returned only once: the token in state is valid until its overlap ends; run again to rotate once more`,
      );
    }
  }
}

async function findToken(api: ReadingApi, provider: string): Promise<Props | undefined> {
  const scim = await readScim(api, provider);
  return hasToken(scim) ? toResponse(provider, scim["tokenExpireTime"], scim) : undefined;
}

async function revokeToken(api: Api, provider: string): Promise<void> {
  try {
    await api.post(api.resourcePath(COLLECTION, provider, ":revokeScimToken"), {}, { isIdempotent: true });
  } catch (error) {
    if (!hasCode(error, "FAILED_PRECONDITION") || hasToken(await readScim(api, provider))) throw error;
  }
}

const scimToken = kind({
  kind: "ScimToken",
  noun: "SCIM token",
  collection: COLLECTION,
  capabilities: {
    read: ["CAP_IAM_IDENTITY_PROVIDERS_LIST"],
    create: TO_MANAGE_SCIM,
    update: TO_MANAGE_SCIM,
    delete: TO_MANAGE_SCIM,
  },
  sharesParentUid: true,
  listing: { singletonOf: "IdentityProvider" },
  grantsAccess: "always",
  deletion: { beforeReplace: "always" },
  fields,
  oneOfs: [{ members: ["expireTime", "neverExpires"], required: false }],
  outputs: {
    /** The token: a secret. */
    token: secret({ createOnly: true, required: true }),
    /** The address to give to the directory beside the token. */
    endpointUrl: string({ required: true }),
    /** When the token expires; undefined for one that never expires. */
    tokenExpireTime: string({ format: "timestamp", access: "expiry" }),
    /** When the token before the last rotation expires. */
    previousTokenExpireTime: string({ format: "timestamp", access: "permission" }),
  },
  reads: {
    /** The version that each rotation and revocation changes. */
    etag: string(),
  },
  operations: {
    create: generateToken,
    get: findToken,
    update: rotateToken,
    sendsNothing: keepsToken,
    delete: revokeToken,
  },
  validate: checkTimes,
});

/** The arguments of a ScimToken. */
export interface ScimTokenArgs extends ArgsOf<typeof scimToken>, OfKind {}
/**
 * The token with which people are provisioned by SCIM: at most one for each identity provider, shown once when it is
 * made, and kept as a secret in state. Its id is the identity provider's. Deleting it revokes it.
 */
export class ScimToken extends resource<ScimTokenArgs>(scimToken) {}
export interface ScimToken extends Resolved<ScimTokenArgs>, OutputsOf<typeof scimToken> {}
