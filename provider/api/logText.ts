import { stripVTControlCharacters } from "node:util";

/**
 * Text of others in a log. CI runners take commands from what a job prints: `::name …::` at the beginning of a line, and
 * `##[name]`, `##vso[…]` or `##teamcity[…]` anywhere in one.
 */

/** Characters that move the cursor, colour, hide or reorder text; also those that end a line. */
const CONTROLLING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** `##[name]` and its kin, with the second sign as an escape. */
export function breakMarkers(text: string): string {
  return text.replace(/##(?=[\w.-]*\[)/g, "#\\u{23}");
}

/** What a reader cannot see, or what changes how the text around it is seen; also half a surrogate pair. */
export const INVISIBLE =
  /(?![\ufe00-\ufe0f])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]|(?![ \u3000])\p{Zs}/gu;

/**
 * One line of visible characters: all others as `\n` or `\u{202e}`, so that two names that differ look different. Each form
 * of a report may be printed in a CI job, whose runner takes `##[…]` anywhere in a line for a command.
 */
export function plain(text: string): string {
  const inert = breakMarkers(text);
  if (/^[ -~]*$/.test(inert)) return inert;
  return inert.replace(INVISIBLE, (character) => {
    if (character === "\n") return "\\n";
    if (character === "\t") return "\\t";
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

const breakCommands = (line: string): string => breakMarkers(line).replace(/^(\s*):(?=:[a-z])/i, "$1\\u{3a}");

/** Without the sequences by which a terminal colours text: what would be left of them is no text of anybody. */
const uncoloured = (text: string): string => stripVTControlCharacters(text).replace(/<\{%[^%]*%\}>/g, "");

/** One line without control characters, and without a command to a CI runner. */
export function logLine(text: string): string {
  return breakCommands(uncoloured(text).replace(CONTROLLING, " ").trim());
}

/** The same for a text of several lines, which keep their indentation. */
export function logLines(text: string): string {
  return uncoloured(text)
    .split(/\r?\n/)
    .map((line) => breakCommands(line.replace(CONTROLLING, " ").trimEnd()))
    .join("\n");
}
