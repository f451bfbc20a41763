import type { AccessEffect, FieldSpec } from "../../fields/fieldSpec";
import { equal, equalForDrift, isSet } from "../../fields/equal";
import { timestampNanos, durationNanos } from "../../fields/formats";
import { isServerFilled, NORMALIZED } from "../../fields/mergeLive";
import { identityKey } from "../../fields/resourceSpec";
import type { ResourceSpec } from "../../fields/resourceSpec";
import { groupBy, isObject } from "../../fields/values";
import type { Props, Json } from "../../fields/values";
import { urnParts } from "../documents/engineState";
import { isWithin, listedKinds, listsObject } from "../documents/inventory";
import type { Inventory } from "../documents/inventory";
import { specs } from "../documents/specs";
import type { StateExport } from "../documents/stateExport";
import { createEffectContext, describeEffects, unreadReason } from "../effects";
import type { EffectContext, FieldEffect } from "../effects";
import {
  accessKinds,
  bindingKeys,
  bindingsOfOwners,
  bindsRoles,
  isBindingOf,
  isGrantPart,
} from "../graph/accessKinds";
import type { GroupHierarchy } from "../graph/groupHierarchy";
import { graphOf, grantKey } from "../graph/resolveGrants";
import { lacksRequiredMember, valueAt } from "../graph/describedFields";
import { entityKey } from "../graph/entities";
import { isName, mustBeAnnounced, decidesAccess, effectOf } from "../../fields/fieldAccess";
import { isGain } from "../graph/grant";
import type { GrantChange } from "../graph/grant";
import type { AccessGraph, Entities, Entity } from "../graph/model";
import { topProperty, mapReferences } from "../graph/inputLeaves";
import { isComparable, isComparedOutput, isVerified } from "../report/expected";
import { toFieldChange } from "../report/report";
import type { ExpectedAccess, FieldChange, ExpectedEntity } from "../report/report";
import { diffGrants } from "../review/grantChanges";
import { PatternComparer } from "../trust/patternComparer";
import { LONGEST_SHOWN_NAME, plainOrQuoted } from "../trust/quote";

/** An object that is not as the review announced it: a group with another name, who signs in by a provider, a new role. */
export interface EntityDifference {
  readonly entity: Entity;
  /** `unapplied` is as it was before an announced update, and `remaining` before an announced delete. */
  readonly what: "new" | "changed" | "deleted" | "unapplied" | "remaining";
  readonly fields: readonly FieldChange[];
  /** Whether no field gives more access, or may give more. */
  readonly isNarrowed?: boolean;
}

export interface Differences {
  /** More access than was announced, and than there was before. */
  readonly more: readonly GrantChange[];
  /** More access than was announced, and no more than there was before. */
  readonly remaining: readonly GrantChange[];
  /** Less access than was announced, and no less than there was before. */
  readonly less: readonly GrantChange[];
  /** Less access than was announced, and than there was before. */
  readonly taken: readonly GrantChange[];
  /** What may have been granted by the report, where another of several was. */
  readonly ungranted: readonly GrantChange[];
  readonly entities: readonly EntityDifference[];
  /** Objects that only give less, as the grants that became less say. */
  readonly narrowed: readonly EntityDifference[];
  readonly unchanged: number;
  /** The groups that the review expects. */
  readonly hierarchy: GroupHierarchy;
  /** What the review could not read, so that it was not compared, a line each. */
  readonly unread: readonly string[];
  /** What should have been compared and was not, a line each. */
  readonly gaps: readonly string[];
}

/** What the objects of the organisation are compared with, by key. */
interface Sides {
  readonly expected: Entities;
  /** What there was before the change. What is still so was announced and did not happen. */
  readonly before: ReadonlyMap<string, BeforeEntity>;
  readonly live: ReadonlyMap<string, LiveEntity>;
}

/** What a verification knows besides the sides. */
interface ComparisonContext {
  readonly expected: ExpectedAccess;
  readonly inventory: Inventory;
  /** What tells what the server returned to the update, and what the update wrote. */
  readonly state?: StateExport | undefined;
}

