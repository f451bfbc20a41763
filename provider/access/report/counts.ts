import { isGain, tupleOf } from "../graph/grant";
import type { GrantChange } from "../graph/grant";
import { severities, rank } from "../review/finding";
import type { Finding, Severity } from "../review/finding";
import type { ReportedRule, ReviewReport } from "./report";

/** How many items have each key. */
export function countBy<Item, Key extends string>(
  items: readonly Item[],
  keys: readonly Key[],
  keyOf: (item: Item) => Key,
): Record<Key, number> {
  const counts = Object.fromEntries(keys.map((key) => [key, 0])) as Record<Key, number>;
  for (const item of items) counts[keyOf(item)] += 1;
  return counts;
}

/** How many grants changed in each way. */
export const countGrants = (grants: readonly GrantChange[]): Record<GrantChange["change"], number> =>
  countBy(grants, ["gained", "lost", "widened", "narrowed"], ({ change }) => change);

/** How many findings are at least as bad as a level. */
export function countFailing(findings: readonly Finding[], failOn: Severity | "never"): number {
  if (failOn === "never") return 0;
  return findings.filter(({ severity }) => severities.indexOf(severity) <= severities.indexOf(failOn)).length;
}

const NO_FINDING = severities.length;

/** The worst finding of a grant or of its subject; `NO_FINDING` where there is none. */
export function rankGrants(findings: readonly Finding[]): (change: GrantChange) => number {
  const worst = new Map<string | undefined, number>();
  for (const finding of findings) {
    const { grant, urn, uid } = finding;
    for (const key of grant === undefined ? [urn, uid] : [tupleOf(grant)]) {
      if (key !== undefined) worst.set(key, Math.min(worst.get(key) ?? NO_FINDING, rank(finding)));
    }
  }
  return ({ grant }) =>
    Math.min(
      ...[tupleOf(grant), grant.subject.urn, grant.subject.uid].map((key) => worst.get(key) ?? NO_FINDING),
    );
}

/**
 * What a reader must see first has the least weight. A new grant at a root group reaches the whole organisation, so it comes
 * right after what is critical, whether or not a rule finds something.
 */
export function weighGrants(findings: readonly Finding[]): (change: GrantChange) => number {
  const rankOf = rankGrants(findings);
  return (change) => Math.min(rankOf(change), isGain(change) && change.grant.group.isRoot ? 0.5 : NO_FINDING);
}

/** Grants that matter most come first; others keep their order. */
export function sortGrants(grants: readonly GrantChange[], findings: readonly Finding[]): GrantChange[] {
  const weigh = weighGrants(findings);
  const weights = new Map(grants.map((change) => [change, weigh(change)]));
  return [...grants].sort((a, b) => (weights.get(a) ?? NO_FINDING) - (weights.get(b) ?? NO_FINDING));
}

/** `2 high, 9 low`: what findings weigh that a form leaves out. */
export function describeFindings(findings: readonly Finding[]): string {
  return describeRanks(findings.map(rank));
}

/** `2 high, 9 low, 380 without a finding`, from the rank of each. */
export function describeRanks(ranks: readonly number[]): string {
  return [...severities, "without a finding"]
    .map((name, i) => [ranks.filter((each) => each === i).length, name] as const)
    .filter(([count]) => count > 0)
    .map(([count, name]) => `${count} ${name}`)
    .join(", ");
}

/** The member of a report about rules of the organisation's own; none where there are none. */
export function reportOwnRules(own: readonly ReportedRule[] = []): Pick<ReviewReport, "ownRules"> {
  return own.length === 0
    ? {}
    : { ownRules: own.map(({ id, name, why, fix, file }) => ({ id, name, why, fix, file })) };
}
