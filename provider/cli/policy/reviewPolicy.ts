import { existsSync } from "node:fs";
import { basename, dirname } from "node:path";
import { printable } from "../../text/printable";
import { sortedJson } from "../../fields/formats";
import { readEnvironment } from "../../settings/environment";
import { parsePolicy } from "../../access/suppressions/policyDocument";
import type { Policy } from "../../access/suppressions/policyDocument";
import { loadRules } from "../../access/rules/ownRules";
import type { OwnRule } from "../../access/rules/ownRules";
import { entryText } from "../../access/suppressions/writeEntries";
import { UsageError } from "../framework/exitCodes";
import { runGit } from "../input/programs";
import { readText } from "../input/readFiles";
import { findRulesPath, loadNamedRules } from "./suppressors";

/** The policy file of a change, and its version before the change. */
interface PolicyFlags {
  readonly policy?: string | undefined;
  /** A path: `--rules`. */
  readonly rules?: string | undefined;
  /** A path: `--policy-base`. */
  readonly policyBase?: string | undefined;
  /** A commit: `--base-ref`. */
  readonly baseRef?: string | undefined;
}

/** The policy that applies, and how the file of the change differs from it. */
export interface ReviewPolicy {
  readonly policy: Policy;
  /** A line each; undefined where no base is given. */
  readonly changed?: readonly string[];
}

interface BaseText {
  /** Undefined where the base has no such file. */
  readonly text: string | undefined;
  readonly name: string;
}

/** Runs git beside the policy file. */
function git(folder: string, args: readonly string[]): { status: number | null; stdout: string } {
  const { error, status, stdout } = runGit(folder, args, readEnvironment());
  if (error !== undefined) {
    throw new UsageError(
      "PP5013",
      `--base-ref needs git, which cannot be run (${error}): install it, or give --policy-base FILE`,
    );
  }
  return { status, stdout };
}

