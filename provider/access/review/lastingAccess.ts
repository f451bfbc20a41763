import { ownEffect } from "../../fields/fieldSpec";
import { timestampNanos } from "../../fields/formats";
import { groupBy, once } from "../../fields/values";
import type { Inventory } from "../documents/inventory";
import { compareKeys } from "../effects";
import type { FieldEffect } from "../effects";
import { accessKinds, isAccessField } from "../graph/accessKinds";
import { readRoleCapabilities } from "../graph/resolveGrants";
import { fieldsWhere, pathsMeant, textAtPath } from "../graph/describedFields";
import type { Grant, GrantedRole, Subject } from "../graph/grant";
import { wholeOf, withoutRetained } from "../graph/entityKeys";
import type { Entity } from "../graph/model";
import { textsOfTrusts } from "../graph/principals";
import { tokenTrustsDuring } from "../graph/tokenTrusts";
import { trustsOf } from "../graph/trust";
import type { ResourceChange, Comparison } from "./compare";

/*
 * Who surely has access at every moment of a change, and can sign in after it: what lock-outs and required holders are judged by.
 */

/** Fields of a key set or of an end: by an added key or a later end nobody loses what they sign in with. */
export const isCredential = (kind: string, path: string): boolean =>
  pathsMeant(kind, "trust.keys").includes(path) || expiries(kind).some((field) => field.path === path);

const expiries = fieldsWhere((field) => ownEffect(field) === "expiry");

/** The fields of a change by which somebody who could sign in may be unable to. */
export function fieldsThatLockOut({ op, kind, before, after, fields }: ResourceChange): FieldEffect[] {
  if (op !== "update" && op !== "replace") return [];
  return fields.filter(({ path, direction }) => {
    if (direction === "neutral" || !isAccessField(kind, path)) return false;
    // A trust that widens may accept others than before.
    if (direction !== "widened" || !isCredential(kind, path)) return true;
    const [old, now] = [before, after].map((side) => textAtPath(side?.inputs, path));
    // Compared the other way round, a set that keeps each old key only shrinks.
    return pathsMeant(kind, "trust.keys").includes(path) && compareKeys(now, old).direction !== "narrowed";
  });
}

/**
 * The grants of before that are there until everything new is made, with what their roles keep. What replaces a resource, or
 * takes a grant or a capability away, may do so before the same is given elsewhere, and the update may fail in between. A resource
 * that only goes is deleted last.
 */
export function listLasting({
  before,
  changes,
  after,
}: Pick<Comparison, "before" | "changes" | "after">): Grant[] {
  // By uid too: what was made by hand has no urn before it is adopted.
  const changed = new Map(
    changes.flatMap((change) =>
      [change.urn, change.before?.urn, change.before?.uid].flatMap((key) =>
        key === undefined ? [] : [[key, change] as const],
      ),
    ),
  );
  const written = new Set(
    changes.flatMap(({ op, after: entity }) =>
      entity !== undefined && (op === "update" || op === "replace") ? [entity.key] : [],
    ),
  );
  /** By its resource or uid: whom it is for, and where. A role that is exchanged in place is so in one request. */
  const places = ({ urn, uid, subject, group }: Grant): string[] =>
    [urn, uid].flatMap((by) => (by === undefined ? [] : [JSON.stringify([by, subject.key, group.key])]));
  const kept = once(() => groupBy(after.grants, places));
  /** The role that a grant has until the end, its own or another one in its place. */
  const roleLeft = (grant: Grant): GrantedRole | undefined => {
    const { op, isLeftOnServer } = changed.get(grant.urn ?? "") ?? changed.get(grant.uid ?? "") ?? {};
    if (op === "replace") return isLeftOnServer === true ? grant.role : undefined;
    // A resource that only goes is deleted last; one that is made may adopt the object.
    if (op === undefined || op === "delete" || op === "same") return grant.role;
    const there = kept();
    const roles = places(grant).flatMap((place) => there.get(place)?.map(({ role }) => role) ?? []);
    return roles.some(({ key }) => key === grant.role.key) ? grant.role : roles[0];
  };
  return before.grants.flatMap((grant) => {
    const [role, left] = [grant.role, roleLeft(grant)];
    if (left === undefined) return [];
    const isOther = left.key !== role.key;
    if (!isOther && !written.has(role.key)) return [grant];
    const now = isOther ? left.capabilities : readRoleCapabilities(after.entities.get(role.key));
    if (!isOther && now === undefined) return [grant];
    const capabilities = role.capabilities?.filter((each) => now?.includes(each));
    return [{ ...grant, role: { ...left, capabilities } }];
  });
}

