import type { Difference, FieldChange } from "../../report";
import type { Finding, Severity } from "../../../review/finding";
import type { Grant, Scope } from "../../../graph/grant";
import { plainIndented } from "../escape";
import type { RenderOptions } from "../options";
import { answersTo, locationOf, placeOf, plural, ruleOf } from "../words";
import { attributes, joinLines, markup } from "./markup";
import type { Markup, Part } from "./markup";
import type { PageIndex } from "./pageIndex";

export const severityTag = (severity: Severity): Markup =>
  markup`<span class="tag ${severity}">${severity}</span>`;

/** What the filter of the page looks at, in a row or an entry. */
export function filterAttributes(
  index: PageIndex,
  grant: Grant | undefined,
  text: string,
  group?: Scope,
): Record<string, string | undefined> {
  if (grant === undefined) {
    return { "data-who": text, "data-groups": group === undefined ? undefined : index.chain(group.key) };
  }
  const { subject, role } = grant;
  return {
    "data-who": [subject.displayName, subject.name, subject.uid, text]
      .filter((part) => part !== undefined)
      .join(" "),
    "data-role": index.roles.get(role.key)?.id,
    "data-groups": index.chain(grant.group.key),
  };
}

export function fieldItems(fields: readonly FieldChange[]): Markup[] {
  const value = (text: string | undefined): Markup =>
    text === undefined ? markup`<span class="soft">not set</span>` : markup`<code>${text}</code>`;
  return fields.map(
    ({ path, before, after }) => markup`<li><code>${path}</code>: ${value(before)} → ${value(after)}</li>`,
  );
}

export function fold(summary: Part, body: Part): Markup {
  return markup`<details><summary>${summary}</summary>${body}</details>`;
}

function codeBlock(text: string): Markup {
  const lines = text.split(/\r?\n/).map(plainIndented);
  return markup`<pre tabindex="0"><code>${joinLines(lines)}</code></pre>`;
}

function facts(
  { counterexample, advice, suppression }: Finding,
  difference: Difference | undefined,
): Markup[] {
  const until = suppression?.expires === undefined ? "" : ` (until ${suppression.expires})`;
  const rows: readonly (readonly [string, Part])[] = [
    ["Accepts", counterexample === undefined ? undefined : markup`<code>${counterexample}</code>`],
    ["Fix", advice],
    ["When", difference?.at],
    ["Who", difference?.actor],
    ["Suppressed", suppression === undefined ? undefined : `${suppression.reason}${until}`],
  ];
  return rows.flatMap(([term, value]) =>
    value === undefined ? [] : [markup`<dt>${term}</dt><dd>${value}</dd>`],
  );
}

/** One finding, with the difference that it is about. */
export function findingItem(
  finding: Finding,
  difference: Difference | undefined,
  index: PageIndex,
  options: RenderOptions,
): Markup {
  const { suppression, severity, message, name, details } = finding;
  const place = placeOf(locationOf(finding), options.sourceRoot);
  const text = [name, message].filter((part) => part !== undefined).join(" ");
  const values = {
    "data-item": suppression === undefined ? "finding" : undefined,
    "data-severity": severity,
    ...filterAttributes(index, finding.grant, text, finding.group),
  };
  const rows = facts(finding, difference);
  const fields = fieldItems(difference?.fields ?? []);
  const lines = details.map((line) => markup`<li>${line}</li>`);
  return markup`<li${attributes(values)}><div>${severityTag(severity)}</div><div>${[
    markup`<h3>${message}</h3>`,
    markup`<p class="where"><span class="mono">${ruleOf(finding)}</span>${
      place === undefined ? undefined : markup` · <span class="mono">${place}</span>`
    }</p>`,
    rows.length === 0 ? undefined : markup`<dl>${rows}</dl>`,
    fields.length === 0 ? undefined : markup`<ul class="lines">${fields}</ul>`,
    lines.length === 0
      ? undefined
      : fold(`${plural(lines.length, "line")} of detail`, markup`<ul>${lines}</ul>`),
    suppression === undefined
      ? answersTo(difference).map((answer) => fold(answer.heading, codeBlock(answer.text)))
      : undefined,
  ]}</div></li>`;
}
