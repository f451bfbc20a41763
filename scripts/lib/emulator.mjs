// @ts-check
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import path from "node:path";
import { createInterface } from "node:readline";
import { withTemporaryFolder } from "./files.mjs";
import { onEarlyEnd } from "./processes.mjs";
import { cleanEnvironment, Stack } from "./stack.mjs";

const START_MS = 30_000;

/**
 * Starts the emulator of a checkout in this process.
 * @param {string} root of the checkout, which is built @param {object} [options] @returns {Promise<any>}
 */
export function startEmulator(root, options) {
  return createRequire(import.meta.url)(path.join(root, "dist", "emulator", "index.js")).startEmulator(
    options,
  );
}

/**
 * Runs `body` with a new emulator and a program's stack on it, in a temporary folder, and stops the emulator after it.
 * @template T
 * @param {string} name of the folder
 * @param {Pick<import("./stack.mjs").StackOptions, "root" | "example" | "cli" | "packages"> & { emulator?: object, env?: NodeJS.ProcessEnv | ((emulator: any) => Promise<NodeJS.ProcessEnv>) }} options
 * @param {(stack: Stack, emulator: any) => Promise<T>} body
 */
export const withStack = (name, { emulator: settings, env, ...options }, body) =>
  withTemporaryFolder(name, async (folder) => {
    const emulator = await startEmulator(options.root, settings);
    try {
      const variables = typeof env === "function" ? await env(emulator) : env;
      return await body(new Stack({ ...options, folder, env: variables, server: emulator }), emulator);
    } finally {
      await emulator.close();
    }
  });

/**
 * Starts the emulator as a user does, in a process of its own, and waits until it listens.
 * @param {string} root of the checkout @param {string[]} args @param {NodeJS.ProcessEnv} [env] Further variables.
 * @returns {Promise<{ url: string, token: string, rootUid: string, stop: () => Promise<void> }>}
 */
export async function startEmulatorProcess(root, args, env) {
  const main = path.join(root, "dist", "provider", "cli", "main.js");
  const child = spawn(process.execPath, [main, "emulator", "--port", "0", "--format", "json", ...args], {
    env: { ...cleanEnvironment(process.env), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (/** @type {string} */ text) => (errors += text));
  child.once(
    "exit",
    onEarlyEnd(() => child.kill("SIGKILL")),
  );
  const signal = AbortSignal.timeout(START_MS);
  const line = await Promise.race([
    once(createInterface({ input: child.stdout }), "line", { signal }).then(([text]) => String(text)),
    once(child, "close", { signal }).then(() => undefined),
  ]);
  if (line === undefined) throw new Error(`the emulator did not start: ${errors.trim()}`);
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  };
  // It does not print a token that it was given.
  return { token: env?.PLATFORM_TOKEN, ...JSON.parse(line), stop };
}
