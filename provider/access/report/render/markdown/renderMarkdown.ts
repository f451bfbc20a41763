import type { Report } from "../../report";
import { commentMarker } from "../escape";
import { byteLength, largestThatFits } from "../sizeLimits";
import type { RenderOptions } from "../options";
import { readDigest, provenanceParts } from "../provenance";
import { coverageLines, severityCounts, tallies, tallyLine } from "../tallies";
import { verdict } from "../verdict";
import {
  differenceFinder,
  findingHeadings,
  incompleteHeading,
  plural,
  joinStacks,
  title,
  listTrustChanges,
  describeUnrelatedChanges,
} from "../words";
import { renderDiagram } from "./diagram";
import { findingLines } from "./findings";
import { grantTable } from "./grants";
import { code, CommentContext, fieldLine, fold, linkTo, escapeText, section } from "./parts";
import type { RenderBudget } from "./parts";
import { describeFindings, weighGrants } from "../../counts";
import { capitalize } from "../../../../fields/values";

/** GitHub takes 65,536 characters in a comment; these are bytes, which are never fewer. */
const MOST_BYTES = 65_000;

/** Grants that a comment shows even where it has no room for all findings, and entries of the other lists. */
const FIRST_PARTS = [
  { grants: 20, lines: 3 },
  { grants: 20, lines: 0 },
  { grants: 5, lines: 0 },
  { grants: 1, lines: 0 },
];

const icons = { clean: "✅", findings: "🟡", failing: "🔴", incomplete: "⚠️" } as const;
/** The sentence, the commit and the page: what a reader sees without scrolling. */
function head({ report, options, links, headline }: CommentContext): string[] {
  const { state, line } = verdict(report);
  const counts = severityCounts(report);
  const stacks = joinStacks(report);
  const of = stacks === undefined ? "" : ` of ${code(stacks, 200)}`;
  const rest = headline?.rest === undefined ? "" : `, and ${headline.rest}`;
  const { commit, pageUrl, runUrl } = options;
  const about = [
    ...(commit === undefined ? [] : [`Commit ${linkTo(links.commit(), code(commit))}`]),
    ...(pageUrl === undefined ? [] : [linkTo(pageUrl, "the report as a page")]),
    ...(runUrl === undefined ? [] : [linkTo(runUrl, "the run and its files")]),
  ];
  const { suppressed } = report.summary;
  const parts = [
    `**${capitalize(line)}.**`,
    ...(counts === "" ? [] : [`Findings: ${counts}.`]),
    ...(suppressed === 0 ? [] : [`${suppressed} suppressed by the policy file.`]),
    ...tallies(report).map((tally) => `${tally.label}: ${tallyLine(tally)}.`),
  ];
  return [
    `### ${icons[state]} ${title(report)}${of}`,
    "",
    ...(headline === undefined ? [] : [`**${escapeText(headline.main)}**${rest}.`, ""]),
    parts.join(" "),
    "",
    ...(about.length === 0 ? [] : [about.join(" · "), ""]),
  ];
}

function isWhole({ findings, grants }: Report, budget: RenderBudget): boolean {
  const { details, lines } = budget;
  return budget.findings >= findings.length && details && budget.grants >= grants.length && lines > 1000;
}

function findingSection(context: CommentContext, budget: RenderBudget): string[] {
  const { report, cache } = context;
  if (report.findings.length === 0) return [];
  const findDifference = differenceFinder(report);
  const shown = report.findings.slice(0, budget.findings);
  const left = report.findings.length - shown.length;
  const lines = shown.flatMap((finding) =>
    cache.lines(finding, budget.details, () =>
      findingLines(finding, findDifference(finding), budget, context),
    ),
  );
  if (left > 0)
    lines.push(
      `- … and ${plural(left, "more finding")}, not shown here: ${describeFindings(report.findings.slice(shown.length))}`,
    );
  return [`#### ${findingHeadings[report.command]}`, "", ...lines, ""];
}

