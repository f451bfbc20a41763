import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { revealed, Stack, WRITES_STATE_ONCE } from "../support/engine";
import type { Declarations } from "../support/engine";
import { call, create } from "../support/wire";

type Grant = readonly [who: string, role: string];

const quick = { PLATFORM_MAX_RETRIES: "0" };

/** Names of resources, and of their groups, by what they ignore. */
const IGNORED: Readonly<Record<string, readonly string[]>> = {
  bindings: ["bindings"],
  all: ["*"],
  one: ['bindings["alice-views"]'],
};
const KEPT = ["bindings", "all"];
const WAYS = Object.keys(IGNORED);

/*
 * Several groups in one stack, so that a run of the engine serves several tests: the access of `team`, of `both` by
 * role bindings and by a GroupAccess, and of one group for each way to ignore changes.
 */
describe("the access of a group, through the real engine", () => {
  let emulator: Emulator;
  let stack: Stack;
  let org: string;
  let team: string;
  let both: string;
  /** Uids of identities and roles, by name. */
  const uids: Record<string, string> = {};

  const uidOf = (name: string): string => uids[name] ?? "";
  const make = (path: string, body: unknown): Promise<string> => create(emulator, path, body);
  const identity = async (name: string): Promise<string> =>
    (uids[name] = await make(`/iam/v2/identities/${org}`, {
      name,
      claimMatch: { issuer: "https://issuer.example.com", subject: name },
    }));
  const bindByHand = (who: string, role: string, at = team) =>
    make(`/iam/v2/roleBindings/${at}`, { identityUid: uidOf(who), roleUid: uidOf(role) });

  const bindings = (grants: Readonly<Record<string, Grant>>) =>
    Object.fromEntries(
      Object.entries(grants).map(([label, [who, role]]) => [
        label,
        { identityUid: uidOf(who), roleUid: uidOf(role) },
      ]),
    );
  const access = (
    grants: Readonly<Record<string, Grant>>,
    more: Record<string, unknown> = {},
  ): Declarations => ({
    access: { kind: "GroupAccess", args: { parentUid: team, bindings: bindings(grants), ...more } },
  });
  const single = (who: string, role: string): Declarations[string] => ({
    kind: "RoleBinding",
    args: { parentUid: both, identityUid: uidOf(who), roleUid: uidOf(role) },
  });
  /** A resource of each way to ignore changes, with one binding. */
  const ignoring = (names: readonly string[], label: string, grant: Grant): Declarations =>
    Object.fromEntries(
      names.map((name) => {
        const args = { parentUid: uidOf(name), bindings: bindings({ [label]: grant }) };
        return [name, { kind: "GroupAccess", args, options: { ignoreChanges: IGNORED[name] } }];
      }),
    );
  const declare = (...parts: readonly Declarations[]) => {
    stack.declare(Object.assign({}, ...parts) as Declarations);
  };

  /** The writes, those of one group if one is named. */
  const writes = (group = "") =>
    emulator.requests
      .filter(({ method, ...request }) => method !== "GET" && JSON.stringify(request).includes(group))
      .map(({ method, path }) => `${method} ${path.replace(/\/[0-9a-f]{16}$/, "/*")}`);
  const nameOf = (uid: unknown): string =>
    Object.entries(uids).find(([, known]) => known === uid)?.[0] ?? String(uid);
  const held = (at = team): string[] =>
    (emulator.state()["roleBindings"] ?? [])
      .filter(({ uid }) => String(uid).startsWith(`${at}/`))
      .map(({ identityUid, roleUid }) => `${nameOf(identityUid)} ${nameOf(roleUid)}`)
      .sort();
  const recorded = async (name = "access"): Promise<Record<string, string>> => {
    const outputs = revealed((await stack.ours())[name]?.outputs?.["bindings"] ?? {});
    return Object.fromEntries(
      Object.entries(outputs as Record<string, { identityUid: string; roleUid: string }>).map(
        ([label, { identityUid, roleUid }]) => [label, `${nameOf(identityUid)} ${nameOf(roleUid)}`],
      ),
    );
  };
  const said = (output: string) => output.replace(/\s+/g, " ");

  beforeAll(async () => {
    emulator = await startEmulator();
    org = await make("/iam/v2/groups", { name: "org" });
    team = await make(`/iam/v2/groups/${org}`, { name: "team" });
    both = await make(`/iam/v2/groups/${org}`, { name: "both" });
    for (const name of WAYS) uids[name] = await make(`/iam/v2/groups/${org}`, { name });
    for (const name of ["alice", "bob", "carol", "mallory", "break-glass"]) await identity(name);
    const { roles } = await call(emulator, "GET", "/iam/v2/roles?page_size=200");
    for (const { name, uid } of roles as { name: string; uid: string }[]) uids[name] = uid;
    stack = await new Stack({ url: emulator.url, token: emulator.token, env: WRITES_STATE_ONCE }).init();
  });

  afterAll(async () => {
    await emulator.close();
    stack.dispose();
  });

  afterEach(() => emulator.clearFaults());

  const singles = () => ({ alice: single("alice", "viewer"), bob: single("bob", "editor") });

  test("creates missing bindings by one request, and does not duplicate existing ones", async () => {
    await bindByHand("alice", "viewer");
    await bindByHand("carol", "editor");
    declare(
      access({ "alice-views": ["alice", "viewer"], "bob-edits": ["bob", "editor"] }),
      singles(),
      ignoring(WAYS, "alice-views", ["alice", "viewer"]),
    );
    const preview = await stack.succeed(["preview", "--diff"]);
    expect(preview.stdout).toMatch(/alice-views: \{[^}]*\}\s+bob-edits/);
    emulator.clearRequests();
    const up = await stack.up();
    expect(writes(team)).toEqual([`POST /iam/v2/roleBindings/${org}/*`]);
    expect(held()).toEqual(["alice viewer", "bob editor", "carol editor"]);
    expect(stack.ids()["access"]).toBe(team);
    expect(said(up.output)).toContain(
      `group ${team} holds a binding that its GroupAccess does not declare: carol as editor`,
    );
  });

  test("shows bindings created by hand by their names, and the next run removes them unless they are ignored", async () => {
    for (const name of WAYS) await bindByHand("carol", "editor", uidOf(name));
    const shown = await stack.pulumi(["preview", "--refresh", "--diff", "--expect-no-changes"]);
    expect(shown.code).toBe(7);
    expect(shown.stdout).toMatch(/\+ unmanaged: carol as editor/);
    expect(shown.stdout).toMatch(/- unmanaged: carol as editor/);
    emulator.clearRequests();
    await stack.up("--refresh");
    expect(writes().sort()).toEqual(
      [team, uidOf("one")].sort().map((group) => `DELETE /iam/v2/roleBindings/${group}/*`),
    );
    expect(held()).toEqual(["alice viewer", "bob editor"]);
    expect(held(uidOf("one"))).toEqual(["alice viewer"]);
    for (const name of KEPT) {
      expect([name, ...held(uidOf(name))]).toEqual([name, "alice viewer", "carol editor"]);
      expect(await recorded(name)).toHaveProperty(["unmanaged: carol as editor"]);
    }
    await stack.succeed(["preview", "--refresh", "--expect-no-changes"]);
  });

  const ignored = () => ({
    ...ignoring(KEPT, "unmanaged: bob as editor", ["bob", "editor"]),
    ...ignoring(["one"], "alice-views", ["alice", "viewer"]),
  });

  const refuseDeletesAt = (group: string) =>
    emulator.addFault({
      method: "DELETE",
      path: new RegExp(group),
      status: 403,
      body: { code: 7, message: "not you", details: [] },
    });

  test("adopts the grant of a RoleBinding, which exists after each run", async () => {
    const grants = bindings({ "alice-views": ["alice", "viewer"], "carol-views": ["carol", "viewer"] });
    const moved = { kind: "GroupAccess", args: { parentUid: both, bindings: grants } };
    await bindByHand("break-glass", "owner");
    await bindByHand("mallory", "registry.push");
    const ignore = { identityUids: [uidOf("break-glass"), uidOf("mallory")] };
    declare(access({ "carol-edits": ["carol", "editor"] }, { ignore }), ignored(), { moved });
    refuseDeletesAt(both);
    const half = await stack.pulumi(["up", "--yes", "--skip-preview"], quick);
    expect(half.code).not.toBe(0);
    expect(said(half.output)).toContain("deleting role binding");
    emulator.clearFaults();
    await stack.up();
    expect(held(both)).toEqual(["alice viewer", "carol viewer"]);
    expect(Object.keys(stack.recorded()).sort()).toEqual(["access", "all", "bindings", "moved", "one"]);
    await stack.succeed(["preview", "--refresh", "--expect-no-changes"]);
  });

  test("a removed GroupAccess deletes only the program's bindings; a RoleBinding can adopt its grants", async () => {
    declare({ alice: single("alice", "viewer") });
    await stack.up();
    expect(held()).toEqual(["break-glass owner", "mallory registry.push"]);
    expect(held(both)).toEqual(["alice viewer"]);
    expect(Object.keys(stack.recorded())).toEqual(["alice"]);
    expect(WAYS.map((name) => held(uidOf(name)))).toEqual([["carol editor"], ["carol editor"], []]);
  });

  test("a destroy deletes the bindings of the program", async () => {
    await stack.succeed(["destroy", "--yes", "--skip-preview"]);
    expect(held(both)).toEqual([]);
  });
});
