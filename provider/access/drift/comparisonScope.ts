import { parentOf } from "../../text/uid";
import { aggregatedKind } from "../../fields/resourceSpec";
import type { ResourceSpec } from "../../fields/resourceSpec";
import { objectKey } from "../../fields/identity";
import type { Inventory } from "../documents/inventory";
import type { DriftNotes, ManagedResource } from "./difference";
import type { DriftRequest } from "./request";
import { childrenMarker } from "./changedResources";

/** What a run compares: the groups and kinds of its inventories, and the uids that it is restricted to. */
export class ComparisonScope {
  private readonly byRoot: ReadonlyMap<string, Inventory>;
  private readonly readUids = new Set<string>();

  constructor(
    private readonly request: Pick<DriftRequest, "inventories" | "onlyUids" | "isPartial">,
    private readonly notes: DriftNotes,
  ) {
    this.byRoot = new Map([...request.inventories].reverse().map((inventory) => [inventory.root, inventory]));
    for (const { asked } of request.inventories) {
      for (const { kind, uid } of asked ?? []) this.readUids.add(objectKey(kind, uid));
    }
  }

  /** Whether the run compares everything below its roots. */
  get isComplete(): boolean {
    return this.request.onlyUids === undefined && this.request.isPartial !== true;
  }

  isRoot(uid: string): boolean {
    return this.byRoot.has(uid);
  }

  /** Whether a run that is restricted to some objects compares this one. */
  includes(spec: ResourceSpec, uid: string): boolean {
    const { onlyUids: only } = this.request;
    if (only === undefined || only.has(uid)) return true;
    if (aggregatedKind(spec) !== undefined && only.has(`${uid}/`)) return true;
    return only.has(childrenMarker(spec.kind, parentOf(uid) ?? ""));
  }

  /** The inventory of a group at or above an object. */
  inventoryOf(uid: string): Inventory | undefined {
    for (let current: string | undefined = uid; current !== undefined; current = parentOf(current)) {
      const inventory = this.byRoot.get(current);
      if (inventory !== undefined) return inventory;
    }
    return undefined;
  }

  /** Whether an inventory lists every object of a kind at a uid. */
  lists(kind: string, uid: string): boolean {
    const inventory = this.inventoryOf(uid);
    return (
      inventory?.kinds.includes(kind) === true && !inventory.refused.some((refused) => refused.kind === kind)
    );
  }

  /** Whether an inventory covers an object, so that a missing one was deleted. Adds a note where none does. */
  checkCoverage({ spec, uid, stack }: ManagedResource): boolean {
    const kind = aggregatedKind(spec) ?? spec.kind;
    const inventory = this.inventoryOf(uid);
    if (inventory === undefined) {
      const root = uid.split("/")[0] ?? uid;
      const note = `${stack}: resources below ${root} were not compared: no inventory covers them`;
      (this.request.isPartial ? this.notes.unresolved : this.notes.incomplete).add(note);
      return false;
    }
    // The refusal is an entry of its own.
    if (inventory.refused.some((refused) => refused.kind === kind)) return false;
    if (inventory.kinds.includes(kind) || this.readUids.has(objectKey(kind, uid))) return true;
    this.notes.incomplete.add(
      `${spec.noun}: not compared: the inventory contains no ${kind}: create it with --types +${kind}`,
    );
    return false;
  }
}
