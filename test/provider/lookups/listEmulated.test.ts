import { startEmulator } from "../../../emulator";
import type { Emulator } from "../../../emulator";
import * as platform from "../../../provider/index";
import { call } from "../../support/wire";
import { ProgramContext } from "../support/program";

/* The same lookups against the emulator, which was written apart from them. */

const DAY = 86_400_000;
const context = new ProgramContext().install();
let emulator: Emulator;
/** The emulator's clock jumps ahead at this request. */
let jumpsAt = Infinity;
let org: string;
let team: string;
let role: string;
let identity: string;
let repo: string;

const post = async (path: string, body: object) => String((await call(emulator, "POST", path, body))["uid"]);
const roleNames = Array.from({ length: 450 }, (_, i) => `role ${String(i).padStart(3, "0")}`);

beforeAll(async () => {
  const start = Date.now();
  emulator = await startEmulator({
    now: () => start + (jumpsAt < Infinity && emulator.requests.length >= jumpsAt ? 4 * DAY : 0),
  });
  org = await post("/iam/v2/groups", { name: "org", kind: "ORG_KIND_CUSTOMER" });
  team = await post(`/iam/v2/groups/${org}`, { name: "team" });
  const claimMatch = { issuer: "https://i.test", subject: "s" };
  identity = await post(`/iam/v2/identities/${team}`, { name: "ci", claimMatch });
  await post(`/iam/v2/identities/${org}`, { name: "spy", servicePrincipal: "SERVICE_PRINCIPAL_COSIGNED" });
  role = await post(`/iam/v2/roles/${team}`, { name: "reader", capabilities: ["CAP_REPO_LIST"] });
  await post(`/iam/v2/roleBindings/${org}`, { identityUid: identity, roleUid: role });
  await post(`/iam/v2/roleBindings/${team}`, { identityUid: identity, roleUid: role });
  repo = await post(`/registry/v2/repos/${team}`, { name: "nginx", sync_config: { source: "nginx" } });
  await post(`/events/v2/subscriptions/${team}`, { sink: "https://s.test" });
  for (let from = 0; from < roleNames.length; from += 50) {
    await Promise.all(
      roleNames
        .slice(from, from + 50)
        .map((name) => post(`/iam/v2/roles/${org}`, { name, capabilities: ["CAP_REPO_LIST"] })),
    );
  }
});
afterAll(() => emulator.close());

beforeEach(() => {
  jumpsAt = Infinity;
  context.configure({ "platform:baseUrl": emulator.url, "platform:token": emulator.token });
});

test("groups: scope, name, order and limit", async () => {
  const names = async (args: platform.GetGroupsArgs) =>
    (await platform.getGroups(args)).map(({ name }) => name);
  await expect(names({ descendantsOf: org })).resolves.toEqual(["team"]);
  await expect(names({ ancestorsOf: identity })).resolves.toEqual(["org", "team"]);
  await expect(names({ inRoot: true })).resolves.toEqual(["org"]);
  await expect(names({ uids: [team] })).resolves.toEqual(["team"]);
  await expect(names({ name: "team" })).resolves.toEqual(["team"]);
  await expect(names({ orderBy: "name desc" })).resolves.toEqual(["team", "org"]);
  await expect(names({ orderBy: "name", limit: 1 })).resolves.toEqual(["org"]);
  await expect(platform.getGroup({ uid: org })).resolves.toMatchObject({
    kind: "ORG_KIND_CUSTOMER",
    status: "ORG_STATUS_READY",
    createTime: expect.stringMatching(/^\d{4}-.*Z$/),
  });
});

test.each([1, 2])("lists are whole also where a token expires after page %d", async (pages) => {
  const all = { childrenOf: org, orderBy: "name" };
  jumpsAt = emulator.requests.length + pages + 1;
  const roles = await platform.getRoles(all);
  expect(roles.map(({ name }) => name)).toEqual(roleNames);
  expect(emulator.requests.length - jumpsAt).toBeGreaterThan(0);
});

test("a limit ends a long list", async () => {
  const before = emulator.requests.length;
  const roles = await platform.getRoles({ childrenOf: org, orderBy: "name", limit: 201 });
  expect(roles.map(({ name }) => name)).toEqual(roleNames.slice(0, 201));
  expect(emulator.requests.length - before).toBe(2);
});

