import { accessMeanings } from "../../fields/fieldSpec";
import type { AccessEffect } from "../../fields/fieldSpec";
import { isObject, stringOrEmpty } from "../../fields/values";
import type { Json } from "../../fields/values";
import { specs } from "../documents/specs";
import { meaningsOf } from "./describedFields";
import type { Entity } from "./model";
import { isPathWithin, pathsOverlap, topProperty } from "./inputLeaves";
import { type SubjectDescription, describeIdentity, describeInvite, describeProvider } from "./trust";
import { isUnread, pathOfUnread } from "./unread";

/** A reference in inputs: the key of a resource, the placeholder of a value that was not read, or undefined. */
export type ReferenceValue = Json | undefined;
/** What a resource grants, before anything is looked up. */
export interface DeclaredGrant {
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
  return decidingFields(kind).some((field) => field.isPrincipal && pathsOverlap(field.path, path));
}

/** Whether a resource of the kind decides by its fields which principal gets existing grants. */
export function hasPrincipal(kind: string): boolean {
  return decidingFields(kind).some(({ isPrincipal }) => isPrincipal);
}

/** Whether a resource of the kind grants something, or passes on what others are granted. */
export function givesAccess(kind: string): boolean {
  const { grants, impersonates, services } = accessKinds[kind] ?? {};
  return [grants, impersonates, services].some((member) => member !== undefined);
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
  const { candidates = [] } = entity;
  if (candidates.length === 0) return { grants: declared, paths: new Set() };
  const named = new Map(candidates.flatMap(({ paths, keys }) => paths.map((path) => [path, keys] as const)));
  const candidatesOf = (value: ReferenceValue): readonly string[] | undefined => {
    const path = isUnread(value) ? pathOfUnread(value) : "";
    return topProperty(path) === path ? undefined : named.get(path);
  };
  // Lists of thousands are told apart by their place, and not by their text.
  const places = new Map(candidates.map(({ keys }, index) => [keys, index] as const));
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
    if (!("identity" in holder) || (holders === undefined && roles === undefined)) {
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

/** The bindings that resources declare which own all bindings of their group. */
export const bindingsOfOwners = (entities: Iterable<Entity>): ReadonlySet<string> =>
  new Set([...entities].filter(({ kind }) => accessKinds[kind]?.ownsBindings).flatMap(bindingKeys));

/** Whether all grants of a binding are among these: beside a resource that owns all bindings of its group it is no other grant. */
export function isBindingOf(bindings: ReadonlySet<string>, entity: Entity): boolean {
  const keys = bindingKeys(entity);
  return keys.length > 0 && keys.every((key) => bindings.has(key));
}

/** Whether resources of the kind bind roles to identities: the list of grants shows all that changes of them. */
export const bindsRoles = (kind: string): boolean =>
  accessKinds[kind]?.binding === true || accessKinds[kind]?.ownsBindings === true;
