// @ts-check
import { readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { upperFirst } from "./letterCase.cjs";
import { anchor, code, page, table } from "./markdown.cjs";

/** @typedef {Record<string, any>} Schema */

/**
 * The documents of the package with an introduction of each page, and what members mean by their names.
 * @type {{ documents: { name: string, title: string, intro: string[] }[], members: Record<string, string> }}
 */
const { documents, members } = parse(readFileSync(path.join(import.meta.dirname, "schemaPages.yml"), "utf8"));
export { documents };

/** @param {string} ref */
const definitionName = (ref) => ref.slice(ref.lastIndexOf("/") + 1);

/** The objects in a schema that have members of their own: itself, or the items of a list. @param {Schema} schema @returns {Schema | undefined} */
const membersIn = (schema) => (schema.items ? membersIn(schema.items) : schema.properties && schema);

/** @param {Schema} schema @param {string} path @returns {string} */
function describeSchemaType(schema, path) {
  if (schema.$ref) return `[${definitionName(schema.$ref)}](${anchor(definitionName(schema.$ref))})`;
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.items) {
    const item = describeSchemaType(schema.items, path);
    return [schema.type].flat().includes("string") ? `${item} or list of ${item}` : `list of ${item}`;
  }
  if (schema.properties) return `[object](${anchor(path)})`;
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices)
    return choices.map((/** @type {Schema} */ choice) => describeSchemaType(choice, path)).join(" or ");
  if (schema.additionalProperties instanceof Object)
    return `map of ${describeSchemaType(schema.additionalProperties, path)}`;
  return schema.type ? [schema.type].flat().join(" or ") : "any JSON";
}

/** Describes what a value means and what restricts it. @param {Schema} schema @returns {string} */
function describeMeaning(schema) {
  const limits = [schema, schema.items ?? {}, ...(schema.allOf ?? [])];
  return [
    schema.description,
    ...limits.flatMap(({ enum: names, errorMessage, minimum }) => [
      names && `One of ${names.map((/** @type {string} */ name) => code(name)).join(", ")}.`,
      errorMessage && `${upperFirst(errorMessage)}.`,
      minimum !== undefined && `At least ${minimum}.`,
    ]),
  ]
    .filter(Boolean)
    .join(" ")
    .replaceAll("*", "\\*");
}

/** @param {string} name @param {Schema} member @param {Schema} definitions */
function describeMember(name, member, definitions) {
  const referred = definitions[definitionName(member.$ref ?? member.items?.$ref ?? "")] ?? {};
  // A count says nothing about what is counted, and a glob only how it is written.
  const isGeneral = ["integer", "string"].includes(referred.type) && !referred.enum;
  const text = describeMeaning(member) || (!isGeneral && describeMeaning(referred)) || members[name];
  if (!text) throw new Error(`schemaPages.yml does not say what ${name} means: describe it in its type`);
  return text;
}

/** @param {Schema} schema @param {string} path @param {Schema} definitions */
function membersTable(schema, path, definitions) {
  const rows = Object.entries(schema.properties).map(([name, member]) => [
    code(name),
    describeSchemaType(member, path === "" ? name : `${path}.${name}`),
    schema.required?.includes(name) ? "yes" : "",
    describeMember(name, member, definitions),
  ]);
  return table(["Member", "Type", "Always", "Meaning"], rows);
}

/** The sections of an object and of the objects in it. @param {Schema} schema @param {string} path @param {Schema} definitions @returns {string[]} */
function renderSections(schema, path, definitions) {
  const inner = Object.entries(schema.properties).flatMap(([name, member]) => {
    const found = membersIn(member);
    const below = path === "" ? name : `${path}.${name}`;
    return found
      ? [`### ${below}`, describeMeaning(member), ...renderSections(found, below, definitions)]
      : [];
  });
  return [membersTable(schema, path, definitions), ...inner];
}

/**
 * The page of a schema, not yet formatted.
 * @param {typeof documents[number]} document
 * @param {Schema} schema
 */
export function schemaPage({ name, title, intro }, schema) {
  const { definitions = {} } = schema;
  const describe = (/** @type {Schema} */ part, /** @type {string} */ path) =>
    part.properties ? renderSections(part, path, definitions) : [`Type: ${describeSchemaType(part, path)}.`];
  return page([
    "<!-- Written by npm run docs: change the types or scripts/lib/schemaPages.mjs instead. -->",
    `# ${title}`,
    ...intro,
    `The schema is \`pulumi-platform/schema/${name}.schema.json\`.`,
    "## Document",
    describeMeaning(schema),
    ...describe(schema, ""),
    ...Object.entries(definitions).flatMap(([key, part]) => [
      `## ${key}`,
      describeMeaning(part),
      ...describe(part, key),
    ]),
  ]);
}
