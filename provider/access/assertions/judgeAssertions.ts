import { printable } from "../../text/printable";
import { MOST_PROPOSALS, nearestWords, suggest } from "../../text/suggestions";
import { isTopUid, isUid } from "../../text/uid";
import { limitLines, listFirst, plural } from "../../text/plain";
import { timestampNanos } from "../../fields/formats";
import { mayWiden } from "../effects";
import type { FieldEffect } from "../effects";
import { groupBy, getOrCompute, once } from "../../fields/values";
import { isGain, pathIn, roleOn, shortName, tupleOf } from "../graph/grant";
import type { Grant, GrantChange, Scope, Subject } from "../graph/grant";
import { accessKinds } from "../graph/accessKinds";
import { graphOf } from "../graph/resolveGrants";
import { wholeOf, withoutRetained } from "../graph/entityKeys";
import type { Entity } from "../graph/model";
import { tokenTrustsOf } from "../graph/tokenTrusts";
import { createLate, createSignInDoubt, haveKeysEnded, listLasting } from "../review/lastingAccess";
import { recordedAccess } from "../review/recordedAccess";
import type { Comparison } from "../review/compare";
import type { SignInDoubt } from "../review/lastingAccess";
import { severities } from "../review/finding";
import type { Severity } from "../review/finding";
import { globMatches, hasWildcard } from "../trust/glob";
import { PatternComparer } from "../trust/patternComparer";
import type {
  Assertions,
  ForbiddenAccess,
  RequiredAccess,
  SeparatedDuties,
  SubjectConditions,
  Written,
} from "./assertion";
import { AccessSide, UNTOLD, stableGrantKey, withoutNames } from "./accessSide";
import { SubjectJudge, entityOfSubject, subjectTypesOf, textOfSubject } from "./selectSubjects";
import type { Share } from "./selectSubjects";
import { textAtPath } from "../graph/describedFields";

/** Whether an end was past when an inventory was taken; one that is not known may be. */
function hasEnded(end: string | undefined, inventories: Comparison["inventories"]): boolean {
  const ended = timestampNanos(end ?? "");
  const times = inventories.map(({ takenAt }) => timestampNanos(takenAt));
  return ended === undefined || times.length === 0 || times.some((now) => now === undefined || ended <= now);
}

type Assertion = Written<ForbiddenAccess | RequiredAccess | SeparatedDuties>;

/** Whether it counts holders, so that whom it excludes matters as much as whom it means. */
const isCounted = (assertion: Assertion): boolean => "atLeast" in assertion || "atMost" in assertion;

/** One way in which an organisation breaks an assertion. */
export interface Violation {
  readonly assertion: Assertion;
  /** What breaks it, without the name of the assertion. */
  readonly message: string;
  readonly details: readonly string[];
  /** The grant that breaks it; undefined where access is missing, or where nothing can be judged. */
  readonly grant?: Grant;
  /** The group of the assertion that it concerns. */
  readonly group?: Scope;
  /** The object that it is about, where it is no grant. */
  readonly entity?: Entity;
  /** Where nobody can say that the assertion is broken: the severity that it has at most. */
  readonly mostSevere?: Severity;
  /** What to do, where no change of the program mends it. */
  readonly advice?: string;
  /** What an exception accepts: another one of these is another violation. */
  readonly pins: readonly string[];
  /** The grants that it accepts: all that break it together. */
  readonly grants?: readonly Grant[];
}

/** What a change prepares: the next one breaks an assertion and is not judged by it. */
const fromNextOn = (
  assertion: Assertion,
  about: Pick<Violation, "entity" | "grant">,
  message: string,
  detail: string,
  pins: readonly string[],
): Violation => ({ assertion, ...about, message, details: [`from the next change on, ${detail}`], pins });

/** What a comparison does to the assertions of a policy. */
interface AssertionResult {
  /** What the change breaks, or makes worse. */
  readonly worse: Readonly<Record<keyof Assertions, readonly Violation[]>>;
  /** What was broken before the change and still is. */
  readonly standing: readonly Violation[];
  /** Names in assertions that nothing has, a line each: it may come later, so that breaks nothing. */
  readonly unknown: readonly string[];
}

/** What assertions are judged on: a comparison, or one graph as both sides. */
type Judged = Pick<Comparison, "before" | "after" | "meanwhile" | "changes" | "drift" | "inventories"> &
  Partial<Pick<Comparison, "comparer" | "grants">>;

/** What a grant gives a subject of what an assertion is about, and where. */
interface Held {
  readonly grant: Grant;
  readonly points: readonly string[];
  readonly capabilities: readonly string[];
  /** Where no grant alone gives it: all that give it together. */
  readonly together?: readonly Grant[];
}

const grantsOf = ({ grant, together = [grant] }: Held): readonly Grant[] => together;

const allowedBy = ({ role: { capabilities = [UNTOLD] } }: Grant): readonly string[] => capabilities;

/** How an assertion is broken: by the change, and before it. */
interface Judgement {
  readonly worse: readonly Violation[];
  readonly standing: readonly Violation[];
}

/** The access that an assertion is about: globs of capabilities, of which each group of globs must be met. */
type Wanted = readonly (readonly string[])[];

/** The keys of the groups that an assertion means. */
interface MeantGroups {
  /** Those that had its path before, too, so that none leaves it by a new name. */
  readonly all: ReadonlySet<string>;
  /** Those that had its path before. Access at a group that gets the path by the change breaks the assertion anew. */
  readonly before: ReadonlySet<string>;
}