test("many uids are found in several requests", async () => {
  const all = await platform.getRoles({ childrenOf: org });
  const found = await platform.getRoles({ uids: all.map(({ uid }) => uid) });
  expect(found).toStrictEqual(all);
});

test("roles: with or without the built-in ones", async () => {
  const roles = await platform.getRoles({ builtIn: true });
  expect(roles.map(({ name }) => name)).toEqual(expect.arrayContaining(["viewer", "owner"]));
  expect(roles.every(({ parentUid, builtIn }) => builtIn && parentUid === undefined)).toBe(true);
  await expect(platform.getRoles({ childrenOf: team })).resolves.toMatchObject([
    { uid: role, name: "reader" },
  ]);
});

test("identities: by relationship, by name, by uid", async () => {
  const relationshipType = "RELATIONSHIP_TYPE_SERVICE_PRINCIPAL";
  await expect(platform.getIdentities({ relationshipType })).resolves.toMatchObject([
    { name: "spy", servicePrincipal: "SERVICE_PRINCIPAL_COSIGNED" },
  ]);
  const ci = await platform.getIdentity({ name: "ci" });
  expect(ci).toMatchObject({ uid: identity, parentUid: team, claimMatch: { issuer: "https://i.test" } });
  await expect(platform.getIdentity({ uid: identity })).resolves.toStrictEqual(ci);
});

test("role bindings: by identity, group and role, in every form of responses", async () => {
  for (const bindingResponse of ["both", "flat", "hydrated"] as const) {
    emulator.settings({ bindingResponse });
    const bindings = await platform.getRoleBindings({ identityUid: identity, groupUid: team, roleUid: role });
    expect(bindings).toMatchObject([{ identityUid: identity, roleUid: role, parentUid: team }]);
    await expect(platform.getRoleBinding({ uid: bindings[0]!.uid })).resolves.toStrictEqual(bindings[0]);
  }
  await expect(platform.getRoleBindings({ identityUid: identity })).resolves.toHaveLength(2);
  await expect(platform.getRoleBindings({ roleUid: org })).resolves.toEqual([]);
});

test("repositories and subscriptions", async () => {
  const found = await platform.getRepo({ name: "nginx", parentUid: team });
  expect(found).toMatchObject({
    uid: repo,
    parentUid: team,
    bundles: ["application"],
    syncConfig: { source: expect.stringMatching(/^[0-9a-f/]+$/), expirationTime: expect.any(String) },
  });
  await expect(platform.getRepos({ descendantsOf: org })).resolves.toStrictEqual([found]);
  const [subscription, ...others] = await platform.getSubscriptions({ childrenOf: team });
  expect(others).toEqual([]);
  await expect(platform.getSubscription({ uid: subscription!.uid })).resolves.toEqual({
    uid: subscription!.uid,
    parentUid: team,
    sink: "https://s.test",
  });
});

test("a column that the server does not sort by is its error", async () => {
  await expect(platform.getGroups({ orderBy: "createTime" })).rejects.toThrow(
    /^getGroups: GET \/iam\/v2\/groups: INVALID_ARGUMENT \(HTTP 400\): .*orderBy/,
  );
});

