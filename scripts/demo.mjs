// @ts-check
import { randomBytes } from "node:crypto";
import path from "node:path";
import { performance } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { startEmulatorProcess } from "./lib/emulator.mjs";
import { withTemporaryFolder } from "./lib/files.mjs";
import { runScript } from "./lib/processes.mjs";
import { PASSPHRASE, quickProcesses } from "./lib/stack.mjs";
import { ensureReady, root } from "./setup.mjs";
import { stepsOf } from "./demo/scenario.mjs";
import { Server } from "./demo/server.mjs";
import { TourStack } from "./demo/stack.mjs";
import { printChecks, runSteps } from "./demo/steps.mjs";
import { formatCount, heading, paint, print, say, formatSeconds } from "./demo/terminal.mjs";
import { Tour } from "./demo/tour.mjs";

const usage = `Usage: npm run demo -- [options]

Deploys an example with the real Pulumi CLI against an emulator of the API on this computer, changes it,
has it changed by hand and repairs it, reviews a risky change (the page stays as demo-review.html), holds
an update to its approved report, finds a grant made by hand, adopts what is there by a new stack, deletes it, and checks each step at the server.

  --keep      keep the temporary folder: program, state, and what the emulator held
  --verbose   show all that the Pulumi CLI prints
  --help      show this text
`;

/**
 * @param {import("./lib/pulumiCache.mjs").PulumiCli} cli
 * @param {string} folder
 * @param {{ keep: boolean, verbose: boolean }} options
 * @returns {Promise<boolean>} Whether every check holds.
 */
async function demonstrate(cli, folder, { keep, verbose }) {
  const start = performance.now();
  const token = randomBytes(24).toString("base64url");
  const redact = (/** @type {string} */ text) => text.replaceAll(token, "***");
  let interrupted = false;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => (interrupted = true));
  // withSignals ends the process.
  const unlessInterrupted = () => (interrupted ? new Promise(() => {}) : Promise.resolve());
  const dataFile = path.join(folder, "emulator.json");
  const emulator = await startEmulatorProcess(root, ["--data", dataFile], { PLATFORM_TOKEN: token });
  const server = new Server(emulator);
  try {
    introduce(cli, server);
    const example = path.join(root, "examples", "getting-started");
    const stack = new TourStack({ folder, root, example, cli, env: quickProcesses(root), server });
    const steps = stepsOf(new Tour(stack, server, { verbose, redact }));
    const runs = await runSteps(steps, { redact, unlessInterrupted });
    await emulator.stop();
    printChecks(steps, runs);
    const good = printResult(steps, runs, performance.now() - start);
    if (keep) printKept(folder, server.url);
    if (good) printRealDeployment();
    else if (!verbose) say("Run it again with --verbose --keep to look into it.");
    return good;
  } finally {
    await emulator.stop();
  }
}

/** @param {import("./lib/pulumiCache.mjs").PulumiCli} cli @param {Server} server */
function introduce(cli, server) {
  heading("Access and registry configuration as code: a tour of pulumi-platform");
  say(
    "A Pulumi program declares groups, identities, roles, who holds which role where, and repositories. " +
      "This tour runs one against an emulator of the Platform API: nothing outside this computer is touched.",
  );
  print();
  print(`Pulumi CLI  ${cli.version}, with its state in a temporary folder`);
  print(`Emulator    ${server.url} ${paint("dim", "(pulumi-platform emulator)")}`);
  print("Environment PLATFORM_BASE_URL is its address, PLATFORM_TOKEN a random token");
  print(paint("dim", "Where a request shows <name>, it carried the uid of that resource."));
}

/**
 * @param {import("./demo/steps.mjs").Step[]} steps
 * @param {(import("./demo/steps.mjs").StepRun | undefined)[]} runs
 * @param {number} ms
 */
function printResult(steps, runs, ms) {
  const checks = runs.flatMap((run) => run?.checks ?? []);
  const failed = checks.filter(({ holds }) => !holds).length;
  const notRun = runs.filter((run) => run === undefined).length;
  const good = failed === 0 && notRun === 0 && checks.length > 0;
  const verdict = good
    ? paint("green", `All ${formatCount(checks.length, "check")} hold`)
    : paint("red", `${failed} of ${formatCount(checks.length, "check")} failed`);
  const rest = notRun === 0 ? "" : `; ${formatCount(notRun, "step")} not run`;
  print();
  print(`${verdict}${rest}. ${formatCount(steps.length, "step")}, ${formatSeconds(ms)} in all.`);
  return good;
}

/** @param {string} folder @param {string} url */
function printKept(folder, url) {
  heading("Kept");
  print(folder);
  print("  organisation/   the program and settings of the stack that adopted");
  print("  program/        the program after the edit, and the settings of its stack");
  print(`  backend/        Pulumi's state, file backend, passphrase “${PASSPHRASE}”`);
  print("  emulator.json   what the emulator held at the end; to serve it again:");
  print(
    `    node dist/provider/cli/main.js emulator --port ${new URL(url).port} --data ${path.join(folder, "emulator.json")}`,
  );
}

function printRealDeployment() {
  heading("The same program against a real deployment");
  const lines = [
    ["npm install pulumi-platform", "in the folder of your program"],
    ["export PLATFORM_BASE_URL=https://…", "the address of its API"],
    ["export PLATFORM_TOKEN=…", "an access token"],
    ["pulumi up", ""],
  ];
  for (const [command = "", note = ""] of lines) {
    print(`${paint("cyan", command.padEnd(46))}${paint("dim", note)}`.trimEnd());
  }
}

/** @param {string[]} args */
async function main(args) {
  const flag = { type: /** @type {const} */ ("boolean"), default: false };
  const { values } = parseArgs({
    args,
    options: { keep: flag, verbose: flag, help: { ...flag, short: "h" } },
  });
  if (values.help) return console.log(usage);
  const cli = await ensureReady();
  if (cli === undefined) throw new Error("there is no Pulumi CLI");
  const { keep, verbose } = values;
  const good = await withTemporaryFolder("demo", (folder) => demonstrate(cli, folder, { keep, verbose }), {
    keep,
  });
  return good ? 0 : 1;
}

await runScript("demo", import.meta.filename, main);
