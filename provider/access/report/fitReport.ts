import { tupleOf } from "../graph/grant";
import type { GrantChange } from "../graph/grant";
import { severities, rank } from "../review/finding";
import type { Finding, Severity } from "../review/finding";
import { json } from "./render/escape";
import type { Report, ReportedRule, ReviewReport } from "./report";

/** How many bytes of JSON a report may have, and of HTML its page. Nobody reads more of one change. */
const MOST_BYTES_OF_REPORT: Readonly<Record<Report["command"], number>> = {
  review: 20_000_000,
  drift: 100_000_000,
  verify: 100_000_000,
};

/** What the lists may have of that: the rest is for what `verify` compares, which is never cut. */
const LISTS_SHARE = 0.8;

const inMegabytes = (bytes: number): string => `${bytes / 1_000_000} MB`;

/** The lists that can be as long as somebody likes, and what they are called. */
const LISTS: Readonly<Record<string, string>> = {
  findings: "findings",
  suppressed: "accepted findings",
  differences: "differences",
  grants: "changed grants",
  acceptedGrants: "accepted grants",
  unannounced: "grants that were not announced",
  missing: "grants that are missing",
  groups: "groups",
  trust: "changes of trust",
  unresolved: "lines about what is not resolved",
  incomplete: "lines about what is not checked",
  unrelated: "unrelated changes",
  unused: "entries of the policy file without effect",
  expired: "expired entries of the policy file",
  changed: "changes of the policy file",
  standing: "assertions that were broken before",
};

const ADVICE: Readonly<Record<Report["command"], string>> = {
  review: "split the change into smaller ones",
  drift: "look at a part of the organisation: --root",
  verify: "look at what has changed, and verify again",
};

const listOf = (report: Report, key: string): readonly unknown[] => {
  const items: unknown = Reflect.get(report, key) ?? Reflect.get(report.policy, key);
  return Array.isArray(items) ? items : [];
};

/** The most items that a list of a report has. */
export const lengthOfLists = (report: Report): number =>
  Math.max(...Object.keys(LISTS).map((key) => listOf(report, key).length));

/** A report with so many items of each list, the first, which are the worst. `omitted`: what it does not list. */
export function firstOfEach<R extends Report>(report: R, count: number) {
  const kept = new Map<string, readonly unknown[]>();
  const omitted: string[] = [];
  const { shown, hidden } = chooseFindings(report.findings, count);
  for (const [key, name] of Object.entries(LISTS)) {
    const items = listOf(report, key);
    if (items.length <= count) continue;
    kept.set(key, key === "findings" ? shown : items.slice(0, count));
    const weights = key === "findings" ? ` (${describeFindings(hidden)})` : "";
    omitted.push(`${items.length - count} of ${items.length} ${name}${weights}`);
  }
  const replaced = <T extends object>(lists: T): T =>
    Object.fromEntries(Object.entries(lists).map(([key, value]) => [key, kept.get(key) ?? value])) as T;
  const first: R = { ...replaced(report), policy: replaced(report.policy), complete: false };
  return { first, omitted };
}

/**
 * A report of at most so many bytes of JSON, but for what `verify` compares. It counts all that there is, and says in
 * `incomplete` what it does not list.
 */
export function fitReport<R extends Report>(
  report: R,
  bytes = MOST_BYTES_OF_REPORT[report.command],
  [what, advice]: readonly [string, string] = [
    `the report would have more than ${inMegabytes(bytes)}`,
    ADVICE[report.command],
  ],
): R {
  const lists = Object.keys(LISTS).map((key) =>
    key === "findings" ? orderToCut(report.findings) : listOf(report, key),
  );
  let [count, left] = [0, bytes * LISTS_SHARE];
  for (; lists.some((items) => items.length > count); count += 1) {
    left -= byteLength(json({ row: lists.flatMap((items) => items.slice(count, count + 1)) }));
    if (left < 0) break;
  }
  const { first, omitted } = firstOfEach(report, count);
  if (omitted.length === 0) return report;
  const why = `${what}, so it counts and does not list ${omitted.join(", ")}: ${advice}`;
  return { ...first, incomplete: [...first.incomplete, why] };
}

/**
 * A form of a report of at most as many bytes as its JSON may have. Some letters of names are longer in a form, and names
 * are in it more often.
 */
