import { api, Api, detail, emulator, extraEmulator, org, START, startForEach, violatedFields } from "./api";
import type { ApiResponse } from "./api";

startForEach();

const claimMatch = { issuer: "https://issuer.test", subject: "s" };

test("a response contains every field, and times with milliseconds", async () => {
  const created = await api.make("/registry/v2/repos", org, { name: "app" });
  expect(created).toEqual({
    uid: expect.stringMatching(new RegExp(`^${org}/[0-9a-f]{16}$`)),
    name: "app",
    description: "",
    catalogTier: "CATALOG_TIER_UNSPECIFIED",
    bundles: [],
    aliases: [],
    activeTags: [],
    sync_config: null,
    customOverlay: null,
    createTime: "2026-01-28T12:54:21.189Z",
    updateTime: "2026-01-28T12:54:21.189Z",
  });
});

test("a create below a missing parent is 404 with the parent's ResourceInfo", async () => {
  const response = await api.post(`/iam/v2/roles/${org}/0000000000000000`, { name: "r" });
  expect([response.status, response.body.code]).toEqual([404, 5]);
  expect(detail(response, "ResourceInfo").resourceType).toBe("Group");
});

describe("groups", () => {
  test("that are verified roots need a kind", async () => {
    expect(violatedFields(await api.post("/iam/v2/groups", { name: "a", verified: true }))).toEqual(["kind"]);
  });

  test("with children of any kind are not deleted, and the refusal names the children", async () => {
    await api.make("/registry/v2/repos", org, { name: "nginx" });
    await api.make("/events/v2/subscriptions", org, { sink: "https://sink.test" });
    const response = await api.delete(`/iam/v2/groups/${org}`);
    expect([response.status, response.body.code]).toEqual([400, 9]);
    expect(response.body.message).toMatch(/^Precondition failed: /);
    expect(detail(response, "ErrorInfo").reason).toBe("FAILED_PRECONDITION");
    expect(detail(response, "PreconditionFailure").violations).toEqual([
      { type: "RESOURCE_NOT_EMPTY", subject: org, description: expect.stringContaining("repos nginx") },
    ]);
    for (const [collection, resources] of Object.entries(emulator.state())) {
      const prefix = { repos: "/registry/v2", subscriptions: "/events/v2" }[collection];
      for (const { uid } of prefix ? resources : [])
        await api.delete(`${prefix!}/${collection}/${uid as string}`);
    }
    expect((await api.delete(`/iam/v2/groups/${org}`)).status).toBe(200);
    expect((await api.delete(`/iam/v2/groups/${org}`)).status).toBe(404);
  });
});

const keys = { issuer: "https://i.test", subject: "s", issuerKeys: '{"keys":[]}' };
const aws = { awsAccount: "123456789012", userId: "u" };
const oidc = { issuer: "https://idp.test", clientId: "c", clientSecret: "s" };
const synced = { sync_config: { source: "nginx" } };
const later = new Date(START + 366 * 24 * 3_600_000).toISOString();

test.each<[string, object, string]>([
  ["iam/v2/groups", { kind: "ORG_KIND_DEV" }, "kind"],
  ["iam/v2/identities", {}, "claimMatch"],
  ["iam/v2/identities", { staticKeys: { ...keys, expirationTime: later } }, "staticKeys.expirationTime"],
  ["iam/v2/identities", { awsIdentity: aws }, "awsIdentity.arn"],
  ["iam/v2/identities", { servicePrincipal: "SERVICE_PRINCIPAL_NOPE" }, "claimMatch"],
  ["iam/v2/identities", { servicePrincipal: "SERVICE_PRINCIPAL_UNSPECIFIED" }, "servicePrincipal"],
  ["iam/v2/identityProviders", { defaultRole: "x" }, "oidc,defaultRole"],
  ["iam/v2/identityProviders", { oidc }, "defaultRole"],
  ["iam/v2/identityProviders", { oidc, defaultRole: "x" }, "defaultRole"],
  ["iam/v2/roles", { capabilities: [] }, "capabilities"],
  ["iam/v2/roles", { capabilities: ["CAP_NOPE"] }, "capabilities"],
  ["iam/v2/accountAssociations", { amazon: {} }, "amazon.account"],
  ["iam/v2/accountAssociations", { chainguard: {} }, "chainguard.serviceBindings"],
  ["iam/v2/groupInvites", { ttl: "60s" }, "roleUid"],
  ["iam/v2/groupInvites", { ttl: "60s", roleUid: "x" }, "roleUid"],
  ["iam/v2/groupInvites", { ttl: "0s" }, "roleUid,ttl"],
  ["registry/v2/repos", { sync_config: { google: "g" } }, "sync_config.source"],
  [
    "registry/v2/repos",
    { sync_config: { source: "nginx", expirationTime: "2027-01-01T00:00:00Z" } },
    "sync_config.expirationTime",
  ],
  ["registry/v2/repos", { sync_config: { source: "nginx", gracePeriod: true } }, "sync_config.gracePeriod"],
  ["registry/v2/repos", { ...synced, bundles: ["ai"] }, "bundles"],
  ["registry/v2/repos", { ...synced, catalogTier: "CATALOG_TIER_AI" }, "catalogTier"],
])("a create in %s of %j is refused for %s", async (path, body, field) => {
  const response = await api.post(`/${path}/${org}`, { name: "app", ...body });
  expect([response.status, response.body.code]).toEqual([400, 3]);
  expect(violatedFields(response).join()).toBe(field);
});

