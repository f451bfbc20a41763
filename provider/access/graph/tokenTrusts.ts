import { groupBy } from "../../fields/values";
import { anchored } from "../trust/patternComparer";
import type { PatternComparer } from "../trust/patternComparer";
import { accessKinds } from "./accessKinds";
import type { Entities, Entity } from "./model";
import { subjectUids, trustsOf } from "./trust";
import type { Trust } from "./trust";

const ANY_UID = anchored("[0-9a-f]{40}(?:/[0-9a-f]{16})+");

/**
 * Which identities take the tokens of which: a token of the platform has as its subject the uid of the identity that its holder has
 * assumed, so whoever can be that one can be each that takes its tokens.
 */
export class TokenTrusts {
  /** By the key of an identity: those whose tokens it takes. */
  private readonly taken: ReadonlyMap<string, readonly string[]>;
  /** By the key of an identity: those that take its tokens. */
  private readonly takers: ReadonlyMap<string, readonly string[]>;

  constructor(entities: Entities, comparer: PatternComparer) {
    const all = [...entities.values()].filter(({ kind }) => accessKinds[kind]?.assumable === true);
    const uids = all.flatMap(({ uid }) => uid ?? []);
    // What is written out, and what is written as a pattern that hides it.
    const uidsOf = (trust: Trust): string[] => {
      const { exact, pattern } = trust.subject ?? {};
      const isHidden =
        exact === undefined && pattern !== undefined && comparer.intersects(pattern, ANY_UID) !== "no";
      return [
        ...subjectUids(trust),
        ...(isHidden ? uids.filter((uid) => comparer.mayMatch(pattern, uid)) : []),
      ];
    };
    const takenBy = (entity: Entity): string[] => [...new Set(trustsOf(entity).flatMap(uidsOf))];
    const pairs = all.flatMap((taker) => takenBy(taker).map((uid) => [taker.key, uid] as const));
    this.taken = new Map(
      [...groupBy(pairs, ([key]) => [key])].map(([key, of]) => [key, of.map(([, uid]) => uid)]),
    );
    this.takers = new Map(
      [...groupBy(pairs, ([, uid]) => [uid])].map(([uid, of]) => [uid, of.map(([key]) => key)]),
    );
  }

  /** An identity, and all whose tokens let somebody be it. */
  withTaken(key: string): ReadonlySet<string> {
    return withAll(key, this.taken);
  }

  /** An identity, and all that somebody can be by its tokens. */
  withTakers(key: string): ReadonlySet<string> {
    return withAll(key, this.takers);
  }
}

/** A key, and all that it leads to. */
function withAll(key: string, next: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const found = new Set([key]);
  for (const each of found) for (const other of next.get(each) ?? []) found.add(other);
  return found;
}
