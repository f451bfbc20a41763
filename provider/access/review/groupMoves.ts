import { groupBy } from "../../fields/values";
import { GrantIndex } from "../graph/grantIndex";
import { GroupHierarchy } from "../graph/groupHierarchy";
import type { AccessGraph, Entities } from "../graph/model";
import type { Grant, GrantChange } from "../graph/grant";
import { isUnread } from "../graph/unread";

/** The grants on some groups, each subject and role once: the first, which is the nearest. */
function grantsOn(
  groups: readonly string[],
  grants: ReadonlyMap<string, readonly Grant[]>,
): Map<string, Grant> {
  const grantsByKey = new Map<string, Grant>();
  for (const group of groups) {
    for (const grant of grants.get(group) ?? []) {
      const key = JSON.stringify([grant.subject.key, grant.role.key]);
      if (!grantsByKey.has(key)) grantsByKey.set(key, grant);
    }
  }
  return grantsByKey;
}

const byGroup = ({ grants }: AccessGraph): Map<string, Grant[]> =>
  groupBy(grants, ({ group }) => [group.key]);

/** The groups of both graphs that lie below another group afterwards. */
export function movedGroups(
  entities: { readonly before: Entities; readonly after: Entities },
  hierarchies: { readonly before: GroupHierarchy; readonly after: GroupHierarchy },
): string[] {
  return [...entities.after.values()]
    .filter(({ kind, key }) => kind === "Group" && entities.before.get(key)?.kind === "Group")
    .map(({ key }) => key)
    .filter((key) => hierarchies.before.parentOf(key) !== hierarchies.after.parentOf(key));
}

/** Both graphs, with what a move of a group is compared by. */
interface Sides {
  readonly hierarchies: { readonly before: GroupHierarchy; readonly after: GroupHierarchy };
  readonly grants: Record<"before" | "after", ReadonlyMap<string, readonly Grant[]>>;
  readonly index: Record<"before" | "after", GrantIndex>;
}

/** Whether the subject of a grant can do some of the same at its group on one side, by whatever roles. */
function canDoSome(
  { subject, role: { capabilities }, group }: Grant,
  side: "before" | "after",
  { hierarchies, index }: Sides,
): boolean {
  const held = hierarchies[side].chain(group.key).flatMap((key) => index[side].ofSubjectAt(subject.key, key));
  const known = new Set(held.flatMap(({ role }) => role.capabilities ?? []));
  return capabilities?.some((capability) => known.has(capability)) ?? held.length > 0;
}

/** What holders above one place of a group hold on it, and not above the other place. */
function grantsOfPlace(key: string, side: "before" | "after", sides: Sides): Grant[] {
  const { hierarchies, grants } = sides;
  const other = side === "before" ? "after" : "before";
  const inherited = grantsOn(hierarchies[other].chain(key), grants[other]);
  const above = grantsOn(hierarchies[side].chain(key).slice(1), grants[side]);
  // What comes or goes above is a change there, which is about everything below it too. But a grant in the place of another
  // brings less there than on the moved group.
  return [...above].flatMap(([id, grant]) =>
    inherited.has(id) || !canDoSome(grant, other, sides) ? [] : [grant],
  );
}

function changesOfMove(key: string, after: AccessGraph, sides: Sides): GrantChange[] {
  const [from, to] = [sides.hierarchies.before.scope(key), sides.hierarchies.after.scope(key)];
  const gained = grantsOfPlace(key, "after", sides).map((grant): GrantChange => ({
    change: "gained",
    grant: { ...grant, group: to },
    reason: `${from.path} moves below ${grant.group.path}, where this is granted`,
    capabilitiesAdded: grant.role.capabilities ?? [],
    capabilitiesRemoved: [],
  }));
  // Where the new place is not known, nor is who loses what.
  if (isUnread(after.entities.get(key)?.inputs["parentUid"])) return gained;
  const lost = grantsOfPlace(key, "before", sides).map((grant): GrantChange => ({
    change: "lost",
    grant: { ...grant, group: from },
    reason: `${from.path} moves away from ${grant.group.path}, where this is granted`,
    capabilitiesAdded: [],
    capabilitiesRemoved: grant.role.capabilities ?? [],
  }));
  return [...gained, ...lost];
}

/**
 * What the holders above the old and the new place of a moved group gain and lose on it. What is granted on the group
 * itself is not here: it is granted at another place, which is a change of its own.
 */
export function changesByMoves(before: AccessGraph, after: AccessGraph): GrantChange[] {
  const hierarchies = {
    before: new GroupHierarchy(before.entities),
    after: new GroupHierarchy(after.entities),
  };
  const moved = movedGroups({ before: before.entities, after: after.entities }, hierarchies);
  if (moved.length === 0) return [];
  const sides = {
    hierarchies,
    grants: { before: byGroup(before), after: byGroup(after) },
    index: { before: new GrantIndex(before.grants), after: new GrantIndex(after.grants) },
  };
  return moved.flatMap((key) => changesOfMove(key, after, sides));
}
