import { call } from "./wire";

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

/** An organisation with an identity that trusts the issuer's subject, and owns it; answers the identity's uid. */
export async function trustingIdentity(
  server: { url: string; token: string },
  subject: string,
): Promise<string> {
  const uidOf = ({ uid }: Record<string, unknown>): string => String(uid);
  const org = uidOf(await call(server, "POST", "/iam/v2/groups", { name: "org of the run" }));
  const identity = uidOf(
    await call(server, "POST", `/iam/v2/identities/${org}`, {
      name: "ci",
      claimMatch: { issuer: OIDC_ISSUER, subject },
    }),
  );
  const roles = await call(server, "GET", "/iam/v2/roles?name=owner");
  const owner = (roles["roles"] as { uid: string }[]).find(({ uid }) => !uid.includes("/"));
  await call(server, "POST", `/iam/v2/roleBindings/${org}`, {
    identityUid: identity,
    roleUid: owner?.uid,
  });
  return identity;
}
