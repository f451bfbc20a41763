// @ts-check
import { realpathSync } from "node:fs";
import path from "node:path";
import semver from "semver";
import { lastLine, errorMessage, run } from "./processes.mjs";
import { cliIn, companions, exe, findCached, isExecutable, which } from "./pulumiCache.mjs";

/** @typedef {import("./pulumiCache.mjs").PulumiCli} PulumiCli */
/** @typedef {import("./pulumiCache.mjs").SetupContext} SetupContext */

/** The oldest CLI that the provider is made for; the next major version may differ. */
export const OLDEST = "3.220.0";

/** @param {string} version @returns {string | undefined} Why it will not do. */
export function versionProblem(version) {
  if (semver.lt(version, OLDEST)) return `older than ${OLDEST}`;
  return semver.major(version) > semver.major(OLDEST) ? "of a later major version" : undefined;
}

/**
 * The version of a CLI, without the suffix of a development build.
 * @param {string} pulumi
 * @param {NodeJS.ProcessEnv} env
 */
export async function readVersion(pulumi, env) {
  const { code, output, stdout } = await run(pulumi, ["version"], {
    env: { ...env, PULUMI_SKIP_UPDATE_CHECK: "true" },
    timeoutMs: 20_000,
  });
  const version = code === 0 ? semver.parse(stdout.trim()) : null;
  if (version === null) throw new Error(`it does not print its version: ${lastLine(output)}`);
  return `${version.major}.${version.minor}.${version.patch}`;
}

/** Why the CLI on PATH will not do, or its version. @param {string} pulumi @param {NodeJS.ProcessEnv} env */
async function judge(pulumi, env) {
  const folders = [path.dirname(pulumi), path.dirname(realpathSync(pulumi))];
  const absent = companions.find(
    (name) =>
      !folders.some((folder) => isExecutable(path.join(folder, name))) && which(env.PATH, name) === undefined,
  );
  if (absent !== undefined) throw new Error(`${absent} is neither beside it nor on PATH`);
  const version = await readVersion(pulumi, env);
  const problem = versionProblem(version);
  if (problem !== undefined) throw new Error(`version ${version} is ${problem}`);
  return version;
}

/** @param {SetupContext} at @returns {Promise<PulumiCli | undefined>} */
async function findOnPath({ root, env, log }) {
  const pulumi = which(env.PATH, `pulumi${exe}`);
  if (pulumi === undefined) return undefined;
  const folder = path.dirname(pulumi);
  // After set-up our own copy is on PATH: what it is is known.
  const cached = findCached(root, env);
  if (cached !== undefined && realpathSync(folder) === realpathSync(cached.pulumiDir)) return cached;
  try {
    return cliIn(folder, await judge(pulumi, env), "path");
  } catch (error) {
    log(`${pulumi} is passed over: ${errorMessage(error)}`);
    return undefined;
  }
}

/**
 * The CLI that is there already: on PATH, else in the cache. Downloads and builds nothing.
 * @param {SetupContext} at
 * @returns {Promise<PulumiCli | undefined>}
 */
export async function findInstalled(at) {
  return (await findOnPath(at)) ?? findCached(at.root, at.env);
}
