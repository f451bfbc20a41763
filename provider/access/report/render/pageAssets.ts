/** The page's style. In the page itself: it loads nothing. */
export const pageStyle = `
:root {
  color-scheme: light dark;
  --paper: #fcfcfb; --raised: #ffffff; --ink: #1c1f23; --soft: #5b626b; --rule: #dfe2e6; --wash: #f2f3f5;
  --focus: #0b57d0; --critical: #a3123a; --high: #b3400b; --medium: #7a5a00; --low: #4d5b6b;
  --gain: #9a3b06; --loss: #1c6a3a; --good: #1c6a3a;
  --critical-wash: #fdeaf0; --high-wash: #fdeee4; --gain-wash: #fdf0e3; --edge: #868d96; --medium-wash: #fbf3d6; --low-wash: #eceff3;
  --sans: ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15171a; --raised: #1b1e22; --ink: #e6e8eb; --soft: #a2a9b3; --rule: #32373d; --wash: #22262b;
    --focus: #8ab4f8; --critical: #ff9db4; --high: #ffb285; --medium: #ecd077; --low: #b6c2d0;
    --gain: #ffb285; --loss: #86d6a3; --good: #86d6a3;
    --critical-wash: #3d1722; --high-wash: #3b2314; --gain-wash: #3a2817; --edge: #868d96; --medium-wash: #352d10; --low-wash: #272d34;
  }
}
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 4rem; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 0.875rem/1.5 var(--sans); font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}
.wrap { max-width: 92rem; margin: 0 auto; padding-inline: 1.5rem; }
h1, h2, h3, p, ul, ol, dl, dd, pre, figure { margin: 0; padding: 0; }
ul, ol { list-style: none; }
h2 { font-size: 1.0625rem; line-height: 1.35; font-weight: 650; letter-spacing: -0.005em; margin-bottom: 0.625rem; }
h2 .n { color: var(--soft); font-weight: 400; margin-left: 0.25rem; }
code, pre, .mono { font-family: var(--mono); font-size: 0.9286em; }
code { background: var(--wash); border-radius: 3px; padding: 0.0625rem 0.25rem; }
pre { background: var(--wash); border-radius: 4px; padding: 0.5rem 0.75rem; overflow-x: auto; white-space: pre; overflow-wrap: normal; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; border-radius: 3px; }
[hidden], .js [data-item]:not(.on) { display: none !important; }
.sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -100rem; top: 0; background: var(--raised); color: var(--ink); padding: 0.5rem 1rem; z-index: 3; }
.skip:focus { left: 0.5rem; top: 0.5rem; }

header.top { padding: 2rem 0 1.25rem; }
h1 { font-size: 0.9375rem; line-height: 1.4; font-weight: 500; color: var(--soft); }
h1 .mono { color: var(--ink); }
.verdict { font-size: 1.75rem; line-height: 1.2; font-weight: 650; letter-spacing: -0.015em; margin: 0.25rem 0 0.5rem; text-wrap: balance; }
.verdict::before { content: ""; display: inline-block; width: 0.625rem; height: 0.625rem; border-radius: 50%; background: currentColor; margin-right: 0.625rem; vertical-align: 0.125em; }
.verdict.clean { color: var(--good); } .verdict.findings { color: var(--medium); }
.verdict.failing, .verdict.incomplete { color: var(--critical); }
.lead { font-size: 1.0625rem; line-height: 1.45; max-width: 60rem; }
.lead strong { font-weight: 650; }
.provenance { color: var(--soft); font-size: 0.8125rem; margin: 0.375rem 0 1rem; }
.tallies { display: flex; flex-wrap: wrap; gap: 0.375rem 2.5rem; }
.tally, .tally dl { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.125rem 0.75rem; color: var(--soft); }
.tally .label { margin: 0; font-size: 0.8125rem; }
.tally dl div { display: flex; gap: 0.3125rem; align-items: baseline; color: var(--ink); }
.tally dt { order: 2; } .tally dd { font-weight: 650; }

.filters { position: sticky; top: 0; z-index: 2; background: var(--raised); border-block: 1px solid var(--rule); }
.filters form { display: flex; flex-wrap: wrap; align-items: end; gap: 0.5rem 0.75rem; padding-block: 0.625rem; }
.filters label { display: grid; gap: 0.125rem; font-size: 0.75rem; color: var(--soft); flex: 1 1 9rem; max-width: 18rem; }
.filters input, .filters select, .filters button, .more {
  font: 0.875rem/1.4 var(--sans); color: var(--ink); background: var(--paper); border: 1px solid var(--edge);
  border-radius: 5px; padding: 0.3125rem 0.5rem; width: 100%; min-height: 2rem;
}
.filters button, .more { width: auto; padding-inline: 0.75rem; cursor: pointer; }
.filters button:hover, .more:hover { background: var(--wash); }
.filters output { flex: 1 0 100%; color: var(--soft); font-size: 0.8125rem; }

.sections { padding-block: 1.75rem 3rem; }
section, aside { margin-bottom: 2.25rem; }
section:last-child { margin-bottom: 0; }

.tag { display: inline-block; font-size: 0.75rem; line-height: 1.4; font-weight: 600; border-radius: 3px; padding: 0 0.375rem; white-space: nowrap; }
.critical { color: var(--critical); background: var(--critical-wash); } .high { color: var(--high); background: var(--high-wash); }
.medium { color: var(--medium); background: var(--medium-wash); } .low { color: var(--low); background: var(--low-wash); }
.gained, .widened { color: var(--gain); } .lost, .narrowed { color: var(--loss); }
.soft, .at { color: var(--soft); } .where { color: var(--soft); font-size: 0.8125rem; }
a { color: var(--focus); text-underline-offset: 0.15em; text-decoration-thickness: from-font; }
del { color: var(--soft); text-decoration-color: var(--loss); } del code { color: inherit; }
ins { text-decoration: none; background: var(--gain-wash); border-radius: 3px; padding: 0 0.1875rem; }
ins code { background: none; padding: 0; }
.change { font-weight: 600; white-space: nowrap; }

.legend { display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; font-size: 0.8125rem; color: var(--soft); margin-bottom: 0.75rem; }
.legend div { display: flex; gap: 0.4375rem; }

.cards { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.75rem; }
.card { background: var(--raised); border: 1px solid var(--rule); border-radius: 6px; padding: 0.875rem 1rem; }
.edge-critical { border-left: 3px solid var(--critical); } .edge-high { border-left: 3px solid var(--high); }
.edge-medium { border-left: 3px solid var(--medium); } .edge-low { border-left: 3px solid var(--low); }
.card .head { display: flex; flex-wrap: wrap; align-items: center; gap: 0.375rem 0.75rem; margin-bottom: 0.375rem; }
.chips { display: flex; flex-wrap: wrap; gap: 0.25rem 0.375rem; }
.chip { display: inline-block; font-size: 0.75rem; line-height: 1.4; border-radius: 3px; padding: 0 0.375rem; }
.card h3 { font-size: 1rem; line-height: 1.4; font-weight: 600; max-width: 68rem; }
.card .where { margin-top: 0.125rem; }
.also { margin-top: 0.5rem; display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.25rem; } .also .tag { margin-right: 0.25rem; }
.fields { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.375rem; margin-top: 0.5rem; }
.fields div { border-left: 2px solid var(--rule); padding-left: 0.75rem; }
.fields dt { color: var(--soft); } .fields dd + dd { margin-top: 0.0625rem; }
.facts { display: grid; grid-template-columns: 4.75rem minmax(0, 1fr); gap: 0.25rem 0.75rem; margin-top: 0.625rem; max-width: 68rem; }
.facts dt { color: var(--soft); } .facts p + p { margin-top: 0.25rem; }
details { margin-top: 0.375rem; } summary { cursor: pointer; color: var(--soft); width: fit-content; border-radius: 3px; }
summary:hover { color: var(--ink); } details[open] > summary { margin-bottom: 0.25rem; }
details ul, .lines { padding-left: 1.125rem; list-style: disc; }
.body { margin-top: 0.625rem; } .body > ul { margin-top: 0.375rem; }
.lines li { margin: 0.125rem 0; }
pre code { user-select: all; }

table { border-collapse: collapse; width: 100%; table-layout: fixed; }
th, td { text-align: left; vertical-align: top; padding: 0.5rem 1rem 0.5rem 0; border-top: 1px solid var(--rule); font-weight: 400; }
thead th { font-size: 0.75rem; color: var(--soft); border-top: 0; padding-block: 0 0.375rem; vertical-align: bottom; }
tbody tr:last-child > * { border-bottom: 1px solid var(--rule); }
td details { margin-top: 0; }
.c0 { width: 8.5rem; } .c1 { width: 22%; } .c2 { width: 27%; } .c4 { width: 8rem; }
th[scope="row"] { font-weight: 500; }
.alert { border-left: 3px solid var(--critical); padding-left: 1rem; margin-block: 1rem; }
.alert h2 { margin-bottom: 0.25rem; }
.more { margin-top: 0.75rem; }
.none { color: var(--soft); }
footer { border-top: 1px solid var(--rule); color: var(--soft); font-size: 0.8125rem; padding-block: 1.25rem 2.5rem; }
footer h2 { font-size: 0.8125rem; color: var(--ink); }

@media (max-width: 56rem) {
  .sections { padding-top: 1.25rem; } .filters { position: static; }
  .wrap { padding-inline: 1rem; } .verdict { font-size: 1.375rem; } header.top { padding-top: 1.25rem; }
  .card { padding: 0.75rem 0.875rem; }
  .facts { grid-template-columns: minmax(0, 1fr); gap: 0; } .facts dd { margin-bottom: 0.375rem; }
  table, tbody, tr, th[scope="row"], td { display: block; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tbody { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.75rem; }
  tbody tr, tbody tr:last-child { border: 1px solid var(--rule); border-radius: 6px; background: var(--raised); padding: 0.625rem 0.875rem; }
  tbody tr > *, tbody tr:last-child > * { border: 0; padding: 0; width: auto; }
  tbody td + td, tbody th + td, tbody td + th { margin-top: 0.375rem; }
  td[data-label]::before { content: attr(data-label); display: block; font-size: 0.75rem; color: var(--soft); }
  .grants td:first-child::before { content: none; } td:empty, td:has(> .where:empty) { display: none; }
}
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
@media print {
  .more { display: none; }
  :root { --paper: #fff; --raised: #fff; --ink: #000; --soft: #444; --rule: #bbb; --wash: #f4f4f4;
    --critical: #8c0f31; --high: #8c3208; --medium: #5f4600; --low: #333; --gain: #7a2f05; --loss: #14532d; --good: #14532d;
    --critical-wash: none; --high-wash: none; --medium-wash: none; --low-wash: none; --gain-wash: none; }
  body { font-size: 9pt; } .filters, .skip { display: none; }
  .wrap { max-width: none; padding-inline: 0; } .sections { padding-block: 0.5rem; }
  thead { display: table-header-group; }
  tr, .card { break-inside: avoid; } h2 { break-after: avoid; }
  pre { white-space: pre-wrap; }
}
`;

