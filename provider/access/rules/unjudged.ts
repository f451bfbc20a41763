import { urnParts } from "../documents/engineState";
import type { Entity } from "../graph/model";
import type { ResourceChange } from "../review/comparison";
import type { GrantChange } from "../graph/grant";
import { reasonWords } from "../graph/unread";
import type { UnreadReason, UnreadValue } from "../graph/unread";
import { limitLines, labelOf, plural, listFirst } from "./wording";
import type { Facts } from "./facts";
import type { FindingInput } from "./findingInput";
import type { Rule } from "./rule";

const INSTEAD: Readonly<Record<UnreadReason, string>> = {
  secret: "write it in plain text: it is no secret, and nobody can review what is hidden",
  unknown: "apply what it comes from first, in a change of its own, so that the preview knows the value",
  unreadable: "write a value of the form that the property has",
};

/** Changes whose values a reader must be able to judge; what the engine calls the same has the secrets that it had. */
function* judgedChanges(facts: Facts): Generator<ResourceChange & { readonly after: Entity }> {
  for (const change of facts.comparison.changes) {
    if (change.after !== undefined && change.op !== "delete") yield { ...change, after: change.after };
  }
}

function unreadOf({ op, after }: ResourceChange & { readonly after: Entity }): UnreadValue[] {
  return (after.unread ?? []).filter(
    ({ reason, decidesAccess }) => decidesAccess && (reason !== "secret" || op !== "same"),
  );
}

/** A finding for each property of a resource: thousands of labels are one. */
function findUnreadValues(facts: Facts): FindingInput[] {
  const findings: FindingInput[] = [];
  for (const change of judgedChanges(facts)) {
    const groups = new Map<string, UnreadValue[]>();
    for (const one of unreadOf(change)) {
      const key = JSON.stringify([one.property, one.reason]);
      groups.set(key, [...(groups.get(key) ?? []).slice(0, 100), one]);
    }
    for (const [first, ...others] of groups.values()) {
      if (first === undefined) continue;
      const paths = [first, ...others].map(({ path }) => path);
      findings.push(
        facts.aboutEntity(change.after, {
          severity: "high",
          field: others.length === 0 ? first.path : first.property,
          message: `${listFirst(paths, 3)} of ${labelOf(change.after)} ${reasonWords(first.reason)}: who may do what by it cannot be judged`,
          details: others.length === 0 ? [] : limitLines(paths),
          advice: INSTEAD[first.reason],
        }),
      );
    }
  }
  return findings;
}

const INVENTORY =
  "give --inventory, so that what is outside of the program is read from the live organisation";

/** What of a grant is named exactly and known by nobody, or by the program's word alone. */
function doubtsOf(facts: Facts, { grant }: GrantChange): { field: string; message: string }[] {
  const { subject, role, group } = grant;
  const doubts: { field: string; message: string }[] = [];
  const [heldRole, holder] = [facts.entity(role.key), facts.entity(subject.key)];
  const what = role.name ?? role.uid ?? "a role";
  if (role.uid !== undefined || heldRole !== undefined) {
    if (role.capabilities === undefined) {
      doubts.push({
        field: "role",
        message: `what ${what} allows, nothing tells: ${subject.displayName} gains it on ${group.path}`,
      });
    } else if (heldRole?.assumed === true) {
      doubts.push({
        field: "role",
        message: `what ${what} allows, only the program tells: ${subject.displayName} gains it on ${group.path}`,
      });
    }
  }
  if (subject.type === "identity" && (holder === undefined || holder.assumed === true)) {
    doubts.push({
      field: "subject",
      message: `who ${subject.name ?? subject.displayName} is, ${holder === undefined ? "nothing tells" : "only the program tells"}: it gains ${what} on ${group.path}`,
    });
  }
  return doubts;
}

function findUnknownGrants(facts: Facts): FindingInput[] {
  return facts.comparison.grants
    .filter(({ change }) => change === "gained" || change === "widened")
    .flatMap((change) =>
      doubtsOf(facts, change).map(({ field, message }) =>
        facts.aboutGrant(change.grant, { severity: "high", field, message, advice: INVENTORY }),
      ),
    );
}

