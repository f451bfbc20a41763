import { execFile, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

export const projectRoot = path.resolve(__dirname, "../..");

const folders: string[] = [];

export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), "pulumi-platform-scripts-"));
  folders.push(folder);
  return folder;
}

export function removeTemporaryFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Writes files below `folder`: texts as they are, everything else as JSON. */
export function writeFiles(folder: string, files: Record<string, unknown>): void {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  }
}

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

/** The scripts are ES modules, which jest cannot load: Node evaluates `body` with the module as `m`. */
export function script(module: string, body: string): string[] {
  const url = pathToFileURL(path.join(projectRoot, "scripts", module)).href;
  return ["--input-type=module", "-e", `import * as m from ${JSON.stringify(url)};\n${body}`];
}

/** The value of an expression over the module `m`. */
export async function evaluate(module: string, expression: string): Promise<unknown> {
  const args = script(module, `console.log(JSON.stringify((await (${expression})) ?? null));`);
  return await new Promise((resolve, reject) => {
    execFile(process.execPath, args, (error, stdout, stderr) => {
      if (error === null) resolve(JSON.parse(stdout));
      else reject(new Error(stderr));
    });
  });
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export async function until(condition: () => boolean, what: string): Promise<void> {
  for (let polls = 0; polls < 30_000; polls += 1) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`never came: ${what}`);
}