describe("roles", () => {
  test("keep capabilities that are known, or numbers", async () => {
    const created = await api.make("/iam/v2/roles", org, {
      name: "r",
      capabilities: ["CAP_REPO_LIST", "CAP_NOPE", 99999],
    });
    expect(created.capabilities).toEqual(["CAP_REPO_LIST", 99999]);
  });

  test("that are built in have uids without a slash, stand among the others, and stay the same", async () => {
    await api.make("/iam/v2/roles", org, { name: "viewer", capabilities: ["CAP_REPO_LIST"] });
    const { roles } = (await api.get("/iam/v2/roles?name=viewer")).body as { roles: { uid: string }[] };
    expect(roles).toHaveLength(2);
    const builtIn = roles.find(({ uid }) => !uid.includes("/"))!;
    expect(builtIn.uid).toMatch(/^[0-9a-f]{40}$/);
    const again = await extraEmulator();
    expect(await new Api(again).builtInRole("viewer")).toBe(builtIn.uid);
    expect((await api.get("/iam/v2/roles?uidp.in_root=true")).body.totalCount).toBe("19");
  });

  test("are not deleted while bound", async () => {
    const role = await api.make("/iam/v2/roles", org, { name: "r", capabilities: ["CAP_REPO_LIST"] });
    const ci = await api.make("/iam/v2/identities", org, { name: "ci", claimMatch });
    const binding = await api.make("/iam/v2/roleBindings", org, { identityUid: ci.uid, roleUid: role.uid });
    const refused = await api.delete(`/iam/v2/roles/${role.uid}`);
    expect(refused.body.code).toBe(9);
    expect(detail(refused, "PreconditionFailure").violations[0]!.description).toContain(binding.uid);
    await api.delete(`/iam/v2/roleBindings/${binding.uid}`);
    expect((await api.delete(`/iam/v2/roles/${role.uid}`)).status).toBe(200);
  });
});

describe("role bindings", () => {
  let identityUid: string;
  let roleUid: string;
  beforeEach(async () => {
    identityUid = (await api.make("/iam/v2/identities", org, { name: "ci", description: "d", claimMatch }))
      .uid;
    roleUid = await api.builtInRole("viewer");
  });

  test("are returned with the identity, role and group that they bind", async () => {
    const created = await api.make("/iam/v2/roleBindings", org, { identityUid, roleUid });
    expect(created).toEqual({
      uid: expect.stringMatching(`^${org}/`),
      identityUid,
      roleUid,
      identity: { uid: identityUid, name: "ci", description: "d", ...claimMatch, email: "" },
      group: { uid: org, name: "org", description: "" },
      role: { uid: roleUid, name: "viewer", description: "Viewer Role (built-in)" },
      createTime: "2026-01-28T12:54:21.189Z",
    });
  });

  test("need an identity and a role that exist", async () => {
    const response = await api.post(`/iam/v2/roleBindings/${org}`, {
      identityUid: `${org}/0000000000000000`,
      roleUid: "x",
    });
    expect([response.body.code, violatedFields(response)]).toEqual([3, ["identityUid", "roleUid"]]);
    expect(violatedFields(await api.post(`/iam/v2/roleBindings/${org}`, {}))).toEqual([
      "identityUid",
      "roleUid",
    ]);
  });

  describe("in batches", () => {
    const batch = (body: object) => api.post("/iam/v2/roleBindings:batchCreate", { parent: org, ...body });
    const items = (count: number): object[] =>
      Array.from({ length: count }, () => ({ roleBinding: { identityUid } }));

    test.each([
      ["26 items", () => ({ roleUid, requests: items(26) }), "requests"],
      ["no items", () => ({ roleUid }), "requests"],
      ["no parent", () => ({ parent: "", roleUid, requests: items(1) }), "parent"],
      ["other parent", () => ({ roleUid, requests: [...items(1), { parent: "x" }] }), "requests[1].parent"],
      [
        "another role inside",
        () => ({ roleUid, requests: [{ roleBinding: { identityUid, roleUid: "x" } }] }),
        "requests[0].roleBinding.roleUid",
      ],
      [
        "an identity that is missing",
        () => ({ roleUid, requests: [...items(1), { roleBinding: { identityUid: "x" } }] }),
        "requests[1].roleBinding.identityUid",
      ],
      ["no role", () => ({ requests: items(1) }), "requests[0].roleBinding.roleUid"],
    ])("create nothing if %s", async (_, body, field) => {
      const response = await batch(body());
      expect([response.body.code, violatedFields(response)]).toEqual([3, [field]]);
      expect(emulator.state().roleBindings).toEqual([]);
    });
  });
});

describe("repos that are synced", () => {
  let path: string;
  beforeEach(async () => {
    const sync_config = { source: "nginx", google: "g" };
    const { body } = await api.post(`/registry/v2/repos/${org}`, { name: "app", sync_config });
    path = `/registry/v2/repos/${body.uid}`;
  });

  test.each([
    ["", { sync_config: { gracePeriod: false } }, "sync_config.gracePeriod"],
    ["", { sync_config: { google: "h", uniqueTags: true } }, "sync_config.uniqueTags"],
    [
      "?updateMask=sync_config",
      { sync_config: { source: "nginx", apkoOverlay: "x" } },
      "sync_config.apkoOverlay",
    ],
    ["", { bundles: ["ai"] }, "bundles"],
    ["?updateMask=activeTags", { activeTags: [] }, "activeTags"],
  ])("PATCH%s of %j is refused for %s", async (query, body, field) => {
    const response = await api.patch(path + query, body);
    expect([response.body.code, violatedFields(response)]).toEqual([3, [field]]);
  });
});

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