/** What to call an entity in a line. */
export function entityLabel({ kind, name, urn, uid }: Pick<Entity, "kind" | "name" | "urn" | "uid">): string {
  const own = name ?? (urn === undefined ? undefined : urnParts(urn).name);
  return `${kind} ${own === undefined ? (uid ?? "without a name") : plainOrQuoted(own, LONGEST_SHOWN_NAME)}`;
}

/** Whether somebody made an identity by signing in: it is assumed by nothing that a program can declare. */
const isSignedInPerson = ({ kind, inputs }: Entity): boolean =>
  accessKinds[kind]?.assumable === true && lacksRequiredMember(specs[kind], inputs);

/** Compares the objects of all sides one by one. */
class EntityComparison {
  readonly unread: string[] = [];
  readonly gaps = new Set<string>();
  /** The live objects, with what is as expected in the expected spelling. */
  readonly actual = new Map<string, Entity>();
  /** The live objects, with what is as it was before in the spelling of before. */
  readonly actualAsBefore = new Map<string, Entity>();
  /** The bindings of resources that own all bindings of their group: which objects these are, the server decides. */
  private readonly owned: ReadonlySet<string>;
  private readonly recordedUrns: ReadonlySet<string>;
  private readonly effects: EffectContext;
  /** What the change replaces or deletes, as it was before. */
  private readonly removed: ReadonlyMap<string, ExpectedEntity>;

  constructor(
    private readonly sides: Sides,
    private readonly context: ComparisonContext,
    comparer: PatternComparer,
  ) {
    const { expected, before, live } = sides;
    this.effects = createEffectContext(expected, this.actual, comparer);
    const removed = context.expected.before.filter(({ changes }) => changes === undefined);
    this.removed = new Map(removed.map((old) => [old.key, old]));
    this.owned = bindingsOfOwners([...expected.values(), ...before.values()]);
    this.recordedUrns = new Set((context.state?.resources ?? []).map(({ urn }) => urn));
    for (const [key, entity] of live) {
      const actual = this.align(expected.get(key), entity);
      this.actual.set(key, actual);
      const old = before.get(key);
      const spec = specs[entity.kind];
      const isTouched = spec !== undefined && old?.changes !== undefined && old.kind === entity.kind;
      this.actualAsBefore.set(
        key,
        isTouched
          ? {
              ...entity,
              inputs: alignLive(spec, old.inputs, entity, { hasState: true, mayBeWritten: true }).inputs,
            }
          : actual,
      );
    }
  }

  run(): EntityDifference[] {
    const { expected } = this.sides;
    return [...new Set([...expected.keys(), ...this.actual.keys()])].sort().flatMap((key) => {
      const [old, now] = [expected.get(key), this.actual.get(key)];
      const entity = now ?? old;
      // The platform alone changes its own roles, and people make identities by signing in.
      if (entity === undefined || entity.builtIn) return [];
      if (old === undefined) return this.compareUnexpected(entity);
      if (bindsRoles(entity.kind)) return [];
      return now === undefined ? this.compareMissing(entity) : this.compareChanged(old, now);
    });
  }

  private align(old: Entity | undefined, entity: LiveEntity): Entity {
    const spec = specs[entity.kind];
    if (old === undefined || spec === undefined || old.kind !== entity.kind) return entity;
    const hasState = this.context.state !== undefined;
    const mayBeWritten = this.mayBeWritten(spec, entity);
    const { inputs, unread, needsState } = alignLive(spec, old.inputs, entity, {
      hasState,
      mayBeWritten,
    });
    const label = entityLabel(entity);
    this.unread.push(...unread.map((line) => `${label}: ${line}, so it was not compared`));
    for (const path of needsState) {
      this.gaps.add(
        `${label}: ${path} was not compared: only the state tells in which form the server keeps it: give --stack or --state`,
      );
    }
    return { ...entity, inputs };
  }

