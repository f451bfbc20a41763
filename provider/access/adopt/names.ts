import type { ResourceSpec } from "../../fields/resourceSpec";
import { parentUidOf } from "../../fields/wire";
import type { InventoryObject } from "../documents/inventory";
import { objectKey } from "../../fields/resourceSpec";
import type { Directory } from "../graph/directory";
import { isReference } from "../graph/references";
import { withoutTrailing } from "../../text/plain";

const MAX_LENGTH = 50;

/** An object that a program gives a name. */
interface NamedObject {
  readonly spec: ResourceSpec;
  readonly object: InventoryObject;
}

/** Lower-case words joined by dashes; empty where nothing is left. */
export function slug(text: string): string {
  const words = text
    .normalize("NFKD")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return withoutTrailing(words.join("-").slice(0, MAX_LENGTH), "-").replace(/^-/, "");
}

/** `ci-deployer` as an identifier: `ciDeployer`. */
export function camelCase(name: string): string {
  const word = name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  return /^[0-9]/.test(word) ? `_${word}` : word;
}

/** The last digits of a uid, by which people distinguish objects. */
export function uidSuffix(uid: string, digits = 6): string {
  return uid.slice(-digits);
}

const readParentUid = ({ spec, object }: NamedObject): string => parentUidOf(spec, object.uid) ?? "";

/** The words that name an object: its own name, or the names of the objects that it joins. */
function nameWords(named: NamedObject, directory: Directory): string[] {
  const { spec, object } = named;
  const { name } = object.inputs;
  if (typeof name === "string" && slug(name) !== "") return [name];
  const joined = Object.entries(spec.fields).flatMap(([key, field]) => {
    const value = object.inputs[key];
    if (field.path || !field.required || field.type !== "string" || typeof value !== "string") return [];
    if (isReference({ field })) return [directory.nameOf(value) ?? uidSuffix(value)];
    return value.length <= MAX_LENGTH ? [value.replace(/^https?:\/\//, "")] : [];
  });
  const parentName = directory.nameOf(readParentUid(named));
  return [...joined, ...(parentName === undefined ? [] : [parentName])];
}

/** A readable name for an object, not unique: `ci-deployer`, `ada-owner-payments`. */
export function resourceName(spec: ResourceSpec, object: InventoryObject, directory: Directory): string {
  const readable = nameWords({ spec, object }, directory)
    .map(slug)
    .filter((word) => word !== "");
  return readable.length === 0 ? `${slug(spec.noun)}-${uidSuffix(object.uid)}` : readable.join("-");
}

/** Ways to make a name longer, tried in this order: the parent's name, the end of the uid, the whole uid. */
function lengtheners(directory: Directory): ((named: NamedObject, name: string) => string)[] {
  return [
    (named, name) => {
      const parentName = slug(directory.nameOf(readParentUid(named)) ?? "");
      return parentName === "" || name.endsWith(`-${parentName}`) ? name : `${name}-${parentName}`;
    },
    ({ object }, name) => `${name}-${uidSuffix(object.uid)}`,
    ({ object }, name) => `${name.slice(0, -uidSuffix(object.uid).length)}${object.uid.replaceAll("/", "-")}`,
  ];
}

/**
 * Names that are unique for each kind, and as short as they can be: all objects that would share a name get a
 * longer one.
 *
 * @param usedNames keys of kind and name that resources of the stack have already.
 * @param wantedNames names by key of kind and uid, in place of those made of the objects.
 */
export function uniqueNames<T extends NamedObject>(
  objects: readonly T[],
  directory: Directory,
  usedNames: ReadonlySet<string>,
  wantedNames?: ReadonlyMap<string, string>,
): Map<T, string> {
  const firstName = ({ spec, object }: T): string =>
    wantedNames?.get(objectKey(spec.kind, object.uid)) || resourceName(spec, object, directory);
  const names = new Map(objects.map((named) => [named, firstName(named)]));
  for (const lengthen of lengtheners(directory)) {
    const counts = new Map<string, number>();
    for (const [{ spec }, name] of names) {
      const key = objectKey(spec.kind, name);
      counts.set(key, (counts.get(key) ?? (usedNames.has(key) ? 1 : 0)) + 1);
    }
    for (const [named, name] of names) {
      if ((counts.get(objectKey(named.spec.kind, name)) ?? 0) > 1) names.set(named, lengthen(named, name));
    }
  }
  return names;
}

/** The names of a program's variables: each is given once. */
export class VariableNames {
  private readonly used: Set<string>;

  constructor(reserved: readonly string[]) {
    this.used = new Set(reserved);
  }

  /** The wanted name, or that with so many digits of the uid that it is unique. */
  create(wanted: string, uid: string): string {
    const digits = uid.replaceAll("/", "");
    let name = wanted;
    for (let count = 6; this.used.has(name); count += 4) name = `${wanted}${digits.slice(-count)}`;
    this.used.add(name);
    return name;
  }
}
