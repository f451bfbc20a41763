import { givesAccess } from "../graph/accessKinds";
import { getOrCompute } from "../../fields/values";
import type { Deletion } from "../../fields/resourceSpec";
import { adviseOnNames, holdsNames } from "../../fields/enumNames";
import { referredKindOf } from "../../fields/fieldSpec";
import { specs } from "../documents/specs";
import { nameIn, pathIn, roleOn, tupleOf } from "../graph/grant";
import type { Grant, Scope, Subject } from "../graph/grant";
import type { GroupHierarchy } from "../graph/groupHierarchy";
import type { Entity } from "../graph/model";
import { stableNames } from "./findingValue";
import { grantLine, labelEntity } from "./wording";
import { limitLines, listFirst, plural } from "../../text/plain";
import { lostEvents } from "./eventDeliveries";
import type { Facts } from "./facts";
import type { FindingInput, Rule } from "./rule";
import { daysUntil, isBuiltInRole, isOwnerOfRoot } from "./facts";
import { everyKind, isAssumable, isIdentityProvider } from "./rule";
import { trustMatches } from "../trust/glob";
import { isWithin } from "../documents/inventory";
import { leavesIn, listReferences, pathsOverlap } from "../graph/inputLeaves";
import { compositeKey } from "../graph/entityKeys";
import { pathsMeant } from "../graph/describedFields";
import { Principals } from "../graph/principals";
import {
  createLate,
  createSignInDoubt,
  fieldsThatLockOut,
  isCredential,
  listLasting,
} from "../review/lastingAccess";
import { leavesObject } from "../review/compare";
import type { ResourceChange } from "../review/compare";
import { describeTrust } from "../graph/trust";
import { listGrantsHeld } from "./trustedIdentities";

/** Whether an identity owns a root group, or has a role there that no document describes. */
const mayOwnRoot = (grant: Grant, groups: GroupHierarchy): boolean =>
  isOwnerOfRoot(grant, groups) ||
  (grant.group.isRoot &&
    grant.subject.type === "identity" &&
    groups.actsAt(grant.subject, grant.group.key) &&
    grant.role.capabilities === undefined &&
    !(grant.role.builtIn && grant.role.name !== undefined));

/** The identities that may own each root group. */
function ownersOfRoots(grants: readonly Grant[], groups: GroupHierarchy): Map<string, Map<string, Grant>> {
  const roots = new Map<string, Map<string, Grant>>();
  for (const grant of grants) {
    if (!mayOwnRoot(grant, groups)) continue;
    getOrCompute(roots, grant.group.key, () => new Map()).set(grant.subject.key, grant);
  }
  return roots;
}

function matchesSubject(facts: Facts, subject: Subject, glob: string): boolean {
  const trust = describeTrust(facts.entity(subject.key));
  const texts = [subject.uid, subject.name, subject.displayName, trust?.subject, subject.key];
  return texts.some((text) => text !== undefined && trustMatches(glob, text));
}

/** A root group with its owners on both sides. */
interface OwnerChange {
  readonly root: Scope;
  readonly lost: readonly Grant[];
  readonly remaining: readonly Grant[];
  /** Those of the remaining ones whose trust is new or another one: whether they can sign in, nobody can say. */
  readonly doubted: readonly Grant[];
  /** Those whose keys had ended when the inventory was taken. */
  readonly ended: readonly Grant[];
  /** Those that have not signed in since their trust was written: an earlier change may have locked them out. */
  readonly unseen: readonly Grant[];
  /** Those whose grant may be made after old ones are deleted: the update may end before that. */
  readonly madeLate: readonly Grant[];
  /** Those that have signed in by the trust that they have. */
  readonly sure: readonly Grant[];
  /**
   * Whether all owners are known: of a root that this program does not manage only an inventory holds them, and what a lost role
   * allows a document.
   */
  readonly isWhole: boolean;
}

