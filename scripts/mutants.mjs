// @ts-check
/*
 * npm run test:mutants -- [options] [folder or file ...]
 *
 * Puts random defects into a copy of the sources, one at a time, and runs the unit tests that execute the changed place.
 * A defect that no test notices survives. Prints each survivor, and the share of killed ones for each folder.
 *
 *   --count <number>    how many defects of each folder (5)
 *   --seconds <number>  no further tests for a defect that has passed tests which take so long, the nearest first (60)
 *   --seed <number>     draws the same defects again in the same sources
 *   --least <percent>   fails where less of all defects is killed (0)
 *
 * Without a folder: provider and emulator.
 */
import { fork } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import ts from "typescript";
import { copyCheckout, filesBelow, hashFiles, withTemporaryFolder } from "./lib/files.mjs";
import { onEarlyEnd, run, runScript } from "./lib/processes.mjs";
import { randomOf } from "./lib/random.cjs";

/** @typedef {Mutant & { readonly file: string, readonly index: number }} Place A defect, the file that it
 * is put in, and which of the defects of that file it is. */
/** @typedef {"killed" | "timed out" | "does not compile" | "SURVIVED"} Fate */

const root = path.dirname(import.meta.dirname);

/** What every unit test may depend on, beside the sources that it loads. */
const COMMON = ["jest.config.js", "package-lock.json", "schema", "test/fixtures", "test/support"];

/** The tests of every change, and all of their many alike cases. */
const TEST_ENV = { ...process.env, PULUMI_PLATFORM_TESTS: "quick", PROPERTY_SEED: "1" };

/** Jest keeps some of each file of tests: a process that holds so many bytes makes place for another. */
const MOST_MEMORY = 1.2e9;

/** How long a file of tests may take in the sources as they are. */
const LONGEST_MS = 600_000;

/**
 * @typedef {object} Mutant
 * @property {string} what What becomes of the place: `=== becomes !==`.
 * @property {number} start Where the replaced text begins.
 * @property {number} end Where it ends.
 * @property {string} replacement
 * @property {number} line From 1.
 * @property {{ start: number, end: number, isStatement: boolean }} place The expression or statement that runs where it does.
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

/** Whether it names a property: `{ 1: "one" }`. @param {ts.Node} node */
const isName = (node) => ts.isPropertyAssignment(node.parent) && node.parent.name === node;

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
  if (ts.isNumericLiteral(node) && !ts.isLiteralTypeNode(node.parent) && !isName(node))
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

