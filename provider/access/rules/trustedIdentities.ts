import { isAccessField } from "../graph/accessKinds";
import type { Entity } from "../graph/model";
import { roleOn } from "../graph/grant";
import type { Grant } from "../graph/grant";
import { trustsOf } from "../graph/trust";
import type { Trust } from "../graph/trust";
import { isAssumable } from "./rule";
import { listFirst } from "../../text/plain";
import { rememberByFacts } from "./facts";
import type { Facts, KnownBy } from "./facts";

/**
 * Identities whose trust is to be judged: made or changed in what they trust, or unchanged and given
 * something new to hold.
 */
export function* identitiesToJudge(facts: Facts): Generator<Entity> {
  const seen = new Set<string>();
  for (const { op, after, fields } of facts.writes(isAssumable)) {
    if (op === "update" && !fields.some(({ path }) => isAccessField(after.kind, path))) continue;
    seen.add(after.key);
    yield after;
  }
  for (const { grant } of [...facts.newOrWiderGrants(), ...facts.grantsThatBeginToWrite()]) {
    const entity = facts.comparison.after.entities.get(grant.subject.key);
    if (entity === undefined || !isAssumable(entity.kind) || seen.has(entity.key)) continue;
    seen.add(entity.key);
    yield entity;
  }
}

/** A trust that is to be judged, and whose it is. */
interface TrustToJudge {
  readonly entity: Entity;
  readonly trust: Trust;
}

export function* trustsToJudge(facts: Facts): Generator<TrustToJudge> {
  for (const entity of identitiesToJudge(facts)) {
    for (const trust of trustsOf(entity)) yield { entity, trust };
  }
}

/** An identity that had a grant, and the groups on which it had one; and those of grants that do more than read. */
interface TrustedIdentity {
  readonly entity: Entity;
  readonly groups: readonly string[];
  readonly writeGroups: readonly string[];
}

/**
 * The identities that had a grant before. One without any may have been put there to make an outsider look known. One that the
 * change makes, or takes over with the grants that it has, does not make its own owner known.
 */
export const boundBefore = rememberByFacts((facts, by: KnownBy): readonly TrustedIdentity[] => {
  const { before, changes } = facts.comparison;
  const made = new Set(changes.flatMap(({ op, after }) => (op === "create" && after ? [after.key] : [])));
  return [...before.entities.values()].flatMap((live): TrustedIdentity[] => {
    const entity = by === "anybody" ? live : facts.recorded.recordOf(live);
    if (entity === undefined || !isAssumable(entity.kind) || made.has(entity.key)) return [];
    const grants = [live.key, ...facts.before.subjectsOf(live.key)].flatMap((each) =>
      facts.grantsBefore(each, by),
    );
    if (grants.length === 0) return [];
    const groupsOf = (all: readonly Grant[]) => [...new Set(all.map(({ group }) => group.key))];
    const writing = grants.filter(({ role }) => facts.roles.mayWrite(role));
    return [{ entity, groups: groupsOf(grants), writeGroups: groupsOf(writing) }];
  });
});

/** Whether a grant allows more than to read below the root. */
export const isStrongGrant = (facts: Facts, { role, group }: Grant): boolean =>
  group.isRoot || facts.roles.mayWrite(role);

/** What grants give, behind words that say who gets it. */
export function listGrantsHeld(words: string, grants: readonly Grant[]): string[] {
  const held = [...new Set(grants.map(roleOn))].sort();
  return held.length === 0 ? [] : [`${words}: ${listFirst(held, 20)}`];
}
