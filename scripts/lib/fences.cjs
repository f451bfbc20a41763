// @ts-check
const MarkdownIt = require("markdown-it");

/**
 * @typedef {object} Fence A fenced block of a page.
 * @property {string} language The first word after the fence: `sh`.
 * @property {string} text
 * @property {number} line The line of the page, from 1.
 * @property {string} title The last heading before it.
 * @property {string} [reason] Why no test runs it, from the comment `not run: …` before it.
 */

/**
 * @typedef {object} Page
 * @property {readonly Fence[]} fences
 * @property {readonly string[]} codeSpans The texts in backticks outside of the fences.
 * @property {string} [runBy] The test that runs its programs, from the comment `run by …`.
 */

/** Languages of what a reader runs; the others are output, data and diagrams. */
const PROGRAM_LANGUAGES = ["sh", "bash", "console", "ts", "js", "python"];

/** Parses a page of Markdown. @param {string} text @returns {Page} */
function parsePage(text) {
  const runBy = /^<!-- run by (\S+) -->$/m.exec(text)?.[1];
  const tokens = new MarkdownIt({ html: true }).parse(text, {});
  /** @type {Fence[]} */
  const fences = [];
  let title = "";
  for (const [index, token] of tokens.entries()) {
    if (token.type === "heading_open") title = tokens[index + 1]?.content ?? "";
    if (token.type !== "fence") continue;
    const before = tokens[index - 1];
    const comment = before?.type === "html_block" ? before.content : "";
    const reason = /^\s*<!-- not run: ([^]+?)\s*-->\s*$/.exec(comment)?.[1];
    const language = token.info.split(" ")[0] ?? "";
    const fence = { language, text: token.content, line: (token.map?.[0] ?? 0) + 1, title };
    fences.push(reason === undefined ? fence : { ...fence, reason });
  }
  const codeSpans = tokens
    .flatMap(({ children }) => children ?? [])
    .flatMap(({ type, content }) => (type === "code_inline" ? [content] : []));
  return { fences, codeSpans, ...(runBy !== undefined && { runBy }) };
}

/** Whether a fence is a command or a program. @param {Fence} fence */
const isProgram = ({ language }) => PROGRAM_LANGUAGES.includes(language);

/**
 * The commands and programs of a page that can be run, in order.
 * @param {Page} page
 * @param {...string} languages Only these.
 */
function programsOf({ fences }, ...languages) {
  return fences.filter(
    (fence) =>
      isProgram(fence) &&
      fence.reason === undefined &&
      (languages.length === 0 || languages.includes(fence.language)),
  );
}

module.exports = { isProgram, parsePage, programsOf };
