// @ts-check
/*
 * The Pulumi CLI of the version that the tests are made for: its release, or what Go builds of its sources where no release
 * can be downloaded. It lies in a cache for all checkouts.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { cacheRoot, fillFolder } from "./files.mjs";
import { withLock } from "./lock.mjs";
import { errorMessage, remove, run, runToSuccess } from "./processes.mjs";

/**
 * @typedef {object} PulumiCli
 * @property {string} pulumi The absolute path of the binary.
 * @property {string} pulumiDir The folder to put in front of PATH.
 * @property {string} version
 *
 * @typedef {object} SetupContext
 * @property {string} root The checkout.
 * @property {NodeJS.ProcessEnv} env
 * @property {(line: string) => void} log
 */

/** @param {string} folder @param {string} version @returns {PulumiCli} */
export const cliIn = (folder, version) => ({
  pulumi: path.join(folder, process.platform === "win32" ? "pulumi.exe" : "pulumi"),
  pulumiDir: folder,
  version,
});

/**
 * The engine starts it in the program's folder, so the program's own SDK is used. `exec` lets signals reach
 * Node itself.
 */
const RESOURCE_PLUGIN = `#!/bin/sh
sdk=node_modules/@pulumi/pulumi/cmd/dynamic-provider/index.js
[ -f "$sdk" ] || sdk=$(node -p 'require.resolve("@pulumi/pulumi/cmd/dynamic-provider")') || exit 1
exec node "$sdk" "$@"
`;

/**
 * A Go module to build, read from its go.mod: the pins are in one place. Go files beside a go.mod are compiled into its tool.
 * @param {string} root @param {string} name
 */
export function goModule(root, name) {
  const folder = path.join(root, "scripts", "cli", name);
  const read = (/** @type {string} */ file) => readFileSync(path.join(folder, file), "utf8");
  const mod = read("go.mod");
  const tools = [...mod.matchAll(/^(?:tool |\t)(\S+\/pulumi(?:-language-\w+)?)$/gm)].map(
    ([, tool = ""]) => tool,
  );
  const [tool] = tools;
  const version = /^\s*(?:require )?github\.com\/pulumi\/pulumi\/sdk\/v3 (v\S+)/m.exec(mod)?.[1];
  if (tool === undefined || version === undefined)
    throw new Error(`scripts/cli/${name}/go.mod lacks its tool or its version`);
  const added = readdirSync(folder).filter((file) => file.endsWith(".go"));
  return { folder, tool, tools, version, added, pins: mod + ["go.sum", ...added].map(read).join("") };
}

/** @param {string} root */
const goModules = (root) => ["pulumi", "language-nodejs"].map((name) => goModule(root, name));

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

/** Downloads and builds nothing. @param {string} root @param {NodeJS.ProcessEnv} env @returns {PulumiCli | undefined} */
export function findCached(root, env) {
  const { version, official, go } = cacheEntries(root, env);
  const entry = [official, go].find((folder) => existsSync(folder));
  return entry === undefined ? undefined : cliIn(path.join(entry, "bin"), version);
}

/* The release */

/** The archive and the list of checksums come from two hosts: whoever changes one does not change the other. */
const ARCHIVES = "https://get.pulumi.com/releases/sdk";
const CHECKSUMS = "https://github.com/pulumi/pulumi/releases/download";

/** @type {Record<string, string | undefined>} */
const SYSTEMS = { darwin: "darwin", linux: "linux", win32: "windows" };

/**
 * How a release names the archive of a machine.
 * @param {string} version @param {string} platform @param {string} arch As Node names them.
 */
export function archiveName(version, platform, arch) {
  const system = SYSTEMS[platform];
  if (system === undefined || !["x64", "arm64"].includes(arch))
    throw new Error(`there is no release for ${platform} on ${arch}`);
  return `pulumi-v${version}-${system}-${arch}.${platform === "win32" ? "zip" : "tar.gz"}`;
}

/** The SHA-256 of a file in a list of checksums. @param {string} list @param {string} name */
function checksumOf(list, name) {
  const found = list.split(/\r?\n/).flatMap((line) => {
    const [, checksum, file] = /^([0-9a-f]{64}) [ *](.+)$/.exec(line) ?? [];
    return checksum !== undefined && file === name ? [checksum] : [];
  });
  const [checksum] = found;
  if (checksum === undefined || found.length > 1)
    throw new Error(`the checksums of the release name ${name} ${found.length} times, and not once`);
  return checksum;
}

/** @param {string} address */
async function download(address) {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(120_000) });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  } catch (error) {
    // The message of fetch itself is the same for each cause.
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const text = errorMessage(reason).trim().replace(/\s+/g, " ").slice(0, 300);
    throw new Error(`${address}: ${text}`, { cause: error });
  }
}

/**
 * Downloads a release into `bin` of a folder. Nothing of it is unpacked before its checksum is that of the release.
 * @param {string} version @param {string} folder @param {NodeJS.ProcessEnv} env
 */