/** The root groups that lose an owner, or where the trust of one changes, or its grant may be made after it is deleted. */
function findLostOwners(facts: Facts): OwnerChange[] {
  const { before, after } = facts.comparison;
  const lasting = ownersOfRoots(listLasting(facts.comparison), before.hierarchy);
  const ownersAfter = ownersOfRoots(after.grants, after.hierarchy);
  const doubtOf = createSignInDoubt(facts.comparison);
  const isDoubted = ({ subject }: Grant): boolean => doubtOf(subject) === "changed";
  return [...ownersOfRoots(before.grants, before.hierarchy)].flatMap(([key, owners]) => {
    const remaining = ownersAfter.get(key) ?? new Map<string, Grant>();
    const lost = [...owners.values()].filter(({ subject }) => !remaining.has(subject.key));
    const left = [...remaining.values()].filter((grant) => isOwnerOfRoot(grant, after.hierarchy));
    const isLate = createLate([...owners.values()], (holder) => lasting.get(key)?.has(holder) === true);
    const isUnsure = (each: Grant): boolean => isDoubted(each) || isLate(each);
    if (lost.length === 0 && !left.some((each) => owners.has(each.subject.key) && isUnsure(each))) return [];
    const principals = new Principals(
      after.entities,
      left.map(({ subject }) => subject),
      facts.comparison.comparer,
    );
    const entity = facts.entity(key);
    const isManaged = entity !== undefined && entity.external !== true;
    return [
      {
        root: facts.scope(key),
        lost,
        // Whoever can assume two of them is one owner.
        remaining: principals.distinct(left, ({ subject }) => subject),
        doubted: left.filter(isDoubted),
        ended: left.filter(({ subject }) => doubtOf(subject) === "ended"),
        unseen: left.filter(({ subject }) => doubtOf(subject) === "unseen"),
        madeLate: left.filter(isLate),
        sure: principals.distinct(
          left.filter((each) => doubtOf(each.subject) === undefined && !isLate(each)),
          ({ subject }) => subject,
        ),
        isWhole:
          (isManaged || facts.lists("RoleBinding", key)) &&
          lost.every((grant) => isOwnerOfRoot(grant, before.hierarchy)),
      },
    ];
  });
}

/** What is said of too few owners: of those that are left, or of those that surely are. */
function* findTooFewOwners(
  facts: Facts,
  { root, lost, remaining, doubted, ended, unseen, madeLate, sure, isWhole }: OwnerChange,
): Generator<FindingInput> {
  const { minOwners } = facts.options;
  const [first] = [...lost, ...doubted, ...madeLate];
  const areTooFew = remaining.length < minOwners && lost.length > 0;
  if (first === undefined || (!areTooFew && sure.length >= minOwners)) return;
  const unsure = areTooFew ? [] : [...doubted, ...ended, ...unseen, ...madeLate];
  const count = plural(areTooFew ? remaining.length : sure.length, isWhole ? "owner" : "known owner");
  yield facts.aboutGrant(first, {
    field: "min-owners",
    severity: areTooFew && isWhole ? "critical" : areTooFew || sure.length === 0 ? "high" : "medium",
    message: `${pathIn(root.path)} has ${count} left${areTooFew ? "" : " who surely can sign in"}, fewer than ${minOwners}`,
    details: limitLines([
      ...lost.map((grant) =>
        isOwnerOfRoot(grant, facts.comparison.before.hierarchy)
          ? `no longer an owner: ${grant.subject.displayName}`
          : `may have been an owner: ${grant.subject.displayName} loses ${nameIn(grant.role)}, which no document describes`,
      ),
      ...doubted.map(({ subject }) => `owner whose trust is new or changes: ${subject.displayName}`),
      ...ended.map(({ subject }) => `still an owner, and its keys have ended: ${subject.displayName}`),
      ...unseen.map(
        ({ subject }) => `still an owner, and has not signed in since it was written: ${subject.displayName}`,
      ),
      ...madeLate.map(
        ({ subject }) =>
          `owner whose grant is made in this change, maybe after old ones are deleted: ${subject.displayName}`,
      ),
      ...sure.map(({ subject }) => `still an owner: ${subject.displayName}`),
    ]),
    grants: [lost, remaining, unsure],
    advice: !areTooFew
      ? "check that each of them can sign in, or bind another owner first, in a separate change"
      : isWhole
        ? "bind the next owner first, in a separate change; then remove this one"
        : "give --inventory with all kinds, so that owners bound elsewhere and all roles are known; or bind the next owner first",
  });
}

