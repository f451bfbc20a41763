// @ts-check
import path from "node:path";
import { parseArgs } from "node:util";
import * as checkout from "./lib/checkout.mjs";
import { withLock } from "./lib/lock.mjs";
import { runScript, runToSuccess, withSignals } from "./lib/processes.mjs";

/** @typedef {import("./lib/pulumiCache.mjs").PulumiCli} PulumiCli */

export const root = path.dirname(import.meta.dirname);

const usage = `Usage: node scripts/setup.mjs [options]

Makes this checkout ready: npm dependencies, build, Pulumi CLI. Does only what is missing.

  --print-env   print the shell commands that put the Pulumi CLI on PATH
  --skip-cli    without the Pulumi CLI: enough for the unit tests
`;

const seconds = (/** @type {number} */ since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/**
 * Makes the checkout ready. Progress goes to standard error.
 * @param {{ skipCli?: boolean, env?: NodeJS.ProcessEnv, root?: string }} [options]
 * @returns {Promise<PulumiCli | undefined>} Nothing with `skipCli` only.
 */
export async function ensureReady(options = {}) {
  const at = {
    root: options.root ?? root,
    env: options.env ?? process.env,
    log: (/** @type {string} */ line) => console.error(`set-up: ${line}`),
  };
  const start = performance.now();
  return await withSignals(async () => {
    const worked = await prepareCheckout(at);
    if (options.skipCli) {
      at.log(worked ? `ready (${seconds(start)})` : `nothing to do (${seconds(start)})`);
      return undefined;
    }
    const cliStart = performance.now();
    const found = await findPulumi(at);
    const cli = found ?? (await (await import("./lib/obtainPulumi.mjs")).obtain(at));
    if (found === undefined) at.log(`Pulumi CLI ${cli.version} ... ${seconds(cliStart)}`);
    const idle = !worked && found !== undefined;
    at.log(`${idle ? "nothing to do" : "ready"} (${seconds(start)})`);
    return cli;
  });
}

/**
 * @param {import("./lib/pulumiCache.mjs").SetupContext} at
 * @returns {Promise<boolean>} Whether there was something to do.
 */
async function prepareCheckout(at) {
  const problem = () => checkout.dependencyProblem(at.root) ?? checkout.buildProblem(at.root);
  if (problem() === undefined) return false;
  const body = async () => {
    const reason = checkout.dependencyProblem(at.root);
    if (reason !== undefined) await installDependencies(at, reason);
    const stale = checkout.buildProblem(at.root);
    if (stale !== undefined) await build(at, stale);
  };
  await withLock(checkout.checkoutLock(at.root), body, {
    onWait: (holder) => at.log(`waiting for another set-up of this checkout (${holder})`),
  });
  return true;
}

/** @param {import("./lib/pulumiCache.mjs").SetupContext} at @param {string} reason */
async function installDependencies(at, reason) {
  const start = performance.now();
  at.log(`npm dependencies: ${reason}; installing takes about half a minute`);
  // Without --include=dev a NODE_ENV of "production" would leave out the compiler.
  const args = ["ci", "--include=dev", "--no-audit", "--no-fund"];
  await runToSuccess("npm", args, { cwd: at.root, env: at.env });
  at.log(`npm dependencies ... ${seconds(start)}`);
}

/** @param {import("./lib/pulumiCache.mjs").SetupContext} at @param {string} reason */
async function build(at, reason) {
  const start = performance.now();
  await runToSuccess("npm", ["run", "--silent", "build"], { cwd: at.root, env: at.env });
  at.log(`build (${reason}) ... ${seconds(start)}`);
}

/**
 * The Pulumi CLI that set-up found or installed. Installs nothing; cheap enough to call in every test file.
 * @param {{ env?: NodeJS.ProcessEnv, root?: string, log?: (line: string) => void }} [options]
 * @returns {Promise<PulumiCli | undefined>}
 */
export async function findPulumi(options = {}) {
  // Loads packages, which a checkout has only after the set-up of its dependencies.
  const { findInstalled } = await import("./lib/findPulumi.mjs");
  return await findInstalled({
    root: options.root ?? root,
    env: options.env ?? process.env,
    log: options.log ?? (() => {}),
  });
}

/** The CLI that tests were given, or the one that set-up finds or installs. @returns {Promise<PulumiCli>} */
export async function givenOrFoundCli() {
  const given = process.env["PULUMI_PLATFORM_CLI_DIR"];
  if (given) {
    return { pulumi: path.join(given, "pulumi"), pulumiDir: given, version: "given", source: "path" };
  }
  const cli = await ensureReady();
  if (cli === undefined) throw new Error("there is no Pulumi CLI");
  return cli;
}

/** @param {string} text */
const shellQuoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/** @param {string[]} argv */
async function main(argv) {
  const flag = { type: /** @type {const} */ ("boolean"), default: false };
  const { values } = parseArgs({
    args: argv,
    options: { "print-env": flag, "skip-cli": flag, help: { ...flag, short: "h" } },
  });
  if (values.help) return console.log(usage);
  const cli = await ensureReady({ skipCli: values["skip-cli"] });
  if (values["print-env"] && cli !== undefined) {
    console.log(`export PATH=${shellQuoted(cli.pulumiDir)}:"$PATH"`);
    console.log(`export PULUMI_PLATFORM_CLI_DIR=${shellQuoted(cli.pulumiDir)}`);
  }
}

await runScript("set-up failed", import.meta.filename, main);
