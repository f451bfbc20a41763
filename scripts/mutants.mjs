// @ts-check
import { randomInt } from "node:crypto";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { copyCheckout, filesBelow, withTemporaryFolder } from "./lib/files.mjs";
import { mutantsOf, applyMutant } from "./lib/mutants.mjs";
import { run, runScript } from "./lib/processes.mjs";
import { randomOf } from "./lib/random.cjs";

/** @typedef {import("./lib/mutants.mjs").Mutant & { readonly file: string }} Place A defect and the file that it is put in. */
/** @typedef {"killed" | "timed out" | "does not compile" | "SURVIVED"} Fate */

const USAGE = `Usage: npm run test:mutants -- [options] [folder or file ...]

Puts random defects into a copy of the sources, one at a time, and runs the unit tests that import the changed file.
A defect that no test notices survives. Prints each survivor, and the share of killed ones for each folder.

  --count <number>    how many defects, spread over the folders by their size (40)
  --seed <number>     draws the same defects again in the same sources
  --minutes <number>  how long the tests of one defect may take before it counts as timed out (10)
  --least <percent>   fails where less of all defects is killed (0)
  --list              only prints the defects that it would put in

Without a folder: provider and emulator.
`;

const root = path.dirname(import.meta.dirname);

/** A folder of the sources as it is counted: `provider/http`, `provider/access/trust`. @param {string} file */
function folderOf(file) {
  const parts = path.dirname(file).split("/");
  return parts.slice(0, parts[1] === "access" ? 3 : 2).join("/");
}

/**
 * Draws defects: each one of all places has the same chance.
 * @param {readonly string[]} files @param {number} count @param {number} seed
 * @returns {Place[]}
 */
export function drawMutants(files, count, seed) {
  const random = randomOf(seed);
  const all = files.flatMap((file) =>
    mutantsOf(file, readFileSync(path.join(root, file), "utf8")).map((mutant) => ({ ...mutant, file })),
  );
  for (let index = 0; index < Math.min(count, all.length); index += 1) {
    const other = index + Math.floor(random() * (all.length - index));
    const [one, drawn] = [all[index], all[other]];
    if (one === undefined || drawn === undefined) throw new Error("a place lies outside of all places");
    [all[index], all[other]] = [drawn, one];
  }
  return all.slice(0, count);
}

/**
 * Runs unit tests in a folder until the first one fails.
 * @param {string} folder @param {readonly string[]} selection Arguments of jest that choose the tests.
 * @param {number} timeoutMs
 * @returns {Promise<{ fails: boolean, timedOut: boolean, failing?: string }>}
 */
async function runTests(folder, selection, timeoutMs) {
  const jest = path.join(folder, "node_modules", "jest", "bin", "jest.js");
  const args = [jest, "--selectProjects", "unit", "--bail", "--silent", "--passWithNoTests", ...selection];
  const env = { ...process.env, PULUMI_PLATFORM_TESTS: "quick", PROPERTY_SEED: "1" };
  const { code, output, timedOut } = await run(process.execPath, args, { cwd: folder, env, timeoutMs });
  return { fails: code !== 0, timedOut, failing: /^FAIL (?:\w+ )?(test\S+)/m.exec(output)?.[1] };
}

/** The tests that mirror a source by their names come first: they kill most, and are few. @param {string} file */
function mirrorOf(file) {
  const { dir, name } = path.parse(file);
  const folder = path.join(root, "test", dir);
  const tests = existsSync(folder) ? filesBelow(folder).map((test) => path.relative(root, test)) : [];
  return tests.filter((test) => path.basename(test).startsWith(`${name}.`) && test.endsWith(".test.ts"));
}

/** Puts defects into one copy of the sources, and takes each out again. */
class Copy {
  /** Whether each test file passes in the sources as they are. @type {Map<string, boolean>} */
  passing = new Map();

  /** @param {string} folder @param {number} timeoutMs */
  constructor(folder, timeoutMs) {
    this.folder = folder;
    this.timeoutMs = timeoutMs;
  }

