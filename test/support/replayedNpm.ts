import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const pathOf = (command: string): string =>
  execFileSync("sh", ["-c", `command -v ${command}`], { encoding: "utf8" }).trim();

/** npm installs each lockfile once; the same installation in another folder is a copy of the first. */
const npm = (store: string): string => `#!/bin/sh
[ "$*" = "ci --ignore-scripts" ] || exec '${pathOf("npm")}' "$@"
known='${store}/'$(cat package.json package-lock.json | cksum | tr ' ' -)
if [ -d "$known" ]; then
  rm -rf node_modules && cp -a "$known" node_modules
else
  '${pathOf("npm")}' "$@" && cp -a node_modules "$known"
fi
`;

/** npx runs each command once; after that the file that it has run is started without it. */
const npx = (store: string): string => `#!/bin/sh
known="${store}/$3-$4"
if [ "$1 $2" = "--no --" ] && [ -e "$known" ] && [ -x "node_modules/.bin/$3" ]; then
  command="node_modules/.bin/$3"
  shift 3
  exec "$command" "$@"
fi
touch "$known"
exec '${pathOf("npx")}' "$@"
`;

/**
 * Writes commands in place of npm and npx, which take half a second each where a job of a pipeline runs them: they do what
 * the real one did the first time.
 *
 * @param folder Of the commands: it comes before all others in PATH.
 * @param store An empty folder for what they keep.
 */
export function writeReplayedNpm(folder: string, store: string): void {
  for (const made of [folder, store]) mkdirSync(made, { recursive: true });
  writeFileSync(join(folder, "npm"), npm(store), { mode: 0o755 });
  writeFileSync(join(folder, "npx"), npx(store), { mode: 0o755 });
}
