import { parentOf } from "../../api/uid";
import { printable } from "../../api/errors";
import { kinds } from "../../resources";
import { isObject } from "../../engine/values";
import { specOf } from "../graph/directory";
import type { StateExport } from "../documents/stateExport";

/** What an event tells; see `verifyEvent`. */
export interface ChangeEvent {
  /** `iam.roles.updated` */
  readonly name: string;
  /** The uid of what it happened to. */
  readonly subject: string;
  readonly time?: string;
  readonly actor?: unknown;
}

/** Stands for all children of a kind among the uids that are to be looked at. */
export const childrenMarker = (kind: string, parent: string): string => `${parent}/* ${kind}`;

/** What a burst of events touched. */
export class ChangedResources {
  /** By kind: the uids of objects. */
  readonly uids = new Map<string, Set<string>>();
  /** By kind: the uids of parents any of whose children may have changed. */
  readonly parents = new Map<string, Set<string>>();
  /** Who did it last, by uid, in words. */
  readonly actors = new Map<string, string>();

  get isEmpty(): boolean {
    return this.uids.size === 0 && this.parents.size === 0;
  }

  /** Takes an event; answers whether it is about anything that is known here. */
  add({ name, subject, time, actor }: ChangeEvent): boolean {
    const spec = kinds
      .map((one) => one.spec)
      .find(({ eventPrefix }) => eventPrefix !== undefined && name.startsWith(`${eventPrefix}.`));
    if (!spec) return false;
    const into = name.endsWith(".batch") ? this.parents : this.uids;
    into.set(spec.kind, (into.get(spec.kind) ?? new Set()).add(subject));
    const who = isObject(actor) && typeof actor["subject"] === "string" ? actor["subject"] : "";
    if (who !== "") {
      this.actors.set(subject, printable(`by ${who}${time === undefined ? "" : ` at ${time}`}`, 300));
    }
    return true;
  }

  /** What is to be asked for: by kind, the uids of what was touched and of what states know of it. */
  uidsToRead(states: readonly StateExport[]): Map<string, readonly string[]> {
    const wanted = new Map([...this.uids].map(([kind, uids]) => [kind, new Set(uids)]));
    const add = (kind: string, uid: string) => wanted.set(kind, (wanted.get(kind) ?? new Set()).add(uid));
    for (const { spec } of kinds) {
      // A part changes with its whole.
      for (const uid of this.uids.get(spec.listing?.singletonOf ?? "") ?? []) {
        if (spec.listing?.onDemand !== true || isManaged(states, spec.kind, uid)) add(spec.kind, uid);
      }
    }
    for (const { kind, id } of states.flatMap(({ resources }) => resources)) {
      if (kind !== undefined && id !== undefined && this.parents.get(kind)?.has(parentOf(id) ?? ""))
        add(kind, id);
    }
    return new Map([...wanted].map(([kind, uids]) => [kind, [...uids].sort()]));
  }

  /** Uids to look at; with a slash at their end those of groups whose parts may have changed. */
  uidsToCompare(also: ReadonlyMap<string, readonly string[]>): Set<string> {
    const only = new Set<string>();
    for (const uids of also.values()) {
      for (const uid of uids) {
        only.add(uid);
        only.add(`${parentOf(uid) ?? ""}/`);
      }
    }
    for (const [kind, parents] of this.parents) {
      for (const parent of parents) {
        only.add(`${parent}/`);
        only.add(childrenMarker(kind, parent));
      }
    }
    return only;
  }
}

function isManaged(states: readonly StateExport[], kind: string, uid: string): boolean {
  return states.some(({ resources }) => resources.some((one) => one.kind === kind && one.id === uid));
}

/** Kinds that have to be listed whole for what states manage: those that one resource gathers. */
export function aggregatedKinds(states: readonly StateExport[]): string[] {
  const gathered = states.flatMap(({ resources }) =>
    resources.flatMap(({ kind }) => specOf(kind ?? "")?.listing?.aggregates ?? []),
  );
  return [...new Set(gathered)];
}
