// @ts-check
import {
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { randomBytes } from "node:crypto";
import os from "node:os";
import path from "node:path";
import { clearInterval, setInterval } from "node:timers";
import { setTimeout as sleep } from "node:timers/promises";
import { onEarlyEnd } from "./processes.mjs";

/** How long a holder may go without a sign of life. */
const SILENT_MS = 60_000;
const SIGN_OF_LIFE_MS = 5_000;

/** @param {number} pid */
export function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}

/**
 * @param {string} file
 * @returns {{ text: string, stale: boolean, holder: string } | undefined} Nothing when there is no lock.
 */
export function inspectLock(file) {
  let text;
  let ageMs;
  try {
    text = readFileSync(file, "utf8");
    ageMs = Date.now() - statSync(file).mtimeMs;
  } catch {
    return undefined;
  }
  const [pid, host] = text.split(" ");
  const number = Number(pid);
  // A process id means nothing on another machine, and an old one may have been given out again.
  const dead = host === os.hostname() && Number.isInteger(number) && number > 0 && !isAlive(number);
  return { text, stale: dead || ageMs > SILENT_MS, holder: `process ${pid || "unknown"}` };
}

/** @param {string} file @param {string} text */
function create(file, text) {
  try {
    writeFileSync(file, text, { flag: "wx" });
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "EEXIST") return false;
    throw error;
  }
}

/** @param {string} file @param {string} text */
function removeStale(file, text) {
  const aside = `${file}.${randomBytes(4).toString("hex")}`;
  try {
    renameSync(file, aside);
    // Another process was quicker and this is its fresh lock: put it back.
    if (readFileSync(aside, "utf8") !== text) linkSync(aside, file);
  } catch {
    // Gone already, or taken again: the next attempt decides.
  }
  rmSync(aside, { force: true });
}

/**
 * Runs `body` while holding the lock `file`.
 * @template T
 * @param {string} file
 * @param {() => Promise<T>} body
 * @param {{ onWait?: (holder: string) => void, pollMs?: number }} [options]
 * @returns {Promise<T>}
 */
export async function withLock(file, body, options = {}) {
  mkdirSync(path.dirname(file), { recursive: true });
  const mine = `${process.pid} ${os.hostname()} ${randomBytes(8).toString("hex")}`;
  let hasReported = false;
  while (!create(file, mine)) {
    const found = inspectLock(file);
    if (found === undefined) continue;
    if (found.stale) {
      removeStale(file, found.text);
      continue;
    }
    if (!hasReported) options.onWait?.(found.holder);
    hasReported = true;
    await sleep(options.pollMs ?? 300);
  }
  const release = onEarlyEnd(() => {
    if (inspectLock(file)?.text === mine) rmSync(file, { force: true });
  });
  const signOfLife = setInterval(() => {
    try {
      utimesSync(file, new Date(), new Date());
    } catch {
      // Somebody removed it; the rename at the end of a build copes with two builders.
    }
  }, SIGN_OF_LIFE_MS);
  signOfLife.unref();
  try {
    return await body();
  } finally {
    clearInterval(signOfLife);
    release();
  }
}
