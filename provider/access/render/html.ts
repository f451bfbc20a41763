import { createHash } from "node:crypto";
import type {
  Difference,
  FieldChange,
  Finding,
  Grant,
  GrantChange,
  GroupNode,
  Report,
  Scope,
  Severity,
} from "../report";
import { severities } from "../report";
import { html, plainIndented } from "./escape";
import { early, script } from "./htmlScript";
import { style } from "./htmlStyle";
import type { RenderOptions } from "./options";
import {
  answersTo,
  changeOrder,
  coverageLines,
  differenceFinder,
  digestOf,
  findingHeadings,
  grantHeadings,
  groupCapabilities,
  groupsOf,
  incompleteHeading,
  locationOf,
  nameOf,
  placeOf,
  plural,
  provenanceParts,
  ruleOf,
  stacksOf,
  subjectOf,
  tallies,
  title,
  trustOf,
  unrelatedOf,
  verdict,
} from "./words";
import type { Tally } from "./words";

/** Of the names that a browser offers while one types. */
const MOST_SUGGESTIONS = 500;
/** From this many groups on, those where nothing changes are hidden at first. */
const LARGE_TREE = 30;

const attributes = (values: Readonly<Record<string, string | undefined>>): string =>
  Object.entries(values)
    .flatMap(([name, value]) => (value === undefined ? [] : [` ${name}="${html(value)}"`]))
    .join("");

