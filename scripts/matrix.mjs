// @ts-check
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { copyCheckout, withTemporaryFolder } from "./lib/files.mjs";
import { excerpt, errorMessage, run, runScript, runToSuccess } from "./lib/processes.mjs";
import { ensureReady, root } from "./setup.mjs";

const USAGE = `Usage: node scripts/matrix.mjs [options]

Runs the tests of every change (unit tests, one life of all kinds, one program of the packed package) in a copy of this
checkout, with each of these versions of Node and of the Pulumi SDK.

  --node 20,22,24        versions of Node, from npm's package "node"; "current": the one that runs this script
  --sdk oldest,newest    versions of @pulumi/pulumi: oldest and newest that package.json supports, or a number
  --tests <pattern>      only the test files whose path matches
`;

/** The oldest version of a range such as ">=3.216.0 <4". @param {string} range */
export function oldestOf(range) {
  const version = /^>=(\d+\.\d+\.\d+)/.exec(range)?.[1];
  if (version === undefined) throw new Error(`the range ${range} does not begin with its oldest version`);
  return version;
}

/** Arguments of npm that change nothing in the checkout. */
const QUIETLY = ["--no-audit", "--no-fund", "--prefer-offline"];

/**
 * The folder of a version of Node.
 * @param {string} version
 * @param {string} folder
 */
async function nodeDirectory(version, folder) {
  if (version === "current") return path.dirname(process.execPath);
  const target = path.join(folder, `node-${version}`);
  const bin = path.join(target, "node_modules", "node", "bin");
  if (existsSync(bin)) return bin;
  mkdirSync(target, { recursive: true });
  const args = ["install", "--no-save", ...QUIETLY, "--prefix", target, `node@${version}`];
  await runToSuccess("npm", args, { cwd: folder });
  return bin;
}

/**
 * @typedef {object} Cell
 * @property {string} node
 * @property {string} sdk
 */

/**
 * Installs the SDK and runs the tests; prints which versions they ran with and how they ended.
 * @param {string} folder
 * @param {Cell} cell
 * @param {{ pulumiDir: string, nodeDir: string, selection: string[] }} at
 */
async function runCell(folder, { sdk }, { pulumiDir, nodeDir, selection }) {
  const env = {
    ...process.env,
    PATH: [nodeDir, pulumiDir, process.env.PATH].join(path.delimiter),
    PULUMI_PLATFORM_CLI_DIR: pulumiDir,
    PULUMI_PLATFORM_TESTS: "quick",
  };
  const at = { cwd: folder, env };
  await runToSuccess("npm", ["install", "--no-save", ...QUIETLY, `@pulumi/pulumi@${sdk}`], at);
  await runToSuccess("npm", ["run", "--silent", "build"], at);
  const expression = "`${process.version} ${require('@pulumi/pulumi/package.json').version}`";
  const versions = (await runToSuccess("node", ["-p", expression], at)).trim();
  const jest = path.join("node_modules", "jest", "bin", "jest.js");
  const { code, output } = await run("node", [jest, ...selection], at);
  const summary = output.split("\n").filter((line) => /^(Tests|Test Suites):/.test(line));
  const result = code === 0 ? "passed" : "FAILED";
  console.log(`Node and SDK ${versions}: ${result}; ${summary.join("; ")}; jest ${selection.join(" ")}`);
  if (code !== 0) console.log(excerpt(output, 60));
  return code === 0;
}

/**
 * Runs a cell; where a version cannot be installed or built, prints that its tests did not run.
 * @param {string} copy
 * @param {Cell} cell
 * @param {{ pulumiDir: string, folder: string, selection: string[] }} at
 */
export async function passes(copy, cell, { pulumiDir, folder, selection }) {
  try {
    const nodeDir = await nodeDirectory(cell.node, folder);
    return await runCell(copy, cell, { pulumiDir, nodeDir, selection });
  } catch (error) {
    console.log(`Node ${cell.node} and SDK ${cell.sdk}: NOT RUN; ${errorMessage(error)}`);
    return false;
  }
}

/** @param {string} names As in `oldest,newest`. */
function readSdks(names) {
  const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  const oldest = oldestOf(manifest.peerDependencies["@pulumi/pulumi"]);
  return names.split(",").map((sdk) => (sdk === "oldest" ? oldest : sdk === "newest" ? "3" : sdk));
}

/** @param {string[]} args */
async function main(args) {
  const { values } = parseArgs({
    args,
    options: {
      node: { type: "string", default: "20,22,24" },
      sdk: { type: "string", default: "oldest,newest" },
      tests: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return console.log(USAGE);
  const cli = await ensureReady();
  const sdks = readSdks(values.sdk);
  const selection = ["--selectProjects", "unit", "engine", "package"];
  if (values.tests !== undefined) selection.push("--testPathPatterns", values.tests);
  const failures = await withTemporaryFolder("matrix", async (folder) => {
    const copy = path.join(folder, "checkout");
    mkdirSync(copy);
    await copyCheckout(root, copy);
    await runToSuccess("npm", ["ci", "--include=dev", ...QUIETLY], { cwd: copy });
    let count = 0;
    for (const node of values.node.split(",")) {
      for (const sdk of sdks) {
        const at = { pulumiDir: cli.pulumiDir, folder, selection };
        if (!(await passes(copy, { node, sdk }, at))) count += 1;
      }
    }
    return count;
  });
  return failures === 0 ? 0 : 1;
}

await runScript("matrix", import.meta.filename, main);
