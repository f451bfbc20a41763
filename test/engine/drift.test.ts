import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import type { DriftReport } from "../../provider/access/report/report";
import { parseStateExport } from "../../provider/access/documents/stateExport";
import type { StateExport } from "../../provider/access/documents/stateExport";
import { main } from "../../provider/cli/commands/drift";
import { randomOf } from "../../scripts/lib/random.cjs";
import { runCommand } from "../provider/cli/support";
import { brief, describeDriftMatrix, survey } from "../support/driftMatrix";
import type { Surveyed } from "../support/driftMatrix";
import { Stack, WRITES_STATE_ONCE } from "../support/engine";
import type { Declarations } from "../support/engine";
import { builtInRoles, randomOrganisation, small } from "../support/organisation";
import { apart, programsOf, randomSamples } from "../support/randomPrograms";
import { declared, samples, surroundings } from "../support/samples";
import { call } from "../support/wire";

/*
 * One stack with every kind and every field, exported once; then the organisation is changed by hand, again and
 * again, and put back each time.
 */
describe("drift of every kind, through the real engine", () => {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-platform-drift-"));
  let emulator: Emulator;
  let stack: Stack;
  let other: Stack;
  let on: Surveyed;

  const exported = async (of: Stack, name: string): Promise<StateExport> => {
    const { stdout } = await of.succeed(["stack", "export"]);
    writeFileSync(join(folder, name), stdout);
    return parseStateExport(stdout, name);
  };
  const run = (argv: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    runCommand(main, argv, {
      PLATFORM_BASE_URL: emulator.url,
      PLATFORM_TOKEN: emulator.token,
      PLATFORM_MAX_RETRIES: "0",
      ...env,
    });

  beforeAll(async () => {
    emulator = await startEmulator({ bindingResponse: "hydrated" });
    stack = await new Stack(emulator).init();
    stack.declare({
      ...surroundings,
      ...Object.fromEntries(
        samples.flatMap((sample) => Object.entries(declared(sample.label, sample, sample.args))),
      ),
      ignoring: {
        kind: "Group",
        args: { parentUid: "${org}", name: "ignoring", description: "ignored" },
        options: { ignoreChanges: ["description"] },
      },
    });
    await stack.up();
    const ids = Object.fromEntries(
      Object.entries(await stack.ours()).map(([name, { id }]) => [name, id ?? ""]),
    );
    other = await new Stack(emulator).init();
    other.files({
      "index.js": `
        const platform = require("pulumi-platform");
        const org = platform.Group.get("org", "${ids["org"] ?? ""}");
        platform.Role.get("role", "${ids["role"] ?? ""}");
        new platform.Group("own", { parentUid: org.id, name: "own", description: "of the other stack" });
      `,
    });
    await other.up();
    on = {
      emulator,
      ids,
      states: [await exported(stack, "export-one.json"), await exported(other, "export-two.json")],
    };
  });

  afterAll(async () => {
    await emulator.close();
    stack.dispose();
    other.dispose();
    rmSync(folder, { recursive: true });
  });

  test("is empty in an unchanged organisation: every kind and field, secrets, synced repositories, two stacks, get", async () => {
    const report = await survey(on);
    expect(brief(report)).toEqual([]);
    expect(report).toMatchObject({ complete: true, incomplete: [], failing: 0 });
    expect(report.summary.compared).toBe(Object.keys(on.ids).length + 1);
  });

  test("a change that the program ignores is no drift", async () => {
    const address = `/iam/v2/groups/${on.ids["ignoring"] ?? ""}?updateMask=description`;
    await call(emulator, "PATCH", address, { description: "by hand" });
    const report = await survey(on);
    await call(emulator, "PATCH", address, { description: "ignored" });
    expect(brief(report)).toEqual([]);
  });

  describeDriftMatrix(() => on, "pairs");

  test("the exit code distinguishes drift, an incomplete run and a refused token", async () => {
    const state = ["--state", join(folder, "export-*.json"), "-o", "json"];
    const clean = await run(state);
    expect({ code: clean.code, stderr: clean.stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(clean.stdout)).toMatchObject({ command: "drift", complete: true, findings: [] });

    const refused = emulator.addFault({
      path: "/iam/v2/roles",
      status: 403,
      body: { code: 7, message: "no" },
    });
    expect((await run(state)).code).toBe(4);
    await call(emulator, "PATCH", `/iam/v2/groups/${on.ids["team"] ?? ""}?updateMask=description`, {
      description: "by hand",
    });
    // Drift beats what was not checked.
    expect((await run(state)).code).toBe(7);
    expect((await run([...state, "--fail-on", "widened"])).code).toBe(4);
    refused.remove();
    expect((await run([...state, "--fail-on", "widened"])).code).toBe(0);
    expect((await run([...state, "--exit-zero"])).code).toBe(0);
    expect((await run(state, { PLATFORM_TOKEN: "wrong" })).code).toBe(3);
    expect((await run(["--state", join(folder, "none-*.json")])).code).toBe(2);
    expect((await run([])).code).toBe(2);
    const unknown = await run(["--stack", "nope", "--cwd", stack.directory], stack.environment());
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("stack not found") });
    const failing = emulator.addFault({ path: "/iam/v2/identities", status: 500, body: "<html>" });
    expect((await run([...state, "--fail-on", "never"])).code).toBe(4);
    failing.remove();

    // A baseline takes up the change, and a binding made by hand in a group that one resource has.
    const baseline = join(folder, "access-policy.yaml");
    await call(emulator, "POST", `/iam/v2/roleBindings/${on.ids["access-own"] ?? ""}`, {
      identityUid: on.ids["someone"],
      roleUid: on.ids["writer"],
    });
    const taken = await run([...state, "--write-baseline", baseline]);
    expect({ code: taken.code, stderr: taken.stderr }).toEqual({
      code: 7,
      stderr: expect.stringContaining("1 left for a person to accept by name"),
    });
    const accepted = await run([...state, "--policy", baseline]);
    expect({ code: accepted.code, stderr: accepted.stderr }).toEqual({ code: 7, stderr: "" });
    const { findings, policy } = JSON.parse(accepted.stdout) as DriftReport;
    expect(findings).toMatchObject([{ id: "drift-changed", kind: "GroupAccess", severity: "high" }]);
    expect(policy).toEqual({ unused: [], expired: [] });
    await stack.succeed(["preview", "--refresh"]);
  });
});