function* findRequiredOwners(
  facts: Facts,
  { root, lost, remaining, doubted, unseen, madeLate, sure }: OwnerChange,
): Generator<FindingInput> {
  for (const glob of facts.options.requiredOwner) {
    const isRequired = ({ subject }: Grant): boolean => matchesSubject(facts, subject, glob);
    const isLost = !remaining.some(isRequired);
    const unsure = [...doubted, ...madeLate];
    const grant = (isLost ? lost : unsure).find(isRequired);
    if (grant === undefined || [...sure, ...unseen].some(isRequired)) continue;
    yield facts.aboutGrant(grant, {
      severity: isLost ? "critical" : "medium",
      field: `required-owner ${glob}`,
      message: `${grant.subject.displayName} is a required owner ${isLost ? `but no longer owns ${pathIn(root.path)}` : `of ${pathIn(root.path)}, and its ${doubted.includes(grant) ? "trust is new or changes" : "grant may be deleted before it is made again"}`}`,
      advice: isLost
        ? "keep its binding; if another identity takes its place, change --required-owner in the same change"
        : "check that it can still sign in",
    });
  }
}

const isSelf = (facts: Facts, { key, uid }: Pick<Subject, "key" | "uid">): boolean =>
  facts.options.self !== undefined && [key, uid].includes(facts.options.self);

/** The grants that an identity loses, with what no other one gives it; of a role that cannot be read nobody knows. */
function* lostGrants(
  facts: Facts,
  isAbout: (subject: Subject) => boolean,
): Generator<{ readonly lost: Grant; readonly capabilities: string[] }> {
  for (const { change, grant, before } of facts.comparison.grants) {
    const lost = change === "lost" ? grant : change === "narrowed" ? before : undefined;
    if (lost !== undefined && isAbout(lost.subject)) {
      yield { lost, capabilities: facts.lostCapabilities(lost) };
    }
  }
}

/** The grants of the pipeline's own identity of which this change gives again all that it takes away, and may take it first. */
function* briefOwnGrants(facts: Facts): Generator<Grant> {
  const ofSelf = (grants: readonly Grant[]) => grants.filter(({ subject }) => isSelf(facts, subject));
  const own = ofSelf(facts.comparison.before.grants);
  const lasting = own.length === 0 ? [] : ofSelf(listLasting(facts.comparison));
  for (const grant of own) {
    if (lasting.includes(grant) || facts.lostCapabilities(grant).length > 0) continue;
    const above = facts.groupAndAbove(grant.group.key);
    const stays = new Set(
      lasting.flatMap(({ role, group }) => (above.includes(group.key) ? (role.capabilities ?? []) : [])),
    );
    const { capabilities } = grant.role;
    // Of a role that cannot be read nobody knows whether another one gives the same.
    const isGivenAgain =
      capabilities === undefined
        ? facts.grantsAfter(grant.subject.key).some((each) => tupleOf(each) === tupleOf(grant))
        : !capabilities.every((each) => stays.has(each));
    if (isGivenAgain) yield grant;
  }
}

function* findLostOwnGrants(facts: Facts): Generator<FindingInput> {
  for (const { lost, capabilities } of lostGrants(facts, (subject) => isSelf(facts, subject))) {
    if (capabilities.length === 0 && lost.role.capabilities !== undefined) continue;
    yield facts.aboutGrant(lost, {
      severity: "critical",
      field: "self",
      pins: capabilities,
      message: `the pipeline's own identity, ${lost.subject.displayName}, loses ${roleOn(lost)}`,
      details: capabilities.length > 0 ? [`loses ${listFirst(capabilities, 10)}`] : [],
      advice: "apply this with another identity: the pipeline may stop half-way and cannot undo it",
    });
  }
  for (const grant of briefOwnGrants(facts)) {
    yield facts.aboutGrant(grant, {
      severity: "high",
      field: "self",
      pins: "brief",
      message: `the pipeline's own identity, ${grant.subject.displayName}, may lose ${roleOn(grant)} before this change grants it again`,
      advice: "make the new binding first, and take the old one away in a separate change",
    });
  }
}

const toRead = new Set(Object.values(specs).flatMap((spec) => spec?.capabilities?.read ?? []));

