import { accessMeanings } from "../../fields/fieldSpec";
import type { AccessEffect } from "../../fields/fieldSpec";
import { isObject, stringOrEmpty, groupBy, compareTexts, getOrCompute } from "../../fields/values";
import type { Json } from "../../fields/values";
import { printable } from "../../text/printable";
import { isUid, parentOf } from "../../text/uid";
import { sha256 } from "../documents/digest";
import { urnParts } from "../documents/engineState";
import { DocumentError, MOST_GROUP_LEVELS, overLimit } from "../documents/jsonText";
import { specs } from "../documents/specs";
import { foldName } from "../trust/writingSystems";
import { meaningsOf, textMeant, pathsMeant, valueAt } from "./describedFields";
import {
  compareGrants,
  shortName,
  tupleOf,
  type Grant,
  type GrantedRole,
  type Named,
  type Subject,
} from "./grant";
import type { Scope } from "./grant";
import { withoutRetained, compositeKey, wholeOf } from "./entityKeys";
import type { Entity, Entities, AccessGraph } from "./model";
import { isPathWithin, topProperty } from "./inputLeaves";
import { type SubjectDescription, describeIdentity, describeInvite, describeProvider } from "./trust";
import { isUnread, pathOfUnread, keyOfUnread, reasonOf, reasonWords } from "./unread";

/** A reference in inputs: the key of a resource, the placeholder of a value that was not read, or undefined. */
type ReferenceValue = Json | undefined;
/** What a resource grants, before anything is looked up. */
interface DeclaredGrant {
  readonly holder:
    | { readonly identity: ReferenceValue }
    /** The resource itself is the subject: whoever accepts the invite, or signs in through the provider. */
    | { readonly type: "invite" | "identityProvider"; readonly description: SubjectDescription }
    | { readonly externalGroup: string; readonly provider: ReferenceValue };
  readonly role: ReferenceValue;
  readonly group: ReferenceValue;
}
/** What a kind means for access beside what the meanings of its fields say. */
interface KindGrants {
  /** It gives a role to a group of a directory. */
  readonly mapsGroups?: true;
  /** The properties of which a comparison of grants shows each difference; `true` for all but ends. */
  readonly shownByGrants?: true | readonly string[];
  readonly grants?: (entity: Entity) => DeclaredGrant[];
  /** The resource whose subjects the owner of this one can choose: a SCIM token writes the users of its directory. */
  readonly impersonates?: (entity: Entity) => {
    readonly subject: SubjectDescription;
    readonly directory: ReferenceValue;
  };
  /** Services that act as identities, and so have their grants. */
  readonly services?: (entity: Entity) => readonly (readonly [service: string, identity: ReferenceValue])[];
  /** It is one role binding, by which the server refuses to delete the role. */
  readonly binding?: true;
  /** It owns all role bindings of its group: what the server lists there is not another grant. */
  readonly ownsBindings?: true;
}
/**
 * What a kind means for access. A property that a rule needs stands here or in the kind's description, so that rules name
 * no kind but Group, Role and RoleBinding.
 */