describe("drift of secrets, through the real engine", () => {
  const keys = (kid: string) =>
    JSON.stringify({ keys: [{ kty: "RSA", kid, use: "sig", n: "sXchpZ0r", e: "AQAB" }] });
  const [before, after] = ["canary-in-the-state", "canary-that-lives"].map(keys) as [string, string];
  let emulator: Emulator;
  let stack: Stack;

  const drift = (...argv: string[]) =>
    runCommand(main, ["--cwd", stack.directory, ...argv], {
      ...stack.environment(),
      PLATFORM_BASE_URL: emulator.url,
      PLATFORM_TOKEN: emulator.token,
    });

  beforeAll(async () => {
    emulator = await startEmulator();
    stack = await new Stack(emulator).init();
    stack.files({
      "index.js": `
        const pulumi = require("@pulumi/pulumi");
        const platform = require("pulumi-platform");
        const org = new platform.Group("org", { name: "org" });
        const role = (name, capabilities) => new platform.Role(name, { parentUid: org.id, name, capabilities });
        const reads = role("reads", ["CAP_REPO_LIST"]);
        role("rules", ["CAP_IAM_ROLES_UPDATE", "CAP_IAM_ROLE_BINDINGS_CREATE"]);
        const staticKeys = { issuer: "https://k.example.com", subject: "k", issuerKeys: pulumi.secret(${JSON.stringify(before)}) };
        const ci = new platform.Identity("ci", { parentUid: org.id, name: "ci", staticKeys });
        new platform.RoleBinding("binding", { parentUid: org.id, identityUid: ci.id, roleUid: pulumi.secret(reads.id) });
      `,
    });
    await stack.up();
  }, 120_000);

  afterAll(async () => {
    await emulator.close();
    stack.dispose();
  });

  test("a role and keys that were changed by hand are found, and no output holds a value", async () => {
    expect(await drift("--stack", "test")).toMatchObject({ code: 0, stderr: "" });
    const ours = await stack.ours();
    const uid = (name: string) => ours[name]?.id ?? "";
    const binding = `/iam/v2/roleBindings/${uid("binding")}?updateMask=roleUid`;
    await call(emulator, "PATCH", binding, { roleUid: uid("rules") });
    const identity = `/iam/v2/identities/${uid("ci")}?updateMask=staticKeys.issuerKeys`;
    await call(emulator, "PATCH", identity, { staticKeys: { issuerKeys: after } });

    const outputs = ["text", "md", "html", "sarif", "github", "codequality"].flatMap((form) => [
      "-o",
      `${form}=${join(stack.directory, `report.${form}`)}`,
    ]);
    const ended = await drift("--stack", "test", "-o", "json", ...outputs);
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 7, stderr: "" });
    const report = JSON.parse(ended.stdout) as DriftReport;
    const hidden = { before: "[secret]", after: "[secret]" };
    expect(report.differences.map(({ type, direction, fields }) => [type, direction, fields])).toEqual([
      ["Identity", "widened", [{ path: "staticKeys.issuerKeys", ...hidden }]],
      ["RoleBinding", "widened", [{ path: "roleUid", ...hidden }]],
    ]);
    expect(report.findings.map(({ id }) => id)).toEqual(expect.arrayContaining(["G2", "T5"]));
    const written = outputs
      .filter((text) => text !== "-o")
      .map((text) => readFileSync(text.slice(text.indexOf("=") + 1), "utf8"));
    for (const text of [ended.stdout, ...written]) expect(text).not.toMatch(/canary/);

    // An export without plain text cannot tell, which the exit code says.
    const { stdout } = await stack.succeed(["stack", "export"]);
    const file = join(stack.directory, "export.json");
    writeFileSync(file, stdout);
    const blind = await drift("--state", file, "-o", "json");
    expect(blind.code).toBe(4);
    const unseen = JSON.parse(blind.stdout) as DriftReport;
    expect(unseen.incomplete.map((line) => /: (\S+) of urn/.exec(line)?.[1])).toEqual([
      "roleUid",
      "staticKeys.issuerKeys",
    ]);
    expect(unseen.findings).toEqual([]);
  }, 60_000);
});

