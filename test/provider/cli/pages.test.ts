import { parsePage } from "../../../scripts/lib/fences.cjs";
import { pageProblems } from "../../support/pageProblems";
import { pages, readPage } from "../../support/pages";

/* What test/package/pages.test.ts runs or compiles is checked here without running it. */

test.each(pages)("the commands, programs and data of %s can be parsed, and run or say why not", (path) => {
  expect(pageProblems(readPage(path))).toEqual([]);
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
    fence("sh", "cd x && npx pulumi-platform doctor --no-such"),
    "unknown option --no-such",
  ],
  ["an unknown command", fence("sh", "PATH=x \\\n  pulumi-platform docter"), "there is no command docter"],
  ["an unknown choice", fence("sh", "npx pulumi-platform emulator --seed x"), "--seed must be acme"],
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
  ["an error in JSON", fence("json", "{,}"), "line 3: "],
  ["an option in a sentence", "`npx pulumi-platform doctor --no-such`", "unknown option --no-such"],
  ["a test that does not exist", "<!-- run by test/no.test.ts -->\n", "there is no test/no.test.ts"],
])("%s is a problem", (_, page, problem) => {
  expect(pageProblems(parsePage(page))).toEqual([expect.stringContaining(problem)]);
});
