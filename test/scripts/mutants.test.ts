import { evaluate } from "./support";

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
  ["const named = { 3: a };", []],
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

test("marks tell which places run, each by its defect, in the lines where they were", async () => {
  const text = [
    "#!/usr/bin/env node",
    "const one = (a) => (a ? 1 : [2]);",
    "const two = (a) => {",
    "  if (a && one(a) === 3) one(4);",
    "  [a] = [!a];",
    "};",
    "one(one(false) + 5);",
    "two(false);",
    "throw new Error('end');",
  ].join("\n");
  const ran = `((text) => {
    const mutants = m.mutantsOf("sample.ts", text);
    const marked = m.markPlaces("sample.ts", text, mutants);
    try { (0, eval)(marked); } catch (error) { if (error.message !== "end") throw error; }
    return {
      lines: marked.split("\\n").length,
      ran: mutants.filter((_, index) => globalThis.ran["sample.ts"][index] === 1).map(({ line, what }) => line + ": " + what),
    };
  })(${JSON.stringify(text)})`;
  expect(await evaluate("mutants.mjs", ran)).toEqual({
    lines: text.split("\n").length,
    ran: [
      "2: a condition is always true",
      "2: a condition is never true",
      "2: 1 grows by one",
      "2: a list is emptied",
      "2: 2 grows by one",
      "4: a condition is always true",
      "4: a condition is never true",
      "4: && becomes ||",
      "5: a list is emptied",
      "5: a list is emptied",
      "5: a negation is removed",
      "7: a call is removed",
      "7: + becomes -",
      "7: false becomes true",
      "7: 5 grows by one",
      "8: a call is removed",
      "8: false becomes true",
    ],
  });
});
