import { isUid, parentOf } from "../../api/uid";
import type { Json } from "../../engine/spec";
import { compareTexts, isObject } from "../../engine/values";
import { urnParts } from "../documents/engineState";
import { groupPath } from "./groupPath";
import { compositeKey, ownerOf } from "./keys";
import type { Entity } from "./model";
import type { Grant, GrantedRole, Named, Scope, Subject } from "../report/report";
import { describeIdentity, describeInvite, describeProvider } from "./subjects";
import type { SubjectDescription } from "./subjects";
import { isUnread, keyOfUnread, reasonOf, reasonWords } from "./unread";

export type Entities = ReadonlyMap<string, Entity>;

/** A reference as inputs hold it: a key, what stands for a value that was not read, or nothing. */
type Reference = Json | undefined;

/** What a resource grants, before anything is looked up. */
interface DeclaredGrant {
  readonly holder:
    | { readonly identity: Reference }
    /** The resource itself is the holder: whoever redeems it, or signs in by it. */
    | { readonly type: "invite" | "identityProvider"; readonly described: SubjectDescription }
    | { readonly externalGroup: string; readonly provider: Reference };
  readonly role: Reference;
  readonly group: Reference;
}

/** What one kind has to do with access. Everything that is special about a kind here is in this one table. */
export interface AccessKind {
  readonly grants?: (entity: Entity) => DeclaredGrant[];
  /** The resource whose holders it lets anyone be: whoever has a SCIM token says who is in the directory. */
  readonly impersonates?: (entity: Entity) => {
    readonly subject: SubjectDescription;
    readonly holder: Reference;
  };
  /** Services that act as identities, and so hold what these hold. */
  readonly services?: (entity: Entity) => readonly (readonly [service: string, identity: Reference])[];
  /** The properties that say who the holder of existing grants is, or what those allow. */
  readonly accessFields?: readonly string[];
  /** It owns all role bindings of its group: what the server lists there is not another grant. */
  readonly ownsBindings?: true;
}

const knownKinds: Readonly<Record<string, AccessKind>> = {
  Group: {},
  Identity: { accessFields: ["claimMatch", "staticKeys", "awsIdentity", "servicePrincipal"] },
  Role: { accessFields: ["capabilities"] },
  RoleBinding: {
    grants: ({ inputs }) => [
      {
        holder: { identity: inputs["identityUid"] },
        role: inputs["roleUid"],
        group: inputs["parentUid"],
      },
    ],
  },
  GroupAccess: {
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
    grants: (entity) => [
      {
        holder: { type: "invite", described: describeInvite(entity) },
        role: entity.inputs["roleUid"],
        group: entity.inputs["parentUid"],
      },
    ],
    accessFields: ["email", "singleUse"],
  },
  IdentityProvider: {
    grants: (entity) => [
      {
        holder: { type: "identityProvider", described: describeProvider(entity) },
        role: entity.inputs["defaultRole"],
        group: entity.inputs["parentUid"],
      },
    ],
    accessFields: ["oidc", "scimEnabled"],
  },
  ExternalGroupRoleMapping: {
    grants: ({ inputs }) => [
      {
        holder: { externalGroup: textOf(inputs["externalGroupId"]), provider: inputs["parentUid"] },
        role: inputs["roleUid"],
        group: inputs["scope"],
      },
    ],
  },
  ScimToken: {
    impersonates: ({ inputs }) => ({
      subject: { displayName: "whoever has a SCIM token", matchesMany: true },
      holder: inputs["parentUid"],
    }),
    accessFields: ["expireTime", "neverExpires"],
  },
  AccountAssociation: {
    services: ({ inputs: { chainguard } }) => {
      const bound = isObject(chainguard) ? chainguard["serviceBindings"] : undefined;
      return Object.entries(isObject(bound) ? bound : {});
    },
    accessFields: ["amazon", "google", "azure", "github"],
  },
};

