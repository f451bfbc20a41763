// @ts-check
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { onEarlyEnd } from "./processes.mjs";

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}

/** Whether the file was made, by this process. @param {string} file */
function take(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "EEXIST") return false;
    throw error;
  }
}

/** The process that holds a lock; undefined if it is free meanwhile. @param {string} file */
function holderOf(file) {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/**
 * Runs `body` while holding the lock `file`, which names the process. Takes over that of a process that was killed.
 * @template T
 * @param {string} file
 * @param {() => Promise<T>} body
 * @param {(line: string) => void} log
 * @returns {Promise<T>}
 */
export async function withLock(file, body, log) {
  mkdirSync(path.dirname(file), { recursive: true });
  let hasReported = false;
  while (!take(file)) {
    const holder = holderOf(file);
    // An empty file: the other process has just made it, and writes its number.
    if (holder !== undefined && holder > 0 && !isAlive(holder)) rmSync(file, { force: true });
    else {
      if (!hasReported) log(`waiting for process ${holder}, which holds ${file}`);
      hasReported = true;
      await sleep(100);
    }
  }
  const release = onEarlyEnd(() => rmSync(file, { force: true }));
  try {
    return await body();
  } finally {
    release();
  }
}
