// @ts-check
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { lowerFirst, upperFirst } from "../letterCase.cjs";
import { anchor, code, example, firstSentence, page, table } from "../markdown.cjs";
import { documents, schemaPage } from "../schemaPages.mjs";
import { resourcePage } from "./resourcePage.mjs";
import { Sources } from "./sources.mjs";

/**
 * @typedef {import("./resourcePage.mjs").Spec} Spec
 * @typedef {import("./sources.mjs").LookupSource} Lookup
 */

/**
 * The text of an example, by its folder and name.
 * @param {string} root
 * @param {string} folder
 * @param {string} name
 * @param {() => string | undefined} [otherwise] writes one where there is no file.
 */
function readExample(root, folder, name, otherwise = () => undefined) {
  const file = path.join(root, "examples/reference", folder, `${name}.ts`);
  const text = existsSync(file) ? readFileSync(file, "utf8") : otherwise();
  if (text === undefined)
    throw new Error(`examples/reference/${folder}/${name}.ts is missing: write an example`);
  return text;
}

/** The kind whose objects a lookup returns, if it is one of those that each kind has. @param {readonly Spec[]} specs @param {Lookup} lookup */
function findKindOfLookup(specs, { name }) {
  // A kind that is a part of another one comes after it, and has the same collection.
  return specs.find(({ kind, collection }) => {
    const plural = upperFirst(collection.slice(collection.lastIndexOf("/") + 1));
    return [`get${kind}`, `get${plural}`].includes(name);
  });
}

