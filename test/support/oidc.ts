import { builtInRole, create } from "./wire";

/** The issuer of OIDC tokens in tests. The emulator verifies no signature of a foreign issuer. */
export const OIDC_ISSUER = "https://ci.example.com";

/** A token with these claims, good for an hour unless they say otherwise. */
export function jwt(claims: object): string {
  const all = { exp: Math.floor(Date.now() / 1000) + 3600, ...claims };
  const [head, body, signature] = ['{"alg":"none"}', JSON.stringify(all), "unsigned"].map((part) =>
    Buffer.from(part).toString("base64url"),
  );
  return `${head}.${body}.${signature}`;
}

/** An identity of a group that trusts the issuer's subject, and holds a role there; answers its uid. */
export async function identityFor(
  server: { url: string; token: string },
  subject: string,
  group: string,
  roleUid: string,
  name = subject.replaceAll(/\W/g, "-"),
): Promise<string> {
  const claimMatch = { issuer: OIDC_ISSUER, subject };
  const identityUid = await create(server, `/iam/v2/identities/${group}`, { name, claimMatch });
  await create(server, `/iam/v2/roleBindings/${group}`, { identityUid, roleUid });
  return identityUid;
}

/** An organisation with an identity that trusts the issuer's subject, and owns it; answers the identity's uid. */
export async function trustingIdentity(
  server: { url: string; token: string },
  subject: string,
): Promise<string> {
  const org = await create(server, "/iam/v2/groups", { name: "org of the run" });
  return await identityFor(server, subject, org, await builtInRole(server, "owner"), "ci");
}

/** An identity that trusts an OIDC token with these claims, and the environment in which a command exchanges that. */
export async function exchanging(server: { url: string; token: string }, claims: object = {}) {
  const { url } = server;
  const identity = await trustingIdentity(server, "repo:acme/pay");
  const oidc = jwt({ iss: OIDC_ISSUER, sub: "repo:acme/pay", aud: url, ...claims });
  const env = { PLATFORM_ISSUER_URL: url, PLATFORM_IDENTITY: identity, PLATFORM_OIDC_TOKEN: oidc };
  return { identity, oidc, env };
}
