// @ts-check
import { writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import MarkdownIt from "markdown-it";
import { obtainBrowser } from "../lib/browser.mjs";
import { drawSigns } from "./signs.mjs";

const STYLE = `
:root { color-scheme: light dark; --text: light-dark(#1f2328, #f0f6fc); --line: light-dark(#d1d9e0, #3d444d);
  --soft: light-dark(#f6f8fa, #151b23); --page: light-dark(#fff, #0d1117); --link: light-dark(#0550ae, #79b8ff); }
body { margin: 0; padding: 24px; background: var(--page); color: var(--text); font: 14px/1.5 system-ui, sans-serif; }
article { max-width: 860px; margin: auto; border: 1px solid var(--line); border-radius: 6px; }
header { padding: 8px 16px; background: var(--soft); border-bottom: 1px solid var(--line); }
.body { padding: 4px 16px 16px; overflow-wrap: anywhere; }
a { color: var(--link); }
table { border-collapse: collapse; display: block; overflow-x: auto; overflow-wrap: normal; }
th, td { border: 1px solid var(--line); padding: 6px 12px; text-align: left; }
tr:nth-child(2n) td, code { background: var(--soft); }
code { font: 12px ui-monospace, monospace; padding: 2px 4px; border-radius: 4px; }
pre { background: var(--soft); padding: 12px; overflow-x: auto; }
svg { width: 1em; height: 1em; vertical-align: -0.125em; }
blockquote { margin: 0; padding: 0 1em; border-left: 4px solid var(--line); }
`;

/** A page that shows the Markdown of a report as a comment of a pull request. @param {string} markdown */
export function commentPage(markdown) {
  const body = drawSigns(new MarkdownIt({ html: true, linkify: false }).render(markdown));
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>A comment of the review</title>
<style>${STYLE}</style>
<main><article><header><strong>access-review</strong> commented</header><div class="body">${body}</div></article></main>
</html>
`;
}

/**
 * Takes a picture of each page in light and in dark, for a first page that shows them.
 * @param {string} folder @param {readonly string[]} names Of the pages. @param {(line: string) => void} log
 */
export async function takePictures(folder, names, log) {
  const found = await obtainBrowser({ log });
  if ("reason" in found) return log(`no pictures: ${found.reason}`);
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch({ executablePath: found.file });
  try {
    for (const name of names) {
      const page = await browser.newPage({ viewport: { width: 1000, height: 760 } });
      await page.goto(pathToFileURL(path.join(folder, `${name}.html`)).href);
      for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
        await page.emulateMedia({ colorScheme });
        writeFileSync(path.join(folder, `${name}-${colorScheme}.png`), await page.screenshot());
      }
      await page.close();
    }
  } finally {
    await browser.close();
  }
}
