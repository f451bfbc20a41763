import { randomBytes, randomUUID } from "node:crypto";
import { RE2JS } from "re2js";
import type { Message } from "../gateway/fields";
import type { Call } from "../gateway/gateway";
import { timestampToMs, msToTimestamp } from "../gateway/time";
import { invalidField, permissionDenied, unauthenticated } from "../gateway/status";
import { isLoopbackHost } from "../settings";
import type { Claims, Issuer, Jwt } from "./jwt";
import { isSignedBy, parseJwt } from "./jwt";
import type { PlatformService } from "./platformService";
import type { Entry } from "./store";
import { personUid } from "./store";

/** The caller of a method. */
export interface Caller {
  /** Uid of the identity, or of the person. */
  readonly uid: string;
  /** "" when the token has none. */
  readonly email: string;
  /** Claims of the token that the identity was assumed with; empty for the emulator's own token. */
  readonly act: Readonly<Record<string, string>>;
}

/** Issuer and subject of the person who uses the emulator's own token. */
export const operator = { issuer: "https://emulator.invalid", subject: "operator" } as const;

/** The caller of methods that need no token. */
export const anonymous: Caller = { uid: "", email: "", act: {} };

/** The claims of an issued token, which a refresh issues again. */
interface Grant {
  readonly sub: string;
  readonly aud: readonly string[];
  readonly scopes: readonly string[];
  readonly cap: readonly string[];
  readonly email: string;
  readonly act: Readonly<Record<string, string>>;
}

const refreshLifeMs = 30 * 24 * 3_600_000;

/** Exchanges tokens of other issuers, and authenticates callers by the issued ones. */
export class TokenService {
  private readonly refreshes = new Map<string, { readonly grant: Grant; readonly expires: number }>();

  /** @param token the configured token, which never expires. */
  constructor(
    private readonly platform: PlatformService,
    private readonly issuer: Issuer,
    private readonly token: string,
  ) {}

  /** The caller of this Authorization header. @throws StatusError code 16 for an invalid one. */
  authenticate(authorization: string | undefined): Caller {
    const { settings, store, now } = this.platform;
    if (authorization === `Bearer ${this.token}`) {
      return { uid: personUid(operator.issuer, operator.subject), email: settings.callerEmail, act: {} };
    }
    const claims = this.issuer.verify(bearerOf(authorization));
    if (!claims) throw unauthenticated("a valid bearer token is required");
    if (isPast(claims.exp, now())) throw unauthenticated("the token has expired");
    const { sub, aud, email, act } = claims as unknown as Grant;
    if (!aud.some((each) => this.isOwnAudience(each))) {
      throw unauthenticated("the token is for another audience");
    }
    if (!store.exists("Identity", sub)) throw unauthenticated("the identity of the token is gone");
    return { uid: sub, email, act };
  }

  exchange({ request, authorization }: Call): Message {
    const jwt = this.readCallersToken(bearerOf(authorization));
    const list = (name: string): string[] => (request[name] ?? []) as string[];
    if (list("aud").length === 0) throw invalidField("aud", "aud is required");
    const { iss, sub, aud } = jwt.claims as { iss: string; sub: string; aud?: unknown };
    return this.issue({
      sub: request.identity === undefined ? this.personOf(jwt, request) : this.assumeIdentity(jwt, request),
      aud: list("aud"),
      scopes: list("scopes"),
      cap: list("cap"),
      email: typeof jwt.claims.email === "string" ? jwt.claims.email : "",
      act: { iss, sub, aud: textsOf(aud).join(" ") },
    });
  }

  refresh({ authorization }: Call): Message {
    const known = this.refreshes.get(bearerOf(authorization));
    if (
      !known ||
      known.expires <= this.platform.now() ||
      !this.platform.store.exists("Identity", known.grant.sub)
    ) {
      throw unauthenticated("the refresh token is not valid");
    }
    const issued = this.issue(known.grant);
    const { refreshToken } = issued;
    const expiry = msToTimestamp(this.platform.now() + refreshLifeMs);
    return { token: issued, refreshToken: refreshToken === undefined ? {} : { token: refreshToken, expiry } };
  }

  clear(): void {
    this.refreshes.clear();
  }

  private issue(grant: Grant): Message {
    const { settings, now } = this.platform;
    const expires = now() + settings.tokenLifetimeMs;
    const claims = { ...grant, iat: now() / 1000, exp: expires / 1000, jti: randomUUID() };
    const refreshToken = settings.refreshTokens ? randomBytes(32).toString("base64url") : undefined;
    if (refreshToken !== undefined) {
      this.refreshes.set(refreshToken, { grant, expires: now() + refreshLifeMs });
    }
    return { token: this.issuer.sign(claims), expiry: msToTimestamp(expires), refreshToken };
  }

