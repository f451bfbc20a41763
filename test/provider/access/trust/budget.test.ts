import { sharedIssuerOf } from "../../../../provider/access/trust/issuers";
import { Budget } from "../../../../provider/access/trust/budget";
import { PatternComparer } from "../../../../provider/access/trust/patternComparer";
import { judgeIssuer } from "../../../../provider/access/trust/ownedIssuers";
import { judgeOwnPart, judgeSubject } from "../../../../provider/access/trust/ownedSubjects";
import { rememberMost } from "../../../../provider/access/trust/remember";
import { estimateProgram } from "../../../../provider/access/trust/regexSyntax";
import { RE2JS } from "re2js";

const github = sharedIssuerOf("https://token.actions.githubusercontent.com")!;

/** 848 characters: counted repetitions in each other, alternatives and classes of Unicode. */
const long = `^repo:(?:a{1,50}|b{1,40}c){1,19}${"(?:[a-z]{1,7}|[0-9]{1,9}|\\pL{1,9})?".repeat(30)}`.slice(
  0,
  844,
);
const HOSTILE = [
  long.slice(0, long.lastIndexOf(")?") + 2).padEnd(848, "a"),
  "^(a{1,50}){1,20}$",
  "(a{1,30}b?){1,33}".repeat(40),
  "(.*){1,32}[bc]",
  "(x+x+)+y",
  ".*a.{20}b",
  "(?:.*[ab].{15})+c",
  "^repo:.*a.{12}/pay:.*$",
  `(?i)${"[\\pL\\pN]{0,9}".repeat(20)}`,
  "\\pL{1000}",
  `(?:${Array.from({ length: 160 }, (_, i) => `k${i}`).join("|")})`,
  "(?:a?){500}a{400}",
  "^https://(?:[a-z]{1,20}\\.){1,30}com$",
  "(\\w*\\W*){1,30}x".repeat(40),
  `${"(".repeat(450)}a${")".repeat(450)}`,
];

function judgeAll(comparer: PatternComparer): string[] {
  return HOSTILE.flatMap((pattern) => [
    judgeSubject(comparer, pattern, [github]).kind,
    judgeOwnPart(comparer, "sub", pattern, []).kind,
    judgeIssuer(comparer, pattern).kind,
  ]);
}

/** The steps that are spent are what is bounded, so that no clock decides. */
class CountingBudget extends Budget {
  spent = 0;

  override spend(steps: number): void {
    this.spent += steps;
    super.spend(steps);
  }
}

it("judges no hostile pattern as closed that is not, and spends a bounded number of steps", () => {
  const budget = new CountingBudget();
  const judged = judgeAll(new PatternComparer(budget));
  expect(budget.spent).toBeLessThan(30_000_000);
  expect(judged.filter((is) => is === "unjudged").length).toBeGreaterThan(10);
  expect(HOSTILE[0]).toHaveLength(848);
  expect(judged.slice(0, 3)).toEqual(["unjudged", "unjudged", "unjudged"]);
});

it("leaves enough for the patterns of a large organisation", () => {
  const budget = new CountingBudget();
  const comparer = new PatternComparer(budget);
  for (let i = 0; i < 300; i += 1) {
    expect(judgeSubject(comparer, `^repo:acme/service-${i}:.*$`, [github]).kind).toBe("pinned");
  }
  expect(budget.spent / 300).toBeLessThan(11_000);
});

it.each([
  "^repo:acme/.*$",
  "(a{1,50}){1,20}",
  "[[:alpha:]]{3}(?i:k)",
  "\\Qa.b(\\E+",
  "(?:a|b|\\pL){2,5}",
  "[]a-z\\]]*",
  "a{0,1000}",
])("does not estimate %s as smaller than it is", (pattern) => {
  expect(estimateProgram(pattern)).toBeGreaterThanOrEqual(RE2JS.compile(pattern).programSize() - 4);
});

it("estimates two instructions for a group, beside what is in it", () => {
  expect(["a", "(a)", "((a))"].map((pattern) => estimateProgram(pattern))).toEqual([3, 5, 7]);
});

it("takes no other error for too many steps", () => {
  const ask = () => new Budget().ask(() => JSON.parse("{") as unknown);
  expect(ask).toThrow(SyntaxError);
});

it("computes again what it no longer remembers", () => {
  const asked: number[] = [];
  const remembered = rememberMost((key: number) => asked.push(key), 2);
  for (const key of [1, 1, 2, 1, 3, 1]) remembered(key);
  expect(asked).toEqual([1, 2, 3, 1]);
});

describe("two patterns", () => {
  const comparer = new PatternComparer();

  it.each([
    ["^repo:acme/pay:.*$", "^repo:acme/.*$", "yes", "yes"],
    ["^$", "^x$", "no", "no"],
    ["$^", "^$", "yes", "yes"],
    // The edges of words and lines are not judged.
    ["^a\\b", "^a", "tooLarge", "tooLarge"],
    ["(?m)^a$", "a", "tooLarge", "tooLarge"],
    ["(", "a", "tooLarge", "tooLarge"],
    // No text has halves of a surrogate pair.
    ["^[\\x{D800}-\\x{DFFF}]$", "^.$", "yes", "no"],
    ["[^\\x00-\\x{10FFFF}]", "^a$", "yes", "no"],
  ])("%s and %s: within %s, in common %s", (one, other, isSubset, intersects) => {
    expect(comparer.isSubset(one, other)).toBe(isSubset);
    expect(comparer.intersects(one, other)).toBe(intersects);
  });
});
