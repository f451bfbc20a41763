import { randomUUID } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  lstatSync,
  openSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  linkSync,
  mkdirSync,
  realpathSync,
  rmdirSync,
} from "node:fs";
import type { Stats } from "node:fs";
import { dirname, join, resolve, relative, sep } from "node:path";
import { describeFileError } from "../../text/files";
import { printable } from "../../text/printable";
import { UsageError } from "../framework/exitCodes";

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

/** Writes to a pipe, a terminal or a device directly, because replacing it by a file would disconnect its reader. */
function writeInPlace(target: string, text: string): void {
  const descriptor = descriptorOf(target);
  // Node's own streams wait where a pipe is full; a write to the descriptor would fail.
  if (descriptor === 1) process.stdout.write(text);
  else if (descriptor === 2) process.stderr.write(text);
  else writeFileSync(descriptor ?? target, text);
}

/** Replaces a regular file; keeps its mode. */
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
      if (before !== undefined) fchmodSync(descriptor, mode ?? before.mode & 0o7777);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/**
 * Replaces a file at once, so that a reader never sees half of it; writes to pipes and devices. Follows links, and
 * keeps the mode of a file that exists.
 *
 * @param options `isPrivate`: only the owner may read the file.
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
      "PP5006",
      `${flag} names ${printable(path, 200)}, which cannot be written: ${describeFileError(error)}`,
    );
  }
}

/** Writes a result to stdout, or to the file that `--output` names. @throws UsageError for a file. */
export function writeResult(text: string, path: string | undefined): void {
  if (path === undefined) process.stdout.write(text);
  else writeText(path, text, "--output");
}

/** Writes each requested format of a result. @throws UsageError for a file. */
export function writeResults<F extends string>(
  outputs: readonly { readonly format: F; readonly path?: string }[],
  render: Readonly<Record<F, () => string>>,
): void {
  for (const { format, path } of outputs) writeResult(render[format](), path);
}

/** A file that does not exist yet. */
export interface NewFile {
  /** The folder that no symbolic link may lead out of. */
  readonly base: string;
  /** Below the base, with slashes. */
  readonly path: string;
  readonly text: string;
}

export const joinFilePath = ({ base, path }: NewFile): string => join(base, ...path.split("/"));

/** What has this name, links not followed; undefined also below a file. */
function stat(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Whether something has the name of the file: also a symbolic link that leads nowhere. */
export const isTaken = (file: NewFile): boolean => stat(joinFilePath(file)) !== undefined;

/** The folders that do not exist yet, the outermost first. */
function missingFolders(path: string): string[] {
  return stat(path) === undefined ? [...missingFolders(dirname(path)), path] : [];
}

/** @throws UsageError where the file could not be written. */
function checkFile(file: NewFile): void {
  const parent = dirname(joinFilePath(file));
  const [first] = missingFolders(parent);
  const existing = first === undefined ? parent : dirname(first);
  const shown = printable(existing, 200);
  let real: string;
  try {
    real = realpathSync(existing);
    if (!lstatSync(real).isDirectory())
      throw new UsageError("PP5006", `${shown} is a file; ${file.path} needs a folder`);
    accessSync(real, constants.W_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError("PP5006", `${shown} cannot be written: ${describeFileError(error)}`);
  }
  // The base itself may be new, and then has no link in it.
  const base = stat(file.base) === undefined ? real : realpathSync(file.base);
  if (real !== base && relative(base, real).split(sep)[0] === "..")
    throw new UsageError("PP5006", `${shown} is a symbolic link that leads out of ${printable(base, 200)}`);
}

/** Creates a file at once, and never in place of another. */
function createFile(path: string, text: string): void {
  const temporary = join(dirname(path), `.pulumi-platform-${randomUUID()}.tmp`);
  try {
    writeFileSync(temporary, text, { flag: "wx" });
    linkSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** @throws UsageError that names what cannot be written. */
export function checkNewFiles(files: readonly NewFile[]): void {
  for (const file of files) checkFile(file);
}

/**
 * Writes all of the files or none of them.
 *
 * @throws UsageError that names what could not be written.
 */
export function writeNewFiles(files: readonly NewFile[]): void {
  const undo: (() => void)[] = [];
  for (const file of files) {
    const path = joinFilePath(file);
    try {
      for (const folder of missingFolders(dirname(path))) {
        mkdirSync(folder);
        undo.unshift(() => rmdirSync(folder));
      }
      createFile(path, file.text);
      undo.unshift(() => rmSync(path, { force: true }));
    } catch (error) {
      for (const step of undo) step();
      throw new UsageError(
        "PP5006",
        `${printable(path, 200)} cannot be written: ${describeFileError(error)}; nothing was written`,
      );
    }
  }
}

/** An open file of this process: /dev/stdout, /dev/fd/3, /proc/self/fd/3. */
const DESCRIPTOR =
  /^(?:\/dev\/(stdin|stdout|stderr)|(?:\/dev\/fd|\/proc\/(?:self|thread-self)\/fd)\/(\d{1,6}))$/;

/** The descriptor that a path means; undefined for any other path. */
const descriptorOf = (path: string): number | undefined => {
  const [, name, number] = DESCRIPTOR.exec(path) ?? [];
  if (name !== undefined) return ["stdin", "stdout", "stderr"].indexOf(name);
  return number === undefined ? undefined : Number(number);
};

/** Whether a path means standard output. */
export const isStdout = (path: string): boolean => path === "-" || descriptorOf(path) === 1;
