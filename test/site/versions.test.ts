import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { evaluate, temporaryFolder, writeFiles } from "../scripts/support";

/** The pages that the first page links to. */
const linked = readFileSync(path.resolve(__dirname, "../../site/index.md"), "utf8").matchAll(
  /\]\(\/(docs\/[^)]+)\)/g,
);
const documents = Object.fromEntries([...linked].map(([, page = ""]) => [`${page}.md`, `# ${page}\n`]));

/** A repository with one release, two versions of a page, and tags that are no release. */
function createRepository(): string {
  const folder = temporaryFolder();
  const git = (...args: string[]): Buffer =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@acme.example", ...args], { cwd: folder });
  const write = (version: string): void => {
    writeFiles(folder, {
      "package.json": { version },
      ...documents,
      "README.md": `# Acme\n\n[One](docs/quick-start.md), [source](examples/one)\n`,
      "docs/quick-start.md": `# Quick start of ${version}\n`,
      "examples/one/index.ts": "export {};\n",
    });
    git("add", ".");
    git("commit", "--quiet", "--message", version);
  };
  git("init", "--quiet");
  write("1.2.3");
  for (const tag of ["v1.2.3", "v1.3.0-rc.1", "very-old"]) git("tag", tag);
  write("1.4.0");
  return folder;
}

test("the site contains the current version, and each released one in its own folder", async () => {
  const root = createRepository();
  const out = path.join(root, "out");
  const media = path.join(root, "media");
  writeFiles(media, { "review.cast": "", "report.html": "<p>", "comment.md": "# Acme\n\n✅ gains" });
  const at = JSON.stringify({ root, out, media, base: "/docs/" });
  const tags = `await (await import("${path.resolve(__dirname, "../../scripts/site/build.mjs")}")).listReleases(${JSON.stringify(root)})`;
  expect(await evaluate("site/build.mjs", `m.buildSite({ ...${at}, tags: ${tags}, log() {} })`)).toBeNull();
  const read = (page: string): string => readFileSync(path.join(out, page), "utf8");
  expect(read("docs/quick-start.html")).toContain("Quick start of 1.4.0");
  expect(read("1.2.3/docs/quick-start.html")).toContain("Quick start of 1.2.3");
  expect(read("README.html")).toContain('href="/docs/source/examples/one.html"');
  for (const page of ["README.html", "1.2.3/README.html"])
    expect(read(page)).toContain('href="/docs/1.2.3/"');
  expect(read("index.html")).toContain('href="/docs/media/report.html"');
  // The comment is a part of the page.
  expect(read("index.html")).toMatch(/class="comment"[^]*<p>Acme<\/p>[^]*gains/);
  // Without a browser there are no pictures, and so nothing that shows one.
  expect(read("index.html")).not.toContain("<img");
  expect(read("1.2.3/README.html")).toContain('href="/docs/1.2.3/docs/quick-start.html"');
});

test("a page that no section of the sidebar names is at the end", async () => {
  const titles = 'new Map([["README.md", "Acme"], ["docs/nowhere/page.md", "Page"]])';
  const sidebars = await evaluate("site/sidebar.mjs", `m.buildSidebars(${titles})`);
  expect((sidebars as Record<string, unknown>)["/"]).toEqual([
    { text: "Start", items: [{ text: "Overview", link: "/README" }] },
    { text: "More", items: [{ text: "Page", link: "/docs/nowhere/page" }] },
  ]);
});
