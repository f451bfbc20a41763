import { api, Api, detail, emulator, extraEmulator, org, START, startForEach, violatedFields } from "./api";

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
