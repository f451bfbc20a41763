// @ts-check
import path from "node:path";
import { createGenerator } from "ts-json-schema-generator";

const DOCUMENTS = path.join(
  "provider",
  "access",
  "{report/report,documents/inventory,suppressions/policyDocument}.ts",
);

/** Generators of all documents by the folder of the repository: each parses the sources once. */
const generators = new Map();

/** @param {string} root @returns {import("ts-json-schema-generator").SchemaGenerator} */
function generatorOf(root) {
  const known = generators.get(root);
  if (known !== undefined) return known;
  const generator = createGenerator({
    path: path.join(root, DOCUMENTS),
    tsconfig: path.join(root, "tsconfig.json"),
    topRef: false,
    encodeRefs: false,
    discriminatorType: "open-api",
    extraTags: ["errorMessage"],
    skipTypeCheck: true,
  });
  generators.set(root, generator);
  return generator;
}

/**
 * The JSON schema that TypeScript types give.
 * @param {string} root the folder of the repository.
 * @param {string} file where the type is, from that folder.
 * @param {string} type the type of the document.
 * @param {string} title
 */
function schemaOf(root, file, type, title) {
  const { $schema, ...schema } = generatorOf(root).createSchema(type);
  // The properties of a resource hold any JSON, so there is nothing to check in them.
  const { Props, ...definitions } = schema.definitions ?? {};
  schema.definitions = definitions;
  if (Props !== undefined) {
    definitions["Props"] = { type: "object" };
    delete definitions["Json"];
  }
  return { $schema, title, $comment: `Made by npm run docs of ${file}.`, ...schema };
}

/** @param {string} root the folder of the repository. */
export function reportSchema(root) {
  const title = "Report of pulumi-platform review, pulumi-platform drift and pulumi-platform verify";
  return schemaOf(root, "provider/access/report/report.ts", "Report", title);
}

/** @param {string} root the folder of the repository. */
export function inventorySchema(root) {
  return schemaOf(
    root,
    "provider/access/documents/inventory.ts",
    "Inventory",
    "Inventory of pulumi-platform inventory",
  );
}

/**
 * The part of the policy file's schema that its types give.
 * @param {string} root the folder of the repository.
 */
export function policyTypesSchema(root) {
  return schemaOf(
    root,
    "provider/access/suppressions/policyDocument.ts",
    "PolicyDocument",
    "Exceptions from the access review of pulumi-platform",
  );
}
