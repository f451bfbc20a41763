import { describeInBrowser } from "./browser";
import { teamReview } from "./teamReview";

const render = {
  sourceRoot: "infra",
  commit: "1f2e3d4c5b6a79880716253443526170f9e8d7c6",
  repository: { host: "github", url: "https://github.com/acme/access" },
} as const;

describeInBrowser("the cards of the page", (open) => {
  const team = teamReview();

  test("a change of trust is one card with its rules and the previous trust, and the table has each grant that it widens", async () => {
    const { page } = await open(team, { render });
    const card = page.locator("li.card", { hasText: "ci-deployer" });
    expect(await card.count()).toBe(1);
    expect(await card.getAttribute("data-severity")).toBe("critical");
    expect(await card.locator(".chip").allInnerTexts()).toEqual([
      "G1 owner-grant",
      "T1 any-subject",
      "T3 shared-issuer",
      "T5 trust-changed",
    ]);
    expect(await card.locator(".fields del code").allInnerTexts()).toEqual([
      "repo:acme/pay:ref:refs/heads/main",
    ]);
    expect(await card.locator(".fields ins code").allInnerTexts()).toEqual(["repo:acme.*"]);
    expect(await page.locator(".grants tbody tr", { hasText: "ci-deployer" }).count()).toBe(3);
    const reason = card.getByText("No binding changes, so nothing in the diff shows");
    expect(await reason.isVisible()).toBe(false);
    await card.locator("summary", { hasText: "Reason and fix of T5" }).click();
    expect(await reason.isVisible()).toBe(true);
    await page.close();
  });

  test("critical and high findings are expanded, all others are collapsed", async () => {
    const { page } = await open(team);
    for (const card of await page.locator("ol.cards > li").all()) {
      const isSevere = /critical|high/.test((await card.getAttribute("data-severity")) ?? "");
      expect((await card.locator("details.body").getAttribute("open")) !== null).toBe(isSevere);
    }
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
});
