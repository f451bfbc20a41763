import { existsSync, readFileSync } from "node:fs";
import { fileOf, pages, parsePage } from "./support";

const parsed = new Map(pages.map((address) => [address, parsePage(address)]));

/** What is wrong with a link of a page; undefined if nothing is. */
function linkProblem(page: string, link: string): string | undefined {
  const target = new URL(link, `http://site${page}`);
  if (target.host !== "site") return undefined;
  const address = target.pathname.endsWith("/") ? `${target.pathname}index.html` : target.pathname;
  if (!existsSync(fileOf(address))) return `${link}: no such page`;
  const anchor = decodeURIComponent(target.hash.slice(1));
  const ids = parsed.get(address)?.ids;
  return anchor === "" || ids === undefined || ids.has(anchor) ? undefined : `${link}: no such heading`;
}

test.each(pages)("every link of %s leads to a page and a heading", (page) => {
  const links = parsed.get(page)?.links ?? [];
  expect(links.length).toBeGreaterThan(0);
  expect(links.map((link) => linkProblem(page, link)).filter((problem) => problem !== undefined)).toEqual([]);
});

test("the example of each kind has a tab for each language", () => {
  const kinds = pages.filter((page) => page.startsWith("/docs/reference/resources/"));
  expect(kinds).not.toEqual([]);
  for (const page of kinds) {
    const tabs = readFileSync(fileOf(page), "utf8").match(/(?<=data-title=")\w+(?=")/g);
    expect([page, tabs]).toEqual([page, ["TypeScript", "YAML", "Python"]]);
  }
});

test("a page loads nothing from another host", () => {
  const scripts = pages.flatMap((page) => parsed.get(page)?.links ?? []);
  expect(scripts.filter((link) => /^https?:.*\.(js|css|woff2?|png|svg)$/.test(link))).toEqual([]);
});
