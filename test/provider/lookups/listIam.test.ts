import * as platform from "../../../provider/index";
import { ProgramContext } from "../support/program";
import { CHILD_UID, GROUP_UID, IDENTITY_UID, PROVIDER_UID, ROLE_UID, ROOT_UID } from "../support/samples";
import { errorOf, failure, missing } from "../support/server";

/* What lookups make of the answers of the IAM domain: full ones, and ones that leave out what is not set. */

const context = new ProgramContext().install();
const T1 = "2026-01-28T12:54:21.189Z";
const T2 = "2026-01-28T12:54:21.123456789Z";
const ZERO = "0001-01-01T00:00:00Z";
const one = (json: object): void => void context.server.script(() => ({ json }));
const many = (member: string, ...items: object[]): void => one({ [member]: items, nextPageToken: "" });

test("groups contain what the state does not: limits, status and times", async () => {
  const group = { uid: GROUP_UID, name: "team", description: "d", kind: "ORG_KIND_DEV", verified: true };
  one({
    ...group,
    resourceLimits: { repos: 5, hosts: "7" },
    status: "ORG_STATUS_READY",
    createTime: T1,
    updateTime: T2,
  });
  await expect(platform.getGroup({ uid: GROUP_UID })).resolves.toStrictEqual({
    ...group,
    parentUid: ROOT_UID,
    resourceLimits: { repos: 5, hosts: 7 },
    status: "ORG_STATUS_READY",
    createTime: T1,
    updateTime: T2,
  });
  many("groups", {
    uid: ROOT_UID,
    kind: "ORG_KIND_UNSPECIFIED",
    status: 0,
    createTime: ZERO,
    updateTime: null,
  });
  await expect(platform.getGroups()).resolves.toStrictEqual([
    { uid: ROOT_UID, name: "", description: "", verified: false },
  ]);
});

test("the group of the token's domain is one group, or an error", async () => {
  one({ group: { uid: ROOT_UID, name: "acme" } });
  await expect(platform.lookupGroup()).resolves.toMatchObject({ uid: ROOT_UID, name: "acme" });
  for (const reply of [{ json: { group: null } }, missing("example.com")]) {
    context.server.script([reply]);
    expect((await errorOf(platform.lookupGroup())).message).toBe(
      "lookupGroup: there is no group for the e-mail domain of this token (PP1203)",
    );
  }
});

test.each([
  [{ eligible: true }, true],
  [{ eligible: false }, false],
  [{}, false],
])("eligibility of %j is %j", async (json, eligible) => {
  one(json);
  await expect(platform.checkEligibility()).resolves.toStrictEqual({ eligible });
});

test("identities contain which of the four relationships they have, and when they were last seen", async () => {
  const bare = { name: "ci", description: "", company: "", email: "", emailUnverified: "" };
  many(
    "identities",
    {
      ...bare,
      uid: IDENTITY_UID,
      claimMatch: { issuer: "https://i.test", subject: "<s>&", claims: { a: "b" }, claimPatterns: {} },
      lastSeenTime: T1,
      createTime: T2,
      updateTime: ZERO,
    },
    {
      ...bare,
      uid: IDENTITY_UID.replace(/1$/, "2"),
      staticKeys: { issuer: "i", subject: "s", issuerKeys: "{}", expirationTime: T1, audiences: ["a"] },
    },
    {
      ...bare,
      uid: IDENTITY_UID.replace(/1$/, "3"),
      awsIdentity: { awsAccount: "123456789012", arnPattern: "^a" },
    },
    { ...bare, uid: IDENTITY_UID.replace(/1$/, "4"), servicePrincipal: "SERVICE_PRINCIPAL_COSIGNED" },
    {
      uid: ROLE_UID,
      email: "a@example.com",
      emailUnverified: "b@example.com",
      claimMatch: {},
      staticKeys: null,
    },
  );
  await expect(platform.getIdentities()).resolves.toStrictEqual([
    {
      ...bare,
      uid: IDENTITY_UID,
      parentUid: GROUP_UID,
      claimMatch: { issuer: "https://i.test", subject: "<s>&", claims: { a: "b" }, claimPatterns: {} },
      lastSeenTime: T1,
      createTime: T2,
    },
    {
      ...bare,
      uid: IDENTITY_UID.replace(/1$/, "2"),
      parentUid: GROUP_UID,
      staticKeys: { issuer: "i", subject: "s", issuerKeys: "{}", expirationTime: T1, audiences: ["a"] },
    },
    {
      ...bare,
      uid: IDENTITY_UID.replace(/1$/, "3"),
      parentUid: GROUP_UID,
      awsIdentity: { awsAccount: "123456789012", arnPattern: "^a" },
    },
    {
      ...bare,
      uid: IDENTITY_UID.replace(/1$/, "4"),
      parentUid: GROUP_UID,
      servicePrincipal: "SERVICE_PRINCIPAL_COSIGNED",
    },
    { ...bare, uid: ROLE_UID, name: "", email: "a@example.com", emailUnverified: "b@example.com" },
  ]);
});