  /**
   * Whether anybody may have written an object since the inventory of the review. One that the server says to be of the
   * same version is as it was.
   */
  private mayBeWritten({ capabilities }: ResourceSpec, { key, details, updateTime }: LiveEntity): boolean {
    const old = this.sides.before.get(key);
    // What the change creates or writes was never seen as it is.
    if (old === undefined || old.changes !== undefined) return true;
    if (capabilities?.update === undefined) return false;
    const versions = { updateTime, etag: details?.["etag"] };
    const known = (["etag", "updateTime"] as const).find((name) => old.details?.[name] !== undefined);
    return known === undefined || old.details?.[known] !== versions[known];
  }

  private compareMissing(entity: Entity): EntityDifference[] {
    const { kind, uid, urn } = entity;
    const { inventory, state } = this.context;
    if (isSignedInPerson(entity) || (uid !== undefined && !isWithin(uid, inventory.root))) return [];
    if (this.isToBeDeleted(entity)) return [];
    const isNotCreated = uid === undefined && state !== undefined && !this.recordedUrns.has(urn ?? "");
    if (!isNotCreated && !listsObject(inventory, kind, uid ?? inventory.root)) {
      // Nothing of it decides who may do what.
      if (!isVerified(kind)) return [];
      this.gaps.add(
        `${entityLabel(entity)} was not compared: the inventory does not contain each ${kind}: take it with --types +${kind}`,
      );
      return [];
    }
    return [toDifference(entity, "deleted")];
  }

  /** An object that should not be there. One that was there before, and was to be deleted, remains. */
  private compareUnexpected(entity: Entity): EntityDifference[] {
    const { kind, key } = entity;
    const old = this.sides.before.get(key);
    if (old === undefined || old.kind !== kind) return this.compareNew(entity);
    const spec = specs[kind];
    if (spec === undefined || bindsRoles(kind)) return [];
    const now = this.actualAsBefore.get(key) ?? entity;
    const changed = this.changedInputs(spec, old.inputs, now.inputs);
    const difference = toDifference(now, "changed", changed.map(toFieldChange), changed.every(narrows));
    return [
      toDifference({ ...entity, urn: entity.urn ?? old.urn }, "remaining"),
      ...(changed.length === 0 ? [] : [difference]),
    ];
  }

  private compareNew(entity: Entity): EntityDifference[] {
    const { kind, uid } = entity;
    const { kinds, inventoryTime } = this.context.expected;
    if (!isVerified(kind) || isSignedInPerson(entity)) return [];
    if (isBindingOf(this.owned, entity)) return [];
    const isNew = [toDifference(entity, "new")];
    if (kinds.includes(kind)) return isNew;
    // Nobody asked for these kinds, and single objects of them are read by their uids.
    if (listedKinds.includes(kind)) {
      this.gaps.add(
        `whether each ${kind} was announced is not known: the inventory of the review does not list them`,
      );
    } else if (this.context.inventory.asked?.some((object) => object.kind === kind && object.uid === uid)) {
      const created = nanosOf(this.sides.live.get(entity.key)?.createTime);
      const reviewed = nanosOf(inventoryTime);
      if (created !== undefined && reviewed !== undefined && created > reviewed) return isNew;
      this.gaps.add(
        `${entityLabel(entity)} was not compared: the report does not name it: write the preview with --show-sames, or the inventory of the review with --types +${kind}`,
      );
    }
    return [];
  }

