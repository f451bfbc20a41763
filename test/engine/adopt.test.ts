import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import type { Inventory } from "../../provider/access/documents/inventory";
import { parseInventory } from "../../provider/access/documents/inventory";
import type { EffectiveAccess } from "../../provider/access/graph/effectiveAccess";
import type { DriftReport, ReviewReport } from "../../provider/access/report/report";
import { main } from "../../provider/cli/commands/adopt/adopt";
import { main as inventoryMain } from "../../provider/cli/commands/inventory";
import { runCommand } from "../provider/cli/support";
import type { Ended } from "../provider/cli/support";
import { makeSamples } from "../support/byHand";
import { ROOT, Stack } from "../support/engine";
import { builtInRoles, randomOrganisation, small } from "../support/organisation";
import { CommandChain } from "../support/commandChain";
import { folderWithPackage, isShell, readPage } from "../support/pages";
import { run as runProcess } from "../support/project";
import { clean, compile, lint } from "../support/tools";
import { call, create } from "../support/wire";
import { temporaryFolder } from "../support/folders";

const NOW = "2026-06-01T00:00:00Z";
/** A check of types takes seconds: the compiler itself checks the programs, once each. */
const UNCHECKED = { PULUMI_NODEJS_TRANSPILE_ONLY: "true" };
const TYPES = "+Tag,+RepoReadme,+TermsAcceptance";