/** Judges assertions on both sides of a comparison. */
class AssertionJudge {
  private readonly before: AccessSide;
  private readonly after: AccessSide;
  /** After, with all that is still there until the update takes it away. */
  private readonly meanwhile: AccessSide;
  /** The keys of those that accept more principals than before, as far as anybody can say. */
  private readonly widened: ReadonlySet<string>;
  /** Whether nobody can say that a holder can sign in after the change. */
  private readonly doubtOf: (holder: Subject) => SignInDoubt | undefined;
  /** Whether a change is to come. What was done by hand is drift, and is judged as it is. */
  private readonly isPlanned: boolean;
  /** Whether the live organisation is known, so that whoever is not known here is not there. */
  private readonly isLive: boolean;
  private readonly comparer: PatternComparer;
  /** How the change alters grants; empty where no change is to come. */
  private readonly changedGrants: readonly GrantChange[];
  /** The roles of which a finding says that no given stack records them. */
  private readonly toldRoles = new Set<string>();

  constructor(private readonly graphs: Judged) {
    const {
      before,
      after,
      changes,
      drift,
      inventories,
      meanwhile,
      comparer = new PatternComparer(),
      grants = [],
    } = graphs;
    this.comparer = comparer;
    this.isPlanned = drift === undefined;
    this.changedGrants = this.isPlanned ? grants : [];
    this.isLive = inventories.length > 0 || !this.isPlanned;
    this.before = new AccessSide(before, after, comparer, this.isPlanned);
    const former = this.isPlanned ? this.before : undefined;
    this.after = new AccessSide(after, before, comparer, this.isPlanned, undefined, former);
    this.meanwhile =
      meanwhile === undefined
        ? this.after
        : new AccessSide(meanwhile, before, comparer, this.isPlanned, before, former);
    const tokenTrusts = tokenTrustsOf(comparer, before.entities, after.entities);
    this.widened = new Set(
      changes.flatMap(({ before: old, after: entity, fields }): readonly string[] => {
        const letsMoreIn = ({ direction, effect, path }: FieldEffect): boolean => {
          // What those who are in get, and for how long, is no matter of who gets in.
          if (!mayWiden(direction) || effect === "role") return false;
          return effect !== "expiry" || hasEnded(textAtPath(old?.inputs, path), inventories);
        };
        return entity !== undefined && fields.some(letsMoreIn) ? [...tokenTrusts.withTakers(entity.key)] : [];
      }),
    );
    this.doubtOf = createSignInDoubt({ ...graphs, comparer });
  }

  /** The subjects after the change as the next change judges them: nothing has a name or uid of before. */
  private readonly next = once(() => {
    const { after } = this.graphs;
    return new SubjectJudge(after, after, this.comparer, true, undefined, false);
  });

  /** Whoever holds access after the change, and each object that could, whether it has a grant or not. */
  private readonly possibleHolders = once((): readonly Subject[] => {
    const objects = [...this.after.graph.entities.values()].flatMap((entity) => {
      const { kind, key, uid } = entity;
      const { matchesMany = false } = accessKinds[kind]?.describeHolder?.(entity) ?? {};
      return subjectTypesOf(kind).map((type) => ({ key, uid, type, displayName: key, matchesMany }));
    });
    const all = [...objects, ...this.after.holders()];
    return [...new Map(all.map((each) => [textOfSubject(each), each])).values()];
  });

  /** What is there from before the change until everything new is made. */
  private readonly lasting = once(() => {
    const { before, after } = this.graphs;
    const lasting = graphOf(before.entities, listLasting(this.graphs));
    return new AccessSide(lasting, after, this.comparer, this.isPlanned);
  });

  private acceptsMore({ key, type }: Subject): boolean {
    // A service of the platform is itself, whatever else its association holds.
    if (type === "service") return false;
    return this.widened.has(key) || this.widened.has(wholeOf(key) ?? "");
  }

  /**
   * Answers whether the same grants gave the same at the same places before the change. What is new breaks an assertion anew, whatever
   * else gives it: that may have been made by hand so that the new one looks harmless, and may go once it is there.
   */
  private wasThere(held: Iterable<Held>): (now: Held, side: AccessSide) => boolean {
    const keysOf = (each: Held): string => JSON.stringify(grantsOf(each).map(stableGrantKey).sort());
    const olds = new Map(Array.from(held, (each) => [keysOf(each), each]));
    const byGrant = once(() => groupBy(olds.values(), ({ together = [] }) => together.map(stableGrantKey)));
    const { hierarchy } = this.before.graph;
    // Of several grants that gave it together some may go, and the others give it still.
    const findWider = ({ together = [] }: Held): Held | undefined => {
      const [first = "", ...others] = together.map(stableGrantKey);
      return byGrant()
        .get(first)
        ?.find((old) => {
          const there = new Set(grantsOf(old).map(stableGrantKey));
          return others.every((key) => there.has(key));
        });
    };
    return (now, side) => {
      const old = olds.get(keysOf(now)) ?? findWider(now);
      if (old === undefined || grantsOf(now).some(({ subject }) => this.acceptsMore(subject))) return false;
      const places = new Set(old.points.map(withoutRetained));
      const { subject } = now.grant;
      // Where its identity could not act, it gave nothing.
      const reachedSo = (point: string): boolean => {
        const [was, is] = [hierarchy, side.graph.hierarchy].map((each) => each.actsFrom(subject, point));
        return is === undefined || (was !== undefined && hierarchy.chain(is).includes(was));
      };
      return (
        now.points.every((point) => places.has(withoutRetained(point)) && reachedSo(point)) &&
        now.capabilities.every((each) => old.capabilities.includes(each))
      );
    };
  }

