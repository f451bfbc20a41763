import { randomUUID } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import type { Stats } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { globSync, isDynamicPattern } from "tinyglobby";
import { printable } from "../api/errors";
import { UsageError } from "./command";

function describeError(error: unknown): string {
  const { code } = error as { code?: unknown };
  if (code === "ENOENT") return "there is no such file or folder";
  if (code === "EACCES") return "permission denied";
  if (code === "EISDIR") return "it is a folder; name a file";
  if (code === "ELOOP") return "its symbolic links form a circle";
  if (code === "ENXIO") return "it is a socket; name a file";
  return typeof code === "string" ? code : "unreadable";
}

/** The text of a file that an argument names; `-` is stdin. @throws UsageError in one line. */
export function readText(path: string, flag: string): string {
  try {
    return readFileSync(path === "-" ? 0 : path, "utf8");
  } catch (error) {
    throw new UsageError(
      `${flag} names ${printable(path, 200)}, which cannot be read: ${describeError(error)}`,
    );
  }
}

/** An open file of this process: /dev/stdout, /dev/fd/3, /proc/self/fd/3. */
const DESCRIPTOR =
  /^(?:\/dev\/(stdin|stdout|stderr)|(?:\/dev\/fd|\/proc\/(?:self|thread-self)\/fd)\/(\d{1,6}))$/;

const descriptorOf = (path: string): number | undefined => {
  const [, name, number] = DESCRIPTOR.exec(path) ?? [];
  if (name !== undefined) return ["stdin", "stdout", "stderr"].indexOf(name);
  return number === undefined ? undefined : Number(number);
};

/** Whether a path means standard output. */
export const isStdout = (path: string): boolean => path === "-" || descriptorOf(path) === 1;

/** As many links as Linux follows. */
const MAX_LINKS = 40;

/** Follows symbolic links, also those to a file that does not exist yet, up to an open file of this process. */
function followLinks(path: string): string {
  let target = path;
  for (let links = 0; links < MAX_LINKS; links += 1) {
    if (descriptorOf(target) !== undefined) return target;
    if (!lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink()) return target;
    target = resolve(dirname(target), readlinkSync(target));
  }
  throw Object.assign(new Error(), { code: "ELOOP" });
}

/** Writes to a pipe, a terminal or a device, which stays what it is. */
function writeInPlace(target: string, text: string): void {
  const descriptor = descriptorOf(target);
  // Node's own streams wait where a pipe is full; a write to the descriptor would fail.
  if (descriptor === 1) process.stdout.write(text);
  else if (descriptor === 2) process.stderr.write(text);
  else writeFileSync(descriptor ?? target, text);
}

/** Replaces a regular file; its mode, and where possible its owner, stay. */
function replaceFile(
  target: string,
  text: string,
  before: Stats | undefined,
  mode: number | undefined,
): void {
  if (before !== undefined) accessSync(target, constants.W_OK);
  const temporary = join(dirname(target), `.pulumi-platform-${randomUUID()}.tmp`);
  try {
    const descriptor = openSync(temporary, "wx", mode ?? 0o666);
    try {
      writeFileSync(descriptor, text);
      if (before !== undefined) {
        if (before.uid !== process.geteuid?.()) chownIfAllowed(descriptor, before);
        fchmodSync(descriptor, mode ?? before.mode & 0o7777);
      }
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function chownIfAllowed(descriptor: number, { uid, gid }: Stats): void {
  try {
    fchownSync(descriptor, uid, gid);
  } catch {
    // Only root may give files away.
  }
}

/**
 * Writes a file so that a reader sees the old one or the new one, never a half; pipes and devices are written to.
 * Links are followed, and the mode of a file that exists stays. `isPrivate`: only its owner may read it.
 *
 * @throws UsageError in one line.
 */
export function writeText(path: string, text: string, flag: string, { isPrivate = false } = {}): void {
  try {
    const target = followLinks(path);
    const before =
      descriptorOf(target) === undefined ? statSync(target, { throwIfNoEntry: false }) : undefined;
    if (before?.isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
    if (descriptorOf(target) !== undefined || (before !== undefined && !before.isFile())) {
      writeInPlace(target, text);
      return;
    }
    replaceFile(target, text, before, isPrivate ? 0o600 : undefined);
  } catch (error) {
    throw new UsageError(
      `${flag} names ${printable(path, 200)}, which cannot be written: ${describeError(error)}`,
    );
  }
}

/** The files that a glob pattern names, sorted; a path that exists is never a pattern. @throws UsageError */
export function matchingFiles(pattern: string, flag: string): string[] {
  if (pattern === "-" || existsSync(pattern) || !isDynamicPattern(pattern)) return [pattern];
  const found = globSync(pattern, { absolute: isAbsolute(pattern), expandDirectories: false }).sort();
  if (found.length === 0) throw new UsageError(`${flag}: no file matches ${printable(pattern, 200)}`);
  return found;
}

/** Writes each form of a result where it was asked for. @throws UsageError for a file. */
export function writeResults<F extends string>(
  outputs: readonly { readonly format: F; readonly path?: string }[],
  render: Readonly<Record<F, () => string>>,
): void {
  for (const { format, path } of outputs) {
    const text = render[format]();
    if (path === undefined) process.stdout.write(text);
    else writeText(path, text, "--output");
  }
}
