import { mayWiden } from "../effects";
import { resolveGrants } from "../graph/grants";
import type { ResolvedGrant } from "../graph/grants";
import { GroupHierarchy, grantKey, isOfRetained } from "../graph/groupHierarchy";
import { isUnreadKey } from "../graph/keys";
import { compareGrants } from "../graph/grant";
import type { GrantChange } from "../graph/grant";
import type { AccessGraph } from "../graph/model";
import { Languages } from "../trust/languages";
import { compareCapabilities, capabilities } from "./capabilityChange";
import { pairGrants } from "./grantPairs";
import { TrustComparison } from "./trustComparison";
import type { HolderChange } from "./trustComparison";

/** What lies between the grants of two graphs. */
interface GrantDifference {
  /** The changed grants, sorted as reports list them. */
  readonly changes: readonly GrantChange[];
  /** How many grants stay as they are. */
  readonly unchanged: number;
}

/** Grants by key; of those that two resources make alike the first. What stays is what it was: its successor is another one. */
function byKey(resolved: readonly ResolvedGrant[], hierarchy: GroupHierarchy): Map<string, ResolvedGrant> {
  const grants = new Map<string, ResolvedGrant>();
  for (const entry of resolved) {
    const key = grantKey(entry.grant, hierarchy);
    const other = grants.get(key);
    if (other === undefined) grants.set(key, entry);
    else if (isOfRetained(entry.grant) !== isOfRetained(other.grant)) {
      const [retained, successor] = isOfRetained(entry.grant) ? [entry, other] : [other, entry];
      grants.set(key, retained).set(`${key} anew`, successor);
    }
  }
  return grants;
}

/** A grant that is there before and after: whether it means the same. */
function compareContinuing(
  old: ResolvedGrant,
  now: ResolvedGrant,
  trust: HolderChange,
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

const gain = ({ grant }: ResolvedGrant): GrantChange => ({
  change: "gained",
  grant,
  reason: "new grant",
  capabilitiesAdded: grant.role.capabilities ?? [],
  capabilitiesRemoved: [],
});

const loss = ({ grant }: ResolvedGrant): GrantChange => ({
  change: "lost",
  grant,
  reason: "grant removed",
  capabilitiesAdded: [],
  capabilitiesRemoved: grant.role.capabilities ?? [],
});

/** The resource grants something that nobody can read instead: it may be the same. */
const doubtfulLoss = (resolved: ResolvedGrant): GrantChange => ({
  ...loss(resolved),
  reason: "whether it is removed is not known: its resource grants a value that cannot be read instead (X3)",
  capabilitiesRemoved: [],
});

const isUnreadable = ({ grant: { subject, role, group } }: ResolvedGrant): boolean =>
  [subject, role, group].some(({ key }) => isUnreadKey(key));

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
  const entities = { before: before.entities, after: after.entities };
  const hierarchies = {
    before: new GroupHierarchy(entities.before),
    after: new GroupHierarchy(entities.after),
  };
  const trust = new TrustComparison(entities.before, entities.after, languages);
  const olds = byKey(resolveGrants(entities.before), hierarchies.before);
  const news = byKey(resolveGrants(entities.after), hierarchies.after);
  const continuing = [...news].flatMap(([key, now]) => {
    const old = olds.get(key);
    return old === undefined ? [] : [{ old, now }];
  });
  const changed = continuing.flatMap(
    ({ old, now }) => compareContinuing(old, now, trust.compare(old, now)) ?? [],
  );
  const pairs = pairGrants(
    [...news].flatMap(([key, resolved]) => (olds.has(key) ? [] : [resolved])),
    [...olds].flatMap(([key, resolved]) => (news.has(key) ? [] : [resolved])),
    { entities, hierarchies, trust },
  );
  const unreadable = new Set(pairs.gained.filter(isUnreadable).map(({ grant }) => grant.urn));
  const lost = pairs.lost.map((resolved) => {
    const { urn } = resolved.grant;
    return urn !== undefined && unreadable.has(urn) ? doubtfulLoss(resolved) : loss(resolved);
  });
  const changes = [...pairs.gained.map(gain), ...lost, ...pairs.changes, ...changed];
  return {
    changes: changes.sort((a, b) => compareGrants(a.grant, b.grant)),
    unchanged: continuing.length - changed.length,
  };
}