  private groupsOf(assertion: Assertion): { readonly meant: MeantGroups; readonly departed: Violation[] } {
    const { on } = assertion;
    const now = this.after.groupsNamed(on);
    const then = this.before.groupsNamed(on);
    const details = ["without its group nothing of it can be judged: on names groups, not what is in them"];
    // A group that had the name until now has lost it by the change.
    const advice = then.length === 0 ? this.correctName() : undefined;
    const departed = [
      ...(now.length > 0 ? [] : [{ assertion, message: this.noGroup(on), details, advice, pins: on }]),
      ...this.departedGroups(assertion, then, new Set(now)),
      ...this.renamedHolders(assertion),
      ...this.changedRole(assertion),
    ];
    // Nobody holds anything at a group that goes.
    const staying = then.filter((key) => this.after.graph.entities.has(key) || isTopUid(key));
    // The top of an organisation is not made by a change, though a document may speak of it on one side alone.
    const meant = { all: new Set([...now, ...staying]), before: new Set([...then, ...now.filter(isTopUid)]) };
    return { meant, departed };
  }

  /** The groups that a change takes out of an assertion by a name: the next one would be judged without them. */
  private departedGroups(
    assertion: Assertion,
    then: readonly string[],
    now: ReadonlySet<string>,
  ): readonly Violation[] {
    const { entities } = this.after.graph;
    if (!this.isPlanned) return [];
    const within = (side: AccessSide, named: ReadonlySet<string>): string[] =>
      side
        .groups()
        .flatMap(({ key }) => (side.graph.hierarchy.chain(key).some((each) => named.has(each)) ? [key] : []));
    const [named, covered] = [new Set(then), new Set(within(this.after, now))];
    const isKept = (key: string): boolean => (named.has(key) ? now : covered).has(key);
    // What lies below a group that departs departs with it.
    const gone = within(this.before, named).filter(
      (key) =>
        !isKept(key) &&
        (named.has(key) || this.before.graph.hierarchy.chain(key).some((each) => now.has(each))),
    );
    const nothingJudged = (entity: Entity, message: string, pins: readonly string[]): Violation =>
      fromNextOn(assertion, { entity }, message, "nothing of it is judged", pins);
    const isNew = ({ kind, key }: Entity): boolean =>
      kind === "Group" && !this.before.graph.entities.has(key) && !covered.has(key);
    const made = gone.some((key) => !entities.has(key)) ? [...entities.values()].filter(isNew) : [];
    return gone.flatMap((key): Violation[] => {
      const { path: old, name: lost } = this.before.graph.hierarchy.scope(key);
      const entity = entities.get(key);
      if (entity !== undefined) {
        const { path } = this.after.graph.hierarchy.scope(key);
        return [
          nothingJudged(entity, `${pathIn(old)} becomes ${pathIn(path)}, which "on" does not name`, [path]),
        ];
      }
      // What goes leaves nothing behind, unless the change makes it anew: of what lies below a named group, by its name.
      const successors = made.filter(
        ({ name }) => named.has(key) || name?.toLowerCase() === lost?.toLowerCase(),
      );
      return successors.map((anew) => {
        const { path } = this.after.graph.hierarchy.scope(anew.key);
        const message = `${pathIn(old)} goes, and the new group ${pathIn(path)} may take its place: "on" does not name that`;
        return nothingJudged(anew, message, [old, path]);
      });
    });
  }

  /**
   * The holders that the next change would judge otherwise, since this one makes, renames, replaces or removes whom an assertion
   * chooses by a name or uid, or lets somebody else be whom it leaves out so. What becomes meant is harmless where access is
   * forbidden, and may count for what is required.
   */
  private renamedHolders(assertion: Assertion): readonly Violation[] {
    const { who = {} } = assertion;
    const isByName = [who, ...(who.not ?? [])].some(({ name, uid }) => (name ?? uid) !== undefined);
    if (!isByName || !this.isPlanned) return [];
    const { entities, grants } = this.after.graph;
    const staying = new Set(this.after.holders().map(({ key }) => key));
    // Whom it leaves out by a name is left out, whoever else is the same principal.
    const isStillMeant = (subject: Subject): boolean =>
      this.next().shareOf(subject, withoutNames(who)) !== "none" &&
      this.after
        .principals()
        .sharing(subject)
        .some((other) => staying.has(other.key) && this.next().shareOf(other, who) !== "none");
    const isLeftOutAnew = (subject: Subject): boolean =>
      this.acceptsMore(subject) &&
      // What is new has a name of its own, and an exclusion by a subject judges the trust itself.
      entityOfSubject(this.before.graph.entities, subject.key) !== undefined &&
      (who.not ?? []).some(
        (each) =>
          (each.name ?? each.uid) !== undefined &&
          each.subject === undefined &&
          this.after.subjects.shareOf(subject, each) !== "none",
      );
    const found = new Map<string, Violation>();
    for (const subject of this.possibleHolders()) {
      const then = this.next().shareOf(subject, who);
      // What is required counts who is left, and nobody for another identity.
      const isOther = isCounted(assertion)
        ? then !== this.after.subjects.shareOf(subject, who)
        : then === "none" && this.after.shareOf(subject, who) !== "none" && !isStillMeant(subject);
      if (!isOther && !isLeftOutAnew(subject)) continue;
      const entity = entityOfSubject(entities, subject.key);
      const grant = grants.find((each) => each.subject.key === subject.key);
      const name = JSON.stringify(subject.name ?? entity?.name ?? shortName(subject));
      const about = subject.type === "externalGroup" && grant !== undefined ? { grant } : { entity };
      const message = `"who" chooses ${name} by a name or uid, and the change decides whom that means`;
      const detail = "it counts as what its own name and uid say";
      const pins = [subject.key, name, JSON.stringify(who)];
      found.set(entity?.key ?? subject.key, fromNextOn(assertion, about, message, detail, pins));
    }
    return [...found.values()];
  }

