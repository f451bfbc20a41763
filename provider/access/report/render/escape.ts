import { sha256 } from "../../documents/digest";
import { escapeUnits, plainText, replaceInvisible } from "../../../text/printable";

/**
 * Names come from pull requests and servers: whoever chooses one must not choose what a reader sees.
 * One function per language; each takes any text, first calls `plainText`, and gives text that means only itself there.
 */

/**
 * At most `limit` characters, with an ellipsis in the middle where something is cut: a long name is first, and what is said of it is
 * last. Never half a surrogate pair.
 */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const characters = Array.from(text);
  if (characters.length <= limit) return text;
  const end = Math.floor((limit - 1) / 2);
  return [...characters.slice(0, limit - 1 - end), "…", ...(end === 0 ? [] : characters.slice(-end))].join(
    "",
  );
}

/**
 * For a terminal and the log of a CI job. Runners take commands from logs: `##[…]` anywhere in a line here,
 * `::` at the start of one in `terminalLine`.
 */
export function terminal(text: string): string {
  return plainText(text).replaceAll("##", "#\\u{23}");
}

/** A whole line of output, its parts escaped before: one that begins with `::` would be a command. */
export function terminalLine(line: string): string {
  return line.replace(/^(\s*):(?=:)/, "$1\\u{3a}");
}

const byCode = (character: string): string => `&#${character.codePointAt(0) ?? 0};`;

/** For a text node and for an attribute in quotes. */
export function html(text: string): string {
  return plainText(text).replace(/[&<>"']/g, byCode);
}

/** What starts a mention, a reference, an emoji, an address or an edit mark at hosts of Markdown. "33%," is none. */
const ACTIVE =
  /www\.|GH-|mailto:|xmpp:|:(?=\/\/|[\w+-]+:)|\{(?=[+-])|[@#!~$^&[*](?=\S)|%(?=[),.;:]*[^\s),.;:])/i;

/** Letters without a blank, but for those of a key in a path, as in `bindings["ci pushes"]`. */
const WORD = /(?:\["[^"\\]{0,200}"\]|\S)+/g;

/**
 * For a sentence in Markdown, also in a cell of a table. A host looks for mentions, references, emoji and addresses
 * after it has read the Markdown, where an escape no longer shows: a word with one of them is shown as code, where
 * no host looks. It is copied as it is.
 */
export function markdown(text: string): string {
  const words = plainText(text)
    .trim()
    .replace(WORD, (word) => (ACTIVE.test(word) ? codeInSentence(word) : encodeMarks(word)));
  return words.replace(/^(\d+)(?=[.)])/, "$1\\").replace(/^[-+=#]/, byCode);
}

const OPENING = '"“(';
const CLOSING = '"”),.;:';

/** A word as code, but for the quotes and brackets around it, which are not a part of a name. */
function codeInSentence(word: string): string {
  let [start, end] = [0, word.length];
  while (start < end && OPENING.includes(word.charAt(start))) start += 1;
  while (end > start && CLOSING.includes(word.charAt(end - 1))) end -= 1;
  return `${word.slice(0, start)}${codeSpan(word.slice(start, end))}${word.slice(end)}`;
}

const encodeMarks = (word: string): string => word.replace(/[\\`*_[\]<>|~&$^]/g, byCode);

/** For a name or a value in Markdown: the reader sees exactly it, in letters of one width. */
export const markdownCode = (text: string): string => codeSpan(plainText(text));

function codeSpan(name: string): string {
  if (name.trim() === "") return "<code>&nbsp;</code>";
  // In a table a pipe ends the cell even between backticks, and hosts differ in how it is escaped there.
  // A comment's beginning stays ours, also in code: by it a comment on a pull request is found again.
  if (/\||<!--/.test(name)) {
    return `<code>${name.replace(/[^\p{L}\p{N} ]/gu, byCode)}</code>`;
  }
  const runs = name.match(/`+/g) ?? [];
  const fence = "`".repeat(1 + Math.max(0, ...runs.map((run) => run.length)));
  const space = /^[` ]|[` ]$/.test(name) ? " " : "";
  return `${fence}${space}${name}${space}${fence}`;
}

/** Several lines as a block of code; `language` is ours, the text is not. */
export function markdownBlock(text: string, language: string): string {
  const lines = text
    .replace(/\r\n/g, "\n")
    .split("\n")
    .map((line) => plainIndented(line).replaceAll("<!--", "<\\u{21}--"));
  const runs = text.match(/`+/g) ?? [];
  const fence = "`".repeat(1 + Math.max(2, ...runs.map((run) => run.length)));
  return [`${fence}${language}`, ...lines, fence].join("\n");
}

/** `plainText`, with the tabs at its start as spaces: a line of code. */
export function plainIndented(line: string): string {
  const indent = /^[ \t]*/.exec(line)?.[0] ?? "";
  return indent.replaceAll("\t", "    ") + plainText(line.slice(indent.length));
}

/** The message of a workflow command of GitHub Actions: `::error …::message`. */
export function workflowMessage(text: string): string {
  return plainText(text).replaceAll("%", "%25");
}

/** The value of a property of a workflow command: `file=value`. */
export function workflowProperty(text: string): string {
  return workflowMessage(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/**
 * JSON that is safe in a terminal and in the log of a CI job; any parser reads the same value from it.
 * @param indent Spaces for each level; 0 for one line.
 */
export function json(value: unknown, indent = 2): string {
  const text = JSON.stringify(value, null, indent);
  return replaceInvisible(text, (character) =>
    character === "\n" ? character : escapeUnits(character),
  ).replaceAll("##", "#\\u0023");
}

/**
 * A field of a CSV file, quoted by RFC 4180. A spreadsheet takes a field that begins so for a formula, quoted or not:
 * an apostrophe in front makes it text.
 */
export function csv(text: string): string {
  const field = plainText(text);
  const isFormula = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]/u.test(field);
  return `"${isFormula ? "'" : ""}${field.replaceAll('"', '""')}"`;
}

/** For a part of a URI's path that is relative to the repository: SARIF's locations. */
export function uriPath(path: string): string {
  return plainText(path)
    .split("/")
    .map((segment) => encodeURIComponent(segment))
    .join("/");
}

/** A longer key is told from others by its digest. */
const LONGEST_KEY = 1000;

/** The hidden marker by which a comment of ours is found again. A key cannot end it early. */
export function commentMarker(command: string, key: string): string {
  const whole = plainText(key).replace(/[^A-Za-z0-9._/-]/gu, percent);
  const safe = whole.length <= LONGEST_KEY ? whole : `${whole.slice(0, LONGEST_KEY)}.${sha256(key)}`;
  return `<!-- pulumi-platform:${command}:${safe.replaceAll("--", "-%2d")} -->`;
}

const percent = (character: string): string =>
  Array.from(Buffer.from(character, "utf8"), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
