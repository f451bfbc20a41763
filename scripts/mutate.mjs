// @ts-check
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { copyCheckout, withTemporaryFolder } from "./lib/files.mjs";
import { run, runScript } from "./lib/processes.mjs";
import { mutations } from "./mutations.mjs";

const USAGE = `Usage: npm run test:mutations -- [options]

Breaks one thing after the other in a copy of this checkout, and expects the tests to fail.

  --only <word>   the mutations with this word in their names
  --all           where the tests of \`npm test\` pass, runs everything of \`npm run test:all\` that needs no engine
`;

const root = path.dirname(import.meta.dirname);

/** @param {import("./mutations.mjs").Mutation} mutation @param {string} text */
export function mutated({ name, file, find, replace }, text) {
  const count = [...text.matchAll(new RegExp(find, "g"))].length;
  if (count !== 1) throw new Error(`${name}: ${file} has ${count} places that look like ${find}`);
  return text.replace(find, () => replace);
}

/**
 * The first test that fails, and its file; undefined where all pass.
 * @param {string} folder
 * @param {string} tests
 * @param {string} extent
 */
async function failureIn(folder, tests, extent) {
  const jest = path.join(folder, "node_modules", "jest", "bin", "jest.js");
  const args = [jest, "--selectProjects", "unit", "--bail", "--testPathPatterns", tests];
  // With a seed all generated cases are tried.
  const env = { ...process.env, PULUMI_PLATFORM_TESTS: extent, PROPERTY_SEED: "1" };
  const { code, output } = await run(process.execPath, args, { cwd: folder, env });
  if (!/^Tests: .* total$/m.test(output)) throw new Error(`jest ran no test:\n${output.slice(-2000)}`);
  if (code === 0) return undefined;
  const file = /^FAIL (?:\w+ )?(test\S+)/m.exec(output)?.[1];
  return { test: /^ {2}● (.+)$/m.exec(output)?.[1] ?? `exit code ${code}`, file };
}

/**
 * Applies a mutation, and undoes it after the tests.
 * @param {string} folder @param {import("./mutations.mjs").Mutation} mutation @param {boolean} isAll
 */
async function findFailure(folder, mutation, isAll) {
  const file = path.join(folder, mutation.file);
  const before = readFileSync(file, "utf8");
  writeFileSync(file, mutated(mutation, before));
  const quick = await failureIn(folder, mutation.tests, "quick");
  const failure = quick ?? (isAll ? await failureIn(folder, ".", "all") : undefined);
  writeFileSync(file, before);
  // A test that fails without the mutation too has not caught it.
  const isBroken =
    failure?.file !== undefined && (await failureIn(folder, failure.file, "quick")) !== undefined;
  if (isBroken) throw new Error(`${failure.file} fails in sources that are as they were`);
  return failure;
}

/** @param {string[]} args */
async function main(args) {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: "string", default: "" },
      all: { type: "boolean", default: false },
      help: { type: "boolean" },
    },
  });
  if (values.help) return console.log(USAGE);
  const chosen = mutations.filter(({ name }) => name.includes(values.only));
  const survivors = await withTemporaryFolder("mutations", async (folder) => {
    await copyCheckout(root, folder);
    symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"), "junction");
    let count = 0;
    for (const mutation of chosen) {
      const failure = await findFailure(folder, mutation, values.all);
      if (failure === undefined) count += 1;
      const how = failure === undefined ? "SURVIVED" : "caught  ";
      console.log(`${how} ${mutation.name}: ${failure?.test ?? "no test fails"}`);
    }
    return count;
  });
  console.log(`${chosen.length - survivors} of ${chosen.length} are caught`);
  // One may need what `npm test` leaves out.
  return survivors <= (values.all ? 0 : 1) ? 0 : 1;
}

await runScript("mutate", import.meta.filename, main);
