import { readFileSync } from "node:fs";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { chromium } from "playwright-core";
import { executablePath, findViolations, fitsWindow } from "../provider/access/report/render/browser";
import { fileOf, pages, serve } from "./support";

/**
 * One page of each form: accessibility depends on the form, not on the words. Long pages have no element that these, or a page
 * with diagrams, do not have.
 */
const FORMS = ["/index.html", "/README.html", "/docs/reference/resources/RoleBinding.html"];

const MERMAID = /class="language-mermaid/g;
const diagramPages = pages.filter((address) => readFileSync(fileOf(address), "utf8").match(MERMAID));

/** The texts of each diagram with their contrast, by the formula of axe. */
const READ_DIAGRAMS = `
  [...document.querySelectorAll(".diagram svg")].map((svg) => {
    const { Color, getContrast } = axe.commons.color;
    const parse = (text) => { const color = new Color(); color.parseString(text); return color; };
    const backgroundOf = (label) => {
      const shape = label.closest(".node, .cluster")?.querySelector("rect, path, polygon, circle");
      return shape ? getComputedStyle(shape).fill : getComputedStyle(label).backgroundColor;
    };
    return [...svg.querySelectorAll("foreignObject p")].map((label) => [
      label.textContent,
      getContrast(parse(backgroundOf(label)), parse(getComputedStyle(label).color)),
    ]);
  })`;

