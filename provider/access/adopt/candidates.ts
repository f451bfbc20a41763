import { parentOf } from "../../text/uid";
import { aggregatedKind } from "../../fields/resourceSpec";
import type { ResourceSpec } from "../../fields/resourceSpec";
import { compareTexts } from "../../fields/values";
import type { Props } from "../../fields/values";
import { kinds } from "../../kinds";
import type { Inventory, InventoryObject } from "../documents/inventory";
import { specOf } from "../graph/directory";
import { objectKey } from "../../fields/identity";
import type { Directory } from "../graph/directory";
import { declareObject } from "./adoptable";

/** Which objects of an inventory to adopt. */
export interface CandidateRequest {
  readonly inventory: Inventory;
  /** Kinds and uids; by default everything but the organisation itself. */
  readonly only?: readonly string[];
  /** Nothing but these objects: `Role <uid>`. */
  readonly keys?: ReadonlySet<string>;
  /** Objects that a stack manages already, and which: `Role <uid>`. */
  readonly managers?: ReadonlyMap<string, string>;
}

/** An object that the program declares. */
export interface Candidate {
  readonly spec: ResourceSpec;
  readonly object: InventoryObject;
  readonly inputs: Props;
  readonly secretPaths: readonly string[];
}

/** An object that the program does not declare, and why. */
export interface SkippedObject {
  readonly kind: string;
  readonly uid: string;
  readonly name: string;
  readonly reason: string;
}

const orderOfKind: ReadonlyMap<string, number> = new Map(kinds.map(({ spec }, i) => [spec.kind, i]));

/** Parents before children, kinds in the order of the package's list. */
function compareCandidates(a: Candidate, b: Candidate): number {
  return (
    (orderOfKind.get(a.spec.kind) ?? 0) - (orderOfKind.get(b.spec.kind) ?? 0) ||
    a.object.uid.split("/").length - b.object.uid.split("/").length ||
    compareTexts(a.object.uid, b.object.uid)
  );
}

const compareSkipped = (a: SkippedObject, b: SkippedObject): number =>
  compareTexts(a.kind, b.kind) || compareTexts(a.name, b.name) || compareTexts(a.uid, b.uid);

/** The kind that owns all objects of a kind at a group. */
function collectionKindOf(kind: string): string | undefined {
  return kinds.find(({ spec }) => aggregatedKind(spec) === kind)?.spec.kind;
}

/** Why an object is not declared whatever its arguments are; undefined where it may be. */
function skipReason(
  { inventory, only, keys, managers }: CandidateRequest,
  spec: ResourceSpec,
  { kind, uid }: InventoryObject,
): string | undefined {
  const collectionKind = collectionKindOf(kind);
  const manager = managers?.get(objectKey(kind, uid));
  if (manager !== undefined) return `${manager} manages it already`;
  const owner = collectionKind && managers?.get(objectKey(collectionKind, parentOf(uid) ?? ""));
  if (owner !== undefined) return `the ${collectionKind} of ${owner} owns all of its group: add it there`;
  const isNamed = only?.includes(uid) === true || keys?.has(objectKey(kind, uid)) === true;
  if (uid === inventory.root && !spec.sharesParentUid && !isNamed) {
    return "it is the organisation itself: name its uid with --only if the program is to manage it too";
  }
  return undefined;
}

/** Selects the objects to declare, in the order of the program. */
export function selectCandidates(
  request: CandidateRequest,
  directory: Directory,
): { readonly candidates: readonly Candidate[]; readonly skipped: readonly SkippedObject[] } {
  const { inventory } = request;
  const now = Date.parse(inventory.takenAt);
  const only = request.only && new Set(request.only);
  const candidates: Candidate[] = [];
  const skipped: SkippedObject[] = [];
  for (const object of inventory.objects) {
    const { kind, uid, builtIn } = object;
    const spec = specOf(kind);
    if (spec === undefined || builtIn) continue;
    if (only && !only.has(kind) && !only.has(uid)) continue;
    if (request.keys && !request.keys.has(objectKey(kind, uid))) continue;
    const reason = skipReason(request, spec, object);
    const declared = reason === undefined ? declareObject(spec, object, now) : { reason };
    if ("reason" in declared) {
      const name = directory.describe(spec, uid, object.inputs);
      skipped.push({ kind, uid, name, reason: declared.reason });
    } else {
      const secretPaths = declared.secrets.map(({ path }) => path);
      candidates.push({ spec, object, inputs: declared.inputs, secretPaths });
    }
  }
  return { candidates: candidates.sort(compareCandidates), skipped: skipped.sort(compareSkipped) };
}