interface AccessKind extends KindGrants {
  /** Describes the subject of the grants of this resource. */
  readonly describeHolder?: (entity: Entity) => SubjectDescription;
  /** Principals assume it by a token or a key. */
  readonly assumable?: true;
  /** Whoever redeems it joins: it may name an address, a number of uses and an end. */
  readonly invite?: true;
  /** It decides who signs in: a provider by its fields, a directory token by its possession. */
  readonly signIn?: "provider" | "directoryToken";
}
const kindGrants: Readonly<Record<string, KindGrants>> = {
  Group: {},
  Role: { shownByGrants: true },
  RoleBinding: {
    binding: true,
    shownByGrants: true,
    grants: ({ inputs }) => [
      {
        holder: { identity: inputs["identityUid"] },
        role: inputs["roleUid"],
        group: inputs["parentUid"],
      },
    ],
  },
  GroupAccess: {
    shownByGrants: ["parentUid", "bindings"],
    grants: ({ inputs }) => {
      const bindings = inputs["bindings"];
      // What was not read hides a grant, or all of them.
      const entries = isObject(bindings) ? Object.values(bindings) : isUnread(bindings) ? [bindings] : [];
      return entries.map((binding) => {
        const { identityUid, roleUid } = isObject(binding)
          ? binding
          : { identityUid: binding, roleUid: binding };
        return { holder: { identity: identityUid }, role: roleUid, group: inputs["parentUid"] };
      });
    },
    ownsBindings: true,
  },
  GroupInvite: {
    shownByGrants: true,
    grants: (entity) => [
      {
        holder: { type: "invite", description: describeInvite(entity) },
        role: entity.inputs["roleUid"],
        group: entity.inputs["parentUid"],
      },
    ],
  },
  IdentityProvider: {
    shownByGrants: ["defaultRole"],
    grants: (entity) => [
      {
        holder: { type: "identityProvider", description: describeProvider(entity) },
        role: entity.inputs["defaultRole"],
        group: entity.inputs["parentUid"],
      },
    ],
  },
  ExternalGroupRoleMapping: {
    mapsGroups: true,
    shownByGrants: true,
    grants: ({ inputs }) => [
      {
        holder: { externalGroup: stringOrEmpty(inputs["externalGroupId"]), provider: inputs["parentUid"] },
        role: inputs["roleUid"],
        group: inputs["scope"],
      },
    ],
  },
  ScimToken: {
    impersonates: ({ inputs }) => ({
      subject: { displayName: "whoever has a SCIM token", matchesMany: true },
      directory: inputs["parentUid"],
    }),
  },
  AccountAssociation: {
    services: ({ inputs: { chainguard } }) => {
      const bound = isObject(chainguard) ? chainguard["serviceBindings"] : undefined;
      return Object.entries(isObject(bound) ? bound : {});
    },
    shownByGrants: ["chainguard.serviceBindings"],
  },
};
/** Whether a kind is a part of every grant: the identity that gets a role on a group. Reports name these alone. */
export function isGrantPart(kind: string): boolean {
  return kind === "Identity" || kind === "Role" || kind === "Group";
}
/** A field that says what existing grants allow, or to whom. */
interface DecidingField {
  readonly path: string;
  readonly isPrincipal: boolean;
}
const decidingByKind = new Map(
  Object.keys(specs).map((kind) => [
    kind,
    meaningsOf(kind).flatMap(({ path, meaning }): DecidingField[] => {
      const { decides } = accessMeanings[meaning];
      return decides === undefined ? [] : [{ path, isPrincipal: decides === "principal" }];
    }),
  ]),
);
const decidingFields = (kind: string): readonly DecidingField[] => decidingByKind.get(kind) ?? [];
/** What the meanings of the fields of a kind say of it; undefined where it has nothing to do with grants. */
function describeKind(kind: string): AccessKind | undefined {
  const has = (start: string): boolean => meaningsOf(kind).some(({ meaning }) => meaning.startsWith(start));
  const declared = kindGrants[kind];
  if (declared === undefined && decidingFields(kind).length === 0) return undefined;
  return {
    ...(has("signIn.") && { signIn: "directoryToken" }),
    ...(has("signIn.issuer") && { describeHolder: describeProvider, signIn: "provider" }),
    ...(has("invite.") && { describeHolder: describeInvite, invite: true }),
    ...(has("trust.") && { describeHolder: describeIdentity, assumable: true, shownByGrants: true }),
    ...declared,
  };
}
/** Without a prototype: a kind may be called `constructor`. */
export const accessKinds: Readonly<Record<string, AccessKind | undefined>> = Object.assign(
  Object.create(null) as Record<string, AccessKind>,
  Object.fromEntries(
    Object.keys(specs).flatMap((kind) => {
      const described = describeKind(kind);
      return described === undefined ? [] : [[kind, described]];
    }),
  ),
);
/** The kinds of which a resource itself is the subject of grants. */
export const subjectKinds: readonly string[] = Object.keys(accessKinds).filter(
  (kind) => accessKinds[kind]?.describeHolder !== undefined,
);
/** Whether lists of grants, exceptions and programs call objects of the kind by name. They call groups by path. */
export function isCalledByName(kind: string): boolean {
  return kind !== "Group" && (isGrantPart(kind) || accessKinds[kind]?.describeHolder !== undefined);
}
/** Whether a property is, or stands beside, one that decides who the subject of existing grants is, or what these grants allow. */
export function isAccessField(kind: string, path: string): boolean {
  const property = topProperty(path);
  return decidingFields(kind).some(({ path: deciding }) => topProperty(deciding) === property);
}
/** Whether a comparison of grants shows each difference of a property. */
export function isShownByGrants(kind: string, path: string, effect: AccessEffect | "none"): boolean {
  const shown = accessKinds[kind]?.shownByGrants ?? [];
  return shown === true
    ? effect !== "expiry" && effect !== "other"
    : shown.some((property) => isPathWithin(path, property));
}
/** Whether a property decides which principal gets existing grants. */
export function isPrincipalField(kind: string, path: string): boolean {
  const isAround = (one: string, other: string): boolean =>
    isPathWithin(one, other) || isPathWithin(other, one);
  return decidingFields(kind).some((field) => field.isPrincipal && isAround(field.path, path));
}