function trustSection({ report }: CommentContext, budget: RenderBudget): string[] {
  const trust = listTrustChanges(report);
  if (trust.length === 0) return [];
  const changes = trust
    .slice(0, budget.lines)
    .flatMap((change) => [
      `- ${escapeText(change.kind)} ${code(change.name)}: affects ${plural(change.grants, "grant")}`,
      ...(budget.details ? change.fields.map((field) => `  - ${fieldLine(field)}`) : []),
    ]);
  return fold(`Roles and trust changed (${trust.length})`, changes);
}

function suppressedSection(context: CommentContext, budget: RenderBudget): string[] {
  const { report } = context;
  if (report.suppressed.length === 0) return [];
  const findDifference = differenceFinder(report);
  const lines = report.suppressed
    .slice(0, budget.lines)
    .flatMap((finding) =>
      findingLines(finding, findDifference(finding), { ...budget, details: false }, context),
    );
  return fold(`Suppressed by the policy file (${report.suppressed.length})`, lines);
}

function lineSections(report: Report, budget: RenderBudget): string[] {
  const { policy, unresolved } = report;
  return [
    ...section("Coverage", coverageLines(report), budget),
    ...section("Unresolved", unresolved, budget),
    ...section("Policy file changed", policy.changed ?? [], budget, true),
    ...section("Expired suppressions", policy.expired, budget, true),
    ...section("Unused suppressions", policy.unused, budget),
    ...section("Other changes", describeUnrelatedChanges(report), budget),
  ];
}

function build(context: CommentContext, budget: RenderBudget): string {
  const { report, options } = context;
  const diagram = budget.diagram ? renderDiagram(report.grants) : undefined;
  const digest = readDigest(report);
  const cut = "_The report is too long for a comment. The other formats contain all of it._";
  const lines = [
    ...(options.marker === undefined ? [] : [commentMarker(report.command, options.marker), ""]),
    ...head(context),
    ...(isWhole(report, budget) ? [] : [cut, ""]),
    ...section(incompleteHeading(report), report.incomplete, budget, true),
    ...findingSection(context, budget),
    ...grantTable(context, budget),
    ...(diagram === undefined ? [] : fold("Diagram of the changes", [diagram])),
    ...trustSection(context, budget),
    ...suppressedSection(context, budget),
    ...lineSections(report, budget),
    `<sub>${escapeText(provenanceParts(report, options.repository).join(", "))}</sub>`,
    ...(digest === undefined ? [] : [`<sub>digest of the report: ${code(digest)}</sub>`]),
  ];
  return `${lines.join("\n")}\n`;
}

/**
 * For a comment, an issue or a summary. Where it has no room for all, the picture goes first, then details,
 * then grants, then findings, the least severe first; the verdict stays.
 */
export function renderMarkdown(report: Report, options: RenderOptions): string {
  const context = new CommentContext(report, options);
  const maxBytes = options.maxBytes ?? MOST_BYTES;
  const all: RenderBudget = {
    diagram: true,
    details: true,
    findings: Infinity,
    grants: Infinity,
    lines: Infinity,
  };
  const steps: readonly RenderBudget[] = [
    all,
    { ...all, diagram: false },
    { ...all, diagram: false, details: false, lines: 50 },
  ];
  for (const budget of steps) {
    const text = build(context, budget);
    if (byteLength(text) <= maxBytes) return text;
  }
  const short: RenderBudget = { diagram: false, details: false, findings: Infinity, grants: 0, lines: 10 };
  // What reaches a root, or is critical, stays beside the worst finding.
  const weigh = weighGrants(report.findings);
  const worst = report.grants.filter((change) => weigh(change) < 1).length;
  const buildWith = ({ grants, lines }: Pick<RenderBudget, "grants" | "lines">, findings: number): string =>
    build(context, { ...short, findings, grants: Math.min(grants, worst), lines });
  const first = FIRST_PARTS.find((parts) => byteLength(buildWith(parts, 1)) <= maxBytes) ?? {
    grants: 0,
    lines: 0,
  };
  return (
    largestThatFits(maxBytes, report.grants.length, (grants) => build(context, { ...short, grants })) ??
    largestThatFits(maxBytes, report.findings.length, (findings) => buildWith(first, findings)) ??
    buildWith(first, 0)
  );
}
