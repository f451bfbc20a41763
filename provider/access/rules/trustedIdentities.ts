import { isObject } from "../../engine/values/values";
import type { Json } from "../../engine/description";
import { isAccessField } from "../graph/accessKinds";
import type { Entity } from "../graph/model";
import type { Grant } from "../graph/grant";
import { isAssumable } from "./kindConditions";
import { limitLines } from "./wording";
import type { Facts } from "./facts";

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
  for (const { grant } of facts.newOrWiderGrants()) {
    const entity = facts.comparison.after.entities.get(grant.subject.key);
    if (entity === undefined || !isAssumable(entity.kind) || seen.has(entity.key)) continue;
    seen.add(entity.key);
    yield entity;
  }
}

const bound = new WeakMap<Facts, readonly Entity[]>();

/** The identities that had a grant before. One without any may have been put there to make an outsider look known. */
export function boundBefore(facts: Facts): readonly Entity[] {
  const known = bound.get(facts);
  if (known !== undefined) return known;
  const found = [...facts.comparison.before.entities.values()].filter(
    ({ kind, key }) =>
      isAssumable(kind) &&
      [key, ...facts.before.subjectsOf(key)].some((each) => facts.grantsBefore(each).length > 0),
  );
  bound.set(facts, found);
  return found;
}

export function readClaimConditions(
  claimMatch: Json | undefined,
  key: "claims" | "claimPatterns",
): [string, string][] {
  const value = isObject(claimMatch) ? claimMatch[key] : undefined;
  if (!isObject(value)) return [];
  return Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string");
}

export function listGrants(grants: readonly Grant[]): string[] {
  return limitLines(
    [
      ...new Set(grants.map(({ role, group }) => `${role.name ?? role.uid ?? role.key} on ${group.path}`)),
    ].sort(),
  );
}