  private compareChanged(old: Entity, now: Entity): EntityDifference[] {
    const { kind, key } = now;
    const spec = specs[kind];
    if (spec === undefined) return [];
    const before = this.sides.before.get(key);
    if (this.isToBeDeleted(old)) return [toDifference({ ...now, urn: now.urn ?? old.urn }, "remaining")];
    // The new object of a replacement has another uid: the old one is still there.
    const isReplaced = before !== undefined && old.uid === undefined;
    const changes = isReplaced ? this.findReplaced(spec, before, old) : before?.changes;
    const unapplied =
      before === undefined || changes === undefined
        ? []
        : this.findUnapplied(spec, before, changes, old.inputs);
    const inputs = this.changedInputs(spec, old.inputs, now.inputs).filter(
      ({ path }) => !unapplied.includes(topProperty(path)),
    );
    const outputs = this.changedOutputs(spec, old.details, this.sides.live.get(key));
    const fields = [...inputs.map(toFieldChange), ...outputs];
    const isNarrowed = outputs.length === 0 && inputs.every(narrows);
    const asIs = { ...now, urn: now.urn ?? old.urn };
    // What is named by its arguments has the same uid again.
    const isNamedByInputs = spec.sharesParentUid === true || spec.operations?.takesOver === true;
    const isStillThere = isReplaced && now.uid === before.uid && !isNamedByInputs;
    const asBefore = unapplied.map((path) => ({ path }));
    return [
      ...(asBefore.length === 0 ? [] : [toDifference(asIs, "unapplied", asBefore)]),
      ...(asBefore.length === 0 && isStillThere ? [toDifference(asIs, "remaining")] : []),
      ...(fields.length === 0 ? [] : [toDifference(now, "changed", fields, isNarrowed)]),
    ];
  }

  /** Whether the program deletes an object of which the review expected that the server refuses that. */
  private isToBeDeleted({ key, uid, urn }: Entity): boolean {
    const old = this.removed.get(key);
    return old !== undefined && uid !== undefined && old.uid === uid && old.urn === urn;
  }

  /** The arguments for which the change replaces an object. */
  private findReplaced({ fields }: ResourceSpec, before: Entity, announced: Entity): string[] {
    return Object.entries(fields).flatMap(([key, field]) =>
      equal(field, before.inputs[key], announced.inputs[key]) ? [] : [key],
    );
  }

  /** The arguments that the update was to set to something else, and that are as they were before. */
  private findUnapplied(
    spec: ResourceSpec,
    entity: Entity,
    changes: readonly string[],
    expected: Props,
  ): string[] {
    const { key, inputs } = entity;
    const actual = this.actual.get(key)?.inputs ?? {};
    // Two spellings of one value are both as before and as announced.
    const isDone = (property: string, field: FieldSpec): boolean =>
      mustBeAnnounced(property, field) && equal(field, expected[property], actual[property]);
    const [live, now] = [this.sides.live.get(key), this.actualAsBefore.get(key)];
    return changes.filter((property) => {
      const field = spec.fields[property];
      if (field === undefined) return false;
      if (isComparable(field)) {
        return !isDone(property, field) && equal(field, inputs[property], now?.inputs[property]);
      }
      if (live?.declared !== undefined) return equal(field, inputs[property], live.declared[property]);
      this.gaps.add(
        `${entityLabel(entity)}: ${property} was not compared: only the state tells whether the update has set it: give --stack or --state`,
      );
      return false;
    });
  }

  private changedInputs(spec: ResourceSpec, old: Props, now: Props): FieldEffect[] {
    return describeEffects(spec, old, now, this.effects).filter(
      ({ path, effect }) => effect !== "none" || isName(path),
    );
  }

  /** The changed outputs, against the report, or the state where the announced change sets them. */
  private changedOutputs(
    spec: ResourceSpec,
    announced: Props | undefined,
    live: LiveEntity | undefined,
  ): FieldChange[] {
    const expected = announced ?? live?.recordedOutputs;
    if (expected === undefined) return [];
    const now = live?.details ?? {};
    const keys = [...Object.keys(spec.outputs ?? {}), ...(announced ? ["etag"] : [])];
    return keys.flatMap((path): FieldChange[] => {
      const field = spec.outputs?.[path] ?? { type: "string" as const };
      const [before, after] = [expected[path], now[path]];
      if (!isComparedOutput(spec, path) || equal(field, before, after) || this.isPast(before, after))
        return [];
      const text = (value: unknown) => (typeof value === "string" ? value : undefined);
      return [{ path, before: text(before), after: text(after) }];
    });
  }