/** Whether a resource of the kind decides by its fields which principal gets existing grants. */
export function hasPrincipal(kind: string): boolean {
  return decidingFields(kind).some(({ isPrincipal }) => isPrincipal);
}
export function grantsIn(entity: Entity): DeclaredGrant[] {
  return accessKinds[entity.kind]?.grants?.(entity) ?? [];
}
/** How many grants are listed for what a resource may grant: one that may name any of very many cannot be judged. */
const MOST_ALTERNATIVES = 400;

/** What a resource grants, and what it may grant. */
interface PossibleGrants {
  readonly grants: readonly (DeclaredGrant & { readonly isOneOf?: true })[];
  /** The paths of the references that were not read, and of which `grants` has all that they can name. */
  readonly paths: ReadonlySet<string>;
}

/** Grants that are alike but for a holder and a role, each of which is one of several. */
interface Alternatives {
  readonly grant: DeclaredGrant;
  readonly holders: readonly ReferenceValue[];
  readonly roles: readonly ReferenceValue[];
}

/**
 * What a resource grants. Where one of the references of a property is that of one of several, which of them is known after the
 * update only: then each grant that it may be. A property that is one reference, and comes from several, is computed: nobody knows
 * from what.
 */
export function possibleGrants(entity: Entity): PossibleGrants {
  const declared = grantsIn(entity);
  const named = new Map(
    (entity.candidates ?? []).flatMap(({ paths, keys }) => paths.map((path) => [path, keys] as const)),
  );
  const candidatesOf = (value: ReferenceValue): readonly string[] | undefined => {
    const path = isUnread(value) ? pathOfUnread(value) : "";
    return topProperty(path) === path ? undefined : named.get(path);
  };
  if (named.size === 0) return { grants: declared, paths: new Set() };
  // Lists of thousands are told apart by their place, and not by their text.
  const places = new Map((entity.candidates ?? []).map(({ keys }, index) => [keys, index] as const));
  const placeOf = (keys: readonly string[] | undefined, value: unknown): unknown =>
    keys === undefined ? [value] : places.get(keys);
  const paths = new Set<string>();
  const known: DeclaredGrant[] = [];
  /** Entries that may name the same are the same. */
  const open = new Map<string, Alternatives>();
  for (const grant of declared) {
    const { holder, role } = grant;
    const identity = "identity" in holder ? holder.identity : undefined;
    const [holders, roles] = [candidatesOf(identity), candidatesOf(role)];
    if (holders === undefined && roles === undefined) {
      known.push(grant);
      continue;
    }
    if (holders !== undefined && isUnread(identity)) paths.add(pathOfUnread(identity));
    if (roles !== undefined && isUnread(role)) paths.add(pathOfUnread(role));
    const shape = JSON.stringify([placeOf(holders, holder), placeOf(roles, role)]);
    open.set(shape, { grant, holders: holders ?? [identity], roles: roles ?? [role] });
  }
  const count = [...open.values()].reduce(
    (sum, { holders, roles }) => sum + holders.length * roles.length,
    0,
  );
  if (open.size === 0 || count > MOST_ALTERNATIVES) return { grants: declared, paths: new Set() };
  const possible = [...open.values()].flatMap(({ grant, holders, roles }) =>
    holders.flatMap((identity) =>
      roles.map((role) => ({
        ...grant,
        ...("identity" in grant.holder ? { holder: { identity } } : {}),
        role,
        isOneOf: true as const,
      })),
    ),
  );
  return { grants: [...known, ...possible], paths };
}

/** A key for each binding of a resource: identity, role and group. */
export function bindingKeys(entity: Entity): string[] {
  return possibleGrants(entity).grants.flatMap(({ holder, role, group }) =>
    "identity" in holder ? [JSON.stringify([holder.identity, role, group])] : [],
  );
}

