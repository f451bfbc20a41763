import { isUid, parentOf } from "../api/uid";
import { UNKNOWN } from "../engine/spec";
import type { Json } from "../engine/spec";
import { containsUnknown, isObject } from "../engine/values";
import { urnParts } from "./engineState";
import { groupPath } from "./groupPath";
import type { Entity } from "./model";
import type { Grant, GrantedRole, Named, Scope, Subject } from "./report";
import { describeIdentity, describeInvite, describeProvider } from "./subjects";
import type { Described } from "./subjects";

export type Entities = ReadonlyMap<string, Entity>;

/** Ends the key of what stays at the server beside its successor, which has its key. */
export const RETAINED = "#retained";

/** A reference as inputs hold it: a key, UNKNOWN, or nothing. */
type Reference = Json | undefined;

/** What a resource grants, before anything is looked up. */
interface RawGrant {
  /** Tells the holders that are no resource apart, and unknown ones. */
  readonly label: string;
  readonly holder:
    | { readonly identity: Reference }
    /** The resource itself is the holder: whoever redeems it, or signs in by it. */
    | { readonly type: "invite" | "identityProvider"; readonly described: Described }
    | { readonly externalGroup: string; readonly provider: Reference };
  readonly role: Reference;
  readonly group: Reference;
}

/** What one kind has to do with access. Everything that is special about a kind here is in this one table. */
export interface AccessKind {
  readonly grants?: (entity: Entity) => RawGrant[];
  /** Services that act as identities, and so hold what these hold. */
  readonly services?: (entity: Entity) => readonly (readonly [service: string, identity: Reference])[];
  /** The properties that say who the holder of existing grants is, or what those allow. */
  readonly meaning?: readonly string[];
  /** It owns all role bindings of its group: what the server lists there is not another grant. */
  readonly ownsBindings?: true;
}

