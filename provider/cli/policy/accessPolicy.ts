import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { describeStanding, judgeAssertions } from "../../access/assertions/judgeAssertions";
import type { Rules } from "../../access/report/reviewReport";
import type { SuppressionResult, Suppressor } from "../../access/suppressions/applyPolicy";
import type { Comparison } from "../../access/review/compare";
import { isHighOrCritical } from "../../access/review/finding";
import type { Finding } from "../../access/review/finding";
import { defaultRuleOptions, findingsOf, rules } from "../../access/rules";
import type { RuleOptions } from "../../access/rules";
import { loadRules } from "../../access/rules/ownRules";
import type { OwnRule } from "../../access/rules/ownRules";
import { applyPolicy, findNewMatches } from "../../access/suppressions/applyPolicy";
import { limitsOf, parsePolicy } from "../../access/suppressions/policyDocument";
import type { Policy, PolicyCommand } from "../../access/suppressions/policyDocument";
import { appendEntries, defaultExpiry, entryFor, proposeEntry } from "../../access/suppressions/writeEntries";
import type { NewEntry } from "../../access/suppressions/writeEntries";
import { printable } from "../../text/printable";
import { UsageError } from "../framework/exitCodes";
import { readCommonOptions } from "../framework/options";
import type { CommonOptions, CommonFlagValues } from "../framework/options";
import { runGit } from "../input/programs";
import { findCheckout, refuseLink } from "../input/projectFiles";
import { readText } from "../input/readFiles";
import { isStdout, writeText } from "../output/writeFiles";

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
interface ReviewPolicy {
  readonly policy: Policy;
  /** A line each; undefined where no base is given. */
  readonly changed?: readonly string[];
}

interface BaseText {
  /** Undefined where the base has no such file. */
  readonly text: string | undefined;
  readonly name: string;
  /** The text where the change left the base: a change that has it still edits nothing. Absent where git does not know that commit. */
  readonly mergeBase?: string;
}

/** Runs git beside the policy file. */
function git(folder: string, args: readonly string[]): { status: number | null; stdout: string } {
  const { error, status, stdout } = runGit(folder, ["--no-replace-objects", ...args]);
  if (error !== undefined) {
    throw new UsageError(
      "PP5013",
      `--base-ref needs git, which cannot be run (${error}): install it, or give --policy-base FILE`,
    );
  }
  return { status, stdout };
}

/**
 * What a name of a base may mean, the first that is there. Git itself would prefer a tag of that name, which whoever may push a
 * tag can make; so a tag is meant only where it is written in full, as is a commit. A name with a slash is that of a remote
 * branch: where it was not fetched, the checkout of a change from a branch called `origin/main` would take its place.
 */
function listRefs(name: string): string[] {
  const end = name.search(/[~^]/);
  const start = end < 0 ? name : name.slice(0, end);
  if (/^(?:refs\/.+|HEAD|[0-9a-f]{40}|[0-9a-f]{64})$/.test(start)) return [name];
  const places = ["refs/remotes/", ...(start.includes("/") ? [] : ["refs/heads/"])];
  return places.map((place) => `${place}${name}`);
}

