// @ts-check
import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { onEarlyEnd, remove, run } from "./processes.mjs";

/** Where what is downloaded or built for all checkouts is kept. @param {NodeJS.ProcessEnv} env */
export function cacheRoot(env) {
  if (env.PULUMI_PLATFORM_CACHE) return path.resolve(env.PULUMI_PLATFORM_CACHE);
  const caches = env.XDG_CACHE_HOME || path.join(env.HOME || os.homedir(), ".cache");
  return path.resolve(caches, "pulumi-platform");
}

/**
 * Runs `body` with a new folder that is removed afterwards, however the process ends.
 * @template T
 * @param {string} name What the folder is for.
 * @param {(folder: string) => Promise<T>} body
 * @returns {Promise<T>}
 */
export async function withTemporaryFolder(name, body) {
  const folder = mkdtempSync(path.join(os.tmpdir(), `pulumi-platform-${name}-`));
  const discard = onEarlyEnd(() => remove(folder));
  try {
    return await body(folder);
  } finally {
    discard();
  }
}

/**
 * Fills a folder all or nothing: in a temporary folder beside it, then by one rename.
 * @param {string} target
 * @param {(temporary: string) => Promise<void>} fill
 * @param {{ replaces?: boolean }} [options] Whether it takes the place of a folder that is there already.
 */
export async function fillFolder(target, fill, { replaces = false } = {}) {
  mkdirSync(path.dirname(target), { recursive: true });
  const temporary = mkdtempSync(path.join(path.dirname(target), `tmp-${process.pid}-`));
  const discard = onEarlyEnd(() => remove(temporary));
  try {
    await fill(temporary);
    chmodSync(temporary, 0o755);
    if (replaces) remove(target);
    try {
      renameSync(temporary, target);
    } catch (error) {
      // Another process was first.
      if (replaces || !existsSync(target)) throw error;
    }
  } finally {
    discard();
  }
}

/**
 * The files of a folder and of those below it, in a fixed order and without installed packages; of a file, the file itself.
 * @param {string} folder
 * @returns {string[]}
 */
export function filesBelow(folder) {
  if (!statSync(folder).isDirectory()) return [folder];
  return readdirSync(folder)
    .filter((name) => name !== "node_modules")
    .sort()
    .flatMap((name) => filesBelow(path.join(folder, name)));
}

/** A hash of names and contents of files and folders that exist. @param {string} root @param {readonly string[]} names */
export function hashFiles(root, names) {
  const hash = createHash("sha256");
  const existing = names.map((name) => path.join(root, name)).filter((place) => existsSync(place));
  for (const file of existing.flatMap(filesBelow)) {
    const content = readFileSync(file);
    hash.update(`${path.relative(root, file)}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex");
}

/** Copies what git knows, and what it does not ignore. @param {string} root @param {string} folder */
export async function copyCheckout(root, folder) {
  const { stdout } = await run("git", ["ls-files", "-z", "-co", "--exclude-standard"], { cwd: root });
  for (const name of stdout.split("\0").filter((each) => each !== "")) {
    cpSync(path.join(root, name), path.join(folder, name), { force: true });
  }
}
