// @ts-check
import { lowerFirst } from "../letterCase.cjs";
import { anchor, code, details, example, page, table } from "../markdown.cjs";
import { inPython, inYaml } from "./otherLanguages.mjs";

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
        `One of ${field.known.map((name) => code(field.prefix + name)).join(", ")}${field.open ? ", or a newer one of the server" : ""}.`,
        ...(field.default === undefined ? [] : [`Default: ${code(field.prefix + field.default)}.`]),
      ];
    case "boolean":
      return [`Default: ${code("false")}.`];
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

/** More values than these are a paragraph: a cell of them makes the table too wide for a terminal. */
const MAX_VALUES_IN_CELL = 30;

/** The enum in a field that has too many values for a cell. @param {Field} field @returns {Extract<Field, { type: "enum" }> | undefined} */
function longEnumIn(field) {
  if (field.type === "list") return longEnumIn(field.items);
  if (field.type === "map") return longEnumIn(field.values);
  return field.type === "enum" && field.known.length > MAX_VALUES_IN_CELL ? field : undefined;
}

/** @param {readonly Described[]} members @param {FormatWords} formats */
function argumentsTable(members, formats) {
  const values = members.flatMap(({ path, field }) => {
    const known = longEnumIn(field);
    if (known === undefined) return [];
    return [{ path, list: known.known.map((name) => code(known.prefix + name)).join(", ") }];
  });
  const rows = members.map(({ path, field, text }) => [
    code(path.slice(path.lastIndexOf(".") + 1)),
    describeFieldType(field, path),
    field.required ? "yes" : "",
    field.immutable ? "replaces" : "",
    values.reduce(
      (description, { list }) => description.replace(list, "the values below"),
      describe({ field, text, path }, formats),
    ),
  ]);
  return [
    table(["Argument", "Type", "Required", "Change", "Description"], rows),
    ...values.map(({ path, list }) => `The known values of ${code(path)}: ${list}.`),
  ].join("\n\n");
}

/** @param {readonly OneOf[]} oneOfs */
function describeChoices(oneOfs) {
  return oneOfs.map(({ members, required, immutable }) => {
    const names = members.map(code).join(", ");
    const change = immutable ? " Another one replaces the resource." : "";
    return `${required ? "Exactly" : "At most"} one of ${names}.${change}`;
  });
}

/** @param {Shape} shape @param {FormatWords} formats */
function shapeSection({ path, text, members, oneOfs }, formats) {
  return [`### ${path}`, text, ...describeChoices(oneOfs), argumentsTable(members, formats)].join("\n\n");
}

/** The object in a field, below lists and maps. @param {Field} field @returns {Extract<Field, { type: "object" }> | undefined} */
function objectIn(field) {
  if (field.type === "list") return objectIn(field.items);
  if (field.type === "map") return objectIn(field.values);
  return field.type === "object" ? field : undefined;
}

/**
 * @typedef {import("../../../provider/fields/resourceSpec.js").ResourceSpec} Spec
 * @typedef {typeof import("../../../provider/fields/fieldSpec.js").accessMeanings} AccessMeanings
 * @typedef {import("../generatedPages.cjs").UncomparedFields} Uncompared
 * @typedef {import("../generatedPages.cjs").RuleReference} RuleReference
 */

/** @param {import("./sources.mjs").Sources} sources @param {import("typescript").Type} type @param {Fields} fields @param {string} prefix */
export function describeFields(sources, type, fields, prefix) {
  return Object.entries(fields).map(([key, field]) => ({
    path: `${prefix}${key}`,
    field,
    text: sources.describe(sources.memberOf(type, key)),
  }));
}

/**
 * The objects among arguments, at any depth.
 * @param {import("./sources.mjs").Sources} sources
 * @param {import("typescript").Type} type
 * @param {readonly Described[]} members
 * @returns {Shape[]}
 */
