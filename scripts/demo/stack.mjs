// @ts-check
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { run } from "../lib/processes.mjs";

export const PASSPHRASE = "demo";
const CALL_MS = 300_000;

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

/** A variable that would lead the CLI or the provider elsewhere. */
const FOREIGN = /^(PLATFORM_|PULUMI_|NODE_OPTIONS$|FORCE_COLOR$)/;

/** The environment of every child. @param {NodeJS.ProcessEnv} env */
export function cleanEnvironment(env) {
  /** @type {NodeJS.ProcessEnv} */
  const clean = Object.fromEntries(Object.entries(env).filter(([name]) => !FOREIGN.test(name)));
  clean.NO_COLOR = "1";
  // A proxy cannot reach an address of this computer.
  for (const name of ["NO_PROXY", "no_proxy"]) {
    clean[name] = [env[name], "127.0.0.1", "localhost"].filter(Boolean).join(",");
  }
  return clean;
}

/** @typedef {{ code: number, stdout: string, output: string }} CommandOutput The result of a command of this package. */

/** A copy of an example with a stack of its own, on a file backend, all in one folder. */
export class Stack {
  /**
   * @param {object} options
   * @param {string} options.folder
   * @param {string} options.root
   * @param {string} options.example
   * @param {import("../lib/pulumi.mjs").PulumiCli} options.cli
   * @param {NodeJS.ProcessEnv} options.env
   * @param {string} options.token
   * @param {string} options.url The address of the API.
   */
  constructor({ folder, root, example, cli, env, token, url }) {
    this.cli = cli;
    this.folder = folder;
    this.root = root;
    this.program = path.join(folder, "program");
    this.backend = path.join(folder, "backend");
    const home = path.join(folder, "home");
    cpSync(example, this.program, {
      recursive: true,
      // Installed packages are linked below; stacks of somebody who runs the example are theirs.
      filter: (file) => !/^(node_modules|Pulumi\..+\.yaml)$/.test(path.basename(file)),
    });
    this.linkPackages(this.program);
    mkdirSync(this.backend);
    mkdirSync(home);
    /** Folders of programs whose types a run has checked. @type {Set<string>} */
    this.checked = new Set();
    this.env = {
      ...env,
      PATH: [cli.pulumiDir, env.PATH].join(path.delimiter),
      PULUMI_HOME: home,
      PULUMI_BACKEND_URL: `file://${this.backend}`,
      PULUMI_CONFIG_PASSPHRASE: PASSPHRASE,
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
      PLATFORM_BASE_URL: url,
      PLATFORM_TOKEN: token,
    };
  }

  /**
   * @param {string[]} args
   * @param {{ started?: (pid: number) => void, cwd?: string }} [options] `cwd`: the program's folder by default.
   * @returns {Promise<Outcome>}
   */
  async pulumi(args, { started, cwd = this.program } = {}) {
    // Checking the types takes longer than the rest: the first run of each program does, as for everybody.
    const env = this.checked.has(cwd) ? { ...this.env, PULUMI_NODEJS_TRANSPILE_ONLY: "true" } : this.env;
    if (/^(up|preview)$/.test(args[0] ?? "")) this.checked.add(cwd);
    const { code, stdout, output, timedOut } = await run(this.cli.pulumi, args, {
      cwd,
      env,
      timeoutMs: CALL_MS,
      started,
    });
    if (timedOut) throw new Error(`pulumi ${args.join(" ")} was not done after ${CALL_MS / 1000} seconds`);
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
    if (args.includes("--write-state")) this.checked.add(cwd);
    if (timedOut) {
      throw new Error(`pulumi-platform ${args.join(" ")} was not done after ${CALL_MS / 1000} seconds`);
    }
    return { code, stdout, output };
  }

  /**
   * What `npm install` would do in a folder of the tour. No more than that: each run of the program would load the
   * types of every package in the checkout.
   * @param {string} folder
   */
  linkPackages(folder) {
    for (const name of ["@pulumi/pulumi", "@types/node", "pulumi-platform", "typescript"]) {
      const link = path.join(folder, "node_modules", name);
      mkdirSync(path.dirname(link), { recursive: true });
      symlinkSync(path.join(this.root, "node_modules", name), link, "junction");
    }
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
