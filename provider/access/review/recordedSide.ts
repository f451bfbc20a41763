import { equal } from "../../fields/equal";
import { NORMALIZED, mergeLive } from "../../fields/mergeLive";
import { aggregatedKind } from "../../fields/resourceSpec";
import { groupBy } from "../../fields/values";
import type { Props } from "../../fields/values";
import { specs } from "../documents/specs";
import { listManaged } from "../documents/stateExport";
import type { StateExport } from "../documents/stateExport";
import { createEffectContext, describeEffects } from "../effects";
import type { FieldEffect, EffectContext } from "../effects";
import { graphOf } from "../graph/resolveGrants";
import { tupleOf } from "../graph/grant";
import type { Grant } from "../graph/grant";
import { textsOfTrusts } from "../graph/principals";
import type { AccessGraphs, StepChange } from "../graph/graphBuilder";
import { entityKey, toEntity, withInputs } from "../graph/entities";
import type { Entity, AccessGraph } from "../graph/model";
import { isPathWithin, pathsOverlap, listReferences, topProperty } from "../graph/inputLeaves";
import type { Comparison, ComparisonAsRecorded, KeptChange, ResourceChange } from "./compare";

/*
 * A change in the terms of the stack: what somebody did by hand, and the change makes official, is found by undoing the rest.
 */

/**
 * A change in the terms of the stack: what was changed by hand is as recorded on both sides, but for what the change makes
 * official, which is new in it. What was deleted by hand is there.
 */
type RecordedSide = Pick<Comparison, "before" | "after" | "changes"> &
  Pick<ComparisonAsRecorded, "kept" | "isFirstImport">;

type Pair = readonly [StepChange, ResourceChange];

/** Whether a value that came by hand is still there after the change, as far as the two differ. */
function isKept({ path, added }: FieldEffect, later: readonly FieldEffect[]): boolean {
  const next = later.find((each) => each.path === path);
  if (next === undefined) return !later.some((each) => isPathWithin(path, each.path));
  return (added ?? []).some((member) => next.removed?.includes(member) !== true);
}

/**
 * What somebody changed by hand of an object, as far as its program writes it.
 * @param outputs Of the record: what the server had made of the arguments.
 */
function describeByHand(
  { kind, inputs }: Entity,
  outputs: Props | undefined,
  live: Entity,
  context: EffectContext,
): readonly FieldEffect[] {
  const spec = specs[kind];
  if (spec === undefined) return [];
  const olds = { ...inputs, [NORMALIZED]: outputs?.[NORMALIZED] };
  return describeEffects(spec, inputs, mergeLive(spec, olds, live.inputs).inputs, context);
}

/** The same of an object of the stack. */
function fieldsChangedByHand(
  { step, recorded, before }: StepChange,
  context: EffectContext,
): readonly FieldEffect[] {
  if (recorded === undefined || before === undefined) return [];
  if (recorded.external === true || before.inputs === recorded.inputs) return [];
  return describeByHand(recorded, step.before?.outputs, before, context);
}

/**
 * What other stacks record: as the server has it, or otherwise, and by which URN. The server has the bindings of an aggregate as
 * objects of their own, so each grant of it is compared with that of the server.
 */
export function compareOtherStacks(
  stacks: readonly StateExport[],
  { entities }: AccessGraph,
  context: EffectContext,
): Required<Pick<Comparison, "recordedElsewhere" | "contradictedElsewhere" | "urnsElsewhere">> {
  const [recordedElsewhere, contradictedElsewhere] = [new Map<string, Entity>(), new Map<string, Entity>()];
  const urnsElsewhere = new Map<string, string>();
  for (const resource of stacks.flatMap(listManaged)) {
    const { kind, id, inputs, outputs, isUndeclared } = resource;
    if (isUndeclared === true) continue;
    const key = entityKey(kind, id, inputs["parentUid"]);
    const recorded = toEntity(resource, { key, uid: id, side: "before" });
    const live = entities.get(key);
    urnsElsewhere.set(key, resource.urn);
    if (aggregatedKind(specs[kind] ?? {}) !== undefined) recordedElsewhere.set(key, recorded);
    else if (live?.kind !== kind) continue;
    else if (describeByHand(recorded, outputs, live, context).length > 0)
      contradictedElsewhere.set(key, recorded);
    else recordedElsewhere.set(key, live);
  }
  return { recordedElsewhere, contradictedElsewhere, urnsElsewhere };
}