describe("role bindings", () => {
  const identity = { uid: IDENTITY_UID, name: "ci", description: "", subject: "s", issuer: "i", email: "" };
  const group = { uid: GROUP_UID, name: "team", description: "" };
  const role = { uid: ROLE_UID, name: "viewer", description: "" };
  const flat = { identityUid: IDENTITY_UID, roleUid: ROLE_UID };
  const base = { uid: CHILD_UID, parentUid: GROUP_UID, ...flat };

  test.each([
    ["as the specification shows them", { identity, group, role }, { identity, group, role }],
    ["with uids only", { ...flat, identity: null, role: { uid: "", name: "" } }, {}],
    ["in both forms", { ...flat, identity, group, role }, { identity, group, role }],
    ["with empty uids", { identityUid: "", roleUid: "", identity, role }, { identity, role }],
  ])("are read %s", async (_name, form, hydrated) => {
    many("roleBindings", { uid: CHILD_UID, ...form, createTime: T1 });
    await expect(platform.getRoleBindings()).resolves.toStrictEqual([
      { ...base, ...hydrated, createTime: T1 },
    ]);
  });

  test("by uid are one, or none", async () => {
    one({ uid: CHILD_UID });
    await expect(platform.getRoleBinding({ uid: CHILD_UID })).resolves.toStrictEqual({
      uid: CHILD_UID,
      parentUid: GROUP_UID,
      identityUid: "",
      roleUid: "",
    });
    context.server.script([missing(CHILD_UID)]);
    expect((await errorOf(platform.getRoleBinding({ uid: CHILD_UID }))).message).toBe(
      `getRoleBinding: there is no object with the uid ${CHILD_UID} (PP1203)`,
    );
    one({ uid: GROUP_UID });
    expect((await errorOf(platform.getRoleBinding({ uid: CHILD_UID }))).message).toBe(
      `getRoleBinding: the response is not about ${CHILD_UID}; check platform:baseUrl (PP4008)`,
    );
  });
});

test("identity providers contain the state of SCIM, and never the client's secret", async () => {
  const oidc = {
    issuer: "https://i.test",
    clientId: "c",
    additionalScopes: ["email"],
    groupsClaim: "",
    correlationRule: "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID",
    pkceEnabled: true,
  };
  const scim = {
    enabled: true,
    endpointUrl: "https://scim.test",
    tokenExpireTime: T1,
    credentialState: "CREDENTIAL_STATE_LIVE",
    etag: "e1",
  };
  const base = { uid: PROVIDER_UID, name: "sso", description: "", defaultRole: ROLE_UID };
  one({
    ...base,
    oidc: { ...oidc, clientSecret: "canary" },
    scim: { ...scim, previousTokenExpireTime: null },
  });
  await expect(platform.getIdentityProvider({ uid: PROVIDER_UID })).resolves.toStrictEqual({
    ...base,
    parentUid: ROOT_UID,
    oidc,
    scim,
  });
  many("identityProviders", {
    ...base,
    oidc: { correlationRule: "CORRELATION_RULE_UNSPECIFIED" },
    scim: null,
  });
  await expect(platform.getIdentityProviders()).resolves.toStrictEqual([{ ...base, parentUid: ROOT_UID }]);
});

test("account associations contain the accounts, with exact ids", async () => {
  const accounts = {
    amazon: { account: "123456789012" },
    google: { projectId: "p", projectNumber: "9007199254740993" },
    azure: { tenantId: "t", clientIds: { reader: "c" } },
    chainguard: { serviceBindings: { COSIGNED: IDENTITY_UID } },
    github: {
      appInstallations: { "12345": { installations: [{ installationId: "9007199254740993", name: "o" }] } },
    },
  };
  one({ uid: GROUP_UID, name: "a", description: "", ...accounts, createTime: T1 });
  await expect(platform.getAccountAssociation({ uid: GROUP_UID })).resolves.toStrictEqual({
    uid: GROUP_UID,
    parentUid: GROUP_UID,
    name: "a",
    description: "",
    ...accounts,
    createTime: T1,
  });
  many("accountAssociations", { uid: GROUP_UID, amazon: null, google: {}, github: { appInstallations: {} } });
  await expect(platform.getAccountAssociations()).resolves.toStrictEqual([
    { uid: GROUP_UID, parentUid: GROUP_UID, name: "", description: "" },
  ]);
});