(executablePath === undefined ? describe.skip : describe)("the site in a browser", () => {
  let browser: Browser;
  let opened: Page[] = [];
  let site: Awaited<ReturnType<typeof serve>>;
  const troubles: string[] = [];

  beforeAll(async () => {
    site = await serve();
    browser = await chromium.launch({ executablePath: executablePath ?? "" });
  });

  afterAll(async () => {
    await browser.close();
    site.server.close();
  });

  afterEach(async () => {
    await Promise.all(opened.map((page) => page.close()));
    opened = [];
    expect(troubles.splice(0)).toEqual([]);
  });

  async function openPage(address: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
    page.on("request", (request) => {
      if (!/^(data:|blob:)/.test(request.url()) && !request.url().startsWith(site.url))
        troubles.push(`request ${request.url()}`);
    });
    page.on("console", (message) => troubles.push(`console ${message.text()}`));
    page.on("pageerror", (error) => troubles.push(`error ${error.message}`));
    opened.push(page);
    await page.goto(site.url + address, { waitUntil: "networkidle" });
    return page;
  }

  test.each(FORMS)("axe finds nothing in %s, light and dark", async (address) => {
    const page = await openPage(address, { reducedMotion: "reduce" });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.locator(colorScheme === "dark" ? "html.dark" : "html:not(.dark)").waitFor({ timeout: 0 });
      expect({ colorScheme, violations: await findViolations(page) }).toEqual({
        colorScheme,
        violations: [],
      });
    }
  });

  test("there are pages with diagrams", () => expect(diagramPages).toContain("/docs/architecture.html"));

  test.each(diagramPages)(
    "each diagram of %s is drawn with legible texts, light and dark",
    async (address) => {
      const count = readFileSync(fileOf(address), "utf8").match(MERMAID)?.length;
      const page = await openPage(address, { reducedMotion: "reduce" });
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await page
          .locator(`.diagram[data-scheme=${colorScheme}] svg`)
          .nth((count ?? 0) - 1)
          .waitFor({ timeout: 0 });
        expect(await findViolations(page)).toEqual([]);
        const diagrams = await page.evaluate<[string, number][][]>(READ_DIAGRAMS);
        expect(diagrams).toHaveLength(count ?? 0);
        expect(diagrams.filter((labels) => labels.length === 0)).toEqual([]);
        expect(diagrams.flat().filter(([text, contrast]) => text === "" || !(contrast >= 4.5))).toEqual([]);
      }
      expect(await page.locator(".language-mermaid").count()).toBe(0);
    },
  );

  test("no page is wider than the screen of a phone", async () => {
    const wide: string[] = [];
    const visit = async (addresses: readonly string[]) => {
      // The scripts change no width, and without them a page is there at once.
      const phone = { viewport: { width: 375, height: 800 }, javaScriptEnabled: false };
      const page = await openPage("/index.html", phone);
      for (const address of addresses) {
        await page.goto(site.url + address, { waitUntil: "load" });
        if ((await fitsWindow(page)) !== true) wide.push(address);
      }
    };
    // Two at a time: most of it is the browser's layout, of one processor for each page.
    await Promise.all([0, 1].map((turn) => visit(pages.filter((_, index) => index % 2 === turn))));
    expect(wide).toEqual([]);
  });

  test("the search finds what is asked for among the first five, and no page for developers", async () => {
    const page = await openPage("/index.html");
    const options = page.getByRole("option");
    await page.getByRole("button", { name: "Search" }).click();
    for (const [word, address] of [
      ["RoleBinding", "/docs/reference/resources/RoleBinding.html"],
      ["webhook", "/docs/reference/resources/Subscription.html"],
      ["python", "/docs/languages.html"],
      ["pulumi import", "/docs/languages.html"],
      ["PP3403", "/docs/troubleshooting.html#pp3403"],
    ] as const) {
      await page.getByRole("searchbox").fill(word);
      await options.first().waitFor({ timeout: 0 });
      const found = await options
        .locator("a")
        .evaluateAll((links) => (links as unknown as { href: string }[]).map(({ href }) => href));
      const paths = found.map((href) => href.replace(site.url, ""));
      expect({ word, first: paths.slice(0, 5) }).toEqual({
        word,
        first: expect.arrayContaining([expect.stringContaining(address)]) as unknown,
      });
      expect(paths.filter((path) => /development|CONTRIBUTING|architecture|api-contract/.test(path))).toEqual(
        [],
      );
      // Without the results of this word, those of the next one are new.
      await page.getByRole("searchbox").fill("");
      await options.first().waitFor({ state: "detached", timeout: 0 });
    }
  });

  test.each([1280, 390])(
    "a description is seen without scrolling in a window of %d pixels",
    async (width) => {
      const page = await openPage("/docs/reference/resources/RoleBinding.html", {
        viewport: { width, height: 900 },
      });
      const cell = (which: string) =>
        page.locator(`.vp-doc table:has(th:nth-child(4)) tbody tr:first-child td:${which}-child`).first();
      const [name, description] = [await cell("first").boundingBox(), await cell("last").boundingBox()];
      expect((description?.x ?? width) + (description?.width ?? 0)).toBeLessThanOrEqual(width);
      expect(description?.width).toBeGreaterThan(250);
      // On a phone it stands below the name.
      if (width < 640) expect(description?.y).toBeGreaterThan((name?.y ?? 0) + (name?.height ?? 0) - 1);
    },
  );

  test("the first page plays a review, shows it as text, and leads to its report", async () => {
    const page = await openPage("/index.html");
    await page.getByText("The recording as text").click();
    await page.getByText("RISKS (1)").last().waitFor({ timeout: 0 });
    expect(await page.locator(".ap-player").count()).toBe(1);
    const pictures = page.locator("img.light-only");
    expect(await pictures.count()).toBe(1);
    expect(await page.evaluate("document.querySelector('img.light-only').naturalWidth")).toBe(1000);
    // The comment is a part of the page: its text is what the review wrote.
    await page.locator(".comment").getByText("gains owner").first().waitFor({ timeout: 0 });
    await page.getByText('new Identity("deployer"').first().waitFor({ timeout: 0 });
    await page.getByText("npm install").first().waitFor({ timeout: 0 });
    await pictures.last().click();
    await page.getByText("Fails: 1 finding").first().waitFor({ timeout: 0 });
    expect(new URL(page.url()).pathname).toBe("/media/report.html");
  });
});
