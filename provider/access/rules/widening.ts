import { readRoleCapabilities } from "../graph/roleCapabilities";
import { familyOf } from "./capabilities";
import { reportedEffects } from "./data/capabilityFamilies";
import { GrantIndex } from "../graph/grantIndex";
import type { Entity } from "../graph/model";
import { severities } from "../review/finding";
import type { Severity } from "../review/finding";
import { hasWideReach } from "../graph/grant";
import type { Grant } from "../graph/grant";
import { labelEntity, listFirst, limitLines } from "./wording";
import { plural } from "../../text/plain";
import type { Facts } from "./facts";
import type { FindingInput } from "./findingInput";
import { givesAccess } from "./kindConditions";
import { isOfKnownToken } from "./signIn";
import type { Rule } from "./rule";
import { scopeText, subjectName, roleName } from "./grantText";

/** The severity of capabilities that a subject gains through its role, and what they are. */
function assessGain(
  facts: Facts,
  grant: Grant,
  before: Entity,
  added: readonly string[],
): [Severity, string] {
  const isWide = hasWideReach(grant);
  const role = { key: before.key, builtIn: false, capabilities: readRoleCapabilities(before) ?? [] };
  if (facts.roles.isOwner(grant.role) && !facts.roles.isOwner(role)) {
    return [isWide ? "critical" : "high", "it is now equivalent to owner"];
  }
  const isProvider = grant.subject.type === "identityProvider" && !isOfKnownToken(facts, grant);
  if (isProvider && facts.roles.capabilitiesBeyondViewer({ ...role, capabilities: added }).length > 0)
    return ["high", "everyone who signs in can do more than viewer"];
  for (const { effect, severity } of reportedEffects) {
    const worst = added.find((capability) => facts.roles.effectOf(capability) === effect);
    if (worst === undefined) continue;
    return [severity === "high" || isWide ? "high" : "medium", `it can now ${familyOf(worst).can}`];
  }
  return grant.subject.matchesMany || grant.subject.type === "invite"
    ? ["medium", "many can hold it"]
    : ["low", ""];
}

const isRole = (kind: string): boolean => kind === "Role";

export const roleWidened: Rule = {
  id: "G4",
  name: "role-widened",
  severities: ["critical", "high", "medium", "low"],
  when: "the severity that G1, G2, G3, G6, G7 or G9 gives the added capabilities. Otherwise medium where many can hold the role, or an invite gives it, and low",
  what: "A role that is already bound gains capabilities. The finding lists every subject that has the role, and on which group; an inventory adds those that this program does not manage. Not reported: a role without bindings, and a role that only loses capabilities.",
  why: "One line in a role changes what each of its subjects can do, wherever the role is bound. The diff shows none of these bindings.",
  fix: "Create a second role with the added capabilities, and bind it to those who need them. Or remove the write capabilities again.",
  except: "After a reviewer has checked that every listed subject needs the added capabilities.",
  exampleMatch: { role: "developer" },
  needsBefore: "object",
  about: isRole,
  find: (facts) => {
    const findings: FindingInput[] = [];
    for (const { op, before, after } of facts.writes(isRole)) {
      if (op === "create" || before === undefined) continue;
      const old = new Set(readRoleCapabilities(before));
      const added = (readRoleCapabilities(after) ?? []).filter((capability) => !old.has(capability));
      if (added.length === 0 || readRoleCapabilities(before) === undefined) continue;
      const grants = facts.after.ofRole(after.key).filter((grant) => !facts.isGained(grant));
      if (grants.length === 0) continue;
      const gains = grants.map((grant) => assessGain(facts, grant, before, added));
      const severity = severities.find((level) => gains.some(([gained]) => gained === level)) ?? "low";
      const consequence = gains.find(([gained, text]) => gained === severity && text !== "")?.[1];
      const subjects = new Set(grants.map(({ subject }) => subject.key)).size;
      const groups = new Set(grants.map(({ group }) => group.key)).size;
      findings.push(
        facts.aboutEntity(after, {
          severity,
          field: "capabilities",
          message: `${labelEntity(after)} gains ${listFirst(added, 3)} for ${plural(subjects, "subject")} in ${plural(groups, "group")}${consequence === undefined ? "" : `: ${consequence}`}`,
          details: limitLines([
            ...(added.length > 3 ? [`added: ${listFirst(added, 20)}`] : []),
            ...[...new Set(grants.map((grant) => `${grant.subject.displayName} ${scopeText(grant)}`))].sort(),
          ]),
          advice: "create a separate role for the added capabilities, and bind it to those who need them",
        }),
      );
    }
    return findings;
  },
};

export const scopeWidened: Rule = {
  id: "G5",
  name: "scope-widened",
  severities: ["high", "medium"],
  when: "high if it reaches a root group; otherwise medium",
  what: "A subject that had a role on a group now has the same role on a group above it, instead or besides. The finding lists the groups that it newly reaches. A move to a lower group or to another branch is not reported.",
  why: "A binding applies to everything below its group, including what is created there later. One level up often includes every other team.",
  fix: "Keep the binding where it was, and add one for each further group that needs it.",
  except: "For a subject that is meant to reach all groups below, such as a central team.",
  exampleMatch: { subject: "sre*", role: "viewer", group: "acme" },
  needsBefore: true,
  about: givesAccess,
  find: (facts) => {
    const lostChanges = facts.comparison.grants.filter(({ change }) => change === "lost");
    const lost = new GrantIndex(lostChanges.map(({ grant }) => grant));
    const findings: FindingInput[] = [];
    for (const { change, grant, before } of facts.comparison.grants) {
      // What was held there before, and means more now, comes in the place of nothing.
      if (change !== "gained" && (change !== "widened" || before?.group.key === grant.group.key)) continue;
      const same = (old: Grant): boolean =>
        old.subject.key === grant.subject.key &&
        old.role.key === grant.role.key &&
        old.group.key !== grant.group.key &&
        facts.isWithin(old.group.key, grant.group.key);
      const moved =
        before !== undefined && same(before) ? before : lost.ofSubject(grant.subject.key).find(same);
      // A grant that stays below may go in a later change: together they are a move.
      const from = moved ?? facts.grantsBefore(grant.subject.key).find(same);
      if (from === undefined) continue;
      const reached = facts.newlyReachedGroups(grant.group.key, from.group.key);
      findings.push(
        facts.aboutGrant(grant, {
          severity: grant.group.isRoot ? "high" : "medium",
          field: "parentUid",
          message: `${subjectName(grant)} has ${roleName(grant)} on ${grant.group.path} ${moved === undefined ? "besides" : "instead of"} ${from.group.path}, and reaches ${plural(reached.length, "more group")}`,
          details: limitLines(reached.map(({ path }) => path).sort()),
          advice: `${moved === undefined ? `remove the one on ${grant.group.path}` : `keep the binding on ${from.group.path}`}, and add one for each further group that needs it`,
        }),
      );
    }
    return findings;
  },
};
