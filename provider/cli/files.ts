import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { globSync, isDynamicPattern } from "tinyglobby";
import { printable } from "../api/errors";
import { UsageError } from "./command";

function reason(error: unknown): string {
  const { code } = error as { code?: unknown };
  if (code === "ENOENT") return "there is no such file or folder";
  if (code === "EACCES") return "you may not";
  if (code === "EISDIR") return "it is a folder";
  return typeof code === "string" ? code : "unreadable";
}

/** The text of a file that an argument names; `-` is stdin. @throws UsageError in one line. */
export function readText(path: string, flag: string): string {
  try {
    return readFileSync(path === "-" ? 0 : path, "utf8");
  } catch (error) {
    throw new UsageError(`${flag} names ${printable(path, 200)}, which cannot be read: ${reason(error)}`);
  }
}

/**
 * Writes a file so that a reader sees the old one or the new one, never a half. `isPrivate`: only its
 * owner may read it. @throws UsageError in one line.
 */
export function writeText(path: string, text: string, flag: string, { isPrivate = false } = {}): void {
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`);
  try {
    writeFileSync(temporary, text, { flag: "wx", mode: isPrivate ? 0o600 : 0o666 });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw new UsageError(`${flag} names ${printable(path, 200)}, which cannot be written: ${reason(error)}`);
  }
}

/** The files that a glob pattern names, sorted; a path that exists is never a pattern. @throws UsageError */
export function matchingFiles(pattern: string, flag: string): string[] {
  if (pattern === "-" || existsSync(pattern) || !isDynamicPattern(pattern)) return [pattern];
  const found = globSync(pattern, { expandDirectories: false }).sort();
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