  /** A role of a program's own, by which the next change would be judged. */
  private changedRole(assertion: Assertion): readonly Violation[] {
    const role = "role" in assertion ? assertion.role : undefined;
    if (role === undefined || !this.isPlanned) return [];
    const now = this.after.capabilitiesOfRole(role);
    if (JSON.stringify(this.before.capabilitiesOfRole(role)) === JSON.stringify(now)) return [];
    const details = [`it allows ${now.flat().join(", ") || "nothing that a document tells"}`];
    const message = `the change decides what the role ${JSON.stringify(role)} allows, which the assertion names`;
    return [{ assertion, message, details, pins: [role, ...now.flat()] }];
  }

  private isRecorded(entity: Entity): boolean {
    return recordedAccess(this.graphs).recordOf(entity) !== undefined;
  }

  /** What the inventories list, by uid. */
  private readonly listed = once(
    () => new Map(this.graphs.inventories.flatMap(({ objects }) => objects.map((each) => [each.uid, each]))),
  );

  /** Judges an assertion at its groups, and by what its names may mean that no given stack records. */
  private judge(assertion: Assertion, judgeAt: (meant: MeantGroups) => Judgement): Judgement {
    const { meant, departed } = this.groupsOf(assertion);
    const { worse, standing } = judgeAt(meant);
    const others = this.renamedGroups(assertion, meant.all);
    const all = new Set([...meant.all, ...others]);
    const said = new Set(worse.map(({ message }) => message));
    const withOthers = () => judgeAt({ all, before: new Set([...meant.before, ...others]) });
    const more = others.size === 0 ? [] : withOthers().worse.filter(({ message }) => !said.has(message));
    const unrecorded = [
      ...this.unrecordedRole(assertion, all),
      ...this.unrecordedGroups(assertion, others, more),
    ];
    return { worse: [...departed, ...unrecorded, ...worse], standing };
  }

  /**
   * A role of one's own that no given stack records, where the change gives access that the assertion is about, or takes what it
   * requires: whoever can update the role decides for as long as a review takes what the assertion means. It is told once for all
   * assertions. What is accepted is what it allows.
   */
  private unrecordedRole(assertion: Assertion, keys: ReadonlySet<string>): readonly Violation[] {
    const role = "role" in assertion ? assertion.role : undefined;
    if (role === undefined) return [];
    if (this.before.rolesNamed(role).every((each) => each.builtIn === true || this.isRecorded(each)))
      return [];
    const isMeant = ({ change, grant }: GrantChange): boolean => {
      const side = change === "lost" ? this.before : this.after;
      const isAsked = isGain({ change }) || "atLeast" in assertion;
      return (
        isAsked &&
        side.pointsOf(grant, keys).length > 0 &&
        side.shareOf(grant.subject, assertion.who) !== "none"
      );
    };
    const allowed = this.before.capabilitiesOfRole(role).flat();
    const message = `no given stack records what the role ${JSON.stringify(role)} allows, which the assertion names`;
    const details = [
      `it allows ${allowed.join(", ") || "nothing that a document tells"}, unless it was changed by hand for this review`,
      "name the capabilities in can, or accept this by its fingerprint: it is another one where the role allows something else",
    ];
    const found: Violation = { assertion, message, details, pins: [role, ...allowed], mostSevere: "medium" };
    const told = JSON.stringify([role, severityOfViolation(found)]);
    if (this.toldRoles.has(told) || !this.changedGrants.some(isMeant)) return [];
    this.toldRoles.add(told);
    return [found];
  }

  /**
   * The groups at which the change gives access, and which somebody may have renamed by hand so that the assertion does not mean them:
   * no given stack records them, and they were changed since they were made.
   */
  private renamedGroups(assertion: Assertion, keys: ReadonlySet<string>): ReadonlySet<string> {
    if (assertion.on.every(isUid)) return new Set();
    const mayBeRenamed = (key: string): boolean => {
      const entity = this.before.graph.entities.get(key);
      if (entity?.kind !== "Group" || isTopUid(key) || this.isRecorded(entity)) return false;
      const { createTime, updateTime } = this.listed().get(entity.uid ?? "") ?? {};
      return createTime === undefined || createTime !== updateTime;
    };
    const found = this.changedGrants.filter(isGain).flatMap(({ grant }) => {
      const chain = this.after.graph.hierarchy.chain(grant.group.key);
      return chain.some((key) => keys.has(key)) ? [] : (chain.find(mayBeRenamed) ?? []);
    });
    return new Set(found);
  }

  /** What an assertion would say of renamed groups: one finding, however many there are. */
  private unrecordedGroups(
    assertion: Assertion,
    others: ReadonlySet<string>,
    more: readonly Violation[],
  ): readonly Violation[] {
    const { hierarchy } = this.after.graph;
    const keys = more.flatMap(
      ({ grant, group = grant?.group }) =>
        hierarchy.chain(group?.key ?? "").find((key) => others.has(key)) ?? [],
    );
    const groups = [...new Set(keys)].map((key) => hierarchy.scope(key));
    const [group] = groups;
    if (group === undefined) return [];
    const names = groups.map(({ path }) => pathIn(path));
    const message = `no given stack records ${listFirst(names, 3)}, which "on" may mean`;
    const details = [
      ...more.map((each) => each.message),
      "a group that was changed since it was made may have been renamed by hand: name the groups in on by their uids",
    ];
    const pins = [...assertion.on, ...groups.map(({ key }) => key)];
    return [{ assertion, group, message, details, pins, mostSevere: "medium" }];
  }