/** The pages of lookups, by the noun that they are about. @param {readonly Spec[]} specs @param {readonly Lookup[]} lookups */
function groupLookups(specs, lookups) {
  /** @type {Map<string, Lookup[]>} */
  const pages = new Map();
  for (const lookup of lookups) {
    const kind = findKindOfLookup(specs, lookup)?.kind;
    const name = lookup.file === "ofKinds" && kind ? lowerFirst(kind) : lookup.file;
    pages.set(name, [...(pages.get(name) ?? []), lookup]);
  }
  return [...pages].sort(([a], [b]) => (a < b ? -1 : 1));
}

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
function lookupPage(sources, title, lookups, { exampleText, capabilitiesOf }) {
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
function lookupExample(spec) {
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

/** @param {readonly Spec[]} specs @returns {(lookup: Lookup) => readonly string[]} */
const capabilitiesOfLookups = (specs) => (lookup) =>
  findKindOfLookup(specs, lookup)?.capabilities?.read ?? lookup.capabilities;

/** @param {Spec} spec */
function skipReason({ outputs = {} }) {
  const createOnly = Object.entries(outputs).filter(([, field]) => field.createOnly);
  if (createOnly.length === 0) return undefined;
  return `its ${createOnly.map(([key]) => code(key)).join(", ")} is returned only at creation`;
}

/** @param {Sources} sources @param {readonly Spec[]} specs @param {readonly (readonly [string, readonly Lookup[]])[]} pages */
function indexPage(sources, specs, pages) {
  const resources = specs.map(({ kind }) => [
    `[${code(kind)}](resources/${kind}.md)`,
    firstSentence(sources.describe(sources.symbolOf(kind))),
  ]);
  const lookups = pages.flatMap(([name, all]) =>
    all.map((lookup) => [
      `[${code(lookup.name)}](lookups/${name}.md#${lookup.name.toLowerCase()})`,
      firstSentence(lookup.text),
    ]),
  );
  return page([
    "<!-- Written by npm run docs: change the descriptions in provider/ instead. -->",
    "# Reference",
    "For everybody who writes programs with `pulumi-platform`. Every example is compiled and run by the tests. In YAML and Python, programs use [the native plugin](../languages.md).",
    "## Before you write a program",
    "**Where an identity may act.** An identity of the organisation itself can act in the whole organisation, and sees its registry. An identity of a group below can act in that group only, and does not see the registry. So put the identities of registry jobs into the organisation, and bind their roles at one group. What an identity may do is decided by its role bindings: each is valid for its group and everything below. To make one takes `CAP_IAM_IDENTITY_CREATE` in its group, and to bind it `CAP_IAM_ROLE_BINDINGS_CREATE` where it acts. A review counts a binding of an identity elsewhere all the same.",
    "**Your organisation.** Many examples begin with a group without `parentUid`, which makes a new organisation. In yours, leave that group out and give the uid of the organisation, which `doctor` prints in its line `groups`.",
    "**What is paid.** This package and its emulator are free. [Teams of Pulumi Cloud](../tasks/state-for-ci.md) need its edition Enterprise or Business Critical; a bucket needs none. [Code owners and protected environments](../tasks/review-in-gitlab.md#protect-the-branch) of GitLab need Premium. [Environments and code owners](../tasks/review-in-github.md#protect-the-branch) of private repositories of GitHub need a paid plan. Whether the platform bills an organisation for a resource is a matter of its contract: the API says nothing about it.",
    "**Shell completion** after `npm install` in the folder of a program: [commands](../commands.md) has the two lines.",
    "## Resources",
    "Each resource has `X.get(name, uid)`, which reads one that exists. [Replacements, new names and `GroupAccess`](../resources.md) are explained on a page of their own.",
    table(["Resource", "What it is"], resources),
    "## Lookups",
    "Each lookup also exists with `Output` at the end of its name, for arguments that are known only when other resources are.",
    table(["Lookup", "What it does"], lookups),
    "## More",
    "- [Settings](../settings.md), [commands](../commands.md), [exit codes](../commands.md#exit-codes), [rules](../rules.md)",
    `- File formats: ${documents.map(({ name, title }) => `[${title}](schemas/${name}.md)`).join(", ")}`,
  ]);
}

/**
 * The pages of docs/reference, by their paths from the folder of the repository; not yet formatted.
 * @param {string} root
 * @param {readonly Spec[]} specs
 * @param {readonly import("./resourcePage.mjs").Uncompared[]} uncompared
 * @param {readonly import("./resourcePage.mjs").RuleReference[]} rules
 * @param {import("./resourcePage.mjs").FormatWords} formats
 * @param {import("./resourcePage.mjs").AccessMeanings} meanings
 * @returns {Map<string, string>}
 */
export function referencePages(root, specs, uncompared, rules, formats, meanings) {
  const sources = new Sources(root);
  const lookups = groupLookups(specs, sources.lookups());
  const pages = new Map([["docs/reference/README.md", indexPage(sources, specs, lookups)]]);
  for (const document of documents) {
    const schema = readFileSync(path.join(root, "schema", `${document.name}.schema.json`), "utf8");
    pages.set(`docs/reference/schemas/${document.name}.md`, schemaPage(document, JSON.parse(schema)));
  }
  for (const spec of specs) {
    const text = resourcePage(sources, spec, {
      exampleText: readExample(root, "resources", lowerFirst(spec.kind)),
      specs,
      uncompared: uncompared.find(({ kind }) => kind === spec.kind),
      skipReason: skipReason(spec),
      rules,
      formats,
      meanings,
    });
    pages.set(`docs/reference/resources/${spec.kind}.md`, text);
  }
  const capabilitiesOf = capabilitiesOfLookups(specs);
  for (const [name, all] of lookups) {
    const title = `Lookups: ${lowerFirst(name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`))}`;
    const spec = specs.find(({ kind }) => lowerFirst(kind) === name);
    const exampleText = readExample(root, "lookups", name, () => spec && lookupExample(spec));
    const facts = { exampleText, capabilitiesOf };
    pages.set(`docs/reference/lookups/${name}.md`, lookupPage(sources, title, all, facts));
  }
  return pages;
}

/** The generated pages that exist and are no longer made. @param {string} root @param {ReadonlyMap<string, string>} pages */
export function stalePages(root, pages) {
  return readdirSync(path.join(root, "docs/reference"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => path.posix.join("docs/reference", file.split(path.sep).join("/")))
    .filter((file) => !pages.has(file));
}
