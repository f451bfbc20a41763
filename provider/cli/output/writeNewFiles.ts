import { randomUUID } from "node:crypto";
import {
  accessSync,
  constants,
  linkSync,
  lstatSync,
  mkdirSync,
  realpathSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import type { Stats } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { printable } from "../../text/printable";
import { UsageError } from "../framework/exitCodes";
import { describeFileError } from "../input/fileErrors";

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