  /** The roles that an assertion means. Before comes first: what a program calls a role now says nothing of it. */
  private rolesOf(role: string): readonly (readonly string[])[] {
    const before = this.before.capabilitiesOfRole(role);
    return before.length === 0 ? this.after.capabilitiesOfRole(role) : before;
  }

  /** The capabilities that an assertion names; undefined where it names no role that a document describes, or several. */
  private wantedOf({ can = [], role }: Pick<ForbiddenAccess, "can" | "role">): Wanted | undefined {
    if (role === undefined) return [can];
    const [first = [], ...others] = this.rolesOf(role);
    return first.length === 0 || others.length > 0 ? undefined : first.map((capability) => [capability]);
  }

  private correctName(): string {
    return `${this.isLive ? "" : "give --inventory, or "}correct the name in the policy file`;
  }

  private noGroup(paths: readonly string[]): string {
    const known = this.after.groups().map(({ path }) => path);
    const hints = paths.slice(0, MOST_PROPOSALS).map((path) => suggest(path, known));
    const meant = hints.find((hint) => hint !== "") ?? "";
    return `no group that is known here is ${paths.map((path) => JSON.stringify(path)).join(" or ")}${meant}`;
  }

  private unknownRole(assertion: Assertion, role = ""): Violation {
    const several = this.rolesOf(role).length > 1;
    const name = JSON.stringify(role);
    const roles = this.entities().filter(({ kind, name: called }) => kind === "Role" && called !== role);
    const known = roles.flatMap((entity) => entity.name ?? []);
    return {
      assertion,
      message: several
        ? `several roles are called ${name}`
        : `no document says what the role ${name} allows${suggest(role, known)}`,
      details: [
        several
          ? "name the one that is meant by its uid"
          : `${this.isLive ? "correct its name" : "give --inventory"}, or name the capabilities in can`,
      ],
      advice: several ? "name the role by its uid in the policy file" : this.correctName(),
      pins: [role],
    };
  }

  private entities(): Entity[] {
    return [this.before, this.after].flatMap(({ graph }) => [...graph.entities.values()]);
  }

  /** What the holders of access are called. */
  private readonly known = once(() => {
    const holders = this.entities().filter(({ kind }) => accessKinds[kind]?.describeHolder !== undefined);
    const grants = [this.before, this.after].flatMap(({ graph }) => graph.grants);
    const uids = [...holders, ...grants.map(({ subject }) => subject)].flatMap(({ uid }) => uid ?? []);
    return {
      names: [...new Set(holders.flatMap((holder) => holder.name ?? []))],
      uids: [...new Set(uids)],
    };
  });

  /** What an assertion names and nobody has. A name with a wildcard is meant for what comes later, too. */
  unknownNames({ name, place, who = {}, on }: Assertion): string[] {
    if (!this.isLive) return [];
    const { names, uids } = this.known();
    const missing = (globs: readonly string[] = [], known: readonly string[]): string[] =>
      globs.filter((glob) => !hasWildcard(glob) && !known.some((each) => globMatches(glob, each)));
    const groups = on.filter((glob) => !hasWildcard(glob) && this.after.groupsNamed([glob]).length === 0);
    const nearTo = (each: string): string => {
      const near = nearestWords(each, names, 3).map((one) => JSON.stringify(one));
      return suggest(each, names) || (near.length === 0 ? "" : `; the nearest names are ${near.join(", ")}`);
    };
    const inPart = (conditions: SubjectConditions, effect: string): string[] => [
      ...missing(conditions.name, names).map(
        (each, i) =>
          `nobody who is known here is called ${JSON.stringify(each)}, so ${effect}${i < MOST_PROPOSALS ? nearTo(each) : ""}`,
      ),
      ...missing(conditions.uid, uids).map(
        (uid) => `nobody who is known here has the uid ${uid}, so ${effect}`,
      ),
    ];
    return [
      ...inPart(who, "who means nobody by it"),
      ...(who.not ?? []).flatMap((conditions) => inPart(conditions, "not leaves out nobody by it")),
      // Where it knows none of its groups, that is a finding.
      ...(this.after.groupsNamed(on).length === 0 ? [] : groups.map((group) => this.noGroup([group]))),
    ].map((line) => printable(`${place}: ${name}: ${line}`, 600));
  }

  /** What grants of one side give against an assertion. */
  private *forbidden(
    side: AccessSide,
    assertion: Written<ForbiddenAccess>,
    on: ReadonlySet<string>,
    wanted: Wanted,
  ): Generator<Held & { readonly share: Share }> {
    // By what a role allows: while an update runs, one role may allow more by one grant than by another.
    const known = new Map<readonly string[] | undefined, readonly string[]>();
    const matched = ({ role: { capabilities } }: Grant): readonly string[] =>
      getOrCompute(known, capabilities, () => matchedBy(capabilities, wanted));
    const seen = new Set<string>();
    const sums = new Map<string, Held & { readonly share: Share; readonly together: readonly Grant[] }>();
    for (const grant of side.graph.grants) {
      const ofGrant = matched(grant);
      if (ofGrant.length === 0 && assertion.role === undefined) continue;
      const points = side.pointsOf(grant, on);
      if (points.length === 0) continue;
      const share = side.shareOf(grant.subject, assertion.who);
      if (share === "none") continue;
      if (ofGrant.length > 0) {
        if (!seen.has(tupleOf(grant))) yield { grant, points, share, capabilities: ofGrant };
        seen.add(tupleOf(grant));
        continue;
      }
      // A role is held by several grants together, too, also where one principal holds them as several identities.
      const { key } = grant.subject;
      const holders = side.principals().sharing(grant.subject);
      for (const point of points) {
        const place = JSON.stringify([key, point]);
        if (seen.has(place)) continue;
        seen.add(place);
        const own = side.grantsOfSubject(key, point);
        const all =
          holders.length === 1 ? own : holders.flatMap((each) => side.grantsOfSubject(each.key, point));
        if (all.length < 2 || all.some((each) => matched(each).length > 0)) continue;
        const held = holders.flatMap((each) => [...side.capabilitiesAt(each.key, point)]);
        const capabilities = matchedBy([...new Set(held)], wanted);
        if (capabilities.length === 0) continue;
        const giving = all.filter(({ role }) =>
          role.capabilities?.some((each) => capabilities.includes(each)),
        );
        const together = [...new Map(giving.map((each) => [tupleOf(each), each])).values()];
        const cause = JSON.stringify(together.map(tupleOf).sort());
        // Two subjects that are one principal have one sum.
        const known = sums.get(cause);
        const more = [...new Set([...(known?.points ?? []), point])];
        sums.set(cause, { grant, share, capabilities, together, ...known, points: more });
      }
    }
    yield* sums.values();
  }

