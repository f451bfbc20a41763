// @ts-check
import { writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { compare, remainingObjects, listProblems, listRecorded } from "./chaos/compare.mjs";
import { createFaults, TIMEOUT_MS } from "./chaos/faults.mjs";
import { generateProgram } from "./chaos/organisation.mjs";
import { killDuring } from "./chaos/kill.mjs";
import { withStack } from "./lib/emulator.mjs";
import { excerpt, runScript } from "./lib/processes.mjs";
import { quickProcesses } from "./lib/stack.mjs";
import { givenOrFoundCli, root } from "./setup.mjs";

const USAGE = `npm run chaos -- [--seeds 10] [--first 1] [--resources 300] [--share 0.2]
                 faults on a share of all requests: three runs of up at most, then destroy, each seed its own
npm run chaos -- --kill [--seeds 50] [--resources 60]
                 the engine or the provider's process is killed in the middle of up
--parallel 1     so many seeds at once

Seeds that are even run without batching.`;

const MOST_RUNS = 3;
const TOKEN = "chaos-token-0123456789";

/** Whether a seed runs with batched creates: every second one, so that both ways are tested. @param {number} seed */
const isBatching = (seed) => seed % 2 === 1;

const seconds = (/** @type {number} */ since) => `${((Date.now() - since) / 1000).toFixed(1)} s`;

/** @typedef {import("./chaos/kill.mjs").ChaosContext} ChaosContext */

/**
 * Runs `body` with a new emulator and an empty stack on it.
 * @template T
 * @param {import("./lib/pulumiCache.mjs").PulumiCli} cli
 * @param {number} seed
 * @param {(context: ChaosContext) => Promise<T>} body
 */
function withEmptyStack(cli, seed, body) {
  const env = {
    PLATFORM_TIMEOUT: `${TIMEOUT_MS}ms`,
    PLATFORM_BATCHING: String(isBatching(seed)),
    ...quickProcesses(root),
  };
  const example = path.join(root, "scripts", "chaos", "program");
  return withStack(
    "chaos",
    { root, example, cli, env, emulator: { token: TOKEN } },
    async (stack, emulator) => {
      const declare = (/** @type {object} */ resources) =>
        writeFileSync(path.join(stack.program, "resources.json"), JSON.stringify(resources));
      declare({});
      await stack.succeed(["stack", "init", "chaos"]);
      return body({ emulator, stack, declare });
    },
  );
}

/** Runs a command until it succeeds, at most `MOST_RUNS` times. @param {import("./lib/stack.mjs").Stack} stack @param {string} command */
async function runUntilItSucceeds(stack, command) {
  const args = [command, "--yes", "--skip-preview", "--continue-on-error", "--non-interactive"];
  for (let runs = 1; ; runs += 1) {
    const { code, output } = await stack.pulumi(args);
    const problems = code === 0 ? [] : [`the last ${command} ended with ${code}:\n${excerpt(output)}`];
    if (code === 0 || runs === MOST_RUNS) return { runs, problems };
  }
}

/**
 * Runs `up` and `destroy` with faults on a share of all requests, and compares what is created with what is declared.
 * @param {ChaosContext} context
 * @param {{ seed: number, declared: Record<string, any>, share: number }} options
 */
async function faultDuring({ emulator, stack, declare }, { seed, declared, share }) {
  declare(declared);
  for (const fault of createFaults(seed, share)) emulator.addFault(fault);
  emulator.settings({ newGroupRefusalMs: 300 });
  const began = Date.now();
  const up = await runUntilItSucceeds(stack, "up");
  const found = listProblems(compare(declared, listRecorded(await stack.export()), emulator.state()));
  const down = await runUntilItSucceeds(stack, "destroy");
  const left = remainingObjects(emulator.state()).map((object) => `left after destroy: ${object}`);
  const requests = emulator.requests.length;
  const hit = emulator.requests.filter((/** @type {any} */ { fault }) => fault !== undefined).length;
  const summary = `${Object.keys(declared).length} resources, ${requests} requests, ${hit} of them hit, ${up.runs} up, ${down.runs} destroy, ${seconds(began)}`;
  return { summary, problems: [...found, ...up.problems, ...left, ...down.problems] };
}

/** @param {string[]} args */
function readArguments(args) {
  const { values } = parseArgs({
    args,
    options: {
      seeds: { type: "string" },
      first: { type: "string", default: "1" },
      resources: { type: "string" },
      share: { type: "string", default: "0.2" },
      parallel: { type: "string", default: "1" },
      kill: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  /** @param {"seeds" | "first" | "resources" | "share" | "parallel"} name @param {number} [fallback] */
  const number = (name, fallback) => {
    const given = Number(values[name] ?? fallback);
    const isWhole = name === "share" || Number.isInteger(given);
    if (!isWhole || !(given > 0) || (name === "share" && given > 1)) {
      throw new Error(`--${name} must be a number above 0${name === "share" ? ", at most 1" : ""}`);
    }
    return given;
  };
  return {
    ...values,
    seeds: number("seeds", values.kill ? 50 : 10),
    first: number("first"),
    resources: number("resources", values.kill ? 60 : 300),
    share: number("share"),
    parallel: number("parallel"),
  };
}

/** @param {string[]} args */
async function main(args) {
  const { seeds, first, resources, share, parallel, kill, help } = readArguments(args);
  if (help) return console.log(USAGE);
  const cli = await givenOrFoundCli();
  const began = Date.now();
  let failed = 0;
  const pendingSeeds = Array.from({ length: seeds }, (_, index) => first + index);
  const worker = async () => {
    for (let seed = pendingSeeds.shift(); seed !== undefined; seed = pendingSeeds.shift()) {
      const options = { seed, declared: generateProgram(seed, resources), share };
      const run = kill ? killDuring : faultDuring;
      const { summary, problems } = await withEmptyStack(cli, seed, (context) => run(context, options));
      const mode = isBatching(seed) ? "" : ", without batching";
      console.log(`seed ${seed}: ${problems.length === 0 ? "ok" : "FAILED"}: ${summary}${mode}`);
      for (const problem of problems) console.log(`  ${problem.replaceAll("\n", "\n  ")}`);
      if (problems.length > 0) failed += 1;
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  console.log(`${seeds - failed} of ${seeds} seeds ok (${seconds(began)})`);
  return failed === 0 ? 0 : 1;
}

await runScript("npm run chaos", import.meta.filename, main);
