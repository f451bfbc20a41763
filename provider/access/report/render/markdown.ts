import type { Difference, FieldChange, Report } from "../report";
import type { Finding, Severity } from "../../review/finding";
import type { GrantChange } from "../../graph/grant";
import { commentMarker, markdown, markdownBlock, markdownCode, shorten } from "./escape";
import { byteLength, largestThatFits } from "./fit";
import { renderDiagram } from "./mermaid";
import type { RenderOptions } from "./options";
import {
  answersTo,
  capabilityWords,
  changeOrder,
  coverageLines,
  differenceFinder,
  digestOf,
  findingHeadings,
  grantHeadings,
  incompleteHeading,
  locationOf,
  nameOf,
  placeOf,
  plural,
  provenanceParts,
  ruleOf,
  severityCounts,
  stacksOf,
  subjectOf,
  tallies,
  tallyLine,
  title,
  trustOf,
  unrelatedOf,
  verdict,
} from "./words";

/** GitHub takes 65,536 characters in a comment; these are bytes, which are never fewer. */
const MOST_BYTES = 65_000;
const LONGEST_VALUE = 300;

const icons = { clean: "✅", findings: "🟡", failing: "🔴", incomplete: "⚠️" } as const;
const severityIcons: Readonly<Record<Severity, string>> = {
  critical: "🔴",
  high: "🟠",
  medium: "🟡",
  low: "⚪",
};
const changeWords: Readonly<Record<GrantChange["change"], string>> = {
  gained: "➕ gained",
  widened: "⬆️ widened",
  lost: "➖ lost",
  narrowed: "⬇️ narrowed",
};

/** What was made already: where little fits, the same rows are tried many times. */
class RenderCache {
  private readonly rows = new Map<GrantChange, string>();
  private readonly full = new Map<Finding, string[]>();
  private readonly short = new Map<Finding, string[]>();

  row(change: GrantChange, make: () => string): string {
    const row = this.rows.get(change) ?? make();
    this.rows.set(change, row);
    return row;
  }

  lines(finding: Finding, details: boolean, make: () => string[]): string[] {
    const known = details ? this.full : this.short;
    const lines = known.get(finding) ?? make();
    known.set(finding, lines);
    return lines;
  }
}

/** How much of the report is shown. What is left out is counted and said. */
interface RenderBudget {
  readonly diagram: boolean;
  /** Whether findings below critical are told with what belongs to them. */
  readonly details: boolean;
  readonly findings: number;
  readonly grants: number;
  /** Entries of each list of lines. */
  readonly lines: number;
}

const say = (text: string, limit = LONGEST_VALUE): string => markdown(shorten(text, limit));
const code = (text: string, limit = LONGEST_VALUE): string => markdownCode(shorten(text, limit));

function fieldLine({ path, before, after }: FieldChange): string {
  const value = (text: string | undefined): string => (text === undefined ? "not set" : code(text));
  return `${code(path)}: ${value(before)} → ${value(after)}`;
}

function fold(summary: string, body: readonly string[]): string[] {
  return ["<details>", `<summary>${summary}</summary>`, "", ...body, "", "</details>", ""];
}

function section(heading: string, lines: readonly string[], extent: RenderBudget, open = false): string[] {
  if (lines.length === 0) return [];
  const shown = lines.slice(0, extent.lines).map((line) => `- ${say(line, 500)}`);
  const left = lines.length - shown.length;
  const body = left === 0 ? shown : [...shown, `- … and ${plural(left, "more")}, left out here`];
  return open ? [`#### ${heading}`, "", ...body, ""] : fold(`${heading} (${lines.length})`, body);
}

