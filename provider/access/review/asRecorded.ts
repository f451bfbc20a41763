import { mergeLive, NORMALIZED } from "../../fields/mergeLive";
import { createEffectSide, describeEffects } from "../effects";
import type { EffectContext, FieldEffect } from "../effects";
import { specs } from "../documents/specs";
import { bindingKeys } from "../graph/accessKinds";
import type { PlannedChange } from "../graph/graphBuilder";
import { graphOf } from "../graph/grants";
import { withInputs } from "../graph/liveObjects";
import type { AccessGraph, Entity } from "../graph/model";
import { isPathWithin, isReference, mapLeaves, topProperty } from "../graph/references";
import type { KeptChange, ResourceChange } from "./comparison";

/**
 * What was there before in the terms of the stack: what was made by hand, and is kept, is new in it. What was deleted by
 * hand is there.
 */
interface RecordedSide {
  readonly before: AccessGraph;
  readonly changes: readonly ResourceChange[];
  readonly kept: readonly KeptChange[];
  readonly isFirstImport: boolean;
}

type Pair = readonly [PlannedChange, ResourceChange];

/** Whether a value that came by hand is still there after the change, as far as the two differ. */
function isKept({ path, added }: FieldEffect, later: readonly FieldEffect[]): boolean {
  const next = later.find((each) => each.path === path);
  if (next === undefined) return !later.some((each) => isPathWithin(path, each.path));
  return (added ?? []).some((member) => next.removed?.includes(member) !== true);
}

/** What was changed by hand of a managed object, and is in the program from now on. */
function keptFields({ plan, recorded, planned, before, after }: PlannedChange, context: EffectContext) {
  const spec = specs[recorded?.kind ?? ""];
  // What a preview has refreshed is in the stack from the update on, also where the program changes nothing.
  const isWritten = plan.op === "update" || (plan.op === "same" && plan.unrefreshed !== undefined);
  if (!isWritten || spec === undefined) return [];
  if (recorded === undefined || planned === undefined || before === undefined || after === undefined)
    return [];
  if (recorded.external === true || before.inputs === recorded.inputs) return [];
  const effects = (old: Entity["inputs"], now: Entity["inputs"]) => describeEffects(spec, old, now, context);
  const normalized = plan.before?.outputs[NORMALIZED];
  const olds = { ...recorded.inputs, ...(normalized === undefined ? {} : { [NORMALIZED]: normalized }) };
  const byHand = effects(recorded.inputs, mergeLive(spec, olds, before.inputs).inputs);
  if (byHand.length === 0 || plan.op === "same") return byHand;
  const [declared, later] = [effects(recorded.inputs, planned.inputs), effects(before.inputs, after.inputs)];
  return byHand.filter(
    (effect) =>
      declared.some(({ path }) => isPathWithin(path, effect.path) || isPathWithin(effect.path, path)) &&
      isKept(effect, later),
  );
}

/** An object of the server that no stack managed, and that the program takes over as it is. */
const isAdopted = ({ plan, before, after }: PlannedChange): boolean =>
  plan.op === "import" &&
  before !== undefined &&
  before.assumed !== true &&
  after !== undefined &&
  after.external !== true;

/** An object that somebody deleted, and that the program no longer declares: as the stack records it. */
const lostByHand = ({ plan, recorded, isMissing }: PlannedChange): Entity | undefined =>
  isMissing === true && (plan.op === "delete" || plan.op === "replace") ? recorded : undefined;

/** Whether the stack managed anything before: its first import may take over a whole organisation. */
const managesAnything = ({ plan, recorded }: PlannedChange): boolean =>
  plan.op !== "create" && plan.op !== "import" && recorded !== undefined && recorded.external !== true;

/** The bindings that a change declares and that its resource did not declare before. */
function newBindings({ plan, recorded, after }: PlannedChange): string[] {
  if (after === undefined || after.external === true || plan.op === "same") return [];
  const olds = new Set(recorded === undefined ? [] : bindingKeys(recorded));
  return bindingKeys(after).filter((key) => !olds.has(key));
}

