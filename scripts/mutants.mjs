// @ts-check
/*
 * npm run test:mutants -- [options] [folder or file ...]
 *
 * Puts random defects into a copy of the sources, one at a time, and runs the unit tests that import the changed file.
 * A defect that no test notices survives. Prints each survivor, and the share of killed ones for each folder.
 *
 *   --count <number>    how many defects, spread over the folders by their size (40)
 *   --seed <number>     draws the same defects again in the same sources
 *   --least <percent>   fails where less of all defects is killed (0)
 *
 * Without a folder: provider and emulator.
 */
import { randomInt } from "node:crypto";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import ts from "typescript";
import { copyCheckout, filesBelow, withTemporaryFolder } from "./lib/files.mjs";
import { run, runScript } from "./lib/processes.mjs";
import { randomOf } from "./lib/random.cjs";

/** @typedef {Mutant & { readonly file: string }} Place A defect and the file that it is put in. */
/** @typedef {"killed" | "timed out" | "does not compile" | "SURVIVED"} Fate */

const root = path.dirname(import.meta.dirname);

/** How long the tests of one defect may take before it counts as timed out. */
const TIMEOUT_MS = 600_000;

/**
 * @typedef {object} Mutant
 * @property {string} what What becomes of the place: `=== becomes !==`.
 * @property {number} start Where the replaced text begins.
 * @property {number} end Where it ends.
 * @property {string} replacement
 * @property {number} line From 1.
 */

/** What takes the place of each operator. @type {ReadonlyMap<ts.SyntaxKind, string>} */
const OPERATORS = new Map([
  [ts.SyntaxKind.EqualsEqualsEqualsToken, "!=="],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, "==="],
  [ts.SyntaxKind.LessThanToken, "<="],
  [ts.SyntaxKind.LessThanEqualsToken, "<"],
  [ts.SyntaxKind.GreaterThanToken, ">="],
  [ts.SyntaxKind.GreaterThanEqualsToken, ">"],
  [ts.SyntaxKind.AmpersandAmpersandToken, "||"],
  [ts.SyntaxKind.BarBarToken, "&&"],
  [ts.SyntaxKind.PlusToken, "-"],
  [ts.SyntaxKind.MinusToken, "+"],
  [ts.SyntaxKind.AsteriskToken, "/"],
  [ts.SyntaxKind.PlusEqualsToken, "-="],
]);

/** Whether a sum has a text in it: to subtract texts is no defect that anybody would write. @param {ts.Node} node */
const isText = (node) =>
  ts.isStringLiteralLike(node) || ts.isTemplateExpression(node) || ts.isNoSubstitutionTemplateLiteral(node);

/** @param {ts.Node} node @returns {[ts.Node, string, string][]} The part that is replaced, by what, and how it is called. */
function replacementsOf(node) {
  if (ts.isBinaryExpression(node)) {
    const operator = OPERATORS.get(node.operatorToken.kind);
    if (operator === undefined || isText(node.left) || isText(node.right)) return [];
    return [[node.operatorToken, operator, `${node.operatorToken.getText()} becomes ${operator}`]];
  }
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    return [[node, node.operand.getText(), "a negation is removed"]];
  if (node.kind === ts.SyntaxKind.TrueKeyword && !ts.isLiteralTypeNode(node.parent))
    return [[node, "false", "true becomes false"]];
  if (node.kind === ts.SyntaxKind.FalseKeyword && !ts.isLiteralTypeNode(node.parent))
    return [[node, "true", "false becomes true"]];
  if (ts.isIfStatement(node))
    return [
      [node.expression, "true", "a condition is always true"],
      [node.expression, "false", "a condition is never true"],
    ];
  if (ts.isConditionalExpression(node))
    return [
      [node.condition, "true", "a condition is always true"],
      [node.condition, "false", "a condition is never true"],
    ];
  if (ts.isNumericLiteral(node) && !ts.isLiteralTypeNode(node.parent))
    return [[node, `(${node.getText()} + 1)`, `${node.getText()} grows by one`]];
  if (ts.isArrayLiteralExpression(node) && node.elements.length > 0)
    return [[node, "[]", "a list is emptied"]];
  if (ts.isExpressionStatement(node)) {
    const { expression } = node;
    const called = ts.isAwaitExpression(expression) ? expression.expression : expression;
    if (ts.isCallExpression(called) && called.expression.kind !== ts.SyntaxKind.SuperKeyword)
      return [[node, ";", "a call is removed"]];
  }
  return [];
}

