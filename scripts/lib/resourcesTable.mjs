// @ts-check
import { readFileSync } from "node:fs";
import path from "node:path";

/**
 * @typedef {{ type: string, required?: boolean, immutable?: boolean, secret?: boolean, fields?: Fields }} Field
 * @typedef {Readonly<Record<string, Field>>} Fields
 * @typedef {{ members: readonly string[], required: boolean, immutable?: boolean }} Choice
 * @typedef {{ kind: string, fields: Fields, outputs?: Fields, oneOfs?: readonly Choice[] }} Spec
 */

/** @param {string} name */
const code = (name) => `\`${name}\``;

/** @param {string} name @param {Field} field */
function withMarks(name, { required, immutable, secret }) {
  return `${code(name)}${required ? "\\*" : ""}${immutable ? "!" : ""}${secret ? " (secret)" : ""}`;
}

/** An argument with the members of its object. @param {string} name @param {Field} field */
function describeArgument(name, field) {
  const members = Object.entries(field.fields ?? {}).map(([key, member]) => withMarks(key, member));
  return `${withMarks(name, field)}${members.length > 0 ? ` (${members.join(", ")})` : ""}`;
}

/** @param {Spec} spec */
function describeArguments({ fields, oneOfs = [], outputs = {} }) {
  const choices = oneOfs.map(({ members, required, immutable }) => {
    const choice = `${required ? "exactly" : "at most"} one of ${members.map(code).join(", ")}`;
    return immutable ? `${choice} (another one replaces)` : choice;
  });
  const added = Object.entries(outputs).map(([key, field]) =>
    withMarks(key, { type: field.type, secret: field.secret }),
  );
  return [
    Object.entries(fields)
      .map(([key, field]) => describeArgument(key, field))
      .join(", "),
    ...choices,
    ...(added.length > 0 ? [`outputs: ${added.join(", ")}`] : []),
  ].join("; ");
}

/** What editors show of the class of a kind. @param {string} root @param {string} kind */
function describeClass(root, kind) {
  const file = path.join(root, "provider/resources", `${kind.charAt(0).toLowerCase()}${kind.slice(1)}.ts`);
  const [before = ""] = readFileSync(file, "utf8").split(`export class ${kind} `);
  const comment = before.slice(before.lastIndexOf("/**") + 3, before.lastIndexOf("*/"));
  return comment
    .replace(/^\s*\*/gm, "")
    .replace(/\s+/g, " ")
    .trim();
}

const START = "<!-- the resources: written by npm run docs -->";
const END = "<!-- end -->";

/**
 * A page with its table of resources brought up to date.
 * @param {string} page
 * @param {readonly Spec[]} specs
 * @param {string} root the folder of the repository.
 */
export function withResourcesTable(page, specs, root) {
  const rows = specs.map(
    (spec) => `| ${code(spec.kind)} | ${describeArguments(spec)} | ${describeClass(root, spec.kind)} |`,
  );
  const head = [
    "| Resource | Arguments (`*` required, `!` replaces on change) | What it is |",
    "| --- | --- | --- |",
  ];
  const [before = "", rest = ""] = page.split(START);
  const after = rest.slice(rest.indexOf(END) + END.length);
  return `${before}${START}\n\n${[...head, ...rows].join("\n")}\n\n${END}${after}`;
}
