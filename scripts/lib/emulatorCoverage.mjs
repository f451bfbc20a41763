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
  /** @type {{ allMethods: { rpc: string }[] }} */
  const { allMethods } = require(path.join(root, "dist", "emulator", "tables", "index.js"));
  /** @type {Map<string, Set<string>>} */
  const services = new Map();
  for (const { rpc } of allMethods) {
    const [service = "", name = ""] = rpc.split("/");
    services.set(service, (services.get(service) ?? new Set()).add(`\`${name}\``));
  }
  const rows = [...services].map(([service, names]) => `| \`${service}\` | ${[...names].join(", ")} |`);
  const table = ["| Service | Operations |", "| --- | --- |", ...rows].join("\n");
  const [before = "", rest = ""] = page.split(START);
  const after = rest.slice(rest.indexOf(END) + END.length);
  return `${before}${START}\n\n${table}\n\n${END}${after}`;
}