function findingLines(
  finding: Finding,
  difference: Difference | undefined,
  extent: RenderBudget,
  options: RenderOptions,
): string[] {
  const place = placeOf(locationOf(finding), options.sourceRoot);
  const head = `- ${severityIcons[finding.severity]} **${finding.severity}** ${code(ruleOf(finding))} ${say(finding.message, 500)}`;
  const lines = [place === undefined ? head : `${head} (${code(place)})`];
  const item = (text: string): void => {
    lines.push(`  - ${text}`);
  };
  if (finding.suppression !== undefined) {
    const { reason, expires } = finding.suppression;
    item(`suppressed${expires === undefined ? "" : ` until ${say(expires)}`}: ${say(reason, 500)}`);
  }
  if (!extent.details && finding.severity !== "critical") return lines;
  if (finding.counterexample !== undefined) item(`would accept ${code(finding.counterexample)}`);
  for (const field of difference?.fields ?? []) item(fieldLine(field));
  if (difference?.at !== undefined) item(`when: ${say(difference.at)}`);
  if (difference?.actor !== undefined) item(`who: ${say(difference.actor)}`);
  if (finding.advice !== undefined) item(`**Fix:** ${say(finding.advice, 500)}`);
  const most = extent.details ? 50 : 5;
  if (finding.details.length > 0) {
    const shown = finding.details.slice(0, most).map((line) => say(line, 500));
    const left = finding.details.length - shown.length;
    if (left > 0) shown.push(`… and ${plural(left, "more line")}`);
    if (shown.length === 1) item(shown.join(""));
    else
      lines.push(
        `  - <details><summary>${plural(finding.details.length, "line")} of detail</summary>`,
        "",
        ...shown.map((line) => `    - ${line}`),
        "",
        "    </details>",
      );
  }
  if (extent.details && finding.suppression === undefined) lines.push(...answerLines(difference));
  return lines;
}

function answerLines(difference: Difference | undefined): string[] {
  return answersTo(difference).flatMap(({ heading, text, language }) => {
    const block = markdownBlock(shorten(text, 4000), language).split("\n");
    return [
      `  - <details><summary>${heading}</summary>`,
      "",
      ...block.map((line) => `    ${line}`),
      "",
      "    </details>",
    ];
  });
}

function grantRow(change: GrantChange, options: RenderOptions): string {
  const { grant, before } = change;
  const { displayName, name } = subjectOf(grant);
  const who = name === undefined ? say(displayName, 120) : `${say(displayName, 120)}<br>${code(name, 80)}`;
  const place = placeOf(grant.location, options.sourceRoot);
  const was =
    before !== undefined && (before.role.key !== grant.role.key || before.group.key !== grant.group.key)
      ? `<br>was ${code(nameOf(before.role), 80)} at ${say(before.group.path, 160)}`
      : "";
  const can = [
    ...capabilityWords(change.capabilitiesAdded).map((words_) => `+ ${say(words_, 160)}`),
    ...capabilityWords(change.capabilitiesRemoved).map((words_) => `− ${say(words_, 160)}`),
  ];
  const what = can.length === 0 ? say(change.reason, 200) : can.join("<br>");
  const cells = [
    changeWords[change.change],
    who,
    `${code(nameOf(grant.role), 80)}${was}`,
    `${say(grant.group.path, 160)}${grant.group.isRoot ? " (root)" : ""}`,
    what,
    place === undefined ? "" : code(place, 160),
  ];
  return `| ${cells.join(" | ")} |`;
}

function grantTable(
  report: Report,
  extent: RenderBudget,
  options: RenderOptions,
  made: RenderCache,
): string[] {
  if (report.grants.length === 0) return [];
  const sorted = changeOrder.flatMap((kind) => report.grants.filter(({ change }) => change === kind));
  const shown = sorted.slice(0, extent.grants);
  const left = sorted.length - shown.length;
  const lines = [`#### ${grantHeadings[report.command]}`, ""];
  const table = [
    "| Change | Who | Role | Where (and below) | Can do | Source |",
    "| --- | --- | --- | --- | --- | --- |",
    ...shown.map((change) => made.row(change, () => grantRow(change, options))),
    "",
  ];
  // A long table would push the risks' neighbours off the screen.
  if (shown.length > 20) lines.push(...fold(`${plural(shown.length, "change")} of access`, table));
  else if (shown.length > 0) lines.push(...table);
  if (left > 0) lines.push(`_${plural(left, "change")} of access left out here._`, "");
  return lines;
}