/** Whether resources of the kind bind roles to identities: the list of grants shows all that changes of them. */
export const bindsRoles = (kind: string): boolean =>
  accessKinds[kind]?.binding === true || accessKinds[kind]?.ownsBindings === true;

/**
 * The path of a group: names from the root down. A slash in a name is escaped, so that one group whose name is
 * `acme / sandbox` does not have the path of the group sandbox in acme.
 */
export function groupPath(names: readonly string[]): string {
  return names.map((name) => name.replace(/[\\/]/g, "\\$&")).join(" / ");
}

/** Groups by key: their names and places. */
export class GroupHierarchy {
  private readonly scopes = new Map<string, Scope>();
  private readonly chains = new Map<string, readonly string[]>();

  constructor(private readonly entities: Entities) {}

  /** The key of the parent; undefined for a root, and if it is unknown. */
  parentOf(key: string): string | undefined {
    const entity = this.entities.get(key);
    if (entity === undefined) return isUid(key) ? parentOf(key) : undefined;
    const parent = entity.inputs["parentUid"];
    // A uid contains the parent's uid; the inputs of a resource read with `.get` are unverified.
    const isReliable = typeof parent === "string" && parent !== "" && !isUnread(parent) && !entity.claimed;
    if (isReliable) return parent;
    return entity.uid === undefined ? undefined : parentOf(entity.uid);
  }

  /** The group that an identity lies in: it acts there and below only. Undefined for other holders, and where it is not known. */
  ownGroupOf({ type, key }: Subject): string | undefined {
    return type === "identity" ? this.parentOf(key) : undefined;
  }

  /** Whether a holder can do at a group what its roles allow. */
  actsAt(subject: Subject, group: string): boolean {
    const own = this.ownGroupOf(subject);
    if (own === undefined) return !isUnread(this.entities.get(subject.key)?.inputs["parentUid"]);
    return this.chain(group).includes(own);
  }

  /**
   * The group from which downwards a holder can do what its roles at a group allow: that of its identity, where this lies below
   * it. Undefined where it never can.
   */
  actsFrom(subject: Subject, group: string): string | undefined {
    const own = this.ownGroupOf(subject);
    if (own === undefined || this.chain(group).includes(own)) return group;
    return this.chain(own).includes(group) ? own : undefined;
  }

  /**
   * The key itself and its ancestors', from below.
   *
   * @throws DocumentError where groups are nested too deeply, since what is compared for each of them has all above it, and
   *   where a group lies in itself: nobody can say who has access there.
   */
  chain(key: string): readonly string[] {
    return getOrCompute(this.chains, key, () => this.findChain(key));
  }

  private findChain(key: string): readonly string[] {
    const chain: string[] = [];
    for (let at: string | undefined = key; at !== undefined; at = this.parentOf(at)) {
      if (chain.includes(at)) {
        const names = chain
          .slice(chain.indexOf(at))
          .map((each) => printable(labelByKey(this.entities, each), 80));
        throw new DocumentError(
          "PP6003",
          `the document says that the group ${names.join(" lies in ")} lies in ${names[0] ?? ""}: write it again`,
        );
      }
      if (chain.length === MOST_GROUP_LEVELS) {
        const name = printable(labelByKey(this.entities, key), 80);
        throw overLimit(`the group ${name} lies below more groups`, String(MOST_GROUP_LEVELS), "move it up");
      }
      chain.push(at);
    }
    return chain;
  }

  scope(key: string): Scope {
    return getOrCompute(this.scopes, key, () => {
      const chain = this.chain(key);
      const entity = this.entities.get(key);
      return {
        ...findNamed(this.entities, key),
        path: groupPath(chain.map((step) => labelByKey(this.entities, step)).reverse()),
        isRoot:
          chain.length === 1 &&
          (isUid(key) || (entity !== undefined && !isUnread(entity.inputs["parentUid"]))),
      };
    });
  }
}

/** The groups on both sides of a change. */
export interface Hierarchies {
  readonly before: GroupHierarchy;
  readonly after: GroupHierarchy;
}

export const hierarchiesOf = (before: Entities, after: Entities): Hierarchies => ({
  before: new GroupHierarchy(before),
  after: new GroupHierarchy(after),
});

