import { SECRET_MASK } from "../../fields/values";
import { GroupHierarchy, groupPath } from "../graph/groupHierarchy";
import type { Entity } from "../graph/model";
import type { Comparison } from "../review/comparison";
import type { MatchKey } from "./policyDocument";
import { specs } from "../documents/specs";
import type { Finding } from "../review/finding";
import type { Grant, Named, Scope, Subject } from "../graph/grant";
import { GrantEffects } from "../graph/grantIndex";
import { describeTrust } from "../graph/trust";
import { accessKinds } from "../graph/accessKinds";
import { isHiddenProperty } from "../graph/resourcePlan";

type Texts = readonly (string | undefined)[];

/** What each key of `match` is compared with. */
export interface MatchTexts extends Readonly<Record<MatchKey, Texts>> {
  /** The further groups in which the object of a finding gives something: `group` must match each of them too. */
  readonly reach: readonly Texts[];
}

const scopeTexts = (scope: Scope | undefined): Texts => [scope?.path, scope?.name, scope?.uid];

/** All strings of a finding that an entry can match, including names that the program chose. */
export function statedTexts({ uid, name, kind, grant, group, trust }: Finding): MatchTexts {
  const own = kind === "Role" ? [name, uid] : [];
  const scope = grant?.group ?? group;
  return {
    uid: [uid, grant?.uid, grant?.subject.uid],
    name: [name, grant?.subject.name],
    subject: [grant?.subject.displayName, grant?.subject.name, grant?.subject.uid, trust?.subject],
    issuer: [trust?.issuer],
    role: [grant?.role.name, grant?.role.uid, ...own],
    group: scopeTexts(scope),
    reach: [],
  };
}

/** What a finding is about: the resource itself, where there is no grant. */
function aboutOf({ grant, uid, name, kind, group }: Finding): readonly Partial<Named>[] {
  const about: (Partial<Named> | undefined)[] =
    grant === undefined
      ? [kind === undefined ? undefined : { uid, name }, group]
      : [grant.subject, grant.role, grant.group];
  return about.filter((named) => named !== undefined);
}

export function displayNameOf(entity: Entity): string | undefined {
  return accessKinds[entity.kind]?.describeHolder?.(entity).displayName;
}

/** A group's name with slashes escaped, so that it never equals the path of a nested group. */
export function escapeName({ name }: Entity): string | undefined {
  return name === undefined ? undefined : groupPath([name]);
}

/** Whether a document does not say in which group something lies: the value is a secret, not known yet or assumed. */
function isParentUnknown(entity: Entity | undefined): boolean {
  if (entity === undefined) return false;
  const isAssumed = entity.assumptions?.some(({ property }) => property === "parentUid") === true;
  return isAssumed || isHiddenProperty(entity, "parentUid");
}

/** Removes the strings that an entry may match. */
const withoutTexts = <T extends Named>(named: T): T => ({
  ...named,
  uid: undefined,
  name: undefined,
  ...("path" in named ? { path: "" } : {}),
});

/** The uids of a grant, which tell whether it existed before the change; undefined if one of its objects has none. */
function grantUids({ uid, subject, role, group }: Grant): string | undefined {
  const uids = [uid, subject.uid, role.uid, group.uid];
  return uids.includes(undefined) ? undefined : JSON.stringify(uids);
}

/**
 * Tells what of a finding a suppression may match: uids, and the names, paths and trust that the same object had
 * before the change and has after it. What the change makes, renames or moves has no name here.
 */
export class VerifiedTexts {
  private readonly recorded: ReadonlyMap<string, Entity>;
  private readonly before: GroupHierarchy;
  private readonly after: GroupHierarchy;
  private readonly byUid = new Map<string, Entity>();
  private readonly grants: ReadonlySet<string | undefined>;
  private readonly effects: GrantEffects | undefined;
  /** The keys and uids of all that an unknown reference is taken to name. */
  private readonly assumed = new Set<string | undefined>();

  constructor(private readonly comparison?: Comparison) {
    this.recorded = comparison?.recorded ?? new Map<string, Entity>();
    this.before = new GroupHierarchy(this.recorded);
    const entities = comparison?.after.entities ?? new Map<string, Entity>();
    this.after = new GroupHierarchy(entities);
    for (const entity of entities.values()) {
      const { uid, kind, assumptions = [] } = entity;
      for (const { key } of assumptions) this.assumed.add(key).add(entities.get(key)?.uid ?? key);
      // A part of another object has the uid of that one.
      if (uid === undefined || specs[kind]?.sharesParentUid === true || this.byUid.has(uid)) continue;
      this.byUid.set(uid, entity);
    }
    this.effects = comparison && new GrantEffects(comparison);
    this.grants = new Set(comparison?.before.grants.map(grantUids));
  }

  /** Whether an object of a finding has a uid, but only the program states its name. */
  isUnverified(finding: Finding): boolean {
    // After drift the inventory contains every name.
    if (this.comparison?.drift !== undefined) return false;
    return aboutOf(finding).some(({ uid }) => uid !== undefined && !this.recorded.has(uid));
  }

