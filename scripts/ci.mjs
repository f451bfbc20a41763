// @ts-check
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { obtainBrowser } from "./lib/browser.mjs";
import { withTemporaryFolder } from "./lib/files.mjs";
import { excerpt, run, runScript } from "./lib/processes.mjs";

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

/** npm's default registry: a lockfile that names another host does not install elsewhere. */
const DEFAULT_REGISTRY = "https://registry.npmjs.org/";

/**
 * @typedef {object} Counts
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 *
 * @typedef {Counts & { problems: string[] }} Outcome
 *
 * @typedef {object} Check
 * @property {string} name
 * @property {boolean} [fatal] Nothing after it makes sense when it fails.
 * @property {() => Promise<Outcome>} body
 */

/** @param {string[]} problems @returns {Outcome} One check, passed when there are no problems. */
export function outcomeOf(problems) {
  const failed = problems.length === 0 ? 0 : 1;
  return { passed: 1 - failed, failed, skipped: 0, problems };
}

/**
 * What a jest run counts for. Whatever makes the result doubtful is a failure, so that a run that broke off can never look
 * like a successful one.
 * @param {string} text The JSON that jest wrote.
 * @param {number} exitCode
 * @returns {Outcome}
 */
export function outcomeOfJest(text, exitCode) {
  const result = JSON.parse(text);
  const counts = {
    passed: result.numPassedTests,
    // A file that cannot be loaded fails without a failed test.
    failed: result.numFailedTests + result.numRuntimeErrorTestSuites,
    skipped: result.numPendingTests + result.numTodoTests,
  };
  const isGood = exitCode === 0 && result.success === true && !result.wasInterrupted && counts.passed > 0;
  if (counts.failed > 0 || isGood) return { ...counts, problems: [] };
  const problem = `jest ended with exit code ${exitCode} after ${counts.passed} passed tests and no failed one`;
  return { ...counts, failed: 1, problems: [problem] };
}

/** @param {any} lockfile @returns {string[]} */
export function lockfileProblems(lockfile) {
  const entries = Object.entries(lockfile?.packages ?? {});
  if (entries.length === 0) return ["package-lock.json lists no packages"];
  const installed = entries.filter(([key, entry]) => key.includes("node_modules/") && !entry.link);
  return [
    ...installed
      .filter(([, { resolved }]) => resolved !== undefined && !String(resolved).startsWith(DEFAULT_REGISTRY))
      .map(([key, entry]) => `${key} is resolved to ${entry.resolved}`),
    ...installed
      .filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(String(integrity)))
      .map(([key]) => `${key} has no integrity: write the lockfile anew, in a folder without node_modules`),
  ];
}

/**
 * Checks workflows of GitHub Actions by actionlint, which is built from the module that `scripts/lint` pins.
 * @param {{ root: string, folder: string, scratch: string }} at `folder`: holds the workflows.
 * @returns {Promise<{ problems: string[] } | { reason: string }>} `reason`: why actionlint could not be built.
 */
export async function lintWorkflows({ root, folder, scratch }) {
  const module = path.join(root, "scripts", "lint", "actionlint");
  const tool = /^tool (\S+)$/m.exec(readFileSync(path.join(module, "go.mod"), "utf8"))?.[1];
  if (tool === undefined) throw new Error("scripts/lint/actionlint/go.mod names no tool");
  const binary = path.join(scratch, "actionlint");
  const build = await run("go", ["build", "-mod=readonly", "-o", binary, tool], {
    cwd: module,
    env: { ...process.env, GOWORK: "off", CGO_ENABLED: "0" },
    timeoutMs: 5 * MINUTE_MS,
  }).catch((error) => ({ code: 1, output: String(error) }));
  if (build.code !== 0) return { reason: `go build ${tool} failed:\n${excerpt(build.output)}` };
  const workflows = readdirSync(folder).filter((name) => name.endsWith(".yml") && name !== "gitlab-ci.yml");
  if (workflows.length === 0) return { problems: [`${folder} holds no workflow`] };
  // Other linters, where a machine has them, would make the result depend on the machine.
  const args = ["-no-color", "-oneline", "-shellcheck=", "-pyflakes=", ...workflows];
  const cwd = asProject({ root, folder, workflows, scratch });
  const { code, output } = await run(binary, args, { cwd, timeoutMs: MINUTE_MS });
  const lines = output.split("\n").filter((line) => line !== "");
  if (code === 0) return { problems: [] };
  return { problems: lines.length === 0 ? [`actionlint: exit code ${code}`] : lines };
}