/** The file as it is at a commit. */
function readAtRef(path: string, ref: string): BaseText {
  const shown = printable(ref, 100);
  const [folder, file] = [dirname(path), `./${basename(path)}`];
  const unusable = (why: string): UsageError => new UsageError("PP5013", `--base-ref ${shown}: ${why}`);
  if (ref.startsWith("-") || ref.includes(":")) {
    throw unusable("must be a branch, a tag or a commit, as in origin/main");
  }
  if (!existsSync(folder)) throw unusable(`there is no folder ${printable(folder, 200)}`);
  const parsed = git(folder, ["rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`]);
  const commit = parsed.stdout.trim();
  if (parsed.status !== 0 || commit === "") {
    throw unusable(
      `no such commit in the repository of ${printable(path, 200)}: fetch it first, or give --policy-base FILE`,
    );
  }
  const name = `${printable(path, 200)} at ${shown}`;
  const listed = git(folder, ["ls-tree", "--name-only", commit, "--", file]);
  if (listed.status !== 0) throw unusable("git cannot list the files of this commit");
  if (listed.stdout.trim() === "") return { text: undefined, name };
  const { status, stdout } = git(folder, ["show", "--no-textconv", "--no-ext-diff", `${commit}:${file}`]);
  if (status !== 0) throw unusable(`git cannot read ${printable(path, 200)} of this commit`);
  return { text: stdout, name };
}

const normalizeLineEndings = (text: string): string => text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");

/** The entries of a policy in words that do not depend on their place, with their lines. */
const entriesOf = ({ entries, types }: Policy): { text: string; line: number }[] => [
  ...entries.map((entry) => ({ text: entryText(entry), line: entry.line })),
  ...types.map(({ line, ...judged }) => ({ text: sortedJson(judged), line })),
];

/** Finds the entries of one policy that another lacks, and returns their lines. */
function findLinesOnlyIn(policy: Policy, other: Policy): string[] {
  const texts = entriesOf(other).map(({ text }) => text);
  return entriesOf(policy).flatMap(({ text, line }) => {
    const at = texts.indexOf(text);
    if (at < 0) return [String(line)];
    texts.splice(at, 1);
    return [];
  });
}

const formatLines = (lines: readonly string[]): string =>
  `${lines.length === 1 ? "line" : "lines"} ${lines.join(", ")}`;

/**
 * Loads the rules of one's own. They are code, so a review runs none that the change edits: with a base, the file must be
 * that of the base.
 *
 * @param policy The policy that applies: that of the base.
 * @throws UsageError, RulesError
 */
export function readReviewRules(flags: PolicyFlags, policy: Policy | undefined): readonly OwnRule[] {
  const { rules, policy: policyPath, policyBase, baseRef } = flags;
  const path = findRulesPath(rules, policyPath, policy);
  if (path === undefined) return [];
  if (rules !== undefined && policyBase !== undefined) {
    throw new UsageError(
      "PP5003",
      "--rules conflicts with --policy-base: let that policy file name the rules (rules: access-rules.mjs), or give --base-ref",
    );
  }
  if (policyBase === undefined && baseRef === undefined) return loadNamedRules(rules, policyPath, policy);
  const basePath = findRulesPath(rules, policyBase ?? policyPath, policy) ?? path;
  const base: BaseText =
    baseRef === undefined
      ? { text: readText(basePath, "rules of --policy-base"), name: printable(basePath, 200) }
      : readAtRef(path, baseRef);
  const own = existsSync(path) ? readText(path, "the rules") : undefined;
  // There was none before: it is the name that is wrong.
  if (own === undefined && base.text === undefined) return loadNamedRules(rules, policyPath, policy);
  if (
    own === undefined ||
    base.text === undefined ||
    normalizeLineEndings(own) !== normalizeLineEndings(base.text)
  ) {
    const verb = own === undefined ? "deletes" : base.text === undefined ? "adds" : "edits";
    throw new UsageError(
      "PP6102",
      `${printable(path, 200)}: this change ${verb} the rules, which are code, and a review runs no code of a change: bring back the file as it is in the base (${base.name}), and review again`,
    );
  }
  return loadRules(basePath);
}

/** How the file of the change differs from its base; a line each. */
function describeChanges(
  own: Policy | undefined,
  ownText: string | undefined,
  base: Policy,
  from: BaseText,
): string[] {
  const source = `this review uses ${from.name}`;
  const file = own?.file ?? "the policy file";
  if (own === undefined || ownText === undefined) {
    return [`${base.file}: this change deletes the policy file; ${source}`];
  }
  if (from.text === undefined)
    return [`${file}: this change adds the policy file: none of its entries is used`];
  if (normalizeLineEndings(ownText) === normalizeLineEndings(from.text)) return [];
  const [added, removed] = [findLinesOnlyIn(own, base), findLinesOnlyIn(base, own)];
  const [set, setBefore] = [own, base].map(({ settings, rules }) => sortedJson({ settings, rules }));
  const parts = [
    ...(set === setBefore ? [] : ["edits its settings, or what rules it names"]),
    ...(added.length === 0 ? [] : [`adds or changes the entries in ${formatLines(added)}`]),
    ...(removed.length === 0
      ? []
      : [`${added.length === 0 ? "removes" : "in place of"} those in ${formatLines(removed)} of the base`]),
  ];
  const what = parts.length === 0 ? "changes comments or the order" : parts.join(", ");
  return [`${file}: this change ${what}; ${source}`];
}

function checkFlags({ policy, rules, policyBase, baseRef }: PolicyFlags): void {
  const flag = policyBase !== undefined ? "--policy-base" : "--base-ref";
  if (policyBase !== undefined && baseRef !== undefined) {
    throw new UsageError("PP5003", "--policy-base conflicts with --base-ref: give only one of them");
  }
  const isBaseOfRules = policyBase === undefined && rules !== undefined;
  if ((policyBase ?? baseRef) !== undefined && policy === undefined && !isBaseOfRules) {
    throw new UsageError("PP5003", `${flag} belongs to --policy: name the policy file of the change`);
  }
  if (baseRef !== undefined && policy === "-") {
    throw new UsageError("PP5003", "--base-ref needs a path in --policy, not standard input");
  }
}

/**
 * The policy that a review uses: the base's version where a base is given, since the change could write its own.
 * A file of the change that is invalid is an error in either case.
 *
 * @returns undefined where there is no policy file.
 * @throws UsageError, PolicyError where a flag or a file is wrong.
 */
export function readReviewPolicy(flags: PolicyFlags): ReviewPolicy | undefined {
  checkFlags(flags);
  const { policy: path, policyBase, baseRef } = flags;
  if (path === undefined) return undefined;
  const name = printable(path, 200);
  if (policyBase === undefined && baseRef === undefined) {
    return { policy: parsePolicy(readText(path, "--policy"), name) };
  }
  const base: BaseText =
    baseRef === undefined
      ? { text: readText(policyBase ?? "", "--policy-base"), name: printable(policyBase ?? "", 200) }
      : readAtRef(path, baseRef);
  const isDeleted = path !== "-" && base.text !== undefined && !existsSync(path);
  const text = isDeleted ? undefined : readText(path, "--policy");
  const own = text === undefined ? undefined : parsePolicy(text, name);
  const policy = parsePolicy(base.text ?? "allow: []\n", base.name);
  return { policy, changed: describeChanges(own, text, policy, base) };
}
