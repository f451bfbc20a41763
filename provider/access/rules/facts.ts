import { DAY_MS, timestampNanos } from "../../fields/formats";
import { distinguishingInputs } from "../../fields/resourceSpec";
import { isObject, groupBy, getOrCompute, once, ownMember } from "../../fields/values";
import type { Json } from "../../fields/values";
import { printable } from "../../text/printable";
import { isTopUid, isUid } from "../../text/uid";
import { urnParts } from "../documents/engineState";
import { isWithin, listsObject } from "../documents/inventory";
import { specs } from "../documents/specs";
import { createEffectContext, describeEffects, mayWiden } from "../effects";
import type { EffectContext, FieldEffect } from "../effects";
import { textAt } from "../graph/describedFields";
import { isGain, tupleOf } from "../graph/grant";
import type { Grant, GrantChange, Scope, GrantedRole } from "../graph/grant";
import type { GrantIndex } from "../graph/grantIndex";
import type { GroupHierarchy } from "../graph/groupHierarchy";
import { readRoleCapabilities } from "../graph/resolveGrants";
import { wholeOf, withoutRetained } from "../graph/entityKeys";
import type { AccessGraph, Entities, Entity } from "../graph/model";
import { tokenTrustsDuring } from "../graph/tokenTrusts";
import { describeTrust } from "../graph/trust";
import { recordedAccess } from "../review/recordedAccess";
import type { RecordedAccess } from "../review/recordedAccess";
import type { ChangeWithAfter, Comparison, ResourceChange } from "../review/compare";
import type { PatternComparer } from "../trust/patternComparer";
import { foldName } from "../trust/writingSystems";
import { familyOf, OWNER_CAPABILITIES } from "./capabilityEffects";
import type { CapabilityEffect } from "./capabilityEffects";
import { builtInRoleNames } from "./data/builtInRoleNames";
import { everyKind } from "./rule";
import type { FindingInput } from "./rule";
import type { RuleOptions } from "./ruleOptions";
import { labelEntity } from "./wording";

/** Days from now until a time, rounded down: below 0 where it has passed; undefined where it is none. */
export function daysUntil({ options: { now } }: Facts, time = ""): number | undefined {
  const nanos = timestampNanos(time);
  return nanos === undefined ? undefined : Math.floor((Number(nanos / 1_000_000n) - now) / DAY_MS);
}

/** Whether a time has passed; what is no time has not. */
export function hasPassed(facts: Facts, time: string | undefined): boolean {
  const days = daysUntil(facts, time);
  return days !== undefined && days < 0;
}

/** Remembers what is found about a comparison, for each question. */
export function rememberByFacts<Q, T>(find: (facts: Facts, question: Q) => T): typeof find {
  const known = new WeakMap<Facts, Map<Q, T>>();
  return (facts, question) =>
    getOrCompute(
      getOrCompute(known, facts, () => new Map<Q, T>()),
      question,
      () => find(facts, question),
    );
}

/** The texts inside a value. */
function* textsIn(value: Json | undefined): Generator<string> {
  if (typeof value === "string") yield value;
  else if (Array.isArray(value)) for (const item of value) yield* textsIn(item);
  else if (isObject(value)) for (const item of Object.values(value)) yield* textsIn(item);
}

/**
 * Whether a reference is there still: also one to what stays beside a successor, and one that leads nowhere now, which is empty.
 */
function stillRefers(before: Json | undefined, after: Json | undefined, key: string): boolean {
  if (!isObject(before)) {
    const isSame = (text: string): boolean => text === "" || withoutRetained(text) === key;
    return [...textsIn(before)].includes(key) && [...textsIn(after)].some(isSame);
  }
  return Object.entries(before).some(([name, value]) =>
    stillRefers(value, isObject(after) ? ownMember(after, name) : undefined, key),
  );
}

type FindingText = Pick<
  FindingInput,
  "severity" | "message" | "advice" | "details" | "field" | "counterexample" | "pins" | "grants"
>;

/** Who knows somebody: `anybody` by what the server has, or the given `stacks` by what they record, and so without what was made by hand. */
export type KnownBy = "anybody" | "stacks";

