import type { KeyObject } from "node:crypto";
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import type { Claims } from "./jwt";
import { isSigned, parseJwt } from "./jwt";

interface Keys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
  readonly kid: string;
}

let keys: Keys | undefined;

/** One pair per process, created at first use: it takes long, and most emulators of a test run sign nothing. */
function getSigningKeys(): Keys {
  if (!keys) {
    const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const der = publicKey.export({ type: "spki", format: "der" });
    keys = { publicKey, privateKey, kid: createHash("sha256").update(der).digest("hex").slice(0, 16) };
  }
  return keys;
}

export const discoveryPath = "/.well-known/openid-configuration";
export const keysPath = "/.well-known/jwks.json";

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
