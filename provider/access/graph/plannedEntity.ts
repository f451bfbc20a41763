import { specs } from "../documents/specs";
import { toEntity, unresolvedPaths } from "./entities";
import type { Assumption, Entity } from "./model";
import { uidAfter } from "./planKeys";
import type { RecordedOfKind, PlanKeys } from "./planKeys";
import { isReference, mapLeaves } from "./references";
import type { ReferenceResolver } from "./resolver";
import type { ResourcePlan } from "./resourcePlan";
import type { ServerRemovals } from "./serverRemovals";
import { isUnread, reasonOf } from "./unread";
import type { UnreadValue } from "./unread";

/**
 * A resource as it will be after the change. A reference to a resource that does not exist yet is assumed to be the id
 * of the one resource that it depends on.
 */
export function plannedEntity(
  plan: ResourcePlan,
  resource: RecordedOfKind,
  keys: PlanKeys,
  resolver: ReferenceResolver,
  removals: ServerRemovals,
): Entity {
  const isSame = plan.op === "same";
  const uid = keys.isOfOtherKind(plan) ? undefined : uidAfter(plan);
  // What is only read may show no arguments, and nothing is written of what stays the same.
  const mustBeComplete = plan.op === "create" || plan.op === "update" || plan.op === "replace";
  const planned = toEntity(resource, { key: keys.of(plan), uid, side: "after", isSame, mustBeComplete });
  const spec = specs[resource.kind];
  if (spec === undefined) return planned;
  const assumptions: Assumption[] = [];
  const candidates: Record<string, readonly string[]> = {};
  const inputs = mapLeaves(spec, planned.inputs, (value, leaf) => {
    if (!isReference(leaf)) return value;
    if (!isUnread(value)) return removals.pruneDanglingRef(value);
    const { one: source, several } = reasonOf(value) === "unknown" ? resolver.resolve(resource, leaf) : {};
    if (several !== undefined) candidates[leaf.path] = several;
    if (source === undefined) return value;
    assumptions.push({ path: leaf.path, property: leaf.property, key: source });
    return source;
  });
  const assumed = new Set(assumptions.map(({ path }) => path));
  const unread = (planned.unread ?? []).filter(({ path }) => !assumed.has(path));
  const concealed = (plan.concealed ?? []).map((value): UnreadValue => ({
    ...value,
    reason: "secret",
    decidesAccess: true,
  }));
  // The engine has compared the secrets of an unchanged resource.
  const isReported = ({ reason }: UnreadValue): boolean => !isSame || reason !== "secret";
  resolver.report(resource, [...unread, ...concealed].filter(isReported));
  const secretSources = resolver.secretSources(resource);
  return {
    ...planned,
    inputs,
    unresolved: unresolvedPaths(unread),
    ...(planned.unread ? { unread } : {}),
    ...(assumptions.length > 0 ? { assumptions } : {}),
    ...(Object.keys(candidates).length > 0 ? { candidates } : {}),
    ...(plan.concealed ? { concealed: plan.concealed } : {}),
    ...(Object.keys(secretSources).length > 0 ? { secretSources } : {}),
  };
}
