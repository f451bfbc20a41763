// @ts-check
import { createHash } from "node:crypto";
import { existsSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { errorMessage, excerpt, remove, run } from "./processes.mjs";

const LIST_MS = 60_000;
const ARCHIVE_MS = 120_000;

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

/**
 * The SHA-256 of a file in a list of checksums.
 * @param {string} list @param {string} name
 */
export function checksumOf(list, name) {
  const found = list.split(/\r?\n/).flatMap((line) => {
    const [, checksum, file] = /^([0-9a-f]{64}) [ *](.+)$/.exec(line) ?? [];
    return checksum !== undefined && file === name ? [checksum] : [];
  });
  const [checksum] = found;
  if (checksum === undefined || found.length > 1)
    throw new Error(`the checksums of the release name ${name} ${found.length} times, and not once`);
  return checksum;
}

/** @param {string} address @param {number} timeoutMs */
async function download(address, timeoutMs) {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(timeoutMs) });
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
 * Downloads a release of the CLI into `bin` of a folder. Nothing of it is unpacked before its checksum is that of the release.
 * @param {string} version @param {string} folder @param {NodeJS.ProcessEnv} env
 */
export async function downloadPulumi(version, folder, env) {
  const name = archiveName(version, process.platform, process.arch);
  const list = await download(`${CHECKSUMS}/v${version}/pulumi-${version}-checksums.txt`, LIST_MS);
  const expected = checksumOf(list.toString("utf8"), name);
  const archive = await download(`${ARCHIVES}/${name}`, ARCHIVE_MS);
  const actual = createHash("sha256").update(archive).digest("hex");
  if (actual !== expected)
    throw new Error(
      `${name} has the SHA-256 ${actual}, and the release ${expected}: it was changed on its way`,
    );
  const file = path.join(folder, name);
  writeFileSync(file, archive);
  // GNU tar, which Git for Windows puts on PATH, unpacks no zip.
  const tar = process.platform === "win32" ? path.join(env.SystemRoot ?? "", "System32", "tar.exe") : "tar";
  const { code, output } = await run(tar, ["-xf", name], { cwd: folder, env });
  if (code !== 0) throw new Error(`${name} could not be unpacked: ${excerpt(output)}`);
  remove(file);
  const unpacked = path.join(folder, "pulumi");
  const inner = path.join(unpacked, "bin");
  renameSync(existsSync(inner) ? inner : unpacked, path.join(folder, "bin"));
  remove(unpacked);
}
