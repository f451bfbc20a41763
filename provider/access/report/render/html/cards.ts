import { capitalize } from "../../../../fields/values";
import { plural } from "../../../../text/plain";
import type { FieldChange } from "../../report";
import { isUrgent } from "../entries";
import type { Block, Entry, GrantLine, Labelled } from "../entries";
import { plainIndented } from "../escape";
import { fieldSides, formatRule } from "../words";
import { changeTag, foldMarkup, newText, oldText, roleAndGroup, severityTag } from "./context";
import type { PageContext } from "./context";
import { attributes, joinLines, markup } from "./markup";
import type { Markup, MarkupPart } from "./markup";
import { filterAttributes } from "./navigation";

/** A longer list of details is closed at first. */
const MOST_DETAILS = 3;

/** The cards of a section: one for each entry, worst first. */
export function cardList(entries: readonly Entry[], context: PageContext): Markup {
  const anchors = new Set<string>();
  return markup`<ol class="cards">\n${joinLines(entries.map((entry) => card(entry, context, anchors)))}\n</ol>`;
}

function card(entry: Entry, context: PageContext, anchors: Set<string>): Markup {
  const { findings, severity, about, grants, message, isAccepted } = entry;
  const place = context.place(entry.location);
  const values = {
    "data-item": isAccepted || severity === undefined ? undefined : "finding",
    "data-count": findings.length <= 1 ? undefined : String(findings.length),
    "data-severity": severity,
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
  const edge = severity === undefined ? "" : ` edge-${severity}`;
  return markup`<li class="card${edge}"${attributes(values)}>${[
    severity === undefined
      ? undefined
      : markup`<div class="head">${severityTag(severity)}<ul class="chips" aria-label="Rules">${ruleChips(entry, anchors)}</ul></div>`,
    markup`<h3>${message}</h3>`,
    markup`<p class="where">${about}${about !== "" && place !== undefined ? " · " : undefined}${place}</p>`,
    ...entry.facts.map((block) => printBlock(block)),
    answersOf(entry),
  ]}</li>`;
}

/** The chips of the rules, each with the worst severity that it has here. The first of a rule is what a comment links to. */
function ruleChips({ rules, isAccepted }: Entry, anchors: Set<string>): Markup[] {
  return rules.map((finding) => {
    const isFirst = !isAccepted && !anchors.has(finding.id);
    if (isFirst) anchors.add(finding.id);
    const id = attributes({ id: isFirst ? `rule-${finding.id}` : undefined });
    return markup`<li${id}><span class="chip mono ${finding.severity}">${formatRule(finding)}</span></li>`;
  });
}

/** Of a difference that is urgent, the first command is shown at once. */
function answersOf(entry: Entry): Markup | undefined {
  if (entry.answers.length === 0) return undefined;
  const isOpen = isUrgent(entry);
  const parts = entry.answers.map((block, index) => printBlock(block, isOpen && index === 0));
  return markup`<details class="body"${isOpen ? markup` open` : undefined}><summary>Reason and fix</summary>${parts}</details>`;
}

function printBlock(block: Block, isOpen = false): Markup {
  switch (block.kind) {
    case "labelled":
      return labelledRows(block.items);
    case "findings": {
      const items = block.items.map(
        ({ finding: { id, severity, message }, answers }) =>
          markup`<li>${severityTag(severity)} ${message} <span class="mono soft">${id}</span>${
            answers.length === 0
              ? undefined
              : foldMarkup(
                  `Reason and fix of ${id}`,
                  answers.map((block) => printBlock(block)),
                )
          }</li>`,
      );
      return markup`<ul class="also">${items}</ul>`;
    }
    case "fields":
      return fieldList(block.items);
    case "holders": {
      const items = block.items.map(
        ({ name, grants }) =>
          markup`<li>${name === undefined ? undefined : `${name}: `}${grants.map((line, index) => markup`${index === 0 ? undefined : ", "}${affectedGrant(line)}`)}</li>`,
      );
      return markup`<p class="label">${block.heading}</p><ul class="plain">${items}</ul>`;
    }
    case "lines": {
      const list = markup`<ul>${block.items.map((line) => markup`<li>${line}</li>`)}</ul>`;
      return block.items.length <= MOST_DETAILS
        ? list
        : foldMarkup(`${plural(block.items.length, "line")} of detail`, list);
    }
    case "code": {
      const lines = block.text.split(/\r?\n/).map(plainIndented);
      const code = markup`<div class="snippet"><pre tabindex="0"><code>${joinLines(lines)}</code></pre></div>`;
      return foldMarkup(block.heading, code, isOpen);
    }
  }
}

const affectedGrant = (line: GrantLine): Markup => markup`${changeTag(line.change)} ${roleAndGroup(line)}`;

function labelledRows(rows: readonly Labelled[]): Markup {
  const write = ({ label, texts }: Labelled): MarkupPart =>
    texts.map((text) =>
      label === "accepts"
        ? markup`<div><code>${text}</code></div>`
        : markup`<p>${label === "why" ? ruleText(text) : text}</p>`,
    );
  return markup`<dl class="facts">${rows.map((row) => markup`<dt>${capitalize(row.label)}</dt><dd>${write(row)}</dd>`)}</dl>`;
}

/** Text of a rule, whose backticks quote code. */
const ruleText = (text: string): Markup[] =>
  text.split("`").map((part, index) => (index % 2 === 1 ? markup`<code>${part}</code>` : markup`${part}`));

/** Each property with its old value above its new one; of a set, what it gains and loses. */
function fieldList(fields: readonly FieldChange[]): Markup {
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
