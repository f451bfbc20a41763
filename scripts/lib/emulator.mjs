// @ts-check
import { createRequire } from "node:module";
import path from "node:path";
import { withTemporaryFolder } from "./files.mjs";
import { Stack } from "./stack.mjs";

const load = createRequire(import.meta.url);

/**
 * Runs `body` with a new emulator and a program's stack on it, in a temporary folder, and stops the emulator after it.
 * @template T
 * @param {string} name of the folder
 * @param {Pick<import("./stack.mjs").StackOptions, "root" | "example" | "cli" | "packages"> & { emulator?: object, env?: NodeJS.ProcessEnv | ((emulator: any) => Promise<NodeJS.ProcessEnv>) }} options
 * @param {(stack: Stack, emulator: any) => Promise<T>} body
 */
export const withStack = (name, { emulator: settings, env, ...options }, body) =>
  withTemporaryFolder(name, async (folder) => {
    const { startEmulator } = load(path.join(options.root, "dist", "emulator", "index.js"));
    const emulator = await startEmulator(settings);
    try {
      const variables = typeof env === "function" ? await env(emulator) : env;
      return await body(new Stack({ ...options, folder, env: variables, server: emulator }), emulator);
    } finally {
      await emulator.close();
    }
  });

/**
 * Sends a request to an emulator as anybody with a token could, and returns what it answers.
 * @param {{ url: string, token: string }} emulator
 * @param {string} method @param {string} target @param {unknown} [body]
 */
export async function sendTo({ url, token }, method, target, body) {
  const response = await fetch(url + target, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${target}: HTTP ${response.status}`);
  return JSON.parse((await response.text()) || "{}");
}
