// @ts-check
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { clearInterval, setInterval } from "node:timers";
import semver from "semver";
import { downloadPulumi } from "./downloadPulumi.mjs";
import { fillFolder } from "./files.mjs";
import { OLDEST, readVersion } from "./findPulumi.mjs";
import { addedFiles, copyTool } from "./goTool.mjs";
import { isAlive, withLock } from "./lock.mjs";
import { errorMessage, excerpt, remove, run } from "./processes.mjs";
import {
  cacheEntries,
  cliIn,
  findCached,
  goModules,
  isComplete,
  RESOURCE_PLUGIN,
  which,
} from "./pulumiCache.mjs";

/** @typedef {import("./pulumiCache.mjs").PulumiCli} PulumiCli */
/** @typedef {import("./pulumiCache.mjs").SetupContext} SetupContext */

const DAY_MS = 24 * 60 * 60 * 1000;

/** Removes what killed set-ups left. Only the holder of the cache's lock may. @param {string} cache */
export function removeStaleFolders(cache) {
  for (const name of readdirSync(cache)) {
    const pid = /^tmp-(\d+)-/.exec(name)?.[1];
    if (pid === undefined) continue;
    const folder = path.join(cache, name);
    if (!isAlive(Number(pid)) || Date.now() - statSync(folder).mtimeMs > DAY_MS) remove(folder);
  }
}

/** @param {SetupContext} at @param {string} target @param {string} version */
async function installOfficial({ env }, target, version) {
  const install = async (/** @type {string} */ temporary) => {
    await downloadPulumi(version, temporary, env);
    if (!isComplete(temporary)) throw new Error("the release lacks the Node.js host");
  };
  await fillFolder(target, install, isComplete);
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
  const build = async (/** @type {string} */ temporary) => {
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
    const built = await readVersion(path.join(bin, "pulumi"), env);
    if (built !== version) throw new Error(`the built CLI says it is ${built}, not ${version}`);
  };
  await fillFolder(target, build, isComplete);
}

/** Explains why the CLI cannot be built; undefined if Go is there. @param {SetupContext} at */
function explainMissingGo({ root, env }) {
  if (process.platform === "win32") return "Building it on Windows is not supported yet, use WSL.";
  if (which(env.PATH, "go") !== undefined) return undefined;
  const oldest = goModules(root)
    .map(({ go }) => go)
    .sort((one, other) => semver.compare(semver.coerce(other) ?? "0.0.0", semver.coerce(one) ?? "0.0.0"))[0];
  return (
    `There is no Go to build it with either. Install the Pulumi CLI ${OLDEST} or later ` +
    `(https://www.pulumi.com/docs/install/) or Go ${oldest} or later (https://go.dev/dl/).`
  );
}

/**
 * The official release, else one that Go builds.
 * @param {SetupContext} at
 * @returns {Promise<PulumiCli>}
 */
async function fillCache(at) {
  const { version, official, go } = cacheEntries(at.root, at.env);
  at.log(`downloading the Pulumi CLI ${version} (at most three minutes)`);
  try {
    await installOfficial(at, official, version);
    return cliIn(path.join(official, "bin"), version, "official");
  } catch (error) {
    at.log(`the official Pulumi CLI could not be downloaded: ${errorMessage(error)}`);
  }
  const problem = explainMissingGo(at);
  if (problem !== undefined) throw new Error(`The Pulumi CLI could not be downloaded. ${problem}`);
  at.log(
    `building the Pulumi CLI ${version} with Go: three to five minutes and 3 GB, once for all checkouts`,
  );
  await buildWithGo(at, go, version);
  return cliIn(path.join(go, "bin"), version, "go");
}

/**
 * Finds the CLI in the cache, or downloads or builds it there.
 * @param {SetupContext} at
 * @returns {Promise<PulumiCli>}
 */
export async function obtain(at) {
  const cache = path.dirname(cacheEntries(at.root, at.env).go);
  mkdirSync(cache, { recursive: true });
  const body = async () => {
    const other = findCached(at.root, at.env);
    if (other !== undefined) return other;
    removeStaleFolders(cache);
    return await fillCache(at);
  };
  return await withLock(path.join(cache, "set-up.lock"), body, {
    onWait: (holder) => at.log(`waiting for another set-up of the Pulumi CLI (${holder})`),
  });
}
