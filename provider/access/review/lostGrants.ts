import type { ResolvedGrant } from "../graph/grants";
import type { GroupHierarchy } from "../graph/groupHierarchy";
import type { Grant } from "../graph/grant";

const joinKey = (...parts: readonly string[]): string => JSON.stringify(parts);

function add(index: Map<string, number[]>, key: string, position: number): void {
  const positions = index.get(key);
  if (positions) positions.push(position);
  else index.set(key, [position]);
}

/** Finds the lost grant that a new one continues, without trying each of them. */
export class LostGrants {
  private readonly paired = new Set<ResolvedGrant>();
  /** Positions by subject, role and each group at or above the grant; and by subject and the group itself. */
  private readonly byRoleWithin = new Map<string, number[]>();
  private readonly byRoleAt = new Map<string, number[]>();
  private readonly byGroup = new Map<string, number[]>();

  constructor(
    private readonly lost: readonly ResolvedGrant[],
    hierarchy: GroupHierarchy,
  ) {
    for (const [position, { grant }] of lost.entries()) {
      const { subject, role, group } = grant;
      for (const key of hierarchy.chain(group.key))
        add(this.byRoleWithin, joinKey(subject.key, role.key, key), position);
      add(this.byRoleAt, joinKey(subject.key, role.key, group.key), position);
      add(this.byGroup, joinKey(subject.key, group.key), position);
    }
  }

  /** The same role of the same subject, at a group above the new grant or below it. */
  findMoved({ grant }: ResolvedGrant, after: GroupHierarchy): ResolvedGrant | undefined {
    const { subject, role, group } = grant;
    const below = this.byRoleWithin.get(joinKey(subject.key, role.key, group.key)) ?? [];
    const above = after
      .chain(group.key)
      .flatMap((key) => this.byRoleAt.get(joinKey(subject.key, role.key, key)) ?? []);
    const positions = [...new Set([...below, ...above])].sort((a, b) => a - b);
    return this.choose(positions, grant, (old) => old.group.key !== group.key);
  }

  /** Another role of the same subject at the same group. */
  findAtGroup({ grant }: ResolvedGrant, matches: (old: Grant) => boolean): ResolvedGrant | undefined {
    const positions = this.byGroup.get(joinKey(grant.subject.key, grant.group.key)) ?? [];
    return this.choose(positions, grant, matches);
  }

  markPaired(grant: ResolvedGrant): void {
    this.paired.add(grant);
  }

  remaining(): ResolvedGrant[] {
    return this.lost.filter((grant) => !this.paired.has(grant));
  }

  /**
   * The first of some grants that fits. What one resource grants before and after belongs together before all else. A subject
   * may have thousands of grants at one group, so nothing is copied here.
   */
  private choose(
    positions: readonly number[],
    { urn }: Grant,
    matches: (old: Grant) => boolean,
  ): ResolvedGrant | undefined {
    let first: ResolvedGrant | undefined;
    for (const position of positions) {
      const resolved = this.lost[position];
      if (resolved === undefined || this.paired.has(resolved) || !matches(resolved.grant)) continue;
      if (urn !== undefined && resolved.grant.urn === urn) return resolved;
      first ??= resolved;
    }
    return first;
  }
}