describe("registry", () => {
  const digests = ["a", "b"].map((letter) => `sha256:${letter.repeat(64)}`);
  const names = async (args: platform.GetTagsArgs) =>
    (await platform.getTags({ childrenOf: repo, orderBy: "name", ...args })).map(({ name }) => name);

  beforeAll(async () => {
    for (const name of ["1", "1-r0", "1-20260101", "sha256-x"]) {
      await post(`/registry/v2/tags/${repo}`, { name, digest: digests[0], deprecated: name === "1" });
    }
    await post(`/registry/v2/tags/${repo}`, { name: "2", digest: digests[1], bundles: ["base"] });
  });

  test("tags: what lists keep out, digest, time and end of life", async () => {
    await expect(names({})).resolves.toEqual(["1", "2"]);
    await expect(names({ includeReferrers: true })).resolves.toEqual(["1", "2", "sha256-x"]);
    await expect(names({ includeDates: true, includeEpochs: true })).resolves.toEqual([
      "1",
      "1-20260101",
      "1-r0",
      "2",
    ]);
    await expect(names({ digest: digests[1] })).resolves.toEqual(["2"]);
    await expect(names({ name: "1" })).resolves.toEqual(["1"]);
    await expect(names({ deprecated: true })).resolves.toEqual(["1"]);
    await expect(names({ deprecated: false, limit: 1 })).resolves.toEqual(["2"]);
    await expect(names({ updatedSince: "2020-01-01T00:00:00+01:00" })).resolves.toEqual(["1", "2"]);
    await expect(names({ updatedSince: "2999-01-01T00:00:00Z" })).resolves.toEqual([]);
  });

  test("one tag is found by its name also where lists keep it out", async () => {
    const tag = await platform.getTag({ name: "1-r0", parentUid: repo });
    expect(tag).toMatchObject({ parentUid: repo, digest: digests[0] });
    await expect(platform.getTag({ uid: tag.uid })).resolves.toStrictEqual(tag);
  });

  test("images and readme", async () => {
    const image = { repoUid: repo, digest: digests[0] ?? "" };
    const { architectures } = await platform.getImageArchitectures(image);
    expect(architectures).toEqual(["amd64", "arm64"]);
    const [amd64, arm64] = await Promise.all(
      [image, { ...image, architecture: "arm64" }].map((each) => platform.getImageSize(each)),
    );
    expect(amd64).toEqual({ architecture: "amd64", bytes: expect.stringMatching(/^\d+$/) });
    expect(arm64).toMatchObject({ architecture: "arm64" });
    expect(arm64?.bytes).not.toBe(amd64?.bytes);
    await expect(platform.getImageSize({ ...image, architecture: "s390x" })).rejects.toThrow(
      `getImageSize: the repository ${repo} has no image ${image.digest} for s390x`,
    );
    const { content } = await platform.getRepoReadme({ repoUid: repo });
    expect(content).toContain("nginx");
  });
});

describe("sign-in", () => {
  let provider: string;

  beforeAll(async () => {
    const oidc = { issuer: "https://idp.test", clientId: "c", clientSecret: "canary", pkceEnabled: true };
    const viewer = (await call(emulator, "GET", "/iam/v2/roles?name=viewer"))["roles"] as { uid: string }[];
    const roleUid = viewer[0]?.uid;
    provider = await post(`/iam/v2/identityProviders/${org}`, { name: "sso", defaultRole: roleUid, oidc });
    await post(`/iam/v2/externalGroupRoleMappings/${provider}`, {
      externalGroupId: "admins",
      roleUid,
      scope: org,
    });
    await post(`/iam/v2/groupInvites/${team}`, { roleUid, ttl: "3600s", email: "a@example.com" });
    await post(`/iam/v2/accountAssociations/${team}`, {
      name: "clouds",
      amazon: { account: "123456789012" },
    });
    await call(emulator, "POST", `/iam/v2/terms/${org}`, { documentIds: ["guardener-tos.v1"] });
  });

  test("identity providers, by uid and name and in lists, without the secret", async () => {
    const byName = await platform.getIdentityProvider({ name: "sso" });
    expect(byName).toMatchObject({ uid: provider, parentUid: org, oidc: { pkceEnabled: true } });
    await expect(platform.getIdentityProvider({ uid: provider })).resolves.toStrictEqual(byName);
    const [listed] = await platform.getIdentityProviders({ childrenOf: org });
    expect(listed).toMatchObject({ uid: provider, oidc: { issuer: "https://idp.test" } });
    expect(JSON.stringify([byName, listed])).not.toContain("canary");
  });

  test("mappings of a provider", async () => {
    const [mapping] = await platform.getExternalGroupRoleMappings({ identityProviderUid: provider });
    expect(mapping).toMatchObject({ externalGroupId: "admins", scope: org, identityProviderUid: provider });
    const { uid = "" } = mapping ?? {};
    await expect(platform.getExternalGroupRoleMapping({ uid })).resolves.toStrictEqual(mapping);
  });

  test("invites, by the key of their code", async () => {
    const [invite] = await platform.getGroupInvites({ descendantsOf: org });
    expect(invite).toMatchObject({ parentUid: team, email: "a@example.com", role: { name: "viewer" } });
    const { uid = "", keyId = "" } = invite ?? {};
    await expect(platform.getGroupInvites({ keyId })).resolves.toStrictEqual([invite]);
    await expect(platform.getGroupInvites({ keyId: "nope" })).resolves.toEqual([]);
    await expect(platform.getGroupInvite({ uid })).resolves.toStrictEqual(invite);
  });

  test("account associations, and whether the platform can use them", async () => {
    const association = await platform.getAccountAssociation({ uid: team });
    expect(association).toMatchObject({ uid: team, parentUid: team, amazon: { account: "123456789012" } });
    await expect(platform.getAccountAssociation({ name: "clouds" })).resolves.toStrictEqual(association);
    await expect(platform.getAccountAssociations()).resolves.toStrictEqual([association]);
    const check = (name: string) =>
      platform.checkAccountAssociation({ uid: team, provider: `ACCOUNT_PROVIDER_TYPE_${name}` });
    await expect(check("AMAZON")).resolves.toMatchObject({ ready: true, status: "CHECK_STATUS_READY" });
    await expect(check("AZURE")).resolves.toMatchObject({ ready: false, reason: "NOT_CONFIGURED" });
  });

  test("accepted terms, also those of the group above", async () => {
    const acceptances = await platform.getTermsAcceptances({ groupUid: team });
    expect(acceptances).toMatchObject([{ docId: "guardener-tos.v1", orgUid: org }]);
  });

  test("the organisation of the token's domain", async () => {
    emulator.settings({ callerEmail: "ann@example.test" });
    await expect(platform.checkEligibility()).resolves.toEqual({ eligible: false });
    await expect(platform.lookupGroup()).rejects.toThrow(
      "lookupGroup: there is no group for the e-mail domain",
    );
    await post("/iam/v2/groups", { name: "example.test", kind: "ORG_KIND_CUSTOMER", verified: true });
    await expect(platform.lookupGroup()).resolves.toMatchObject({ name: "example.test", verified: true });
    await expect(platform.checkEligibility()).resolves.toEqual({ eligible: true });
  });
});