describe("adopt, through the real engine", () => {
  const folder = temporaryFolder();
  const out = join(folder, "adopted");
  let emulator: Emulator;
  let stack: Stack;
  let chain: CommandChain;
  let root: string;

  const adopt = (...more: string[]): Promise<Ended> =>
    runCommand(main, ["--root", root, "--out", out, "--by", "team", ...more], {
      ...stack.environment(),
      PLATFORM_BASE_URL: emulator.url,
      PLATFORM_TOKEN: emulator.token,
    });
  const writes = () => emulator.requests.filter(({ method }) => method !== "GET");

  beforeAll(async () => {
    const organisation = randomOrganisation(5, { ...small, bindings: 6 }, await builtInRoles());
    root = organisation.root;
    // A provider that cannot be without its secret.
    const [provider] = organisation.seed["identityProviders"] as { oidc: Record<string, unknown> }[];
    if (provider)
      provider.oidc = { issuer: "https://login.example.com", clientId: "x", clientSecret: "hush" };
    emulator = await startEmulator({ seed: organisation.seed });
    stack = new Stack({ url: emulator.url, token: emulator.token, directory: out, env: UNCHECKED });
    chain = new CommandChain(emulator, undefined, () => stack.environment());
    const listing = ["inventory", "--root", root, "--types", TYPES, "-o"];
    await chain.succeed([0], ...listing, `json=${chain.path("inventory.json")}`);
  });

  afterAll(async () => {
    await emulator.close();
    stack.dispose();
  });

  test("writes a project and its state, after which a preview shows no change, and writes nothing to the API", async () => {
    const first = await adopt();
    expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: "" });
    expect(first.stdout).toMatch(/^\d+ resources are declared in .*index\.ts, .*\.ts\n/);
    expect(first.stdout).toMatch(/its code is returned only at creation:\n +GroupInvite /);
    expect(first.stdout).toMatch(/set this secret: pulumi config set --secret \w+ClientSecret --cwd .*\n/);
    expect(readFileSync(join(out, "teams", "shared.ts"), "utf8")).toContain("new pulumi.ComponentResource(");
    expect(readdirSync(out).sort()).toEqual([
      ...[".gitignore", "Pulumi.yaml", "index.ts", "package.json", "teams", "tsconfig.json"],
    ]);
    // No registry has the package: the printed commands add it, from the checkout.
    expect(readFileSync(join(out, "package.json"), "utf8")).not.toContain("pulumi-platform");
    expect(first.stdout).toMatch(
      /\n {2}\(cd \S+ && npm pack\) && cp \S+\.tgz \.\n {2}npm install \.\/pulumi-platform-\S+\.tgz\n/,
    );
    symlinkSync(join(ROOT, "node_modules"), join(out, "node_modules"));
    // What the page of the native plugin has a program import.
    const native = join(out, "native.ts");
    writeFileSync(native, 'export { Group } from "pulumi-platform/native";\n');
    expect(compile(out)).toEqual(clean);
    rmSync(native);
    await stack.init();

    const unset = await adopt("--stack", "test", "--write-state");
    expect(unset.code).toBe(2);
    const [, key = ""] = /pulumi config set --secret (\w+)/.exec(unset.stderr) ?? [];
    await stack.succeed(["config", "set", "--secret", key, "hush"]);
    expect(unset.stderr).toContain(`pulumi config set rootUid ${root} --stack test`);
    await stack.succeed(["config", "set", "rootUid", root]);

    const done = await adopt("--stack", "test", "--write-state");
    expect({ code: done.code, stderr: done.stderr }).toEqual({ code: 0, stderr: "" });
    expect(done.stdout).toMatch(
      /\d+ resources are in the state of test; backup of the state before: .*before-adopt\.json/,
    );
    const plan = ["--save-plan", chain.path("plan.json")];
    const preview = ["preview", "--json", "--show-sames", "--expect-no-changes", ...plan];
    chain.write("preview.json", (await stack.succeed(preview)).stdout);
    chain.write("state.json", (await stack.succeed(["stack", "export"])).stdout);
    const unprotected = Object.values(await stack.ours()).filter(({ protect }) => protect !== true);
    expect(unprotected.map(({ urn }) => urn)).toEqual([]);
    await stack.succeed(["refresh", "--preview-only", "--expect-no-changes"]);
    await stack.up("--expect-no-changes");
    expect(writes()).toEqual([]);
    expect(stack.everyByte()).not.toContain('"hush"');
  });

  const documents = (): string[] => ["--inventory", chain.path("inventory.json"), "--now", NOW];
  const review = async (...more: string[]): Promise<ReviewReport> => {
    const argv = ["review", chain.path("preview.json"), ...documents(), ...more];
    const text = await chain.succeed([0], ...argv, "-o", "json");
    chain.write("review.json", text);
    return JSON.parse(text) as ReviewReport;
  };
  /** Who holds which role where. */
  const grantsIn = async (...argv: string[]): Promise<string[]> => {
    const text = await chain.succeed([0], "access", ...argv, "-o", "json");
    const { access } = JSON.parse(text) as EffectiveAccess;
    return access
      .map(({ grant: { subject, role, group } }) => `${subject.displayName}: ${role.name} at ${group.path}`)
      .sort();
  };
  const expectSameGrants = async (...argv: string[]): Promise<void> => {
    const live = ["--inventory", chain.path("inventory.json")];
    const grants = await grantsIn(...live);
    expect(grants).not.toEqual([]);
    expect(await grantsIn(...live, ...argv)).toEqual(grants);
  };
  /** Drift finds what `adopt` said that it leaves out, and nothing else. */
  const expectOnlyLeftOut = async (...argv: string[]): Promise<void> => {
    const text = await chain.succeed([7], "drift", ...argv, "--root", root, "-o", "json");
    const { complete, differences } = JSON.parse(text) as DriftReport;
    const { leftOut } = JSON.parse((await adopt("-o", "json")).stdout) as { leftOut: { uid: string }[] };
    const uids = leftOut.map(({ uid }) => uid);
    expect(complete).toBe(true);
    expect(differences.filter(({ kind, uid }) => kind !== "unmanaged" || !uids.includes(uid))).toEqual([]);
  };
  const expectVerified = async (...argv: string[]): Promise<void> => {
    await review("--plan", chain.path("plan.json"));
    const text = await chain.succeed([0], "verify", chain.path("review.json"), ...argv, "-o", "json");
    expect(JSON.parse(text)).toMatchObject({ complete: true, failing: 0, grants: [] });
  };
  /** `watch` reads the stack before it listens, and ends where it cannot. */
  const expectWatched = async (...argv: string[]): Promise<void> => {
    const at = ["--group", root, "--issuer", emulator.url, "--listen", new URL(emulator.url).host];
    const { code, stderr } = await chain.run("watch", ...argv, ...at);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/^[^\n]*cannot listen \(PP5010\)\n$/),
    });
  };
  const ofStack = ["--stack", "test", "--cwd", out];

  /** After an adoption each command that reads the project says the same: nobody's access changes. */
  const cases: Readonly<Record<string, () => Promise<unknown>>> = {
    "adopt --out -> pulumi preview --json -> review <preview>": async () => {
      const report = await review();
      const none = { gained: 0, lost: 0, widened: 0, narrowed: 0 };
      expect(report).toMatchObject({ complete: true, summary: none, grants: [], trust: [], findings: [] });
      expect(report.summary.unchanged).toBeGreaterThan(0);
      const argv = ["review", chain.path("preview.json"), ...documents()];
      expect(await chain.succeed([0], ...argv)).toContain("Passes: no change of access, no finding");
    },
    "adopt --out -> pulumi stack export -> review --before": async () => {
      const { summary, grants, findings } = await review();
      const withState = await review("--before", chain.path("state.json"));
      expect(withState).toMatchObject({ complete: true, summary, grants, findings });
    },
    "adopt --out -> pulumi preview --save-plan -> review --plan": async () => {
      expect((await review("--plan", chain.path("plan.json"))).plan?.digest).toMatch(/^[0-9a-f]{64}$/);
    },
    "adopt --out -> review --project": async () => {
      expect((await review("--project", out)).complete).toBe(true);
    },
    "adopt --out -> pulumi preview --json -> access --preview": () =>
      expectSameGrants("--preview", chain.path("preview.json")),
    "adopt --out -> pulumi stack export -> access --state": () =>
      expectSameGrants("--state", chain.path("state.json")),
    "adopt --out -> pulumi stack export -> drift --state": () =>
      expectOnlyLeftOut("--state", chain.path("state.json")),
    "adopt --out -> drift --cwd": () => expectOnlyLeftOut(...ofStack),
    "adopt --out -> pulumi stack export -> verify --state": () =>
      expectVerified("--state", chain.path("state.json")),
    "adopt --out -> pulumi preview --save-plan -> verify --plan": () =>
      expectVerified("--plan", chain.path("plan.json"), "--state", chain.path("state.json")),
    "adopt --out -> verify --cwd": () => expectVerified(...ofStack),
    "adopt --out -> pulumi stack export -> watch --state": () =>
      expectWatched("--state", chain.path("state.json")),
    "adopt --out -> watch --cwd": () => expectWatched(...ofStack),
    "adopt --out -> pulumi stack export -> adopt --state": async () => {
      const again = ["--out", chain.path("again"), "--state", chain.path("state.json"), "-o", "json"];
      const text = await chain.succeed([0], "adopt", "--inventory", chain.path("inventory.json"), ...again);
      const { leftOut } = JSON.parse(text) as { leftOut: { uid: string; reason: string }[] };
      const left = new Set(leftOut.map(({ uid }) => uid));
      const managed = Object.values(await stack.ours()).flatMap(({ id }) => id ?? []);
      expect(managed.length).toBeGreaterThan(10);
      expect(managed.filter((uid) => !left.has(uid))).toEqual([]);
    },
    "adopt --out -> adopt --out": async () => {
      const before = readFileSync(join(out, "index.ts"), "utf8");
      expect((await adopt()).code).toBe(0);
      expect(readFileSync(join(out, "index.ts"), "utf8")).toBe(before);
    },
  };

  test.each(Object.entries(cases))("%s", async (_pair, run) => {
    await run();
    expect(writes()).toEqual([]);
  });

  test("adopts newer objects into the same stack, and changes no others", async () => {
    const name = { name: "made by hand", capabilities: ["CAP_REPO_LIST"] };
    const role = await create(emulator, `/iam/v2/roles/${root}`, name);
    const before = await stack.resources();
    const index = readFileSync(join(out, "index.ts"), "utf8");

    const apart = await adopt("--stack", "test", "--write-state", "--only", role);
    expect(apart.code).toBe(2);
    expect(apart.stderr).toContain('the preview creates no Role "made-by-hand"');
    expect(await stack.resources()).toEqual(before);

    appendFileSync(join(out, "index.ts"), '\nimport "./adopted";\n');
    emulator.clearRequests();
    const done = await adopt("--stack", "test", "--write-state", "--only", role);
    expect({ code: done.code, stderr: done.stderr }).toEqual({ code: 0, stderr: "" });
    const after = await stack.resources();
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.slice(before.length).map(({ id }) => id)).toEqual([role]);
    expect(writes()).toEqual([]);
    expect(readFileSync(join(out, "index.ts"), "utf8").startsWith(index)).toBe(true);

    const nothing = await adopt("--stack", "test", "--write-state", "--only", role);
    expect(nothing.stdout).toMatch(
      /^there is nothing to adopt\nskipped:\n {2}the stack manages it already:\n {4}/,
    );
  });
});