/** What is said of a grant that is one of several which its resource may make. */
const WHICH_IS_UNKNOWN = "perhaps: the preview does not say which of several new objects is meant";
const CREATE_EARLIER =
  "create what the binding refers to in an earlier change, and the preview says which it is";

/** What objects have in common of which one comes in the place of the other: a binding has no name, but a holder and a role. */
function placeOf({ kind, name, inputs }: Entity): string {
  const spec = specs[kind];
  const own = spec === undefined ? [] : distinguishingInputs(spec).map((key) => inputs[key] ?? null);
  return JSON.stringify([kind, inputs["parentUid"] ?? null, name ?? own]);
}

/** The same of what lies in a group, whatever that is called, with the group. */
function placeByGroup(
  entity: Entity,
  entities: Entities,
): { readonly text: string; readonly group: Entity } | undefined {
  const group = entities.get(textAt(entity.inputs, "parentUid") ?? "");
  if (group?.kind !== "Group") return undefined;
  const inputs = { ...entity.inputs, parentUid: group.inputs["parentUid"] ?? null };
  return { text: placeOf({ ...entity, inputs }), group };
}

/** What rules ask of a comparison. Worked out once, when first asked for. */
export class Facts {
  /** The grants on both sides. */
  readonly before: GrantIndex;
  readonly after: GrantIndex;
  /** All that is there at some time while the update runs, or after it. */
  readonly meanwhile: GrantIndex;
  readonly roles: BuiltInRoles;
  /** Compares patterns. All questions share its budget. */
  readonly comparer: PatternComparer;
  readonly effectContext: EffectContext;
  private readonly scopes: ReadonlyMap<string, Scope>;
  /** By subject, group and side: many grants can be of one subject at one group. */
  private readonly capabilities = new Map<string, ReadonlySet<string>>();

  constructor(
    readonly comparison: Comparison,
    readonly options: RuleOptions,
  ) {
    const { before, after, meanwhile, comparer } = comparison;
    this.comparer = comparer;
    this.effectContext = createEffectContext(before.entities, after.entities, comparer);
    this.before = before.index;
    this.after = after.index;
    this.meanwhile = (meanwhile ?? after).index;
    // As findings name them, without what a report says of the group alone.
    this.scopes = new Map(
      comparison.groups.map(({ key, uid, urn, name, path, isRoot }) => [
        key,
        { key, uid, urn, name, path, isRoot },
      ]),
    );
    this.roles = new BuiltInRoles(comparison);
  }

  scope(key: string): Scope {
    return this.scopes.get(key) ?? { key, uid: key, path: key, isRoot: isTopUid(key) };
  }

  /** The names of the groups that something lies in, and its own, once all is done or before it. */
  pathOf(key: string, side: "before" | "after"): string {
    return this.comparison[side].hierarchy.scope(key).path;
  }

  /** Whether a group is another one or lies below it, once all is done or before it. */
  isWithin(key: string, ancestor: string, side: "before" | "after" = "after"): boolean {
    return key === ancestor || this.groupAndAbove(key, side).includes(ancestor);
  }

  /** A group, or what lies in one, and all groups above it, once all is done or before it. */
  groupAndAbove(key: string, side: "before" | "after" = "after"): readonly string[] {
    return this.comparison[side].hierarchy.chain(key);
  }

  /** Whether an inventory contains every object of a kind at a uid. */
  lists(kind: string, uid: string): boolean {
    return this.comparison.inventories.some((each) => listsObject(each, kind, uid));
  }

  /** Whether an inventory was given, and none contains a group: only strangers may know what lies there. */
  isOutsideInventory(group: string | undefined): boolean {
    const all = this.comparison.inventories;
    return isUid(group) && all.length > 0 && !all.some(({ root }) => isWithin(group, root));
  }

  isGroup(key: string, side: "before" | "after"): boolean {
    const entity = this.comparison[side].entities.get(key);
    return entity === undefined ? isUid(key) : entity.kind === "Group";
  }

