import { listManaged } from "../documents/stateExport";
import { aggregatedKind } from "../../fields/resourceSpec";
import { parentOf } from "../../text/uid";
import { specs } from "../documents/specs";
import { objectKey } from "../../fields/identity";
import { urnParts } from "../documents/engineState";
import type { StateExport } from "../documents/stateExport";
import { addTo } from "../../fields/values";
import type { DriftNotes, ManagedResource } from "./difference";

/** Everything that the states of a run record. */
export class ManagedResources {
  readonly all: ManagedResource[] = [];
  /** Keys of what a state manages, or is about to delete. */
  private readonly known = new Set<string>();
  private readonly byKey = new Map<string, ManagedResource[]>();
  /** Resources that own all objects of a kind at a group, by that kind and group. */
  private readonly collections = new Map<string, ManagedResource>();

  constructor(states: readonly StateExport[], notes: DriftNotes) {
    for (const state of states) this.readState(state, notes);
  }

  /** Whether a state manages an object, or is about to delete it. One that a program only reads is not its own. */
  isKnown(kind: string, uid: string): boolean {
    return this.known.has(objectKey(kind, uid));
  }

  /** The resources that manage one object. */
  ownersOf(kind: string, uid: string): readonly ManagedResource[] {
    return this.byKey.get(objectKey(kind, uid)) ?? [];
  }

  /** The resource that owns all objects of this kind at the parent of an object. */
  collectionOwner(kind: string, uid: string): ManagedResource | undefined {
    return this.collections.get(objectKey(kind, parentOf(uid) ?? ""));
  }

  /** The resources of objects that more than one resource manages. */
  conflictingOwners(): (readonly ManagedResource[])[] {
    const shared = [...this.byKey.values()].filter(({ length }) => length > 1);
    const inCollections = this.all.flatMap((managed) => {
      const owner = this.collectionOwner(managed.spec.kind, managed.uid);
      return owner === undefined ? [] : [[managed, owner]];
    });
    return [...shared, ...inCollections];
  }

  private readState(state: StateExport, notes: DriftNotes): void {
    const stack = state.stack ?? "an empty stack";
    if (state.pendingOperations > 0) {
      notes.unresolved.add(
        `${stack}: an interrupted update left ${state.pendingOperations} pending operations: what they created may be shown as unmanaged; run pulumi refresh`,
      );
    }
    for (const { kind, id } of state.pendingDeletes) {
      if (kind !== undefined && id !== undefined) this.known.add(objectKey(kind, id));
    }
    for (const resource of listManaged(state)) {
      const { kind, id: uid, urn } = resource;
      this.known.add(objectKey(kind, uid));
      const spec = specs[kind];
      if (spec === undefined) {
        notes.incomplete.add(`${stack}: unknown kind ${kind}: ${urn}; use a newer version of this package`);
      } else {
        this.add({ spec, uid, resource, stack, stackName: urnParts(urn).stack });
      }
    }
  }

  private add(managed: ManagedResource): void {
    const { spec, uid } = managed;
    this.all.push(managed);
    addTo(this.byKey, objectKey(spec.kind, uid), managed);
    const aggregated = aggregatedKind(spec);
    if (aggregated !== undefined) this.collections.set(objectKey(aggregated, uid), managed);
  }
}
