import type { Report } from "../report";
import type { Finding, Severity } from "../../review/finding";
import { json, plain, shorten, uriPath } from "./escape";
import { byteLength, largestThatFits } from "./fit";
import type { RenderOptions } from "./options";
import { locationOf, nameOf, pathOf, plural, stacksOf } from "./words";

/** GitHub shows this many results of a run. */
const MOST_RESULTS = 5_000;
/** GitHub takes 10 MB compressed; this is less before compression than that can hold. */
const MOST_BYTES = 20_000_000;

const levels: Readonly<Record<Severity, "error" | "warning" | "note">> = {
  critical: "error",
  high: "error",
  medium: "warning",
  low: "note",
};

/** GitHub's bands: above 9.0 critical, above 7.0 high, above 4.0 medium. */
const securitySeverity: Readonly<Record<Severity, string>> = {
  critical: "9.5",
  high: "8.0",
  medium: "5.5",
  low: "2.0",
};

/** A message is of lines, each of which is plain. */
const text = (lines: readonly (string | undefined)[]): string =>
  lines.flatMap((line) => (line === undefined || line === "" ? [] : [shorten(plain(line), 1000)])).join("\n");

function result(finding: Finding, rules: readonly string[], options: RenderOptions): object {
  const location = locationOf(finding);
  const place = location ?? { file: "Pulumi.yaml", line: 1 };
  const name = finding.name ?? finding.grant?.subject.name;
  const full = finding.urn ?? finding.uid;
  return {
    ruleId: finding.id,
    ruleIndex: rules.indexOf(finding.id),
    level: levels[finding.severity],
    message: {
      text: text([
        finding.message,
        finding.counterexample === undefined ? undefined : `Accepts: ${finding.counterexample}`,
        ...finding.details.slice(0, 20),
        finding.details.length > 20 ? `… and ${plural(finding.details.length - 20, "more line")}` : undefined,
        finding.advice,
        location === undefined ? "No line of the program is known for it." : undefined,
      ]),
    },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriPath(pathOf(place, options.sourceRoot)) },
          region: {
            startLine: Math.max(1, place.line),
            ...(location?.column === undefined ? {} : { startColumn: Math.max(1, location.column) }),
          },
        },
        ...(name === undefined && full === undefined
          ? {}
          : {
              logicalLocations: [
                {
                  name: plain(name ?? nameOf(finding)),
                  ...(full === undefined ? {} : { fullyQualifiedName: plain(full) }),
                  kind: "resource",
                },
              ],
            }),
      },
    ],
    partialFingerprints: { "pulumiPlatform/v1": finding.fingerprint },
    properties: { severity: finding.severity, "security-severity": securitySeverity[finding.severity] },
    ...(finding.suppression === undefined
      ? {}
      : {
          suppressions: [
            {
              kind: "external",
              status: "accepted",
              justification: plain(
                finding.suppression.expires === undefined
                  ? finding.suppression.reason
                  : `${finding.suppression.reason} (until ${finding.suppression.expires})`,
              ),
            },
          ],
        }),
  };
}

/** A rule is as severe as its worst finding here: hosts sort by the rule's severity. */
function rule(id: string, findings: readonly Finding[]): object {
  const worst = findings.find((finding) => finding.id === id);
  const name = worst?.rule ?? id;
  const severity = worst?.severity ?? "low";
  return {
    id,
    name: plain(name),
    shortDescription: { text: plain(name) },
    defaultConfiguration: { level: levels[severity] },
    help: { text: plain(`pulumi-platform explain ${id}`) },
    properties: { tags: ["security", "access"], "security-severity": securitySeverity[severity] },
  };
}

/** SARIF 2.1.0. Every result has a file: hosts drop those without one. */
export function renderSarif(report: Report, options: RenderOptions): string {
  const all = [...report.findings, ...report.suppressed];
  const ids = [...new Set(all.map(({ id }) => id))].sort();
  const bySeverity = [...all].sort(
    (a, b) => Number(securitySeverity[b.severity]) - Number(securitySeverity[a.severity]),
  );
  const rules = ids.map((id) => rule(id, bySeverity));
  const results = all.slice(0, MOST_RESULTS).map((finding) => result(finding, ids, options));
  const build = (count: number): string => {
    const left = all.length - count;
    const cut =
      left === 0 ? [] : [`${plural(left, "finding")} of ${all.length} left out: more than the host shows`];
    const incomplete = report.incomplete.map((line) => plain(`Not complete: ${line}`));
    const notifications = [...incomplete.slice(0, 100), ...cut].map((line) => ({
      level: "warning",
      message: { text: line },
    }));
    const log = {
      $schema: "https://json.schemastore.org/sarif-2.1.0.json",
      version: "2.1.0",
      runs: [
        {
          tool: {
            driver: {
              name: report.tool.name,
              version: report.tool.version,
              semanticVersion: report.tool.version,
              rules,
            },
          },
          automationDetails: { id: plain(`${report.tool.name}/${report.command}/${stacksOf(report) ?? ""}`) },
          columnKind: "utf16CodeUnits",
          invocations: [
            {
              executionSuccessful: report.complete,
              ...(notifications.length === 0 ? {} : { toolExecutionNotifications: notifications }),
            },
          ],
          properties: { provenance: report.provenance },
          results: results.slice(0, count),
        },
      ],
    };
    return `${json(log)}\n`;
  };
  const maxBytes = options.maxBytes ?? MOST_BYTES;
  const whole = build(results.length);
  if (byteLength(whole) <= maxBytes) return whole;
  return largestThatFits(maxBytes, results.length, build) ?? build(0);
}
