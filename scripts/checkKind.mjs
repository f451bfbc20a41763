// @ts-check
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { ensureReady, root } from "./setup.mjs";
import { run, runScript } from "./lib/processes.mjs";

/*
 *   npm run check:kind Webhook   the checks of one kind: types, its cases in the unit tests over all kinds, and one life through the real
 *                                engine
 *   npm run check:kind Webhook -- --update-snapshots   the same, and records snapshots that somebody has read
 */

/** The unit tests over all kinds. Each names the kind in the titles of its cases. */
const UNIT_TESTS = [
  "test/provider/completeness.test.ts",
  "test/provider/surface.test.ts",
  "test/provider/agreement.test.ts",
  "test/provider/kinds/inputs.test.ts",
  "test/provider/fields/(patch|wire|fields).test.ts",
  "test/provider/lifecycle/(handlers|faults|capabilities).test.ts",
  "test/provider/access/effects/describeEffects.test.ts",
  "test/provider/lookups/(answers|lists).test.ts",
  "test/provider/access/verify/everyField.test.ts",
  "test/provider/access/drift/serverSetEnds.test.ts",
  "test/provider/inventory/takeInventory.test.ts",
  "test/provider/program/resource.test.ts",
];

/** Tests of these files that range over all kinds in one case. */
const OVER_ALL_KINDS = [
  "has these types",
  "every lookup of the package is here",
  "changes behind the back of an update",
  "holds every object once",
  "sends at most one list",
  "names concern each kind",
].join("|");

/** What jest is given to run the unit tests of a kind. @param {string} kind */
export const unitTestsOf = (kind) => [
  ...["--selectProjects", "unit", "--testNamePattern", `\\b${kind}\\b|${OVER_ALL_KINDS}`],
  ...["--testPathPatterns", ...UNIT_TESTS],
];

/** The kinds that files describe, by the names of their classes. */
function listKinds() {
  const folder = path.join(root, "provider/kinds");
  const files = readdirSync(folder).filter((name) => name.endsWith(".ts"));
  return files.flatMap(
    (file) =>
      /export class (\w+) extends resource/.exec(readFileSync(path.join(folder, file), "utf8"))?.[1] ?? [],
  );
}

/**
 * Runs a script of this repository to its end, and throws where it fails.
 * @param {string} what
 * @param {string} script its path from the folder of the repository
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 */
async function runStep(what, script, args, env) {
  const start = performance.now();
  const { code } = await run(process.execPath, [path.join(root, script), ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    output: "inherit",
  });
  console.error(`${what}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
  if (code !== 0) throw new Error(`${what} failed`);
}

/** @param {string[]} args */
async function main(args) {
  const updates = args.filter((arg) => arg === "--update-snapshots").map(() => "-u");
  const [kind = "", ...others] = args.filter((arg) => arg !== "--update-snapshots");
  const kinds = listKinds();
  if (!kinds.includes(kind) || others.length > 0) {
    throw new Error(`give one kind of resource, not "${[kind, ...others].join(" ")}": ${kinds.join(", ")}`);
  }
  await ensureReady();
  await runStep("types", "node_modules/typescript/bin/tsc", ["--noEmit"]);
  await runStep("unit tests", "scripts/test.mjs", [...updates, ...unitTestsOf(kind)]).catch((error) => {
    console.error(
      `Where a snapshot is new, or not as before: read above what it holds, then record it by \`npm run check:kind ${kind} -- --update-snapshots\``,
    );
    throw error;
  });
  const life = ["test/engine/lifecycle.test.ts", "--selectProjects", "engine"];
  await runStep("life", "scripts/test.mjs", life, { PULUMI_PLATFORM_TEST_KIND: kind });
}

await runScript("npm run check:kind", import.meta.filename, main);
