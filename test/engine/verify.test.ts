import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import type { VerifyReport } from "../../provider/access/report/report";
import { takeInventory } from "../../provider/inventory/takeInventory";
import { main as reviewMain } from "../../provider/cli/commands/review";
import { main as verifyMain } from "../../provider/cli/commands/verify";
import { runCommand } from "../provider/cli/support";
import { clientOf } from "../support/driftMatrix";
import { Stack } from "../support/engine";
import type { Declarations } from "../support/engine";
import { call } from "../support/wire";

const base = (root: string): Declarations => ({
  ci: {
    kind: "Identity",
    args: {
      parentUid: root,
      name: "ci",
      claimMatch: {
        issuer: "https://token.actions.githubusercontent.com",
        subject: "repo:acme/pay:ref:refs/heads/main",
      },
    },
  },
  reader: { kind: "Role", args: { parentUid: root, name: "reader", capabilities: ["CAP_REPO_LIST"] } },
});

const change: Declarations = {
  reads: { kind: "RoleBinding", args: { identityUid: "${ci}", roleUid: "${reader}" } },
};

describe("pulumi-platform verify, after an update by the real engine", () => {
  let emulator: Emulator;
  let stack: Stack;
  let root: string;
  const path = (name: string): string => join(stack.directory, name);
  const verify = (...args: string[]) =>
    runCommand(
      verifyMain,
      [path("review.json"), ...args, "-o", `json=${path("verify.json")}`],
      stack.environment(),
    );
  const live = ["--stack", "test"];

  beforeAll(async () => {
    emulator = await startEmulator();
    stack = await new Stack(emulator).init();
    root = String((await call(emulator, "POST", "/iam/v2/groups", { name: "acme" }))["uid"]);
    const resources = base(root);
    for (const { args } of Object.values(change)) args["parentUid"] = root;
    stack.declare({ ...resources, ...change });
    const plan = ["--save-plan", "plan.json"];
    const { stdout } = await stack.succeed(["preview", "--json", "--show-sames", ...plan]);
    writeFileSync(path("preview.json"), stdout);
    const inventory = await takeInventory(clientOf(emulator), { root, now: Date.now });
    writeFileSync(path("inventory.json"), JSON.stringify(inventory));
    const sources = ["--inventory", path("inventory.json"), "--plan", path("plan.json")];
    const ended = await runCommand(
      reviewMain,
      [path("preview.json"), ...sources, "-o", `json=${path("review.json")}`],
      {},
    );
    expect(ended).toMatchObject({ code: 0 });
    await stack.succeed(["up", "--yes", "--skip-preview", "--plan", "plan.json"]);
  });

  afterAll(async () => {
    stack.dispose();
    await emulator.close();
  });

  const report = (name: string): VerifyReport => JSON.parse(readFileSync(path(name), "utf8")) as VerifyReport;

  test("passes if exactly the announced changes happened, by the reviewed plan", async () => {
    const { code, stderr } = await verify(
      ...[...live, "--cwd", stack.directory],
      "--plan",
      path("plan.json"),
    );
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining("verify: 0 not announced, 0 announced and missing") as string,
    });
    const { provenance, grants, plan } = report("verify.json");
    expect(provenance).toMatchObject({ package: expect.any(String) as string });
    expect(grants.map(({ change: what }) => what)).toEqual(["gained"]);
    expect(plan).toEqual(report("review.json").plan);
    expect(report("review.json").provenance).toMatchObject({ cli: "v3.230.0" });
  });

  test("refuses a plan that was not reviewed, another digest, and an edited report", async () => {
    const plan = JSON.parse(readFileSync(path("plan.json"), "utf8")) as { manifest: { time: string } };
    plan.manifest.time = "2020-01-01T00:00:00Z";
    writeFileSync(path("other.json"), JSON.stringify(plan));
    const cwd = ["--cwd", stack.directory];
    const other = await verify(...live, ...cwd, "--plan", path("other.json"));
    expect(other).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("not the plan that was reviewed") as string,
    });
    const digest = await verify(...live, ...cwd, "--digest", "0".repeat(64));
    expect(digest).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("not the report that was approved") as string,
    });
  });

  test("ends with 5 if another subject gained access", async () => {
    const { uid } = await call(emulator, "POST", `/iam/v2/identities/${root}`, {
      name: "mallory",
      claimMatch: { issuer: "https://gitlab.com", subject: "mallory" },
    });
    const { roles } = await call(emulator, "GET", "/iam/v2/roles?name=owner");
    const [owner] = roles as { uid: string }[];
    await call(emulator, "POST", `/iam/v2/roleBindings/${root}`, { identityUid: uid, roleUid: owner?.uid });
    expect(await verify(...live, "--cwd", stack.directory)).toMatchObject({ code: 5 });
    const { findings, unannounced } = report("verify.json");
    expect(findings.map(({ id, severity }) => [id, severity])).toEqual([["verify-unannounced", "critical"]]);
    expect(unannounced).toHaveLength(1);
  });

  test("ends with 4 if an announced grant is missing, and with 5 if another one exists too", async () => {
    const reads = stack.ids()["reads"] ?? "";
    await call(emulator, "DELETE", `/iam/v2/roleBindings/${reads}`);
    expect(await verify(...live, "--cwd", stack.directory)).toMatchObject({ code: 5 });
    expect(report("verify.json")).toMatchObject({ complete: false });
    const ended = await verify(...live, "--cwd", stack.directory, "--exit-zero");
    expect(ended).toMatchObject({ code: 4 });
  });
});