/*
 * Random programs side by side in one stack: for each seed an organisation, and every sample with random values, which
 * change once. PULUMI_PLATFORM_SEEDS=100 runs as many.
 */
describe("drift after the run of a program, through the real engine", () => {
  const seeds = Array.from(
    { length: Number(process.env["PULUMI_PLATFORM_SEEDS"] ?? "3") },
    (_, i) => 300 + i,
  );
  let emulator: Emulator;
  let stack: Stack;

  beforeAll(async () => {
    emulator = await startEmulator();
    // The state of many is large, and the engine would write it after each resource.
    const env = WRITES_STATE_ONCE;
    stack = await new Stack({ url: emulator.url, token: emulator.token, env }).init();
  });

  afterAll(async () => {
    await emulator.close();
    stack.dispose();
  });

  test(`is empty for ${seeds.length} random programs, after their creation and after changes`, async () => {
    const builtIn = await builtInRoles();
    const organisations = await programsOf(seeds.map((seed) => randomOrganisation(seed, small, builtIn)));
    for (const round of [0, 1]) {
      const declarations: Declarations = {};
      for (const [i, seed] of seeds.entries()) {
        const changing = randomSamples(randomOf(seed * 2 + round));
        Object.assign(declarations, apart(organisations[i] ?? {}, `o${seed}-`), apart(changing, `s${seed}-`));
      }
      stack.declare(declarations);
      await stack.up();
      const drift = ["--stack", "test", "--cwd", stack.directory, "-o", "json"];
      const { code, stdout, stderr } = await runCommand(main, drift, {
        ...stack.environment(),
        PLATFORM_BASE_URL: emulator.url,
        PLATFORM_TOKEN: emulator.token,
      });
      expect({ round, code, stderr }).toEqual({ round, code: 0, stderr: "" });
      const report = JSON.parse(stdout) as DriftReport;
      expect(report).toMatchObject({ complete: true, findings: [], unresolved: [] });
      expect(report.summary.compared).toBe(Object.keys(declarations).length);
    }
  });
});
