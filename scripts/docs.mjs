// @ts-check
/** Writes what is generated and kept in the repository: docs/rules.md, docs/commands.md, the table of docs/threats.md, the policy file's schema. */
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { format } from "prettier";
import { threatsPage } from "./lib/corpus.mjs";

const root = path.join(import.meta.dirname, "..");
const require = createRequire(import.meta.url);
const { policySchema } = require("../dist/provider/access/policySchema.js");
const { rulesPage } = require("../dist/provider/access/explain.js");
const { commandsPage } = require("../dist/provider/cli/reference.js");

/** @param {string} file @param {string} text */
function write(file, text) {
  writeFileSync(path.join(root, file), text);
  console.log(`wrote ${file}`);
}

const schema = path.join(root, "schema/access-policy.schema.json");
write(
  "schema/access-policy.schema.json",
  await format(JSON.stringify(policySchema()), { filepath: schema, printWidth: 110 }),
);
write("docs/rules.md", rulesPage());
write("docs/commands.md", commandsPage());
write("docs/threats.md", await format(threatsPage(root), { parser: "markdown", printWidth: 110 }));
