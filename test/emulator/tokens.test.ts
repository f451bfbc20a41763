import type { JsonWebKey, KeyObject } from "node:crypto";
import { createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { decodeJwt } from "jose";
import type { ApiResponse, Resource } from "./api";
import { api, emulator, org, START, startForEach } from "./api";
import { claimsSignedByIssuer } from "./jwt";

const hour = 3600;
const issuer = "https://token.issuer.test";

startForEach();

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });

/** A token of another issuer. */
function oidc(claims: object = {}, key: KeyObject = rsa.privateKey, alg = "RS256"): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const all = { iss: issuer, sub: "repo:a", aud: emulator.url, exp: START / 1000 + hour, ...claims };
  const input = `${encode({ alg, kid: "k" })}.${encode(all)}`;
  const signature = sign("sha256", Buffer.from(input), { key, dsaEncoding: "ieee-p1363" });
  return `${input}.${signature.toString("base64url")}`;
}

function exchange(token: string, query: object = {}, method = "POST"): Promise<ApiResponse> {
  const all = new URLSearchParams({ aud: emulator.url, ...query });
  return api.send(method, `/sts/exchange?${all.toString()}`, undefined, { authorization: `Bearer ${token}` });
}

const identity = (body: object): Promise<Resource> =>
  api.make("/iam/v2/identities", org, { name: "ci", ...body });
const matching = (match: object = {}): Promise<Resource> =>
  identity({ claimMatch: { issuer, subject: "repo:a", ...match } });
const use = (token: string): Promise<ApiResponse> =>
  api.send("GET", "/iam/v2/groups", undefined, { authorization: `Bearer ${token}` });

describe("an exchange", () => {
  test("returns a token that the API accepts until it expires", async () => {
    const { uid } = await matching();
    const { status, body } = await exchange(oidc({ email: "ci@example.com" }), { identity: uid });
    expect([status, body.refreshToken, body.expiry]).toEqual([200, "", "2026-01-28T13:54:21.189Z"]);
    const claims = { iss: emulator.url, sub: uid, aud: [emulator.url] };
    expect(await claimsSignedByIssuer(body.token, emulator.url)).toMatchObject(claims);
    expect((await use(body.token)).status).toBe(200);
    emulator.advanceClock(hour * 1000 - 1);
    expect((await use(body.token)).status).toBe(200);
    emulator.advanceClock(1);
    const expired = await use(body.token);
    expect([expired.status, expired.body.code]).toEqual([401, 16]);
    const seen = (await api.get(`/iam/v2/identities/${uid}`)).body;
    expect(seen).toMatchObject({
      lastSeenTime: "2026-01-28T12:54:21.189Z",
      emailUnverified: "ci@example.com",
      updateTime: seen.createTime,
    });
  });

  test("for a person needs no identity, and has the uid that is looked up", async () => {
    const { body } = await exchange(oidc());
    const query = `issuer=${encodeURIComponent(issuer)}&subject=repo:a`;
    const { uid } = (await api.get(`/iam/v2/identities:lookupIdentity?${query}`)).body;
    expect(decodeJwt(body.token).sub).toBe(uid);
    expect((await use(body.token)).status).toBe(200);
  });
});

test("an issued token is for its audience, and for an identity that exists", async () => {
  const { uid } = await matching();
  const tokenFor = async (aud: string) =>
    (await exchange(oidc({ email: "ci@example.com", email_verified: true }), { identity: uid, aud })).body
      .token;
  expect((await use(await tokenFor("https://elsewhere.test"))).status).toBe(401);
  const headers = { authorization: `Bearer ${oidc()}` };
  expect((await api.send("POST", `/sts/exchange?identity=${uid}`, undefined, headers)).status).toBe(400);
  const token = await tokenFor(emulator.url);
  expect((await api.get(`/iam/v2/identities/${uid}`)).body).toMatchObject({ email: "ci@example.com" });
  expect((await use(token)).status).toBe(200);
  await api.delete(`/iam/v2/identities/${uid}`);
  expect((await use(token)).status).toBe(401);
});

describe("a bad token is 401", () => {
  test.each<[string, () => string]>([
    ["no token", () => ""],
    ["no JWT", () => "abc"],
    ["the emulator's own token", () => emulator.token],
    ["one that has expired", () => oidc({ exp: START / 1000 })],
    ["one without an end", () => oidc({ exp: undefined })],
    ["one that is not valid yet", () => oidc({ nbf: START / 1000 + 1 })],
    ["one without a subject", () => oidc({ sub: undefined })],
    ["a forged one of the emulator", () => oidc({ iss: emulator.url })],
  ])("%s", async (_, token) => {
    const response = await exchange(token());
    expect([response.status, response.body.code]).toEqual([401, 16]);
    expect(response.headers.get("www-authenticate")).toBe(response.body.message);
  });

  test("for the API as well, whoever signed it", async () => {
    for (const token of [oidc(), oidc({ iss: emulator.url })]) expect((await use(token)).status).toBe(401);
  });
});