describe("the check of an account association", () => {
  const args = { uid: GROUP_UID, provider: "ACCOUNT_PROVIDER_TYPE_GOOGLE" };

  test.each([
    [
      { status: "CHECK_STATUS_READY" },
      { ready: true, status: "CHECK_STATUS_READY", reason: "", message: "" },
    ],
    [
      { status: "CHECK_STATUS_NOT_READY", reason: "R", message: "m" },
      { ready: false, status: "CHECK_STATUS_NOT_READY", reason: "R", message: "m" },
    ],
    [{ status: "CHECK_STATUS_UNSPECIFIED" }, { ready: false, reason: "", message: "" }],
    [{ status: 7 }, { ready: false, status: "7", reason: "", message: "" }],
  ])("of %j", async (json, answer) => {
    one(json);
    await expect(platform.checkAccountAssociation(args)).resolves.toStrictEqual(answer);
  });

  test("of a group that has none says so", async () => {
    context.server.script([missing(GROUP_UID)]);
    expect((await errorOf(platform.checkAccountAssociation(args))).message).toBe(
      `checkAccountAssociation: there is no object with the uid ${GROUP_UID} (PP1203)`,
    );
  });

  test("is repeated like a read: it changes nothing", async () => {
    context.configure({ "platform:maxRetries": "1" });
    context.server.script([failure(14, "later"), { json: { status: 1 } }]);
    await expect(platform.checkAccountAssociation(args)).resolves.toMatchObject({ status: "1" });
  });
});

test("invites contain their role, and never a code", async () => {
  const role = { uid: ROLE_UID, name: "viewer", description: "", capabilities: ["CAP_REPO_LIST"] };
  const invite = { uid: CHILD_UID, email: "a@example.com", singleUse: true, keyId: "k" };
  many("groupInvites", {
    ...invite,
    role: { ...role, capabilities: ["CAP_REPO_LIST", "UNKNOWN", 0] },
    code: "canary",
    expirationTime: T1,
    createTime: T2,
  });
  await expect(platform.getGroupInvites()).resolves.toStrictEqual([
    { ...invite, parentUid: GROUP_UID, roleUid: ROLE_UID, role, expirationTime: T1, createTime: T2 },
  ]);
  one({ uid: CHILD_UID, role: null });
  await expect(platform.getGroupInvite({ uid: CHILD_UID })).resolves.toStrictEqual({
    uid: CHILD_UID,
    parentUid: GROUP_UID,
    roleUid: "",
    email: "",
    singleUse: false,
    keyId: "",
  });
});

test("mappings contain their provider, by its uid or by their own", async () => {
  const mapping = { externalGroupId: "g", roleUid: ROLE_UID, scope: ROOT_UID };
  const uid = `${PROVIDER_UID}/0000000000000001`;
  const expected = { ...mapping, uid, parentUid: PROVIDER_UID, identityProviderUid: PROVIDER_UID };
  many("externalGroupRoleMappings", { ...mapping, uid, identityProviderUid: PROVIDER_UID, createTime: T1 });
  await expect(platform.getExternalGroupRoleMappings()).resolves.toStrictEqual([
    { ...expected, createTime: T1 },
  ]);
  one({ ...mapping, uid });
  await expect(platform.getExternalGroupRoleMapping({ uid })).resolves.toStrictEqual(expected);
});

test("subscriptions contain their sink", async () => {
  many("subscriptions", { uid: CHILD_UID, sink: "https://s.test" });
  const subscription = { uid: CHILD_UID, parentUid: GROUP_UID, sink: "https://s.test" };
  await expect(platform.getSubscriptions()).resolves.toStrictEqual([subscription]);
  one({ uid: CHILD_UID, sink: "https://s.test" });
  await expect(platform.getSubscription({ uid: CHILD_UID })).resolves.toStrictEqual(subscription);
});

test("accepted terms contain who accepted what, for which group and when", async () => {
  many("termsAcceptances", { docId: "d", acceptedBy: "a", orgUid: ROOT_UID, createTime: T1 });
  await expect(platform.getTermsAcceptances({ groupUid: GROUP_UID })).resolves.toStrictEqual([
    { docId: "d", acceptedBy: "a", orgUid: ROOT_UID, createTime: T1 },
  ]);
});
