import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../../../emulator";
import type { Emulator } from "../../../../emulator";
import { main } from "../../../../provider/cli/commands/adopt/adopt";
import { main as inventoryMain } from "../../../../provider/cli/commands/inventory";
import { parse } from "yaml";
import { call, environmentOf } from "../../../support/wire";
import { stateRow } from "../../../../scripts/lib/documents.cjs";
import { ending, runCommand } from "../support";
import { temporaryFolder } from "../../../support/folders";

const NOBODY = "0".repeat(40);

describe("pulumi-platform adopt", () => {
  const folder = temporaryFolder();
  const out = join(folder, "adopted");
  const inventory = join(folder, "inventory.json");
  let emulator: Emulator;
  let root: string;

  const run = (command: typeof main, argv: readonly string[], env: Record<string, string> = {}) =>
    runCommand(command, argv, { ...environmentOf(emulator), ...env });

  beforeAll(async () => {
    emulator = await startEmulator();
    root = String((await call(emulator, "POST", "/iam/v2/groups", { name: "org" }))["uid"]);
    await run(inventoryMain, ["--root", root, "-o", `json=${inventory}`]);
    writeFileSync(join(folder, "half.json"), '{ "schemaVersion": 1,');
    mkdirSync(join(folder, "project"));
    writeFileSync(join(folder, "project", "Pulumi.yaml"), "name: a\nruntime: nodejs\n");
  });
  afterAll(async () => {
    await emulator.close();
  });
  afterEach(() => expect(existsSync(out)).toBe(false));

  const ofInventory = ["--out", out, "--inventory", inventory];
  test.each([
    [["--root", NOBODY], "as in --out adopted (PP5004)"],
    [["--root", NOBODY, "--out", __filename], "is a file (PP5008)"],
    [["--root", NOBODY, "--out", join(__filename, "x")], "adopt.test.ts is a file (PP5008)"],
    [["--out", out], "--root is missing: give the uid or the name of the organisation"],
    [[...ofInventory, "--root", NOBODY], "conflict with --inventory; leave them out"],
    [[...ofInventory, "--types", "+Tag"], "conflict with --inventory; leave them out"],
    [[...ofInventory, "--only", NOBODY], `--only names ${NOBODY}, and nothing that was listed`],
    [[...ofInventory, "--only", "Foo"], "--only must be a uid or a kind"],
    [["--out", out, "--inventory", join(folder, "none.json")], "file or folder not found"],
    [["--out", out, "--inventory", join(folder, "half.json")], "half.json"],
    [[...ofInventory, "--by", "kind"], '--by must be team, not "kind"'],
    [[...ofInventory, "--write-state"], "--write-state belongs to --stack"],
    [[...ofInventory, "--stack", "prod", "--write-state"], "does not exist: run adopt without"],
    [
      ["--out", join(folder, "project/new"), "--inventory", inventory, "--stack", "prod", "--write-state"],
      "project/new does not exist: run adopt without",
    ],
    [
      ["--out", folder, "--inventory", inventory, "--stack", "prod", "--write-state"],
      "holds no Pulumi project: run adopt without",
    ],
  ])("%j ends with 2, in one line", async (argv, message) => {
    const ended = await run(main, argv);
    expect(ended).toMatchObject({ ...ending(2, message), stdout: "" });
    expect(ended.stderr.trim().split("\n")).toHaveLength(1);
  });

  const names = ["true", "null", "1e3", "x".repeat(101)];
  test.each(names)(
    "a folder that is called %s is a project of that name, as far as one may be",
    async (name) => {
      const { uid } = await call(emulator, "POST", "/iam/v2/groups", { name: `of-${name.slice(0, 9)}` });
      await call(emulator, "POST", `/iam/v2/groups/${String(uid)}`, { name: "team" });
      const project = join(folder, name);
      expect((await run(main, ["--root", String(uid), "--out", project])).code).toBe(0);
      const file: unknown = parse(readFileSync(join(project, "Pulumi.yaml"), "utf8"));
      expect(file).toMatchObject({ name: name.slice(0, 100), runtime: "nodejs" });
    },
  );

  test("a folder in which only the package is installed becomes a project, with its package.json as it is", async () => {
    const { uid } = await call(emulator, "POST", "/iam/v2/groups", { name: "installed" });
    await call(emulator, "POST", `/iam/v2/groups/${String(uid)}`, { name: "team" });
    const project = join(folder, "installed");
    const manifest = '{ "dependencies": { "pulumi-platform": "0.1.0" } }';
    mkdirSync(join(project, "node_modules"), { recursive: true });
    writeFileSync(join(project, "package.json"), manifest);
    expect((await run(main, ["--root", String(uid), "--out", project])).code).toBe(0);
    expect(readdirSync(project).sort()).toEqual([
      ".gitignore",
      "Pulumi.yaml",
      "index.ts",
      "node_modules",
      "package.json",
      "tsconfig.json",
    ]);
    expect(readFileSync(join(project, "package.json"), "utf8")).toBe(manifest);
  });

  test("a folder with other files becomes a project too, which keeps them, of the group that is asked for", async () => {
    const { uid } = await call(emulator, "POST", "/iam/v2/groups", { name: "whole" });
    const team = await call(emulator, "POST", `/iam/v2/groups/${String(uid)}`, { name: "team" });
    const project = join(folder, "with-others");
    mkdirSync(project);
    writeFileSync(join(project, ".gitignore"), "of ours\n");
    writeFileSync(join(project, "README.md"), "ours\n");
    const ended = await run(main, ["--root", String(team["uid"]), "--out", project]);
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining("1 resource is declared") });
    expect(existsSync(join(project, "Pulumi.yaml"))).toBe(true);
    expect(readFileSync(join(project, ".gitignore"), "utf8")).toBe("of ours\n");
    const program = readFileSync(join(project, "index.ts"), "utf8");
    expect(program).toMatch(new RegExp(`new Group\\("team", \\{[^}]*parentUid: "${String(uid)}"`));
    // Where there is a program and no project, that is the first step.
    const bare = join(folder, "bare");
    mkdirSync(bare);
    writeFileSync(join(bare, "index.ts"), "// ours\n");
    const { stdout } = await run(main, ["--root", String(team["uid"]), "--out", bare]);
    expect(stdout).toMatch(
      /^next, in .*bare:\n {2}npx --no pulumi-platform init {4}# there is no Pulumi\.yaml/m,
    );
  });

  test("a selection is written once, to a separate file if the program declares other resources", async () => {
    const make = async (path: string, name: string) =>
      String((await call(emulator, "POST", `/iam/v2/groups${path}`, { name }))["uid"]);
    const organisation = await make("", "selected");
    const [first, second] = [await make(`/${organisation}`, "one"), await make(`/${organisation}`, "two")];
    const program = join(folder, "selected");
    const adopt = async (...only: string[]) => {
      const flags = only.flatMap((uid) => ["--only", uid]);
      const { code, stdout } = await run(main, ["--root", organisation, "--out", program, ...flags]);
      const added = / import "\.\/adopted";$/m.test(stdout) ? { isAdded: true } : {};
      return { code, file: / declared in .*?([\w.]+)$/m.exec(stdout)?.[1], ...added };
    };
    const read = (file: string) => readFileSync(join(program, file), "utf8");
    expect(await adopt(first)).toEqual({ code: 0, file: "index.ts" });
    expect(await adopt(first)).toEqual({ code: 0, file: "index.ts" });
    const index = read("index.ts");
    const separate = { code: 0, file: "adopted.ts", isAdded: true };
    expect([await adopt(second), await adopt(second)]).toEqual([separate, separate]);
    expect(index).toContain("one");
    expect(read("adopted.ts")).toContain("two");
    const both = await run(main, [
      "--root",
      organisation,
      "--out",
      program,
      "--only",
      first,
      "--only",
      second,
    ]);
    expect(both).toMatchObject(
      ending(2, "adopted.ts exists with other content: give another name with --file"),
    );
  });

  test("what another stack manages is left out, and the stack named; what it only reads is adopted", async () => {
    const { uid } = await call(emulator, "POST", "/iam/v2/groups", { name: "shared" });
    const names = ["managed", "read", ...Array.from({ length: 20 }, (_, index) => `more-${index}`)];
    const uids = await Promise.all(
      names.map(
        async (name) => (await call(emulator, "POST", `/iam/v2/groups/${String(uid)}`, { name }))["uid"],
      ),
    );
    const [managed] = uids;
    const row = (name: string, id: unknown, external: boolean) => ({
      ...stateRow({ kind: "Group", name, uid: String(id), inputs: {} }),
      urn: `urn:pulumi:prod::other::pulumi-nodejs:dynamic/platform:Group::${name}`,
      external,
    });
    const state = join(folder, "other.json");
    const resources = names.map((name, index) => row(name, uids[index], name === "read"));
    writeFileSync(state, JSON.stringify({ version: 3, deployment: { resources } }));
    const program = join(folder, "shared");
    const { code, stdout } = await run(main, ["--root", String(uid), "--out", program, "--state", state]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        new RegExp(
          `^1 resource is declared [^]*\\nnext, in \\S+shared:[^]*\\n {2}pulumi stack init {4}# unless there is a stack already\\n {2}pulumi config set rootUid ${String(uid)}\\n[^]*stack other/prod manages it already:\\n(?: {4}Group "(?:managed|more-\\d+)" at shared .*\\n){20} {4}… and 1 more\\n`,
        ),
      ),
    });
    const text = readFileSync(join(program, "index.ts"), "utf8");
    expect(text).toContain('const organisation = config.require("rootUid");');
    expect(text).toContain('name: "read"');
    expect(text).not.toContain(String(uid));
    const only = ["--root", String(uid), "--out", out, "--state", state, "--only", String(managed)];
    expect((await run(main, only)).stdout).toMatch(
      new RegExp(
        `^there is nothing to adopt\\nskipped:\\n {2}stack other/prod .*:\\n {4}Group "managed" .*${String(managed)}\\)\\n`,
      ),
    );
  });

  test("an empty organisation is nothing to adopt, and no folder is created", async () => {
    const { code, stdout } = await run(main, ["--root", root, "--out", out, "-o", "json"]);
    expect({ code, document: JSON.parse(stdout) as unknown }).toEqual({
      code: 0,
      document: {
        schemaVersion: 1,
        complete: true,
        resources: 0,
        secrets: [],
        leftOut: expect.arrayContaining([expect.objectContaining({ kind: "Group", uid: root })]),
        notes: ["there is nothing to adopt"],
      },
    });
  });
});