/* Commands are pasted into a shell, in the folder above the program. */
describe("adopt of the rest, into a stack that manages a part", () => {
  const folder = folderWithPackage("adopt");
  const out = join(folder, "organisation");
  let emulator: Emulator;
  let stack: Stack;
  let root = "";

  const paste = async (...lines: string[]): Promise<string> => {
    const env = { ...stack.environment(), PLATFORM_ROOT_GROUP: root };
    const { code, output } = await runProcess("bash", ["-e", "-c", lines.join("\n")], { cwd: folder, env });
    expect({ code, output: code === 0 ? "" : output }).toEqual({ code: 0, output: "" });
    return output;
  };
  /** A group and a role in it, whose name a role of the stack has; their uids. */
  const makeByHand = async (name: string): Promise<string[]> => {
    const group = await create(emulator, `/iam/v2/groups/${root}`, { name });
    const role = { name: "reader", capabilities: ["CAP_REPO_LIST"] };
    return [group, await create(emulator, `/iam/v2/roles/${group}`, role)];
  };
  const writes = () => emulator.requests.filter(({ method }) => method !== "GET");

  beforeAll(async () => {
    mkdirSync(out);
    symlinkSync(join(folder, "node_modules"), join(out, "node_modules"));
    emulator = await startEmulator();
    stack = new Stack({ url: emulator.url, token: emulator.token, directory: out, env: UNCHECKED });
    stack.files({
      "Pulumi.yaml": "name: acme\nruntime: nodejs\n",
      "package.json": '{ "name": "acme", "dependencies": { "pulumi-platform": "*" } }',
      "index.ts": `import { Group, Role } from "pulumi-platform";
const acme = new Group("acme", { name: "acme" });
new Role("reader", { parentUid: acme.id, name: "reader", capabilities: ["CAP_REPO_LIST"] });
`,
    });
    await stack.init();
    await stack.up();
    root = stack.ids()["acme"] ?? "";
  });

  afterAll(async () => {
    await emulator.close();
    stack.dispose();
  });

  test("the commands of the page", async () => {
    const made = await makeByHand("payments");
    emulator.clearRequests();
    const commands = readPage("docs/tasks/adopt.md").fences.filter(
      (fence) => isShell(fence) && fence.title === "Adopt the rest into a stack",
    );
    const printed = await paste(
      ...commands.map(({ text }) => text.replaceAll("--stack prod", "--stack test")),
    );
    expect(printed).toContain("2 resources are declared in organisation/adopted.ts\n");
    expect(printed).toContain("2 resources are in the state of test; backup");
    expect(Object.values(stack.ids())).toEqual(expect.arrayContaining([root, ...made]));
    expect(writes()).toEqual([]);
  });
});

