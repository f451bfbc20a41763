import { getOrCompute, groupBy, once } from "../../fields/values";
import { overLimit } from "../documents/jsonText";
import { specs } from "../documents/specs";
import { mayWiden, createEffectContext, describeEffects, combineDirections } from "../effects";
import type { EffectContext, FieldEffect, Direction } from "../effects";
import { isAccessField } from "../graph/accessKinds";
import { labelByKey } from "../graph/groupHierarchy";
import {
  definersOf,
  graphOf,
  resolveGrants,
  grantKey,
  isOfRetained,
  readRoleCapabilities,
} from "../graph/resolveGrants";
import { NEW_GRANT, compareGrants, isGain, nameIn, pathIn, tupleOf } from "../graph/grant";
import type { Grant, GrantChange, GrantedRole } from "../graph/grant";
import type { GrantIndex } from "../graph/grantIndex";
import { isUnreadKey, wholeOf, withoutRetained } from "../graph/entityKeys";
import type { AccessGraph, Entity } from "../graph/model";
import { textsOfTrusts } from "../graph/principals";
import { isUnread } from "../graph/unread";
import { PatternComparer } from "../trust/patternComparer";

/** What becomes of who can be a holder, for everyone by whom grants are held before or after. */
class TrustComparison {
  private readonly context: EffectContext;
  private readonly known = new Map<string, readonly FieldEffect[]>();

  constructor(
    private readonly before: AccessGraph,
    private readonly after: AccessGraph,
    comparer: PatternComparer,
  ) {
    this.context = createEffectContext(before.entities, after.entities, comparer);
  }

  private findTrustEffects(key: string): readonly FieldEffect[] {
    return getOrCompute(this.known, key, () => {
      const before = this.before.entities.get(withoutRetained(key));
      const after = this.after.entities.get(key);
      if (before === undefined || after === undefined) return [];
      const effects = describeEffects(specs[after.kind], before.inputs, after.inputs, this.context);
      return effects.filter(({ path }) => isAccessField(after.kind, path));
    });
  }

  compare(old: Grant, now: Grant): HolderChange {
    const olds = definersOf(old.subject, this.before.entities);
    const news = definersOf(now.subject, this.after.entities);
    // The old object of a replacement, left at the server by `retainOnDelete`, is compared with itself.
    const retained = new Set(news.map(withoutRetained));
    const definers = new Set([...olds.filter((key) => !retained.has(key)), ...news]);
    const effects = [...definers].flatMap((key) => this.findTrustEffects(key));
    const moved = this.compareOwnGroups(old, now);
    const trusted = combineDirections(effects.map((effect) => effect.direction));
    const direction = combineDirections([trusted, moved.direction]);
    const [before, after] = [old.subject.displayName, now.subject.displayName];
    const what =
      before === after ? "how the holder proves who it is changes" : `who holds it changes: it was ${before}`;
    const doubt = effects.find((effect) => effect.direction === "unknown");
    const isDoubtful = trusted === "unknown" && doubt !== undefined;
    return {
      direction,
      reasons: [
        ...(trusted === "neutral" ? [] : [what]),
        ...(isDoubtful ? [`whether to more cannot be judged: ${doubt.path}: ${doubt.reason}`] : []),
        ...moved.reasons,
      ],
    };
  }

  /** What becomes of a grant where its identity comes to lie in another group. */
  private compareOwnGroups(old: Grant, now: Grant): HolderChange {
    const [before, after] = [this.before.hierarchy, this.after.hierarchy];
    const [was, is] = [before.ownGroupOf(old.subject), after.ownGroupOf(now.subject)];
    const from = before.actsFrom(old.subject, old.group.key);
    const to = after.actsFrom(now.subject, now.group.key);
    if (was === is || from === to) return { direction: "neutral", reasons: [] };
    const isLess = to === undefined || (from !== undefined && after.chain(to).includes(from));
    const place = (key: string | undefined): string =>
      key === undefined ? "a group that is not known" : after.scope(key).path;
    return {
      direction: isLess ? "narrowed" : "widened",
      reasons: [`its identity moves from ${place(was)} to ${place(is)}, and acts there and below only`],
    };
  }
}

interface HolderChange {
  readonly direction: Direction;
  readonly reasons: readonly string[];
}

/** The two graphs whose grants are paired. */
interface GraphSides {
  readonly before: AccessGraph;
  readonly after: AccessGraph;
  readonly trust: TrustComparison;
}

const joinKey = (...parts: readonly string[]): string => JSON.stringify(parts);

