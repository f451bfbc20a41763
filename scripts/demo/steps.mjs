// @ts-check
import { performance } from "node:perf_hooks";
import { excerpt, errorMessage } from "../lib/processes.mjs";
import { heading, paint, print, quote, say, formatSeconds, WIDTH } from "./terminal.mjs";

const QUOTED_LINES = 60;

/**
 * @typedef {object} Check
 * @property {string} claim
 * @property {boolean} holds
 * @property {string} found What was measured.
 *
 * @typedef {object} Step
 * @property {string} title
 * @property {string} intent What is being done, in a sentence.
 * @property {(step: StepRun) => Promise<void>} run
 */

/** One step while it runs: what it finds out, and what to show when it fails. */
export class StepRun {
  /** @type {Check[]} */
  checks = [];
  /** What the last command printed. */
  output = "";
  /** @type {number | undefined} */
  ms;

  /** @param {string} claim @param {boolean} holds @param {string} found */
  check(claim, holds, found) {
    this.checks.push({ claim, holds, found });
  }

  get failed() {
    return this.checks.some(({ holds }) => !holds);
  }
}

/**
 * Runs the steps in their order, up to the first that fails.
 * @param {Step[]} steps
 * @param {object} options
 * @param {(text: string) => string} options.redact
 * @param {() => Promise<void>} options.unlessInterrupted Never returns once somebody has ended the demo: what
 *   then fails says nothing.
 * @returns {Promise<(StepRun | undefined)[]>} Nothing for a step that was not run.
 */
export async function runSteps(steps, { redact, unlessInterrupted }) {
  /** @type {(StepRun | undefined)[]} */
  const runs = [];
  for (const [index, step] of steps.entries()) {
    if (runs.some((run) => run === undefined || run.failed)) {
      runs.push(undefined);
      continue;
    }
    heading(`${index + 1}  ${step.title}`);
    say(step.intent);
    print();
    const run = new StepRun();
    runs.push(run);
    const start = performance.now();
    try {
      await step.run(run);
    } catch (error) {
      run.check("the step runs to its end", false, redact(errorMessage(error)));
    }
    await unlessInterrupted();
    run.ms = performance.now() - start;
    if (run.failed) explainFailure(run, redact);
    print();
    print(paint("dim", formatSeconds(run.ms)));
  }
  return runs;
}

/** @param {StepRun} run @param {(text: string) => string} redact */
function explainFailure(run, redact) {
  print();
  for (const check of run.checks.filter(({ holds }) => !holds)) printCheck(check);
  if (run.output === "") return;
  print();
  print("What the last command printed:");
  quote(redact(excerpt(run.output, QUOTED_LINES)));
}

/** @param {Check} check */
function printCheck({ claim, holds, found }) {
  const style = holds ? "dim" : "red";
  const sign = holds ? paint("green", "✓") : paint("red", "✗");
  const fits = !found.includes("\n") && claim.length + found.length + 4 < WIDTH;
  print(`${sign} ${claim}${fits ? paint(style, `: ${found}`) : ""}`);
  if (fits) return;
  for (const line of found.split("\n")) print(`  ${paint(style, line)}`);
}

/**
 * @param {Step[]} steps
 * @param {(StepRun | undefined)[]} runs
 */
export function printChecks(steps, runs) {
  heading("What was checked");
  for (const [index, step] of steps.entries()) {
    const run = runs[index];
    const time = run?.ms === undefined ? "not run" : formatSeconds(run.ms);
    // Steps that were not run make one block.
    if (index > 0 && runs[index - 1] !== undefined) print();
    print(`${paint("bold", `${index + 1}  ${step.title}`)}  ${paint("dim", time)}`);
    for (const check of run?.checks ?? []) printCheck(check);
  }
}