/** Without a prototype: a kind may be called `constructor`. */
export const accessKinds: Readonly<Record<string, AccessKind | undefined>> = Object.assign(
  Object.create(null) as Record<string, AccessKind>,
  knownKinds,
);

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function grantsIn(entity: Entity): DeclaredGrant[] {
  return accessKinds[entity.kind]?.grants?.(entity) ?? [];
}

/** What a role allows, sorted; undefined where a part of it was not read. */
export function capabilitiesOf(role: Entity | undefined): readonly string[] | undefined {
  const value = role?.inputs["capabilities"];
  if (!Array.isArray(value)) return undefined;
  const names = value.filter((item): item is string => typeof item === "string" && /^CAP_/.test(item));
  return names.length === value.length ? [...new Set(names)].sort() : undefined;
}

/** A grant, and the entities that say who its holder is. */
export interface ResolvedGrant {
  readonly grant: Grant;
  readonly holders: readonly string[];
}

/** Groups by key: their names and places. */
export class GroupHierarchy {
  private readonly scopes = new Map<string, Scope>();

  constructor(private readonly entities: Entities) {}

  /** The key of the parent; undefined of a root, and where nothing tells it. */
  parentOf(key: string): string | undefined {
    const entity = this.entities.get(key);
    if (entity === undefined) return isUid(key) ? parentOf(key) : undefined;
    const parent = entity.inputs["parentUid"];
    // A uid tells the place; of what was only read a program may say anything.
    const isTold = typeof parent === "string" && parent !== "" && !isUnread(parent) && !entity.assumed;
    if (isTold) return parent;
    return entity.uid === undefined ? undefined : parentOf(entity.uid);
  }

  /** The key itself and its ancestors', from below. */
  chain(key: string): string[] {
    const chain: string[] = [];
    for (let at: string | undefined = key; at !== undefined && !chain.includes(at); at = this.parentOf(at)) {
      chain.push(at);
    }
    return chain;
  }

  scope(key: string): Scope {
    const known = this.scopes.get(key);
    if (known) return known;
    const chain = this.chain(key);
    const entity = this.entities.get(key);
    const scope: Scope = {
      ...namedOf(this.entities, key),
      path: groupPath(chain.map((step) => label(this.entities, step)).reverse()),
      isRoot:
        chain.length === 1 && (isUid(key) || (entity !== undefined && !isUnread(entity.inputs["parentUid"]))),
    };
    this.scopes.set(key, scope);
    return scope;
  }
}

function namedOf(entities: Entities, key: string): Named {
  const entity = entities.get(key);
  if (entity) return { key, uid: entity.uid, urn: entity.urn, name: entity.name };
  return { key, ...(isUid(key) ? { uid: key } : {}) };
}

/** What to call something in few letters: its name, the program's name of it, or the end of its uid. */
export function label(entities: Entities, key: string): string {
  const entity = entities.get(key);
  if (entity?.name !== undefined) return entity.name;
  if (entity?.urn !== undefined) return urnParts(entity.urn).name;
  return isUid(key) ? key.slice(key.lastIndexOf("/") + 1).slice(0, 12) : key;
}

/** An invite to another person is another holder, though it is the same resource. */
function inviteKey({ kind, key, inputs }: Entity): string {
  const { email } = inputs;
  if (kind !== "GroupInvite" || typeof email !== "string" || email === "") return key;
  return isUnread(email) ? keyOfUnread(email) : compositeKey("invite", key, email);
}

/** What a holder has, held by a subject through a resource. */
function inheritGrants(
  { kind, urn, uid, location }: Entity,
  subject: Subject,
  held: readonly ResolvedGrant[] | undefined,
  holder: string,
): ResolvedGrant[] {
  return (held ?? []).map(({ grant: { role, group } }) => ({
    grant: { subject, role, group, sourceKind: kind, urn, uid, location },
    holders: [holder],
  }));
}

