import { combineDirections, describeEffects, mayWiden, sideOf } from "../effects";
import type { Direction, EffectContext, FieldEffect } from "../effects";
import { resolveGrants } from "../graph/grants";
import { isAccessField } from "../graph/accessKinds";
import { label, GroupHierarchy, grantKey } from "../graph/groupHierarchy";
import { compareGrants } from "../graph/grant";
import type { ResolvedGrant } from "../graph/grants";
import type { AccessGraph, Entities } from "../graph/model";
import { LostGrants } from "./lostGrants";
import { specs } from "../documents/specs";
import type { GrantChange, GrantedRole } from "../graph/grant";
import { Languages } from "../trust/languages";

/** What lies between the grants of two graphs. */
export interface GrantDifference {
  /** In the order of the grants. */
  readonly changes: readonly GrantChange[];
  /** How many grants stay as they are. */
  readonly unchanged: number;
}

/** Grants by key; of those that two resources make alike the first. */
function byKey(resolved: readonly ResolvedGrant[], hierarchy: GroupHierarchy): Map<string, ResolvedGrant> {
  const grants = new Map<string, ResolvedGrant>();
  for (const one of resolved) {
    const key = grantKey(one.grant, hierarchy);
    if (!grants.has(key)) grants.set(key, one);
  }
  return grants;
}

/** What becomes of who can be a holder, for everyone by whom grants are held before or after. */
class TrustComparison {
  private readonly context: EffectContext;
  private readonly known = new Map<string, readonly FieldEffect[]>();

  constructor(
    private readonly before: Entities,
    private readonly after: Entities,
    languages: Languages,
  ) {
    this.context = { before: sideOf(before), after: sideOf(after), languages };
  }

  private effectsOf(key: string): readonly FieldEffect[] {
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const [before, after] = [this.before.get(key), this.after.get(key)];
    const kind = after?.kind ?? "";
    const spec = specs[kind];
    const effects =
      before === undefined || after === undefined || spec === undefined
        ? []
        : describeEffects(spec, before.inputs, after.inputs, this.context).filter(({ path }) =>
            isAccessField(kind, path),
          );
    this.known.set(key, effects);
    return effects;
  }

  compare(old: ResolvedGrant, now: ResolvedGrant): TrustChange {
    const holders = new Set([...old.holders, ...now.holders]);
    const effects = [...holders].flatMap((key) => this.effectsOf(key));
    const direction = combineDirections(effects.map((effect) => effect.direction));
    if (direction === "neutral") return { direction, reasons: [] };
    const [before, after] = [old.grant.subject.displayName, now.grant.subject.displayName];
    const what =
      before === after ? "how the holder proves who it is changes" : `who holds it changes: it was ${before}`;
    const doubt = effects.find((effect) => effect.direction === "unknown");
    const isDoubtful = direction === "unknown" && doubt !== undefined;
    return {
      direction,
      reasons: [
        what,
        ...(isDoubtful ? [`whether to more cannot be judged: ${doubt.path}: ${doubt.reason}`] : []),
      ],
    };
  }
}

interface TrustChange {
  readonly direction: Direction;
  readonly reasons: readonly string[];
}

function capabilities(number: number): string {
  return number === 1 ? "1 capability" : `${number} capabilities`;
}

interface CapabilityChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** They are known on one side only. */
  readonly uncertain: boolean;
}

