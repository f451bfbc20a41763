import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import Ajv from "ajv";
import AjvDraft4 from "ajv-draft-04";
import addFormats from "ajv-formats";
import MarkdownIt from "markdown-it";
import { parseFragment } from "parse5";
import type { DefaultTreeAdapterMap } from "parse5";
import type { ReportFormat } from "../../provider/access/report/render";
import type { Report } from "../../provider/access/report/report";
import type { Finding } from "../../provider/access/review/finding";
import { ROOT } from "./engine";

/* What every form of every report keeps to. */
const load = createRequire(__filename);
const readJson = (path: string): object => JSON.parse(readFileSync(path, "utf8")) as object;

/** By the published schema of reports. */
export const validateReport = new Ajv({ allErrors: true, discriminator: true }).compile(
  readJson(join(ROOT, "schema/report.schema.json")),
);

/** By the official schema of SARIF, which has a regular expression that is none in Unicode's mode. */
export const validateSarif = addFormats(
  new AjvDraft4({ strict: false, allErrors: true, unicodeRegExp: false }),
).compile(readJson(load.resolve("@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json")));

type Node = DefaultTreeAdapterMap["node"];

/** The text that a reader of a page sees. */
function visibleText(node: Node): string {
  if ("value" in node) return node.value;
  if ("tagName" in node && ["style", "script"].includes(node.tagName)) return "";
  return "childNodes" in node ? node.childNodes.map(visibleText).join("") : "";
}

/** A text without white space and without what breaks mentions and words apart. */
const compact = (text: string): string => text.replace(/[\s\u200b\u00ad]/gu, "");

const markdownReader = new MarkdownIt({ html: true });
const textOfPage = (page: string): string => visibleText(parseFragment(page));

/** What a reader of a form sees. */
const readForm: Readonly<
  Record<Exclude<ReportFormat, "json" | "sarif" | "codequality">, (text: string) => string>
> = {
  text: (text) => text,
  md: (text) => textOfPage(markdownReader.render(text)),
  html: textOfPage,
  github: (text) => text.replaceAll("%25", "%"),
};

export const isSevere = ({ severity }: Finding): boolean => severity === "critical" || severity === "high";

/** How many findings a form shows at most, of each level; further ones are counted. */
const SHOWN_IN_GITHUB = 10;

function expectReadable(form: keyof typeof readForm, text: string, report: Report): void {
  const seen = compact(readForm[form](text));
  const severe = report.findings.filter(isSevere);
  const shown = form === "github" ? severe.slice(0, SHOWN_IN_GITHUB) : severe;
  for (const { message } of shown) expect(seen).toContain(compact(message.slice(0, 400)));
  if (form === "html") expect(text).toMatch(/^<!doctype html>/i);
  if (form === "github") {
    for (const line of text.trimEnd().split("\n")) expect(line).toMatch(/^::(error|warning|notice) .*::./);
  }
}

interface SarifLog {
  readonly runs: readonly [
    {
      readonly results: readonly {
        readonly ruleId: string;
        readonly level: string;
        readonly partialFingerprints: Readonly<Record<string, string>>;
      }[];
    },
  ];
}

function expectSarif(text: string, report: Report): void {
  const log = JSON.parse(text) as SarifLog;
  validateSarif(log);
  expect(validateSarif.errors ?? []).toEqual([]);
  const errors = log.runs[0].results.filter(({ level }) => level === "error");
  const named = errors.map(({ ruleId, partialFingerprints }) => [
    ruleId,
    Object.values(partialFingerprints)[0],
  ]);
  for (const { id, fingerprint } of report.findings.filter(isSevere))
    expect(named).toContainEqual([id, fingerprint]);
}

interface CodequalityIssue {
  readonly description: string;
  readonly check_name: string;
  readonly fingerprint: string;
  readonly severity: string;
  readonly location: { readonly path: string; readonly lines: { readonly begin: number } };
}

function expectCodequality(text: string, report: Report): void {
  const issues = JSON.parse(text) as readonly CodequalityIssue[];
  for (const { severity, location, fingerprint, description } of issues) {
    expect(["blocker", "critical", "major", "minor", "info"]).toContain(severity);
    expect(location.path).toMatch(/^[^/]/);
    expect(location.lines.begin).toBeGreaterThan(0);
    expect(description).not.toBe("");
    expect(fingerprint).not.toBe("");
  }
  expect(new Set(issues.map(({ fingerprint }) => fingerprint)).size).toBe(issues.length);
  for (const finding of report.findings.filter(isSevere)) {
    const severity = finding.severity === "critical" ? "blocker" : "critical";
    expect(issues).toContainEqual(expect.objectContaining({ fingerprint: finding.fingerprint, severity }));
  }
}

/** Checks that a form of a report is well-formed and names each critical and high finding. */
export function expectForm(form: ReportFormat, text: string, report: Report): void {
  expect(text.endsWith("\n")).toBe(true);
  if (form === "json") {
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(report)));
    validateReport(JSON.parse(text));
    expect(validateReport.errors ?? []).toEqual([]);
  } else if (form === "sarif") expectSarif(text, report);
  else if (form === "codequality") expectCodequality(text, report);
  else expectReadable(form, text, report);
}
