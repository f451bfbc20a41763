import { capabilitiesOf } from "../graph/roleCapabilities";
import { isTakeover, isDelegation, isSupplyChain } from "./capabilities";
import { GrantIndex } from "../graph/grantIndex";
import type { Entity } from "../graph/model";
import { severities } from "../review/finding";
import type { Severity } from "../review/finding";
import type { Grant } from "../graph/grant";
import { labelOf, listFirst, plural, limitLines } from "./wording";
import type { Facts } from "./facts";
import type { FindingInput } from "./findingInput";
import type { Rule } from "./rule";
import { scopeText, subjectName, roleName } from "./grantText";

/** The severity of capabilities that a subject gains through its role, and what they are. */
function assessGain(
  facts: Facts,
  grant: Grant,
  before: Entity,
  added: readonly string[],
): [Severity, string] {
  const { isRoot } = grant.group;
  const role = { key: before.key, builtIn: false, capabilities: capabilitiesOf(before) ?? [] };
  if (facts.roles.isOwner(grant.role) && !facts.roles.isOwner(role)) {
    return [isRoot || grant.subject.matchesMany ? "critical" : "high", "it is now as good as owner"];
  }
  if (added.some(isTakeover)) return ["high", "it can now take over what others hold"];
  if (added.some(isDelegation)) return ["medium", "it can now pass on what it holds"];
  if (added.some(isSupplyChain)) {
    return [grant.subject.matchesMany ? "high" : "medium", "it can now change what others pull"];
  }
  return ["low", ""];
}

export const roleWidened: Rule = {
  id: "G4",
  name: "role-widened",
  severities: ["critical", "high", "medium", "low"],
  when: "as the added capabilities would have by G1, G2, G3 and G6; low for others",
  what: "A role that is bound already gains capabilities. Every identity that holds it is listed with the group, whether this program manages it or not (an inventory shows all of them). A role that nobody holds is not reported, nor one that only loses capabilities.",
  why: "One line in a role changes what everybody who holds it may do, everywhere it is bound, and none of these bindings is in the diff.",
  fix: "Make a second role with the added capabilities, and bind it to those who need them. Or take the writing capabilities out again.",
  except: "When the list of those who hold the role was read and all of them are meant.",
  exampleMatch: { role: "developer" },
  needsBefore: true,
  find: (facts) => {
    const findings: FindingInput[] = [];
    for (const { op, before, after } of facts.writes((kind) => kind === "Role")) {
      if (op === "create" || before === undefined) continue;
      const old = new Set(capabilitiesOf(before));
      const added = (capabilitiesOf(after) ?? []).filter((capability) => !old.has(capability));
      if (added.length === 0 || capabilitiesOf(before) === undefined) continue;
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
          message: `${labelOf(after)} gains ${listFirst(added, 3)} for ${plural(subjects, "holder")} in ${plural(groups, "group")}${consequence === undefined ? "" : `: ${consequence}`}`,
          details: limitLines([
            ...(added.length > 3 ? [`added: ${listFirst(added, 20)}`] : []),
            ...[...new Set(grants.map((grant) => `${grant.subject.displayName} ${scopeText(grant)}`))].sort(),
          ]),
          advice: "make a role of its own for the added capabilities, and bind it to those who need them",
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
  when: "high where it reaches a root group; medium else",
  what: "A subject that holds a role on a group now holds the same role on a group above it, instead. The groups that are newly reached are listed. A move down or sideways is not reported here.",
  why: "A binding applies to everything below its group, and to what is created there later. One level up is often every other team.",
  fix: "Keep the binding where it was, and add one for each further group that needs it.",
  except: "When the subject is meant for all groups below, as a central team is.",
  exampleMatch: { subject: "sre*", role: "viewer", group: "acme" },
  needsBefore: true,
  find: (facts) => {
    const gone = facts.comparison.grants.filter(({ change }) => change === "lost");
    const lost = new GrantIndex(gone.map(({ grant }) => grant));
    const findings: FindingInput[] = [];
    for (const { change, grant, before } of facts.comparison.grants) {
      // What was held there before, and means more now, comes in the place of nothing.
      if (change !== "gained" && (change !== "widened" || before?.group.key === grant.group.key)) continue;
      const same = (old: Grant): boolean =>
        old.subject.key === grant.subject.key &&
        old.role.key === grant.role.key &&
        old.group.key !== grant.group.key &&
        facts.isWithin(old.group.key, grant.group.key);
      const from =
        before !== undefined && same(before) ? before : lost.ofSubject(grant.subject.key).find(same);
      if (from === undefined) continue;
      const reached = facts.newlyReachedGroups(grant.group.key, from.group.key);
      findings.push(
        facts.aboutGrant(grant, {
          severity: grant.group.isRoot ? "high" : "medium",
          field: "parentUid",
          message: `${subjectName(grant)} holds ${roleName(grant)} on ${grant.group.path} instead of ${from.group.path}: ${plural(reached.length, "more group")} reached`,
          details: limitLines(reached.map(({ path }) => path).sort()),
          advice: `keep it on ${from.group.path}, and add a binding for each further group that needs it`,
        }),
      );
    }
    return findings;
  },
};
