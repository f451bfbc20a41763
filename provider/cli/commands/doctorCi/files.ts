import { existsSync, readdirSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { readTextFile } from "../../../text/files";
import { printable } from "../../../text/printable";
import { missing, ok, unchecked } from "../checkResult";
import type { CheckResult } from "../checkResult";
import { imagesIn, isPinnedImage, STAND_IN } from "../init/workflows";

/*
 * What the files of the repository show of the review: no request is sent.
 */

/** A path below the root of the repository, as a command in the current folder names it. */
export const pathFromHere = (root: string, path: string): string => relative(process.cwd(), join(root, path));

/** A file for CI, with its path from the current folder. */
export interface CiFile {
  readonly path: string;
  readonly text: string;
}

const filesIn = (root: string, folder: string): CiFile[] =>
  !existsSync(join(root, folder))
    ? []
    : readdirSync(join(root, folder))
        .filter((name) => /\.ya?ml$/.test(name))
        .sort()
        .map((name) => ({
          path: pathFromHere(root, `${folder}/${name}`),
          text: readTextFile(join(root, folder, name)),
        }));

/** All workflows of a repository of GitHub. */
export const readWorkflows = (root: string): CiFile[] => filesIn(root, ".github/workflows");

/** GitLab's pipeline, where it has not been moved to its own project yet. */
export const readPipelines = (root: string): CiFile[] => filesIn(root, "access-ci");

/** Those of the access review. */
export const isOfReview = ({ path }: CiFile): boolean =>
  /\/access-(?:preview|review|deploy|drift)[^/]*$/.test(path);

/** Whether the four workflows exist, and hold nothing that stands in for a value. */
export function checkWorkflows(files: readonly CiFile[], run: string): CheckResult {
  const names = ["preview", "review", "deploy", "drift"].filter(
    (name) => !files.some(({ path }) => path.includes(`/access-${name}`)),
  );
  if (names.length > 0) {
    const list = names.map((name) => `access-${name}.yml`).join(", ");
    return missing("workflows", `.github/workflows has no ${list}`, `${run} pulumi-platform init`);
  }
  const [placeholders] = checkPlaceholders("workflows", files.filter(isOfReview));
  return placeholders ?? ok("workflows", "all four exist");
}

/** What is still to be replaced in files for CI. */
export function checkPlaceholders(check: string, files: readonly CiFile[]): CheckResult[] {
  const open = Object.values(STAND_IN).filter((one) => files.some(({ text }) => text.includes(one)));
  if (open.length === 0) return [];
  const paths = files.filter(({ text }) => open.some((one) => text.includes(one))).map(({ path }) => path);
  const verb = open.length === 1 ? "is" : "are";
  return [
    missing(
      check,
      `${open.join(", ")} ${verb} to be replaced in ${paths.join(", ")}`,
      `grep -nE '${open.join("|")}' ${paths.join(" ")}`,
    ),
  ];
}

/**
 * The lines of a file that say something, by their numbers. The commit of an action, and the tag and digest of an image, change
 * with time.
 */
const linesOf = (text: string): { readonly number: number; readonly line: string }[] =>
  text
    .split("\n")
    .map((line, index) => ({
      number: index + 1,
      line: line
        .replace(/(?:^|\s)#.*$/, "")
        .replace(/@[0-9a-f]{40}/, "@…")
        .trim()
        .replace(/^(image: *["']?[^\s"'@]+?)(?::[\w.-]+)?(?:@sha256:[0-9a-f]{64})?(["']?)$/, "$1$2"),
    }))
    .filter(({ line }) => line !== "");

/**
 * Which files are not what `init` writes: nobody but a reader can say whether they review as well. A line that has what stands
 * in for a value may have any.
 */
export function checkContents(
  check: string,
  files: readonly CiFile[],
  written: Readonly<Record<string, string>>,
): CheckResult[] {
  const open = Object.values(STAND_IN);
  return files.flatMap(({ path, text }) => {
    const [, own] = Object.entries(written).find(([name]) => basename(name) === basename(path)) ?? [];
    if (own === undefined) return [];
    const [lines, expected] = [linesOf(text), linesOf(own)];
    const isAsWritten = (line: string | undefined, index: number): boolean =>
      line === expected[index]?.line || open.some((one) => expected[index]?.line.includes(one));
    const at = Array.from({ length: Math.max(lines.length, expected.length) }).findIndex(
      (_, index) => !isAsWritten(lines[index]?.line, index),
    );
    if (at < 0) return [];
    const { number } = lines[at] ?? lines.at(-1) ?? { number: 1 };
    return [
      unchecked(
        check,
        `${path}:${number} is not what this version of init writes, which is ${JSON.stringify(printable(expected[at]?.line ?? "nothing", 200))}: read what differs, or delete the file and run init again`,
      ),
    ];
  });
}

/** Whether every action of every workflow is named by a commit: a tag can be moved. */
export function checkPins(files: readonly CiFile[]): CheckResult {
  const uses = files.flatMap(({ path, text }) =>
    [...text.matchAll(/^[ \t]*(?:- )?uses:[ \t]*["']?([^\s"'#]+)/gm)].map(([, action = ""]) => ({
      path,
      action,
    })),
  );
  const isPinned = (action: string): boolean =>
    action.startsWith("./") ||
    /@[0-9a-f]{40}$/.test(action) ||
    /^docker:.*@sha256:[0-9a-f]{64}$/.test(action);
  const open = uses.find(({ action }) => !isPinned(action));
  if (files.length === 0) return unchecked("pins", "there is no workflow");
  if (open === undefined) return ok("pins", `${uses.length} uses of actions are pinned by commit`);
  const [, repository = "", reference = "HEAD"] = /^([^/]+\/[^/@]+)[^@]*(?:@(.*))?$/.exec(open.action) ?? [];
  return missing(
    "pins",
    `${open.path} uses ${open.action}, which can be moved: write the commit that this prints, and the version as a comment`,
    open.action.startsWith("docker:")
      ? `docker buildx imagetools inspect ${open.action.slice("docker://".length)}`
      : `gh api repos/${repository}/commits/${reference} --jq .sha`,
  );
}

/** Whether every image of GitLab's pipeline is named by its digest. */
export function checkImages(files: readonly CiFile[]): CheckResult {
  const images = files.flatMap(({ path, text }) => imagesIn(text).map((image) => ({ path, image })));
  const open = images.find(({ image }) => !isPinnedImage(image));
  if (open === undefined) return ok("pins", `${images.length} images are pinned by digest`);
  return missing(
    "pins",
    `${open.path} runs in ${open.image}, whose tag can be moved: write @ and the digest that this prints behind it`,
    `docker buildx imagetools inspect ${open.image}`,
  );
}
