import { createHash } from "node:crypto";
import type { Report } from "../../report";
import type { Finding } from "../../../review/finding";
import { severities } from "../../../review/finding";
import { early, script } from "../htmlScript";
import { style } from "../htmlStyle";
import type { RenderOptions } from "../options";
import {
  coverageLines,
  differenceFinder,
  digestOf,
  findingHeadings,
  grantHeadings,
  incompleteHeading,
  placeOf,
  plural,
  provenanceParts,
  stacksOf,
  tallies,
  title,
  trustOf,
  unrelatedOf,
  verdict,
} from "../words";
import type { Tally } from "../words";
import { fieldItems, findingItem } from "./findings";
import { filterForm } from "./filters";
import { grantTable } from "./grants";
import { groupNavigation } from "./groups";
import { joinLines, markup, trusted } from "./markup";
import type { Markup, Part } from "./markup";
import { PageIndex } from "./pageIndex";

const sourceHash = (text: string): string =>
  `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

function section(id: string, heading: string, count: number, body: Part): Markup {
  return markup`<section aria-labelledby="${id}"><h2 id="${id}">${heading} <span class="n">${count.toLocaleString("en-US")}</span></h2>${body}</section>`;
}

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

function header(report: Report): Markup {
  const { state, line } = verdict(report);
  const { findings, suppressed } = report.summary;
  const stacks = stacksOf(report);
  const found: Tally = {
    label: "Findings",
    counts: [
      ...severities.map((severity) => ({ count: findings[severity], name: severity })),
      { count: suppressed, name: "suppressed" },
    ],
  };
  return markup`${[
    markup`<header class="top"><div class="wrap">`,
    markup`<h1>${title(report)}${stacks === undefined ? undefined : markup` of <span class="mono">${stacks}</span>`}</h1>`,
    markup`<p class="verdict ${state}">${line.charAt(0).toUpperCase() + line.slice(1)}</p>`,
    report.incomplete.length === 0
      ? undefined
      : markup`<div class="alert"><h2>${incompleteHeading(report)}</h2>${lineList(report.incomplete)}</div>`,
    markup`<div class="tallies">${[found, ...tallies(report)].map(tallyList)}</div>`,
    markup`</div></header>`,
  ]}`;
}

function footer(report: Report): Markup {
  const digest = digestOf(report);
  const line = digest === undefined ? undefined : markup`<br>digest of the report: <code>${digest}</code>`;
  return markup`${provenanceParts(report).join(", ")}${line}`;
}

function trustSection(report: Report, { sourceRoot }: RenderOptions): Markup | undefined {
  const items = trustOf(report).map(({ kind, name, grants, location, fields }) => {
    const place = placeOf(location, sourceRoot);
    return markup`<li>${kind} <strong>${name}</strong>, ${plural(grants, "grant")} touched${
      place === undefined ? undefined : markup` · <span class="where mono">${place}</span>`
    }<ul>${fieldItems(fields)}</ul></li>`;
  });
  if (items.length === 0) return undefined;
  return section("trust", "Roles and trust changed", items.length, markup`<ul class="lines">${items}</ul>`);
}

function findingList(items: readonly Markup[]): Markup {
  return markup`<ol class="findings">\n${joinLines(items)}\n</ol>`;
}

/** What is beside the tree of groups. */
function sections(report: Report, index: PageIndex, options: RenderOptions): (Markup | undefined)[] {
  const { command, policy, grants } = report;
  const findDifference = differenceFinder(report);
  const item = (finding: Finding): Markup => findingItem(finding, findDifference(finding), index, options);
  const [findings, suppressed] = [report.findings.map(item), report.suppressed.map(item)];
  const found =
    findings.length === 0
      ? markup`<p class="none">No finding.</p>`
      : markup`${findingList(findings)}<button type="button" class="more" id="more-finding" hidden></button><p id="no-finding" class="none" hidden>No finding fits the filter.</p>`;
  return [
    section("findings", findingHeadings[command], findings.length, found),
    command === "drift" && grants.length === 0
      ? undefined
      : section("grants", grantHeadings[command], grants.length, grantTable(report, index, options)),
    trustSection(report, options),
    suppressed.length === 0
      ? undefined
      : section("suppressed", "Suppressed by the policy file", suppressed.length, findingList(suppressed)),
    lineSection("coverage", "In code", coverageLines(report)),
    lineSection("unresolved", "Unresolved", report.unresolved),
    lineSection("policyChanged", "Policy file: changed", policy.changed ?? []),
    lineSection("expired", "Policy file: out of date", policy.expired),
    lineSection("unused", "Unused suppressions", policy.unused),
    lineSection("unrelated", "Not access-related", unrelatedOf(report)),
  ];
}

/**
 * One page that holds everything and loads nothing: style and script are in it, and a policy that names their
 * hashes keeps the browser from running or loading anything else. Without script it shows everything.
 */
export function renderHtml(report: Report, options: RenderOptions): string {
  const index = new PageIndex(report);
  const policy = `default-src 'none'; style-src ${sourceHash(style)}; script-src ${sourceHash(early)} ${sourceHash(script)}; img-src data:; base-uri 'none'; form-action 'none'`;
  const stacks = stacksOf(report);
  const name = `${title(report)}${stacks === undefined ? "" : ` of ${stacks}`}`;
  return joinLines([
    markup`<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">`,
    markup`<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    markup`<meta name="viewport" content="width=device-width, initial-scale=1">`,
    markup`<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">`,
    markup`<link rel="icon" href="data:,">`,
    markup`<title>${name}</title>`,
    markup`<style>${trusted(style)}</style>\n<script>${trusted(early)}</script>\n</head>\n<body>`,
    markup`<a class="skip" href="#findings">Skip to the findings</a>`,
    header(report),
    markup`<main>`,
    filterForm(index),
    markup`<div class="wrap columns">`,
    groupNavigation(report, index),
    markup`<div>`,
    ...sections(report, index, options),
    markup`</div></div>`,
    markup`</main>`,
    markup`<footer><div class="wrap">${footer(report)}</div></footer>`,
    markup`<script>${trusted(script)}</script>\n</body>\n</html>\n`,
  ]).text;
}
