// @ts-check
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { ensureReady, root } from "./setup.mjs";
import { withTemporaryFolder } from "./lib/files.mjs";
import { run, runScript } from "./lib/processes.mjs";

/*
 *   npm run check:kind Webhook   the checks of one kind: format, lint and types, its cases in the unit tests over all kinds, and
 *                                one life through the real engine
 *   npm run check:kind Webhook -- --update-snapshots   the same, and records snapshots that somebody has read
 */

/** The unit tests over all kinds. Each names the kind in the titles of its cases. */
const UNIT_TESTS = [
  "test/provider/completeness.test.ts",
  "test/provider/surface.test.ts",
  "test/provider/agreement.test.ts",
  "test/provider/kinds/(checkFailures|acceptedInputs|hostileInputs).test.ts",
  "test/provider/fields/(patch|wire|secretFields).test.ts",
  "test/provider/lifecycle/(handlers|sharedObjects|faults|capabilities).test.ts",
  "test/provider/access/effects/describeEffects.test.ts",
  "test/provider/lookups/(answers|listAnswers).test.ts",
  "test/provider/access/verify/everyField.test.ts",
  "test/provider/access/drift/(acceptedDrift|unsetFields).test.ts",
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
    "emulator/tables/exports.ts",
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

/**
 * Runs the unit tests of a kind.
 * @param {string} kind
 * @param {boolean} updatesSnapshots Whether snapshots that are new or others than before are recorded.
 */
async function runUnitTests(kind, updatesSnapshots) {
  await withTemporaryFolder("check-kind", async (folder) => {
    const result = path.join(folder, "result.json");
    const output = ["--json", `--outputFile=${result}`, ...(updatesSnapshots ? ["-u"] : [])];
    try {
      await runStep("unit tests", "scripts/test.mjs", [...output, ...unitTestsOf(kind)]);
    } catch (error) {
      const { snapshot } = existsSync(result) ? JSON.parse(readFileSync(result, "utf8")) : {};
      throw snapshot?.unmatched
        ? new Error(snapshotAdvice(snapshot.unmatched, kind), { cause: error })
        : error;
    }
  });
}

/** What to do about snapshots that nobody has read. @param {number} count @param {string} kind */
export const snapshotAdvice = (count, kind) =>
  `${count === 1 ? "a snapshot is" : `${count} snapshots are`} new, or not as before: read above what it holds, then record it by \`npm run check:kind ${kind} -- --update-snapshots\``;

/** @param {string} kind @param {string} file @param {boolean} updatesSnapshots */
async function checkKind(kind, file, updatesSnapshots) {
  await ensureReady();
  const files = listFilesOfKind(file);
  const prettier = "node_modules/prettier/bin/prettier.cjs";
  await runStep("format", prettier, ["--check", "--log-level", "warn", ...files]);
  const lint = ["--max-warnings", "0", "--no-warn-ignored", ...files];
  await runStep("lint", "node_modules/eslint/bin/eslint.js", lint);
  await runStep("types", "node_modules/typescript/bin/tsc", ["--noEmit"]);
  await runUnitTests(kind, updatesSnapshots);
  const life = ["test/engine/lifecycle.test.ts", "--selectProjects", "engine"];
  await runStep("life", "scripts/test.mjs", life, { PULUMI_PLATFORM_TEST_KIND: kind });
}

/** @param {string[]} args */
async function main(args) {
  const updatesSnapshots = args.includes("--update-snapshots");
  const [kind = "", ...others] = args.filter((arg) => arg !== "--update-snapshots");
  const kinds = findKindFiles();
  const file = kinds.get(kind);
  if (file === undefined || others.length > 0) {
    throw new Error(
      `give one kind of resource, not "${[kind, ...others].join(" ")}": ${[...kinds.keys()].join(", ")}`,
    );
  }
  await checkKind(kind, file, updatesSnapshots);
}

await runScript("npm run check:kind", import.meta.filename, main);
