// @ts-check
import path from "node:path";
import { parseArgs } from "node:util";
import { buildProblem, dependencyProblem } from "./lib/checkout.mjs";
import { withLock } from "./lib/lock.mjs";
import { runScript, runToSuccess, withSignals } from "./lib/processes.mjs";
import { obtainPulumi } from "./lib/pulumi.mjs";

/** @typedef {import("./lib/pulumi.mjs").PulumiCli} PulumiCli */

export const root = path.dirname(import.meta.dirname);

/**
 * Makes the checkout ready. Progress goes to standard error.
 * @param {string} [checkout]
 * @returns {Promise<PulumiCli>}
 */
export async function ensureReady(checkout = root) {
  const start = performance.now();
  const seconds = () => `${((performance.now() - start) / 1000).toFixed(1)} s`;
  const log = (/** @type {string} */ line) => console.error(`set-up: ${line}`);
  return await withSignals(async () => {
    const at = { root: checkout, env: process.env, log };
    if (checkoutProblem(checkout) !== undefined)
      await withLock(path.join(checkout, ".cache", "set-up.lock"), () => prepareCheckout(at), log);
    const cli = await obtainPulumi(at);
    log(`ready (${seconds()})`);
    return cli;
  });
}

/** @param {string} checkout */
const checkoutProblem = (checkout) => dependencyProblem(checkout) ?? buildProblem(checkout);

/** @param {import("./lib/pulumi.mjs").SetupContext} at */
async function prepareCheckout({ root: cwd, log }) {
  const missing = dependencyProblem(cwd);
  if (missing !== undefined) {
    log(`npm dependencies: ${missing}; installing takes about half a minute`);
    // Without --include=dev a NODE_ENV of "production" would leave out the compiler.
    await runToSuccess("npm", ["ci", "--include=dev", "--no-audit", "--no-fund"], { cwd });
  }
  const stale = buildProblem(cwd);
  if (stale === undefined) return;
  log(`build: ${stale}`);
  await runToSuccess("npm", ["run", "--silent", "build"], { cwd });
}

/** @param {string} text */
const shellQuoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * Makes this checkout ready: npm dependencies, build, Pulumi CLI. Does only what is missing, and prints the shell commands that
 * put the CLI on PATH.
 * @param {string[]} args
 */
async function main(args) {
  parseArgs({ args, options: {} });
  const { pulumiDir } = await ensureReady();
  console.log(`export PATH=${shellQuoted(pulumiDir)}:"$PATH"`);
  console.log(`export PULUMI_PLATFORM_CLI_DIR=${shellQuoted(pulumiDir)}`);
}

await runScript("set-up failed", import.meta.filename, main);
