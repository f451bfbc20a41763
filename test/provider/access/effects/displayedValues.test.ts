import { visible } from "../../../../provider/text/printable";
import { quoteValue } from "../../../../provider/access/trust/quote";
import { displayValues } from "../../../../provider/access/effects";
import { string } from "../../../../provider/fields/builders";

const text = string();
const shown = (before: string, after: string) =>
  displayValues(text, [before, (key) => key], [after, (key) => key]);

describe("a value of a document", () => {
  it.each([
    ...["\u200b", "\u00a0", "\u202e", "\u00ad", "\u2060", "\ufeff", "\u{e0041}", "\u0000", "\n", "\u3164"],
  ])("is told from one with %j at its end, its start and inside", (character) => {
    for (const other of [`alice${character}`, `${character}alice`, `al${character}ice`]) {
      for (const show of [visible, quoteValue, (value: string) => String(shown("alice", value)[1])]) {
        expect(show(other)).not.toBe(show("alice"));
        expect(show(other)).toMatch(/^[ -~“”]*$/);
      }
    }
  });

  it("is shown whole where it is short, and else where it differs from the other", () => {
    expect(shown("a", "b")).toEqual(["a", "b"]);
    const long = Array.from({ length: 60 }, (_, i) => `repo:acme/repository-${i}`).join("|");
    const [before = "", after = ""] = shown(`^(?:${long})$`, `^(?:${long}|repo:evil/x)$`);
    expect(after).toContain("|repo:evil/x");
    expect(before).not.toContain("evil");
    expect(before.startsWith("… ")).toBe(true);
    for (const [one, other] of [
      [long, ""],
      [long, `x${long}x`],
      [`${long}${long}`, long],
    ] as const) {
      const [old = "not set", now = "not set"] = shown(one, other);
      expect(old).not.toBe(now);
      expect(Math.max(old.length, now.length)).toBeLessThanOrEqual(302);
    }
  });
});
