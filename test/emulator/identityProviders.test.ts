import type { ApiResponse, ResponseBody, Resource } from "./api";
import { api, emulator, org, START, startForEach, violatedFields } from "./api";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const providers = "/iam/v2/identityProviders";
let defaultRole: string;
let created: Resource;
let path: string;

const oidc = { issuer: "https://idp.test", clientId: "c", clientSecret: "canary-1" };

startForEach();
beforeEach(async () => {
  defaultRole = await api.builtInRole("viewer");
  created = await api.make(providers, org, { name: "idp", defaultRole, oidc });
  path = `${providers}/${created.uid}`;
});

describe("a provider", () => {
  test("is returned without its secret, with the default rule and SCIM unused", async () => {
    expect(created).toEqual({
      uid: expect.stringMatching(`^${org}/[0-9a-f]{16}$`),
      name: "idp",
      description: "",
      defaultRole,
      oidc: {
        issuer: "https://idp.test",
        clientId: "c",
        clientSecret: "",
        additionalScopes: [],
        groupsClaim: "",
        correlationRule: "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID",
        pkceEnabled: false,
      },
      scim: {
        enabled: false,
        endpointUrl: `${emulator.url}/scim/v2/${created.uid}`,
        tokenExpireTime: null,
        previousTokenExpireTime: null,
        credentialState: "CREDENTIAL_STATE_NOT_ISSUED",
        etag: expect.stringMatching(/./),
      },
      createTime: "2026-01-28T12:54:21.189Z",
      updateTime: "2026-01-28T12:54:21.189Z",
    });
    const all = [await api.get(path), await api.get(providers)].map(({ text }) => text).join();
    expect(all + JSON.stringify(emulator.state())).not.toContain("canary");
  });
});

describe("the client secret", () => {
  const patch = (query: string, body: object): Promise<ApiResponse> => api.patch(path + query, body);
  const secret = (): string | undefined => emulator.clientSecret(created.uid);
  const other = { issuer: "https://other.test" };
  test.each<[string, string, object, string]>([
    ["kept by the mask oidc without it", "?updateMask=oidc", { ...other, clientId: "d" }, "canary-1"],
    ["kept by a mask oidc with an empty one", "?updateMask=oidc", { ...oidc, clientSecret: "" }, "canary-1"],
    ["kept by a mask of its sibling", "?updateMask=oidc.issuer", other, "canary-1"],
    ["kept where neither a mask nor a key names it", "", other, "canary-1"],
    ["rotated where it is named", "?updateMask=oidc.clientSecret", { clientSecret: "canary-2" }, "canary-2"],
    ["rotated where it is inferred", "", { clientSecret: "canary-2" }, "canary-2"],
    ["rotated with all of oidc", "?updateMask=oidc", { ...oidc, clientSecret: "canary-2" }, "canary-2"],
  ])("is %s", async (_, query, given, held) => {
    const { status, text } = await patch(query, { oidc: given });
    expect([status, secret()]).toEqual([200, held]);
    expect(text).not.toContain("canary");
  });

  test.each<[string, string, object]>([
    ["named and empty", "?updateMask=oidc.clientSecret", { oidc: { clientSecret: "" } }],
    ["named and absent", "?updateMask=oidc.clientSecret", {}],
    ["inferred and empty", "", { oidc: { clientSecret: "" } }],
  ])("is wiped when %s, if PKCE remains", async (_, query, body) => {
    const refused = await patch(query, body);
    expect([refused.body.code, violatedFields(refused)]).toEqual([3, ["oidc.clientSecret"]]);
    expect(secret()).toBe("canary-1");
    await patch("?updateMask=oidc.pkceEnabled", { oidc: { pkceEnabled: true } });
    expect((await patch(query, body)).status).toBe(200);
    expect(secret()).toBeUndefined();
  });
});

describe("scim", () => {
  const call = (verb: string, body: object = {}): Promise<ApiResponse> => api.post(`${path}:${verb}`, body);
  const scim = async (): Promise<ResponseBody["scim"]> => (await api.get(path)).body.scim;
  const iso = (ms: number): string => new Date(START + ms).toISOString();

  test.each<[string, object, string]>([
    ["both an end and none", { expireTime: iso(dayMs), neverExpires: true }, "expireTime"],
    ["an end in the past", { expireTime: iso(-1) }, "expireTime"],
    ["an end beyond two years", { expireTime: iso(731 * dayMs) }, "expireTime"],
  ])("a token with %s is refused", async (_, body, field) => {
    expect(violatedFields(await call("generateScimToken", body))).toEqual([field]);
  });

  test.each<[string, string, object, number]>([
    ["rotated with a negative overlap", "regenerateScimToken", { overlap: "-1s" }, 3],
    ["rotated without an etag", "regenerateScimToken", { etag: "" }, 3],
    ["rotated with another etag", "regenerateScimToken", { etag: "x" }, 10],
  ])("a token is not %s", async (_, verb, body, code) => {
    const { etag } = (await call("generateScimToken")).body;
    expect((await call(verb, { etag, ...body })).body.code).toBe(code);
  });

  test.each(["regenerateScimToken", "revokeScimToken"])("%s needs a token", async (verb) => {
    const { etag } = await scim();
    expect((await call(verb, { etag })).body.code).toBe(5);
  });

  test("the state of a token changes when it expires", async () => {
    await call("generateScimToken", { expireTime: iso(2 * dayMs) });
    emulator.advanceClock(2 * dayMs);
    expect(await scim()).toMatchObject({ credentialState: "CREDENTIAL_STATE_EXPIRED" });
    const { etag } = await scim();
    const { body } = await call("regenerateScimToken", { etag, neverExpires: true });
    expect(body).toMatchObject({ expireTime: null, previousTokenExpireTime: null });
    emulator.advanceClock(5000 * dayMs);
    expect(await scim()).toMatchObject({ credentialState: "CREDENTIAL_STATE_LIVE", tokenExpireTime: null });
  });

  test.each<[string, object, string, number | null]>([
    ["an hour", {}, "3600s", hourMs],
    ["what is asked for", { overlap: "60s" }, "60s", 60_000],
    ["a day at most", { overlap: "172800s" }, "172800s", dayMs],
    ["not at all", { overlap: "0s" }, "0s", null],
  ])("the old token stays valid for %s", async (_, request, requestedOverlap, lasts) => {
    const { etag } = (await call("generateScimToken")).body;
    const { body } = await call("regenerateScimToken", { etag, ...request });
    const previousTokenExpireTime = lasts === null ? null : iso(lasts);
    expect(body).toMatchObject({ requestedOverlap, previousTokenExpireTime });
    expect(await scim()).toMatchObject({
      previousTokenExpireTime,
      credentialState: lasts === null ? "CREDENTIAL_STATE_LIVE" : "CREDENTIAL_STATE_ROTATING",
    });
    emulator.advanceClock(dayMs);
    expect(await scim()).toMatchObject({
      previousTokenExpireTime: null,
      credentialState: "CREDENTIAL_STATE_LIVE",
    });
  });
});
