import { createHash } from "node:crypto";
import { capitalize } from "../../../fields/values";
import { plural } from "../../../text/plain";
import type { SourceLocation } from "../../documents/engineState";
import type { GrantChange } from "../../graph/grant";
import { severities } from "../../review/finding";
import type { Severity } from "../../review/finding";
import { fitForm, rankGrants } from "../fitReport";
import type { Report, FieldChange } from "../report";
import { plainIndented, html } from "./escape";
import { early, script, pageStyle } from "./pageAssets";
import type { RenderOptions } from "./renderOptions";
import { MOST_OPEN_FINDINGS, headOf, sectionsOf, isUrgent, describeChange, EntryList } from "./sections";
import type { Head, Origin, Section, Tally, Block, Entry, GrantLine, Labelled } from "./sections";
import {
  fieldSides,
  formatRule,
  groupCapabilities,
  placeOfChange,
  changeWord,
  RepositoryLinks,
  formatLocation,
} from "./words";

/** HTML that is safe as it is: only `markup` and `trustedMarkup` make it. */
class Markup {
  constructor(readonly text: string) {}
}

/** What a template may hold: text is escaped, HTML is not, undefined is nothing. */
type MarkupPart = Markup | string | number | undefined | readonly MarkupPart[];

function write(part: MarkupPart): string {
  if (part === undefined) return "";
  if (part instanceof Markup) return part.text;
  if (typeof part === "object") return part.map(write).join("");
  return html(String(part));
}

/** A template that escapes every text put into it, in a text node and in an attribute in quotes. */
export function markup(strings: TemplateStringsArray, ...parts: readonly MarkupPart[]): Markup {
  return new Markup(strings.map((text, index) => text + write(parts[index])).join(""));
}

/** Style and script of the page: constants of ours, which the page needs as they are. */
function trustedMarkup(text: string): Markup {
  return new Markup(text);
}

/** Parts on lines of their own. */
function joinLines(parts: readonly MarkupPart[]): Markup {
  return new Markup(parts.map(write).join("\n"));
}

/** Attributes with a space before each; those that are undefined are left out. Names are ours. */
function attributes(values: Readonly<Record<string, string | undefined>>): Markup {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return new Markup(given.map(([name, value]) => ` ${name}="${html(value ?? "")}"`).join(""));
}

/**
 * One page that holds everything and loads nothing: style and script are in it, and a policy that names their
 * hashes keeps the browser from running or loading anything else. Without script it shows everything.
 */
export function renderHtml(report: Report, options: RenderOptions): string {
  return fitForm(report, "the page", (fitted) => renderPage(fitted, options), options.maxBytes);
}

function renderPage(report: Report, options: RenderOptions): string {
  const context = new PageContext(report, options);
  const head = headOf(report, options);
  const sections = sectionsOf(report, context.entries);
  const isAlert = ({ place }: Section): boolean => place === "alert";
  return joinLines([
    documentHead(`${head.title}${head.stacks === undefined ? "" : ` of ${head.stacks}`}`, [early, script]),
    markup`<body>\n<a class="skip" href="#findings">Skip to the findings</a>`,
    header(
      head,
      sections.filter(isAlert).map((section) => printSection(section, context)),
    ),
    markup`<main>`,
    filterForm,
    markup`<div class="wrap sections">`,
    ...sections.filter((section) => !isAlert(section)).map((section) => printSection(section, context)),
    markup`</div>`,
    markup`</main>`,
    markup`<footer><div class="wrap">${originList(head)}</div></footer>`,
    markup`<script>${trustedMarkup(script)}</script>\n</body>\n</html>\n`,
  ]).text;
}

/** The beginning of a page, which loads nothing. @param scripts All that it runs: the first of them before it is drawn. */
export function documentHead(name: string, scripts: readonly string[] = []): Markup {
  const sources = scripts.length === 0 ? "" : ` script-src ${scripts.map(sourceHash).join(" ")};`;
  const policy = `default-src 'none'; style-src ${sourceHash(pageStyle)};${sources} img-src data:; base-uri 'none'; form-action 'none'`;
  const [first] = scripts;
  return joinLines([
    markup`<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">`,
    markup`<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    markup`<meta name="viewport" content="width=device-width, initial-scale=1">`,
    markup`<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">`,
    markup`<link rel="icon" href="data:,">`,
    markup`<title>${name}</title>`,
    markup`<style>${trustedMarkup(pageStyle)}</style>${first === undefined ? undefined : markup`\n<script>${trustedMarkup(first)}</script>`}\n</head>`,
  ]);
}