function build(report: Report, extent: RenderBudget, options: RenderOptions, made: RenderCache): string {
  const { state, line } = verdict(report);
  const counts = severityCounts(report);
  const stacks = stacksOf(report);
  const of = stacks === undefined ? "" : ` of ${code(stacks, 200)}`;
  const findDifference = differenceFinder(report);
  const lines: string[] = [];
  if (options.marker !== undefined) lines.push(commentMarker(report.command, options.marker), "");
  lines.push(
    `### ${icons[state]} ${title(report)}${of}`,
    "",
    `**${line.charAt(0).toUpperCase()}${line.slice(1)}.**`,
  );
  const parts = [
    counts === "" ? undefined : `Findings: ${counts}.`,
    report.summary.suppressed === 0
      ? undefined
      : `${report.summary.suppressed} suppressed by the policy file.`,
    ...tallies(report).map((tally) => `${tally.label}: ${tallyLine(tally)}.`),
  ].filter((part) => part !== undefined);
  if (parts.length > 0) lines.push(parts.join(" "));
  lines.push("");
  const shown = report.findings.slice(0, extent.findings);
  const left = report.findings.length - shown.length;
  const whole = left === 0 && extent.details && extent.grants >= report.grants.length && extent.lines > 1000;
  if (!whole) {
    lines.push("_This comment has room for a part of the report only; the other forms hold all of it._", "");
  }
  lines.push(...section(incompleteHeading(report), report.incomplete, extent, true));
  if (report.findings.length > 0) {
    lines.push(`#### ${findingHeadings[report.command]}`, "");
    for (const finding of shown) {
      lines.push(
        ...made.lines(finding, extent.details, () =>
          findingLines(finding, findDifference(finding), extent, options),
        ),
      );
    }
    if (left > 0)
      lines.push(`- … and ${plural(left, "more finding")}, left out here, none worse than those shown`);
    lines.push("");
  }
  lines.push(...grantTable(report, extent, options, made));
  const diagram = extent.diagram ? renderDiagram(report.grants) : undefined;
  if (diagram !== undefined) lines.push(...fold("Picture of the changes", [diagram]));
  const trust = trustOf(report);
  if (trust.length > 0) {
    const changes = trust
      .slice(0, extent.lines)
      .flatMap((change) => [
        `- ${say(change.kind)} ${code(change.name)}: ${plural(change.grants, "grant")} touched`,
        ...(extent.details ? change.fields.map((field) => `  - ${fieldLine(field)}`) : []),
      ]);
    lines.push(...fold(`Roles and trust changed (${trust.length})`, changes));
  }
  if (report.suppressed.length > 0) {
    const suppressed = report.suppressed
      .slice(0, extent.lines)
      .flatMap((finding) =>
        findingLines(finding, findDifference(finding), { ...extent, details: false }, options),
      );
    lines.push(...fold(`Suppressed by the policy file (${report.suppressed.length})`, suppressed));
  }
  lines.push(...section("In code", coverageLines(report), extent));
  lines.push(...section("Unresolved", report.unresolved, extent));
  lines.push(...section("Policy file: changed", report.policy.changed ?? [], extent, true));
  lines.push(...section("Policy file: out of date", report.policy.expired, extent, true));
  lines.push(...section("Unused suppressions", report.policy.unused, extent));
  lines.push(...section("Not access-related", unrelatedOf(report), extent));
  lines.push(`<sub>${say(provenanceParts(report).join(", "))}</sub>`);
  const digest = digestOf(report);
  if (digest !== undefined) lines.push(`<sub>digest of the report: ${code(digest)}</sub>`);
  return `${lines.join("\n")}\n`;
}

/**
 * For a comment, an issue or a summary. Where it has no room for all, the picture goes first, then details,
 * then grants, then findings, the least severe first; the verdict stays.
 */
export function renderMarkdown(report: Report, options: RenderOptions): string {
  const made = new RenderCache();
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
  for (const extent of steps) {
    const text = build(report, extent, options, made);
    if (byteLength(text) <= maxBytes) return text;
  }
  const short: RenderBudget = { diagram: false, details: false, findings: Infinity, grants: 0, lines: 10 };
  return (
    largestThatFits(maxBytes, report.grants.length, (grants) =>
      build(report, { ...short, grants }, options, made),
    ) ??
    largestThatFits(maxBytes, report.findings.length, (findings) =>
      build(report, { ...short, findings, lines: 3 }, options, made),
    ) ??
    build(report, { ...short, findings: 0, lines: 0 }, options, made)
  );
}
