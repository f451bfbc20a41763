import { isHighOrCritical } from "../../../review/finding";
import type { Finding, Severity } from "../../../review/finding";
import { findRule } from "../../../rules";
import type { Cause } from "../causes";
import { plainIndented } from "../escape";
import { listRemedies, findLocation, plural, formatRule } from "../words";
import { changeTag, fieldList, groupText, roleText } from "./changes";
import type { PageContext } from "./context";
import { filterAttributes } from "./filters";
import { attributes, joinLines, markup } from "./markup";
import type { Markup, Part } from "./markup";

/** Of the grants that a change explains; the table below the findings has all. */
const MOST_GRANTS = 20;

export const severityTag = (severity: Severity): Markup =>
  markup`<span class="tag ${severity}">${severity}</span>`;

export function fold(summary: Part, body: Part): Markup {
  return markup`<details><summary>${summary}</summary>${body}</details>`;
}

/** Code to copy; the script of the page adds the button. */
function codeBlock(text: string): Markup {
  const lines = text.split(/\r?\n/).map(plainIndented);
  return markup`<div class="snippet"><pre tabindex="0"><code>${joinLines(lines)}</code></pre></div>`;
}

const unique = (texts: readonly (string | undefined)[]): string[] => [
  ...new Set(texts.filter((text) => text !== undefined)),
];

const paragraphs = (texts: readonly string[]): Part =>
  texts.length === 1 ? texts[0] : texts.map((text) => markup`<p>${text}</p>`);

function suppressionText({ suppression }: Finding): string | undefined {
  if (suppression === undefined) return undefined;
  const { reason, expires } = suppression;
  return expires === undefined ? reason : `${reason} (until ${expires})`;
}

/** Text of a rule, whose backticks quote code. */
const ruleText = (text: string): Markup[] =>
  text.split("`").map((part, index) => (index % 2 === 1 ? markup`<code>${part}</code>` : markup`${part}`));

/** Why the rules of a cause matter. */
function reasons(findings: readonly Finding[]): Part {
  const rules = [...new Set(findings.map(({ id }) => id))].map(findRule).filter((rule) => rule !== undefined);
  const isOne = rules.length === 1;
  return rules.map(({ id, why }) =>
    isOne ? markup`${ruleText(why)}` : markup`<p><span class="mono soft">${id}</span> ${ruleText(why)}</p>`,
  );
}

function facts({ findings, difference }: Cause): Markup | undefined {
  const accepted = unique(findings.map(({ counterexample }) => counterexample));
  const why = reasons(findings);
  const rows: readonly (readonly [string, Part])[] = [
    ["Accepts", accepted.map((text) => markup`<div><code>${text}</code></div>`)],
    ["Why", why],
    ["Fix", paragraphs(unique(findings.map(({ advice }) => advice)))],
    ["When", difference?.at],
    ["Who", difference?.actor],
  ];
  const present = rows.filter(
    ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
  );
  if (present.length === 0) return undefined;
  return markup`<dl class="facts">${present.map(([term, value]) => markup`<dt>${term}</dt><dd>${value}</dd>`)}</dl>`;
}

/** The grants that a change of a role or of trust alters without touching them. */
function affectedGrants({ grants }: Cause): Markup | undefined {
  if (grants.length === 0) return undefined;
  const items = grants
    .slice(0, MOST_GRANTS)
    .map(
      (change) =>
        markup`<li>${changeTag(change.change)} <span class="mono">${roleText(change)}</span> at ${groupText(change)}</li>`,
    );
  const left = grants.length - items.length;
  const more =
    left === 0 ? undefined : markup`<li class="soft">and ${left.toLocaleString("en-US")} more</li>`;
  return markup`<p class="label">Affects ${plural(grants.length, "grant")}</p><ul class="plain">${items}${more}</ul>`;
}

function detailLines({ findings }: Cause): Markup | undefined {
  const lines = unique(findings.flatMap(({ details }) => details));
  if (lines.length === 0) return undefined;
  const list = markup`<ul>${lines.map((line) => markup`<li>${line}</li>`)}</ul>`;
  return lines.length <= 3 ? list : fold(`${plural(lines.length, "line")} of detail`, list);
}

