// @ts-check
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { excerpt, messageOf, onEarlyEnd, remove, run, withSignals } from "./lib/processes.mjs";
import { ensureReady, root } from "./setup.mjs";

const USAGE = `Usage: node scripts/matrix.mjs [options]

Runs the tests of every change (unit tests, one life of all kinds, one program of the packed package) in a copy of this
checkout, with each of these versions of Node and of the Pulumi SDK.

  --node 20,22,24        versions of Node, from npm's package "node"; "current": the one that runs this script
  --sdk oldest,newest    versions of @pulumi/pulumi: oldest and newest that package.json supports, or a number
  --projects engine,package,unit
                         projects of jest
  --tests <pattern>      only the test files whose path matches
`;

/** The oldest version of a range such as ">=3.216.0 <4". @param {string} range */
export function oldestOf(range) {
  const version = /^>=(\d+\.\d+\.\d+)/.exec(range)?.[1];
  if (version === undefined) throw new Error(`the range ${range} does not begin with its oldest version`);
  return version;
}

/** @param {string} cwd @param {NodeJS.ProcessEnv} env @param {string} command @param {string[]} args */
async function succeed(cwd, env, command, args) {
  const { code, stdout, output } = await run(command, args, { cwd, env });
  if (code !== 0) throw new Error(`${[command, ...args].join(" ")} ended with ${code}:\n${excerpt(output)}`);
  return stdout;
}

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
  const args = ["install", "--no-save", "--no-audit", "--no-fund", "--prefer-offline", "--prefix", target];
  await succeed(folder, process.env, "npm", [...args, `node@${version}`]);
  return bin;
}

/** Copies what git knows, and what it does not ignore. @param {string} folder */
async function copyCheckout(folder) {
  const names = await succeed(root, process.env, "git", ["ls-files", "-z", "-co", "--exclude-standard"]);
  for (const name of names.split("\0").filter((each) => each !== "")) {
    cpSync(path.join(root, name), path.join(folder, name), { force: true });
  }
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
  const install = ["install", "--no-save", "--no-audit", "--no-fund", "--prefer-offline"];
  await succeed(folder, env, "npm", [...install, `@pulumi/pulumi@${sdk}`]);
  await succeed(folder, env, "npm", ["run", "--silent", "build"]);
  const versions = ["-p", "`${process.version} ${require('@pulumi/pulumi/package.json').version}`"];
  const said = (await succeed(folder, env, "node", versions)).trim();
  const jest = path.join("node_modules", "jest", "bin", "jest.js");
  const { code, output } = await run("node", [jest, ...selection], { cwd: folder, env });
  const summary = output.split("\n").filter((line) => /^(Tests|Test Suites):/.test(line));
  const result = code === 0 ? "passed" : "FAILED";
  console.log(`Node and SDK ${said}: ${result}; ${summary.join("; ")}; jest ${selection.join(" ")}`);
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
    console.log(`Node ${cell.node} and SDK ${cell.sdk}: NOT RUN; ${messageOf(error)}`);
    return false;
  }
}

async function main() {
  const { values } = parseArgs({
    options: {
      node: { type: "string", default: "20,22,24" },
      sdk: { type: "string", default: "oldest,newest" },
      projects: { type: "string", default: "unit,engine,package" },
      tests: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return console.log(USAGE);
  const cli = await ensureReady();
  if (cli === undefined) throw new Error("there is no Pulumi CLI");
  const range = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")).peerDependencies[
    "@pulumi/pulumi"
  ];
  const sdks = values.sdk
    .split(",")
    .map((sdk) => (sdk === "oldest" ? oldestOf(range) : sdk === "newest" ? "3" : sdk));
  const selection = ["--selectProjects", ...values.projects.split(",")];
  if (values.tests !== undefined) selection.push("--testPathPatterns", values.tests);
  const folder = mkdtempSync(path.join(os.tmpdir(), "pulumi-platform-matrix-"));
  const discard = onEarlyEnd(() => remove(folder));
  let failures = 0;
  try {
    const copy = path.join(folder, "checkout");
    mkdirSync(copy);
    await copyCheckout(copy);
    await succeed(copy, process.env, "npm", [
      "ci",
      "--include=dev",
      "--no-audit",
      "--no-fund",
      "--prefer-offline",
    ]);
    for (const node of values.node.split(",")) {
      for (const sdk of sdks) {
        const at = { pulumiDir: cli.pulumiDir, folder, selection };
        if (!(await passes(copy, { node, sdk }, at))) failures += 1;
      }
    }
  } finally {
    discard();
  }
  process.exitCode = failures === 0 ? 0 : 1;
}

if (process.argv[1] === import.meta.filename) {
  withSignals(main).catch((error) => {
    console.error(`matrix: ${messageOf(error)}`);
    process.exitCode = 1;
  });
}
