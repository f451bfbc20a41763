import type { Report } from "../../report";
import type { RenderOptions } from "../options";
import { shorten } from "../escape";
import { headlineOf } from "../headline";
import { provenanceParts } from "../provenance";
import { coverageLines, severityCounts, tallies, tallyLine } from "../tallies";
import { verdict } from "../verdict";
import {
  differenceFinder,
  formatLocation,
  plural,
  joinStacks,
  title,
  listTrustChanges,
  describeUnrelatedChanges,
} from "../words";
import { fieldLine, findingEntry, label, snippetsOf } from "./findings";
import { grantSections } from "./grants";
import { TextPage } from "./textPage";
import { capitalize } from "../../../../fields/values";

const DEFAULT_WIDTH = 80;
const NARROWEST = 40;

const verdictStyles = { clean: "green", findings: "yellow", failing: "red", incomplete: "red" } as const;

function lineSection(page: TextPage, heading: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  page.heading(`${heading} (${lines.length})`);
  for (const line of lines) page.entry(2, "- ", line);
}

const textHeadings: Readonly<Record<Report["command"], string>> = {
  review: "RISKS",
  drift: "DRIFT",
  verify: "NOT ANNOUNCED",
};

function head(page: TextPage, report: Report, options: RenderOptions): void {
  const { state, line } = verdict(report);
  const stacks = joinStacks(report);
  page.entry(0, "", `${title(report)}${stacks === undefined ? "" : ` of ${stacks}`}`, { styles: ["bold"] });
  page.entry(0, "", capitalize(line), {
    styles: [verdictStyles[state], "bold"],
  });
  const headline = headlineOf(report);
  if (headline !== undefined) {
    const { main, rest } = headline;
    page.entry(0, "", `${shorten(main, 300)}${rest === undefined ? "" : `, and ${rest}`}`);
  }
  page.blank();
  const counts = severityCounts(report);
  const { suppressed } = report.summary;
  const found = counts === "" ? "none" : counts;
  page.entry(0, label("Findings"), suppressed === 0 ? found : `${found}; ${suppressed} suppressed`);
  for (const tally of tallies(report)) page.entry(0, label(tally.label), tallyLine(tally));
  page.entry(0, label("From"), provenanceParts(report, options.repository).join(", "));
}

function trustSection(page: TextPage, report: Report, options: RenderOptions): void {
  const changes = listTrustChanges(report);
  if (changes.length === 0) return;
  page.heading(`ROLES AND TRUST CHANGED (${changes.length})`);
  for (const { kind, name, grants, location, fields } of changes) {
    page.entry(2, "- ", `${kind} ${name}: affects ${plural(grants, "grant")}`, {
      tail: formatLocation(location, options.sourceRoot),
    });
    for (const field of fields) page.entry(4, "- ", fieldLine(field));
  }
}

function findingSection(page: TextPage, report: Report, options: RenderOptions): void {
  if (report.findings.length === 0) return;
  const findDifference = differenceFinder(report);
  page.heading(`${textHeadings[report.command]} (${report.findings.length})`);
  report.findings.forEach((item, index) => {
    if (index > 0) page.blank();
    findingEntry(page, item, findDifference(item), options);
  });
  const hasSnippets = report.findings.some((item) => snippetsOf(item, findDifference(item)).length > 0);
  if (options.fix === true || !hasSnippets) return;
  page.blank();
  page.entry(2, "", "Use --fix to show the commands, code and policy entries for these findings.", {
    styles: ["dim"],
  });
}

function suppressedSection(page: TextPage, report: Report, options: RenderOptions): void {
  if (report.suppressed.length === 0) return;
  const findDifference = differenceFinder(report);
  page.heading(`SUPPRESSED BY THE POLICY FILE (${report.suppressed.length})`);
  for (const item of report.suppressed) findingEntry(page, item, findDifference(item), options);
}

/** For a terminal: the verdict first, then what is dangerous, then who gains and loses what. */
export function renderText(report: Report, options: RenderOptions): string {
  const page = new TextPage(Math.max(NARROWEST, options.width ?? DEFAULT_WIDTH), options.colour === true);
  head(page, report, options);
  lineSection(
    page,
    report.command === "verify" ? "MISSING OR NOT CHECKED" : "NOT CHECKED",
    report.incomplete,
  );
  findingSection(page, report, options);
  grantSections(page, report, options);
  trustSection(page, report, options);
  suppressedSection(page, report, options);
  lineSection(page, "COVERAGE", coverageLines(report));
  lineSection(page, "UNRESOLVED", report.unresolved);
  lineSection(page, "POLICY FILE CHANGED", report.policy.changed ?? []);
  lineSection(page, "EXPIRED SUPPRESSIONS", report.policy.expired);
  lineSection(page, "UNUSED SUPPRESSIONS", report.policy.unused);
  const unrelated = describeUnrelatedChanges(report);
  if (unrelated.length > 0) {
    page.heading("OTHER CHANGES");
    page.entry(2, "", unrelated.join(", "));
  }
  return page.toString();
}
