import { execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

export { temporaryFolder, writeFiles } from "../support/folders";

export const projectRoot = path.resolve(__dirname, "../..");

/** The files of the repository that git does not ignore, by their paths from its root. */
export const listFiles = (): string[] =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: projectRoot,
    encoding: "utf8",
  }).split("\n");

/** An executable that runs this Node, whatever PATH says. */
export function writeProgram(file: string, body: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `#!${process.execPath}\n${body}\n`);
  chmodSync(file, 0o755);
}

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

export interface Started {
  pid: number;
  ended: Promise<Ended>;
  kill: (signal: NodeJS.Signals) => void;
}

export function start(args: string[], env: NodeJS.ProcessEnv = process.env): Started {
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (data: Buffer) => (stdout += data.toString()));
  child.stderr.on("data", (data: Buffer) => (stderr += data.toString()));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? -1, stdout, stderr }));
  });
  return { pid: child.pid ?? 0, ended, kill: (signal) => child.kill(signal) };
}

const urlOf = (module: string): string => pathToFileURL(path.join(projectRoot, "scripts", module)).href;

/** The scripts are ES modules, which jest cannot load: Node evaluates `body` with the module as `m`. */
export function script(module: string, body: string): string[] {
  return ["--input-type=module", "-e", `import * as m from ${JSON.stringify(urlOf(module))};\n${body}`];
}

/** Evaluates expressions one after the other; a process for each would take most of the time of these tests. */
const EVALUATOR = `
  const { parentPort } = require("node:worker_threads");
  // No script is the one that was called.
  process.argv.splice(1);
  parentPort.on("message", async ({ url, expression }) => {
    try {
      const m = await import(url);
      const value = await eval("(async () => (" + expression + "))()");
      parentPort.postMessage({ json: JSON.stringify(value ?? null) });
    } catch (error) {
      parentPort.postMessage({ problem: String(error?.stack ?? error) });
    }
  });`;

let evaluator: Worker | undefined;
let last: Promise<unknown> = Promise.resolve();

async function ask(url: string, expression: string): Promise<unknown> {
  evaluator ??= new Worker(EVALUATOR, { eval: true, stdout: true });
  const worker = evaluator;
  worker.postMessage({ url, expression });
  const { json, problem } = await new Promise<{ json?: string; problem?: string }>((resolve) =>
    worker.once("message", resolve),
  );
  if (json === undefined) throw new Error(problem);
  return JSON.parse(json);
}

/** The value of an expression over the module `m`. */
export function evaluate(module: string, expression: string): Promise<unknown> {
  const value = last.then(() => ask(urlOf(module), expression));
  last = value.catch(() => undefined);
  return value;
}

afterAll(async () => {
  await evaluator?.terminate();
});

export async function until(condition: () => boolean, what: string): Promise<void> {
  for (let polls = 0; polls < 30_000; polls += 1) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`never came: ${what}`);
}
