import { tupleOf } from "../graph/grant";
import type { GrantChange } from "../graph/grant";
import { severities, rank } from "../review/finding";
import type { Finding, Severity } from "../review/finding";

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

/** How many findings are at least as bad as a level. */
export function countFailing(findings: readonly Finding[], failOn: Severity | "never"): number {
  if (failOn === "never") return 0;
  return findings.filter(({ severity }) => severities.indexOf(severity) <= severities.indexOf(failOn)).length;
}

/** Grants whose finding is worst come first; in one severity they keep their order. */
export function sortGrants(grants: readonly GrantChange[], findings: readonly Finding[]): GrantChange[] {
  const text = ({ grant }: Pick<GrantChange, "grant">) => tupleOf(grant);
  const worst = new Map<string, number>();
  for (const finding of findings) {
    if (finding.grant === undefined) continue;
    const key = text({ grant: finding.grant });
    worst.set(key, Math.min(worst.get(key) ?? severities.length, rank(finding)));
  }
  const of = (change: GrantChange) => worst.get(text(change)) ?? severities.length;
  return [...grants].sort((a, b) => of(a) - of(b));
}
