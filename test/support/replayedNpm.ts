import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findPackageManager } from "../../provider/cli/commands/init/packageManager";
import type { PackageManager } from "../../provider/cli/commands/init/packageManager";

/** A package manager whose commands are replayed: `real` is the shell command that starts it. */
type Replayed = PackageManager & { readonly real: string; readonly store: string };

const pathOf = (command: string): string =>
  execFileSync("sh", ["-c", `command -v ${command}`], { encoding: "utf8" }).trim();

/** Installs each lockfile once; the same installation in another folder is a copy of the first. */
function replayInstall({ real, store, installInCi, lockfile }: Replayed): string {
  const [, ...args] = (installInCi.split(" && ").at(-1) ?? "").split(" ");
  return `
if [ "$*" = "${args.join(" ")}" ]; then
  known='${store}/'$(cat package.json ${lockfile} vendor/*/* | cksum | tr ' ' -).tar
  if [ -e "$known" ]; then
    rm -rf node_modules && exec tar -xf "$known"
  fi
  ${real} "$@" || exit
  # Yarn 4 keeps what it has installed in .yarn.
  exec tar -cf "$known" node_modules $([ ! -e .yarn ] || echo .yarn)
fi
`;
}

/**
 * Runs each installed command once; after that the file that it has run is started without the package manager.
 *
 * @param words What the package manager has before the command.
 */
function replayRun({ real, store }: Pick<Replayed, "real" | "store">, words: readonly string[]): string {
  return `
case "$*" in "${words.map((word) => `${word} `).join("")}"*)
  shift ${words.length}
  known="${store}/$1-$2"
  command="node_modules/.bin/$1"
  if [ -e "$known" ] && [ -x "$command" ]; then
    shift
    exec "$command" "$@"
  fi
  touch "$known"
  exec ${[real, ...words].join(" ")} "$@"
esac
`;
}

/**
 * The script of a command in place of that of pnpm or Yarn, which takes half a second where a job of a pipeline runs it:
 * it does what the real one did the first time.
 *
 * @param real The shell command that starts the real one.
 * @param store A folder for what it keeps.
 */
export function replayedCommand(manager: PackageManager, real: string, store: string): string {
  mkdirSync(store, { recursive: true });
  const replayed = { ...manager, real, store };
  const [, ...words] = manager.run.split(" ");
  return `#!/bin/sh${replayInstall(replayed)}${replayRun(replayed, words)}exec ${real} "$@"\n`;
}

/**
 * Writes commands in place of npm and npx, which do what the real ones did the first time.
 *
 * @param folder Of the commands: it comes before all others in PATH.
 * @param store An empty folder for what they keep.
 */
export function writeReplayedNpm(folder: string, store: string): void {
  const npm = findPackageManager([]);
  mkdirSync(folder, { recursive: true });
  for (const name of ["npm", "npx"]) {
    writeFileSync(join(folder, name), replayedCommand(npm, `'${pathOf(name)}'`, store), { mode: 0o755 });
  }
}

/** Writes an npx for a reader, who starts a command without options of npx. The arguments are those of `writeReplayedNpm`. */
export function writeReplayedNpx(folder: string, store: string): void {
  for (const made of [folder, store]) mkdirSync(made, { recursive: true });
  const script = replayRun({ real: `'${pathOf("npx")}'`, store }, []);
  writeFileSync(join(folder, "npx"), `#!/bin/sh${script}`, { mode: 0o755 });
}
