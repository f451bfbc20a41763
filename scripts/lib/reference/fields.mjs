// @ts-check
import { lowerFirst } from "../letterCase.cjs";
import { anchor, code, table } from "./markdown.mjs";

/**
 * @typedef {import("../../../provider/fields/description.js").FieldSpec} Field
 * @typedef {import("../../../provider/fields/description.js").OneOf} OneOf
 * @typedef {Readonly<Record<string, Field>>} Fields
 * @typedef {{ path: string, field: Field, text: string }} Described an argument, with the comment that editors show.
 * @typedef {{ path: string, text: string, members: readonly Described[], oneOfs: readonly OneOf[] }} Shape
 */

/** @type {Readonly<Record<string, string>>} */
const formats = {
  uid: "a uid",
  groupUid: "the uid of a group",
  regex: "a regular expression in RE2 syntax that matches the whole string",
  duration: 'a duration, as in `"24h"`',
  timestamp: "an RFC 3339 time with a zone",
  int64: "a whole number in decimal digits",
  jwks: "a JSON Web Key Set with public keys only",
  url: "an `https` or `http` URL",
  httpsUrl: "an `https` URL",
  keyringFile: "a plain file name",
  rsaPublicKey: "an RSA public key in PEM",
};

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

/** @param {Field} field @returns {string[]} */
function constraintsOf(field) {
  switch (field.type) {
    case "string":
      return [
        ...(field.format ? [`Must be ${formats[field.format] ?? unknownFormat(field.format)}.`] : []),
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
        ...constraintsOf(field.items).map((text) => `Each item: ${lowerFirst(text)}`),
      ];
    case "map":
      return [
        ...(field.keys ? [`Keys must be ${field.keys.must}.`] : []),
        ...constraintsOf(field.values).map((text) => `Each value: ${lowerFirst(text)}`),
      ];
    default:
      return [];
  }
}

/** @param {string} format @returns {never} */
function unknownFormat(format) {
  throw new Error(`fields.mjs has no words for the format ${format}: add them to formats`);
}

/** @param {Field} field @param {string} text @param {string} path */
function describe(field, text, path) {
  const capabilities = field.capabilities ?? [];
  return [
    text,
    ...(field.secret ? ["**Secret.**"] : []),
    // What the comment says already is left out.
    ...constraintsOf(field).filter(
      (constraint) =>
        !text.includes(constraint) && !(text.includes("regular expression") && constraint.includes("RE2")),
    ),
    // `verify` compares each name, though no change of it gives access.
    ...(field.harmless !== undefined && path !== "name" ? [`Harmless: ${field.harmless}.`] : []),
    ...(capabilities.length > 0 ? [`Setting it needs ${capabilities.map(code).join(" and ")} too.`] : []),
  ].join(" ");
}

/** @param {readonly Described[]} members */
export function argumentsTable(members) {
  const rows = members.map(({ path, field, text }) => [
    code(path.slice(path.lastIndexOf(".") + 1)),
    describeFieldType(field, path),
    field.required ? "yes" : "",
    field.immutable ? "replaces" : "",
    describe(field, text, path),
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

/** @param {Shape} shape */
export function shapeSection({ path, text, members, oneOfs }) {
  return [`### ${path}`, text, ...describeChoices(oneOfs), argumentsTable(members)].join("\n\n");
}

/** The object in a field, below lists and maps. @param {Field} field @returns {Extract<Field, { type: "object" }> | undefined} */
export function objectIn(field) {
  if (field.type === "list") return objectIn(field.items);
  if (field.type === "map") return objectIn(field.values);
  return field.type === "object" ? field : undefined;
}
