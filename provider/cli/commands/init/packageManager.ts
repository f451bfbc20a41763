import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { printable } from "../../../http/errors";
import { UsageError } from "../../framework/exitCodes";

/** The commands of a package manager, as the workflows and a reader use them. */
export interface PackageManager {
  readonly name: "npm" | "pnpm" | "yarn";
  readonly lockfile: string;
  /** What it reads beside lockfiles and what every package manager reads, as patterns of CODEOWNERS. */
  readonly configuration: readonly string[];
  /** Installs the lockfile in CI, without scripts of packages. */
  readonly installInCi: string;
  /** Runs an installed command, for a reader: it also finds commands of other packages, so CI starts the file itself. */
  readonly run: string;
  readonly install: string;
  readonly add: string;
  readonly addForDevelopment: string;
}

/** What decides an installation or a command of the Pulumi CLI, whichever package manager is used. */
const COMMON_CONFIGURATION = ["package.json", "*.tgz", "*.tar.gz", "node_modules/", ".npmrc", "Pulumi.*"];

/** What chooses the package manager that Corepack downloads, beside package.json. */
const COREPACK_CONFIGURATION = [".corepack.env"];

const YARN_CONFIGURATION = [
  ...COREPACK_CONFIGURATION,
  ".yarnrc",
  ".yarnrc.yml",
  ".yarn/",
  ".env.yarn",
  ".pnp.cjs",
  ".pnp.data.json",
  ".pnp.loader.mjs",
];

/** Files of which an installation has one at most. npm prefers a shrinkwrap file to package-lock.json. */
const LOCKFILES = [
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
  configuration: [],
  installInCi: "npm ci --ignore-scripts",
  run: "npx",
  install: "npm install",
  add: "npm install",
  addForDevelopment: "npm install --save-dev",
};

const pnpm: PackageManager = {
  name: "pnpm",
  lockfile: "pnpm-lock.yaml",
  configuration: [
    ...COREPACK_CONFIGURATION,
    "package.json5",
    "package.yaml",
    "pnpm-workspace.yaml",
    ".pnpmfile.cjs",
    ".pnpmfile.mjs",
  ],
  installInCi: "corepack enable pnpm && pnpm install --frozen-lockfile --ignore-scripts",
  run: "pnpm exec",
  install: "pnpm install",
  add: "pnpm add",
  addForDevelopment: "pnpm add --save-dev",
};

const yarnClassic: PackageManager = {
  name: "yarn",
  lockfile: "yarn.lock",
  configuration: YARN_CONFIGURATION,
  installInCi: "corepack enable yarn && yarn install --frozen-lockfile --ignore-scripts",
  run: "yarn --silent run",
  install: "yarn install",
  add: "yarn add",
  addForDevelopment: "yarn add --dev",
};

/** Version 2 and later, whose lockfile begins otherwise. */
const yarnBerry: PackageManager = {
  ...yarnClassic,
  installInCi: "corepack enable yarn && yarn install --immutable --mode=skip-build",
  run: "yarn run",
};

/** The files that decide what is installed and run, in whatever folder they are, as patterns of CODEOWNERS. */
export const decidingFiles = ({ configuration }: PackageManager): readonly string[] => [
  ...COMMON_CONFIGURATION,
  // One that is added counts too.
  ...LOCKFILES,
  ...configuration,
];

/** What is never beside the lockfile of this package manager in a repository. */
export const unexpectedFiles = ({ lockfile }: PackageManager): readonly string[] => [
  ...LOCKFILES.filter((name) => name !== lockfile),
  "node_modules",
];

/** The package manager whose lockfile lies in the first of these folders that has one; npm by default. */
export function findPackageManager(folders: readonly string[]): PackageManager {
  for (const folder of folders) {
    if (existsSync(join(folder, pnpm.lockfile))) return pnpm;
    const yarnLock = join(folder, yarnClassic.lockfile);
    if (existsSync(yarnLock))
      return readFileSync(yarnLock, "utf8").includes("\n__metadata:") ? yarnBerry : yarnClassic;
    if (existsSync(join(folder, npm.lockfile))) return npm;
  }
  return npm;
}

/**
 * Refuses the lockfiles that the workflows refuse, and those of package managers that have no workflow.
 *
 * @param folders That of the program, then those above it.
 */
export function checkLockfiles(folders: readonly string[], packageManager: PackageManager): void {
  const { lockfile } = packageManager;
  const nearest = folders.findIndex((folder) => existsSync(join(folder, lockfile)));
  for (const folder of folders.slice(0, nearest === -1 ? undefined : nearest + 1)) {
    const found = LOCKFILES.find((name) => name !== lockfile && existsSync(join(folder, name)));
    if (found === undefined) continue;
    throw new UsageError(
      "PP5011",
      `${printable(join(folder, found), 200)} conflicts with the workflows, which install by ${lockfile}: ` +
        "keep one lockfile, of npm (package-lock.json), pnpm or Yarn; remove the others, or give --ci none",
    );
  }
}
