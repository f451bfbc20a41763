import type { Props, ResourceSpec } from "../../engine/description";
import { canonicalJwks, compareTexts } from "../../engine/values/values";
import { sha256 } from "../documents/digest";
import { accessKinds } from "../graph/accessKinds";
import type { Entity } from "../graph/model";
import type { Comparison } from "../review/comparison";
import { mapLeaves } from "../graph/references";
import { specs } from "../documents/specs";
import type { ExpectedAccess, ExpectedEntity } from "./report";

/** Whether `verify` looks at a kind: one that has to do with access, or gives access without a grant. */
export function isVerified(kind: string): boolean {
  return accessKinds[kind] !== undefined || specs[kind]?.grantsAccess !== undefined;
}

/** Arguments in the form in which both sides of a verification compare them: key sets may hold private keys. */
export function comparableInputs(spec: ResourceSpec, inputs: Props): Props {
  const kept = Object.entries(inputs).filter(([key]) => key !== "description");
  return mapLeaves(spec, Object.fromEntries(kept), (value, { field }) => {
    if (field.type !== "string" || field.format !== "jwks" || typeof value !== "string") return value;
    const keys = canonicalJwks(value);
    return keys === undefined ? value : `sha256:${sha256(keys)}`;
  });
}

function describeEntity({ key, kind, uid, urn, name, builtIn, inputs }: Entity): ExpectedEntity[] {
  const spec = specs[kind];
  if (spec === undefined || !isVerified(kind)) return [];
  return [
    {
      key,
      kind,
      ...(uid === undefined ? {} : { uid }),
      ...(urn === undefined ? {} : { urn }),
      ...(name === undefined ? {} : { name }),
      ...(builtIn ? { builtIn } : {}),
      inputs: comparableInputs(spec, inputs),
    },
  ];
}

/** What a comparison expects to exist afterwards; undefined without an inventory, which alone knows the rest. */
export function expectedAccess({ before, after, inventory }: Comparison): ExpectedAccess | undefined {
  if (inventory === undefined) return undefined;
  const collectUids = (entities: Iterable<Entity>): Set<string> =>
    new Set([...entities].flatMap(({ uid }) => (uid === undefined ? [] : [uid])));
  const remaining = collectUids(after.entities.values());
  return {
    root: inventory.root,
    inventoryTime: inventory.takenAt,
    entities: [...after.entities.values()]
      .flatMap(describeEntity)
      .sort((a, b) => compareTexts(a.kind, b.kind) || compareTexts(a.key, b.key)),
    removed: [...collectUids(before.entities.values())].filter((uid) => !remaining.has(uid)).sort(),
  };
}