/**
 * Every defect that can be put into a source, in the order of the text. Types, imports and names are left alone.
 * @param {string} file @param {string} text
 * @returns {Mutant[]}
 */
export function mutantsOf(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  /** @type {Mutant[]} */
  const found = [];
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
    for (const [part, replacement, what] of replacementsOf(node)) {
      const start = part.getStart(source);
      const line = source.getLineAndCharacterOfPosition(start).line + 1;
      found.push({ what, start, end: part.getEnd(), replacement, line });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** @param {string} text @param {Mutant} mutant */
export const applyMutant = (text, { start, end, replacement }) =>
  text.slice(0, start) + replacement + text.slice(end);

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
 * @returns {Promise<{ fails: boolean, timedOut: boolean, failing?: string }>}
 */
async function runTests(folder, selection) {
  const jest = path.join(folder, "node_modules", "jest", "bin", "jest.js");
  const args = [jest, "--selectProjects", "unit", "--bail", "--silent", "--passWithNoTests", ...selection];
  const env = { ...process.env, PULUMI_PLATFORM_TESTS: "quick", PROPERTY_SEED: "1" };
  const { code, output, timedOut } = await run(process.execPath, args, {
    cwd: folder,
    env,
    timeoutMs: TIMEOUT_MS,
  });
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

  /** @param {string} folder */
  constructor(folder) {
    this.folder = folder;
  }

  /** @param {string} test */
  async passes(test) {
    const known = this.passing.get(test);
    if (known !== undefined) return known;
    const { fails } = await runTests(this.folder, ["--runTestsByPath", test]);
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
      const { fails, timedOut, failing } = await runTests(this.folder, selection);
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
      least: { type: "string", default: "0" },
    },
  });
  const seed = values.seed === undefined ? randomInt(1, 1_000_000) : positive(values.seed, "seed");
  const chosen = positionals.length > 0 ? positionals : ["provider", "emulator"];
  const files = chosen
    .flatMap((folder) => filesBelow(path.join(root, folder)))
    .map((file) => path.relative(root, file).replaceAll(path.sep, "/"))
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"));
  const places = drawMutants(files, positive(values.count, "count"), seed);
  console.log(`${places.length} defects, --seed ${seed}`);
  const name = (/** @type {Place} */ { file, line, what }) => `${file}:${line}: ${what}`;
  /** @type {Map<string, Fate[]>} */
  const byFolder = new Map();
  await withTemporaryFolder("mutants", async (folder) => {
    await copyCheckout(root, folder);
    symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"), "junction");
    const copy = new Copy(folder);
    for (const place of places) {
      const { fate, failing } = await copy.tryOut(place);
      const fates = byFolder.get(folderOf(place.file)) ?? [];
      byFolder.set(folderOf(place.file), [...fates, fate]);
      console.log(`${fate.padEnd(16)} ${name(place)}${failing === undefined ? "" : ` (${failing})`}`);
    }
  });
  let share = 100;
  const whole = /** @type {[string, Fate[]]} */ (["all", [...byFolder.values()].flat()]);
  for (const [folder, fates] of [...[...byFolder].sort(([a], [b]) => (a < b ? -1 : 1)), whole]) {
    const killed = fates.filter((fate) => fate === "killed").length;
    const judged = killed + fates.filter((fate) => fate === "SURVIVED").length;
    share = judged === 0 ? 100 : Math.round((100 * killed) / judged);
    console.log(`${folder}: ${killed} of ${judged} killed, ${share} %`);
  }
  return share >= Number(values.least) ? 0 : 1;
}

await runScript("mutants", import.meta.filename, main);
