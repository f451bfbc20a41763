// @ts-check
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";

/** @typedef {Record<string, any>} Json */

/** @param {string} file @returns {Json | undefined} */
function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** @param {string} file @param {unknown} value */
function writeJson(file, value) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(value)}\n`);
}

/** The state of a checkout that lies outside what it describes: `npm ci` empties node_modules. */
const stateDir = (/** @type {string} */ root) => path.join(root, ".cache");
const installingFile = (/** @type {string} */ root) => path.join(stateDir(root), "npm-ci-running");
const buildFile = (/** @type {string} */ root) => path.join(stateDir(root), "build.json");
const installedFile = (/** @type {string} */ root) =>
  path.join(root, "node_modules", ".pulumi-platform-setup");

/** @param {string} root */
export const checkoutLock = (root) => path.join(stateDir(root), "set-up.lock");

const dependencyFields = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];

/** @param {Json} one @param {Json} other */
function asksTheSame(one, other) {
  return dependencyFields.every((field) => {
    const sorted = (/** @type {Json} */ manifest) =>
      JSON.stringify(Object.entries(manifest[field] ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)));
    return sorted(one) === sorted(other);
  });
}

/** @param {string} root @param {string[]} patterns */
function workspaceFolders(root, patterns) {
  return patterns.flatMap((pattern) => {
    if (!pattern.endsWith("/*")) return [pattern];
    const parent = pattern.slice(0, -2);
    return list(path.join(root, parent)).map((name) => `${parent}/${name}`);
  });
}

/** @param {string} folder */
function list(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/**
 * Why `npm ci` is needed, or nothing. Compares what is installed with the lockfile, package by package, so
 * that dependencies somebody installed by hand count too. Takes milliseconds: no npm is started.
 * @param {string} root
 * @returns {string | undefined}
 */
export function dependencyProblem(root) {
  if (existsSync(installingFile(root))) return "the last installation did not finish";
  const installed = readJson(path.join(root, "node_modules", ".package-lock.json"))?.packages;
  if (installed === undefined) return "not installed";
  const manifest = readJson(path.join(root, "package.json")) ?? {};
  const locked = readJson(path.join(root, "package-lock.json"))?.packages;
  if (locked === undefined) return "package-lock.json cannot be read";

  if (!asksTheSame(manifest, locked[""] ?? {})) return "package.json changed";
  for (const folder of workspaceFolders(root, manifest.workspaces ?? [])) {
    const workspace = readJson(path.join(root, folder, "package.json"));
    if (workspace === undefined) continue;
    if (!asksTheSame(workspace, locked[folder] ?? {})) return `${folder}/package.json changed`;
  }

  const isPackage = (/** @type {string} */ key) => /(^|\/)node_modules\//.test(key);
  const identity = (/** @type {Json} */ entry) =>
    [entry.version, entry.integrity, entry.link ? entry.resolved : ""].join(" ");
  for (const [key, entry] of Object.entries(locked)) {
    if (!isPackage(key)) continue;
    const found = installed[key];
    if (found === undefined) {
      // Packages for other platforms are locked but not installed.
      if (entry.optional || entry.devOptional) continue;
      return `${key} is missing`;
    }
    if (identity(found) !== identity(entry)) return `${key} is not the locked one`;
  }
  for (const key of Object.keys(installed)) {
    if (!isPackage(key)) continue;
    if (locked[key] === undefined) return `${key} is not in package-lock.json`;
    if (!existsSync(path.join(root, key, "package.json"))) return `${key} is missing`;
  }

  const by = readJson(installedFile(root));
  if (by !== undefined && JSON.stringify(by) !== JSON.stringify(installer())) {
    return `installed for Node ${by.node} on ${by.platform}-${by.arch}`;
  }
  return undefined;
}

function installer() {
  return {
    node: process.versions.node.split(".")[0],
    platform: process.platform,
    arch: process.arch,
  };
}

/** @param {string} root */
export function beginInstall(root) {
  const hidden = path.join(root, "node_modules", ".package-lock.json");
  const written = () => statSync(hidden, { throwIfNoEntry: false })?.mtimeMs;
  const before = written();
  writeJson(installingFile(root), {});
  return {
    /** @param {boolean} successful */
    end(successful) {
      if (successful) noteInstaller(root);
      // An npm that refuses, say because package.json and the lockfile differ, does so before it deletes.
      else if (before === undefined || written() !== before) return;
      rmSync(installingFile(root), { force: true });
    },
  };
}

/** Notes which Node the dependencies are for, unless that is known. @param {string} root */
export function noteInstaller(root) {
  if (existsSync(installedFile(root)) && readJson(installedFile(root)) !== undefined) return;
  writeJson(installedFile(root), installer());
}

/**
 * @param {string} folder
 * @param {(file: string, relative: string) => void} visit
 */
function walk(folder, visit, relative = "") {
  let entries;
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    return;
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const below = path.join(folder, entry.name);
    const name = relative === "" ? entry.name : `${relative}/${entry.name}`;
    if (entry.isDirectory()) walk(below, visit, name);
    else visit(below, name);
  }
}

/** By content: changing branches back and forth needs no build. @param {string} root */
export function fingerprintSources(root) {
  const hash = createHash("sha256");
  const add = (/** @type {string} */ file, /** @type {string} */ name) => {
    const content = existsSync(file) ? readFileSync(file) : Buffer.from("");
    hash.update(`${name}\0${content.length}\0`).update(content);
  };
  const compilers = ["scripts/validators.mjs", "scripts/lib/validatorCode.mjs"];
  for (const name of [
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "tsconfig.build.json",
    ...compilers,
  ]) {
    add(path.join(root, name), name);
  }
  const folders = readJson(path.join(root, "tsconfig.build.json"))?.include;
  if (!Array.isArray(folders)) throw new Error("tsconfig.build.json names no folders in `include`");
  for (const folder of [...folders, "schema"]) walk(path.join(root, folder), add, folder);
  return hash.digest("hex");
}

/** What the package consists of, and what it is installed with. @param {string} root */
export function fingerprintPackage(root) {
  const hash = createHash("sha256").update(JSON.stringify(installer()));
  const add = (/** @type {string} */ file, /** @type {string} */ name) => {
    const content = readFileSync(file);
    hash.update(`${name}\0${content.length}\0`).update(content);
  };
  for (const name of ["package.json", "package-lock.json", "README.md", "CHANGELOG.md", "LICENSE"]) {
    add(path.join(root, name), name);
  }
  for (const folder of ["dist", "docs", "schema"]) walk(path.join(root, folder), add, folder);
  return hash.digest("hex");
}

/** By size and time: enough to see an output that was deleted or written by something else. @param {string} root */
export function fingerprintOutputs(root) {
  const hash = createHash("sha256");
  let files = 0;
  walk(path.join(root, "dist"), (file, name) => {
    const { size, mtimeMs } = statSync(file);
    hash.update(`${name}\0${size}\0${mtimeMs}\n`);
    files += 1;
  });
  return files === 0 ? "none" : hash.digest("hex");
}

/**
 * Why a build is needed, or nothing.
 * @param {string} root
 * @returns {string | undefined}
 */
export function buildProblem(root) {
  const built = readJson(buildFile(root));
  const outputs = fingerprintOutputs(root);
  if (outputs === "none") return "not built";
  if (built === undefined) return "the last build did not finish here";
  if (built.sources !== fingerprintSources(root)) return "sources changed";
  if (built.outputs !== outputs) return "dist/ changed";
  return undefined;
}

/**
 * Removes the old build: tsc leaves the outputs of deleted sources behind.
 * @param {string} root
 * @returns {() => void} To be called when the new build is complete.
 */
export function beginBuild(root) {
  rmSync(buildFile(root), { force: true });
  rmSync(path.join(root, "dist"), { recursive: true, force: true });
  // Taken now: a source edited while tsc runs must count as changed afterwards.
  const sources = fingerprintSources(root);
  return () => writeJson(buildFile(root), { sources, outputs: fingerprintOutputs(root) });
}
