import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A path of a file of the program, between quotes. */
const PATHS = /["'](\.{1,2}\/(?:[\w.-]+\/)*[\w.-]+?)(?:\.[cm]?[jt]s)?["']/g;

const EXTENSION = /\.[cm]?[jt]s$/;

const isFolder = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** Whether another file that lies in one of these folders imports a file. */
export function isImported(file: string, folders: readonly string[]): boolean {
  const imported = file.replace(EXTENSION, "");
  const files = [...new Set(folders)].filter(isFolder).flatMap((folder) =>
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && EXTENSION.test(entry.name))
      .map((entry) => join(folder, entry.name)),
  );
  return files
    .filter((one) => one.replace(EXTENSION, "") !== imported)
    .some((one) =>
      Array.from(readFileSync(one, "utf8").matchAll(PATHS), ([, path = ""]) =>
        join(dirname(one), path),
      ).includes(imported),
    );
}