const sourceHash = (text: string): string =>
  `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

const tag = (severity: Severity): string => `<span class="tag ${severity}">${severity}</span>`;

/** What the rows, the lists of choices and the tree have in common: short keys for roles and groups. */
class Index {
  readonly roles = new Map<string, { readonly id: string; readonly name: string }>();
  readonly groups = new Map<string, GroupNode>();
  readonly people = new Set<string>();
  private readonly ids = new Map<string, string>();
  private readonly worst = new Map<string, Severity>();

  constructor(report: Report) {
    for (const group of groupsOf(report)) this.groups.set(group.key, group);
    const grants = report.grants.flatMap(({ grant, before }) =>
      before === undefined ? [grant] : [grant, before],
    );
    const all = [...report.findings, ...report.suppressed];
    const found = all.flatMap(({ grant }) => (grant === undefined ? [] : [grant]));
    const concerned = all.flatMap(({ group }) => (group === undefined ? [] : [group]));
    for (const grant of [...grants, ...found]) {
      const { key } = grant.role;
      if (!this.roles.has(key)) this.roles.set(key, { id: `r${this.roles.size}`, name: nameOf(grant.role) });
      this.people.add(subjectOf(grant).displayName);
    }
    for (const group of [...[...grants, ...found].map((grant) => grant.group), ...concerned]) {
      if (!this.groups.has(group.key)) this.groups.set(group.key, { ...group, change: "same" });
    }
    for (const key of this.groups.keys()) this.ids.set(key, `g${this.ids.size}`);
    for (const { grant, severity } of report.findings) {
      if (grant === undefined) continue;
      const tuple = Index.tuple(grant);
      const known = this.worst.get(tuple);
      if (known === undefined || severities.indexOf(severity) < severities.indexOf(known)) {
        this.worst.set(tuple, severity);
      }
    }
  }

  private static tuple({ subject, role, group }: Grant): string {
    return JSON.stringify([subject.key, role.key, group.key]);
  }

  severityOf(grant: Grant): Severity | undefined {
    return this.worst.get(Index.tuple(grant));
  }

  groupId(key: string): string {
    return this.ids.get(key) ?? "";
  }

  /** The group and those above it, by their short keys. */
  chain(key: string): string {
    const ids: string[] = [];
    const seen = new Set<string>();
    for (
      let at: string | undefined = key;
      at !== undefined && !seen.has(at);
      at = this.groups.get(at)?.parentKey
    ) {
      seen.add(at);
      const id = this.ids.get(at);
      if (id !== undefined) ids.push(id);
    }
    return ids.join(" ");
  }
}

function rowAttributes(
  index: Index,
  grant: Grant | undefined,
  words: string,
  at?: Scope,
): Record<string, string | undefined> {
  if (grant === undefined) {
    return { "data-who": words, "data-groups": at === undefined ? undefined : index.chain(at.key) };
  }
  const { subject, role, group } = grant;
  return {
    "data-who": [subject.displayName, subject.name, subject.uid, words]
      .filter((part) => part !== undefined)
      .join(" "),
    "data-role": index.roles.get(role.key)?.id,
    "data-groups": index.chain(group.key),
  };
}

function fieldItems(fields: readonly FieldChange[]): string {
  const value = (text: string | undefined): string =>
    text === undefined ? '<span class="soft">not set</span>' : `<code>${html(text)}</code>`;
  return fields
    .map(
      ({ path, before, after }) => `<li><code>${html(path)}</code>: ${value(before)} → ${value(after)}</li>`,
    )
    .join("");
}

function fold(summary: string, body: string): string {
  return `<details><summary>${summary}</summary>${body}</details>`;
}

const block = (text: string): string =>
  `<pre tabindex="0"><code>${text
    .split(/\r?\n/)
    .map((line) => html(plainIndented(line)))
    .join("\n")}</code></pre>`;

function findingItem(
  finding: Finding,
  difference: Difference | undefined,
  index: Index,
  options: RenderOptions,
): string {
  const place = placeOf(locationOf(finding), options.sourceRoot);
  const { suppression, grant, counterexample, advice } = finding;
  const rows: string[] = [];
  const row = (term: string, value: string): void => {
    rows.push(`<dt>${term}</dt><dd>${value}</dd>`);
  };
  if (counterexample !== undefined) row("Accepts", `<code>${html(counterexample)}</code>`);
  if (advice !== undefined) row("Fix", html(advice));
  if (difference?.at !== undefined) row("When", html(difference.at));
  if (difference?.actor !== undefined) row("Who", html(difference.actor));
  if (suppression !== undefined) {
    const { reason, expires } = suppression;
    row("Suppressed", html(expires === undefined ? reason : `${reason} (until ${expires})`));
  }
  const details = finding.details.map((line) => `<li>${html(line)}</li>`).join("");
  const values = {
    "data-item": suppression === undefined ? "finding" : undefined,
    "data-severity": finding.severity,
    ...rowAttributes(
      index,
      grant,
      [finding.name, finding.message].filter((part) => part !== undefined).join(" "),
      finding.group,
    ),
  };
  return [
    `<li${attributes(values)}><div>${tag(finding.severity)}</div><div>`,
    `<h3>${html(finding.message)}</h3>`,
    `<p class="where"><span class="mono">${html(ruleOf(finding))}</span>${place === undefined ? "" : ` · <span class="mono">${html(place)}</span>`}</p>`,
    rows.length === 0 ? "" : `<dl>${rows.join("")}</dl>`,
    difference === undefined || difference.fields.length === 0
      ? ""
      : `<ul class="lines">${fieldItems(difference.fields)}</ul>`,
    details === "" ? "" : fold(`${plural(finding.details.length, "line")} of detail`, `<ul>${details}</ul>`),
    ...(suppression === undefined ? answersTo(difference) : []).map(({ heading, text }) =>
      fold(heading, block(text)),
    ),
    "</div></li>",
  ].join("");
}

function capabilityCell({
  capabilitiesAdded: added,
  capabilitiesRemoved: removed,
  reason,
}: GrantChange): string {
  const list = (sign: string, capabilities: readonly string[]): string =>
    groupCapabilities(capabilities)
      .map((words) => `<li>${sign} <span class="mono">${html(words)}</span></li>`)
      .join("");
  const why = reason === "" ? "" : `<div>${html(reason)}</div>`;
  if (added.length + removed.length === 0) return why;
  const summary = [
    added.length === 0 ? undefined : `<span class="mono">+${added.length}</span> ${areas(added)}`,
    removed.length === 0 ? undefined : `<span class="mono">−${removed.length}</span> ${areas(removed)}`,
  ].filter((part) => part !== undefined);
  return why + fold(summary.join("<br>"), `<ul>${list("+", added)}${list("−", removed)}</ul>`);
}

/** What capabilities are about, in few words. */
function areas(capabilities: readonly string[]): string {
  const names = groupCapabilities(capabilities).map((group) => group.replace(/:.*/s, ""));
  return html(names.length <= 3 ? names.join(", ") : `${names.slice(0, 3).join(", ")}, …`);
}

const signs: Readonly<Record<GrantChange["change"], string>> = {
  gained: "+",
  lost: "−",
  widened: "↑",
  narrowed: "↓",
};

function grantRow(change: GrantChange, index: Index, options: RenderOptions): string {
  const { grant, before } = change;
  const { displayName, name } = subjectOf(grant);
  const severity = index.severityOf(grant);
  const place = placeOf(grant.location, options.sourceRoot);
  const values = {
    "data-item": "grant",
    "data-change": change.change,
    "data-severity": severity,
    ...rowAttributes(index, grant, ""),
  };
  const was = (text: string): string => `<div class="where">was ${html(text)}</div>`;
  const cells = [
    `<td><span class="change ${change.change}"><span aria-hidden="true">${signs[change.change]}</span> ${change.change}</span>${severity === undefined ? "" : `<br>${tag(severity)}`}</td>`,
    `<th scope="row">${html(displayName)}${name === undefined ? "" : `<div class="where mono">${html(name)}</div>`}</th>`,
    `<td><span class="mono">${html(nameOf(grant.role))}</span>${before === undefined || before.role.key === grant.role.key ? "" : was(nameOf(before.role))}</td>`,
    `<td>${html(grant.group.path)}${grant.group.isRoot ? ' <span class="soft">(root)</span>' : ""}${before === undefined || before.group.key === grant.group.key ? "" : was(before.group.path)}</td>`,
    `<td>${capabilityCell(change)}</td>`,
    `<td class="where mono">${place === undefined ? "" : html(place).replaceAll("/", "/<wbr>")}</td>`,
  ];
  return `<tr${attributes(values)}>${cells.join("")}</tr>`;
}

/** What changes at each group itself. */
function countByGroup(report: Report): Map<string, Map<GrantChange["change"], number>> {
  const found = new Map<string, Map<GrantChange["change"], number>>();
  for (const { change, grant } of report.grants) {
    const of = found.get(grant.group.key) ?? new Map<GrantChange["change"], number>();
    of.set(change, (of.get(change) ?? 0) + 1);
    found.set(grant.group.key, of);
  }
  return found;
}

interface Tree {
  readonly markup: string;
  /** How many groups are there in which, and below which, nothing changes. */
  readonly quiet: number;
}

function tree(report: Report, index: Index): Tree {
  const children = new Map<string | undefined, GroupNode[]>();
  for (const group of index.groups.values()) {
    const parent =
      group.parentKey !== undefined && index.groups.has(group.parentKey) ? group.parentKey : undefined;
    const siblings = children.get(parent) ?? [];
    siblings.push(group);
    children.set(parent, siblings);
  }
  const counts = countByGroup(report);
  let quiet = 0;
  const drawn = new Set<string>();
  const draw = (group: GroupNode): { readonly markup: string; readonly changed: boolean } => {
    drawn.add(group.key);
    const below = (children.get(group.key) ?? []).filter(({ key }) => !drawn.has(key)).map(draw);
    const here = counts.get(group.key);
    const changed = group.change !== "same" || here !== undefined || below.some((node) => node.changed);
    if (!changed) quiet += 1;
    const delta =
      here === undefined
        ? ""
        : `<span class="delta">${changeOrder
            .flatMap((kind) => {
              const number = here.get(kind);
              return number === undefined ? [] : [`${number} ${kind}`];
            })
            .join(", ")}</span>`;
    const state = group.change === "same" ? "" : `<span class="state ${group.change}">${group.change}</span>`;
    const inner = below.length === 0 ? "" : `<ul>${below.map(({ markup }) => markup).join("")}</ul>`;
    const label = `<span data-group="${index.groupId(group.key)}" title="${html(group.path)}">${html(nameOf(group))}</span>`;
    return {
      markup: `<li${changed ? "" : ' class="quiet"'}><div class="node">${label}${state}${delta}</div>${inner}</li>`,
      changed,
    };
  };
  const roots = (children.get(undefined) ?? []).map(draw);
  // A group that says it is below itself is in no branch from the top.
  for (const group of index.groups.values()) if (!drawn.has(group.key)) roots.push(draw(group));
  return { markup: roots.map(({ markup }) => markup).join(""), quiet };
}

function option(value: string, text: string): string {
  return `<option value="${html(value)}">${html(text)}</option>`;
}

function select(id: string, name: string, options: readonly string[]): string {
  return `<label>${name}<select id="${id}" name="${id}">${options.join("")}</select></label>`;
}

function filters(index: Index): string {
  const roles = [...index.roles.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const groups = [...index.groups.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  const people = [...index.people].sort().slice(0, MOST_SUGGESTIONS);
  return [
    '<search class="filters js" hidden><div class="wrap"><form id="filter" aria-label="Filter">',
    '<label>Person or identity<input id="person" name="person" type="search" list="people" autocomplete="off" spellcheck="false"></label>',
    `<datalist id="people">${people.map((name) => `<option value="${html(name)}"></option>`).join("")}</datalist>`,
    select("role", "Role", [option("", "any"), ...roles.map(({ id, name }) => option(id, name))]),
    select("group", "Group and below", [
      option("", "any"),
      ...groups.map(({ key, path }) => option(index.groupId(key), path)),
    ]),
    select("severity", "Severity", [
      option("", "any, also none"),
      option("low", "low or above"),
      option("medium", "medium or above"),
      option("high", "high or above"),
      option("critical", "critical"),
    ]),
    select("change", "Change", [option("", "any"), ...changeOrder.map((kind) => option(kind, kind))]),
    '<button type="reset">Clear</button>',
    '<output id="count" for="person role group severity change" aria-live="polite"></output>',
    "</form></div></search>",
  ].join("");
}

function section(id: string, heading: string, count: number, body: string): string {
  return `<section aria-labelledby="${id}"><h2 id="${id}">${heading} <span class="n">${count.toLocaleString("en-US")}</span></h2>${body}</section>`;
}

function lineSection(id: string, heading: string, lines: readonly string[]): string {
  if (lines.length === 0) return "";
  return section(
    id,
    heading,
    lines.length,
    `<ul class="lines">${lines.map((line) => `<li>${html(line)}</li>`).join("")}</ul>`,
  );
}

function grants(report: Report, index: Index, options: RenderOptions): string {
  const sorted = changeOrder.flatMap((kind) => report.grants.filter(({ change }) => change === kind));
  if (sorted.length === 0) return '<p class="none">No change of access.</p>';
  const columns = [
    ["change", "Change"],
    ["who", "Who"],
    ["role", "Role"],
    ["where", "Where, and below"],
    ["can", "Why, and capabilities"],
    ["source", "Source"],
  ];
  const head = columns.map(([key, name]) => `<th scope="col" class="c-${key}">${name}</th>`).join("");
  const rows = sorted.map((change) => grantRow(change, index, options)).join("\n");
  return [
    '<div class="scroll" role="region" aria-label="Table of changes of access" tabindex="0"><table>',
    '<caption class="sr">Who gains and loses which role where</caption>',
    `<thead><tr>${head}</tr></thead><tbody>\n${rows}\n</tbody></table></div>`,
    '<button type="button" class="more" id="more-grant" hidden></button>',
    '<p id="no-grant" class="none" hidden>No change of access fits the filter.</p>',
  ].join("");
}

function tallyList({ label, counts }: Tally): string {
  const items = counts.map(
    ({ count, name }) =>
      `<div${count === 0 ? ' class="zero"' : ""}><dt>${name}</dt><dd>${count.toLocaleString("en-US")}</dd></div>`,
  );
  return `<dl class="tally" aria-label="${label}">${items.join("")}</dl>`;
}

function top(report: Report): string {
  const { state, line } = verdict(report);
  const { findings, suppressed } = report.summary;
  const stacks = stacksOf(report);
  const of = stacks === undefined ? "" : ` of <span class="mono">${html(stacks)}</span>`;
  const found: Tally = {
    label: "Findings",
    counts: [
      ...severities.map((severity) => ({ count: findings[severity], name: severity })),
      { count: suppressed, name: "suppressed" },
    ],
  };
  const alert =
    report.incomplete.length === 0
      ? ""
      : `<div class="alert"><h2>${incompleteHeading(report)}</h2><ul class="lines">${report.incomplete.map((item) => `<li>${html(item)}</li>`).join("")}</ul></div>`;
  return [
    '<header class="top"><div class="wrap">',
    `<h1>${title(report)}${of}</h1>`,
    `<p class="verdict ${state}">${html(line.charAt(0).toUpperCase() + line.slice(1))}</p>`,
    alert,
    `<div class="tallies">${[found, ...tallies(report)].map(tallyList).join("")}</div>`,
    "</div></header>",
  ].join("");
}

function footer(report: Report): string {
  const digest = digestOf(report);
  const line = digest === undefined ? "" : `<br>digest of the report: <code>${html(digest)}</code>`;
  return `${html(provenanceParts(report).join(", "))}${line}`;
}

/**
 * One page that holds everything and loads nothing: style and script are in it, and a policy that names their
 * hashes keeps the browser from running or loading anything else. Without script it shows everything.
 */
export function renderHtml(report: Report, options: RenderOptions): string {
  const index = new Index(report);
  const groups = tree(report, index);
  const policy = `default-src 'none'; style-src ${sourceHash(style)}; script-src ${sourceHash(early)} ${sourceHash(script)}; img-src data:; base-uri 'none'; form-action 'none'`;
  const findDifference = differenceFinder(report);
  const item = (finding: Finding): string => findingItem(finding, findDifference(finding), index, options);
  const findings = report.findings.map(item).join("\n");
  const suppressed = report.suppressed.map(item).join("\n");
  const trust = trustOf(report)
    .map((change) => {
      const place = placeOf(change.location, options.sourceRoot);
      return `<li>${html(change.kind)} <strong>${html(change.name)}</strong>, ${plural(change.grants, "grant")} touched${place === undefined ? "" : ` · <span class="where mono">${html(place)}</span>`}<ul>${fieldItems(change.fields)}</ul></li>`;
    })
    .join("");
  const unchanged =
    groups.quiet === 0 || index.groups.size < LARGE_TREE
      ? ""
      : `<label class="check js" hidden><input type="checkbox" id="unchanged"> ${plural(groups.quiet, "unchanged group")}</label>`;
  const stacks = stacksOf(report);
  const name = `${title(report)}${stacks === undefined ? "" : ` of ${stacks}`}`;
  return [
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${html(policy)}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">',
    '<link rel="icon" href="data:,">',
    `<title>${html(name)}</title>`,
    `<style>${style}</style>\n<script>${early}</script>\n</head>\n<body>`,
    '<a class="skip" href="#findings">Skip to the findings</a>',
    top(report),
    "<main>",
    filters(index),
    '<div class="wrap columns">',
    index.groups.size === 0
      ? "<div></div>"
      : `<nav class="tree" aria-labelledby="tree"><h2 id="tree">Groups <span class="n">${index.groups.size.toLocaleString("en-US")}</span></h2>${unchanged}<ul>${groups.markup}</ul></nav>`,
    "<div>",
    section(
      "findings",
      findingHeadings[report.command],
      report.findings.length,
      findings === ""
        ? '<p class="none">No finding.</p>'
        : `<ol class="findings">\n${findings}\n</ol><button type="button" class="more" id="more-finding" hidden></button><p id="no-finding" class="none" hidden>No finding fits the filter.</p>`,
    ),
    report.command === "drift" && report.grants.length === 0
      ? ""
      : section(
          "grants",
          grantHeadings[report.command],
          report.grants.length,
          grants(report, index, options),
        ),
    trust === ""
      ? ""
      : section(
          "trust",
          "Roles and trust changed",
          trustOf(report).length,
          `<ul class="lines">${trust}</ul>`,
        ),
    suppressed === ""
      ? ""
      : section(
          "suppressed",
          "Suppressed by the policy file",
          report.suppressed.length,
          `<ol class="findings">\n${suppressed}\n</ol>`,
        ),
    lineSection("coverage", "In code", coverageLines(report)),
    lineSection("unresolved", "Unresolved", report.unresolved),
    lineSection("policyChanged", "Policy file: changed", report.policy.changed ?? []) +
      lineSection("expired", "Policy file: out of date", report.policy.expired),
    lineSection("unused", "Unused suppressions", report.policy.unused),
    lineSection("unrelated", "Not access-related", unrelatedOf(report)),
    "</div></div>",
    "</main>",
    `<footer><div class="wrap">${footer(report)}</div></footer>`,
    `<script>${script}</script>\n</body>\n</html>\n`,
  ].join("\n");
}
