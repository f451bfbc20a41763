// @ts-check
import { WriteStream } from "node:tty";
import { styleText } from "node:util";

const INDENT = "   ";
/** Columns beside the indentation. */
export const WIDTH = 80 - INDENT.length;

/** @typedef {"bold" | "dim" | "red" | "green" | "yellow" | "cyan"} Style */

/** Node's own reading of FORCE_COLOR and NO_COLOR. */
const colourful =
  (process.stdout.isTTY || process.env.FORCE_COLOR !== undefined) && WriteStream.prototype.hasColors();

/** @param {Style} style @param {string} text */
export function paint(style, text) {
  // Whether to colour is decided here: by itself styleText would look at the stream in some versions only.
  return colourful ? styleText(style, text, { validateStream: false }) : text;
}

/** @param {string} [line] */
export function print(line = "") {
  console.log(line === "" ? "" : INDENT + line);
}

/** @param {string} text */
export function heading(text) {
  console.log(`\n${paint("bold", text)}`);
}

/** Prints prose, broken into lines. @param {string} text */
export function say(text) {
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > WIDTH) {
      print(line);
      line = "";
    }
    line += line === "" ? word : ` ${word}`;
  }
  print(line);
}

/** The output of a command as it came, set apart. @param {string} text */
export function quote(text) {
  for (const line of text.trimEnd().split("\n")) print(paint("dim", `│ ${line}`.trimEnd()));
}

/** What a command printed for 80 columns, as it came. @param {string} text */
export function show(text) {
  console.log(text.trimEnd());
}

/** @type {Record<string, Style>} */
const STYLE_OF_SIGN = { "+": "green", "-": "red", "~": "yellow" };

/** A line that begins with a sign as in a diff. @param {string} sign @param {string} text */
export function signed(sign, text) {
  print(paint(STYLE_OF_SIGN[sign.slice(0, 1)] ?? "dim", `${sign.padEnd(2)} ${text}`));
}

/** @param {number} ms */
export function formatSeconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** @param {number} count @param {string} one @param {string} [many] */
export function formatCount(count, one, many = `${one}s`) {
  return `${count} ${count === 1 ? one : many}`;
}
