import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { source as axeSource } from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { chromium } from "playwright-core";
import { renderers } from "../../../../../provider/access/report/render";
import type { Report } from "../../../../../provider/access/report/report";
import { temporaryFolder } from "../../../../support/folders";

/** CI names a browser, and then the tests run or fail. */
const named = process.env["PULUMI_PLATFORM_BROWSER"];
export const executablePath =
  named ?? ["/usr/bin/chromium", "/usr/bin/google-chrome"].find((file) => existsSync(file));
if (executablePath === undefined) {
  console.warn(
    "The tests of the page are skipped: there is no Chromium at /usr/bin/chromium, and PULUMI_PLATFORM_BROWSER names none.",
  );
}

export interface OpenPage {
  readonly page: Page;
  /** What must stay empty: requests but the page's own, messages of the console, errors of scripts. */
  readonly troubles: string[];
}

export type OpenReport = (report: Report, options?: BrowserContextOptions) => Promise<OpenPage>;

/** Tests of pages in Chromium, with one browser for all of them. */
export function describeInBrowser(title: string, tests: (open: OpenReport) => void): void {
  (executablePath === undefined ? describe.skip : describe)(title, () => {
    const folder = temporaryFolder();
    let browser: Browser;
    let pages = 0;

    beforeAll(async () => {
      browser = await chromium.launch({ executablePath: executablePath ?? "" });
    });

    afterAll(() => browser.close());

    tests(async (report, context = {}) => {
      const file = join(folder, `${pages++}.html`);
      writeFileSync(file, renderers.html(report, {}));
      const url = pathToFileURL(file).href;
      const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...context });
      const troubles: string[] = [];
      page.on("request", (request) => {
        if (request.url().replace(/#.*/, "") !== url && request.url() !== "data:,")
          troubles.push(`request ${request.url()}`);
      });
      page.on("console", (message) => troubles.push(`console ${message.text()}`));
      page.on("pageerror", (error) => troubles.push(`error ${error.message}`));
      page.on("dialog", (dialog) => {
        troubles.push(`dialog ${dialog.message()}`);
        void dialog.dismiss();
      });
      await page.goto(url);
      return { page, troubles };
    });
  });
}

/** Waits until the filter says how much is shown. */
export const waitForCount = (page: Page, text: string): Promise<void> =>
  page.locator("#count", { hasText: text }).waitFor({ state: "visible", timeout: 0 });

/** What axe finds, with every fold open. */
export async function findViolations(page: Page): Promise<unknown> {
  await page.evaluate("for (const element of document.querySelectorAll('details')) element.open = true");
  await page.evaluate(axeSource);
  return page.evaluate(`axe.run().then(({ violations }) =>
    violations.map(({ id, nodes }) => [id, nodes.map(({ html, failureSummary }) => html + failureSummary)]))`);
}

/** Whether nothing is wider than the window. */
export const fitsWindow = (page: Page): Promise<unknown> =>
  page.evaluate("document.documentElement.scrollWidth <= innerWidth");
