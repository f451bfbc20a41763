import { existsSync } from "node:fs";
import { join } from "node:path";
import { readTextFile } from "../../text/files";
import { printable } from "../../text/printable";
import { UsageError } from "../framework/exitCodes";
import { withFoldersAbove } from "./projectFiles";

/** The commands of a package manager, as the workflows and a reader use them. */
export interface PackageManager {
  readonly name: "npm" | "pnpm" | "yarn";
  readonly lockfile: string;
  /**
   * Installs the lockfile of the current folder in CI, without scripts of packages. Without the last option, npm and pnpm take
   * the lockfile of a workspace root above.
   */
  readonly installInCi: string;
  /** Runs an installed command, and never one of the registry. CI starts the file itself: other packages may have the name. */
  readonly run: string;
  readonly add: string;
}

/** Files of which an installation has one at most. npm prefers a shrinkwrap file to package-lock.json. */
export const LOCKFILES = [
  "npm-shrinkwrap.json",
  "package-lock.json",
  "pnpm-lock.yaml",
  "yarn.lock",
  "bun.lock",
  "bun.lockb",
];

const npm: PackageManager = {
  name: "npm",
  lockfile: "package-lock.json",
  installInCi: "npm ci --ignore-scripts --prefix .",
  run: "npx --no",
  add: "npm install",
};
const pnpm: PackageManager = {
  name: "pnpm",
  lockfile: "pnpm-lock.yaml",
  installInCi:
    "corepack enable pnpm && pnpm install --frozen-lockfile --ignore-scripts $([ -e pnpm-workspace.yaml ] || echo --ignore-workspace)",
  run: "pnpm exec",
  add: "pnpm add",
};
const yarnClassic: PackageManager = {
  name: "yarn",
  lockfile: "yarn.lock",
  installInCi: "corepack enable yarn && yarn install --frozen-lockfile --ignore-scripts",
  run: "yarn --silent run",
  add: "yarn add",
};
/** Version 2 and later, whose lockfile begins otherwise. */
const yarnBerry: PackageManager = {
  ...yarnClassic,
  installInCi: "corepack enable yarn && yarn install --immutable --mode=skip-build",
  run: "yarn run",
};

/** What is never beside the lockfile of this package manager in a repository. */
export const unexpectedFiles = ({ lockfile }: PackageManager): readonly string[] => [
  ...LOCKFILES.filter((name) => name !== lockfile),
  "node_modules",
];

/** The package manager whose lockfile lies in the first of these folders that has one; npm by default. */
export function findPackageManager(folders: readonly string[]): PackageManager {
  for (const folder of folders) {
    const found = [pnpm, yarnClassic, npm].find(({ lockfile }) => existsSync(join(folder, lockfile)));
    if (found === undefined) continue;
    const isBerry =
      found === yarnClassic && readTextFile(join(folder, found.lockfile)).includes("\n__metadata:");
    return isBerry ? yarnBerry : found;
  }
  return npm;
}

/** How a command that is printed calls this package in the current folder. */
export const ownCommand = (): string =>
  `${findPackageManager(withFoldersAbove(process.cwd())).run} pulumi-platform`;

/**
 * Refuses the lockfiles that the workflows refuse, and those of package managers that have no workflow.
 *
 * @param folders That of the program, then those above it.
 */
export function checkLockfiles(folders: readonly string[], { lockfile }: PackageManager): void {
  const nearest = folders.findIndex((folder) => existsSync(join(folder, lockfile)));
  const paths = folders
    .slice(0, nearest === -1 ? undefined : nearest + 1)
    .flatMap((folder) => LOCKFILES.filter((name) => name !== lockfile).map((name) => join(folder, name)));
  const found = paths.find((path) => existsSync(path));
  if (found === undefined) return;
  throw new UsageError(
    "PP5011",
    `${printable(found, 200)} conflicts with the workflows, which install by ${lockfile}: ` +
      "keep one lockfile, of npm (package-lock.json), pnpm or Yarn; remove the others, or give --ci none",
  );
}
