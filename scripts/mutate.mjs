// @ts-check
import { cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { messageOf, onEarlyEnd, remove, run, withSignals } from "./lib/processes.mjs";
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

/** @param {string} folder */
async function copySources(folder) {
  const { stdout } = await run("git", ["ls-files", "-z", "-co", "--exclude-standard"], { cwd: root });
  for (const name of stdout.split("\0").filter((each) => each !== "")) {
    cpSync(path.join(root, name), path.join(folder, name), { force: true });
  }
  symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"), "junction");
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
  const env = { ...process.env, PULUMI_PLATFORM_TESTS: extent };
  const { code, output } = await run(process.execPath, args, { cwd: folder, env });
  if (!/^Tests: .* total$/m.test(output)) throw new Error(`jest ran no test:\n${output.slice(-2000)}`);
  if (code === 0) return undefined;
  const file = /^FAIL (?:\w+ )?(test\S+)/m.exec(output)?.[1];
  return { test: /^ {2}● (.+)$/m.exec(output)?.[1] ?? `exit code ${code}`, file };
}

async function main() {
  const { values } = parseArgs({
    options: {
      only: { type: "string", default: "" },
      all: { type: "boolean", default: false },
      help: { type: "boolean" },
    },
  });
  if (values.help) return console.log(USAGE);
  const folder = mkdtempSync(path.join(os.tmpdir(), "pulumi-platform-mutations-"));
  const discard = onEarlyEnd(() => remove(folder));
  const chosen = mutations.filter(({ name }) => name.includes(values.only));
  let survivors = 0;
  try {
    await copySources(folder);
    for (const mutation of chosen) {
      const file = path.join(folder, mutation.file);
      const before = readFileSync(file, "utf8");
      writeFileSync(file, mutated(mutation, before));
      const quick = await failureIn(folder, mutation.tests, "quick");
      const failure = quick ?? (values.all ? await failureIn(folder, ".", "all") : undefined);
      writeFileSync(file, before);
      // A test that fails without the mutation too has not caught it.
      const isBroken =
        failure?.file !== undefined && (await failureIn(folder, failure.file, "quick")) !== undefined;
      if (isBroken) throw new Error(`${failure.file} fails in sources that are as they were`);
      if (failure === undefined) survivors += 1;
      const how = failure === undefined ? "SURVIVED" : "caught  ";
      console.log(`${how} ${mutation.name}: ${failure?.test ?? "no test fails"}`);
    }
  } finally {
    discard();
  }
  console.log(`${chosen.length - survivors} of ${chosen.length} are caught`);
  // One may need what `npm test` leaves out.
  process.exitCode = survivors <= (values.all ? 0 : 1) ? 0 : 1;
}

if (process.argv[1] === import.meta.filename) {
  withSignals(main).catch((error) => {
    console.error(`mutate: ${messageOf(error)}`);
    process.exitCode = 1;
  });
}
