// @ts-check
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import MarkdownIt from "markdown-it";
import semver from "semver";
import { fillFolder, withTemporaryFolder } from "../lib/files.mjs";
import { runToSuccess } from "../lib/processes.mjs";
import { copyPages } from "./pages.mjs";
import { buildSidebars } from "./sidebar.mjs";

/** The package of the site: the program that builds it, and its appearance. */
export const site = path.join(import.meta.dirname, "..", "..", "site");

/**
 * @typedef {object} Version
 * @property {string} version
 * @property {string} base The path of its pages on the host.
 */

/** The address of the repository, without what npm adds to it. @param {any} manifest @returns {string | undefined} */
function repositoryOf({ repository }) {
  const address = typeof repository === "string" ? repository : repository?.url;
  return address?.replace(/^git\+/, "").replace(/\.git$/, "");
}

/** @param {string} checkout */
const manifestOf = (checkout) => JSON.parse(readFileSync(path.join(checkout, "package.json"), "utf8"));

/** What the first page says of recording and report. Without a browser there are no pictures of them. @param {string} media */
function mediaText(media) {
  const text = readFileSync(path.join(site, "media.md"), "utf8");
  const hasPictures = existsSync(path.join(media, "report-light.png"));
  return hasPictures ? text : text.replaceAll("<PictureLink ", "<PictureLink without-picture ");
}

/** A fence of the README, by what it begins with: the one of another version may have none. @param {string} checkout @param {RegExp} begins */
function fenceOf(checkout, begins) {
  const text = readFileSync(path.join(checkout, "README.md"), "utf8");
  const fences = text.match(/^```\w+\n[^]*?^```$/gm) ?? [];
  return fences.find((fence) => begins.test(fence)) ?? "";
}

/** The comment of a pull request, as Markdown that a run of the review wrote. @param {string | undefined} media */
function commentText(media) {
  const file = path.join(media ?? "", "comment.md");
  if (media === undefined || !existsSync(file)) return "";
  const html = new MarkdownIt({ html: true, linkify: false }).render(readFileSync(file, "utf8"));
  // The headings of the comment are none of the page's.
  const body = html.replace(/<(\/?)h[1-6]>/g, "<$1p>").replace(/\n{2,}/g, "\n");
  return `## What a pull request shows\n\n<div class="comment" tabindex="0" role="region" aria-label="A comment of the review" v-pre>\n${body}</div>`;
}

/** The first page: a program, how to install it, and a comment. @param {string} checkout @param {string | undefined} media */
const firstPage = (checkout, media) =>
  readFileSync(path.join(site, "index.md"), "utf8")
    .replace("<!-- the program -->", () => fenceOf(checkout, /^```ts\nimport /))
    .replace("<!-- the installation -->", () => fenceOf(checkout, /^```sh\nnpm install /))
    .replace("<!-- the comment -->", () => commentText(media));

/** Prepares a folder of its own for VitePress, which writes beside its configuration. @param {string} folder */
function prepareWorkspace(folder) {
  cpSync(path.join(site, ".vitepress"), path.join(folder, ".vitepress"), { recursive: true });
  symlinkSync(path.join(site, "node_modules"), path.join(folder, "node_modules"), "junction");
}

/**
 * Builds the pages of a checkout.
 * @param {{ checkout: string, workspace: string, base: string, out: string, versions: Version[], media: string | undefined }} at
 * @returns {Promise<number>} How many pages.
 */
async function buildVersion({ checkout, workspace, base, out, versions, media }) {
  const manifest = manifestOf(checkout);
  const into = path.join(workspace, ".pages");
  mkdirSync(into, { recursive: true });
  prepareWorkspace(workspace);
  const repository = repositoryOf(manifest);
  const titles = copyPages({ root: checkout, into, repository });
  writeFileSync(path.join(into, "index.md"), firstPage(checkout, media));
  if (media !== undefined) {
    // The comment is a part of the first page, and no page of its own.
    const isShown = (/** @type {string} */ file) => !file.endsWith(".md");
    cpSync(media, path.join(into, "public", "media"), { recursive: true, filter: isShown });
    appendFileSync(path.join(into, "index.md"), mediaText(media));
  }
  const data = { version: manifest.version, repository, base, out, versions, sidebar: buildSidebars(titles) };
  writeFileSync(path.join(into, "site.json"), JSON.stringify(data));
  const vitepress = path.join(site, "node_modules", "vitepress", "bin", "vitepress.js");
  await runToSuccess(process.execPath, [vitepress, "build", workspace], { cwd: workspace });
  return titles.size;
}

/** The tags of released versions, the newest first. Pre-releases have no pages of their own. @param {string} root */
export async function listReleases(root) {
  const output = await runToSuccess("git", ["tag", "--list", "v*"], { cwd: root });
  const tags = output.split("\n").filter((tag) => semver.valid(tag) && semver.prerelease(tag) === null);
  return semver.rsort(tags);
}

/** Writes the files of a tag into a new folder. @param {string} root @param {string} tag @param {string} folder */
async function extractTag(root, tag, folder) {
  mkdirSync(folder);
  const archive = path.join(folder, ".archive.tar");
  await runToSuccess("git", ["archive", "--output", archive, tag], { cwd: root });
  await runToSuccess("tar", ["-xf", archive], { cwd: folder });
}

/**
 * Builds the site: the current version at `base`, each released one in a folder below it.
 * @param {{ root: string, out: string, base: string, tags: string[], media?: string, log: (line: string) => void }} at
 *   `media`: a folder of what the first page shows beside its text.
 */
export async function buildSite({ root, out, base, tags, media, log }) {
  const { version } = manifestOf(root);
  const older = tags.map((tag) => tag.slice(1)).filter((released) => released !== version);
  const versions = [
    { version, base },
    ...older.map((released) => ({ version: released, base: `${base}${released}/` })),
  ];
  const buildInto = (/** @type {string} */ target, /** @type {Version} */ each) =>
    withTemporaryFolder("site", async (folder) => {
      const isCurrent = each.version === version;
      const checkout = isCurrent ? root : path.join(folder, "checkout");
      if (!isCurrent) await extractTag(root, `v${each.version}`, checkout);
      const workspace = path.join(folder, "workspace");
      const pages = isCurrent ? target : path.join(target, each.version);
      const count = await buildVersion({ checkout, workspace, base: each.base, out: pages, versions, media });
      log(`${count} pages of ${each.version}`);
    });
  const fill = async (/** @type {string} */ target) => {
    for (const each of versions) await buildInto(target, each);
  };
  await fillFolder(out, fill, { replaces: true });
}