function findNamed(entities: Entities, key: string): Named {
  const entity = entities.get(key);
  if (entity) return { key, uid: entity.uid, urn: entity.urn, name: entity.name };
  return { key, ...(isUid(key) ? { uid: key } : {}) };
}
/**
 * The names of objects of which another one of the kind has the same name, each with what tells it apart: the issuer of a
 * provider, the group that it is in, and its uid. So is a name that reads as if it had that already.
 */
export function distinctLabels(entities: Entities): ReadonlyMap<string, string> {
  const named = [...entities.values()].filter(({ kind, name }) => isCalledByName(kind) && name !== undefined);
  const alike = groupBy(named, ({ kind, name = "" }) => [JSON.stringify([kind, foldName(name)])]);
  const hierarchy = new GroupHierarchy(entities);
  const labels = new Map<string, string>();
  for (const namesakes of alike.values()) {
    const isAlone = new Set(namesakes.map(({ key }) => withoutRetained(key))).size < 2;
    if (isAlone && !namesakes.some(({ name = "" }) => isLikeLabel(name))) continue;
    for (const namesake of namesakes) {
      const { key, uid, name = "", inputs, builtIn } = namesake;
      const { parentUid } = inputs;
      const issuer = textMeant(namesake, "signIn.issuer");
      const isPlaced = typeof parentUid === "string" && parentUid !== "" && !isUnread(parentUid);
      const parts = [
        ...(issuer === undefined ? [] : [issuer]),
        ...(builtIn ? ["built in"] : isPlaced ? [`in ${hierarchy.scope(parentUid).path}`] : []),
        uid === undefined ? "new" : `uid ${uid.includes("/") ? `…${uid.slice(uid.lastIndexOf("/"))}` : uid}`,
      ];
      labels.set(key, `${name} (${parts.join(", ")})`);
    }
  }
  return labels;
}

/** Whether a name reads as a label does: `viewer (built in)`. */
const isLikeLabel = (name: string): boolean =>
  name.includes("(") && /built[\s_-]?in|\buid\b|\bnew\)/i.test(name);

/** What to call something in few letters: its name, the program's name of it, or the end of its uid. */
export function labelByKey(entities: Entities, key: string): string {
  const entity = entities.get(key);
  if (entity?.name !== undefined) return entity.name;
  if (entity?.urn !== undefined) {
    const { formerName = urnParts(entity.urn).name, unread = [] } = entity;
    // The program chooses the name of a resource: it may be that of another object.
    return unread.some(({ path }) => path === "name") ? `${formerName} (name not known)` : formerName;
  }
  return isUid(key) ? key.slice(key.lastIndexOf("/") + 1).slice(0, 12) : key;
}
/** Identifies a grant by subject, role and the path of the group, so that a moved group has other grants than before. */
export function grantKey(grant: Grant, hierarchy: GroupHierarchy): string {
  // The old object of a replacement, left at the server by `retainOnDelete`, is what it was.
  const keys = [grant.subject.key, grant.role.key, ...hierarchy.chain(grant.group.key)];
  return JSON.stringify(keys.map(withoutRetained));
}

/** Whether a grant is of what stays at the server beside its successor. */
export const isOfRetained = ({ subject, role }: Grant): boolean =>
  [subject, role].some(({ key }) => withoutRetained(key) !== key);

/** The keys of the resources that say who a subject is. */
export function definersOf({ type, key, name }: Subject, entities: Entities): readonly string[] {
  const owner = wholeOf(key) ?? key;
  switch (type) {
    case "unknown":
      return [];
    case "identity":
      return [key];
    case "externalGroup":
      return [owner];
    case "invite":
    case "identityProvider":
      // The key of an invite with an address, and that of a SCIM token, are made of that of the resource.
      return [entities.has(key) ? key : owner];
    case "service": {
      const association = entities.get(owner);
      const services = (association && accessKinds[association.kind]?.services?.(association)) ?? [];
      return services.flatMap(([service, identity]) =>
        service === name && typeof identity === "string" ? [identity] : [],
      );
    }
  }
}

/** Returns the key of a resource's own subject. It contains the e-mail address of an invite, so that another address is another subject. */
function subjectKey({ kind, key, inputs }: Entity): string {
  const [path] = pathsMeant(kind, "invite.address");
  const address = path === undefined ? undefined : valueAt(inputs, path);
  if (typeof address !== "string" || address === "") return key;
  return isUnread(address) ? keyOfUnread(address) : compositeKey("invite", key, address);
}