test("libraries: ecosystems, words, versions and counts", async () => {
  const ecosystems = ["ECOSYSTEM_PYTHON"];
  const all = await platform.getArtifacts({ ecosystems });
  const [{ totalCount } = { totalCount: "" }] = (await platform.getArtifactCount({ ecosystems })).counts;
  expect(String(all.length)).toBe(totalCount);
  const [numpy, ...others] = await platform.getArtifacts({ ecosystems, query: "NumPy", cudaVersion: "12.8" });
  expect(others).toEqual([]);
  const { uid = "", versionCount } = numpy ?? {};
  const versions = await platform.getArtifactVersions({ artifactUid: uid });
  expect(versions).toHaveLength(versionCount ?? -1);
  expect(versions[0]?.sizeBytes).toMatch(/^\d+$/);
  await expect(platform.getArtifactVersions({ artifactUid: uid, limit: 1 })).resolves.toEqual([versions[0]]);
  const remediated = await platform.getArtifacts({ ecosystems, remediated: true });
  expect(remediated.length).toBeLessThan(all.length);
});

test("advisories, documents and metadata", async () => {
  const fixed = await platform.getAdvisories({ latestEventType: "EVENT_TYPE_FILTER_FIXED", limit: 3 });
  expect(fixed.map(({ events }) => events.at(-1)?.kind)).toEqual(["fixed", "fixed", "fixed"]);
  const [first] = fixed;
  const { uid = "", advisoryId = "", aliases = [] } = first ?? {};
  await expect(platform.getAdvisory({ uid })).resolves.toStrictEqual(first);
  await expect(platform.getAdvisories({ advisoryIds: [advisoryId, "nope"] })).resolves.toStrictEqual([first]);
  const documents = await platform.getAdvisoryDocuments({ cves: aliases });
  expect(documents[0]?.advisories[0]?.events[0]).toMatchObject({ kind: "detection", content: {} });
  const ids = (await platform.getAdvisories()).flatMap((advisory) => advisory.aliases).reverse();
  const metadata = await platform.getVulnerabilityMetadata({ ids: [...ids, "CVE-0000-0"] });
  const known = new Set(metadata.map(({ id }) => id));
  expect(metadata.map(({ id }) => id)).toEqual([...new Set(ids)].filter((id) => known.has(id)));
  expect(metadata.length).toBeGreaterThan(0);
});
