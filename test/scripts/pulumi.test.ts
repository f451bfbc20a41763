import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import {
  evaluate,
  isRunning,
  projectRoot,
  removeTemporaryFolders,
  script,
  start,
  temporaryFolder,
  until,
  writeFiles,
  writeProgram,
} from "./support";

afterAll(removeTemporaryFolders);

test.each([
  ["3.219.9", "older than 3.220.0"],
  ["3.220.0", null],
  ["3.1000.0", null],
  ["4.0.0", "of a later major version"],
])("%s: %s", async (version, problem) => {
  expect(await evaluate("lib/findPulumi.mjs", `m.versionProblem(${JSON.stringify(version)})`)).toBe(problem);
});

test.each([
  [{ PULUMI_PLATFORM_CACHE: "/a", XDG_CACHE_HOME: "/b", HOME: "/c" }, "/a"],
  [{ XDG_CACHE_HOME: "/b", HOME: "/c" }, "/b/pulumi-platform"],
  [{ XDG_CACHE_HOME: "", HOME: "/c" }, "/c/.cache/pulumi-platform"],
])("the cache with %j is %s", async (env, folder) => {
  expect(await evaluate("lib/files.mjs", `m.cacheRoot(${JSON.stringify(env)})`)).toBe(folder);
});

test("the pins agree with the SDK, and a changed pin is another cache folder", async () => {
  const sdk = JSON.parse(
    readFileSync(path.join(projectRoot, "node_modules/@pulumi/pulumi/package.json"), "utf8"),
  ) as { version: string };
  const entries = async (root: string) =>
    (await evaluate(
      "lib/pulumiCache.mjs",
      `m.cacheEntries(${JSON.stringify(root)}, { HOME: "/home" })`,
    )) as Record<string, string>;
  const real = await entries(projectRoot);
  expect(real.version).toBe(sdk.version);

  const one = await entries(checkout());
  const root = checkout();
  expect(await entries(root)).toEqual(one);
  writeFiles(root, { "scripts/cli/language-nodejs/go.sum": "changed" });
  expect((await entries(root)).go).not.toBe(one.go);
  const added = checkout();
  writeFiles(added, { "scripts/cli/language-nodejs/added.go": "package main" });
  expect((await entries(added)).go).not.toBe(one.go);
});

function checkout(): string {
  const root = temporaryFolder();
  const mod = (tool: string) =>
    `module x\n\ngo 1.25\n\ntool example.org/${tool}\n\nrequire github.com/pulumi/pulumi/sdk/v3 v3.230.0\n`;
  writeFiles(root, {
    "scripts/cli/pulumi/go.mod": mod("pulumi"),
    "scripts/cli/pulumi/go.sum": "",
    "scripts/cli/language-nodejs/go.mod": mod("pulumi-language-nodejs"),
    "scripts/cli/language-nodejs/go.sum": "",
  });
  return root;
}

const companions = ["pulumi-language-nodejs", "pulumi-resource-pulumi-nodejs"];

function writeCli(folder: string, version: string, without: string[] = []): string {
  writeProgram(path.join(folder, "pulumi"), `console.log(${JSON.stringify(version)});`);
  for (const name of companions) {
    if (!without.includes(name)) writeProgram(path.join(folder, name), "");
  }
  return folder;
}

interface SetupContext {
  root: string;
  env: { PATH: string; PULUMI_PLATFORM_CACHE: string };
}

function surroundings(...searchPath: string[]): SetupContext {
  const cache = path.join(temporaryFolder(), "cache");
  return {
    root: checkout(),
    env: { PATH: searchPath.join(path.delimiter), PULUMI_PLATFORM_CACHE: cache },
  };
}

async function cacheEntry(at: SetupContext, kind: "go" | "official"): Promise<string> {
  const entries = (await evaluate(
    "lib/pulumiCache.mjs",
    `m.cacheEntries(${JSON.stringify(at.root)}, ${JSON.stringify(at.env)})`,
  )) as Record<string, string>;
  return entries[kind]!;
}

