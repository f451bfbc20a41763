// @ts-check
import os from "node:os";

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
      const result = await runCheck(check);
      for (const line of result.lines) print(line);
      results[i] = result;
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
