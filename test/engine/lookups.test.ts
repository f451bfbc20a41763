import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { Stack } from "../support/engine";
import { call } from "../support/wire";

describe("lookups and existing resources, through the real engine", () => {
  let emulator: Emulator;
  let stack: Stack;
  let org: string;

  const outputs = async () =>
    JSON.parse((await stack.succeed(["stack", "output", "--json"])).stdout) as Record<string, unknown>;
  const program = (body: string) => {
    stack.files({
      "index.js": `const pulumi = require("@pulumi/pulumi");\nconst platform = require("pulumi-platform");\n${body}\n`,
    });
  };

  beforeAll(async () => {
    emulator = await startEmulator();
    stack = await new Stack(emulator).init();
    org = String(
      (await call(emulator, "POST", "/iam/v2/groups", { name: "org", description: "here" }))["uid"],
    );
    await call(emulator, "POST", `/iam/v2/groups/${org}`, { name: "team", description: "one" });
    const other = (await call(emulator, "POST", `/iam/v2/groups/${org}`, { name: "other" }))["uid"];
    await call(emulator, "POST", `/iam/v2/groups/${String(other)}`, { name: "team", description: "two" });
    await call(emulator, "POST", `/iam/v2/roles/${org}`, { name: "viewer", capabilities: ["CAP_REPO_LIST"] });
  });

  afterAll(async () => {
    await emulator.close();
    stack.dispose();
  });

  test("every lookup returns exactly one object, also for arguments that are known only during the update", async () => {
    program(`
      const fresh = new platform.Group("fresh", { parentUid: "${org}", name: "fresh", description: "new" });
      const found = platform.getGroupOutput({ uid: fresh.id });
      module.exports = (async () => ({
        ping: (await platform.ping()).response !== undefined,
        group: await platform.getGroup({ name: "org" }),
        team: await platform.getGroup({ name: "team", parentUid: "${org}" }),
        builtIn: (await platform.getRole({ name: "viewer", builtIn: true })).builtIn,
        custom: await platform.getRole({ name: "viewer", parentUid: "${org}" }),
        person: await platform.lookupIdentity({ issuer: "https://accounts.example.com", subject: "1" }),
        same: platform.lookupIdentityOutput({ issuer: "https://accounts.example.com", subject: "1" }).uid,
        late: found.description,
        lateRole: platform.getRoleOutput({ uid: platform.getRoleOutput({ name: "owner", builtIn: true }).uid }).name,
        fresh: fresh.id,
      }))();
    `);
    await stack.succeed(["preview"]);
    await stack.up();
    const seen = await outputs();
    expect(seen).toMatchObject({
      ping: true,
      group: { uid: org, name: "org", description: "here" },
      team: { name: "team", description: "one", parentUid: org },
      builtIn: true,
      custom: { name: "viewer", builtIn: false, parentUid: org, capabilities: ["CAP_REPO_LIST"] },
      late: "new",
      lateRole: "owner",
    });
    expect((seen["person"] as { uid: string }).uid).toMatch(/^[0-9a-f]{40}$/);
    expect(seen["same"]).toBe((seen["person"] as { uid: string }).uid);
  });
});
