import { isHighOrCritical } from "../../../review/finding";
import type { Severity } from "../../../review/finding";
import type { FieldChange } from "../../report";
import type { Advice, Entry, Remedy } from "../entries";
import { plainIndented } from "../escape";
import { fieldSides, formatRule, nameSubject } from "../words";
import { plural } from "../../../../text/plain";
import { changeTag, groupText, newText, oldText, roleText } from "./changes";
import type { PageContext } from "./context";
import { attributes, joinLines, markup } from "./markup";
import type { Markup, MarkupPart } from "./markup";
import { filterAttributes } from "./navigation";

/** Of the grants that a change explains; the table below the findings has all. */
const MOST_GRANTS = 20;
/** A longer list of details is closed at first. */
const MOST_DETAILS = 3;

/** The cards of a section: one for each entry, worst first. */
export function cardList(entries: readonly Entry[], context: PageContext): Markup {
  const anchors = new Set<string>();
  return markup`<ol class="cards">\n${joinLines(entries.map((entry) => card(entry, context, anchors)))}\n</ol>`;
}

function card(entry: Entry, context: PageContext, anchors: Set<string>): Markup {
  const { findings, about, grants, fields, message } = entry;
  const [first] = findings;
  const place = context.place(entry.location);
  const isAccepted = first.suppression !== undefined;
  const values = {
    "data-item": isAccepted ? undefined : "finding",
    "data-count": findings.length === 1 ? undefined : String(findings.length),
    "data-severity": first.severity,
    ...filterAttributes(context.index, {
      grants: [
        ...findings.flatMap(({ grant }) => (grant === undefined ? [] : [grant])),
        ...grants.map(({ grant }) => grant),
      ],
      groups: findings.flatMap(({ grant, group }) =>
        grant === undefined && group !== undefined ? [group] : [],
      ),
      texts: findings.flatMap((finding) => [finding.name, finding.message]),
    }),
  };
  const chips = ruleChips(entry, isAccepted ? undefined : anchors);
  return markup`<li class="card edge-${first.severity}"${attributes(values)}>${[
    markup`<div class="head">${severityTag(first.severity)}<ul class="chips" aria-label="Rules">${chips}</ul></div>`,
    markup`<h3>${message}</h3>`,
    markup`<p class="where">${about}${about !== "" && place !== undefined ? " · " : undefined}${place}</p>`,
    entry.accepted.length === 0
      ? undefined
      : markup`<p><span class="soft">Suppressed:</span> ${entry.accepted.join("; ")}</p>`,
    otherMessages(entry),
    fieldList(fields),
    affectedGrants(entry),
    cardBody(entry),
  ]}</li>`;
}

export const severityTag = (severity: Severity): Markup =>
  markup`<span class="tag ${severity}">${severity}</span>`;

/** The chips of the rules, each with the worst severity that it has here. The first of a rule is what a comment links to. */
function ruleChips({ rules }: Entry, anchors: Set<string> | undefined): Markup[] {
  return rules.map((finding) => {
    const isFirst = anchors !== undefined && !anchors.has(finding.id);
    anchors?.add(finding.id);
    const id = attributes({ id: isFirst ? `rule-${finding.id}` : undefined });
    return markup`<li${id}><span class="chip mono ${finding.severity}">${formatRule(finding)}</span></li>`;
  });
}

/** What the other findings of an entry say. */
function otherMessages({ others }: Entry): Markup | undefined {
  if (others.length === 0) return undefined;
  const items = others.map(
    ({ id, severity, message }) =>
      markup`<li>${severityTag(severity)} ${message} <span class="mono soft">${id}</span></li>`,
  );
  return markup`<ul class="also">${items}</ul>`;
}

/** Each property with its old value above its new one; of a set, what it gains and loses. */
export function fieldList(fields: readonly FieldChange[]): Markup | undefined {
  if (fields.length === 0) return undefined;
  const value = (text: string | undefined, write: (part: MarkupPart) => Markup): Markup =>
    text === undefined ? markup`<span class="soft">not set</span>` : write(markup`<code>${text}</code>`);
  const rows = fields.map((field) => {
    const { isSet, before, after } = fieldSides(field);
    const old = before.map((text) => markup`<dd>${isSet ? "− " : ""}${value(text, oldText)}</dd>`);
    const now = after.map((text) => markup`<dd>${isSet ? "+ " : ""}${value(text, newText)}</dd>`);
    return markup`<div><dt class="mono">${field.path}</dt>${isSet ? [now, old] : [old, now]}</div>`;
  });
  return markup`<dl class="fields">${rows}</dl>`;
}

