import { existsSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { globSync } from "tinyglobby";
import { escapePattern, printable } from "../../../text/printable";
import { quoteForShell } from "../../../text/plain";
import { missing, ok } from "../checkResult";
import type { CheckResult } from "../checkResult";
import type { CiHost, ProjectFolder } from "../init/folder";
import { ownedPaths, ownersFile, ownersPlace, ownersText, proposeOwner } from "../init/workflows";
import { pathFromHere } from "./files";

/*
 * Who owns the files that decide a review: the last line of the file of code owners that matches each of them says it.
 */

interface OwnerLine {
  readonly number: number;
  readonly pattern: string;
  /** As the line names them; empty where its files belong to nobody. */
  readonly owners: string;
}

/** What a pattern matches. GitHub anchors one with a slash before its end, GitLab one that begins with a slash. */
function matcherOf(pattern: string, host: CiHost): RegExp {
  const isAnchored = host === "github" ? pattern.slice(0, -1).includes("/") : pattern.startsWith("/");
  const wildcards: Record<string, string> = { "**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]" };
  const body = pattern
    .replace(/^\//, "")
    .replace(
      /\*\*\/|\*\*|[*?]|\\?(.)/g,
      (part, text: string | undefined) => wildcards[part] ?? escapePattern(text ?? ""),
    );
  // A folder has all that is below it; a star at the end is one name.
  const end = pattern.endsWith("/") ? ".+" : pattern.endsWith("/*") ? "" : "(?:/.+)?";
  return new RegExp(`^${isAnchored ? "" : "(?:.*/)?"}${body}${end}$`);
}

/** The lines of a file of code owners. GitLab judges its sections one by one, so only the best that must approve counts. */
function ownerLines(text: string, host: CiHost, isRequired: (pattern: string) => boolean): OwnerLine[] {
  let section: { readonly lines: OwnerLine[]; readonly owners: string } = { lines: [], owners: "" };
  const sections = [section];
  for (const [index, line] of text.split("\n").entries()) {
    const [, optional, shared = ""] = /^\s*(\^?)\[[^\]]*\](?:\[\d+\])?(.*)$/.exec(line) ?? [];
    if (host === "gitlab" && optional !== undefined) {
      section = { lines: [], owners: shared.trim() };
      if (optional === "") sections.push(section);
      continue;
    }
    const [given = "", ...words] = line.trim().split(/(?<!\\)\s+/);
    // GitHub ignores a line that negates, or that has a list of characters.
    if (given === "" || given.startsWith("#") || (host === "github" && /^!|\[/.test(given))) continue;
    const end = words.findIndex((word) => word.startsWith("#"));
    const owners = (end < 0 ? words : words.slice(0, end)).join(" ");
    const isExcluded = given.startsWith("!");
    section.lines.push({
      number: index + 1,
      pattern: isExcluded ? given.slice(1) : given,
      owners: isExcluded ? "" : owners || section.owners,
    });
  }
  const count = ({ lines }: typeof section) => lines.filter(({ pattern }) => isRequired(pattern)).length;
  return sections.reduce((best, one) => (count(one) > count(best) ? one : best)).lines;
}

/** The files that decide a review: those that exist, and those that could be made in the folders of the program. */
function decidingPaths(
  { root, folders }: ProjectFolder,
  required: readonly string[],
  host: CiHost,
): string[] {
  const named = required.flatMap((pattern) =>
    pattern.startsWith("/")
      ? [pattern.slice(1).replace(/\\(.)/g, "$1")]
      : folders.map((folder) => join(relative(root, folder), pattern).split(sep).join("/")),
  );
  const ignore = ["**/node_modules/**", "**/.git/**"];
  const files = globSync("**", { cwd: root, dot: true, ignore, followSymbolicLinks: false }).sort();
  const matchers = required.map((pattern) => matcherOf(pattern, host));
  return [
    ...files.filter((file) => matchers.some((matcher) => matcher.test(file))),
    ...named.map((path) => path.replace(/\/$/, "/*")),
  ];
}

/** Whether the files that decide a review belong to the owner that the lines of `init` name. */
export function checkOwners(found: ProjectFolder, host: CiHost): CheckResult {
  const { root, packageManager, repository } = found;
  const file = join(root, ownersFile(root, host));
  const path = pathFromHere(root, ownersFile(root, host));
  const values = { ...ownersPlace(root, host), owner: "", paths: ownedPaths(found) };
  const required = ownersText(packageManager, values)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const lines = ownerLines(text, host, (pattern) => required.includes(pattern));
  const named = lines.filter((line) => required.includes(line.pattern) && line.owners !== "");
  // The owner of most of them: one line of another owner is no other owner of all.
  const count = (owners: string): number => named.filter((line) => line.owners === owners).length;
  const owner = named.reduce(
    (best, { owners }) => (count(owners) > count(best) ? owners : best),
    named[0]?.owners ?? proposeOwner(repository),
  );
  // A file whose last line has no end would take the first of these into that line.
  const end = text === "" || text.endsWith("\n") ? "" : `echo >> ${path} && `;
  const append = `${end}printf '%s\\n' ${required.map((one) => quoteForShell(`${one} ${owner}`)).join(" ")} >> ${path}`;
  const absent = required.filter((pattern) => !lines.some((line) => line.pattern === pattern));
  if (absent.length > 0) return missing("codeowners", `${path} has no line for ${absent.join(", ")}`, append);
  const unknown = proposeOwner(undefined);
  if (owner.includes(unknown))
    return missing(
      "codeowners",
      `${path}: ${unknown} is to be replaced by a team of yours`,
      `grep -nF ${unknown} ${path}`,
    );
  const rules = lines.map((line) => ({ ...line, matcher: matcherOf(line.pattern, host) })).reverse();
  for (const one of decidingPaths(found, required, host)) {
    const rule = rules.find(({ matcher }) => matcher.test(one));
    if (rule === undefined || rule.owners === owner) continue;
    const { number, pattern, owners } = rule;
    const whose = owners === "" ? "nobody" : printable(owners, 200);
    return missing(
      "codeowners",
      `${path}:${number} gives ${printable(one, 200)} to ${whose} by ${printable(pattern, 200)}, not to ${printable(owner, 200)}: the last line that matches a file decides`,
      append,
    );
  }
  return ok("codeowners", `${path} gives the files that decide a review to ${owner}: a team of yours?`);
}