export function fitForm(
  report: Report,
  what: string,
  render: (fitted: Report) => string,
  mostBytes = MOST_BYTES_OF_REPORT[report.command],
): string {
  const why = [`${what} would have more than ${inMegabytes(mostBytes)}`, "the JSON has more of it"] as const;
  let text = render(report);
  let bytes = mostBytes;
  for (let size = byteLength(text); size > mostBytes && bytes > 0; size = byteLength(text)) {
    bytes = Math.floor((bytes * mostBytes * 0.9) / size);
    text = render(fitReport(report, bytes, why));
  }
  return text;
}

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

/** How many changed grants a report counts and does not list. */
export function countUnlisted({ complete, summary, grants }: Report): number {
  if (complete || !("gained" in summary)) return 0;
  return summary.gained + summary.lost + summary.widened + summary.narrowed - grants.length;
}

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
 * right after what is critical, whether or not a rule finds something; one that is only widened comes right after what is high.
 */
export function weighGrants(findings: readonly Finding[]): (change: GrantChange) => number {
  const rankOf = rankGrants(findings);
  const ofRoot: Partial<Record<GrantChange["change"], number>> = { gained: 0.5, widened: 1.5 };
  return (change) => {
    const atRoot = change.grant.group.isRoot ? ofRoot[change.change] : undefined;
    // Of two that are equally bad, the one at the root comes first.
    return atRoot === undefined ? rankOf(change) : Math.min(rankOf(change), atRoot) - 0.25;
  };
}

/** The least weight first; what has the same keeps its order. */
const orderBy = <T>(items: readonly T[], weigh: (item: T) => number): T[] =>
  items
    .map((item) => ({ item, weight: weigh(item) }))
    .sort((a, b) => a.weight - b.weight)
    .map(({ item }) => item);

/** Grants that matter most come first. Others keep their order. */
export const sortGrants = (grants: readonly GrantChange[], findings: readonly Finding[]): GrantChange[] =>
  orderBy(grants, weighGrants(findings));

/**
 * Findings in the order in which they are shown where there is no room for all: by severity. One of a rule that none before has
 * comes before all of its severity and of the next worse one: a thousand findings of one rule, which somebody may add on
 * purpose, hide none of another one.
 */
function orderToCut(findings: readonly Finding[]): Finding[] {
  const seen = new Set<string>();
  return orderBy(findings, (finding) => {
    const { id, severity, field = "" } = finding;
    // Each assertion is a rule of its own, by its name.
    const rule = `${severity} ${id} ${/^P\d$/.test(id) ? field : ""}`;
    const isNew = !seen.has(rule);
    seen.add(rule);
    return rank(finding) - (isNew ? 1.5 : 0);
  });
}

/** The findings to show where there is room for so many, in the order that they have, and the others. */
export function chooseFindings(
  findings: readonly Finding[],
  count: number,
): { readonly shown: readonly Finding[]; readonly hidden: readonly Finding[] } {
  if (count >= findings.length) return { shown: findings, hidden: [] };
  const chosen = new Set(orderToCut(findings).slice(0, count));
  return {
    shown: findings.filter((finding) => chosen.has(finding)),
    hidden: findings.filter((finding) => !chosen.has(finding)),
  };
}

/** `2 high, 9 low`: what findings weigh that a form leaves out. */
export function describeFindings(findings: readonly Finding[]): string {
  const counts = countBy(findings, severities, ({ severity }) => severity);
  return severities
    .filter((severity) => counts[severity] > 0)
    .map((severity) => `${counts[severity]} ${severity}`)
    .join(", ");
}

/** The member of a report about rules of the organisation's own; none where there are none. */
export function reportOwnRules(own: readonly ReportedRule[] = []): Pick<ReviewReport, "ownRules"> {
  return own.length === 0
    ? {}
    : { ownRules: own.map(({ id, name, why, fix, file }) => ({ id, name, why, fix, file })) };
}

/** Bytes that a text has in UTF-8. */
export const byteLength = (text: string): number => Buffer.byteLength(text, "utf8");

/**
 * The output for the largest number of items, 0 to `maxItems`, that has no more than `maxBytes`; undefined where
 * none fits. More items must give more bytes.
 */
export function largestThatFits(
  maxBytes: number,
  maxItems: number,
  build: (items: number) => string,
): string | undefined {
  const whole = build(maxItems);
  if (byteLength(whole) <= maxBytes) return whole;
  let largest: string | undefined;
  let low = 0;
  let high = maxItems - 1;
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    const text = build(middle);
    if (byteLength(text) <= maxBytes) {
      largest = text;
      low = middle + 1;
    } else {
      high = middle - 1;
    }
  }
  return largest;
}
