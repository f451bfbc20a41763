import { generateProgram } from "../../provider/access/adopt/program";
import type { Inventory, InventoryObject } from "../../provider/access/documents/inventory";
import { specs } from "../../provider/access/documents/specs";
import type { Props } from "../../provider/fields/values";
import { handlersFor } from "../../provider/lifecycle/handlers";
import type { Emulator } from "../../emulator";
import { pairsOf, previewText } from "../../scripts/lib/documents.cjs";
import { randomOf } from "../../scripts/lib/random.cjs";
import { specOf } from "../provider/support/samples";
import { lacksOtherProof, withUids } from "./byHand";
import { clientOf } from "./driftMatrix";
import { memberAt, ownOf, propertyPathOf, samples, surroundings, withMember } from "./samples";

/* Random changes of an organisation, as the documents that the Pulumi CLI writes. */

/** One resource of a program. */
export interface ProgramResource {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly inputs: Props;
  /** What the provider returned to the engine. */
  readonly outputs?: Props;
}

/** What a program declares before and after a change. */
export interface RandomChange {
  readonly before: readonly ProgramResource[];
  readonly after: readonly ProgramResource[];
}

/** The names that samples refer to, each with the uid of some object of its kind; a root group is the organisation's. */
export function sampleUids(inventory: Inventory, pick: <T>(items: readonly T[]) => T | undefined) {
  const uidOf = (kind: string): string =>
    pick(inventory.objects.filter((object) => object.kind === kind))?.uid ?? inventory.root;
  const ids = [
    ...Object.entries(surroundings).map(([name, { kind }]) => [name, uidOf(kind)] as const),
    ...samples.map(({ label, kind }) => [label, uidOf(kind)] as const),
    ...samples.flatMap(({ label, own }) => {
      if (own === undefined) return [];
      const isRoot = own.kind === "Group" && own.args["parentUid"] === undefined;
      return [[ownOf(label), isRoot ? inventory.root : uidOf(own.kind)] as const];
    }),
  ];
  return Object.fromEntries(ids);
}

/** The resources of the program that `adopt` writes for an organisation. */
export function programResources(inventory: Inventory): ProgramResource[] {
  const { resources } = generateProgram({ inventory });
  return resources.map(({ kind, name, uid, inputs }) => ({ kind, name, uid, inputs: inputs }));
}

/** The kinds of which one owns what the other is, at a group. */
const OWNERS = ["GroupAccess", "RoleBinding"];

/** Whether a program cannot have both: they are one object, or own the same bindings. */
function areOneObject(
  one: Pick<InventoryObject, "kind" | "uid" | "inputs">,
  other: ProgramResource,
): boolean {
  if (one.kind === other.kind) return one.uid === other.uid;
  const kinds = [one.kind, other.kind];
  return (
    OWNERS.every((kind) => kinds.includes(kind)) && one.inputs["parentUid"] === other.inputs["parentUid"]
  );
}

/** Creates, updates and deletes in the program of an organisation. The same seed gives the same change. */
export function randomChange(inventory: Inventory, seed: number): RandomChange {
  const random = randomOf(seed);
  const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
  const ids = sampleUids(inventory, pick);
  const before = programResources(inventory);
  const after: ProgramResource[] = before.flatMap((resource) => {
    const { kind, uid, inputs } = resource;
    if (random() < 0.6) return [resource];
    const users = [ids, ...before.filter((other) => other !== resource)];
    const isUsed = users.some((user) => JSON.stringify(user).includes(uid));
    if (!isUsed && random() < 0.4) return [];
    const fields = samples.filter((sample) => sample.kind === kind).flatMap((sample) => sample.fields);
    const isChangeable = (property: string): boolean =>
      memberAt(inputs, property) !== undefined && !lacksOtherProof(inputs, property);
    const field = pick(fields.filter((each) => isChangeable(propertyPathOf(each))));
    if (field === undefined) return [resource];
    const to = withUids(field.to, ids);
    return [{ ...resource, inputs: withMember(inputs, propertyPathOf(field), to) as Props }];
  });
  const created: ProgramResource[] = [];
  for (const { label, kind, args } of samples) {
    if (random() < 0.7) continue;
    const own = { ...ids, own: ids[ownOf(label)] ?? inventory.root };
    const inputs = withUids(args, own) as Props;
    // The server takes no other scope than the root.
    if ("scope" in inputs) inputs["scope"] = inventory.root;
    const parent = typeof inputs["parentUid"] === "string" ? inputs["parentUid"] : inventory.root;
    const digits = Math.floor(random() * 2 ** 48).toString(16);
    const uid = specs[kind]?.sharesParentUid === true ? parent : `${parent}/${digits.padStart(16, "0")}`;
    const resource = { kind, name: `new-${label}`, uid, inputs };
    const all = [...inventory.objects, ...before, ...created];
    // Another root group lies outside of the inventory.
    if (inputs["parentUid"] !== undefined && !all.some((other) => areOneObject(other, resource)))
      created.push(resource);
  }
  return { before, after: [...after, ...created] };
}

/** What `pulumi preview --json --show-sames` writes of a change. */
export const previewOf = ({ before, after }: RandomChange): string => previewText(pairsOf(before, after));

/**
 * Carries out a change at a server as the engine does, and answers what the program then manages: with the uids that the
 * server gave. What no program declares stays.
 */
export async function carryOut(
  emulator: Emulator,
  { before, after }: RandomChange,
): Promise<ProgramResource[]> {
  const client = clientOf(emulator);
  const context = { client: () => client, now: Date.now, sleep: () => Promise.resolve() };
  const pairs = pairsOf(before, after);
  const managed: ProgramResource[] = [];
  for (const [old, now] of pairs) {
    if (now === undefined) continue;
    const handlers = handlersFor(specOf(now.kind), context);
    if (old === undefined) {
      const { id, outs } = await handlers.create(now.inputs);
      managed.push({ ...now, uid: id, outputs: outs });
    } else {
      const outputs = old === now ? undefined : await handlers.update(old.uid, old.inputs, now.inputs);
      managed.push(outputs === undefined ? now : { ...now, outputs });
    }
  }
  // The engine deletes last, and what lies in another before that.
  for (const [old, now] of pairs.reverse()) {
    if (old && !now) await handlersFor(specOf(old.kind), context).delete(old.uid, old.inputs);
  }
  return managed;
}
