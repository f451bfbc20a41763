import { execFile, spawnSync } from "node:child_process";
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { promisify } from "node:util";
import { readEnvironment } from "../../settings/environment";
import { findCheckout } from "./projectFiles";

/** A program of this machine, and the environment to run it in. */
interface Executable {
  /** Its absolute path. */
  readonly file: string;
  /** Its PATH holds the searched folders alone, so that what it starts comes from them too. */
  readonly env: NodeJS.ProcessEnv;
}

const IS_WINDOWS = process.platform === "win32";

/** Windows ignores the case of names of variables; a copy of its environment does not. */
const isPathVariable = (name: string): boolean => (IS_WINDOWS ? name.toUpperCase() : name) === "PATH";

const isInModules = (path: string): boolean => path.split(/[\\/]/).includes("node_modules");

/** Whether a folder of PATH belongs to the machine: any dependency can put a program into a folder of `node_modules`. */
function belongsToMachine(folder: string, env: NodeJS.ProcessEnv): boolean {
  // npx, npm run and pnpm add folders of node_modules, yarn a temporary one with the same programs.
  if (!isAbsolute(folder) || isInModules(folder) || folder === env["BERRY_BIN_FOLDER"]) return false;
  try {
    return !isInModules(realpathSync(folder));
  } catch {
    return false;
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/**
 * Finds a program in the folders of PATH that belong to the machine: not in `node_modules`, nor in the current folder,
 * which relative and empty entries name.
 */
export function findProgram(name: string, env: NodeJS.ProcessEnv): Executable | undefined {
  const path = Object.entries(env).find(([variable]) => isPathVariable(variable))?.[1] ?? "";
  const folders = path
    .split(delimiter)
    .map((entry) => (IS_WINDOWS ? entry.replace(/^"(.*)"$/, "$1") : entry))
    .filter((folder) => belongsToMachine(folder, env));
  // Scripts (.cmd, .bat) need a shell, which would interpret the arguments.
  const names = IS_WINDOWS ? [`${name}.exe`, `${name}.com`] : [name];
  const file = folders.flatMap((folder) => names.map((each) => join(folder, each))).find(isExecutable);
  if (file === undefined) return undefined;
  const others = Object.entries(env).filter(([variable]) => !isPathVariable(variable));
  return { file, env: { ...Object.fromEntries(others), PATH: folders.join(delimiter) } };
}

interface RunOptions {
  readonly cwd?: string | undefined;
  readonly timeout?: number | undefined;
  readonly maxBuffer?: number;
}

/** Runs a program. Rejects with what `execFile` rejects with. */
export const runProgram = (
  { file, env }: Executable,
  args: readonly string[],
  options: RunOptions,
): Promise<{ stdout: string; stderr: string }> => promisify(execFile)(file, args, { ...options, env });

/**
 * Which repository a folder is of. Git would look for one itself, and take for it a folder that only looks like one: a change
 * can have such a folder, with settings of its own that name commands, and cannot have a `.git`.
 */
function repositoryOf(folder: string): readonly string[] {
  const checkout = findCheckout(folder);
  return checkout === undefined
    ? ["-c", "safe.bareRepository=explicit"]
    : [`--git-dir=${join(checkout, ".git")}`, `--work-tree=${checkout}`];
}

/** Runs git. Reads only: no hook, filter or pager of the repository runs. */
export function runGit(
  folder: string,
  args: readonly string[],
): { readonly status: number | null; readonly stdout: string; readonly error?: string } {
  const git = findProgram("git", readEnvironment());
  if (git === undefined) return { status: null, stdout: "", error: "not on PATH" };
  const { error, status, stdout } = spawnSync(
    git.file,
    ["--no-pager", "-C", folder, ...repositoryOf(folder), ...args],
    {
      encoding: "utf8",
      maxBuffer: 4_000_000,
      stdio: ["ignore", "pipe", "ignore"],
      env: git.env,
    },
  );
  if (error === undefined) return { status, stdout };
  return { status, stdout, error: (error as NodeJS.ErrnoException).code ?? "failed" };
}
