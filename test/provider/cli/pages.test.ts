import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, basename, relative } from "node:path";
import { parse } from "yaml";
import MarkdownIt from "markdown-it";
import { globSync } from "tinyglobby";
import { parsePolicy } from "../../../provider/access/suppressions/policyDocument";
import { commands } from "../../../provider/cli/commands/list";
import { parseFlags } from "../../../provider/cli/framework/flags";
import { ROOT } from "../../support/engine";
import { isShell, documents, pages, readPage } from "../../support/pages";
import type { Fence, Page } from "../../support/pages";
import { spreadOf } from "../../support/properties";
import * as generated from "../../../scripts/lib/generatedPages.cjs";
import { typeMappings } from "../../../provider/access/adopt/terraform/mapping";

/*
 * What is wrong with the fences of a page, as far as that can be known without running them.
 */

/** Output and drawings: nothing can be checked in them. */
const SHOWN = ["text", "mermaid"];
/** The test of the pages runs the first two, and compiles the others. */
const RUN = ["sh", "bash", "ts", "js"];

/**
 * Evaluates each argument, and prints what it calls of this package's command line, of npm and of node; every other command
 * does nothing. Control characters separate the arguments, the calls and the texts.
 */
const RECORDER = String.raw`
PATH=/nonexistent
exec 3>&1
record() { local IFS=$'\x1f'; printf '%s\x1e' "$*" >&3; }
cd() { :; }
pulumi-platform() { record pulumi-platform "$@"; }
npx() {
  while [ "$1" = --no ] || [ "$1" = --yes ] || [ "$1" = -- ]; do shift; done
  "$@"
}
command_not_found_handle() {
  case "$1 $2" in
    "node "*/provider/cli/main.js) shift 2; record pulumi-platform "$@" ;;
    "npm run" | "npm test" | "node "*) record "$@" ;;
  esac
}
for text; do
  printf '\x1d'
  error=$( { eval "$text"; } 2>&1 >/dev/null )
  case "$error" in *"syntax error"* | *"unexpected EOF"*) record error "$error" ;; esac
done
`;

/** The calls of each text of the shell, with their arguments; an error of its syntax is the call `error`. */
function recordCalls(texts: readonly string[]): string[][][] {
  // A placeholder is a word, and no redirection; a variable that the reader has set has a value.
  const words = texts.map((text) => text.replaceAll(/<[a-z][\w .-]*>/gi, "PLACEHOLDER"));
  const variables = words.flatMap((text) => text.match(/(?<=\$\{?)[A-Z]\w+/g) ?? []);
  // What a command redirects into a file is written.
  const cwd = mkdtempSync(join(tmpdir(), "pages-"));
  const { stdout } = spawnSync("bash", ["-c", RECORDER, "bash", ...words], {
    cwd,
    encoding: "utf8",
    env: Object.fromEntries(variables.map((name) => [name, name])),
  });
  rmSync(cwd, { recursive: true });
  const recorded = stdout.split("\x1d").slice(1);
  return recorded.map((calls) =>
    calls
      .split("\x1e")
      .slice(0, -1)
      .map((call) => call.split("\x1f")),
  );
}

/** The command as a reader types it, or the help of the command line itself. */
function commandProblem([name = "", ...argv]: readonly string[]): string | undefined {
  if (name.startsWith("-") || name === "help") return undefined;
  const entry = commands.find((command) => command.name === name);
  if (entry === undefined) return `there is no command ${name}`;
  const flags = {
    ...entry.load().description.flags,
    help: { type: "boolean", short: "h", help: "" },
  } as const;
  try {
    parseFlags(name, flags, argv);
    return undefined;
  } catch (error) {
    return `${name}: ${(error as Error).message}`;
  }
}

const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: object };

function callProblem([program = "", first = "", ...others]: readonly string[]): string | undefined {
  if (program === "error") return first;
  if (program === "pulumi-platform") return commandProblem([first, ...others]);
  if (program === "npm") {
    const script = first === "test" ? first : (others.find((word) => !word.startsWith("-")) ?? "");
    return Object.hasOwn(scripts, script) ? undefined : `package.json has no script ${script}`;
  }
  return first.startsWith("scripts/") && !existsSync(join(ROOT, first)) ? `there is no ${first}` : undefined;
}

/** What a terminal shows after the prompt. */
const typed = ({ language, text }: Fence): string =>
  language === "console" ? (text.match(/(?<=^\$ ).*$/gm) ?? []).join("\n") : text;