  forbid(assertion: Written<ForbiddenAccess>): Judgement {
    const wanted = this.wantedOf(assertion);
    if (wanted === undefined) return { worse: [this.unknownRole(assertion, assertion.role)], standing: [] };
    return this.judge(assertion, (meant) => this.forbidAt(assertion, meant, wanted));
  }

  private forbidAt(assertion: Written<ForbiddenAccess>, meant: MeantGroups, wanted: Wanted): Judgement {
    const wasThere = this.wasThere(this.forbidden(this.before, assertion, meant.before, wanted));
    const [worse, standing]: [Violation[], Violation[]] = [[], []];
    const old = this.before.grantsByKey();
    const violationOf = (held: Held & { readonly share: Share }): Violation => {
      const { capabilities, share, together = [held.grant] } = held;
      const newest = together.find((each) => givesMore(each, old.get(stableGrantKey(each))));
      const grant = newest ?? together[0] ?? held.grant;
      const has = together.map((each) => {
        const as = each.subject.key === grant.subject.key ? "" : ` as ${shortName(each.subject)}`;
        return `${roleOn(each)}${as}`;
      });
      return {
        assertion,
        grant,
        message: `${shortName(grant.subject)} has ${has.join(" and ")}`,
        details: [...describeCapabilities(held, assertion), ...describeShare(share)],
        pins: capabilities,
        grants: held.together,
      };
    };
    for (const held of this.forbidden(this.meanwhile, assertion, meant.all, wanted)) {
      if (!wasThere(held, this.meanwhile)) worse.push(violationOf(held));
    }
    for (const held of this.forbidden(this.after, assertion, meant.all, wanted))
      if (wasThere(held, this.after)) standing.push(violationOf(held));
    return { worse, standing };
  }

  /** The holders of what an assertion requires at one of its groups: those that surely count, and those that may. */
  private holders(side: AccessSide, assertion: RequiredAccess, group: string, wanted: Wanted) {
    const { who, atMost } = assertion;
    const holders = new Map<string, { readonly grant: Grant; readonly share: Share }>();
    for (const grant of side.grantsAt(group)) {
      const { key } = grant.subject;
      if (holders.has(key)) continue;
      const isAlone = holdsAll(side.capabilitiesAt(key, group), wanted);
      if (!isAlone) {
        if (atMost === undefined) continue;
        // One principal may hold it as several identities, who are one holder.
        const all = side.principals().sharing(grant.subject);
        if (all.length === 1 || all.some((each) => holders.has(each.key))) continue;
        const held = new Set(all.flatMap((each) => [...side.capabilitiesAt(each.key, group)]));
        if (!holdsAll(held, wanted)) continue;
      }
      const share = side.shareOf(grant.subject, who);
      if (share === "none") continue;
      const isSure =
        isAlone &&
        side.graph.hierarchy.actsAt(grant.subject, group) &&
        holdsAll(side.capabilitiesAt(key, group, true), wanted, false) &&
        !side.mayBeLeftOut(grant.subject, who) &&
        !haveKeysEnded(side.graph.entities.get(key), this.graphs.inventories);
      holders.set(key, { grant, share: isSure ? share : "some" });
    }
    const all = [...holders.values()];
    const sure = all.filter(({ share }) => share === "all");
    const distinct = (some: typeof all) => side.principals().distinct(some, ({ grant }) => grant.subject);
    return {
      sure: distinct(sure),
      all,
      grants: all.map(({ grant }) => grant),
      allSure: sure,
      /** Those among the sure ones of whom there is no such doubt. */
      without: (doubts: readonly SignInDoubt[], isLate: (grant: Grant) => boolean) =>
        distinct(
          sure.filter(
            ({ grant }) => !isLate(grant) && !doubts.some((doubt) => doubt === this.doubtOf(grant.subject)),
          ),
        ),
    };
  }

  require(assertion: Written<RequiredAccess>): Judgement {
    const wanted = this.wantedOf(assertion);
    if (wanted === undefined) return { worse: [this.unknownRole(assertion, assertion.role)], standing: [] };
    return this.judge(assertion, (meant) => this.requireAt(assertion, meant, wanted));
  }