async function downloadRelease(version, folder, env) {
  const name = archiveName(version, process.platform, process.arch);
  const list = await download(`${CHECKSUMS}/v${version}/pulumi-${version}-checksums.txt`);
  const expected = checksumOf(list.toString("utf8"), name);
  const archive = await download(`${ARCHIVES}/${name}`);
  const actual = createHash("sha256").update(archive).digest("hex");
  if (actual !== expected)
    throw new Error(
      `${name} has the SHA-256 ${actual}, and the release ${expected}: it was changed on its way`,
    );
  const file = path.join(folder, name);
  writeFileSync(file, archive);
  // GNU tar, which Git for Windows puts on PATH, unpacks no zip.
  const tar = process.platform === "win32" ? path.join(env.SystemRoot ?? "", "System32", "tar.exe") : "tar";
  await runToSuccess(tar, ["-xf", name], { cwd: folder, env });
  remove(file);
  const unpacked = path.join(folder, "pulumi");
  const inner = path.join(unpacked, "bin");
  renameSync(existsSync(inner) ? inner : unpacked, path.join(folder, "bin"));
  remove(unpacked);
}

/* What Go builds */

/**
 * Builds a Go program without what differs between machines.
 * @param {string} cwd The folder of its module. @param {string} source @param {string} target
 * @param {NodeJS.ProcessEnv} env @param {string} [flags] Further flags of the linker.
 */
export const goBuild = (cwd, source, target, env, flags = "") =>
  runToSuccess(
    "go",
    ["build", "-mod=readonly", "-trimpath", "-ldflags", `-s -w ${flags}`, "-o", target, source],
    { cwd, env: { ...env, GOWORK: "off", CGO_ENABLED: "0" } },
  );

/** The folder of a package of Go. @param {string} cwd The folder of a module that needs it. @param {string} name @param {NodeJS.ProcessEnv} env */
export const goFolder = async (cwd, name, env) =>
  (await runToSuccess("go", ["list", "-mod=readonly", "-f", "{{.Dir}}", name], { cwd, env })).trim();

/** A method of Go, as gofmt writes it. */
const METHOD = /^func (\(\w+ \*\w+\)) (\w+)\(/gm;

/**
 * Copies a tool and the files that are compiled into it to `target`, as a package of the module in `folder`. Where a file
 * declares a method that the tool has too, the tool's gets another name.
 * @param {{ folder: string, tool: string, added: string[] }} module
 * @param {string} target
 * @param {NodeJS.ProcessEnv} env
 */
export async function copyTool({ folder, tool, added }, target, env) {
  const source = await goFolder(folder, tool, env);
  mkdirSync(target);
  const texts = Object.fromEntries(
    ["go.mod", "go.sum", ...added].map((name) => [name, readFileSync(path.join(folder, name), "utf8")]),
  );
  const methods = new Set(Object.values(texts).flatMap((text) => text.match(METHOD) ?? []));
  for (const name of readdirSync(source)) {
    if (!name.endsWith(".go") || name.endsWith("_test.go")) continue;
    texts[name] = readFileSync(path.join(source, name), "utf8").replace(METHOD, (head, receiver, method) =>
      methods.has(head) ? `func ${receiver} replaced${method}(` : head,
    );
  }
  for (const [name, text] of Object.entries(texts)) writeFileSync(path.join(target, name), text);
}

/** @param {string} root @param {string} folder @param {NodeJS.ProcessEnv} given */
async function buildWithGo(root, folder, given) {
  const bin = path.join(folder, "bin");
  const work = path.join(folder, "work");
  mkdirSync(bin);
  mkdirSync(work);
  // What an interrupted Go leaves goes with the folder.
  const env = { ...given, GOTMPDIR: work };
  for (const module of goModules(root)) {
    const name = path.basename(module.tool);
    const copy = module.added.length > 0 ? path.join(work, name) : undefined;
    if (copy !== undefined) await copyTool(module, copy, env);
    const version = `-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=${module.version}`;
    const source = copy === undefined ? module.tool : ".";
    await goBuild(copy ?? module.folder, source, path.join(bin, name), env, version);
  }
  remove(work);
  writeFileSync(path.join(bin, "pulumi-resource-pulumi-nodejs"), RESOURCE_PLUGIN, { mode: 0o755 });
}

/** Downloads the release into the cache, else builds it there. @param {SetupContext} at */
async function fillCache({ root, env, log }) {
  const { version, official, go } = cacheEntries(root, env);
  log(`downloading the Pulumi CLI ${version} (at most four minutes)`);
  try {
    return await fillFolder(official, (folder) => downloadRelease(version, folder, env));
  } catch (error) {
    log(`the official Pulumi CLI could not be downloaded: ${errorMessage(error)}`);
  }
  if (process.platform === "win32") throw new Error("the Pulumi CLI cannot be built on Windows: use WSL");
  await run("go", ["version"], { env }).catch(() => {
    throw new Error("there is no Go to build the Pulumi CLI with either: install it from https://go.dev/dl/");
  });
  log(`building the Pulumi CLI ${version} with Go: three to five minutes and 3 GB, once for all checkouts`);
  await fillFolder(go, (folder) => buildWithGo(root, folder, env));
}

/**
 * Finds the CLI in the cache, or downloads or builds it there.
 * @param {SetupContext} at
 * @returns {Promise<PulumiCli>}
 */
export async function obtainPulumi(at) {
  const fill = async () => {
    if (findCached(at.root, at.env) === undefined) await fillCache(at);
  };
  if (findCached(at.root, at.env) === undefined)
    await withLock(path.join(cacheRoot(at.env), "set-up.lock"), fill, at.log);
  const cli = findCached(at.root, at.env);
  if (cli === undefined) throw new Error("the Pulumi CLI was removed from the cache meanwhile");
  return cli;
}
