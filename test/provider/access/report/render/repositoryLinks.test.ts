import { RepositoryLinks } from "../../../../../provider/access/report/render/words";
import type { RenderOptions } from "../../../../../provider/access/report/render";
import { riskyReview, wholeReports } from "./reports";

const commit = "1f2e3d4c5b6a79880716253443526170f9e8d7c6";
const github: RenderOptions = {
  sourceRoot: "infra",
  commit,
  repository: { host: "github", url: "https://github.com/acme/access" },
};
const gitlab: RenderOptions = {
  commit,
  repository: { host: "gitlab", url: "https://git.example/acme/sub/access" },
};
const lineOf = (file: string, options: RenderOptions, line = 12) =>
  new RepositoryLinks(riskyReview, options).line({ file, line });

test("each host has its own addresses", () => {
  expect(lineOf("src/index.ts", github)).toBe(
    `https://github.com/acme/access/blob/${commit}/infra/src/index.ts#L12`,
  );
  expect(lineOf("index.ts", gitlab)).toBe(
    `https://git.example/acme/sub/access/-/blob/${commit}/index.ts#L12`,
  );
  const links = new RepositoryLinks(wholeReports[0]!, gitlab);
  expect(links.commit()).toBe(`https://git.example/acme/sub/access/-/commit/${commit}`);
  expect(links.pullRequest()).toBe("https://git.example/acme/sub/access/-/merge_requests/12");
});

test.each([
  "../../../../evil/repo/index.ts",
  "..",
  "a/../../../x.ts",
  "..\\..\\..\\evil.ts",
  "//evil.example/x.ts",
  "https://evil.example/x.ts",
  "a?b#c/x.ts",
  'x" onclick="alert(1).ts',
  "%2e%2e/%2e%2e/x.ts",
  "x>](javascript:alert(1)).ts",
])("a name of a file never leads out of the repository: %s", (file) => {
  const address = lineOf(file, github);
  if (address === undefined) return;
  const url = new URL(address);
  expect(url.origin).toBe("https://github.com");
  expect(url.pathname.startsWith(`/acme/access/blob/${commit}/`)).toBe(true);
  expect(url.search).toBe("");
  expect(url.hash).toBe("#L12");
  expect(address).not.toMatch(/["<>\s]/);
});

test("there is no link without the repository or the commit", () => {
  expect(lineOf("index.ts", { commit })).toBeUndefined();
  expect(lineOf("index.ts", { ...github, commit: undefined })).toBeUndefined();
  expect(lineOf("../index.ts", gitlab)).toBeUndefined();
});