/** @param {ts.Node} part @param {ts.SourceFile} source @returns {Mutant["place"]} */
function placeOf(part, source) {
  const { parent } = part;
  const isTarget = ts.isBinaryExpression(parent) && parent.left === part && ts.isArrayLiteralExpression(part);
  const isOperator = ts.isBinaryExpression(parent) && parent.operatorToken === part;
  const node = isOperator || isTarget ? parent : part;
  return { start: node.getStart(source), end: node.getEnd(), isStatement: ts.isExpressionStatement(node) };
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
      found.push({ what, start, end: part.getEnd(), replacement, line, place: placeOf(part, source) });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/**
 * A source that notes in `globalThis.ran`, by file, the index of each of its defects whose place runs. No line moves.
 * @param {string} file @param {string} text @param {readonly Mutant[]} mutants
 */
export function markPlaces(file, text, mutants) {
  const marks = mutants.flatMap(({ place: { start, end, isStatement } }, index) => {
    const [open, close] = isStatement ? [`{ran[${index}]=1;`, "}"] : [`(ran[${index}]=1,`, ")"];
    return [
      // At one position what ends comes before what begins, and the longer place is around the shorter one.
      { at: start, order: text.length - end, mark: open },
      { at: end, order: -start - 1, mark: close },
    ];
  });
  marks.sort((one, other) => one.at - other.at || one.order - other.order);
  let marked = "";
  let from = 0;
  for (const { at, mark } of marks) {
    marked += text.slice(from, at) + mark;
    from = at;
  }
  const head = `const ran=((globalThis.ran??={})[${JSON.stringify(file)}]??=[]);`;
  return (marked + text.slice(from)).replace(/^(#!.*\n)?/, `$1${head}`);
}

/** @param {string} text @param {Mutant} mutant */
export const applyMutant = (text, { start, end, replacement }) =>
  text.slice(0, start) + replacement + text.slice(end);

/** Tells whether a source compiles, with all others as they are: the first time in half a minute, then in seconds. */
export class Compiler {
  /** The text of the source that is other than its file, and how often there was one. */
  changed = { file: "", text: "", version: 0 };

  /** @param {string} folder */
  constructor(folder) {
    const { config } = ts.readConfigFile(path.join(folder, "tsconfig.json"), ts.sys.readFile);
    const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, folder);
    this.service = ts.createLanguageService({
      ...ts.sys,
      useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
      getCompilationSettings: () => options,
      getScriptFileNames: () => fileNames,
      getScriptVersion: (file) => (file === this.changed.file ? String(this.changed.version) : "0"),
      getScriptSnapshot: (file) => {
        const text = file === this.changed.file ? this.changed.text : ts.sys.readFile(file);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getDefaultLibFileName: ts.getDefaultLibFilePath,
    });
  }

  /** @param {string} file @param {string} text */
  compiles(file, text) {
    this.changed = { file, text, version: this.changed.version + 1 };
    return (
      this.service.getSyntacticDiagnostics(file).length === 0 &&
      this.service.getSemanticDiagnostics(file).length === 0
    );
  }
}

/** A folder of the sources as it is counted: `provider/http`, `provider/access/trust`. @param {string} file */
function folderOf(file) {
  const parts = path.dirname(file).split("/");
  return parts.slice(0, parts[1] === "access" ? 3 : 2).join("/");
}

/**
 * Draws defects of each folder: each place of it has the same chance.
 * @param {readonly string[]} files @param {number} count @param {number} seed
 * @returns {Place[]}
 */
export function drawMutants(files, count, seed) {
  const random = randomOf(seed);
  /** @type {Map<string, Place[]>} */
  const byFolder = new Map();
  for (const file of files) {
    const mutants = mutantsOf(file, readFileSync(path.join(root, file), "utf8"));
    const places = byFolder.get(folderOf(file)) ?? [];
    byFolder.set(folderOf(file), [
      ...places,
      ...mutants.map((mutant, index) => ({ ...mutant, file, index })),
    ]);
  }
  return [...byFolder.values()].flatMap((places) =>
    places
      .map((place) => ({ place, order: random() }))
      .sort((one, other) => one.order - other.order)
      .slice(0, count)
      .map(({ place }) => place),
  );
}

/** @param {string} folder @param {(file: string) => boolean} isWanted */
const namesBelow = (folder, isWanted) =>
  filesBelow(path.join(root, folder))
    .map((file) => path.relative(root, file).replaceAll(path.sep, "/"))
    .filter(isWanted);

const isSource = (/** @type {string} */ file) => file.endsWith(".ts") && !file.endsWith(".d.ts");

const ALL_SOURCES = ["provider", "emulator"];

/**
 * What a file of tests ran, as `lib/markedEnvironment.cjs` writes it, with a hash of the tests and the sources that it loads.
 * @typedef {object} Ran
 * @property {number} seconds
 * @property {Record<string, (1 | null)[]>} ran By source: whether the place of its nth defect ran.
 * @property {string} hash
 */

/** One copy of the sources in which unit tests run. */
class Copy {
  /** Whether each test file passes in the sources as they are. @type {Map<string, boolean>} */
  passing = new Map();

  /** What each test file ran. @type {Map<string, Ran>} */
  ran = new Map();

  /** What runs the tests. @type {ReturnType<Copy["startServer"]> | undefined} */
  server;

  /** @type {Compiler | undefined} */
  compiler;

  /** @param {string} folder @param {number} seconds How much of the tests a defect is tried with. */
  constructor(folder, seconds) {
    this.folder = folder;
    this.seconds = seconds;
  }

  /**
   * Runs one file of tests in the process that runs all of them, or in a new one where that has ended.
   * @param {string} test @param {number} timeoutMs
   * @returns {Promise<"passes" | "fails" | "timed out">}
   */
  async runTest(test, timeoutMs) {
    const { child, kill } = (this.server ??= this.startServer());
    const timer = setTimeout(kill, timeoutMs);
    /** @type {{ result: "passes" | "fails" | "timed out", memory: number }} */
    const { result, memory } = await new Promise((resolve) => {
      child.once("message", resolve);
      // A defect may have the process exit, which is a failure as well.
      child.once("exit", (code) =>
        resolve({ result: code === null ? "timed out" : "fails", memory: Infinity }),
      );
      child.send(test);
    });
    clearTimeout(timer);
    child.removeAllListeners();
    if (memory > MOST_MEMORY) this.end();
    return result;
  }

  startServer() {
    const module = path.join(this.folder, "scripts", "lib", "testServer.mjs");
    const child = fork(module, { cwd: this.folder, env: TEST_ENV, stdio: "ignore" });
    return { child, kill: onEarlyEnd(() => child.kill("SIGKILL")) };
  }

  end() {
    this.server?.kill();
    this.server = undefined;
  }

  /** @param {string} file @param {string} text @param {() => Promise<T>} body @template T */
  async withText(file, text, body) {
    const place = path.join(this.folder, file);
    const before = readFileSync(place, "utf8");
    writeFileSync(place, text);
    try {
      return await body();
    } finally {
      writeFileSync(place, before);
    }
  }

  /**
   * Learns which test file runs which place: from the last time where neither the tests nor what they load have changed
   * since, else by running the tests with marks in the sources.
   * @param {string} cache
   */
  async learnPlaces(cache) {
    const tests = ALL_SOURCES.flatMap((folder) =>
      namesBelow(`test/${folder}`, (file) => file.endsWith(".test.ts")),
    );
    const common = hashFiles(root, COMMON);
    const hashOf = (/** @type {string} */ test, /** @type {Ran["ran"]} */ ran) =>
      common + hashFiles(root, [test, ...Object.keys(ran)]);
    /** @type {Record<string, Ran>} */
    const known = existsSync(cache) ? JSON.parse(readFileSync(cache, "utf8")) : {};
    for (const test of tests) {
      const before = known[test];
      if (before !== undefined && before.hash === hashOf(test, before.ran)) this.ran.set(test, before);
    }
    const unknown = tests.filter((test) => !this.ran.has(test));
    if (unknown.length === 0) return;
    console.log(`running ${unknown.length} files of tests, to learn which places they run`);
    const results = path.join(this.folder, ".cache", "places");
    const sources = ALL_SOURCES.flatMap((folder) => namesBelow(folder, isSource));
    const texts = sources.map(
      (file) => /** @type {const} */ ([file, readFileSync(path.join(root, file), "utf8")]),
    );
    for (const [file, text] of texts) {
      writeFileSync(path.join(this.folder, file), markPlaces(file, text, mutantsOf(file, text)));
    }
    const environment = path.join(this.folder, "scripts", "lib", "markedEnvironment.cjs");
    const jest = path.join(this.folder, "node_modules", "jest", "bin", "jest.js");
    const options = ["--ci", "--silent", "--selectProjects=unit", `--env=${environment}`, "--maxWorkers=50%"];
    const { output } = await run(process.execPath, [jest, ...options, "--runTestsByPath", ...unknown], {
      cwd: this.folder,
      env: { ...TEST_ENV, MARKED_PLACES: results },
    });
    for (const [file, text] of texts) writeFileSync(path.join(this.folder, file), text);
    // As one does that reads the sources: what it ran until then counts all the same.
    for (const [line] of output.matchAll(/^FAIL .*$/gm)) console.log(`${line}: with marks in the sources`);
    for (const test of unknown) {
      const { ran, seconds } = JSON.parse(readFileSync(path.join(results, `${test}.json`), "utf8"));
      this.ran.set(test, { ran, seconds, hash: hashOf(test, ran) });
    }
    mkdirSync(path.dirname(cache), { recursive: true });
    writeFileSync(cache, JSON.stringify(Object.fromEntries(this.ran)));
  }

  /**
   * The tests that run the place of a defect: first those that mirror its source by their names, then those in the nearest
   * folders, the fastest first of each.
   * @param {Place} place
   */
  testsOf({ file, index }) {
    const parts = ["test", ...file.replace(/\.ts$/, "").split("/")];
    const costOf = (/** @type {string} */ test, /** @type {Ran} */ { seconds }) => {
      const shared = parts.findIndex((part, i) => test.split("/")[i]?.replace(/\..*/, "") !== part);
      return seconds - 1e6 * (shared === -1 ? parts.length : shared);
    };
    return [...this.ran]
      .filter(([, { ran }]) => ran[file]?.[index] === 1)
      .map(([test, ran]) => ({ test, seconds: ran.seconds, cost: costOf(test, ran) }))
      .sort((one, other) => one.cost - other.cost);
  }

  /** @param {string} test */
  async passes(test) {
    const known = this.passing.get(test);
    if (known !== undefined) return known;
    const passes = (await this.runTest(test, LONGEST_MS)) === "passes";
    this.passing.set(test, passes);
    return passes;
  }

  /** @param {Place} place @param {string} mutated */
  compiles(place, mutated) {
    this.compiler ??= new Compiler(this.folder);
    return this.compiler.compiles(path.join(this.folder, place.file), mutated);
  }

  /** @param {Place} place @returns {Promise<{ fate: Fate, by?: string }>} */
  async tryOut(place) {
    const mutated = applyMutant(readFileSync(path.join(this.folder, place.file), "utf8"), place);
    const all = this.testsOf(place);
    let left = this.seconds;
    // What takes longer than is left keeps none from running that are quicker.
    const tests = all.filter(({ seconds }, index) => {
      const runs = index === 0 || seconds <= left;
      if (runs) left -= seconds;
      return runs;
    });
    for (const { test, seconds } of tests) {
      const timeoutMs = (30 + 5 * seconds) * 1000;
      const result = await this.withText(place.file, mutated, () => this.runTest(test, timeoutMs));
      if (result === "timed out") return { fate: "timed out", by: test };
      if (result === "fails") {
        if (!(await this.passes(test))) throw new Error(`${test} fails in the sources as they are`);
        return { fate: "killed", by: test };
      }
      if (test === tests[0]?.test && !this.compiles(place, mutated)) return { fate: "does not compile" };
    }
    if (all.length === 0) {
      if (!this.compiles(place, mutated)) return { fate: "does not compile" };
      return { fate: "SURVIVED", by: "no unit test runs it" };
    }
    return { fate: "SURVIVED", by: `${tests.length} files of tests, of ${all.length} that run it` };
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
      count: { type: "string", default: "5" },
      seed: { type: "string" },
      seconds: { type: "string", default: "60" },
      least: { type: "string", default: "0" },
    },
  });
  const seed = values.seed === undefined ? randomInt(1, 1_000_000) : positive(values.seed, "seed");
  const chosen = positionals.length > 0 ? positionals : ALL_SOURCES;
  const files = chosen.flatMap((folder) => namesBelow(folder, isSource));
  const places = drawMutants(files, positive(values.count, "count"), seed);
  console.log(`${places.length} defects, --seed ${seed}`);
  const name = (/** @type {Place} */ { file, line, what }) => `${file}:${line}: ${what}`;
  /** @type {Map<string, Fate[]>} */
  const byFolder = new Map();
  await withTemporaryFolder("mutants", async (folder) => {
    await copyCheckout(root, folder);
    // Some tests start the built command, which has no defect.
    for (const name of ["node_modules", "dist"])
      symlinkSync(path.join(root, name), path.join(folder, name), "junction");
    const copy = new Copy(folder, positive(values.seconds, "seconds"));
    await copy.learnPlaces(path.join(root, ".cache", "mutants.json"));
    for (const place of places) {
      const { fate, by } = await copy.tryOut(place);
      const fates = byFolder.get(folderOf(place.file)) ?? [];
      byFolder.set(folderOf(place.file), [...fates, fate]);
      console.log(`${fate.padEnd(16)} ${name(place)}${by === undefined ? "" : ` (${by})`}`);
    }
    copy.end();
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
