import { isTopUid, isUid } from "../../text/uid";
import { getOrCompute, once } from "../../fields/values";
import type { Grant, Scope, Subject } from "../graph/grant";
import { accessKinds } from "../graph/accessKinds";
import { readRoleCapabilities } from "../graph/resolveGrants";
import { wholeOf, withoutRetained } from "../graph/entityKeys";
import type { AccessGraph, Entity } from "../graph/model";
import { globMatches, withoutInvisible } from "../trust/glob";
import type { PatternComparer } from "../trust/patternComparer";
import type { SubjectSelector } from "./assertion";
import { SubjectJudge, subjectTypesOf, textOfSubject } from "./selectSubjects";
import type { Share } from "./selectSubjects";
import { Principals, textOfTrust } from "../graph/principals";
import { isUnread } from "../graph/unread";

/** Stands for what a role allows where nothing says so. */
export const UNTOLD = "something that no document tells";

/** Who, what and where, where the old object of a replacement is what it was. */
export const stableGrantKey = ({ subject, role, group }: Grant): string =>
  JSON.stringify([subject, role, group].map(({ key }) => withoutRetained(key)));

/** Somebody of before who goes by a change, or trusts somebody else after it. */
interface Departed {
  readonly subject: Subject;
  /** The same and its entity, as they were: an identity by a key of its own, since it may be there after the change too. */
  readonly was: Subject;
  readonly entity: Entity;
}

/** One side of a comparison, and what is asked of it again and again. */
export class AccessSide {
  readonly subjects: SubjectJudge;
  /** The groups of grants of which nothing tells where they lie. */
  private readonly unknownGroups: ReadonlySet<string>;
  /** The grants there: each may have effect anywhere. */
  private readonly unplaced: readonly Grant[];
  private readonly sharing = new Map<SubjectSelector, ReadonlySet<string>>();
  private readonly matching = new Map<string, ReadonlySet<string>>();

  constructor(
    readonly graph: AccessGraph,
    other: AccessGraph,
    private readonly comparer: PatternComparer,
    isPlanned: boolean,
    /** What is beside the graph until the update ends: who held a grant before may hold it. */
    private readonly past?: AccessGraph,
    /** The side before the change, where this one is after it. */
    private readonly former?: AccessSide,
  ) {
    this.subjects = new SubjectJudge(graph, other, comparer, isPlanned, past, former !== undefined);
    const isUnknown = (key: string): boolean => !isUid(key) && !graph.entities.has(key);
    const groups = new Set(graph.grants.map(({ group }) => group.key));
    this.unknownGroups = new Set([...groups].filter(isUnknown));
    this.unplaced = graph.grants.filter(({ group }) => this.unknownGroups.has(group.key));
  }

  /** The grants that may have effect at a group: those there, above it, and who knows where. */
  grantsAt(group: string): readonly Grant[] {
    return [
      ...this.graph.hierarchy.chain(group).flatMap((key) => this.graph.index.ofGroup(key)),
      ...this.unplaced,
    ];
  }

  /** Where a grant reaches the groups of an assertion: its own group where that lies below one of them, else those themselves. */
  pointsOf({ group: { key } }: Grant, on: ReadonlySet<string>): readonly string[] {
    if (this.unknownGroups.has(key)) return [...on];
    const chain = this.graph.hierarchy.chain(key);
    // A new group whose parent nobody can read may lie below any.
    const top = this.graph.entities.get(chain.at(-1) ?? "");
    const isAnywhere = top !== undefined && top.uid === undefined && isUnread(top.inputs["parentUid"]);
    if (isAnywhere || chain.some((each) => on.has(each))) return [key];
    return [...on].filter((each) => this.graph.hierarchy.chain(each).includes(key));
  }

  /**
   * All that a subject may do at a group.
   * @param isSure only by grants that are known to be there or above it, and that are not one of several that their resource may make.
   */
  capabilitiesAt(subject: string, group: string, isSure = false): ReadonlySet<string> {
    const grants = this.grantsOfSubject(subject, group, isSure);
    return new Set(grants.flatMap(({ role }) => role.capabilities ?? [UNTOLD]));
  }

  /** The nearest group at or above one that has a grant or an identity: who holds something is the same at both. */
  placeOf(group: string): string | undefined {
    return this.graph.hierarchy.chain(group).find((key) => this.places().has(key));
  }

  private readonly places = once(
    () =>
      new Set(
        this.graph.grants.flatMap(({ subject, group: { key } }) => [
          key,
          this.graph.hierarchy.ownGroupOf(subject),
        ]),
      ),
  );

  /** The grants by which a subject may do something at a group. */
  grantsOfSubject(subject: string, group: string, isSure = false): readonly Grant[] {
    const placed = this.graph.hierarchy
      .chain(group)
      .flatMap((key) => this.graph.index.ofSubjectAt(subject, key));
    return isSure
      ? placed.filter(({ isOneOf }) => isOneOf !== true)
      : [...placed, ...this.unplaced.filter((grant) => grant.subject.key === subject)];
  }

  /** Which subjects one principal may be, among those too that departed or have no grant. */
  readonly principals = once(() => {
    const departed = this.departed();
    const entities = new Map([
      ...departed.map(({ entity }) => [entity.key, entity] as const),
      ...this.graph.entities,
    ]);
    const subjects = [...departed.map(({ was }) => was), ...this.holders()];
    return new Principals(entities, subjects, this.comparer, this.past?.entities);
  });