  /** @param {string} test */
  async passes(test) {
    const known = this.passing.get(test);
    if (known !== undefined) return known;
    const { fails } = await runTests(this.folder, ["--runTestsByPath", test], this.timeoutMs);
    this.passing.set(test, !fails);
    return !fails;
  }

  /** @param {Place} place @returns {Promise<{ fate: Fate, failing?: string }>} */
  async tryOut(place) {
    const file = path.join(this.folder, place.file);
    const before = readFileSync(file, "utf8");
    const mirror = mirrorOf(place.file);
    const selections = [
      ...(mirror.length > 0 ? [["--runTestsByPath", ...mirror]] : []),
      ["--findRelatedTests", place.file],
    ];
    for (const selection of selections) {
      writeFileSync(file, applyMutant(before, place));
      const { fails, timedOut, failing } = await runTests(this.folder, selection, this.timeoutMs);
      writeFileSync(file, before);
      if (timedOut) return { fate: "timed out" };
      if (fails && failing === undefined)
        throw new Error(`jest failed without a failing test: ${place.file}`);
      if (failing !== undefined) {
        if (!(await this.passes(failing))) throw new Error(`${failing} fails in the sources as they are`);
        return { fate: "killed", failing };
      }
    }
    writeFileSync(file, applyMutant(before, place));
    const compiler = path.join(this.folder, "node_modules", "typescript", "bin", "tsc");
    const { code } = await run(process.execPath, [compiler, "--noEmit"], { cwd: this.folder });
    writeFileSync(file, before);
    return { fate: code === 0 ? "SURVIVED" : "does not compile" };
  }
}

/** @param {readonly Fate[]} fates */
function scoreOf(fates) {
  const killed = fates.filter((fate) => fate === "killed").length;
  const judged = killed + fates.filter((fate) => fate === "SURVIVED").length;
  return { killed, judged, percent: judged === 0 ? 100 : Math.round((100 * killed) / judged) };
}

/** @param {string} value @param {string} name */
function positive(value, name) {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1) throw new Error(`--${name} must be a whole number from 1`);
  return number;
}

/** @param {string[]} args */
async function main(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      count: { type: "string", default: "40" },
      seed: { type: "string" },
      minutes: { type: "string", default: "10" },
      least: { type: "string", default: "0" },
      list: { type: "boolean", default: false },
      help: { type: "boolean" },
    },
  });
  if (values.help) return console.log(USAGE);
  const seed = values.seed === undefined ? randomInt(1, 1_000_000) : positive(values.seed, "seed");
  const chosen = positionals.length > 0 ? positionals : ["provider", "emulator"];
  const files = chosen
    .flatMap((folder) => filesBelow(path.join(root, folder)))
    .map((file) => path.relative(root, file).replaceAll(path.sep, "/"))
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"));
  const places = drawMutants(files, positive(values.count, "count"), seed);
  console.log(`${places.length} defects, --seed ${seed}`);
  const name = (/** @type {Place} */ { file, line, what }) => `${file}:${line}: ${what}`;
  if (values.list) {
    for (const place of places) console.log(name(place));
    return 0;
  }
  /** @type {Map<string, Fate[]>} */
  const byFolder = new Map();
  await withTemporaryFolder("mutants", async (folder) => {
    await copyCheckout(root, folder);
    symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"), "junction");
    const copy = new Copy(folder, positive(values.minutes, "minutes") * 60_000);
    for (const place of places) {
      const { fate, failing } = await copy.tryOut(place);
      const fates = byFolder.get(folderOf(place.file)) ?? [];
      byFolder.set(folderOf(place.file), [...fates, fate]);
      console.log(`${fate.padEnd(16)} ${name(place)}${failing === undefined ? "" : ` (${failing})`}`);
    }
  });
  for (const [folder, fates] of [...byFolder].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const { killed, judged, percent } = scoreOf(fates);
    console.log(`${folder}: ${killed} of ${judged} killed, ${percent} %`);
  }
  const { killed, judged, percent } = scoreOf([...byFolder.values()].flat());
  console.log(`all: ${killed} of ${judged} killed, ${percent} %`);
  return percent >= Number(values.least) ? 0 : 1;
}

await runScript("mutants", import.meta.filename, main);
