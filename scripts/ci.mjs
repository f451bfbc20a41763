// @ts-check
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { obtainBrowser } from "./lib/browser.mjs";
import { lockfileProblems, outcomeOf, outcomeOfJest, runChecks } from "./lib/checks.mjs";
import { withTemporaryFolder } from "./lib/files.mjs";
import { run, runScript } from "./lib/processes.mjs";
import { lintWorkflows } from "./lib/workflows.mjs";

/** @typedef {import("./lib/checks.mjs").Check} Check */

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

/** A browser that is named is used or the tests fail; without one they are skipped, and jest counts them so. */
async function browserEnvironment() {
  const browser = await obtainBrowser({ log: (line) => console.log(line) });
  if ("file" in browser) return { PULUMI_PLATFORM_BROWSER: browser.file };
  console.log(`the tests in a browser are skipped: ${browser.reason}`);
  return {};
}

/** @param {string} scratch */
async function test(scratch) {
  const file = path.join(scratch, "jest.json");
  const env = { ...process.env, ...(await browserEnvironment()) };
  const { code, timedOut } = await run("npm", ["run", "test:all", "--", "--json", `--outputFile=${file}`], {
    cwd: root,
    env,
    output: "inherit",
    timeoutMs: 70 * MINUTE_MS,
  });
  return outcomeOfJest(readFileSync(file, "utf8"), timedOut ? 1 : code);
}

/** Builds the site and tests it. @param {string} scratch */
async function testSite(scratch) {
  const report = path.join(scratch, "site.json");
  const args = ["run", "--silent", "site", "--", "--no-versions", "--test", "--report", report];
  const env = { ...process.env, ...(await browserEnvironment()) };
  const { code, output } = await run("npm", args, {
    cwd: root,
    env,
    output: "capture",
    timeoutMs: 20 * MINUTE_MS,
  });
  console.log(output.trimEnd());
  if (!existsSync(report)) return outcomeOf(["the site could not be built"]);
  return outcomeOfJest(readFileSync(report, "utf8"), code);
}

/**
 * All that is checked beside the tests, the longest first: they run side by side.
 * @param {string} scratch @returns {Check[]}
 */
function checksBesideTests(scratch) {
  const npmRun = (/** @type {string[]} */ ...args) =>
    succeeds("npm", ["run", "--silent", ...args], 20, "capture");
  const lockfile = async () =>
    outcomeOf(
      ["package-lock.json", "site/package-lock.json"].flatMap((name) =>
        lockfileProblems(JSON.parse(read(name))),
      ),
    );
  return [
    { name: "lint", body: () => npmRun("check:lint") },
    { name: "types", body: () => npmRun("check:types") },
    { name: "format", body: () => npmRun("check:format") },
    { name: "site", body: () => testSite(scratch) },
    { name: "demo", body: () => npmRun("demo") },
    // The nightly suites run it with the full number of objects.
    { name: "reviews of large and hostile previews", body: () => npmRun("bench:review") },
    { name: "bench --quick", body: () => npmRun("bench", "--", "--quick") },
    { name: "boundaries", body: () => npmRun("check:boundaries") },
    { name: "names", body: () => npmRun("check:names") },
    { name: "workflows", body: () => lintAllWorkflows(scratch) },
    {
      name: "publint",
      body: () => succeeds("npx", ["--no", "--", "publint", "run", "--strict"], 20, "capture"),
    },
    { name: "lockfile", body: lockfile },
  ];
}

/** The hosts of programs in YAML, Python and Go need Go and Python: without them the tests of these languages are skipped. */
async function setUpLanguages() {
  const { code, output } = await run("npm", ["run", "--silent", "setup:languages"], {
    cwd: root,
    output: "capture",
    timeoutMs: 20 * MINUTE_MS,
  });
  console.log(output.trimEnd());
  if (code === 0) return outcomeOf([]);
  console.log("the programs in YAML, Python and Go are not run");
  return { passed: 0, failed: 0, skipped: 1, problems: [] };
}

/** The tests use all processors themselves. @param {string} scratch @returns {(Check | Check[])[]} */
function checks(scratch) {
  const setUp = () => succeeds(process.execPath, ["scripts/setup.mjs"], 45);
  return [
    { name: "set-up", fatal: true, body: setUp },
    { name: "set-up of other languages", body: setUpLanguages },
    checksBesideTests(scratch),
    { name: "npm run test:all", body: () => test(scratch) },
  ];
}

// Package managers and test tools behave differently where this is set: a run by hand has to find what CI finds.
process.env["CI"] = "true";

await runScript(".ci/run", import.meta.filename, () =>
  withTemporaryFolder("ci", (scratch) => runChecks(checks(scratch), (line) => console.log(line))),
);