/** What the identity that took the inventory needs to list all of it, and loses. */
function* findLostReading(facts: Facts): Generator<FindingInput> {
  const { inventories } = facts.comparison;
  const takenBy = (uid: string | undefined) =>
    inventories.filter(({ caller }) => caller !== undefined && caller === uid);
  for (const { lost, capabilities } of lostGrants(facts, ({ uid }) => takenBy(uid).length > 0)) {
    const { role, group, subject } = lost;
    const missing = capabilities.filter((capability) => toRead.has(capability));
    const isAbove = takenBy(subject.uid).some(({ root }) => isWithin(root, group.uid ?? ""));
    if (!isAbove || (missing.length === 0 && role.capabilities !== undefined)) continue;
    yield facts.aboutGrant(lost, {
      severity: "high",
      field: "reader",
      pins: missing,
      message: `the identity that took the inventory, ${subject.displayName}, loses ${roleOn(lost)}`,
      details: [
        "what it may not list, no later review, drift run or verification shows",
        ...(missing.length > 0 ? [`loses ${listFirst(missing, 10)}`] : []),
      ],
      advice: "keep what it lists with; or let another identity take the inventories first",
    });
  }
}

/** What keeps an identity from signing in again; undefined where it can. */
function lossOfTrust(change: ResourceChange): Pick<FindingInput, "message" | "advice"> | undefined {
  const { op, kind } = change;
  const advice = "apply this with another identity: the pipeline may not be able to sign in again";
  if (op === "delete" || op === "replace") return { message: `is ${op}d`, advice };
  const lost = fieldsThatLockOut(change);
  if (lost.length === 0) return undefined;
  if (!lost.every(({ path }) => isCredential(kind, path))) {
    return { message: `trusts a different principal: ${lost.map(({ path }) => path).join(", ")}`, advice };
  }
  return {
    message: `may lose the key that it authenticates with: ${lost.map(({ path, reason }) => `${path} (${reason})`).join(", ")}`,
    advice:
      "to rotate a key, add the new one beside the old one, let the pipeline use it, then remove the old one in a second change",
  };
}

function* findLostOwnIdentity(facts: Facts): Generator<FindingInput> {
  for (const change of facts.comparison.changes) {
    const { before } = change;
    if (before === undefined || !isSelf(facts, before)) continue;
    const loss = lossOfTrust(change);
    if (loss === undefined) continue;
    yield facts.aboutEntity(before, {
      severity: "critical",
      field: "self",
      pins: change.op,
      message: `the pipeline's own ${labelEntity(before)} ${loss.message}`,
      advice: loss.advice,
    });
  }
}

/** The fields by which the tokens of a directory name groups. */
const fieldsOfGroups = (kind: string): readonly string[] => [
  ...pathsMeant(kind, "signIn.groups"),
  ...pathsMeant(kind, "signIn.scopes"),
];

/** What may lock out those who sign in by a directory. */
function* findLostSignIn(facts: Facts): Generator<FindingInput> {
  const isLeft = [...facts.comparison.after.entities.values()].some(({ kind }) => isIdentityProvider(kind));
  for (const { op, before } of facts.removals()) {
    if (op !== "delete" || !isIdentityProvider(before.kind)) continue;
    const grants = [before.key, ...facts.before.subjectsOf(before.key)].flatMap((key) =>
      facts.grantsBefore(key),
    );
    if (grants.length === 0) continue;
    yield facts.aboutEntity(before, {
      severity: isLeft ? "medium" : "high",
      field: "sign-in",
      message: `whoever signs in by ${labelEntity(before)} is locked out, and loses ${plural(grants.length, "grant")}`,
      details: listGrantsHeld("lost", grants),
      advice: "let everybody sign in by another one first, and take this one away in a separate change",
    });
  }
  for (const change of facts.writes(isIdentityProvider)) {
    const { after } = change;
    const ofGroups = facts.before
      .subjectsOf(after.key)
      .flatMap((key) => facts.grantsBefore(key).filter(({ subject }) => subject.type === "externalGroup"));
    const fields = fieldsThatLockOut(change).filter(
      ({ path, direction }) => direction === "narrowed" && fieldsOfGroups(after.kind).includes(path),
    );
    if (ofGroups.length === 0 || fields.length === 0) continue;
    yield facts.aboutEntity(after, {
      severity: "medium",
      field: fields.map(({ path }) => path).join(", "),
      message: `tokens of ${labelEntity(after)} may no longer name groups, which then lose ${plural(ofGroups.length, "grant")}`,
      details: listGrantsHeld("may be lost", ofGroups),
      advice: "check that the groups still stand in the tokens",
    });
  }
  for (const { lost, capabilities } of lostGrants(facts, ({ type }) => type === "externalGroup")) {
    if (!lost.group.isRoot || !facts.roles.isOwner(lost.role) || capabilities.length === 0) continue;
    yield facts.aboutGrant(lost, {
      severity: "medium",
      field: "sign-in",
      message: `whoever is in ${lost.subject.displayName} no longer owns ${pathIn(lost.group.path)}`,
      advice: "check that those who still own it can sign in, before this is applied",
    });
  }
}

