import { parentOf } from "../../text/uid";
import { aggregatedKind, objectKey } from "../../fields/resourceSpec";
import type { ResourceSpec } from "../../fields/resourceSpec";
import { compareTexts, isObject } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { kinds } from "../../kinds";
import type { Inventory, InventoryObject } from "../documents/inventory";
import { specs } from "../documents/specs";
import type { Directory } from "../graph/directory";
import { checkInputs } from "../../fields/check";
import type { FieldSpec } from "../../fields/fieldSpec";
import { declaredFields } from "../../fields/mergeLive";

/** A secret that the server has and never returns. */
interface MissingSecret {
  /** `oidc.clientSecret` */
  readonly path: string;
}

/** What a program declares for an object that exists. */
export interface Declaration {
  readonly inputs: Props;
  readonly secrets: readonly MissingSecret[];
}

/** Why an object cannot be declared, in words. */
interface NotAdoptable {
  readonly reason: string;
}

/** The inputs without the member at a path. */
function withoutMember(inputs: Props, path: readonly string[]): Props {
  const [key = "", ...rest] = path;
  const { [key]: member, ...others } = inputs;
  return rest.length === 0 || !isObject(member) ? others : { ...others, [key]: withoutMember(member, rest) };
}

/** Inputs with another value at a path. */
export function withMember(inputs: Props, path: readonly string[], value: Json): Props {
  const [key = "", ...rest] = path;
  const member = inputs[key];
  return {
    ...inputs,
    [key]: rest.length === 0 ? value : withMember(isObject(member) ? member : {}, rest, value),
  };
}

/** The paths of the secrets that the server never returns. */
function listSecretPaths(fields: Readonly<Record<string, FieldSpec>>, path: readonly string[]): string[][] {
  return Object.entries(fields).flatMap(([key, field]): string[][] => {
    if (field.secret && field.inputOnly) return [[...path, key]];
    return field.type === "object" ? listSecretPaths(field.fields, [...path, key]) : [];
  });
}

/**
 * The arguments with which a program declares an object as it is, or why it cannot.
 *
 * @param now milliseconds since the epoch: a time that has passed cannot be declared.
 */
export function declareObject(
  spec: ResourceSpec,
  object: InventoryObject,
  now: number,
): Declaration | NotAdoptable {
  if (object.builtIn) return { reason: "it is built in, and never changes" };
  const createOnly = Object.entries(spec.outputs ?? {}).filter(([, field]) => field.createOnly);
  if (createOnly.length > 0) {
    return {
      reason: `its ${createOnly.map(([key]) => key).join(", ")} is returned only at creation`,
    };
  }
  if (aggregatedKind(spec) !== undefined) return { reason: "its members are declared one by one" };
  let inputs = declaredFields(spec.fields, object.inputs);
  const problems = () => checkInputs(spec, inputs, { olds: {}, now });
  let secrets: MissingSecret[] = [];
  for (const { property } of problems()) {
    const path = property.split(".");
    // A time in the past cannot be declared; where the server fills it in, the program leaves it out.
    if (isFilledByServer(spec.fields, path)) inputs = withoutMember(inputs, path);
  }
  if (problems().length > 0) {
    // An object that is valid with a secret only has one on the server.
    const paths = listSecretPaths(spec.fields, []);
    const filled = paths.reduce((all, path) => withMember(all, path, "secret"), inputs);
    if (paths.length > 0 && checkInputs(spec, filled, { olds: {}, now }).length === 0) {
      secrets = paths.map((path) => ({ path: path.join(".") }));
      return { inputs, secrets };
    }
  }
  const [problem] = problems();
  if (problem === undefined) return { inputs, secrets };
  return { reason: `${problem.property} ${problem.reason}`.trim() };
}

/** Whether the server fills the field at a path when a program does not set it. */
function isFilledByServer(fields: Readonly<Record<string, FieldSpec>>, path: readonly string[]): boolean {
  const [key = "", ...rest] = path;
  const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
  if (field === undefined) return false;
  if (rest.length === 0) return field.serverFilled === true;
  return field.type === "object" && isFilledByServer(field.fields, rest);
}

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
  if (owner !== undefined)
    return `the ${collectionKind} of ${owner} owns all of its group: if it is not there, add it`;
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
    const spec = specs[kind];
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
