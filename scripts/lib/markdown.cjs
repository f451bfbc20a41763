// @ts-check

/** @param {string} text */
const code = (text) => `\`${text}\``;

/** A text as one cell of a table. @param {string} text */
const cell = (text) => text.replace(/\s*\n\s*/g, " ").replace(/\|/g, "\\|");

/** @param {readonly string[]} head @param {readonly (readonly string[])[]} rows */
function table(head, rows) {
  const line = (/** @type {readonly string[]} */ cells) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** The parts of a page, without the empty ones. @param {readonly (string | undefined)[]} parts */
const page = (parts) => `${parts.filter(Boolean).join("\n\n")}\n`;

/** @param {string} text */
const firstSentence = (text) => /^.*?\.(?=\s|$)/s.exec(text)?.[0] ?? text;

/** @param {string} text @param {string} [language] */
const example = (text, language = "ts") => `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;

/** What a reader opens. @param {string} summary @param {string} text */
const details = (summary, text) => `<details>\n<summary>${summary}</summary>\n\n${text}\n\n</details>`;

/** The address of a heading, as hosts derive it. @param {string} heading */
const anchor = (heading) =>
  `#${heading
    .toLowerCase()
    .replace(/[^a-z0-9 -]/g, "")
    .replace(/ /g, "-")}`;

/**
 * Replaces what stands in a page between the comment that names it and the next end.
 * @param {string} page @param {string} name @param {string} text
 */
function replacePart(page, name, text) {
  const start = `<!-- ${name}: written by npm run docs -->`;
  const [before, rest] = page.split(start);
  if (before === undefined || rest === undefined) throw new Error(`the page lacks ${start}`);
  return `${before}${start}\n\n${text}\n\n${rest.slice(rest.indexOf("<!-- end -->"))}`;
}

module.exports = { anchor, code, details, example, firstSentence, page, replacePart, table };
