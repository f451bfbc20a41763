import type { Comparison } from "../../access/review/compare";
import type { Finding } from "../../access/review/finding";
import type { SuppressionResult, Rules } from "../../access/report/reviewReport";
import { dirname, join } from "node:path";
import { findingsOf, rules } from "../../access/rules";
import { loadRules } from "../../access/rules/ownRules";
import type { OwnRule } from "../../access/rules/ownRules";
import { describeStanding, judgeAssertions } from "../../access/assertions/judgeAssertions";
import { applyPolicy, findNewMatches } from "../../access/suppressions/applyPolicy";
import type { RuleOptions } from "../../access/rules";
import type { Policy, PolicyCommand } from "../../access/suppressions/policyDocument";
import { parsePolicy } from "../../access/suppressions/policyDocument";
import { printable } from "../../text/printable";
import { readCommonOptions, withSettings } from "../framework/options";
import type { CommonFlagValues, CommonOptions } from "../framework/options";
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
 * @param own Rules of the organisation's own.
 */
export function createRules(options: CommonOptions, policy?: Policy, own: readonly OwnRule[] = []): Rules {
  const { self, minOwners, requiredOwners, maxRemoval, issuerAllow, sinkAllow, strict, now } = options;
  const ruleOptions: RuleOptions = {
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
  };
  return (comparison) => findingsOf(comparison, ruleOptions, [...rules, ...own]);
}

/** The path of the rules of one's own: that of `--rules`, or what the policy file names beside itself. */
export function findRulesPath(
  flag: string | undefined,
  policyPath: string | undefined,
  policy: Policy | undefined,
): string | undefined {
  return flag ?? (policy?.rules === undefined ? undefined : join(dirname(policyPath ?? ""), policy.rules));
}

/** Loads the rules of one's own. @throws RulesError that names the line of the policy file, where that names the rules. */
export function loadNamedRules(...named: Parameters<typeof findRulesPath>): readonly OwnRule[] {
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

/**
 * What the flags of a command that reports drift say, with its policy and rules of one's own.
 * @param failOn the levels that the command knows, its default first: a level of a review is none of drift.
 * @throws RulesError, UsageError
 */
export function readDriftOptions(
  values: CommonFlagValues,
  failOn: Parameters<typeof readCommonOptions>[1],
): { readonly policy?: Policy; readonly ownRules: readonly OwnRule[]; readonly options: CommonOptions } {
  const policy = readDriftPolicy(values.policy);
  const ownRules = loadNamedRules(values.rules, values.policy, policy);
  const settings = policy && { ...policy.settings, failOn: undefined };
  return { policy, ownRules, options: readCommonOptions(withSettings(values, settings), failOn) };
}

/** Suppresses what a policy allows, and says what of the file nothing matches. */
const suppressorOf =
  (policy: Policy, now: Date, command: PolicyCommand): Suppressor =>
  (findings, isComplete, comparison) => {
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
  return (findings, isComplete, comparison) => ({
    ...suppress(findings, isComplete, comparison),
    standing: describeStanding(judgeAssertions(comparison, policy.assertions)),
    ...(changed === undefined ? {} : { changed }),
  });
}