const lockOut: Rule = {
  id: "D1",
  name: "lock-out",
  severities: ["critical", "high", "medium"],
  when: "critical; high for the identity that took the inventory. High too if owners of the root group may be bound elsewhere, and no inventory shows them. Medium where owners are left, but their trust is new or changes, or their old binding may go before the new one is made. High where all are so. High where the `--self` identity may be without a grant for a time. High for the last identity provider, medium for another one. Medium where only members of groups of a directory lose access",
  what: "A root group loses an owner and has fewer than `--min-owners` (2) left, or a `--required-owner` no longer owns a root group. An owner whose trust is new or changes may be unable to sign in: it counts as left, and not as one who stays. So may one that has not signed in since it was written, as far as the inventory tells. So does one whose keys had ended when the inventory was taken. So does one whose binding is made again, by whatever resource, if the old one may go first. The update may end there. Or the `--self` identity loses a capability that no other grant gives it, is deleted or replaced, trusts a different principal, or loses a key. Or the identity that took the inventory loses a capability to list at its root group. Or an identity provider goes that gives roles. Or its tokens may no longer name groups that have roles, or such a group no longer owns the root group. A role that no document describes may be `owner`. Only identities are owners: an invite is not accepted yet, and the members of a directory group are unknown. A root group that loses no owner, and where neither the trust nor the binding of one changes, is not reported.",
  why: "Nobody is left who could undo it. A pipeline that removes its own access stops half-way. A reviewer who may list less sees less of all that follows.",
  fix: "Bind the next owner first, and check that it can sign in. Then remove the old one in a separate change, applied with another identity than the one that loses access.",
  except: "When an organisation is closed.",
  exampleMatch: { group: "acme-old" },
  needsBefore: true,
  needsWhole: true,
  driftAdvice: "restore this owner, or bind another one, and find out who removed it",
  about: (kind) => givesAccess(kind) || isAssumable(kind) || isIdentityProvider(kind),
  find: (facts) => [
    ...findLostOwners(facts).flatMap((change) => [
      ...findTooFewOwners(facts, change),
      ...findRequiredOwners(facts, change),
    ]),
    ...findLostOwnGrants(facts),
    ...findLostReading(facts),
    ...findLostOwnIdentity(facts),
    ...findLostSignIn(facts),
  ],
};

const RECENT_DAYS = 30;

const blockerOf = ({ kind }: Pick<Entity, "kind">): Deletion["blockedBy"] => specs[kind]?.deletion?.blockedBy;

const isUnmanaged = ({ external, urn }: Entity): boolean => external === true || urn === undefined;

/**
 * What is left behind. A replaced resource that bindings hold keeps those that the program points to its successor;
 * of others each reference matters, since their uid stands elsewhere too.
 */
function remainingDependents(facts: Facts, before: Entity, op: string): Entity[] {
  const dependents = facts.dependents(before.key);
  if (op !== "replace" || blockerOf(before) !== "bindings") return dependents;
  return dependents.filter((entity) => isUnmanaged(entity) || facts.isLeftBehind(entity, before.key));
}

/** What uses an object, with the grants by which it does: a binding has no name. */
function describeUse(facts: Facts, entity: Entity, used: Entity): string {
  const own = facts.before.ofResource(entity);
  const grants = own.filter(({ subject, role }) => [subject.key, role.key].includes(used.key));
  const lines = [...new Set(grants.map(grantLine))];
  return `${labelEntity(entity)}${lines.length === 0 ? "" : `: ${listFirst(lines, 3)}`}`;
}

