import { createHash } from "node:crypto";
import { capitalize } from "../../../../fields/values";
import { fitForm } from "../../fitReport";
import type { Report, TrustChange } from "../../report";
import { ageOf, headlineOf, incompleteHeading, proposalWord, digestOf, tallies, verdict } from "../head";
import type { Tally } from "../head";
import type { RenderOptions } from "../options";
import { sectionsOf } from "../sections";
import type { Section } from "../sections";
import { formatTime, joinStacks, title } from "../words";
import { plural } from "../../../../text/plain";
import { cardList, fieldList, foldedMarkup } from "./cards";
import { linkTo, PageContext } from "./context";
import { accessMatrix, grantTable } from "./grants";
import { joinLines, markup, trustedMarkup } from "./markup";
import type { Markup, MarkupPart } from "./markup";
import { filterForm, groupNavigation } from "./navigation";
import { early, script } from "./script";
import { pageStyle } from "./style";

/** Of the digest of a commit: what people read. */
const COMMIT_SHOWN = 12;

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
    ...sectionsOf(report, context.entries).map((section) => printSection(section, context)),
    markup`</div></div>`,
    markup`</main>`,
    markup`<footer><div class="wrap">${provenanceFooter(context)}</div></footer>`,
    markup`<script>${trustedMarkup(script)}</script>\n</body>\n</html>\n`,
  ]).text;
}

function head(name: string): Markup {
  const policy = `default-src 'none'; style-src ${sourceHash(pageStyle)}; script-src ${sourceHash(early)} ${sourceHash(script)}; img-src data:; base-uri 'none'; form-action 'none'`;
  return joinLines([
    markup`<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">`,
    markup`<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    markup`<meta name="viewport" content="width=device-width, initial-scale=1">`,
    markup`<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">`,
    markup`<link rel="icon" href="data:,">`,
    markup`<title>${name}</title>`,
    markup`<style>${trustedMarkup(pageStyle)}</style>\n<script>${trustedMarkup(early)}</script>\n</head>`,
  ]);
}

const sourceHash = (text: string): string =>
  `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

function header(context: PageContext): Markup {
  const { report } = context;
  const { state, line } = verdict(report);
  const stacks = joinStacks(report);
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
    markup`<div class="tallies">${tallies(report).map(tallyList)}</div>`,
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

const legend = markup`<dl class="legend" aria-label="Legend"><div><dt class="change gained">+ ↑</dt><dd>more access: gained, widened</dd></div><div><dt class="change lost">− ↓</dt><dd>less access: lost, narrowed</dd></div><div><dt><del>old</del></dt><dd>before the change</dd></div><div><dt><ins>new</ins></dt><dd>after it</dd></div></dl>`;

function printSection(section: Section, context: PageContext): Markup | undefined {
  const { heading, count, isOpen, content } = section;
  switch (content.kind) {
    case "lines":
      return frame(section, lineList(content.lines));
    case "entries": {
      const { entries } = content;
      const inEntries = entries.length === count ? "" : ` from ${plural(entries.length, "cause")}`;
      if (count === 0) return frame(section, markup`<p class="none">No finding.</p>`);
      const cards = cardList(entries, context);
      return isOpen
        ? frame(
            section,
            markup`${cards}<button type="button" class="more" id="more-finding" hidden></button><p id="no-finding" class="none" hidden>No finding matches the filter.</p>`,
            inEntries,
          )
        : frame(
            section,
            foldedMarkup(`Show ${plural(entries.length, "entry", "entries")}`, cards),
            inEntries,
          );
    }
    case "grants": {
      const { grants } = content;
      if (context.report.command === "drift" && grants.length === 0) return undefined;
      const matrix = accessMatrix(context);
      const table = grantTable(grants, heading, context);
      return matrix === undefined
        ? frame(section, markup`${grants.length === 0 ? undefined : legend}${table}`)
        : markup`<section aria-labelledby="matrix"><h2 id="matrix">Before and after</h2>${legend}${matrix}</section>\n${frame(section, table)}`;
    }
    case "trust":
      return frame(
        section,
        markup`<ul class="cards">${content.changes.map((change) => trustCard(change, context))}</ul>`,
      );
  }
}

function frame({ id, heading, count }: Section, body: MarkupPart, of = ""): Markup {
  return markup`<section aria-labelledby="${id}"><h2 id="${id}">${heading} <span class="n">${count.toLocaleString("en-US")}${of}</span></h2>${body}</section>`;
}

/** A change of a role or of trust that no card of a finding shows. */
function trustCard({ kind, name, grants, location, fields }: TrustChange, context: PageContext): Markup {
  const place = context.place(location);
  return markup`<li class="card"><h3>${kind} ${name}</h3><p class="where">affects ${plural(grants, "grant")}${
    place === undefined ? undefined : markup` · ${place}`
  }</p>${fieldList(fields)}</li>`;
}

const timeText = (time: string): Markup => markup`<time datetime="${time}">${formatTime(time)}</time>`;

function commitText({ report, links }: PageContext): Markup | undefined {
  const { commit } = report.provenance;
  if (commit === undefined) return undefined;
  return linkTo(links.commit(), markup`<span class="mono">${commit.slice(0, COMMIT_SHOWN)}</span>`);
}

function pullRequestText({ report, links }: PageContext): Markup | undefined {
  const { pullRequest } = report.provenance;
  return pullRequest === undefined ? undefined : linkTo(links.pullRequest(), markup`${pullRequest}`);
}

/** The line below the verdict: which commit was looked at, and when. */
function provenanceLine(context: PageContext): Markup {
  const { inventoryAgeSeconds: age, time } = context.report.provenance;
  const [commit, pullRequest] = [commitText(context), pullRequestText(context)];
  const parts = [
    commit === undefined ? undefined : markup`Commit ${commit}`,
    pullRequest === undefined
      ? undefined
      : markup`${proposalWord(context.options.repository)} ${pullRequest}`,
    timeText(time),
    age === undefined ? undefined : markup`inventory ${ageOf(age)} old`,
  ].filter((part) => part !== undefined);
  return markup`<p class="provenance">${parts.map((part, index) => (index === 0 ? part : markup` · ${part}`))}</p>`;
}

/** Where the report comes from: all that it knows. */
function provenanceFooter(context: PageContext): Markup {
  const { report } = context;
  const { time, inventoryTime, cli, package: version } = report.provenance;
  const mono = (text: string | undefined): Markup | undefined =>
    text === undefined ? undefined : markup`<code>${text}</code>`;
  const rows: readonly (readonly [string, Markup | undefined])[] = [
    ["Stack", mono(joinStacks(report))],
    ["Commit", commitText(context)],
    [capitalize(proposalWord(context.options.repository)), pullRequestText(context)],
    ["Written", timeText(time)],
    ["Inventory", inventoryTime === undefined ? undefined : timeText(inventoryTime)],
    ["Update plan", mono(report.command === "drift" ? undefined : report.plan?.digest)],
    ["Review", mono(report.command === "verify" ? report.reviewDigest : undefined)],
    ["Report", mono(digestOf(report))],
    ["Pulumi", cli === undefined ? undefined : markup`${cli}`],
    ["pulumi-platform", markup`${version}`],
  ];
  const present = rows.filter(([, value]) => value !== undefined);
  return markup`<h2>Where this report comes from</h2><dl class="source">${present.map(
    ([term, value]) => markup`<div><dt>${term}</dt><dd>${value}</dd></div>`,
  )}</dl>`;
}
