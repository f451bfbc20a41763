import { readFileSync, statSync } from "node:fs";
import { CodedError } from "../errors/codedError";
import { printable } from "./printable";

/** What codes of the file system mean. */
const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "file or folder not found",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EISDIR: "it is a folder; name a file",
  ENOSPC: "no space left on the disk",
  EDQUOT: "no space left on the disk",
  EROFS: "the file system is read-only",
  ENOTDIR: "a part of the path is a file, not a folder",
  ELOOP: "its symbolic links form a circle",
  ENXIO: "it is a socket; name a file",
  ENAMETOOLONG: "its name is too long",
  NOT_REGULAR: "it is no regular file",
};

/** Why a file cannot be read or written, in words. */
export function describeFileError(error: unknown): string {
  const { code } = error as { code?: unknown };
  return WORDS[String(code)] ?? String(code);
}

/** A file of the user that cannot be read or written. */
export class FileError extends CodedError {
  override readonly name = "FileError";
  readonly code = "USAGE";
}

/** The calls of the file system that write. */
const WRITES = /^(?:copyfile|link|mkd|mkdtemp|rename|rm|rmdir|symlink|unlink|write)/;

/** An error of the file system that names its path, in words; any other error as it is. */
export function toFileError(error: unknown): unknown {
  if (error instanceof CodedError) return error;
  const { code = "", path, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  // The start of a program fails with such a code and a path too.
  if (syscall === undefined || syscall.startsWith("spawn") || WORDS[code] === undefined) return error;
  const isWritten = WRITES.test(syscall);
  const shown = path === undefined ? "a file" : printable(path, 200);
  return new FileError(
    isWritten ? "PP5006" : "PP5005",
    `${shown} cannot be ${isWritten ? "written" : "read"}: ${describeFileError(error)}`,
  );
}

/** Reads a regular file: a pipe or a device may never end. @throws FileError */
export function readRegularFile(path: string): Buffer {
  try {
    const stats = statSync(path);
    if (!stats.isFile() && !stats.isDirectory()) throw Object.assign(new Error(), { code: "NOT_REGULAR" });
    return readFileSync(path);
  } catch (error) {
    throw new FileError("PP5005", `${printable(path, 200)} cannot be read: ${describeFileError(error)}`);
  }
}

/** Reads a regular file as text. @throws FileError */
export const readTextFile = (path: string): string => readRegularFile(path).toString("utf8");
