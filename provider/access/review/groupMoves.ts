import { GroupHierarchy } from "../graph/groupHierarchy";
import { tupleOf } from "../graph/grant";
import type { AccessGraph } from "../graph/model";
import type { Grant, GrantChange } from "../graph/grant";
import { isUnread } from "../graph/unread";

/** The grants on some groups, each subject and role once: the first, which is the nearest. */
function grantsOn(
  groups: readonly string[],
  grants: ReadonlyMap<string, readonly Grant[]>,
): Map<string, Grant> {
  const held = new Map<string, Grant>();
  for (const group of groups) {
    for (const grant of grants.get(group) ?? []) {
      const key = JSON.stringify([grant.subject.key, grant.role.key]);
      if (!held.has(key)) held.set(key, grant);
    }
  }
  return held;
}

function byGroup({ grants }: AccessGraph): Map<string, Grant[]> {
  const found = new Map<string, Grant[]>();
  for (const grant of grants) {
    const list = found.get(grant.group.key);
    if (list) list.push(grant);
    else found.set(grant.group.key, [grant]);
  }
  return found;
}

/** The groups of both graphs that lie below another group afterwards. */
function movedGroups(
  before: AccessGraph,
  after: AccessGraph,
  hierarchies: { before: GroupHierarchy; after: GroupHierarchy },
): string[] {
  return [...after.entities.values()]
    .filter(({ kind, key }) => kind === "Group" && before.entities.get(key)?.kind === "Group")
    .map(({ key }) => key)
    .filter((key) => hierarchies.before.parentOf(key) !== hierarchies.after.parentOf(key));
}

/**
 * What everybody above the old and the new place of a group that moves gains and loses on it. What is granted on the
 * group itself is not here: it is granted at another place, which is a change of its own.
 */
export function changesByMoves(before: AccessGraph, after: AccessGraph): GrantChange[] {
  const hierarchies = {
    before: new GroupHierarchy(before.entities),
    after: new GroupHierarchy(after.entities),
  };
  const moved = movedGroups(before, after, hierarchies);
  if (moved.length === 0) return [];
  const grants = { before: byGroup(before), after: byGroup(after) };
  // What comes or goes above is a change there, of everything below it too.
  const tuples = { before: new Set(before.grants.map(tupleOf)), after: new Set(after.grants.map(tupleOf)) };
  return moved.flatMap((key) => {
    const [oldChain, newChain] = [hierarchies.before.chain(key), hierarchies.after.chain(key)];
    const [had, has] = [grantsOn(oldChain, grants.before), grantsOn(newChain, grants.after)];
    const changes: GrantChange[] = [];
    for (const [id, grant] of grantsOn(newChain.slice(1), grants.after)) {
      if (had.has(id) || !tuples.before.has(tupleOf(grant))) continue;
      const group = hierarchies.after.scope(key);
      changes.push({
        change: "gained",
        grant: { ...grant, group },
        reason: `${hierarchies.before.scope(key).path} moves below ${grant.group.path}, where this is held`,
        capabilitiesAdded: grant.role.capabilities ?? [],
        capabilitiesRemoved: [],
      });
    }
    // Where nobody knows the new place, nobody knows who loses what.
    if (isUnread(after.entities.get(key)?.inputs["parentUid"])) return changes;
    for (const [id, grant] of grantsOn(oldChain.slice(1), grants.before)) {
      if (has.has(id) || !tuples.after.has(tupleOf(grant))) continue;
      const group = hierarchies.before.scope(key);
      changes.push({
        change: "lost",
        grant: { ...grant, group },
        reason: `${group.path} moves away from ${grant.group.path}, where this is held`,
        capabilitiesAdded: [],
        capabilitiesRemoved: grant.role.capabilities ?? [],
      });
    }
    return changes;
  });
}