  /**
   * Who may be one principal with an identity that is chosen by its name or uid: the same people, whatever another identity of
   * theirs is called.
   */
  private sharingWithNamed(selector: SubjectSelector): ReadonlySet<string> {
    if ((selector.name ?? selector.uid) === undefined) return new Set();
    const named = this.people().filter((each) => this.subjects.shareOf(each, selector) !== "none");
    const departed = this.departedOf(selector).map(({ was }) => was);
    const sharing = [...named, ...departed].flatMap((one) => this.principals().sharing(one));
    return new Set(sharing.map(textOfSubject));
  }

  /** Those of before whom a selector meant, and who go by the change or trust somebody else after it. */
  departedOf(selector: SubjectSelector): readonly Departed[] {
    const { former } = this;
    if (former === undefined) return [];
    return this.departed().filter(({ subject }) => former.subjects.shareOf(subject, selector) !== "none");
  }

  private readonly departed = once((): readonly Departed[] => {
    const keys = new Set(this.people().map(({ key }) => key));
    const [then, now] = [this.former?.graph.entities ?? new Map<string, Entity>(), this.graph.entities];
    return (this.former?.people() ?? []).flatMap((subject): Departed[] => {
      const { key, type } = subject;
      const entity = then.get(wholeOf(key) ?? key);
      const isThere =
        keys.has(key) && (type !== "identity" || textOfTrust(then, key) === textOfTrust(now, key));
      if (entity === undefined || isThere) return [];
      if (type !== "identity") return [{ subject, was: subject, entity }];
      const own = JSON.stringify(["before", key]);
      return [{ subject, was: { ...subject, key: own }, entity: { ...entity, key: own } }];
    });
  });

  /** How many of those that can be a subject a selector means, by what they are or as another identity of whom it names. */
  shareOf(subject: Subject, selector: SubjectSelector = {}): Share {
    const own = this.subjects.shareOf(subject, selector);
    return own === "none" && this.isOtherOfNamed(subject, selector) ? "some" : own;
  }

  /** Whether it may be another identity of somebody whom a selector leaves out by a name or uid. */
  mayBeLeftOut(subject: Subject, { not = [] }: SubjectSelector = {}): boolean {
    return not.some((selector) => this.isOtherOfNamed(subject, selector));
  }

  private isOtherOfNamed(subject: Subject, selector: SubjectSelector): boolean {
    const sharing = getOrCompute(this.sharing, selector, () => this.sharingWithNamed(selector));
    // What else is asked of a holder, is asked of each of them.
    return (
      sharing.has(textOfSubject(subject)) && this.subjects.shareOf(subject, withoutNames(selector)) !== "none"
    );
  }

  /** Every identity and every directory, whether it has a grant or not, and who else has one. */
  readonly holders = once((): readonly Subject[] => {
    const objects = [...this.graph.entities.values()].flatMap((entity) => {
      const { kind, key, uid, name } = entity;
      const { invite, describeHolder } = accessKinds[kind] ?? {};
      const [type] = subjectTypesOf(kind);
      return type === undefined || describeHolder === undefined || invite === true
        ? []
        : [{ key, uid, name, type, ...describeHolder(entity) }];
    });
    const all = [...objects, ...this.graph.grants.map(({ subject }) => subject)];
    return [...new Map(all.map((each) => [each.key, each])).values()];
  });

  /** Those of whom a document tells who they are. */
  private readonly people = once(() => this.holders().filter(({ type }) => type !== "unknown"));

  readonly groups = once((): readonly Scope[] => {
    const groups = [...this.graph.entities.values()].flatMap(({ kind, key }) =>
      kind === "Group" ? [key] : [],
    );
    const roots = this.graph.grants.flatMap(({ group: { key } }) => (isTopUid(key) ? [key] : []));
    return [...new Set([...groups, ...roots])].map((key) => this.graph.hierarchy.scope(key));
  });

  /** Each grant by what it says; of several alike the last. */
  readonly grantsByKey = once(
    () => new Map(this.graph.grants.map((grant) => [stableGrantKey(grant), grant])),
  );

  /** The groups that have a path or uid. */
  groupsNamed(globs: readonly string[]): string[] {
    const named = globs.map((glob) => this.groupsMatching(glob));
    return this.groups().flatMap(({ key }) => (named.some((keys) => keys.has(key)) ? [key] : []));
  }

  private groupsMatching(glob: string): ReadonlySet<string> {
    return getOrCompute(this.matching, glob, () => {
      const meant = this.groups().filter(
        ({ key, path, uid = key }) => globMatches(glob, withoutInvisible(path)) || globMatches(glob, uid),
      );
      return new Set(meant.map(({ key }) => key));
    });
  }

  /** The roles of a name or uid: where a built-in one is called so, that one alone. */
  rolesNamed(name: string): readonly Entity[] {
    const roles = [...this.graph.entities.values()].filter(
      (entity) => entity.kind === "Role" && (entity.name === name || entity.uid === name) && !entity.claimed,
    );
    const builtIn = roles.filter((role) => role.builtIn);
    return builtIn.length > 0 ? builtIn : roles;
  }

  capabilitiesOfRole(name: string): (readonly string[])[] {
    return this.rolesNamed(name).flatMap((role) => {
      const capabilities = readRoleCapabilities(role);
      return capabilities === undefined ? [] : [capabilities];
    });
  }
}

/** What a selector asks of a holder beside its name and uid. */
export const withoutNames = (selector: SubjectSelector): SubjectSelector => ({
  ...selector,
  name: undefined,
  uid: undefined,
});
