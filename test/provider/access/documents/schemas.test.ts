import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { policySchema } from "../../../../scripts/lib/policySchema.cjs";
import type { PolicyTypesSchema } from "../../../../scripts/lib/policySchema.cjs";
import { ROOT } from "../../../support/engine";

// eslint-disable-next-line @typescript-eslint/no-require-imports
const load = (file: string): unknown => require(join(ROOT, "provider", file));

/** What scripts/lib/schemas.mjs makes of the types, in a process of its own: jest cannot load it. */
function schemasOfTypes(): { report: object; inventory: object; "access-policy": PolicyTypesSchema } {
  const script = `import { documentSchemas } from "./scripts/lib/schemas.mjs";
    console.log(JSON.stringify(documentSchemas(process.cwd())));`;
  const made = execFileSync(process.execPath, ["--input-type=module", "-e", script], { cwd: ROOT });
  return JSON.parse(made.toString()) as ReturnType<typeof schemasOfTypes>;
}

test("the published schemas are those that the types give, and the rules", () => {
  const types = schemasOfTypes();
  const made = { ...types, "access-policy": policySchema(load, types["access-policy"]) };
  for (const [name, schema] of Object.entries(made)) {
    const published = readFileSync(join(ROOT, `schema/${name}.schema.json`), "utf8");
    expect([name, JSON.parse(published)]).toEqual([name, JSON.parse(JSON.stringify(schema))]);
  }
});
