import { DAY_MS, timestampNanos } from "../../fields/formats";
import type { Inventory } from "../documents/inventory";
import { specs } from "../documents/specs";
import type { AccessGraph, Entity } from "../graph/model";
import { findLastOwners } from "../rules/builtInRoles";

/** An identity, and what the inventory says of when it signed in. */
export interface SignIn {
  readonly key: string;
  readonly uid?: string;
  readonly urn?: string;
  readonly name?: string;
  /** RFC 3339; absent of one that has never signed in. */
  readonly lastSeenTime?: string;
  /** RFC 3339; absent where nothing tells it. */
  readonly createTime?: string;
  /**
   * Where one that is unused is removed: a line of the program, a URN, or the uid of what no program declares. Absent where
   * nothing tells whether it is used, and of the last owner of a root group.
   */
  readonly remove?: string;
  /** The path of the root group that would have no owner without it. */
  readonly lastOwnerOf?: string;
}

/** Identities that have not signed in for some days. */
export interface UnusedAccess {
  readonly days: number;
  /** RFC 3339: who signed in since then is used. */
  readonly before: string;
  /** Seen before that time, or never and older than it. */
  readonly unused: readonly SignIn[];
  /** Nothing tells when they were seen or created: neither used nor unused. */
  readonly unknown: readonly SignIn[];
}

/** Where a resource or a grant is removed. */
export const placeOfRemoval = ({ location, urn, uid }: Pick<Entity, "location" | "urn" | "uid">): string =>
  location === undefined ? (urn ?? uid ?? "") : `${location.file}:${location.line}`;

const isBefore = (time: string, nanos: bigint): boolean | undefined => {
  const at = timestampNanos(time);
  return at === undefined ? undefined : at < nanos;
};

/**
 * Finds the identities that have not signed in for some days before their inventory was taken: what happened since then is
 * not known.
 */
export function findUnused(graph: AccessGraph, inventory: Inventory, days: number): UnusedAccess {
  const before = new Date(Date.parse(inventory.takenAt) - days * DAY_MS).toISOString();
  const limit = timestampNanos(before) ?? 0n;
  const objects = new Map(inventory.objects.map((object) => [`${object.kind} ${object.uid}`, object]));
  const lastOwners = findLastOwners(graph);
  const unused: SignIn[] = [];
  const unknown: SignIn[] = [];
  for (const entity of graph.entities.values()) {
    const { kind, key, uid, urn, name } = entity;
    // What a preview creates has no uid, and nobody can have used it.
    if (uid === undefined || !Object.hasOwn(specs[kind]?.reads ?? {}, "lastSeenTime")) continue;
    const { lastSeenTime, createTime } = objects.get(`${kind} ${uid}`) ?? {};
    const isUnused = isBefore(lastSeenTime ?? createTime ?? "", limit);
    if (isUnused === false) continue;
    const signIn = { key, uid, urn, name, lastSeenTime, createTime };
    const lastOwnerOf = lastOwners.get(uid)?.path;
    if (isUnused === undefined) unknown.push(signIn);
    else
      unused.push({
        ...signIn,
        ...(lastOwnerOf === undefined ? { remove: placeOfRemoval(entity) } : { lastOwnerOf }),
      });
  }
  return { days, before, unused, unknown };
}

/** When an identity was seen last, and what to do about one that is unused, in words. */
export function describeUnused(signIn: SignIn): string {
  const { remove, lastOwnerOf } = signIn;
  const advice =
    lastOwnerOf !== undefined
      ? `; do not remove it: ${lastOwnerOf} has no other owner`
      : remove === undefined
        ? ""
        : `; remove ${remove}`;
  return `${describeLastSignIn(signIn)}${advice}`;
}

function describeLastSignIn({ lastSeenTime, createTime }: SignIn): string {
  if (lastSeenTime !== undefined) return `last signed in ${lastSeenTime}`;
  return createTime === undefined
    ? "not known when it signed in or was created"
    : `never signed in, created ${createTime}`;
}
