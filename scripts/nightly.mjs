// @ts-check
import { randomInt } from "node:crypto";
import path from "node:path";
import { messageOf, run, withSignals } from "./lib/processes.mjs";
import { ensureReady, root } from "./setup.mjs";

/*
 * npm run test:nightly [-- --seed 123] [-- --only <word>]
 *
 * Runs the random suites with many seeds that no run has tried before. The first lines name the seed; with it a run is the
 * same again.
 */

/**
 * @typedef {object} Suite
 * @property {string} name
 * @property {Record<string, string>} [env]
 * @property {string} command
 * @property {string[]} args
 */

/** @param {number} seed @returns {Suite[]} */
export function suitesOf(seed) {
  const test = (/** @type {string[]} */ ...args) => ["run", "--silent", "test:all", "--", ...args];
  return [
    {
      name: "properties",
      env: { PROPERTY_SEED: String(seed) },
      command: "npm",
      args: test("--selectProjects", "unit"),
    },
    {
      name: "adoption and drift of organisations",
      env: { PULUMI_PLATFORM_SEEDS: "50" },
      command: "npm",
      args: test("test/engine/adopt", "test/engine/drift"),
    },
    {
      name: "reviews against what the server holds",
      env: { REVIEW_ORGANISATIONS: "20", REVIEW_ROUNDS: "10", REVIEW_SEED: String(seed) },
      command: "npm",
      args: test("test/engine/reviewOracle"),
    },
    {
      name: "random hostile programs",
      env: { ADVERSARIAL_RANDOM: "100", ADVERSARIAL_SEED: String(seed) },
      command: "npm",
      args: test("test/adversarial/random"),
    },
    {
      name: "all hostile programs, applied",
      env: { ADVERSARIAL: "all" },
      command: "npm",
      args: test("test/adversarial/corpus"),
    },
    {
      name: "faults",
      command: "npm",
      args: ["run", "--silent", "chaos", "--", "--seeds", "50", "--first", String(seed)],
    },
    {
      name: "killed processes",
      command: "npm",
      args: ["run", "--silent", "chaos", "--", "--kill", "--seeds", "25", "--first", String(seed)],
    },
  ];
}

/** @param {string[]} args @param {string} name */
function valueOf(args, name) {
  const at = args.indexOf(name);
  return at < 0 ? undefined : args[at + 1];
}

/** @param {string[]} args */
async function main(args) {
  const seed = Number(valueOf(args, "--seed") ?? randomInt(1, 1_000_000));
  if (!Number.isInteger(seed) || seed < 1) throw new Error("--seed must be a whole number greater than 0");
  const only = valueOf(args, "--only") ?? "";
  const cli = await ensureReady();
  const failed = [];
  for (const { name, env, command, args: rest } of suitesOf(seed).filter((suite) =>
    suite.name.includes(only),
  )) {
    console.log(`== ${name}: seed ${seed}, ${JSON.stringify(env ?? {})}`);
    const { code } = await run(command, rest, {
      cwd: root,
      env: {
        ...process.env,
        ...(cli === undefined ? {} : { PULUMI_PLATFORM_CLI_DIR: cli.pulumiDir }),
        ...env,
      },
      output: "inherit",
    });
    if (code !== 0) failed.push(name);
  }
  console.log(
    failed.length === 0 ? `all passed with seed ${seed}` : `FAILED with seed ${seed}: ${failed.join("; ")}`,
  );
  process.exitCode = failed.length === 0 ? 0 : 1;
}

if (process.argv[1] === path.join(import.meta.dirname, "nightly.mjs")) {
  withSignals(() => main(process.argv.slice(2))).catch((error) => {
    console.error(`nightly: ${messageOf(error)}`);
    process.exitCode = 1;
  });
}
