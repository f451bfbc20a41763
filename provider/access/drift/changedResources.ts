import { aggregatedKind } from "../../fields/resourceSpec";
import { isObject } from "../../fields/values";
import { parentOf } from "../../text/uid";
import { printable } from "../../text/printable";
import { kinds } from "../../kinds";
import { specs } from "../documents/specs";
import type { StateExport } from "../documents/stateExport";

/** The part of a verified event that a run needs. */
export interface ChangeEvent {
  /** `iam.roles.updated` */
  readonly name: string;
  /** The uid of the resource that the event is about. */
  readonly subject: string;
  readonly time?: string;
  readonly actor?: unknown;
}

/** Stands for all children of a kind among the uids to compare. */
export const childrenMarker = (kind: string, parent: string): string => `${parent}/* ${kind}`;

/** The resources that a burst of events names. */
export class ChangedResources {
  /** By kind: the uids of objects. */
  readonly uids = new Map<string, Set<string>>();
  /** By kind: the uids of parents any of whose children may have changed. */
  readonly parents = new Map<string, Set<string>>();
  /** Who changed an object last, by uid, in words. */
  readonly actors = new Map<string, string>();

  get isEmpty(): boolean {
    return this.uids.size === 0 && this.parents.size === 0;
  }

  /** Adds an event; returns whether it is about a kind of this package. */
  add({ name, subject, time, actor }: ChangeEvent): boolean {
    const spec = kinds
      .map((kind) => kind.spec)
      .find(({ eventPrefix }) => eventPrefix !== undefined && name.startsWith(`${eventPrefix}.`));
    if (!spec) return false;
    const uidsByKind = name.endsWith(".batch") ? this.parents : this.uids;
    uidsByKind.set(spec.kind, (uidsByKind.get(spec.kind) ?? new Set()).add(subject));
    const who = isObject(actor) && typeof actor["subject"] === "string" ? actor["subject"] : "";
    if (who !== "") {
      this.actors.set(subject, printable(`by ${who}${time === undefined ? "" : ` at ${time}`}`, 300));
    }
    return true;
  }

  /** The uids to read, by kind: those that events name, and those that states record below a named parent. */
  uidsToRead(states: readonly StateExport[]): Map<string, readonly string[]> {
    const wanted = new Map([...this.uids].map(([kind, uids]) => [kind, new Set(uids)]));
    const add = (kind: string, uid: string) => wanted.set(kind, (wanted.get(kind) ?? new Set()).add(uid));
    for (const { spec } of kinds) {
      // A subresource changes with its resource.
      for (const uid of this.uids.get(spec.listing?.singletonOf ?? "") ?? []) {
        if (spec.listing?.onDemand !== true || isInStates(states, spec.kind, uid)) add(spec.kind, uid);
      }
    }
    for (const { kind, id } of states.flatMap(({ resources }) => resources)) {
      if (kind !== undefined && id !== undefined && this.parents.get(kind)?.has(parentOf(id) ?? ""))
        add(kind, id);
    }
    return new Map([...wanted].map(([kind, uids]) => [kind, [...uids].sort()]));
  }

  /** The uids to compare; one that ends with a slash includes the subresources and collections of a group. */
  uidsToCompare(read: ReadonlyMap<string, readonly string[]>): Set<string> {
    const compared = new Set<string>();
    for (const uids of read.values()) {
      for (const uid of uids) {
        compared.add(uid);
        compared.add(`${parentOf(uid) ?? ""}/`);
      }
    }
    for (const [kind, parents] of this.parents) {
      for (const parent of parents) {
        compared.add(`${parent}/`);
        compared.add(childrenMarker(kind, parent));
      }
    }
    return compared;
  }
}

function isInStates(states: readonly StateExport[], kind: string, uid: string): boolean {
  return states.some(({ resources }) =>
    resources.some((resource) => resource.kind === kind && resource.id === uid),
  );
}

/** Kinds to list completely, since a resource of a state aggregates all objects of them at a group. */
export function aggregatedKinds(states: readonly StateExport[]): string[] {
  const aggregated = states.flatMap(({ resources }) =>
    resources.flatMap(({ kind }) => {
      const spec = specs[kind ?? ""];
      return (spec && aggregatedKind(spec)) ?? [];
    }),
  );
  return [...new Set(aggregated)];
}
