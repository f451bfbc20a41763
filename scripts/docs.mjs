// @ts-check
/** Writes what is generated and kept in the repository: docs/rules.md, docs/commands.md, docs/reference, the capabilities of examples/least-privilege, the rules of docs/troubleshooting.md, the tables of docs/threats.md, docs/drift.md, docs/emulator.md and docs/from-terraform.md, the schemas of the policy file, of reports and of inventories, the templates of init. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { format } from "prettier";
import { threatsPage } from "./lib/corpus.mjs";
import { capabilitiesModule, jobsOf, withJobs } from "./lib/leastPrivilege.mjs";
import { initTemplates } from "./lib/initTemplates.mjs";
import * as generated from "./lib/generatedPages.cjs";
import { referencePages, stalePages } from "./lib/reference/index.mjs";
import { enumerationsModule, pluginSchema } from "./lib/pluginSchema.mjs";
import { policySchema } from "./lib/policySchema.cjs";
import { documentSchemas } from "./lib/schemas.mjs";
import { writeValidators } from "./lib/validatorCode.mjs";

const root = path.join(import.meta.dirname, "..");
const require = createRequire(import.meta.url);
const load = (/** @type {string} */ file) => require(path.join(root, "dist", "provider", `${file}.js`));

/** @param {string} file @param {string} text */
function write(file, text) {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
  console.log(`wrote ${file}`);
}

/** @param {string} file @param {object} schema */
async function writeSchema(file, schema) {
  write(file, await format(JSON.stringify(schema), { filepath: path.join(root, file), printWidth: 110 }));
}

/** Writes a page in the layout of the project. @param {string} file @param {string} text */
const writePage = async (file, text) =>
  write(file, await format(text, { parser: "markdown", printWidth: 110 }));

/** Rewrites the generated part of a page. @param {string} file @param {(page: string) => string} rewrite */
const rewritePage = (file, rewrite) => writePage(file, rewrite(readFileSync(path.join(root, file), "utf8")));

for (const [name, schema] of Object.entries(documentSchemas(root))) {
  const whole = name === "access-policy" ? policySchema(load, /** @type {any} */ (schema)) : schema;
  await writeSchema(`schema/${name}.schema.json`, whole);
}
const plugin = pluginSchema(root, load);
await writeSchema("schema/plugin.json", plugin);
const enumerations = enumerationsModule(plugin, load("kinds/capabilities").capabilityNames);
write(
  "provider/native/enumerations.ts",
  await format(enumerations, { parser: "typescript", printWidth: 110, trailingComma: "all" }),
);
for (const [file, text] of initTemplates(root)) write(`templates/init/${file}`, text);
write("docs/rules.md", generated.rulesPage(load));
write("docs/commands.md", generated.commandsPage(load));
await writePage("docs/threats.md", threatsPage(root));
await rewritePage("docs/troubleshooting.md", (page) => generated.withRules(load, page));
await rewritePage("docs/settings.md", (page) => generated.withSettings(load, page));
await rewritePage("docs/drift.md", (page) => generated.withUncomparedFields(load, page));
await rewritePage("docs/from-terraform.md", (page) => generated.withTerraformMapping(load, page));
await rewritePage("docs/emulator.md", (page) => generated.withEmulatorCoverage(load, page));

/** @type {{ spec: any }[]} */
const kinds = load("kinds/index").kinds;
const specs = kinds.map(({ spec }) => spec);
const jobs = jobsOf(specs);
await rewritePage("docs/least-privilege.md", (page) => withJobs(page, jobs));
const example = "examples/least-privilege/capabilities.ts";
write(
  example,
  await format(capabilitiesModule(jobs), { parser: "typescript", printWidth: 110, trailingComma: "all" }),
);
const pages = referencePages(
  root,
  specs,
  generated.uncomparedFields(load),
  generated.ruleReferences(load),
  load("fields/formats").formatWords,
  load("fields/fieldSpec").accessMeanings,
);
for (const file of stalePages(root, pages)) rmSync(path.join(root, file));
for (const [file, text] of pages) await writePage(file, text);
writeValidators(path.join(root, "schema"), path.join(root, "dist", "schema"));
