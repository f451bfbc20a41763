// @ts-check
import { lowerFirst } from "../letterCase.cjs";
import { anchor, code, table } from "../markdown.cjs";

/**
 * @typedef {import("../../../provider/fields/fieldSpec.js").FieldSpec} Field
 * @typedef {import("../../../provider/fields/fieldSpec.js").OneOf} OneOf
 * @typedef {Readonly<Record<string, Field>>} Fields
 * @typedef {{ path: string, field: Field, text: string }} Described an argument, with the comment that editors show.
 * @typedef {Readonly<Record<string, string>>} FormatWords what a text of each format is.
 * @typedef {{ path: string, text: string, members: readonly Described[], oneOfs: readonly OneOf[] }} Shape
 */

/** @param {Field} field @param {string} path the heading of its own table, if it is an object. @returns {string} */
function describeFieldType(field, path) {
  switch (field.type) {
    case "list":
      return `${describeFieldType(field.items, path)}[]`;
    case "map":
      return `map of ${describeFieldType(field.values, path)}`;
    case "object":
      return `[object](${anchor(path)})`;
    case "enum":
      return "string";
    default:
      return field.type;
  }
}

/** @param {Field} field @param {FormatWords} formats @returns {string[]} */
function constraintsOf(field, formats) {
  switch (field.type) {
    case "string":
      return [
        ...(field.format ? [`Must be ${formats[field.format]}.`] : []),
        ...(field.pattern ? [`Must be ${field.pattern.must}.`] : []),
        ...(field.maxLength ? [`At most ${field.maxLength} characters.`] : []),
      ];
    case "enum":
      return [
        `One of ${field.known.map((name) => code(field.prefix + name)).join(", ")}, or a newer one of the server.`,
        ...(field.default === undefined ? [] : [`Default: ${code(field.prefix + field.default)}.`]),
      ];
    case "boolean":
      return [`Default: ${code(String(field.default ?? false))}.`];
    case "list":
      return [
        ...(field.unordered ? ["Order means nothing."] : []),
        ...(field.maxItems ? [`At most ${field.maxItems} items.`] : []),
        ...constraintsOf(field.items, formats).map((text) => `Each item: ${lowerFirst(text)}`),
      ];
    case "map":
      return [
        ...(field.keys ? [`Keys must be ${field.keys.must}.`] : []),
        ...constraintsOf(field.values, formats).map((text) => `Each value: ${lowerFirst(text)}`),
      ];
    default:
      return [];
  }
}

/** @param {Described} argument @param {FormatWords} formats */
export function describe({ field, text, path }, formats) {
  const capabilities = field.capabilities ?? [];
  return [
    text,
    ...(field.secret ? ["**Secret.**"] : []),
    // What the comment says already is left out.
    ...constraintsOf(field, formats).filter(
      (constraint) =>
        !text.includes(constraint) && !(text.includes("regular expression") && constraint.includes("RE2")),
    ),
    // `verify` compares each name, though no change of it gives access.
    ...(field.harmless !== undefined && path !== "name" ? [`Harmless: ${field.harmless}.`] : []),
    ...(capabilities.length > 0 ? [`Setting it needs ${capabilities.map(code).join(" and ")} too.`] : []),
  ].join(" ");
}

/** @param {readonly Described[]} members @param {FormatWords} formats */
export function argumentsTable(members, formats) {
  const rows = members.map(({ path, field, text }) => [
    code(path.slice(path.lastIndexOf(".") + 1)),
    describeFieldType(field, path),
    field.required ? "yes" : "",
    field.immutable ? "replaces" : "",
    describe({ field, text, path }, formats),
  ]);
  return table(["Argument", "Type", "Required", "Change", "Description"], rows);
}

/** @param {readonly OneOf[]} oneOfs */
export function describeChoices(oneOfs) {
  return oneOfs.map(({ members, required, immutable }) => {
    const names = members.map(code).join(", ");
    const change = immutable ? " Another one replaces the resource." : "";
    return `${required ? "Exactly" : "At most"} one of ${names}.${change}`;
  });
}

/** @param {Shape} shape @param {FormatWords} formats */
export function shapeSection({ path, text, members, oneOfs }, formats) {
  return [`### ${path}`, text, ...describeChoices(oneOfs), argumentsTable(members, formats)].join("\n\n");
}

/** The object in a field, below lists and maps. @param {Field} field @returns {Extract<Field, { type: "object" }> | undefined} */
export function objectIn(field) {
  if (field.type === "list") return objectIn(field.items);
  if (field.type === "map") return objectIn(field.values);
  return field.type === "object" ? field : undefined;
}
