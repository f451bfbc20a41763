import type { JsonWebKey, KeyObject } from "node:crypto";
import { constants, createHash, createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";

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
  const header = parseObject(Buffer.from(head, "base64url").toString("utf8"));
  const claims = parseObject(Buffer.from(body, "base64url").toString("utf8"));
  if (!header || !claims) return undefined;
  return { header, claims, input: `${head}.${body}`, signature: Buffer.from(signature, "base64url") };
}

/** The object that a JSON text holds; undefined for any other text. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether one of the keys of a JSON web key set signed the token. */
export function isSignedBy(jwt: Jwt, jwks: string): boolean {
  const { kid } = jwt.header;
  const keys = parseObject(jwks)?.keys;
  return (Array.isArray(keys) ? (keys as JsonWebKey[]) : []).some((key) => {
    try {
      const isWanted = kid === undefined || key.kid === undefined || key.kid === kid;
      return isWanted && isSigned(jwt, createPublicKey({ key, format: "jwk" }));
    } catch {
      return false;
    }
  });
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

function isSigned({ header, input, signature }: Jwt, key: KeyObject): boolean {
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

let keys: { publicKey: KeyObject; privateKey: KeyObject; kid: string } | undefined;

/** One pair per process, created at first use: it takes long, and most emulators of a test run sign nothing. */
function getSigningKeys(): NonNullable<typeof keys> {
  if (!keys) {
    const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const der = publicKey.export({ type: "spki", format: "der" });
    keys = { publicKey, privateKey, kid: createHash("sha256").update(der).digest("hex").slice(0, 16) };
  }
  return keys;
}

const discoveryPath = "/.well-known/openid-configuration";
const keysPath = "/.well-known/jwks.json";

/** The emulator as an issuer of signed tokens. */
export class Issuer {
  constructor(private readonly url: () => string) {}

  /** The issuer's name in tokens: its address. */
  get name(): string {
    return this.url();
  }

  sign(claims: Claims): string {
    const { privateKey, kid } = getSigningKeys();
    const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const input = `${encode({ alg: "RS256", typ: "JWT", kid })}.${encode({ iss: this.url(), ...claims })}`;
    return `${input}.${sign("sha256", Buffer.from(input), privateKey).toString("base64url")}`;
  }

  /** The claims of a token that this emulator signed; undefined for any other. Times are not checked. */
  verify(token: string): Claims | undefined {
    const jwt = parseJwt(token);
    if (jwt?.claims.iss !== this.url()) return undefined;
    return isSigned(jwt, getSigningKeys().publicKey) ? jwt.claims : undefined;
  }

  /** The document of an OpenID Connect discovery path; undefined for any other path. */
  discoveryDocument(path: string): unknown {
    if (path === discoveryPath) {
      return {
        issuer: this.url(),
        jwks_uri: this.url() + keysPath,
        token_endpoint: `${this.url()}/sts/exchange`,
        response_types_supported: ["id_token"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256"],
      };
    }
    if (path !== keysPath) return undefined;
    const { publicKey, kid } = getSigningKeys();
    return { keys: [{ ...publicKey.export({ format: "jwk" }), kid, use: "sig", alg: "RS256" }] };
  }
}
