import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { ROOT } from "../../support/engine";
import { pageProblems } from "../../support/pageProblems";
import { documents, pages, readPage } from "../../support/pages";
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
