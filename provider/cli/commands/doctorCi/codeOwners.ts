import { existsSync } from "node:fs";
import { join } from "node:path";
import { readTextFile } from "../../../text/files";
import { printable } from "../../../text/printable";
import { quoteForShell } from "../../../text/plain";
import { missing, ok } from "../checkResult";
import type { CheckResult } from "../checkResult";
import type { CiHost, ProjectFolder } from "../init/folder";
import { ownedPaths, ownersFile, ownersPlace, ownersText, proposeOwner } from "../init/workflows";
import { pathFromHere } from "./files";

/*
 * Who owns the files that decide a review. Of the lines that match a file the last one decides, so those of `init` stand at the
 * end: what a later line of another owner matches is not judged.
 */

interface OwnerLine {
  readonly number: number;
  readonly pattern: string;
  /** As the line names them; empty where its files belong to nobody. */
  readonly owners: string;
}

/** The lines of a file of code owners. Those of a section of GitLab have its owners; one that need not approve owns nothing. */
function ownerLines(text: string, host: CiHost): OwnerLine[] {
  let section = { isOptional: false, owners: "" };
  return text.split("\n").flatMap((line, index) => {
    const [, optional, shared = ""] = /^\s*(\^?)\[[^\]]*\](?:\[\d+\])?(.*)$/.exec(line) ?? [];
    if (host === "gitlab" && optional !== undefined) {
      section = { isOptional: optional !== "", owners: shared.trim() };
      return [];
    }
    const [pattern = "", ...words] = line.trim().split(/(?<!\\)\s+/);
    if (pattern === "" || pattern.startsWith("#")) return [];
    const end = words.findIndex((word) => word.startsWith("#"));
    const owners = (end < 0 ? words : words.slice(0, end)).join(" ") || section.owners;
    const ownsNothing = section.isOptional || pattern.startsWith("!");
    return [{ number: index + 1, pattern, owners: ownsNothing ? "" : owners }];
  });
}

/** Whether the files that decide a review belong to one owner, by the lines of `init` at the end of the file. */
export function checkOwners(found: ProjectFolder, host: CiHost): CheckResult {
  const { root, packageManager, repository } = found;
  const file = join(root, ownersFile(root, host));
  const path = pathFromHere(root, ownersFile(root, host));
  const values = { ...ownersPlace(root, host), owner: "", paths: ownedPaths(found) };
  const required = ownersText(packageManager, values)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  const text = existsSync(file) ? readTextFile(file) : "";
  const lines = ownerLines(text, host);
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
  const other = lines.findLast((line) => line.owners !== owner);
  const last = lines.slice(other === undefined ? 0 : lines.indexOf(other) + 1);
  if (other === undefined || required.every((pattern) => last.some((line) => line.pattern === pattern)))
    return ok("codeowners", `${path} gives the files that decide a review to ${owner}: a team of yours?`);
  const whose = other.owners === "" ? "nobody" : printable(other.owners, 200);
  return missing(
    "codeowners",
    `${path}:${other.number} gives ${printable(other.pattern, 200)} to ${whose}, behind lines for files that decide a review: the last line that matches a file decides, so these must stand at the end, all of ${printable(owner, 200)}`,
    append,
  );
}