function compareCapabilities(before: GrantedRole, after: GrantedRole): CapabilityChange {
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

/** A grant that is there before and after: whether it means the same. */
function compareContinuing(
  old: ResolvedGrant,
  now: ResolvedGrant,
  trust: TrustChange,
): GrantChange | undefined {
  const { added, removed, uncertain } = compareCapabilities(old.grant.role, now.grant.role);
  if (uncertain) {
    return {
      change: "widened",
      grant: now.grant,
      before: old.grant,
      reason: "what the role allows is not known on one side",
      capabilitiesAdded: [],
      capabilitiesRemoved: [],
    };
  }
  if (added.length === 0 && removed.length === 0 && trust.direction === "neutral") return undefined;
  const reasons = [
    ...(added.length > 0 ? [`the role gains ${capabilities(added.length)}`] : []),
    ...(removed.length > 0 ? [`the role loses ${capabilities(removed.length)}`] : []),
    ...trust.reasons,
  ];
  return {
    change: added.length > 0 || mayWiden(trust.direction) ? "widened" : "narrowed",
    grant: now.grant,
    before: old.grant,
    reason: reasons.join("; "),
    capabilitiesAdded: added,
    capabilitiesRemoved: removed,
  };
}

/** Pairs a grant that comes with one that goes, where together they are one grant that changes. */
function pairGrants(
  gained: ResolvedGrant[],
  lost: ResolvedGrant[],
  before: GroupHierarchy,
  after: GroupHierarchy,
  entities: { readonly before: Entities; readonly after: Entities },
  trusts: TrustComparison,
): GrantChange[] {
  const changes: GrantChange[] = [];
  const open = new LostGrants(lost, before);
  const paired = new Set<ResolvedGrant>();
  const take = (one: ResolvedGrant, old: ResolvedGrant, change: GrantChange): void => {
    open.markPaired(old);
    paired.add(one);
    changes.push(change);
  };
  for (const one of gained) {
    const { grant } = one;
    const moved = open.findMoved(one, after);
    if (moved) {
      const isUp = before.chain(moved.grant.group.key).includes(grant.group.key);
      const { added, removed } = compareCapabilities(moved.grant.role, grant.role);
      const trust = trusts.compare(moved, one);
      const widened = isUp || added.length > 0 || mayWiden(trust.direction);
      take(one, moved, {
        change: widened ? "widened" : "narrowed",
        grant,
        before: moved.grant,
        reason: [
          `moves from ${moved.grant.group.path} ${isUp ? "up" : "down"} to ${grant.group.path}`,
          ...trust.reasons,
        ].join("; "),
        capabilitiesAdded: added,
        capabilitiesRemoved: removed,
      });
      continue;
    }
    const contains = (outer: GrantedRole, inner: GrantedRole) =>
      outer.capabilities !== undefined &&
      inner.capabilities?.every((name) => outer.capabilities?.includes(name)) === true;
    const other = open.findAtGroup(
      one,
      (old) =>
        (contains(grant.role, old.role) || contains(old.role, grant.role)) &&
        before.chain(old.group.key).join() === after.chain(grant.group.key).join(),
    );
    if (other === undefined) continue;
    const { added, removed } = compareCapabilities(other.grant.role, grant.role);
    const trust = trusts.compare(other, one);
    const name = (role: GrantedRole, of: Entities) => role.name ?? label(of, role.key);
    take(one, other, {
      change: added.length > 0 || mayWiden(trust.direction) ? "widened" : "narrowed",
      grant,
      before: other.grant,
      reason: [
        `the role changes from ${name(other.grant.role, entities.before)} to ${name(grant.role, entities.after)}`,
        ...trust.reasons,
      ].join("; "),
      capabilitiesAdded: added,
      capabilitiesRemoved: removed,
    });
  }
  gained.splice(0, gained.length, ...gained.filter((one) => !paired.has(one)));
  lost.splice(0, lost.length, ...open.remaining());
  return changes;
}

/**
 * Who gains and who loses what between two graphs: grants of both, taken as sets of (subject, role, group).
 *
 * @param languages compares the patterns of holders that change.
 */
export function diffGrants(
  before: AccessGraph,
  after: AccessGraph,
  languages = new Languages(),
): GrantDifference {
  const hierarchies = {
    before: new GroupHierarchy(before.entities),
    after: new GroupHierarchy(after.entities),
  };
  const olds = byKey(resolveGrants(before.entities), hierarchies.before);
  const news = byKey(resolveGrants(after.entities), hierarchies.after);
  const trusts = new TrustComparison(before.entities, after.entities, languages);
  const continuing = [...news].flatMap(([key, now]) => {
    const old = olds.get(key);
    return old === undefined ? [] : [{ old, now }];
  });
  const changed = continuing.flatMap(
    ({ old, now }) => compareContinuing(old, now, trusts.compare(old, now)) ?? [],
  );
  const gained = [...news].flatMap(([key, one]) => (olds.has(key) ? [] : [one]));
  const lost = [...olds].flatMap(([key, one]) => (news.has(key) ? [] : [one]));
  const pairs = pairGrants(
    gained,
    lost,
    hierarchies.before,
    hierarchies.after,
    {
      before: before.entities,
      after: after.entities,
    },
    trusts,
  );
  const changes: GrantChange[] = [
    ...gained.map(({ grant }): GrantChange => ({
      change: "gained",
      grant,
      reason: "new grant",
      capabilitiesAdded: grant.role.capabilities ?? [],
      capabilitiesRemoved: [],
    })),
    ...lost.map(({ grant }): GrantChange => ({
      change: "lost",
      grant,
      reason: "grant removed",
      capabilitiesAdded: [],
      capabilitiesRemoved: grant.role.capabilities ?? [],
    })),
    ...pairs,
    ...changed,
  ];
  return {
    changes: changes.sort((a, b) => compareGrants(a.grant, b.grant)),
    unchanged: continuing.length - changed.length,
  };
}
