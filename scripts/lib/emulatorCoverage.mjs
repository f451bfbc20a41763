// @ts-check
import { createRequire } from "node:module";
import path from "node:path";

const START = "<!-- the operations: written by npm run docs -->";
const END = "<!-- end -->";

/**
 * A page with its table of operations brought up to date.
 * @param {string} page
 * @param {string} root the folder of the repository, which is built.
 */
export function withEmulatorCoverage(page, root) {
  const require = createRequire(import.meta.url);
  /** @type {{ renderCoverage: () => string }} */
  const { renderCoverage } = require(path.join(root, "dist", "emulator", "coverage.js"));
  const [before = "", rest = ""] = page.split(START);
  const after = rest.slice(rest.indexOf(END) + END.length);
  return `${before}${START}\n\n${renderCoverage()}\n\n${END}${after}`;
}
