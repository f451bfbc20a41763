import { createHash } from "node:crypto";
import type { Report } from "../../report";
import { severities } from "../../../review/finding";
import { fitForm } from "../../fitReport";
import { groupByCause } from "../causes";
import { headlineOf } from "../headline";
import type { RenderOptions } from "../options";
import { coverageLines, tallies } from "../tallies";
import type { Tally } from "../tallies";
import { verdict } from "../verdict";
import {
  findingHeadings,
  grantHeadings,
  incompleteHeading,
  plural,
  joinStacks,
  title,
  listTrustChanges,
  describeUnrelatedChanges,
} from "../words";
import { fieldList } from "./changes";
import { PageContext } from "./context";
import { causeCard } from "./findings";
import { filterForm } from "./filters";
import { grantTable } from "./grants";
import { groupNavigation } from "./groups";
import { joinLines, markup, trusted } from "./markup";
import type { Markup, Part } from "./markup";
import { accessMatrix } from "./matrix";
import { provenanceFooter, provenanceLine } from "./provenance";
import { early, script } from "./script";
import { style } from "./style";
import { capitalize } from "../../../../fields/values";

const sourceHash = (text: string): string =>
  `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

function section(id: string, heading: string, count: number, body: Part, of = ""): Markup {
  return markup`<section aria-labelledby="${id}"><h2 id="${id}">${heading} <span class="n">${count.toLocaleString("en-US")}${of}</span></h2>${body}</section>`;
}

/** How many causes the findings of a section have, where that is fewer. */
const inCauses = (findings: number, causes: number): string =>
  causes === findings ? "" : ` from ${plural(causes, "cause")}`;

const lineList = (lines: readonly string[]): Markup =>
  markup`<ul class="lines">${lines.map((line) => markup`<li>${line}</li>`)}</ul>`;

function lineSection(id: string, heading: string, lines: readonly string[]): Markup | undefined {
  return lines.length === 0 ? undefined : section(id, heading, lines.length, lineList(lines));
}

function tallyList({ label, counts }: Tally): Markup {
  const items = counts.map(
    ({ count, name }) =>
      markup`<div${count === 0 ? markup` class="zero"` : undefined}><dt>${name}</dt><dd>${count.toLocaleString("en-US")}</dd></div>`,
  );
  return markup`<dl class="tally" aria-label="${label}">${items}</dl>`;
}

function header(context: PageContext): Markup {
  const { report } = context;
  const { state, line } = verdict(report);
  const { findings, suppressed } = report.summary;
  const stacks = joinStacks(report);
  const found: Tally = {
    label: "Findings",
    counts: [
      ...severities.map((severity) => ({ count: findings[severity], name: severity })),
      { count: suppressed, name: "suppressed" },
    ],
  };
  const headline = headlineOf(report);
  const rest = headline?.rest === undefined ? "" : `, and ${headline.rest}`;
  return markup`${[
    markup`<header class="top"><div class="wrap">`,
    markup`<h1>${title(report)}${stacks === undefined ? undefined : markup` of <span class="mono">${stacks}</span>`}</h1>`,
    markup`<p class="verdict ${state}">${capitalize(line)}</p>`,
    headline === undefined
      ? undefined
      : markup`<p class="lead"><strong>${headline.main}</strong>${rest}.</p>`,
    provenanceLine(context),
    report.incomplete.length === 0
      ? undefined
      : markup`<div class="alert"><h2>${incompleteHeading(report)}</h2>${lineList(report.incomplete)}</div>`,
    markup`<div class="tallies">${[found, ...tallies(report)].map(tallyList)}</div>`,
    markup`</div></header>`,
  ]}`;
}

/** Changes of roles and trust that no card shows. */
function trustSection(context: PageContext, shown: ReadonlySet<object | undefined>): Markup | undefined {
  const items = listTrustChanges(context.report)
    .filter((change) => !shown.has(change))
    .map(({ kind, name, grants, location, fields }) => {
      const place = context.place(location);
      return markup`<li class="card"><h3>${kind} ${name}</h3><p class="where">affects ${plural(grants, "grant")}${
        place === undefined ? undefined : markup` · ${place}`
      }</p>${fieldList(fields)}</li>`;
    });
  if (items.length === 0) return undefined;
  return section("trust", "Roles and trust changed", items.length, markup`<ul class="cards">${items}</ul>`);
}

function cardList(items: readonly Markup[]): Markup {
  return markup`<ol class="cards">\n${joinLines(items)}\n</ol>`;
}

const legend = markup`<dl class="legend" aria-label="Legend"><div><dt class="change gained">+ ↑</dt><dd>more access: gained, widened</dd></div><div><dt class="change lost">− ↓</dt><dd>less access: lost, narrowed</dd></div><div><dt><del>old</del></dt><dd>before the change</dd></div><div><dt><ins>new</ins></dt><dd>after it</dd></div></dl>`;

function grantSections(context: PageContext): (Markup | undefined)[] {
  const { command, grants } = context.report;
  if (command === "drift" && grants.length === 0) return [];
  const matrix = accessMatrix(context);
  return [
    matrix === undefined
      ? undefined
      : markup`<section aria-labelledby="matrix"><h2 id="matrix">Before and after</h2>${legend}${matrix}</section>`,
    section(
      "grants",
      grantHeadings[command],
      grants.length,
      markup`${matrix === undefined && grants.length > 0 ? legend : undefined}${grantTable(context)}`,
    ),
  ];
}

/** What is beside the tree of groups. */
function sections(context: PageContext): (Markup | undefined)[] {
  const { report } = context;
  const { command, policy, findings, suppressed } = report;
  const causes = groupByCause(report, findings, context.causes);
  const accepted = groupByCause(report, suppressed, context.causes);
  const found =
    causes.length === 0
      ? markup`<p class="none">No finding.</p>`
      : markup`${cardList(causes.map((cause) => causeCard(cause, context)))}<button type="button" class="more" id="more-finding" hidden></button><p id="no-finding" class="none" hidden>No finding matches the filter.</p>`;
  const shown = new Set(causes.map(({ change }) => change));
  return [
    section(
      "findings",
      findingHeadings[command],
      findings.length,
      found,
      inCauses(findings.length, causes.length),
    ),
    ...grantSections(context),
    trustSection(context, shown),
    accepted.length === 0
      ? undefined
      : section(
          "suppressed",
          "Suppressed by the policy file",
          suppressed.length,
          cardList(accepted.map((cause) => causeCard(cause, context))),
        ),
    lineSection("coverage", "Coverage", coverageLines(report)),
    lineSection("unresolved", "Unresolved", report.unresolved),
    lineSection("policyChanged", "Policy file changed", policy.changed ?? []),
    lineSection("expired", "Expired suppressions", policy.expired),
    lineSection("unused", "Unused suppressions", policy.unused),
    lineSection("unrelated", "Other changes", describeUnrelatedChanges(report)),
  ];
}

function head(name: string): Markup {
  const policy = `default-src 'none'; style-src ${sourceHash(style)}; script-src ${sourceHash(early)} ${sourceHash(script)}; img-src data:; base-uri 'none'; form-action 'none'`;
  return joinLines([
    markup`<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">`,
    markup`<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    markup`<meta name="viewport" content="width=device-width, initial-scale=1">`,
    markup`<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">`,
    markup`<link rel="icon" href="data:,">`,
    markup`<title>${name}</title>`,
    markup`<style>${trusted(style)}</style>\n<script>${trusted(early)}</script>\n</head>`,
  ]);
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
  const stacks = joinStacks(report);
  return joinLines([
    head(`${title(report)}${stacks === undefined ? "" : ` of ${stacks}`}`),
    markup`<body>\n<a class="skip" href="#findings">Skip to the findings</a>`,
    header(context),
    markup`<main>`,
    filterForm(context.index),
    markup`<div class="wrap columns">`,
    groupNavigation(report, context.index),
    markup`<div>`,
    ...sections(context),
    markup`</div></div>`,
    markup`</main>`,
    markup`<footer><div class="wrap">${provenanceFooter(context)}</div></footer>`,
    markup`<script>${trusted(script)}</script>\n</body>\n</html>\n`,
  ]).text;
}
