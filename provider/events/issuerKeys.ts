import { CodedError, withCode } from "../errorCodes/codedError";
import { createRemoteJWKSet, customFetch } from "jose";
import type { JWTVerifyGetKey } from "jose";
import { hasUserinfo, printableAddress } from "../api/address";
import { isSafe } from "../api/loopback";
import { EventError } from "./eventError";
import { getChecked } from "./getChecked";
import { withoutTrailing } from "../api/withoutTrailing";

const TIMEOUT_MS = 10_000;

/** Public keys by issuer: fetched at the first event, and again when a key is not among them. */
const keySets = new Map<string, Promise<JWTVerifyGetKey>>();

/** @throws TypeError where it is no https address without user name, query and fragment. */
export function parseIssuer(issuer: string): URL {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  if (!url || !isSafe(url) || hasUserinfo(url) || url.search !== "" || url.hash !== "") {
    throw new TypeError(
      withCode(
        `issuer must be an address as in "https://issuer.example.com", not ${JSON.stringify(printableAddress(issuer))}`,
        "PP8004",
      ),
    );
  }
  return url;
}

async function fetchKeySet(issuer: string): Promise<JWTVerifyGetKey> {
  const base = parseIssuer(issuer);
  const response = await getChecked(`${withoutTrailing(issuer, "/")}/.well-known/openid-configuration`, {
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
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
  return createRemoteJWKSet(keys, { timeoutDuration: TIMEOUT_MS, [customFetch]: getChecked });
}

/** @throws EventError where the keys cannot be fetched; the next event tries again. */
export async function readKeys(issuer: string): Promise<JWTVerifyGetKey> {
  const keySet = keySets.get(issuer) ?? fetchKeySet(issuer);
  keySets.set(issuer, keySet);
  try {
    return await keySet;
  } catch (error) {
    keySets.delete(issuer);
    throw keysUnavailable(issuer, error);
  }
}

export function keysUnavailable(issuer: string, error: unknown): EventError {
  return new EventError(
    "unavailable",
    `the keys of ${issuer} could not be fetched: ${error instanceof Error ? error.message : "no response"}`,
  );
}
