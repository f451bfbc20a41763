import { readFileSync } from "node:fs";
import path from "node:path";
import { kinds } from "../../provider/resources";
import { evaluate, projectRoot } from "./support";

const specs = JSON.stringify(kinds.map(({ spec }) => spec));
const root = JSON.stringify(projectRoot);
const read = (file: string): string => readFileSync(path.join(projectRoot, file), "utf8");

/** A text without what only lays it out. */
const contentOf = (text: string): string => text.replace(/[\s,]+/g, "").replace(/-{3,}/g, "---");

test("the usual lookups are those that npm run docs writes", async () => {
  const written = await evaluate("lib/lookups.mjs", `m.lookupsModule(m.withUsualLookups(${specs}, ${root}))`);
  expect(contentOf(read("provider/functions/usual.ts"))).toBe(contentOf(String(written)));
});

test("docs/resources.md has the table that npm run docs writes", async () => {
  const page = read("docs/resources.md");
  const written = await evaluate(
    "lib/resourcesTable.mjs",
    `m.withResourcesTable(${JSON.stringify(page)}, ${specs}, ${root})`,
  );
  expect(contentOf(page)).toBe(contentOf(String(written)));
});