class GrantResolver {
  readonly hierarchy: GroupHierarchy;
  private readonly subjects = new Map<string, Subject>();
  private readonly roles = new Map<string, GrantedRole>();

  constructor(private readonly entities: Entities) {
    this.hierarchy = new GroupHierarchy(entities);
  }

  identity(key: string): Subject {
    const known = this.subjects.get(key);
    if (known) return known;
    const entity = this.entities.get(key);
    const subject: Subject = {
      type: "identity",
      ...namedOf(this.entities, key),
      ...(entity ? describeIdentity(entity) : { displayName: `identity ${key}`, matchesMany: false }),
    };
    this.subjects.set(key, subject);
    return subject;
  }

  role(key: string): GrantedRole {
    const known = this.roles.get(key);
    if (known) return known;
    const entity = this.entities.get(key);
    const role: GrantedRole = {
      ...namedOf(this.entities, key),
      // Built-in roles lie in no group (contract, section 1).
      builtIn: entity?.builtIn ?? (isUid(key) && parentOf(key) === undefined),
      capabilities: capabilitiesOf(entity),
    };
    this.roles.set(key, role);
    return role;
  }

  /** Whether a reference leads anywhere at all; one that was followed to nothing is empty. */
  private static isResolved(reference: Reference): reference is string {
    return typeof reference === "string" && reference !== "";
  }

  private holder(entity: Entity, raw: DeclaredGrant): { subject: Subject; holders: string[] } | undefined {
    const { holder } = raw;
    const unknown = (value: string, what: string): { subject: Subject; holders: string[] } => ({
      subject: {
        type: "unknown",
        key: keyOfUnread(value),
        displayName: `${what} that ${reasonWords(reasonOf(value))}`,
        matchesMany: false,
      },
      holders: [],
    });
    if ("identity" in holder) {
      const { identity } = holder;
      if (isUnread(identity)) return unknown(identity, "an identity");
      if (!GrantResolver.isResolved(identity)) return undefined;
      return { subject: this.identity(identity), holders: [identity] };
    }
    if ("type" in holder) {
      const key = inviteKey(entity);
      const subject = { ...namedOf(this.entities, entity.key), key, type: holder.type, ...holder.described };
      return { subject, holders: [entity.key] };
    }
    const { provider, externalGroup } = holder;
    if (isUnread(provider)) return unknown(provider, "a group of an identity provider");
    if (isUnread(externalGroup)) return unknown(externalGroup, "a group of an identity provider");
    if (!GrantResolver.isResolved(provider)) return undefined;
    const of = this.entities.get(provider)?.name ?? label(this.entities, provider);
    const subject: Subject = {
      type: "externalGroup",
      key: compositeKey("externalGroup", provider, externalGroup),
      name: externalGroup,
      displayName: `group “${externalGroup}” of ${of}`,
      matchesMany: false,
    };
    return { subject, holders: [provider] };
  }

  directGrants(entity: Entity): ResolvedGrant[] {
    // What only the program says is granted is neither new nor there already.
    if (entity.assumed === true) return [];
    return grantsIn(entity).flatMap((raw) => {
      const { role, group } = raw;
      const held = this.holder(entity, raw);
      if (held === undefined || !GrantResolver.isResolved(role) || !GrantResolver.isResolved(group))
        return [];
      const grant: Grant = {
        subject: held.subject,
        role: isUnread(role)
          ? { key: keyOfUnread(role), name: `a role that ${reasonWords(reasonOf(role))}`, builtIn: false }
          : this.role(role),
        group: isUnread(group)
          ? { key: keyOfUnread(group), path: `a group that ${reasonWords(reasonOf(group))}`, isRoot: false }
          : this.hierarchy.scope(group),
        sourceKind: entity.kind,
        urn: entity.urn,
        uid: entity.uid,
        location: entity.location,
      };
      return [{ grant, holders: held.holders }];
    });
  }

