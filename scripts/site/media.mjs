// @ts-check
import { appendFileSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { obtainBrowser } from "../lib/browser.mjs";
import { withStack } from "../lib/emulator.mjs";
import { withTemporaryFolder } from "../lib/files.mjs";
import { QUICK_PROCESSES } from "../lib/quickProcesses.cjs";

/** @typedef {import("../lib/stack.mjs").Stack} Stack */

/** A grant of `owner`, which the pull request of the example adds. */
const CHANGE = `
const owner = getRole({ name: "owner", builtIn: true });
new RoleBinding("deployer-owns-team", {
  parentUid: team.id,
  identityUid: deployer.id,
  roleUid: owner.then((role) => role.uid),
});
`;

const PULL_REQUEST = ["--commit", "4f1c2d9a7b3e8056", "--pull-request", "42"];

/** The program of the quick start. @param {string} root @param {string} folder */
function writeProgram(root, folder) {
  const program = path.join(folder, "example");
  mkdirSync(program);
  for (const name of ["index.ts", "tsconfig.json"])
    copyFileSync(path.join(root, "templates", "typescript", name), path.join(program, name));
  writeFileSync(path.join(program, "Pulumi.yaml"), "name: acme\nruntime: nodejs\n");
  writeFileSync(path.join(program, "package.json"), '{ "name": "acme", "main": "index.ts" }\n');
  return program;
}

/**
 * Runs a command, and keeps what it prints.
 * @param {Stack} stack @param {string} command @param {number[]} [expected] Exit codes.
 * @returns {Promise<{ command: string, output: string }>}
 */
async function record(stack, command, expected) {
  const { output } = await stack.type(command, { expected });
  // Progress dots, and the address of a state in a temporary folder, which no reader has.
  return { command, output: output.replace(/^(@ updating.*|Permalink: .*)\n?/gm, "").trimEnd() };
}

/**
 * Applies the program, adds a grant to it, and reviews that.
 * @param {Stack} stack @param {string} rootUid @returns {Promise<Awaited<ReturnType<typeof record>>[]>} What the recording shows.
 */
async function reviewChange(stack, rootUid) {
  await stack.succeed(["stack", "init", "prod"]);
  await stack.succeed(["config", "set", "rootUid", rootUid]);
  await stack.succeed(["config", "set", "platform:baseUrl", stack.env["PLATFORM_BASE_URL"] ?? ""]);
  const up = await record(stack, "pulumi up --yes --skip-preview --suppress-permalink");
  const inventory = await record(
    stack,
    'npx --no pulumi-platform inventory --root "$PLATFORM_ROOT_GROUP" -o json=inventory.json',
  );
  appendFileSync(path.join(stack.program, "index.ts"), CHANGE);
  const preview = await record(stack, "pulumi preview --json --show-sames > preview.json");
  const review = await record(
    stack,
    "npx --no pulumi-platform review preview.json --inventory inventory.json",
    [5],
  );
  const formats = "-o html=report.html -o md=comment.md";
  const inputs = "preview.json --inventory inventory.json";
  await record(stack, `npx --no pulumi-platform review ${inputs} ${PULL_REQUEST.join(" ")} ${formats}`, [5]);
  return [up, inventory, preview, review];
}

const WIDTH = 100;
const HEIGHT = 30;
/** Seconds between two keys, before a line of output, and after a command. */
const KEY = 0.03;
const LINE = 0.05;
const PAUSE = 1.2;

/**
 * A recording of commands and their output in the format asciicast 2. The times are those of a quick typist, not those of
 * the machine that ran the commands.
 * @param {readonly { command: string, output: string }[]} steps
 */
function recordingOf(steps) {
  let time = 0.5;
  /** @type {[number, "o", string][]} */
  const events = [];
  const print = (/** @type {number} */ delay, /** @type {string} */ text) => {
    time += delay;
    events.push([Number(time.toFixed(3)), "o", text]);
  };
  for (const { command, output } of steps) {
    print(0, "\u001B[32m$\u001B[0m ");
    for (const key of command) print(KEY, key);
    print(PAUSE / 2, "\r\n");
    const lines = output.trim() === "" ? [] : output.trimEnd().split("\n");
    for (const line of lines) print(LINE, `${line}\r\n`);
    print(PAUSE, "");
  }
  const header = { version: 2, width: WIDTH, height: HEIGHT, title: "The review of a change" };
  return [header, ...events].map((line) => `${JSON.stringify(line)}\n`).join("");
}

/**
 * Makes what the first page shows of real runs against the emulator: a recording, a report, and a comment.
 * @param {{ root: string, cli: import("../lib/pulumi.mjs").PulumiCli, into: string, log: (line: string) => void }} at
 */
export async function makeMedia({ root, cli, into, log }) {
  mkdirSync(into, { recursive: true });
  await withTemporaryFolder("program", async (folder) => {
    const env = async (/** @type {any} */ emulator) => ({
      PLATFORM_ROOT_GROUP: emulator.rootUid,
      // The tests check the types of this program.
      PULUMI_NODEJS_TRANSPILE_ONLY: "true",
      ...QUICK_PROCESSES,
    });
    const example = writeProgram(root, folder);
    await withStack(
      "media",
      { root, example, cli, env, emulator: { seed: "acme" } },
      async (stack, { rootUid }) => {
        const steps = await reviewChange(stack, rootUid);
        writeFileSync(path.join(into, "review.cast"), recordingOf(steps));
        for (const name of ["report.html", "comment.md"])
          copyFileSync(path.join(stack.program, name), path.join(into, name));
      },
    );
  });
  await takePictures(into, log);
}

/** Takes a picture of the report in light and in dark. @param {string} folder @param {(line: string) => void} log */
async function takePictures(folder, log) {
  const found = await obtainBrowser(log);
  if ("reason" in found) return log(`no pictures: ${found.reason}`);
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch({ executablePath: found.file });
  try {
    const page = await browser.newPage({ viewport: { width: 1000, height: 760 } });
    await page.goto(pathToFileURL(path.join(folder, "report.html")).href);
    for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
      await page.emulateMedia({ colorScheme });
      writeFileSync(path.join(folder, `report-${colorScheme}.png`), await page.screenshot());
    }
  } finally {
    await browser.close();
  }
}
