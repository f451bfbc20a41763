import { columnsOf } from "../../../provider/text/plain";
import { logLine, logLines } from "../../../provider/text/printable";
import { COMMAND, CONTROL } from "../../support/logCommands";
import fc from "../../support/properties";

const part = fc.constantFrom(
  "::error::x",
  "::add-mask::x",
  "::set-output name=a::b",
  "##[error]x",
  "##vso[task.setvariable variable=a]b",
  "##teamcity[message text='x']",
  "#",
  ":",
  " ",
  "\t",
  "\u00a0",
  "\u3000",
  "\ufeff",
  "\u200b",
  "\u001b[2K",
  "\u0085",
  "\u2028",
  "\r",
  "\r\n",
  "\n",
  "x",
);

test("whatever texts are joined, no line is a command, and nothing controls a terminal", () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const line = logLine(parts.join(""));
      const lines = logLines(parts.join(""));
      expect(line).not.toMatch(CONTROL);
      expect(lines.replaceAll("\n", "")).not.toMatch(CONTROL);
      for (const shown of [line, ...lines.split("\n")]) expect(shown).not.toMatch(COMMAND);
    }),
  );
});

test.each(["## Access of acme", "a ::1 b", "::1", "#1", "C::D", "  indented", "### [link](x)"])(
  "%j is not changed",
  (text) => {
    expect(logLines(text)).toBe(text);
  },
);

test("characters that nobody sees are written out", () => {
  expect(logLine("a\u115fb\u3164c\uffa0\u2800")).toBe("a\\u{115f}b\\u{3164}c\\u{ffa0}\\u{2800}");
  expect(logLines("a\u3164\nb")).toBe("a\\u{3164}\nb");
});

test.each([
  ["abc", 3],
  ["e\u0301a", 2],
  ["漢é", 3],
  ["🙂", 2],
])("%s takes %i columns of a terminal", (text, columns) => {
  expect(columnsOf(text)).toBe(columns);
});
