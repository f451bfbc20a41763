import type { Grant } from "./grant";
import type { Entity } from "./model";
import { wholeOf } from "./entityKeys";
import { groupBy, once } from "../../fields/values";

const resourceKey = (kind: string, id: string): string => JSON.stringify([kind, id]);

const placeKey = (subject: string, group: string): string => JSON.stringify([subject, group]);

/** Finds grants by what they are about. Each index is built when it is first used. */
export class GrantIndex {
  private readonly subjects = once(() => groupBy(this.grants, ({ subject }) => [subject.key]));
  private readonly places = once(() =>
    groupBy(this.grants, (grant) => [placeKey(grant.subject.key, grant.group.key)]),
  );
  private readonly groups = once(() => groupBy(this.grants, ({ group }) => [group.key]));
  private readonly roles = once(() => groupBy(this.grants, ({ role }) => [role.key]));
  private readonly resources = once(() =>
    groupBy(this.grants, ({ sourceKind, ...grant }) =>
      [grant.urn, grant.uid].map((id) => (id === undefined ? undefined : resourceKey(sourceKind, id))),
    ),
  );
  private readonly related = once(() =>
    groupBy(this.grants, ({ subject, role, urn }) => [subject.key, role.key, wholeOf(subject.key), urn]),
  );
  private readonly dependents = once(() =>
    groupBy(new Set(this.grants.map(({ subject }) => subject.key)), (key) => [wholeOf(key)]),
  );

  constructor(private readonly grants: readonly Grant[]) {}

  /** The grants of a subject: one for each resource that grants it. */
  ofSubject(key: string): readonly Grant[] {
    return this.subjects().get(key) ?? [];
  }

  /** The grants of a subject on exactly this group. */
  ofSubjectAt(subject: string, group: string): readonly Grant[] {
    return this.places().get(placeKey(subject, group)) ?? [];
  }

  /** The grants on exactly this group. */
  ofGroup(key: string): readonly Grant[] {
    return this.groups().get(key) ?? [];
  }

  /** The grants of a role. */
  ofRole(key: string): readonly Grant[] {
    return this.roles().get(key) ?? [];
  }

  /** What a resource grants. */
  ofResource({ kind, urn, uid }: Pick<Entity, "kind" | "urn" | "uid">): readonly Grant[] {
    return this.resources().get(resourceKey(kind, urn ?? uid ?? "")) ?? [];
  }

  /** Grants in which something is the subject, the role, the owner of the subject, or the resource of this urn. */
  about({ key, urn }: { readonly key: string; readonly urn?: string }): readonly Grant[] {
    const related = this.related();
    return [...new Set([...(related.get(key) ?? []), ...(related.get(urn ?? "") ?? [])])];
  }

  /** What an object gives: the grants of which it is a part, or that it makes. */
  by(entity: Pick<Entity, "key" | "kind" | "urn" | "uid">): readonly Grant[] {
    return [...this.about(entity), ...this.ofResource(entity)];
  }

  /** The subjects that belong to another one: groups of an identity provider, services of an identity. */
  subjectsOf(owner: string): readonly string[] {
    return this.dependents().get(owner) ?? [];
  }
}
