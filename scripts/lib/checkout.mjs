// @ts-check
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { hashFiles } from "./files.mjs";

/** @param {string} file @returns {Record<string, any> | undefined} */
function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** `npm ci` empties node_modules, so what set-up knows is kept beside it. @param {string} root */
const buildFile = (root) => path.join(root, ".cache", "build.json");

/**
 * Why `npm ci` is needed, or nothing. Compares the list that npm writes at the end of an installation with the lockfile,
 * which takes milliseconds; an installation that was interrupted has no such list.
 * @param {string} root
 * @returns {string | undefined}
 */
export function dependencyProblem(root) {
  const installed = readJson(path.join(root, "node_modules", ".package-lock.json"))?.packages;
  if (installed === undefined) return "not installed";
  const locked = readJson(path.join(root, "package-lock.json"))?.packages;
  if (locked === undefined) return "package-lock.json cannot be read";
  for (const [key, entry] of Object.entries(locked)) {
    const found = installed[key];
    // Packages for other platforms are locked but not installed.
    const isLeftOut = found === undefined && (entry.optional || entry.devOptional);
    if (!key.includes("node_modules/") || isLeftOut) continue;
    if (found?.version !== entry.version || found?.integrity !== entry.integrity) {
      return `${key} is not the locked one`;
    }
  }
  return undefined;
}

/** By content: changing branches back and forth needs no build. @param {string} root */
function hashSources(root) {
  const folders = readJson(path.join(root, "tsconfig.build.json"))?.include;
  if (!Array.isArray(folders)) throw new Error("tsconfig.build.json names no folders in `include`");
  const settings = ["package.json", "package-lock.json", "tsconfig.json", "tsconfig.build.json"];
  const compilers = ["scripts/build.mjs", "scripts/lib/validatorCode.mjs"];
  return hashFiles(root, [...settings, ...compilers, ...folders, "examples/reference/resources", "schema"]);
}

/**
 * Why a build is needed, or nothing.
 * @param {string} root
 * @returns {string | undefined}
 */
export function buildProblem(root) {
  const built = readJson(buildFile(root));
  if (!existsSync(path.join(root, "dist"))) return "not built";
  if (built === undefined) return "the last build did not finish here";
  if (built.sources !== hashSources(root)) return "sources changed";
  if (built.outputs !== hashFiles(root, ["dist"])) return "dist/ changed";
  return undefined;
}

/**
 * Notes that a build is under way.
 * @param {string} root
 * @returns {() => void} To be called when the build is complete.
 */
export function beginBuild(root) {
  rmSync(buildFile(root), { force: true });
  // Taken now: a source edited while tsc runs must count as changed afterwards.
  const sources = hashSources(root);
  return () => {
    mkdirSync(path.dirname(buildFile(root)), { recursive: true });
    writeFileSync(buildFile(root), JSON.stringify({ sources, outputs: hashFiles(root, ["dist"]) }));
  };
}
