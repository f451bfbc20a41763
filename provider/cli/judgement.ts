import { existsSync } from "node:fs";
import { printable } from "../api/errors";
import { createBaseline, formatComment, commentTitle, defaultExpiry } from "../access/drift/accept";
import { applyPolicy } from "../access/suppressions/applyPolicy";
import { parsePolicy } from "../access/suppressions/parsePolicy";
import type { Policy } from "../access/suppressions/policyDocument";
import { appendEntries } from "../access/suppressions/writeEntries";
import type { Comparison } from "../access/graph/model";
import type { Finding } from "../access/report/report";
import type { SuppressionResult, Rules } from "../access/review/review";
import { findingsOf } from "../access/rules";
import { readText, writeText } from "./files";
import type { CommonOptions } from "./options";
import { readReviewPolicy } from "./policyBase";
import type { PolicyFlags } from "./policyBase";

/** The rules of a review, with the guards that the flags set. */
export function createRules(options: CommonOptions): Rules {
  const { self, minOwners, requiredOwners, maxRemoval, issuerAllow, sinkAllow, strict, now } = options;
  return (comparison) =>
    findingsOf(comparison, {
      now: now.getTime(),
      minOwners,
      requiredOwner: requiredOwners,
      maxRemoval,
      issuerAllow,
      sinkAllow,
      strict,
      ...(self === undefined ? {} : { self }),
    });
}

/** @throws UsageError, PolicyError where the file cannot be read or is wrong. */
function readPolicy(path: string, flag: string): Policy {
  return parsePolicy(readText(path, flag), printable(path, 200));
}

/**
 * What the policy file of the flags makes of what drift finds; undefined where there is none.
 *
 * @throws UsageError, PolicyError where the file cannot be read or is wrong.
 */
export function createSuppressor(
  { policy: path, now }: Pick<CommonOptions, "policy" | "now">,
  command: "drift",
):
  | ((findings: readonly Finding[], isWhole?: boolean, comparison?: Comparison) => SuppressionResult)
  | undefined {
  if (path === undefined) return undefined;
  const policy = readPolicy(path, "--policy");
  return (findings, isWhole, comparison) =>
    applyPolicy(findings, policy, now.getTime(), command, isWhole, comparison);
}

/**
 * What the policy of a review makes of findings; undefined where there is none. A file that the change itself
 * alters is not what decides: see `readReviewPolicy`.
 *
 * @throws UsageError, PolicyError where a flag or a file is wrong.
 */
export function createReviewSuppressor(
  flags: PolicyFlags,
  now: Date,
): ((findings: readonly Finding[], comparison: Comparison) => SuppressionResult) | undefined {
  const read = readReviewPolicy(flags);
  if (read === undefined) return undefined;
  const { policy, changed } = read;
  return (findings, comparison) => ({
    ...applyPolicy(findings, policy, now.getTime(), "review", true, comparison),
    ...(changed === undefined ? {} : { changed }),
  });
}

/** A policy file that takes up what a run finds. */
export interface Baseline {
  /** As `judgementBy`, with what is new in the file suppressed too. */
  readonly suppress: (
    findings: readonly Finding[],
    isWhole: boolean,
    comparison: Comparison,
  ) => SuppressionResult;
  /** Writes the file, and returns what there is to tell, a line each. Only after `judge`. */
  readonly write: () => string[];
}

/** What is told of a baseline that was written. */
function describeBaseline(name: string, count: number, left: readonly Finding[], now: number): string[] {
  const what = `${count === 1 ? "1 exception" : `${count} exceptions`} added to ${name}`;
  const rest = left.length === 0 ? "" : `; ${left.length} left for a person to accept by name`;
  return [
    count === 0
      ? `${what}: there is nothing else to accept${rest}`
      : `${what}, to ${defaultExpiry(now)}: give each its own reason${rest}`,
    ...left.map(({ severity, id, message }) => `not accepted: ${severity} ${id}: ${printable(message, 300)}`),
    ...(left.length === 0
      ? []
      : [`${name} has an entry for each of these as a comment: complete reason and acceptedBy to accept it`]),
  ];
}

/**
 * A baseline at a path: entries for the medium and low findings that neither `--policy` nor the file itself suppresses,
 * and comments for the others. Entries and comments of the file stay.
 *
 * @throws UsageError, PolicyError where a file cannot be read or is wrong.
 */
export function readBaseline(path: string, options: Pick<CommonOptions, "policy" | "now">): Baseline {
  const name = printable(path, 200);
  const now = options.now.getTime();
  const isThere = existsSync(path);
  const before = isThere ? readText(path, "--write-baseline") : undefined;
  // A file that is wrong is told before anything is asked of the server.
  appendEntries(before, [], name);
  const given = createSuppressor(options, "drift");
  let text = "";
  let isChanged = false;
  let count = 0;
  let left: readonly Finding[] = [];
  return {
    suppress: (findings, isWhole, comparison) => {
      const suppress = (open: readonly Finding[], policy: string) =>
        applyPolicy(open, parsePolicy(policy, name), now, "drift", isWhole, comparison);
      const first = given?.(findings, isWhole, comparison);
      const open = first?.findings ?? findings;
      const known = before === undefined ? open : suppress(open, before).findings;
      const { entries } = createBaseline(known, now);
      const withEntries = appendEntries(before, entries, name);
      const second = suppress(open, withEntries);
      count = entries.length;
      left = second.findings;
      const comments = left
        .filter((finding) => before?.includes(commentTitle(finding)) !== true)
        .map((finding) => formatComment(finding, now));
      isChanged = !isThere || entries.length + comments.length > 0;
      text = comments.length === 0 ? withEntries : appendEntries(before, entries, name, comments);
      return {
        findings: second.findings,
        suppressed: [...(first?.suppressed ?? []), ...second.suppressed],
        unused: first?.unused ?? [],
        expired: first?.expired ?? [],
      };
    },
    write: () => {
      if (isChanged) writeText(path, text, "--write-baseline");
      return describeBaseline(name, count, left, now);
    },
  };
}
