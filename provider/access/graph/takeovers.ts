import { equal } from "../../fields/equal";
import { identifyingInputs, identityKey } from "../../fields/identity";
import { aggregatedKind, createOnlyOutputs } from "../../fields/resourceSpec";
import type { ResourceSpec } from "../../fields/resourceSpec";
import { containsUnknown } from "../../fields/values";
import type { RecordedResource } from "../documents/engineState";
import { specs } from "../documents/specs";
import { entityKey } from "./entities";
import { groupBy } from "./grantIndex";
import type { LiveObjects } from "./liveObjects";
import { isManagedKind, recordedUid } from "./planKeys";
import type { ResourcePlan } from "./resourcePlan";

/*
 * The arguments of some kinds name one object at the server. A create with those of a resource that the same change deletes
 * or replaces takes its object over, and the provider leaves it there: it is an update of one object under another URN.
 */

const isOverwritten = ({ operations }: Pick<ResourceSpec, "operations">): boolean =>
  operations?.upsert === true;

/** The object that the arguments of a resource name; undefined where they name none, or not all of them are known. */
function identityOf(resource: RecordedResource | undefined, live: LiveObjects): string | undefined {
  if (!isManagedKind(resource) || resource.external) return undefined;
  const spec = specs[resource.kind];
  // Who owns all bindings of a group has no object of its own, and what is returned once cannot be taken over.
  if (spec === undefined || aggregatedKind(spec) !== undefined || createOnlyOutputs(spec).length > 0)
    return undefined;
  const { inputs, secretPaths } = resource;
  if (identifyingInputs(spec).some((key) => containsUnknown(inputs[key]) || secretPaths.includes(key)))
    return undefined;
  const uid = recordedUid(resource);
  const isGone =
    uid !== undefined &&
    live.lists(resource.kind, uid) &&
    live.get(entityKey(resource.kind, uid, inputs["parentUid"])) === undefined;
  return isGone ? undefined : identityKey(spec, inputs);
}

/** Whether all arguments are known and equal: only an equal object is adopted where a create does not overwrite. */
function areEqual(spec: ResourceSpec, one: RecordedResource, other: RecordedResource): boolean {
  if ([one, other].some(({ inputs, secretPaths }) => secretPaths.length > 0 || containsUnknown(inputs)))
    return false;
  return Object.entries(spec.fields).every(([key, field]) =>
    equal(field, one.inputs[key], other.inputs[key]),
  );
}

/** Whether the provider leaves the object of `giver` at the server, because `taker` has it from then on. */
function takesOver(giver: ResourcePlan, taker: ResourcePlan): boolean {
  const { before } = giver;
  const { after } = taker;
  const spec = specs[after?.kind ?? ""];
  if (before === undefined || after === undefined || spec === undefined) return false;
  if (isOverwritten(spec)) return true;
  return giver.op === "delete" && taker.op === "create" && areEqual(spec, before, after);
}

/** The plans of a change, where a delete and a create of one object are one update of it. */
export function joinTakeovers(plans: readonly ResourcePlan[], live: LiveObjects): readonly ResourcePlan[] {
  const givers = groupBy(plans, ({ op, before }) => [
    op === "delete" || op === "replace" ? identityOf(before, live) : undefined,
  ]);
  if (givers.size === 0) return plans;
  const takers = groupBy(plans, ({ op, after }) => [
    op === "create" || op === "replace" ? identityOf(after, live) : undefined,
  ]);
  const taken = new Map<ResourcePlan, ResourcePlan>();
  // Several resources of one object are a mistake of the program, which the run refuses.
  for (const [key, [taker, ...others]] of takers) {
    const [giver, ...more] = givers.get(key) ?? [];
    if (taker === undefined || giver === undefined || others.length + more.length > 0) continue;
    if (takesOver(giver, taker)) taken.set(taker, giver);
  }
  keepOwnLosses(taken);
  const given = new Set(taken.values());
  return plans.flatMap((plan): ResourcePlan[] => {
    const giver = taken.get(plan);
    if (giver !== undefined) {
      const isOverwriting = isOverwritten(specs[plan.after?.kind ?? ""] ?? {});
      return [{ ...plan, op: "update", before: giver.before, ...(isOverwriting ? { isOverwriting } : {}) }];
    }
    if (!given.has(plan)) return [plan];
    return plan.op === "delete" ? [] : [{ ...plan, op: "create", before: undefined }];
  });
}

/** A replaced resource is no update of another object while nobody takes over its own: that goes. */
function keepOwnLosses(taken: Map<ResourcePlan, ResourcePlan>): void {
  for (;;) {
    const given = new Set(taken.values());
    const losing = [...taken.keys()].filter((taker) => taker.op === "replace" && !given.has(taker));
    if (losing.length === 0) return;
    for (const taker of losing) taken.delete(taker);
  }
}
