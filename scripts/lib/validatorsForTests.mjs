// @ts-check
import path from "node:path";
import { writeValidators } from "./validatorCode.mjs";

/** Jest's tests run on the sources, where no validator is: `jest.config.js` has them loaded from this folder. */
export default function () {
  const root = path.join(import.meta.dirname, "..", "..");
  writeValidators(path.join(root, "schema"), path.join(root, ".cache", "validators"));
}
