import type { Comparison } from "../../access/review/comparison";
import type { Finding } from "../../access/review/finding";
import type { SuppressionResult, Rules } from "../../access/report/reviewReport";
import { findingsOf } from "../../access/rules";
import { describeStanding, judgeAssertions } from "../../access/assertions/judgeAssertions";
import { applyPolicy } from "../../access/suppressions/applyPolicy";
import { findNewMatches } from "../../access/suppressions/newMatches";
import type { Policy } from "../../access/suppressions/policyDocument";
import { parsePolicy } from "../../access/suppressions/parsePolicy";
import { printable } from "../../http/errors";
import type { CommonOptions } from "../framework/options";
import { readText } from "../input/readFiles";
import type { ReviewPolicy } from "./reviewPolicy";

/** Suppresses the findings that a policy file names. */
export type Suppressor = (
  findings: readonly Finding[],
  isComplete: boolean,
  comparison: Comparison,
) => SuppressionResult;

/**
 * The rules, with the limits that the flags set.
 * @param policy What it asserts, and what begins to match its exceptions, is a finding.
 */
export function createRules(options: CommonOptions, policy?: Policy): Rules {
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
      ...(policy === undefined
        ? {}
        : {
            newMatches: (compared) => findNewMatches(policy, now.getTime(), compared),
            assertions: policy.assertions,
          }),
    });
}

/**
 * Reads the file of `--policy` where no version of a base branch decides; undefined where there is none.
 *
 * @throws UsageError, PolicyError where the file cannot be read or is wrong.
 */
export function readDriftPolicy(path: string | undefined): Policy | undefined {
  return path === undefined ? undefined : parsePolicy(readText(path, "--policy"), printable(path, 200));
}

/** Suppresses what the policy of a drift run allows; undefined where there is none. */
export function createSuppressor(policy: Policy | undefined, now: Date): Suppressor | undefined {
  if (policy === undefined) return undefined;
  return (findings, isComplete, comparison) =>
    applyPolicy(findings, policy, now.getTime(), "drift", isComplete, comparison);
}

/** Suppresses what the policy of a review allows. A file that the change itself alters does not decide: see `readReviewPolicy`. */
export function createReviewSuppressor({ policy, changed }: ReviewPolicy, now: Date): Suppressor {
  return (findings, isComplete, comparison) => ({
    ...applyPolicy(findings, policy, now.getTime(), "review", isComplete, comparison),
    standing: describeStanding(judgeAssertions(comparison, policy.assertions)),
    ...(changed === undefined ? {} : { changed }),
  });
}
