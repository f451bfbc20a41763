// @ts-check
/*
 * The processor time until a document is checked for the first time, in a process of its own each: by ajv at run time, and
 * by the code that the build makes of the schema. The least and the most of some runs.
 *
 *   npm run build && node scripts/bench/validators.mjs [runs]
 */
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import path from "node:path";

const root = path.join(import.meta.dirname, "..", "..");
const runs = Number(process.argv[2] ?? 5);

/** @param {string} statement what a new process does, with its processor time in ms as the result */
function measure(statement) {
  const script = `${statement}; const { user, system } = process.cpuUsage(start); console.log((user + system) / 1000);`;
  const times = Array.from({ length: runs }, () =>
    Number(
      execFileSync(process.execPath, ["-e", `const start = process.cpuUsage(); ${script}`], { cwd: root }),
    ),
  );
  return `${Math.min(...times).toFixed(0)} to ${Math.max(...times).toFixed(0)} ms`;
}

for (const file of readdirSync(path.join(root, "schema"))) {
  const name = file.replace(/\.schema\.json$/, "");
  const compiled = measure(
    `const { Ajv } = require("ajv"); new Ajv({ discriminator: true, strict: false }).compile(require("./schema/${file}"))({})`,
  );
  const built = measure(`require("./dist/schema/${name}.validate.js")({})`);
  console.log(`${name}: ajv ${compiled}, code of the build ${built}`);
}
