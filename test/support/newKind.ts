import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/*
 * A kind that no API has, written as CONTRIBUTING.md says: a set of networks, an enumeration with a default of the server, an
 * end and a nested object. The test of the guide adds it to a copy of this checkout.
 */

const FIXTURE = path.join(__dirname, "../fixtures/newKind");

const NEW_FILES = [
  "provider/kinds/networkPolicy.ts",
  "emulator/tables/networkPolicy.ts",
  "examples/reference/resources/networkPolicy.ts",
];

const numbers = Object.fromEntries(
  ["CREATE", "UPDATE", "LIST", "DELETE"].map((verb, i) => [`CAP_IAM_NETWORK_POLICIES_${verb}`, 20_001 + i]),
);

/** Changes one file of a checkout. */
export function editFile(root: string, file: string, edit: (text: string) => string): void {
  const before = readFileSync(path.join(root, file), "utf8");
  const after = edit(before);
  if (after === before) throw new Error(`the edit of ${file} changes nothing`);
  writeFileSync(path.join(root, file), after);
}

/** Writes by hand all that a kind needs, into a checkout; answers the files. */
export function writeNewKind(root: string): string[] {
  const fixture = (file: string): string => readFileSync(path.join(FIXTURE, `${file}.txt`), "utf8");
  for (const file of NEW_FILES) writeFileSync(path.join(root, file), fixture(file));
  const samples = "test/support/samples/access.ts";
  editFile(root, samples, (text) => text.replace(/\];\n$/, () => `${fixture("sample")}];\n`));
  const lookups = "provider/lookups/ofKinds.ts";
  editFile(root, lookups, (text) => text + fixture("lookups"));
  const capabilities = "emulator/data/capabilities.json";
  editFile(
    root,
    capabilities,
    (text) => `${JSON.stringify({ ...(JSON.parse(text) as object), ...numbers }, null, 2)}\n`,
  );
  return [...NEW_FILES, samples, lookups, capabilities];
}
