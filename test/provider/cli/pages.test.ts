import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { ROOT } from "../../support/engine";
import { pageProblems } from "../../support/pageProblems";
import { documents, pages, parsePage, readPage } from "../../support/pages";
import { longSentences, misplacedNames, unknownNames } from "../../support/pageWords";

/* What test/package/pages.test.ts runs or compiles is checked here without running it. */

test.each(pages)("the commands, programs and data of %s can be parsed, and run or say why not", (path) => {
  expect(pageProblems(readPage(path))).toEqual([]);
});

// Entries of the changelog are lists of what one change did.
const guides = pages.filter((path) => path !== "CHANGELOG.md");

test.each(guides)("no sentence of %s has more than 25 words", (path) => {
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

test("words in tables and code are not counted, and a span of code is one word", () => {
  const words = "word ".repeat(30);
  const table = `| a |\n| - |\n| ${words} |`;
  expect(longSentences(`${table}\n\n\`${words}\`\n\n\`\`\`sh\n${words}\n\`\`\`\n`)).toEqual([]);
  expect(longSentences(`# Title\n\nShort. Then ${words}.\n`)).toEqual([
    expect.stringMatching(/^line 3: 31 words: Then word/),
  ]);
});

const developerPages = guides.filter(
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

test("a name or a file that does not exist is found", () => {
  // Both are put together, so that this file does not contain them.
  const [name, file] = [["no", "Such", "Name"].join(""), ["no", "such.ts"].join("-")];
  expect(unknownNames([`${name}(x)`, `provider/${file}`, "parsePage"])).toEqual([`provider/${file}`, name]);
});

test("a name is looked for in the file that the page names", () => {
  const page =
    "`http/client.ts`, `request`: `mayRetry` in `http/retry.ts`, `mayRetry` in `http/errors.ts`, and `create.ts`,\n`sends`";
  expect(misplacedNames(page)).toEqual(["sends in create.ts", "mayRetry in http/retry.ts"]);
});

const fence = (language: string, text: string, before = ""): string =>
  `# Title\n\n${before}\`\`\`${language}\n${text}\n\`\`\`\n`;

test.each([
  ["a fence without a language", fence("", "x"), 'the language "" is not known'],
  ["a program that nothing runs", fence("python", "x"), "no test runs it"],
  [
    "a reason that names no test",
    fence("python", "x", "<!-- not run: test/no.ts does -->\n\n"),
    "no test/no.ts",
  ],
  [
    "an unknown option",
    fence("sh", "cd x && npx --no pulumi-platform doctor --no-such"),
    "unknown option --no-such",
  ],
  ["an unknown command", fence("sh", "PATH=x \\\n  pulumi-platform docter"), "there is no command docter"],
  ["an unknown choice", fence("sh", "npx --no pulumi-platform emulator --seed x"), "--seed must be acme"],
  ["a package of the registry", fence("sh", "npx pulumi-platform doctor"), "write npx --no pulumi-platform"],
  ["a package of the registry, in words", "`npx --yes pulumi-platform doctor`", "write npx --no"],
  [
    "an option in a build",
    fence("sh", 'node "$C/dist/provider/cli/main.js" doctor --x'),
    "unknown option --x",
  ],
  [
    "an unknown script",
    fence("console", "$ npm run nothing", "<!-- not run: it fails -->\n\n"),
    "package.json has no script nothing",
  ],
  ["a missing script", fence("sh", "node scripts/no.mjs"), "there is no scripts/no.mjs"],
  ["a shell's error", fence("sh", "echo 'a"), "unexpected EOF"],
  ["an error in YAML", fence("yaml", "a: [", ""), "line 3: "],
  ["a policy with an unknown member", fence("yaml", "allow:\n  - rul: G1"), "rul"],
  ["the date of a run", fence("text", "when  2026-11-22T12:25:05Z"), "2026-11-22 is another one in each run"],
  [
    "the time of a program",
    fence("ts", 'f({ until: "2027-03-31T00:00:00Z" });'),
    "2027-03-31T is another one",
  ],
  ["an error in JSON", fence("json", "{,}"), "line 3: "],
  ["an option in a sentence", "`npx --no pulumi-platform doctor --no-such`", "unknown option --no-such"],
  ["a test that does not exist", "<!-- run by test/no.test.ts -->\n", "there is no test/no.test.ts"],
])("%s is a problem", (_, page, problem) => {
  expect(pageProblems(parsePage(page))).toEqual([expect.stringContaining(problem)]);
});