/** Pairs gained grants with lost ones, where together they are one grant that changes. */
class GrantPairing {
  /** The lost grants by subject, role and each group at or above them. */
  private readonly lostWithin: ReadonlyMap<string, readonly Grant[]>;
  /** The same by their own group, with the role and without it. */
  private readonly lostAt: ReadonlyMap<string, readonly Grant[]>;
  private readonly paired = new Set<Grant>();
  private readonly capabilities = new Map<GrantedRole, ReadonlySet<string>>();
  private readonly movedGroups: readonly string[];

  constructor(
    private readonly lost: readonly Grant[],
    private readonly sides: GraphSides,
  ) {
    this.lostWithin = groupBy(lost, ({ subject, role, group }) =>
      sides.before.hierarchy.chain(group.key).map((key) => joinKey(subject.key, role.key, key)),
    );
    this.lostAt = groupBy(lost, ({ subject, role, group }) => [
      joinKey(subject.key, role.key, group.key),
      joinKey(subject.key, group.key),
    ]);
    this.movedGroups = movedGroups(sides.before, sides.after);
  }

  /** The change that makes a lost grant this one; undefined where the grant is new. */
  pair(gained: Grant): GrantChange | undefined {
    const { before, after } = this.sides;
    const { subject, role, group } = gained;
    const chain = after.hierarchy.chain(group.key);
    // The same role, at a group below the new grant or above it.
    const below = this.lostWithin.get(joinKey(subject.key, role.key, group.key)) ?? [];
    const above = chain.flatMap((key) => this.lostAt.get(joinKey(subject.key, role.key, key)) ?? []);
    const moved = this.chooseLost([...below, ...above], gained, (old) => old.group.key !== group.key);
    if (moved !== undefined) return this.pairWithMoved(moved, gained);
    if (before.hierarchy.chain(group.key).join() !== chain.join()) return undefined;
    const replaced = this.chooseLost(
      this.lostAt.get(joinKey(subject.key, group.key)) ?? [],
      gained,
      (old) => this.contains(old.role, role) || this.contains(role, old.role),
    );
    return replaced === undefined ? undefined : this.pairWithOtherRole(replaced, gained);
  }

  /** The lost grants that are no part of a change. */
  remaining(): Grant[] {
    return this.lost.filter((grant) => !this.paired.has(grant));
  }

  /** The first of some lost grants that fits. What one resource grants before and after belongs together before all else. */
  private chooseLost(
    lost: readonly Grant[],
    { urn }: Grant,
    fits: (old: Grant) => boolean,
  ): Grant | undefined {
    const isFitting = (old: Grant): boolean => !this.paired.has(old) && fits(old);
    const own = lost.find((old) => urn !== undefined && old.urn === urn && isFitting(old));
    return own ?? lost.find(isFitting);
  }

  private contains(outer: GrantedRole, { capabilities }: GrantedRole): boolean {
    if (outer.capabilities === undefined || capabilities === undefined) return false;
    const held = getOrCompute(this.capabilities, outer, () => new Set(outer.capabilities));
    return capabilities.every((name) => held.has(name));
  }

  private pairWithMoved(old: Grant, gained: Grant): GrantChange {
    const [from, to] = [old.group, gained.group];
    const isUp = this.sides.before.hierarchy.chain(from.key).includes(to.key);
    return this.pairAs(
      old,
      gained,
      `moves from ${pathIn(from.path)} ${isUp ? "up" : "down"} to ${pathIn(to.path)}`,
      isUp,
    );
  }

  private pairWithOtherRole(old: Grant, gained: Grant): GrantChange {
    const { before, after } = this.sides;
    const name = (role: GrantedRole, { entities }: AccessGraph) =>
      role.label ?? role.name ?? labelByKey(entities, role.key);
    const names = [name(old.role, before), name(gained.role, after)];
    // Names may be exchanged, and then tell nothing.
    const [from, to] = names[0] === names[1] ? [old.role.key, gained.role.key] : names;
    const { added, removed } = compareCapabilities(old.role, gained.role);
    // Others may be able to change the other role.
    const isSame = added.length + removed.length === 0;
    const reason = `the role changes from ${from} to ${to}${isSame ? ", another role with the same capabilities" : ""}`;
    return this.pairAs(old, gained, reason, isSame);
  }

  /** A group that moves to the place of a grant, or below it, and that the old grant did not reach. */
  private findNewlyReached(old: Grant, now: Grant): string | undefined {
    const [before, after] = [this.sides.before.hierarchy, this.sides.after.hierarchy];
    return this.movedGroups.find(
      (key) => after.chain(key).includes(now.group.key) && !before.chain(key).includes(old.group.key),
    );
  }

