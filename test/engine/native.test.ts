import * as grpc from "@grpc/grpc-js";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb";
import type { LogRequest } from "@pulumi/pulumi/proto/engine_pb";
import { ResourceProviderClient } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { CheckRequest } from "@pulumi/pulumi/proto/provider_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { execFileSync, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { startEmulator } from "../../emulator";
import { parsePreview } from "../../provider/access/documents/preview";
import { main as adoptMain } from "../../provider/cli/commands/adopt/adopt";
import { kinds } from "../../provider/kinds";
import type { FieldSpec } from "../../provider/fields/fieldSpec";
import { runCommand } from "../provider/cli/support";
import { AllKinds, asIs, edited, editedLabels, stepsOf, writingOf } from "./support/allKinds";
import { CommandChain } from "../support/commandChain";
import { ROOT, Stack } from "../support/engine";
import type { Declaration } from "../support/engine";
import { languageHosts, testWithHosts } from "../support/languageHosts";
import { clean, compile } from "../support/tools";

/* The native plugin: what the form of dynamic resources cannot do, and how a stack changes between the two. */

const specOf = (kind: string) => kinds.find(({ spec }) => spec.kind === kind)?.spec;

describe("a stack that changes its form", () => {
  let all: AllKinds;

  let chain: CommandChain;
  let pack: string;
  let judgedBefore: Awaited<ReturnType<typeof judge>>;

  const withoutForm = (text: string) => text.replaceAll("pulumi-nodejs:dynamic/platform:", "platform:index:");

  /** What the commands and the policy pack say of a change by hand, and of one of the program, without the types. */
  const judge = async () => {
    const { stack } = all;
    const report = async (...argv: string[]) => {
      const { stdout, stderr } = await chain.run(...argv, "-o", "json");
      expect(stderr).not.toMatch(/failed/);
      const text = withoutForm(stdout).replaceAll(/("at": ?)"[^"]*"/g, '$1""');
      const { complete, summary, grants, trust, differences, findings, missing, unannounced } = JSON.parse(
        text,
      ) as Record<string, unknown>;
      return { complete, summary, grants, trust, differences, findings, missing, unannounced };
    };
    const ofStack = ["--stack", "test", "--cwd", stack.directory];
    const { kind = "", args = {} } = asIs["role"] ?? {};
    const capabilities = ["CAP_IAM_ROLES_UPDATE"];
    await all.updateByHand("role", { capabilities });
    const drift = await report("drift", ...ofStack);
    await all.updateByHand("role", { capabilities: args["capabilities"] });

    const binding = { parentUid: "${org}", identityUid: "${other}", roleUid: "${role}" };
    const more = { kind: "RoleBinding", args: binding };
    stack.declare({ ...asIs, role: { kind, args: { ...args, capabilities } }, more });
    const preview = await stack.succeed(["preview", "--json", "--show-sames"]);
    chain.write("preview.json", preview.stdout);
    const { output } = await stack.pulumi(["preview", "--policy-pack", pack]);
    stack.declare(asIs);
    const violations = withoutForm(output)
      .split("\n")
      .filter((line) => /\[(mandatory|advisory)\]/.test(line));
    expect(violations).not.toEqual([]);
    const inventory = chain.path("inventory.json");
    await chain.succeed([0], "inventory", "--root", all.uid("org"), "-o", `json=${inventory}`);
    const argv = ["review", chain.path("preview.json"), "--inventory", inventory];
    await chain.run(...argv, "-o", `json=${chain.path("review.json")}`);
    const verify = await report("verify", chain.path("review.json"), ...ofStack);
    const review = await report(...argv);
    for (const { findings } of [drift, review]) expect(findings).not.toEqual([]);
    return { drift, review, verify, violations: violations.sort() };
  };

  beforeAll(async () => {
    all = await AllKinds.start();
    chain = new CommandChain(all.emulator, undefined, () => all.stack.environment());
    pack = chain.path("pack");
    const filter = (path: string) => !path.includes("node_modules");
    cpSync(join(ROOT, "examples", "policy-pack"), pack, { recursive: true, filter });
    symlinkSync(join(ROOT, "node_modules"), join(pack, "node_modules"));
    judgedBefore = await judge();
  });

  afterAll(async () => {
    await all.close();
  });

  const prefixes = () =>
    new Set(Object.values(all.stack.recorded()).map(({ type }) => type.slice(0, type.lastIndexOf(":"))));

  test("takes another import, and writes nothing to the server", async () => {
    const { stack, emulator } = all;
    emulator.clearRequests();
    stack.useForm("native");
    await stack.succeed(["up", "--yes", "--skip-preview"]);
    expect(all.writes()).toEqual([]);
    expect(prefixes()).toEqual(new Set(["platform:index"]));
    await stack.succeed(["preview", "--refresh", "--expect-no-changes"]);
  });

  test("is judged as before by drift, review, verify and the policy pack", async () => {
    expect(await judge()).toEqual(judgedBefore);
  });

  test("keeps its rows when a newer plugin runs", async () => {
    const { stack } = all;
    // The engine writes dependencies in any order.
    const rows = async () =>
      Object.entries(await stack.ours()).map(([name, { id, type, inputs, outputs, provider, modified }]) => [
        name,
        { id, type, inputs, outputs, provider, modified },
      ]);
    const before = await rows();
    stack.installPlugin("0.2.0");
    await stack.succeed(["up", "--yes", "--skip-preview", "--expect-no-changes"]);
    expect((await rows()).sort()).toEqual(before.sort());
  });

  test("goes back, also without a write, and is refreshed and destroyed", async () => {
    const { stack, emulator } = all;
    // A refresh by the plugin takes the text of the dynamic form out of the state.
    await stack.succeed(["refresh", "--yes", "--skip-preview"]);
    emulator.clearRequests();
    stack.useForm("dynamic");
    await stack.succeed(["up", "--yes", "--skip-preview"]);
    expect(all.writes()).toEqual([]);
    expect(prefixes()).toEqual(new Set(["pulumi-nodejs:dynamic/platform"]));
    await stack.succeed(["refresh", "--yes", "--skip-preview", "--expect-no-changes"]);
    await stack.succeed(["destroy", "--yes", "--skip-preview"]);
    expect(Object.values(emulator.state()).flat()).toEqual([]);
  });
});

