import { mayWiden } from "../effects";
import type { ResolvedGrant } from "../graph/grants";
import { labelByKey } from "../graph/groupHierarchy";
import type { GroupHierarchy } from "../graph/groupHierarchy";
import type { GrantChange, GrantedRole } from "../graph/grant";
import type { Entities } from "../graph/model";
import { LostGrants } from "./lostGrants";
import { compareCapabilities } from "./capabilityChange";
import { movedGroups } from "./groupMoves";
import type { TrustComparison } from "./trustComparison";

/** The two graphs whose grants are paired. */
interface GraphSides {
  readonly entities: { readonly before: Entities; readonly after: Entities };
  readonly hierarchies: { readonly before: GroupHierarchy; readonly after: GroupHierarchy };
  readonly trust: TrustComparison;
}

interface GrantPairs {
  readonly changes: readonly GrantChange[];
  /** What has no counterpart on the other side. */
  readonly gained: readonly ResolvedGrant[];
  readonly lost: readonly ResolvedGrant[];
}

class GrantPairing {
  private readonly lost: LostGrants;
  private readonly capabilities = new Map<GrantedRole, ReadonlySet<string>>();
  private readonly movedGroups: readonly string[];

  constructor(
    lost: readonly ResolvedGrant[],
    private readonly sides: GraphSides,
  ) {
    this.lost = new LostGrants(lost, sides.hierarchies.before);
    this.movedGroups = movedGroups(sides.entities, sides.hierarchies);
  }

  /** The change that makes a lost grant this one; undefined where the grant is new. */
  pair(gained: ResolvedGrant): GrantChange | undefined {
    const moved = this.lost.findMoved(gained, this.sides.hierarchies.after);
    if (moved !== undefined) return this.pairWithMoved(moved, gained);
    const { grant } = gained;
    const replaced = this.isUnmoved(grant.group.key)
      ? this.lost.findAtGroup(gained, ({ role }) => this.areComparable(role, grant.role))
      : undefined;
    return replaced === undefined ? undefined : this.pairWithOtherRole(replaced, gained);
  }

  remaining(): ResolvedGrant[] {
    return this.lost.remaining();
  }

  /** Whether a group stays where it is. */
  private isUnmoved(group: string): boolean {
    const { before, after } = this.sides.hierarchies;
    return before.chain(group).join() === after.chain(group).join();
  }

  /** Whether one role contains the other. */
  private areComparable(one: GrantedRole, other: GrantedRole): boolean {
    return this.contains(one, other) || this.contains(other, one);
  }

  private contains(outer: GrantedRole, { capabilities }: GrantedRole): boolean {
    if (outer.capabilities === undefined || capabilities === undefined) return false;
    const held = this.capabilities.get(outer) ?? new Set(outer.capabilities);
    this.capabilities.set(outer, held);
    return capabilities.every((name) => held.has(name));
  }

  private pairWithMoved(old: ResolvedGrant, gained: ResolvedGrant): GrantChange {
    const [from, to] = [old.grant.group, gained.grant.group];
    const isUp = this.sides.hierarchies.before.chain(from.key).includes(to.key);
    return this.pairAs(old, gained, `moves from ${from.path} ${isUp ? "up" : "down"} to ${to.path}`, isUp);
  }

  private pairWithOtherRole(old: ResolvedGrant, gained: ResolvedGrant): GrantChange {
    const { before, after } = this.sides.entities;
    const name = (role: GrantedRole, entities: Entities) =>
      role.label ?? role.name ?? labelByKey(entities, role.key);
    const names = [name(old.grant.role, before), name(gained.grant.role, after)];
    // Names may be exchanged, and then tell nothing.
    const [from, to] = names[0] === names[1] ? [old.grant.role.key, gained.grant.role.key] : names;
    const { added, removed } = compareCapabilities(old.grant.role, gained.grant.role);
    // Others may be able to change the other role.
    const isSame = added.length + removed.length === 0;
    const reason = `the role changes from ${from} to ${to}${isSame ? ", another role with the same capabilities" : ""}`;
    return this.pairAs(old, gained, reason, isSame);
  }

  /** A group that moves to the place of a grant, or below it, and that the old grant did not reach. */
  private findNewlyReached(old: ResolvedGrant, { grant }: ResolvedGrant): string | undefined {
    const { before, after } = this.sides.hierarchies;
    return this.movedGroups.find(
      (key) => after.chain(key).includes(grant.group.key) && !before.chain(key).includes(old.grant.group.key),
    );
  }

  private pairAs(
    old: ResolvedGrant,
    gained: ResolvedGrant,
    reason: string,
    reachesMore: boolean,
  ): GrantChange {
    this.lost.markPaired(old);
    const { added, removed } = compareCapabilities(old.grant.role, gained.grant.role);
    const trust = this.sides.trust.compare(old, gained);
    const reached = this.findNewlyReached(old, gained);
    const moves =
      reached === undefined ? [] : [`${this.sides.hierarchies.before.scope(reached).path} moves there`];
    const isWider = reachesMore || reached !== undefined || added.length > 0 || mayWiden(trust.direction);
    return {
      change: isWider ? "widened" : "narrowed",
      grant: gained.grant,
      before: old.grant,
      reason: [reason, ...moves, ...trust.reasons].join("; "),
      capabilitiesAdded: added,
      capabilitiesRemoved: removed,
    };
  }
}

/** Pairs each gained grant with a lost one, where together they are one grant that changes. */
export function pairGrants(
  gained: readonly ResolvedGrant[],
  lost: readonly ResolvedGrant[],
  sides: GraphSides,
): GrantPairs {
  const pairing = new GrantPairing(lost, sides);
  const changes: GrantChange[] = [];
  const unpaired = gained.filter((resolved) => {
    const change = pairing.pair(resolved);
    if (change !== undefined) changes.push(change);
    return change === undefined;
  });
  return { changes, gained: unpaired, lost: pairing.remaining() };
}
