import { decodeClaims, timeClaim } from "../../http/tokens";
import type { Claims } from "../../http/tokens";
import { printable } from "../../text/printable";

/** The claims of an access token; a missing claim is null. */
export interface TokenDescription {
  readonly schemaVersion: 1;
  /** The setting that the credential comes from, as in "PLATFORM_TOKEN". */
  readonly source: string;
  /** "the environment", or the stack and the environment. */
  readonly settings: string;
  /** Whether the token has no claims that can be read. */
  readonly opaque: boolean;
  /** The uid of the identity. */
  readonly subject: string | null;
  readonly issuer: string | null;
  readonly audience: readonly string[];
  readonly email: string | null;
  /** Whose OIDC token was exchanged. */
  readonly actor: { readonly issuer: string | null; readonly subject: string | null } | null;
  /** RFC 3339. */
  readonly expiry: string | null;
}

const textClaim = (claims: Claims | undefined, name: string): string | null => {
  const value = claims?.[name];
  return typeof value === "string" && value !== "" ? printable(value) : null;
};

/**
 * Reads the claims of a token. They are not verified: only the owner of the token sees them.
 *
 * @param expiry the end of the token as its exchange gave it.
 */
export function describeToken(
  token: string,
  from: Pick<TokenDescription, "source" | "settings">,
  expiry?: Date,
): TokenDescription {
  const claims = decodeClaims(token);
  const { aud, act } = claims ?? {};
  const actor = act !== null && typeof act === "object" && !Array.isArray(act) ? (act as Claims) : undefined;
  const audiences: unknown[] = Array.isArray(aud) ? aud : [aud];
  const ends = timeClaim(claims, "exp") ?? expiry;
  return {
    schemaVersion: 1,
    ...from,
    opaque: claims === undefined,
    subject: textClaim(claims, "sub"),
    issuer: textClaim(claims, "iss"),
    audience: audiences.flatMap((one) => (typeof one === "string" ? [printable(one)] : [])),
    email: textClaim(claims, "email"),
    actor: actor ? { issuer: textClaim(actor, "iss"), subject: textClaim(actor, "sub") } : null,
    expiry: ends?.toISOString() ?? null,
  };
}

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** "in 54 minutes", "3 days ago". */
export function formatRelativeTime(time: Date, now: number): string {
  const away = time.getTime() - now;
  const [unit, ms] = UNITS.find(([, size]) => Math.abs(away) >= 2 * size) ?? ["second", 1000];
  return new Intl.RelativeTimeFormat("en").format(Math.trunc(away / ms), unit);
}

/** When a token expires, relatively and exactly. */
export function describeExpiry({ expiry, opaque }: TokenDescription, now: number): string {
  if (expiry === null) return opaque ? "unknown" : "never (the token has no expiry)";
  const time = new Date(expiry);
  return `${time.getTime() <= now ? "expired " : ""}${formatRelativeTime(time, now)} (${expiry})`;
}

export function hasExpired({ expiry }: TokenDescription, now: number): boolean {
  return expiry !== null && Date.parse(expiry) <= now;
}
