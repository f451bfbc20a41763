import type { Json } from "../engine/spec";
import { equal, isObject } from "../engine/values";
import { accessKinds, compareGrants, label, Places, traceGrants } from "./grants";
import type { Entities, TracedGrant } from "./grants";
import { withoutRetained } from "./keys";
import type { Entity, World } from "./model";
import { readPattern } from "./pattern";
import { ownMember, specs } from "./references";
import type { Grant, GrantChange, GrantedRole } from "./report";

/** What lies between the grants of two worlds. */
export interface GrantDifference {
  /** In the order of the grants. */
  readonly changes: readonly GrantChange[];
  /** How many grants stay as they are. */
  readonly kept: number;
}

type Turn = "same" | "narrowed" | "widened";

/**
 * One text for each grant that is told apart from others: who, what, where. A group that moves takes
 * its grants to another place.
 */
export function grantKey(grant: Grant, places: Places): string {
  // What stays beside its successor is what it was.
  const keys = [grant.subject.key, grant.role.key, ...places.chain(grant.group.key)];
  return JSON.stringify(keys.map(withoutRetained));
}

/** Grants by key; of those that two resources make alike the first. */
function byKey(traced: readonly TracedGrant[], places: Places): Map<string, TracedGrant> {
  const grants = new Map<string, TracedGrant>();
  for (const one of traced) {
    const key = grantKey(one.grant, places);
    if (!grants.has(key)) grants.set(key, one);
  }
  return grants;
}

const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");

const accepts = (pattern: string, value: string): boolean => readPattern(pattern)?.accepts(value) ?? false;

/** Whether a match accepts nothing that the old one did not: only what can be proved counts. */
function isNarrower(olds: Json | undefined, news: Json | undefined): boolean {
  if (!isObject(olds) || !isObject(news)) return false;
  const keys = [...new Set([...Object.keys(olds), ...Object.keys(news)])];
  return keys.every((key) => {
    const [old, now] = [ownMember(olds, key), ownMember(news, key)];
    if (JSON.stringify(old) === JSON.stringify(now)) return true;
    if (isObject(now) && (old === undefined || isObject(old))) {
      // Further claims are further conditions.
      return Object.entries(old ?? {}).every(([claim, value]) => ownMember(now, claim) === value);
    }
    // An exact value in the place of a pattern that accepts it.
    const [, stem = ""] = /^(.+)Pattern$/.exec(key) ?? [];
    if (stem !== "") return now === undefined && accepts(text(old), text(ownMember(news, stem)));
    const pattern = ownMember(olds, `${key}Pattern`);
    return old === undefined && typeof pattern === "string" && accepts(pattern, text(now));
  });
}

/** What becomes of who can be a holder. Whatever is not proved to be less counts as more. */
function trustTurn(before: Entity | undefined, after: Entity | undefined): Turn {
  if (before === undefined || after === undefined) return "same";
  const fields = specs[after.kind]?.fields ?? {};
  const changed = (accessKinds[after.kind]?.meaning ?? []).filter((key) => {
    const field = fields[key];
    return field !== undefined && !equal(field, before.inputs[key], after.inputs[key]);
  });
  if (changed.length === 0) return "same";
  const narrower = changed.every((key) => {
    if (key === "singleUse") return after.inputs[key] === true;
    if (key === "email") return text(before.inputs[key]) === "";
    return isNarrower(before.inputs[key], after.inputs[key]);
  });
  return narrower ? "narrowed" : "widened";
}

/** What becomes of everyone by whom a grant is held, before or after. */
function trustTurns(old: TracedGrant, now: TracedGrant, before: Entities, after: Entities): Turn[] {
  const holders = new Set([...old.holders, ...now.holders]);
  return [...holders].map((key) => trustTurn(before.get(key), after.get(key)));
}

function capabilities(number: number): string {
  return number === 1 ? "1 capability" : `${number} capabilities`;
}

interface CapabilityChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** They are known on one side only. */
  readonly uncertain: boolean;
}

function compareCapabilities(before: GrantedRole, after: GrantedRole): CapabilityChange {
  const [olds, news] = [before.capabilities, after.capabilities];
  if (olds === undefined || news === undefined) {
    return { added: news ?? [], removed: olds ?? [], uncertain: olds !== news };
  }
  const [had, has] = [new Set(olds), new Set(news)];
  return {
    added: news.filter((name) => !had.has(name)),
    removed: olds.filter((name) => !has.has(name)),
    uncertain: false,
  };
}

function trustReason(before: Grant, after: Grant): string {
  return before.subject.words === after.subject.words
    ? "how the holder proves who it is changes"
    : `who holds it changes: it was ${before.subject.words}`;
}

/** A grant that is there before and after: whether it means the same. */
function compareKept(
  old: TracedGrant,
  now: TracedGrant,
  before: Entities,
  after: Entities,
): GrantChange | undefined {
  const { added, removed, uncertain } = compareCapabilities(old.grant.role, now.grant.role);
  const turns = trustTurns(old, now, before, after);
  const trust = turns.find((turn) => turn === "widened") ?? turns.find((turn) => turn === "narrowed");
  if (uncertain) {
    return {
      change: "widened",
      grant: now.grant,
      before: old.grant,
      reason: "what the role allows is not known on one side",
      capabilitiesAdded: [],
      capabilitiesRemoved: [],
    };
  }
  if (added.length === 0 && removed.length === 0 && trust === undefined) return undefined;
  const reasons = [
    ...(added.length > 0 ? [`the role gains ${capabilities(added.length)}`] : []),
    ...(removed.length > 0 ? [`the role loses ${capabilities(removed.length)}`] : []),
    ...(trust === undefined ? [] : [trustReason(old.grant, now.grant)]),
  ];
  return {
    change: added.length > 0 || trust === "widened" ? "widened" : "narrowed",
    grant: now.grant,
    before: old.grant,
    reason: reasons.join("; "),
    capabilitiesAdded: added,
    capabilitiesRemoved: removed,
  };
}

