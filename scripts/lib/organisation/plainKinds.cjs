// @ts-check
const { makers } = require("./makers.cjs");

/**
 * @typedef {{ type: string, format?: string, prefix?: string, known?: readonly string[], items?: Field, required?: boolean }} Field
 * @typedef {{ readonly kind: string, readonly parent: string, readonly fields: Readonly<Record<string, Field>> }} PlainKind
 *   A kind that needs no more than a parent and what its description requires.
 */

/**
 * A value for a field that is required. @param {string} name of the field @param {Field} field @param {number} n
 * @returns {unknown}
 */
function valueOf(name, field, n) {
  if (field.type === "enum") return `${field.prefix ?? ""}${field.known?.[0] ?? ""}`;
  if (field.type === "boolean") return true;
  if (field.type === "integer") return n;
  if (field.type === "list" && field.items) return [valueOf(name, field.items, n)];
  if (field.type !== "string" || (field.format && !/url/i.test(field.format))) {
    throw new Error(
      `scripts/lib/organisation/plainKinds.cjs: no value for ${name}: write in makers.cjs beside it how its kind is made`,
    );
  }
  return field.format ? `https://${name}.example.com/${n}` : `${name}-${n}`;
}

/** Makes a kind by its description: a parent and what is required. @param {PlainKind} kind @returns {import("./makers.cjs").Maker} */
function plainMaker({ fields, parent }) {
  const required = Object.entries(fields).filter(([key, field]) => field.required && key !== "parentUid");
  return (builder, n) => ({
    parentUid: builder.pickReference(parent),
    ...Object.fromEntries(required.map(([key, field]) => [key, valueOf(key, field, n)])),
  });
}

/**
 * The kinds that have no entry here, with the kind of their parent.
 * @param {readonly { kind: string, fields: Readonly<Record<string, Field>> }[]} specs
 * @param {readonly { kind: string, parent: string }[]} tables The emulator's, which name the parent.
 * @returns {PlainKind[]}
 */
function plainKinds(specs, tables) {
  return specs.flatMap(({ kind, fields }) => {
    const parent = tables.find((table) => table.kind === kind)?.parent;
    return parent === undefined || kind in makers ? [] : [{ kind, fields, parent }];
  });
}

module.exports = { plainKinds, plainMaker };