  /** The strings of a finding that an entry may match: names and trust only if the change leaves them as they were. */
  of(finding: Finding): MatchTexts {
    // What drift finds is named by the state or by the live organisation.
    if (finding.drift !== undefined)
      return { ...statedTexts(finding), reach: this.reachOf(finding, scopeTexts) };
    const { trust, uid, name, kind } = finding;
    const group = finding.group && this.omitAssumedTexts(finding.group);
    const grant = finding.grant && {
      ...finding.grant,
      subject: this.omitAssumedTexts(finding.grant.subject),
      role: this.omitAssumedTexts(finding.grant.role),
      group: this.omitAssumedTexts(finding.grant.group),
    };
    const own = grant === undefined ? this.recordOf({ uid, name }, kind) : this.recordOf(grant.subject);
    const before = describeTrust(own);
    const ownName = own !== undefined && own.name === name ? name : undefined;
    const role = this.recordOf(grant?.role, "Role");
    const isRole = kind === "Role" && grant === undefined;
    return {
      uid: [grant === undefined ? uid : this.grantingUid(grant), grant?.subject.uid],
      // What is about no object has a name that the rule itself gives.
      name: [aboutOf(finding).length === 0 ? name : ownName],
      subject: [
        ...this.subjectTexts(grant?.subject, own),
        trust?.subject === before?.subject && trust?.subject !== SECRET_MASK ? trust?.subject : undefined,
      ],
      issuer: [trust?.issuer === before?.issuer && trust?.issuer !== SECRET_MASK ? trust?.issuer : undefined],
      role: [role?.name, grant?.role.uid, ...(isRole ? [ownName, uid] : [])],
      group: this.groupTexts(grant?.group ?? group),
      reach: this.reachOf(finding, (scope) => this.groupTexts(scope)),
    };
  }

  /** An identity in one group may be bound in another one: whoever accepts findings in the first accepts none there. */
  private reachOf({ grant, kind, uid, urn }: Finding, textsOf: (scope: Scope) => Texts): readonly Texts[] {
    const key = uid ?? urn;
    if (grant !== undefined || kind === undefined || key === undefined) return [];
    const groups = new Map<string, Scope>();
    for (const { group } of this.effects?.of({ key, kind, uid, urn }) ?? []) {
      groups.set(JSON.stringify([group.key, group.path]), group);
    }
    return [...groups.values()].map((group) => textsOf(this.omitAssumedTexts(group)));
  }

  /**
   * Removes the strings of an object that is only assumed, since a preview does not distinguish the id of an object from
   * a value derived from it.
   */
  private omitAssumedTexts<T extends Named>(named: T): T {
    return this.assumed.has(named.key) || (named.uid !== undefined && this.assumed.has(named.uid))
      ? withoutTexts(named)
      : named;
  }

  /** A binding is the same one only while it grants the same to the same. */
  private grantingUid(grant: Grant): string | undefined {
    // What lives already is no program's claim.
    if (this.comparison?.drift !== undefined) return grant.uid;
    const uids = grantUids(grant);
    return uids !== undefined && this.grants.has(uids) ? grant.uid : undefined;
  }

  /** An object as it is recorded, where its name is the same before the change, after it and in the finding. */
  private recordOf(named: Partial<Named> | undefined, kind?: string): Entity | undefined {
    const record = this.recorded.get(named?.uid ?? "");
    if (named === undefined || record === undefined) return undefined;
    const after = this.byUid.get(record.key);
    const isRenamed = record.name !== named.name || (after !== undefined && after.name !== record.name);
    return isRenamed || (kind !== undefined && record.kind !== kind) ? undefined : record;
  }

  private subjectTexts(
    subject: Subject | undefined,
    record: Entity | undefined,
  ): readonly (string | undefined)[] {
    if (subject === undefined) return [];
    const words = record === undefined ? undefined : displayNameOf(record);
    return [words === subject.displayName ? words : undefined, record?.name, subject.uid];
  }

  private groupTexts(
    scope: (Named & { readonly path: string }) | undefined,
  ): readonly (string | undefined)[] {
    const record = this.recordOf(scope, "Group");
    if (scope === undefined || record === undefined) return [scope?.uid];
    const { path } = this.before.scope(record.key);
    const after = this.byUid.get(record.key);
    const isThere = after === undefined || this.after.scope(after.key).path === path;
    const isStill = isThere && this.isUnmoved(record.key, after);
    return [isStill && scope.path === path ? path : undefined, escapeName(record), scope.uid];
  }

  /**
   * Whether a group has the same groups above it as before. It compares uids, since several groups can have the same
   * name.
   */
  private isUnmoved(uid: string, after: Entity | undefined): boolean {
    const before = this.before.chain(uid);
    if (before.some((key) => isParentUnknown(this.recorded.get(key)))) return false;
    if (after === undefined) return true;
    const entities = this.comparison?.after.entities;
    const now = this.after.chain(after.key).map((key) => {
      const entity = entities?.get(key);
      return entity === undefined ? key : isParentUnknown(entity) ? undefined : entity.uid;
    });
    return JSON.stringify(now) === JSON.stringify(before);
  }
}
