import { readFileSync } from "node:fs";
import { join } from "node:path";
import { evaluate, projectRoot } from "./support";

interface Mutant {
  readonly what: string;
  readonly line: number;
  readonly text: string;
}

/** Each defect that fits a text, with the text that it makes. */
async function mutantsOf(text: string): Promise<Mutant[]> {
  const each = "m.mutantsOf('sample.ts', text).map((one) => ({ ...one, text: m.applyMutant(text, one) }))";
  return (await evaluate("mutants.mjs", `((text) => ${each})(${JSON.stringify(text)})`)) as Mutant[];
}

test.each([
  ["const same = a === b;", ["const same = a !== b;"]],
  ["const least = a < b;", ["const least = a <= b;"]],
  ["const both = a && b;", ["const both = a || b;"]],
  ["const sum = a + b;", ["const sum = a - b;"]],
  ['const text = "a" + b;', []],
  ["const not = !a;", ["const not = a;"]],
  ["const yes = true;", ["const yes = false;"]],
  ["const no = false;", ["const no = true;"]],
  ["const count = 3;", ["const count = (3 + 1);"]],
  ["const all = [a, b];", ["const all = [];"]],
  ["const none = [];", []],
  ["log(a);", [";"]],
  ["await log(a);", [";"]],
  ["if (a) b = c;", ["if (true) b = c;", "if (false) b = c;"]],
  ["const one = a ? b : c;", ["const one = true ? b : c;", "const one = false ? b : c;"]],
  ["type Yes = true;", []],
  ["interface Count { readonly least: 3 }", []],
  ["let found: true | 3 = other;", []],
  ['import { a } from "./a";', []],
])("defects that fit %j", async (text, expected) => {
  expect((await mutantsOf(text)).map((mutant) => mutant.text)).toEqual(expected);
});

test("a seed draws the same defects again, each at a place of its own", async () => {
  const file = "provider/fields/values.ts";
  const draw = (seed: number) =>
    evaluate("mutants.mjs", `m.drawMutants([${JSON.stringify(file)}], 20, ${seed})`);
  const [first, again, other] = (await Promise.all([draw(1), draw(1), draw(2)])) as [
    Mutant[],
    Mutant[],
    Mutant[],
  ];
  expect(again).toEqual(first);
  expect(other).not.toEqual(first);
  const lines = readFileSync(join(projectRoot, file), "utf8").split("\n").length;
  expect(new Set(first.map((one) => JSON.stringify(one))).size).toBe(20);
  for (const { line } of first) expect(line).toBeLessThanOrEqual(lines);
});
