import { codeInMessage } from "../../../errors/codedError";
import type { Report } from "../report";
import type { Finding, Severity } from "../../review/finding";
import { describeFindings } from "../counts";
import { json, shorten, uriPath } from "./escape";
import { plainText } from "../../../text/printable";
import { largestThatFits } from "./sizeLimits";
import type { RenderOptions } from "./options";
import { findLocation, chooseName, repositoryPath, joinStacks } from "./words";
import { plural } from "../../../text/plain";

/** GitHub shows this many results of a run. */
const MOST_RESULTS = 5_000;
/** GitHub takes 10 MB compressed; this is less before compression than that can hold. */
const MOST_BYTES_OF_SARIF = 20_000_000;

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
const sarifText = (lines: readonly (string | undefined)[]): string =>
  lines
    .flatMap((line) => (line === undefined || line === "" ? [] : [shorten(plainText(line), 1000)]))
    .join("\n");

function writeMessage(finding: Finding): string {
  const { details } = finding;
  return sarifText([
    finding.message,
    finding.counterexample === undefined ? undefined : `Accepts: ${finding.counterexample}`,
    ...details.slice(0, 20),
    details.length > 20 ? `… and ${plural(details.length - 20, "more line")}` : undefined,
    finding.advice,
    findLocation(finding) === undefined ? "The line of the program is unknown." : undefined,
  ]);
}

/** The resource that a finding is about. */
function logicalLocations(finding: Finding): object {
  const name = finding.name ?? finding.grant?.subject.name;
  const full = finding.urn ?? finding.uid;
  if (name === undefined && full === undefined) return {};
  const qualified = full === undefined ? {} : { fullyQualifiedName: plainText(full) };
  return {
    logicalLocations: [{ name: plainText(name ?? chooseName(finding)), ...qualified, kind: "resource" }],
  };
}

function locations(finding: Finding, { sourceRoot }: RenderOptions): object[] {
  const location = findLocation(finding);
  const place = location ?? { file: "Pulumi.yaml", line: 1 };
  const column = location?.column === undefined ? {} : { startColumn: Math.max(1, location.column) };
  return [
    {
      physicalLocation: {
        artifactLocation: { uri: uriPath(repositoryPath(place, sourceRoot)) },
        region: { startLine: Math.max(1, place.line), ...column },
      },
      ...logicalLocations(finding),
    },
  ];
}

function suppressions({ suppression }: Finding): object {
  if (suppression === undefined) return {};
  const { reason, expires } = suppression;
  const justification = plainText(expires === undefined ? reason : `${reason} (until ${expires})`);
  return { suppressions: [{ kind: "external", status: "accepted", justification }] };
}

function result(finding: Finding, rules: readonly string[], options: RenderOptions): object {
  const { id, severity, fingerprint } = finding;
  return {
    ruleId: id,
    ruleIndex: rules.indexOf(id),
    level: levels[severity],
    message: { text: writeMessage(finding) },
    locations: locations(finding, options),
    partialFingerprints: { "pulumiPlatform/v1": fingerprint },
    properties: { severity, "security-severity": securitySeverity[severity] },
    ...suppressions(finding),
  };
}

/** A rule is as severe as its worst finding here: hosts sort by the rule's severity. */
function rule(id: string, findings: readonly Finding[], own: Report["ownRules"] = []): object {
  const known = own.find((each) => each.id === id);
  const described =
    known === undefined
      ? { help: { text: plainText(`npx --no pulumi-platform explain ${id}`) } }
      : { fullDescription: { text: sarifText([known.why]) }, help: { text: sarifText([known.fix]) } };
  const worst = findings.find((finding) => finding.id === id);
  const name = worst?.rule ?? id;
  const severity = worst?.severity ?? "low";
  return {
    id,
    name: plainText(name),
    shortDescription: { text: plainText(name) },
    defaultConfiguration: { level: levels[severity] },
    ...described,
    properties: { tags: ["security", "access"], "security-severity": securitySeverity[severity] },
  };
}

/** The one run of a log, with the first of its results. */
function runOf(
  report: Report,
  rules: readonly object[],
  results: readonly object[],
  all: readonly Finding[],
): object {
  const omitted = all.slice(results.length);
  const cut =
    omitted.length === 0
      ? []
      : [
          `${omitted.length.toLocaleString("en-US")} of ${plural(all.length, "finding")} omitted (${describeFindings(omitted)}): the host shows no more`,
        ];
  const incomplete = report.incomplete.map((line) => plainText(`Incomplete: ${line}`));
  const notifications = [...incomplete.slice(0, 100), ...cut].map((line) => {
    const code = codeInMessage(line);
    const descriptor = code === undefined ? {} : { descriptor: { id: code } };
    return { ...descriptor, level: "warning", message: { text: line } };
  });
  const { name, version } = report.tool;
  return {
    tool: { driver: { name, version, semanticVersion: version, rules } },
    automationDetails: { id: plainText(`${name}/${report.command}/${joinStacks(report) ?? ""}`) },
    columnKind: "utf16CodeUnits",
    invocations: [
      {
        executionSuccessful: report.complete,
        ...(notifications.length === 0 ? {} : { toolExecutionNotifications: notifications }),
      },
    ],
    properties: { provenance: report.provenance },
    results,
  };
}

/** SARIF 2.1.0. Every result has a file: hosts drop those without one. */
export function renderSarif(report: Report, options: RenderOptions): string {
  const all = [...report.findings, ...report.suppressed];
  const ids = [...new Set(all.map(({ id }) => id))].sort();
  const bySeverity = [...all].sort(
    (a, b) => Number(securitySeverity[b.severity]) - Number(securitySeverity[a.severity]),
  );
  const rules = ids.map((id) => rule(id, bySeverity, report.ownRules));
  const results = all.slice(0, MOST_RESULTS).map((finding) => result(finding, ids, options));
  const build = (count: number): string => {
    const run = runOf(report, rules, results.slice(0, count), all);
    const $schema = "https://json.schemastore.org/sarif-2.1.0.json";
    return `${json({ $schema, version: "2.1.0", runs: [run] })}\n`;
  };
  const maxBytes = options.maxBytes ?? MOST_BYTES_OF_SARIF;
  return largestThatFits(maxBytes, results.length, build) ?? build(0);
}
