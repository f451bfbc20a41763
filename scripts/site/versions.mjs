// @ts-check
import { mkdirSync } from "node:fs";
import path from "node:path";
import semver from "semver";
import { runToSuccess } from "../lib/processes.mjs";

/** The tags of released versions, the newest first. Pre-releases have no pages of their own. @param {string} root */
export async function listReleases(root) {
  const output = await runToSuccess("git", ["tag", "--list", "v*"], { cwd: root });
  const tags = output.split("\n").filter((tag) => semver.valid(tag) && semver.prerelease(tag) === null);
  return semver.rsort(tags);
}

/** Writes the files of a tag into a new folder. @param {string} root @param {string} tag @param {string} folder */
export async function extractTag(root, tag, folder) {
  mkdirSync(folder);
  const archive = path.join(folder, ".archive.tar");
  await runToSuccess("git", ["archive", "--output", archive, tag], { cwd: root });
  await runToSuccess("tar", ["-xf", archive], { cwd: folder });
}