  /** The groups below one, itself included, that are not below the other. */
  newlyReachedGroups(key: string, not: string): Scope[] {
    return this.comparison.groups.filter(
      (group) =>
        group.change !== "removed" && this.isWithin(group.key, key) && !this.isWithin(group.key, not),
    );
  }

  /** What the given stacks record. */
  get recorded(): RecordedAccess {
    return recordedAccess(this.comparison);
  }

  /** The grants of a subject before the change, or those of them that the given stacks record. */
  grantsBefore(subject: string, by: KnownBy = "anybody"): readonly Grant[] {
    const records = this.recordsOf(by);
    return this.before.ofSubject(subject).filter((grant) => records?.has(grant) ?? true);
  }

  /** The records of which something must be to be known; undefined where the server is enough, as for drift, which has facts. */
  private recordsOf(by: KnownBy): RecordedAccess | undefined {
    return by === "anybody" || this.comparison.drift !== undefined
      ? undefined
      : recordedAccess(this.comparison);
  }

  grantsAfter(subject: string): readonly Grant[] {
    return this.after.ofSubject(subject);
  }

  /** What the arguments of a resource do to access in the place of others, or where there was nothing before. */
  effectsOf({ kind, inputs }: Entity, inPlaceOf: Entity["inputs"] = {}): readonly FieldEffect[] {
    return describeEffects(specs[kind], inPlaceOf, inputs, this.effectContext);
  }

  /**
   * What an identity holds while the update runs or after it, and others by it (services, groups of a directory, identities that
   * trust it by its uid): with the most that its roles allow.
   */
  heldThrough(key: string): readonly Grant[] {
    return [...tokenTrustsDuring(this.comparison).withTakers(key)].flatMap((holder) =>
      [holder, ...this.meanwhile.subjectsOf(holder)].flatMap((subject) => this.meanwhile.ofSubject(subject)),
    );
  }

  /**
   * The grants of an identity, and of others who hold by it, that are new, reach more or allow more: the update may do that before
   * it changes the identity.
   */
  gainedThrough(key: string): readonly Grant[] {
    const changes = this.changesBySubject();
    const subjects = new Set(
      [...tokenTrustsDuring(this.comparison).withTakers(key)].flatMap((each) => [
        each,
        ...this.before.subjectsOf(each),
        ...this.after.subjectsOf(each),
      ]),
    );
    return [...subjects]
      .flatMap((subject) => changes.get(subject) ?? [])
      .filter(
        (change) =>
          change.change === "gained" ||
          (isGain(change) &&
            (change.capabilitiesAdded.length > 0 || change.before?.group.key !== change.grant.group.key)),
      )
      .map(({ grant }) => grant);
  }

  private readonly changesBySubject = once(() =>
    groupBy(this.comparison.grants, ({ grant }) => [grant.subject.key]),
  );

  /** The objects of the same kind that had this name at this place before. */
  namesakesBefore(entity: Entity): readonly Entity[] {
    return this.namesakes().get(placeOf(entity)) ?? [];
  }

  private readonly namesakes = once(() =>
    groupBy(this.comparison.before.entities.values(), (each) => [placeOf(each)]),
  );

  /** Whether the change deletes something at the server. */
  isDeleted(key: string): boolean {
    return this.deleted().has(key);
  }

  private readonly deleted = once(
    () => new Set([...this.removals()].flatMap(({ op, before }) => (op === "delete" ? [before.key] : []))),
  );

  /** Whether a grant is new as a whole. */
  isGained(grant: Grant): boolean {
    return this.gained().has(tupleOf(grant));
  }

  private readonly gained = once(() => {
    const gained = this.comparison.grants.filter(({ change }) => change === "gained");
    return new Set(gained.map(({ grant }) => tupleOf(grant)));
  });

  /** Whether a gained or widened grant is of this resource, by its URN, or names it by its key. */
  gainsAbout(key: string): boolean {
    return this.gaining().has(key);
  }

  private readonly gaining = once(() => {
    const gains = this.comparison.grants.filter(isGain);
    return new Set(gains.flatMap(({ grant: { urn, subject, role } }) => [urn, subject.key, role.key]));
  });

