import { equal } from "../../fields/equal";
import type { FieldSpec } from "../../fields/fieldSpec";
import { ambiguityOf, canonicalJwks } from "../../fields/formats";
import type { ResourceSpec } from "../../fields/resourceSpec";
import { compareTexts } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { sha256 } from "../documents/digest";
import type { RecordedResource } from "../documents/engineState";
import type { Inventory } from "../documents/inventory";
import { specs } from "../documents/specs";
import { accessKinds } from "../graph/accessKinds";
import { entityOfObject } from "../graph/entities";
import { mustBeAnnounced } from "../../fields/fieldAccess";
import type { Entity } from "../graph/model";
import { ignoredAccess, mapLeaves } from "../graph/inputLeaves";
import type { DeclaredResource, ExpectedAccess, ExpectedEntity, IgnoredChanges } from "./report";
import { leavesObject } from "../review/compare";
import type { Comparison, ResourceChange } from "../review/compare";

/*
 * What a review expects to exist after the update, for its report, and what `verify` compares of it: this module makes
 * the one, and says for both which kinds and arguments they are about.
 */

/** Whether `verify` looks at a kind: every one of which an argument, besides the parent, may matter. */
export function isVerified(kind: string): boolean {
  return Object.entries(specs[kind]?.fields ?? {}).some(
    ([key, field]) => key !== "parentUid" && mustBeAnnounced(key, field),
  );
}

/** Whether the server returns an argument, itself or as the end that follows from it. */
export function isComparable(field: FieldSpec): boolean {
  return !field.inputOnly || field.returnedAs !== undefined;
}

/** The arguments that `verify` compares: what the server returns, and no change of which is harmless. */
function comparedInputs(spec: ResourceSpec, inputs: Props): Props {
  return writtenInputs(spec, inputs, (key, field) => isComparable(field) && mustBeAnnounced(key, field));
}

/** Arguments in the form in which both sides of a comparison are written: key sets may hold private keys. */
export function writtenInputs(
  spec: ResourceSpec,
  inputs: Props,
  isWanted: (key: string, field: FieldSpec) => boolean,
): Props {
  const compared = Object.entries(spec.fields)
    .filter(([key, field]) => inputs[key] !== undefined && isWanted(key, field))
    .map(([key]) => [key, inputs[key]]);
  return mapLeaves(spec, Object.fromEntries(compared) as Props, (value, { field }) => {
    if (field.type !== "string" || field.format !== "jwks" || typeof value !== "string") return value;
    const keys = ambiguityOf(value) === undefined ? canonicalJwks(value) : value;
    return keys === undefined ? value : `sha256:${sha256(keys)}`;
  });
}

/**
 * What the server set that no argument holds, without secrets. The time of the last write stands for the values that the
 * report does not show.
 */
function outputsOf(spec: ResourceSpec, { details = {}, unread = [], updateTime }: Entity): Props {
  const entries = Object.entries(details).filter(
    ([key, value]) => value !== undefined && isComparedOutput(spec, key),
  );
  const version = unread.length === 0 || updateTime === undefined ? {} : { updateTime };
  return { ...Object.fromEntries(entries), ...version };
}

/** Whether `verify` compares what the server set: outputs that are no secret, and the version that each write changes. */
export function isComparedOutput({ outputs = {} }: ResourceSpec, key: string): boolean {
  return key === "etag" || (Object.hasOwn(outputs, key) && outputs[key]?.secret !== true);
}

/** Answers whether a change leaves an entity as it is. */
function createUntouched({ changes }: Comparison): (entity: Entity) => boolean {
  const touched = new Set(
    changes
      .filter(({ op }) => op !== "same" && op !== "read")
      // A part has the uid of what it belongs to, and changes with it.
      .flatMap(({ before, after }) => [before?.key, before?.uid, after?.key, after?.uid]),
  );
  return ({ key, uid }) => !touched.has(key) && (uid === undefined || !touched.has(uid));
}

function describeEntity(spec: ResourceSpec, entity: Entity): ExpectedEntity {
  const { key, kind, uid, urn, name, builtIn, inputs, candidates } = entity;
  return { key, kind, uid, urn, name, builtIn, inputs: comparedInputs(spec, inputs), candidates };
}

/** An object after the change. Of a kind that nothing may matter of, only what the change touches is announced. */
function describeAfter(entity: Entity, isUntouched: boolean, inventory: Inventory): ExpectedEntity[] {
  const { kind } = entity;
  const spec = specs[kind];
  if (spec === undefined || (isUntouched && !isVerified(kind))) return [];
  const described = describeEntity(spec, entity);
  // What a stack recorded some time ago of a kind that the inventory does not list says nothing of what the server sets.
  const isRead = spec.listing?.onDemand !== true || inventory.kinds.includes(kind);
  const outputs = isUntouched && isRead ? outputsOf(spec, entity) : {};
  return [{ ...described, ...(Object.keys(outputs).length === 0 ? {} : { outputs }) }];
}