function shapesIn(sources, type, members) {
  return members.flatMap(({ path, field, text }) => {
    const inner = objectIn(field);
    if (!inner) return [];
    const member = sources.memberOf(type, path.slice(path.lastIndexOf(".") + 1));
    const shape = sources.findShape(sources.checker.getTypeOfSymbol(member), Object.keys(inner.fields));
    if (!shape) throw new Error(`the type of ${path} has no object with its members`);
    const own = describeFields(sources, shape, inner.fields, `${path}.`);
    return [{ path, text, members: own, oneOfs: inner.oneOfs ?? [] }, ...shapesIn(sources, shape, own)];
  });
}

/** @param {import("./sources.mjs").Sources} sources @param {Spec} spec */
function outputsSection(sources, { kind, outputs = {} }) {
  const instance = sources.typeOf(kind);
  const rows = Object.entries(outputs).map(([key, field]) => [
    code(key),
    field.type,
    `${sources.describe(sources.memberOf(instance, key))}${field.secret ? " **Secret.**" : ""}`,
  ]);
  const common = [
    [code("id"), "string", "The uid."],
    [code("uid"), "string", "The same as `id`."],
  ];
  return [
    "## Outputs",
    "All arguments, and:",
    table(["Output", "Type", "Description"], [...common, ...rows]),
  ].join("\n\n");
}

/** @param {Spec} spec */
function capabilitiesSection({ kind, capabilities, fields }) {
  if (!capabilities) throw new Error(`${kind} names no capabilities`);
  const isReplacedOnly = Object.values(fields).every(({ immutable }) => immutable);
  const list = (/** @type {readonly string[] | undefined} */ names) =>
    names?.length ? names.map(code).join(", ") : "none";
  return [
    "## Capabilities",
    "What a role must hold on the group, or above it. [Least privilege](../../least-privilege.md) has a role for each job.",
    table(
      ["Operation", "Capabilities"],
      [
        ["refresh, import, lookup, drift, adopt", list(capabilities.read)],
        ["create", list(capabilities.create)],
        ["update", isReplacedOnly ? "every change replaces" : list(capabilities.update)],
        ["delete", list(capabilities.delete)],
      ],
    ),
  ].join("\n\n");
}

/** @type {Readonly<Record<string, string>>} */
const effects = {
  subject: "another value means another principal or resource",
  permission: "more gives more access",
  restriction: "more restricts access",
  expiry: "a later end gives access for longer",
  role: "roles are compared by their capabilities",
  keys: "each key lets one more signer in",
};

/**
 * The arguments that decide access, by path.
 * @param {Fields} fields
 * @param {string} prefix
 * @param {AccessMeanings} meanings
 * @param {string} [around]
 * @returns {string[][]}
 */
function effectsIn(fields, prefix, meanings, around) {
  return Object.entries(fields).flatMap(([key, field]) => {
    const access = (field.access && meanings[field.access].effect) ?? around;
    const path = `${prefix}${key}`;
    if (field.type === "object") return effectsIn(field.fields, `${path}.`, meanings, access);
    return access === undefined || access === "none" ? [] : [[code(path), effects[access] ?? access]];
  });
}

/** @param {RuleReference} rule */
const linkTo = ({ id, anchor }) => `[${id}](../../rules.md#${anchor})`;

/** The rules that can report a resource of this kind. @param {Spec} spec @param {readonly RuleReference[]} rules */
function ruleList({ kind }, rules) {
  const rows = rules
    .filter(({ kinds }) => kinds.includes(kind))
    .map((rule) => [linkTo(rule), rule.name, rule.severities.join(", ")]);
  const wholeChangeRules = rules
    .filter(({ kinds }) => kinds.length === 0)
    .map((rule) => `${linkTo(rule)} ${rule.name}`);
  return [
    `These rules can report it. The change as a whole is judged by ${wholeChangeRules.join(", ")}.`,
    table(["Rule", "Name", "Severity"], rows),
  ];
}

