// @ts-check
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** What the second line of a program says, and how the guide shows it. */
const catchers = /** @type {Readonly<Record<string, string>>} */ ({
  review: "`review`",
  verify: "`verify`",
  none: "grants no access",
});

/** @param {string} text */
const escaped = (text) => text.replaceAll("|", "\\|").replaceAll("*", "\\*").replaceAll("<", "&lt;");

/** @param {string} title A pattern follows the first colon. */
function describe(title) {
  const [, words = title, pattern] = /^([^:]*matches[^:]*): (.+)$/.exec(title) ?? [];
  return pattern === undefined ? escaped(words) : `${escaped(words)}: \`${pattern.replaceAll("|", "\\|")}\``;
}

/**
 * The table of the hostile programs, as Markdown.
 * @param {string} root the folder of the repository.
 */
export function corpusTable(root) {
  const folder = path.join(root, "test/adversarial/programs");
  const rows = readdirSync(folder)
    .sort()
    .map((file) => {
      const text = readFileSync(path.join(folder, file), "utf8");
      const [, title = "", caughtBy = ""] = /^\/\/ (.+)\n\/\/ caught by: (\w+)\n/.exec(text) ?? [];
      const [, plan = ""] = /^\/\/ update plan: (\w+)$/m.exec(text) ?? [];
      // The pack is asked before the request, and verify after it.
      const isHeld = /^\/\/ approved report: refuses$/m.test(text);
      const catcher = isHeld ? "the bound pack" : (catchers[caughtBy] ?? "?");
      const cells = [file.replace(/\.js$/, ""), describe(title), catcher, plan];
      return `| ${cells.join(" | ")} |`;
    });
  return [
    "| Program | What it does | Caught by | `up --plan` |",
    "| --- | --- | --- | --- |",
    ...rows,
    "",
  ].join("\n");
}

const BEGIN = "<!-- The table is generated from test/adversarial by `npm run docs`. -->";

/**
 * The guide with the table as it is now; the table is the last thing in it.
 * @param {string} root the folder of the repository.
 */
export function threatsPage(root) {
  const page = readFileSync(path.join(root, "docs/threats.md"), "utf8");
  const end = page.indexOf(BEGIN);
  if (end < 0) throw new Error(`docs/threats.md has lost the line ${BEGIN}`);
  return `${page.slice(0, end)}${BEGIN}\n\n${corpusTable(root)}`;
}