/** What is found, and what is said about what was passed over. */
async function find(at: SetupContext): Promise<{ found: unknown; lines: string[] }> {
  return (await evaluate(
    "lib/findPulumi.mjs",
    `(async () => {
      const lines = [];
      const at = { ...${JSON.stringify(at)}, log: (line) => lines.push(line) };
      return { found: await m.findInstalled(at) ?? null, lines };
    })()`,
  )) as { found: unknown; lines: string[] };
}

describe("the search", () => {
  test.each(["v3.240.1", "3.240.1", "v3.240.1-dev.0", "v3.240.1+dirty"])(
    "takes %s on PATH before the cache",
    async (printed) => {
      const folder = writeCli(temporaryFolder(), printed);
      const at = surroundings(temporaryFolder(), folder);
      writeCli(path.join(await cacheEntry(at, "go"), "bin"), "v3.230.0");
      expect(await find(at)).toEqual({
        found: { pulumi: path.join(folder, "pulumi"), pulumiDir: folder, version: "3.240.1", source: "path" },
        lines: [],
      });
    },
  );

  test.each([
    ["v3.219.0", "version 3.219.0 is older than 3.220.0"],
    ["v4.0.0", "version 4.0.0 is of a later major version"],
    ["hello", "it does not print its version: hello"],
    ["v3.230", "it does not print its version: v3.230"],
  ])("passes over %s on PATH, says so and takes the cache", async (version, reason) => {
    const folder = writeCli(temporaryFolder(), version);
    const at = surroundings(folder);
    const cached = writeCli(path.join(await cacheEntry(at, "go"), "bin"), "v3.230.0");
    expect(await find(at)).toEqual({
      found: {
        pulumi: path.join(cached, "pulumi"),
        pulumiDir: cached,
        version: "3.230.0",
        source: "cache",
      },
      lines: [`${folder}/pulumi is passed over: ${reason}`],
    });
  });

  test.each(companions)("passes over a pulumi without %s", async (absent) => {
    const folder = writeCli(temporaryFolder(), "v3.240.1", [absent]);
    expect(await find(surroundings(folder))).toEqual({
      found: null,
      lines: [`${folder}/pulumi is passed over: ${absent} is neither beside it nor on PATH`],
    });
  });

  test("accepts a host elsewhere on PATH or beside the target of a link", async () => {
    const elsewhere = temporaryFolder();
    for (const name of companions) writeProgram(path.join(elsewhere, name), "");
    const folder = writeCli(temporaryFolder(), "v3.240.1", companions);
    expect((await find(surroundings(folder, elsewhere))).found).toMatchObject({ source: "path" });

    const complete = writeCli(temporaryFolder(), "v3.240.1");
    const links = temporaryFolder();
    symlinkSync(path.join(complete, "pulumi"), path.join(links, "pulumi"));
    expect((await find(surroundings(links))).found).toMatchObject({ source: "path", pulumiDir: links });
  });

  test("passes over one that fails", async () => {
    const folder = writeCli(temporaryFolder(), "v3.240.1");
    writeProgram(path.join(folder, "pulumi"), "console.error('broken'); process.exit(3);");
    const { found, lines } = await find(surroundings(folder));
    expect(found).toBeNull();
    expect(lines).toEqual([`${folder}/pulumi is passed over: it does not print its version: broken`]);
  });

  test("prefers an official cached copy, and does not run a cached copy on PATH", async () => {
    const at = surroundings();
    const built = writeCli(path.join(await cacheEntry(at, "go"), "bin"), "never asked");
    at.env.PATH = built;
    expect((await find(at)).found).toMatchObject({ source: "cache", pulumiDir: built, version: "3.230.0" });
    const official = writeCli(path.join(await cacheEntry(at, "official"), "bin"), "never asked");
    at.env.PATH = official;
    expect((await find(at)).found).toMatchObject({ source: "cache", pulumiDir: official });
  });

  test("finds nothing in an incomplete cached copy, an empty PATH or a relative one", async () => {
    const at = surroundings("", ".", "bin");
    const folder = writeCli(path.join(await cacheEntry(at, "go"), "bin"), "v3.230.0", companions.slice(1));
    expect(await find(at)).toEqual({ found: null, lines: [] });
    writeFileSync(path.join(folder, companions[1]!), "not executable");
    expect((await find(at)).found).toBeNull();
  });
});