/** @param {Spec} spec @param {readonly RuleReference[]} rules @param {AccessMeanings} meanings */
function reviewSection(spec, rules, meanings) {
  const { fields } = spec;
  const rows = effectsIn(fields, "", meanings);
  const intro =
    rows.length > 0
      ? "[A review](../../review.md) judges a change of these arguments:"
      : "No argument decides who may do what. [A review](../../review.md) lists a change as neutral.";
  return [
    "## In a review",
    intro,
    ...(rows.length > 0 ? [table(["Argument", "Effect of a change"], rows)] : []),
    ...ruleList(spec, rules),
  ].join("\n\n");
}

/** @param {Spec} spec @param {Uncompared | undefined} uncompared */
function driftSection({ listing }, uncompared) {
  const list = (/** @type {readonly string[]} */ paths) => paths.map(code).join(", ");
  return [
    "## Drift and adoption",
    [
      listing?.onDemand
        ? `[Drift](../../drift.md) compares it where a stack manages it.`
        : "[Drift](../../drift.md) compares it, and finds what no stack manages.",
      uncompared?.ifUnset.length
        ? `Compared only where the program sets them: ${list(uncompared.ifUnset)}.`
        : "",
      uncompared?.never.length ? `Never compared: ${list(uncompared.never)}.` : "",
    ]
      .filter(Boolean)
      .join(" "),
  ].join("\n\n");
}

/** @param {Spec} spec @param {string | undefined} skipReason why `adopt` leaves it out. */
function adoptionText({ kind, listing, owns }, skipReason) {
  if (skipReason !== undefined) return `It cannot be adopted: ${skipReason}.`;
  if (owns?.all) {
    return `It takes over what exists when it is created. \`adopt\` writes a [${owns.kind}](${owns.kind}.md) for each.`;
  }
  const types = listing?.onDemand ? ` --types +${kind}` : "";
  return [
    "Write the program and the state of one that exists:",
    `\`\`\`sh\nnpx --no pulumi-platform adopt --root <group>${types} --only <uid> --out . --stack <stack> --write-state\n\`\`\``,
    "The same by [the native plugin](../../languages.md#import), in the language of the program:",
    "<!-- not run: test/engine/native.test.ts imports each kind -->",
    `\`\`\`sh\npulumi import platform:index:${kind} <name> <uid>\n\`\`\``,
  ].join("\n\n");
}

/**
 * An example in all languages: the site shows them as tabs.
 * @param {string} text in TypeScript. @param {readonly Spec[]} specs
 */
function examples(text, specs) {
  const isRun = "<!-- not run: test/examples/languages.test.ts runs it -->";
  return [
    example(text),
    details("YAML", example(inYaml(text), "yaml")),
    details("Python", `${isRun}\n\n${example(inPython(text, specs), "python")}`),
  ].join("\n\n");
}

/**
 * @param {import("./sources.mjs").Sources} sources
 * @param {Spec} spec
 * @param {{ exampleText: string, specs: readonly Spec[], uncompared: Uncompared | undefined, skipReason: string | undefined, rules: readonly RuleReference[], formats: FormatWords, meanings: AccessMeanings }} facts
 */
export function resourcePage(
  sources,
  spec,
  { exampleText, specs, uncompared, skipReason, rules, formats, meanings },
) {
  const { kind, fields, oneOfs = [] } = spec;
  const args = sources.typeOf(`${kind}Args`);
  const members = describeFields(sources, args, fields, "");
  return page([
    `<!-- Written by npm run docs: change provider/kinds and examples/reference instead. -->`,
    `# ${kind}`,
    sources.describe(sources.symbolOf(kind)),
    "## Example",
    examples(exampleText, specs),
    "## Arguments",
    "`Change` says which arguments replace the resource. _Harmless_ says why `review` finds nothing in a change of an argument, and why [`verify`](../../threats.md#verify) does not compare it.",
    ...describeChoices(oneOfs),
    argumentsTable(members, formats),
    ...shapesIn(sources, args, members).map((shape) => shapeSection(shape, formats)),
    outputsSection(sources, spec),
    capabilitiesSection(spec),
    reviewSection(spec, rules, meanings),
    driftSection(spec, uncompared),
    adoptionText(spec, skipReason),
  ]);
}
