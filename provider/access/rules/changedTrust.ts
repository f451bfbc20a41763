import { describeEffects, mayWiden } from "../effects";
import type { FieldEffect } from "../effects";
import { specs } from "../documents/specs";
import { hasPrincipal, isPrincipalField } from "../graph/accessKinds";
import { wholeOf } from "../graph/entityKeys";
import { shortName, tupleOf } from "../graph/grant";
import type { Grant } from "../graph/grant";
import type { Entity } from "../graph/model";
import { pathsMeant } from "../graph/describedFields";
import { textOfTrust } from "../graph/principals";
import { trustsOf } from "../graph/trust";
import type { Severity } from "../review/finding";
import type { Facts } from "./facts";
import type { FindingInput, Rule } from "./rule";
import { isAssumable } from "./rule";
import { KnownBefore, makeOwnersKnown, ownersOf, strangersOf } from "./trustedOwners";
import { sharedIssuersOf, trustsOtherIssuers } from "./openSubjects";
import { isStrongGrant, listGrantsHeld } from "./trustedIdentities";
import { labelEntity, nounOf } from "./wording";
import { withoutNumbers } from "../trust/issuers";
import type { SharedIssuer } from "../trust/issuers";
import { getOrCompute } from "../../fields/values";
import { limitLines, listFirst, plural } from "../../text/plain";

/** What the change of the trust of an identity means, and what to do: new keys may be a rotation, which no rule can tell. */
function describeTrustChange(
  after: Entity,
  changed: readonly FieldEffect[],
  grants: number,
): Pick<FindingInput, "message" | "advice"> {
  const areKeys = changed.every(({ path }) => pathsMeant(after.kind, "trust.keys").includes(path));
  if (areKeys) {
    return {
      message: `the keys of ${labelEntity(after)} change: whoever has a new one gets ${plural(grants, "grant")}: ${changed.map(({ path, reason }) => `${path} (${reason})`).join(", ")}`,
      advice:
        "if you rotate the keys of the same principal, suppress this for the identity until the pull request is merged; otherwise remove the new keys",
    };
  }
  const areAudiences = changed.every(({ path }) => pathsMeant(after.kind, "trust.audience").includes(path));
  return {
    message: `the trust of ${labelEntity(after)} changes: ${areAudiences ? "tokens for another audience are accepted, and give" : "a different principal inherits"} ${plural(grants, "grant")}: ${changed.map(({ path }) => path).join(", ")}`,
    advice: `create a new ${nounOf(after.kind)} for the new principal and bind what it needs, instead of changing this one`,
  };
}

/** What to say of a trust that is narrowed only after somebody whom it accepted before got more access. */
function describeLateNarrowing(
  after: Entity,
  narrowed: readonly FieldEffect[],
  grants: number,
): Pick<FindingInput, "message" | "advice"> {
  return {
    message: `the trust of ${labelEntity(after)} is narrowed, and this update may make or widen ${plural(grants, "grant")} of it first: until then whoever it accepted before has them: ${narrowed.map(({ path }) => path).join(", ")}`,
    advice: "narrow the trust in one change, and give it more access in a second one",
  };
}

function trustDetails(changed: readonly FieldEffect[], grants: readonly Grant[]): string[] {
  const fields = changed.map(({ path, before, after, direction, reason, effect }) =>
    effect === "keys" && direction !== "unknown"
      ? `${path}: ${reason}`
      : `${path}: ${before ?? "not set"} → ${after ?? "not set"}${direction === "unknown" ? ` (${reason})` : ""}`,
  );
  return [...limitLines(fields), ...listGrantsHeld("inherits", grants)];
}

/** Whether each owner that one trust pins is an owner that the other one pins. */
function pinsOwnersOf(facts: Facts, entity: Entity, other: Entity): boolean {
  const known = new KnownBefore(facts);
  makeOwnersKnown(known, ownersOf(facts, other), []);
  const conditions = ownersOf(facts, entity);
  return conditions.length > 0 && strangersOf(known, conditions).length === 0;
}

