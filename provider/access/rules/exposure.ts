import { globMatches } from "../trust/glob";
import type { Entity } from "../graph/model";
import { fieldsWhere, textAtPath } from "./describedFields";
import { limitLines, labelOf, listFirst } from "./wording";
import type { Facts } from "./facts";
import type { FindingInput } from "./findingInput";
import type { Rule } from "./rule";
import { cannotBeJudged, findAssumed, findUnjudged, notReviewed } from "./unjudged";

const eventReceivers = fieldsWhere(({ receivesEvents }) => receivesEvents === true);

function hostOf(address: string | undefined): string | undefined {
  return address !== undefined && URL.canParse(address) ? new URL(address).host : undefined;
}

/** The hosts that a resource sends events to, each with the path of its field. */
function hostsOf({ kind, inputs }: Entity): { readonly path: string; readonly host: string }[] {
  return eventReceivers(kind).flatMap(({ path }) => {
    const host = hostOf(textAtPath(inputs, path));
    return host === undefined ? [] : [{ path, host }];
  });
}

function findNewHosts(facts: Facts): FindingInput[] {
  const before = [...facts.comparison.before.entities.values()];
  const known = new Set(before.flatMap(hostsOf).map(({ host }) => host));
  const isAllowed = (host: string): boolean =>
    known.has(host) || facts.options.sinkAllow.some((glob) => globMatches(glob, host));
  const writes = [...facts.writes((kind) => eventReceivers(kind).length > 0)];
  return writes.flatMap(({ after }) =>
    hostsOf(after)
      .filter(({ host }) => !isAllowed(host))
      .map(({ path, host }) =>
        facts.aboutEntity(after, {
          severity: "medium",
          field: path,
          message: `the events of ${facts.groupOf(after)?.path ?? "a group"} and everything below it go to a new host, ${host}`,
          advice: `see that ${host} is yours; then name it with --sink-allow`,
        }),
      ),
  );
}

const exposure: Rule = {
  id: "X1",
  name: "exposure",
  severities: ["medium"],
  when: "always",
  what: "A subscription delivers events to a host that no subscription delivered to before, and that `--sink-allow` does not name.",
  why: "Events tell who did what to which identity, role and repository, of the group and everything below it, as it happens.",
  fix: "Deliver to a host of your own, that verifies the signature of each event. Name it with `--sink-allow`.",
  except: "Better than an exception is `--sink-allow`.",
  exampleMatch: { group: "acme / security" },
  needsBefore: false,
  find: findNewHosts,
};

/** Values that are not known and decide nothing about access: X3 reports those that do. */
function unknownPaths({ unread = [] }: Entity): string[] {
  return unread.filter(({ decidesAccess }) => !decidesAccess).map(({ path }) => path);
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
          message: `${listFirst(paths, 3)} of ${labelOf(after)} is not known before the update`,
          advice: "apply in two steps, so that the preview knows the value",
        }),
      );
    }
    if (secretsMayHaveChanged.length > 0) {
      findings.push(
        facts.aboutEntity(after, {
          severity: "low",
          field: secretsMayHaveChanged.join(", "),
          message: `${secretsMayHaveChanged.join(", ")} of ${labelOf(after)} is secret before and after: whether it changes cannot be seen`,
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
    message: `${lines.length === 1 ? "one thing" : `${lines.length} things`} could not be resolved`,
    details: limitLines(lines),
    advice: "give --inventory and --before, so that they are known",
  };
}

const unresolved: Rule = {
  id: "X2",
  name: "unresolved",
  severities: ["high", "low"],
  when: "high with --strict; low else",
  what: "Something is assumed, or not known, that can be told: a reference that is not known yet is taken to be the id of the one resource that it depends on; a value that decides nothing is not known; or a secret may have changed without its being visible. What decides who may do what and cannot be judged is X3's affair.",
  why: "A preview cannot tell the id of a new resource from another value that the program makes of it.",
  fix: "Compare what the update has done with what was approved, and let the policy pack judge the update itself. Or make what others refer to in a change of its own.",
  except: "For a lookup that is never known in a preview.",
  exampleMatch: { role: "team-*" },
  needsBefore: false,
  driftAdvice: "run drift on an inventory of all kinds, with all stacks, so that they are known",
  find: (facts) => {
    const findings = [...findAssumed(facts), ...findUnknownValues(facts)];
    const lines = facts.comparison.unresolved;
    if (findings.length === 0 && lines.length > 0 && findUnjudged(facts).length === 0) {
      findings.push(reportUnresolvedLines(lines));
    }
    return facts.options.strict ? findings.map((finding) => ({ ...finding, severity: "high" })) : findings;
  },
};

export const exposureRules: readonly Rule[] = [exposure, unresolved, cannotBeJudged, notReviewed];
