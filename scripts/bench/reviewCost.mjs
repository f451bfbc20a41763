// @ts-check
import { spawn } from "node:child_process";
import path from "node:path";
import { performance } from "node:perf_hooks";
import { root } from "../setup.mjs";

/** What a review may take, whatever it is given. */
export const MOST_SECONDS = 5;
export const MOST_MEGABYTES = 500;
/** A review that takes this much processor time is ended. */
const LIMIT_SECONDS = 20;

/** The process tells its own peak when it ends; nothing of the command knows of it. */
const hook = `data:text/javascript,${encodeURIComponent(
  'import process from "node:process"; process.on("exit", () => { const used = process.resourceUsage(); process.stderr.write(`\\nused ${used.maxRSS} ${used.userCPUTime + used.systemCPUTime}\\n`); });',
)}`;

/**
 * Reviews a preview in a process of its own.
 * @param {string} preview a path.
 * @returns {Promise<{ code: number | null, cpu: number, seconds: number, megabytes: number, errors: string }>} `cpu`: seconds
 *   of processor time, infinite where the limit ended it.
 */
export async function reviewCost(preview) {
  const cli = path.join(root, "dist", "provider", "cli", "main.js");
  const args = ["--import", hook, cli, "review", preview, "--output", "json", "--exit-zero"];
  const start = performance.now();
  const child = spawn(
    "/bin/sh",
    ["-c", `ulimit -t ${LIMIT_SECONDS}; exec "$0" "$@"`, process.execPath, ...args],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (/** @type {string} */ text) => (errors += text));
  const code = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const [, kilobytes, micros] = /\nused (\d+) (\d+)\n/.exec(errors) ?? [];
  return {
    code,
    cpu: micros === undefined ? Infinity : Number(micros) / 1_000_000,
    megabytes: Math.round(Number(kilobytes ?? 0) / 1000),
    seconds: (performance.now() - start) / 1000,
    errors,
  };
}
