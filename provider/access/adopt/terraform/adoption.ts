import { isUid } from "../../../text/uid";
import { addTo } from "../../../fields/values";
import { isWithin, listsObject } from "../../documents/inventory";
import type { Inventory } from "../../documents/inventory";
import { DocumentError } from "../../documents/jsonText";
import { objectKey } from "../../../fields/resourceSpec";
import { quoteForShell } from "../../../text/plain";
import type { Adoption } from "../program";
import { isPlatformProvider, mappingOf } from "./mapping";
import type { AdoptableType } from "./mapping";
import type { TerraformInstance, TerraformState } from "./stateFile";

/** The kinds of the objects that an instance manages: its own, and those of attributes that are resources here. */
function kindsOfInstance({ attributes }: TerraformInstance, mapping: AdoptableType): readonly string[] {
  const ofAttributes = Object.entries(mapping.attributeKinds ?? {}).flatMap(([name, kind]) =>
    attributes[name] ? [kind] : [],
  );
  return [mapping.kind, ...ofAttributes];
}

/** An instance that has a counterpart, and the uid of its object. */
interface MappedInstance {
  readonly instance: TerraformInstance;
  readonly mapping: AdoptableType;
  readonly uid: string;
}

/** An instance that Terraform goes on to manage, and why. */
interface RemainingInstance {
  readonly address: string;
  readonly reason: string;
}

/** The objects of a state that a program is to declare. */
interface TerraformSelection {
  readonly state: TerraformState;
  readonly mapped: readonly MappedInstance[];
  /** Mapped instances whose object does not exist. */
  readonly missing: readonly MappedInstance[];
  readonly remaining: readonly RemainingInstance[];
  /** What to adopt, `Role <uid>`, with a name from its address. */
  readonly names: ReadonlyMap<string, string>;
}

const isOwnManaged = ({ mode, provider }: TerraformInstance): boolean =>
  mode === "managed" && isPlatformProvider(provider);

/** The mapping and uid of an instance, or why it has none. */
function mapInstance(instance: TerraformInstance): MappedInstance | RemainingInstance {
  const { address, type, attributes, status } = instance;
  const mapping = mappingOf(type);
  const uid = attributes["id"];
  if (mapping === undefined) return { address, reason: "this version of the package does not know its type" };
  if ("reason" in mapping) return { address, reason: mapping.reason };
  if (status === "deposed") {
    return { address, reason: "it is deposed: Terraform deletes it with its next apply" };
  }
  return isUid(uid) ? { instance, mapping, uid } : { address, reason: "its id is not a uid" };
}

/** The instances of the platform's provider that have a counterpart. */
function listMapped(state: TerraformState): MappedInstance[] {
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
      if (!listed.includes(kind)) addTo(uids, kind, uid);
    }
  }
  return uids;
}

/** Matches the instances of a state with the live objects of their ids. */
export function selectFromTerraform(
  state: TerraformState,
  inventory: Inventory,
  only: readonly string[] | undefined,
): TerraformSelection {
  const objects = new Set(inventory.objects.map(({ kind, uid }) => objectKey(kind, uid)));
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
    const leave = (reason: string) => remaining.push({ address: instance.address, reason });
    if (!isWithin(uid, root)) leave(`it is not below ${root}`);
    else if (only !== undefined && !only.includes(kind) && !only.includes(uid)) leave("--only leaves it out");
    else if (objects.has(objectKey(kind, uid))) {
      mapped.push(one);
      for (const each of kindsOfInstance(instance, mapping)) {
        const key = objectKey(each, uid);
        if (objects.has(key) && !names.has(key)) names.set(key, instance.name);
      }
    } else if (listsObject(inventory, kind, uid)) missing.push(one);
    else leave(`objects of the kind ${kind} were not read`);
  }
  return { state, mapped, missing, remaining, names };
}

/** What becomes of a Terraform state: the member `terraform` of the JSON of `adopt`. */
export interface TerraformReport {
  readonly adopted: readonly {
    readonly address: string;
    readonly kind: string;
    readonly uid: string;
    /** The name of the resource in the program. */
    readonly name: string;
    readonly isTainted?: true;
  }[];
  readonly missing: readonly { readonly address: string; readonly kind: string; readonly uid: string }[];
  readonly remaining: readonly RemainingInstance[];
  readonly dataSources: readonly string[];
  readonly otherProviders: readonly { readonly provider: string; readonly resources: number }[];
  /** The addresses that Terraform is to forget. */
  readonly forget: readonly string[];
}

/** Says of each instance of a state what becomes of it. @param managers What a stack manages already. */
export function reportAdoption(
  { mapped, missing, remaining, state }: TerraformSelection,
  { resources, skipped }: Adoption,
  managers: ReadonlyMap<string, string>,
): TerraformReport {
  const names = new Map(resources.map(({ kind, uid, name }) => [objectKey(kind, uid), name]));
  const reasons = new Map(skipped.map(({ kind, uid, reason }) => [objectKey(kind, uid), reason]));
  const instances = mapped.map(({ instance, mapping, uid }) => {
    const key = objectKey(mapping.kind, uid);
    return { instance, mapping, uid, key, address: instance.address, name: names.get(key) };
  });
  const declared = instances.filter(({ name }) => name !== undefined);
  const isTaken = ({ key, name }: (typeof instances)[number]): boolean =>
    name !== undefined || managers.has(key);
  const forget = instances.filter(isTaken).map(({ address }) => address);
  const otherProviders = new Map<string, number>();
  for (const { mode, provider } of state.instances)
    if (mode === "managed" && !isPlatformProvider(provider))
      otherProviders.set(provider, (otherProviders.get(provider) ?? 0) + 1);
  return {
    adopted: declared.map(({ address, instance, mapping: { kind }, uid, name = "" }) => ({
      address,
      kind,
      uid,
      name,
      ...(instance.status === "tainted" ? { isTainted: true as const } : {}),
    })),
    missing: missing.map(({ instance: { address }, mapping: { kind }, uid }) => ({ address, kind, uid })),
    remaining: [
      ...instances
        .filter((one) => !isTaken(one))
        .map(({ address, key }) => ({ address, reason: reasons.get(key) ?? "it is not declared" })),
      ...remaining,
    ],
    dataSources: state.instances.filter(({ mode }) => mode === "data").map(({ address }) => address),
    otherProviders: [...otherProviders].map(([provider, count]) => ({ provider, resources: count })),
    forget,
  };
}

/** The command that makes Terraform forget instances without deleting their objects. */
export function printForgetCommand({ forget }: TerraformReport): string[] {
  return ["terraform state rm", ...forget.map((address) => `  ${quoteForShell(address)}`)].map((line, i) =>
    i === forget.length ? line : `${line} \\`,
  );
}
