// @ts-check
import { createHash } from "node:crypto";
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { cacheRoot } from "./files.mjs";
import { addedFiles } from "./goTool.mjs";

/**
 * @typedef {object} PulumiCli
 * @property {string} pulumi The absolute path of the binary.
 * @property {string} pulumiDir The folder to put in front of PATH.
 * @property {string} version
 * @property {"path" | "cache" | "official" | "go"} source
 *
 * @typedef {object} SetupContext
 * @property {string} root The checkout.
 * @property {NodeJS.ProcessEnv} env
 * @property {(line: string) => void} log
 */

export const exe = process.platform === "win32" ? ".exe" : "";
/** What a folder must hold to run programs with dynamic resources. */
export const companions = [
  `pulumi-language-nodejs${exe}`,
  `pulumi-resource-pulumi-nodejs${process.platform === "win32" ? ".cmd" : ""}`,
];

/**
 * The engine starts it in the program's folder, so the program's own SDK is used. `exec` lets signals reach
 * Node itself.
 */
export const RESOURCE_PLUGIN = `#!/bin/sh
sdk=node_modules/@pulumi/pulumi/cmd/dynamic-provider/index.js
[ -f "$sdk" ] || sdk=$(node -p 'require.resolve("@pulumi/pulumi/cmd/dynamic-provider")') || exit 1
exec node "$sdk" "$@"
`;

/**
 * The two Go modules to build, read from their go.mod: the pins are in one place.
 * @param {string} root
 */
export function goModules(root) {
  return ["pulumi", "language-nodejs"].map((name) => {
    const folder = path.join(root, "scripts", "cli", name);
    const mod = readFileSync(path.join(folder, "go.mod"), "utf8");
    const tool = /^tool (\S+)$/m.exec(mod)?.[1];
    const version = /^\s*(?:require )?github\.com\/pulumi\/pulumi\/sdk\/v3 (v\S+)/m.exec(mod)?.[1];
    const go = /^go (\S+)$/m.exec(mod)?.[1];
    if (tool === undefined || version === undefined || go === undefined) {
      throw new Error(`scripts/cli/${name}/go.mod lacks its tool, its version or its Go version`);
    }
    const pinnedFiles = ["go.sum", ...addedFiles(folder)].map((file) =>
      readFileSync(path.join(folder, file), "utf8"),
    );
    return { folder, tool, version, go, pins: mod + pinnedFiles.join("") };
  });
}

/**
 * The cached copies, best first: the folder's name says all that decides what is in it.
 * @param {string} root
 * @param {NodeJS.ProcessEnv} env
 */
export function cacheEntries(root, env) {
  const modules = goModules(root);
  const version = modules[0]?.version.slice(1) ?? "";
  const recipe = createHash("sha256").update(RESOURCE_PLUGIN);
  for (const { pins } of modules) recipe.update(pins);
  const base = path.join(cacheRoot(env), `pulumi-${version}-${process.platform}-${process.arch}`);
  return { version, official: `${base}-official`, go: `${base}-go-${recipe.digest("hex").slice(0, 12)}` };
}

/** @param {string} file */
export function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    const { size } = statSync(file);
    return statSync(file).isFile() && size > 0;
  } catch {
    return false;
  }
}

/** Whether a cache entry has all that it needs. @param {string} entry */
export function isComplete(entry) {
  return [`pulumi${exe}`, ...companions].every((name) => isExecutable(path.join(entry, "bin", name)));
}

/** @param {string | undefined} searchPath @param {string} name */
export function which(searchPath, name) {
  for (const folder of (searchPath ?? "").split(path.delimiter)) {
    // An empty or relative entry depends on the current folder, which the engine changes.
    if (!path.isAbsolute(folder)) continue;
    if (isExecutable(path.join(folder, name))) return path.join(folder, name);
  }
  return undefined;
}

/** @param {string} folder @param {string} version @param {PulumiCli["source"]} source @returns {PulumiCli} */
export function cliIn(folder, version, source) {
  return { pulumi: path.join(folder, `pulumi${exe}`), pulumiDir: folder, version, source };
}

/** @param {string} root @param {NodeJS.ProcessEnv} env @returns {PulumiCli | undefined} */
export function findCached(root, env) {
  const { version, official, go } = cacheEntries(root, env);
  const entry = [official, go].find(isComplete);
  return entry === undefined ? undefined : cliIn(path.join(entry, "bin"), version, "cache");
}
