// @ts-check
import { createRequire } from "node:module";
import { mkdtempSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { compare, leftOf, recordedIn } from "./chaos/compare.mjs";
import { faultsOf, TIMEOUT_MS } from "./chaos/faults.mjs";
import { organisationOf } from "./chaos/organisation.mjs";
import { killDuring } from "./chaos/kill.mjs";
import { requestsAtLimit } from "./chaos/limit.mjs";
import { cleanEnvironment, Stack } from "./demo/stack.mjs";
import { excerpt, messageOf, onEarlyEnd, remove, withSignals } from "./lib/processes.mjs";
import { randomOf } from "./lib/random.cjs";
import { ensureReady, root } from "./setup.mjs";

const USAGE = `npm run chaos -- [--seeds 10] [--first 1] [--resources 300] [--share 0.2]
                 faults on a share of all requests: three runs of up at most, then destroy, each seed its own
npm run chaos -- --kill [--seeds 50] [--resources 60]
                 the engine or the provider's process is killed in the middle of up
npm run chaos -- --limit [--requests 2000]
                 as many requests against a server that takes 50 a second
--parallel 1     so many seeds at once

Seeds that are even run without batching.`;

const MOST_RUNS = 3;
const TOKEN = "chaos-token-0123456789";

/** Both ways of sending requests are to hold. @param {number} seed */
const isBatching = (seed) => seed % 2 === 1;

const { startEmulator } = createRequire(import.meta.url)(path.join(root, "dist", "emulator", "index.js"));

const seconds = (/** @type {number} */ since) => `${((Date.now() - since) / 1000).toFixed(1)} s`;

/** The CLI that tests were given, or the one that set-up finds. */
async function findCli() {
  const given = process.env["PULUMI_PLATFORM_CLI_DIR"];
  if (given !== undefined && given !== "") {
    return { pulumi: path.join(given, "pulumi"), pulumiDir: given, version: "given" };
  }
  return await ensureReady();
}

/**
 * A server and an empty stack on it; both end with `body`.
 * @template T
 * @param {any} cli
 * @param {number} seed
 * @param {(context: { emulator: any, stack: Stack, declare: (resources: object) => void }) => Promise<T>} body
 */
async function withStack(cli, seed, body) {
  const folder = mkdtempSync(path.join(os.tmpdir(), "pulumi-platform-chaos-"));
  const discard = onEarlyEnd(() => remove(folder));
  const emulator = await startEmulator({ token: TOKEN });
  try {
    const env = {
      ...cleanEnvironment(process.env),
      PLATFORM_TIMEOUT: `${TIMEOUT_MS}ms`,
      PLATFORM_BATCHING: String(isBatching(seed)),
    };
    const example = path.join(root, "scripts", "chaos", "program");
    const stack = new Stack({ folder, root, example, cli, env, token: TOKEN, url: emulator.url });
    const declare = (/** @type {object} */ resources) =>
      writeFileSync(path.join(stack.program, "resources.json"), JSON.stringify(resources));
    declare({});
    const init = await stack.pulumi(["stack", "init", "chaos"]);
    if (init.code !== 0) throw new Error(`the stack could not be created:\n${excerpt(init.output)}`);
    return await body({ emulator, stack, declare });
  } finally {
    await emulator.close();
    discard();
  }
}

/** @param {Stack} stack */
async function exported(stack) {
  const { code, stdout, output } = await stack.pulumi(["stack", "export"]);
  if (code !== 0) throw new Error(`the state could not be read:\n${excerpt(output)}`);
  return JSON.parse(stdout);
}

/**
 * @param {any} cli
 * @param {{ seed: number, resources: number, share: number }} options
 */
function chaosOf(cli, { seed, resources, share }) {
  return withStack(cli, seed, async ({ emulator, stack, declare }) => {
    const declared = organisationOf(seed, resources);
    declare(declared);
    const arm = () => {
      for (const fault of faultsOf(seed, share)) emulator.addFault(fault);
    };
    arm();
    emulator.settings({ newGroupRefusalMs: 300 });
    const began = Date.now();
    /** @param {string[]} args */
    const repeat = async (args) => {
      for (let run = 1; ; run += 1) {
        const outcome = await stack.pulumi([
          ...args,
          "--yes",
          "--skip-preview",
          "--continue-on-error",
          "--non-interactive",
        ]);
        if (outcome.code === 0 || run === MOST_RUNS) return { ...outcome, runs: run };
      }
    };
    const up = await repeat(["up"]);
    const found = compare(declared, recordedIn(await exported(stack)), emulator.state());
    const problems = [...found.problems];
    problems.push(
      ...found.orphans.map(({ collection, resource }) => `too much: ${collection} ${resource["uid"]}`),
    );
    if (up.code !== 0) problems.push(`the last up ended with ${up.code}:\n${excerpt(up.output)}`);
    const down = await repeat(["destroy"]);
    problems.push(...leftOf(emulator.state()).map((each) => `left after destroy: ${each}`));
    if (down.code !== 0) problems.push(`the last destroy ended with ${down.code}:\n${excerpt(down.output)}`);
    const requests = emulator.requests.length;
    const hit = emulator.requests.filter((/** @type {any} */ { fault }) => fault !== undefined).length;
    const line = `${Object.keys(declared).length} resources, ${requests} requests, ${hit} of them hit, ${up.runs} up, ${down.runs} destroy, ${seconds(began)}`;
    return { line, problems };
  });
}

async function main() {
  const { values } = parseArgs({
    options: {
      seeds: { type: "string" },
      first: { type: "string", default: "1" },
      resources: { type: "string" },
      share: { type: "string", default: "0.2" },
      requests: { type: "string", default: "2000" },
      parallel: { type: "string", default: "1" },
      kill: { type: "boolean", default: false },
      limit: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  /** @param {"seeds" | "first" | "resources" | "share" | "requests" | "parallel"} name @param {number} fallback */
  const number = (name, fallback) => {
    const given = Number(values[name] ?? fallback);
    const isWhole = name === "share" || Number.isInteger(given);
    if (!isWhole || !(given > 0) || (name === "share" && given > 1)) {
      throw new Error(`--${name} must be a number above 0${name === "share" ? ", at most 1" : ""}`);
    }
    return given;
  };
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  if (values.limit) return await requestsAtLimit(startEmulator, number("requests", 2000));

  const cli = await findCli();
  const [seeds, first] = [number("seeds", values.kill ? 50 : 10), number("first", 1)];
  const resources = number("resources", values.kill ? 60 : 300);
  const share = number("share", 0.2);
  const began = Date.now();
  let failed = 0;
  const open = Array.from({ length: seeds }, (_, index) => first + index);
  const worker = async () => {
    for (let seed = open.shift(); seed !== undefined; seed = open.shift()) {
      const declared = organisationOf(seed, resources);
      const random = randomOf(seed);
      const { line, problems } = values.kill
        ? await withStack(cli, seed, (context) =>
            killDuring({ ...context, seed, declared, random, exported }),
          )
        : await chaosOf(cli, { seed, resources, share });
      const mode = isBatching(seed) ? "" : ", without batching";
      console.log(`seed ${seed}: ${problems.length === 0 ? "ok" : "FAILED"}: ${line}${mode}`);
      for (const problem of problems) console.log(`  ${problem.replaceAll("\n", "\n  ")}`);
      if (problems.length > 0) failed += 1;
    }
  };
  await Promise.all(Array.from({ length: number("parallel", 1) }, worker));
  console.log(`${seeds - failed} of ${seeds} seeds ok (${seconds(began)})`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await withSignals(main).catch((error) => {
  console.error(`npm run chaos: ${messageOf(error)}`);
  return 2;
});
