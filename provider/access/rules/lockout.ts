import { ownEffect } from "../../fields/accessMeanings";
import { trustMatches } from "../trust/addressGlob";
import { compareKeys } from "../effects";
import type { FieldEffect } from "../effects";
import { isWithin } from "../documents/inventoryScope";
import { specs } from "../documents/specs";
import { isAccessField } from "../graph/accessKinds";
import { nameIn } from "../graph/grant";
import type { Grant, Scope, Subject } from "../graph/grant";
import type { ResourceChange } from "../review/comparison";
import { chooseStableName } from "./findingValue";
import { fieldsWhere, pathsMeant, textAtPath } from "../graph/describedFields";
import { describeTrust } from "../graph/trust";
import { limitLines, listFirst } from "./wording";
import { plural } from "../../text/plain";
import type { Facts } from "./facts";
import type { FindingInput } from "./findingInput";
import { bindsRoles, isAssumable } from "./kindConditions";
import type { Rule } from "./rule";

/** The identities that own each root group. */
function ownersOfRoots(facts: Facts, grants: readonly Grant[]): Map<string, Map<string, Grant>> {
  const roots = new Map<string, Map<string, Grant>>();
  for (const grant of grants) {
    if (!grant.group.isRoot || grant.subject.type !== "identity" || !facts.roles.isOwner(grant.role))
      continue;
    const owners = roots.get(grant.group.key) ?? new Map<string, Grant>();
    owners.set(grant.subject.key, grant);
    roots.set(grant.group.key, owners);
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
  readonly lost: readonly [Grant, ...Grant[]];
  readonly remaining: readonly Grant[];
  /** Whether all owners are known: of a root that this program does not manage only an inventory holds them. */
  readonly isWhole: boolean;
}

/** The root groups that lose an owner. */
function findLostOwners(facts: Facts): OwnerChange[] {
  const { before, after, inventory } = facts.comparison;
  const ownersAfter = ownersOfRoots(facts, after.grants);
  return [...ownersOfRoots(facts, before.grants)].flatMap(([key, owners]) => {
    const remaining = ownersAfter.get(key) ?? new Map<string, Grant>();
    const [first, ...others] = [...owners.values()].filter(({ subject }) => !remaining.has(subject.key));
    if (first === undefined) return [];
    const entity = facts.entity(key);
    const isManaged = entity !== undefined && entity.external !== true;
    return [
      {
        root: facts.scope(key),
        lost: [first, ...others] as const,
        remaining: [...remaining.values()],
        isWhole: inventory !== undefined || isManaged,
      },
    ];
  });
}

function findTooFewOwners(facts: Facts, { root, lost, remaining, isWhole }: OwnerChange): FindingInput[] {
  const { minOwners } = facts.options;
  if (remaining.length >= minOwners) return [];
  const finding = facts.aboutGrant(lost[0], {
    severity: isWhole ? "critical" : "high",
    message: `${root.path} has ${plural(remaining.length, isWhole ? "owner" : "known owner")} left, fewer than ${minOwners}`,
    details: limitLines([
      ...lost.map(({ subject }) => `no longer an owner: ${subject.displayName}`),
      ...remaining.map(({ subject }) => `still an owner: ${subject.displayName}`),
    ]),
    pins: [lost, remaining].map((owners) => owners.map(({ subject }) => chooseStableName(subject)).sort()),
    advice: isWhole
      ? "bind the next owner first, in a separate change; then remove this one"
      : "give --inventory, so that owners bound elsewhere are known; or bind the next owner first",
  });
  return [{ ...finding, field: "min-owners" }];
}

function findRequiredOwners(facts: Facts, { root, lost, remaining }: OwnerChange): FindingInput[] {
  return facts.options.requiredOwner.flatMap((glob) => {
    const isRequired = ({ subject }: Grant): boolean => matchesSubject(facts, subject, glob);
    const grant = lost.find(isRequired);
    if (grant === undefined || remaining.some(isRequired)) return [];
    return [
      facts.aboutGrant(grant, {
        severity: "critical",
        field: `required-owner ${glob}`,
        message: `${grant.subject.displayName} is a required owner but no longer owns ${root.path}`,
        advice:
          "keep its binding; if another identity takes its place, change --required-owner in the same change",
      }),
    ];
  });
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

function findLostOwnGrants(facts: Facts): FindingInput[] {
  return [...lostGrants(facts, (subject) => isSelf(facts, subject))].flatMap(({ lost, capabilities }) => {
    if (capabilities.length === 0 && lost.role.capabilities !== undefined) return [];
    return [
      facts.aboutGrant(lost, {
        severity: "critical",
        field: "self",
        pins: capabilities,
        message: `the pipeline's own identity, ${lost.subject.displayName}, loses ${nameIn(lost.role)} on ${lost.group.path}`,
        details: capabilities.length > 0 ? [`loses ${listFirst(capabilities, 10)}`] : [],
        advice: "apply this with another identity: the pipeline may stop half-way and cannot undo it",
      }),
    ];
  });
}

const toRead = new Set(Object.values(specs).flatMap((spec) => spec?.capabilities?.read ?? []));

/** What the identity that took the inventory needs to list all of it, and loses. */
function findLostReading(facts: Facts): FindingInput[] {
  const { inventory } = facts.comparison;
  const caller = inventory?.caller;
  if (inventory === undefined || caller === undefined) return [];
  return [...lostGrants(facts, ({ uid }) => uid === caller)].flatMap(({ lost, capabilities }) => {
    const { role, group, subject } = lost;
    const missing = capabilities.filter((capability) => toRead.has(capability));
    const isAbove = group.uid !== undefined && isWithin(inventory.root, group.uid);
    if (!isAbove || (missing.length === 0 && role.capabilities !== undefined)) return [];
    return [
      facts.aboutGrant(lost, {
        severity: "high",
        field: "reader",
        pins: missing,
        message: `the identity that took the inventory, ${subject.displayName}, loses ${nameIn(role)} on ${group.path}`,
        details: [
          "what it may not list, no later review, drift run or verification shows",
          ...(missing.length > 0 ? [`loses ${listFirst(missing, 10)}`] : []),
        ],
        advice: "keep what it lists with; or let another identity take the inventories first",
      }),
    ];
  });
}

const expiries = fieldsWhere((field) => ownEffect(field) === "expiry");

const isKeySet = (kind: string, path: string): boolean => pathsMeant(kind, "trust.keys").includes(path);

const isCredential = (kind: string, path: string): boolean =>
  isKeySet(kind, path) || expiries(kind).some((field) => field.path === path);

/** Whether the holder of an old key may be unable to use it: an added key or a later expiry takes nothing away. */
function mayLoseCredential(
  { kind, before, after }: ResourceChange,
  { path, direction }: FieldEffect,
): boolean {
  if (direction !== "widened") return true;
  const [old, now] = [textAtPath(before?.inputs, path), textAtPath(after?.inputs, path)];
  // Compared the other way round, a set that keeps each old key only shrinks.
  return isKeySet(kind, path) && compareKeys(now, old).direction !== "narrowed";
}

interface LossOfTrust {
  readonly message: string;
  readonly advice: string;
}

/** What keeps an identity from signing in again; undefined where it can. */
function lossOfTrust(change: ResourceChange): LossOfTrust | undefined {
  const { op, kind, fields } = change;
  const advice = "apply this with another identity: the pipeline may not be able to sign in again";
  if (op === "delete" || op === "replace") return { message: `is ${op}d`, advice };
  // A match that accepts less need not accept the pipeline any more.
  const trust = fields.filter(({ path, direction }) => isAccessField(kind, path) && direction !== "neutral");
  if (op !== "update" || trust.length === 0) return undefined;
  if (!trust.every(({ path }) => isCredential(kind, path))) {
    return { message: `trusts a different principal: ${trust.map(({ path }) => path).join(", ")}`, advice };
  }
  const lost = trust.filter((field) => mayLoseCredential(change, field));
  if (lost.length === 0) return undefined;
  return {
    message: `may lose the key that it authenticates with: ${lost.map(({ path, reason }) => `${path} (${reason})`).join(", ")}`,
    advice:
      "to rotate a key, add the new one beside the old one, let the pipeline use it, then remove the old one in a second change",
  };
}

function findLostOwnIdentity(facts: Facts): FindingInput[] {
  return facts.comparison.changes.flatMap((change) => {
    const { before } = change;
    if (before === undefined || !isSelf(facts, before)) return [];
    const loss = lossOfTrust(change);
    if (loss === undefined) return [];
    return [
      facts.aboutEntity(before, {
        severity: "critical",
        field: "self",
        pins: change.op,
        message: `the pipeline's own identity, ${before.name ?? before.key}, ${loss.message}`,
        advice: loss.advice,
      }),
    ];
  });
}

export const lockOut: Rule = {
  id: "D1",
  name: "lock-out",
  severities: ["critical", "high"],
  when: "critical; high for the identity that took the inventory. High too if owners of the root group may be bound elsewhere, and no inventory shows them",
  what: "A root group loses an owner and has fewer than `--min-owners` (2) left, or a `--required-owner` no longer owns a root group. Or the `--self` identity loses a capability that no other grant gives it, is deleted or replaced, trusts a different principal, or loses a key. Or the identity that took the inventory loses a capability to list at its root group. Only identities are owners: an invite is not accepted yet, and the members of a directory group are unknown. A root group that loses no owner is not reported.",
  why: "Nobody is left who could undo it. A pipeline that removes its own access stops half-way. A reviewer who may list less sees less of all that follows.",
  fix: "Bind the next owner first, and check that it can sign in. Then remove the old one in a separate change, applied with another identity than the one that loses access.",
  except: "When an organisation is closed.",
  exampleMatch: { group: "acme-old" },
  needsBefore: true,
  needsWhole: true,
  driftAdvice: "restore this owner, or bind another one, and find out who removed it",
  about: (kind) => bindsRoles(kind) || isAssumable(kind),
  find: (facts) => [
    ...findLostOwners(facts).flatMap((change) => [
      ...findTooFewOwners(facts, change),
      ...findRequiredOwners(facts, change),
    ]),
    ...findLostOwnGrants(facts),
    ...findLostReading(facts),
    ...findLostOwnIdentity(facts),
  ],
};