/*
 * Many random organisations and one with every field of every kind, side by side at one server and adopted into one
 * stack. PULUMI_PLATFORM_SEEDS=50 takes as many.
 */
describe("adopt of many organisations, through the real engine", () => {
  const seeds = Array.from(
    { length: Number(process.env["PULUMI_PLATFORM_SEEDS"] ?? "4") },
    (_, i) => 200 + i,
  );
  const folder = temporaryFolder();
  const out = join(folder, "adopted");
  const document = join(folder, "all.json");
  const roots: string[] = [];
  let emulator: Emulator;
  let stack: Stack;

  const run = (main: (argv: readonly string[]) => Promise<number>, ...argv: string[]): Promise<Ended> =>
    runCommand(main, argv, {
      ...stack.environment(),
      PLATFORM_BASE_URL: emulator.url,
      PLATFORM_TOKEN: emulator.token,
    });
  const succeed = async (
    main: (argv: readonly string[]) => Promise<number>,
    ...argv: string[]
  ): Promise<string> => {
    const { code, stdout, stderr } = await run(main, ...argv);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return stdout;
  };
  const writes = () => emulator.requests.filter(({ method }) => method !== "GET");

  beforeAll(async () => {
    const builtIn = await builtInRoles();
    const organisations = seeds.map((seed) => randomOrganisation(seed, small, builtIn));
    const collections = [...new Set(organisations.flatMap(({ seed }) => Object.keys(seed)))];
    emulator = await startEmulator({
      seed: Object.fromEntries(
        collections.map((name) => [name, organisations.flatMap(({ seed }) => seed[name] ?? [])]),
      ),
    });
    const ids = await makeSamples(emulator);
    await call(emulator, "PATCH", `/iam/v2/groups/${ids["root"] ?? ""}?updateMask=verified`, {
      verified: true,
    });
    roots.push(...organisations.map(({ root }) => root));
    roots.push(...Object.values(ids).filter((uid) => !uid.includes("/") && !builtIn.includes(uid)));
    stack = new Stack({ url: emulator.url, token: emulator.token, directory: out, env: UNCHECKED });
    emulator.clearRequests();
  });

  afterAll(async () => {
    await emulator.close();
    stack.dispose();
  });

  test("writes the same bytes each time, which strict types and the recommended lint rules let pass", async () => {
    const each = join(folder, "each");
    const inventories: Inventory[] = [];
    for (const [i, root] of roots.entries()) {
      const inventory = join(folder, `${i}.json`);
      await succeed(inventoryMain, "--root", root, "--types", TYPES, "-o", `json=${inventory}`);
      inventories.push(parseInventory(readFileSync(inventory, "utf8"), inventory));
      const adopt = ["--root", root, "--types", TYPES, "--out", each];
      await succeed(main, ...adopt, "--file", `org${i}.ts`);
      // A file that holds something else is not written over.
      await succeed(main, ...adopt, "--file", `org${i}.ts`);
      await succeed(main, ...adopt, "--file", `org${i}ByTeam.ts`, "--by", "team");
    }
    const objects = inventories.flatMap(({ objects }) => objects);
    const seen = new Map(objects.map((object) => [`${object.kind} ${object.uid}`, object]));
    writeFileSync(document, JSON.stringify({ ...inventories[0], objects: [...seen.values()] }));
    await succeed(main, "--inventory", document, "--out", out);
    for (const one of [each, out]) symlinkSync(join(ROOT, "node_modules"), join(one, "node_modules"));
    cpSync(join(out, "index.ts"), join(each, "all.ts"));
    expect(compile(each)).toEqual(clean);
    expect(lint(each)).toEqual(clean);
  });

  test("leads to a preview without changes, and writes nothing to the API", async () => {
    await stack.init();
    const adopt = ["--inventory", document, "--out", out];
    const set = /config set --secret (\w+)/g;
    const keys = [...(await succeed(main, ...adopt)).matchAll(set)].map(([, key = ""]) => key);
    expect(keys).not.toEqual([]);
    const secrets = keys.flatMap((key) => ["--secret", `${key}=hush`]);
    await stack.succeed(["config", "set-all", ...secrets, "--plaintext", `rootUid=${roots[0] ?? ""}`]);
    const before = readFileSync(join(out, "index.ts"), "utf8");
    await succeed(main, ...adopt, "--stack", "test", "--write-state");
    await stack.succeed(["refresh", "--preview-only", "--expect-no-changes"]);
    expect(writes()).toEqual([]);
    await succeed(main, ...adopt);
    expect(readFileSync(join(out, "index.ts"), "utf8")).toBe(before);
  });
});
