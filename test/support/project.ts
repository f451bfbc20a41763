import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join, relative, sep } from "node:path";
import { ROOT } from "./engine";
import type { Run } from "./engine";

/** The last pnpm that runs on Node 20. */
const PNPM = "pnpm@10.34.9";

export type PackageManager = "npm" | "pnpm";

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
export function start(
  command: string,
  args: readonly string[],
  options: { cwd: string; env?: Record<string, string | undefined> },
): ChildProcess {
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
export function run(
  command: string,
  args: readonly string[],
  options: { cwd: string; env?: Record<string, string | undefined> },
): Promise<Run> {
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

async function succeed(
  command: string,
  args: readonly string[],
  options: { cwd: string; env?: Record<string, string | undefined> },
): Promise<Run> {
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
  dispose(): void;
}

async function pack(folder: string, destination: string, dispose: () => void): Promise<Packed> {
  const { stdout } = await succeed("npm", ["pack", "--json", "--pack-destination", destination], {
    cwd: folder,
  });
  // Scripts of the package may print before it.
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf("[\n"))) as [
    { version: string; filename: string; files: { path: string }[] },
  ];
  return {
    version: packed.version,
    tarball: join(destination, packed.filename),
    files: packed.files.map(({ path }) => path),
    dispose,
  };
}

const LEFT_OUT = new Set(["node_modules", ".git", ".cache", "dist", "coverage"]);

/** Builds and packs the sources as they are, apart from the checkout: whatever its dist/ holds does not count. */
export async function packSources(): Promise<Packed> {
  const folder = temporaryFolder();
  const dispose = () => rmSync(folder, { recursive: true, force: true });
  try {
    const copy = join(folder, "sources");
    cpSync(ROOT, copy, { recursive: true, filter: (path) => path === ROOT || !LEFT_OUT.has(basename(path)) });
    symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
    await succeed("npm", ["run", "build"], { cwd: copy });
    return await pack(copy, folder, dispose);
  } catch (error) {
    dispose();
    throw error;
  }
}

/** The same package as another version, with code appended to its entry for the engine. */
export async function packVersion(packed: Packed, version: string, code: string): Promise<Packed> {
  const folder = temporaryFolder();
  const dispose = () => rmSync(folder, { recursive: true, force: true });
  try {
    await succeed("tar", ["-xzf", packed.tarball, "-C", folder], { cwd: folder });
    const copy = join(folder, "package");
    const manifest = JSON.parse(readFileSync(join(copy, "package.json"), "utf8")) as {
      exports: Record<string, { default: string }>;
    };
    writeFileSync(join(copy, "package.json"), JSON.stringify({ ...manifest, version }));
    writeFileSync(join(copy, manifest.exports["./dynamic"]?.default ?? ""), code, { flag: "a" });
    return await pack(copy, folder, dispose);
  } catch (error) {
    dispose();
    throw error;
  }
}

/** The version of a package that the lock file names. */
function lockedVersion(name: string): string {
  const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
    packages: Record<string, { version?: string } | undefined>;
  };
  const version = lock.packages[`node_modules/${name}`]?.version;
  if (version === undefined) throw new Error(`package-lock.json does not hold ${name}`);
  return version;
}

/** A user's project, in a temporary folder: nothing above it offers any package. */
export class Project {
  readonly directory = temporaryFolder();
  private written: string[] = [];

  private constructor(readonly manager: PackageManager) {
    writeFileSync(join(this.directory, "package.json"), '{ "name": "project", "private": true }\n');
  }

  /** An empty project into which the package manager has put the package and what a program needs. */
  static async with(packed: Packed, manager: PackageManager): Promise<Project> {
    const project = new Project(manager);
    try {
      const others = ["@pulumi/pulumi", "@types/node", "typescript"];
      await project.install(packed.tarball, ...others.map((name) => `${name}@${lockedVersion(name)}`));
      return project;
    } catch (error) {
      project.dispose();
      throw error;
    }
  }

  /** Adds packages, or puts other versions in their place. */
  async install(...packages: string[]): Promise<void> {
    await this.manage(this.manager === "npm" ? "install" : "add", "--save-exact", ...packages);
  }

  /** Installs what package.json names from nothing: no installed package is left, no lock file. */
  async reinstall(): Promise<void> {
    for (const name of ["node_modules", "package-lock.json", "pnpm-lock.yaml"]) {
      rmSync(join(this.directory, name), { recursive: true, force: true });
    }
    await this.manage("install");
  }

  private async manage(...args: string[]): Promise<void> {
    const { code, output } = await (this.manager === "npm"
      ? run("npm", [...args, "--prefer-offline", "--no-audit", "--no-fund"], { cwd: this.directory })
      : run("npx", ["--yes", PNPM, ...args, "--prefer-offline"], { cwd: this.directory }));
    if (code !== 0) {
      const command = [this.manager, ...args.map((arg) => basename(arg))].join(" ");
      throw new Error(
        `${command} ended with ${code}. These tests need the npm registry: can it be reached?\n${output}`,
      );
    }
  }

  /** Puts files in place of those of the call before. */
  write(files: Record<string, string>): void {
    for (const path of this.written) rmSync(join(this.directory, path), { recursive: true, force: true });
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.directory, path)), { recursive: true });
      writeFileSync(join(this.directory, path), text);
    }
    // Pulumi.test.yaml is what a stack of another program left.
    this.written = ["Pulumi.test.yaml", ...Object.keys(files)].map((path) => path.split("/")[0] ?? path);
  }

  /** Sets members of package.json. */
  describe(members: Record<string, unknown>): void {
    const file = join(this.directory, "package.json");
    const manifest = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
    writeFileSync(file, JSON.stringify({ ...manifest, ...members }, null, 2));
  }

  node(...args: string[]): Promise<Run> {
    return run(process.execPath, args, { cwd: this.directory });
  }

  /** Runs the project's own compiler. */
  tsc(config: string): Promise<Run> {
    return this.node(join("node_modules", "typescript", "bin", "tsc"), "--noEmit", "-p", config);
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
