// @ts-nocheck -- The packages of the site are not those of this repository.
import { readFileSync } from "node:fs";
import path from "node:path";
import { slug } from "github-slugger";
import { defineConfig } from "vitepress";

/** What scripts/site.mjs knows of this build. */
const build = JSON.parse(readFileSync(new URL("../.pages/site.json", import.meta.url), "utf8"));

/** The address of a link in a page, where the file that it leads to is no page. @param {string} page @param {string} link */
function sourceAddress(page, link) {
  const isLocal = !/^([a-z]+:|#|\/)/.test(link) && page !== "index.md";
  const target = path.posix.join(path.posix.dirname(page), link.replace(/#.*/, ""));
  if (!isLocal || target.endsWith(".md")) return undefined;
  return build.repository ? `${build.repository}/tree/v${build.version}/${target}` : `/source/${target}.md`;
}

/** Keeps Vue from evaluating `{{ }}` in code within a line. @param {import("vitepress").MarkdownRenderer} md */
function protectInlineCode(md) {
  md.core.ruler.push("inline-code", ({ tokens }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? []))
      if (token.type === "code_inline") token.attrSet("v-pre", "");
  });
}

/** Leads links to sources of the repository to where they can be read. @param {import("vitepress").MarkdownRenderer} md */
function linkSources(md) {
  md.core.ruler.push("sources", ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type !== "link_open") continue;
      const address = sourceAddress(env.relativePath, token.attrGet("href") ?? "");
      if (address !== undefined) token.attrSet("href", address);
    }
  });
}

/** Gives each cell the name of its column, which a phone shows beside it. @param {import("vitepress").MarkdownRenderer} md */
function labelCells(md) {
  md.core.ruler.push("labels", ({ tokens }) => {
    /** @type {string[]} */
    let labels = [];
    let column = 0;
    for (const [index, token] of tokens.entries()) {
      if (token.type === "thead_open") labels = [];
      if (token.type === "tr_open") column = 0;
      if (token.type === "th_open") labels.push(tokens[index + 1]?.content ?? "");
      if (token.type === "td_open") token.attrSet("data-label", labels[column++] ?? "");
    }
  });
}

/** Draws blocks of Mermaid. @param {import("vitepress").MarkdownRenderer} md */
function drawDiagrams(md) {
  const { fence } = md.renderer.rules;
  md.renderer.rules.fence = (tokens, index, ...context) => {
    const block = fence?.(tokens, index, ...context) ?? "";
    return tokens[index]?.info.trim() === "mermaid" ? `<Diagram>${block}</Diagram>` : block;
  };
}

/** @param {{ version: string, base: string }} version */
const versionLink = ({ version, base }) => ({
  component: "VersionLink",
  props: { text: version, href: base },
});

/** Pages that no user of the package looks for. */
const FOR_DEVELOPERS =
  /^(CONTRIBUTING|docs\/(architecture|api-contract|glossary|tests)|docs\/development\/.*|source\/.*)(\.md)?$/;

/** What the search knows of a page. Long lists of names say nothing about a page, and would hide what others say. @param {string} text @param {any} env @param {import("vitepress").MarkdownRenderer} md */
function renderForSearch(text, env, md) {
  const html = md.render(text, env);
  if (FOR_DEVELOPERS.test(env.relativePath)) return "";
  return html.replace(/(?:<code[^>]*>[^<]*<\/code>,\s*){5,}/g, "");
}

const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#3451b2"/><path d="M5 12V4h3.5a2.5 2.5 0 0 1 0 5H5" fill="none" stroke="#fff" stroke-width="2"/></svg>',
)}`;

export default defineConfig({
  srcDir: ".pages",
  outDir: build.out,
  cacheDir: ".cache",
  base: build.base,
  title: "pulumi-platform",
  description:
    "Access as code for the Platform API v2: resources, reviews of pull requests, drift, adoption.",
  lang: "en",
  head: [["link", { rel: "icon", href: ICON }]],
  markdown: {
    anchor: { slugify: (text) => slug(text) },
    config: (md) => {
      linkSources(md);
      protectInlineCode(md);
      drawDiagrams(md);
      labelCells(md);
    },
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
  },
  themeConfig: {
    nav: [
      { text: "Quick start", link: "/docs/quick-start" },
      { text: "Reference", link: "/docs/reference/README" },
      { text: build.version, items: build.versions.map(versionLink) },
    ],
    sidebar: build.sidebar,
    outline: { level: [2, 3] },
    search: { provider: "local", options: { _render: renderForSearch } },
    ...(build.repository ? { socialLinks: [{ icon: "github", link: build.repository }] } : {}),
  },
});