function dataProblem({ language, text }: Fence): string | undefined {
  try {
    if (language === "json") JSON.parse(text);
    if (language === "yaml" && /^allow:/m.test(text)) parsePolicy(text, "policy");
    else if (language === "yaml") parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** A date in an output, or a time in a program: a reader gets another one, or another output. */
function dateProblem({ language, text }: Fence): string | undefined {
  const isOutput = language === "text" || language === "console";
  const [date] = (isOutput ? /\b20\d\d-\d\d-\d\d/ : /\b20\d\d-\d\d-\d\dT/).exec(text) ?? [];
  return date === undefined ? undefined : `${date} is another one in each run: write <date> or <time>`;
}

/** Whether a test runs a program, or a reader learns why none does. */
function runProblems({ language, reason }: Fence, { runBy }: Page): string[] {
  const isKnown = [...SHOWN, ...RUN, "yaml", "json", "python", "console"].includes(language);
  if (!isKnown) return [`the language "${language}" is not known: name it after the fence`];
  const needsTest = ["python", "console"].includes(language) && runBy === undefined && reason === undefined;
  const named = [...(reason ?? "").matchAll(/\btest\/[\w/.-]+\.ts/g)].map(([path]) => path);
  return [
    ...(needsTest ? ["no test runs it: write <!-- not run: the reason --> above it"] : []),
    ...named.filter((path) => !existsSync(join(ROOT, path))).map((path) => `there is no ${path}`),
  ];
}

/** The problems of a page, each with where it is. */
function pageProblems(page: Page): string[] {
  const { fences, codeSpans, runBy } = page;
  const ofFences = fences.flatMap((fence) =>
    [...runProblems(fence, page), dataProblem(fence), dateProblem(fence)].map((problem) => [
      `line ${fence.line}`,
      problem,
    ]),
  );
  const shellTexts = [
    ...fences.filter(isShell).map((fence) => [`line ${fence.line}`, typed(fence)] as const),
    ...codeSpans
      .filter((span) => /^(npx )?(--no )?pulumi-platform [a-z]/.test(span))
      .map((span) => [`\`${span}\``, span] as const),
  ];
  const calls = recordCalls(shellTexts.map(([, text]) => text));
  const ofCalls = shellTexts.flatMap(([place], index) =>
    (calls[index] ?? []).map((call) => [place, callProblem(call)]),
  );
  return [
    [
      "the comment",
      runBy === undefined || existsSync(join(ROOT, runBy)) ? undefined : `there is no ${runBy}`,
    ],
    ...ofFences,
    ...ofCalls,
  ].flatMap(([place, problem]) => (problem === undefined ? [] : [`${place ?? ""}: ${problem}`]));
}

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
function longSentences(page: string): string[] {
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
function misplacedNames(page: string): string[] {
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
function unknownNames(codeSpans: readonly string[]): string[] {
  const { files, names } = readSources();
  const namedFiles = codeSpans.flatMap((span) => span.match(sourceFile) ?? []);
  const namedCode = codeSpans.flatMap((span) => span.replaceAll(sourceFile, "").match(camelCase) ?? []);
  return [
    ...namedFiles.filter((name) => !files.some((file) => file === name || file.endsWith(`/${name}`))),
    ...namedCode.filter((name) => !names.has(name)),
  ];
}

/* What test/package/pages.test.ts runs or compiles is checked here without running it. */

const triedPages = spreadOf(pages, 20, 0);
test.each(triedPages)(
  "the commands, programs and data of %s can be parsed, and run or say why not",
  (path) => {
    expect(pageProblems(readPage(path))).toEqual([]);
  },
);

test.each(spreadOf(pages, 20, 1))("no sentence of %s has more than 25 words", (path) => {
  expect(longSentences(readFileSync(join(ROOT, path), "utf8"))).toEqual([]);
});

// With the tokens of the environment, npx would run whatever the registry has under the free name.
const printing = ["provider", "templates", "actions", "scripts/site", "scripts/lib", ".github"];
test.each(["documents", ...printing])("no command of %s lets npx ask the registry", (place) => {
  const files =
    place === "documents"
      ? documents
      : readdirSync(join(ROOT, place), { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => join(relative(ROOT, entry.parentPath), entry.name));
  const risky = files.filter((file) =>
    /\bnpx (?!--no )(?:-\S+ )*pulumi-platform\b/.test(readFileSync(join(ROOT, file), "utf8")),
  );
  expect(files.length).toBeGreaterThan(0);
  expect(risky).toEqual([]);
});

const developerPages = pages.filter(
  (path) =>
    /^docs.development|architecture|api-contract|glossary|tests\.md|CONTRIBUTING/.test(path) &&
    !path.endsWith("dependencies.md"),
);

test.each(developerPages)("the code that %s names exists", (path) => {
  // The kind that the guide adds as an example is not there, nor is a name with dots in it.
  const spans = readPage(path).codeSpans.filter((span) => !/webhook|…/i.test(span));
  expect(unknownNames(spans)).toEqual([]);
  expect(misplacedNames(readFileSync(join(ROOT, path), "utf8"))).toEqual([]);
});

// eslint-disable-next-line @typescript-eslint/no-require-imports
const load = (file: string): unknown => require(join(ROOT, "provider", file));
const read = (page: string): string => readFileSync(join(ROOT, "docs", page), "utf8");

test.each([
  ["commands.md", generated.commandsPage],
  ["rules.md", generated.rulesPage],
])("docs/%s is what npm run docs writes", (page, write) => {
  expect(read(page)).toBe(write(load));
});

/** A text without what only lays it out. */
const contentOf = (text: string): string => text.replace(/[\s,]+/g, "").replace(/-{3,}/g, "---");

test.each([
  ["drift.md", generated.withUncomparedFields],
  ["emulator.md", generated.withEmulatorCoverage],
  ["from-terraform.md", generated.withTerraformMapping],
  ["settings.md", generated.withSettings],
  ["troubleshooting.md", generated.withRules],
])("the generated parts of docs/%s are what npm run docs writes", (page, rewrite) => {
  expect(contentOf(read(page))).toBe(contentOf(rewrite(load, read(page))));
  expect(() => rewrite(load, "a page without the tables")).toThrow(/^the page lacks <!-- /);
});

test("each kind with fields that drift does not compare, and each type of Terraform, has a row", () => {
  for (const { kind } of generated.uncomparedFields(load))
    expect(read("drift.md")).toContain(`| \`${kind}\``);
  for (const { type } of typeMappings) expect(read("from-terraform.md")).toContain(`| \`${type}\``);
});
