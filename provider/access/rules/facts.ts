import { isTopUid } from "../../api/uid";
import { isObject } from "../../engine/values";
import type { Json } from "../../engine/spec";
import { ownerCapabilities, capabilitiesOf } from "../graph/capabilities";
import { mayWiden } from "../effects";
import { GrantIndex } from "../graph/grantIndex";
import { GroupHierarchy } from "../graph/groupHierarchy";
import { tupleOf } from "../graph/grant";
import { withoutRetained } from "../graph/keys";
import type { Entity, AccessGraph } from "../graph/model";
import type { Comparison, ResourceChange } from "../review/comparison";
import { ownMember } from "../graph/references";
import type { Finding, Severity } from "../review/finding";
import type { Grant, GrantChange, GrantedRole, Scope } from "../graph/grant";
import { isUnread } from "../graph/unread";
import type { FindingInput } from "./findingInput";
import type { RuleOptions } from "./ruleOptions";

export function textAt(value: Json | undefined, key: string): string | undefined {
  const member = isObject(value) ? ownMember(value, key) : undefined;
  return typeof member === "string" && member !== "" && !isUnread(member) ? member : undefined;
}

export function listAt(value: Json | undefined, key: string): readonly Json[] {
  const member = isObject(value) ? ownMember(value, key) : undefined;
  return Array.isArray(member) ? member.filter((item) => !isUnread(item)) : [];
}

/** The kind in words: "identity provider". */
export function nounOf(kind: string): string {
  return kind.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
}

/** "identity ci-deployer". */
export function labelOf({ kind, name, uid, urn }: Pick<Entity, "kind" | "name" | "uid" | "urn">): string {
  return `${nounOf(kind)} ${name ?? urn?.split("::").at(-1) ?? uid ?? "without a name"}`;
}

/** The first few of many, and how many more there are. */
export function listFirst(items: readonly string[], most = 6): string {
  const shown = items.slice(0, most).join(", ");
  return items.length > most ? `${shown} and ${items.length - most} more` : shown;
}