/** A group that has the place and name of another one: whatever goes by paths takes it for that. */
function findReusedPaths(facts: Facts): FindingInput[] {
  const before = new Map(facts.groupsBefore().map(({ key, path }): [string, string] => [path, key]));
  const stays = new Set(
    facts.comparison.groups.filter(({ change }) => change !== "removed").map(({ key }) => key),
  );
  return facts.comparison.groups.flatMap(({ change, key, path }) => {
    const other = before.get(path);
    const entity = facts.comparison.after.entities.get(key);
    if (entity === undefined || other === undefined || other === key) return [];
    const isTaken = change === "renamed" || change === "moved" || (change === "added" && stays.has(other));
    if (!isTaken) return [];
    return [
      facts.aboutEntity(entity, {
        severity: "high",
        field: "name",
        message: `${path} is another group after this change: ${labelOf(entity)} takes the place of the one that was called so`,
        details: [`exceptions and habits that go by this path now mean the group ${entity.uid ?? key}`],
        advice: "give it a name that no group there had, or rename the two in two changes",
      }),
    ];
  });
}

/** All that cannot be judged. */
export function findUnjudged(facts: Facts): FindingInput[] {
  return [...findUnreadValues(facts), ...findUnknownGrants(facts), ...findReusedPaths(facts)];
}

export const cannotBeJudged: Rule = {
  id: "X3",
  name: "cannot-be-judged",
  severities: ["high"],
  when: "always",
  what: "A value that decides who may do what was not read: it is a secret, is not known before the update and may come from several resources, or has a form that no such value has. Or a grant that is gained or widened names a role or an identity that nothing tells, or that the program alone tells (`.get` without `--inventory`). Or a group takes the path that another group had. Secrets that are so by their nature, as a client secret, are not reported; nor is a secret of a resource that the engine calls unchanged.",
  why: "No other rule could look at it: whatever stands there, up to `owner` for anyone, would pass.",
  fix: "Give `--inventory`. Write uids, capabilities, patterns and addresses in plain text. Make what others refer to in a change of its own.",
  except: "For one resource by its uid, once somebody has looked at the value.",
  exampleMatch: { name: "partner-events" },
  needsBefore: false,
  driftAdvice: "look at the live object, and restore what its program declares unless one of you changed it",
  find: findUnjudged,
};

/** "Command migrate". */
function titleOf({ kind, urn }: ResourceChange): string {
  const name = urnParts(urn ?? "").name;
  return `${kind.slice(kind.lastIndexOf(":") + 1)} ${name}`;
}

export const notReviewed: Rule = {
  id: "X4",
  name: "not-reviewed",
  severities: ["high"],
  when: "always",
  what: "The change holds a resource of which nothing can be said: a dynamic resource whose code is the program's, one with a type of this package and another provider, a kind that this version does not know, or one that runs commands. What it says of itself is not believed. One that stays as it is is not reported.",
  why: "It can do anything that the credentials of the update can do, and the preview shows none of it.",
  fix: "Declare what it does with resources of this package. Run commands in a pipeline of their own, with credentials of their own.",
  except: "For a command that was read and that holds no credential of the platform.",
  exampleMatch: { name: "migrate-database" },
  needsBefore: false,
  planOnly: true,
  find: ({ comparison }) =>
    comparison.changes.flatMap((change): FindingInput[] => {
      const { notReviewed: why, kind, urn, location, op } = change;
      if (why === undefined || op === "same") return [];
      return [
        {
          severity: "high",
          kind,
          name: urnParts(urn ?? "").name,
          field: "type",
          ...(urn === undefined ? {} : { urn }),
          ...(location === undefined ? {} : { location }),
          message: `${titleOf(change)} is not reviewed (${op}): ${why}`,
          details: [`type ${kind}`],
          advice: "declare what it does with resources of this package, or take it out of this program",
        },
      ];
    }),
};

/** References that are taken to be the id of their one source. */
export function findAssumed(facts: Facts): FindingInput[] {
  const findings: FindingInput[] = [];
  for (const { op, after } of judgedChanges(facts)) {
    const { assumptions = [] } = after;
    if (assumptions.length === 0 || op === "read") continue;
    const lines = assumptions.map(({ path, key }) => {
      const source = facts.entity(key);
      return `${path} is assumed to be the id of ${source === undefined ? key : labelOf(source)}`;
    });
    findings.push(
      facts.aboutEntity(after, {
        severity: "low",
        field: [...new Set(assumptions.map(({ property }) => property))].join(", "),
        message: `${plural(assumptions.length, "reference")} of ${labelOf(after)} ${assumptions.length === 1 ? "is" : "are"} assumed: ${listFirst(
          assumptions.map(({ path }) => path),
          3,
        )}`,
        details: limitLines(lines),
        advice:
          "compare what the update has done with this report: a preview cannot tell an id from another value",
      }),
    );
  }
  return findings;
}