/** A subject that has the grants of another one through a resource: a service, or whoever has a SCIM token. */
interface InheritingSubject {
  readonly through: Entity;
  readonly subject: Subject;
  /** Whose grants: an identity or a directory. */
  readonly source: string;
}

/**
 * How many inherited grants are listed one by one. A few hundred services of an identity with a few hundred roles are
 * more than a report can hold.
 */
export const MOST_INHERITED = 3_000;

/** One grant that stands for all that a subject inherits: another one as soon as one of them is another. */
function summarize(inherited: readonly Grant[], source: string): Pick<Grant, "role" | "group"> {
  const known = inherited.map(({ role }) => role.capabilities);
  const capabilities = known.includes(undefined)
    ? undefined
    : [...new Set(known.flatMap((names) => names ?? []))].sort(compareTexts);
  const each = inherited.map((grant) => `${tupleOf(grant)} ${grant.role.capabilities?.join() ?? ""}`);
  const key = compositeKey("inherited", source, sha256(each.sort(compareTexts).join("\n")));
  return {
    role: { key, name: `each of ${inherited.length} roles`, builtIn: false, capabilities },
    group: { key, path: "their groups", isRoot: inherited.some(({ group }) => group.isRoot) },
  };
}

/**
 * The grants of the subjects that inherit. Identities and directories of which few are inherited come first, so that one with
 * very many hides no other.
 */
function inheritGrants(
  inheriting: readonly InheritingSubject[],
  bySubject: ReadonlyMap<string, readonly Grant[]>,
): Grant[] {
  const bySource = Array.from(
    groupBy(inheriting, ({ source }) => [source]),
    ([source, subjects]) => {
      const inherited = bySubject.get(source) ?? [];
      return { source, subjects, inherited, count: subjects.length * inherited.length };
    },
  );
  bySource.sort((a, b) => a.count - b.count || compareTexts(a.source, b.source));
  let left = MOST_INHERITED;
  return bySource.flatMap(({ source, subjects, inherited, count }) => {
    left -= count;
    const passed = left >= 0 || inherited.length <= 1 ? inherited : [summarize(inherited, source)];
    return subjects.flatMap(({ through, subject }) => {
      const { kind, urn, uid, location } = through;
      return passed.map(({ role, group }) => ({
        subject,
        role,
        group,
        sourceKind: kind,
        urn,
        uid,
        location,
      }));
    });
  });
}

/** The subject of a grant whose reference to it was not read. */
function unknownSubject(unread: string, what: string): Subject {
  return {
    type: "unknown",
    key: keyOfUnread(unread),
    displayName: `${what} that ${reasonWords(reasonOf(unread))}`,
    matchesMany: false,
  };
}

/** Whether a reference leads anywhere at all; one that was followed to nothing is empty. */
const isResolved = (reference: ReferenceValue): reference is string =>
  typeof reference === "string" && reference !== "";

/** Whether it leads to an object that is known. */
const isFollowed = (reference: ReferenceValue): reference is string =>
  isResolved(reference) && !isUnread(reference);

/**
 * Resolves every grant of a set of resources. Sorted.
 *
 * @param more Further resources that grant something: an earlier version of one, beside it.
 */
