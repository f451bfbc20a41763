import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { cpuSeconds } from "../support/cpu";
import { judge, preview, state, step } from "../support/documents";
import { ROOT } from "../support/engine";
import { withUids } from "../support/byHand";
import { spreadOf } from "../support/properties";
import { ownOf, samples, surroundings } from "../support/samples";
import type { Json, Props } from "../../provider/fields/values";
import { checkInputSizes, LONGEST_NAME } from "../../provider/access/documents/jsonText";

/*
 * Text of others may be as long as they like, so no regular expression of the sources takes more than a time in
 * proportion to its length. Each is run on texts that repeat what it names itself.
 */

interface Literal {
  readonly at: string;
  readonly regex: RegExp;
}

/** The regular expressions that a source contains as literals. */
function literalsOf(file: string): Literal[] {
  const source = ts.createSourceFile(file, readFileSync(join(ROOT, file), "utf8"), ts.ScriptTarget.Latest);
  const found: Literal[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf("/");
      const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
      found.push({
        at: `${file}:${line} ${node.text}`,
        regex: new RegExp(node.text.slice(1, end), node.text.slice(end + 1)),
      });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const files = readdirSync(join(ROOT, "provider"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => join("provider", name));

/** What to repeat: what the expression names, alone and in pairs. */
function unitsFor({ source }: RegExp): string[] {
  const own = source.replace(/\\[dDwWsSbB]|[()?:^$|+*{}]/g, "").replaceAll("\\", "");
  const characters = [...new Set(Array.from(`${own.slice(0, 40)} a0-/.:[\\\nа日\u200b\u0301`)), "aа"];
  const words = source.match(/[\w./-]{3,}/g) ?? [];
  const classes = Array.from(" a0-/.:[");
  return [...characters, ...classes.flatMap((one) => classes.map((other) => one + other)), ...words];
}

const repeat = (unit: string, length: number): string =>
  unit.repeat(Math.ceil(length / unit.length)).slice(0, length);

const LENGTH = 20_000;
/** A quadratic expression takes a hundred times as long for a text that is ten times as long. */
const MOST_TIMES = 15;
/** Below that, a measurement is noise: a quadratic expression takes 0.1 s and more, and for a fifth of the text a 25th. */
const NOISE_SECONDS = 0.03;

/** Why an expression is not linear; undefined where it is. */
function problemOf({ at, regex }: Literal): string | undefined {
  const run = (text: string): number =>
    cpuSeconds(() => {
      if (regex.global) text.replace(regex, "");
      else regex.test(text);
    });
  for (const unit of unitsFor(regex)) {
    // An end that matches nothing makes the expression try all it can.
    for (const end of ["", "\u0001\n\u0001"]) {
      if (run(repeat(unit, LENGTH / 5) + end) < NOISE_SECONDS / 25) continue;
      const long = run(repeat(unit, LENGTH) + end);
      if (long < NOISE_SECONDS) continue;
      const short = run(repeat(unit, LENGTH / 10) + end);
      if (long > MOST_TIMES * Math.max(short, NOISE_SECONDS / MOST_TIMES))
        return `${at}: ${long.toFixed(2)} s for ${LENGTH} characters of ${JSON.stringify(unit)}`;
    }
  }
  return undefined;
}

test("the measurement finds a quadratic expression", () => {
  expect(problemOf({ at: "here", regex: /\/+$/ })).toMatch(/^here: \d/);
});

test("each regular expression of the sources takes a time in proportion to its text", () => {
  const literals = files.flatMap(literalsOf);
  expect(literals.length).toBeGreaterThan(200);
  expect(spreadOf(literals, 80, 0).flatMap((literal) => problemOf(literal) ?? [])).toEqual([]);
});

const UID = "a".repeat(40);
const names = [...Object.keys(surroundings), "own", ...samples.flatMap(({ label }) => [label, ownOf(label)])];
const ids = Object.fromEntries(names.map((name) => [name, UID]));

/** A copy with each text replaced, but for references and what a one-of excludes. */
function withTexts(value: unknown, text: string): unknown {
  if (typeof value === "string") return /^[0-9a-f/]{40,}$/.test(value) ? value : text;
  if (Array.isArray(value)) return value.map((item) => withTexts(item, text));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withTexts(member, text)]));
}

/** The arguments with each text replaced by a long one, or by as much of it as is read there. */
function withLongTexts(kind: string, args: Props, text: string): Props {
  const isRead = (inputs: Props): boolean => {
    try {
      checkInputSizes("here", kind, inputs);
      return true;
    } catch {
      return false;
    }
  };
  const replaced = Object.entries(args).map(([key, value]): [string, Json] => {
    const long = withTexts(value, text) as Json;
    return [key, isRead({ [key]: long }) ? long : (withTexts(value, text.slice(0, LONGEST_NAME)) as Json)];
  });
  return Object.fromEntries(replaced);
}

test.each(
  spreadOf(["/", "https://a/", "-", "(", "[", ".*", "\\", " ", "a:", "1", "\u0301", "aа", "\u200b"], 1, 0),
)("a review of texts of %j takes a time in proportion to them", (unit) => {
  const reviewOf = (length: number) => () =>
    judge(
      preview(
        ...samples.map(({ label, kind, args }) => {
          const before = withUids(args, ids) as Props;
          const after = withLongTexts(kind, before, repeat(unit, length));
          const id = `${UID}/${"1".repeat(16)}`;
          return step("update", state(kind, label, before, { id }), state(kind, label, after, { id }));
        }),
      ),
    );
  reviewOf(LENGTH / 10)();
  const short = cpuSeconds(reviewOf(LENGTH / 10));
  expect(cpuSeconds(reviewOf(LENGTH))).toBeLessThan(MOST_TIMES * Math.max(short, NOISE_SECONDS));
});