  /** Whoever says who is in a directory holds what those who are in it hold. */
  impersonatedGrants(entity: Entity, held: ReadonlyMap<string, readonly ResolvedGrant[]>): ResolvedGrant[] {
    const lets = entity.assumed === true ? undefined : accessKinds[entity.kind]?.impersonates?.(entity);
    if (lets === undefined || !GrantResolver.isResolved(lets.holder) || isUnread(lets.holder)) return [];
    const of = label(this.entities, lets.holder);
    const subject: Subject = {
      type: "identityProvider",
      key: compositeKey("scimToken", entity.key),
      ...(entity.name === undefined ? {} : { name: entity.name }),
      displayName: `${lets.subject.displayName} of “${of}”`,
      matchesMany: lets.subject.matchesMany,
    };
    return inheritGrants(entity, subject, held.get(lets.holder), entity.key);
  }

  /** A service holds what the identity that it acts as holds. */
  serviceGrants(entity: Entity, held: ReadonlyMap<string, readonly ResolvedGrant[]>): ResolvedGrant[] {
    if (entity.assumed === true) return [];
    return (accessKinds[entity.kind]?.services?.(entity) ?? []).flatMap(([service, identity]) => {
      if (!GrantResolver.isResolved(identity) || isUnread(identity)) return [];
      const as = this.identity(identity);
      const subject: Subject = {
        type: "service",
        key: compositeKey("service", entity.key, service),
        name: service,
        displayName: `the platform's service ${service}, as ${as.name ?? as.displayName}`,
        matchesMany: false,
      };
      return inheritGrants(entity, subject, held.get(identity), identity);
    });
  }
}

/** Who, what and where, as one text: two resources that grant the same have the same. */
export function tupleOf({ subject, role, group }: Pick<Grant, "subject" | "role" | "group">): string {
  return JSON.stringify([subject.key, role.key, group.key]);
}

/** The order in which people look for grants; the same for the same grants. */
export function compareGrants(a: Grant, b: Grant): number {
  const name = ({ name, key }: Named) => name ?? key;
  return (
    compareTexts(a.subject.displayName, b.subject.displayName) ||
    compareTexts(name(a.role), name(b.role)) ||
    compareTexts(a.group.path, b.group.path) ||
    compareTexts(a.sourceKind, b.sourceKind) ||
    compareTexts(a.urn ?? a.uid ?? "", b.urn ?? b.uid ?? "") ||
    compareTexts(a.subject.key + a.role.key + a.group.key, b.subject.key + b.role.key + b.group.key)
  );
}

/** All that a set of resources grants, with whose trust each grant hangs on. Sorted. */
export function resolveGrants(entities: Entities): ResolvedGrant[] {
  const tracer = new GrantResolver(entities);
  const direct = [...entities.values()].flatMap((entity) => tracer.directGrants(entity));
  const held = new Map<string, ResolvedGrant[]>();
  for (const resolved of direct) {
    // What a group of a directory holds, the directory gives.
    const { type, key: own } = resolved.grant.subject;
    const key = type === "externalGroup" ? (ownerOf(own) ?? own) : own;
    const all = held.get(key) ?? [];
    held.set(key, all);
    all.push(resolved);
  }
  const derived = [...entities.values()].flatMap((entity) => [
    ...tracer.serviceGrants(entity, held),
    ...tracer.impersonatedGrants(entity, held),
  ]);
  return [...direct, ...derived].sort((a, b) => compareGrants(a.grant, b.grant));
}

/** Which identity holds which role where, of the grants that bindings are made of: a text for each. */
export function bindingKeys(entity: Entity): string[] {
  return grantsIn(entity).flatMap(({ holder, role, group }) =>
    "identity" in holder ? [JSON.stringify([holder.identity, role, group])] : [],
  );
}

/** All that a set of resources grants. Sorted; two resources that grant the same are both there. */
export function grantsOf(entities: Entities): Grant[] {
  return resolveGrants(entities).map(({ grant }) => grant);
}
