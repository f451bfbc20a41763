import { cpSync, existsSync, readdirSync } from "node:fs";
import path from "node:path";
import {
  evaluate,
  projectRoot,
  removeTemporaryFolders,
  script,
  start,
  temporaryFolder,
  writeFiles,
  writeProgram,
} from "./support";

afterAll(removeTemporaryFolders);

const call = (expression: string) => evaluate("lib/checks.mjs", expression);

/** A jest result with these tests in one file, as jest writes it. */
function jestResult(statuses: string[], changes: Record<string, unknown> = {}): Record<string, unknown> {
  const failed = statuses.includes("failed");
  return {
    success: !failed,
    numPassedTests: statuses.filter((status) => status === "passed").length,
    wasInterrupted: false,
    testResults: [
      {
        name: "a.test.ts",
        status: failed ? "failed" : "passed",
        assertionResults: statuses.map((status, index) => ({ status, fullName: `test ${index}` })),
      },
    ],
    ...changes,
  };
}

const outcome = (text: string | null, exitCode: number) =>
  call(`m.outcomeOfJest(${JSON.stringify(text)} ?? undefined, ${exitCode})`);

describe("counting a jest run", () => {
  test("passed, failed and skipped", async () => {
    const result = jestResult(["passed", "passed", "failed", "pending", "todo"]);
    expect(await outcome(JSON.stringify(result), 1)).toEqual({
      passed: 2,
      failed: 1,
      skipped: 2,
      problems: ["test 2: failed"],
    });
  });

  test("all passed", async () => {
    expect(await outcome(JSON.stringify(jestResult(["passed", "passed"])), 0)).toEqual({
      passed: 2,
      failed: 0,
      skipped: 0,
      problems: [],
    });
  });

  const brokenFile = { name: "b.test.ts", status: "failed", assertionResults: [] };
  const good = jestResult(["passed"]);
  test.each<[string, string | null, number, object]>([
    ["no result", null, 1, { passed: 0, failed: 1, problems: ["jest wrote no result (exit code 1)"] }],
    ["no result although jest is content", null, 0, { passed: 0, failed: 1 }],
    [
      "half a result",
      JSON.stringify(good).slice(0, 50),
      0,
      { failed: 1, problems: ["jest's result is not JSON"] },
    ],
    ["another JSON", "{}", 0, { failed: 1, problems: ["jest's result lists no test files"] }],
    ["null", "null", 0, { failed: 1, problems: ["jest's result lists no test files"] }],
    ["no tests", JSON.stringify(jestResult([])), 0, { failed: 1, problems: ["jest ran no test"] }],
    [
      "only skipped tests",
      JSON.stringify(jestResult(["pending"])),
      0,
      { failed: 1, skipped: 1, problems: ["jest ran no test"] },
    ],
    [
      "a file that cannot be loaded",
      JSON.stringify({
        ...good,
        success: false,
        testResults: [...(good.testResults as object[]), brokenFile],
      }),
      1,
      { passed: 1, failed: 1, problems: ["b.test.ts: the file failed"] },
    ],
    [
      "a status nobody knows",
      JSON.stringify(jestResult(["passed", "exploded"])),
      1,
      { passed: 1, failed: 1, problems: ["test 1: exploded"] },
    ],
    ["a bad exit code", JSON.stringify(good), 1, { passed: 1, failed: 1 }],
    ["no success", JSON.stringify(jestResult(["passed"], { success: false })), 0, { passed: 1, failed: 1 }],
    ["an interruption", JSON.stringify(jestResult(["passed"], { wasInterrupted: true })), 0, { failed: 1 }],
    [
      "totals that contradict the list",
      JSON.stringify(jestResult(["passed"], { numPassedTests: 7 })),
      0,
      { passed: 1, failed: 1, problems: ["jest says 7 passed but lists 1"] },
    ],
  ])("%s is a failure", async (_name, text, exitCode, expected) => {
    expect(await outcome(text, exitCode)).toMatchObject(expected);
  });
});

