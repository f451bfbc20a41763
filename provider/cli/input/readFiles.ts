import { existsSync, readFileSync } from "node:fs";
import { isAbsolute } from "node:path";
import { globSync, isDynamicPattern } from "tinyglobby";
import { printable } from "../../api/errors";
import { UsageError } from "../framework/exitCodes";
import { describeFileError } from "./fileErrors";

/** Reads the file that an argument names as text; `-` is stdin. @throws UsageError in one line. */
export function readText(path: string, flag: string): string {
  try {
    return readFileSync(path === "-" ? 0 : path, "utf8");
  } catch (error) {
    throw new UsageError(
      "PP5005",
      `${flag} names ${printable(path, 200)}, which cannot be read: ${describeFileError(error)}`,
    );
  }
}

/** Lists the files that a glob pattern matches, sorted; a path that exists is never a pattern. @throws UsageError */
export function matchingFiles(pattern: string, flag: string): string[] {
  if (pattern === "-" || existsSync(pattern) || !isDynamicPattern(pattern)) return [pattern];
  const files = globSync(pattern, { absolute: isAbsolute(pattern), expandDirectories: false }).sort();
  if (files.length === 0)
    throw new UsageError("PP5007", `${flag}: no file matches ${printable(pattern, 200)}`);
  return files;
}
