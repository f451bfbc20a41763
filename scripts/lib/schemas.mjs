// @ts-check
import path from "node:path";
import { createGenerator } from "ts-json-schema-generator";

/** The documents by the names of their schemas: the file and the type that describe each. */
const DOCUMENTS = /** @type {const} */ ({
  report: {
    file: "report/report",
    type: "Report",
    title: "Report of pulumi-platform review, pulumi-platform drift and pulumi-platform verify",
  },
  inventory: {
    file: "documents/inventory",
    type: "Inventory",
    title: "Inventory of pulumi-platform inventory",
  },
  "access-policy": {
    file: "suppressions/policyDocument",
    type: "PolicyDocument",
    title: "Exceptions from the access review of pulumi-platform",
  },
});

/**
 * The JSON schemas that TypeScript types give.
 * @param {string} root the folder of the repository.
 * @returns {Record<keyof typeof DOCUMENTS, object>}
 */
export function documentSchemas(root) {
  const files = Object.values(DOCUMENTS).map(({ file }) => file);
  const generator = createGenerator({
    path: path.join(root, "provider", "access", `{${files.join()}}.ts`),
    tsconfig: path.join(root, "tsconfig.json"),
    topRef: false,
    encodeRefs: false,
    discriminatorType: "open-api",
    extraTags: ["errorMessage"],
    skipTypeCheck: true,
  });
  const schemas = Object.entries(DOCUMENTS).map(([name, { file, type, title }]) => {
    const { $schema, ...schema } = generator.createSchema(type);
    // The properties of a resource hold any JSON, so there is nothing to check in them.
    const { Props, ...definitions } = schema.definitions ?? {};
    schema.definitions = definitions;
    if (Props !== undefined) {
      definitions["Props"] = { type: "object" };
      delete definitions["Json"];
    }
    const $comment = `Made by npm run docs of provider/access/${file}.ts.`;
    return [name, { $schema, title, $comment, ...schema }];
  });
  return Object.fromEntries(schemas);
}