/** Of what was changed by hand of a managed object, what is in the program from now on. */
function keptFields(
  byHand: readonly FieldEffect[],
  { step, recorded, declared, before, after }: StepChange,
  context: EffectContext,
): readonly FieldEffect[] {
  if (recorded === undefined || declared === undefined || before === undefined || after === undefined)
    return [];
  // What a preview has refreshed is in the stack from the update on, also where the program changes nothing.
  if (step.op === "same") return step.unrefreshed === undefined ? [] : byHand;
  // What is only read from now on is not the program's.
  if (step.op === "read") return [];
  const effects = (old: Entity["inputs"], now: Entity["inputs"]) =>
    describeEffects(specs[recorded.kind], old, now, context);
  const [written, later] = [effects(recorded.inputs, declared.inputs), effects(before.inputs, after.inputs)];
  return byHand.filter(
    (effect) => written.some(({ path }) => pathsOverlap(path, effect.path)) && isKept(effect, later),
  );
}

/** An object of the server that no stack managed, and that the program takes over as it is. */
const isAdopted = ({ step, before, after }: StepChange): boolean =>
  (step.op === "import" || step.before?.isUndeclared === true) &&
  before !== undefined &&
  before.claimed !== true &&
  after !== undefined &&
  after.external !== true;

/** An object that somebody deleted, and that the program no longer declares: as the stack records it. */
const lostByHand = ({ step, recorded, isMissing }: StepChange): Entity | undefined =>
  isMissing === true && (step.op === "delete" || step.op === "replace") ? recorded : undefined;

/** Whether the stack managed anything before: its first import may take over a whole organisation. */
const managesAnything = ({ step, recorded }: StepChange): boolean =>
  step.before?.isUndeclared !== true &&
  step.op !== "create" &&
  step.op !== "import" &&
  recorded !== undefined &&
  recorded.external !== true;

/** Names what a grant gives, to whom by their key, and to whom by the trust that lets them in: another identity may have the same. */
function tellGrants({ entities }: AccessGraph): (grant: Grant) => string[] {
  const trusts = textsOfTrusts(entities);
  return (grant) => {
    const trust = trusts.get(grant.subject.key);
    const sameTrust = trust && tupleOf({ ...grant, subject: { ...grant.subject, key: trust } });
    return [tupleOf(grant), ...(sameTrust === undefined ? [] : [sameTrust])];
  };
}

/** What a change grants that its resource did not grant before, with the change. */
function newGrants({ before, after }: AccessGraphs, pairs: readonly Pair[]): Map<string, ResourceChange> {
  const byUrn = new Map(pairs.map(([, change]) => [change.urn, change]));
  const grantOf = (grant: Grant): string => JSON.stringify([grant.urn, tupleOf(grant)]);
  const olds = new Set(before.grants.map(grantOf));
  const tell = tellGrants(after);
  return new Map(
    after.grants.flatMap((grant) => {
      const change = grant.urn === undefined ? undefined : byUrn.get(grant.urn);
      const isWritten = change !== undefined && change.op !== "same" && change.op !== "delete";
      return isWritten && change.after?.external !== true && !olds.has(grantOf(grant))
        ? tell(grant).map((key) => [key, change] as const)
        : [];
    }),
  );
}

/** The object as it was before somebody changed by hand what the program takes over. */
function asRecordedBefore(live: Entity, recorded: Entity, fields: readonly FieldEffect[]): Entity {
  const properties = fields.map(({ path }) => topProperty(path));
  const olds = Object.fromEntries(properties.map((key) => [key, recorded.inputs[key]]));
  return withInputs(live, { ...live.inputs, ...olds });
}

/** What the change leaves as somebody made it by hand is not its doing: the object as the stack records it. */
function asRecordedAfter(
  { recorded, before, after }: StepChange,
  left: readonly FieldEffect[],
): Entity | undefined {
  const spec = specs[recorded?.kind ?? ""];
  if (spec === undefined || recorded === undefined || before === undefined || after === undefined)
    return after;
  const isLeft = ({ path }: FieldEffect): boolean => {
    const key = topProperty(path);
    const field = spec.fields[key];
    return field !== undefined && equal(field, before.inputs[key], after.inputs[key]);
  };
  return asRecordedBefore(after, recorded, left.filter(isLeft));
}

/** Removes what no stack managed. What others refer to stays known: what they hold is not the doing of this change. */
function removeAdopted(entities: Map<string, Entity>, adopted: readonly Entity[]): void {
  for (const { key } of adopted) entities.delete(key);
  const referred = new Set(
    [...entities.values()].flatMap(({ kind, inputs }) => listReferences(specs[kind], inputs)),
  );
  for (const entity of adopted) if (referred.has(entity.key)) entities.set(entity.key, entity);
}

