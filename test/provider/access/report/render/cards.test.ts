import { describeInBrowser, waitForCount } from "./browser";
import { riskyReview } from "./reports";
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

  test("a role that is replaced has a row that gains and a row that is struck", async () => {
    const { page } = await open(team);
    const rows = page.locator(".grants tbody tr", { hasText: "release-bot" });
    expect(await rows.filter({ hasText: "gained" }).first().innerText()).toContain("registry.push");
    expect(await rows.filter({ hasText: "lost" }).locator("del").first().innerText()).toContain("viewer");
    const style = "getComputedStyle(document.querySelector('.grants del')).textDecorationLine";
    expect(await page.evaluate(style)).toBe("line-through");
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

  test("links lead to the lines of the commit", async () => {
    const { page, troubles } = await open(team, { render });
    const line = page.locator("li.card a", { hasText: "infra/index.ts:12" });
    expect(await line.getAttribute("href")).toBe(
      `https://github.com/acme/access/blob/${render.commit}/infra/index.ts#L12`,
    );
    const links = await page.locator("header a").all();
    expect(await Promise.all(links.map((link) => link.getAttribute("href")))).toEqual([
      `https://github.com/acme/access/commit/${render.commit}`,
      "https://github.com/acme/access/pull/42",
    ]);
    expect(troubles).toEqual([]);
    await page.close();
  });

  test("a snippet is copied unchanged", async () => {
    const { page, troubles } = await open(team, { permissions: ["clipboard-read", "clipboard-write"] });
    const card = page.locator("li.card", { hasText: "open invite" });
    await card.locator("summary", { hasText: "Suppress it" }).click();
    await card.getByRole("button", { name: "Copy" }).press("Enter");
    await card.getByText("Copied").waitFor();
    const entry = team.findings.find(({ id }) => id === "K3")?.policyEntry;
    expect(entry).toContain("rule: K3");
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(entry);
    expect(troubles).toEqual([]);
    await page.close();
  });

  test("the address keeps the filter, by names, and gives it back", async () => {
    const { page, troubles } = await open(riskyReview);
    await page.getByLabel("Group and below").selectOption({ label: "acme / payments" });
    await page.getByLabel("Person or identity").fill("preview");
    await waitForCount(page, "1 of 6 changes");
    const hash: string = await page.evaluate("location.hash");
    expect(hash).toBe("#person=preview&group=acme+%2F+payments");
    await page.getByRole("button", { name: "Clear" }).click();
    await waitForCount(page, "6 of 6 changes");
    expect(await page.evaluate("location.hash")).toBe("");
    await page.close();
    const again = await open(riskyReview, { hash });
    await waitForCount(again.page, "1 of 6 changes");
    expect(await again.page.getByLabel("Person or identity").inputValue()).toBe("preview");
    expect([...troubles, ...again.troubles]).toEqual([]);
    await again.page.close();
  });

  test("an address that names nothing of the page shows everything", async () => {
    const { page, troubles } = await open(riskyReview, {
      hash: "#role=<b>x&group=nothing&severity=worst&other=1",
    });
    await waitForCount(page, "5 of 5 findings; 6 of 6 changes");
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
