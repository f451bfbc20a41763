import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { source as axeSource } from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { chromium } from "playwright-core";
import { renderers } from "../../../../../provider/access/report/render";
import type { Report } from "../../../../../provider/access/report/report";
import { largeReview, nightDrift, rewritten, riskyReview } from "./reports";

/** CI names a browser, and then the tests run or fail. */
const named = process.env["PULUMI_PLATFORM_BROWSER"];
const executablePath =
  named ?? ["/usr/bin/chromium", "/usr/bin/google-chrome"].find((file) => existsSync(file));
if (executablePath === undefined) {
  console.warn(
    "The tests of the page are skipped: there is no Chromium at /usr/bin/chromium, and PULUMI_PLATFORM_BROWSER names none.",
  );
}

interface Open {
  readonly page: Page;
  /** What must stay empty: requests but the page's own, messages of the console, errors of scripts. */
  readonly troubles: string[];
}

(executablePath === undefined ? describe.skip : describe)("the page in a browser", () => {
  let browser: Browser;
  let folder: string;
  let pages = 0;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "pulumi-platform-page-"));
    browser = await chromium.launch({ executablePath: executablePath ?? "" });
  });

  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(report: Report, context: BrowserContextOptions = {}): Promise<Open> {
    const file = join(folder, `${pages++}.html`);
    writeFileSync(file, renderers.html(report, {}));
    const url = pathToFileURL(file).href;
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...context });
    const troubles: string[] = [];
    page.on("request", (request) => {
      if (request.url() !== url && request.url() !== "data:,") troubles.push(`request ${request.url()}`);
    });
    page.on("console", (message) => troubles.push(`console ${message.text()}`));
    page.on("pageerror", (error) => troubles.push(`error ${error.message}`));
    page.on("dialog", (dialog) => {
      troubles.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    await page.goto(url);
    return { page, troubles };
  }

  const grants = (page: Page): Promise<string[]> => page.locator("tbody tr:visible th").allInnerTexts();
  const count = (page: Page, text: string): Promise<void> =>
    page.locator("#count", { hasText: text }).waitFor({ state: "visible", timeout: 0 });

  test("filters by person, role, group, severity and change, and says how many are left", async () => {
    const { page, troubles } = await open(riskyReview);
    await count(page, "5 of 5 findings; 6 of 6 changes of access.");
    expect(await page.locator("#count").getAttribute("aria-live")).toBe("polite");

    await page.getByLabel("Person or identity").fill("JO@example");
    await count(page, "2 of 6 changes of access.");
    expect(await grants(page)).toEqual(["jo@example.com", "jo@example.com"]);
    await page.getByLabel("Person or identity").press("Escape");
    await count(page, "6 of 6 changes");

    await page.getByRole("combobox", { name: "Role" }).selectOption({ label: "registry.push" });
    await count(page, "2 of 6 changes");
    await page.getByLabel("Group and below").selectOption({ label: "acme / payments" });
    await count(page, "1 of 6 changes");
    await page.getByRole("button", { name: "Clear" }).click();
    await count(page, "6 of 6 changes");

    await page.getByLabel("Severity").selectOption({ label: "critical" });
    await count(page, "2 of 5 findings; 2 of 6 changes");
    expect(await page.locator("[data-item=finding]:visible h3").allInnerTexts()).toHaveLength(2);
    await page.getByRole("combobox", { name: "Change" }).selectOption("lost");
    await count(page, "2 of 5 findings; 0 of 6 changes");
    expect(await page.getByText("No change of access fits the filter.").isVisible()).toBe(true);
    expect(troubles).toEqual([]);
    await page.close();
  });

  test("is worked by the keyboard alone, in the order in which it is read", async () => {
    const { page, troubles } = await open(riskyReview);
    const focused = (): Promise<string> =>
      page.evaluate(`(() => {
        const at = document.activeElement;
        return at.labels && at.labels[0] ? at.labels[0].firstChild.textContent : at.textContent.trim().slice(0, 40);
      })()`);
    const order: string[] = [];
    for (let index = 0; index < 9; index += 1) {
      await page.keyboard.press("Tab");
      order.push(await focused());
    }
    expect(order).toEqual([
      "Skip to the findings",
      "Person or identity",
      "Role",
      "Group and below",
      "Severity",
      "Change",
      "Clear",
      "acme",
      "payments",
    ]);
    const payments = page.getByRole("button", { name: "payments" });
    await page.keyboard.press("Enter");
    await count(page, "2 of 6 changes");
    expect(await payments.getAttribute("aria-pressed")).toBe("true");
    expect(await page.getByLabel("Group and below").locator("option:checked").innerText()).toBe(
      "acme / payments",
    );
    await page.keyboard.press("Space");
    await count(page, "6 of 6 changes");
    expect(await payments.getAttribute("aria-pressed")).toBe("false");
    await page.locator("summary").first().focus();
    await page.keyboard.press("Enter");
    expect(await page.getByText("holds viewer at acme / web").isVisible()).toBe(true);
    expect(troubles).toEqual([]);
    await page.close();
  });

  test.each([
    ["light, wide", riskyReview, { colorScheme: "light" }],
    ["dark, wide", riskyReview, { colorScheme: "dark" }],
    [
      "dark, as narrow as a telephone",
      nightDrift,
      { colorScheme: "dark", viewport: { width: 360, height: 740 } },
    ],
  ] as const)("has no fault that axe finds, and its landmarks: %s", async (_, report, context) => {
    const { page, troubles } = await open(report, context);
    await page.evaluate("for (const element of document.querySelectorAll('details')) element.open = true");
    await page.evaluate(axeSource);
    const violations: unknown = await page.evaluate(`axe.run().then(({ violations }) =>
      violations.map(({ id, nodes }) => [id, nodes.map(({ html, failureSummary }) => html + failureSummary)]))`);
    expect(violations).toEqual([]);
    for (const role of ["banner", "main", "contentinfo", "search"] as const) {
      expect(await page.getByRole(role).count()).toBe(1);
    }
    expect(await page.getByRole("navigation", { name: /^Groups/ }).count()).toBe(
      report.groups.length > 0 ? 1 : 0,
    );
    expect(await page.getByRole("columnheader").count()).toBe(report.grants.length > 0 ? 6 : 0);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    expect(troubles).toEqual([]);
    await page.close();
  });

  test("follows the system's colours", async () => {
    const background = async (colorScheme: "light" | "dark"): Promise<string> => {
      const { page } = await open(nightDrift, { colorScheme });
      const colour: string = await page.evaluate("getComputedStyle(document.body).backgroundColor");
      await page.close();
      return colour;
    };
    expect(await background("light")).toBe("rgb(252, 252, 251)");
    expect(await background("dark")).toBe("rgb(21, 23, 26)");
  });

  test("without script shows everything and offers no filter that does nothing", async () => {
    const { page } = await open(largeReview(300), { javaScriptEnabled: false });
    expect(await page.locator("tbody tr:visible").count()).toBe(300);
    expect(await page.locator(".findings > li:visible").count()).toBe(300);
    expect(await page.locator("input:visible, select:visible, button:visible").count()).toBe(0);
    await page.close();
  });

  test("prints everything, unfolded and without the filter", async () => {
    const { page } = await open(largeReview(300));
    await page.emulateMedia({ media: "print" });
    await page.evaluate("dispatchEvent(new Event('beforeprint'))");
    expect(await page.locator("tbody tr:visible").count()).toBe(300);
    expect(await page.locator("details:not([open])").count()).toBe(0);
    expect(await page.getByRole("combobox", { name: "Role" }).isVisible()).toBe(false);
    await page.close();
  });

  test("lists the first of 5,000, finds one among them, and shows more when asked", async () => {
    const { page, troubles } = await open(largeReview(5000));
    await count(page, "5,000 of 5,000 changes of access, the first 200 listed.");
    expect(await page.locator("tbody tr:visible").count()).toBe(200);
    await page.getByRole("button", { name: "Show 1,000 more of 4,800" }).last().click();
    await count(page, "the first 1,200 listed.");
    await page.getByLabel("Person or identity").fill("service-399,");
    await count(page, "12 of 5,000 changes of access.");
    expect(await page.locator("tbody tr:visible").count()).toBe(12);
    expect(troubles).toEqual([]);
    await page.close();
  });

  test("runs and loads nothing that a name says", async () => {
    const attack =
      "</script></style></title><script>alert(1)</script><img src='http://127.0.0.1:9/x' onerror='alert(2)'>\" onfocus=\"alert(3)\" autofocus=\"";
    const { page, troubles } = await open(rewritten(riskyReview, (text) => `${attack}${text}`));
    await count(page, "6 of 6 changes of access.");
    expect(await page.locator("img, script:not([src])").count()).toBe(2);
    expect(troubles).toEqual([]);
    // And were a name ever not escaped: the page's own policy stops it.
    await page.evaluate(
      `document.body.insertAdjacentHTML("beforeend", "<img src=http://127.0.0.1:9/x onerror=alert(1)>")`,
    );
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))");
    expect(troubles.join("\n")).toContain("Content Security Policy");
    expect(troubles.join("\n")).not.toContain("dialog");
    await page.close();
  });
});