/** Whether git has put its files of this checkout among those of another repository, as it does for a submodule. */
function isSubmodule(checkout: string): boolean {
  const file = join(checkout, ".git");
  return (
    statSync(file).isFile() &&
    /^gitdir: .*\.git[\\/](?:.*[\\/])?modules[\\/]/.test(readFileSync(file, "utf8"))
  );
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
  const checkout = findCheckout(folder);
  if (checkout !== undefined) {
    // The change could have moved the folder, so that the path is that of another file, or of none, in the base.
    refuseLink(checkout, resolve(path));
    // It could have made a submodule of the folder, with a base of its own.
    if (isSubmodule(checkout)) {
      throw unusable(
        `${printable(checkout, 200)} is a submodule, and a change may have put it there: give --policy-base FILE`,
      );
    }
  }
  const commit = listRefs(ref)
    .map((name) => git(folder, ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`]))
    .find(({ status, stdout }) => status === 0 && stdout.trim() !== "")
    ?.stdout.trim();
  if (commit === undefined) {
    throw unusable(
      `no such commit in the repository of ${printable(path, 200)}: fetch it first, or give --policy-base FILE. A tag is written refs/tags/…, a local branch with a slash refs/heads/…, and a commit in full`,
    );
  }
  const name = `${printable(path, 200)} at ${shown}`;
  const listed = git(folder, ["ls-tree", "--name-only", commit, "--", file]);
  if (listed.status !== 0) throw unusable("git cannot list the files of this commit");
  if (listed.stdout.trim() === "") return { text: undefined, name };
  const { status, stdout } = git(folder, ["show", "--no-textconv", "--no-ext-diff", `${commit}:${file}`]);
  if (status !== 0) throw unusable(`git cannot read ${printable(path, 200)} of this commit`);
  const starts = git(folder, ["merge-base", "--all", commit, "HEAD"]);
  const [start = "", ...more] = starts.stdout.trim().split("\n");
  const old = git(folder, ["show", "--no-textconv", "--no-ext-diff", `${start}:${file}`]);
  // Of several bases, a merge may take the text of any.
  const isKnown = starts.status === 0 && more.length === 0 && old.status === 0;
  return { text: stdout, name, ...(isKnown ? { mergeBase: old.stdout } : {}) };
}

const normalizeLineEndings = (text: string): string => text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");

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
  return loadRules(basePath, { isAlone: true });
}

/** Whether the file of the change differs from its base. What differs is in the diff of the change. */
function describePolicyChange(name: string, text: string | undefined, base: BaseText): string[] {
  const source = `this review uses ${base.name}`;
  if (text === undefined) return [`${base.name}: this change deletes the policy file; ${source}`];
  if (base.text === undefined)
    return [`${name}: this change adds the policy file: none of its entries is used`];
  const own = normalizeLineEndings(text);
  return [base.text, base.mergeBase].some((each) => each !== undefined && normalizeLineEndings(each) === own)
    ? []
    : [`${name}: this change edits the policy file; ${source}`];
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
  if (text !== undefined) parsePolicy(text, name);
  const policy = parsePolicy(base.text ?? "allow: []\n", base.name);
  return { policy, changed: describePolicyChange(name, text, base) };
}

/** What a baseline adds to its file. */
interface Addition {
  readonly text: string;
  readonly entryCount: number;
  readonly isChanged: boolean;
  /** Findings that a person must accept by name. */
  readonly remaining: readonly Finding[];
  /** Findings that the change brings, which no baseline accepts. */
  readonly ofChange: number;
}

/** What `--write-baseline` added to the policy file, and what it left to a person; a line each. */
function describeAddition(
  name: string,
  { entryCount, remaining, ofChange }: Addition,
  now: number,
): string[] {
  const added = `${entryCount === 1 ? "1 exception" : `${entryCount} exceptions`} added to ${name}`;
  const left = remaining.length === 0 ? "" : `; ${remaining.length} left for a person to accept by name`;
  const brought = ofChange === 1 ? "1 finding was" : `${ofChange} findings were`;
  return [
    entryCount === 0
      ? `${added}: there is nothing else to accept${left}`
      : `${added}, to ${defaultExpiry(now)}: give each its own reason${left}`,
    ...(ofChange === 0
      ? []
      : [`not accepted: ${brought} not there before the change: fix them, or accept them one by one`]),
    ...remaining.map(
      ({ severity, id, message }) => `not accepted: ${severity} ${id}: ${printable(message, 300)}`,
    ),
    ...(remaining.length === 0
      ? []
      : [`${name} has an entry for each of these as a comment: complete it to accept the finding`]),
  ];
}

/** The title of a finding in a comment of a policy file, by which a later run recognises it. */
const commentTitle = ({ id, severity, fingerprint }: Finding): string =>
  `${severity} ${id}, fingerprint ${fingerprint}`;

/** Which findings a baseline may accept: in a review, what was there before the change. */
type WasThere = (finding: Finding) => boolean;

/**
 * Creates a policy file that accepts what a run finds and neither `--policy` nor the file itself suppresses: in drift what is
 * medium and low, in a review what was there before the change and is not critical. What is worse gets a comment.
 */
export class BaselineFile {
  private readonly name: string;
  private readonly now: number;
  private readonly before: string | undefined;
  private addition: Addition | undefined;

  /** @throws UsageError, PolicyError where a file cannot be read or is wrong, or the report takes its place. */
  constructor(
    private readonly path: string,
    { now, outputs }: Pick<CommonOptions, "now" | "outputs">,
    private readonly command: PolicyCommand,
    private readonly suppressByPolicy: Suppressor | undefined,
    private readonly wasThere: WasThere = () => true,
  ) {
    if (isStdout(path) && outputs.some((output) => output.path === undefined)) {
      throw new UsageError(
        "PP5003",
        "--write-baseline - and the report both go to standard output: give the report another place, as in -o text=/dev/stderr",
      );
    }
    this.name = isStdout(path) ? "standard output" : printable(path, 200);
    this.now = now.getTime();
    this.before = !isStdout(path) && existsSync(path) ? readText(path, "--write-baseline") : undefined;
    // A file that is wrong ends the run before anything is requested of the server.
    appendEntries(this.before, [], this.name);
  }

  private accepts({ severity }: Finding): boolean {
    return this.command === "review" ? severity !== "critical" : !isHighOrCritical(severity);
  }

  private entriesFor(findings: readonly Finding[]): NewEntry[] {
    const day = new Date(this.now).toISOString().slice(0, 10);
    const reason = `existed when the baseline was written on ${day}; not reviewed yet`;
    return findings
      .filter((finding) => this.accepts(finding))
      .map((finding) => ({ entry: entryFor(finding, this.command, reason, this.now), finding }));
  }

  /** Suppresses findings by `--policy`, by the file, and by what is added to it. */
  suppress(findings: readonly Finding[], comparison: Comparison, isComplete: boolean): SuppressionResult {
    const { before, name, now, command } = this;
    const suppressBy = (open: readonly Finding[], text: string): SuppressionResult =>
      applyPolicy(open, parsePolicy(text, name), now, command, isComplete, comparison);
    const byPolicy = this.suppressByPolicy?.(findings, comparison, isComplete);
    const open = byPolicy?.findings ?? findings;
    const unaccepted = before === undefined ? open : suppressBy(open, before).findings;
    const entries = this.entriesFor(unaccepted.filter(this.wasThere));
    const byBaseline = suppressBy(open, appendEntries(before, entries, name));
    const remaining = byBaseline.findings.filter(this.wasThere);
    const comments = remaining
      .filter((finding) => before?.includes(commentTitle(finding)) !== true)
      .map((finding) =>
        [`  ${commentTitle(finding)}: ${finding.message}`, proposeEntry(finding, command, now)].join("\n"),
      );
    this.addition = {
      text: appendEntries(before, entries, name, comments),
      entryCount: entries.length,
      isChanged: before === undefined || entries.length + comments.length > 0,
      remaining,
      ofChange: byBaseline.findings.length - remaining.length,
    };
    return {
      ...byPolicy,
      findings: byBaseline.findings,
      suppressed: [...(byPolicy?.suppressed ?? []), ...byBaseline.suppressed],
      unused: byPolicy?.unused ?? [],
      expired: byPolicy?.expired ?? [],
    };
  }

  /** Writes the file after `suppress`; returns what it did, a line each. */
  write(): string[] {
    if (this.addition === undefined) return [];
    const { text, isChanged } = this.addition;
    if (isStdout(this.path)) process.stdout.write(text);
    else if (isChanged) writeText(this.path, text, "--write-baseline");
    return describeAddition(this.name, this.addition, this.now);
  }
}

/**
 * The rules, with the limits that the policy and the flags set.
 * @param policy What it asserts, and what begins to match its exceptions, is a finding.
 * @param own Rules of the organisation's own.
 */
export function createRules(
  options: CommonOptions,
  policy: Policy | undefined,
  own: readonly OwnRule[],
): Rules {
  const now = options.now.getTime();
  const ruleOptions: RuleOptions = {
    ...defaultRuleOptions(now),
    ...(policy && limitsOf(policy)),
    ...options.limits,
    ...(policy && { newMatches: (compared: Comparison) => findNewMatches(policy, now, compared) }),
  };
  return (comparison) => findingsOf(comparison, ruleOptions, [...rules, ...own]);
}

/** The path of the rules of one's own: that of `--rules`, or what the policy file names beside itself. */
function findRulesPath(
  flag: string | undefined,
  policyPath: string | undefined,
  policy: Policy | undefined,
): string | undefined {
  return flag ?? (policy?.rules === undefined ? undefined : join(dirname(policyPath ?? ""), policy.rules));
}

/** Loads the rules of one's own. @throws RulesError that names the line of the policy file, where that names the rules. */
function loadNamedRules(...named: Parameters<typeof findRulesPath>): readonly OwnRule[] {
  const [flag, , policy] = named;
  const path = findRulesPath(...named);
  if (path === undefined) return [];
  if (flag !== undefined || policy === undefined) return loadRules(path);
  return loadRules(path, { namedBy: `${policy.file}:${policy.rulesLine ?? 1}: rules` });
}

/**
 * Reads the file of `--policy` where no version of a base branch decides; undefined where there is none.
 *
 * @throws UsageError, PolicyError where the file cannot be read or is wrong.
 */
export function readDriftPolicy(path: string | undefined): Policy | undefined {
  return path === undefined ? undefined : parsePolicy(readText(path, "--policy"), printable(path, 200));
}

/** What the flags of a command that reports drift say, with its policy and rules of one's own. @throws RulesError, UsageError */
export function readDriftOptions(values: CommonFlagValues): {
  readonly policy?: Policy;
  readonly ownRules: readonly OwnRule[];
  readonly options: CommonOptions;
} {
  const policy = readDriftPolicy(values.policy);
  const ownRules = loadNamedRules(values.rules, values.policy, policy);
  return { policy, ownRules, options: readCommonOptions(values) };
}

/** Suppresses what a policy allows, and says what of the file nothing matches. */
const suppressorOf =
  (policy: Policy, now: Date, command: PolicyCommand): Suppressor =>
  (findings, comparison, isComplete) => {
    const result = applyPolicy(findings, policy, now.getTime(), command, isComplete, comparison);
    const unknown = isComplete ? judgeAssertions(comparison, policy.assertions).unknown : [];
    return { ...result, unused: [...result.unused, ...unknown] };
  };

/** Suppresses what the policy of a drift run allows; undefined where there is none. */
export function createSuppressor(policy: Policy | undefined, now: Date): Suppressor | undefined {
  return policy && suppressorOf(policy, now, "drift");
}

/** Suppresses what the policy of a review allows. A file that the change itself alters does not decide: see `readReviewPolicy`. */
export function createReviewSuppressor({ policy, changed }: ReviewPolicy, now: Date): Suppressor {
  const suppress = suppressorOf(policy, now, "review");
  return (findings, comparison, isComplete) => ({
    ...suppress(findings, comparison, isComplete),
    standing: describeStanding(judgeAssertions(comparison, policy.assertions)),
    changed,
  });
}
