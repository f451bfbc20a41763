import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";

/** The claims of a token that a key which its issuer publishes signed, found as any verifier finds it. */
export async function claimsSignedByIssuer(token: string, issuer: string): Promise<Record<string, unknown>> {
  const discovery = await fetch(`${issuer}/.well-known/openid-configuration`);
  const { jwks_uri: keys, issuer: name } = (await discovery.json()) as { jwks_uri: string; issuer: string };
  // The clock of an emulator is that of the test.
  const currentDate = new Date(Number(decodeJwt(token).iat) * 1000);
  return (await jwtVerify(token, createRemoteJWKSet(new URL(keys)), { issuer: name, currentDate })).payload;
}
