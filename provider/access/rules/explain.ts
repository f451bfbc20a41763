import { wrapped } from "../../text/plain";
import { isHighOrCritical } from "../review/finding";
import { whyNotInPolicyPack } from "./rule";
import type { Rule } from "./rule";

/** A value of YAML that means the same with and without quotes is written without. */
const yaml = (text: string): string => (/^[A-Za-z0-9][\w .-]*$/.test(text) ? text : JSON.stringify(text));

function exampleOf(rule: Rule): string {
  const isSevere = rule.severities.some(isHighOrCritical);
  const match = Object.entries(rule.exampleMatch ?? {}).map(([key, value]) => `      ${key}: ${yaml(value)}`);
  return [
    "allow:",
    `  - rule: ${rule.id}`,
    ...(match.length === 0 ? [] : ["    match:", ...match]),
    ...(rule.exampleFields === undefined ? [] : [`    fields: [${rule.exampleFields.join(", ")}]`]),
    ...(isSevere || match.length === 0
      ? ["    fingerprint: 0123456789abcdef0123456789abcdef # that of the finding"]
      : []),
    // An entry for both commands is never called unused.
    "    for: [review]",
    "    reason: why this is acceptable, and who agreed",
    ...(isSevere ? ["    expires: 2027-01-31"] : []),
  ].join("\n");
}

/** Collects what `explain` prints about a rule. */
export function explainRule(rule: Rule) {
  const { id, name, severities, when, what, why, fix, except } = rule;
  return {
    id,
    name,
    severities,
    when: when === "always" ? severities.join(", ") : when,
    what,
    why,
    fix,
    except,
    example: exampleOf(rule),
    inPolicyPack: whyNotInPolicyPack(rule) === undefined,
  };
}

/** For a terminal, 80 columns wide. */
export function explainAsText(rule: Rule): string {
  const { id, name, when, what, why, fix, except, example } = explainRule(rule);
  const section = (title: string, text: string): string => `${title}\n${wrapped(text, "  ")}`;
  return [
    `${id}  ${name}`,
    section("Severity", when),
    section("What it finds", what),
    section("Why it matters", why),
    section("How to fix it", fix),
    section("When to suppress it", except),
    `In access-policy.yaml\n${example.replace(/^/gm, "  ")}`,
  ].join("\n\n");
}

export function explainAsMarkdown(rule: Rule): string {
  const { id, name, when, what, why, fix, except, example } = explainRule(rule);
  const missing = whyNotInPolicyPack(rule);
  return [
    `## ${id} ${name}`,
    wrapped(
      `**Severity:** ${when}.${missing === undefined ? "" : ` Not in the policy pack: ${missing}.`}`,
      "",
      110,
    ),
    wrapped(what, "", 110),
    wrapped(`**Why.** ${why}`, "", 110),
    wrapped(`**Fix.** ${fix}`, "", 110),
    wrapped(`**Suppress.** ${except}`, "", 110),
    `\`\`\`yaml\n${example}\n\`\`\``,
  ].join("\n\n");
}

/** The rules, a line each. */
export function listAsText(rules: readonly Rule[]): string {
  const idWidth = Math.max(...rules.map(({ id }) => id.length));
  const width = Math.max(...rules.map(({ name }) => name.length));
  return rules
    .map(
      ({ id, name, severities }) => `${id.padEnd(idWidth)}  ${name.padEnd(width)}  ${severities.join(", ")}`,
    )
    .join("\n");
}

export function listAsMarkdown(rules: readonly Rule[]): string {
  const rows = rules
    .map(explainRule)
    .map(({ id, name, when }) => `| [${id}](#${id.toLowerCase()}-${name}) | ${name} | ${when} |`);
  return ["| Rule | Name | Severity |", "| --- | --- | --- |", ...rows].join("\n");
}