describe("running checks", () => {
  /** Each check is a passing one, a failing one, one that throws, or a fatal one. */
  async function runChecks(...kinds: string[]) {
    const body = `
      const one = (failed) => ({ passed: 1 - failed, failed, skipped: 0, problems: failed ? ["a reason"] : [] });
      let end;
      const begin = () => new Promise((resolve) => (end = resolve));
      const bodies = {
        good: async () => one(0),
        bad: async () => one(1),
        throwing: async () => { throw new Error("thrown"); },
        tests: async () => ({ passed: 20, failed: 0, skipped: 3, problems: [] }),
        fatal: async () => one(1),
        first: () => begin().then(() => one(0)),
        second: async () => (end(), one(0)),
      };
      process.exitCode = await m.runChecks(
        ${JSON.stringify(kinds)}.map((names) => {
          const group = names.split("+").map((name) => ({ name, fatal: name === "fatal", body: bodies[name] }));
          return group.length === 1 ? group[0] : group;
        }),
        console.log);`;
    const { code, stdout } = await start(script("lib/checks.mjs", body)).ended;
    const lines = stdout.trimEnd().split("\n");
    return { code, last: lines.at(-1), lines };
  }

  test("all good", async () => {
    expect(await runChecks("good", "tests")).toMatchObject({
      code: 0,
      last: "21 passed, 0 failed, 3 skipped",
    });
  });

  test("a failing one fails the run, and the later ones run all the same", async () => {
    const { code, last, lines } = await runChecks("bad", "good", "throwing", "good");
    expect(code).toBe(1);
    expect(last).toBe("2 passed, 2 failed");
    expect(lines.join("\n")).toMatch(/FAILED bad: 0 passed, 1 failed \(0\.\d s\)\n {7}a reason/);
    expect(lines.join("\n")).toMatch(/FAILED throwing: 0 passed, 1 failed \(0\.\d s\)\n {7}thrown/);
  });

  test("a fatal one ends the run", async () => {
    expect(await runChecks("good", "fatal", "good")).toMatchObject({ code: 1, last: "1 passed, 1 failed" });
  });

  test("those of a list run at the same time, and a fatal one among them ends the run", async () => {
    // The first waits for the second.
    expect(await runChecks("first+second", "good")).toMatchObject({ code: 0, last: "3 passed, 0 failed" });
    expect(await runChecks("good+fatal", "good")).toMatchObject({ code: 1, last: "1 passed, 1 failed" });
  });

  test("no checks are no success", async () => {
    expect(await runChecks()).toMatchObject({ code: 1, last: "0 passed, 0 failed" });
  });
});

test.each([
  [{}, ["package-lock.json lists no packages"]],
  [{ packages: { "": {}, "node_modules/a": { version: "1.0.0" } } }, []],
  [{ packages: { "node_modules/a": { resolved: "https://registry.npmjs.org/a/-/a-1.0.0.tgz" } } }, []],
  [{ packages: { "node_modules/a": { resolved: "examples/a", link: true } } }, []],
  [
    { packages: { "node_modules/a": { resolved: "https://registry.npmjs.org.example.org/a.tgz" } } },
    ["node_modules/a is resolved to https://registry.npmjs.org.example.org/a.tgz"],
  ],
  [
    { packages: { "node_modules/a": { resolved: "git+ssh://git@example.org/a.git#1" } } },
    ["node_modules/a is resolved to git+ssh://git@example.org/a.git#1"],
  ],
])("the lockfile %j has the problems %j", async (lockfile, problems) => {
  expect(await call(`m.lockfileProblems(${JSON.stringify(lockfile)})`)).toEqual(problems);
});

test.each([
  ["dist/provider/index.d.ts", 10, []],
  ["dist/a.js", 1024 * 1024, []],
  ["dist/a.js", 1024 * 1024 + 1, ["dist/a.js has 1048577 bytes"]],
  ["dist/emulator/main.ts", 10, ["dist/emulator/main.ts is a source"]],
  ["dist/a.mts", 10, ["dist/a.mts is a source"]],
  ["dist/test/a.js", 10, ["dist/test/a.js is a test"]],
  ["test/fixtures/a.json", 10, ["test/fixtures/a.json is a test"]],
  ["dist/a.test.js", 10, ["dist/a.test.js is a test"]],
])("a package with %s of %d bytes has the problems %j", async (file, size, problems) => {
  const files = [
    { path: "dist/index.js", size: 10 },
    { path: file, size },
  ];
  expect(await call(`m.packageProblems(${JSON.stringify(files)})`)).toEqual(problems);
});

test("a package without built code is a problem", async () => {
  expect(await call(`m.packageProblems([{ path: "package.json", size: 10 }])`)).toEqual([
    "the package holds no built code",
  ]);
});

test.each([
  ["Run `npm test` and `npm run test:all`.", []],
  ["```sh\nnpm test\n```\n\n```sh\nnpm run test:all\n```", []],
  ["    $ npm test   # all of them\n    $ npm run test:all", []],
  ["Run `npm test`.", ["npm run test:all"]],
  ["Run npm install.", ["npm test", "npm run test:all"]],
  ["```sh\nnpm test -- --selectProjects unit\n```\n`npm run test:all`", ["npm test"]],
  ["npm testing `npm run test:all`", ["npm test"]],
])("%j lacks the test commands %j", async (readme, lacking) => {
  expect(await call(`m.readmeProblems(${JSON.stringify(readme)})`)).toEqual(
    lacking.map((command) => `README.md does not name \`${command}\``),
  );
});