function reasonOf(what: string, before: Grant, after: Grant, trust: readonly Turn[]): string {
  return trust.every((turn) => turn === "same") ? what : `${what}; ${trustReason(before, after)}`;
}

/** Pairs a grant that comes with one that goes, where together they are one grant that changes. */
function pair(
  gained: TracedGrant[],
  lost: TracedGrant[],
  before: Places,
  after: Places,
  entities: { readonly before: Entities; readonly after: Entities },
): GrantChange[] {
  const changes: GrantChange[] = [];
  const bySubject = new Map<string, TracedGrant[]>();
  for (const one of lost) {
    const all = bySubject.get(one.grant.subject.key) ?? [];
    bySubject.set(one.grant.subject.key, all);
    all.push(one);
  }
  const paired = new Set<TracedGrant>();
  const partner = (grant: Grant, fits: (old: Grant) => boolean): TracedGrant | undefined => {
    const open = (bySubject.get(grant.subject.key) ?? []).filter(
      (one) => !paired.has(one) && fits(one.grant),
    );
    // What one resource grants before and after belongs together before all else.
    return open.find(({ grant: { urn } }) => urn !== undefined && urn === grant.urn) ?? open[0];
  };
  const take = (one: TracedGrant, old: TracedGrant, change: GrantChange): void => {
    paired.add(one).add(old);
    changes.push(change);
  };
  for (const one of gained) {
    const { grant } = one;
    const above = new Set(after.chain(grant.group.key));
    const up = (old: Grant) => before.chain(old.group.key).includes(grant.group.key);
    const down = (old: Grant) => above.has(old.group.key);
    const moved = partner(
      grant,
      (old) => old.role.key === grant.role.key && old.group.key !== grant.group.key && (up(old) || down(old)),
    );
    if (moved) {
      const isUp = up(moved.grant);
      const { added, removed } = compareCapabilities(moved.grant.role, grant.role);
      const trust = trustTurns(moved, one, entities.before, entities.after);
      const widened = isUp || added.length > 0 || trust.includes("widened");
      take(one, moved, {
        change: widened ? "widened" : "narrowed",
        grant,
        before: moved.grant,
        reason: reasonOf(
          `moves from ${moved.grant.group.path} ${isUp ? "up" : "down"} to ${grant.group.path}`,
          moved.grant,
          grant,
          trust,
        ),
        capabilitiesAdded: added,
        capabilitiesRemoved: removed,
      });
      continue;
    }
    const contains = (outer: GrantedRole, inner: GrantedRole) =>
      outer.capabilities !== undefined &&
      inner.capabilities?.every((name) => outer.capabilities?.includes(name)) === true;
    const other = partner(
      grant,
      (old) =>
        old.group.key === grant.group.key &&
        (contains(grant.role, old.role) || contains(old.role, grant.role)) &&
        before.chain(old.group.key).join() === after.chain(grant.group.key).join(),
    );
    if (other === undefined) continue;
    const { added, removed } = compareCapabilities(other.grant.role, grant.role);
    const trust = trustTurns(other, one, entities.before, entities.after);
    const name = (role: GrantedRole, of: Entities) => role.name ?? label(of, role.key);
    take(one, other, {
      change: added.length > 0 || trust.includes("widened") ? "widened" : "narrowed",
      grant,
      before: other.grant,
      reason: reasonOf(
        `the role changes from ${name(other.grant.role, entities.before)} to ${name(grant.role, entities.after)}`,
        other.grant,
        grant,
        trust,
      ),
      capabilitiesAdded: added,
      capabilitiesRemoved: removed,
    });
  }
  gained.splice(0, gained.length, ...gained.filter((one) => !paired.has(one)));
  lost.splice(0, lost.length, ...lost.filter((one) => !paired.has(one)));
  return changes;
}

/** Who gains and who loses what between two worlds: grants of both, taken as sets of (subject, role, group). */
export function diffGrants(before: World, after: World): GrantDifference {
  const places = { before: new Places(before.entities), after: new Places(after.entities) };
  const olds = byKey(traceGrants(before.entities), places.before);
  const news = byKey(traceGrants(after.entities), places.after);
  const kept = [...news].flatMap(([key, now]) => {
    const old = olds.get(key);
    return old === undefined ? [] : [{ old, now }];
  });
  const changed = kept.flatMap(
    ({ old, now }) => compareKept(old, now, before.entities, after.entities) ?? [],
  );
  const gained = [...news].flatMap(([key, one]) => (olds.has(key) ? [] : [one]));
  const lost = [...olds].flatMap(([key, one]) => (news.has(key) ? [] : [one]));
  const pairs = pair(gained, lost, places.before, places.after, {
    before: before.entities,
    after: after.entities,
  });
  const changes: GrantChange[] = [
    ...gained.map(({ grant }): GrantChange => ({
      change: "gained",
      grant,
      reason: "new grant",
      capabilitiesAdded: grant.role.capabilities ?? [],
      capabilitiesRemoved: [],
    })),
    ...lost.map(({ grant }): GrantChange => ({
      change: "lost",
      grant,
      reason: "grant removed",
      capabilitiesAdded: [],
      capabilitiesRemoved: grant.role.capabilities ?? [],
    })),
    ...pairs,
    ...changed,
  ];
  return {
    changes: changes.sort((a, b) => compareGrants(a.grant, b.grant)),
    kept: kept.length - changed.length,
  };
}