/** An action of this repository, as the examples name it: whoever copies one puts the owner and a commit there. */
const ownAction = /\b[\w-]+\/pulumi-platform\/(actions\/[\w-]+)@v\d+\.\d+\.\d+/g;

/**
 * Copies the workflows beside the actions of this repository, where actionlint compares the inputs of both.
 * @param {{ root: string, folder: string, workflows: string[], scratch: string }} at
 * @returns {string} The folder of the copies.
 */
function asProject({ root, folder, workflows, scratch }) {
  const project = mkdtempSync(path.join(scratch, "workflows-"));
  const copies = path.join(project, ".github", "workflows");
  mkdirSync(copies, { recursive: true });
  mkdirSync(path.join(project, ".git"));
  const actions = path.join(root, "actions");
  if (existsSync(actions)) cpSync(actions, path.join(project, "actions"), { recursive: true });
  for (const name of workflows) {
    const text = readFileSync(path.join(folder, name), "utf8").replaceAll(ownAction, "./$1");
    writeFileSync(path.join(copies, name), text);
  }
  return copies;
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
  const browser = await obtainBrowser(console.log);
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
    // The nightly suites run it with the full number of objects.
    { name: "reviews of large and hostile previews", body: () => npmRun("bench:review") },
    { name: "site", body: () => testSite(scratch) },
    { name: "bench --quick", body: () => npmRun("bench", "--", "--quick") },
    { name: "format", body: () => npmRun("check:format") },
    { name: "demo", body: () => npmRun("demo") },
    { name: "boundaries", body: () => npmRun("check:boundaries") },
    { name: "lint and types", body: () => npmRun("check:lint") },
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

/** @param {Counts} counts */
function summaryLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`;
}

/** @param {Check} check @returns {Promise<{ outcome: Outcome, lines: string[] }>} */
async function runCheck({ name, body }) {
  const start = Date.now();
  const outcome = await body().catch((error) => outcomeOf([String(error?.message ?? error)]));
  const seconds = ((Date.now() - start) / 1000).toFixed(1);
  const line = `${outcome.failed === 0 ? "ok    " : "FAILED"} ${name}: ${summaryLine(outcome)} (${seconds} s)`;
  return { outcome, lines: [line, ...outcome.problems.map((problem) => `       ${problem}`)] };
}

/**
 * Starts the checks in their order, as processors become free. One more than there are processors runs at once, since
 * each waits now and then for files, processes or the network.
 * @param {Check[]} group
 * @param {(line: string) => void} print
 */
async function runGroup(group, print) {
  /** @type {Awaited<ReturnType<typeof runCheck>>[]} */
  const results = [];
  const remaining = group.entries();
  const work = async () => {
    for (const [i, check] of remaining) {
      results[i] = await runCheck(check);
      for (const line of results[i]?.lines ?? []) print(line);
    }
  };
  await Promise.all(Array.from({ length: os.availableParallelism() + 1 }, work));
  return results;
}

/**
 * Runs the checks one after the other, those of a list side by side, and prints what came out, the counts last.
 * @param {(Check | Check[])[]} checks
 * @param {(line: string) => void} print
 * @returns {Promise<number>} The exit code.
 */
export async function runChecks(checks, print) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  /** @type {string[]} */
  const lines = [];
  for (const group of checks.map((check) => [check].flat()).filter(({ length }) => length > 0)) {
    print(`== ${group.map(({ name }) => name).join(", ")}`);
    const results = await runGroup(group, print);
    for (const { outcome, lines: own } of results) {
      total.passed += outcome.passed;
      total.failed += outcome.failed;
      total.skipped += outcome.skipped;
      lines.push(...own);
    }
    if (group.some(({ fatal }, i) => fatal && (results[i]?.outcome.failed ?? 0) > 0)) break;
  }
  print("== all checks");
  for (const line of lines) print(line);
  print(summaryLine(total));
  return total.failed === 0 && total.passed > 0 ? 0 : 1;
}

// Package managers and test tools behave differently where this is set: a run by hand has to find what CI finds.
process.env["CI"] = "true";

await runScript(".ci/run", import.meta.filename, () =>
  withTemporaryFolder("ci", (scratch) => runChecks(checks(scratch), (line) => console.log(line))),
);
