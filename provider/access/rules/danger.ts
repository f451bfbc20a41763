import { isTopUid } from "../../api/uid";
import { globMatches } from "../trust/glob";
import { tupleOf } from "../graph/grant";
import type { Entity } from "../graph/model";
import type { Grant, Subject } from "../graph/grant";
import { timestampNanos } from "../../engine/times";
import { limitLines, labelOf, plural, listFirst, textAt, trustOf } from "./facts";
import type { Facts } from "./facts";
import type { FindingInput } from "./findingInput";
import type { Rule } from "./rule";

const DAY_MS = 86_400_000;
const RECENT_DAYS = 30;

/** The identities that own each root group. */
function ownersOfRoots(facts: Facts, grants: readonly Grant[]): Map<string, Map<string, Grant>> {
  const roots = new Map<string, Map<string, Grant>>();
  for (const grant of grants) {
    if (!grant.group.isRoot || grant.subject.type !== "identity" || !facts.isOwner(grant.role)) continue;
    const owners = roots.get(grant.group.key) ?? new Map<string, Grant>();
    owners.set(grant.subject.key, grant);
    roots.set(grant.group.key, owners);
  }
  return roots;
}

function matchesSubject(facts: Facts, subject: Subject, glob: string): boolean {
  const trust = trustOf(facts.entity(subject.key));
  const texts = [subject.uid, subject.name, subject.displayName, trust?.subject, subject.key];
  return texts.some((text) => text !== undefined && globMatches(glob, text));
}

