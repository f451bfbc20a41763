import type { Report } from "../report";
import type { Finding, Severity } from "../../review/finding";
import { describeFindings } from "../counts";
import { json, shorten } from "./escape";
import { plainText } from "../../../text/printable";
import { largestThatFits } from "./sizeLimits";
import type { RenderOptions } from "./options";
import { findLocation, repositoryPath, formatRule, joinStacks } from "./words";
import { plural } from "../../../text/plain";

const MOST_BYTES_OF_ARTIFACT = 1_000_000;

const gitlabSeverities: Readonly<Record<Severity, string>> = {
  critical: "blocker",
  high: "critical",
  medium: "major",
  low: "minor",
};

function issue(finding: Finding, options: RenderOptions): object {
  const location = findLocation(finding) ?? { file: "Pulumi.yaml", line: 1 };
  const accepts = finding.counterexample === undefined ? "" : ` (accepts ${finding.counterexample})`;
  return {
    description: shorten(plainText(`${finding.message}${accepts}`), 1000),
    check_name: formatRule(finding),
    fingerprint: finding.fingerprint,
    severity: gitlabSeverities[finding.severity],
    location: { path: repositoryPath(location, options.sourceRoot), lines: { begin: location.line } },
  };
}

/** GitLab's code quality report. What is suppressed is not in it: the form knows no suppression. */
export function renderCodequality(report: Report, options: RenderOptions): string {
  const { findings } = report;
  const note = (name: string, description: string): object => ({
    description,
    check_name: name,
    fingerprint: `${name}:${joinStacks(report) ?? ""}`,
    severity: "major",
    location: {
      path: repositoryPath({ file: "Pulumi.yaml", line: 1 }, options.sourceRoot),
      lines: { begin: 1 },
    },
  });
  const build = (count: number): string => {
    const omitted = findings.slice(count);
    const issues = [
      ...(report.complete ? [] : [note("incomplete", "Not everything could be checked")]),
      ...findings.slice(0, count).map((finding) => issue(finding, options)),
      ...(omitted.length === 0
        ? []
        : [
            note(
              "cut",
              `${plural(omitted.length, "more finding")} omitted (${describeFindings(omitted)}): the report is too large`,
            ),
          ]),
    ];
    return `${json(issues)}\n`;
  };
  return largestThatFits(options.maxBytes ?? MOST_BYTES_OF_ARTIFACT, findings.length, build) ?? build(0);
}
