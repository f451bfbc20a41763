import { defaultRuleOptions, findingsOf, findRule } from "../../../../provider/access/rules";
import type { RuleOptions } from "../../../../provider/access/rules";
import type { Comparison } from "../../../../provider/access/review/compare";
import type { Finding } from "../../../../provider/access/review/finding";
import { withNamedKinds } from "../../../support/namedKinds";

export const NOW = Date.parse("2026-06-01T00:00:00Z");

export const inDays = (days: number, seconds = 0): string =>
  new Date(NOW + days * 86_400_000 + seconds * 1000).toISOString();

/** The findings of one rule. */
export function found(id: string, given: Comparison, options: Partial<RuleOptions> = {}): Finding[] {
  const all = { ...defaultRuleOptions(NOW), ...options };
  return withNamedKinds(findingsOf(given, all, [findRule(id)!]));
}

/** Their severities, worst first. */
export function severitiesOf(id: string, given: Comparison, options: Partial<RuleOptions> = {}): string[] {
  return found(id, given, options).map(({ severity }) => severity);
}
