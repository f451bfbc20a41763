import { isUid, parentOf } from "../../api/uid";
import { compositeKey, ownerOf } from "./keys";
import type { AccessGraph, Entities, Entity } from "./model";
import { compareGrants, type Grant, type GrantedRole, type Subject } from "./grant";
import { describeIdentity } from "./subjects";
import { isUnread, keyOfUnread, reasonOf, reasonWords } from "./unread";
import { readRoleCapabilities } from "./roleCapabilities";
import { GroupHierarchy, findNamed, labelByKey } from "./groupHierarchy";
import { type Reference, type DeclaredGrant, grantsIn, accessKinds } from "./accessKinds";

/** A grant, and the keys of the entities that define who its subject is. */
export interface ResolvedGrant {
  readonly grant: Grant;
  readonly subjectEntityKeys: readonly string[];
}

/** Returns the key of a resource's own subject. It contains the e-mail address of an invite, so that another address is another subject. */
function subjectKey({ kind, key, inputs }: Entity): string {
  const { email } = inputs;
  if (!accessKinds[kind]?.invite || typeof email !== "string" || email === "") return key;
  return isUnread(email) ? keyOfUnread(email) : compositeKey("invite", key, email);
}

/** Copies the grants of another subject to a subject that gets them through a resource. */
function inheritGrants(
  { kind, urn, uid, location }: Entity,
  subject: Subject,
  inherited: readonly ResolvedGrant[] | undefined,
  subjectEntityKey: string,
): ResolvedGrant[] {
  return (inherited ?? []).map(({ grant: { role, group } }) => ({
    grant: { subject, role, group, sourceKind: kind, urn, uid, location },
    subjectEntityKeys: [subjectEntityKey],
  }));
}

type ResolvedSubject = Pick<ResolvedGrant, "subjectEntityKeys"> & { readonly subject: Subject };

/** The subject of a grant whose reference to it was not read. */
function unknownSubject(unread: string, what: string): ResolvedSubject {
  return {
    subject: {
      type: "unknown",
      key: keyOfUnread(unread),
      displayName: `${what} that ${reasonWords(reasonOf(unread))}`,
      matchesMany: false,
    },
    subjectEntityKeys: [],
  };
}

class GrantResolver {
  readonly hierarchy: GroupHierarchy;
  private readonly subjects = new Map<string, Subject>();
  private readonly roles = new Map<string, GrantedRole>();

  constructor(private readonly entities: Entities) {
    this.hierarchy = new GroupHierarchy(entities);
  }

  resolveIdentity(key: string): Subject {
    const known = this.subjects.get(key);
    if (known) return known;
    const entity = this.entities.get(key);
    const subject: Subject = {
      type: "identity",
      ...findNamed(this.entities, key),
      ...(entity ? describeIdentity(entity) : { displayName: `identity ${key}`, matchesMany: false }),
    };
    this.subjects.set(key, subject);
    return subject;
  }

  resolveRole(key: string): GrantedRole {
    const known = this.roles.get(key);
    if (known) return known;
    const entity = this.entities.get(key);
    const role: GrantedRole = {
      ...findNamed(this.entities, key),
      // Built-in roles lie in no group (contract, section 1).
      builtIn: entity?.builtIn ?? (isUid(key) && parentOf(key) === undefined),
      capabilities: readRoleCapabilities(entity),
    };
    this.roles.set(key, role);
    return role;
  }

  /** Whether a reference leads anywhere at all; one that was followed to nothing is empty. */
  private static isResolved(reference: Reference): reference is string {
    return typeof reference === "string" && reference !== "";
  }

  /** Resolves the subject of a grant; undefined where the reference to it leads to nothing. */
  private resolveSubject(entity: Entity, { holder }: DeclaredGrant): ResolvedSubject | undefined {
    if ("identity" in holder) {
      const { identity } = holder;
      if (isUnread(identity)) return unknownSubject(identity, "an identity");
      if (!GrantResolver.isResolved(identity)) return undefined;
      return { subject: this.resolveIdentity(identity), subjectEntityKeys: [identity] };
    }
    if ("type" in holder) {
      const key = subjectKey(entity);
      const subject = {
        ...findNamed(this.entities, entity.key),
        key,
        type: holder.type,
        ...holder.description,
      };
      return { subject, subjectEntityKeys: [entity.key] };
    }
    const { provider, externalGroup } = holder;
    if (isUnread(provider)) return unknownSubject(provider, "a group of an identity provider");
    if (isUnread(externalGroup)) return unknownSubject(externalGroup, "a group of an identity provider");
    if (!GrantResolver.isResolved(provider)) return undefined;
    const providerLabel = this.entities.get(provider)?.name ?? labelByKey(this.entities, provider);
    const subject: Subject = {
      type: "externalGroup",
      key: compositeKey("externalGroup", provider, externalGroup),
      name: externalGroup,
      displayName: `group “${externalGroup}” of ${providerLabel}`,
      matchesMany: false,
    };
    return { subject, subjectEntityKeys: [provider] };
  }