  /** Whether a time has come and is gone: the server tells it no longer. */
  private isPast(before: unknown, after: unknown): boolean {
    const [end, now] = [before, this.context.inventory.takenAt].map((time) =>
      typeof time === "string" ? timestampNanos(time) : undefined,
    );
    return (after ?? "") === "" && end !== undefined && now !== undefined && end <= now;
  }
}

function toDifference(
  entity: Entity,
  what: EntityDifference["what"],
  fields: readonly FieldChange[] = [],
  isNarrowed = true,
): EntityDifference {
  return { entity, what, fields, isNarrowed };
}

const narrows = ({ direction }: FieldEffect): boolean => direction === "narrowed";

/** The keys of what the grants of a list are made of. */
function partsOfGrants(grants: readonly GrantChange[]): Set<string> {
  return new Set(
    grants.flatMap(({ grant: { subject, role, group, uid = "" } }) => [
      subject.key,
      role.key,
      group.key,
      uid,
    ]),
  );
}

/** Whether the list of grants says of an object that it is new. */
const isShownAsNew = (
  { entity: { kind, key }, what }: EntityDifference,
  more: ReadonlySet<string>,
): boolean =>
  what === "new" && (accessKinds[kind]?.shownByGrants === true || isGrantPart(kind)) && more.has(key);

/** Whether an object only gives less, as the list of grants says. */
const isShownAsLess = ({ entity, what, isNarrowed }: EntityDifference, less: ReadonlySet<string>): boolean =>
  what !== "new" &&
  isNarrowed === true &&
  accessKinds[entity.kind]?.shownByGrants === true &&
  less.has(entity.key);

/** What is granted again is not what the review saw: somebody revoked that, and the update knew nothing of it. */
export const GRANTED_AGAIN =
  "the review saw such a grant, which was revoked since: this one was made after it";

/** Grants that existed before, that the review expects to stay, and of which only others that were made since are left. */
function findGrantedAgain(
  { expected }: ComparisonContext,
  live: ReadonlyMap<string, LiveEntity>,
  actual: AccessGraph,
): GrantChange[] {
  const asEntity = (entity: ExpectedEntity): Entity => ({ ...entity, secretPaths: [] });
  const entities = expected.entities.map(asEntity);
  const kept = bindingsOfOwners(entities);
  // A binding that its GroupAccess no longer lists need not stay, even where a RoleBinding grants the same from now on.
  const owned = (expected.owned ?? []).map(asEntity).filter((entity) => isBindingOf(kept, entity));
  const bindings = [...entities, ...owned].filter(
    ({ uid, kind }) => uid !== undefined && accessKinds[kind]?.binding === true,
  );
  const known = groupBy(bindings, bindingKeys);
  const again = new Set<string>();
  for (const entity of live.values()) {
    if (accessKinds[entity.kind]?.binding !== true) continue;
    const seen = bindingKeys(entity).flatMap((key) => known.get(key) ?? []);
    if (seen.length > 0 && !seen.some(({ uid = "" }) => live.has(uid))) again.add(entity.key);
  }
  return actual.grants
    .filter(({ uid }) => uid !== undefined && again.has(uid))
    .map((grant): GrantChange => {
      const capabilitiesAdded = grant.role.capabilities ?? [];
      return { change: "gained", grant, reason: GRANTED_AGAIN, capabilitiesAdded, capabilitiesRemoved: [] };
    });
}

