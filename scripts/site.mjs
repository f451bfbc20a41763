// @ts-check
/*
 * npm run site -- [options]
 *
 * Builds the documents as a static site in site/dist: the current ones, and below /1.2.3/ those of each released version.
 *
 *   --base PATH       path of the site on its host; default /
 *   --no-versions     the current version only
 *   --test            run the tests of the site afterwards
 *   --report FILE     write the result of the tests as JSON
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { hashFiles, withTemporaryFolder } from "./lib/files.mjs";
import { withLock } from "./lib/lock.mjs";
import { run, runScript, runToSuccess } from "./lib/processes.mjs";
import { buildSite, listReleases, site } from "./site/build.mjs";
import { makeMedia } from "./site/media.mjs";
import { ensureReady, root } from "./setup.mjs";

/** Installs the packages of the site, unless they are those of its lockfile. */
async function installPackages() {
  const stamp = path.join(site, "node_modules", ".lockfile");
  const wanted = hashFiles(site, ["package-lock.json"]);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  console.error("site: installing packages takes about half a minute");
  // The script of esbuild, the only one, checks a binary that npm has installed as a package.
  await runToSuccess("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: site });
  writeFileSync(stamp, wanted);
}

/** @param {string | undefined} report @returns {Promise<number>} The exit code. */
async function testSite(report) {
  const jest = path.join(root, "node_modules", "jest", "bin", "jest.js");
  const args = report === undefined ? [] : ["--json", `--outputFile=${path.resolve(report)}`];
  const env = { ...process.env, PULUMI_PLATFORM_TESTS: "site" };
  const { code } = await run(process.execPath, [jest, ...args], { cwd: root, env, output: "inherit" });
  return code ?? 1;
}

/**
 * Builds site/dist, and tests it.
 * @param {{ base: string, "no-versions": boolean, test: boolean, report?: string | undefined }} options
 * @param {(line: string) => void} log
 */
async function buildAndTest({ base, "no-versions": isCurrentOnly, test, report }, log) {
  await installPackages();
  const tags = isCurrentOnly ? [] : await listReleases(root);
  const cli = await ensureReady();
  await withTemporaryFolder("site", async (media) => {
    await makeMedia({ root, cli, into: media, log });
    await buildSite({ root, out: path.join(site, "dist"), base, tags, media, log });
  });
  return test ? await testSite(report) : undefined;
}

/** @param {string[]} args */
async function main(args) {
  const flag = { type: /** @type {const} */ ("boolean"), default: false };
  const text = { type: /** @type {const} */ ("string") };
  const { values } = parseArgs({
    args,
    options: { base: { ...text, default: "/" }, "no-versions": flag, test: flag, report: text },
  });
  if (!/^\/([\w.-]+\/)*$/.test(values.base)) throw new Error("--base must begin and end with a slash");
  const log = (/** @type {string} */ line) => console.error(`site: ${line}`);
  // The tests read what this run has built.
  return await withLock(path.join(root, ".cache", "site.lock"), () => buildAndTest(values, log), log);
}

await runScript("site", import.meta.filename, main);
