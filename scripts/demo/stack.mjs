// @ts-check
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { run } from "../lib/processes.mjs";
import { CALL_MS, Stack } from "../lib/stack.mjs";

/**
 * @typedef {object} Change A resource line of the CLI.
 * @property {string} sign
 * @property {string} kind
 * @property {string} name
 * @property {string} verb
 * @property {string} diff As in `~description`; empty for most.
 *
 * @typedef {object} Outcome
 * @property {number} code
 * @property {string} stdout
 * @property {string} output
 * @property {Change[]} changes What was done, in its order, without the stack itself.
 * @property {Record<string, number>} counts The CLI's own summary, as in `{ created: 11 }`.
 *
 * @typedef {object} Edit
 * @property {string} from
 * @property {string} to
 */

/** @typedef {{ code: number, stdout: string, output: string }} CommandOutput The result of a command of this package. */

/** The stack of the tour. */
export class TourStack extends Stack {
  /** Folders of programs whose types a run has checked. @type {Set<string>} */
  #checked = new Set();

  /**
   * Runs a command of the Pulumi CLI.
   * @param {string[]} args
   * @param {{ cwd?: string, env?: Record<string, string> }} [options] `cwd`: the program's folder by default.
   * @returns {Promise<Outcome>}
   */
  async runPulumi(args, { cwd = this.program, env: more } = {}) {
    // Checking the types takes longer than the rest: the first run of each program does, as for everybody.
    const env = this.#checked.has(cwd) ? { PULUMI_NODEJS_TRANSPILE_ONLY: "true" } : {};
    if (/^(up|preview)$/.test(args[0] ?? "")) this.#checked.add(cwd);
    const { code, stdout, output } = await this.pulumi(args, { cwd, env: { ...env, ...more } });
    return { code, stdout, output, changes: changesIn(stdout), counts: countsIn(stdout) };
  }

  /**
   * Runs a command of this package, as it runs from `npx`.
   * @param {string[]} args
   * @param {{ input?: string, cwd?: string }} options `cwd`: the program's folder by default.
   * @returns {Promise<CommandOutput>}
   */
  async platform(args, { input, cwd = this.program }) {
    const main = path.join(this.root, "dist", "provider", "cli", "main.js");
    const { code, stdout, output, timedOut } = await run(process.execPath, [main, ...args], {
      cwd,
      env: this.env,
      input,
      timeoutMs: CALL_MS,
    });
    // It has run a preview.
    if (args.includes("--write-state")) this.#checked.add(cwd);
    if (timedOut) {
      throw new Error(`pulumi-platform ${args.join(" ")} was not done after ${CALL_MS / 1000} seconds`);
    }
    return { code, stdout, output };
  }

  /**
   * Edits the program; each text must be there once.
   * @param {Edit[]} edits
   * @returns {{ line: number, before: string, after: string }[]} The lines that changed.
   */
  edit(edits) {
    const file = path.join(this.program, "index.ts");
    const before = readFileSync(file, "utf8");
    let after = before;
    for (const { from, to } of edits) {
      if (after.split(from).length !== 2) throw new Error(`the example no longer holds ${from} once`);
      after = after.replace(from, () => to);
    }
    writeFileSync(file, after);
    const lines = after.split("\n");
    return before
      .split("\n")
      .map((line, index) => ({ line: index + 1, before: line, after: lines[index] ?? "" }))
      .filter((line) => line.before !== line.after);
  }

  /** The files of the tour, programs and states and reports, that hold a text. @param {string} text */
  filesWith(text) {
    /** @type {string[]} */
    const files = [];
    /** @param {string} folder */
    const visit = (folder) => {
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        const file = path.join(folder, entry.name);
        if (entry.isDirectory()) visit(file);
        else if (entry.isFile()) files.push(file);
      }
    };
    visit(this.folder);
    return { searched: files.length, found: files.filter((file) => readFileSync(file).includes(text)) };
  }
}

/** @param {string} stdout @returns {Change[]} */
function changesIn(stdout) {
  const line =
    /^ *(\+|-|~|\+-|\+\+|--) +pulumi-nodejs:dynamic\/\w+:(\w+) (\S+) (created|updated|deleted|replaced|created replacement|deleted original)\b(?:.*\[diff: ([^\]]*)\])?/;
  return stdout.split("\n").flatMap((text) => {
    const [, sign = "", kind = "", name = "", verb = "", diff = ""] = line.exec(text) ?? [];
    return kind === "" ? [] : [{ sign, kind, name, verb, diff }];
  });
}

/** @param {string} stdout */
function countsIn(stdout) {
  const summary = stdout.slice(Math.max(0, stdout.lastIndexOf("\nResources:")));
  /** @type {Record<string, number>} */
  const counts = {};
  for (const [, count, what] of summary.matchAll(/(\d+) (created|updated|deleted|replaced|unchanged)\b/g)) {
    if (what !== undefined) counts[what] = Number(count);
  }
  return counts;
}
