import { codeInMessage } from "../../../errors/codedError";
import { plural } from "../../../text/plain";
import { plainText } from "../../../text/printable";
import type { Finding, Severity } from "../../review/finding";
import { chooseFindings, describeFindings, largestThatFits } from "../fitReport";
import type { Report } from "../report";
import { json, shorten, uriPath, workflowMessage, workflowProperty } from "./escape";
import type { RenderOptions } from "./renderOptions";
import { describeSuppression, headOf, originLine } from "./sections";
import { findLocation, chooseName, repositoryPath, joinStacks, formatRule } from "./words";

/** GitHub shows this many results of a run. */
const MOST_RESULTS = 5_000;
/** GitHub takes 10 MB compressed; this is less before compression than that can hold. */
const MOST_BYTES_OF_SARIF = 20_000_000;

const resultLevels: Readonly<Record<Severity, "error" | "warning" | "note">> = {
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

/** A message is of lines, each of which is plain: what SARIF would take for a link is none. */
const sarifText = (lines: readonly (string | undefined)[]): string =>
  lines
    .flatMap((line) => (line === undefined || line === "" ? [] : [shorten(plainText(line), 1000)]))
    .join("\n")
    .replaceAll("](", "\\](");

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
  const reason = describeSuppression(suppression);
  if (reason === undefined) return {};
  return { suppressions: [{ kind: "external", status: "accepted", justification: plainText(reason) }] };
}

function result(finding: Finding, rules: readonly string[], options: RenderOptions): object {
  const { id, severity, fingerprint } = finding;
  return {
    ruleId: id,
    ruleIndex: rules.indexOf(id),
    level: resultLevels[severity],
    message: { text: writeMessage(finding) },
    locations: locations(finding, options),
    partialFingerprints: { "pulumiPlatform/v1": fingerprint },
    properties: { severity, "security-severity": securitySeverity[severity] },
    ...suppressions(finding),
  };
}

/** A rule is as severe as its worst finding here: hosts sort by the rule's severity. */
function rule({ id, rule: name, severity }: Finding, own: Report["ownRules"] = []): object {
  const known = own.find((each) => each.id === id);
  const described =
    known === undefined
      ? { help: { text: plainText(`npx --no pulumi-platform explain ${id}`) } }
      : { fullDescription: { text: sarifText([known.why]) }, help: { text: sarifText([known.fix]) } };
  return {
    id,
    name: plainText(name),
    shortDescription: { text: plainText(name) },
    defaultConfiguration: { level: resultLevels[severity] },
    ...described,
    properties: { tags: ["security", "access"], "security-severity": securitySeverity[severity] },
  };
}

/** The one run of a log, with the first of its results. */
function runOf(
  report: Report,
  rules: readonly object[],
  results: readonly object[],
  omitted: readonly Finding[],
): object {
  const cut =
    omitted.length === 0
      ? []
      : [
          `${omitted.length.toLocaleString("en-US")} of ${plural(results.length + omitted.length, "finding")} omitted (${describeFindings(omitted)}): the host shows no more`,
        ];
  const incomplete = report.incomplete.map((line) => sarifText([`Incomplete: ${line}`]));
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
  const { findings, suppressed } = report;
  const all = [...findings, ...suppressed];
  const bySeverity = [...all].sort(
    (a, b) => Number(securitySeverity[a.severity]) - Number(securitySeverity[b.severity]),
  );
  const worst = [...new Map(bySeverity.map((finding) => [finding.id, finding])).values()];
  const sorted = worst.sort((a, b) => (a.id < b.id ? -1 : 1));
  const ids = sorted.map(({ id }) => id);
  const rules = sorted.map((finding) => rule(finding, report.ownRules));
  const results = new Map(all.map((finding) => [finding, result(finding, ids, options)]));
  const build = (count: number): string => {
    const { shown, hidden } = chooseFindings(findings, count);
    const accepted = Math.max(0, count - findings.length);
    const run = runOf(
      report,
      rules,
      [...shown, ...suppressed.slice(0, accepted)].flatMap((finding) => results.get(finding) ?? []),
      [...hidden, ...suppressed.slice(accepted)],
    );
    const $schema = "https://json.schemastore.org/sarif-2.1.0.json";
    return `${json({ $schema, version: "2.1.0", runs: [run] })}\n`;
  };
  const maxBytes = options.maxBytes ?? MOST_BYTES_OF_SARIF;
  return largestThatFits(maxBytes, Math.min(all.length, MOST_RESULTS), build) ?? build(0);
}

/** GitHub shows ten errors, ten warnings and ten notices of a step, and drops the rest without a word. */
const SHOWN_PER_LEVEL = 10;

type AnnotationLevel = "error" | "warning" | "notice";

const annotationLevels: Readonly<Record<Severity, AnnotationLevel>> = {
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
  return `::${level} ${pairs.join(",")}::${workflowMessage(shorten(message, 2000))}`;
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
    annotationLevels[finding.severity],
    { ...where, title: `${finding.severity} ${formatRule(finding)}` },
    parts.join(" | "),
  );
}

/** Annotations of GitHub Actions, worst first, and one notice with the verdict and with what was left out. */
export function renderGithub(report: Report, options: RenderOptions): string {
  // One notice is kept for the summary.
  const levels = (["error", "warning", "notice"] as const).map((level) =>
    chooseFindings(
      report.findings.filter(({ severity }) => annotationLevels[severity] === level),
      SHOWN_PER_LEVEL - (level === "notice" ? 1 : 0),
    ),
  );
  const lines = levels.flatMap(({ shown }) => shown.map((finding) => annotation(finding, options)));
  const hidden = levels.flatMap((level) => level.hidden);
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
    const { shown, hidden } = chooseFindings(findings, count);
    const issues = [
      ...(report.complete ? [] : [note("incomplete", "Not everything could be checked")]),
      ...shown.map((finding) => issue(finding, options)),
      ...(hidden.length === 0
        ? []
        : [
            note(
              "cut",
              `${plural(hidden.length, "more finding")} omitted (${describeFindings(hidden)}): the report is too large`,
            ),
          ]),
    ];
    return `${json(issues)}\n`;
  };
  return largestThatFits(options.maxBytes ?? MOST_BYTES_OF_ARTIFACT, findings.length, build) ?? build(0);
}
