// @ts-check

/** @param {string} text */
export const code = (text) => `\`${text}\``;

/** A text as one cell of a table. @param {string} text */
const cell = (text) => text.replace(/\s*\n\s*/g, " ").replace(/\|/g, "\\|");

/** @param {readonly string[]} head @param {readonly (readonly string[])[]} rows */
export function table(head, rows) {
  const line = (/** @type {readonly string[]} */ cells) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** The parts of a page, without the empty ones. @param {readonly (string | undefined)[]} parts */
export const page = (parts) => `${parts.filter(Boolean).join("\n\n")}\n`;

/** @param {string} text */
export const firstSentence = (text) => /^.*?\.(?=\s|$)/s.exec(text)?.[0] ?? text;

/** @param {string} text */
export const example = (text) => `\`\`\`ts\n${text.trimEnd()}\n\`\`\``;

/** The address of a heading, as hosts derive it. @param {string} heading */
export const anchor = (heading) =>
  `#${heading
    .toLowerCase()
    .replace(/[^a-z0-9 -]/g, "")
    .replace(/ /g, "-")}`;
