import { parentOf } from "../../text/uid";
import { objectKey } from "../../fields/resourceSpec";
import type { ResourceSpec } from "../../fields/resourceSpec";
import { UNSEEN, printable } from "../../text/printable";
import { groupPath } from "./groupHierarchy";
import { readRoleCapabilities } from "./resolveGrants";
import { specs } from "../documents/specs";
import { isReference } from "./inputLeaves";
import { isWithin, listsObject } from "../documents/inventory";
import type { Inventory, InventoryObject } from "../documents/inventory";

/** Shows invisible characters as their code, because suppressions match descriptions. */
function showInvisible(text: string): string {
  const hex = (char: string): string => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
  const shown = text.replace(new RegExp(`[${UNSEEN}]`, "gu"), hex);
  return shown.length > 80 ? `${shown.slice(0, 80)} …` : shown;
}

/** A name within a description, with escapes where it could pass for what follows or for a path. */
function escapeSeparators(text: string): string {
  return showInvisible(text.replace(/[\\"→]|(?<=^|\s)\/|\/(?=\s|$)/gu, "\\$&"));
}

/** Finds the objects of inventories by kind and uid, and names them for people. */
export class Directory {
  private readonly objects = new Map<string, InventoryObject>();
  /** What has a uid of its own: not the parts of others, which share theirs. */
  private readonly named = new Map<string, InventoryObject>();

  constructor(readonly inventories: readonly Inventory[]) {
    for (const object of inventories.flatMap(({ objects }) => objects)) {
      this.objects.set(objectKey(object.kind, object.uid), object);
      if (specs[object.kind]?.sharesParentUid !== true) this.named.set(object.uid, object);
    }
  }

  all(): Iterable<InventoryObject> {
    return this.objects.values();
  }

  find(kind: string, uid: string): InventoryObject | undefined {
    return this.objects.get(objectKey(kind, uid));
  }

  /** Whether an inventory contains every object of a kind at a uid: one that `find` does not find does not exist. */
  lists(kind: string, uid: string): boolean {
    return this.inventories.some((inventory) => listsObject(inventory, kind, uid));
  }

  /** The inventory of a group at or above an object. */
  inventoryOf(uid: string): Inventory | undefined {
    return this.inventories.find(({ root }) => isWithin(uid, root));
  }

  /** What has this uid as its own. */
  byUid(uid: string): InventoryObject | undefined {
    return this.named.get(uid);
  }

  private givenName(uid: string): string | undefined {
    const { inputs, details } = this.named.get(uid) ?? {};
    const name = [inputs?.["name"], details?.["email"]].find(
      (text) => typeof text === "string" && text !== "",
    );
    return typeof name === "string" ? name : undefined;
  }

  /** The name of the object with this uid; undefined if no inventory contains it. */
  nameOf(uid: string): string | undefined {
    const name = this.givenName(uid);
    return name === undefined ? undefined : printable(name, 80);
  }

  /** Names from the root down, joined by " / "; the uid of a group whose name is unknown. */
  pathOf(groupUid: string): string {
    const names: string[] = [];
    for (let uid: string | undefined = groupUid; uid !== undefined; uid = parentOf(uid)) {
      const name = this.givenName(uid);
      names.unshift(name === undefined ? uid : showInvisible(groupPath([name])));
      if (name === undefined) break;
    }
    return names.join(" / ");
  }

  /** What a role allows. */
  readonly capabilities = (roleUid: string): readonly string[] | undefined =>
    readRoleCapabilities(this.find("Role", roleUid));

  /** What people would call an object: its name, or what it joins: "ada → owner at acme / payments". */
  describe(spec: ResourceSpec, uid: string, inputs: InventoryObject["inputs"]): string {
    const { name } = inputs;
    const parent = spec.sharesParentUid ? uid : parentOf(uid);
    const at = parent === undefined ? "" : ` at ${this.pathOf(parent)}`;
    if (typeof name === "string" && name !== "") return `"${escapeSeparators(name)}"${at}`;
    const parts = Object.entries(spec.fields).flatMap(([key, field]) => {
      const value = inputs[key];
      if (
        field.path ||
        field.type !== "string" ||
        typeof value !== "string" ||
        value === "" ||
        field.secret
      ) {
        return [];
      }
      if (!field.required || field.inputOnly) return [];
      const shown = isReference({ field }) ? (this.givenName(value) ?? value) : value;
      return [escapeSeparators(shown)];
    });
    return parts.length === 0 || spec.listing?.singletonOf !== undefined
      ? at.trim()
      : `${parts.join(" → ")}${at}`;
  }
}
