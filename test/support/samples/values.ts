import type { Declaration } from "../engine";

export const jwks = (kid: string): string =>
  JSON.stringify({ keys: [{ kty: "RSA", kid, use: "sig", n: "sXchpZ0rJg7Yc6cLmHv4", e: "AQAB" }] });

export const publicKey = (body: string): string =>
  `-----BEGIN PUBLIC KEY-----\n${body}\n-----END PUBLIC KEY-----\n`;

const KEY_A =
  "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDGYu1nKdHUdBv/ApzXe1t/czGJ\ny5cTPjHLs5SHO1dOA2AzrbqHH9Aqm7S6Po0G7iomdnMP/i6fxDuCX8dxjuTbanui\nstXzv+HjmouNRjtDzLfMzFApzyE9nW31eUxKTf/adneAT8UTbXdrqnHifBAh9AuC\n8XL5E3KmfVCbuhiEaQIDAQAB";
export const KEY_B =
  "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDFYC6omq9XWah2O/jzwkTWMAUk\nLi5+IWNGqTMmPdR7S3WQpWx8dRi8YoiNCt5Xar0Ts2hpGUh9uAHuf7BmD43ULus+\nAe1dU0oisJ3RWoqkrGECPWKpkgUiEWTVxax0vGTefNVQlQ99bTFHDJfPGmip840u\n3un6xV/Qof2Dy8P0pQIDAQAB";

export const certificate = (body: string): string =>
  `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`;

export const PUBLIC_KEY = publicKey(KEY_A);
export const CERTIFICATE = certificate("QUFB");

/** A day well inside the 365 that a key may live. */
export const inDays = (days: number): string =>
  `${new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 19)}Z`;

/** The digest of an image, of four digits repeated. */
export const digest = (digits: string): string => `sha256:${digits.repeat(16)}`;

/** A tag's name is the only one of its repository, and so is a readme. */
export const repository: Declaration = { kind: "Repo", args: { parentUid: "${org}", name: "own" } };

/** An identity provider has one token, and no two mappings that are equal. */
export const withLogin: Declaration = {
  kind: "IdentityProvider",
  args: {
    parentUid: "${org}",
    name: "with login",
    defaultRole: "${reader}",
    oidc: { issuer: "https://login.example.com", clientId: "platform", pkceEnabled: true },
  },
};

export const named = { parentUid: "${org}", description: "before" };
