// @ts-check
import { paint, print, quote } from "./terminal.mjs";

/**
 * @typedef {import("./drift.mjs").Difference} Difference
 * @typedef {import("./server.mjs").Request} Request
 * @typedef {import("./server.mjs").Server} Server
 * @typedef {import("./server.mjs").State} State
 * @typedef {import("./stack.mjs").Outcome} Outcome
 * @typedef {import("./stack.mjs").TourStack} Stack
 * @typedef {import("./stack.mjs").CommandOutput} CommandOutput
 * @typedef {import("./steps.mjs").StepRun} StepRun
 *
 * @typedef {object} HandChange
 * @property {string} sentence
 * @property {"PATCH" | "DELETE"} method
 * @property {string} collection
 * @property {string} uid
 * @property {string} [updateMask]
 * @property {unknown} [body]
 * @property {Difference[]} drift What a refresh must find; empty where the resource is gone.
 * @property {{ method: string, uid: string, body: unknown }} repair What must be sent to undo it.
 */

/** The CLI's exit code where `--expect-no-changes` finds changes. */
export const EXIT_CHANGES = 7;

/** What the steps of the demo share: stack and server, and what earlier steps found. */
export class Tour {
  /** What the program declares, as the server has it. @type {State} */
  declared = {};
  /** @type {HandChange[]} */
  handChanges = [];

  /**
   * @param {Stack} stack
   * @param {Server} server
   * @param {{ verbose: boolean, redact: (text: string) => string }} options
   */
  constructor(stack, server, options) {
    this.stack = stack;
    this.server = server;
    this.options = options;
  }

  /**
   * Runs a command that must not fail; finding changes where none are expected is not a failure.
   * @param {StepRun} step
   * @param {string[]} args
   * @param {{ cwd?: string, then?: string[], env?: Record<string, string>, expected?: number[] }} [options] `then`: the lines
   *   of the command that reads its output; `expected`: the exit codes of a success.
   * @returns {Promise<Outcome>}
   */
  async run(step, args, { cwd, then, env, expected } = {}) {
    this.#printCommand(`pulumi ${args.join(" ")}`, then);
    const outcome = await this.stack.runPulumi(args, { cwd, env });
    const usual = args.includes("--expect-no-changes") ? [0, EXIT_CHANGES] : [0];
    this.#checkExitCode(step, `pulumi ${args.join(" ")}`, outcome, expected ?? usual);
    return outcome;
  }

  /**
   * Runs a command of this package.
   * @param {StepRun} step
   * @param {string[]} args
   * @param {{ expected: number[], input?: string, cwd?: string, quiet?: boolean }} options `expected`: the exit codes
   *   of a success; `quiet`: the command was shown already.
   * @returns {Promise<CommandOutput>}
   */
  async runPlatform(step, args, { expected, quiet, ...options }) {
    const command = `pulumi-platform ${args.join(" ")}`;
    if (!quiet) this.#printCommand(command);
    const outcome = await this.stack.platform(args, options);
    this.#checkExitCode(step, command, outcome, expected);
    return outcome;
  }

  /** @param {string} command @param {string[]} [then] */
  #printCommand(command, then) {
    const text = this.server.withNames(command);
    print(`${paint("dim", "$")} ${paint("cyan", then === undefined ? text : `${text} |`)}`);
    for (const line of then ?? []) print(`    ${paint("cyan", line)}`);
  }

  /** @param {StepRun} step @param {string} command @param {CommandOutput} outcome @param {number[]} expected */
  #checkExitCode(step, command, { code, output }, expected) {
    step.output = output;
    if (this.options.verbose) quote(this.options.redact(output));
    if (!expected.includes(code)) throw new Error(`${command} ended with exit code ${code}`);
  }

  /** @param {Request[]} requests */
  printRequests(requests) {
    for (const { method, collection, uid, query, body } of requests) {
      const address = `${collection}/${this.server.withNames(uid)}`.replace(/\/$/, "");
      const queryText = query === "" ? "" : paint("yellow", `?${query}`);
      print(`${paint("bold", method.padEnd(6))} ${address}${queryText}`);
      if (body !== undefined) print(paint("dim", `       ${this.server.withNames(JSON.stringify(body))}`));
    }
  }
}