/** An object before the change that updates, replaces or deletes it, with all that the change sets to something else. */
function describeBefore(change: ResourceChange): ExpectedEntity[] {
  const { op, kind, before, after } = change;
  const spec = specs[kind];
  if (spec === undefined || before === undefined || op === "same" || op === "read") return [];
  // What is left at the server is expected there, as it is.
  if (leavesObject(change)) return [];
  // What needs no capability to delete cannot be taken back: its delete sends no request.
  const isPermanent = spec.capabilities?.delete.length === 0;
  if (isPermanent && op !== "update") return [];
  const described = describeEntity(spec, before);
  if (op !== "update" || after === undefined) return [described];
  const isChanged = (key: string, field: FieldSpec): boolean => {
    const [old, now] = [before.inputs[key], after.inputs[key]];
    return !field.secret && !equal(field, old, now) && !(isPermanent && isPartOf(now, old));
  };
  const changes = Object.entries(spec.fields).filter(([key, field]) => isChanged(key, field));
  const inputs = { ...described.inputs, ...writtenInputs(spec, before.inputs, isChanged) };
  return [{ ...described, inputs, changes: changes.map(([key]) => key) }];
}

/** The arguments of a program that a review announces: all that may matter, but what is a secret. */
export function declaredInputs(spec: ResourceSpec, inputs: Props): Props {
  return writtenInputs(spec, inputs, (key, field) => !field.secret && mustBeAnnounced(key, field));
}

/** What the program declares of a resource, where that is not what the server will have. */
function describeDeclared({ kind, urn, declared, after }: ResourceChange): DeclaredResource[] {
  const spec = specs[kind];
  if (spec === undefined || urn === undefined || declared === undefined || !isVerified(kind)) return [];
  const inputs = declaredInputs(spec, declared.inputs);
  const expected = comparedInputs(spec, after?.inputs ?? {});
  const isSame = Object.entries(spec.fields).every(([key, field]) =>
    equal(field, inputs[key], expected[key]),
  );
  const { candidates } = declared;
  return after !== undefined && isSame ? [] : [{ urn, kind, inputs, candidates }];
}

/** What the program does not take over of a resource: a later change of it by hand stays. */
function describeIgnored({ urn, after, ignored }: ResourceChange): IgnoredChanges[] {
  if (urn === undefined || ignored === undefined || after === undefined) return [];
  return [{ urn, paths: ignored }];
}

/**
 * Tells the paths of `ignoreChanges` of a resource that the review did not announce, where one of them names what decides access.
 */
export function createIgnoreCheck({
  ignored = [],
}: ExpectedAccess): (
  resource: Pick<RecordedResource, "kind" | "urn" | "ignoreChanges">,
) => readonly string[] {
  const announced = new Map(ignored.map(({ urn, paths }) => [urn, paths]));
  return ({ kind = "", urn, ignoreChanges }) => {
    const added = ignoreChanges.filter((path) => announced.get(urn)?.includes(path) !== true);
    return ignoredAccess(specs[kind], added).length === 0 ? [] : added;
  };
}

/** The bindings of the inventory that are no entities, since a resource owns all bindings of their group. */
function ownedBindings({ before, after }: Comparison, { objects }: Inventory): ExpectedEntity[] {
  return objects.flatMap((object) => {
    const spec = specs[object.kind];
    if (spec === undefined || accessKinds[object.kind]?.binding !== true) return [];
    const entity = entityOfObject(object);
    const isEntity = before.entities.has(entity.key) || after.entities.has(entity.key);
    return isEntity ? [] : [describeEntity(spec, entity)];
  });
}

function isPartOf(items: Json | undefined, of: Json | undefined): boolean {
  return Array.isArray(items) && Array.isArray(of) && items.every((item) => of.includes(item));
}

const byKindAndKey = (a: ExpectedEntity, b: ExpectedEntity): number =>
  compareTexts(a.kind, b.kind) || compareTexts(a.key, b.key);

/** What a review announces: what exists after the change; undefined without an inventory, which alone knows the rest. */
export function expectedAccess(comparison: Comparison): ExpectedAccess | undefined {
  const { before, after, changes, inventories } = comparison;
  const [inventory] = inventories;
  if (inventory === undefined) return undefined;
  const collectUids = (entities: Iterable<Entity>): Set<string> =>
    new Set([...entities].flatMap(({ uid }) => (uid === undefined ? [] : [uid])));
  const remaining = collectUids(after.entities.values());
  const isUntouched = createUntouched(comparison);
  const owned = ownedBindings(comparison, inventory);
  const declared = changes.flatMap(describeDeclared);
  const ignored = changes.flatMap(describeIgnored);
  return {
    root: inventory.root,
    inventoryTime: inventory.takenAt,
    kinds: inventory.kinds,
    entities: [...after.entities.values()]
      .flatMap((entity) => describeAfter(entity, isUntouched(entity), inventory))
      .sort(byKindAndKey),
    ...(owned.length === 0 ? {} : { owned: owned.sort(byKindAndKey) }),
    ...(declared.length === 0 ? {} : { declared: declared.sort((a, b) => compareTexts(a.urn, b.urn)) }),
    ...(ignored.length === 0 ? {} : { ignored: ignored.sort((a, b) => compareTexts(a.urn, b.urn)) }),
    before: changes.flatMap(describeBefore).sort(byKindAndKey),
    removed: [...collectUids(before.entities.values())].filter((uid) => !remaining.has(uid)).sort(),
  };
}
