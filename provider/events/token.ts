import { createHash, timingSafeEqual } from "node:crypto";
import { errors, jwtVerify } from "jose";
import type { JWTPayload } from "jose";
import { EventError } from "./eventError";
import { keysUnavailable, readKeys } from "./issuerKeys";

const AUDIENCE = "customer";
const SUBJECT_PREFIX = "webhook:";
/** Asymmetric only: among symmetric algorithms, a public key could pass for a shared secret. */
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];

/** What a token is checked against. */
export interface TokenChecks {
  readonly issuer: string;
  readonly now: Date;
  readonly clockToleranceSeconds: number;
}

/** @throws EventError where the issuer did not sign the token for a receiver of events, or it is out of date. */
export async function verifyToken(token: string, checks: TokenChecks): Promise<JWTPayload> {
  const { issuer, now, clockToleranceSeconds } = checks;
  const keys = await readKeys(issuer);
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience: AUDIENCE,
      algorithms: ALGORITHMS,
      clockTolerance: clockToleranceSeconds,
      currentDate: now,
    });
    checkLifetime(payload, now.getTime(), clockToleranceSeconds);
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

/** jose accepts a token without `exp`, and one that is issued in the future. */
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

/** The group whose subscription a token is for. @throws EventError where it is none of `groups`. */
export function readSubscriptionGroup(payload: JWTPayload, groups: readonly string[]): string {
  const subject = payload.sub ?? "";
  const group = subject.startsWith(SUBJECT_PREFIX) ? subject.slice(SUBJECT_PREFIX.length) : undefined;
  if (group === undefined) throw new EventError("refused", "its token is not for a webhook");
  if (!groups.includes(group)) {
    throw new EventError("refused", "its token is for the subscription of another group");
  }
  return group;
}

/** @throws EventError where the token is for another body. */
export function checkDigest(payload: JWTPayload, body: Uint8Array): void {
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