  /**
   * The capabilities of a subject at a group, by grants at the group and above it.
   * @param given What of them is known, where the server is not enough.
   * @param isActing only what it can do there, too: an identity acts in its own group and below.
   */
  private capabilitiesAt(
    subject: string,
    group: string,
    side: "before" | "after",
    given?: { readonly records: RecordedAccess; readonly role: string },
    isActing = false,
  ): ReadonlySet<string> {
    return getOrCompute(
      this.capabilities,
      JSON.stringify([subject, group, side, given?.role, isActing]),
      () => {
        const { hierarchy, index } = this.comparison[side];
        const grants = hierarchy
          .chain(group)
          .flatMap((key) => index.ofSubjectAt(subject, key))
          .filter((grant) => !isActing || hierarchy.actsAt(grant.subject, group));
        const roles = new Set(given && [given.role]);
        return new Set(
          grants.flatMap((grant) =>
            given === undefined
              ? (grant.role.capabilities ?? [])
              : (given.records.capabilitiesOf(grant, roles) ?? []),
          ),
        );
      },
    );
  }

  /** What a grant brings its subject that it could not do there before, or not by what the given stacks record. */
  newCapabilities({ grant }: GrantChange, by: KnownBy): string[] {
    const { subject, group, role } = grant;
    const records = this.recordsOf(by);
    const known = records && { records, role: role.key };
    const given = this.capabilitiesAt(subject.key, group.key, "before", known);
    // What it held where it could not act is new where it begins to.
    const from = this.comparison.after.hierarchy.actsFrom(subject, group.key);
    const acting = from === undefined ? given : this.capabilitiesAt(subject.key, from, "before", known, true);
    return (role.capabilities ?? []).filter((each) => !given.has(each) || !acting.has(each));
  }

  /** What a lost grant takes away and no other grant still gives. */
  lostCapabilities({ subject, role, group }: Grant): string[] {
    const after = this.capabilitiesAt(subject.key, group.key, "after");
    return (role.capabilities ?? []).filter((capability) => !after.has(capability));
  }

  /** Grants that are new or reach further, but for those whose role alone gained capabilities: G4's affair. */
  *newOrWiderGrants(): Generator<GrantChange> {
    const [old, now] = [this.comparison.before.hierarchy, this.comparison.after.hierarchy];
    for (const change of this.comparison.grants.filter(isGain)) {
      const { before, grant } = change;
      const isRoleOnly =
        change.change === "widened" &&
        before?.role.key === grant.role.key &&
        before.group.key === grant.group.key &&
        old.actsFrom(before.subject, before.group.key) === now.actsFrom(grant.subject, grant.group.key) &&
        !(grant.subject.matchesMany && this.widenedHolders().has(grant.subject.key));
      if (!isRoleOnly) yield change;
    }
  }

  /** Grants that allowed only to read before, and allow more now. */
  *grantsThatBeginToWrite(): Generator<GrantChange> {
    for (const change of this.comparison.grants.filter(isGain)) {
      const { before, grant } = change;
      if (before !== undefined && !this.roles.mayWrite(before.role) && this.roles.mayWrite(grant.role))
        yield change;
    }
  }

  /**
   * The grants that a rule judges: in a review those that are new, mean more than before, lie in a group that gets another
   * path, or whose role or holder gets another name; after drift, which has happened already, all that exist.
   */
  grantsToJudge(): readonly Grant[] {
    const { drift, after, grants, groups, changes } = this.comparison;
    if (drift !== undefined) return after.grants;
    const changed = grants.filter(isGain).map(({ grant }) => grant);
    const moved = new Set(
      groups.flatMap(({ key, change }) => (change === "moved" || change === "renamed" ? [key] : [])),
    );
    const renamed = new Set(
      changes.flatMap(({ before: old, after: now }) =>
        old && now && old.name !== now.name ? [now.key] : [],
      ),
    );
    if (moved.size + renamed.size === 0) return changed;
    const known = new Set(changed.map(tupleOf));
    const hasOtherName = ({ role, subject }: Grant): boolean =>
      [role.key, subject.key, wholeOf(subject.key) ?? ""].some((key) => renamed.has(key));
    const there = after.grants.filter(
      (grant) =>
        !known.has(tupleOf(grant)) &&
        (hasOtherName(grant) || this.groupAndAbove(grant.group.key).some((key) => moved.has(key))),
    );
    return [...changed, ...there];
  }