describe("a stack of a hundred objects, and pulumi import", () => {
  let all: AllKinds;
  let other: Stack;

  /** So many more teams, each with a role, that an organisation has a hundred objects. */
  const more = Object.fromEntries(
    Array.from({ length: 100 - Object.keys(asIs).length }, (_, index): [string, Declaration] => {
      const [number, isRole] = [index - (index % 2), index % 2 === 1];
      const [parentUid, name] = [isRole ? `\${team-${number}}` : "${org}", `more ${index}`];
      return isRole
        ? [`role-${index}`, { kind: "Role", args: { parentUid, name, capabilities: ["CAP_REPO_LIST"] } }]
        : [`team-${index}`, { kind: "Group", args: { parentUid, name, description: "One of many" } }];
    }),
  );

  beforeAll(async () => {
    all = await AllKinds.start({}, "native", more);
    const { emulator, stack } = all;
    other = await new Stack({ url: emulator.url, token: emulator.token }).init();
    other.useForm("native");
    const resources = Object.entries(stack.recorded()).map(([name, { type, id }]) => ({ type, name, id }));
    expect(resources).toHaveLength(100);
    const declared = Object.values(asIs).map(({ kind }) => kind);
    for (const { spec } of kinds) expect(declared).toContain(spec.kind);
    writeFileSync(join(other.directory, "import.json"), JSON.stringify({ resources }));
    emulator.clearRequests();
    const code = languageHosts === "" ? ["--generate-code=false"] : ["--out", "generated.ts"];
    await other.succeed(["import", "--file", "import.json", "--yes", "--protect=false", ...code], {
      PATH: `${join(languageHosts, "code")}${delimiter}${other.environment()["PATH"] ?? ""}`,
    });
  });

  afterAll(async () => {
    other.dispose();
    await all.close();
  });

  const left = async () => {
    const { stdout } = await other.succeed(["preview", "--json"]);
    const steps = stepsOf(stdout).filter(({ op, urn }) => op !== "same" && urn.includes("platform:index:"));
    return steps.map(({ op, name }) => `${op} ${name}`).sort();
  };
  const isCreateOnly = (kind: string) =>
    Object.values(specOf(kind)?.outputs ?? {}).some(({ createOnly }) => createOnly);

  test("takes over a hundred objects of every kind; only what the API never returns is left to do", async () => {
    expect(all.writes()).toEqual([]);
    // The server has a form of its own for what is normalized.
    const isUntold = (fields: Readonly<Record<string, FieldSpec>>, given: object): boolean =>
      Object.entries(given).some(([key, value]: [string, unknown]) => {
        const field = fields[key];
        if (field?.inputOnly || field?.normalized) return true;
        return field?.type === "object" && value !== null && isUntold(field.fields, value as object);
      });
    // A label is the program's own: an import cannot know it.
    const hasLabels = (kind: string) => kind === "GroupAccess";
    const lost = Object.entries(asIs).flatMap(([name, { kind, args }]) => {
      if (isCreateOnly(kind)) return [`replace ${name}`];
      return hasLabels(kind) || isUntold(specOf(kind)?.fields ?? {}, args) ? [`update ${name}`] : [];
    });
    other.declare({ ...asIs, ...more });
    expect(await left()).toEqual(lost.sort());
  });

  test("adopt --native writes a program that changes nothing", async () => {
    const { url, token } = all.emulator;
    const [root, out] = [all.uid("org"), join(other.directory, "adopted")];
    const env = { PULUMI_NODEJS_TRANSPILE_ONLY: "true" };
    const adopted = new Stack({ url, token, directory: out, env });
    const adopt = (...more: string[]) =>
      runCommand(adoptMain, ["--root", root, "--out", out, "--native", ...more], adopted.environment());
    try {
      const { stdout } = await adopt();
      symlinkSync(join(ROOT, "node_modules"), join(out, "node_modules"));
      await adopted.useForm("native").init();
      await adopted.succeed(["config", "set", "rootUid", root]);
      for (const [, key = ""] of stdout.matchAll(/pulumi config set --secret (\w+)/g))
        await adopted.succeed(["config", "set", "--secret", key, "hush"]);
      expect(await adopt("--stack", "test", "--write-state")).toMatchObject({ code: 0, stderr: "" });
      all.emulator.clearRequests();
      await adopted.up("--expect-no-changes");
      expect(all.writes()).toEqual([]);
      const types = new Set(Object.values(adopted.recorded()).map(({ type }) => type.replace(/:\w+$/, "")));
      expect(types).toEqual(new Set(["platform:index"]));
    } finally {
      adopted.dispose();
    }
  });

  testWithHosts("prints code of each kind that compiles, and that changes nothing", async () => {
    const code = readFileSync(join(other.directory, "generated.ts"), "utf8");
    for (const { spec } of kinds) expect(code).toContain(`new platform.${spec.kind}(`);
    // No invite tells how long it was meant to last.
    const program = code.replaceAll('ttl: ""', 'ttl: "1h"');
    other.files({
      "generated.ts": program,
      "index.js": "require('./generated.js');\n",
      "tsconfig.json": JSON.stringify({
        compilerOptions: { strict: true, target: "es2022", module: "node16", skipLibCheck: true },
        files: ["generated.ts"],
      }),
    });
    expect(compile(other.directory)).toEqual(clean);
    const replaced = Object.entries(asIs).filter(([, { kind }]) => isCreateOnly(kind));
    expect(await left()).toEqual(replaced.map(([name]) => `replace ${name}`).sort());
  });

  test("a changed field is one write of each resource, and a destroy leaves nothing", async () => {
    const { emulator, stack } = all;
    emulator.clearRequests();
    stack.declare({ ...edited, ...more });
    await stack.up();
    expect(all.methods()).toEqual(
      editedLabels.map((label) => writingOf(label)?.update.method ?? "PATCH").sort(),
    );
    await stack.succeed(["destroy", "--yes", "--skip-preview"]);
    expect(Object.values(emulator.state()).flat()).toEqual([]);
  });
});

