import { givesAccess } from "../graph/accessKinds";
import { describePlace, judgeAssertions, severityOfViolation } from "../assertions/judgeAssertions";
import type { Violation } from "../assertions/judgeAssertions";
import type { Assertions } from "../assertions/assertion";
import type { Facts } from "./facts";
import type { FindingInput, Rule } from "./rule";
import { isAssumable } from "./rule";
import { limitLines } from "../../text/plain";

/** What a comparison breaks of the assertions of the policy file; where the change has happened already, all that is broken. */
function* findViolations(facts: Facts, kind: keyof Assertions): Generator<FindingInput> {
  const { comparison, options } = facts;
  if (options.assertions === undefined) return;
  const { worse, standing } = judgeAssertions(comparison, options.assertions);
  const { drift, complete } = comparison;
  const own: readonly unknown[] = options.assertions[kind];
  const broken = drift === undefined ? [] : standing.filter(({ assertion }) => own.includes(assertion));
  for (const violation of [...worse[kind], ...broken]) {
    // Of a part of the organisation nobody can say that a group or a role is not there.
    const isKnown = drift === undefined || complete || violation.grant !== undefined;
    if (isKnown) yield toFinding(facts, violation);
  }
}

function toFinding(facts: Facts, violation: Violation): FindingInput {
  const { assertion, message, details, grant, group, entity: about, advice, pins, grants } = violation;
  const { name } = assertion;
  const text = {
    severity: severityOfViolation(violation),
    field: name,
    message: `${name}: ${message}`,
    details: limitLines([...details, describePlace(assertion)]),
    pins: [...pins],
    grants: grants && [grants],
    advice: advice ?? "change the program, or let whoever owns the policy file change the assertion first",
  };
  if (grant !== undefined) return facts.aboutGrant(grant, text);
  const entity = about ?? (group && facts.entity(group.key));
  if (entity !== undefined) return facts.aboutEntity(entity, text);
  return group === undefined ? text : { ...text, group: facts.scope(group.key) };
}

const shared = {
  severities: ["critical", "high", "medium", "low"],
  when: "as the assertion says; high where it says nothing. Not above medium where the trust of a required holder changes, or where no given stack records the role or group that it may mean. Not above high where no other is left",
  except:
    "Hardly ever: exclude whom it is not about with `not` in the assertion itself, where the next reader looks for it.",
  needsBefore: "object",
  about: (kind) => givesAccess(kind) || isAssumable(kind) || kind === "Group",
} as const satisfies Partial<Rule>;

export const forbiddenAccess: Rule = {
  ...shared,
  id: "P1",
  name: "forbidden-access",
  what: "Somebody gets access that the policy file forbids, by a grant, a wider role or trust, or a group that moves. Access above the named group reaches it and counts. A trust that is a pattern is excluded only where each subject that it accepts is. What nobody can judge counts. A review reports what the change makes worse, while it runs too, and counts what was there before; drift reports all. A new grant is worse also where the subject had the same already. It also reports an assertion whose group or role is not known. Where the change gives such access, a role that no given stack records is reported too. So is access at another group that may have been renamed. Both can be changed by hand while a change is reviewed. It reports a change that gives a holder, a group or a role another name by which the next one would be judged.",
  why: "Whoever owns the organisation has said that nobody may have it.",
  fix: "Take the access away from the program. Or let whoever owns the policy file change the assertion, in a change of its own.",
  find: (facts) => findViolations(facts, "forbid"),
};

export const requiredAccess: Rule = {
  ...shared,
  notInPolicyPack: "it counts who is left, and a pack does not see what an update deletes",
  id: "P2",
  name: "required-access",
  what: "Fewer or more than the policy file requires hold some access at a group, by grants there and above it. Who may not be meant counts for the most, and not for the least. A review reports what the change makes worse. A new grant to one of those who are too many is worse too. Without an inventory only holders that the program knows are counted.",
  why: "Nobody is left to act, or too many are.",
  fix: "Bind the next holder first, in a separate change. Or take access away from those who are too many.",
  find: (facts) => findViolations(facts, "require"),
};

export const separatedDuties: Rule = {
  ...shared,
  id: "P3",
  name: "separation-of-duties",
  what: "A subject holds one of each of the duties that the policy file separates, anywhere in the named groups or above them. Identities that may accept one principal count as one subject. A review reports what the change makes worse. A new grant is worse also where the subject had the same already.",
  why: "Nobody checks who may do both.",
  fix: "Give one of the duties to somebody else.",
  find: (facts) => findViolations(facts, "separate"),
};