/** The object as it was before somebody changed by hand what the program takes over. */
function asRecordedBefore(live: Entity, recorded: Entity, fields: readonly FieldEffect[]): Entity {
  const properties = fields.map(({ path }) => topProperty(path));
  const olds = Object.fromEntries(properties.map((key) => [key, recorded.inputs[key]]));
  return withInputs(live, { ...live.inputs, ...olds });
}

/** Removes what no stack managed. What others refer to stays known: what they hold is not the doing of this change. */
function removeAdopted(entities: Map<string, Entity>, pairs: readonly Pair[]): void {
  const adopted = pairs.flatMap(([planned]) =>
    isAdopted(planned) && planned.before ? [planned.before] : [],
  );
  if (adopted.length === 0) return;
  for (const { key } of adopted) entities.delete(key);
  const referred = new Set<string>();
  for (const { kind, inputs } of entities.values()) {
    const spec = specs[kind];
    if (spec === undefined) continue;
    mapLeaves(spec, inputs, (value, leaf) => {
      if (isReference(leaf) && typeof value === "string") referred.add(value);
      return value;
    });
  }
  for (const entity of adopted) if (referred.has(entity.key)) entities.set(entity.key, entity);
}

/**
 * What was there before, without what was done by hand and the change makes official. Undefined where there is nothing of
 * that sort.
 * @param mayManageMore whether the preview leaves out unchanged resources, which the stack may manage.
 */
export function recordedSide(
  before: AccessGraph,
  pairs: readonly Pair[],
  context: EffectContext,
  mayManageMore: boolean,
): RecordedSide | undefined {
  const entities = new Map(before.entities);
  const kept = new Map<ResourceChange, readonly FieldEffect[]>();
  const losses = new Map<ResourceChange, Entity>();
  const bindings = new Map<string, ResourceChange>();
  for (const [planned, change] of pairs) {
    for (const key of newBindings(planned)) bindings.set(key, change);
    const fields = keptFields(planned, context);
    const old = planned.before && entities.get(planned.before.key);
    const lost = lostByHand(planned);
    if (isAdopted(planned) || lost !== undefined) kept.set(change, []);
    if (lost !== undefined) {
      losses.set(change, lost);
      entities.set(lost.key, lost);
    }
    if (fields.length === 0 || old === undefined || planned.recorded === undefined) continue;
    kept.set(change, fields);
    entities.set(old.key, asRecordedBefore(old, planned.recorded, fields));
  }
  for (const [key, entity] of before.entities) {
    const owners = entity.urn === undefined ? bindingKeys(entity).map((each) => bindings.get(each)) : [];
    const [owner] = owners;
    if (owner === undefined || owners.includes(undefined)) continue;
    entities.delete(key);
    if (!kept.has(owner)) kept.set(owner, []);
  }
  if (kept.size === 0) return undefined;
  removeAdopted(entities, pairs);
  const side = { ...context, before: createEffectSide(entities) };
  const changes = pairs.map(([planned, change]): ResourceChange => {
    const spec = specs[change.kind];
    const old = change.before && entities.get(change.before.key);
    const lost = losses.get(change);
    if (lost !== undefined) return { ...change, before: lost };
    if (isAdopted(planned)) return { ...change, op: "create", before: undefined };
    if (!kept.has(change) || spec === undefined || old === undefined || change.after === undefined)
      return change;
    const fields = describeEffects(spec, old.inputs, change.after.inputs, side);
    return { ...change, op: change.op === "same" ? "update" : change.op, before: old, fields };
  });
  return {
    before: graphOf(entities),
    changes,
    kept: [...kept].map(([change, fields]): KeptChange => {
      const lost = losses.get(change);
      return lost === undefined ? { change, fields } : { change, fields, lost };
    }),
    isFirstImport: !mayManageMore && !pairs.some(([planned]) => managesAnything(planned)),
  };
}
