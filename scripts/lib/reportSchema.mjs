// @ts-check
import path from "node:path";
import { createGenerator } from "ts-json-schema-generator";

/**
 * The JSON schema of reports, made of the types in provider/access/report.ts.
 * @param {string} root the folder of the repository.
 */
export function reportSchema(root) {
  const { $schema, ...schema } = createGenerator({
    path: path.join(root, "provider/access/report.ts"),
    tsconfig: path.join(root, "tsconfig.json"),
    type: "Report",
    topRef: false,
    encodeRefs: false,
    discriminatorType: "open-api",
    skipTypeCheck: true,
  }).createSchema("Report");
  return {
    $schema,
    title: "Report of pulumi-platform review, pulumi-platform drift and pulumi-platform verify",
    $comment: "Made by npm run docs of provider/access/report.ts.",
    ...schema,
  };
}
