import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import path from "node:path";
import { evaluate, projectRoot, script, start, temporaryFolder, writeFiles, writeProgram } from "./support";

test("the pins agree with the SDK, and a changed pin is another cache folder", async () => {
  const sdk = JSON.parse(
    readFileSync(path.join(projectRoot, "node_modules/@pulumi/pulumi/package.json"), "utf8"),
  ) as { version: string };
  const entries = async (root: string) =>
    (await evaluate(
      "lib/pulumi.mjs",
      `m.cacheEntries(${JSON.stringify(root)}, { HOME: "/home" })`,
    )) as Record<string, string>;
  const real = await entries(projectRoot);
  expect(real.version).toBe(sdk.version);

  const one = await entries(checkout());
  expect(await entries(checkout())).toEqual(one);
  for (const file of ["go.sum", "added.go"]) {
    const root = checkout();
    writeFiles(root, { [`scripts/cli/language-nodejs/${file}`]: "changed" });
    expect((await entries(root)).go).not.toBe(one.go);
  }
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

/** Stands for the set-up of a fresh machine: fakes for npm, Go and the SDK's download, no network. */
function freshMachine({ hasGo = true, download = "" } = {}) {
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
  if (hasGo) {
    writeProgram(
      path.join(bin, "go"),
      `if (process.argv[2] === "version") process.exit(0);
       const output = process.argv[process.argv.indexOf("-o") + 1];
       const NOTE = "go " + require("path").basename(output) + " " + process.pid; ${note}
       const version = /Version=(\\S+)/.exec(process.argv.join(" "))[1];
       require("fs").writeFileSync(output, "#!" + process.execPath + "\\nconsole.log('" + version + "')", { mode: 0o755 });`,
    );
  }
  const env: NodeJS.ProcessEnv = { ...process.env, PATH: bin, PULUMI_PLATFORM_CACHE: cache };
  const setUp = () =>
    start(
      script(
        "setup.mjs",
        `globalThis.fetch = async (address) => {
           ${download || "throw new TypeError('fetch failed', { cause: new Error('no\\n route') });"}
         };
         try {
           console.log(JSON.stringify(await m.ensureReady(${JSON.stringify(root)})));
         } catch (error) { console.error(error.message); process.exit(1); }`,
      ),
      env,
    );
  const calls = () =>
    existsSync(journal) ? readFileSync(journal, "utf8").trim().replace(/ \d+$/gm, "").split("\n") : [];
  return { bin, cache, setUp, calls };
}

const npmCalls = ["npm ci --include=dev --no-audit --no-fund", "npm run --silent build"];
const goCalls = ["go pulumi", "go pulumi-language-nodejs"];

describe("set-up", () => {
  test("prepares a fresh machine with Go, then has nothing to do", async () => {
    const machine = freshMachine();
    const first = await machine.setUp().ended;
    expect(first.code).toBe(0);
    const cli = JSON.parse(first.stdout) as { pulumi: string; pulumiDir: string };
    expect(cli).toMatchObject({ version: "3.230.0", pulumiDir: expect.stringContaining("-go-") as string });
    expect(cli.pulumi).toBe(path.join(cli.pulumiDir, "pulumi"));
    expect(machine.calls()).toEqual([...npmCalls, ...goCalls]);
    expect(first.stderr).toMatch(/could not be downloaded: https:\S+-checksums\.txt: no route$/m);
    expect(readdirSync(machine.cache)).toEqual([path.basename(path.dirname(cli.pulumiDir))]);
    expect(readdirSync(path.dirname(cli.pulumiDir))).toEqual(["bin"]);

    const second = await machine.setUp().ended;
    expect(JSON.parse(second.stdout)).toEqual(cli);
    expect(second.stderr).toMatch(/^set-up: ready \(\d\.\d s\)\n$/);
    expect(machine.calls()).toEqual([...npmCalls, ...goCalls]);
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
    expect(cli).toMatchObject({ version: "3.230.0" });
    expect(path.basename(path.dirname(cli.pulumiDir))).toMatch(/-official$/);
    expect(readFileSync(cli.pulumi, "utf8")).toBe("3.230.0");
    expect(readdirSync(path.dirname(cli.pulumiDir))).toEqual(["bin"]);
    expect(machine.calls()).toEqual(npmCalls);
    expect(JSON.parse((await machine.setUp().ended).stdout)).toEqual(cli);
  });

  test.each([
    ["with another archive", "archive = Buffer.from('x');", "it was changed on its way"],
    ["without a checksum of the archive", "list = other;", "name pulumi-v3.230.0-\\S+ 0 times"],
    ["with two checksums of the archive", "list += list;", "name pulumi-v3.230.0-\\S+ 2 times"],
    ["that is not there", "status = 404;", "checksums.txt: HTTP 404"],
    [
      "that is no archive",
      "archive = Buffer.from('x'); list = createHash('sha256').update('x').digest('hex') + '  ' + name;",
      "tar -xf",
    ],
  ])("refuses a release %s, and builds the CLI", async (_, change, message) => {
    const machine = machineWithTar(releaseOf({ change }));
    const { code, stderr } = await machine.setUp().ended;
    expect(stderr).toMatch(new RegExp(`the official Pulumi CLI could not be downloaded: .*${message}`));
    expect(code).toBe(0);
    expect(readdirSync(machine.cache)).toEqual([expect.stringContaining("-go-")]);
  });

  test("says what to install when there is no Go", async () => {
    const machine = freshMachine({ hasGo: false });
    const { code, stderr } = await machine.setUp().ended;
    expect(code).toBe(1);
    expect(stderr).toContain("there is no Go to build the Pulumi CLI with either: install it from");
    expect(readdirSync(machine.cache)).toEqual([]);
  });
});
