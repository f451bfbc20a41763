import { isUid } from "../../../text/uid";
import { isObject, addTo } from "../../../fields/values";
import type { Json, Props } from "../../../fields/values";
import { isWithin } from "../../documents/inventory";
import type { Inventory } from "../../documents/inventory";
import { DocumentError } from "../../documents/jsonText";
import { objectKey } from "../../../fields/resourceSpec";
import { quoteForShell } from "../../../text/plain";
import type { Adoption } from "../program";
import { isPlatformProvider, mappingOf, mappingOfAttribute } from "./mapping";
import type { AdoptableType, AttributeMappings, LeafMapping } from "./mapping";
import { blockAddress } from "./stateFile";
import type { TerraformInstance, TerraformState } from "./stateFile";
import { printable } from "../../../text/printable";
import { equalForDrift, isSet } from "../../../fields/equal";
import type { FieldSpec } from "../../../fields/fieldSpec";
import { isServerFilled } from "../../../fields/mergeLive";
import { specs } from "../../documents/specs";

/** An attribute whose value in Terraform's state is not the live one. Values are as reports show them. */
interface AttributeDifference {
  readonly attribute: string;
  readonly terraform: string;
  readonly live: string;
}

/** An attribute that has a value in Terraform's state and no counterpart. */
interface UnmappedAttribute {
  readonly attribute: string;
  readonly reason: string;
}

/** The live arguments of the object of a kind that an instance manages; undefined if it does not exist. */
type LiveOf = (kind: string) => Props | undefined;

type Fields = Readonly<Record<string, FieldSpec>>;

function isUnset(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === "" || value === false || value === 0) return true;
  if (typeof value !== "object") return false;
  return Object.values(value).every(isUnset);
}

function show(value: Json | undefined): string {
  if (isUnset(value)) return "not set";
  return typeof value === "string"
    ? JSON.stringify(printable(value, 80))
    : printable(JSON.stringify(value), 120);
}

/** Whether another attribute has the value of the same argument: versions of the provider differ in their spelling. */
function isSetByAnother(attributes: Props, mappings: AttributeMappings, name: string): boolean {
  const { [name]: own, ...others } = mappings;
  const target = own && "to" in own ? own.to : undefined;
  return (
    target !== undefined &&
    Object.entries(others).some(
      ([other, one]) => "to" in one && one.to === target && !isUnset(attributes[other]),
    )
  );
}

/** A value of Terraform in the terms of a field: enums with their prefix, numbers as text where the field is text. */
function convertValue(
  value: Json | undefined,
  field: FieldSpec,
  convert: LeafMapping["convert"],
): Json | undefined {
  if (value === undefined || value === null) return value;
  if (convert) return convert(Array.isArray(value) ? value : [value]);
  const isName = field.type === "enum" && typeof value === "string" && value !== "";
  if (isName && !value.startsWith(field.prefix)) return `${field.prefix}${value}`;
  return field.type === "string" && typeof value === "number" ? String(value) : value;
}

/** Compares the attributes of an instance with the live object, in the terms of the kind that it becomes. */
export function compareAttributes(
  { attributes, sensitive }: TerraformInstance,
  { kind, attributes: mappings }: AdoptableType,
  liveOf: LiveOf,
): { readonly differences: readonly AttributeDifference[]; readonly unmapped: readonly UnmappedAttribute[] } {
  const differences: AttributeDifference[] = [];
  const unmapped: UnmappedAttribute[] = [];

  function compare(
    field: FieldSpec,
    wanted: Json | undefined,
    live: Json | undefined,
    path: readonly string[],
  ) {
    if (equalForDrift(field, wanted, live)) return;
    const isHidden = sensitive?.has(path[0] ?? "") !== false || field.secret === true;
    const [terraform, actual] = isHidden ? ["[secret]", "[secret]"] : [show(wanted), show(live)];
    differences.push({ attribute: path.join("."), terraform, live: actual });
  }

  function compareLeaf(
    value: Json | undefined,
    { to, kind: other, convert }: LeafMapping,
    fields: Fields,
    live: Props,
    path: readonly string[],
  ): void {
    const field = other === undefined ? fields[to] : specs[other]?.fields[to];
    const siblings = other === undefined ? live : (liveOf(other) ?? {});
    // The server has its own spelling of some values, and never returns others.
    if (field === undefined || field.secret || field.inputOnly || ("normalized" in field && field.normalized))
      return;
    const wanted = convertValue(value, field, convert);
    if (isSet(field, wanted) || !isServerFilled(field, siblings, to))
      compare(field, wanted, siblings[to], path);
  }

  function visit(
    values: Props,
    known: AttributeMappings,
    fields: Fields,
    live: Props,
    above: readonly string[],
  ): void {
    for (const [name, value] of Object.entries(values)) {
      const mapping = mappingOfAttribute(name, known, fields);
      const path = [...above, name];
      if ("isComputed" in mapping || (isUnset(value) && isSetByAnother(values, known, name))) continue;
      if ("reason" in mapping) {
        if (!isUnset(value))
          unmapped.push({ attribute: printable(path.join("."), 100), reason: mapping.reason });
      } else if ("members" in mapping) {
        const field = fields[mapping.to];
        const liveBlock = live[mapping.to];
        // Older versions of the provider keep a block as a list of one.
        const block = Array.isArray(value) && value.length <= 1 ? value[0] : value;
        if (field?.type !== "object") continue;
        if (isObject(block) && !isUnset(block))
          visit(block, mapping.members, field.fields, isObject(liveBlock) ? liveBlock : {}, path);
        else compare(field, block, liveBlock, path);
      } else compareLeaf(value, mapping, fields, live, path);
    }
  }

  visit(attributes, mappings, specs[kind]?.fields ?? {}, liveOf(kind) ?? {}, []);
  return { differences, unmapped };
}

