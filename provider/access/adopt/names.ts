import { parentOf } from "../../api/uid";
import type { ResourceSpec } from "../../engine/spec";
import type { Directory } from "../graph/directory";
import type { InventoryObject } from "../documents/inventory";

const MAX_LENGTH = 50;

/** Lower-case words joined by dashes; empty where nothing is left. */
export function slug(text: string): string {
  return text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_LENGTH)
    .replace(/^-+|-+$/g, "");
}

/** The last digits of a uid, by which people tell objects apart. */
export function uidSuffix(uid: string, digits = 6): string {
  return uid.slice(-digits);
}

/** The words that name an object: its own name, or what it joins. */
function nameWords(spec: ResourceSpec, object: InventoryObject, directory: Directory): string[] {
  const { name } = object.inputs;
  if (typeof name === "string" && slug(name) !== "") return [name];
  const parent = spec.sharesParentUid ? object.uid : (parentOf(object.uid) ?? "");
  const joined = Object.entries(spec.fields).flatMap(([key, field]) => {
    const value = object.inputs[key];
    if (field.path || !field.required || field.type !== "string" || typeof value !== "string") return [];
    if (field.format === "uid" || field.format === "groupUid")
      return [directory.nameOf(value) ?? uidSuffix(value)];
    return value.length <= MAX_LENGTH ? [value.replace(/^https?:\/\//, "")] : [];
  });
  const at = directory.nameOf(parent);
  return [...joined, ...(at === undefined ? [] : [at])];
}

/** A readable name for an object, not unique: `ci-deployer`, `ada-owner-payments`. */
export function resourceName(spec: ResourceSpec, object: InventoryObject, directory: Directory): string {
  const readable = nameWords(spec, object, directory)
    .map(slug)
    .filter((word) => word !== "");
  return readable.length === 0 ? `${slug(spec.noun)}-${uidSuffix(object.uid)}` : readable.join("-");
}