describe("claim match", () => {
  test.each<[string, object, object, boolean]>([
    ["another subject", {}, { sub: "repo:ab" }, false],
    ["another issuer", {}, { iss: "https://other.test" }, false],
    ["a pattern that fits", { subject: undefined, subjectPattern: "repo:[ab]" }, {}, true],
    ["a pattern that fits in part", { subject: undefined, subjectPattern: "repo:" }, {}, false],
    ["an issuer's pattern", { issuer: undefined, issuerPattern: "https://.*\\.test" }, {}, true],
    ["another audience than the issuer's host", {}, { aud: "https://elsewhere.test" }, false],
    ["the host alone as audience", {}, { aud: ["x", "127.0.0.1"] }, true],
    ["another address of the machine as audience", {}, { aud: "http://127.9.9.9:80" }, true],
    ["an audience of its own", { audience: "mine" }, { aud: "mine" }, true],
    ["an audience of its own, and another", { audience: "mine" }, {}, false],
    ["an audience's pattern", { audiencePattern: "m.*" }, { aud: ["x", "mine"] }, true],
    ["a claim that is equal", { claims: { ref: "main" } }, { ref: "main" }, true],
    ["a claim that differs", { claims: { ref: "main" } }, { ref: "dev" }, false],
    ["a claim that is missing", { claims: { ref: "main" } }, {}, false],
    ["a claim that is no text", { claims: { ok: "true", run: "7" } }, { ok: true, run: 7 }, true],
    ["a claim's pattern", { claimPatterns: { ref: "v[0-9]+" } }, { ref: "v12" }, true],
    ["a claim's pattern that fits in part", { claimPatterns: { ref: "v[0-9]+" } }, { ref: "v12x" }, false],
  ])("with %s", async (_, match, claims, allowed) => {
    const { uid } = await matching(match);
    const response = await exchange(oidc(claims), { identity: uid });
    expect([response.status, response.body.code]).toEqual(allowed ? [200, undefined] : [403, 7]);
  });
});

describe("static keys", () => {
  const jwk = (key: KeyObject, kid = "k"): JsonWebKey => ({
    ...createPublicKey(key).export({ format: "jwk" }),
    kid,
  });
  const keyed = (keys: JsonWebKey[], more: object = {}): Promise<Resource> =>
    identity({ staticKeys: { issuer, subject: "repo:a", issuerKeys: JSON.stringify({ keys }), ...more } });
  const allowed = async (uid: string, token = oidc()): Promise<boolean> =>
    (await exchange(token, { identity: uid })).status === 200;

  test("verify the signature", async () => {
    const { uid } = await keyed([jwk(ec.privateKey), jwk(rsa.privateKey)]);
    expect(await allowed(uid)).toBe(true);
    expect(await allowed(uid, oidc({}, ec.privateKey, "ES256"))).toBe(true);
    expect(await allowed(uid, oidc({}, rsa.privateKey, "ES256"))).toBe(false);
    expect(await allowed(uid, oidc({}, rsa.privateKey, "none"))).toBe(false);
    expect(await allowed(uid, `${oidc().split(".").slice(0, 2).join(".")}.`)).toBe(false);
    const other = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
    expect(await allowed(uid, oidc({}, other))).toBe(false);
    expect(await allowed((await keyed([jwk(rsa.privateKey, "other")])).uid)).toBe(false);
  });

  test("match issuer, subject and audience, and expire", async () => {
    const expirationTime = new Date(START + 60_000).toISOString();
    const { uid } = await keyed([jwk(rsa.privateKey)], { audiences: ["mine"], expirationTime });
    expect(await allowed(uid)).toBe(false);
    expect(await allowed(uid, oidc({ aud: "mine" }))).toBe(true);
    expect(await allowed(uid, oidc({ aud: "mine", sub: "x" }))).toBe(false);
    emulator.advanceClock(60_000);
    expect(await allowed(uid, oidc({ aud: "mine" }))).toBe(false);
  });
});

describe("refresh tokens", () => {
  const refresh = (token: string): Promise<ApiResponse> =>
    api.send("POST", "/sts/exchange_refresh_token", undefined, { authorization: `Bearer ${token}` });

  test("are returned if so set, and exchanged for two new tokens", async () => {
    emulator.settings({ refreshTokens: true });
    const { uid } = await matching();
    const first = (await exchange(oidc(), { identity: uid })).body;
    expect(first.refreshToken).not.toBe("");
    emulator.advanceClock(2 * hour * 1000);
    expect((await use(first.token)).status).toBe(401);
    const { body } = await refresh(first.refreshToken);
    const renewed = body as unknown as Record<"token" | "refreshToken", { token: string; expiry: string }>;
    expect((await use(renewed.token.token)).status).toBe(200);
    expect(renewed.token.expiry).toBe("2026-01-28T15:54:21.189Z");
    expect((await refresh(renewed.refreshToken.token)).status).toBe(200);
    expect((await use(first.refreshToken)).status).toBe(401);
  });
});