/** Whether all issuers that an identity trusts sign for many customers, and are such as `accepts` says. */
const trustsOnlyServices = (
  facts: Facts,
  entity: Entity,
  accepts: (issuer: SharedIssuer) => boolean = () => true,
): boolean =>
  trustsOf(entity).every((trust) => {
    const issuers = sharedIssuersOf(facts, trust);
    return issuers.length > 0 && issuers.every(accepts) && !trustsOtherIssuers(facts, trust);
  });

/** Whether all that changes is which subject a service that signs for many customers must name. */
const isAnotherSubject = (
  facts: Facts,
  { kind }: Entity,
  changed: readonly FieldEffect[],
  ...both: Entity[]
): boolean =>
  changed.every(({ path }) => pathsMeant(kind, "trust.subject").includes(path)) &&
  both.every((entity) => trustsOnlyServices(facts, entity));

/** Who an identity is, as a text. */
const trustOf = (entity: Entity): string => textOfTrust(new Map([[entity.key, entity]]), entity.key);

/** Whether whoever gets a token chooses its audience: who starts a run of a service, and who runs something in a namespace. */
const mayAskForAnyAudience = (facts: Facts, entity: Entity): boolean =>
  trustsOnlyServices(facts, entity, ({ project }) => project !== undefined) ||
  trustsOf(entity).every(({ subject }) => subject?.exact?.startsWith(SERVICE_ACCOUNT) === true);

const SERVICE_ACCOUNT = "system:serviceaccount:";

/**
 * Whether all that changes is the audience, where whoever gets a token asks for any. Not one that the change takes away, and not
 * in a trust that somebody has changed by hand: the update writes all of it.
 */
const isAnotherAudience = (
  facts: Facts,
  recorded: Entity | undefined,
  changed: readonly FieldEffect[],
  before: Entity,
  after: Entity,
): boolean =>
  changed.every(({ path }) => pathsMeant(after.kind, "trust.audience").includes(path)) &&
  (recorded === undefined || trustOf(recorded) === trustOf(before)) &&
  trustsOf(after).every(({ audience }) => audience?.exact !== undefined) &&
  [before, after].every((entity) => mayAskForAnyAudience(facts, entity));

/** Whether all that changes is that the subject has the numbers of a repository beside its name: nobody else has these. */
const isNumberedSubject = (
  facts: Facts,
  changed: readonly FieldEffect[],
  before: Entity,
  after: Entity,
): boolean => {
  const [old, now] = [before, after].map((entity) => trustsOf(entity).map(({ subject }) => subject?.exact));
  return (
    isAnotherSubject(facts, after, changed, before, after) &&
    now?.every((subject, index) => subject !== undefined && withoutNumbers(subject) === old?.[index]) === true
  );
};

/**
 * Within one owner, such as an organisation, another principal that only reads is no outsider, and another audience is
 * the same principal. By hand nobody announced it.
 */
function severityOfPrincipal(
  facts: Facts,
  before: Entity,
  after: Entity,
  changed: readonly FieldEffect[],
  grants: readonly Grant[],
  recorded?: Entity,
): Severity {
  const isAnnounced = facts.comparison.drift === undefined;
  const isInside =
    isAnotherSubject(facts, after, changed, before, after) &&
    !grants.some((grant) => isStrongGrant(facts, grant)) &&
    pinsOwnersOf(facts, after, before) &&
    pinsOwnersOf(facts, before, after);
  const isSame =
    isAnotherAudience(facts, recorded, changed, before, after) ||
    isNumberedSubject(facts, changed, before, after);
  return isAnnounced && (isInside || isSame) ? "medium" : "high";
}

const widensTrust = ({ kind }: Entity, { path, direction }: FieldEffect): boolean =>
  isPrincipalField(kind, path) && mayWiden(direction);