/** The kinds of the objects that an instance manages: its own, and those of attributes that are resources here. */
function kindsOfInstance({ attributes }: TerraformInstance, mapping: AdoptableType): readonly string[] {
  const attributeKinds = Object.entries(mapping.attributes).flatMap(([name, one]) =>
    "kind" in one && one.kind !== undefined && !isUnset(attributes[name]) ? [one.kind] : [],
  );
  return [mapping.kind, ...attributeKinds];
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
interface TerraformPlan {
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
    const leave = (reason: string) => remaining.push({ address: instance.address, reason });
    if (!isWithin(uid, root)) leave(`it is not below ${root}`);
    else if (only !== undefined && !only.includes(kind) && !only.includes(uid)) leave("--only leaves it out");
    else if (objects.has(objectKey(kind, uid))) {
      mapped.push(one);
      for (const each of kindsOfInstance(instance, mapping)) {
        const key = objectKey(each, uid);
        if (objects.has(key) && !names.has(key)) names.set(key, instance.name);
      }
    } else if (isRead(inventory, kind, uid)) missing.push(one);
    else leave(`objects of the kind ${kind} were not read`);
  }
  const liveOf = (uid: string) => (kind: string) => objects.get(objectKey(kind, uid));
  return { state, mapped, missing, remaining, keys: new Set(names.keys()), names, liveOf };
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
  /** Terraform's last known value and the live one, which the program has. */
  readonly differences: readonly ({ readonly address: string } & AttributeDifference)[];
  readonly unmapped: readonly ({ readonly address: string } & UnmappedAttribute)[];
  readonly missing: readonly { readonly address: string; readonly kind: string; readonly uid: string }[];
  readonly remaining: readonly RemainingInstance[];
  readonly dataSources: readonly string[];
  readonly otherProviders: readonly { readonly provider: string; readonly resources: number }[];
  /** The addresses that Terraform is to forget. */
  readonly forget: readonly string[];
  /** The same as blocks of the configuration, for resources of which Terraform is to forget every instance. */
  readonly removedBlocks: string;
}

/** The blocks `removed` of Terraform: each applies to all instances of a resource. */
function printRemovedBlocks(instances: readonly TerraformInstance[], forget: readonly string[]): string {
  const forgotten = new Set(forget);
  const kept = new Set(
    instances.filter(({ address }) => !forgotten.has(address)).map(({ address }) => blockAddress(address)),
  );
  return [...new Set(forget.map(blockAddress))]
    .filter((from) => !kept.has(from))
    .map((from) => `removed {\n  from = ${from}\n  lifecycle {\n    destroy = false\n  }\n}\n`)
    .join("\n");
}

/** Says of each instance of a state what becomes of it. @param managers What a stack manages already. */
export function reportAdoption(
  { mapped, missing, remaining, state, liveOf }: TerraformPlan,
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
  const compared = declared.map(({ instance, mapping, uid, address }) => {
    const { differences, unmapped } = compareAttributes(instance, mapping, liveOf(uid));
    return {
      differences: differences.map((one) => ({ address, ...one })),
      unmapped: unmapped.map((one) => ({ address, ...one })),
    };
  });
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
    differences: compared.flatMap(({ differences }) => differences),
    unmapped: compared.flatMap(({ unmapped }) => unmapped),
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
    removedBlocks: printRemovedBlocks(state.instances.filter(isOwnManaged), forget),
  };
}

/** The command that makes Terraform forget instances without deleting their objects. */
export function printForgetCommand({ forget }: TerraformReport): string[] {
  return ["terraform state rm", ...forget.map((address) => `  ${quoteForShell(address)}`)].map((line, i) =>
    i === forget.length ? line : `${line} \\`,
  );
}
