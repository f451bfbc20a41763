// @ts-check
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fillFolder, hashFiles } from "./lib/files.mjs";
import { withLock } from "./lib/lock.mjs";
import { remove, run, runScript, runToSuccess } from "./lib/processes.mjs";

/*
 * Packs the built package and installs it into a project, once for each content of the package.
 *
 *   node scripts/packedPackage.mjs npm|pnpm
 *
 * prints where the package and the project lie, as JSON. Tests copy the project.
 */

const root = path.dirname(import.meta.dirname);

/** The last pnpm that runs on Node 20. */
const PNPM = "pnpm@10.34.9";
/** What a program needs beside the package. */
const COMPANIONS = ["@pulumi/pulumi", "@types/node", "typescript"];

/** @typedef {"npm" | "pnpm"} PackageManager */

/**
 * @typedef {object} Packed
 * @property {string} version
 * @property {string} filename
 * @property {{ path: string, size: number }[]} files
 */

/**
 * Packs a folder that is built.
 * @param {string} folder
 * @param {string} destination
 * @returns {Promise<Packed>}
 */
async function pack(folder, destination) {
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", destination];
  const stdout = await runToSuccess("npm", args, { cwd: folder });
  const [{ version, filename, files }] = /** @type {[Packed]} */ (Object.values(JSON.parse(stdout)));
  return { version, filename, files };
}

/** The commands by which a package manager adds packages. */
const ADD = {
  npm: ["npm", "install", "--save-exact", "--prefer-offline", "--no-audit", "--no-fund"],
  pnpm: ["npx", "--yes", PNPM, "add", "--save-exact", "--prefer-offline"],
};

/** The version that this checkout is tested with. @param {string} name */
function installedVersion(name) {
  return JSON.parse(readFileSync(path.join(root, "node_modules", name, "package.json"), "utf8")).version;
}

/**
 * @param {PackageManager} manager
 * @param {string} tarball
 * @param {string} folder
 */
async function install(manager, tarball, folder) {
  const companions = COMPANIONS.map((name) => `${name}@${installedVersion(name)}`);
  writeFileSync(path.join(folder, "package.json"), '{ "name": "project", "private": true }\n');
  const [command = "", ...args] = [...ADD[manager], tarball, ...companions];
  const { code, output } = await run(command, args, { cwd: folder });
  if (code === 0) return;
  throw new Error(
    `${manager} ended with ${code}. These tests need the npm registry: can it be reached?\n${output}`,
  );
}

/** What the package consists of. */
const CONTENTS = ["package.json", "package-lock.json", "README.md", "CHANGELOG.md", "LICENSE"];
const FOLDERS = ["actions", "dist", "docs", "examples/ci", "schema", "templates"];

/** @param {string} target @param {(folder: string) => Promise<void>} fill */
const fillOnce = async (target, fill) => existsSync(target) || (await fillFolder(target, fill));

/** @param {PackageManager} manager */
async function preparePackage(manager) {
  const base = path.join(root, ".cache", "package");
  const sdk = installedVersion("@pulumi/pulumi");
  const folder = path.join(base, `${hashFiles(root, [...CONTENTS, ...FOLDERS]).slice(0, 16)}-${sdk}`);
  if (!existsSync(folder) && existsSync(base))
    for (const name of readdirSync(base)) remove(path.join(base, name));
  const archive = path.join(folder, "archive");
  await fillOnce(archive, async (temporary) => {
    writeFileSync(path.join(temporary, "packed.json"), JSON.stringify(await pack(root, temporary)));
  });
  /** @type {Packed} */
  const { version, filename, files } = JSON.parse(readFileSync(path.join(archive, "packed.json"), "utf8"));
  const tarball = path.join(archive, filename);
  const project = path.join(folder, manager);
  await fillOnce(project, async (temporary) => await install(manager, tarball, temporary));
  return { version, tarball, files: files.map(({ path: name }) => name), project };
}

/** @param {string[]} args */
async function main([manager]) {
  if (manager !== "npm" && manager !== "pnpm") throw new Error("usage: packedPackage.mjs npm|pnpm");
  const lock = path.join(root, ".cache", "package.lock");
  console.log(JSON.stringify(await withLock(lock, () => preparePackage(manager), console.error)));
}

await runScript("packedPackage", import.meta.filename, main);