/** Identities with grants that trust somebody else than before. */
function* findChangedTrust(facts: Facts): Generator<FindingInput> {
  for (const change of facts.writes(hasPrincipal)) {
    const { op, before, after, recorded, fields } = change;
    if (op === "create" || before === undefined) continue;
    const widened = fields.filter((field) => widensTrust(after, field));
    const isWidened = widened.length > 0;
    const changed = isWidened
      ? widened
      : fields.filter(
          ({ path, direction }) => isPrincipalField(after.kind, path) && direction === "narrowed",
        );
    const grants = isWidened ? facts.heldThrough(after.key) : facts.gainedThrough(after.key);
    if (changed.length === 0 || grants.length === 0) continue;
    yield facts.aboutEntity(after, {
      severity: severityOfPrincipal(facts, before, after, changed, grants, recorded),
      field: changed[0]?.path ?? "",
      ...(isWidened ? describeTrustChange : describeLateNarrowing)(after, changed, grants.length),
      details: trustDetails(changed, grants),
    });
  }
}

/** What of the trust of a new identity a deleted one did not accept. */
function compareTrust(facts: Facts, deleted: Entity, created: Entity): FieldEffect[] {
  const context = {
    ...facts.effectContext,
    secretPaths: [...deleted.secretPaths, ...created.secretPaths],
  };
  return describeEffects(specs[created.kind], deleted.inputs, created.inputs, context).filter((field) =>
    widensTrust(created, field),
  );
}

const placeOf = ({ role, group }: Grant): string => JSON.stringify([role.key, group.key]);

/** The deleted identities by the role and the group of each grant that they had. */
function indexDeleted(facts: Facts): ReadonlyMap<string, ReadonlySet<Entity>> {
  const index = new Map<string, Set<Entity>>();
  for (const { op, kind, before } of facts.comparison.changes) {
    if (op !== "delete" || before === undefined || !hasPrincipal(kind)) continue;
    for (const subject of [before.key, ...facts.before.subjectsOf(before.key)]) {
      for (const place of facts.grantsBefore(subject).map(placeOf)) {
        getOrCompute(index, place, () => new Set()).add(before);
      }
    }
  }
  return index;
}

/** Grants of a deleted identity that another principal gets. */
interface Inheritance {
  readonly old: Entity;
  readonly grants: Grant[];
  /** What of the trust of the new identity the deleted one did not accept. */
  readonly changed: readonly FieldEffect[];
}

/** What a new identity inherits of a deleted one for another principal; a grant that one of its own principal had is none. */
function findInheritance(
  facts: Facts,
  created: Entity,
  deleted: ReadonlyMap<string, ReadonlySet<Entity>>,
): Inheritance | undefined {
  const inherited = new Map<Entity, Inheritance>();
  const inheritanceOf = (old: Entity): Inheritance =>
    getOrCompute(inherited, old, () => ({ old, grants: [], changed: compareTrust(facts, old, created) }));
  // Each comparison of patterns takes time, and after a large rename most identities find their own first.
  const hasOtherName = ({ name }: Entity): number => Number(name !== created.name);
  for (const grant of facts.heldThrough(created.key)) {
    const before = [...(deleted.get(placeOf(grant)) ?? [])]
      .filter(({ kind }) => kind === created.kind)
      .sort((a, b) => hasOtherName(a) - hasOtherName(b));
    const isForOthers = before.every((old) => inheritanceOf(old).changed.length > 0);
    if (isForOthers) for (const old of before) inheritanceOf(old).grants.push(grant);
  }
  return [...inherited.values()]
    .filter(({ grants }) => grants.length > 0)
    .sort((a, b) => b.grants.length - a.grants.length)[0];
}

/**
 * New identities that get the grants of a deleted one. That is how a change of trust looks in a preview after the resource
 * was renamed in the program. An identity that trusts no more than one that it takes the place of is the same one renamed.
 */
