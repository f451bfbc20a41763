import { createHash } from "node:crypto";
import { capitalize } from "../../../../fields/values";
import { plural } from "../../../../text/plain";
import { fitForm } from "../../fitReport";
import type { Report } from "../../report";
import type { RenderOptions } from "../options";
import { headOf, sectionsOf } from "../sections";
import type { Head, Origin, Section, Tally } from "../sections";
import { formatTime } from "../words";
import { cardList } from "./cards";
import { foldMarkup, linkTo, PageContext } from "./context";
import { accessMatrix, grantTable } from "./grants";
import { joinLines, markup, trustedMarkup } from "./markup";
import type { Markup, MarkupPart } from "./markup";
import { filterForm, groupNavigation } from "./navigation";
import { early, script } from "./script";
import { pageStyle } from "./style";

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
    documentHead(`${head.title}${head.stacks === undefined ? "" : ` of ${head.stacks}`}`),
    markup`<body>\n<a class="skip" href="#findings">Skip to the findings</a>`,
    header(
      head,
      sections.filter(isAlert).map((section) => printSection(section, context)),
    ),
    markup`<main>`,
    filterForm(context.index),
    markup`<div class="wrap columns">`,
    groupNavigation(report, context.index),
    markup`<div>`,
    ...sections.filter((section) => !isAlert(section)).map((section) => printSection(section, context)),
    markup`</div></div>`,
    markup`</main>`,
    markup`<footer><div class="wrap">${originList(head.origins)}</div></footer>`,
    markup`<script>${trustedMarkup(script)}</script>\n</body>\n</html>\n`,
  ]).text;
}

function documentHead(name: string): Markup {
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

function header({ title, stacks, verdict, headline, tallies, origins }: Head, alerts: MarkupPart): Markup {
  const rest = headline?.rest === undefined ? "" : `, and ${headline.rest}`;
  const main = origins.filter(({ isMain, phrase }) => isMain && phrase !== undefined);
  return markup`${[
    markup`<header class="top"><div class="wrap">`,
    markup`<h1>${title}${stacks === undefined ? undefined : markup` of <span class="mono">${stacks}</span>`}</h1>`,
    markup`<p class="verdict ${verdict.state}">${capitalize(verdict.line)}</p>`,
    headline === undefined
      ? undefined
      : markup`<p class="lead"><strong>${headline.main}</strong>${rest}.</p>`,
    markup`<p class="provenance">${main.map((origin, index) => (index === 0 ? originPhrase(origin) : markup` · ${originPhrase(origin)}`))}</p>`,
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

const legend = markup`<dl class="legend" aria-label="Legend"><div><dt class="change gained">+ ↑</dt><dd>more access: gained, widened</dd></div><div><dt class="change lost">− ↓</dt><dd>less access: lost, narrowed</dd></div><div><dt><del>old</del></dt><dd>before the change</dd></div><div><dt><ins>new</ins></dt><dd>after it</dd></div></dl>`;

function printSection(section: Section, context: PageContext): Markup | undefined {
  const { id, heading, place, content } = section;
  switch (content.kind) {
    case "lines":
      return frame(section, lineList(content.lines));
    case "entries": {
      const { entries } = content;
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
      const { grants } = content;
      const isOpen = place === "open";
      if (context.report.command === "drift" && grants.length === 0) return undefined;
      const table = grantTable(grants, heading, context, isOpen);
      if (!isOpen)
        return frame(section, foldMarkup(`Show ${plural(grants.length, "change")} of access`, table));
      const matrix = accessMatrix(grants, context);
      return matrix === undefined
        ? frame(section, markup`${grants.length === 0 ? undefined : legend}${table}`)
        : markup`<section aria-labelledby="matrix"><h2 id="matrix">Before and after</h2>${legend}${matrix}</section>\n${frame(section, table)}`;
    }
  }
}

function frame({ id, heading, count, of, place }: Section, body: MarkupPart): Markup {
  if (place === "alert") return markup`<div class="alert"><h2>${heading}</h2>${body}</div>`;
  const number = `${count.toLocaleString("en-US")}${of === undefined ? "" : ` ${of}`}`;
  return markup`<section aria-labelledby="${id}"><h2 id="${id}">${heading} <span class="n">${number}</span></h2>${body}</section>`;
}

const timeText = (time: string): Markup => markup`<time datetime="${time}">${formatTime(time)}</time>`;

/** What a reader wants to know first of where a report comes from: which commit was looked at, and when. */
function originPhrase({ kind, text, phrase, address }: Origin): Markup {
  const isTime = kind === "time" && text !== undefined && phrase === formatTime(text);
  return isTime ? timeText(text) : linkTo(address, markup`${phrase}`);
}

/** Where the report comes from: all that it knows. */
function originList(origins: readonly Origin[]): Markup {
  const write = (kind: Origin["kind"], text: string): Markup =>
    kind === "time" ? timeText(text) : kind === "code" ? markup`<code>${text}</code>` : markup`${text}`;
  const rows = origins.flatMap(({ term, text, kind, address }) =>
    text === undefined
      ? []
      : [markup`<div><dt>${term}</dt><dd>${linkTo(address, write(kind, text))}</dd></div>`],
  );
  return markup`<h2>Where this report comes from</h2><dl class="source">${rows}</dl>`;
}
