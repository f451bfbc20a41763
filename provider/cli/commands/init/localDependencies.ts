import { relative, resolve, sep } from "node:path";
import type { ProjectFolder } from "./inspectFolder";

/** A dependency that is a file or a folder, and not of a registry. */
export interface LocalDependency {
  readonly name: string;
  readonly path: string;
  /** With slashes, below the root of the repository; undefined outside of it. */
  readonly inRepository: string | undefined;
}

/** As file:…, or as a path. */
const LOCAL = /^(?:(?:file|link|portal):|(?=\.{0,2}\/))(?<path>.*)$/;

/** The local dependencies that package.json names. */
export function localDependencies({ folder, root, manifest }: ProjectFolder): LocalDependency[] {
  const dependencies = { ...manifest?.dependencies, ...manifest?.devDependencies };
  return Object.entries(dependencies).flatMap(([name, version]) => {
    const given = typeof version === "string" ? LOCAL.exec(version)?.groups?.["path"] : undefined;
    if (given === undefined) return [];
    const path = resolve(folder, given);
    const below = relative(root, path).split(sep).join("/");
    return [{ name, path, inRepository: /^\.\.(\/|$)/.test(below) ? undefined : below }];
  });
}