describe("filling a cache folder", () => {
  function fill(target: string, body: string): string[] {
    const [processes, files] = ["processes", "files"].map((name) =>
      JSON.stringify(path.join(projectRoot, "scripts/lib", `${name}.mjs`)),
    );
    return script(
      "lib/pulumiCache.mjs",
      `import { mkdirSync, writeFileSync } from "node:fs";
       import { setTimeout as sleep } from "node:timers/promises";
       import { withSignals } from ${processes};
       import { fillFolder } from ${files};
       await withSignals(() => fillFolder(${JSON.stringify(target)}, async (folder) => {
         mkdirSync(folder + "/bin");
         for (const name of ["pulumi", ...${JSON.stringify(companions)}])
           writeFileSync(folder + "/bin/" + name, "mine", { mode: 0o755 });
         ${body}
       }, m.isComplete));`,
    );
  }

  test("leaves the folder and nothing else", async () => {
    const cache = temporaryFolder();
    expect((await start(fill(path.join(cache, "cli"), "")).ended).code).toBe(0);
    expect(readdirSync(cache)).toEqual(["cli"]);
  });

  test("leaves nothing when it fails", async () => {
    const cache = temporaryFolder();
    expect((await start(fill(path.join(cache, "cli"), "throw new Error('no');")).ended).code).toBe(1);
    expect(readdirSync(cache)).toEqual([]);
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("leaves nothing on %s", async (signal, code) => {
    const cache = temporaryFolder();
    const filling = start(fill(path.join(cache, "cli"), "await sleep(20_000);"));
    await until(() => readdirSync(cache).length === 1, "the temporary folder is there");
    filling.kill(signal);
    expect((await filling.ended).code).toBe(code);
    expect(readdirSync(cache)).toEqual([]);
  });

  test("keeps the complete copy of a process that was faster", async () => {
    const cache = temporaryFolder();
    const target = path.join(cache, "cli");
    writeCli(path.join(target, "bin"), "other");
    expect((await start(fill(target, "")).ended).code).toBe(0);
    expect(readFileSync(path.join(target, "bin", "pulumi"), "utf8")).toContain("other");
    expect(readdirSync(cache)).toEqual(["cli"]);
  });

  test("replaces a damaged copy", async () => {
    const cache = temporaryFolder();
    const target = path.join(cache, "cli");
    writeCli(path.join(target, "bin"), "other", companions);
    expect((await start(fill(target, "")).ended).code).toBe(0);
    expect(readFileSync(path.join(target, "bin", "pulumi"), "utf8")).toBe("mine");
  });

  test("removes later what a killed set-up left, and nothing that a running one needs", async () => {
    const cache = temporaryFolder();
    const killed = start(fill(path.join(cache, "cli"), "await sleep(20_000);"));
    await until(() => readdirSync(cache).length === 1, "the temporary folder is there");
    killed.kill("SIGKILL");
    await killed.ended;
    const running = start(fill(path.join(cache, "cli"), "await sleep(20_000);"));
    await until(() => readdirSync(cache).length === 2, "the other one is there");
    mkdirSync(path.join(cache, "tmp-unrelated"));

    await evaluate("lib/obtainPulumi.mjs", `void m.removeStaleFolders(${JSON.stringify(cache)})`);
    const left = readdirSync(cache).map((name) => name.replace(/-[^-]*$/, ""));
    expect(left.sort()).toEqual([`tmp-${running.pid}`, "tmp"].sort());
    running.kill("SIGINT");
    await running.ended;
  });
});

/** Stands for the set-up of a fresh machine: fakes for npm, Go and the SDK's download, no network. */
function freshMachine(options: { go?: string | null; download?: string; ci?: string } = {}) {
  const root = checkout();
  const bin = path.join(temporaryFolder(), "bin");
  const cache = path.join(temporaryFolder(), "cache");
  const journal = path.join(temporaryFolder(), "journal");
  const note = `require("fs").appendFileSync(${JSON.stringify(journal)}, NOTE + "\\n");`;
  writeFiles(root, {
    "package.json": { name: "x" },
    "package-lock.json": { packages: { "": { name: "x" }, "node_modules/a": { version: "1.0.0" } } },
    "tsconfig.build.json": { include: ["provider"] },
    "provider/index.ts": "export {};",
  });
  writeProgram(
    path.join(bin, "npm"),
    `const NOTE = "npm " + process.argv.slice(2).join(" "); ${note}
     const { mkdirSync, writeFileSync } = require("fs");
     if (process.argv[2] === "ci") {
       ${options.ci ?? ""}
       mkdirSync("node_modules/a", { recursive: true });
       writeFileSync("node_modules/a/package.json", "{}");
       writeFileSync("node_modules/.package-lock.json",
         JSON.stringify({ packages: { "node_modules/a": { version: "1.0.0" } } }));
     } else {
       import(${JSON.stringify(path.join(projectRoot, "scripts", "lib", "checkout.mjs"))}).then(({ beginBuild }) => {
         const finish = beginBuild(process.cwd());
         mkdirSync("dist", { recursive: true });
         writeFileSync("dist/index.js", "");
         finish();
       });
     }`,
  );
  if (options.go !== null) {
    writeProgram(
      path.join(bin, "go"),
      `const output = process.argv[process.argv.indexOf("-o") + 1];
       const NOTE = "go " + require("path").basename(output) + " " + process.pid; ${note}
       ${options.go ?? ""}
       const version = /Version=(\\S+)/.exec(process.argv.join(" "))[1];
       require("fs").writeFileSync(output, "#!" + process.execPath + "\\nconsole.log('" + version + "')", { mode: 0o755 });`,
    );
  }
  const env: NodeJS.ProcessEnv = { ...process.env, PATH: bin, PULUMI_PLATFORM_CACHE: cache };
  const setUp = (flags = "{}") =>
    start(
      script(
        "setup.mjs",
        `globalThis.fetch = async (address) => {
           ${options.download ?? "throw new TypeError('fetch failed', { cause: new Error('no\\n route') });"}
         };
         try {
           console.log(JSON.stringify(await m.ensureReady({ root: ${JSON.stringify(root)}, ...${flags} }) ?? null));
         } catch (error) { console.error(error.message); process.exit(1); }`,
      ),
      env,
    );
  const calls = () =>
    existsSync(journal) ? readFileSync(journal, "utf8").trim().replace(/ \d+$/gm, "").split("\n") : [];
  return { root, bin, cache, journal, setUp, calls, env };
}

const npmCalls = ["npm ci --include=dev --no-audit --no-fund", "npm run --silent build"];
const goCalls = ["go pulumi", "go pulumi-language-nodejs"];

describe("set-up", () => {
  test("prepares a fresh machine with Go, then has nothing to do", async () => {
    const machine = freshMachine();
    const first = await machine.setUp().ended;
    expect(first.code).toBe(0);
    const cli = JSON.parse(first.stdout) as { pulumi: string; pulumiDir: string };
    expect(cli).toMatchObject({ version: "3.230.0", source: "go" });
    expect(cli.pulumi).toBe(path.join(cli.pulumiDir, "pulumi"));
    expect(machine.calls()).toEqual([...npmCalls, ...goCalls]);
    expect(first.stderr).toMatch(/could not be downloaded: https:\S+-checksums\.txt: no route$/m);
    expect(readdirSync(machine.cache)).toEqual([path.basename(path.dirname(cli.pulumiDir))]);
    expect(readdirSync(path.dirname(cli.pulumiDir))).toEqual(["bin"]);

    const second = await machine.setUp().ended;
    expect(JSON.parse(second.stdout)).toEqual({ ...cli, source: "cache" });
    expect(second.stderr).toMatch(/^set-up: nothing to do \(\d\.\d s\)\n$/);
    expect(machine.calls()).toEqual([...npmCalls, ...goCalls]);
  });

  test("repeats only what is needed", async () => {
    const machine = freshMachine();
    await machine.setUp().ended;
    writeFiles(machine.root, { "provider/index.ts": "1;" });
    expect((await machine.setUp().ended).stderr).toContain("build (sources changed)");
    expect(machine.calls()).toEqual([...npmCalls, ...goCalls, npmCalls[1]]);
    rmSync(machine.cache, { recursive: true });
    await machine.setUp().ended;
    expect(machine.calls()).toEqual([...npmCalls, ...goCalls, npmCalls[1], ...goCalls]);
  });

  test("the resource plugin runs the SDK of the folder it is started in", async () => {
    const machine = freshMachine();
    const { pulumiDir } = JSON.parse((await machine.setUp().ended).stdout) as { pulumiDir: string };
    const program = temporaryFolder();
    writeFiles(program, {
      "node_modules/@pulumi/pulumi/cmd/dynamic-provider/index.js":
        "console.log(JSON.stringify(process.argv.slice(2)));",
    });
    const plugin = path.join(pulumiDir, "pulumi-resource-pulumi-nodejs");
    const body = `process.chdir(${JSON.stringify(program)});
      const { status } = require("child_process").spawnSync(${JSON.stringify(plugin)}, ["a b", "*"], { stdio: "inherit" });
      process.exit(status);`;
    expect(await start(["-e", body]).ended).toMatchObject({ code: 0, stdout: '["a b","*"]\n' });
    rmSync(path.join(program, "node_modules"), { recursive: true });
    expect((await start(["-e", body]).ended).code).toBe(1);
  });

  test("compiles the Go files beside a go.mod into the tool, in place of the methods that they declare", async () => {
    const source = temporaryFolder();
    const folder = temporaryFolder();
    const copy = path.join(temporaryFolder(), "copy");
    writeFiles(source, {
      "main.go": "func main() {}\n\nfunc (host *Host) Run(\n) {}\n\nfunc (host *Host) About() {}\n",
      "main_test.go": "",
    });
    const added = "func (host *Host) Run() {}\n\nfunc helper() {}\n";
    writeFiles(folder, { "go.mod": "module x", "go.sum": "", "added.go": added });
    const bin = temporaryFolder();
    writeProgram(path.join(bin, "go"), `console.log(${JSON.stringify(source)});`);
    const module = JSON.stringify({ folder, tool: "example.org/tool" });
    await evaluate(
      "lib/goTool.mjs",
      `m.copyTool(${module}, ${JSON.stringify(copy)}, { PATH: ${JSON.stringify(bin)} })`,
    );
    expect(readdirSync(copy).sort()).toEqual(["added.go", "go.mod", "go.sum", "main.go"]);
    expect(readFileSync(path.join(copy, "added.go"), "utf8")).toBe(added);
    expect(readFileSync(path.join(copy, "main.go"), "utf8")).toBe(
      "func main() {}\n\nfunc (host *Host) replacedRun(\n) {}\n\nfunc (host *Host) About() {}\n",
    );
  });

  /** A release as its two hosts serve it; `change` changes what they serve. */
  function releaseOf({ layout = "pulumi", change = "" } = {}): string {
    const folder = temporaryFolder();
    for (const name of ["pulumi", ...companions]) {
      writeFiles(folder, { [`${layout}/${name}`]: "3.230.0" });
      chmodSync(path.join(folder, layout, name), 0o755);
    }
    const archive = path.join(folder, "archive");
    execFileSync("tar", ["-czf", archive, "pulumi"], { cwd: folder });
    return `
      const { readFileSync } = await import("node:fs");
      const { createHash } = await import("node:crypto");
      let archive = readFileSync(${JSON.stringify(archive)});
      const name = "pulumi-v3.230.0-" + process.platform + "-" + process.arch + ".tar.gz";
      const other = "0".repeat(64) + "  pulumi-v3.230.0-windows-x64.zip\\n";
      let list = other + createHash("sha256").update(archive).digest("hex") + "  " + name + "\\n";
      let status = 200;
      ${change}
      const files = {
        ["https://get.pulumi.com/releases/sdk/" + name]: archive,
        "https://github.com/pulumi/pulumi/releases/download/v3.230.0/pulumi-3.230.0-checksums.txt": list,
      };
      if (files[address] === undefined) throw new Error("nothing is at " + address);
      return new Response(files[address], { status });`;
  }

  /** A machine with the tools that unpack an archive. */
  function machineWithTar(download: string) {
    const machine = freshMachine({ download });
    for (const tool of ["tar", "gzip"]) {
      const found = execFileSync("sh", ["-c", `command -v ${tool}`], { encoding: "utf8" }).trim();
      symlinkSync(found, path.join(machine.bin, tool));
    }
    return machine;
  }

  test.each(["pulumi", "pulumi/bin"])("takes the official release with its files in %s", async (layout) => {
    const machine = machineWithTar(releaseOf({ layout }));
    const cli = JSON.parse((await machine.setUp().ended).stdout) as { pulumi: string; pulumiDir: string };
    expect(cli).toMatchObject({ source: "official", version: "3.230.0" });
    expect(readFileSync(cli.pulumi, "utf8")).toBe("3.230.0");
    expect(readdirSync(path.dirname(cli.pulumiDir))).toEqual(["bin"]);
    expect(machine.calls()).toEqual(npmCalls);
    expect(JSON.parse((await machine.setUp().ended).stdout)).toEqual({ ...cli, source: "cache" });
  });

  test.each([
    ["with another archive", "archive = Buffer.from('x');", "it was changed on its way"],
    ["with a truncated archive", "archive = archive.subarray(1);", "it was changed on its way"],
    ["without a checksum of the archive", "list = other;", "name pulumi-v3.230.0-\\S+ 0 times"],
    ["with two checksums of the archive", "list += list;", "name pulumi-v3.230.0-\\S+ 2 times"],
    ["with another kind of checksum", "list = list.replaceAll(/^[0-9a-f]{64}/gm, 'ab');", "0 times"],
    ["with an empty list", "list = '';", "0 times"],
    ["with a page in place of the list", "list = '<html>' + name;", "0 times"],
    ["that is not there", "status = 404;", "checksums.txt: HTTP 404"],
    [
      "that is no archive",
      "archive = Buffer.from('x'); list = createHash('sha256').update('x').digest('hex') + '  ' + name;",
      "could not be unpacked",
    ],
  ])("refuses a release %s, and builds the CLI", async (_, change, message) => {
    const machine = machineWithTar(releaseOf({ change }));
    const { stdout, stderr } = await machine.setUp().ended;
    expect(stderr).toMatch(new RegExp(`the official Pulumi CLI could not be downloaded: .*${message}`));
    expect(JSON.parse(stdout)).toMatchObject({ source: "go" });
    expect(readdirSync(machine.cache)).toEqual([expect.stringContaining("-go-")]);
  });

  test.each([
    ["linux", "x64", "pulumi-v3.230.0-linux-x64.tar.gz"],
    ["darwin", "arm64", "pulumi-v3.230.0-darwin-arm64.tar.gz"],
    ["win32", "x64", "pulumi-v3.230.0-windows-x64.zip"],
  ])("the archive for %s on %s is %s", async (platform, arch, name) => {
    const call = `m.archiveName("3.230.0", "${platform}", "${arch}")`;
    expect(await evaluate("lib/downloadPulumi.mjs", call)).toBe(name);
  });

  test.each([
    ["freebsd", "x64"],
    ["linux", "ia32"],
  ])("there is no release for %s on %s", async (platform, arch) => {
    const call = `m.archiveName("3.230.0", "${platform}", "${arch}")`;
    await expect(evaluate("lib/downloadPulumi.mjs", call)).rejects.toThrow("there is no release for");
  });

  test("says what to install when there is no Go", async () => {
    const machine = freshMachine({ go: null });
    const { code, stderr } = await machine.setUp().ended;
    expect(code).toBe(1);
    expect(stderr).toContain("Install the Pulumi CLI 3.220.0 or later");
    expect(stderr).toContain("or Go 1.25 or later");
    expect(readdirSync(machine.cache)).toEqual([]);
  });

  test("shows why Go failed and leaves nothing", async () => {
    const machine = freshMachine({ go: "console.error('a sum differs'); process.exit(1);" });
    const { code, stderr } = await machine.setUp().ended;
    expect(code).toBe(1);
    expect(stderr).toContain("go build example.org/pulumi failed:\na sum differs");
    expect(readdirSync(machine.cache)).toEqual([]);
  });

  test("refuses a CLI that says it is another version", async () => {
    const machine = freshMachine({ go: "process.argv.push('Version=v3.1.0'); process.argv.reverse();" });
    const { code, stderr } = await machine.setUp().ended;
    expect(code).toBe(1);
    expect(stderr).toContain("the built CLI says it is 3.1.0, not 3.230.0");
    expect(readdirSync(machine.cache)).toEqual([]);
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("on %s in the middle of a build ends Go and leaves nothing", async (signal, code) => {
    const machine = freshMachine({
      go: "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20_000);",
    });
    const first = machine.setUp();
    await until(() => machine.calls().includes("go pulumi"), "Go was started");
    const go = Number(/go pulumi (\d+)/.exec(readFileSync(machine.journal, "utf8"))?.[1]);
    expect(isRunning(go)).toBe(true);
    first.kill(signal);
    expect((await first.ended).code).toBe(code);
    expect(readdirSync(machine.cache)).toEqual([]);
    await until(() => !isRunning(go), "Go has ended");
  });

  test("after an interrupted npm ci installs again", async () => {
    const machine = freshMachine({
      ci: `if (require("fs").readFileSync(process.env.JOURNAL, "utf8").split("npm ci").length === 2)
             Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20_000);`,
    });
    machine.env.JOURNAL = machine.journal;
    const first = machine.setUp("{ skipCli: true }");
    await until(() => machine.calls().length === 1, "npm was started");
    first.kill("SIGINT");
    expect((await first.ended).code).toBe(130);
    const second = await machine.setUp("{ skipCli: true }").ended;
    expect(second.code).toBe(0);
    expect(second.stderr).toContain("npm dependencies: not installed");
    expect(machine.calls()).toEqual([npmCalls[0], ...npmCalls]);
    expect(readdirSync(path.join(machine.root, ".cache"))).toEqual(["build.json"]);
  });

  test("two concurrent runs build once", async () => {
    const machine = freshMachine({
      go: "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);",
    });
    const ended = await Promise.all([machine.setUp().ended, machine.setUp().ended]);
    expect(ended.map(({ code }) => code)).toEqual([0, 0]);
    expect(machine.calls()).toEqual([...npmCalls, ...goCalls]);
    expect(ended.map(({ stdout }) => (JSON.parse(stdout) as { source: string }).source).sort()).toEqual([
      "cache",
      "go",
    ]);
  });

  test("without the CLI needs neither Go nor a cache", async () => {
    const machine = freshMachine({ go: null });
    expect(await machine.setUp("{ skipCli: true }").ended).toMatchObject({ code: 0, stdout: "null\n" });
    expect(existsSync(machine.cache)).toBe(false);
  });

  test("an unknown option is refused", async () => {
    const ended = await start([path.join(projectRoot, "scripts/setup.mjs"), "--print-envs"]).ended;
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain("--print-envs");
  });
});
