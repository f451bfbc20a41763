import type { Props, ResourceSpec } from "../../engine/description";
import { canonicalJwks, compareTexts } from "../../engine/values/values";
import { sha256 } from "../documents/digest";
import type { Inventory } from "../documents/inventory";
import { mustBeAnnounced } from "../graph/fieldAccess";
import type { Entity } from "../graph/model";
import type { Comparison } from "../review/comparison";
import { mapLeaves } from "../graph/references";
import { specs } from "../documents/specs";
import type { ExpectedAccess, ExpectedEntity } from "./report";

/** Whether `verify` looks at a kind: every one of which an argument, besides the parent, may matter. */
export function isVerified(kind: string): boolean {
  return Object.entries(specs[kind]?.fields ?? {}).some(
    ([key, field]) => key !== "parentUid" && mustBeAnnounced(key, field),
  );
}

/** The arguments that `verify` compares, in the form in which both sides are written: key sets may hold private keys. */
export function comparableInputs(spec: ResourceSpec, inputs: Props): Props {
  const compared = Object.entries(spec.fields)
    .filter(([key, field]) => inputs[key] !== undefined && mustBeAnnounced(key, field))
    .filter(([, field]) => !field.inputOnly || field.returnedAs !== undefined)
    .map(([key]) => [key, inputs[key]]);
  return mapLeaves(spec, Object.fromEntries(compared) as Props, (value, { field }) => {
    if (field.type !== "string" || field.format !== "jwks" || typeof value !== "string") return value;
    const keys = canonicalJwks(value);
    return keys === undefined ? value : `sha256:${sha256(keys)}`;
  });
}

/** What the server set that no argument holds, without secrets. */
function outputsOf(spec: ResourceSpec, { details = {} }: Entity): Props {
  const entries = Object.entries(details).filter(
    ([key, value]) => value !== undefined && isComparedOutput(spec, key),
  );
  return Object.fromEntries(entries);
}

/** Whether `verify` compares what the server set: outputs that are no secret, and the version that each write changes. */
export function isComparedOutput({ outputs = {} }: ResourceSpec, key: string): boolean {
  return key === "etag" || (Object.hasOwn(outputs, key) && outputs[key]?.secret !== true);
}

/** The entities that a change leaves as they are. */
class UntouchedEntities {
  private readonly touched: ReadonlySet<string>;

  constructor({ changes }: Comparison) {
    this.touched = new Set(
      changes
        .filter(({ op }) => op !== "same" && op !== "read")
        // A part has the uid of what it belongs to, and changes with it.
        .flatMap(({ before, after }) => [before?.key, before?.uid, after?.key, after?.uid])
        .filter((key) => key !== undefined),
    );
  }

  has({ key, uid }: Entity): boolean {
    return !this.touched.has(key) && (uid === undefined || !this.touched.has(uid));
  }
}

/** Whether nothing is known of an object but what a stack recorded some time ago: no inventory lists its kind unasked. */
function isOnlyRecorded(kind: string, { kinds }: Inventory): boolean {
  return specs[kind]?.listing?.onDemand === true && !kinds.includes(kind);
}

function describeEntity(entity: Entity, isUntouched: boolean): ExpectedEntity[] {
  const { key, kind, uid, urn, name, builtIn, inputs } = entity;
  const spec = specs[kind];
  if (spec === undefined || !isVerified(kind)) return [];
  const outputs = isUntouched ? outputsOf(spec, entity) : {};
  return [
    {
      key,
      kind,
      ...(uid === undefined ? {} : { uid }),
      ...(urn === undefined ? {} : { urn }),
      ...(name === undefined ? {} : { name }),
      ...(builtIn ? { builtIn } : {}),
      inputs: comparableInputs(spec, inputs),
      ...(Object.keys(outputs).length === 0 ? {} : { outputs }),
    },
  ];
}

/** What a comparison expects to exist afterwards; undefined without an inventory, which alone knows the rest. */
export function expectedAccess(comparison: Comparison): ExpectedAccess | undefined {
  const { before, after, inventory } = comparison;
  if (inventory === undefined) return undefined;
  const collectUids = (entities: Iterable<Entity>): Set<string> =>
    new Set([...entities].flatMap(({ uid }) => (uid === undefined ? [] : [uid])));
  const remaining = collectUids(after.entities.values());
  const untouched = new UntouchedEntities(comparison);
  return {
    root: inventory.root,
    inventoryTime: inventory.takenAt,
    kinds: inventory.kinds,
    entities: [...after.entities.values()]
      .filter((entity) => !(isOnlyRecorded(entity.kind, inventory) && untouched.has(entity)))
      .flatMap((entity) => describeEntity(entity, untouched.has(entity)))
      .sort((a, b) => compareTexts(a.kind, b.kind) || compareTexts(a.key, b.key)),
    removed: [...collectUids(before.entities.values())].filter((uid) => !remaining.has(uid)).sort(),
  };
}
