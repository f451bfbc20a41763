// @ts-check
import { createHash } from "node:crypto";
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { clearInterval, setInterval } from "node:timers";
import { addedFiles, copyTool } from "./goTool.mjs";
import { isAlive, withLock } from "./lock.mjs";
import { excerpt, lastLine, messageOf, onEarlyEnd, remove, run } from "./processes.mjs";

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

/** The oldest CLI the provider is made for, and the first it is not made for. */
const OLDEST = [3, 220, 0];
const TOO_NEW = [4, 0, 0];

const CONNECT_MS = 60_000;
const DOWNLOAD_MS = 120_000;
const DAY_MS = 24 * 60 * 60 * 1000;

const exe = process.platform === "win32" ? ".exe" : "";
/** What a folder must hold to run programs with dynamic resources. */
const companions = [
  `pulumi-language-nodejs${exe}`,
  `pulumi-resource-pulumi-nodejs${process.platform === "win32" ? ".cmd" : ""}`,
];

/**
 * The engine starts it in the program's folder, so the program's own SDK is used. `exec` lets signals reach
 * Node itself.
 */
const RESOURCE_PLUGIN = `#!/bin/sh
sdk=$(node -p 'require.resolve("@pulumi/pulumi/cmd/dynamic-provider")') || exit 1
exec node "$sdk" "$@"
`;

/**
 * @param {string} text What `pulumi version` prints.
 * @returns {number[] | undefined}
 */
export function parseVersion(text) {
  const match = /^\s*v?(\d+)\.(\d+)\.(\d+)(?![\d.])/.exec(text);
  return match === null ? undefined : match.slice(1).map(Number);
}