test("two providers of one program write to two addresses", async () => {
  const [one, two] = [await startEmulator(), await startEmulator()];
  const stack = await new Stack({ url: one.url, token: one.token }).init();
  try {
    stack.useForm("native").files({
      "index.js": `
        const pulumi = require("@pulumi/pulumi");
        const platform = require("pulumi-platform/native");
        const provider = new platform.Provider("second", { baseUrl: ${JSON.stringify(two.url)}, token: ${JSON.stringify(two.token)}, maxRetries: 1 });
        new platform.Group("first", { name: "first" });
        const second = new platform.Group("second", { name: "second" }, { provider });
        // Not by the class of the package, which marks secrets itself.
        const role = new platform.Role("reader", { parentUid: second.id, name: "reader", capabilities: ["CAP_IAM_GROUPS_LIST"] }, { provider });
        new pulumi.CustomResource("platform:index:IdentityProvider", "login", {
          parentUid: second.id,
          name: "login",
          defaultRole: role.id,
          oidc: { issuer: "https://login.example.com", clientId: "platform", clientSecret: "not-to-be-seen" },
        }, { provider });
      `,
    });
    await stack.up();
    const names = (emulator: typeof one) => (emulator.state()["groups"] ?? []).map(({ name }) => name);
    expect([names(one), names(two)]).toEqual([["first"], ["second"]]);
    for (const secret of [two.token, "not-to-be-seen"]) expect(stack.everyByte()).not.toContain(secret);
    await stack.succeed(["preview", "--refresh", "--expect-no-changes"]);
    // What a provider of its own manages may be anywhere, so the review does not take it for reviewed.
    const { stdout } = await stack.succeed(["preview", "--json", "--show-sames"]);
    const unreviewed = parsePreview(stdout, "preview").steps.filter(
      ({ after }) => after?.notReviewed !== undefined,
    );
    expect(unreviewed.map(({ urn }) => urn.slice(urn.lastIndexOf("::") + 2)).sort()).toEqual([
      "login",
      "reader",
      "second",
    ]);
    await stack.succeed(["destroy", "--yes", "--skip-preview"]);
    expect([names(one), names(two)]).toEqual([[], []]);
  } finally {
    stack.dispose();
    await Promise.all([one.close(), two.close()]);
  }
});