/**
 * The change without what was done by hand, but for what it makes official. Undefined where nothing was done by hand.
 * @param mayManageMore whether the preview leaves out unchanged resources, which the stack may manage.
 */
export function recordedSide(
  graphs: AccessGraphs,
  pairs: readonly Pair[],
  context: EffectContext,
  mayManageMore: boolean,
): RecordedSide | undefined {
  const [olds, news] = [graphs.before, graphs.after].map(({ entities }) => new Map(entities)) as [
    Map<string, Entity>,
    Map<string, Entity>,
  ];
  const kept = new Map<ResourceChange, readonly FieldEffect[]>();
  const losses = new Map<ResourceChange, Entity>();
  let isAnyByHand = false;
  for (const [stepChange, change] of pairs) {
    const byHand = fieldsChangedByHand(stepChange, context);
    const fields = keptFields(byHand, stepChange, context);
    const lost = lostByHand(stepChange);
    if (isAdopted(stepChange) || lost !== undefined || fields.length > 0) kept.set(change, fields);
    if (lost !== undefined) {
      losses.set(change, lost);
      olds.set(lost.key, lost);
    }
    const { before, recorded } = stepChange;
    const old = before && olds.get(before.key);
    if (old === undefined || recorded === undefined || byHand.length === 0) continue;
    isAnyByHand = true;
    olds.set(old.key, asRecordedBefore(old, recorded, byHand));
    const left = byHand.filter((effect) => !fields.includes(effect));
    const now = asRecordedAfter(stepChange, left);
    if (now !== undefined && news.has(now.key)) news.set(now.key, now);
  }
  const adopted = pairs.flatMap(([stepChange]) =>
    isAdopted(stepChange) && stepChange.before ? [stepChange.before] : [],
  );
  const declared = newGrants(graphs, pairs);
  // What a program only reads no stack manages either.
  const isRead = ({ urn, uid = "" }: Grant): boolean => {
    const source = graphs.before.entities.get(uid);
    return source?.external === true && source.urn === urn;
  };
  const undeclared = new Set(
    pairs.flatMap(([{ step }]) => (step.before?.isUndeclared === true ? [step.urn] : [])),
  );
  const isManaged = (grant: Grant): boolean =>
    grant.urn !== undefined && !isRead(grant) && !undeclared.has(grant.urn);
  const byHand = groupBy(
    graphs.before.grants.filter((grant) => grant.uid !== undefined && !isManaged(grant)),
    ({ uid = "" }) => [uid],
  );
  const tell = tellGrants(graphs.before);
  for (const [uid, grants] of byHand) {
    const owners = grants.map((grant) =>
      tell(grant)
        .map((key) => declared.get(key))
        .find((owner) => owner !== undefined),
    );
    const [entity, owner] = [olds.get(uid), owners[0]];
    if (entity === undefined || owner === undefined || owners.includes(undefined)) continue;
    adopted.push(entity);
    if (!kept.has(owner)) kept.set(owner, []);
  }
  if (kept.size === 0 && !isAnyByHand) return undefined;
  removeAdopted(olds, adopted);
  // The program grants it by another resource now, whatever it reads beside that.
  removeAdopted(
    news,
    adopted.filter(({ urn, external }) => urn !== undefined && external === true),
  );
  const side = createEffectContext(olds, news, context.comparer);
  const changes = pairs.map(([stepChange, change]): ResourceChange => {
    const before = change.before && olds.get(change.before.key);
    const after = change.after && news.get(change.after.key);
    const lost = losses.get(change);
    if (lost !== undefined) return { ...change, before: lost };
    if (isAdopted(stepChange)) {
      if (before === undefined || after === undefined || change.kind !== "Role")
        return { ...change, op: "create", before: undefined };
      // Others hold it already. What it allowed before is recorded nowhere, so all of that may be given by hand: G4 judges that.
      const nothing = withInputs(before, { ...before.inputs, capabilities: [] });
      return { ...change, op: "update", before: nothing, fields: [] };
    }
    if (before === undefined) return change;
    if (before === change.before && after === change.after) return change;
    if (after === undefined) return { ...change, before };
    const fields = describeEffects(specs[change.kind], before.inputs, after.inputs, side);
    const op = change.op === "same" && kept.has(change) ? "update" : change.op;
    return { ...change, op, before, after, fields };
  });
  return {
    before: graphOf(olds),
    after: graphOf(news),
    changes,
    kept: [...kept].map(([change, fields]): KeptChange => {
      const lost = losses.get(change);
      return lost === undefined ? { change, fields } : { change, fields, lost };
    }),
    isFirstImport: !mayManageMore && !pairs.some(([stepChange]) => managesAnything(stepChange)),
  };
}
