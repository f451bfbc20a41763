// @ts-check
/** Writes what is generated and kept in the repository: docs/rules.md, docs/commands.md, docs/troubleshooting.md, docs/reference, the capabilities of examples/least-privilege, the tables of docs/threats.md, docs/drift.md, docs/emulator.md and docs/from-terraform.md, the import graph of docs/architecture.md, the schemas of the policy file, of reports and of inventories, the templates of init. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { format } from "prettier";
import { threatsPage } from "./lib/corpus.mjs";
import { capabilitiesModule, jobsOf, withJobs } from "./lib/leastPrivilege.mjs";
import { initTemplates } from "./lib/initTemplates.mjs";
import { withEmulatorCoverage } from "./lib/emulatorCoverage.mjs";
import { readImports, withImportGraph } from "./lib/importGraph.mjs";
import { referencePages, stalePages } from "./lib/reference/index.mjs";
import { withSettings } from "./lib/settings.mjs";
import { inventorySchema, policyTypesSchema, reportSchema } from "./lib/schemas.mjs";

const root = path.join(import.meta.dirname, "..");
const require = createRequire(import.meta.url);
const load = (/** @type {string} */ file) => require(path.join(root, "dist", "provider", file));
const { policySchema } = load("access/suppressions/policySchema.js");
const { insertUncomparedFields, uncomparedFields } = load("access/drift/uncomparedFields.js");
const { insertTerraformMapping } = load("access/adopt/terraform/mappingPage.js");
const { referenceOf, rulesPage } = load("access/rules/explain.js");
const { rules } = load("access/rules/index.js");
const { formatWords } = load("fields/formats.js");
const { renderCommandsPage } = load("cli/commandsPage.js");
const { renderTroubleshootingPage } = load("cli/troubleshootingPage.js");

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

await writeSchema("schema/access-policy.schema.json", policySchema(policyTypesSchema(root)));
await writeSchema("schema/report.schema.json", reportSchema(root));
await writeSchema("schema/inventory.schema.json", inventorySchema(root));
for (const [file, text] of initTemplates(root)) write(`templates/init/${file}`, text);
write("docs/rules.md", rulesPage());
write("docs/commands.md", renderCommandsPage());
write("docs/troubleshooting.md", renderTroubleshootingPage());
write("docs/threats.md", await format(threatsPage(root), { parser: "markdown", printWidth: 110 }));
const { settingDefinitions } = load("settings/definitions.js");
const { hostVariables } = load("settings/environment.js");
const settingsPage = readFileSync(path.join(root, "docs/settings.md"), "utf8");
const settings = withSettings(settingsPage, settingDefinitions, hostVariables);
write("docs/settings.md", await format(settings, { parser: "markdown", printWidth: 110 }));
const drift = insertUncomparedFields(readFileSync(path.join(root, "docs/drift.md"), "utf8"));
write("docs/drift.md", await format(drift, { parser: "markdown", printWidth: 110 }));
const terraform = insertTerraformMapping(readFileSync(path.join(root, "docs/from-terraform.md"), "utf8"));
write("docs/from-terraform.md", await format(terraform, { parser: "markdown", printWidth: 110 }));
const emulatorPage = withEmulatorCoverage(readFileSync(path.join(root, "docs/emulator.md"), "utf8"), root);
write("docs/emulator.md", await format(emulatorPage, { parser: "markdown", printWidth: 110 }));

const architecture = withImportGraph(
  readFileSync(path.join(root, "docs/architecture.md"), "utf8"),
  await readImports(),
);
write("docs/architecture.md", await format(architecture, { parser: "markdown", printWidth: 110 }));

/** @type {{ spec: any }[]} */
const kinds = load("kinds/index.js").kinds;
const specs = kinds.map(({ spec }) => spec);
const jobs = jobsOf(specs);
const jobsPage = withJobs(readFileSync(path.join(root, "docs/least-privilege.md"), "utf8"), jobs);
write("docs/least-privilege.md", await format(jobsPage, { parser: "markdown", printWidth: 110 }));
const example = "examples/least-privilege/capabilities.ts";
write(
  example,
  await format(capabilitiesModule(jobs), { parser: "typescript", printWidth: 110, trailingComma: "all" }),
);
const pages = referencePages(root, specs, uncomparedFields(), rules.map(referenceOf), formatWords);
for (const file of stalePages(root, pages)) rmSync(path.join(root, file));
for (const [file, text] of pages) write(file, await format(text, { parser: "markdown", printWidth: 110 }));
