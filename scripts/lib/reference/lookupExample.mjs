// @ts-check
import { upperFirst } from "../letterCase.cjs";

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
