import type { JsonWebKey, KeyObject } from "node:crypto";
import { constants, createPublicKey, verify } from "node:crypto";

export type Claims = Readonly<Record<string, unknown>>;

export interface Jwt {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Claims;
  /** The signed part. */
  readonly input: string;
  readonly signature: Buffer;
}

/** Parses a JSON web token without verifying it; undefined for any other text. */
export function parseJwt(token: string): Jwt | undefined {
  const parts = /^([\w-]+)\.([\w-]+)\.([\w-]*)$/.exec(token);
  if (!parts) return undefined;
  const [, head = "", body = "", signature = ""] = parts;
  const header = jsonObject(head);
  const claims = jsonObject(body);
  if (!header || !claims) return undefined;
  return { header, claims, input: `${head}.${body}`, signature: Buffer.from(signature, "base64url") };
}

function jsonObject(encoded: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(encoded, "base64url").toString("utf8"));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether one of the keys of a JSON web key set signed the token. */
export function isSignedBy(jwt: Jwt, jwks: string): boolean {
  const { kid } = jwt.header;
  return parseJwks(jwks)
    .filter((key) => kid === undefined || key.kid === undefined || key.kid === kid)
    .some((key) => {
      try {
        return isSigned(jwt, createPublicKey({ key, format: "jwk" }));
      } catch {
        return false;
      }
    });
}

function parseJwks(jwks: string): JsonWebKey[] {
  try {
    const parsed: unknown = JSON.parse(jwks);
    return isRecord(parsed) && Array.isArray(parsed.keys) ? parsed.keys.filter(isRecord) : [];
  } catch {
    return [];
  }
}

/** The key type of each algorithm, so that a token cannot select a weaker check. */
const algorithms: Readonly<Record<string, { type: string; hash: string | undefined; pss?: boolean }>> = {
  RS256: { type: "rsa", hash: "sha256" },
  RS384: { type: "rsa", hash: "sha384" },
  RS512: { type: "rsa", hash: "sha512" },
  PS256: { type: "rsa", hash: "sha256", pss: true },
  PS384: { type: "rsa", hash: "sha384", pss: true },
  PS512: { type: "rsa", hash: "sha512", pss: true },
  ES256: { type: "ec", hash: "sha256" },
  ES384: { type: "ec", hash: "sha384" },
  ES512: { type: "ec", hash: "sha512" },
  EdDSA: { type: "ed25519", hash: undefined },
};

export function isSigned({ header, input, signature }: Jwt, key: KeyObject): boolean {
  const algorithm = Object.hasOwn(algorithms, String(header.alg))
    ? algorithms[String(header.alg)]
    : undefined;
  if (!algorithm || key.asymmetricKeyType !== algorithm.type) return false;
  return verify(
    algorithm.hash,
    Buffer.from(input),
    {
      key,
      dsaEncoding: "ieee-p1363",
      ...(algorithm.pss ? { padding: constants.RSA_PKCS1_PSS_PADDING } : {}),
    },
    signature,
  );
}
