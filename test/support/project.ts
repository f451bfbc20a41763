import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, join, relative, sep } from "node:path";
import { ROOT } from "./engine";
import { writeFiles } from "./folders";
import type { Run } from "./engine";

/** The last pnpm that runs on Node 20. */
const PNPM = "pnpm@10.34.9";

export type PackageManager = "npm" | "pnpm";

interface ProcessOptions {
  readonly cwd: string;
  readonly env?: Record<string, string | undefined>;
}

const children = new Set<ChildProcess>();

/** Sends a signal to a process and to what it started, as a terminal does. */
export function signal(child: ChildProcess, name: NodeJS.Signals): void {
  if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, name);
}

/** Ends what still runs, so that a test that failed leaves nothing behind. */
export function endChildren(): void {
  for (const child of children) signal(child, "SIGKILL");
}

/** A process of its own: nothing of the test runner's or of an enclosing `npm run`'s settings reaches it. */
export function start(command: string, args: readonly string[], options: ProcessOptions): ChildProcess {
  const env: NodeJS.ProcessEnv = {};
  for (const [key, value] of Object.entries(process.env)) {
    const foreign =
      /^(PLATFORM_|PULUMI_|JEST_|NODE_OPTIONS$|NODE_PATH$|NODE_ENV$|INIT_CWD$|npm_(?!config_)|npm_config_(local_prefix|global_prefix|prefix|workspaces?|include_workspace_root)$)/i;
    if (!foreign.test(key)) env[key] = value;
  }
  env["PATH"] = (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => !folder.endsWith(join("node_modules", ".bin")))
    .join(delimiter);
  env["NO_COLOR"] = "1";
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: { ...env, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  children.add(child);
  child.once("close", () => children.delete(child));
  return child;
}

/** Runs a command to its end. */
export function run(command: string, args: readonly string[], options: ProcessOptions): Promise<Run> {
  return new Promise((done, failed) => {
    const child = start(command, args, options);
    let stdout = "";
    let stderr = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.once("error", failed);
    child.once("close", (code) => done({ code: code ?? -1, stdout, stderr, output: stdout + stderr }));
  });
}

async function succeed(command: string, args: readonly string[], options: ProcessOptions): Promise<Run> {
  const result = await run(command, args, options);
  if (result.code !== 0) {
    throw new Error(`${command} ${args.join(" ")} ended with ${result.code}:\n${result.output}`);
  }
  return result;
}

function temporaryFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), "pulumi-platform-package-")));
}

/** A version of the package as it would be published. */
export interface Packed {
  readonly version: string;
  readonly tarball: string;
  /** Paths in the package. */
  readonly files: readonly string[];
}

/** The package as `npm pack` makes it of the built checkout, and a project that it is installed in. */
interface Installed extends Packed {
  readonly project: string;
}

const script = join(ROOT, "scripts", "packedPackage.mjs");

const packaged = new Map<PackageManager, Promise<Installed>>();

/** The package of this checkout, packed and installed once for all tests and all runs until it changes. */
export function packagedBy(manager: PackageManager): Promise<Installed> {
  const found =
    packaged.get(manager) ??
    succeed(process.execPath, [script, manager], { cwd: ROOT }).then(
      ({ stdout }) => JSON.parse(stdout) as Installed,
    );
  packaged.set(manager, found);
  return found;
}

/** The same package as another version, with code appended to its entry for the engine. */
export async function packVersion(
  { tarball }: Packed,
  version: string,
  code: string,
  folder: string,
): Promise<Packed> {
  await succeed("tar", ["-xzf", tarball, "-C", folder], { cwd: folder });
  const copy = join(folder, "package");
  const manifest = JSON.parse(readFileSync(join(copy, "package.json"), "utf8")) as {
    exports: Record<string, { default: string }>;
  };
  writeFileSync(join(copy, "package.json"), JSON.stringify({ ...manifest, version }));
  writeFileSync(join(copy, manifest.exports["./dynamic"]?.default ?? ""), code, { flag: "a" });
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const { stdout } = await succeed("npm", args, { cwd: copy });
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  return {
    version,
    tarball: join(folder, packed.filename),
    files: packed.files.map(({ path }) => path),
  };
}

/**
 * Copies an installed project by hard links. What package managers and tests write in place is copied: the files of the
 * project itself, and those that lie directly in a folder of packages.
 */
function linkProject(from: string, to: string): void {
  const copied = new Set([from, join(from, "node_modules"), join(from, "node_modules", ".pnpm")]);
  const visit = (source: string, target: string): void => {
    mkdirSync(target, { recursive: true });
    for (const entry of readdirSync(source, { withFileTypes: true })) {
      const [path, copy] = [join(source, entry.name), join(target, entry.name)];
      if (entry.isDirectory()) visit(path, copy);
      else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(path), copy);
      else if (copied.has(source)) copyFileSync(path, copy);
      else linkOrCopy(path, copy);
    }
  };
  visit(from, to);
}

/** A temporary folder may lie on another file system. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

/** A user's project, in a temporary folder: nothing above it offers any package. */
export class Project {
  readonly directory = temporaryFolder();
  private written: string[] = [];

  private constructor() {}

  /** A project into which the package manager has put the package and what a program needs. */
  static async with(manager: PackageManager): Promise<Project> {
    const { project: installed } = await packagedBy(manager);
    const project = new Project();
    linkProject(installed, project.directory);
    return project;
  }

  /** Adds packages by pnpm, or puts other versions beside them. */
  async install(...packages: string[]): Promise<void> {
    await this.pnpm("add", "--save-exact", ...packages);
  }

  /** Installs what package.json names from nothing by pnpm: no installed package is left, no lock file. */
  async reinstall(): Promise<void> {
    for (const name of ["node_modules", "pnpm-lock.yaml"]) {
      rmSync(join(this.directory, name), { recursive: true, force: true });
    }
    await this.pnpm("install");
  }

  private async pnpm(...args: string[]): Promise<void> {
    const command = ["--yes", PNPM, ...args, "--prefer-offline"];
    const { code, output } = await run("npx", command, { cwd: this.directory });
    if (code !== 0) {
      throw new Error(
        `pnpm ${args.map((arg) => basename(arg)).join(" ")} ended with ${code}. These tests need the npm registry: can it be reached?\n${output}`,
      );
    }
  }

  /** Puts files in place of those of the call before. */
  write(files: Record<string, string>): void {
    for (const path of this.written) rmSync(join(this.directory, path), { recursive: true, force: true });
    writeFiles(this.directory, files);
    // Pulumi.test.yaml is what a stack of another program left.
    this.written = ["Pulumi.test.yaml", ...Object.keys(files)].map((path) => path.split("/")[0] ?? path);
  }

  /** Sets members of package.json. */
  describe(members: Record<string, unknown>): void {
    const file = join(this.directory, "package.json");
    const manifest = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
    writeFileSync(file, JSON.stringify({ ...manifest, ...members }, null, 2));
  }

  /** Runs the project's own compiler. */
  tsc(config: string): Promise<Run> {
    const args = [join("node_modules", "typescript", "bin", "tsc"), "--noEmit", "-p", config];
    return run(process.execPath, args, { cwd: this.directory });
  }

  /** The path of a command that an installed package brings. */
  command(name: string): string {
    return join(this.directory, "node_modules", ".bin", name);
  }

  /** Where a program of this project finds the package, as a path below the project. */
  location(): string {
    const path = realpathSync(join(this.directory, "node_modules", "pulumi-platform"));
    return relative(this.directory, path).split(sep).join("/");
  }

  dispose(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
