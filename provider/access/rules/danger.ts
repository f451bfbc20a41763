import type { ResourceSpec } from "../../engine/description";
import { specs } from "../documents/specs";
import { accessKinds } from "../graph/accessKinds";
import { tupleOf } from "../graph/grant";
import type { Entity } from "../graph/model";
import { timestampNanos } from "../../engine/values/times";
import { plural, labelOf, limitLines } from "./wording";
import { textAt } from "./inputValues";
import type { Facts } from "./facts";
import type { FindingInput } from "./findingInput";
import { isBuiltInRole } from "./builtInRoles";
import type { Rule } from "./rule";
import { lockOut } from "./lockout";

const DAY_MS = 86_400_000;
const RECENT_DAYS = 30;

function daysSinceSeen(facts: Facts, entity: Entity): number | undefined {
  const nanos = entity.lastSeenTime === undefined ? undefined : timestampNanos(entity.lastSeenTime);
  if (nanos === undefined) return undefined;
  return Math.floor((facts.options.now - Number(nanos / 1_000_000n)) / DAY_MS);
}

const blockerOf = ({ kind }: Entity): ResourceSpec["deleteBlockedBy"] => specs[kind]?.deleteBlockedBy;

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

/** Deleted or replaced resources that something still uses. */
function findStillInUse(facts: Facts): FindingInput[] {
  return [...facts.removals()].flatMap(({ op, before }) => {
    if (specs[before.kind]?.usedByUid !== true) return [];
    const dependents = remainingDependents(facts, before, op);
    const uses = [...describeLastUse(facts, before), ...describeDependents(dependents, op)];
    if (uses.length === 0) return [];
    return [
      facts.aboutEntity(before, {
        severity: "high",
        field: "uid",
        message: `${labelOf(before)} is ${op === "delete" ? "deleted" : "replaced, so its uid changes"}, but ${uses.join(" and ")}`,
        details: limitLines(dependents.map((entity) => labelOf(entity)).sort()),
        advice:
          op === "delete"
            ? "move what refers to it first, and delete it when it is no longer seen"
            : "keep what forces the replacement as it is, or make a second one and move what refers to this one",
      }),
    ];
  });
}

/** "was seen 3 days ago", where that is recent. */
function describeLastUse(facts: Facts, entity: Entity): string[] {
  const days = daysSinceSeen(facts, entity);
  if (days === undefined || days >= RECENT_DAYS) return [];
  return [`was seen ${days <= 0 ? "today" : `${plural(days, "day")} ago`}`];
}

function describeDependents({ length }: readonly Entity[], op: string): string[] {
  if (length === 0) return [];
  const text =
    op === "delete"
      ? plural(length, "resource still refers", "resources still refer")
      : plural(length, "resource refers", "resources refer");
  return [`${text} to it`];
}

function findUnprotected(facts: Facts): FindingInput[] {
  return facts.comparison.changes.flatMap(({ before, after }) => {
    if (before?.protect !== true || after === undefined || after.protect === true) return [];
    return [
      facts.aboutEntity(after, {
        severity: "high",
        field: "protect",
        message: `protect is taken off ${labelOf(after)}: the next change may delete it`,
        advice: "keep protect; take it off in the change that deletes it, with the reason",
      }),
    ];
  });
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
  find: (facts) => [...findStillInUse(facts), ...findUnprotected(facts)],
};

/** What keeps the server from deleting a resource. */
function blockersOf(facts: Facts, before: Entity, op: string): Entity[] {
  const dependents = remainingDependents(facts, before, op);
  const blocker = blockerOf(before);
  if (blocker === undefined) return [];
  if (blocker === "bindings") {
    return dependents.filter(({ kind }) => accessKinds[kind]?.binding || accessKinds[kind]?.ownsBindings);
  }
  return dependents.filter(
    (entity) =>
      textAt(entity.inputs, "parentUid") === before.key &&
      (op === "delete" || facts.isLeftBehind(entity, before.key)),
  );
}

function findRefusedDeletes(facts: Facts): FindingInput[] {
  return [...facts.removals()].flatMap(({ op, before }) => {
    if (isBuiltInRole(before)) return [];
    const blockers = blockersOf(facts, before, op);
    if (blockers.length === 0) return [];
    const reason =
      blockerOf(before) === "bindings"
        ? `${plural(blockers.length, "binding still holds", "bindings still hold")} it`
        : `${plural(blockers.length, "resource is", "resources are")} still in it`;
    return [
      facts.aboutEntity(before, {
        severity: "medium",
        message: `deleting ${labelOf(before)} will fail: ${reason}`,
        details: limitLines(blockers.map((entity) => labelOf(entity)).sort()),
        advice: "remove these first: in this program, or by hand where no program manages them",
      }),
    ];
  });
}

function findBuiltInRoleChanges(facts: Facts): FindingInput[] {
  return facts.comparison.changes.flatMap(({ op, before, after }) => {
    const entity = after ?? before;
    if (entity === undefined || !isBuiltInRole(before ?? entity)) return [];
    if (op !== "update" && op !== "delete" && op !== "replace") return [];
    return [
      facts.aboutEntity(entity, {
        severity: "medium",
        message: `the change of ${labelOf(entity)} will fail: built-in roles never change`,
        advice: "make a Role of your own with the capabilities that are needed, and bind that",
      }),
    ];
  });
}

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
  find: (facts) => [...findRefusedDeletes(facts), ...findBuiltInRoleChanges(facts)],
};

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