const TRUST = /^(?:claimMatch|staticKeys|awsIdentity|servicePrincipal)(?:[.[]|$)/;

function findLockouts(facts: Facts): FindingInput[] {
  const { minOwners, requiredOwner } = facts.options;
  const before = ownersOfRoots(facts, facts.comparison.before.grants);
  const after = ownersOfRoots(facts, facts.comparison.after.grants);
  const findings: FindingInput[] = [];
  for (const [root, had] of before) {
    const group = facts.scope(root);
    const has = after.get(root) ?? new Map<string, Grant>();
    const gone = [...had.values()].filter(({ subject }) => !has.has(subject.key));
    const entity = facts.entity(root);
    // Of a root that this program does not manage only an inventory tells all owners.
    const isWhole =
      facts.comparison.inventory !== undefined || (entity !== undefined && entity.external !== true);
    if (gone[0] !== undefined && has.size < minOwners) {
      findings.push({
        ...facts.aboutGrant(gone[0], {
          severity: isWhole ? "critical" : "high",
          message: `${group.path} is left with ${plural(has.size, "owner")}, fewer than ${minOwners}${isWhole ? "" : ", of those that are known here"}`,
          details: limitLines([
            ...gone.map(({ subject }) => `no longer an owner: ${subject.displayName}`),
            ...[...has.values()].map(({ subject }) => `still an owner: ${subject.displayName}`),
          ]),
          advice: isWhole
            ? "bind the next owner first, in a change of its own; then remove this one"
            : "give --inventory, so that owners bound elsewhere are counted; or bind the next owner first",
        }),
        field: "min-owners",
      });
    }
    for (const glob of requiredOwner) {
      const lost = gone.find(({ subject }) => matchesSubject(facts, subject, glob));
      if (lost === undefined || [...has.values()].some(({ subject }) => matchesSubject(facts, subject, glob)))
        continue;
      findings.push(
        facts.aboutGrant(lost, {
          severity: "critical",
          field: `required-owner ${glob}`,
          message: `${lost.subject.displayName} is a required owner, and no longer owns ${group.path}`,
          advice: "keep its binding; if another identity takes its place, change --required-owner with it",
        }),
      );
    }
  }
  return findings;
}

function findSelfLockout(facts: Facts): FindingInput[] {
  const { self } = facts.options;
  if (self === undefined) return [];
  const isSelf = ({ key, uid }: { key: string; uid?: string }): boolean => key === self || uid === self;
  const findings: FindingInput[] = [];
  for (const change of facts.comparison.grants) {
    const lost =
      change.change === "lost" ? change.grant : change.change === "narrowed" ? change.before : undefined;
    if (lost === undefined || !isSelf(lost.subject)) continue;
    const capabilities = facts.lostCapabilities(lost);
    if (capabilities.length === 0 && lost.role.capabilities !== undefined) continue;
    findings.push(
      facts.aboutGrant(lost, {
        severity: "critical",
        field: "self",
        message: `the pipeline's own identity, ${lost.subject.displayName}, loses ${lost.role.name ?? lost.role.key} on ${lost.group.path}`,
        details: capabilities.length > 0 ? [`loses ${listFirst(capabilities, 10)}`] : [],
        advice: "let somebody else apply this: the pipeline may stop half-way, and cannot undo it",
      }),
    );
  }
  for (const change of facts.comparison.changes) {
    const { op, kind, before, fields } = change;
    if (kind !== "Identity" || before === undefined || !isSelf(before)) continue;
    // Less may be too little: a match that accepts less need not accept the pipeline.
    const trust =
      op === "update"
        ? fields.filter(({ path, direction }) => TRUST.test(path) && direction !== "neutral")
        : [];
    const what =
      op === "delete" || op === "replace"
        ? `is ${op}d`
        : trust.length > 0
          ? `trusts a different principal: ${trust.map(({ path }) => path).join(", ")}`
          : undefined;
    if (what === undefined) continue;
    findings.push(
      facts.aboutEntity(before, {
        severity: "critical",
        field: "self",
        message: `the pipeline's own identity, ${before.name ?? before.key}, ${what}`,
        advice: "let somebody else apply this: the pipeline may not be able to sign in again",
      }),
    );
  }
  return findings;
}

const lockOut: Rule = {
  id: "D1",
  name: "lock-out",
  severities: ["critical", "high"],
  when: "critical; high where owners of the root may be bound elsewhere and no inventory is given to count them",
  what: "A root group loses an owner and is left with fewer than `--min-owners` (2); a `--required-owner` no longer owns a root; or the identity given as `--self` loses a right that nothing else gives it, is deleted or replaced, or trusts a different principal. Only identities count as owners: an invite is not one yet, and who is in a directory group is not known here. A root that loses no owner is not reported.",
  why: "Nobody is left who could undo it. A pipeline that takes its own rights stops half-way.",
  fix: "First bind the next owner, and see that it can sign in. Then remove the old one, in a change of its own, applied by somebody else than the one who loses.",
  except: "When an organisation is wound up.",
  exampleMatch: { group: "acme-old" },
  needsBefore: true,
  needsWhole: true,
  driftAdvice:
    "restore this owner or bind another one, and find out who removed it; revert the drift of its binding",
  find: (facts) => [...findLockouts(facts), ...findSelfLockout(facts)],
};

/** Those whose end takes something from others. */
const DEPENDED_ON = ["Identity", "Role", "Group", "IdentityProvider"];

function daysSinceSeen(facts: Facts, entity: Entity): number | undefined {
  const nanos = entity.lastSeenTime === undefined ? undefined : timestampNanos(entity.lastSeenTime);
  if (nanos === undefined) return undefined;
  return Math.floor((facts.options.now - Number(nanos / 1_000_000n)) / DAY_MS);
}

const isUnmanaged = ({ external, urn }: Entity): boolean => external === true || urn === undefined;

/** Who is left behind: for a replaced role, only what this program does not point to the new one. */
function remainingDependents(facts: Facts, before: Entity, op: string): Entity[] {
  const dependants = facts.dependents(before.key);
  if (op !== "replace" || before.kind !== "Role") return dependants;
  return dependants.filter((entity) => isUnmanaged(entity) || facts.isLeftBehind(entity, before.key));
}

const inUse: Rule = {
  id: "D2",
  name: "in-use",
  severities: ["high"],
  when: "always",
  what: "An identity, role, group or identity provider is deleted or replaced (its uid then changes) while something that stays refers to it, or an identity that was seen in the last 30 days. Also: `protect` is taken off a resource. What is deleted together with all that refers to it, and was not seen lately, is not reported; nor is a replaced role whose bindings this program moves along.",
  why: "Uids stand in the settings of pipelines and clusters, where no program follows them. What is bound to the old one is gone with it.",
  fix: "Make the new one beside it, move what refers to it, watch `lastSeenTime`, then delete the old one. Look at what in the change forces a replacement.",
  except: "For a planned move, for as long as it takes.",
  exampleMatch: { name: "ci-old" },
  needsBefore: true,
  driftAdvice: "create it again from its program, or move what still refers to it",
  find: (facts) => {
    const findings: FindingInput[] = [];
    for (const { op, before } of facts.removals()) {
      if (!DEPENDED_ON.includes(before.kind)) continue;
      const dependants = remainingDependents(facts, before, op);
      const days = before.kind === "Identity" ? daysSinceSeen(facts, before) : undefined;
      const isSeen = days !== undefined && days < RECENT_DAYS;
      if (dependants.length === 0 && !isSeen) continue;
      const why = [
        ...(isSeen ? [`was seen ${days <= 0 ? "today" : `${plural(days, "day")} ago`}`] : []),
        ...(dependants.length > 0
          ? [
              op === "delete"
                ? `${plural(dependants.length, "resource still refers", "resources still refer")} to it`
                : `${plural(dependants.length, "resource refers", "resources refer")} to it`,
            ]
          : []),
      ];
      findings.push(
        facts.aboutEntity(before, {
          severity: "high",
          field: "uid",
          message: `${labelOf(before)} is ${op === "delete" ? "deleted" : "replaced, so its uid changes"}, but ${why.join(" and ")}`,
          details: limitLines(dependants.map((entity) => labelOf(entity)).sort()),
          advice:
            op === "delete"
              ? "move what refers to it first, and delete it when it is no longer seen"
              : "keep what forces the replacement as it is, or make a second one and move what refers to this one",
        }),
      );
    }
    for (const { before, after } of facts.comparison.changes) {
      if (before?.protect !== true || after === undefined || after.protect === true) continue;
      findings.push(
        facts.aboutEntity(after, {
          severity: "high",
          field: "protect",
          message: `protect is taken off ${labelOf(after)}: the next change may delete it`,
          advice: "keep protect; take it off in the change that deletes it, with the reason",
        }),
      );
    }
    return findings;
  },
};

const willFail: Rule = {
  id: "D3",
  name: "will-fail",
  severities: ["medium"],
  when: "always",
  what: "The server will refuse a part of the change (code 9): a role is deleted while bindings that stay hold it, a group while something is in it, or a built-in role is changed or deleted. What the same change deletes first is not counted.",
  why: "The update stops in the middle: what came before is done, what comes after is not.",
  fix: "Delete the bindings, or what is in the group, in the same program, or give them another role first. Use a Role of your own instead of changing a built-in one.",
  except: "Not worth one: it fails anyway.",
  exampleMatch: { name: "old-team" },
  needsBefore: true,
  planOnly: true,
  find: (facts) => {
    const findings: FindingInput[] = [];
    for (const { op, before } of facts.removals()) {
      if (isBuiltInRole(before)) continue;
      const dependants = remainingDependents(facts, before, op).filter((entity) =>
        before.kind === "Role"
          ? entity.kind === "RoleBinding" || entity.kind === "GroupAccess"
          : before.kind === "Group" &&
            textAt(entity.inputs, "parentUid") === before.key &&
            (op === "delete" || facts.isLeftBehind(entity, before.key)),
      );
      if (dependants.length === 0) continue;
      findings.push(
        facts.aboutEntity(before, {
          severity: "medium",
          message: `deleting ${labelOf(before)} will fail: ${before.kind === "Role" ? `${plural(dependants.length, "binding still holds", "bindings still hold")} it` : `${plural(dependants.length, "resource is", "resources are")} still in it`}`,
          details: limitLines(dependants.map((entity) => labelOf(entity)).sort()),
          advice: "remove these first: in this program, or by hand where no program manages them",
        }),
      );
    }
    for (const { op, kind, before, after } of facts.comparison.changes) {
      const entity = after ?? before;
      if (kind !== "Role" || entity === undefined || !isBuiltInRole(before ?? entity)) continue;
      if (op !== "update" && op !== "delete" && op !== "replace") continue;
      findings.push(
        facts.aboutEntity(entity, {
          severity: "medium",
          message: `the change of ${labelOf(entity)} will fail: built-in roles never change`,
          advice: "make a Role of your own with the capabilities that are needed, and bind that",
        }),
      );
    }
    return findings;
  },
};

function isBuiltInRole(entity: Entity): boolean {
  return entity.kind === "Role" && (entity.builtIn === true || isTopUid(entity.uid));
}

const massRemoval: Rule = {
  id: "D4",
  name: "mass-removal",
  severities: ["high"],
  when: "always",
  what: "More than `--max-removal` (25%) of the grants that were there are lost at once. A single lost grant is never reported, nor is what moves or narrows.",
  why: "A wrong configuration, an empty list or a wrong stack looks like this: everybody is locked out at once.",
  fix: "Look whether the right stack and the right configuration were used. If it is meant, take the grants away in parts, or raise `--max-removal` for this run.",
  except: "For the day on which a team is dissolved.",
  exampleMatch: { name: "all grants" },
  needsBefore: true,
  needsWhole: true,
  driftAdvice:
    "find out who removed them; the next update of their programs restores them; if it was intended, raise --max-removal for this run",
  find: (facts) => {
    const held = new Set(facts.comparison.before.grants.map(tupleOf));
    // What is lost with the place of a group was granted elsewhere.
    const lost = facts.comparison.grants
      .filter(({ change, grant }) => change === "lost" && held.has(tupleOf(grant)))
      .map(({ grant }) => grant);
    const all = held.size;
    const { maxRemoval } = facts.options;
    if (lost.length < 2 || all === 0 || lost.length / all <= maxRemoval) return [];
    const percent = (part: number): string => `${Math.round(part * 100)}%`;
    return [
      {
        severity: "high",
        name: "all grants",
        field: "max-removal",
        message: `${lost.length} of ${all} grants are lost at once: ${percent(lost.length / all)}, more than ${percent(maxRemoval)}`,
        details: limitLines(
          lost
            .map(
              ({ subject, role, group }) =>
                `${subject.displayName}: ${role.name ?? role.key} on ${group.path}`,
            )
            .sort(),
        ),
        advice:
          "see that stack and configuration are the right ones; if it is meant, raise --max-removal for this run",
      },
    ];
  },
};

export const dangerRules: readonly Rule[] = [lockOut, inUse, willFail, massRemoval];
