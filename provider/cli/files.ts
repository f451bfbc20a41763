import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
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

/** The files that a pattern names: `*` and `?` in the last part of the path stand for any characters, as in a shell. */
export function matchingFiles(pattern: string, flag: string): string[] {
  const [folder, last] = [dirname(pattern), basename(pattern)];
  if (pattern === "-" || !/[*?]/.test(last)) return [pattern];
  const source = last
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  const expression = new RegExp(`^${source}$`, "s");
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    throw new UsageError(`${flag} names the folder ${printable(folder, 200)}: ${reason(error)}`);
  }
  const found = names.filter((name) => expression.test(name) && !name.startsWith(".")).sort();
  if (found.length === 0) throw new UsageError(`${flag}: no file matches ${printable(pattern, 200)}`);
  return found.map((name) => (pattern.startsWith("./") || folder !== "." ? join(folder, name) : name));
}
