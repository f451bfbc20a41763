import { startEmulator } from "../../../emulator";
import type { Emulator, EmulatorOptions } from "../../../emulator";
import { listedKinds } from "../../../provider/access/documents/inventory";
import { readObject, takeInventory } from "../../../provider/inventory/takeInventory";
import type { InventoryRequest } from "../../../provider/inventory/takeInventory";
import { tokenSource } from "../../../provider/http/tokens";
import { Client } from "../../../provider/http/client";
import { kinds } from "../../../provider/kinds";
import { randomOrganisation, small } from "../../support/organisation";
import type { OrganisationSize } from "../../support/organisation";

const ROLE = "0".repeat(39);

describe("the inventory of a live organisation", () => {
  const running: Emulator[] = [];

  const start = async (size: OrganisationSize = small, options: EmulatorOptions = {}) => {
    const organisation = randomOrganisation(7, size, [`${ROLE}1`]);
    const emulator = await startEmulator({ ...options, seed: organisation.seed });
    running.push(emulator);
    const client = new Client({
      baseUrl: emulator.url,
      timeoutMs: 60_000,
      maxRetries: 2,
      maxConcurrency: 4,
      tokens: tokenSource({ kind: "token", token: emulator.token, setting: "PLATFORM_TOKEN" }),
      policy: { firstDelayMs: 1, maxDelayMs: 5 },
    });
    const take = (request: Partial<InventoryRequest> = {}) =>
      takeInventory(client, { root: organisation.root, now: Date.now, ...request });
    return { emulator, client, take, ...organisation };
  };

  afterEach(async () => {
    await Promise.all(running.splice(0).map((emulator) => emulator.close()));
  });

  test("holds every object once, sorted, in the form of arguments, and the platform's own roles", async () => {
    const { take, count, root } = await start();
    const inventory = await take();
    expect(inventory).toMatchObject({ schemaVersion: 1, root, complete: true, refused: [] });
    expect(inventory.kinds).toEqual([...listedKinds].sort());
    const own = inventory.objects.filter(({ builtIn }) => builtIn);
    expect(own.map(({ kind }) => kind)).toEqual(own.map(() => "Role"));
    expect(own.map(({ inputs }) => inputs["name"])).toContain("owner");
    expect(inventory.objects.length - own.length).toBe(count);
    const keys = inventory.objects.map(({ kind, uid }) => `${kind} ${uid}`);
    expect(keys).toEqual([...new Set(keys)].sort());
    const binding = inventory.objects.find(({ kind }) => kind === "RoleBinding");
    expect(binding?.inputs).toEqual({
      parentUid: binding?.uid.slice(0, -17),
      identityUid: expect.any(String),
      roleUid: expect.any(String),
    });
    expect(binding?.createTime).toBe("2026-01-02T03:04:05.678Z");
    const invite = inventory.objects.find(({ kind }) => kind === "GroupInvite");
    expect(invite?.details).toMatchObject({ keyId: expect.any(String), expirationTime: expect.any(String) });
    expect(JSON.stringify(inventory)).not.toContain("the secret");
  });

  test.each([
    ["many objects", undefined],
    ["nothing but its group", { groups: 0, identities: 0, roles: 0, bindings: 0, repos: 0, others: 0 }],
  ])("of %s is the same where the server leaves empty members out", async (_what, size) => {
    const { take, emulator } = await start(size);
    const request = { now: () => 0, kinds: kinds.map(({ spec }) => spec.kind) };
    const whole = await take(request);
    emulator.settings({ omitEmpty: true });
    expect(await take(request)).toEqual(whole);
    expect(whole.complete).toBe(true);
  });

  test("sends at most one list for 200 objects of a kind, within the limit of concurrency, and waits if the server asks to", async () => {
    const size = { groups: 250, identities: 410, roles: 20, bindings: 900, repos: 10, others: 3 };
    const { take, emulator, count } = await start(size, { requestsPerSecond: 25 });
    const inventory = await take();
    expect(inventory.complete).toBe(true);
    expect(inventory.objects.filter(({ builtIn }) => !builtIn)).toHaveLength(count);
    const answered = emulator.requests.filter(({ status }) => status === 200);
    const lists = answered.filter(({ query }) => query.includes("page_size=200"));
    const pagesOf = (wanted: string): number =>
      Math.max(1, Math.ceil(inventory.objects.filter(({ kind }) => kind === wanted).length / 200));
    const pages = listedKinds.reduce((sum, kind) => sum + pagesOf(kind), 0);
    // The root's own group and association, and the platform's roles.
    expect(lists.length).toBeLessThanOrEqual(pages + 3);
    // One provider is read again, for itself and for its token, and the root.
    expect(answered.length - lists.length).toBe(3);
    expect(emulator.requests.every(({ method }) => method === "GET")).toBe(true);
    expect(emulator.maxInFlight).toBeLessThanOrEqual(4);
  });

  test("reads each role of its caller once, however many bindings give it", async () => {
    const { take, client, emulator } = await start({ ...small, identities: 1, roles: 1, bindings: 6 });
    const bindings = (await take()).objects.filter(({ kind }) => kind === "RoleBinding");
    const [caller = ""] = bindings.map(({ inputs }) => inputs["identityUid"] as string);
    const held = bindings.flatMap(({ inputs }) =>
      inputs["identityUid"] === caller ? [inputs["roleUid"]] : [],
    );
    jest.spyOn(client, "getCallerClaims").mockResolvedValue({ issuer: "", subject: caller });
    const isOneRole = /\/iam\/v2\/roles\/./;
    expect(emulator.requests.filter(({ path }) => isOneRole.test(path))).toEqual([]);
    await take();
    expect(held.length).toBeGreaterThan(new Set(held).size);
    expect(emulator.requests.filter(({ path }) => isOneRole.test(path))).toHaveLength(new Set(held).size);
  });

  test("a list that is not read makes it incomplete and is named; the others are there", async () => {
    const { take, emulator, root } = await start();
    const ofUid = (uid: string) => ({ status: 200, body: { roleBindings: [{ uid }] } });
    for (const [fault, code] of [
      [{ status: 403, body: { code: 7, message: "no", details: [] } }, "PERMISSION_DENIED"],
      [{ status: 500, body: "<html>" }, "UNKNOWN"],
      [{ truncate: 40 }, "CONNECTION"],
      [{ status: 200, body: { nothing: [] } }, "CONNECTION"],
      [{ status: 200, body: "" }, "CONNECTION"],
      [ofUid("A".repeat(40)), "CONNECTION"],
      [ofUid("../x"), "CONNECTION"],
    ] as const) {
      const added = emulator.addFault({ path: "/iam/v2/roleBindings", ...fault });
      const inventory = await take();
      added.remove();
      expect(inventory.complete).toBe(false);
      expect(inventory.refused).toEqual([
        {
          kind: "RoleBinding",
          scope: root,
          code,
          errorCode: expect.stringMatching(/^PP(2|3)\d{3}$/),
          message: expect.stringContaining("roleBindings"),
        },
      ]);
      expect(inventory.objects.some(({ kind }) => kind === "Identity")).toBe(true);
      expect(inventory.objects.some(({ kind }) => kind === "RoleBinding")).toBe(false);
    }
  });

  test("records an identity provider that cannot be read as refused, not with incomplete fields", async () => {
    const { take, emulator, seed } = await start();
    const [provider] = seed["identityProviders"] ?? [];
    for (const fault of [
      { status: 403, body: { code: 7, message: "no", details: [] } },
      { body: { ...provider, name: ["no text"] } },
    ]) {
      emulator.clearFaults();
      emulator.addFault({ path: /identityProviders\/./, ...fault });
      const inventory = await take();
      expect(inventory.refused.map(({ kind }) => kind)).toEqual(["IdentityProvider", "ScimToken"]);
      expect(inventory.objects.some(({ kind }) => kind === "IdentityProvider")).toBe(false);
    }
  });

  test("reads nothing more of a kind whose objects are refused one by one", async () => {
    const { take, emulator } = await start({ ...small, repos: 40 });
    emulator.addFault({ path: /readme/i, status: 403, body: { code: 7, message: "no", details: [] } });
    const inventory = await take({ kinds: ["RepoReadme"] });
    expect(inventory.refused.map(({ kind }) => kind)).toEqual(["RepoReadme"]);
    // Those that were under way at the first refusal.
    const refused = emulator.requests.filter(({ status }) => status === 403).length;
    expect([refused > 0, refused <= 4]).toEqual([true, true]);
  });

  test("holds nothing of another organisation, whatever the server lists, and no secret", async () => {
    const { take, emulator, root, seed } = await start();
    const [own] = (seed["groups"] ?? []) as { uid: string }[];
    const groups = [own, { uid: "e".repeat(40), name: "foreign" }];
    emulator.addFault({ path: /groups\?|groups$/, status: 200, body: { groups } });
    const oidc = { issuer: "https://a.example.com", clientId: "c", clientSecret: "canary" };
    const provider = { uid: `${root}/${"d".repeat(16)}`, name: "login", oidc };
    emulator.addFault({ path: /identityProviders\/./, status: 200, body: provider });
    emulator.addFault({ path: /identityProviders/, status: 200, body: { identityProviders: [provider] } });
    const { objects } = await take({ kinds: ["Group", "IdentityProvider"] });
    expect(objects.map(({ uid }) => uid)).toEqual([root, provider.uid]);
    expect(objects[1]?.inputs).toMatchObject({ oidc: { clientId: "c" } });
    expect(JSON.stringify(objects)).not.toContain("canary");
  });

  test("one object is read by its uid, or there is none", async () => {
    const { client, root } = await start();
    expect(await readObject(client, "Group", root)).toMatchObject({ kind: "Group", uid: root });
    expect(await readObject(client, "Group", `${root}/${"f".repeat(16)}`)).toBeUndefined();
    expect(await readObject(client, "ScimToken", `${root}/${"f".repeat(16)}`)).toBeUndefined();
    expect(await readObject(client, "Nothing", root)).toBeUndefined();
  });

  test("a wrong token and a wrong root are errors, not empty organisations", async () => {
    const { take, emulator } = await start();
    await expect(take({ root: "0".repeat(40) })).rejects.toThrow(
      /there is no group with the uid 0000.*; check platform:baseUrl .*, which is http/,
    );
    emulator.addFault({ path: /groups\/./, status: 200, body: { uid: `${ROLE}1` }, count: 1 });
    await expect(take()).rejects.toMatchObject({ errorCode: "PP4008" });
    // Who may list groups need not be allowed to read this one.
    emulator.addFault({ path: /groups\/./, status: 403, body: { code: 7, message: "no" }, count: 1 });
    expect(await take()).toMatchObject({ complete: true });
    emulator.addFault({ path: /groups\/./, status: 400, body: { code: 3, message: "no" }, count: 1 });
    await expect(take()).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    emulator.addFault({
      path: "/iam/v2/roles",
      status: 401,
      body: { code: 16, message: "expired", details: [] },
    });
    await expect(take()).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  });

  test("reads resources without a list only if they are named, and records the missing ones", async () => {
    const { take, root, seed } = await start();
    const [repo] = (seed["repos"] ?? []) as { uid: string }[];
    const [group] = (seed["groups"] ?? []) as { uid: string }[];
    const missing = `${root}/${"f".repeat(16)}`;
    const also = new Map([
      ["Tag", [missing]],
      ["RepoReadme", [repo?.uid ?? ""]],
      ["TermsAcceptance", [group?.uid ?? ""]],
    ]);
    const inventory = await take({ additionalUids: also });
    expect(inventory.kinds).not.toContain("Tag");
    expect(inventory.asked).toEqual([
      { kind: "RepoReadme", uid: repo?.uid },
      { kind: "Tag", uid: missing },
      { kind: "TermsAcceptance", uid: root },
    ]);
    expect(inventory.objects.filter(({ kind }) => also.has(kind))).toEqual([]);
    const all = await take({ kinds: ["Tag", "RepoReadme"] });
    expect(all).toMatchObject({ complete: true, kinds: ["Repo", "RepoReadme", "Tag"] });
    // The readme of a synced repository comes from its source; an empty one is none.
    const synced = (seed["repos"] as { uid: string; sync_config?: object }[]).filter(
      (one) => one.sync_config,
    );
    const readmes = all.objects.filter(({ kind }) => kind === "RepoReadme");
    expect(readmes.map(({ uid }) => uid).sort()).toEqual(synced.map(({ uid }) => uid).sort());
  });
});