  /** The holders of whom there may be more than before: what cannot be judged counts as more. */
  private readonly widenedHolders = once(() => {
    const widened = this.comparison.changes.filter(({ fields }) =>
      fields.some(({ direction }) => mayWiden(direction)),
    );
    return new Set(widened.map(({ after }) => after?.key));
  });

  entity(key: string): Entity | undefined {
    return this.comparison.after.entities.get(key) ?? this.comparison.before.entities.get(key);
  }

  /** Changes that create, update or replace a resource of the kinds that meet a condition. */
  *writes(hasProperty: (kind: string) => boolean): Generator<ChangeWithAfter> {
    for (const change of this.comparison.changes) {
      const { after, op } = change;
      if (after === undefined || !hasProperty(change.kind)) continue;
      if (op === "create" || op === "update" || op === "replace") yield { ...change, after };
    }
  }

  /** Whether something refers to what was there before a replacement, and not to its successor. */
  isLeftBehind({ key: own }: Entity, key: string): boolean {
    const after = this.comparison.after.entities.get(own);
    return after !== undefined && !new Set(textsIn(after.inputs)).has(key);
  }

  /** Changes after which what was there has gone, or has another uid. */
  *removals(): Generator<ResourceChange & { readonly before: Entity }> {
    for (const change of this.comparison.changes) {
      const { before, after, op } = change;
      if (before === undefined || (op !== "delete" && op !== "replace")) continue;
      // What stays at the server only leaves the program, or the server refuses to delete it.
      const stays = change.isLeftOnServer === true || (op === "delete" && after !== undefined);
      if (!stays || change.refusedBy !== undefined) yield { ...change, before };
    }
  }

  /** What referred to something before the change and is not taken away with it. */
  dependents(key: string): Entity[] {
    return (this.references().get(key) ?? []).filter((entity) => {
      if (entity.key === key || this.isDeleted(entity.key)) return false;
      const after = this.comparison.after.entities.get(entity.key);
      return after === undefined || stillRefers(entity.inputs, after.inputs, key);
    });
  }

  private readonly references = once(() => {
    const { entities } = this.comparison.before;
    return groupBy(entities.values(), ({ inputs }) =>
      [...textsIn(inputs)].filter((text) => entities.has(text)),
    );
  });

  /** The group that something lies in. */
  groupOf(entity: Entity): Scope | undefined {
    let at: Entity | undefined = entity;
    for (let depth = 0; at !== undefined && depth < 5; depth += 1) {
      if (at.kind === "Group") return this.scope(at.key);
      const parent = textAt(at.inputs, "parentUid");
      if (parent === undefined) return undefined;
      if (this.scopes.has(parent)) return this.scope(parent);
      at = this.entity(parent);
    }
    return undefined;
  }

  /** "tag latest of repo api": what lies in no group is told with what it lies in. */
  label(entity: Pick<Entity, "kind" | "name" | "uid" | "urn"> & Partial<Pick<Entity, "inputs">>): string {
    const parent = this.entity(textAt(entity.inputs ?? {}, "parentUid") ?? "");
    const isInGroup = parent === undefined || parent.kind === "Group";
    return isInGroup ? labelEntity(entity) : `${labelEntity(entity)} of ${labelEntity(parent)}`;
  }

  /** A finding about a grant. */
  aboutGrant(grant: Grant, text: FindingText): FindingInput {
    const { subject, sourceKind: kind, urn, uid, location } = grant;
    const trust = describeTrust(this.entity(subject.key));
    const oneOf =
      grant.isOneOf === true
        ? { message: `${text.message} (${WHICH_IS_UNKNOWN})`, advice: `${CREATE_EARLIER}; ${text.advice}` }
        : {};
    return { ...text, ...oneOf, kind, name: subject.name, urn, uid, location, trust, grant };
  }

