// @ts-check
import { readFileSync } from "node:fs";
import path from "node:path";
import { run, runScript } from "./lib/processes.mjs";

/*
 * What a release needs, for .github/workflows/release.yml:
 *   node scripts/release.mjs --check     the tag, package.json and CHANGELOG.md name the same version
 *   node scripts/release.mjs --publish   publishes with provenance where a tag was pushed, else shows what would be published
 */

const root = path.dirname(import.meta.dirname);

/** @param {string} name */
const read = (name) => readFileSync(path.join(root, name), "utf8");

/** The version of the tag that was pushed; undefined for a run that releases nothing. @param {NodeJS.ProcessEnv} env */
export const tagOf = (env) => (env.GITHUB_REF_TYPE === "tag" ? env.GITHUB_REF_NAME : undefined);

/**
 * @param {string | null | undefined} tag
 * @param {{ version: string, repository?: unknown }} manifest
 * @param {string} changelog
 * @returns {string[]}
 */
export function releaseProblems(tag, { version, repository }, changelog) {
  const escaped = version.replaceAll(".", "\\.");
  const problems = [];
  if (tag && tag !== `v${version}`) problems.push(`the tag is ${tag}, package.json says ${version}`);
  if (!new RegExp(`^## \\[?${escaped}\\b`, "m").test(changelog))
    problems.push(`CHANGELOG.md has no section ${version}`);
  if (tag && repository === undefined) {
    problems.push(
      "package.json names no repository: npm compares it with the one that proves where the package comes from",
    );
  }
  return problems;
}

/** @param {string[]} args */
async function main(args) {
  const tag = tagOf(process.env);
  const problems = releaseProblems(tag, JSON.parse(read("package.json")), read("CHANGELOG.md"));
  if (problems.length > 0) throw new Error(problems.join("\n"));
  if (!args.includes("--publish")) return;
  const how = tag === undefined ? ["--dry-run"] : ["--provenance"];
  const publish = ["publish", "--access", "public", ...how];
  return (await run("npm", publish, { cwd: root, output: "inherit" })).code;
}

await runScript("release", import.meta.filename, main);
