import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { Stack } from "../support/engine";
import type { Declarations } from "../support/engine";
import { call } from "../support/wire";

const org: Declarations = { org: { kind: "Group", args: { name: "org" } } };

const accounts = (parent: string, more: Record<string, unknown>): Declarations[string] => ({
  kind: "AccountAssociation",
  args: { parentUid: parent, name: "accounts", ...more },
});
const ready: Declarations = {
  ...org,
  accounts: accounts("${org}", { amazon: { account: "123456789012" }, awaitReady: ["amazon"] }),
};
const role: Declarations[string] = {
  kind: "Role",
  args: { parentUid: "${org}", name: "reader", capabilities: ["CAP_REPO_LIST"] },
};
const invite = (roleName: string): Declarations[string] => ({
  kind: "GroupInvite",
  args: { parentUid: "${org}", roleUid: `\${${roleName}}`, ttl: "24h" },
});
/** Invites: one that stays as it is, and one whose role is deleted by hand. */
const withInvites: Declarations = {
  ...ready,
  reader: role,
  invite: invite("reader"),
  lost: { ...role, args: { ...role.args, name: "lost" } },
  "of-lost": invite("lost"),
};
const unchecked: Declarations = {
  ...withInvites,
  other: { kind: "Group", args: { name: "other" } },
  unchecked: accounts("${other}", {
    azure: { tenantId: "t", clientIds: { pull: "c" } },
    awaitReady: ["azure"],
  }),
};

/* One stack, whose program grows from test to test. */
describe("accounts and invites, through the real engine", () => {
  let emulator: Emulator;
  let stack: Stack;
  const writes = () =>
    emulator.requests.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`);

  beforeAll(async () => {
    emulator = await startEmulator();
    stack = await new Stack(emulator).init();
  });

  afterAll(async () => {
    stack.dispose();
    await emulator.close();
  });

  afterEach(() => emulator.clearFaults());

  test("the update waits until accounts are ready", async () => {
    emulator.settings({ checksNotReady: 1 });
    stack.declare(ready);
    await stack.up();
    const uid = stack.ids()["accounts"] ?? "";
    const address = `POST /iam/v2/accountAssociations/${uid}`;
    const check = `${address}:checkAccountAssociation`;
    expect(writes()).toEqual(["POST /iam/v2/groups", address, check, check]);
    emulator.settings({ checksNotReady: 0 });
  });

  test("the code of an invite is kept, encrypted, and never printed", async () => {
    stack.declare(withInvites);
    const up = await stack.up();
    const made = (await stack.ours())["invite"];
    const code = made?.outputs?.["code"] as { plaintext: string };
    const secret = String(JSON.parse(code.plaintext));
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    expect(Object.keys(made?.outputs ?? {}).sort()).toEqual([
      "__provider",
      "code",
      "expirationTime",
      "keyId",
      "parentUid",
      "roleUid",
      "ttl",
    ]);
    const refresh = await stack.succeed(["refresh", "--yes", "--skip-preview"]);
    const preview = await stack.succeed(["preview", "--refresh", "--diff", "--expect-no-changes"]);
    for (const { output } of [up, refresh, preview]) expect(output).not.toContain(secret);
    expect(stack.everyByte()).not.toContain(secret);
    expect((await stack.ours())["invite"]?.outputs?.["code"]).toEqual(code);
  });

  test("an invite whose role was deleted by hand is replaced, with a new code", async () => {
    const before = await stack.ours();
    await call(emulator, "DELETE", `/iam/v2/roles/${before["lost"]?.id ?? ""}`);
    await stack.up("--refresh");
    const after = await stack.ours();
    expect(after["of-lost"]?.id).not.toBe(before["of-lost"]?.id);
    expect(after["of-lost"]?.outputs?.["roleUid"]).toBe(after["lost"]?.id);
    expect(after["of-lost"]?.outputs?.["code"]).not.toEqual(before["of-lost"]?.outputs?.["code"]);
    expect(after["invite"]?.outputs).toEqual(before["invite"]?.outputs);
    expect(emulator.state()["groupInvites"]).toHaveLength(2);
  });

  test("accounts that cannot be checked stay in state, and the next run checks again", async () => {
    stack.declare(unchecked);
    emulator.addFault({
      path: /:checkAccountAssociation$/,
      status: 403,
      body: { code: 7, message: "not you", details: [] },
    });
    const run = await stack.pulumi(["up", "--yes", "--skip-preview"]);
    expect(run.code).not.toBe(0);
    expect(run.output).toContain("PERMISSION_DENIED (HTTP 403): not you");
    const { unchecked: failed, other } = stack.recorded();
    expect(failed?.id).toBe(other?.id);
    expect(failed?.initErrors).toHaveLength(1);

    emulator.clearFaults();
    emulator.clearRequests();
    await stack.up();
    expect(writes()).toEqual([
      `POST /iam/v2/accountAssociations/${failed?.id ?? ""}:checkAccountAssociation`,
    ]);
    expect(stack.recorded()["unchecked"]?.initErrors).toBeUndefined();
  });

  test("an invite whose response was lost keeps its uid, is never created twice, and is replaced by the next run", async () => {
    stack.declare({ ...unchecked, another: invite("reader") });
    const known = new Set(emulator.state()["groupInvites"]?.map(({ uid }) => uid));
    const added = () => (emulator.state()["groupInvites"] ?? []).filter(({ uid }) => !known.has(uid));
    emulator.addFault({ method: "POST", path: "/iam/v2/groupInvites", close: "after", count: 1 });
    emulator.clearRequests();
    const run = await stack.pulumi(["up", "--yes", "--skip-preview"]);
    expect(run.code).not.toBe(0);
    // The accounts that were checked are not checked again.
    expect(writes().filter((write) => write.includes("accountAssociations"))).toEqual([]);
    const [made, ...more] = added();
    expect(more).toEqual([]);
    expect(run.output).toContain(`was created as ${String(made?.["uid"])}`);
    expect(stack.ids()["another"]).toBe(made?.["uid"]);
    await stack.up();
    const { id, outputs } = (await stack.ours())["another"] ?? {};
    expect(added().map(({ uid }) => uid)).toEqual([id]);
    expect(id).not.toBe(made?.["uid"]);
    expect(outputs?.["code"]).toBeDefined();
  });

  test("show no change in a second run, and are destroyed", async () => {
    await stack.succeed(["preview", "--refresh", "--expect-no-changes"]);
    await stack.succeed(["destroy", "--yes", "--skip-preview"]);
    expect(Object.values(emulator.state()).flat()).toEqual([]);
  });
});
