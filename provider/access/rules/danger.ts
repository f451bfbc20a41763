import { timestampNanos } from "../../fields/formats";
import type { Deletion } from "../../fields/resourceSpec";
import { specs } from "../documents/specs";
import { nameIn, tupleOf } from "../graph/grant";
import { blocksDelete } from "../graph/serverRemovals";
import type { Entity } from "../graph/model";
import { chooseStableName } from "./findingValue";
import { labelEntity, limitLines } from "./wording";
import { plural } from "../../text/plain";
import { textAt } from "../graph/describedFields";
import { lostEvents } from "./eventDeliveries";
import type { Facts } from "./facts";
import type { FindingInput } from "./findingInput";
import { isBuiltInRole } from "./builtInRoles";
import { everyKind } from "./kindConditions";
import type { Rule } from "./rule";
import { lockOut } from "./lockout";

const DAY_MS = 86_400_000;
const RECENT_DAYS = 30;

function daysSinceSeen(facts: Facts, entity: Entity): number | undefined {
  const nanos = entity.lastSeenTime === undefined ? undefined : timestampNanos(entity.lastSeenTime);
  if (nanos === undefined) return undefined;
  return Math.floor((facts.options.now - Number(nanos / 1_000_000n)) / DAY_MS);
}

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

/** Deleted or replaced resources that something still uses. */
function findStillInUse(facts: Facts): FindingInput[] {
  return [...facts.removals()].flatMap(({ op, before }) => {
    if (specs[before.kind]?.usedBy !== "uid") return [];
    const dependents = remainingDependents(facts, before, op);
    const uses = [...describeLastUse(facts, before), ...describeDependents(dependents, op)];
    if (uses.length === 0) return [];
    return [
      facts.aboutEntity(before, {
        severity: "high",
        field: "uid",
        message: `${labelEntity(before)} is ${op === "delete" ? "deleted" : "replaced, so its uid changes"}, but ${uses.join(" and ")}`,
        details: limitLines(dependents.map((entity) => labelEntity(entity)).sort()),
        pins: [op, stableNames(dependents)],
        advice:
          op === "delete"
            ? "move what refers to it first, and delete it when it is no longer used"
            : "undo the change that forces the replacement, or create a second one and move what refers to this one",
      }),
    ];
  });
}

/** Names of objects that stay the same when a uid is assigned. */
const stableNames = (entities: readonly Entity[]): string[] => entities.map(chooseStableName).sort();

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
        message: `protect is removed from ${labelEntity(after)}: the next change may delete it`,
        advice: "keep protect; remove it in the change that deletes the resource, with the reason",
      }),
    ];
  });
}

const inUse: Rule = {
  id: "D2",
  name: "in-use",
  severities: ["high"],
  when: "always",
  what: "An identity, role, group or identity provider is deleted, or is replaced so that its uid changes, while a remaining resource refers to it. Or an identity is deleted or replaced that was seen in the last 30 days. Or `protect` is removed from a resource. Not reported: an unused resource deleted with everything that refers to it, and a replaced role whose bindings this program moves to its successor.",
  why: "Pipelines and clusters are configured with uids, and no program updates them. The bindings of the old uid are deleted with it.",
  fix: "Create the new one beside it, move what refers to it, watch `lastSeenTime`, then delete the old one. Check which part of the change forces a replacement.",
  except: "For a planned move, for as long as it takes.",
  exampleMatch: { name: "ci-old" },
  needsBefore: true,
  driftAdvice: "create it again from its program, or move what still refers to it",
  about: everyKind,
  find: (facts) => [...findStillInUse(facts), ...findUnprotected(facts)],
};

/** What keeps the server from deleting a resource. */
function blockersOf(facts: Facts, before: Entity, op: string): Entity[] {
  const dependents = remainingDependents(facts, before, op).filter(({ kind }) =>
    blocksDelete(kind, before.kind),
  );
  if (blockerOf(before) === "bindings") return dependents;
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
        ? `${plural(blockers.length, "binding still uses", "bindings still use")} it`
        : `it still contains ${plural(blockers.length, "resource")}`;
    return [
      facts.aboutEntity(before, {
        severity: "medium",
        message: `deleting ${labelEntity(before)} will fail: ${reason}`,
        details: limitLines(blockers.map((entity) => labelEntity(entity)).sort()),
        pins: [op, stableNames(blockers)],
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
        message: `the change of ${labelEntity(entity)} will fail: built-in roles cannot be changed`,
        advice: "create a Role of your own with the capabilities that are needed, and bind it",
      }),
    ];
  });
}

const willFail: Rule = {
  id: "D3",
  name: "will-fail",
  severities: ["medium"],
  when: "always",
  what: "The server will refuse a part of the change with code 9 (`FAILED_PRECONDITION`). It deletes a role that remaining bindings use or a group that is not empty, or changes or deletes a built-in role. What the same change deletes first is not counted.",
  why: "The update stops half-way: the steps before it are done, those after it are not.",
  fix: "Delete the bindings, or the contents of the group, in the same program, or bind another role first. Use a Role of your own instead of changing a built-in one.",
  except: "Never useful: the update fails anyway.",
  exampleMatch: { name: "old-team" },
  needsBefore: true,
  planOnly: true,
  about: (kind) => blockerOf({ kind }) !== undefined,
  find: (facts) => [...findRefusedDeletes(facts), ...findBuiltInRoleChanges(facts)],
};

const massRemoval: Rule = {
  id: "D4",
  name: "mass-removal",
  severities: ["high"],
  when: "always",
  what: "More than `--max-removal` (25%) of the existing grants are lost at once. A single lost grant is never reported, nor are moved or narrowed ones.",
  why: "A wrong configuration, an empty list or a wrong stack looks like this, and locks everyone out at once.",
  fix: "Check that the stack and its configuration are the right ones. If the removal is intended, remove the grants in parts, or raise `--max-removal` for this run.",
  except: "For the day on which a team is dissolved.",
  exampleMatch: { name: "all grants" },
  needsBefore: true,
  needsWhole: true,
  driftAdvice:
    "find out who removed them; the next update of their programs restores them; if it was intended, raise --max-removal for this run",
  about: "change",
  find: (facts) => {
    const tuplesBefore = new Set(facts.comparison.before.grants.map(tupleOf));
    // What is lost with the place of a group was granted elsewhere.
    const lost = facts.comparison.grants
      .filter(({ change, grant }) => change === "lost" && tuplesBefore.has(tupleOf(grant)))
      .map(({ grant }) => grant);
    const all = tuplesBefore.size;
    const { maxRemoval } = facts.options;
    if (lost.length < 2 || all === 0 || lost.length / all <= maxRemoval) return [];
    const percent = (part: number): string => `${Math.round(part * 100)}%`;
    return [
      {
        severity: "high",
        name: "all grants",
        field: "max-removal",
        message: `${lost.length} of ${all} grants are lost at once: ${percent(lost.length / all)}, limit ${percent(maxRemoval)}`,
        details: limitLines(
          lost
            .map(({ subject, role, group }) => `${subject.displayName}: ${nameIn(role)} on ${group.path}`)
            .sort(),
        ),
        pins: lost.map(tupleOf).sort(),
        advice:
          "check that stack and configuration are the right ones; if it is intended, raise --max-removal for this run",
      },
    ];
  },
};

export const dangerRules: readonly Rule[] = [lockOut, inUse, willFail, massRemoval, lostEvents];
