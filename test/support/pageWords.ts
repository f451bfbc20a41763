import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import MarkdownIt from "markdown-it";
import { globSync } from "tinyglobby";
import { ROOT } from "./engine";

/*
 * The words of a page: sentences that are too long, and names of code that no longer exist.
 */

const MOST_WORDS = 25;

interface Paragraph {
  readonly text: string;
  readonly line: number;
}

/** The texts outside of tables and code. A span of code is one word, with a capital letter so that it can begin a sentence. */
function paragraphsOf(page: string): Paragraph[] {
  const paragraphs: Paragraph[] = [];
  let tables = 0;
  for (const { type, map, children } of new MarkdownIt({ html: true }).parse(page, {})) {
    if (type === "table_open") tables += 1;
    if (type === "table_close") tables -= 1;
    if (type !== "inline" || tables > 0) continue;
    const parts = (children ?? []).map((child) => {
      if (child.type === "code_inline") return "Code";
      return child.type === "softbreak" ? " " : child.type === "text" ? child.content : "";
    });
    paragraphs.push({ text: parts.join(""), line: (map?.[0] ?? 0) + 1 });
  }
  return paragraphs;
}

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });

/** The sentences of a page that are longer than 25 words, a line each. */
export function longSentences(page: string): string[] {
  return paragraphsOf(page).flatMap(({ text, line }) =>
    [...segmenter.segment(text)].flatMap(({ segment }) => {
      const words = segment.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
      return words > MOST_WORDS ? [`line ${line}: ${words} words: ${segment.trim()}`] : [];
    }),
  );
}

const SOURCES = [
  "{provider,emulator,scripts,test,schema}/**/*.{ts,js,mjs,cjs,mts,cts,json,go,yml,py}",
  "package.json",
  "jest.config.js",
  ".dependency-cruiser.cjs",
];

/** Read once for all pages. */
let known: { readonly files: readonly string[]; readonly names: ReadonlySet<string> } | undefined;

function readSources(): NonNullable<typeof known> {
  if (known !== undefined) return known;
  // Not the files that git lists: the tests also run in copies of the checkout without git.
  const files = globSync(SOURCES, { cwd: ROOT, dot: true });
  const texts = files.map((file) => readFileSync(join(ROOT, file), "utf8"));
  const fileNames = files.map((file) => basename(file).split(".")[0] ?? "");
  const names = new Set([...fileNames, ...texts.flatMap((text) => text.match(/[A-Za-z_]\w*/g) ?? [])]);
  return (known = { files, names });
}

const camelCase = /\b[A-Za-z]\w*[a-z][A-Z]\w*/g;
const sourceFile = /[\w/.-]+\.(?:ts|mjs|cjs)\b/g;

/** The file and the names that a page puts in it: "`http/client.ts`, `request`" and "`send` and `claim` in `create.ts`". */
const fileThenName = /`([\w/.-]+\.(?:ts|mjs|cjs))`,\s+`(\w+)`(?!\s+in\s)/g;
const nameThenFile = /`(\w+)`(?:\s+and\s+`(\w+)`)?,?\s+(?:both\s+)?in\s+`([\w/.-]+\.(?:ts|mjs|cjs))`/g;

function declares(text: string, name: string): boolean {
  const declaration = `(?:function\\*?|const|class|interface|type|async|private)\\s+\\*?${name}\\b`;
  const member = `^ {2}(?:readonly )?${name}\\??(?:<[^>]*>)?[(:]`;
  return new RegExp(`${declaration}|${member}`, "m").test(text);
}

/** The names that a page puts in a file which does not declare them. */
export function misplacedNames(page: string): string[] {
  const { files } = readSources();
  const named = [
    ...[...page.matchAll(fileThenName)].map(([, file = "", name = ""]) => ({ file, name })),
    ...[...page.matchAll(nameThenFile)].flatMap(([, one = "", other, file = ""]) =>
      [one, ...(other === undefined ? [] : [other])].map((name) => ({ file, name })),
    ),
  ];
  return named
    .filter(({ file, name }) => {
      const same = files.filter((each) => each === file || each.endsWith(`/${file}`));
      return !same.some((each) => declares(readFileSync(join(ROOT, each), "utf8"), name));
    })
    .map(({ file, name }) => `${name} in ${file}`);
}

/** The camel-case names and source files in spans of code that are not in the sources. */
export function unknownNames(codeSpans: readonly string[]): string[] {
  const { files, names } = readSources();
  const namedFiles = codeSpans.flatMap((span) => span.match(sourceFile) ?? []);
  const namedCode = codeSpans.flatMap((span) => span.replaceAll(sourceFile, "").match(camelCase) ?? []);
  return [
    ...namedFiles.filter((name) => !files.some((file) => file === name || file.endsWith(`/${name}`))),
    ...namedCode.filter((name) => !names.has(name)),
  ];
}