describe("the plugin's process", () => {
  const logged: string[] = [];
  const lines = new EventEmitter();

  /** The plugin's processes of a stack. */
  const pluginsOf = (stack: Stack): string[] => {
    const folder = join(stack.environment()["PULUMI_HOME"] ?? "", "plugins");
    const processes = execFileSync("ps", ["-A", "-o", "args="], { encoding: "utf8" }).split("\n");
    return processes.filter((line) => line.includes(folder));
  };

  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) await new Promise((done) => setTimeout(done, 50));
  };

  /** What a dependency may do: print, and be warned of. */
  const noise = `data:text/javascript,${encodeURIComponent(
    `setImmediate(() => { console.log("printed by a dependency"); process.emitWarning("warned of"); });`,
  )}`;

  /** An engine that only takes log lines, and the plugin that it has started. */
  async function startPlugin() {
    const engine = new grpc.Server();
    engine.addService(EngineService, {
      log: (call: { request: LogRequest }, callback: grpc.sendUnaryData<Empty>) => {
        logged.push(call.request.getMessage());
        lines.emit("line");
        callback(null, new Empty());
      },
    });
    const port = await new Promise<number>((done, failed) => {
      engine.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
        error ? failed(error) : done(bound),
      );
    });
    const plugin = join(ROOT, "dist/plugin/pulumi-resource-platform");
    const env = { ...process.env, NODE_OPTIONS: `--import ${noise}` };
    const child = spawn(plugin, [`127.0.0.1:${port}`], { env });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    await once(child.stdout, "data");
    const client = new ResourceProviderClient(
      `127.0.0.1:${stdout.trim()}`,
      grpc.credentials.createInsecure(),
    );
    return { engine, child, client, stdout: () => stdout, stderr: () => stderr };
  }

  test("prints its port only, warns through the engine, and ends with a killed engine", async () => {
    const { engine, child, client, stdout, stderr } = await startPlugin();
    const ended = once(child, "exit");
    const request = new CheckRequest()
      .setUrn("urn:pulumi:test::test::platform:index:Role::reader")
      .setNews(Struct.fromJavaScript({ name: "Reader?", capabilities: ["CAP_NO_SUCH"] }));
    const failures = await new Promise((done, failed) => {
      client.check(request, (error, response) =>
        error ? failed(error) : done(response.getFailuresList().map((failure) => failure.getReason())),
      );
    });
    expect(failures).toEqual([expect.stringMatching(/\(PP1001\)$/)]);
    // The answer does not wait for the lines: they come at last, or the test hangs.
    while (!logged.some((line) => /^name: "Reader\?" may be refused/.test(line))) await once(lines, "line");
    client.close();
    engine.forceShutdown();
    expect(await ended).toEqual([0, null]);
    expect(stdout()).toMatch(/^\d+\n$/);
    for (const line of ["printed by a dependency", "warned of"]) expect(stderr()).toContain(line);
  });

  // The engine interrupts a plugin that it needs no more, and waits for five seconds before it kills it.
  test("answers after SIGINT while the engine is connected, and then ends", async () => {
    const { engine, child, client } = await startPlugin();
    const ended = once(child, "exit");
    const ask = () =>
      new Promise((done, failed) => {
        client.getPluginInfo(new Empty(), (error, response) =>
          error ? failed(error) : done(response.getVersion()),
        );
      });
    const version = await ask();
    child.kill("SIGINT");
    await expect(ask()).resolves.toBe(version);
    client.close();
    expect(await ended).toEqual([0, null]);
    engine.forceShutdown();
  });

  test.each(["SIGINT", "SIGKILL"] as const)("a run that gets %s leaves no plugin behind", async (signal) => {
    const emulator = await startEmulator();
    const stack = await new Stack({ url: emulator.url, token: emulator.token }).init();
    try {
      stack.useForm("native").declare({
        slow: { kind: "Group", args: { name: "slow" } },
        later: { kind: "Group", args: { parentUid: "${slow}", name: "later" } },
      });
      const create = emulator.addFault({ method: "POST", path: "/iam/v2/groups", latencyMs: 3000 });
      const args = ["up", "--yes", "--skip-preview", "--non-interactive"];
      const up = spawn("pulumi", args, { cwd: stack.directory, env: stack.environment(), detached: true });
      const ended = once(up, "close");
      await until(() => create.hits > 0);
      expect(pluginsOf(stack)).toHaveLength(1);
      // A terminal interrupts every process; who kills the engine does not.
      process.kill(signal === "SIGINT" ? -(up.pid ?? 0) : (up.pid ?? 0), signal);
      await ended;
      await until(() => pluginsOf(stack).length === 0);
      // An interrupted engine records what was under way, and begins nothing more.
      const recorded = signal === "SIGINT" ? ["slow"] : [];
      expect(Object.keys(stack.ids())).toEqual(recorded);
      if (signal === "SIGINT") expect(emulator.state()["groups"]).toMatchObject([{ name: "slow" }]);
    } finally {
      stack.dispose();
      await emulator.close();
    }
  });
});