const sourceHash = (text: string): string =>
  `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

function header({ title, stacks, verdict, headline, tallies, origins }: Head, alerts: MarkupPart): Markup {
  const rest = headline?.rest === undefined ? "" : `, and ${headline.rest}`;
  const main = origins.filter(({ isMain }) => isMain);
  return markup`${[
    markup`<header class="top"><div class="wrap">`,
    markup`<h1>${title}${stacks === undefined ? undefined : markup` of <span class="mono">${stacks}</span>`}</h1>`,
    markup`<p class="verdict ${verdict.state}">${capitalize(verdict.line)}</p>`,
    headline === undefined
      ? undefined
      : markup`<p class="lead"><strong>${headline.main}</strong>${rest}.</p>`,
    markup`<p class="provenance">${main.map((origin, index) => [index === 0 ? "" : " · ", originLink(origin)])}</p>`,
    alerts,
    markup`<div class="tallies">${tallies.map(tallyList)}</div>`,
    markup`</div></header>`,
  ]}`;
}

function tallyList({ label, counts }: Tally): Markup {
  const items = counts.map(
    ({ count, name }) => markup`<div><dt>${name}</dt><dd>${count.toLocaleString("en-US")}</dd></div>`,
  );
  return markup`<div class="tally"><span class="label">${label}</span>${
    items.length === 0 ? markup`<span>none</span>` : markup`<dl aria-label="${label}">${items}</dl>`
  }</div>`;
}

const lineList = (lines: readonly string[]): Markup =>
  markup`<ul class="lines">${lines.map((line) => markup`<li>${line}</li>`)}</ul>`;

/** Code or commands to copy. */
const codeOf = (lines: readonly string[] = []): Markup | undefined =>
  lines.length === 0
    ? undefined
    : markup`<pre tabindex="0"><code>${joinLines(lines.map(plainIndented))}</code></pre>`;

const legend = markup`<dl class="legend" aria-label="Legend"><div><dt class="change gained">+ ↑</dt><dd>more access: gained, widened</dd></div><div><dt class="change lost">− ↓</dt><dd>less access: lost, narrowed</dd></div><div><dt><del>old</del></dt><dd>before the change</dd></div><div><dt><ins>new</ins></dt><dd>after it</dd></div></dl>`;

function printSection(section: Section, context: PageContext): Markup | undefined {
  const { id, heading, place, content } = section;
  switch (content.kind) {
    case "lines":
      return frame(section, markup`${lineList(content.items)}${codeOf(content.commands)}`);
    case "entries": {
      const { items: entries } = content;
      if (entries.length === 0) return frame(section, markup`<p class="none">No finding.</p>`);
      const cards = cardList(entries, context);
      if (id !== "findings")
        return frame(section, foldMarkup(`Show ${plural(entries.length, "entry", "entries")}`, cards));
      return frame(
        section,
        markup`${cards}<button type="button" class="more" id="more-finding" hidden></button><p id="no-finding" class="none" hidden>No finding matches the filter.</p>`,
      );
    }
    case "grants": {
      const { items: grants } = content;
      const isOpen = place === "open";
      if (context.report.command === "drift" && grants.length === 0) return undefined;
      const table = grantTable(grants, heading, context, isOpen);
      if (!isOpen)
        return frame(section, foldMarkup(`Show ${plural(grants.length, "change")} of access`, table));
      return frame(section, markup`${grants.length === 0 ? undefined : legend}${table}`);
    }
  }
}

function frame({ id, heading, count, of, place }: Section, body: MarkupPart): Markup {
  if (place === "alert") return markup`<div class="alert"><h2>${heading}</h2>${body}</div>`;
  const number = `${count.toLocaleString("en-US")}${of === undefined ? "" : ` ${of}`}`;
  return markup`<section aria-labelledby="${id}"><h2 id="${id}">${heading} <span class="n">${number}</span></h2>${body}</section>`;
}

const originLink = ({ text, address }: Origin): Markup => linkTo(address, markup`${text}`);

/** Where the report comes from: all that it knows. */
function originList({ origins, digest }: Head): Markup {
  const items = origins.map((origin) => markup`<li>${originLink(origin)}</li>`);
  const own = digest === undefined ? undefined : markup`<li>digest of the report <code>${digest}</code></li>`;
  return markup`<h2>Where this report comes from</h2><ul>${items}${own}</ul>`;
}

/** A longer list of details is closed at first. */
const MOST_DETAILS = 3;

/** The cards of a section: one for each entry, worst first. */
function cardList(entries: readonly Entry[], context: PageContext): Markup {
  const anchors = new Set<string>();
  return markup`<ol class="cards">\n${joinLines(entries.map((entry) => card(entry, context, anchors)))}\n</ol>`;
}

function card(entry: Entry, context: PageContext, anchors: Set<string>): Markup {
  const { findings, severity, about, message, isAccepted } = entry;
  const place = context.place(entry.location);
  const values = {
    "data-item": isAccepted || severity === undefined ? undefined : "finding",
    "data-count": findings.length <= 1 ? undefined : String(findings.length),
    "data-severity": severity,
  };
  const edge = severity === undefined ? "" : ` edge-${severity}`;
  return markup`<li class="card${edge}"${attributes(values)}>${[
    severity === undefined
      ? undefined
      : markup`<div class="head">${severityTag(severity)}<ul class="chips" aria-label="Rules">${ruleChips(entry, anchors)}</ul></div>`,
    markup`<h3>${message}</h3>`,
    markup`<p class="where">${about}${about !== "" && place !== undefined ? " · " : undefined}${place}</p>`,
    ...entry.facts.map((block) => printBlock(block, context)),
    answersOf(entry, context),
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
function answersOf(entry: Entry, context: PageContext): Markup | undefined {
  if (entry.answers.length === 0) return undefined;
  const isOpen = isUrgent(entry);
  const parts = entry.answers.map((block, index) => printBlock(block, context, isOpen && index === 0));
  return markup`<details class="body"${isOpen ? markup` open` : undefined}><summary>Reason and fix</summary>${parts}</details>`;
}

function printBlock(block: Block, context: PageContext, isOpen = false): Markup {
  switch (block.kind) {
    case "labelled":
      return labelledRows(block.items);
    case "findings": {
      const items = block.items.map(
        ({ finding: { id, severity, message }, location, answers }) =>
          markup`<li>${severityTag(severity)} ${message} <span class="mono soft">${id}</span> ${context.place(location)}${
            answers.length === 0
              ? undefined
              : foldMarkup(
                  `Reason and fix of ${id}`,
                  answers.map((block) => printBlock(block, context)),
                )
          }</li>`,
      );
      const more = items.slice(MOST_OPEN_FINDINGS);
      return markup`<ul class="also">${items.slice(0, MOST_OPEN_FINDINGS)}</ul>${
        more.length === 0
          ? undefined
          : foldMarkup(plural(more.length, "more finding"), markup`<ul class="also">${more}</ul>`)
      }`;
    }
    case "fields":
      return fieldList(block.items);
    case "lines": {
      const list = markup`<ul>${block.items.map((line) => markup`<li>${line}</li>`)}</ul>`;
      return block.items.length <= MOST_DETAILS
        ? list
        : foldMarkup(`${plural(block.items.length, "line")} of detail`, list);
    }
    case "code": {
      return foldMarkup(block.heading, codeOf(block.text.split(/\r?\n/)), isOpen);
    }
  }
}

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

function capabilityFold({ capabilitiesAdded, capabilitiesRemoved }: GrantChange): Markup | undefined {
  const sides = [
    { sign: "+", capabilities: capabilitiesAdded },
    { sign: "−", capabilities: capabilitiesRemoved },
  ].filter(({ capabilities }) => capabilities.length > 0);
  if (sides.length === 0) return undefined;
  const counts = sides.map(({ sign, capabilities }) => `${sign}${capabilities.length}`);
  const items = sides.flatMap(({ sign, capabilities }) =>
    groupCapabilities(capabilities).map((text) => markup`<li>${sign} <span class="mono">${text}</span></li>`),
  );
  return foldMarkup(`Capabilities: ${counts.join(" ")}`, markup`<ul>${items}</ul>`);
}

const columns = ["Change", "Who", "Role and group", "Why, and capabilities", "Source"] as const;

function cell(column: number, content: Markup): Markup {
  return markup`<td role="cell" data-label="${columns[column]}">${content}</td>`;
}

function grantRow(source: GrantChange, context: PageContext, isFiltered: boolean): Markup {
  const line = describeChange(source);
  const { who, name, before } = line;
  const severity = context.severityOf(source);
  const values = { "data-item": "grant", "data-severity": severity };
  const own = name === undefined ? undefined : markup`<div class="where mono">${name}</div>`;
  const reason = markup`<div>${source.reason}</div>`;
  const place = context.place(placeOfChange(context.report.command, source));
  return markup`<tr role="row"${isFiltered ? attributes(values) : undefined}>${[
    cell(
      0,
      markup`${changeTag(source)}${severity === undefined ? undefined : markup` ${severityTag(severity)}`}`,
    ),
    markup`<th scope="row" role="rowheader" data-label="${columns[1]}">${changedText(before.who, who)}${own}</th>`,
    cell(2, roleAndGroup(source, line)),
    cell(3, markup`${reason}${capabilityFold(source)}`),
    cell(4, markup`<span class="where">${place}</span>`),
  ]}</tr>`;
}

/** @param isFiltered Whether the filter of the page narrows it down. */
function grantTable(
  grants: readonly GrantChange[],
  heading: string,
  context: PageContext,
  isFiltered: boolean,
): Markup {
  if (grants.length === 0) return markup`<p class="none">No change of access.</p>`;
  const head = columns.map(
    (name, index) => markup`<th scope="col" role="columnheader" class="c${index}">${name}</th>`,
  );
  const rows = grants.map((change) => grantRow(change, context, isFiltered));
  return markup`${[
    markup`<table role="table" class="grants"><caption class="sr">${heading}: who, which role, where</caption>`,
    markup`<thead role="rowgroup"><tr role="row">${head}</tr></thead><tbody role="rowgroup">\n${joinLines(rows)}\n</tbody></table>`,
    isFiltered ? markup`<button type="button" class="more" id="more-grant" hidden></button>` : undefined,
    isFiltered
      ? markup`<p id="no-grant" class="none" hidden>No change of access matches the filter.</p>`
      : undefined,
  ]}`;
}

/** The form by which a reader narrows the page down; shown by its script. */
const filterForm = markup`<search class="filters js" hidden><div class="wrap"><form id="filter" aria-label="Filter">
<label>Person, role, group or rule<input name="words" type="search" autocomplete="off" spellcheck="false"></label>
<label>Severity<select name="severity"><option value="">any severity</option>${["low", "medium", "high"].map((name) => markup`<option value="${name}">${name} or above</option>`)}<option>critical</option></select></label>
<button type="reset">Clear</button>
<output id="count" aria-live="polite"></output>
</form></div></search>`;

/** What the parts of a page have in common. */
class PageContext {
  readonly entries: EntryList;
  readonly links: RepositoryLinks;
  private readonly rankOf: ReturnType<typeof rankGrants>;

  constructor(
    readonly report: Report,
    readonly options: RenderOptions,
  ) {
    this.entries = new EntryList(report);
    this.links = new RepositoryLinks(report, options);
    this.rankOf = rankGrants(report.findings);
  }

  /** The worst severity that findings give a grant or its holder. */
  severityOf(change: GrantChange): Severity | undefined {
    return severities[this.rankOf(change)];
  }

  /** `index.ts:12`, as a link where the repository is known. */
  place(location: SourceLocation | undefined): Markup | undefined {
    const place = formatLocation(location, this.options.sourceRoot);
    if (location === undefined || place === undefined) return undefined;
    const parts = place
      .split("/")
      .map((part, index) => (index === 0 ? markup`${part}` : markup`/<wbr>${part}`));
    return linkTo(this.links.line(location), markup`<span class="mono">${parts}</span>`);
  }
}

/** A link to another site, or its text alone. */
function linkTo(address: string | undefined, text: Markup): Markup {
  return address === undefined ? text : markup`<a href="${address}" rel="noreferrer">${text}</a>`;
}

const severityTag = (severity: Severity): Markup => markup`<span class="tag ${severity}">${severity}</span>`;

function foldMarkup(summary: MarkupPart, body: MarkupPart, isOpen = false): Markup {
  return markup`<details${isOpen ? markup` open` : undefined}><summary>${summary}</summary>${body}</details>`;
}

const signs: Readonly<Record<GrantChange["change"], string>> = {
  gained: "+",
  lost: "−",
  widened: "↑",
  narrowed: "↓",
};

/** What was: struck, and said to those who cannot see it. */
const oldText = (text: MarkupPart): Markup => markup`<del><span class="sr">before: </span>${text}</del>`;
const newText = (text: MarkupPart): Markup => markup`<ins><span class="sr">after: </span>${text}</ins>`;

const changeTag = (source: GrantChange): Markup =>
  markup`<span class="change ${source.change}"><span aria-hidden="true">${signs[source.change]}</span> ${changeWord(source)}</span>`;

/** The old text struck and the new one, or the text alone where nothing was before. */
function changedText(before: string | undefined, after: string): Markup {
  return before === undefined ? markup`${after}` : markup`${oldText(before)} ${newText(after)}`;
}

/** The role of a change, struck where it is lost or replaced, and the group, where the grant moves with the old one. */
function roleAndGroup({ change, grant }: GrantChange, { role, group, before }: GrantLine): Markup {
  const named = change === "lost" ? oldText(role) : changedText(before.role, role);
  const root = grant.group.isRoot ? markup` <span class="soft">(root)</span>` : undefined;
  return markup`<span class="mono">${named}</span> <span class="at">at</span> ${changedText(before.group, group)}${root}`;
}
