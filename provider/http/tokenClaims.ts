import { tryParseJson } from "../text/plain";
import { ConfigError } from "./errors";
import { readFile } from "node:fs/promises";

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

const credentialError = (message: string): ConfigError => new ConfigError("PP2007", message, "CREDENTIAL");

/** Names for the messages about a text that must be a token. */
export interface TokenKind {
  /** As in "the access token". */
  readonly what: string;
  /** The settings that name a file with it. */
  readonly fileSettings: string;
  /** The setting for the token itself. */
  readonly setting: string;
}

export const ACCESS_TOKEN: TokenKind = {
  what: "the access token",
  fileSettings: "PLATFORM_TOKEN_FILE or platform:tokenFile",
  setting: "PLATFORM_TOKEN",
};
export const OIDC_TOKEN: TokenKind = {
  what: "the OIDC token",
  fileSettings: "PLATFORM_OIDC_TOKEN_FILE or platform:oidcTokenFile",
  setting: "PLATFORM_OIDC_TOKEN",
};

/**
 * The token that a text holds, without the white space around it.
 *
 * @throws ConfigError naming the setting, never repeating the text.
 */
export function parseToken(token: string, setting: string, wanted: TokenKind): string {
  const trimmed = token.trim();
  if (trimmed === "") throw credentialError(`${setting} is empty: it must hold ${wanted.what}`);
  if (/^(\.{0,2}\/|~|[A-Za-z]:[\\/])/.test(trimmed)) {
    throw credentialError(`${setting} holds a path, not a token: name the file with ${wanted.fileSettings}`);
  }
  if (!/^[\x21-\x7e]+$/.test(trimmed)) {
    throw credentialError(`${setting} holds spaces, line breaks or other characters that no token has`);
  }
  return trimmed;
}

/**
 * The token that a file holds now: it is read anew at each call.
 *
 * @throws ConfigError naming the setting, and the path unless that looks like a token itself.
 */
export async function readTokenFile(path: string, setting: string, wanted: TokenKind): Promise<string> {
  let content: string;
  try {
    content = await readFile(path, "utf8");
  } catch (error) {
    const code =
      error !== null && typeof error === "object" && "code" in error ? String(error.code) : "unreadable";
    if (/^[\w-]{20,}(\.[\w-]+)*$/.test(path.trim())) {
      throw credentialError(
        `${setting} seems to hold a token: it must name a file; a token itself goes into ${wanted.setting}`,
      );
    }
    throw credentialError(`${setting} names a file that cannot be read (${code}): ${path}`);
  }
  return parseToken(content, `the file that ${setting} names`, wanted);
}