/** Compares the live organisation with what the review expects, and what differs with what there was before. */
export function compareExpected(sides: Sides, context: ComparisonContext): Differences {
  const comparer = new PatternComparer();
  const comparison = new EntityComparison(sides, context, comparer);
  const [expected, actual] = [graphOf(sides.expected), graphOf(comparison.actual)];
  const { changes, unchanged } = diffGrants(expected, actual, comparer);
  const sinceBefore = diffGrants(graphOf(sides.before), graphOf(comparison.actualAsBefore), comparer).changes;
  const { hierarchy } = expected;
  const keyOf = ({ grant }: GrantChange): string => grantKey(grant, hierarchy);
  const keyBefore = ({ grant, before = grant }: GrantChange): string => grantKey(before, hierarchy);
  const moreThanBefore = new Set(sinceBefore.filter(isGain).map(keyOf));
  const lessThanBefore = new Set(
    sinceBefore.filter((change) => !isGain(change)).flatMap((change) => [keyOf(change), keyBefore(change)]),
  );
  const differing = new Set(changes.map(keyOf));
  const again = findGrantedAgain(context, sides.live, actual).filter(
    (change) => !differing.has(keyOf(change)),
  );
  const more = [...changes.filter((change) => isGain(change) && moreThanBefore.has(keyOf(change))), ...again];
  const losses = changes.filter((change) => !isGain(change));
  const ungranted = losses.filter(({ grant }) => grant.isOneOf === true);
  const lessOrTaken = losses.filter(({ grant }) => grant.isOneOf !== true);
  const isTaken = (change: GrantChange): boolean => lessThanBefore.has(keyOf(change));
  const entities = comparison.run();
  const shown = partsOfGrants(more);
  const less = partsOfGrants(lessOrTaken.filter(({ change }) => change === "narrowed"));
  return {
    more,
    remaining: changes.filter((change) => isGain(change) && !moreThanBefore.has(keyOf(change))),
    less: lessOrTaken.filter((change) => !isTaken(change)),
    taken: lessOrTaken.filter(isTaken),
    ungranted,
    entities: entities.filter((each) => !isShownAsNew(each, shown) && !isShownAsLess(each, less)),
    narrowed: entities.filter((each) => each.what === "changed" && isShownAsLess(each, less)),
    unchanged: unchanged - again.length,
    hierarchy,
    unread: comparison.unread,
    gaps: [...comparison.gaps].sort(),
  };
}

/** What the review expects, with the uids that the update assigned. */
export interface ResolvedAccess {
  readonly entities: ReadonlyMap<string, Entity>;
  /** What there was before the change. */
  readonly before: ReadonlyMap<string, BeforeEntity>;
  /** The key of each entity that was created, by the key that the review gave it. */
  readonly newKeys: ReadonlyMap<string, string>;
}

/** An object as it was before the change. */
interface BeforeEntity extends Entity {
  /** The arguments that the change sets to something else; undefined of what the change leaves as it is. */
  readonly changes?: readonly string[];
}

/** Kinds that share the uid of what they belong to: it is known as soon as that is. */
const sharesParent = (kind: string): boolean => specs[kind]?.sharesParentUid === true;

/** What identifies an object of a kind of which a place has each one once; undefined of another kind. */
const identityOf = (kind: string, inputs: Props): string | undefined =>
  specs[kind] && identityKey(specs[kind], inputs);

/**
 * Finds what the change created: by its URN where there is a state, else by its arguments. A state is trusted only
 * for uids that did not exist before, and the arguments of such an entity are compared all the same.
 */
