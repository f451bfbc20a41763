// @ts-check
const { makers } = require("./makers.cjs");

/**
 * @typedef {{ type: string, format?: string, prefix?: string, known?: readonly string[], items?: Field, fields?: Fields, required?: boolean }} Field
 * @typedef {Readonly<Record<string, Field>>} Fields
 * @typedef {Readonly<Record<string, { readonly examples: readonly string[] }>>} Formats `formats` of provider/fields/formats.ts.
 * @typedef {{ readonly kind: string, readonly parent: string, readonly fields: Fields, readonly formats: Formats }} PlainKind
 *   A kind that needs no more than a parent and what its description requires.
 */

/**
 * A text of a field. Addresses and texts without a format are others for each number. @param {string} name of the field
 * @param {string | undefined} format @param {number} n @param {Formats} formats
 */
function textOf(name, format, n, formats) {
  if (format === undefined) return `${name}-${n}`;
  if (/url/i.test(format)) return `https://${name}.example.com/${n}`;
  const { examples = [] } = formats[format] ?? {};
  return examples[n % examples.length];
}

/**
 * A value for a field that is required. @param {string} name of the field @param {Field} field @param {number} n
 * @param {Formats} formats @returns {unknown}
 */
function valueOf(name, field, n, formats) {
  if (field.type === "enum") return `${field.prefix ?? ""}${field.known?.[0] ?? ""}`;
  if (field.type === "boolean") return true;
  if (field.type === "integer") return n;
  if (field.type === "map") return {};
  if (field.type === "object") return requiredOf(field.fields ?? {}, n, formats);
  if (field.type === "list" && field.items) return [valueOf(name, field.items, n, formats)];
  return textOf(name, field.format, n, formats);
}

/** What must be set of these fields. @param {Fields} fields @param {number} n @param {Formats} formats */
function requiredOf(fields, n, formats) {
  const required = Object.entries(fields).filter(([key, field]) => field.required && key !== "parentUid");
  return Object.fromEntries(required.map(([key, field]) => [key, valueOf(key, field, n, formats)]));
}

/** Makes a kind by its description: a parent and what is required. @param {PlainKind} kind @returns {import("./makers.cjs").Maker} */
function plainMaker({ fields, parent, formats }) {
  return (builder, n) => ({ parentUid: builder.pickReference(parent), ...requiredOf(fields, n, formats) });
}

/**
 * The kinds that have no entry here, with the kind of their parent.
 * @param {readonly { kind: string, fields: Fields }[]} specs
 * @param {readonly { kind: string, parent: string }[]} tables The emulator's, which name the parent.
 * @param {Formats} formats
 * @returns {PlainKind[]}
 */
function plainKinds(specs, tables, formats) {
  return specs.flatMap(({ kind, fields }) => {
    const parent = tables.find((table) => table.kind === kind)?.parent;
    return parent === undefined || kind in makers ? [] : [{ kind, fields, parent, formats }];
  });
}

module.exports = { plainKinds, plainMaker };
