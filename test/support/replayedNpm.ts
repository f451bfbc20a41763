import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findPackageManager } from "../../provider/cli/input/packageManager";

const pathOf = (command: string): string =>
  execFileSync("sh", ["-c", `command -v ${command}`], { encoding: "utf8" }).trim();

/**
 * Writes a command in place of npm: it installs each lockfile once, and the same installation in another folder is a copy of
 * the first.
 *
 * @param folder Of the command: it comes before all others in PATH.
 * @param store An empty folder for what it keeps.
 */
export function writeReplayedNpm(folder: string, store: string): void {
  for (const made of [folder, store]) mkdirSync(made, { recursive: true });
  const { installInCi, lockfile } = findPackageManager([]);
  const [, ...args] = installInCi.split(" ");
  const script = `#!/bin/sh
if [ "$*" = "${args.join(" ")}" ]; then
  known='${store}/'$(cat package.json ${lockfile} $(find . -path './vendor/*' -type f) | cksum | tr ' ' -).tar
  if [ -e "$known" ]; then
    rm -rf node_modules && exec tar -xf "$known"
  fi
  '${pathOf("npm")}' "$@" || exit
  exec tar -cf "$known" node_modules
fi
exec '${pathOf("npm")}' "$@"
`;
  writeFileSync(join(folder, "npm"), script, { mode: 0o755 });
}

/**
 * Writes an npx for a reader. It runs each installed command once; after that, it starts the file that npx has run.
 *
 * @param folder Of the command: it comes before all others in PATH.
 * @param store An empty folder for what it keeps.
 */
export function writeReplayedNpx(folder: string, store: string): void {
  for (const made of [folder, store]) mkdirSync(made, { recursive: true });
  const script = `#!/bin/sh
[ "$1" = --no ] && shift
known="${store}/$1-$2"
command="node_modules/.bin/$1"
if [ -e "$known" ] && [ -x "$command" ]; then
  shift
  exec "$command" "$@"
fi
touch "$known"
exec '${pathOf("npx")}' "$@"
`;
  writeFileSync(join(folder, "npx"), script, { mode: 0o755 });
}
