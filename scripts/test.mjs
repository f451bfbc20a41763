// @ts-check
import { spawn } from "node:child_process";
import path from "node:path";
import { ensureReady, root } from "./setup.mjs";
import { messageOf } from "./lib/processes.mjs";

const seconds = (/** @type {number} */ ms) => `${(ms / 1000).toFixed(1)} s`;

/** @param {string[]} args */
async function main(args) {
  const start = performance.now();
  const cli = await ensureReady({ skipCli: args.includes("--skip-cli") });
  const ready = performance.now();

  const env = { ...process.env };
  if (cli !== undefined) {
    env.PATH = [cli.pulumiDir, env.PATH].join(path.delimiter);
    env.PULUMI_PLATFORM_CLI_DIR = cli.pulumiDir;
  }
  const jest = path.join(root, "node_modules", "jest", "bin", "jest.js");
  const passed = args.filter((arg) => arg !== "--skip-cli");
  // In this process group, so that jest's watch mode can read the terminal.
  const child = spawn(process.execPath, [jest, ...passed], { cwd: root, env, stdio: "inherit" });
  const signals = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  const code = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exitCode, signal) => resolve(exitCode ?? (signal === "SIGINT" ? 130 : 143)));
  });
  console.error(`tests: set-up ${seconds(ready - start)}, jest ${seconds(performance.now() - ready)}`);
  process.exitCode = code;
}

main(process.argv.slice(2)).catch((error) => {
  console.error(`npm test: ${messageOf(error)}`);
  process.exitCode = 1;
});
