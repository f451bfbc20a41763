// @ts-check
import { existsSync } from "node:fs";
import path from "node:path";
import { lowerFirst, upperFirst } from "./letterCase.cjs";

/**
 * @typedef {{ kind: string, noun: string, collection: string, sharesParentUid?: boolean, listsByName?: boolean }} Spec
 */

/** @param {string} noun */
export const pluralize = (noun) => `${noun.replace(/y$/, "ie")}s`;

/** @param {string} noun */
const argumentsByName = (noun) => ({
  one: `/** Selects one ${noun}: by \`uid\`, or by \`name\`. */`,
  oneArgs: "ByNameArgs",
  list: `/** Which ${pluralize(noun)} to list. All by default. */`,
  listArgs: "NamedListArgs",
  find: `/** Finds exactly one ${noun}. Throws where there is none, and where there are several, with their uids and parents. */`,
});

/** @param {string} noun */
const argumentsByUid = (noun) => ({
  one: `/** Selects one ${noun}. */`,
  oneArgs: "ByUidArgs",
  list: `/** Which ${pluralize(noun)} to list. All by default. Their lists know no names. */`,
  listArgs: "ListArgs",
  find: `/** Reads one ${noun}. Throws where there is none. */`,
});

/** @param {Spec} spec */
function writeLookups({ kind, noun, collection, listsByName }) {
  const call = `get${kind}`;
  const calls = `get${upperFirst(collection.slice(collection.lastIndexOf("/") + 1))}`;
  const name = lowerFirst(kind);
  const texts = listsByName ? argumentsByName(noun) : argumentsByUid(noun);
  const outputForm = (/** @type {string} */ lookup) =>
    `/** Returns what \`${lookup}\` returns, as an output. Its arguments can be outputs of other resources. */`;
  return `
${texts.one}
export type Get${kind}Args = ${texts.oneArgs};

${texts.list}
export type ${upperFirst(calls)}Args = ${texts.listArgs};

const ${name} = defineLookups<Get${kind}Args, ${upperFirst(calls)}Args, Get${kind}Result>(${kind}, { calls: ["${call}", "${calls}"] });

${texts.find}
export const ${call} = invoke(${name}.one);

${outputForm(call)}
export const ${call}Output = invokeOutput(${name}.one);

/** Lists the ${pluralize(noun)} that match and that the token may see. */
export const ${calls} = invokeWithOptionalArgs(${name}.list);

${outputForm(calls)}
export const ${calls}Output = invokeWithOptionalArgsOutput(${name}.list);
`;
}

/**
 * Finds the kinds whose lookups take the common arguments only: those that are listed and have no file in
 * `provider/lookups/`.
 * @template {Spec} S
 * @param {readonly S[]} specs
 * @param {string} root the folder of the repository.
 */
export function findKindsWithUsualLookups(specs, root) {
  const hasOwnFile = (/** @type {string} */ kind) =>
    existsSync(path.join(root, "provider/lookups", `${lowerFirst(kind)}.ts`));
  return specs.filter(({ kind, sharesParentUid }) => !sharesParentUid && !hasOwnFile(kind));
}

/**
 * The module with the lookups of these kinds.
 * @param {readonly Spec[]} specs
 */
export function lookupsModule(specs) {
  const imports = specs.flatMap(({ kind }) => [
    `import { ${kind} } from "../kinds/${lowerFirst(kind)}";`,
    `import type { Get${kind}Result } from "../kinds/${lowerFirst(kind)}";`,
  ]);
  const args = [
    ...new Set(
      specs.flatMap(({ listsByName }) =>
        listsByName ? ["ByNameArgs", "NamedListArgs"] : ["ByUidArgs", "ListArgs"],
      ),
    ),
  ];
  return [
    "// Written by `npm run docs` from the descriptions of kinds that have no file of their own here.",
    ...imports,
    'import { invoke, invokeWithOptionalArgs, invokeWithOptionalArgsOutput, invokeOutput } from "./invoke";',
    'import { defineLookups } from "./lookup";',
    `import type { ${args.sort().join(", ")} } from "./lookup";`,
    ...specs.map(writeLookups),
  ].join("\n");
}
