import { isName } from "../graph/fieldAccess";
import type { Entity } from "../graph/model";
import { limitLines, labelEntity, listFirst } from "./wording";
import { plural } from "../../text/plain";
import { exposure } from "./eventDeliveries";
import type { Facts } from "./facts";
import type { FindingInput } from "./findingInput";
import { everyKind } from "./kindConditions";
import { recordedState } from "./recordedState";
import { lookalike } from "./lookalikes";
import type { Rule } from "./rule";
import { cannotBeJudged, findAssumed, findUnjudged, notReviewed } from "./unjudged";

/** Values that are not known and decide nothing about access: X3 reports those that do, and names. */
function unknownPaths({ unread = [] }: Entity): string[] {
  return unread.filter(({ path, decidesAccess }) => !decidesAccess && !isName(path)).map(({ path }) => path);
}

function findUnknownValues(facts: Facts): FindingInput[] {
  return facts.comparison.changes.flatMap(({ op, after, secretsMayHaveChanged }) => {
    if (after === undefined || op === "read" || op === "same") return [];
    const paths = unknownPaths(after);
    const findings: FindingInput[] = [];
    if (paths.length > 0) {
      findings.push(
        facts.aboutEntity(after, {
          severity: "low",
          field: listFirst(paths, 3),
          message: `${listFirst(paths, 3)} of ${labelEntity(after)} is not known before the update`,
          advice: "apply in two steps, so that the preview knows the value",
        }),
      );
    }
    if (secretsMayHaveChanged.length > 0) {
      findings.push(
        facts.aboutEntity(after, {
          severity: "low",
          field: secretsMayHaveChanged.join(", "),
          message: `${secretsMayHaveChanged.join(", ")} of ${labelEntity(after)} is a secret before and after, so a change of it cannot be seen`,
          advice: "ask the author whether the secret changes",
        }),
      );
    }
    return findings;
  });
}

function reportUnresolvedLines(lines: readonly string[]): FindingInput {
  return {
    severity: "low",
    name: "unresolved",
    field: "unresolved",
    message: `${plural(lines.length, "input")} could not be resolved`,
    details: limitLines(lines),
    pins: [...lines],
    advice: "give --inventory and --before, which contain them",
  };
}

const unresolved: Rule = {
  id: "X2",
  name: "unresolved",
  severities: ["high", "low"],
  when: "high with --strict; otherwise low",
  what: "A reference has no value yet, and is assumed to be the id of the one resource that it depends on. Or a value that does not decide access is unknown, or a secret may have changed. X3 reports names, and the values that decide access.",
  why: "A preview does not show whether a value is the id of a new resource or another value that the program computes.",
  fix: "Compare the result of the update with the approved report (`verify`), and let the policy pack check the update itself. Or create what others refer to in a separate change.",
  except: "For a lookup whose result is never known in a preview.",
  exampleMatch: { group: "acme / ci*" },
  needsBefore: false,
  driftAdvice: "run drift with an inventory of all kinds and with all stacks",
  about: everyKind,
  find: (facts) => {
    const findings = [...findAssumed(facts), ...findUnknownValues(facts)];
    const lines = facts.comparison.unresolved;
    if (findings.length === 0 && lines.length > 0 && findUnjudged(facts).length === 0) {
      findings.push(reportUnresolvedLines(lines));
    }
    return facts.options.strict ? findings.map((finding) => ({ ...finding, severity: "high" })) : findings;
  },
};

export const exposureRules: readonly Rule[] = [
  exposure,
  unresolved,
  cannotBeJudged,
  notReviewed,
  recordedState,
  lookalike,
];
