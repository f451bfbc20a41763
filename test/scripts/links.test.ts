import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { documents } from "../support/pages";
import { projectRoot } from "./support";

/* The links between the documents: each file is there, and has the heading that is named. */

const read = (file: string): string => readFileSync(path.join(projectRoot, file), "utf8");

const withoutCodeBlocks = (text: string): string => text.replace(/^```.*?^```/gms, "");

/** The addresses of the headings of a page, as GitHub derives them. */
function anchorsOf(file: string): ReadonlySet<string> {
  const counts = new Map<string, number>();
  const anchors = new Set<string>();
  for (const [, heading = ""] of withoutCodeBlocks(read(file)).matchAll(/^#{1,6} (.*)$/gm)) {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replace(/ /g, "-");
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    anchors.add(count === 0 ? slug : `${slug}-${count}`);
  }
  return anchors;
}

/** What is wrong with a link in a document; undefined if nothing is. */
function linkProblem(file: string, link: string): string | undefined {
  const [relative = "", anchor] = link.split("#");
  const target = relative === "" ? file : path.join(path.dirname(file), relative);
  if (!existsSync(path.join(projectRoot, target))) return `${link}: there is no ${target}`;
  const isNamed = anchor !== undefined && target.endsWith(".md");
  return isNamed && !anchorsOf(target).has(anchor) ? `${link}: ${target} has no such heading` : undefined;
}

test.each(documents)("every link of %s leads somewhere", (file) => {
  const text = withoutCodeBlocks(read(file)).replace(/`[^`\n]*`/g, "");
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  const local = links.filter((link) => !/^[a-z]+:/.test(link));
  expect(local.map((link) => linkProblem(file, link)).filter((problem) => problem !== undefined)).toEqual([]);
});
