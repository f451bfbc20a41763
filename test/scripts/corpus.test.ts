import { readFileSync } from "node:fs";
import path from "node:path";
import { evaluate, projectRoot } from "./support";

/** A table without what only lines up its columns. */
const rowsOf = (page: string): string[] =>
  page
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) => line.replace(/\s*\|\s*/g, "|").replace(/-+/g, "-"));

test("docs/threats.md equals the output of npm run docs", async () => {
  const table = await evaluate("lib/corpus.mjs", `m.corpusTable(${JSON.stringify(projectRoot)})`);
  const page = readFileSync(path.join(projectRoot, "docs/threats.md"), "utf8");
  const [, ours = ""] = page.split("by `npm run docs`. -->");
  expect(rowsOf(ours)).toEqual(rowsOf(String(table)));
});
