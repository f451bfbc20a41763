// @ts-check

/** The lines of a comment without its marks. @param {string} comment */
function linesOf(comment) {
  return comment
    .replace(/^\/\*\*/, "")
    .replace(/\*\/$/, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, "").trimEnd());
}

/** @param {readonly string[]} lines */
function trimBlank(lines) {
  const first = lines.findIndex((line) => line.trim() !== "");
  const last = lines.findLastIndex((line) => line.trim() !== "");
  return first < 0 ? [] : lines.slice(first, last + 1);
}

/**
 * The source of a kind whose class comment ends with this example, which editors show.
 * @param {string} source
 * @param {string} kind
 * @param {string} example
 */
export function withClassExample(source, kind, example) {
  if (example.includes("*/"))
    throw new Error(`the example of ${kind} must not hold */: it would end a comment`);
  const at = source.indexOf(`export class ${kind} `);
  const start = source.lastIndexOf("/**", at);
  if (at < 0 || start < 0) throw new Error(`no commented class ${kind}`);
  const all = linesOf(source.slice(start, at).trim());
  const tag = all.indexOf("@example");
  const text = trimBlank(tag < 0 ? all : all.slice(0, tag)).map((line) => line.trim());
  const lines = [...text, "", "@example", "```ts", ...example.trimEnd().split("\n"), "```"];
  const comment = lines.map((line) => ` * ${line}`.trimEnd()).join("\n");
  return `${source.slice(0, start)}/**\n${comment}\n */\n${source.slice(at)}`;
}
