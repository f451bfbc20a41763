// @ts-check
import { mkdtempSync, readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { obtainBrowser } from "./lib/browser.mjs";
import {
  lockfileProblems,
  outcomeOf,
  outcomeOfJest,
  packageProblems,
  readmeProblems,
  runChecks,
} from "./lib/checks.mjs";
import { onEarlyEnd, remove, run, withSignals } from "./lib/processes.mjs";
import { lintWorkflows } from "./lib/workflows.mjs";
import { pack } from "./packedPackage.mjs";

const root = path.dirname(import.meta.dirname);
const MINUTE_MS = 60_000;

/** @param {string} name */
const read = (name) => readFileSync(path.join(root, name), "utf8");

/**
 * @param {string} command @param {string[]} args @param {number} [minutes]
 * @param {"inherit" | "capture"} [how] What runs beside others prints when it has ended.
 */
async function succeeds(command, args, minutes = 10, how = "inherit") {
  const { code, timedOut, output } = await run(command, args, {
    cwd: root,
    output: how,
    timeoutMs: minutes * MINUTE_MS,
  });
  if (output !== "") console.log(output.trimEnd());
  if (timedOut) return outcomeOf([`not done after ${minutes} minutes`]);
  return outcomeOf(code === 0 ? [] : [`exit code ${code}`]);
}

/** The workflows of this repository, and those that users copy. @param {string} scratch */
async function lintAllWorkflows(scratch) {
  const problems = [];
  for (const folder of [".github/workflows", "examples/ci"]) {
    const result = await lintWorkflows({ root, folder: path.join(root, folder), scratch });
    if ("problems" in result) problems.push(...result.problems.map((problem) => `${folder}/${problem}`));
    else {
      console.log(`the workflows are not linted: ${result.reason}`);
      return { passed: 0, failed: 0, skipped: 1, problems: [] };
    }
  }
  return outcomeOf(problems);
}

/** @param {string} scratch */
async function test(scratch) {
  const file = path.join(scratch, "jest.json");
  const browser = await obtainBrowser({ log: (line) => console.log(line) });
  const env = { ...process.env };
  // A browser that is named is used or the tests fail; without one they are skipped, and jest counts them so.
  if ("file" in browser) env.PULUMI_PLATFORM_BROWSER = browser.file;
  else console.log(`the tests of the page are skipped: ${browser.reason}`);
  const { code, timedOut } = await run("npm", ["run", "test:all", "--", "--json", `--outputFile=${file}`], {
    cwd: root,
    env,
    output: "inherit",
    timeoutMs: 70 * MINUTE_MS,
  });
  let text;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    text = undefined;
  }
  return outcomeOfJest(text, timedOut ? 1 : code);
}

/**
 * Where two checks stand in a list they run at the same time: each leaves a processor idle.
 *
 * @param {string} scratch @returns {(import("./lib/checks.mjs").Check | import("./lib/checks.mjs").Check[])[]}
 */
function checks(scratch) {
  // Set-up has just built what is packed.
  /** @type {import("./packedPackage.mjs").Packed | undefined} */
  let packed;
  const npmRun = (/** @type {string} */ script) => succeeds("npm", ["run", "--silent", script]);
  const besides = (/** @type {string[]} */ ...args) =>
    succeeds("npm", ["run", "--silent", ...args], 10, "capture");
  /** @type {(import("./lib/checks.mjs").Check | import("./lib/checks.mjs").Check[])[]} */
  const list = [
    {
      name: "set-up",
      fatal: true,
      body: () => succeeds(process.execPath, ["scripts/setup.mjs"], 45),
    },
    { name: "format", body: () => npmRun("check:format") },
    [
      { name: "lint", body: () => besides("check:lint") },
      { name: "types", body: () => besides("check:types") },
    ],
    { name: "boundaries", body: () => npmRun("check:boundaries") },
    { name: "workflows", body: () => lintAllWorkflows(scratch) },
    {
      name: "lockfile",
      body: async () => outcomeOf(lockfileProblems(JSON.parse(read("package-lock.json")))),
    },
    {
      name: "package contents",
      body: async () => outcomeOf(packageProblems((packed = await pack(root, scratch)).files)),
    },
    {
      name: "publint",
      body: () => {
        const tarball = path.join(scratch, packed?.filename ?? "");
        return succeeds("npx", ["--no", "--", "publint", "run", tarball, "--strict"]);
      },
    },
    {
      name: "README names the test commands",
      body: async () => outcomeOf(readmeProblems(read("README.md"))),
    },
    { name: "npm run test:all", body: () => test(scratch) },
  ];
  const { scripts } = JSON.parse(read("package.json"));
  const bench = ["bench", "--", "--quick", "--out", path.join(scratch, "bench")];
  list.push([
    ...(scripts?.demo === undefined ? [] : [{ name: "demo", body: () => besides("demo") }]),
    ...(scripts?.bench === undefined ? [] : [{ name: "bench --quick", body: () => besides(...bench) }]),
  ]);
  if (scripts?.["bench:review"] !== undefined) {
    list.push({ name: "a review of 5,000 resources in 200 MB", body: () => npmRun("bench:review") });
  }
  return list;
}

process.exitCode = await withSignals(async () => {
  const scratch = mkdtempSync(path.join(os.tmpdir(), "pulumi-platform-ci-"));
  const discard = onEarlyEnd(() => remove(scratch));
  try {
    return await runChecks(checks(scratch), (line) => console.log(line));
  } finally {
    discard();
  }
});
