// @ts-check
import { writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { obtainBrowser } from "../lib/browser.mjs";

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
