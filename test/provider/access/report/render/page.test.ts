import type { Page } from "playwright-core";
import { EntryList } from "../../../../../provider/access/report/render/sections";
import { describeInBrowser, findViolations, fitsWindow, waitForCount as count } from "./browser";
import { largeReview, nightDrift, rewritten, riskyReview } from "./reports";
import { teamReview } from "./teamReview";

describeInBrowser("the page in a browser", (open) => {
  const grants = (page: Page): Promise<string[]> =>
    page.locator(".grants tbody tr:visible th").allInnerTexts();
  const filter = (page: Page) => page.getByLabel("Person, role, group or rule");
  test("filters by words and by severity, and says how many are left", async () => {
    const { page, troubles } = await open(riskyReview);
    await count(page, "Findings: 5 of 5. Changes of access: 6 of 6.");
    expect(await page.locator("#count").getAttribute("aria-live")).toBe("polite");

    await filter(page).fill("JO@example");
    await count(page, "Changes of access: 2 of 6.");
    expect(await grants(page)).toEqual(["jo@example.com", "jo@example.com"]);
    await filter(page).fill("registry.push acme / payments");
    await count(page, "Changes of access: 2 of 6.");
    await page.getByRole("button", { name: "Clear" }).click();
    await count(page, "Changes of access: 6 of 6.");

    await page.getByLabel("Severity").selectOption({ label: "critical" });
    await count(page, "Findings: 2 of 5. Changes of access: 2 of 6.");
    expect(await page.locator("[data-item=finding]:visible h3").allInnerTexts()).toHaveLength(2);
    await filter(page).fill("nobody");
    await count(page, "Findings: 0 of 5. Changes of access: 0 of 6.");
    expect(await page.getByText("No change of access matches the filter.").isVisible()).toBe(true);
    expect(troubles).toEqual([]);
    await page.close();
  });

  test("can be used by keyboard alone, in reading order", async () => {
    const { page, troubles } = await open(riskyReview);
    const focused = (): Promise<string> =>
      page.evaluate(`(() => {
        const at = document.activeElement;
        return at.labels && at.labels[0] ? at.labels[0].firstChild.textContent : at.textContent.trim().slice(0, 40);
      })()`);
    const order: string[] = [];
    for (let index = 0; index < 4; index += 1) {
      await page.keyboard.press("Tab");
      order.push(await focused());
    }
    expect(order).toEqual(["Skip to the findings", "Person, role, group or rule", "Severity", "Clear"]);
    const details = page.locator("li.card", { hasText: "G5" }).locator("summary");
    expect(await page.getByText("reaches acme / web").isVisible()).toBe(false);
    await details.focus();
    await page.keyboard.press("Enter");
    expect(await page.getByText("reaches acme / web").isVisible()).toBe(true);
    expect(troubles).toEqual([]);
    await page.close();
  });

  const team = teamReview();
  const phone = { width: 360, height: 740 };
  test.each([
    ["light, wide", team, { colorScheme: "light" }],
    ["dark, wide", riskyReview, { colorScheme: "dark" }],
    ["light, as narrow as a telephone", nightDrift, { colorScheme: "light", viewport: phone }],
    ["dark, as narrow as a telephone", team, { colorScheme: "dark", viewport: phone }],
  ] as const)("has no fault that axe finds, and its landmarks: %s", async (_, report, context) => {
    const { page, troubles } = await open(report, context);
    expect(await findViolations(page)).toEqual([]);
    for (const role of ["banner", "main", "contentinfo", "search"] as const) {
      expect(await page.getByRole(role).count()).toBe(1);
    }
    expect(await page.locator(".grants").getByRole("columnheader").count()).toBe(5);
    expect(await fitsWindow(page)).toBe(true);
    expect(troubles).toEqual([]);
    await page.close();
  });

  test("a click selects a snippet whole", async () => {
    const { page, troubles } = await open(team);
    const card = page.locator("li.card", { hasText: "open invite" });
    await card.locator("summary", { hasText: "Suppress it" }).click({ timeout: 5_000 });
    const entry = team.findings.find(({ id }) => id === "K3")?.policyEntry ?? "";
    expect(entry).toContain("rule: K3");
    await card.locator("pre code", { hasText: "rule: K3" }).click({ timeout: 5_000 });
    expect(String(await page.evaluate("getSelection().toString()")).trim()).toBe(entry.trim());
    expect(troubles).toEqual([]);
    await page.close();
  });

  test("on a telephone each row is a card, with the names of its columns", async () => {
    const { page } = await open(team, { viewport: { width: 390, height: 844 } });
    const row = page.locator(".grants tbody tr").first();
    const [box, window] = [await row.boundingBox(), 390];
    expect(box?.width).toBeLessThanOrEqual(window);
    const label = "getComputedStyle(document.querySelectorAll('.grants td')[1], '::before').content";
    expect(await page.evaluate(label)).toBe('"Role and group"');
    await page.close();
  });

  test("without script shows everything and offers no filter that does nothing", async () => {
    const report = largeReview(120);
    const { page } = await open(report, { javaScriptEnabled: false });
    expect(await page.locator(".grants tbody tr:visible").count()).toBe(120);
    expect(await page.locator("ol.cards > li:visible").count()).toBe(new EntryList(report).open.length);
    expect(await page.locator("input:visible, select:visible, button:visible").count()).toBe(0);
    await page.close();
  });

  test("prints everything, unfolded and without the filter", async () => {
    const { page } = await open(largeReview(120));
    await page.emulateMedia({ media: "print" });
    await page.evaluate("dispatchEvent(new Event('beforeprint'))");
    expect(await page.locator(".grants tbody tr:visible").count()).toBe(120);
    expect(await page.locator("details:not([open])").count()).toBe(0);
    expect(await filter(page).isVisible()).toBe(false);
    await page.close();
  });

  test("lists the first of 1,500, finds one among them, and shows more when asked", async () => {
    const { page, troubles } = await open(largeReview(1500));
    await count(page, "Changes of access: 1,500 of 1,500, the first 200 listed.");
    expect(await page.locator(".grants tbody tr:visible").count()).toBe(200);
    await page.getByRole("button", { name: "Show all 1,500" }).last().click();
    await count(page, "Changes of access: 1,500 of 1,500.");
    await filter(page).fill("service-399,");
    await count(page, "Changes of access: 3 of 1,500.");
    expect(await page.locator(".grants tbody tr:visible").count()).toBe(3);
    expect(troubles).toEqual([]);
    await page.close();
  });

  test("runs and loads nothing that a name says", async () => {
    const attack =
      "\u202e\\</script></style></title><script>alert(1)</script><img src='http://127.0.0.1:9/x' onerror='alert(2)'>\" onfocus=\"alert(3)\" autofocus=\"";
    const { page, troubles } = await open(rewritten(riskyReview, (text) => `${attack}${text}`));
    await count(page, "Changes of access: 6 of 6.");
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