  /** @throws StatusError code 16 for a token that is malformed, expired or of a wrong signature. */
  private readCallersToken(token: string): Jwt {
    const { now } = this.platform;
    const jwt = parseJwt(token);
    if (!jwt) throw unauthenticated("the bearer must be an OIDC token");
    const { iss, sub, exp, nbf } = jwt.claims;
    if (typeof iss !== "string" || typeof sub !== "string" || iss === "" || sub === "") {
      throw unauthenticated("the token names no issuer or no subject");
    }
    if (typeof exp !== "number" || isPast(exp, now())) throw unauthenticated("the token has expired");
    if (typeof nbf === "number" && !isPast(nbf, now())) throw unauthenticated("the token is not valid yet");
    if (iss === this.issuer.name && !this.issuer.verify(token))
      throw unauthenticated("the token's signature is wrong");
    return jwt;
  }

  /** The uid of the person whose token it is. */
  private personOf({ claims }: Jwt, request: Message): string {
    const { store } = this.platform;
    const { iss, sub } = claims as { iss: string; sub: string };
    const provider = request.identityProvider as string | undefined;
    if (provider !== undefined) {
      const oidc = store.find("IdentityProvider", provider)?.value.oidc as Message | undefined;
      const mine = oidc?.issuer === iss && textsOf(claims.aud).includes(oidc.clientId as string);
      if (!mine) throw permissionDenied(`the token is none of identity provider "${provider}"`);
    }
    return store.ensurePerson(iss, sub);
  }

  private assumeIdentity(jwt: Jwt, request: Message): string {
    const { store, now } = this.platform;
    const uid = request.identity as string;
    const entry = store.find("Identity", uid);
    if (!entry || !this.mayAssume(jwt, entry)) {
      throw permissionDenied(`the token may not assume identity "${uid}"`);
    }
    const updated = { ...entry.value, lastSeenTime: msToTimestamp(now()) } as Message;
    const { email, email_verified: verified } = jwt.claims;
    if (typeof email === "string") updated[verified === true ? "email" : "emailUnverified"] = email;
    store.update(entry, updated, entry.updatedAt);
    return uid;
  }

  private mayAssume(jwt: Jwt, { value }: Entry): boolean {
    const claimMatch = value.claimMatch as Message | undefined;
    if (claimMatch) return this.matches(jwt.claims, claimMatch);
    const keys = value.staticKeys as Message | undefined;
    if (!keys) return false;
    const {
      issuer,
      subject,
      issuerKeys,
      audiences = [],
    } = keys as {
      issuer: string;
      subject: string;
      issuerKeys: string;
      audiences?: string[];
    };
    return (
      jwt.claims.iss === issuer &&
      jwt.claims.sub === subject &&
      this.hasAcceptedAudience(jwt.claims, audiences[0]) &&
      (timestampToMs(keys.expirationTime) ?? Infinity) > this.platform.now() &&
      isSignedBy(jwt, issuerKeys)
    );
  }

  private matches(claims: Claims, match: Message): boolean {
    const fits = (name: string, claim: string): boolean => {
      const exact = match[name];
      if (exact !== undefined) return claim === exact;
      const pattern = match[`${name}Pattern`];
      return pattern !== undefined && isMatch(pattern as string, claim);
    };
    const each = (of: unknown, test: (claim: string, wanted: string) => boolean): boolean =>
      Object.entries((of ?? {}) as Record<string, string>).every(([name, wanted]) =>
        Object.hasOwn(claims, name) ? textsOf(claims[name]).some((claim) => test(claim, wanted)) : false,
      );
    const { audiencePattern } = match;
    return (
      fits("issuer", claims.iss as string) &&
      fits("subject", claims.sub as string) &&
      (audiencePattern === undefined
        ? this.hasAcceptedAudience(claims, match.audience as string | undefined)
        : textsOf(claims.aud).some((aud) => isMatch(audiencePattern as string, aud))) &&
      each(match.claims, (claim, wanted) => claim === wanted) &&
      each(match.claimPatterns, (claim, wanted) => isMatch(wanted, claim))
    );
  }

  /** An identity without an audience accepts tokens for the issuer's host. */
  private hasAcceptedAudience({ aud }: Claims, audience: string | undefined): boolean {
    return textsOf(aud).some((each) =>
      audience === undefined ? this.isOwnAudience(each) : each === audience,
    );
  }

  /** Accepts every name of this machine's loopback, because there may be a proxy in front of the emulator. */
  private isOwnAudience(audience: string): boolean {
    if (this.platform.settings.audiences.includes(audience)) return true;
    const address = audience.includes("://") ? audience : `http://${audience}`;
    if (!URL.canParse(address)) return false;
    return isLoopbackHost(new URL(address).hostname);
  }
}

function bearerOf(authorization: string | undefined): string {
  return /^Bearer (.+)$/.exec(authorization ?? "")?.[1] ?? "";
}

function isPast(seconds: unknown, now: number): boolean {
  return typeof seconds === "number" && Math.round(seconds * 1000) <= now;
}

/** A pattern must match the whole claim, so that `repo:a` does not match `repo:ab`. */
function isMatch(pattern: string, claim: string): boolean {
  return RE2JS.compile(pattern).matches(claim);
}

/** A claim as strings: numbers and booleans as in JSON, each item of a list. */
function textsOf(claim: unknown): string[] {
  if (Array.isArray(claim)) return claim.flatMap(textsOf);
  if (typeof claim === "string") return [claim];
  return typeof claim === "number" || typeof claim === "boolean" ? [String(claim)] : [];
}
