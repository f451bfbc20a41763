import { printable } from "../api/errors";
import { parentOf } from "../api/uid";
import type { ResourceSpec } from "../engine/spec";
import { kinds } from "../resources";
import type { Inventory, InventoryObject } from "./inventory";

const specs: ReadonlyMap<string, ResourceSpec> = new Map(kinds.map(({ spec }) => [spec.kind, spec]));

/** The description of a kind; undefined of one that this version does not know. */
export function specOf(kind: string): ResourceSpec | undefined {
  return specs.get(kind);
}

export const keyOf = (kind: string, uid: string): string => `${kind} ${uid}`;

/** Finds the objects of inventories by kind and uid, and names them for people. */
export class Directory {
  private readonly objects = new Map<string, InventoryObject>();
  /** What has a uid of its own: not the parts of others, which share theirs. */
  private readonly named = new Map<string, InventoryObject>();

  constructor(readonly inventories: readonly Inventory[]) {
    for (const object of inventories.flatMap(({ objects }) => objects)) {
      this.objects.set(keyOf(object.kind, object.uid), object);
      if (specOf(object.kind)?.sharesParentUid !== true) this.named.set(object.uid, object);
    }
  }

  all(): Iterable<InventoryObject> {
    return this.objects.values();
  }

  find(kind: string, uid: string): InventoryObject | undefined {
    return this.objects.get(keyOf(kind, uid));
  }

  /** What has this uid as its own. */
  byUid(uid: string): InventoryObject | undefined {
    return this.named.get(uid);
  }

  /** The name of what has this uid; undefined where nothing tells it. */
  nameOf(uid: string): string | undefined {
    const { inputs, details } = this.named.get(uid) ?? {};
    const name = [inputs?.["name"], details?.["email"]].find(
      (text) => typeof text === "string" && text !== "",
    );
    return typeof name === "string" ? printable(name, 80) : undefined;
  }

  /** Names from the root down, joined by " / "; a uid stands for a name that is not known. */
  pathOf(groupUid: string): string {
    const names: string[] = [];
    for (let uid: string | undefined = groupUid; uid !== undefined; uid = parentOf(uid)) {
      const name = this.nameOf(uid);
      names.unshift(name ?? uid);
      if (name === undefined) break;
    }
    return names.join(" / ");
  }

  /** What a role allows. */
  readonly capabilities = (roleUid: string): readonly string[] | undefined => {
    const names = this.find("Role", roleUid)?.inputs["capabilities"];
    return Array.isArray(names) ? names.filter((name) => typeof name === "string") : undefined;
  };

  /** What people would call an object: its name, or what it joins: "ada → owner at acme / payments". */
  describe(spec: ResourceSpec, uid: string, inputs: InventoryObject["inputs"]): string {
    const { name } = inputs;
    const parent = spec.sharesParentUid ? uid : parentOf(uid);
    const at = parent === undefined ? "" : ` at ${this.pathOf(parent)}`;
    if (typeof name === "string" && name !== "") return `"${printable(name, 80)}"${at}`;
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
      const shown =
        field.format === "uid" || field.format === "groupUid" ? (this.nameOf(value) ?? value) : value;
      return [printable(shown, 80)];
    });
    return parts.length === 0 || spec.listing?.partOf !== undefined ? at.trim() : `${parts.join(" → ")}${at}`;
  }
}
