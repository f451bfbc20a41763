import { capitalize } from "../../../../fields/values";
import type { GrantChange } from "../../../graph/grant";
import type { Severity } from "../../../review/finding";
import type { FieldChange, Report } from "../../report";
import { EntryList } from "../entries";
import type { Entry } from "../entries";
import { shorten } from "../escape";
import { headlineOf, incompleteHeading, provenanceParts, tallies, tallyLine, verdict } from "../head";
import type { RenderOptions } from "../options";
import { sectionsOf } from "../sections";
import type { Section } from "../sections";
import {
  capabilityWords,
  changeOrder,
  changeSigns,
  chooseName,
  fieldSides,
  formatLocation,
  formatRule,
  joinStacks,
  nameSubject,
  title,
} from "../words";
import { plural } from "../../../../text/plain";
import type { Style } from "./textPage";
import { TextPage } from "./textPage";

const DEFAULT_WIDTH = 80;
const NARROWEST = 40;
const LABEL = 11;
const label = (text: string): string => text.padEnd(LABEL);

const verdictStyles = { clean: "green", findings: "yellow", failing: "red", incomplete: "red" } as const;
const severityStyles: Readonly<Record<Severity, Style>> = {
  critical: "red",
  high: "red",
  medium: "yellow",
  low: "cyan",
};
const changeStyles: Readonly<Record<GrantChange["change"], Style>> = {
  gained: "yellow",
  widened: "yellow",
  lost: "green",
  narrowed: "green",
};

/** For a terminal: the verdict first, then what is dangerous, then who gains and loses what. */
export function renderText(report: Report, options: RenderOptions): string {
  const page = new TextPage(Math.max(NARROWEST, options.width ?? DEFAULT_WIDTH), options.colour === true);
  printHead(page, report, options);
  printLines(page, incompleteHeading(report), report.incomplete);
  for (const section of sectionsOf(report, new EntryList(report))) {
    if (section.count > 0) printSection(page, section, report, options);
  }
  return page.toString();
}

function printHead(page: TextPage, report: Report, options: RenderOptions): void {
  const { state, line } = verdict(report);
  const stacks = joinStacks(report);
  page.entry(0, "", `${title(report)}${stacks === undefined ? "" : ` of ${stacks}`}`, { styles: ["bold"] });
  page.entry(0, "", capitalize(line), { styles: [verdictStyles[state], "bold"] });
  const headline = headlineOf(report);
  if (headline !== undefined) {
    const { main, rest } = headline;
    page.entry(0, "", `${shorten(main, 300)}${rest === undefined ? "" : `, and ${rest}`}`);
  }
  page.blank();
  for (const tally of tallies(report)) page.entry(0, label(tally.label), tallyLine(tally));
  page.entry(0, label("From"), provenanceParts(report, options.repository).join(", "));
}

function printSection(page: TextPage, section: Section, report: Report, options: RenderOptions): void {
  const { content, heading, count } = section;
  switch (content.kind) {
    case "lines":
      printLines(page, heading, content.lines);
      return;
    case "entries":
      page.heading(`${heading.toUpperCase()} (${count})`);
      content.entries.forEach((entry, index) => {
        if (index > 0) page.blank();
        printEntry(page, entry, options);
      });
      if (options.fix !== true && content.entries.some(({ remedies }) => remedies.length > 0)) {
        page.blank();
        page.entry(2, "", "Use --fix to show the commands, code and policy entries for these findings.", {
          styles: ["dim"],
        });
      }
      return;
    case "grants":
      for (const kind of changeOrder) {
        const changes = content.grants.filter(({ change }) => change === kind);
        if (changes.length === 0) continue;
        page.heading(`${grantHeading(report.command, kind)} (${changes.length})`);
        for (const change of changes) printGrant(page, change, options);
      }
      return;
    case "trust":
      page.heading(`${heading.toUpperCase()} (${count})`);
      for (const { kind, name, grants, location, fields } of content.changes) {
        page.entry(2, "- ", `${kind} ${name}: affects ${plural(grants, "grant")}`, {
          tail: formatLocation(location, options.sourceRoot),
        });
        for (const field of fields) page.entry(4, "- ", fieldLine(field));
      }
  }
}

