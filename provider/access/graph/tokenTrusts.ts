import { getOrCompute } from "../../fields/values";
import { knownIssuerOf } from "../trust/issuers";
import { anchored } from "../trust/patternComparer";
import type { PatternComparer } from "../trust/patternComparer";
import { accessKinds } from "./accessKinds";
import { textAt } from "./describedFields";
import { isUid } from "../../text/uid";
import type { Grant } from "./grant";
import type { AccessGraph, Entities, Entity } from "./model";
import { subjectPatterns, subjectUids, trustsOf } from "./trust";
import type { Trust } from "./trust";

const ANY_UID = anchored("[0-9a-f]{40}(?:/[0-9a-f]{16})+");

/** The uids that one of which the update makes an identity may have: those below its group, which may be new itself. */
function uidsBelow(sides: readonly Entities[], { inputs }: Entity): string {
  let parent = textAt(inputs, "parentUid") ?? "";
  for (let levels = 1; levels < 10; levels += 1) {
    if (isUid(parent)) return anchored(`${parent}(?:/[0-9a-f]{16}){${levels}}`);
    const key: string = parent;
    const group = sides.map((entities) => entities.get(key)).find((entity) => entity !== undefined);
    parent = textAt(group?.inputs ?? {}, "parentUid") ?? "";
  }
  return ANY_UID;
}

/**
 * Most identities whose tokens one takes by a pattern, or of which one follows who they may be: whoever takes those of more is taken to
 * take those of everybody.
 */
export const MOST_TAKEN = 100;

/** Stands for every identity, between those that take the tokens of too many to follow each and all of whom they take them. */
const EVERYBODY = "\u0000everybody";

/**
 * Which identities take the tokens of which: a token of the platform has as its subject the uid of the identity that its holder has
 * assumed, so whoever can be that one can be each that takes its tokens.
 */
class TokenTrusts {
  /** By the key of an identity: those whose tokens it takes, each by its key, which is its uid where it has one. */
  private readonly taken = new Map<string, Set<string>>();
  /** By the key of an identity: those that take its tokens. */
  private readonly takers = new Map<string, Set<string>>();

  /** @param sides What there is; before a change and after it, whom somebody can be while the update runs. */
  constructor(comparer: PatternComparer, ...sides: readonly Entities[]) {
    const all = sides
      .flatMap((entities) => [...entities.values()])
      .filter(({ kind }) => accessKinds[kind]?.assumable === true);
    // A pattern need not write out the uid that it accepts. One that accepts all of them is open, and a finding as such.
    const acceptsSome = (pattern: string): boolean =>
      comparer.intersects(pattern, ANY_UID) !== "no" && comparer.isSubset(ANY_UID, pattern) !== "yes";
    const keysAccepted = (pattern: string): readonly string[] => {
      const mayAccept = (each: Entity): boolean =>
        each.uid === undefined
          ? comparer.intersects(pattern, uidsBelow(sides, each)) !== "no"
          : comparer.mayMatch(pattern, each.uid);
      const accepted: string[] = [];
      for (const each of all) {
        if (accepted.length > 2 * MOST_TAKEN) return [EVERYBODY];
        if (mayAccept(each)) accepted.push(each.key, each.uid ?? each.key);
      }
      return accepted;
    };
    const byPattern = new Map<string, readonly string[]>();
    const acceptedBy = (trust: Trust): readonly string[] => {
      const isElsewhere =
        trust.issuer?.exact !== undefined && knownIssuerOf(trust.issuer.exact) !== undefined;
      const patterns = trust.hasKeys || isElsewhere ? [] : subjectPatterns(trust);
      const byPatterns = patterns.flatMap((pattern) =>
        getOrCompute(byPattern, pattern, () => (acceptsSome(pattern) ? keysAccepted(pattern) : [])),
      );
      return [...subjectUids(trust), ...byPatterns];
    };
    for (const taker of all) for (const key of trustsOf(taker).flatMap(acceptedBy)) this.add(taker.key, key);
    if (this.takers.has(EVERYBODY)) for (const { key } of all) this.add(EVERYBODY, key);
  }

  private add(taker: string, key: string): void {
    if (key === taker) return;
    getOrCompute(this.taken, taker, () => new Set()).add(key);
    getOrCompute(this.takers, key, () => new Set()).add(taker);
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
function withAll(key: string, next: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const found = new Set([key]);
  for (const each of found) for (const other of next.get(each) ?? []) found.add(other);
  found.delete(EVERYBODY);
  return found;
}

const known = new WeakMap<Entities, WeakMap<Entities, TokenTrusts>>();

/** The relation of some entities, or of those before a change and after it together: many ask the same of them. */
export function tokenTrustsOf(comparer: PatternComparer, before: Entities, after = before): TokenTrusts {
  const others = getOrCompute(known, before, () => new WeakMap());
  return getOrCompute(others, after, () =>
    before === after ? new TokenTrusts(comparer, after) : new TokenTrusts(comparer, before, after),
  );
}

/** The other identities whose tokens an identity takes, as far as a document has them. */
export function takenBy(entities: Entities, key: string, comparer: PatternComparer): readonly Entity[] {
  const taken = [...tokenTrustsOf(comparer, entities).withTaken(key)];
  return taken.flatMap((each) => (each === key ? [] : (entities.get(each) ?? [])));
}

/** What there is before a change and after it. */
interface BothSides {
  readonly before: AccessGraph;
  readonly after: AccessGraph;
  readonly comparer: PatternComparer;
}

/** Which identities can be which while an update runs: whoever is let in before what is narrowed or deleted is gone has that, too. */
export const tokenTrustsDuring = ({ before, after, comparer }: BothSides): TokenTrusts =>
  tokenTrustsOf(comparer, before.entities, after.entities);

/** What an object gives on each side of a change, also by identities that take its tokens. */
export function grantsBySide(
  sides: BothSides,
  entity: Pick<Entity, "key" | "kind" | "urn" | "uid">,
): { readonly side: AccessGraph; readonly grants: readonly Grant[] }[] {
  const takers = [...tokenTrustsDuring(sides).withTakers(entity.key)].filter((key) => key !== entity.key);
  return [sides.before, sides.after].map((side) => ({
    side,
    grants: [side.index.by(entity), ...takers.map((key) => side.index.about({ key }))].flat(),
  }));
}
