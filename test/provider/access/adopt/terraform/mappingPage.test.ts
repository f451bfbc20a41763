import { readFileSync } from "node:fs";
import { join } from "node:path";
import { typeMappings } from "../../../../../provider/access/adopt/terraform/mapping";
import { insertTerraformMapping } from "../../../../../provider/access/adopt/terraform/mappingPage";

test("docs/from-terraform.md has the tables of every type that npm run docs writes", () => {
  const page = readFileSync(join(__dirname, "../../../../../docs/from-terraform.md"), "utf8");
  const cells = (text: string) => text.replace(/[ -]+/g, " ");
  expect(cells(insertTerraformMapping(page))).toBe(cells(page));
  for (const { type } of typeMappings) expect(page).toContain(`| \`${type}\``);
});
