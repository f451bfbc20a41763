import { generateProgram } from "../../provider/access/adopt/program";
import type { Inventory, InventoryObject } from "../../provider/access/documents/inventory";
import { specs } from "../../provider/access/documents/specs";
import type { Props } from "../../provider/engine/description";
import { randomOf } from "../../scripts/lib/random.cjs";
import { withUids } from "./byHand";
import { memberAt, ownOf, propertyPathOf, samples, surroundings, withMember } from "./samples";

/* Random changes of an organisation, as the documents that the Pulumi CLI writes. */

/** One resource of a program. */
export interface ProgramResource {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly inputs: Props;
}

/** What a program declares before and after a change. */
export interface RandomChange {
  readonly before: readonly ProgramResource[];
  readonly after: readonly ProgramResource[];
}

/** The names that samples refer to, each with the uid of some object of its kind. */
export function sampleUids(inventory: Inventory, pick: <T>(items: readonly T[]) => T | undefined) {
  const kinds = [
    ...Object.entries(surroundings).map(([name, { kind }]) => [name, kind] as const),
    ...samples.map(({ label, kind }) => [label, kind] as const),
    ...samples.flatMap(({ label, own }) => (own ? [[ownOf(label), own.kind] as const] : [])),
  ];
  return Object.fromEntries(
    kinds.map(([name, kind]) => {
      const found = pick(inventory.objects.filter((object) => object.kind === kind));
      return [name, found?.uid ?? inventory.root];
    }),
  );
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
    const field = pick(fields.filter((each) => memberAt(inputs, propertyPathOf(each)) !== undefined));
    if (field === undefined) return [resource];
    const to = withUids(field.to, ids);
    return [{ ...resource, inputs: withMember(inputs, propertyPathOf(field), to) as Props }];
  });
  const created: ProgramResource[] = [];
  for (const { label, kind, args } of samples) {
    if (random() < 0.7) continue;
    const own = { ...ids, own: ids[ownOf(label)] ?? inventory.root };
    const inputs = withUids(args, own) as Props;
    const parent = typeof inputs["parentUid"] === "string" ? inputs["parentUid"] : inventory.root;
    const digits = Math.floor(random() * 2 ** 48).toString(16);
    const uid = specs[kind]?.sharesParentUid === true ? parent : `${parent}/${digits.padStart(16, "0")}`;
    const resource = { kind, name: `new-${label}`, uid, inputs };
    if (![...inventory.objects, ...before, ...created].some((other) => areOneObject(other, resource))) {
      created.push(resource);
    }
  }
  return { before, after: [...after, ...created] };
}

const STACK = "prod";

function row({ kind, name, uid, inputs }: ProgramResource, isNew = false) {
  const type = `pulumi-nodejs:dynamic/platform:${kind}`;
  const held = { __provider: `exports.handler=()=>require("pulumi-platform/dynamic").${kind}`, ...inputs };
  const urn = `urn:pulumi:${STACK}::acme::${type}::${name}`;
  return { urn, type, custom: true, ...(isNew ? {} : { id: uid, outputs: held }), inputs: held };
}

/** What `pulumi stack export` writes. */
export const exportText = (resources: readonly ProgramResource[]): string =>
  JSON.stringify({ version: 3, deployment: { resources: resources.map((resource) => row(resource)) } });

/** What `pulumi preview --json --show-sames` writes. */
export function previewText({ before, after }: RandomChange): string {
  const changeSummary: Record<string, number> = {};
  const uids = [...new Set([...before, ...after].map(({ uid, kind }) => `${kind} ${uid}`))];
  const find = (resources: readonly ProgramResource[], key: string) =>
    resources.find(({ uid, kind }) => `${kind} ${uid}` === key);
  const steps = uids.map((key) => {
    const [old, now] = [find(before, key), find(after, key)];
    const isSame = JSON.stringify(old?.inputs) === JSON.stringify(now?.inputs);
    const op = old === undefined ? "create" : now === undefined ? "delete" : isSame ? "same" : "update";
    changeSummary[op] = (changeSummary[op] ?? 0) + 1;
    const [oldState, newState] = [old && row(old), now && row(now, old === undefined)];
    return { op, urn: (newState ?? oldState)?.urn, oldState, newState };
  });
  return JSON.stringify({ steps, changeSummary, duration: 1 });
}

/** What lives where a program declares a resource: of all bindings of a group, each. */
function liveObjects({ kind, uid, inputs }: ProgramResource): InventoryObject[] {
  if (kind !== "GroupAccess") return [{ kind, uid, inputs }];
  return Object.values(inputs["bindings"] as Record<string, Props>).map((binding, i) => ({
    kind: "RoleBinding",
    uid: `${uid}/${(i + 1).toString(16).padStart(16, "0")}`,
    inputs: { parentUid: uid, ...binding },
  }));
}

/** The live organisation once these resources are what its program makes; what no program declares stays. */
export function inventoryAfter(inventory: Inventory, { before, after }: RandomChange): Inventory {
  const key = ({ kind, uid }: Pick<InventoryObject, "kind" | "uid">): string => `${kind} ${uid}`;
  const managed = new Set(before.map(key));
  const unmanaged = inventory.objects.filter((object) => !managed.has(key(object)));
  const live = after.flatMap(liveObjects).filter(({ kind }) => inventory.kinds.includes(kind));
  return { ...inventory, objects: [...unmanaged, ...live] };
}