/** Snippets that settle a cause: what each does, and the text to copy. */
function snippets({ findings, difference }: Cause): Markup[] {
  if (findings[0].suppression !== undefined) return [];
  const answers = listRemedies(difference).map(({ heading, text }) => fold(heading, codeBlock(text)));
  const entries = unique(findings.map(({ policyEntry }) => policyEntry));
  if (entries.length === 0 || difference?.answers.suppress !== undefined) return answers;
  return [...answers, fold("Suppress it in the policy file", codeBlock(entries.join("\n")))];
}

/** The chips of the rules, each with the worst severity that it has here. */
function ruleChips(findings: readonly Finding[]): Markup[] {
  const rules = new Map<string, Finding>();
  for (const finding of findings)
    if (!rules.has(formatRule(finding))) rules.set(formatRule(finding), finding);
  return [...rules].map(
    ([rule, { severity }]) => markup`<li><span class="chip mono ${severity}">${rule}</span></li>`,
  );
}

/** What the other findings of a cause say. */
function otherMessages([first, ...others]: Cause["findings"]): Markup | undefined {
  const shown = others.filter(({ message }) => message !== first.message);
  if (shown.length === 0) return undefined;
  const items = shown.map(
    ({ id, severity, message }) =>
      markup`<li>${severityTag(severity)} ${message} <span class="mono soft">${id}</span></li>`,
  );
  return markup`<ul class="also">${items}</ul>`;
}

function causeDetails(cause: Cause): Markup | undefined {
  const parts = [facts(cause), detailLines(cause), ...snippets(cause)].filter((part) => part !== undefined);
  if (parts.length === 0) return undefined;
  const isOpen = isHighOrCritical(cause.findings[0].severity) && cause.findings[0].suppression === undefined;
  return markup`<details class="body"${isOpen ? markup` open` : undefined}><summary>Reason and fix</summary>${parts}</details>`;
}

/** Why the findings of a cause are accepted. */
function acceptance({ findings }: Cause): Markup | undefined {
  const texts = unique(findings.map(suppressionText));
  return texts.length === 0
    ? undefined
    : markup`<p><span class="soft">Suppressed:</span> ${texts.join("; ")}</p>`;
}

/** One card: what a change leads to, worst first. */
export function causeCard(cause: Cause, context: PageContext): Markup {
  const { findings, change, difference } = cause;
  const [first] = findings;
  const place = context.place(change?.location ?? findLocation(first));
  const resource = change ?? { kind: first.kind, name: first.name ?? first.grant?.subject.name };
  const about = [resource.kind, resource.name].filter((part) => part !== undefined).join(" ");
  const values = {
    "data-item": first.suppression === undefined ? "finding" : undefined,
    "data-count": findings.length === 1 ? undefined : String(findings.length),
    "data-severity": first.severity,
    ...filterAttributes(context.index, {
      grants: [
        ...findings.flatMap(({ grant }) => (grant === undefined ? [] : [grant])),
        ...cause.grants.map(({ grant }) => grant),
      ],
      groups: findings.flatMap(({ grant, group }) =>
        grant === undefined && group !== undefined ? [group] : [],
      ),
      texts: findings.flatMap(({ name, message }) => [name, message]),
    }),
  };
  return markup`<li class="card edge-${first.severity}"${attributes(values)}>${[
    markup`<div class="head">${severityTag(first.severity)}<ul class="chips" aria-label="Rules">${ruleChips(findings)}</ul></div>`,
    markup`<h3>${first.message}</h3>`,
    markup`<p class="where">${about}${about !== "" && place !== undefined ? " · " : undefined}${place}</p>`,
    acceptance(cause),
    otherMessages(findings),
    fieldList(change?.fields ?? difference?.fields ?? []),
    affectedGrants(cause),
    causeDetails(cause),
  ]}</li>`;
}
