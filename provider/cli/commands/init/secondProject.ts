import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "../../framework/exitCodes";
import { PROJECT_FILES } from "../../input/projectFiles";
import type { ProjectFolder } from "./inspectFolder";
import { localDependencies } from "./localDependencies";
import { decidingFiles } from "./packageManager";

/*
 * The first project of a repository has the names of the examples. Each further one has names of its own, and runs for
 * changes of its own files.
 */

/** What the names of a project's files and jobs end with, and the paths whose changes are reviewed. */
export interface FurtherProject {
  readonly suffix: string;
  /** Below the root of the repository; a folder ends with a slash. */
  readonly paths: readonly string[];
}

/** The folder that a file for CI names; undefined where it names none. */
function folderIn(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  const text = readFileSync(path, "utf8");
  const [, folder] =
    /(?:working-directory: |ACCESS_FOLDER: \{ value: )"?([^"\n]+?)"?(?:, | \}|$)/m.exec(text) ?? [];
  return folder;
}

/** The files above the folder that decide what is installed, and the dependencies that the repository holds. */
function sharedPaths(found: ProjectFolder): string[] {
  const { path, folders, root, packageManager } = found;
  const above = folders.filter((folder) => folder !== found.folder);
  const files = above.flatMap((folder) =>
    decidingFiles(packageManager)
      .filter((name) => !/[*/]/.test(name) && existsSync(join(folder, name)))
      .map((name) => join(folder, name).slice(root.length + 1)),
  );
  const dependencies = localDependencies(found).flatMap(({ inRepository }) =>
    inRepository === undefined
      ? []
      : [/\.(?:tgz|tar\.gz)$/.test(inRepository) ? inRepository : `${inRepository}/`],
  );
  return [...new Set([...files, ...dependencies])].filter((file) => !file.startsWith(`${path}/`)).sort();
}

/**
 * Decides whether the names of the examples are those of another project of the repository.
 *
 * @param filesOf The paths of the files for CI, by their suffix.
 * @throws UsageError where all names are taken.
 */
export function findFurtherProject(
  found: ProjectFolder,
  project: string,
  filesOf: (suffix: string) => readonly string[],
): FurtherProject | undefined {
  const foldersOf = (suffix: string): string[] =>
    filesOf(suffix).flatMap((file) => folderIn(join(found.root, file)) ?? []);
  const isOfAnother = (folder: string): boolean =>
    folder !== found.path && PROJECT_FILES.some((name) => existsSync(join(found.root, folder, name)));
  const suffixes = ["", `-${project}`, `-${found.path.replace(/[^\w.-]+/g, "-")}`];
  const suffix =
    suffixes.find((one) => foldersOf(one).includes(found.path)) ??
    suffixes.find((one) => !foldersOf(one).some(isOfAnother));
  if (suffix === "") return undefined;
  if (suffix !== undefined)
    return { suffix, paths: found.path === "." ? [] : [`${found.path}/`, ...sharedPaths(found)] };
  const [byName = "", byFolder = ""] = suffixes.slice(1).flatMap((one) => filesOf(one).slice(0, 1));
  throw new UsageError(
    "PP5011",
    `${byName} and ${byFolder} belong to other projects of the repository: rename the folder or the project of this one`,
  );
}