  private requireAt(assertion: Written<RequiredAccess>, meant: MeantGroups, wanted: Wanted): Judgement {
    const { atLeast = 0, atMost = Infinity } = assertion;
    const [worse, standing]: [Violation[], Violation[]] = [[], []];
    // Many groups can be meant, and have nobody of their own.
    const holdersOf = (side: AccessSide) => {
      const known = new Map<string | undefined, ReturnType<typeof this.holders>>();
      return (key: string) =>
        getOrCompute(known, side.placeOf(key), () => this.holders(side, assertion, key, wanted));
    };
    const heldBefore = holdersOf(this.before);
    const heldAfter = holdersOf(this.after);
    const heldThroughout = holdersOf(this.lasting());
    for (const key of meant.all) {
      const isMeantAnew = !meant.before.has(key);
      const group = this.after.graph.hierarchy.scope(key);
      const [then, now] = [heldBefore(key), heldAfter(key)];
      const at = (message: string): Violation => {
        const names = now.all.map(
          ({ grant, share }) => `${shortName(grant.subject)}${share === "all" ? "" : ", who may not count"}`,
        );
        const details = names.length === 0 ? ["nobody holds it"] : names.map((name) => `holder: ${name}`);
        return { assertion, group, message, details, pins: names, grants: now.grants };
      };
      const isBroken = now.sure.length < atLeast;
      const count = (holders: readonly unknown[], which = ""): string =>
        `${pathIn(group.path)} has ${plural(holders.length, "holder")}${which}, fewer than ${atLeast}`;
      const isAnyLost = now.sure.length < then.sure.length;
      const lasting = heldThroughout(key).allSure;
      const stays = new Set(lasting.map(({ grant }) => grant.subject.key));
      const isLate = createLate(
        then.allSure.map(({ grant }) => grant),
        (holder) => stays.has(holder),
      );
      // Who has not signed in for long is no news where nobody goes.
      const staying = now.without(isAnyLost ? ["changed", "unseen"] : ["changed"], isLate);
      if (isBroken && (isMeantAnew || then.sure.length >= atLeast || isAnyLost)) {
        worse.push(at(count(now.sure)));
      } else if (staying.length < Math.min(atLeast, then.sure.length)) {
        const isAnyLate = now.allSure.some(({ grant }) => isLate(grant));
        const message = count(staying, isAnyLate ? " who surely keep it" : " who surely can sign in");
        worse.push({ ...at(message), mostSevere: staying.length === 0 ? "high" : "medium" });
      } else if (isBroken) standing.push(at(count(now.sure)));
      if (now.all.length > atMost) {
        const acting = (side: AccessSide, { all }: typeof now): number =>
          all.filter(({ grant }) => side.graph.hierarchy.actsAt(grant.subject, key)).length;
        const olds = this.before.grantsByKey();
        // Whoever held it before may have had it by hand alone.
        const holdsAnew = ({ grant: { subject } }: { readonly grant: Grant }): boolean =>
          this.acceptsMore(subject) ||
          this.after
            .grantsOfSubject(subject.key, key)
            .some(
              (each) =>
                givesMore(each, olds.get(stableGrantKey(each))) && matchesAny(each.role.capabilities, wanted),
            );
        const isWorse =
          isMeantAnew ||
          then.all.length <= atMost ||
          now.all.length > then.all.length ||
          // Who may have held it, as far as anybody could say, holds it now.
          now.allSure.length > then.allSure.length ||
          acting(this.after, now) > acting(this.before, then) ||
          now.all.some(holdsAnew);
        const message = `${pathIn(group.path)} has ${plural(now.all.length, "holder")}, more than ${atMost}`;
        (isWorse ? worse : standing).push(at(message));
      }
    }
    return { worse, standing };
  }

  /** What those hold who hold one of each duty, by principal. */
  private withAllDuties(side: AccessSide, assertion: SeparatedDuties, on: ReadonlySet<string>) {
    const duties = [assertion.duties.flat()];
    const holding = side.graph.grants.flatMap((grant): Held[] => {
      const points = side.pointsOf(grant, on);
      if (points.length === 0) return [];
      const capabilities = matchedBy(grant.role.capabilities, duties);
      return capabilities.length === 0 ? [] : [{ grant, points, capabilities }];
    });
    const bySubject = groupBy(holding, ({ grant }) => [grant.subject.key]);
    const missing = (held: readonly Held[]) =>
      assertion.duties.filter(
        (duty) => !held.some(({ grant }) => matchedBy(grant.role.capabilities, [duty]).length > 0),
      );
    const found = new Map<string, Held[]>();
    for (const [key, own] of bySubject) {
      const subject = own[0]?.grant.subject;
      if (subject === undefined || side.shareOf(subject, assertion.who) === "none") continue;
      const open = missing(own);
      // A principal may hold the duties as several identities.
      const others =
        open.length === 0
          ? []
          : side
              .principals()
              .sharing(subject)
              .flatMap((each) => (each.key === key ? [] : (bySubject.get(each.key) ?? [])));
      const adding = others.filter(({ grant }) =>
        open.some((duty) => matchedBy(grant.role.capabilities, [duty]).length > 0),
      );
      const held = [...own, ...adding];
      if (missing(held).length > 0) continue;
      found.set(JSON.stringify([...new Set(held.map(({ grant }) => grant.subject.key))].sort()), held);
    }
    return [...found.values()];
  }

  separate(assertion: Written<SeparatedDuties>): Judgement {
    return this.judge(assertion, (meant) => this.separateAt(assertion, meant));
  }

  private separateAt(assertion: Written<SeparatedDuties>, meant: MeantGroups): Judgement {
    const wasThere = this.wasThere(this.withAllDuties(this.before, assertion, meant.before).flat());
    const [worse, standing]: [Violation[], Violation[]] = [[], []];
    const add = (all: readonly Held[], side: AccessSide, isStanding: boolean): void => {
      const anew = all.findLast((held) => !wasThere(held, side));
      const { grant } = anew ?? all.at(-1) ?? {};
      if (grant === undefined || isStanding !== (anew === undefined)) return;
      const names = [...new Set(all.map((held) => shortName(held.grant.subject)))].sort();
      const details = all.map((held) => `${roleOn(held.grant)}: ${held.capabilities.join(", ")}`);
      (isStanding ? standing : worse).push({
        assertion,
        grant,
        message:
          names.length === 1
            ? `${shortName(grant.subject)} holds one of each duty`
            : `${listNames(names)} accept a common principal, which holds one of each duty`,
        details: limitLines(details, MOST_LISTED),
        pins: [],
        grants: all.map((held) => held.grant),
      });
    };
    for (const all of this.withAllDuties(this.meanwhile, assertion, meant.all))
      add(all, this.meanwhile, false);
    for (const all of this.withAllDuties(this.after, assertion, meant.all)) add(all, this.after, true);
    return { worse, standing };
  }
}

