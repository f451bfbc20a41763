import { printable } from "../api/errors";
import { applyPolicy, parsePolicy } from "../access/policy";
import type { Finding } from "../access/report";
import type { Judgement, Rules } from "../access/review";
import { findingsOf } from "../access/rules";
import { readText } from "./files";
import type { CommonOptions } from "./options";

/** The rules of a review, with the guards that the flags set. */
export function rulesBy(options: CommonOptions): Rules {
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

/**
 * What the policy file of the flags makes of findings; undefined where there is none.
 *
 * @throws UsageError, PolicyError where the file cannot be read or is wrong.
 */
export function judgementBy({
  policy: path,
  now,
}: CommonOptions): ((findings: readonly Finding[]) => Judgement) | undefined {
  if (path === undefined) return undefined;
  const policy = parsePolicy(readText(path, "--policy"), printable(path, 200));
  return (findings) => applyPolicy(findings, policy, now.getTime(), "review");
}
