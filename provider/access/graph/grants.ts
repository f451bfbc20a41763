import { isUid, parentOf } from "../../text/uid";
import { compareTexts, groupBy } from "../../fields/values";
import { sha256 } from "../documents/digest";
import { compositeKey, ownerOf } from "./keys";
import type { AccessGraph, Entities, Entity } from "./model";
import {
  compareGrants,
  shortName,
  tupleOf,
  type Grant,
  type GrantedRole,
  type Named,
  type Subject,
} from "./grant";
import { describeIdentity, type SubjectDescription } from "./trust";
import { pathsMeant, valueAt } from "./describedFields";
import { isUnread, keyOfUnread, reasonOf, reasonWords } from "./unread";
import { readRoleCapabilities } from "./roleCapabilities";
import { GroupHierarchy, distinctLabels, findNamed, labelByKey } from "./groupHierarchy";
import { type ReferenceValue, type DeclaredGrant, possibleGrants, accessKinds } from "./accessKinds";

/** A grant, and the keys of the entities that define who its subject is. */
export interface ResolvedGrant {
  readonly grant: Grant;
  readonly subjectEntityKeys: readonly string[];
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
  readonly subjectEntityKey: string;
}

/**
 * How many inherited grants are listed one by one. A few hundred services of an identity with a few hundred roles are
 * more than a report can hold.
 */
export const MOST_INHERITED = 3_000;

/** One grant that stands for all that a subject inherits: another one as soon as one of them is another. */
function summarize(inherited: readonly ResolvedGrant[], source: string): Pick<Grant, "role" | "group"> {
  const known = inherited.map(({ grant }) => grant.role.capabilities);
  const capabilities = known.includes(undefined)
    ? undefined
    : [...new Set(known.flatMap((names) => names ?? []))].sort(compareTexts);
  const each = inherited.map(({ grant }) => `${tupleOf(grant)} ${grant.role.capabilities?.join() ?? ""}`);
  const key = compositeKey("inherited", source, sha256(each.sort(compareTexts).join("\n")));
  return {
    role: { key, name: `each of ${inherited.length} roles`, builtIn: false, capabilities },
    group: { key, path: "their groups", isRoot: inherited.some(({ grant }) => grant.group.isRoot) },
  };
}

/**
 * The grants of the subjects that inherit. Identities and directories of which few are inherited come first, so that one with
 * very many hides no other.
 */