const knownKinds: Readonly<Record<string, AccessKind>> = {
  Group: {},
  Identity: { meaning: ["claimMatch", "staticKeys", "awsIdentity", "servicePrincipal"] },
  Role: { meaning: ["capabilities"] },
  RoleBinding: {
    grants: ({ inputs }) => [
      {
        label: "identityUid",
        holder: { identity: inputs["identityUid"] },
        role: inputs["roleUid"],
        group: inputs["parentUid"],
      },
    ],
  },
  GroupAccess: {
    grants: ({ inputs }) => {
      const bindings = inputs["bindings"];
      return Object.entries(isObject(bindings) ? bindings : {}).map(([label, binding]) => {
        const { identityUid, roleUid } = isObject(binding) ? binding : {};
        return { label, holder: { identity: identityUid }, role: roleUid, group: inputs["parentUid"] };
      });
    },
    ownsBindings: true,
  },
  GroupInvite: {
    grants: (entity) => [
      {
        label: "invite",
        holder: { type: "invite", described: describeInvite(entity) },
        role: entity.inputs["roleUid"],
        group: entity.inputs["parentUid"],
      },
    ],
    meaning: ["email", "singleUse"],
  },
  IdentityProvider: {
    grants: (entity) => [
      {
        label: "defaultRole",
        holder: { type: "identityProvider", described: describeProvider(entity) },
        role: entity.inputs["defaultRole"],
        group: entity.inputs["parentUid"],
      },
    ],
    meaning: ["oidc", "scimEnabled"],
  },
  ExternalGroupRoleMapping: {
    grants: ({ inputs }) => [
      {
        label: "externalGroupId",
        holder: { externalGroup: textOf(inputs["externalGroupId"]), provider: inputs["parentUid"] },
        role: inputs["roleUid"],
        group: inputs["scope"],
      },
    ],
  },
  AccountAssociation: {
    services: ({ inputs: { chainguard } }) => {
      const bound = isObject(chainguard) ? chainguard["serviceBindings"] : undefined;
      return Object.entries(isObject(bound) ? bound : {});
    },
    meaning: ["amazon", "google", "azure", "github"],
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

/** A grant, and the entities that say who its holder is. */
export interface TracedGrant {
  readonly grant: Grant;
  readonly holders: readonly string[];
}

/** Groups by key: their names and places. */
export class Places {
  private readonly scopes = new Map<string, Scope>();

  constructor(private readonly entities: Entities) {}

  /** The key of the parent; undefined of a root, and where nothing tells it. */
  parent(key: string): string | undefined {
    const entity = this.entities.get(key);
    if (entity === undefined) return isUid(key) ? parentOf(key) : undefined;
    const parent = entity.inputs["parentUid"];
    if (typeof parent === "string" && parent !== "" && parent !== UNKNOWN) return parent;
    return entity.uid === undefined ? undefined : parentOf(entity.uid);
  }

  /** The key itself and its ancestors', from below. */
  chain(key: string): string[] {
    const chain: string[] = [];
    for (let at: string | undefined = key; at !== undefined && !chain.includes(at); at = this.parent(at)) {
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
      ...named(this.entities, key),
      path: groupPath(chain.map((step) => label(this.entities, step)).reverse()),
      isRoot:
        chain.length === 1 &&
        (isUid(key) || (entity !== undefined && !containsUnknown(entity.inputs["parentUid"]))),
    };
    this.scopes.set(key, scope);
    return scope;
  }
}

function named(entities: Entities, key: string): Named {
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

class Tracer {
  readonly places: Places;
  private readonly subjects = new Map<string, Subject>();
  private readonly roles = new Map<string, GrantedRole>();

  constructor(private readonly entities: Entities) {
    this.places = new Places(entities);
  }

  identity(key: string): Subject {
    const known = this.subjects.get(key);
    if (known) return known;
    const entity = this.entities.get(key);
    const subject: Subject = {
      type: "identity",
      ...named(this.entities, key),
      ...(entity ? describeIdentity(entity) : { words: `identity ${key}`, open: false }),
    };
    this.subjects.set(key, subject);
    return subject;
  }

  role(key: string): GrantedRole {
    const known = this.roles.get(key);
    if (known) return known;
    const entity = this.entities.get(key);
    const capabilities = entity?.inputs["capabilities"];
    const told = Array.isArray(capabilities) && !containsUnknown(capabilities);
    const role: GrantedRole = {
      ...named(this.entities, key),
      // Built-in roles lie in no group (contract, section 1).
      builtIn: entity?.builtIn ?? (isUid(key) && parentOf(key) === undefined),
      capabilities: told
        ? [...new Set(capabilities.filter((item): item is string => typeof item === "string"))].sort()
        : undefined,
    };
    this.roles.set(key, role);
    return role;
  }

  /** Whether a reference leads anywhere at all; one that was followed to nothing is empty. */
  private static leads(reference: Reference): reference is string {
    return typeof reference === "string" && reference !== "";
  }

  private holder(entity: Entity, raw: RawGrant): { subject: Subject; holders: string[] } | undefined {
    const { holder } = raw;
    const unknown = (words: string): { subject: Subject; holders: string[] } => ({
      subject: { type: "unknown", key: `${entity.key}#${raw.label}`, words, open: false },
      holders: [],
    });
    if ("identity" in holder) {
      const { identity } = holder;
      if (identity === UNKNOWN) return unknown("an identity that is not known yet");
      if (!Tracer.leads(identity)) return undefined;
      return { subject: this.identity(identity), holders: [identity] };
    }
    if ("type" in holder) {
      const subject = { ...named(this.entities, entity.key), type: holder.type, ...holder.described };
      return { subject, holders: [entity.key] };
    }
    const { provider, externalGroup } = holder;
    if (provider === UNKNOWN || externalGroup === UNKNOWN) {
      return unknown("a group of an identity provider that is not known yet");
    }
    if (!Tracer.leads(provider)) return undefined;
    const of = this.entities.get(provider)?.name ?? label(this.entities, provider);
    const subject: Subject = {
      type: "externalGroup",
      key: `${provider}#${externalGroup}`,
      name: externalGroup,
      words: `group “${externalGroup}” of ${of}`,
      open: false,
    };
    return { subject, holders: [provider] };
  }

  direct(entity: Entity): TracedGrant[] {
    return (accessKinds[entity.kind]?.grants?.(entity) ?? []).flatMap((raw) => {
      const { role, group } = raw;
      const held = this.holder(entity, raw);
      if (held === undefined || !Tracer.leads(role) || !Tracer.leads(group)) return [];
      const at = (what: string) => `${entity.key}#${raw.label}.${what}`;
      const grant: Grant = {
        subject: held.subject,
        role: role === UNKNOWN ? { key: at("role"), builtIn: false } : this.role(role),
        group:
          group === UNKNOWN
            ? { key: at("group"), path: "a group that is not known yet", isRoot: false }
            : this.places.scope(group),
        via: entity.kind,
        urn: entity.urn,
        uid: entity.uid,
        location: entity.location,
      };
      return [{ grant, holders: held.holders }];
    });
  }

  /** A service holds what the identity that it acts as holds. */
  services(entity: Entity, held: ReadonlyMap<string, readonly TracedGrant[]>): TracedGrant[] {
    return (accessKinds[entity.kind]?.services?.(entity) ?? []).flatMap(([service, identity]) => {
      if (!Tracer.leads(identity) || identity === UNKNOWN) return [];
      const as = this.identity(identity);
      const subject: Subject = {
        type: "service",
        key: `${entity.key}#${service}`,
        name: service,
        words: `the platform's service ${service}, as ${as.name ?? as.words}`,
        open: false,
      };
      return (held.get(identity) ?? []).map(({ grant: { role, group } }) => ({
        grant: {
          subject,
          role,
          group,
          via: entity.kind,
          urn: entity.urn,
          uid: entity.uid,
          location: entity.location,
        },
        holders: [identity],
      }));
    });
  }
}

/** Who, what and where, as one text: two resources that grant the same have the same. */
export function tupleOf({ subject, role, group }: Pick<Grant, "subject" | "role" | "group">): string {
  return JSON.stringify([subject.key, role.key, group.key]);
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The order in which people look for grants; the same for the same grants. */
export function compareGrants(a: Grant, b: Grant): number {
  const name = ({ name, key }: Named) => name ?? key;
  return (
    order(a.subject.words, b.subject.words) ||
    order(name(a.role), name(b.role)) ||
    order(a.group.path, b.group.path) ||
    order(a.via, b.via) ||
    order(a.urn ?? a.uid ?? "", b.urn ?? b.uid ?? "") ||
    order(a.subject.key + a.role.key + a.group.key, b.subject.key + b.role.key + b.group.key)
  );
}

/** All that a set of resources grants, with whose trust each grant hangs on. Sorted. */
export function traceGrants(entities: Entities): TracedGrant[] {
  const tracer = new Tracer(entities);
  const direct = [...entities.values()].flatMap((entity) => tracer.direct(entity));
  const held = new Map<string, TracedGrant[]>();
  for (const traced of direct) {
    const { type, key } = traced.grant.subject;
    if (type !== "identity") continue;
    const all = held.get(key) ?? [];
    held.set(key, all);
    all.push(traced);
  }
  const services = [...entities.values()].flatMap((entity) => tracer.services(entity, held));
  return [...direct, ...services].sort((a, b) => compareGrants(a.grant, b.grant));
}

/** Which identity holds which role where, of the grants that bindings are made of: a text for each. */
export function boundBy(entity: Entity): string[] {
  return (accessKinds[entity.kind]?.grants?.(entity) ?? []).flatMap(({ holder, role, group }) =>
    "identity" in holder ? [JSON.stringify([holder.identity, role, group])] : [],
  );
}

/** All that a set of resources grants. Sorted; two resources that grant the same are both there. */
export function grantsOf(entities: Entities): Grant[] {
  return traceGrants(entities).map(({ grant }) => grant);
}
