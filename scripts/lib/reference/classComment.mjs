// @ts-check

/** The lines of a comment without its marks. @param {string} comment */
function linesOf(comment) {
  return comment
    .replace(/^\/\*\*/, "")
    .replace(/\*\/$/, "")
    .trim()
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, "").trimEnd());
}

/**
 * The declarations of a kind, whose class comment then ends with this example: editors show it.
 * @param {string} declarations the declarations that the compiler writes of the kind.
 * @param {string} kind
 * @param {string} example
 */
export function withClassExample(declarations, kind, example) {
  if (example.includes("*/"))
    throw new Error(`the example of ${kind} must not hold */: it would end a comment`);
  const at = declarations.indexOf(`export declare class ${kind} `);
  const start = declarations.lastIndexOf("/**", at);
  const comment = declarations.slice(start, at).trim();
  if (at < 0 || start < 0 || comment.indexOf("*/") !== comment.length - 2)
    throw new Error(`no commented class ${kind}`);
  if (comment.includes("@example"))
    throw new Error(`the comment of class ${kind} must hold no example: it has a file of its own`);
  const lines = [...linesOf(comment), "", "@example", "```ts", ...example.trimEnd().split("\n"), "```"];
  const text = lines.map((line) => ` * ${line}`.trimEnd()).join("\n");
  return `${declarations.slice(0, start)}/**\n${text}\n */\n${declarations.slice(at)}`;
}