function printLines(page: TextPage, heading: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  page.heading(`${heading.toUpperCase()} (${lines.length})`);
  for (const line of lines) page.entry(2, "- ", line);
}

function printEntry(page: TextPage, entry: Entry, { sourceRoot, fix }: RenderOptions): void {
  const [{ severity }] = entry.findings;
  const style = severityStyles[severity];
  page.entry(2, label(severity), entry.rules.map(formatRule).join(", "), {
    leadStyles: severity === "critical" ? [style, "bold"] : [style],
    styles: ["bold"],
    tail: formatLocation(entry.location, sourceRoot),
  });
  const detail = (name: string, text: string): void =>
    page.entry(2, label(name), text, { leadStyles: ["dim"] });
  const bullet = (text: string): void => page.entry(2 + LABEL, "- ", text);
  detail("", entry.message);
  for (const { id, severity: own, message } of entry.others) bullet(`${own} ${id}: ${message}`);
  for (const field of entry.fields) bullet(fieldLine(field));
  for (const line of entry.details) bullet(line);
  for (const text of entry.accepts) detail("accepts", text);
  if (entry.when !== undefined) detail("when", entry.when);
  if (entry.who !== undefined) detail("who", entry.who);
  for (const { id, fixes } of entry.advice) {
    for (const text of fixes) detail("fix", entry.advice.length === 1 ? text : `${id}: ${text}`);
  }
  for (const reason of entry.accepted) detail("suppressed", reason);
  if (fix !== true) return;
  for (const { short, text } of entry.remedies) {
    page.entry(2, label(""), `${short}:`, { styles: ["dim"] });
    page.verbatim(2 + LABEL + 2, text);
  }
}

function fieldLine(field: FieldChange): string {
  const { isSet, before, after } = fieldSides(field);
  const show = (text: string | undefined): string => shorten(text ?? "not set", 300);
  if (!isSet) return `${field.path}: ${before.map(show).join("")} → ${after.map(show).join("")}`;
  return `${field.path}: ${[...after.map((text) => `+ ${show(text)}`), ...before.map((text) => `- ${show(text)}`)].join(", ")}`;
}

function grantHeading(command: Report["command"], change: GrantChange["change"]): string {
  const heading = change.toUpperCase();
  if (command === "drift") return `${heading} BY DRIFT`;
  return command === "verify" ? `ANNOUNCED AND APPLIED: ${heading}` : heading;
}

function printGrant(page: TextPage, change: GrantChange, options: RenderOptions): void {
  const { grant: now, before } = change;
  const { displayName, name } = nameSubject(now);
  page.entry(2, `${changeSigns[change.change]} `, `${displayName}${name === undefined ? "" : ` (${name})`}`, {
    leadStyles: [changeStyles[change.change], "bold"],
    tail: formatLocation(now.location, options.sourceRoot),
  });
  page.entry(4, "", `${chooseName(now.role)} at ${now.group.path}${now.group.isRoot ? " (root)" : ""}`, {
    styles: ["bold"],
  });
  if (before !== undefined && (before.role.key !== now.role.key || before.group.key !== now.group.key)) {
    page.entry(4, "was ", `${chooseName(before.role)} at ${before.group.path}`, { leadStyles: ["dim"] });
  }
  if (change.reason !== "") page.entry(4, "", change.reason, { styles: ["dim"] });
  const sets = [
    ["can     ", change.capabilitiesAdded],
    ["cannot  ", change.capabilitiesRemoved],
  ] as const;
  for (const [lead, capabilities] of sets) {
    if (capabilities.length > 0) {
      page.entry(4, lead, capabilityWords(capabilities).join("; "), { leadStyles: ["dim"] });
    }
  }
}
