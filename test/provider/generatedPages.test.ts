import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as generated from "../../scripts/lib/generatedPages.cjs";
import { typeMappings } from "../../provider/access/adopt/terraform/mapping";
import { ROOT } from "../support/engine";

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
