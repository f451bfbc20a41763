import { globMatches } from "../../../../provider/access/trust/glob";
import { cpuSeconds } from "../../../support/cpu";

it.each([
  ["*", "", true],
  ["*", "anything / at all", true],
  ["acme / *", "acme / payments / cards", true],
  ["acme / *", "globex / payments", false],
  ["ci-?", "ci-1", true],
  ["ci-?", "ci-12", false],
  ["a*b**c", "a-b-b-c", true],
  ["a\\", "a\\", true],
  ["ci-?", "ci-", false],
  ["\\*", "*", true],
  ["\\*", "x", false],
  ["a.b", "axb", false],
  ["^a|b$", "a", false],
  ["é?", "é😀", true],
  ["", "", true],
  ["sandbox", "Sandbox", false],
  ["sandbox", "sandbox ", false],
  ["é", "e\u0301", false],
  ["sandbox*", "sandbox\u200b", false],
  ["*", "\u202exobdnas", false],
  ["*", "a\nb", false],
])("%j matches %j: %s", (glob, text, matches) => {
  expect(globMatches(glob, text)).toBe(matches);
});

it("takes no longer than the product of two lengths", () => {
  const match = () => expect(globMatches("*a".repeat(200) + "b", "a".repeat(2000))).toBe(false);
  expect(cpuSeconds(match)).toBeLessThan(5);
});
