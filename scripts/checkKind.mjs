// @ts-check
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { ensureReady, root } from "./setup.mjs";
import { run, runScript } from "./lib/processes.mjs";

/*
 *   npm run check:kind Webhook   the checks of one kind: format, lint and types, its cases in the unit tests over all kinds, and
 *                                one life through the real engine
 */

/** The unit tests over all kinds. Each names the kind in the titles of its cases. */
const UNIT_TESTS = [
  "test/provider/completeness.test.ts",
  "test/provider/surface.test.ts",
  "test/provider/agreement.test.ts",
  "test/provider/kinds/(checkFailures|acceptedInputs|hostileInputs).test.ts",
  "test/provider/fields/(fieldMask|wire|secretFields).test.ts",
  "test/provider/lifecycle/(handlers|sharedObjects|faults|capabilities).test.ts",
  "test/provider/access/effects/describeEffects.test.ts",
  "test/provider/lookups/listAnswers.test.ts",
];

/** Tests of these files that range over all kinds in one case. */
const OVER_ALL_KINDS = "has these types|every lookup of the package is here";

/** Finds the files that describe kinds, by the names of their classes. @returns {Map<string, string>} */
export function findKindFiles() {
  const folder = path.join(root, "provider/kinds");
  const files = readdirSync(folder).filter((name) => name.endsWith(".ts"));
  const found = files.flatMap((file) => {
    const kind = /export class (\w+) extends resource/.exec(
      readFileSync(path.join(folder, file), "utf8"),
    )?.[1];
    return kind === undefined ? [] : [/** @type {const} */ ([kind, file])];
  });
  return new Map(found);
}

const SAMPLES = "test/support/samples";

/** The samples of a kind. @param {string} file its description */
function samplesOf(file) {
  const kind = [...findKindFiles()].find(([, description]) => description === file)?.[0];
  const families = readdirSync(path.join(root, SAMPLES)).map((name) => `${SAMPLES}/${name}`);
  return families.filter((each) =>
    readFileSync(path.join(root, each), "utf8").includes(`    kind: "${kind}",`),
  );
}

/** What is written by hand for a kind. @param {string} file its description, as in `tag.ts` */
export function listFilesOfKind(file) {
  return [
    `provider/kinds/${file}`,
    "provider/kinds/exports.ts",
    "provider/lookups/ofKinds.ts",
    `emulator/tables/${file}`,
    "emulator/tables/index.ts",
    ...samplesOf(file),
    `examples/reference/resources/${file}`,
    "provider/kinds/capabilities.ts",
    "emulator/data/capabilities.json",
    `test/provider/kinds/${file.replace(/ts$/, "test.ts")}`,
  ].filter((each) => existsSync(path.join(root, each)));
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

/** @param {string} kind @param {string} file */
async function checkKind(kind, file) {
  await ensureReady({});
  const files = listFilesOfKind(file);
  const prettier = "node_modules/prettier/bin/prettier.cjs";
  await runStep("format", prettier, ["--check", "--log-level", "warn", ...files]);
  const lint = ["--max-warnings", "0", "--no-warn-ignored", ...files];
  await runStep("lint", "node_modules/eslint/bin/eslint.js", lint);
  await runStep("types", "node_modules/typescript/bin/tsc", ["--noEmit"]);
  const cases = ["--selectProjects", "unit", "--testNamePattern", `\\b${kind}\\b|${OVER_ALL_KINDS}`];
  await runStep("unit tests", "scripts/test.mjs", [...cases, "--testPathPatterns", ...UNIT_TESTS]);
  const life = ["test/engine/lifecycle.test.ts", "--selectProjects", "engine"];
  await runStep("life", "scripts/test.mjs", life, { PULUMI_PLATFORM_TEST_KIND: kind });
}

/** @param {string[]} args */
async function main([kind = "", ...others]) {
  const kinds = findKindFiles();
  const file = kinds.get(kind);
  if (file === undefined || others.length > 0) {
    throw new Error(
      `give one kind of resource, not "${[kind, ...others].join(" ")}": ${[...kinds.keys()].join(", ")}`,
    );
  }
  await checkKind(kind, file);
}

await runScript("npm run check:kind", import.meta.filename, main);
