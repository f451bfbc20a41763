import { isUid } from "../../../text/uid";
import type { Props } from "../../../fields/values";
import type { Inventory } from "../../documents/inventory";
import { DocumentError } from "../../documents/jsonText";
import { objectKey } from "../../graph/directory";
import { nameFromAddress } from "./address";
import { kindsOfInstance } from "./compareAttributes";
import { isPlatformProvider, mappingOf } from "./mapping";
import type { AdoptableType } from "./mapping";
import type { TerraformInstance, TerraformState } from "./stateFile";

/** An instance that has a counterpart, and the uid of its object. */
export interface MappedInstance {
  readonly instance: TerraformInstance;
  readonly mapping: AdoptableType;
  readonly uid: string;
}

/** An instance that Terraform goes on to manage, and why. */
export interface RemainingInstance {
  readonly address: string;
  readonly reason: string;
}

/** The objects of a state that a program is to declare. */
export interface TerraformPlan {
  readonly state: TerraformState;
  readonly mapped: readonly MappedInstance[];
  /** Mapped instances whose object does not exist. */
  readonly missing: readonly MappedInstance[];
  readonly remaining: readonly RemainingInstance[];
  /** What to adopt: `Role <uid>`. */
  readonly keys: ReadonlySet<string>;
  /** Names by these keys, from the addresses. */
  readonly names: ReadonlyMap<string, string>;
  readonly liveOf: (uid: string) => (kind: string) => Props | undefined;
}

export const isOwnManaged = ({ address, provider }: TerraformInstance): boolean =>
  address.mode === "managed" && isPlatformProvider(provider);

/** The mapping and uid of an instance, or why it has none. */
function mapInstance(instance: TerraformInstance): MappedInstance | RemainingInstance {
  const { path: address, attributes, status } = instance;
  const mapping = mappingOf(instance.address.type);
  const uid = attributes["id"];
  if (mapping === undefined) return { address, reason: "this version of the package does not know its type" };
  if ("reason" in mapping) return { address, reason: mapping.reason };
  if (status === "deposed") {
    return { address, reason: "it is deposed: Terraform deletes it with its next apply" };
  }
  return isUid(uid) ? { instance, mapping, uid } : { address, reason: "its id is not a uid" };
}

/** The instances of the platform's provider that have a counterpart. */
export function listMapped(state: TerraformState): MappedInstance[] {
  return state.instances
    .filter(isOwnManaged)
    .map(mapInstance)
    .filter((one) => "uid" in one);
}

/** The organisation that a state manages. @throws DocumentError where there is none, or more than one. */
export function findRoot(state: TerraformState): string {
  const roots = new Set(listMapped(state).map(({ uid }) => uid.slice(0, 40)));
  const [root] = roots;
  if (root === undefined) {
    throw new DocumentError(
      "PP6008",
      `${state.name} manages nothing of the platform that a program can declare`,
    );
  }
  if (roots.size > 1) {
    const shown = [...roots].slice(0, 5).join(", ");
    throw new DocumentError(
      "PP6008",
      `${state.name} manages objects of ${roots.size} organisations: give one of them with --root (${shown})`,
    );
  }
  return root;
}

/** The objects of kinds without a list request, by kind. */
export function uidsByKind(state: TerraformState, listed: readonly string[]): Map<string, string[]> {
  const uids = new Map<string, string[]>();
  for (const { instance, mapping, uid } of listMapped(state)) {
    for (const kind of kindsOfInstance(instance, mapping)) {
      if (!listed.includes(kind)) uids.set(kind, [...(uids.get(kind) ?? []), uid]);
    }
  }
  return uids;
}

/** Whether an inventory would contain an object if it existed. */
function isRead({ kinds, asked, refused }: Inventory, kind: string, uid: string): boolean {
  if (refused.some((list) => list.kind === kind)) return false;
  return kinds.includes(kind) || (asked?.some((one) => one.kind === kind && one.uid === uid) ?? false);
}

/** Matches the instances of a state with the live objects of their ids. */
export function planAdoption(
  state: TerraformState,
  inventory: Inventory,
  only: readonly string[] | undefined,
): TerraformPlan {
  const objects = new Map(inventory.objects.map((one) => [objectKey(one.kind, one.uid), one.inputs]));
  const mapped: MappedInstance[] = [];
  const missing: MappedInstance[] = [];
  const remaining: RemainingInstance[] = [];
  const names = new Map<string, string>();
  const { root } = inventory;
  for (const one of state.instances.filter(isOwnManaged).map(mapInstance)) {
    if ("reason" in one) {
      remaining.push(one);
      continue;
    }
    const { instance, mapping, uid } = one;
    const { kind } = mapping;
    const leave = (reason: string) => remaining.push({ address: instance.path, reason });
    if (uid !== root && !uid.startsWith(`${root}/`)) leave(`it is not below ${root}`);
    else if (only !== undefined && !only.includes(kind) && !only.includes(uid)) leave("--only leaves it out");
    else if (objects.has(objectKey(kind, uid))) {
      mapped.push(one);
      for (const each of kindsOfInstance(instance, mapping)) {
        const key = objectKey(each, uid);
        if (objects.has(key) && !names.has(key)) names.set(key, nameFromAddress(instance.address));
      }
    } else if (isRead(inventory, kind, uid)) missing.push(one);
    else leave(`objects of the kind ${kind} were not read`);
  }
  const liveOf = (uid: string) => (kind: string) => objects.get(objectKey(kind, uid));
  return { state, mapped, missing, remaining, keys: new Set(names.keys()), names, liveOf };
}