function* findInheritedGrants(facts: Facts): Generator<FindingInput> {
  const deleted = indexDeleted(facts);
  for (const { op, after } of facts.writes(hasPrincipal)) {
    if (op !== "create") continue;
    const inherited = findInheritance(facts, after, deleted);
    if (inherited === undefined) continue;
    const { old, grants, changed } = inherited;
    yield facts.aboutEntity(after, {
      severity: severityOfPrincipal(facts, old, after, changed, grants),
      field: changed[0]?.path ?? "",
      message: `${labelEntity(after)} takes the place of ${labelEntity(old)}, which is deleted: a different principal inherits ${plural(grants.length, "grant")}: ${changed.map(({ path }) => path).join(", ")}`,
      details: trustDetails(changed, grants),
      advice:
        "create the new identity and its grants in one change, and delete the old one in a second change",
    });
  }
}

/** New identities whose tokens somebody takes who is there already, by a pattern of uids: whoever can be the new one has all of that. */
function* findTakenTokens(facts: Facts): Generator<FindingInput> {
  for (const { op, before, after } of facts.writes(isAssumable)) {
    if (op === "update") continue;
    const known = new Set(before === undefined ? [] : facts.heldThrough(before.key).map(tupleOf));
    const grants = facts
      .heldThrough(after.key)
      .filter((grant) => ![grant.subject.key, wholeOf(grant.subject.key)].includes(after.key))
      .filter((grant) => !known.has(tupleOf(grant)));
    if (grants.length === 0) continue;
    const holders = [...new Set(grants.map(({ subject }) => shortName(subject)))];
    yield facts.aboutEntity(after, {
      severity: grants.some((grant) => isStrongGrant(facts, grant)) ? "high" : "medium",
      field: "parentUid",
      message: `${labelEntity(after)} is new, and ${listFirst(holders, 3)} takes its tokens: whoever can assume it gets ${plural(grants.length, "grant")}`,
      details: listGrantsHeld("whoever assumes it gets", grants),
      grants: [grants],
      advice: "write out in the other identity whose tokens it takes, or define the new one elsewhere",
    });
  }
}

export const trustChanged: Rule = {
  id: "T5",
  name: "trust-changed",
  severities: ["high", "medium"],
  when: "medium for another subject of the same owners at a shared issuer, if all grants only read below the root. Medium too for another audience at a service of CI, whose runs ask for any, and of a service account of Kubernetes. Medium too for the numbers of the same repository of GitHub; otherwise high. In drift always high",
  what: "The trust of an identity that has grants changes, so that a different principal gets these grants. Its issuer, subject, audience, claims, keys or AWS match change, or it authenticates in another way. The finding lists the inherited grants. Or such an identity is deleted, and a new one that trusts somebody else gets its grants: the same role on the same group. Or an identity is new whose tokens another one takes by a pattern of uids. Of identity providers, the rule checks the issuer, the client id, the groups claim and the correlation rule. A change that cannot be judged is reported. An update deletes grants last, so those count too. Reported as well: a trust that the update narrows, perhaps after it made or widened a grant. Not reported: another change that accepts no more than before, such as a further claim; identities without grants; a new description or expiry of keys.",
  why: "No binding changes, so nothing in the diff shows that a different principal now has this access.",
  fix: "Create a new identity for the new principal and bind what it needs. Remove the old one in a second change. If it is the same principal under another name, say so in the pull request. To rotate keys, add the new key beside the old one, and remove the old one in a second change.",
  except:
    "After a repository or an issuer has moved, or to rotate keys, for that identity, while the pull request is open.",
  exampleMatch: { name: "ci-deployer" },
  needsBefore: "object",
  driftAdvice: "restore the trust, unless your team changed it; then change the program and have it reviewed",
  about: hasPrincipal,
  find: (facts) => [...findChangedTrust(facts), ...findInheritedGrants(facts), ...findTakenTokens(facts)],
};