/** Whether a grant is new, or gives more than before. */
const givesMore = (grant: Grant, old: Grant | undefined): boolean =>
  old === undefined || allowedBy(grant).some((each) => !allowedBy(old).includes(each));

/** The capabilities that globs name; one that no document tells may be any of them. */
function matchedBy(capabilities: readonly string[] | undefined, wanted: Wanted): string[] {
  if (capabilities === undefined) return [UNTOLD];
  const matching = (globs: readonly string[]): string[] =>
    capabilities.filter((each) => each === UNTOLD || globs.some((glob) => globMatches(glob, each)));
  const found = wanted.map(matching);
  return found.every((each) => each.length > 0) ? [...new Set(found.flat())].sort() : [];
}

/** Whether capabilities are some of those that globs name. */
const matchesAny = (capabilities: readonly string[] | undefined, wanted: Wanted): boolean =>
  matchedBy(capabilities, [wanted.flat()]).length > 0;

/** @param isPossible Whether what no document tells counts too. */
const holdsAll = (capabilities: ReadonlySet<string>, wanted: Wanted, isPossible = true): boolean =>
  (isPossible && capabilities.has(UNTOLD)) ||
  wanted.every((globs) => globs.every((glob) => [...capabilities].some((each) => globMatches(glob, each))));

/** How many of those who are one principal are listed: where patterns are open, that may be thousands. */
const MOST_LISTED = 20;

const listNames = (names: readonly string[]): string =>
  names.length > MOST_LISTED
    ? `${names.slice(0, MOST_LISTED).join(", ")} and ${names.length - MOST_LISTED} more`
    : names.join(" and ");

const describeCapabilities = ({ capabilities, together }: Held, { role }: ForbiddenAccess): string[] =>
  role === undefined
    ? [`may use ${capabilities.join(", ")}`]
    : [`may do all that ${role} allows${together === undefined ? "" : ", by these together"}`];

/** Where an assertion stands, and why. */
export const describePlace = ({ place, reason }: Assertion): string =>
  `asserted in ${place}${reason === undefined ? "" : `: ${reason}`}`;

const describeShare = (share: Share): string[] =>
  share === "all" ? [] : ["some of those who can be it are meant, or nobody can say who they are"];

/** As the assertion says, and less where nobody can say whether it is broken. */
export function severityOfViolation({
  assertion: { severity = "high" },
  mostSevere = severity,
}: Violation): Severity {
  return severities.indexOf(mostSevere) > severities.indexOf(severity) ? mostSevere : severity;
}

const results = new WeakMap<object, WeakMap<Assertions, AssertionResult>>();

/** Judges the assertions of a policy: what a change makes worse, and what was broken before it. */
export function judgeAssertions(graphs: Judged, assertions: Assertions): AssertionResult {
  const known = getOrCompute(results, graphs, () => new WeakMap());
  return getOrCompute(known, assertions, () => findViolations(new AssertionJudge(graphs), assertions));
}

function findViolations(judge: AssertionJudge, assertions: Assertions): AssertionResult {
  const [forbid, require, separate] = [
    assertions.forbid.map((each) => judge.forbid(each)),
    assertions.require.map((each) => judge.require(each)),
    assertions.separate.map((each) => judge.separate(each)),
  ];
  return {
    worse: {
      forbid: forbid.flatMap(({ worse }) => worse),
      require: require.flatMap(({ worse }) => worse),
      separate: separate.flatMap(({ worse }) => worse),
    },
    standing: [...forbid, ...require, ...separate].flatMap(({ standing }) => standing),
    unknown: Object.values(assertions).flatMap((all: readonly Assertion[]) =>
      all.flatMap((each) => judge.unknownNames(each)),
    ),
  };
}

/** What was broken before a change and still is: a line for each assertion. */
export function describeStanding({ standing }: AssertionResult): string[] {
  const counts = new Map<Assertion, number>();
  for (const { assertion } of standing) counts.set(assertion, (counts.get(assertion) ?? 0) + 1);
  return [...counts].map(
    ([{ name, place }, count]) =>
      `${place}: ${name}: broken in ${plural(count, "place")} before this change; access --policy lists them`,
  );
}

/** A violation in words. */
export interface DescribedViolation {
  readonly severity: Severity;
  readonly message: string;
  readonly details: readonly string[];
  /** The assertion: `access-policy.yaml:12`. */
  readonly place: string;
  readonly grant?: Grant;
}

/** How access breaks the assertions of a policy, worst first. */
export function describeViolations(graphs: Judged, assertions: Assertions): DescribedViolation[] {
  const { worse, standing } = judgeAssertions(graphs, assertions);
  return [...Object.values(worse).flat(), ...standing]
    .map((violation) => {
      const { assertion, message, details, grant } = violation;
      return {
        severity: severityOfViolation(violation),
        message: `${assertion.name}: ${message}`,
        details: [...details, describePlace(assertion)],
        place: assertion.place,
        ...(grant === undefined ? {} : { grant }),
      };
    })
    .sort((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity));
}
