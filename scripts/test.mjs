// @ts-check
import { spawn } from "node:child_process";
import path from "node:path";
import { ensureReady, root } from "./setup.mjs";
import { errorMessage, runToSuccess } from "./lib/processes.mjs";

/*
 *   npm test                       the tests of every change: some minutes
 *   npm run test:all               everything
 *   npm test -- <paths, options>   arguments of jest, in the mode of `test:all`
 *   npm test -- --sdk 3.216.0      with another version of Pulumi's SDK; the next run installs the locked one again
 */

const seconds = (/** @type {number} */ ms) => `${(ms / 1000).toFixed(1)} s`;

/** Whether the arguments select tests: by a path, a project or a name. @param {string[]} args */
const isSelection = (args) =>
  args.some(
    (arg) => !arg.startsWith("-") || /^(-t|--testNamePattern|--testPathPatterns?|--selectProjects)/.test(arg),
  );

const REMAINDER =
  "left to `npm run test:all`: most of test/engine and test/package, test/examples, test/adversarial, test/scripts, the page of a report in a browser, the jobs of CI, what the package exports, most of the generated cases and faults, and lists, documents and stacks of full size";

/** @param {string[]} args */
async function main(args) {
  const at = args.indexOf("--sdk");
  const [, sdk] = at < 0 ? [] : args.splice(at, 2);
  const isAll = args.includes("--all");
  const passed = args.filter((arg) => arg !== "--all");
  const isQuick = !isAll && !isSelection(passed);
  const start = performance.now();
  const cli = await ensureReady();
  if (sdk !== undefined) {
    const install = ["install", "--no-save", "--no-audit", "--no-fund", `@pulumi/pulumi@${sdk}`];
    await runToSuccess("npm", install, { cwd: root });
    await runToSuccess("npm", ["run", "--silent", "build"], { cwd: root });
  }
  const ready = performance.now();

  const env = {
    ...process.env,
    PATH: [cli.pulumiDir, process.env.PATH].join(path.delimiter),
    PULUMI_PLATFORM_CLI_DIR: cli.pulumiDir,
    PULUMI_PLATFORM_TESTS: isQuick ? "quick" : "all",
  };
  const jest = path.join(root, "node_modules", "jest", "bin", "jest.js");
  // In this process group, so that jest's watch mode can read the terminal.
  // `--ci`: a snapshot is written only by `-u`, by somebody who read it.
  // Each file of tests loads all modules anew. With more memory for new objects, Node collects garbage less often.
  const jestArgs = ["--max-semi-space-size=64", jest, "--ci", ...passed];
  const child = spawn(process.execPath, jestArgs, { cwd: root, env, stdio: "inherit" });
  const signals = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  const code = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exitCode, signal) => resolve(exitCode ?? (signal === "SIGINT" ? 130 : 143)));
  });
  console.error(`set-up ${seconds(ready - start)}, tests ${seconds(performance.now() - ready)}`);
  if (isQuick) console.error(REMAINDER);
  process.exitCode = code;
}

main(process.argv.slice(2)).catch((error) => {
  console.error(`npm test: ${errorMessage(error)}`);
  process.exitCode = 1;
});
