import { cpSync, readdirSync } from "node:fs";
import path from "node:path";
import { evaluate, projectRoot, start, temporaryFolder, writeFiles, writeProgram } from "./support";

const call = (expression: string) => evaluate("ci.mjs", expression);

/** A jest result with these counts, as jest writes it. */
function jestResult(numPassedTests: number, numFailedTests = 0, changes: Record<string, unknown> = {}) {
  return {
    success: numFailedTests === 0,
    numPassedTests,
    numFailedTests,
    numPendingTests: 2,
    numTodoTests: 1,
    numRuntimeErrorTestSuites: 0,
    wasInterrupted: false,
    ...changes,
  };
}

const outcome = (result: unknown, exitCode: number) =>
  call(`m.outcomeOfJest(${JSON.stringify(JSON.stringify(result))}, ${exitCode})`);

describe("counting a jest run", () => {
  test("passed, failed and skipped", async () => {
    const counts = { passed: 2, failed: 1, skipped: 3, problems: [] };
    expect(await outcome(jestResult(2, 1), 1)).toEqual(counts);
    expect(await outcome(jestResult(2), 0)).toEqual({ ...counts, failed: 0 });
  });

  test.each<[string, Record<string, unknown>, number]>([
    ["no tests", { numPassedTests: 0 }, 0],
    ["a file that cannot be loaded", { numRuntimeErrorTestSuites: 1, success: false }, 1],
    ["a bad exit code", {}, 1],
    ["no success", { success: false }, 0],
    ["an interruption", { wasInterrupted: true }, 0],
  ])("%s is a failure", async (_name, changes, exitCode) => {
    expect(await outcome(jestResult(1, 0, changes), exitCode)).toMatchObject({ failed: 1 });
  });
});

const integrity = `sha512-${"A".repeat(86)}==`;
const unpinned = "node_modules/a has no integrity: write the lockfile anew, in a folder without node_modules";

const registry = "https://registry.npmjs.org";

/** The one package of a lockfile, and what is wrong with it. */
test.each<[object, string[]]>([
  [{ integrity }, []],
  [{ resolved: `${registry}/a/-/a-1.0.0.tgz`, integrity }, []],
  [{ resolved: "examples/a", link: true }, []],
  [
    { resolved: `${registry}.example.org/a.tgz`, integrity },
    [`node_modules/a is resolved to ${registry}.example.org/a.tgz`],
  ],
  [
    { resolved: "git+ssh://git@example.org/a.git#1", integrity },
    ["node_modules/a is resolved to git+ssh://git@example.org/a.git#1"],
  ],
  [{ version: "1.0.0" }, [unpinned]],
  [{ integrity: "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=" }, [unpinned]],
])("a lockfile with the package %j has the problems %j", async (locked, problems) => {
  const lockfile = { packages: { "": {}, "examples/a": {}, "node_modules/a": locked } };
  expect(await call(`m.lockfileProblems(${JSON.stringify(lockfile)})`)).toEqual(problems);
});

test("a lockfile without packages is a problem", async () => {
  expect(await call("m.lockfileProblems({})")).toEqual(["package-lock.json lists no packages"]);
});

/** A project with fakes for npm and npx, on which .ci/run runs for real. */
function project(failing: readonly string[] = []) {
  const root = temporaryFolder();
  const bin = temporaryFolder();
  cpSync(path.join(projectRoot, "scripts"), path.join(root, "scripts"), { recursive: true });
  cpSync(path.join(projectRoot, ".ci"), path.join(root, ".ci"), { recursive: true });
  writeFiles(root, {
    "scripts/setup.mjs": failing.includes("set-up") ? "process.exit(1);" : "",
    "package-lock.json": { packages: { "": {} } },
    "site/package-lock.json": { packages: { "": {} } },
    "examples/ci/access-review.yml": "",
    ".github/workflows/ci.yml": "",
  });
  const result = JSON.stringify(jestResult(2));
  const siteResult = JSON.stringify(jestResult(1, 0, { numPendingTests: 0, numTodoTests: 0 }));
  writeProgram(
    path.join(bin, "npm"),
    `const args = process.argv.slice(2);
     if (args[1] === "test:all") {
       const file = args.find((arg) => arg.startsWith("--outputFile=")).slice(13);
       require("fs").writeFileSync(file, ${JSON.stringify(result)});
       process.exit(0);
     }
     if (${JSON.stringify(failing)}.includes(args[2])) process.exit(1);
     if (args[2] === "site") require("fs").writeFileSync(args.at(-1), ${JSON.stringify(siteResult)});`,
  );
  const linter = `#!/bin/sh\nexit ${failing.includes("workflows") ? 1 : 0}\n`;
  writeProgram(
    path.join(bin, "go"),
    `const fs = require("fs");
     const target = process.argv[process.argv.indexOf("-o") + 1];
     if (${failing.includes("go")}) process.exit(1);
     fs.writeFileSync(target, ${JSON.stringify(linter)}, { mode: 0o755 });`,
  );
  writeProgram(path.join(bin, "npx"), `process.exit(${failing.includes("publint") ? 1 : 0});`);
  const scratch = temporaryFolder();
  const body = `const { spawnSync } = require("child_process");
    process.exit(spawnSync("bash", [${JSON.stringify(path.join(root, ".ci/run"))}], { stdio: "inherit" }).status);`;
  const env = {
    ...process.env,
    PATH: `${bin}:${path.dirname(process.execPath)}:/usr/bin:/bin`,
    TMPDIR: scratch,
  };
  return { root, scratch, run: () => start(["-e", body], env).ended };
}

describe(".ci/run", () => {
  test("passes with fifteen results: thirteen checks and two tests", async () => {
    const { run, scratch } = project();
    const { code, stdout } = await run();
    expect(stdout).toMatch(/\n15 passed, 0 failed, 3 skipped\n$/);
    expect(code).toBe(0);
    expect(readdirSync(scratch)).toEqual([]);
  });

  test("each check that fails is one failure, and fails the run", async () => {
    const checks = ["format", "boundaries", "names", "lint"].map((name) => `check:${name}`);
    const failing = [...checks, "workflows", "publint", "demo", "bench", "bench:review", "site"];
    const { code, stdout } = await project(failing).run();
    const failed = [...stdout.split("== all checks")[1]!.matchAll(/^FAILED (.+): 0 passed, 1 failed/gm)];
    expect(failed.map(([, name]) => name)).toEqual([
      ...["reviews of large and hostile previews", "site", "bench --quick", "format", "demo"],
      ...["boundaries", "lint and types", "names", "workflows", "publint"],
    ]);
    expect(stdout).toMatch(/\n5 passed, 10 failed, 3 skipped\n$/);
    expect(code).toBe(1);
  });

  test("a linter that cannot be built is skipped, with the reason", async () => {
    const { code, stdout } = await project(["go"]).run();
    expect(stdout).toContain("the workflows are not linted: go build");
    expect(stdout).toMatch(/\n14 passed, 0 failed, 4 skipped\n$/);
    expect(code).toBe(0);
  });
});