/** Deleted or replaced resources that something still uses. */
function* findStillInUse(facts: Facts): Generator<FindingInput> {
  for (const { op, before } of facts.removals()) {
    if (specs[before.kind]?.usedBy !== "uid") continue;
    const dependents = remainingDependents(facts, before, op);
    const { length } = dependents;
    const references = length === 0 ? [] : [`${plural(length, "resource refers", "resources refer")} to it`];
    const uses = [...describeLastUse(facts, before), ...references];
    if (uses.length === 0) continue;
    yield facts.aboutEntity(before, {
      severity: "high",
      field: "uid",
      message: `${labelEntity(before)} is ${op}d, and its uid is gone, but ${uses.join(" and ")}`,
      details: limitLines(dependents.map((entity) => describeUse(facts, entity, before)).sort()),
      pins: [op, stableNames(dependents)],
      advice:
        "where its access is to end, delete what refers to it first; else keep it: create another one if it must change, move what refers to this one, and delete it when it is no longer used",
    });
  }
}

/** When it was seen, where that is recent. */
function describeLastUse(facts: Facts, { lastSeenTime }: Entity): string[] {
  const until = daysUntil(facts, lastSeenTime);
  return until === undefined || until < -RECENT_DAYS ? [] : [`was seen ${lastSeenTime ?? ""}`];
}

function* findUnprotected(facts: Facts): Generator<FindingInput> {
  for (const { before, after } of facts.comparison.changes) {
    if (before?.protect !== true || after === undefined || after.protect === true) continue;
    yield facts.aboutEntity(after, {
      severity: "high",
      field: "protect",
      message: `protect is removed from ${labelEntity(after)}: the next change may delete it`,
      advice: "keep protect; remove it in the change that deletes the resource, with the reason",
    });
  }
}

/** What neither an update nor drift restores from now on. */
const released = (
  facts: Facts,
  { recorded }: ResourceChange,
  entity: Entity,
  what: string,
  more: Pick<FindingInput, "pins" | "advice" | "details">,
): FindingInput =>
  facts.aboutEntity(entity, {
    severity: recorded?.protect === true ? "high" : "medium",
    field: "protect",
    message: `${what}${recorded?.protect === true ? ", and no longer protected" : ""}: neither an update nor drift restores it`,
    ...more,
  });

/** What the program managed, and only reads from now on. */
function* findOnlyRead(facts: Facts): Generator<FindingInput> {
  for (const change of facts.comparison.changes) {
    const { op, recorded, after } = change;
    if (op !== "read" || recorded === undefined || after === undefined) continue;
    yield released(facts, change, after, `${labelEntity(after)} is only read from now on`, {
      pins: "released",
      advice: "keep the resource where it is managed; read it by get in programs that do not manage it",
    });
  }
}

/** The object that a change leaves at the server, in no program, as it is there then; undefined where it leaves none. */
function leftObject(facts: Facts, change: ResourceChange): Entity | undefined {
  const { op, kind, recorded, before } = change;
  const isManaged = recorded !== undefined && recorded.external !== true;
  if (!isManaged || before === undefined || !leavesObject(change)) return undefined;
  // What lies in something that is deleted, or binds it, goes with it.
  if (listReferences(specs[kind], before.inputs).some((key) => facts.isDeleted(key))) return undefined;
  const key = op === "replace" ? compositeKey("retained", before.key) : before.key;
  const left = facts.comparison.after.entities.get(key);
  // What another resource of the program takes over stays managed.
  return left?.external === true ? left : undefined;
}

/** What the program managed, and leaves at the server, with the grants that stay by it. */
function* findLeft(facts: Facts): Generator<FindingInput> {
  for (const change of facts.comparison.changes) {
    const isReplaced = change.op === "replace";
    const left = leftObject(facts, change);
    if (left === undefined) continue;
    const grants = [
      ...facts.after.ofResource(left).filter(({ uid }) => !isReplaced || uid === left.uid),
      ...[left.key, ...facts.after.subjectsOf(left.key)].flatMap((key) => facts.grantsAfter(key)),
    ];
    const stays = [...new Set(grants.map(grantLine))].sort();
    const what = `${isReplaced ? "what was " : ""}${labelEntity(left)} is left at the server, and in no program from now on`;
    yield released(facts, change, left, what, {
      pins: "left",
      details: limitLines(stays.map((line) => `stays: ${line}`)),
      advice:
        "take retainOnDelete or deletedWith away first where it is to be deleted; where another stack is to manage it, adopt it there after this change",
    });
  }
}