export function resolveCreated(
  expected: ExpectedAccess,
  live: readonly LiveEntity[],
  state: StateExport | undefined,
): ResolvedAccess {
  const byIdentity = new Map(live.map(({ kind, inputs, uid }) => [identityOf(kind, inputs), uid]));
  const uidByUrn =
    state && new Map(state.resources.flatMap(({ urn, id = "" }) => (id === "" ? [] : [[urn, id]])));
  const pendingCreates = new Set(state?.pendingCreates);
  /** The uids of what the change leaves, and of what it creates as far as that is found, by the keys of the report. */
  const uids = new Map(expected.entities.flatMap(({ key, uid }) => (uid === undefined ? [] : [[key, uid]])));
  const usedUids = new Set([...expected.removed, ...uids.values()]);
  let open = expected.entities.filter(({ uid }) => uid === undefined);
  const created = new Set(open.map(({ key }) => key));
  /** The arguments with uids in place of the keys of what was created. */
  const inputsOf = ({ kind, inputs }: ExpectedEntity): Props =>
    mapReferences(specs[kind], inputs, (value) =>
      typeof value === "string" ? (uids.get(value) ?? value) : value,
    );
  const findUid = (entity: ExpectedEntity): string | undefined => {
    const { kind, urn = "" } = entity;
    const inputs = inputsOf(entity);
    if (sharesParent(kind)) {
      const { parentUid } = inputs;
      return typeof parentUid === "string" && !created.has(parentUid) ? parentUid : undefined;
    }
    // A create of what exists takes that over: its arguments say which one it is, whoever made it.
    const identity = identityOf(kind, inputs);
    const existing = identity === undefined ? undefined : byIdentity.get(identity);
    if (existing !== undefined) return existing;
    const isFree = (uid: string | undefined): boolean => uid !== undefined && !usedUids.has(uid);
    if (uidByUrn !== undefined) {
      // A uid that existed before is not what the change created, whatever the state records.
      const id = uidByUrn.get(urn);
      // Of an interrupted create the state has no uid, and perhaps it made what was announced.
      if (id !== undefined || !pendingCreates.has(urn)) return isFree(id) ? id : undefined;
    }
    const spec = specs[kind];
    return live.find(
      (each) =>
        each.kind === kind && spec !== undefined && isFree(each.uid) && hasExpectedInputs(spec, inputs, each),
    )?.uid;
  };
  let count: number;
  // What is found gives others the uids that they refer to.
  do {
    count = open.length;
    open = open.filter((entity) => {
      const uid = findUid(entity) ?? "";
      if (uid === "") return true;
      if (!sharesParent(entity.kind)) usedUids.add(uid);
      uids.set(entity.key, uid);
      return false;
    });
  } while (open.length < count);
  const entities = new Map<string, Entity>();
  const before = new Map<string, BeforeEntity>();
  const newKeys = new Map<string, string>();
  for (const old of expected.before) {
    const { changes = [], kind, uid, inputs } = old;
    const key = uid === undefined ? old.key : entityKey(kind, uid, inputs["parentUid"]);
    before.set(key, { ...createdEntity(old, key, uid, inputs), changes });
  }
  for (const entity of expected.entities) {
    const inputs = inputsOf(entity);
    const uid = uids.get(entity.key);
    const key = uid === undefined ? entity.key : entityKey(entity.kind, uid, inputs["parentUid"]);
    if (key !== entity.key) newKeys.set(entity.key, key);
    if (entities.has(key)) continue;
    const candidates = entity.candidates?.map(({ paths, keys }) => ({
      paths,
      keys: keys.map((each) => uids.get(each) ?? each),
    }));
    const known = { ...createdEntity(entity, key, uid, inputs), candidates };
    entities.set(key, known);
    if (entity.uid !== undefined && !before.has(key)) before.set(key, known);
  }
  return { entities, before, newKeys };
}

function createdEntity(
  { kind, urn, name, builtIn, outputs }: ExpectedEntity,
  key: string,
  uid: string | undefined,
  inputs: Props,
): Entity {
  return { key, kind, uid, inputs, secretPaths: [], urn, name, builtIn, details: outputs };
}

/** An object of the live organisation. */
export interface LiveEntity extends Entity {
  readonly createTime?: string;
  /** The outputs that the state records of it. */
  readonly recordedOutputs?: Props;
  /** The arguments that the state records of it, and that the last update has written. */
  readonly declared?: Props;
}

/** What is known of the object besides its arguments. */
interface AlignmentOptions {
  readonly hasState: boolean;
  /** Whether anybody may have written the object since the review. */
  readonly mayBeWritten: boolean;
}

/** The server rounds times, and takes its own time for the creation. */
const TOLERANCE_NANOS = 60_000_000_000n;

function isNear(one: bigint | undefined, other: bigint | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  const apart = one - other;
  return apart <= TOLERANCE_NANOS && apart >= -TOLERANCE_NANOS;
}

const nanosOf = (value: Json | undefined): bigint | undefined =>
  typeof value === "string" ? timestampNanos(value) : undefined;

/** An object, or one inside it, on both sides. */
interface Level {
  readonly fields: ResourceSpec["fields"];
  readonly prefix: string;
  readonly inherited: AccessEffect | "none";
  readonly expected: Props;
  readonly live: Props;
}

