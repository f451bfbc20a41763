import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The commands of a package manager, as the workflows and a reader use them. */
export interface PackageManager {
  readonly name: "npm" | "pnpm" | "yarn";
  readonly lockfile: string;
  /** What else decides which code an installation runs. */
  readonly configuration: readonly string[];
  /** Installs the lockfile in CI, without scripts of packages. */
  readonly installInCi: string;
  /** Runs an installed command, and downloads nothing. */
  readonly run: string;
  readonly install: string;
  readonly add: string;
  readonly addForDevelopment: string;
}

const npm: PackageManager = {
  name: "npm",
  lockfile: "package-lock.json",
  configuration: [".npmrc"],
  installInCi: "npm ci --ignore-scripts",
  run: "npx --no --",
  install: "npm install",
  add: "npm install",
  addForDevelopment: "npm install --save-dev",
};

const pnpm: PackageManager = {
  name: "pnpm",
  lockfile: "pnpm-lock.yaml",
  configuration: [".npmrc", ".pnpmfile.cjs", "pnpm-workspace.yaml"],
  installInCi: "corepack enable pnpm && pnpm install --frozen-lockfile --ignore-scripts",
  run: "pnpm exec",
  install: "pnpm install",
  add: "pnpm add",
  addForDevelopment: "pnpm add --save-dev",
};

const yarnClassic: PackageManager = {
  name: "yarn",
  lockfile: "yarn.lock",
  configuration: [".yarnrc", ".yarnrc.yml", ".yarn/"],
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

/** Replaces the commands of npm, which the workflows of this package have, by those of another package manager. */
export const withPackageManager = (text: string, { installInCi, run }: PackageManager): string =>
  text.replaceAll(npm.installInCi, installInCi).replaceAll(npm.run, run);