  private pairAs(old: Grant, gained: Grant, reason: string, reachesMore: boolean): GrantChange {
    this.paired.add(old);
    const { added, removed } = compareCapabilities(old.role, gained.role);
    const trust = this.sides.trust.compare(old, gained);
    const reached = this.findNewlyReached(old, gained);
    const moves =
      reached === undefined ? [] : [`${pathIn(this.sides.before.hierarchy.scope(reached).path)} moves there`];
    const isWider = reachesMore || reached !== undefined || added.length > 0 || mayWiden(trust.direction);
    return {
      change: isWider ? "widened" : "narrowed",
      grant: gained,
      before: old,
      reason: [reason, ...moves, ...trust.reasons].join("; "),
      capabilitiesAdded: added,
      capabilitiesRemoved: removed,
    };
  }
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

/** What lies between the grants of two graphs. */
interface GrantDifference {
  /** The changed grants, sorted as reports list them. */
  readonly changes: readonly GrantChange[];
  /** How many grants stay as they are. */
  readonly unchanged: number;
}

/**
 * Grants by key; of those that two resources make alike the first. The old object of a replacement, left at the server by
 * `retainOnDelete`, is what it was: its successor is another one.
 */
function byKey({ grants, hierarchy }: AccessGraph): Map<string, Grant> {
  const known = new Map<string, Grant>();
  for (const grant of grants) {
    const key = grantKey(grant, hierarchy);
    const other = known.get(key);
    if (other === undefined) known.set(key, grant);
    else if (isOfRetained(grant) !== isOfRetained(other)) {
      const [retained, successor] = isOfRetained(grant) ? [grant, other] : [other, grant];
      known.set(key, retained).set(`${key} anew`, successor);
    }
  }
  return known;
}

/** A grant that is there before and after: whether it means the same. */
function compareContinuing(old: Grant, now: Grant, trust: HolderChange): GrantChange | undefined {
  const { added, removed, uncertain } = compareCapabilities(old.role, now.role);
  if (uncertain) {
    return {
      change: "widened",
      grant: now,
      before: old,
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
    grant: now,
    before: old,
    reason: reasons.join("; "),
    capabilitiesAdded: added,
    capabilitiesRemoved: removed,
  };
}

const gain = (grant: Grant): GrantChange => ({
  change: "gained",
  grant,
  reason:
    grant.isOneOf === true
      ? `${NEW_GRANT}, one of several that it may be: the preview does not say which`
      : NEW_GRANT,
  capabilitiesAdded: grant.role.capabilities ?? [],
  capabilitiesRemoved: [],
});

/** A role that allows what it did before and what it does after; unknown where one of the two is. */
function uniteRoles(before: Entity, after: Entity): Entity {
  const [had, has] = [readRoleCapabilities(before), readRoleCapabilities(after)];
  const capabilities = had && has && [...new Set([...had, ...has])];
  return { ...after, inputs: { ...after.inputs, capabilities } };
}

/**
 * A gained or widened grant, with what its role allows when the update makes it. One that was there before changes with its role,
 * unless somebody else gets it.
 * @param isHolderChanged whether the update changes its holder, too.
 */
function widenMeanwhile(change: GrantChange, { role }: Grant, isHolderChanged: boolean): GrantChange {
  const { grant, before, reason } = change;
  if (before !== undefined && tupleOf(before) === tupleOf(grant)) {
    const narrowsToo = change.change === "widened" && change.capabilitiesRemoved.length > 0;
    if (!isHolderChanged || !narrowsToo) return change;
    return { ...change, grant: { ...grant, role }, reason: `${reason}, perhaps after its holder changes` };
  }
  if (role.capabilities !== undefined && role.capabilities.length === grant.role.capabilities?.length)
    return change;
  const { added } = compareCapabilities(before?.role ?? { ...role, capabilities: [] }, role);
  if (before !== undefined && role.capabilities !== undefined && added.length === 0) return change;
  return {
    ...change,
    change: before === undefined ? "gained" : "widened",
    grant: { ...grant, role },
    reason: `${reason}, perhaps made before this update narrows its role: narrow it in an earlier change`,
    capabilitiesAdded: added,
  };
}

/**
 * Adds to changes of grants what is there while the update runs. It takes its steps in an order that no preview proves: a
 * program can claim any dependency. It deletes last, and one that fails stops half-way. So a role allows what it did before
 * and what it does after, and who holds a grant, or acts as somebody, still does.
 *
 * @param olds The resources that the update changes or deletes, as they were.
 */
export function addMeanwhile(
  changes: readonly GrantChange[],
  before: AccessGraph,
  after: AccessGraph,
  olds: readonly Entity[],
): { readonly grants: GrantChange[]; readonly meanwhile?: AccessGraph } {
  if (olds.length === 0) return { grants: [...changes] };
  const entities = new Map([...before.entities, ...after.entities]);
  for (const old of olds) {
    const now = old.kind === "Role" ? after.entities.get(old.key) : undefined;
    if (now !== undefined) entities.set(old.key, uniteRoles(old, now));
  }
  const meanwhile = new Map(resolveGrants(entities, olds).map((grant) => [tupleOf(grant), grant]));
  const held = new Map(before.grants.map((grant) => [tupleOf(grant), grant]));
  const made = new Set([...after.grants, ...changes.filter(isGain).map(({ grant }) => grant)].map(tupleOf));
  const passing = [...meanwhile].flatMap(([tuple, grant]): GrantChange[] => {
    if (made.has(tuple)) return [];
    const old = held.get(tuple);
    if (old === undefined)
      return [{ ...gain(grant), reason: `${NEW_GRANT}, until this update takes it away` }];
    const { added } = compareCapabilities(old.role, grant.role);
    if (added.length === 0) return [];
    return [
      {
        change: "widened",
        grant,
        before: old,
        reason: `the role gains ${capabilities(added.length)} before this update takes the grant away`,
        capabilitiesAdded: added,
        capabilitiesRemoved: [],
      },
    ];
  });
  const changed = new Set(olds.flatMap(({ kind, key }) => (kind === "Role" ? [] : [key])));
  const isHolderChanged = ({ subject: { key } }: Grant): boolean =>
    changed.has(key) || changed.has(wholeOf(key) ?? "");
  const widened = changes.map((change) => {
    const wide =
      isGain(change) || change.change === "narrowed" ? meanwhile.get(tupleOf(change.grant)) : undefined;
    return wide === undefined ? change : widenMeanwhile(change, wide, isHolderChanged(wide));
  });
  return { grants: [...widened, ...passing], meanwhile: graphOf(entities, [...meanwhile.values()]) };
}

const loss = (grant: Grant): GrantChange => ({
  change: "lost",
  grant,
  reason: "grant removed",
  capabilitiesAdded: [],
  capabilitiesRemoved: grant.role.capabilities ?? [],
});

/** The resource grants something that nobody can read instead: it may be the same. */
const DOUBTFUL_LOSS = {
  reason: "whether it is removed is not known: its resource grants a value that cannot be read instead (X3)",
  capabilitiesRemoved: [],
} as const;

/**
 * Finds the identity through which somebody keeps what a lost grant gave: another one of the same trust has the role there.
 */
function createKeeperFinder(before: AccessGraph, after: AccessGraph) {
  const trustsBefore = once(() => textsOfTrusts(before.entities));
  const trustsAfter = once(() => textsOfTrusts(after.entities));
  const roleKey = (trust: string | undefined, { role }: Grant): string | undefined =>
    trust === undefined ? undefined : joinKey(trust, role.key);
  const holders = once(() =>
    groupBy(after.grants, (grant) => [roleKey(trustsAfter().get(grant.subject.key), grant)]),
  );
  return (lost: Grant): Grant["subject"] | undefined => {
    const key = roleKey(trustsBefore().get(lost.subject.key), lost);
    const chain = after.hierarchy.chain(lost.group.key);
    return (key === undefined ? [] : (holders().get(key) ?? [])).find(
      ({ subject, group }) =>
        subject.key !== lost.subject.key &&
        chain.includes(after.hierarchy.actsFrom(subject, group.key) ?? ""),
    )?.subject;
  };
}

const isUnreadable = ({ subject, role, group }: Grant): boolean =>
  [subject, role, group].some(({ key }) => isUnreadKey(key));

/**
 * Who gains and who loses what between two graphs: grants of both, taken as sets of (subject, role, group).
 *
 * @param comparer compares the patterns of holders that change.
 */
export function diffGrants(
  before: AccessGraph,
  after: AccessGraph,
  comparer = new PatternComparer(),
): GrantDifference {
  const trust = new TrustComparison(before, after, comparer);
  const [olds, news] = [byKey(before), byKey(after)];
  const continuing = [...news].flatMap(([key, now]) => {
    const old = olds.get(key);
    return old === undefined ? [] : [{ old, now }];
  });
  const changed = continuing.flatMap(
    ({ old, now }) => compareContinuing(old, now, trust.compare(old, now)) ?? [],
  );
  const pairing = new GrantPairing(
    [...olds].flatMap(([key, grant]) => (news.has(key) ? [] : [grant])),
    { before, after, trust },
  );
  const gained: Grant[] = [];
  const paired: GrantChange[] = [];
  for (const [key, grant] of news) {
    const change = olds.has(key) ? undefined : pairing.pair(grant);
    if (change !== undefined) paired.push(change);
    else if (!olds.has(key)) gained.push(grant);
  }
  const unreadable = new Set(gained.filter(isUnreadable).map(({ urn }) => urn));
  const findKeeper = createKeeperFinder(before, after);
  const lost = pairing.remaining().map((grant): GrantChange => {
    const { urn } = grant;
    if (urn !== undefined && unreadable.has(urn)) return { ...loss(grant), ...DOUBTFUL_LOSS };
    const keeper = findKeeper(grant);
    if (keeper === undefined) return loss(grant);
    const reason = `grant removed, but the identity ${nameIn(keeper)} has the same trust and keeps the role here`;
    return { ...loss(grant), reason, capabilitiesRemoved: [] };
  });
  const changes = [...gained.map(gain), ...lost, ...paired, ...changed];
  return {
    changes: changes.sort((a, b) => compareGrants(a.grant, b.grant)),
    unchanged: continuing.length - changed.length,
  };
}

/** The grants on some groups, each subject and role once: the first, which is the nearest. */
function grantsOn(groups: readonly string[], index: GrantIndex): Map<string, Grant> {
  const grantsByKey = new Map<string, Grant>();
  for (const group of groups) {
    for (const grant of index.ofGroup(group)) {
      const key = JSON.stringify([grant.subject.key, grant.role.key]);
      if (!grantsByKey.has(key)) grantsByKey.set(key, grant);
    }
  }
  return grantsByKey;
}

/** The groups of both graphs that lie below another group afterwards. */
function movedGroups(before: AccessGraph, after: AccessGraph): string[] {
  return [...after.entities.values()]
    .filter(({ kind, key }) => kind === "Group" && before.entities.get(key)?.kind === "Group")
    .map(({ key }) => key)
    .filter((key) => before.hierarchy.parentOf(key) !== after.hierarchy.parentOf(key));
}

/** What holders above the place of a group in one graph hold on it, and not above its place in the other one. */
function grantsOfPlace(key: string, side: AccessGraph, other: AccessGraph): Grant[] {
  const inherited = grantsOn(other.hierarchy.chain(key), other.index);
  const above = grantsOn(side.hierarchy.chain(key).slice(1), side.index);
  return [...above].flatMap(([id, grant]) => (inherited.has(id) ? [] : [grant]));
}

function changesOfMove(key: string, before: AccessGraph, after: AccessGraph): GrantChange[] {
  const [from, to] = [before.hierarchy.scope(key), after.hierarchy.scope(key)];
  const gained = grantsOfPlace(key, after, before).map((grant): GrantChange => ({
    ...gain({ ...grant, group: to }),
    reason: `${pathIn(from.path)} moves below ${pathIn(grant.group.path)}, where this is granted`,
  }));
  // Where the new place is not known, nor is who loses what.
  if (isUnread(after.entities.get(key)?.inputs["parentUid"])) return gained;
  const lost = grantsOfPlace(key, before, after).map((grant): GrantChange => ({
    ...loss({ ...grant, group: from }),
    reason: `${pathIn(from.path)} moves away from ${pathIn(grant.group.path)}, where this is granted`,
  }));
  return [...gained, ...lost];
}

/** How many grants of holders above may come and go with moved groups: each group has those of all holders there. */
const MOST_MOVED = 50_000;

/**
 * What the holders above the old and the new place of a moved group gain and lose on it. What is granted on the group
 * itself is not here: it is granted at another place, which is a change of its own.
 * @throws DocumentError where these are too many
 */
export function changesByMoves(before: AccessGraph, after: AccessGraph): GrantChange[] {
  const changes: GrantChange[] = [];
  for (const key of movedGroups(before, after)) {
    for (const change of changesOfMove(key, before, after)) changes.push(change);
    if (changes.length > MOST_MOVED)
      throw overLimit(
        "the groups that move gain and lose more grants",
        MOST_MOVED.toLocaleString("en-US"),
        "move fewer of them at once",
      );
  }
  return changes;
}
