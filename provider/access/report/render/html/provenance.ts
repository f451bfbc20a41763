import { ageOf, proposalWord, readDigest } from "../provenance";
import { capitalize } from "../../../../fields/values";
import { joinStacks } from "../words";
import { linkTo } from "./context";
import type { PageContext } from "./context";
import { markup } from "./markup";
import type { Markup } from "./markup";

const COMMIT_SHOWN = 12;

/** `2026-05-11 06:00 UTC`; the text itself where it is no such time. */
function timeText(time: string): Markup {
  const [, day, minute] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):[\d.]+Z$/.exec(time) ?? [];
  return day === undefined || minute === undefined
    ? markup`${time}`
    : markup`<time datetime="${time}">${day} ${minute} UTC</time>`;
}

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
export function provenanceLine(context: PageContext): Markup {
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
export function provenanceFooter(context: PageContext): Markup {
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
    ["Report", mono(readDigest(report))],
    ["Pulumi", cli === undefined ? undefined : markup`${cli}`],
    ["pulumi-platform", markup`${version}`],
  ];
  const present = rows.filter(([, value]) => value !== undefined);
  return markup`<h2>Where this report comes from</h2><dl class="source">${present.map(
    ([term, value]) => markup`<div><dt>${term}</dt><dd>${value}</dd></div>`,
  )}</dl>`;
}