  /** A finding about a resource. */
  aboutEntity(entity: Entity, text: FindingText): FindingInput {
    const { kind, name, urn, uid, location } = entity;
    const [group, trust] = [this.groupOf(entity), describeTrust(entity)];
    const advice = `${text.advice}${this.adviseOnAlias(entity)}`;
    return { ...text, advice, kind, name, urn, uid, location, group, trust };
  }

  /** How an object stays that only has another resource now, or what is in such an object. */
  private adviseOnAlias(entity: Entity): string {
    const key = this.groupAndAbove(entity.key, "before").find((each) => this.renamed().has(each));
    const at = key === undefined ? undefined : this.comparison.before.entities.get(key);
    if (at === undefined) return "";
    const [formerUrn = "", urn = ""] = this.renamed().get(at.key) ?? [];
    const what = at.key === entity.key ? "it" : labelEntity(at);
    const now = printable(urnParts(urn).name, 80);
    return `; or, if ${what} only has another name or parent resource in the program, give ${now} the option aliases: [${aliasOf(formerUrn, urn)}]`;
  }

  /**
   * The urns before and after, where a resource is deleted, and another one makes an equal object or adopts that of it. So it is of a
   * group where only what is in it is equal: a team can get another name with all that it has.
   */
  private readonly renamed = once((): ReadonlyMap<string, readonly string[]> => {
    const { before, after, changes } = this.comparison;
    const created = new Map(
      [...this.writes(everyKind)].flatMap(({ op, after: each }) =>
        op === "create" ? [[each.key, each] as const] : [],
      ),
    );
    const byPlace = groupBy(created.values(), (each) => [placeOf(each)]);
    const byGroup = groupBy(created.values(), (each) => {
      const place = placeByGroup(each, after.entities);
      return place !== undefined && created.has(place.group.key) ? [place.text] : [];
    });
    const renamed = new Map<string, readonly string[]>();
    const add = (old: Entity, former: string | undefined, now: string | undefined): void => {
      if (former !== undefined && now !== undefined) renamed.set(old.key, [former, now]);
    };
    for (const { before: old, formerUrn, urn } of changes) {
      if (old === undefined) continue;
      if (formerUrn !== undefined) add(old, formerUrn, urn);
      else if (this.isDeleted(old.key)) {
        const place = placeByGroup(old, before.entities);
        const equal = place && byGroup.get(place.text)?.[0];
        if (place && equal && this.isDeleted(place.group.key))
          add(place.group, place.group.urn, placeByGroup(equal, after.entities)?.group.urn);
        add(old, old.urn, byPlace.get(placeOf(old))?.[0]?.urn);
      }
    }
    return renamed;
  });
}

/** The alias that connects a resource to its former URN. One of a name alone means a resource with the same parent. */
function aliasOf(formerUrn: string, urn: string): string {
  const [former, now] = [urnParts(formerUrn), urnParts(urn)];
  const name = `name: ${JSON.stringify(printable(former.name, 80))}`;
  if (former.types === now.types) return `{ ${name} }`;
  // A URN has no names of parents.
  if (former.types !== former.type) return JSON.stringify(printable(formerUrn, 400));
  return `{ ${former.name === now.name ? "" : `${name}, `}parent: pulumi.rootStackResource }`;
}

/** Whether a resource is one of the platform's own roles. */
export function isBuiltInRole(entity: Entity): boolean {
  return entity.kind === "Role" && (entity.builtIn === true || isTopUid(entity.uid));
}

/** The capabilities of the built-in `viewer` at the server; undefined where no inventory has it. */
function findLiveViewer({ inventories }: Comparison): readonly string[] | undefined {
  return readRoleCapabilities(
    inventories
      .flatMap(({ objects }) => objects)
      .find(({ kind, uid, inputs }) => kind === "Role" && inputs["name"] === "viewer" && isTopUid(uid)),
  );
}

/** The capabilities of the built-in `viewer`, as this organisation has it; undefined where no document holds them. */
function findViewer(comparison: Comparison): readonly string[] | undefined {
  const { after, before } = comparison;
  for (const entity of [...after.entities.values(), ...before.entities.values()]) {
    const { kind, name, uid, claimed } = entity;
    // A program may claim of any role that it is this one.
    if (kind !== "Role" || name !== "viewer" || !isTopUid(uid) || claimed) continue;
    const capabilities = readRoleCapabilities(entity);
    if (capabilities) return capabilities;
  }
  return findLiveViewer(comparison);
}

