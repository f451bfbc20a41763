// @ts-check
import ts from "typescript";
import { upperFirst } from "../letterCase.cjs";
import { anchor, code, example, page, table } from "../markdown.cjs";

/**
 * @typedef {import("./sources.mjs").LookupSource} Lookup
 * @typedef {import("./sources.mjs").Sources} Sources
 */

/** @param {Sources} sources @param {ts.Type} type @param {string} head */
function membersTable(sources, type, head) {
  const rows = sources.checker.getPropertiesOfType(type).map((member) => {
    const memberType = sources.checker.getTypeOfSymbol(member);
    const isOptional = (member.flags & ts.SymbolFlags.Optional) !== 0;
    return [
      code(member.name),
      typeCell(sources, memberType),
      isOptional ? "" : "yes",
      sources.describe(member),
    ];
  });
  return table([head, "Type", head === "Argument" ? "Required" : "Always", "Description"], rows);
}

/** The interfaces in a type that the package exports. @param {Sources} sources @param {ts.Type} type @returns {ts.Type[]} */
function interfacesIn(sources, type) {
  const plain = sources.checker.getNonNullableType(type);
  if (plain.isUnion()) return plain.types.flatMap((each) => interfacesIn(sources, each));
  if (sources.checker.isArrayType(plain))
    return sources.typeArguments(plain).flatMap((each) => interfacesIn(sources, each));
  const index = sources.checker.getIndexTypeOfType(plain, ts.IndexKind.String);
  if (index) return interfacesIn(sources, index);
  return plain.isClassOrInterface() ? [plain] : [];
}

/** @param {Sources} sources @param {ts.Type} type */
function typeCell(sources, type) {
  const text = sources.textOf(type);
  const [inner] = interfacesIn(sources, type);
  if (!inner) return code(text);
  const name = inner.symbol.name;
  return `[${code(text)}](${anchor(name)})`;
}

/** The interfaces in the members of a type, at any depth. @param {Sources} sources @param {ts.Type} type @param {Map<string, ts.Type>} found */
function collectInterfaces(sources, type, found) {
  for (const member of sources.checker.getPropertiesOfType(type)) {
    for (const inner of interfacesIn(sources, sources.checker.getTypeOfSymbol(member))) {
      if (found.has(inner.symbol.name)) continue;
      found.set(inner.symbol.name, inner);
      collectInterfaces(sources, inner, found);
    }
  }
  return found;
}

/** @param {Sources} sources @param {Lookup} lookup @param {readonly string[]} capabilities */
function callSection(sources, { name, text, args }, capabilities) {
  const needed =
    capabilities.length > 0 ? `Needs ${capabilities.map(code).join(" and ")}.` : "Needs no capability.";
  return [
    `## ${name}`,
    `${text} ${needed} ${code(`${name}Output`)} takes inputs, and returns an output.`,
    args ? membersTable(sources, args, "Argument") : "It takes no arguments.",
  ].join("\n\n");
}

/**
 * @param {Sources} sources
 * @param {string} title
 * @param {readonly Lookup[]} lookups
 * @param {{ exampleText: string, capabilitiesOf: (lookup: Lookup) => readonly string[] }} facts
 */
export function lookupPage(sources, title, lookups, { exampleText, capabilitiesOf }) {
  /** @type {Map<string, ts.Type>} */
  const results = new Map();
  for (const { result } of lookups) {
    for (const type of interfacesIn(sources, result)) results.set(type.symbol.name, type);
  }
  for (const type of [...results.values()]) collectInterfaces(sources, type, results);
  return page([
    `<!-- Written by npm run docs: change provider/lookups and examples/reference instead. -->`,
    `# ${title}`,
    `${lookups.map(({ name }) => code(name)).join(", ")}.`,
    "## Example",
    example(exampleText),
    ...lookups.map((lookup) => callSection(sources, lookup, capabilitiesOf(lookup))),
    "## Results",
    ...[...results].map(([name, type]) =>
      [`### ${name}`, sources.describe(type.symbol), membersTable(sources, type, "Member")]
        .filter(Boolean)
        .join("\n\n"),
    ),
  ]);
}

/** @typedef {import("./resourcePage.mjs").Spec} Spec */

/** @param {string} noun */
const pluralize = (noun) => `${noun.replace(/y$/, "ie")}s`;

/** What tells the objects of a kind apart in a list: the name, or what each one must have. @param {Spec} spec */
function tellingField({ fields }) {
  const told = Object.entries(fields).filter(
    ([key, { type, required, inputOnly, secret }]) =>
      key !== "parentUid" && type === "string" && required && !inputOnly && !secret,
  );
  const keys = told.map(([key]) => key);
  return keys.includes("name") ? "name" : (keys[0] ?? "uid");
}

/**
 * The example of the lookups of a kind that has no file in examples/reference/lookups: all of an organisation.
 * @param {Spec} spec
 */
export function lookupExample(spec) {
  const all = spec.collection.slice(spec.collection.lastIndexOf("/") + 1);
  const call = `get${upperFirst(all)}Output`;
  const imports = ["getGroupOutput", call].sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
  const field = tellingField(spec);
  return `import { ${imports.join(", ")} } from "pulumi-platform";

const acme = getGroupOutput({ name: "acme" });
const ${all} = ${call}({ descendantsOf: acme.uid });

export const ${pluralize(field)} = ${all}.apply((all) => all.map(({ ${field} }) => ${field}));
`;
}
