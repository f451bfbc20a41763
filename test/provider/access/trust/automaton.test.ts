import { RE2JS } from "re2js";
import { classOf } from "../../../../provider/access/trust/automaton";
import { Budget } from "../../../../provider/access/trust/budget";
import { PatternComparer } from "../../../../provider/access/trust/patternComparer";
import { estimateProgram, literalStart } from "../../../../provider/access/trust/regexSyntax";
import { cpuSeconds } from "../../../support/cpu";
import fc, { casesOf } from "../../../support/properties";

const CHARS = ["a", "b", "k", "K", "s", "ſ", "é", "É", "0", "_", "-", "/", ":", ".", " ", "\n", "😀"];
const ATOMS = [
  ...["a", "b", "k", "é", "/", "\\.", ".", "(?s:.)", "[ab]", "[^a]", "[a-z]", "[[:alpha:]]", "\\d", "\\W"],
  ...["\\pL", "\\PL", "\\x{1F600}", "\\Qa.b\\E", "()", "(?i:k)", "(?i:É)", "(?i)", "(?s)"],
  ...["^", "$", "\\A", "\\z"],
];
const pattern = fc.letrec<{ node: string; sequence: string }>((tie) => ({
  sequence: fc.array(tie("node"), { minLength: 0, maxLength: 4 }).map((parts) => parts.join("")),
  node: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(...ATOMS),
    fc.tuple(tie("sequence"), tie("sequence")).map(([a, b]) => `(?:${a}|${b})`),
    fc
      .tuple(tie("sequence"), fc.constantFrom("*", "+", "?", "{0,2}", "{2}", "{1,}", "*?"))
      .map(([a, times]) => `(?:${a})${times}`),
  ),
})).sequence;
const text = fc.array(fc.constantFrom(...CHARS), { maxLength: 8 }).map((chars) => chars.join(""));

/** What is compared here is the verdict, not how many steps it takes. */
const unlimited = (): PatternComparer => new PatternComparer(new Budget(1_000_000_000, 1_000_000_000));

function accepts(comparer: PatternComparer, source: string, candidate: string): boolean {
  const automaton = comparer.languageOf(source);
  if (typeof automaton === "string") throw new Error(`${automaton}: ${source}`);
  let state = automaton.start;
  for (const char of candidate)
    state = automaton.step(state, classOf(automaton.alphabet, char.codePointAt(0)!));
  return automaton.accepts(state);
}

describe("an automaton", () => {
  it("accepts what re2js matches", () => {
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 1, maxLength: 10 }), (source, texts) => {
        const regex = RE2JS.compile(source);
        const comparer = unlimited();
        for (const each of texts)
          expect([source, each, accepts(comparer, source, each)]).toEqual([source, each, regex.test(each)]);
      }),
      { numRuns: casesOf(1000) },
    );
  });

  it("gives an example that re2js matches", () => {
    fc.assert(
      fc.property(pattern, text, (source, other) => {
        const regex = RE2JS.compile(source);
        const example = unlimited().exampleOf(source);
        if (example === "tooLarge") throw new Error(source);
        if (example.text === undefined) expect(regex.test(other)).toBe(false);
        else expect([source, example.text, regex.test(example.text)]).toEqual([source, example.text, true]);
      }),
      { numRuns: casesOf(500) },
    );
  });

  it("compares two patterns as their texts do", () => {
    fc.assert(
      fc.property(pattern, pattern, fc.array(text, { minLength: 5, maxLength: 20 }), (one, other, texts) => {
        const [left, right] = [RE2JS.compile(one), RE2JS.compile(other)];
        const comparer = unlimited();
        const [isSubset, intersects] = [comparer.isSubset(one, other), comparer.intersects(one, other)];
        expect(isSubset).not.toBe("tooLarge");
        for (const each of texts) {
          if (left.test(each) && !right.test(each))
            expect([one, other, each, isSubset]).toEqual([one, other, each, "no"]);
          if (left.test(each) && right.test(each))
            expect([one, other, each, intersects]).toEqual([one, other, each, "yes"]);
        }
        expect(comparer.isSubset(one, one)).toBe("yes");
      }),
      { numRuns: casesOf(300) },
    );
  });
});

/** Parts of patterns, of which any may follow any. */
const PARTS = [
  ...[
    "a",
    "b",
    "A",
    ":",
    "-",
    ".",
    "\\.",
    "\\-",
    "[.]",
    "[[:^alpha:]]",
    "[[:a]",
    "[a]",
    "[^a]",
    "[a-b]",
    "[",
    "]",
    "\\d",
    "\\Qa|b\\E",
  ],
  ...["|", "(", ")", "?", "*", "{2}", "(?i)", "^", "$", "\\z"],
];

it("begins with what is written out at the start of a pattern, whatever follows", () => {
  const parts = fc.array(fc.constantFrom(...PARTS), { maxLength: 7 });
  fc.assert(
    fc.property(parts, text, (pattern, rest) => {
      const source = `^${pattern.join("")}`;
      const { text: start, isStart } = literalStart(source);
      let regex: RE2JS;
      try {
        regex = RE2JS.compile(source);
      } catch {
        return;
      }
      for (const each of [rest, start, start.slice(0, -1), start + rest])
        if (regex.test(each))
          expect([source, each, isStart ? each.startsWith(start) : each === start]).toEqual([
            source,
            each,
            true,
          ]);
    }),
    { numRuns: casesOf(2000) },
  );
});

it("reads nothing of what is too long to be judged, and a class in a time in proportion to it", () => {
  const openNames = (count: number): string => `^[${"[:a".repeat(count)}]$`;
  expect(literalStart("^a$")).toEqual({ text: "a", isStart: false });
  expect(literalStart(`^${"a".repeat(5000)}$`)).toEqual({ text: "", isStart: true });
  expect(cpuSeconds(() => literalStart(openNames(100_000)))).toBeLessThan(1);
  expect(cpuSeconds(() => estimateProgram(openNames(100_000)))).toBeLessThan(1);
});
