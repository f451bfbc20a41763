// @ts-check
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import MarkdownIt from "markdown-it";
import { filesBelow } from "../lib/files.mjs";

/** Pages outside of docs. The site keeps the paths of the repository, so that links between pages stay as they are. */
const DOCUMENTS = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"];

/** What each line of a page of sources is highlighted as, by the extension of its file. */
const LANGUAGES = new Set(["cjs", "js", "json", "mjs", "sh", "ts", "yaml", "yml"]);

/** The Markdown pages of a checkout, by their paths in it. @param {string} root */
function listPages(root) {
  const docs = filesBelow(path.join(root, "docs")).filter((file) => file.endsWith(".md"));
  return [
    ...DOCUMENTS.filter((name) => existsSync(path.join(root, name))),
    ...docs.map((file) => path.relative(root, file).split(path.sep).join("/")),
  ];
}

/** The first heading of a page. @param {string} text */
const findTitle = (text) => (/^# (.+)$/m.exec(text)?.[1] ?? "").replaceAll("`", "");

/** The addresses that a page links to. @param {string} text */
function linksOf(text) {
  return new MarkdownIt({ html: true })
    .parse(text, {})
    .flatMap(({ children }) => children ?? [])
    .flatMap((token) => (token.type === "link_open" ? [String(token.attrGet("href"))] : []));
}

/**
 * The files and folders that pages link to and that are no pages, by their paths in the checkout.
 * @param {string} root @param {readonly string[]} pages
 */
function linkedSources(root, pages) {
  const targets = pages.flatMap((page) =>
    linksOf(readFileSync(path.join(root, page), "utf8"))
      .filter((link) => !/^([a-z]+:|#)/.test(link))
      .map((link) => path.posix.join(path.posix.dirname(page), link.replace(/#.*/, ""))),
  );
  return [...new Set(targets)].filter((target) => !pages.includes(target)).sort();
}

/** A page that shows a file, or the files of a folder: pages link to sources, and the site has no other address of them. @param {string} root @param {string} source */
function sourcePage(root, source) {
  const parts = filesBelow(path.join(root, source)).map((file) => {
    const language = path.extname(file).slice(1);
    const text = readFileSync(file, "utf8").trimEnd();
    const name = path.relative(root, file).split(path.sep).join("/");
    return `## ${name}\n\n\`\`\`\`${LANGUAGES.has(language) ? language : "text"}\n${text}\n\`\`\`\``;
  });
  return [`# ${source}`, "A source of the repository.", ...parts, ""].join("\n\n");
}

/**
 * Gives the headings that are a code the title that stands below them, and keeps their addresses: GitHub, where a heading has
 * no address of its own, shows the page as it stands.
 * @param {string} text
 */
const withTitles = (text) =>
  text.replace(
    /^### (PP\d{4}|HTTP \d{3}|Exit code \d|[A-Z]\d{1,2})\n\n(?:\*\*|It means: )?(.+?)(?=\.\*\*|\.\n|\. )/gm,
    (match, code, title) => match.replace(/\n/, `: ${title} {#${code.toLowerCase().replaceAll(" ", "-")}}\n`),
  );

/** Shows an example in several languages as tabs: GitHub shows all but the first folded. @param {string} text */
const withTabs = (text) =>
  text.replace(
    /^```ts\n[^]*?^```\n(?:\n<details>\n<summary>\w+<\/summary>\n[^]*?^<\/details>\n)+/gm,
    (run) => {
      const fences = run.match(/^```\w+\n[^]*?^```$/gm) ?? [];
      const titles = ["TypeScript", ...[...run.matchAll(/<summary>(\w+)/g)].map(([, title]) => title)];
      const tabs = fences.map((fence, index) => fence.replace(/^```\w+/, `$& [${titles[index]}]`));
      return `::: code-group\n\n${tabs.join("\n\n")}\n\n:::\n`;
    },
  );

/**
 * Copies the pages of a checkout to the folder that the site is built of. Where the address of the repository is not known,
 * a page of its own shows each source that a page links to.
 * @param {{ root: string, into: string, repository: string | undefined }} at
 * @returns {Map<string, string>} The title of each page.
 */
export function copyPages({ root, into, repository }) {
  const pages = listPages(root);
  /** @type {Map<string, string>} */
  const titles = new Map();
  const write = (/** @type {string} */ name, /** @type {string} */ text) => {
    mkdirSync(path.dirname(path.join(into, name)), { recursive: true });
    writeFileSync(path.join(into, name), text);
  };
  for (const page of pages) {
    const text = readFileSync(path.join(root, page), "utf8");
    titles.set(page, findTitle(text));
    write(page, page === "docs/troubleshooting.md" ? withTitles(text) : withTabs(text));
  }
  const sources = repository === undefined ? linkedSources(root, pages) : [];
  for (const source of sources) write(`source/${source}.md`, sourcePage(root, source));
  return titles;
}