/**
 * Answers whether a holder's grant may come after the grants of holders of before are gone: the update may end in between.
 *
 * @param then A grant of each holder of before.
 * @param isLasting Whether a holder of before holds it until everything new is made, by key.
 */
export function createLate(
  then: readonly Grant[],
  isLasting: (holder: string) => boolean,
): (now: Grant) => boolean {
  const held = new Set(then.map(({ subject }) => subject.key));
  const brief = then.filter(({ subject }) => !isLasting(subject.key));
  return ({ subject, urn }) =>
    held.has(subject.key) ? !isLasting(subject.key) : brief.some((old) => old.urn !== urn);
}

/** Whether the keys of an identity had ended when the inventory was taken: nobody signs in by them. */
export function haveKeysEnded(entity: Entity | undefined, inventories: readonly Inventory[]): boolean {
  if (entity === undefined || !trustsOf(entity).every(({ hasKeys }) => hasKeys)) return false;
  const ends = expiries(entity.kind).flatMap(({ path }) => textAtPath(entity.inputs, path) ?? []);
  const times = inventories.map(({ takenAt }) => timestampNanos(takenAt));
  return (
    ends.length > 0 &&
    times.length > 0 &&
    ends
      .map(timestampNanos)
      .every((end) => times.every((now) => end !== undefined && now !== undefined && end <= now))
  );
}

/**
 * Why nobody can say that a holder can sign in after a change: its keys have ended; its trust, or that of its directory, is new,
 * another one or narrower; or an earlier change may have locked it out, since it has not signed in with what it trusts now.
 */
export type SignInDoubt = "ended" | "changed" | "unseen";

/** A write within so long of the last sign-in is not after it: the clocks of the server may differ. */
const SAME_TIME_NANOS = 60_000_000_000n;

/** Answers whether an identity has not signed in since it was written last, as far as the inventory tells. */
function createUnseen(inventories: readonly Inventory[]): (holder: Subject) => boolean {
  const objects = inventories
    .flatMap((inventory) => inventory.objects)
    .filter(({ kind }) => accessKinds[kind]?.assumable === true);
  const byUid = new Map(objects.map((object) => [object.uid, object]));
  const isEachTold = objects.some(({ lastSeenTime }) => lastSeenTime !== undefined);
  return ({ uid = "" }) => {
    const object = byUid.get(uid);
    if (object === undefined) return false;
    const { updateTime = "", lastSeenTime, createTime } = object;
    if (lastSeenTime === undefined && isEachTold) return true;
    // Of a server that tells of no sign-in: whether it was written after it was made.
    const [written, seen] = [timestampNanos(updateTime), timestampNanos(lastSeenTime ?? createTime ?? "")];
    return written !== undefined && seen !== undefined && written - seen > SAME_TIME_NANOS;
  };
}

/** Answers why nobody can say that a holder can sign in after a change; undefined for one that surely can. */
export function createSignInDoubt({
  before,
  after,
  changes,
  drift,
  inventories,
  comparer,
}: Pick<Comparison, "before" | "after" | "changes" | "drift" | "inventories" | "comparer">): (
  holder: Subject,
) => SignInDoubt | undefined {
  // Whoever takes the tokens of an identity signs in as that one first.
  const changed = new Set(
    changes.flatMap((change) =>
      change.after !== undefined && fieldsThatLockOut(change).length > 0
        ? [...tokenTrustsDuring({ before, after, comparer }).withTakers(change.after.key)]
        : [],
    ),
  );
  const isUnseen = createUnseen(inventories);
  const trustsBefore = once(() => new Set(textsOfTrusts(before.entities).values()));
  const trustsAfter = once(() => textsOfTrusts(after.entities));
  const isNewTrust = (key: string): boolean => {
    const trust = trustsAfter().get(key);
    return trust === undefined || !trustsBefore().has(trust);
  };
  const held = once(() => new Set(before.grants.map(({ subject }) => subject.key)));
  return (holder) => {
    const { key, type } = holder;
    // Whether anybody is in a group, or whether the platform has a service, no document tells.
    if ((type === "service" || type === "externalGroup") && drift === undefined && !held().has(key))
      return "changed";
    // A service of the platform signs in by nothing that a program says.
    if (type === "service") return undefined;
    const keys = [key, wholeOf(key) ?? ""].map(withoutRetained);
    if (keys.some((each) => haveKeysEnded(after.entities.get(each), inventories))) return "ended";
    if (keys.some((each) => changed.has(each))) return "changed";
    const isNew =
      keys.some((each) => after.entities.has(each)) && !keys.some((each) => before.entities.has(each));
    // What drift finds on one side only is in no program, and may be older than all.
    if (drift === undefined && isNew && isNewTrust(key)) return "changed";
    return isUnseen(holder) ? "unseen" : undefined;
  };
}
