import type { ApiResponse } from "./api";
import { api, detail, emulator, org, startForEach, violatedFields } from "./api";

startForEach();

describe("account associations", () => {
  const associations = "/iam/v2/accountAssociations";
  const create = (body: object): Promise<ApiResponse> =>
    api.post(`${associations}/${org}`, { name: "a", ...body });
  const full = {
    amazon: { account: "123456789012" },
    google: { projectId: "p", projectNumber: "1" },
    azure: { tenantId: "t", clientIds: { catalog: "c" } },
    chainguard: { serviceBindings: { ingester: "x" } },
    github: { appInstallations: { "12": { installations: [{ installationId: "9007199254740993" }] } } },
  };

  test("have the uid of their group, which has one at most", async () => {
    const { body } = await create(full);
    expect(body).toMatchObject({ uid: org, name: "a", amazon: full.amazon, azure: full.azure });
    const second = await create({});
    expect([second.status, second.body.code]).toEqual([409, 6]);
    expect((await api.get(`${associations}?uidp.children_of=${org}`)).body.totalCount).toBe("1");
    expect((await api.get(`${associations}/${org}`)).body).toEqual(body);
  });

  test("are ready for the providers they name, except with `checksNotReady`", async () => {
    await create({ google: full.google });
    const check = async (name: string): Promise<unknown> => {
      const body = { providerType: `ACCOUNT_PROVIDER_TYPE_${name}` };
      return (await api.post(`${associations}/${org}:checkAccountAssociation`, body)).body;
    };
    expect(await check("GOOGLE")).toEqual({ status: "CHECK_STATUS_READY", reason: "", message: "" });
    expect(await check("AMAZON")).toMatchObject({ status: "CHECK_STATUS_NOT_READY" });
    expect(await check("NOPE")).toMatchObject({ code: 3 });
    emulator.settings({ checksNotReady: 2 });
    for (const status of ["NOT_READY", "NOT_READY", "READY"])
      expect(await check("GOOGLE")).toMatchObject({ status: `CHECK_STATUS_${status}` });
  });
});

describe("group invites", () => {
  const invites = "/iam/v2/groupInvites";
  let roleUid: string;
  beforeEach(async () => {
    roleUid = (await api.make("/iam/v2/roles", org, { name: "r", capabilities: ["CAP_REPO_LIST"] })).uid;
  });

  test("show their code once, and their role in full", async () => {
    const created = await api.make(invites, org, {
      roleUid,
      ttl: "86400s",
      email: "a@b.test",
      singleUse: true,
    });
    expect(created).toEqual({
      uid: expect.stringMatching(`^${org}/`),
      roleUid,
      ttl: null,
      email: "a@b.test",
      singleUse: true,
      code: expect.stringMatching(/^[0-9a-f]{64}$/),
      keyId: expect.stringMatching(/^[0-9a-f]{32}$/),
      role: { uid: roleUid, name: "r", description: "", capabilities: ["CAP_REPO_LIST"] },
      expirationTime: "2026-01-29T12:54:21.189Z",
      createTime: "2026-01-28T12:54:21.189Z",
    });
    expect((await api.get(`${invites}/${created.uid}`)).body).toEqual({ ...created, code: "" });
    expect((await api.patch(`${invites}/${created.uid}`, {})).status).toBe(501);
  });
});

test("mappings of external groups belong to a provider, and no two mappings of a provider are equal", async () => {
  const mappings = "/iam/v2/externalGroupRoleMappings";
  const roleUid = await api.builtInRole("viewer");
  const oidc = { issuer: "https://idp.test", clientId: "c", pkceEnabled: true };
  const [provider, other] = [
    await api.make("/iam/v2/identityProviders", org, { name: "idp", defaultRole: roleUid, oidc }),
    await api.make("/iam/v2/identityProviders", org, { name: "other", defaultRole: roleUid, oidc }),
  ];
  const mapping = { externalGroupId: "admins", roleUid, scope: org };
  const created = await api.make(mappings, provider.uid, mapping);
  expect(created).toMatchObject({ ...mapping, identityProviderUid: provider.uid });
  expect(created.uid).toMatch(new RegExp(`^${provider.uid}/[0-9a-f]{16}$`));
  const same = await api.post(`${mappings}/${provider.uid}`, mapping);
  expect([same.status, same.body.code]).toEqual([409, 6]);
  await api.make(mappings, other.uid, mapping);
  const listed = await api.get(`${mappings}?identityProviderUid=${other.uid}`);
  expect(listed.body.externalGroupRoleMappings).toMatchObject([{ identityProviderUid: other.uid }]);
});

test("terms stop creates below a root group until they are accepted for it", async () => {
  const document = { id: "tos.v1", label: "Terms", url: "https://example.com/tos" };
  emulator.settings({ requiredTerms: [document] });
  const team = (): Promise<ApiResponse> => api.post(`/iam/v2/groups/${org}`, { name: "team" });
  const refused = await team();
  expect([refused.status, refused.body.code]).toEqual([400, 9]);
  expect(detail(refused, "TermsNotAcceptedDetail").missing).toEqual([document]);
  const accepted = await api.post(`/iam/v2/terms/${org}`, { documentIds: ["tos.v1"] });
  expect(accepted.body).toEqual({ group: org, documentIds: ["tos.v1"] });
  const created = await team();
  expect(created.status).toBe(200);
  expect((await api.post(`/iam/v2/groups/${created.body.uid}`, { name: "inner" })).status).toBe(200);
  expect((await api.post("/iam/v2/groups", { name: "other" })).status).toBe(200);
});

describe("the caller", () => {
  test("finds the verified root group that is named like the domain of its address", async () => {
    const own = async () =>
      (await api.get("/iam/v2/groups:lookupGroup")).body as { code?: number; group?: object };
    const group = { name: "example.com", kind: "ORG_KIND_DEV", verified: false };
    await api.make("/iam/v2/groups", "", group);
    expect((await own()).code).toBe(5);
    const { uid } = await api.make("/iam/v2/groups", "", { ...group, verified: true });
    expect((await own()).group).toMatchObject({ uid });
  });

  test("asks for access to a root group once", async () => {
    const ask = (group: string): Promise<ApiResponse> =>
      api.post(`/iam/v2/groups/${group}:requestGroupAccess`, {});
    expect((await ask(org)).body).toEqual({});
    const again = await ask(org);
    expect([again.status, again.body.code]).toEqual([429, 8]);
    expect((await ask(`${org}/0000000000000000`)).status).toBe(404);
    const team = await api.make("/iam/v2/groups", org, { name: "team" });
    expect(violatedFields(await ask(team.uid))).toEqual(["groupUid"]);
  });

  test("updates its own metadata by the mask in the body alone", async () => {
    const update = (body: object, query = ""): Promise<ApiResponse> =>
      api.patch(`/iam/v2/identities:updateIdentityMetadata${query}`, body);
    const identityMetadata = { company: "c", jobTitle: "j", uid: "other" };
    expect((await update({ identityMetadata }, "?updateMask=company")).body).toMatchObject({ company: "" });
    const { body } = await update({ identityMetadata, updateMask: "company,jobTitle" });
    expect(body).toMatchObject({ company: "c", jobTitle: "j", uid: expect.stringMatching(/^[0-9a-f]{40}$/) });
    const cleared = await update({ identityMetadata: {}, updateMask: "company" });
    expect(cleared.body).toMatchObject({ company: "", jobTitle: "j" });
    for (const updateMask of ["job_title", "*", "nope"]) {
      expect((await update({ identityMetadata, updateMask })).body.code).toBe(3);
    }
  });
});
