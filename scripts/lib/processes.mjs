// @ts-check
import { spawn } from "node:child_process";
import { once } from "node:events";
import { realpathSync, rmSync } from "node:fs";
import os from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

/** @type {Set<number>} Leaders of the process groups that are running. */
const groups = new Set();
/** @type {Set<() => void>} What must not be left behind, however the process ends. */
const cleanups = new Set();

/**
 * Has `cleanup` run when the process ends early. Returns a function that runs it now instead.
 * @param {() => void} cleanup
 */
export function onEarlyEnd(cleanup) {
  cleanups.add(cleanup);
  return () => {
    if (cleanups.delete(cleanup)) cleanup();
  };
}

/** @param {string} path */
export function remove(path) {
  rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

function cleanUp() {
  for (const cleanup of [...cleanups].reverse()) {
    cleanups.delete(cleanup);
    try {
      cleanup();
    } catch (error) {
      console.error(`could not clean up: ${errorMessage(error)}`);
    }
  }
}

/** @param {unknown} error */
export function errorMessage(error) {
  return error instanceof Error ? error.message : String(error);
}

/**
 * @param {number} leader
 * @param {NodeJS.Signals | 0} signal
 */
function signalGroup(leader, signal) {
  try {
    process.kill(process.platform === "win32" ? leader : -leader, signal);
    return true;
  } catch {
    return false;
  }
}

/**
 * @param {number} leader
 * @param {NodeJS.Signals} signal
 */
async function endGroup(leader, signal) {
  signalGroup(leader, signal);
  for (let waited = 0; waited < 3000; waited += 50) {
    if (!signalGroup(leader, 0)) return;
    await sleep(50);
  }
  signalGroup(leader, "SIGKILL");
}

/**
 * Runs `body`; when SIGINT, SIGTERM or SIGHUP arrives meanwhile, ends every child with its whole process
 * group, cleans up and exits with 128 + the signal's number.
 * @template T
 * @param {() => Promise<T>} body
 * @returns {Promise<T>}
 */
export async function withSignals(body) {
  /** @type {NodeJS.Signals[]} */
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  let ending = false;
  /** @param {NodeJS.Signals} signal */
  const stop = async (signal) => {
    if (ending) return;
    ending = true;
    console.error(`\nstopping (${signal})`);
    await Promise.all([...groups].map((leader) => endGroup(leader, signal)));
    cleanUp();
    process.exit(128 + os.constants.signals[signal]);
  };
  for (const signal of signals) process.on(signal, stop);
  process.on("exit", cleanUp);
  try {
    return await body();
  } catch (error) {
    // A child that died of our own signal looks like a failed step: `stop` has the last word.
    if (ending) await new Promise(() => {});
    throw error;
  } finally {
    for (const signal of signals) process.off(signal, stop);
    process.off("exit", cleanUp);
  }
}

/**
 * @typedef {object} RunOptions
 * @property {string} [cwd]
 * @property {NodeJS.ProcessEnv} [env]
 * @property {number} [timeoutMs]
 * @property {"capture" | "inherit"} [output]
 * @property {(pid: number) => void} [started] Gets the process id, which is also that of its group.
 *
 * @typedef {object} RunResult
 * @property {number} code The exit code; 1 when it ended by a signal.
 * @property {boolean} timedOut
 * @property {string} stdout
 * @property {string} output Standard output and error, as they came.
 */

/** @param {string} command @param {string[]} args @param {RunOptions} options */
function start(command, args, { cwd, env = process.env, output = "capture" }) {
  const windows = process.platform === "win32";
  const stream = output === "capture" ? "pipe" : "inherit";
  return spawn(command, args, {
    cwd,
    env,
    stdio: ["ignore", stream, stream],
    detached: !windows,
    // npm is a batch file there.
    shell: windows && command === "npm",
  });
}

/**
 * Runs a command in a process group of its own, so that all it started ends with it.
 * @param {string} command
 * @param {string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<RunResult>}
 */
export async function run(command, args, options = {}) {
  const child = start(command, args, options);
  const leader = child.pid;
  if (leader !== undefined) {
    groups.add(leader);
    options.started?.(leader);
  }
  const result = { code: 1, timedOut: false, stdout: "", output: "" };
  child.stdout?.setEncoding("utf8").on("data", (/** @type {string} */ text) => {
    result.stdout += text;
    result.output += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (/** @type {string} */ text) => (result.output += text));
  const timer =
    options.timeoutMs &&
    setTimeout(() => {
      result.timedOut = true;
      if (leader !== undefined) void endGroup(leader, "SIGTERM");
    }, options.timeoutMs);
  try {
    const [code] = await once(child, "close");
    return { ...result, code: code ?? 1 };
  } catch (error) {
    const isMissing = /** @type {NodeJS.ErrnoException} */ (error).code === "ENOENT";
    throw isMissing ? new Error(`${command} was not found`) : error;
  } finally {
    clearTimeout(timer);
    if (leader !== undefined) groups.delete(leader);
  }
}

/** The output of a command that must succeed. @param {string} command @param {string[]} args @param {RunOptions} [options] */
export async function runToSuccess(command, args, options) {
  const { code, stdout, output } = await run(command, args, options);
  if (code !== 0) throw new Error(`${[command, ...args].join(" ")} ended with ${code}:\n${excerpt(output)}`);
  return stdout;
}

/**
 * Runs `main` with the arguments, where the module is the script that was started.
 * @param {string} name What stands before an error.
 * @param {string} file The module: `import.meta.filename`.
 * @param {(args: string[]) => Promise<number | void>} main Returns the exit code.
 */
export async function runScript(name, file, main) {
  if (process.argv[1] === undefined || realpathSync(process.argv[1]) !== realpathSync(file)) return;
  try {
    const code = await withSignals(() => main(process.argv.slice(2)));
    if (code !== undefined) process.exitCode = code;
  } catch (error) {
    console.error(`${name}: ${errorMessage(error)}`);
    process.exitCode = 1;
  }
}

/** How many lines of a captured output go into an error message: some tools name the cause first, others last. */
const SHOWN_LINES = 30;

/** @param {string} output */
export function excerpt(output) {
  const all = output.trim().split("\n");
  if (all.length <= 2 * SHOWN_LINES) return all.join("\n");
  return [...all.slice(0, SHOWN_LINES), "...", ...all.slice(-SHOWN_LINES)].join("\n");
}
