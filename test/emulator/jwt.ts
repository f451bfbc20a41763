import type { JsonWebKey } from "node:crypto";
import { createPublicKey, verify } from "node:crypto";

/** The claims of a token, unverified. */
export function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8")) as never;
}

/** Whether a key that the issuer publishes signed the token, found as any verifier finds it. */
export async function isSignedByIssuer(token: string, issuer: string): Promise<boolean> {
  const [head = "", body = "", signature = ""] = token.split(".");
  const { kid } = JSON.parse(Buffer.from(head, "base64url").toString("utf8")) as { kid: string };
  const discovery = (await read(`${issuer}/.well-known/openid-configuration`)) as Record<string, string>;
  const { keys } = (await read(discovery.jwks_uri!)) as { keys: (JsonWebKey & { kid: string })[] };
  const key = keys.find((each) => each.kid === kid)!;
  return (
    discovery.issuer === issuer &&
    claimsOf(token).iss === issuer &&
    verify(
      "sha256",
      Buffer.from(`${head}.${body}`),
      createPublicKey({ key, format: "jwk" }),
      Buffer.from(signature, "base64url"),
    )
  );
}

async function read(url: string): Promise<unknown> {
  return (await fetch(url)).json();
}
