import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { Stack } from "../support/engine";
import type { Declarations } from "../support/engine";
import { call } from "../support/wire";

const org: Declarations = { org: { kind: "Group", args: { name: "org" } } };

const withAccounts = (more: Record<string, unknown>): Declarations => ({
  ...org,
  accounts: { kind: "AccountAssociation", args: { parentUid: "${org}", name: "accounts", ...more } },
});

const withInvite: Declarations = {
  ...org,
  reader: { kind: "Role", args: { parentUid: "${org}", name: "reader", capabilities: ["CAP_REPO_LIST"] } },
  invite: { kind: "GroupInvite", args: { parentUid: "${org}", roleUid: "${reader}", ttl: "24h" } },
};

describe("accounts and invites, through the real engine", () => {
  let emulator: Emulator;
  let stack: Stack;
  const writes = () =>
    emulator.requests.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`);

  beforeEach(async () => {
    emulator = await startEmulator();
    stack = await new Stack(emulator).init();
  });

  afterEach(async () => {
    stack.dispose();
    await emulator.close();
  });

  test("accounts that are not ready yet are waited for", async () => {
    emulator.settings({ checksNotReady: 1 });
    stack.declare(withAccounts({ amazon: { account: "123456789012" }, awaitReady: ["amazon"] }));
    await stack.up();
    const uid = stack.ids()["accounts"] ?? "";
    const address = `POST /iam/v2/accountAssociations/${uid}`;
    const check = `${address}:checkAccountAssociation`;
    expect(writes()).toEqual(["POST /iam/v2/groups", address, check, check]);
    await stack.succeed(["preview", "--refresh", "--expect-no-changes"]);
    await stack.succeed(["destroy", "--yes", "--skip-preview"]);
    expect(Object.values(emulator.state()).flat()).toEqual([]);
  });

  test("accounts that cannot be checked stay in state, and the next run checks again", async () => {
    const azure = { tenantId: "t", clientIds: { pull: "c" } };
    stack.declare(withAccounts({ azure, awaitReady: ["azure"] }));
    emulator.addFault({
      path: /:checkAccountAssociation$/,
      status: 403,
      body: { code: 7, message: "not you", details: [] },
    });
    const run = await stack.pulumi(["up", "--yes", "--skip-preview"]);
    expect(run.code).not.toBe(0);
    expect(run.output).toContain("PERMISSION_DENIED (HTTP 403): not you");
    const { accounts: failed, org: group } = await stack.ours();
    expect(failed?.id).toBe(group?.id);
    expect(failed?.initErrors).toHaveLength(1);

    emulator.clearFaults();
    emulator.clearRequests();
    await stack.up();
    expect(writes()).toEqual([
      `POST /iam/v2/accountAssociations/${failed?.id ?? ""}:checkAccountAssociation`,
    ]);
    expect((await stack.ours())["accounts"]?.initErrors).toBeUndefined();
    emulator.clearRequests();
    await stack.up("--expect-no-changes");
    expect(writes()).toEqual([]);
  });

  test("the code of an invite is kept, encrypted, and never printed", async () => {
    stack.declare(withInvite);
    const up = await stack.up();
    const invite = (await stack.ours())["invite"];
    const code = invite?.outputs?.["code"] as { plaintext: string };
    const secret = String(JSON.parse(code.plaintext));
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    expect(Object.keys(invite?.outputs ?? {}).sort()).toEqual([
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
    stack.declare(withInvite);
    await stack.up();
    const before = await stack.ours();
    await call(emulator, "DELETE", `/iam/v2/roles/${before["reader"]?.id ?? ""}`);
    await stack.up("--refresh");
    const after = await stack.ours();
    expect(after["invite"]?.id).not.toBe(before["invite"]?.id);
    expect(after["invite"]?.outputs?.["roleUid"]).toBe(after["reader"]?.id);
    expect(after["invite"]?.outputs?.["code"]).not.toEqual(before["invite"]?.outputs?.["code"]);
    expect(emulator.state()["groupInvites"]).toHaveLength(1);
    await stack.succeed(["preview", "--refresh", "--expect-no-changes"]);
  });

  test("an invite whose answer was lost is kept by its uid, never made twice, and replaced by the next run", async () => {
    stack.declare(withInvite);
    emulator.addFault({ method: "POST", path: "/iam/v2/groupInvites", close: "after", count: 1 });
    const run = await stack.pulumi(["up", "--yes", "--skip-preview"]);
    expect(run.code).not.toBe(0);
    const [made, ...more] = emulator.state()["groupInvites"] ?? [];
    expect(more).toEqual([]);
    expect(run.output).toContain(`was created as ${String(made?.["uid"])}`);
    expect(stack.ids()["invite"]).toBe(made?.["uid"]);
    await stack.up();
    const { id, outputs } = (await stack.ours())["invite"] ?? {};
    expect(emulator.state()["groupInvites"]?.map(({ uid }) => uid)).toEqual([id]);
    expect(id).not.toBe(made?.["uid"]);
    expect(outputs?.["code"]).toBeDefined();
    await stack.succeed(["preview", "--refresh", "--expect-no-changes"]);
  });
});
