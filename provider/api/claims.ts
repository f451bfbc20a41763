import { tryParseJson } from "./json";

/** What a token says about itself. Nothing is verified: for showing, for choosing words and for caution, never to allow anything. */
export type Claims = Readonly<Record<string, unknown>>;

/** The claims of a JSON web token; undefined for a text that is none, as an opaque token is. */
export function decodeClaims(token: string): Claims | undefined {
  const body = /^[\w-]+\.([\w-]+)\.[\w-]*$/.exec(token)?.[1];
  if (body === undefined) return undefined;
  const claims = tryParseJson(Buffer.from(body, "base64url").toString("utf8"));
  return claims !== null && typeof claims === "object" && !Array.isArray(claims)
    ? (claims as Claims)
    : undefined;
}

/** A claim that is a time, as a date; undefined where there is none, or none that a date can hold. */
export function timeClaim(claims: Claims | undefined, name: "exp" | "iat" | "nbf"): Date | undefined {
  const seconds = claims?.[name];
  if (typeof seconds !== "number") return undefined;
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
