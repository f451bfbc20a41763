import type { GrantedRole } from "../graph/grant";

export function capabilities(number: number): string {
  return number === 1 ? "1 capability" : `${number} capabilities`;
}

interface CapabilityChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** They are known on one side only. */
  readonly uncertain: boolean;
}

export function compareCapabilities(before: GrantedRole, after: GrantedRole): CapabilityChange {
  const [olds, news] = [before.capabilities, after.capabilities];
  if (olds === undefined || news === undefined) {
    return { added: news ?? [], removed: olds ?? [], uncertain: olds !== news };
  }
  const [had, has] = [new Set(olds), new Set(news)];
  return {
    added: news.filter((name) => !had.has(name)),
    removed: olds.filter((name) => !has.has(name)),
    uncertain: false,
  };
}