/** Lines for a report: not more than anybody reads. */
export function limitLines(lines: readonly string[], most = 20): string[] {
  return lines.length > most ? [...lines.slice(0, most), `and ${lines.length - most} more`] : [...lines];
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** How an identity, or a provider of identities, proves who it is, as the program writes it. */
export function trustOf(entity: Entity | undefined): Finding["trust"] {
  if (entity === undefined) return undefined;
  const { claimMatch, staticKeys, awsIdentity, oidc } = entity.inputs;
  const issuer =
    textAt(claimMatch, "issuer") ??
    textAt(claimMatch, "issuerPattern") ??
    textAt(staticKeys, "issuer") ??
    textAt(oidc, "issuer") ??
    textAt(awsIdentity, "awsAccount");
  const subject =
    textAt(claimMatch, "subject") ??
    textAt(claimMatch, "subjectPattern") ??
    textAt(staticKeys, "subject") ??
    textAt(awsIdentity, "arn") ??
    textAt(awsIdentity, "arnPattern") ??
    textAt(entity.inputs, "servicePrincipal");
  if (issuer === undefined && subject === undefined) return undefined;
  return { ...(issuer === undefined ? {} : { issuer }), ...(subject === undefined ? {} : { subject }) };
}

interface FindingText {
  readonly severity: Severity;
  readonly message: string;
  readonly advice: string;
  readonly details?: readonly string[];
  readonly field?: string;
  readonly counterexample?: string;
}

/** What rules ask of a comparison. Worked out once, when first asked for. */
export class Facts {
  /** The grants on both sides. */
  readonly before: GrantIndex;
  readonly after: GrantIndex;
  private readonly scopes: ReadonlyMap<string, Scope>;
  private readonly hierarchy: { readonly before: GroupHierarchy; readonly after: GroupHierarchy };
  private references: ReadonlyMap<string, readonly Entity[]> | undefined;
  private widenedHolders: ReadonlySet<string> | undefined;
  private deleted: ReadonlySet<string> | undefined;
  private gained: ReadonlySet<string> | undefined;
  private readonly ownerSet: readonly string[];
  private readonly viewerSet: ReadonlySet<string> | undefined;

  constructor(
    readonly comparison: Comparison,
    readonly options: RuleOptions,
  ) {
    const { before, after } = comparison;
    this.hierarchy = {
      before: new GroupHierarchy(before.entities),
      after: new GroupHierarchy(after.entities),
    };
    this.before = new GrantIndex(before.grants);
    this.after = new GrantIndex(after.grants);
    this.scopes = new Map(comparison.groups.map((group) => [group.key, scopeOf(group)]));
    this.ownerSet = ownerCapabilities(this.builtInCapabilities("owner"));
    const viewer = this.builtInCapabilities("viewer");
    this.viewerSet = viewer === undefined ? undefined : new Set(viewer);
  }

  /** The capabilities of a built-in role, as this organisation has it; undefined where nothing tells them. */
  private builtInCapabilities(name: string): readonly string[] | undefined {
    const { after, before, inventory } = this.comparison;
    for (const graph of [after, before]) {
      for (const entity of graph.entities.values()) {
        // A program may say of any role that it is this one.
        if (entity.kind !== "Role" || entity.name !== name || !isTopUid(entity.uid) || entity.assumed)
          continue;
        const capabilities = capabilitiesOf(entity);
        if (capabilities) return capabilities;
      }
    }
    const live = inventory?.objects.find(
      ({ kind, uid, inputs }) => kind === "Role" && inputs["name"] === name && isTopUid(uid),
    );
    return (
      live &&
      capabilitiesOf({ kind: live.kind, key: live.uid, inputs: live.inputs, unresolved: [], secretPaths: [] })
    );
  }

  /** Whether a role is `owner`, or holds all that makes an owner of IAM. */
  isOwner(role: GrantedRole): boolean {
    if (role.builtIn && role.name === "owner") return true;
    const capabilitiesAt = new Set(role.capabilities);
    return capabilitiesAt.size > 0 && this.ownerSet.every((capability) => capabilitiesAt.has(capability));
  }

  /** What a role holds that the built-in `viewer` does not; without one, what does more than list. */
  capabilitiesBeyondViewer(role: GrantedRole): readonly string[] {
    return (role.capabilities ?? []).filter((capability) =>
      this.viewerSet ? !this.viewerSet.has(capability) : !capability.endsWith("_LIST"),
    );
  }

  scope(key: string): Scope {
    return this.scopes.get(key) ?? { key, uid: key, path: key, isRoot: isTopUid(key) };
  }

  /** The groups that were there, with the paths that they had. */
  groupsBefore(): Scope[] {
    const groups = [...this.comparison.before.entities.values()].filter(({ kind }) => kind === "Group");
    return groups.map(({ key }) => this.hierarchy.before.scope(key));
  }

  /** Whether a group is another one or lies below it, once all is done or before it. */
  isWithin(key: string, ancestor: string, side: "before" | "after" = "after"): boolean {
    return key === ancestor || this.hierarchy[side].chain(key).includes(ancestor);
  }

  /** The groups below one, itself included, that are not below the other. */
  newlyReachedGroups(key: string, not: string): Scope[] {
    return this.comparison.groups.filter(
      (group) =>
        group.change !== "removed" && this.isWithin(group.key, key) && !this.isWithin(group.key, not),
    );
  }

  grantsBefore(subject: string): readonly Grant[] {
    return this.before.ofSubject(subject);
  }

  grantsAfter(subject: string): readonly Grant[] {
    return this.after.ofSubject(subject);
  }

  /** What an identity holds, and what others hold by it: groups of an identity provider, services. */
  grantsThrough(key: string): readonly Grant[] {
    return [key, ...this.after.subjectsOf(key)].flatMap((subject) => this.grantsAfter(subject));
  }

  /** Whether a grant is new as a whole. */
  isGained(grant: Grant): boolean {
    this.gained ??= new Set(
      this.comparison.grants
        .filter(({ change }) => change === "gained")
        .map((change) => tupleOf(change.grant)),
    );
    return this.gained.has(tupleOf(grant));
  }

  /** The capabilities of a subject at a group, by grants at the group and above it. */
  private held(subject: string, group: string, side: "before" | "after"): Set<string> {
    const at = [group, ...this.hierarchy[side].chain(group)];
    const grants = [...new Set(at)].flatMap((key) => this[side].ofSubjectAt(subject, key));
    return new Set(grants.flatMap(({ role }) => role.capabilities ?? []));
  }

  /** What a grant brings its subject that it did not hold there before. */
  newCapabilities({ grant }: GrantChange): string[] {
    const before = this.held(grant.subject.key, grant.group.key, "before");
    return (grant.role.capabilities ?? []).filter((capability) => !before.has(capability));
  }

  /** What a lost grant takes away and no other grant still gives. */
  lostCapabilities({ subject, role, group }: Grant): string[] {
    const after = this.held(subject.key, group.key, "after");
    return (role.capabilities ?? []).filter((capability) => !after.has(capability));
  }

  /** Grants that are new or reach further, but for those whose role alone gained capabilities: G4's affair. */
  *newOrWiderGrants(): Generator<GrantChange> {
    for (const change of this.comparison.grants) {
      if (change.change !== "gained" && change.change !== "widened") continue;
      const { before, grant } = change;
      const isRoleOnly =
        change.change === "widened" &&
        before?.role.key === grant.role.key &&
        before.group.key === grant.group.key &&
        !(grant.subject.matchesMany && this.acceptsMore(grant.subject.key));
      if (!isRoleOnly) yield change;
    }
  }

  /** Whether more may be the holder with this key than before: what cannot be judged counts as more. */
  private acceptsMore(key: string): boolean {
    this.widenedHolders ??= new Set(
      this.comparison.changes.flatMap(({ after, fields }) =>
        after !== undefined && fields.some(({ direction }) => mayWiden(direction)) ? [after.key] : [],
      ),
    );
    return this.widenedHolders.has(key);
  }

  entity(key: string): Entity | undefined {
    return this.comparison.after.entities.get(key) ?? this.comparison.before.entities.get(key);
  }

  /** Changes of a kind that leave something there. */
  *writes(...kinds: readonly string[]): Generator<ResourceChange & { readonly after: Entity }> {
    for (const change of this.comparison.changes) {
      const { after, op } = change;
      if (after === undefined || !kinds.includes(change.kind)) continue;
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
      if (!stays || change.isRefused === true) yield { ...change, before };
    }
  }

  /** What referred to something before the change and is not taken away with it. */
  dependents(key: string): Entity[] {
    this.references ??= referencesOf(this.comparison.before);
    this.deleted ??= new Set(
      [...this.removals()].flatMap(({ op, before }) => (op === "delete" ? [before.key] : [])),
    );
    const { deleted } = this;
    return (this.references.get(key) ?? []).filter((entity) => {
      if (entity.key === key || deleted.has(entity.key)) return false;
      const after = this.comparison.after.entities.get(entity.key);
      return after === undefined || stillRefers(entity.inputs, after.inputs, key);
    });
  }

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

  /** A finding about a grant. */
  aboutGrant(grant: Grant, text: FindingText): FindingInput {
    const trust = trustOf(this.entity(grant.subject.key));
    return {
      ...text,
      kind: grant.sourceKind,
      ...optional({
        name: grant.subject.name,
        urn: grant.urn,
        uid: grant.uid,
        location: grant.location,
        trust,
      }),
      grant,
    };
  }

  /** A finding about a resource. */
  aboutEntity(entity: Entity, text: FindingText): FindingInput {
    const { name, urn, uid, location } = entity;
    return {
      ...text,
      kind: entity.kind,
      ...optional({ name, urn, uid, location, group: this.groupOf(entity), trust: trustOf(entity) }),
    };
  }
}

/** A group as findings name it, without what a report says of the group alone. */
const scopeOf = ({ key, uid, urn, name, path, isRoot }: Scope): Scope => ({
  key,
  ...optional({ uid, urn, name }),
  path,
  isRoot,
});

/** Without the members that are undefined: reports are plain JSON. */
function optional<T extends object>(members: T): Partial<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<T>;
}