/** Before anything is drawn: rows are shown as the filter says, so that thousands cost nothing at first. */
export const early = `document.documentElement.classList.add("js");`;

/**
 * The page's script. In the page itself: it loads nothing. It reads the rows and cards as they are, so that without it
 * everything is there to read; only then there is no filter. It shows what has all words of the filter, the first few hundred
 * at first, and says how much that is.
 */
export const script = `
"use strict";
(() => {
const STEP = 200;
const one = (selector) => document.querySelector(selector);
const all = (selector) => Array.from(document.querySelectorAll(selector));
const number = (value) => value.toLocaleString("en-US");
const form = one("#filter");
const rank = { critical: 4, high: 3, medium: 2, low: 1 };
const sum = (entries) => entries.reduce((total, { count }) => total + count, 0);
const listOf = (item) => {
  const entries = all('[data-item="' + item + '"]').map((element) => ({
    element,
    count: Number(element.dataset.count || 1),
    text: element.textContent.toLowerCase(),
    rank: rank[element.dataset.severity] || 0,
  }));
  return { entries, total: sum(entries), limit: STEP, more: one("#more-" + item), empty: one("#no-" + item) };
};
const lists = { finding: listOf("finding"), grant: listOf("grant") };

function show(list) {
  const words = form.elements.words.value.toLowerCase().split(/\\s+/);
  const least = rank[form.elements.severity.value] || 0;
  const shown = list.entries.filter(({ text, rank }) => rank >= least && words.every((word) => text.includes(word)));
  const first = new Set(shown.slice(0, list.limit));
  for (const entry of list.entries) entry.element.classList.toggle("on", first.has(entry));
  const isCut = shown.length > list.limit;
  if (list.more) {
    list.more.hidden = !isCut;
    list.more.textContent = "Show all " + number(shown.length);
  }
  if (list.empty) list.empty.hidden = shown.length > 0 || list.total === 0;
  return number(sum(shown)) + " of " + number(list.total) + (isCut ? ", the first " + number(list.limit) + " listed" : "");
}

function filter(limit) {
  for (const list of Object.values(lists)) list.limit = limit;
  update();
}

function update() {
  one("#count").textContent = "Findings: " + show(lists.finding) + ". Changes of access: " + show(lists.grant) + ".";
}

let pending = 0;
form.addEventListener("input", () => {
  clearTimeout(pending);
  pending = setTimeout(filter, 80, STEP);
});
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(filter, 0, STEP));
for (const list of Object.values(lists)) {
  if (!list.more) continue;
  list.more.addEventListener("click", () => {
    list.limit = Infinity;
    update();
  });
}

let opened = [];
addEventListener("beforeprint", () => {
  filter(Infinity);
  opened = all("details:not([open])");
  for (const element of opened) element.open = true;
});
addEventListener("afterprint", () => {
  for (const element of opened) element.open = false;
  filter(STEP);
});

for (const element of all(".js")) element.hidden = false;
filter(STEP);
})();
`;
