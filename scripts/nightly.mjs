// @ts-check
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { run, runScript } from "./lib/processes.mjs";
import { ensureReady, root } from "./setup.mjs";

/*
 * npm run test:nightly [-- --seed 123]
 *
 * Runs the random suites with many seeds that no run has tried before. The first lines name the seed; with it a run is the
 * same again.
 */

/**
 * The suites with the variables of each, and a script of package.json with its arguments.
 * @param {number} number @returns {{ name: string, env?: Record<string, string>, script: string[] }[]}
 */
export function suitesOf(number) {
  const seed = String(number);
  return [
    { name: "properties", env: { PROPERTY_SEED: seed }, script: ["test:all", "--selectProjects", "unit"] },
    {
      name: "adoption of organisations",
      env: { PULUMI_PLATFORM_SEEDS: "50" },
      script: ["test:all", "test/engine/adopt"],
    },
    {
      name: "reviews against what the server holds",
      env: { REVIEW_ORGANISATIONS: "20", REVIEW_ROUNDS: "10", REVIEW_SEED: seed },
      script: ["test:all", "test/engine/reviewOracle"],
    },
    {
      name: "hostile and honest programs and those of the package, in all combinations",
      env: { PROPERTY_SEED: seed },
      script: ["test:all", "test/adversarial/corpus", "test/engine/honestPrograms", "test/package/programs"],
    },
    {
      name: "the guide to add a kind, followed in a copy",
      env: { NEW_KIND: "true" },
      script: ["test:all", "test/scripts/newKind"],
    },
    { name: "faults", script: ["chaos", "--seeds", "50", "--first", seed] },
    { name: "reviews of large organisations", script: ["bench:review", "8000"] },
    {
      name: "the first review within five minutes",
      env: { FIRST_REVIEW_SECONDS: "300" },
      script: ["test:all", "test/package/quickStart"],
    },
    { name: "killed processes", script: ["chaos", "--kill", "--seeds", "25", "--first", seed] },
  ];
}

/** @param {string[]} args */
async function main(args) {
  const { values } = parseArgs({ args, options: { seed: { type: "string" } } });
  const seed = Number(values.seed ?? randomInt(1, 1_000_000));
  if (!Number.isInteger(seed) || seed < 1) throw new Error("--seed must be a whole number greater than 0");
  const cli = await ensureReady();
  const failed = [];
  for (const { name, env, script } of suitesOf(seed)) {
    console.log(`== ${name}: seed ${seed}, ${JSON.stringify(env ?? {})}`);
    const [command = "", ...rest] = script;
    const { code } = await run("npm", ["run", "--silent", command, "--", ...rest], {
      cwd: root,
      env: { ...process.env, PULUMI_PLATFORM_CLI_DIR: cli.pulumiDir, ...env },
      output: "inherit",
    });
    if (code !== 0) failed.push(name);
  }
  const verdict = failed.length === 0 ? "all passed" : `FAILED (${failed.join("; ")})`;
  console.log(`${verdict} with seed ${seed}`);
  return failed.length === 0 ? 0 : 1;
}

await runScript("nightly", import.meta.filename, main);
