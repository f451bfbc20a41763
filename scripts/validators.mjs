// @ts-check
/** Part of `npm run build`: copies the schemas to dist/schema, and writes the compiled validator of each beside it. */
import path from "node:path";
import { writeValidators } from "./lib/validatorCode.mjs";

const root = path.join(import.meta.dirname, "..");
writeValidators(path.join(root, "schema"), path.join(root, "dist", "schema"));
