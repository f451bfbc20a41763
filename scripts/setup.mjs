// @ts-check
import { realpathSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import * as checkout from "./lib/checkout.mjs";
import { withLock } from "./lib/lock.mjs";
import { excerpt, messageOf, run, withSignals } from "./lib/processes.mjs";
import { findInstalled, obtain } from "./lib/pulumi.mjs";

/** @typedef {import("./lib/pulumi.mjs").PulumiCli} PulumiCli */

export const root = path.dirname(import.meta.dirname);

const usage = `Usage: node scripts/setup.mjs [options]

Makes this checkout ready: npm dependencies, build, Pulumi CLI. Does only what is missing.

  --print-env   print the shell commands that put the Pulumi CLI on PATH
  --find        print what is known of the Pulumi CLI as JSON and set up nothing
  --skip-cli    without the Pulumi CLI: enough for the unit tests
  --quiet       print errors only
`;

const seconds = (/** @type {number} */ since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/**
 * Makes the checkout ready. Progress goes to standard error.
 * @param {{ skipCli?: boolean, quiet?: boolean, env?: NodeJS.ProcessEnv, root?: string }} [options]
 * @returns {Promise<PulumiCli | undefined>} Nothing with `skipCli` only.
 */
export async function ensureReady(options = {}) {
  const at = {
    root: options.root ?? root,
    env: options.env ?? process.env,
    log: (/** @type {string} */ line) => {
      if (!options.quiet) console.error(`set-up: ${line}`);
    },
  };
  const start = performance.now();
  return await withSignals(async () => {
    const worked = await prepareCheckout(at);
    if (options.skipCli) {
      at.log(worked ? `ready (${seconds(start)})` : `nothing to do (${seconds(start)})`);
      return undefined;
    }
    const cliStart = performance.now();
    const found = await findInstalled(at);
    const cli = found ?? (await obtain(at));
    if (found === undefined) at.log(`Pulumi CLI ${cli.version} ... ${seconds(cliStart)}`);
    const idle = !worked && found !== undefined;
    at.log(`${idle ? "nothing to do" : "ready"} (${seconds(start)})`);
    return cli;
  });
}

/**
 * @param {import("./lib/pulumi.mjs").SetupContext} at
 * @returns {Promise<boolean>} Whether there was something to do.
 */
async function prepareCheckout(at) {
  const problem = () => checkout.dependencyProblem(at.root) ?? checkout.buildProblem(at.root);
  if (problem() === undefined) return false;
  const body = async () => {
    const reason = checkout.dependencyProblem(at.root);
    if (reason !== undefined) await installDependencies(at, reason);
    else checkout.noteInstaller(at.root);
    const stale = checkout.buildProblem(at.root);
    if (stale !== undefined) await build(at, stale);
  };
  await withLock(checkout.checkoutLock(at.root), body, {
    onWait: (holder) => at.log(`waiting for another set-up of this checkout (${holder})`),
  });
  return true;
}

/** @param {import("./lib/pulumi.mjs").SetupContext} at @param {string} reason */
async function installDependencies(at, reason) {
  const start = performance.now();
  at.log(`npm dependencies: ${reason}; installing takes about half a minute`);
  const install = checkout.beginInstall(at.root);
  // Without --include=dev a NODE_ENV of "production" would leave out the compiler.
  const args = ["ci", "--include=dev", "--no-audit", "--no-fund"];
  const { code, output } = await run("npm", args, { cwd: at.root, env: at.env });
  install.end(code === 0);
  if (code !== 0) throw new Error(`npm ci failed:\n${excerpt(output)}`);
  at.log(`npm dependencies ... ${seconds(start)}`);
}

/** @param {import("./lib/pulumi.mjs").SetupContext} at @param {string} reason */
async function build(at, reason) {
  const start = performance.now();
  const finish = checkout.beginBuild(at.root);
  const { code, output } = await run("npm", ["run", "--silent", "build"], { cwd: at.root, env: at.env });
  if (code !== 0) throw new Error(`npm run build failed:\n${excerpt(output)}`);
  finish();
  at.log(`build (${reason}) ... ${seconds(start)}`);
}

/**
 * The Pulumi CLI that set-up found or installed. Installs nothing; cheap enough to call in every test file.
 * @param {{ env?: NodeJS.ProcessEnv, root?: string, log?: (line: string) => void }} [options]
 * @returns {Promise<PulumiCli | undefined>}
 */
export async function findPulumi(options = {}) {
  return await findInstalled({
    root: options.root ?? root,
    env: options.env ?? process.env,
    log: options.log ?? (() => {}),
  });
}

/** @param {string} text */
const shellQuoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/** @param {string[]} args */
async function main(args) {
  const known = ["--print-env", "--find", "--skip-cli", "--quiet"];
  if (args.includes("--help") || args.includes("-h")) {
    console.log(usage);
    return;
  }
  const unknown = args.find((arg) => !known.includes(arg));
  if (unknown !== undefined) throw new Error(`unknown option ${unknown}\n\n${usage}`);
  if (args.includes("--find")) {
    console.log(JSON.stringify((await findPulumi()) ?? null));
    return;
  }
  const cli = await ensureReady({ skipCli: args.includes("--skip-cli"), quiet: args.includes("--quiet") });
  if (args.includes("--print-env") && cli !== undefined) {
    console.log(`export PATH=${shellQuoted(cli.pulumiDir)}:"$PATH"`);
    console.log(`export PULUMI_PLATFORM_CLI_DIR=${shellQuoted(cli.pulumiDir)}`);
  }
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  main(process.argv.slice(2)).catch((error) => {
    console.error(`set-up failed: ${messageOf(error)}`);
    process.exitCode = 1;
  });
}
