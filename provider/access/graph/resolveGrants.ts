import { groupBy, getOrCompute } from "../../fields/values";
import { isUid, parentOf } from "../../text/uid";
import { overLimit } from "../documents/jsonText";
import { pathsMeant, valueAt } from "./describedFields";
import { LONGEST_SHOWN_NAME, plainOrQuoted, quoteValue } from "../trust/quote";
import { GrantIndex } from "./grantIndex";
import { compareGrants, shortName, type Grant, type GrantedRole, type Named, type Subject } from "./grant";
import { withoutRetained, compositeKey, wholeOf } from "./entityKeys";
import type { Entity, Entities, AccessGraph } from "./model";
import { describeIdentity } from "./trust";
import type { DeclaredGrant, ReferenceValue } from "./accessKinds";
import { accessKinds, possibleGrants } from "./accessKinds";
import { GroupHierarchy, distinctLabels, findNamed, labelByKey } from "./groupHierarchy";
import { isUnread, keyOfUnread, reasonOf, reasonWords } from "./unread";

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

/** How many grants may be inherited: a few hundred services of an identity with a few hundred roles are more than anybody reviews. */
const MOST_INHERITED = 10_000;

/** The grants of the subjects that inherit. @throws DocumentError where these are too many. */
function inheritGrants(
  inheriting: readonly InheritingSubject[],
  bySubject: ReadonlyMap<string, readonly Grant[]>,
): Grant[] {
  const inheritedBy = ({ source }: InheritingSubject): readonly Grant[] => bySubject.get(source) ?? [];
  const count = inheriting.reduce((sum, subject) => sum + inheritedBy(subject).length, 0);
  if (count > MOST_INHERITED)
    throw overLimit(
      `services and tokens have ${count.toLocaleString("en-US")} grants through identities and directories`,
      MOST_INHERITED.toLocaleString("en-US"),
      "let fewer of them share one that has so many",
    );
  return inheriting.flatMap((inherits) => {
    const { kind, urn, uid, location } = inherits.through;
    return inheritedBy(inherits).map(({ role, group }) => ({
      subject: inherits.subject,
      role,
      group,
      sourceKind: kind,
      urn,
      uid,
      location,
    }));
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
export function resolveGrants(
  entities: Entities,
  more: readonly Entity[] = [],
  hierarchy = new GroupHierarchy(entities),
): Grant[] {
  const labels = distinctLabels(entities);
  const named = (key: string): Named => ({ ...findNamed(entities, key), label: labels.get(key) });
  const labelOf = (key: string): string =>
    labels.get(key) ?? plainOrQuoted(labelByKey(entities, key), LONGEST_SHOWN_NAME);

  const subjects = new Map<string, Subject>();
  const resolveIdentity = (key: string): Subject =>
    getOrCompute(subjects, key, () => {
      const entity = entities.get(key);
      const isIdentity = entity !== undefined && accessKinds[entity.kind]?.assumable === true;
      const described = entity ? `${entity.kind} ${labelOf(key)}, which is no identity` : `identity ${key}`;
      const description = isIdentity
        ? describeIdentity(entity, labels.get(key))
        : { displayName: described, matchesMany: false };
      return { type: "identity", ...named(key), ...description };
    });

  const roles = new Map<string, GrantedRole>();
  const resolveRole = (key: string): GrantedRole =>
    getOrCompute(roles, key, () => {
      const entity = entities.get(key);
      // Built-in roles lie in no group.
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
      displayName: `group ${quoteValue(externalGroup)} of ${labelOf(provider)}`,
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
          ? { key: keyOfUnread(role), label: `a role that ${reasonWords(reasonOf(role))}`, builtIn: false }
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
        displayName: `${who.displayName} of ${labelOf(directory)}`,
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

/**
 * Everything that exists, with what it grants. Sorted; two resources that grant the same are both there.
 * @param given The grants, where they are not those of the entities.
 */
export function graphOf(entities: Entities, given?: readonly Grant[]): AccessGraph {
  const hierarchy = new GroupHierarchy(entities);
  const grants = given ?? resolveGrants(entities, [], hierarchy);
  return { entities, grants, hierarchy, index: new GrantIndex(grants) };
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