/** @param {number[]} one @param {number[]} other */
export function compareVersions(one, other) {
  for (const [index, part] of one.entries()) {
    const difference = part - (other[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** @param {number[]} version @returns {string | undefined} Why it will not do. */
export function versionProblem(version) {
  if (compareVersions(version, OLDEST) < 0) return `older than ${OLDEST.join(".")}`;
  if (compareVersions(version, TOO_NEW) >= 0) return `not older than ${TOO_NEW.join(".")}`;
  return undefined;
}

/** @param {NodeJS.ProcessEnv} env */
export function cacheRoot(env) {
  if (env.PULUMI_PLATFORM_CACHE) return path.resolve(env.PULUMI_PLATFORM_CACHE);
  const caches = env.XDG_CACHE_HOME || path.join(env.HOME || os.homedir(), ".cache");
  return path.resolve(caches, "pulumi-platform");
}

/**
 * The two Go modules to build, read from their go.mod: the pins are in one place.
 * @param {string} root
 */
function goModules(root) {
  return ["pulumi", "language-nodejs"].map((name) => {
    const folder = path.join(root, "scripts", "cli", name);
    const mod = readFileSync(path.join(folder, "go.mod"), "utf8");
    const tool = /^tool (\S+)$/m.exec(mod)?.[1];
    const version = /^\s*(?:require )?github\.com\/pulumi\/pulumi\/sdk\/v3 (v\S+)/m.exec(mod)?.[1];
    const go = /^go (\S+)$/m.exec(mod)?.[1];
    if (tool === undefined || version === undefined || go === undefined) {
      throw new Error(`scripts/cli/${name}/go.mod lacks its tool, its version or its Go version`);
    }
    const others = ["go.sum", ...addedFiles(folder)].map((file) =>
      readFileSync(path.join(folder, file), "utf8"),
    );
    return { folder, tool, version, go, pins: mod + others.join("") };
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
function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    const { size } = statSync(file);
    return statSync(file).isFile() && size > 0;
  } catch {
    return false;
  }
}

/** @param {string} folder */
function isComplete(folder) {
  return [`pulumi${exe}`, ...companions].every((name) => isExecutable(path.join(folder, name)));
}

/** @param {string | undefined} searchPath @param {string} name */
function which(searchPath, name) {
  for (const folder of (searchPath ?? "").split(path.delimiter)) {
    // An empty or relative entry depends on the current folder, which the engine changes.
    if (!path.isAbsolute(folder)) continue;
    if (isExecutable(path.join(folder, name))) return path.join(folder, name);
  }
  return undefined;
}

/**
 * @param {string} pulumi
 * @param {NodeJS.ProcessEnv} env
 */
async function askVersion(pulumi, env) {
  const { code, output, stdout } = await run(pulumi, ["version"], {
    env: { ...env, PULUMI_SKIP_UPDATE_CHECK: "true" },
    timeoutMs: 20_000,
  });
  const version = code === 0 ? parseVersion(stdout) : undefined;
  if (version === undefined) throw new Error(`it does not tell its version: ${lastLine(output)}`);
  return version;
}

/** @param {string} folder @param {string} version @param {PulumiCli["source"]} source @returns {PulumiCli} */
function cliIn(folder, version, source) {
  return { pulumi: path.join(folder, `pulumi${exe}`), pulumiDir: folder, version, source };
}

/** @param {SetupContext} at @returns {Promise<PulumiCli | undefined>} */
async function findOnPath({ root, env, log }) {
  const pulumi = which(env.PATH, `pulumi${exe}`);
  if (pulumi === undefined) return undefined;
  const folder = path.dirname(pulumi);
  // After set-up our own copy is on PATH: what it is is known.
  const cached = findCached(root, env);
  if (cached !== undefined && realpathSync(folder) === realpathSync(cached.pulumiDir)) return cached;

  const absent = companions.find(
    (name) =>
      !isExecutable(path.join(folder, name)) &&
      !isExecutable(path.join(path.dirname(realpathSync(pulumi)), name)) &&
      which(env.PATH, name) === undefined,
  );
  if (absent !== undefined) {
    log(`${pulumi} is passed over: ${absent} is neither beside it nor on PATH`);
    return undefined;
  }
  try {
    const version = await askVersion(pulumi, env);
    const problem = versionProblem(version);
    if (problem === undefined) return cliIn(folder, version.join("."), "path");
    log(`${pulumi} is passed over: version ${version.join(".")} is ${problem}`);
  } catch (error) {
    log(`${pulumi} is passed over: ${messageOf(error)}`);
  }
  return undefined;
}

/** @param {string} root @param {NodeJS.ProcessEnv} env @returns {PulumiCli | undefined} */
function findCached(root, env) {
  const { version, official, go } = cacheEntries(root, env);
  for (const folder of [path.join(official, "bin"), path.join(go, "bin")]) {
    if (isComplete(folder)) return cliIn(folder, version, "cache");
  }
  return undefined;
}

/**
 * The CLI that is there already: on PATH, else in the cache. Downloads and builds nothing.
 * @param {SetupContext} at
 * @returns {Promise<PulumiCli | undefined>}
 */
export async function findInstalled(at) {
  return (await findOnPath(at)) ?? findCached(at.root, at.env);
}

/** Removes what killed set-ups left. Only the holder of the cache's lock may. @param {string} cache */
export function removeStaleFolders(cache) {
  for (const name of readdirSync(cache)) {
    const pid = /^tmp-(\d+)-/.exec(name)?.[1];
    if (pid === undefined) continue;
    const folder = path.join(cache, name);
    if (!isAlive(Number(pid)) || Date.now() - statSync(folder).mtimeMs > DAY_MS) remove(folder);
  }
}

/**
 * Fills a cache folder all or nothing: in a temporary folder beside it, then by one rename.
 * @param {string} target
 * @param {(temporary: string) => Promise<void>} fill
 */
export async function fillFolder(target, fill) {
  const temporary = mkdtempSync(path.join(path.dirname(target), `tmp-${process.pid}-`));
  const discard = onEarlyEnd(() => remove(temporary));
  try {
    await fill(temporary);
    chmodSync(temporary, 0o755);
    if (existsSync(target) && !isComplete(path.join(target, "bin"))) remove(target);
    try {
      renameSync(temporary, target);
    } catch (error) {
      // Another set-up was first; its copy is as good.
      if (!isComplete(path.join(target, "bin"))) throw error;
    }
  } finally {
    discard();
  }
}

/** Runs in a process of its own, because the SDK offers no way to stop a download. */
const INSTALLER = `
import { createRequire } from "node:module";
const [root, version, folder, connectMs] = process.argv.slice(1);
const require = createRequire(root + "/package.json");
try {
  const { PulumiCommand } = require("@pulumi/pulumi/automation");
  const { SemVer } = createRequire(require.resolve("@pulumi/pulumi/package.json"))("semver");
  const signal = AbortSignal.timeout(Number(connectMs));
  await fetch("https://get.pulumi.com/install.sh", { method: "HEAD", signal });
  await PulumiCommand.install({ version: new SemVer(version), root: folder });
} catch (error) {
  const reason = error.cause?.message || error.cause?.code || error.message || String(error);
  console.error("\\n" + reason.trim().replace(/\\s+/g, " ").slice(0, 300));
  process.exit(1);
}
process.exit(0);
`;

/** @param {SetupContext} at @param {string} target @param {string} version */
async function installOfficial({ root, env }, target, version) {
  await fillFolder(target, async (temporary) => {
    const { code, timedOut, output } = await run(
      process.execPath,
      ["--input-type=module", "-e", INSTALLER, root, version, temporary, String(CONNECT_MS)],
      { cwd: root, env: { ...env, PULUMI_SKIP_UPDATE_CHECK: "true" }, timeoutMs: DOWNLOAD_MS },
    );
    if (timedOut) throw new Error(`not done after ${DOWNLOAD_MS / 1000} seconds`);
    if (code !== 0) throw new Error(lastLine(output));
    if (!isComplete(path.join(temporary, "bin"))) throw new Error("the release lacks the Node.js host");
  });
}

/**
 * @param {ReturnType<typeof goModules>[number]} module
 * @param {{ bin: string, work: string, env: NodeJS.ProcessEnv }} at
 */
async function buildTool(module, { bin, work, env: given }) {
  // GOTMPDIR: what an interrupted Go leaves goes with the folder.
  const env = { ...given, GOTMPDIR: work, GOWORK: "off", CGO_ENABLED: "0" };
  const name = path.basename(module.tool);
  const copy = addedFiles(module.folder).length > 0 ? path.join(work, name) : undefined;
  if (copy !== undefined) await copyTool(module, copy, env);
  const { code, output } = await run(
    "go",
    [
      "build",
      "-mod=readonly",
      "-trimpath",
      "-ldflags",
      `-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=${module.version}`,
      "-o",
      path.join(bin, name),
      copy === undefined ? module.tool : ".",
    ],
    { cwd: copy ?? module.folder, env },
  );
  if (code !== 0) throw new Error(`go build ${module.tool} failed:\n${excerpt(output)}`);
}

/** @param {SetupContext} at @param {string} target @param {string} version */
async function buildWithGo({ root, env, log }, target, version) {
  const modules = goModules(root);
  await fillFolder(target, async (temporary) => {
    const bin = path.join(temporary, "bin");
    const work = path.join(temporary, "work");
    mkdirSync(bin);
    mkdirSync(work);
    const start = Date.now();
    const progress = setInterval(
      () => log(`still building the Pulumi CLI (${Math.round((Date.now() - start) / 1000)} s)`),
      60_000,
    );
    try {
      for (const module of modules) await buildTool(module, { bin, work, env });
    } finally {
      clearInterval(progress);
    }
    remove(work);
    writeFileSync(path.join(bin, "pulumi-resource-pulumi-nodejs"), RESOURCE_PLUGIN, { mode: 0o755 });
    const built = (await askVersion(path.join(bin, "pulumi"), env)).join(".");
    if (built !== version) throw new Error(`the built CLI says it is ${built}, not ${version}`);
  });
}

/** @param {SetupContext} at */
function goProblem({ root, env }) {
  if (process.platform === "win32") return "Building it on Windows is not supported yet, use WSL.";
  if (which(env.PATH, "go") !== undefined) return undefined;
  const oldest = goModules(root)
    .map(({ go }) => go)
    .sort((one, other) => compareVersions(other.split(".").map(Number), one.split(".").map(Number)))[0];
  return (
    `There is no Go to build it with either. Install the Pulumi CLI ${OLDEST.join(".")} or later ` +
    `(https://www.pulumi.com/docs/install/) or Go ${oldest} or later (https://go.dev/dl/).`
  );
}

/**
 * Finds the CLI, or downloads or builds it into the cache.
 * @param {SetupContext} at
 * @returns {Promise<PulumiCli>}
 */
export async function obtain(at) {
  const { version, official, go } = cacheEntries(at.root, at.env);
  const cache = path.dirname(go);
  mkdirSync(cache, { recursive: true });
  const body = async () => {
    const other = findCached(at.root, at.env);
    if (other !== undefined) return other;
    removeStaleFolders(cache);

    at.log(`downloading the Pulumi CLI ${version} (at most two minutes)`);
    try {
      await installOfficial(at, official, version);
      return cliIn(path.join(official, "bin"), version, "official");
    } catch (error) {
      at.log(`the official Pulumi CLI could not be downloaded: ${messageOf(error)}`);
    }

    const problem = goProblem(at);
    if (problem !== undefined) throw new Error(`The Pulumi CLI could not be downloaded. ${problem}`);
    at.log(
      `building the Pulumi CLI ${version} with Go: three to five minutes and 3 GB, once for all checkouts`,
    );
    await buildWithGo(at, go, version);
    return cliIn(path.join(go, "bin"), version, "go");
  };
  return /** @type {PulumiCli} */ (
    await withLock(path.join(cache, "set-up.lock"), body, {
      onWait: (holder) => at.log(`waiting for another set-up of the Pulumi CLI (${holder})`),
    })
  );
}