export function resolveGrants(entities: Entities, more: readonly Entity[] = []): Grant[] {
  const hierarchy = new GroupHierarchy(entities);
  const labels = distinctLabels(entities);
  const named = (key: string): Named => ({ ...findNamed(entities, key), label: labels.get(key) });
  const labelOf = (key: string): string => labels.get(key) ?? labelByKey(entities, key);

  const subjects = new Map<string, Subject>();
  const resolveIdentity = (key: string): Subject =>
    getOrCompute(subjects, key, () => {
      const entity = entities.get(key);
      const description = entity
        ? describeIdentity(entity, labels.get(key))
        : { displayName: `identity ${key}`, matchesMany: false };
      return { type: "identity", ...named(key), ...description };
    });

  const roles = new Map<string, GrantedRole>();
  const resolveRole = (key: string): GrantedRole =>
    getOrCompute(roles, key, () => {
      const entity = entities.get(key);
      // Built-in roles lie in no group (contract, section 1).
      const builtIn = entity?.builtIn ?? (isUid(key) && parentOf(key) === undefined);
      return { ...named(key), builtIn, capabilities: readRoleCapabilities(entity) };
    });

  /** The subject of a grant; undefined where the reference to it leads to nothing. */
  const resolveSubject = (entity: Entity, { holder }: DeclaredGrant): Subject | undefined => {
    if ("identity" in holder) {
      const { identity } = holder;
      if (isUnread(identity)) return unknownSubject(identity, "an identity");
      return isResolved(identity) ? resolveIdentity(identity) : undefined;
    }
    if ("type" in holder) {
      const own = named(entity.key);
      const { displayName: described, matchesMany } = holder.description;
      const displayName = own.label === undefined ? described : `${described}: ${own.label}`;
      return { ...own, key: subjectKey(entity), type: holder.type, displayName, matchesMany };
    }
    const { provider, externalGroup } = holder;
    const unread = [provider, externalGroup].find(isUnread);
    if (unread !== undefined) return unknownSubject(unread, "a group of an identity provider");
    if (!isResolved(provider)) return undefined;
    return {
      type: "externalGroup",
      key: compositeKey("externalGroup", provider, externalGroup),
      name: externalGroup,
      displayName: `group “${externalGroup}” of ${labelOf(provider)}`,
      matchesMany: false,
    };
  };

  // The program alone claims that a resource read with `.get` grants something: that is neither new nor existing access.
  const granting = [...entities.values(), ...more].filter(({ claimed }) => claimed !== true);
  const direct = granting.flatMap((entity) =>
    possibleGrants(entity).grants.flatMap((declared): Grant[] => {
      const { role, group, isOneOf } = declared;
      const subject = resolveSubject(entity, declared);
      if (subject === undefined || !isResolved(role) || !isResolved(group)) return [];
      const { kind, urn, uid, location } = entity;
      const grant: Grant = {
        subject,
        role: isUnread(role)
          ? { key: keyOfUnread(role), name: `a role that ${reasonWords(reasonOf(role))}`, builtIn: false }
          : resolveRole(role),
        group: isUnread(group)
          ? { key: keyOfUnread(group), path: `a group that ${reasonWords(reasonOf(group))}`, isRoot: false }
          : hierarchy.scope(group),
        sourceKind: kind,
        urn,
        uid,
        location,
        ...(isOneOf ? { isOneOf } : {}),
      };
      return [grant];
    }),
  );
  const bySubject = groupBy(direct, ({ subject }) => [
    // The grants of a directory group are inherited through its identity provider.
    subject.type === "externalGroup" ? (wholeOf(subject.key) ?? subject.key) : subject.key,
  ]);

  // Whoever can write the users of a directory gets the grants of those users; a service those of the identity that it acts as.
  const inheriting = granting.flatMap((through): InheritingSubject[] => {
    const { impersonates, services } = accessKinds[through.kind] ?? {};
    const { directory, subject: who } = impersonates?.(through) ?? {};
    const inherited: InheritingSubject[] = [];
    if (who !== undefined && isFollowed(directory)) {
      const subject: Subject = {
        type: "identityProvider",
        key: compositeKey("scimToken", through.key),
        name: through.name,
        displayName: `${who.displayName} of “${labelOf(directory)}”`,
        matchesMany: who.matchesMany,
      };
      inherited.push({ through, subject, source: directory });
    }
    for (const [service, identity] of services?.(through) ?? []) {
      if (!isFollowed(identity)) continue;
      const subject: Subject = {
        type: "service",
        key: compositeKey("service", through.key, service),
        name: service,
        displayName: `the platform's service ${service}, as ${shortName(resolveIdentity(identity))}`,
        matchesMany: false,
      };
      inherited.push({ through, subject, source: identity });
    }
    return inherited;
  });
  return [...direct, ...inheritGrants(inheriting, bySubject)].sort(compareGrants);
}

/** Everything that exists, with what it grants. Sorted; two resources that grant the same are both there. */
export function graphOf(entities: Entities): AccessGraph {
  return { entities, grants: resolveGrants(entities) };
}

/** What a role allows, sorted; undefined where a part of it was not read. */
export function readRoleCapabilities(
  role: Pick<Entity, "inputs"> | undefined,
): readonly string[] | undefined {
  const value = role?.inputs["capabilities"];
  if (!Array.isArray(value)) return undefined;
  const names = value.filter((item): item is string => typeof item === "string" && /^CAP_/.test(item));
  return names.length === value.length ? [...new Set(names)].sort() : undefined;
}