const inUse: Rule = {
  id: "D2",
  name: "in-use",
  severities: ["high", "medium"],
  when: "medium for an unprotected resource that the program only reads from now on, or leaves at the server; otherwise high",
  what: "An identity, role, group or identity provider is deleted, or is replaced so that its uid changes, while a remaining resource refers to it. Or an identity is deleted or replaced that was seen in the last 30 days. Or `protect` is removed from a resource. Or a resource that the program managed is only read from now on (`.get`). Or it leaves the program and stays at the server (`retainOnDelete`, `deletedWith`). Not reported: an unused resource deleted with everything that refers to it, and a replaced role whose bindings this program moves to its successor.",
  why: "Pipelines and clusters are configured with uids, and no program updates them. The bindings of the old uid are deleted with it.",
  fix: "Create the new one beside it, move what refers to it, watch `lastSeenTime`, then delete the old one. Where nothing is to follow, as for somebody who leaves, delete what refers to it first. Check which part of the change forces a replacement.",
  except: "For a planned move, for as long as it takes.",
  exampleMatch: { name: "ci-old" },
  needsBefore: true,
  driftAdvice: "create it again from its program, or move what still refers to it",
  about: everyKind,
  find: (facts) => [
    ...findStillInUse(facts),
    ...findUnprotected(facts),
    ...findOnlyRead(facts),
    ...findLeft(facts),
  ],
};

function* findRefusedDeletes(facts: Facts): Generator<FindingInput> {
  for (const { op, before, refusedBy } of facts.comparison.changes) {
    if (before === undefined || refusedBy === undefined || isBuiltInRole(before)) continue;
    const blockers = [...refusedBy].flatMap((key) => facts.entity(key) ?? []);
    const reason =
      blockerOf(before) === "bindings"
        ? `${plural(blockers.length, "binding still uses", "bindings still use")} it`
        : `it still contains ${plural(blockers.length, "resource")}`;
    yield facts.aboutEntity(before, {
      severity: "medium",
      message: `deleting ${labelEntity(before)} will fail: ${reason}`,
      details: limitLines(blockers.map((entity) => describeUse(facts, entity, before)).sort()),
      pins: [op, stableNames(blockers)],
      advice: "remove these first: in this program, or by hand where no program manages them",
    });
  }
}

function* findBuiltInRoleChanges(facts: Facts): Generator<FindingInput> {
  for (const { op, before, after } of facts.comparison.changes) {
    const entity = after ?? before;
    if (entity === undefined || !isBuiltInRole(before ?? entity)) continue;
    if (op !== "update" && op !== "delete" && op !== "replace") continue;
    yield facts.aboutEntity(entity, {
      severity: "medium",
      message: `the change of ${labelEntity(entity)} will fail: built-in roles cannot be changed`,
      advice: "create a Role of your own with the capabilities that are needed, and bind it",
    });
  }
}

const hasNames = (kind: string): boolean => Object.values(specs[kind]?.fields ?? {}).some(holdsNames);

/** Names of an enumeration that this version does not know, in what a program writes for the first time. */
function* findUnknownNames(facts: Facts): Generator<FindingInput> {
  for (const { kind, before, after } of facts.writes(hasNames)) {
    for (const [key, field] of Object.entries(specs[kind]?.fields ?? {})) {
      const lines = adviseOnNames(field, after.inputs[key], before?.inputs[key]);
      if (lines.length === 0) continue;
      yield facts.aboutEntity(after, {
        severity: "medium",
        field: key,
        message: `writing ${labelEntity(after)} may fail, unless the server is newer than this version`,
        details: limitLines(lines),
        pins: lines,
        advice: "correct the name, or update this package to a version that knows it",
      });
    }
  }
}