  directGrants(entity: Entity): ResolvedGrant[] {
    // The program alone claims that a resource read with `.get` grants something: that is neither new nor
    // existing access.
    if (entity.assumed === true) return [];
    return grantsIn(entity).flatMap((raw) => {
      const { role, group } = raw;
      const resolved = this.resolveSubject(entity, raw);
      if (resolved === undefined || !GrantResolver.isResolved(role) || !GrantResolver.isResolved(group))
        return [];
      const grant: Grant = {
        subject: resolved.subject,
        role: isUnread(role)
          ? { key: keyOfUnread(role), name: `a role that ${reasonWords(reasonOf(role))}`, builtIn: false }
          : this.resolveRole(role),
        group: isUnread(group)
          ? { key: keyOfUnread(group), path: `a group that ${reasonWords(reasonOf(group))}`, isRoot: false }
          : this.hierarchy.scope(group),
        sourceKind: entity.kind,
        urn: entity.urn,
        uid: entity.uid,
        location: entity.location,
      };
      return [{ grant, subjectEntityKeys: resolved.subjectEntityKeys }];
    });
  }

  /** Whoever can write the users of a directory gets the grants of those users. */
  impersonatedGrants(
    entity: Entity,
    bySubject: ReadonlyMap<string, readonly ResolvedGrant[]>,
  ): ResolvedGrant[] {
    const impersonated =
      entity.assumed === true ? undefined : accessKinds[entity.kind]?.impersonates?.(entity);
    if (
      impersonated === undefined ||
      !GrantResolver.isResolved(impersonated.directory) ||
      isUnread(impersonated.directory)
    )
      return [];
    const directoryLabel = labelByKey(this.entities, impersonated.directory);
    const subject: Subject = {
      type: "identityProvider",
      key: compositeKey("scimToken", entity.key),
      ...(entity.name === undefined ? {} : { name: entity.name }),
      displayName: `${impersonated.subject.displayName} of “${directoryLabel}”`,
      matchesMany: impersonated.subject.matchesMany,
    };
    return inheritGrants(entity, subject, bySubject.get(impersonated.directory), entity.key);
  }

  /** A service gets the grants of the identity that it acts as. */
  serviceGrants(entity: Entity, bySubject: ReadonlyMap<string, readonly ResolvedGrant[]>): ResolvedGrant[] {
    if (entity.assumed === true) return [];
    return (accessKinds[entity.kind]?.services?.(entity) ?? []).flatMap(([service, identity]) => {
      if (!GrantResolver.isResolved(identity) || isUnread(identity)) return [];
      const actsAs = this.resolveIdentity(identity);
      const subject: Subject = {
        type: "service",
        key: compositeKey("service", entity.key, service),
        name: service,
        displayName: `the platform's service ${service}, as ${actsAs.name ?? actsAs.displayName}`,
        matchesMany: false,
      };
      return inheritGrants(entity, subject, bySubject.get(identity), identity);
    });
  }
}

/** Resolves every grant of a set of resources, and the entities that define its subject. Sorted. */
export function resolveGrants(entities: Entities): ResolvedGrant[] {
  const resolver = new GrantResolver(entities);
  const direct = [...entities.values()].flatMap((entity) => resolver.directGrants(entity));
  const bySubject = new Map<string, ResolvedGrant[]>();
  for (const resolved of direct) {
    // The grants of a directory group are inherited through its identity provider.
    const { type, key: own } = resolved.grant.subject;
    const key = type === "externalGroup" ? (ownerOf(own) ?? own) : own;
    const all = bySubject.get(key) ?? [];
    bySubject.set(key, all);
    all.push(resolved);
  }
  const derived = [...entities.values()].flatMap((entity) => [
    ...resolver.serviceGrants(entity, bySubject),
    ...resolver.impersonatedGrants(entity, bySubject),
  ]);
  return [...direct, ...derived].sort((a, b) => compareGrants(a.grant, b.grant));
}

/** All that a set of resources grants. Sorted; two resources that grant the same are both there. */
export function grantsOf(entities: Entities): Grant[] {
  return resolveGrants(entities).map(({ grant }) => grant);
}
/** Everything that exists, with what it grants. */
export function graphOf(entities: ReadonlyMap<string, Entity>): AccessGraph {
  return { entities, grants: grantsOf(entities) };
}
