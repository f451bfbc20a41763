// @ts-check
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { runScript } from "./lib/processes.mjs";

/*
 * What a release needs, for .github/workflows/release.yml: versions agree; with a tag, no address is missing and no OWNER is
 * left. Only that workflow publishes.
 */

const root = path.dirname(import.meta.dirname);

/** @param {string} name */
const read = (name) => readFileSync(path.join(root, name), "utf8");

/** The places where OWNER stands for the owner of the repository, as `file:line`. @param {Record<string, string>} texts */
export const ownerPlaces = (texts) =>
  Object.entries(texts).flatMap(([file, text]) =>
    text
      .split("\n")
      .flatMap((line, i) => (line.includes("OWNER/pulumi-platform") ? [`${file}:${i + 1}`] : [])),
  );

/** The files that users copy from, by their paths. */
function publishedTexts() {
  const files = ["actions", "docs", "examples/ci", "templates"].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" }).map(
      (file) => `${folder}/${file}`,
    ),
  );
  const texts = ["README.md", ...files].filter((file) => /\.(md|ya?ml)$/.test(file)).sort();
  return Object.fromEntries(texts.map((file) => [file, read(file)]));
}

/**
 * @param {string | null | undefined} tag
 * @param {{ version: string }} manifest
 * @param {string} changelog
 * @param {string[]} [places] Where OWNER stands.
 * @returns {string[]}
 */
export function releaseProblems(tag, manifest, changelog, places = []) {
  const { version } = manifest;
  const escaped = version.replaceAll(".", "\\.");
  const problems = [];
  if (tag && tag !== `v${version}`) problems.push(`the tag is ${tag}, package.json says ${version}`);
  if (!new RegExp(`^## \\[?${escaped}\\b`, "m").test(changelog))
    problems.push(`CHANGELOG.md has no section ${version}`);
  if (!tag) return problems;
  for (const name of ["repository", "bugs", "homepage"])
    if (!(name in manifest)) problems.push(`package.json has no ${name}`);
  if (places.length > 0)
    problems.push(
      `OWNER must be the owner of the repository, as in acme/pulumi-platform, in ${places.join(", ")}`,
    );
  return problems;
}

async function main() {
  const { GITHUB_REF_TYPE, GITHUB_REF_NAME } = process.env;
  // A run that was started by hand releases nothing.
  const tag = GITHUB_REF_TYPE === "tag" ? GITHUB_REF_NAME : undefined;
  const places = ownerPlaces(publishedTexts());
  const problems = releaseProblems(tag, JSON.parse(read("package.json")), read("CHANGELOG.md"), places);
  if (problems.length > 0) throw new Error(problems.join("\n"));
}

await runScript("release", import.meta.filename, main);
