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
