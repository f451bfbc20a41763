import { groupBy } from "../../fields/values";
import { visible } from "../../text/printable";
import type { Comparison } from "../review/compare";
import { sortFindings } from "../review/finding";
import { tupleOf } from "../graph/grant";
import type { Finding } from "../review/finding";
import { forbiddenAccess, requiredAccess, separatedDuties } from "./assertionRules";
import { dangerRules } from "./dangerRules";
import { exposureRules } from "./exposureRules";
import { Facts } from "./facts";
import { FindingValues } from "./findingValue";
import { grantRules } from "./grantRules";
import { keyRules } from "./keyRules";
import { recordedState, reportKept } from "./recordedState";
import { registryRules } from "./registryRules";
import { changedSetting, newMatch, newRoot, repeatedGrant } from "./settingRules";
import type { FindingInput, Rule } from "./rule";
import type { RuleOptions } from "./ruleOptions";
import { trustChanged } from "./changedTrust";
import { newOutsider } from "./newOutsider";
import { anySubject, pullRequestRef, sharedIssuer } from "./subjectTrust";
import { fingerprintOf } from "../documents/digest";
import { anyIssuer, looseMatch } from "./tokenTrust";

const trustRules: readonly Rule[] = [
  anySubject,
  anyIssuer,
  sharedIssuer,
  pullRequestRef,
  trustChanged,
  looseMatch,
  newOutsider,
];

export { defaultRuleOptions } from "./ruleOptions";
export type { Rule } from "./rule";
export type { RuleOptions } from "./ruleOptions";

/** All rules, in the order of `explain` and of docs/rules.md. */
export const rules: readonly Rule[] = [
  ...grantRules,
  ...trustRules,
  ...keyRules,
  ...dangerRules,
  ...registryRules,
  ...exposureRules,
  newRoot,
  repeatedGrant,
  newMatch,
  forbiddenAccess,
  requiredAccess,
  separatedDuties,
  // The last one: it reports what no other rule does.
  changedSetting,
];

/** The rule of an id or a name, in any case; undefined where there is none. */
export function findRule(idOrName: string, among: readonly Rule[] = rules): Rule | undefined {
  const wanted = idOrName.toLowerCase();
  return among.find(({ id, name }) => id.toLowerCase() === wanted || name === wanted);
}

// Some long names and what is found of them.
const LONGEST_LINE = 800;

/**
 * Names a finding by what it is about and by the value that was found, not by its line or its run. So whoever accepts a
 * fingerprint accepts no later value.
 * @returns 32 hex digits.
 */
function fingerprintFinding(id: string, finding: FindingInput, values: FindingValues): string {
  const { grant, kind = "", field = "", severity, group } = finding;
  const what = [
    id,
    severity,
    grant === undefined ? kind : "",
    values.subjectOf(finding),
    values.placeOf(grant?.role.key),
    values.placeOf((grant?.group ?? group)?.key),
    field,
  ];
  return fingerprintOf([what, values.of(finding)]);
}

function finalize(rule: Rule, finding: FindingInput, { drift }: Comparison, values: FindingValues): Finding {
  const { details = [], ...rest } = finding;
  delete rest.pins;
  delete rest.grants;
  const advice = drift === undefined ? finding.advice : (rule.driftAdvice ?? finding.advice);
  return {
    id: rule.id,
    rule: rule.name,
    ...rest,
    message: visible(finding.message, LONGEST_LINE),
    details: details.map((line) => visible(line, LONGEST_LINE)),
    advice: visible(advice, LONGEST_LINE),
    ...(finding.counterexample === undefined
      ? {}
      : { counterexample: visible(finding.counterexample, LONGEST_LINE) }),
    fingerprint: fingerprintFinding(rule.id, finding, values),
  };
}

/** Whether a rule can judge a comparison at all. */
function applies({ beforeUpdate, needsWhole }: Rule, { drift, complete }: Comparison): boolean {
  return drift === undefined || (beforeUpdate !== true && (needsWhole !== true || complete));
}

/** Gives findings of other words other fingerprints: whoever accepts one of them accepts no other. */
function separateFingerprints(found: readonly Finding[]): Finding[] {
  const alike = groupBy(found, ({ fingerprint }) => [fingerprint]);
  const shared = new Set(
    [...alike].flatMap(([key, all]) => (new Set(all.map(({ message }) => message)).size > 1 ? [key] : [])),
  );
  return found.map((finding) => {
    const { fingerprint, message, details } = finding;
    return shared.has(fingerprint)
      ? { ...finding, fingerprint: fingerprintOf([fingerprint, message, ...details]) }
      : finding;
  });
}

function findAll(comparison: Comparison, facts: Facts, only: readonly Rule[]): Finding[] {
  const applicable = only.filter((rule) => applies(rule, comparison));
  const drifted = new Set(comparison.changes.map(({ before, after }) => (after ?? before)?.uid));
  const concerns = ({ judgesUnchanged }: Rule, { uid }: FindingInput): boolean =>
    comparison.drift === undefined || judgesUnchanged !== true || drifted.has(uid);
  const values = new FindingValues(comparison);
  const found: Finding[] = [];
  for (const rule of applicable) {
    const own = [...rule.find(facts, found)].filter((each) => concerns(rule, each));
    found.push(...own.map((finding) => finalize(rule, finding, comparison, values)));
  }
  return separateFingerprints(found);
}

/** What the rules would say of what was made by hand, had the change made it. */
function findKept(
  comparison: Comparison,
  facts: Facts,
  options: RuleOptions,
  found: readonly Finding[],
  asked: readonly Rule[],
): Finding[] {
  const { asRecorded } = comparison;
  if (asRecorded === undefined) return [];
  // Another name of what somebody renamed by hand is no other finding; whom it means is one.
  const subjectOf = ({ id, severity, urn, field, grant, trust }: Finding): string =>
    JSON.stringify([id, severity, urn, field, grant && tupleOf(grant), trust]);
  const said = new Set(found.flatMap((each) => [each.fingerprint, subjectOf(each)]));
  const all = findAll(asRecorded.comparison, new Facts(asRecorded.comparison, options), asked);
  const unsaid = all.filter(
    (each) =>
      each.id !== recordedState.id &&
      !said.has(each.fingerprint) &&
      (each.urn === undefined || !said.has(subjectOf(each))),
  );
  const values = new FindingValues(comparison);
  return separateFingerprints(
    Array.from(reportKept(facts, asRecorded, unsaid), (finding) =>
      finalize(recordedState, finding, comparison, values),
    ),
  );
}

/**
 * What is dangerous about a change of access.
 * @param only The rules to ask; all built-in ones if not given.
 * @returns The findings, worst first. Suppressions are applied later: see applyPolicy.ts.
 */
export function findingsOf(
  comparison: Comparison,
  options: RuleOptions,
  only: readonly Rule[] = rules,
): Finding[] {
  const facts = new Facts(comparison, options);
  const found = findAll(comparison, facts, only);
  // What was done by hand is judged by all rules, whichever are asked.
  const all = [...new Set([...rules, ...only])];
  const foundByAll = () => (all.length === only.length ? found : findAll(comparison, facts, all));
  const kept = only.includes(recordedState) ? findKept(comparison, facts, options, foundByAll(), all) : [];
  return sortFindings([...found, ...kept]);
}
