// @ts-check

/** npm's default registry: a lockfile that names another host does not install elsewhere. */
const DEFAULT_REGISTRY = "https://registry.npmjs.org/";
const LARGEST_FILE = 1024 * 1024;

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
 * What a jest run counts for. Whatever makes the result doubtful is one failure more, so that a run that
 * broke off can never look like a successful one.
 * @param {string | undefined} text The JSON that jest wrote.
 * @param {number} exitCode
 * @returns {Outcome}
 */
export function outcomeOfJest(text, exitCode) {
  /** @param {string} problem @param {Counts} [counts] @returns {Outcome} */
  const doubtful = (problem, counts = { passed: 0, failed: 0, skipped: 0 }) => ({
    ...counts,
    failed: counts.failed + 1,
    problems: [problem],
  });
  if (text === undefined) return doubtful(`jest wrote no result (exit code ${exitCode})`);
  let result;
  try {
    result = JSON.parse(text);
  } catch {
    return doubtful("jest's result is not JSON");
  }
  if (!Array.isArray(result?.testResults)) return doubtful("jest's result lists no test files");

  const counts = { passed: 0, failed: 0, skipped: 0 };
  const problems = [];
  for (const file of result.testResults) {
    /** @type {{ status: string, fullName: string }[]} */
    const tests = Array.isArray(file?.assertionResults) ? file.assertionResults : [];
    for (const { status, fullName } of tests) {
      if (status === "passed") counts.passed += 1;
      else if (["pending", "todo", "skipped", "disabled"].includes(status)) counts.skipped += 1;
      else {
        counts.failed += 1;
        problems.push(`${fullName}: ${status}`);
      }
    }
    // A file that could not be loaded fails without a failed test.
    if (file?.status === "failed" && !tests.some(({ status }) => status === "failed")) {
      counts.failed += 1;
      problems.push(`${file.name}: the file failed`);
    }
  }
  if (counts.passed + counts.failed === 0) return doubtful("jest ran no test", counts);
  if (result.numPassedTests !== counts.passed) {
    return doubtful(`jest says ${result.numPassedTests} passed but lists ${counts.passed}`, counts);
  }
  if (counts.failed === 0 && result.wasInterrupted === true) return doubtful("jest was interrupted", counts);
  if (counts.failed === 0 && (exitCode !== 0 || result.success !== true)) {
    return doubtful(`no test failed, but jest did (exit code ${exitCode})`, counts);
  }
  return { ...counts, problems };
}

/** @param {any} lockfile @returns {string[]} */
export function lockfileProblems(lockfile) {
  const entries = Object.entries(lockfile?.packages ?? {});
  if (entries.length === 0) return ["package-lock.json lists no packages"];
  return entries
    .filter(([, entry]) => entry.resolved !== undefined && !entry.link)
    .filter(([, entry]) => !String(entry.resolved).startsWith(DEFAULT_REGISTRY))
    .map(([key, entry]) => `${key} is resolved to ${entry.resolved}`);
}

/** @param {{ path: string, size: number }[]} files @returns {string[]} */
export function packageProblems(files) {
  const problems = files.flatMap(({ path, size }) => {
    if (/(^|\/)tests?\//.test(path) || /\.test\.[^/]+$/.test(path)) return [`${path} is a test`];
    if (/\.[cm]?tsx?$/.test(path) && !/\.d\.[cm]?ts$/.test(path)) return [`${path} is a source`];
    if (size > LARGEST_FILE) return [`${path} has ${size} bytes`];
    return [];
  });
  if (!files.some(({ path }) => path.startsWith("dist/") && path.endsWith(".js"))) {
    problems.push("the package holds no built code");
  }
  return problems;
}

/** The commands that run the tests: the README names both. */
const TEST_COMMANDS = ["npm test", "npm run test:all"];

/** @param {string} readme @returns {string[]} */
export function readmeProblems(readme) {
  // On a line or in backticks of its own: `npm test -- --something` would be another command.
  const isNamed = (/** @type {string} */ command) =>
    new RegExp(`^\\s*(?:\\$ )?${command}\\s*(?:#.*)?$|\`${command}\``, "m").test(readme);
  return TEST_COMMANDS.filter((command) => !isNamed(command)).map(
    (command) => `README.md does not name \`${command}\``,
  );
}

/** @param {Counts} counts */
export function summaryLine({ passed, failed, skipped }) {
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
 * Runs the checks one after the other, those of a list at the same time, and prints what came out, the counts last.
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
    const results = await Promise.all(group.map(runCheck));
    for (const { outcome, lines: own } of results) {
      total.passed += outcome.passed;
      total.failed += outcome.failed;
      total.skipped += outcome.skipped;
      for (const line of own) print(line);
      lines.push(...own);
    }
    if (group.some(({ fatal }, i) => fatal && (results[i]?.outcome.failed ?? 0) > 0)) break;
  }
  print("== all checks");
  for (const line of lines) print(line);
  print(summaryLine(total));
  return total.failed === 0 && total.passed > 0 ? 0 : 1;
}
