import type { Facts } from "./facts";

/**
 * What was trusted on groups before a change. Who administers one group can create what they like there, so a value is known
 * on the groups where it was, and below them.
 */
export class KnownBefore {
  private readonly groupsByValue = new Map<string, Set<string>>();

  constructor(private readonly facts: Facts) {}

  add(value: string, groups: readonly string[]): void {
    const known = this.groupsByValue.get(value) ?? new Set();
    for (const group of groups) known.add(group);
    this.groupsByValue.set(value, known);
  }

  get isEmpty(): boolean {
    return this.groupsByValue.size === 0;
  }

  values(): string[] {
    return [...this.groupsByValue.keys()];
  }

  has(value: string): boolean {
    return this.groupsByValue.has(value);
  }

  /** Whether it was known on a group, or on one above it. */
  isKnownAt(value: string, group: string): boolean {
    const known = this.groupsByValue.get(value);
    return known !== undefined && this.facts.groupAndAbove(group).some((key) => known.has(key));
  }
}