/** A project with fakes for npm and npx, on which .ci/run runs for real. */
function project(options: { result?: string; testExit?: number; failing?: string; scripts?: object } = {}) {
  const root = temporaryFolder();
  const bin = temporaryFolder();
  cpSync(path.join(projectRoot, "scripts"), path.join(root, "scripts"), { recursive: true });
  cpSync(path.join(projectRoot, ".ci"), path.join(root, ".ci"), { recursive: true });
  writeFiles(root, {
    "scripts/setup.mjs": options.failing === "set-up" ? "process.exit(1);" : "",
    "package.json": { scripts: options.scripts ?? { demo: "demo" } },
    "package-lock.json": { packages: { "": {} } },
    "README.md": "`npm test` and `npm run test:all`",
    "examples/ci/access-review.yml": "",
    ".github/workflows/ci.yml": "",
  });
  const packed = [{ filename: "x.tgz", files: [{ path: "dist/index.js", size: 1 }] }];
  const result = options.result ?? JSON.stringify(jestResult(["passed", "passed"]));
  writeProgram(
    path.join(bin, "npm"),
    `const args = process.argv.slice(2);
     if (args[0] === "pack") console.log(${JSON.stringify(JSON.stringify(packed))});
     if (args[1] === "test:all") {
       const file = args.find((arg) => arg.startsWith("--outputFile=")).slice(13);
       if (${JSON.stringify(result)} !== "none") require("fs").writeFileSync(file, ${JSON.stringify(result)});
       process.exit(${options.testExit ?? 0});
     }
     process.exit(args.at(-1) === ${JSON.stringify(options.failing ?? "")} ? 1 : 0);`,
  );
  const linter = `#!/bin/sh\nexit ${options.failing === "workflows" ? 1 : 0}\n`;
  writeProgram(
    path.join(bin, "go"),
    `const fs = require("fs");
     const target = process.argv[process.argv.indexOf("-o") + 1];
     if (${JSON.stringify(options.failing)} === "go") process.exit(1);
     fs.writeFileSync(target, ${JSON.stringify(linter)}, { mode: 0o755 });`,
  );
  writeProgram(path.join(bin, "npx"), `process.exit(${options.failing === "publint" ? 1 : 0});`);
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
  test("passes with thirteen results: eleven checks and two tests", async () => {
    const { run, scratch } = project();
    const { code, stdout } = await run();
    expect(stdout).toMatch(/\n13 passed, 0 failed\n$/);
    expect(code).toBe(0);
    expect(readdirSync(scratch)).toEqual([]);
  });

  test.each([
    "check:format",
    "check:boundaries",
    "check:lint",
    "check:types",
    "workflows",
    "publint",
    "demo",
  ])("one failure and exit code 1 when %s fails", async (failing) => {
    const { code, stdout } = await project({ failing }).run();
    expect(stdout).toMatch(/\n12 passed, 1 failed\n$/);
    expect(code).toBe(1);
  });

  test.each([
    ["a failed test", { result: JSON.stringify(jestResult(["passed", "failed"])), testExit: 1 }, 12],
    ["no tests", { result: JSON.stringify(jestResult([])) }, 11],
    ["no result", { result: "none" }, 11],
    ["a broken result", { result: "{" }, 11],
    ["an exit code without a failed test", { testExit: 1 }, 13],
  ])("%s is one failure and exit code 1", async (_name, options, passed) => {
    const { code, stdout } = await project(options).run();
    expect(stdout.trimEnd().split("\n").at(-1)).toBe(`${passed} passed, 1 failed`);
    expect(code).toBe(1);
  });

  test("a linter that cannot be built is skipped, with the reason", async () => {
    const { code, stdout } = await project({ failing: "go" }).run();
    expect(stdout).toContain("the workflows are not linted: go build");
    expect(stdout).toMatch(/\n12 passed, 0 failed, 1 skipped\n$/);
    expect(code).toBe(0);
  });

  test("ends after a failed set-up", async () => {
    const { code, stdout } = await project({ failing: "set-up" }).run();
    expect(stdout).toMatch(/\n0 passed, 1 failed\n$/);
    expect(stdout).not.toContain("== format");
    expect(code).toBe(1);
  });

  test("a README without the command and a lockfile with another host fail", async () => {
    const { root, run } = project();
    writeFiles(root, {
      "README.md": "Run the tests.",
      "package-lock.json": { packages: { "node_modules/a": { resolved: "https://example.org/a.tgz" } } },
    });
    expect((await run()).stdout).toMatch(/\n11 passed, 2 failed\n$/);
  });

  test("a package.json without demo has one check less", async () => {
    expect((await project({ scripts: {} }).run()).stdout).toMatch(/\n12 passed, 0 failed\n$/);
    expect(existsSync(path.join(projectRoot, ".ci/run"))).toBe(true);
  });
});