function inheritGrants(
  inheriting: readonly InheritingSubject[],
  bySubject: ReadonlyMap<string, readonly ResolvedGrant[]>,
): ResolvedGrant[] {
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
    const passed =
      left >= 0 || inherited.length <= 1
        ? inherited.map(({ grant }) => grant)
        : [summarize(inherited, source)];
    return subjects.flatMap(({ through, subject, subjectEntityKey }) => {
      const { kind, urn, uid, location } = through;
      return passed.map(({ role, group }) => ({
        grant: { subject, role, group, sourceKind: kind, urn, uid, location },
        subjectEntityKeys: [subjectEntityKey],
      }));
    });
  });
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
  private readonly labels: ReadonlyMap<string, string>;

  constructor(private readonly entities: Entities) {
    this.hierarchy = new GroupHierarchy(entities);
    this.labels = distinctLabels(entities);
  }

  private named(key: string): Named {
    const label = this.labels.get(key);
    return { ...findNamed(this.entities, key), ...(label === undefined ? {} : { label }) };
  }

  private labelOf(key: string): string {
    return this.labels.get(key) ?? labelByKey(this.entities, key);
  }

  resolveIdentity(key: string): Subject {
    const known = this.subjects.get(key);
    if (known) return known;
    const entity = this.entities.get(key);
    const subject: Subject = {
      type: "identity",
      ...this.named(key),
      ...(entity
        ? describeIdentity(entity, this.labels.get(key))
        : { displayName: `identity ${key}`, matchesMany: false }),
    };
    this.subjects.set(key, subject);
    return subject;
  }

  resolveRole(key: string): GrantedRole {
    const known = this.roles.get(key);
    if (known) return known;
    const entity = this.entities.get(key);
    const role: GrantedRole = {
      ...this.named(key),
      // Built-in roles lie in no group (contract, section 1).
      builtIn: entity?.builtIn ?? (isUid(key) && parentOf(key) === undefined),
      capabilities: readRoleCapabilities(entity),
    };
    this.roles.set(key, role);
    return role;
  }

  /** Whether a reference leads anywhere at all; one that was followed to nothing is empty. */
  private static isResolved(reference: ReferenceValue): reference is string {
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
      const named = this.named(entity.key);
      const { displayName, matchesMany } = holder.description;
      const subject = {
        ...named,
        key,
        type: holder.type,
        displayName: named.label === undefined ? displayName : `${displayName}: ${named.label}`,
        matchesMany,
      };
      return { subject, subjectEntityKeys: [entity.key] };
    }
    const { provider, externalGroup } = holder;
    if (isUnread(provider)) return unknownSubject(provider, "a group of an identity provider");
    if (isUnread(externalGroup)) return unknownSubject(externalGroup, "a group of an identity provider");
    if (!GrantResolver.isResolved(provider)) return undefined;
    const subject: Subject = {
      type: "externalGroup",
      key: compositeKey("externalGroup", provider, externalGroup),
      name: externalGroup,
      displayName: `group “${externalGroup}” of ${this.labelOf(provider)}`,
      matchesMany: false,
    };
    return { subject, subjectEntityKeys: [provider] };
  }

  directGrants(entity: Entity): ResolvedGrant[] {
    // The program alone claims that a resource read with `.get` grants something: that is neither new nor
    // existing access.
    if (entity.assumed === true) return [];
    return possibleGrants(entity).grants.flatMap((raw) => {
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
        ...(raw.isOneOf ? { isOneOf: true } : {}),
      };
      return [{ grant, subjectEntityKeys: resolved.subjectEntityKeys }];
    });
  }

  /** Whoever can write the users of a directory gets the grants of those users; a service those of the identity that it acts as. */
  findInheriting(entity: Entity): InheritingSubject[] {
    if (entity.assumed === true) return [];
    const { impersonates, services } = accessKinds[entity.kind] ?? {};
    const impersonated = impersonates?.(entity);
    return [
      ...(impersonated === undefined
        ? []
        : this.inheritFromDirectory(entity, impersonated.directory, impersonated.subject)),
      ...(services?.(entity) ?? []).flatMap(([service, identity]) =>
        this.inheritFromIdentity(entity, service, identity),
      ),
    ];
  }

  private inheritFromDirectory(
    through: Entity,
    directory: ReferenceValue,
    who: SubjectDescription,
  ): InheritingSubject[] {
    if (!GrantResolver.isResolved(directory) || isUnread(directory)) return [];
    const subject: Subject = {
      type: "identityProvider",
      key: compositeKey("scimToken", through.key),
      ...(through.name === undefined ? {} : { name: through.name }),
      displayName: `${who.displayName} of “${this.labelOf(directory)}”`,
      matchesMany: who.matchesMany,
    };
    return [{ through, subject, source: directory, subjectEntityKey: through.key }];
  }

  private inheritFromIdentity(
    through: Entity,
    service: string,
    identity: ReferenceValue,
  ): InheritingSubject[] {
    if (!GrantResolver.isResolved(identity) || isUnread(identity)) return [];
    const actsAs = this.resolveIdentity(identity);
    const subject: Subject = {
      type: "service",
      key: compositeKey("service", through.key, service),
      name: service,
      displayName: `the platform's service ${service}, as ${shortName(actsAs)}`,
      matchesMany: false,
    };
    return [{ through, subject, source: identity, subjectEntityKey: identity }];
  }
}

/**
 * Resolves every grant of a set of resources, and the entities that define its subject. Sorted.
 *
 * @param more Further resources that grant something: an earlier version of one, beside it.
 */
export function resolveGrants(entities: Entities, more: readonly Entity[] = []): ResolvedGrant[] {
  const resolver = new GrantResolver(entities);
  const granting = [...entities.values(), ...more];
  const direct = granting.flatMap((entity) => resolver.directGrants(entity));
  const bySubject = groupBy(direct, ({ grant: { subject } }) => [
    // The grants of a directory group are inherited through its identity provider.
    subject.type === "externalGroup" ? (ownerOf(subject.key) ?? subject.key) : subject.key,
  ]);
  const inheriting = granting.flatMap((entity) => resolver.findInheriting(entity));
  return [...direct, ...inheritGrants(inheriting, bySubject)].sort((a, b) => compareGrants(a.grant, b.grant));
}

/** All that a set of resources grants. Sorted; two resources that grant the same are both there. */
function grantsOf(entities: Entities): Grant[] {
  return resolveGrants(entities).map(({ grant }) => grant);
}
/** Everything that exists, with what it grants. */
export function graphOf(entities: ReadonlyMap<string, Entity>): AccessGraph {
  return { entities, grants: grantsOf(entities) };
}
