import type { Report } from "../report";
import type { Finding, Severity } from "../../review/finding";
import { describeFindings } from "../counts";
import { shorten, workflowMessage, workflowProperty } from "./escape";
import type { RenderOptions } from "./options";
import { headOf, originLine } from "./sections";
import { findLocation, repositoryPath, formatRule } from "./words";
import { plural } from "../../../text/plain";

/** GitHub shows ten errors, ten warnings and ten notices of a step, and drops the rest without a word. */
const SHOWN_PER_LEVEL = 10;

type AnnotationLevel = "error" | "warning" | "notice";

const levels: Readonly<Record<Severity, AnnotationLevel>> = {
  critical: "error",
  high: "error",
  medium: "warning",
  low: "notice",
};

function command(
  level: AnnotationLevel,
  properties: Readonly<Record<string, string>>,
  message: string,
): string {
  const pairs = Object.entries(properties).map(([key, value]) => `${key}=${workflowProperty(value)}`);
  return `::${level}${pairs.length === 0 ? "" : ` ${pairs.join(",")}`}::${workflowMessage(shorten(message, 2000))}`;
}

function annotation(finding: Finding, options: RenderOptions): string {
  const location = findLocation(finding);
  const where =
    location === undefined
      ? {}
      : {
          file: repositoryPath(location, options.sourceRoot),
          line: String(location.line),
          ...(location.column === undefined ? {} : { col: String(location.column) }),
        };
  const message = [
    finding.message,
    finding.counterexample === undefined ? undefined : `accepts ${finding.counterexample}`,
    finding.advice,
  ];
  const parts = message.filter((part) => part !== undefined);
  return command(
    levels[finding.severity],
    { ...where, title: `${finding.severity} ${formatRule(finding)}` },
    parts.join(" | "),
  );
}

/** Annotations of GitHub Actions, worst first, and one notice with the verdict and with what was left out. */
export function renderGithub(report: Report, options: RenderOptions): string {
  const shown = new Map<AnnotationLevel, number>();
  const lines: string[] = [];
  const hidden: Finding[] = [];
  for (const finding of report.findings) {
    const level = levels[finding.severity];
    const count = shown.get(level) ?? 0;
    // One notice is kept for the summary.
    if (count >= SHOWN_PER_LEVEL - (level === "notice" ? 1 : 0)) {
      hidden.push(finding);
      continue;
    }
    shown.set(level, count + 1);
    lines.push(annotation(finding, options));
  }
  const { title, stacks, verdict, origins } = headOf(report, options);
  const summary = [
    verdict.line,
    hidden.length === 0
      ? undefined
      : `${plural(hidden.length, "more finding")} not shown (${describeFindings(hidden)}): GitHub shows ten of each level`,
    report.suppressed.length === 0 ? undefined : `${report.suppressed.length} suppressed by the policy file`,
    originLine(origins),
  ];
  lines.push(
    command(
      "notice",
      { title: stacks === undefined ? title : `${title} of ${stacks}` },
      summary.filter((part) => part !== undefined).join("; "),
    ),
  );
  return `${lines.join("\n")}\n`;
}