/** Whether a role is `owner`, or is as good. */
function isOwner(role: GrantedRole): boolean {
  if (role.builtIn && role.name === "owner") return true;
  return OWNER_CAPABILITIES.every((capability) => role.capabilities?.includes(capability));
}

/**
 * Whether a grant makes an identity the owner of a root group. An invite is not accepted yet, nobody knows the members of a
 * directory's group, and an identity of a group below acts there only.
 */
export const isOwnerOfRoot = ({ group, subject, role }: Grant, groups: GroupHierarchy): boolean =>
  group.isRoot && subject.type === "identity" && isOwner(role) && groups.actsAt(subject, group.key);

/** The objects without which a root group would have no owner, by uid: the identity, the binding or the role of all of them. */
export function findLastOwners({ grants, hierarchy }: AccessGraph): ReadonlyMap<string, Scope> {
  const uidsOf = ({ uid, subject, role }: Grant) => [uid, subject.uid, role.uid];
  const byRoot = groupBy(
    grants.filter((grant) => isOwnerOfRoot(grant, hierarchy)),
    ({ group }) => [group.key],
  );
  return new Map(
    [...byRoot.values()].flatMap(([first, ...others]) =>
      first === undefined
        ? []
        : uidsOf(first).flatMap((uid): [string, Scope][] =>
            uid !== undefined && others.every((grant) => uidsOf(grant).includes(uid))
              ? [[uid, first.group]]
              : [],
          ),
    ),
  );
}

/** Compares roles with the built-in roles of one organisation. */
class BuiltInRoles {
  private readonly viewer: ReadonlySet<string> | undefined;
  private readonly liveViewer: ReadonlySet<string>;
  private readonly names: ReadonlySet<string>;

  constructor(comparison: Comparison) {
    const viewer = findViewer(comparison);
    this.viewer = viewer === undefined ? undefined : new Set(viewer);
    this.liveViewer = new Set(findLiveViewer(comparison));
    const live = [...comparison.before.entities.values()].flatMap((entity) =>
      isBuiltInRole(entity) ? (entity.name ?? []) : [],
    );
    this.names = new Set([...builtInRoleNames, ...live].map(foldName));
  }

  /** Whether a name, folded, is that of a role of the platform. */
  hasName(fold: string): boolean {
    return this.names.has(fold);
  }

  /** What a capability allows. One that this version does not know only reads if the server's own `viewer` has it. */
  effectOf(capability: string): CapabilityEffect {
    const { effect, isGuess } = familyOf(capability);
    return isGuess === true && this.liveViewer.has(capability) ? "reads" : effect;
  }

  /** Whether a role does more than read. */
  mayWrite({ capabilities }: GrantedRole): boolean {
    return capabilities?.some((capability) => this.effectOf(capability) !== "reads") ?? true;
  }

  /** Whether a role lets its holder bind roles. The platform made its own roles of this name to create pull tokens only. */
  bindsAnyRole({ builtIn, name, capabilities }: GrantedRole): boolean {
    if (builtIn && name?.endsWith(".pull_token_creator") === true) return false;
    return capabilities?.some((capability) => this.effectOf(capability) === "binding") ?? true;
  }

  /** Whether a role lets its holder change roles and identities, or give itself a role that does. */
  mayAdminister(role: GrantedRole): boolean {
    const isTakeover = role.capabilities?.some((capability) => this.effectOf(capability) === "takeover");
    return isTakeover === true || this.bindsAnyRole(role);
  }

  readonly isOwner = isOwner;

  /** What a role holds that `viewer` does not; where `viewer` is not known, what does more than list what it lists. */
  capabilitiesBeyondViewer({ capabilities = [] }: GrantedRole): readonly string[] {
    const { viewer } = this;
    return capabilities.filter((capability) =>
      viewer
        ? !viewer.has(capability)
        : familyOf(capability).effect !== "reads" || !capability.endsWith("_LIST"),
    );
  }
}
