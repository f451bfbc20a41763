import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findPackageManager } from "../../provider/cli/input/packageManager";
import type { PackageManager } from "../../provider/cli/input/packageManager";
import type { Files } from "./accessRepository";
import type { AccessFixture } from "./accessWorkflows";
import { PNPM, run } from "./project";
import { replayedCommand } from "./replayedNpm";

interface Candidate {
  readonly command: "pnpm" | "yarn";
  /** Its script, among the installed packages. */
  readonly script: string;
  readonly lockfile: string;
  /** Installs and writes the lockfile, also where the tests run in CI: package managers refuse to write it there. */
  readonly install: readonly string[];
  /** What a project needs beside the lockfile: Pulumi reads packages from node_modules. */
  readonly configuration: Files;
}

const PACKAGES = [PNPM, "yarn@1.22.22", "@yarnpkg/cli-dist@4.9.2"];

const CANDIDATES = {
  pnpm: {
    command: "pnpm",
    script: "pnpm/bin/pnpm.cjs",
    lockfile: "pnpm-lock.yaml",
    install: ["install", "--no-frozen-lockfile"],
    configuration: {},
  },
  "Yarn 1": {
    command: "yarn",
    script: "yarn/bin/yarn.js",
    lockfile: "yarn.lock",
    install: ["install"],
    configuration: {},
  },
  "Yarn 4": {
    command: "yarn",
    script: "@yarnpkg/cli-dist/bin/yarn.js",
    lockfile: "yarn.lock",
    install: ["install", "--no-immutable"],
    configuration: { ".yarnrc.yml": "nodeLinker: node-modules\nenableTelemetry: false\n" },
  },
} as const satisfies Readonly<Record<string, Candidate>>;

export type CandidateName = keyof typeof CANDIDATES;

let modules: string | undefined;

/** The folder of the installed package managers: npx downloads them once a machine. */
function installedModules(): string {
  const packages = PACKAGES.map((name) => `--package=${name}`);
  modules ??= dirname(
    dirname(
      execFileSync("npx", ["--yes", ...packages, "-c", "command -v pnpm"], { encoding: "utf8" }).trim(),
    ),
  );
  return modules;
}

/**
 * Makes a package manager the one of the default branch: its lockfile takes the place of npm's. Its command exists in jobs
 * after `corepack enable`.
 */
export async function usePackageManager(
  fixture: AccessFixture,
  name: CandidateName,
): Promise<PackageManager> {
  const { command, script, lockfile, install, configuration }: Candidate = CANDIDATES[name];
  const path = join(installedModules(), script);
  if (!existsSync(path)) throw new Error(`${name} is not at ${path}`);
  const checkout = mkdtempSync(join(fixture.scratch, "lockfile-"));
  fixture.repository.checkout("main", checkout);
  const cwd = join(checkout, "infra");
  for (const file of ["package-lock.json", "pnpm-lock.yaml", "yarn.lock"])
    rmSync(join(cwd, file), { force: true });
  for (const [file, text] of Object.entries(configuration)) writeFileSync(join(cwd, file), text);
  const { code, output } = await run(process.execPath, [path, ...install], { cwd, env: fixture.tools() });
  if (code !== 0) throw new Error(`${name} install ended with ${code}:\n${output}`);
  fixture.repository.remove(
    ["package-lock.json", "pnpm-lock.yaml", "yarn.lock"].map((file) => `infra/${file}`),
  );
  const files = { ...configuration, [lockfile]: readFileSync(join(cwd, lockfile), "utf8") };
  fixture.repository.branch(
    "main",
    Object.fromEntries(Object.entries(files).map(([file, text]) => [`infra/${file}`, text])),
  );
  const manager = findPackageManager([cwd]);
  writeCorepack(fixture, command, replayedCommand(manager, `node '${path}'`, join(checkout, "replayed")));
  return manager;
}

/** Writes a Corepack in place of the real one, whose `enable` writes the command of a package manager. */
function writeCorepack({ commands }: AccessFixture, command: string, text: string): void {
  const [enabled, script] = [join(commands, command), join(commands, `replayed-${command}`)];
  writeFileSync(script, text, { mode: 0o755 });
  const enable = `#!/bin/sh\n[ "$*" = "enable ${command}" ] && exec cp '${script}' '${enabled}'\n`;
  writeFileSync(join(commands, "corepack"), enable, { mode: 0o755 });
  rmSync(enabled, { force: true });
}