/** Arguments with the uid of an object of another kind: a preview in another language than TypeScript does not say so. */
function* findWrongKinds(facts: Facts): Generator<FindingInput> {
  for (const { op, kind, after, fields } of facts.writes(everyKind)) {
    for (const { path, field, value } of leavesIn(specs[kind], after.inputs)) {
      const wanted = referredKindOf(field);
      const named = typeof value === "string" ? facts.comparison.after.entities.get(value) : undefined;
      if (wanted === undefined || named === undefined || named.kind === wanted) continue;
      if (op !== "create" && !fields.some((changed) => pathsOverlap(changed.path, path))) continue;
      yield facts.aboutEntity(after, {
        severity: "medium",
        field: path,
        message: `the update of ${labelEntity(after)} will fail: ${path} is the uid of ${labelEntity(named)}, and must be that of a resource of the kind ${wanted}`,
        advice: `give the uid of the ${wanted} that you mean`,
      });
    }
  }
}

const willFail: Rule = {
  id: "D3",
  name: "will-fail",
  severities: ["medium"],
  when: "always",
  what: "The server will refuse a part of the change with code 9 (`FAILED_PRECONDITION`). It deletes a role that remaining bindings use or a group that is not empty, or changes or deletes a built-in role. What the same change deletes first is not counted. Or a role gets a capability that this version does not know. An older server drops it, or refuses the role. Or an argument has the uid of an object of another kind.",
  why: "The update stops half-way: the steps before it are done, those after it are not.",
  fix: "Delete the bindings, or the contents of the group, in the same program, or bind another role first. Use a Role of your own instead of changing a built-in one. Correct the name that is not known.",
  except: "For a name that the server is known to have. Otherwise never useful: the update fails anyway.",
  exampleMatch: { name: "old-team" },
  needsBefore: true,
  beforeUpdate: true,
  about: everyKind,
  find: (facts) => [
    ...findRefusedDeletes(facts),
    ...findBuiltInRoleChanges(facts),
    ...findUnknownNames(facts),
    ...findWrongKinds(facts),
  ],
};

/** Whether the holder of a grant keeps less than half of what its role allowed there, or above it. */
function isEmptied(facts: Facts, grant: Grant): boolean {
  const stays = facts.grantsAfter(grant.subject.key).some(({ group }) => group.key === grant.group.key);
  const { length } = grant.role.capabilities ?? [];
  return stays && facts.lostCapabilities(grant).length * 2 > length;
}

const massRemoval: Rule = {
  id: "D4",
  name: "mass-removal",
  severities: ["high"],
  when: "always",
  what: "More than `--max-removal` (25%) of the existing grants are lost at once. One whose role keeps less than half of its capabilities counts as lost. A single lost grant is never reported, nor are moved ones, and those that keep more.",
  why: "A wrong configuration, an empty list or a wrong stack looks like this, and locks everyone out at once.",
  fix: "Check that the stack and its configuration are the right ones. If the removal is intended, remove the grants in parts, or raise `--max-removal` for this run.",
  except: "For the day on which a team is dissolved.",
  exampleMatch: { name: "all grants" },
  needsBefore: true,
  needsWhole: true,
  driftAdvice:
    "find out who removed them; the next update of their programs restores them; if it was intended, raise --max-removal for this run",
  about: "change",
  *find(facts) {
    const tuplesBefore = new Set(facts.comparison.before.grants.map(tupleOf));
    // What is lost with the place of a group was granted elsewhere.
    const lost = facts.comparison.grants.flatMap(({ change, grant, before }) => {
      const isLost = change === "lost" && tuplesBefore.has(tupleOf(grant));
      if (isLost) return [grant];
      return change === "narrowed" && before !== undefined && isEmptied(facts, before) ? [before] : [];
    });
    const all = tuplesBefore.size;
    const { maxRemoval } = facts.options;
    if (lost.length < 2 || all === 0 || lost.length / all <= maxRemoval) return;
    const percent = (part: number): string => `${Math.round(part * 100)}%`;
    yield {
      severity: "high",
      name: "all grants",
      field: "max-removal",
      message: `${lost.length} of ${all} grants are lost at once: ${percent(lost.length / all)}, limit ${percent(maxRemoval)}`,
      details: limitLines(lost.map(grantLine).sort()),
      grants: [lost],
      advice:
        "check that stack and configuration are the right ones; if it is intended, raise --max-removal for this run",
    };
  },
};

export const dangerRules: readonly Rule[] = [lockOut, inUse, willFail, massRemoval, lostEvents];
