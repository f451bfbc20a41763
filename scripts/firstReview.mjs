// @ts-check
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { parsePage, programsOf } from "./lib/fences.cjs";
import { onEarlyEnd, remove, run, runScript, runToSuccess } from "./lib/processes.mjs";
import { cleanEnvironment } from "./lib/stack.mjs";
import { givenOrFoundCli, root } from "./setup.mjs";

/*
 * npm run first-review [-- --seconds 300]
 *
 * Runs the commands of docs/quick-start.md as they stand, from an empty folder with the packed package to the first review,
 * and prints how long each took. It fails if a command does, or if all of them take longer than --seconds. An emulator stands
 * in for the reader's own API: its address, its token and the root group that doctor prints take the place of the page's.
 */

/** @param {string[]} args */
async function main(args) {
  const { values } = parseArgs({ args, options: { seconds: { type: "string", default: "300" } } });
  const limit = Number(values.seconds);
  if (!(limit > 0)) throw new Error("--seconds must be a number greater than 0");
  const bin = (await givenOrFoundCli()).pulumiDir;
  const folder = mkdtempSync(path.join(os.tmpdir(), "pulumi-platform-first-"));
  const cleanUp = onEarlyEnd(() => remove(folder));
  try {
    return await followPage(folder, bin, limit);
  } finally {
    cleanUp();
  }
}

/** @param {string} folder @param {string} bin @param {number} limit */
async function followPage(folder, bin, limit) {
  const clean = cleanEnvironment(process.env);
  const env = { ...clean, PATH: [bin, clean.PATH].join(path.delimiter) };
  /** @type {Session} */
  const session = {
    end: () => {},
    folder,
    given: {},
    env: { ...env, PACKAGE: await copyPackage(folder), PULUMI_SKIP_UPDATE_CHECK: "true" },
  };
  try {
    return await timeSteps(session, limit);
  } finally {
    session.end();
  }
}

/** @param {Session} session @param {number} limit @returns {Promise<number>} The exit code. */
async function timeSteps(session, limit) {
  let total = 0;
  const page = parsePage(readFileSync(path.join(root, "docs", "quick-start.md"), "utf8"));
  for (const { title, text } of programsOf(page, "sh")) {
    const start = performance.now();
    console.log(`== ${title}\n${text.trimEnd()}`);
    const isEmulator = text.includes(" emulator --port ");
    console.log(isEmulator ? await startEmulator(session, text) : await followStep(session, text));
    const seconds = (performance.now() - start) / 1000;
    total += seconds;
    console.log(`-- ${seconds.toFixed(1)} s`);
  }
  console.log(`the first review after ${total.toFixed(1)} s, limit ${limit} s`);
  return total <= limit ? 0 : 1;
}

/** The packed package, as a reader has it. @param {string} folder */
async function copyPackage(folder) {
  const packer = path.join(root, "scripts", "packedPackage.mjs");
  /** @type {{ tarball: string }} */
  const { tarball } = JSON.parse(await runToSuccess(process.execPath, [packer, "npm"], { cwd: root }));
  const copy = path.join(folder, path.basename(tarball));
  copyFileSync(tarball, copy);
  return copy;
}

/**
 * @typedef {object} Session
 * @property {string} folder
 * @property {NodeJS.ProcessEnv} env
 * @property {Record<string, string | undefined>} given What a reader fills in, by the names of variables.
 * @property {() => void} end Stops the emulator.
 */

/** The shell's folder and exported variables, from one step to the next. @param {Session} session */
const stateFile = ({ folder }) => path.join(folder, "shell-state");

/** Runs a step with the reader's own values. @param {Session} session @param {string} text */
async function followStep(session, text) {
  const filled = text.replace(/^export (PLATFORM_\w+)=(?:https:\/\/api\.example\.com|…)$/gm, (_, name) => {
    const value = session.given[name];
    if (value === undefined) throw new Error(`no earlier step has printed a value for ${name}`);
    return `export ${name}='${value}'`;
  });
  const output = await runStep(session, filled);
  session.given.PLATFORM_ROOT_GROUP ??= /^ok +groups +\S+ \(([0-9a-f]+)\)$/m.exec(output)?.[1];
  return output;
}

/** @param {Session} session @param {string} text @returns {Promise<string>} What it prints. */
async function runStep(session, text) {
  const state = stateFile(session);
  const restore = existsSync(state) ? `source '${state}'\n` : "";
  const save = `{ export -p; printf 'cd %q\\n' "$PWD"; } > '${state}'\n`;
  const script = path.join(session.folder, "step.sh");
  writeFileSync(script, `${restore}${text}${save}`);
  const { code, output } = await run("bash", ["-e", "-o", "pipefail", script], {
    cwd: session.folder,
    env: session.env,
  });
  if (code !== 0) throw new Error(`the command ended with ${code}:\n${output}`);
  return output.trimEnd();
}

/** Starts the emulator on a free port, and keeps its address and token. @param {Session} session @param {string} text */
async function startEmulator(session, text) {
  // The command itself: npx would not pass the signal on that ends it.
  const own = text
    .trim()
    .replace("npx --no ", "node_modules/.bin/")
    .replace(/--port \d+/, "--port 0");
  const { stdout: place } = await run("bash", ["-c", `source '${stateFile(session)}' && pwd`], {
    env: session.env,
  });
  const command = `exec ${own}`;
  const child = spawn("bash", ["-c", command], {
    cwd: place.trim(),
    env: session.env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  session.end = onEarlyEnd(() => child.kill("SIGTERM"));
  /** @type {string[]} */
  const lines = [];
  const reader = createInterface({ input: child.stdout });
  reader.on("line", (line) => lines.push(line));
  while (!lines.at(-1)?.startsWith("press"))
    await Promise.race([once(reader, "line"), once(reader, "close").then(failed)]);
  for (const line of lines) {
    const [, name = "", value] = /^ +export (PLATFORM_BASE_URL|PLATFORM_TOKEN)=(\S+)$/.exec(line) ?? [];
    if (value !== undefined) session.given[name] = value;
  }
  return lines.join("\n").replace(/(token: |TOKEN=).*/gi, "$1…");
}

/** @returns {never} */
function failed() {
  throw new Error("the emulator ended before it listened");
}

await runScript("firstReview", import.meta.filename, main);