/** The grants that a change of a role or of trust alters without touching them. */
function affectedGrants({ grants, change }: Entry): Markup | undefined {
  if (grants.length === 0) return undefined;
  // Of an identity the card names the holder; a role has many.
  const isOfRole = change?.kind === "Role";
  const lines = grants.slice(0, MOST_GRANTS).map((each) => {
    const holder = isOfRole ? markup`: ${nameSubject(each.grant).displayName}` : undefined;
    return markup`${changeTag(each.change)} <span class="mono">${roleText(each)}</span> at ${groupText(each)}${holder}`;
  });
  const items = [...new Map(lines.map((line) => [line.text, line])).values()].map(
    (line) => markup`<li>${line}</li>`,
  );
  const left = grants.length - Math.min(grants.length, MOST_GRANTS);
  const more =
    left === 0 ? undefined : markup`<li class="soft">and ${left.toLocaleString("en-US")} more</li>`;
  return markup`<p class="label">Affects ${plural(grants.length, "grant")}</p><ul class="plain">${items}${more}</ul>`;
}

/** Of a difference the commands come first: they are what a reader came for. */
function cardBody(entry: Entry): Markup | undefined {
  const [first] = entry.findings;
  const isOpen = isHighOrCritical(first.severity) && first.suppression === undefined;
  const isDrift = first.drift !== undefined;
  const remedies = entry.remedies.map((remedy, index) =>
    remedyFold(remedy, isDrift && isOpen && index === 0),
  );
  const explanation = [facts(entry), detailList(entry)];
  const parts = (isDrift ? [...remedies, ...explanation] : [...explanation, ...remedies]).filter(
    (part) => part !== undefined,
  );
  if (parts.length === 0) return undefined;
  return markup`<details class="body"${isOpen ? markup` open` : undefined}><summary>Reason and fix</summary>${parts}</details>`;
}

function remedyFold({ heading, text }: Remedy, isOpen: boolean): Markup {
  const lines = text.split(/\r?\n/).map(plainIndented);
  const block = markup`<div class="snippet"><pre tabindex="0"><code>${joinLines(lines)}</code></pre></div>`;
  return foldedMarkup(heading, block, isOpen);
}

function facts({ accepts, advice, when, who }: Entry): Markup | undefined {
  const [only] = advice.length === 1 ? advice : [];
  const rows: readonly (readonly [string, MarkupPart])[] = [
    ["Accepts", accepts.map((text) => markup`<div><code>${text}</code></div>`)],
    ...(only === undefined
      ? advice.map((each) => [each.id, adviceText(each)] as const)
      : ([
          ["Why", only.why === undefined ? undefined : ruleText(only.why)],
          ["Fix", only.fixes.map((text) => markup`<p>${text}</p>`)],
        ] as const)),
    ["When", when],
    ["Who", who],
  ];
  const present = rows.filter(
    ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
  );
  if (present.length === 0) return undefined;
  return markup`<dl class="facts">${present.map(([term, value]) => markup`<dt>${term}</dt><dd>${value}</dd>`)}</dl>`;
}

/** Of several rules each with its reason and its fix, so that nobody takes one rule's fix for another's. */
function adviceText({ why, fixes }: Advice): MarkupPart {
  return [
    why === undefined ? undefined : markup`<p>${ruleText(why)}</p>`,
    ...fixes.map((text) => markup`<p><span class="soft">Fix:</span> ${text}</p>`),
  ];
}

/** Text of a rule, whose backticks quote code. */
const ruleText = (text: string): Markup[] =>
  text.split("`").map((part, index) => (index % 2 === 1 ? markup`<code>${part}</code>` : markup`${part}`));

function detailList({ details }: Entry): Markup | undefined {
  if (details.length === 0) return undefined;
  const list = markup`<ul>${details.map((line) => markup`<li>${line}</li>`)}</ul>`;
  return details.length <= MOST_DETAILS
    ? list
    : foldedMarkup(`${plural(details.length, "line")} of detail`, list);
}

export function foldedMarkup(summary: MarkupPart, body: MarkupPart, isOpen = false): Markup {
  return markup`<details${isOpen ? markup` open` : undefined}><summary>${summary}</summary>${body}</details>`;
}