/** A duration counts from the creation to the end that the server returns in its place. */
function alignDuration({ createTime, details }: LiveEntity, output: string, old: Json | undefined) {
  const span = typeof old === "string" ? durationNanos(old) : undefined;
  // Without one the end itself is compared.
  if (span === undefined) return old;
  const [start, end] = [nanosOf(createTime), nanosOf(details?.[output])];
  if (start === undefined || end === undefined) return undefined;
  return isNear(start + span, end) ? old : `${(end - start) / 1_000_000_000n}s`;
}

/** Whether a value is the server's to choose: the program sets none, or both sides have the one that follows from others. */
function isServersOwn(field: FieldSpec, key: string, { expected, live }: Level): boolean {
  if (typeof field.serverFilled !== "function") {
    return field.serverFilled === true && !isSet(field, expected[key]);
  }
  return [expected, live].every((side) => !isSet(field, side[key]) || isServerFilled(field, side, key));
}

/** Writes what is as expected of a live object in the expected spelling; all else is left as it is. */
function alignLive(spec: ResourceSpec, expected: Props, entity: LiveEntity, options: AlignmentOptions) {
  /** Of values that the review could not read, as in "name is secret". */
  const unread: string[] = [];
  /** Arguments that only a state tells, and no state was given. */
  const needsState: string[] = [];

  /** Whether a value that the review could not read is taken for the one that the object has. */
  const isTaken = (line: string, decides: boolean): boolean => {
    if (!options.mayBeWritten) return true;
    if (!decides) unread.push(line);
    return !decides;
  };

  /** Whether the server keeps the expected value in a form of its own, which only the state tells of what is no time. */
  const isRewritten = (field: FieldSpec, path: string, old: Json | undefined, now: Json | undefined) => {
    if (!field.normalized || !isSet(field, old) || !isSet(field, now)) return false;
    if (field.type === "string" && field.format === "timestamp") return isNear(nanosOf(old), nanosOf(now));
    const { recordedOutputs, declared } = entity;
    const forms = recordedOutputs?.[NORMALIZED];
    // The form is that of what the state declares, which an update that was not done leaves as it was.
    if (options.hasState)
      return isObject(forms) && forms[path] === now && equal(field, valueAt(declared, path), old);
    needsState.push(path);
    return true;
  };

  const alignField = (level: Level, key: string, field: FieldSpec): Json | undefined => {
    const [old, now, path] = [level.expected[key], level.live[key], `${level.prefix}${key}`];
    if (field.returnedAs !== undefined) return alignDuration(entity, field.returnedAs, old);
    if (field.inputOnly || field.secret || equalForDrift(field, old, now)) return old;
    const isParts = field.type === "object" && isObject(old) && isObject(now);
    const reason = isParts ? undefined : unreadReason(old);
    if (reason !== undefined && isTaken(`${path} ${reason}`, decidesAccess(field, level.inherited)))
      return old;
    if (isServersOwn(field, key, level) || isRewritten(field, path, old, now)) return old;
    if (!isParts) return now;
    const inherited = effectOf(field, level.inherited);
    return align({ fields: field.fields, prefix: `${path}.`, inherited, expected: old, live: now });
  };

  const align = (level: Level): Props => {
    const aligned = Object.entries(level.fields).map(([key, field]) => [key, alignField(level, key, field)]);
    return { ...level.live, ...(Object.fromEntries(aligned) as Props) };
  };

  const { fields } = spec;
  const inputs = align({ fields, prefix: "", inherited: "other", expected, live: entity.inputs });
  return { inputs, unread, needsState };
}

/** Whether a live object has these arguments, as far as a review has to announce them and no state is needed to tell. */
export function hasExpectedInputs(spec: ResourceSpec, expected: Props, entity: LiveEntity): boolean {
  const { inputs } = alignLive(spec, expected, entity, { hasState: false, mayBeWritten: true });
  return Object.entries(spec.fields).every(
    ([key, field]) => !mustBeAnnounced(key, field) || equal(field, expected[key], inputs[key]),
  );
}