function* textsIn(value: Json | undefined): Generator<string> {
  if (typeof value === "string") yield value;
  else if (Array.isArray(value)) for (const item of value) yield* textsIn(item);
  else if (isObject(value)) for (const item of Object.values(value)) yield* textsIn(item);
}

/** Whether a value is the reference that it was, leads to what stays beside a successor, or leads nowhere now. */
const isSameReference = (after: Json | undefined, key: string): boolean =>
  after === undefined || after === "" || (typeof after === "string" && withoutRetained(after) === key);

/** Whether a reference is there still, or leads nowhere now: a reference to what has gone is empty. */
function stillRefers(before: Json | undefined, after: Json | undefined, key: string): boolean {
  if (before === key) return isSameReference(after, key);
  if (Array.isArray(before)) {
    const items = Array.isArray(after) ? after : [];
    return before.includes(key)
      ? items.some((item) => isSameReference(item, key))
      : items.some((item) => [...textsIn(item)].includes(key));
  }
  if (!isObject(before)) return false;
  return Object.entries(before).some(([name, value]) =>
    stillRefers(value, isObject(after) ? ownMember(after, name) : undefined, key),
  );
}

/** Who refers to whom: by key. */
function referencesOf({ entities }: AccessGraph): Map<string, Entity[]> {
  const found = new Map<string, Entity[]>();
  for (const entity of entities.values()) {
    for (const text of new Set(textsIn(entity.inputs))) {
      if (!entities.has(text)) continue;
      const list = found.get(text);
      if (list) list.push(entity);
      else found.set(text, [entity]);
    }
  }
  return found;
}
