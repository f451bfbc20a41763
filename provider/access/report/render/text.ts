import type { Difference, FieldChange, Report } from "../report";
import type { Finding, Severity } from "../../review/finding";
import type { GrantChange } from "../../graph/grant";
import { plainIndented, shorten, terminal, terminalLine } from "./escape";
import type { RenderOptions } from "./options";
import {
  answersTo,
  capabilityWords,
  changeOrder,
  changeSigns,
  coverageLines,
  differenceFinder,
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

const DEFAULT_WIDTH = 80;
const NARROWEST = 40;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/** Columns that a text takes on a terminal: marks take none, East Asian letters and emoji two. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) {
    if (/\p{Mn}|\p{Me}/u.test(character)) continue;
    columns += WIDE.test(character) ? 2 : 1;
  }
  return columns;
}

type Style = "bold" | "dim" | "red" | "yellow" | "green" | "cyan";

const codes: Readonly<Record<Style, string>> = {
  bold: "1",
  dim: "2",
  red: "31",
  yellow: "33",
  green: "32",
  cyan: "36",
};

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

const verdictStyles = { clean: "green", findings: "yellow", failing: "red", incomplete: "red" } as const;

/** Breaks at spaces, and inside a word only where it is wider than a line. Line feeds are not expected. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  let used = 0;
  for (const word of text.split(" ")) {
    const needed = columnsOf(word);
    if (used > 0 && used + 1 + needed > columns) {
      lines.push(line);
      line = "";
      used = 0;
    }
    if (used > 0) {
      line += ` ${word}`;
      used += 1 + needed;
    } else if (needed <= columns) {
      line += word;
      used = needed;
    } else {
      for (const character of word) {
        const more = columnsOf(character);
        if (used + more > columns) {
          lines.push(line);
          line = "";
          used = 0;
        }
        line += character;
        used += more;
      }
    }
  }
  lines.push(line);
  return lines;
}

/** Collects lines; each piece of text is escaped here and nowhere else. */
class Page {
  private readonly lines: string[] = [];

  constructor(
    private readonly width: number,
    private readonly colour: boolean,
  ) {}

  style(text: string, ...styles: readonly Style[]): string {
    if (!this.colour || styles.length === 0 || text === "") return text;
    return `\u001b[${styles.map((style) => codes[style]).join(";")}m${text}\u001b[0m`;
  }

  blank(): void {
    if (this.lines.length > 0 && this.lines.at(-1) !== "") this.lines.push("");
  }

  heading(text: string): void {
    this.blank();
    this.lines.push(this.style(text, "bold"));
  }

  /** `lead` (ours) and then the text, wrapped and aligned after it; `tail` at the right edge of the first line. */
  entry(indent: number, lead: string, text: string, options: EntryOptions = {}): void {
    const leadWidth = columnsOf(lead);
    const room = Math.max(16, this.width - indent - leadWidth);
    const tail = options.tail === undefined ? "" : terminal(options.tail);
    const body = wrap(terminal(text), room);
    const padding = " ".repeat(indent + leadWidth);
    const styles = options.styles ?? [];
    body.forEach((line, index) => {
      const start =
        index === 0 ? " ".repeat(indent) + this.style(lead, ...(options.leadStyles ?? [])) : padding;
      const safe = index === 0 && leadWidth > 0 ? line : terminalLine(line);
      this.lines.push(start + this.style(safe, ...styles));
    });
    if (tail === "") return;
    const last = this.lines.length - 1;
    const used = indent + leadWidth + columnsOf(body.at(-1) ?? "");
    const gap = this.width - used - columnsOf(tail);
    const styled = this.style(tail, "dim");
    if (gap >= 2) this.lines[last] = `${this.lines[last] ?? ""}${" ".repeat(gap)}${styled}`;
    else
      for (const line of wrap(tail, room)) this.lines.push(padding + this.style(terminalLine(line), "dim"));
  }

  /** Code or a command to copy: never wrapped. */
  verbatim(indent: number, text: string): void {
    for (const line of text.split(/\r?\n/)) {
      const safe = terminalLine(plainIndented(line).replaceAll("##", "#\\u{23}"));
      this.lines.push(" ".repeat(indent) + safe);
    }
  }

  toString(): string {
    return `${this.lines.map((line) => line.trimEnd()).join("\n")}\n`;
  }
}

interface EntryOptions {
  readonly tail?: string;
  readonly styles?: readonly Style[];
  readonly leadStyles?: readonly Style[];
}

const LABEL = 11;
const label = (text: string): string => text.padEnd(LABEL);

function fieldLine({ path, before, after }: FieldChange): string {
  const from = shorten(before ?? "not set", 300);
  return `${path}: ${from} → ${shorten(after ?? "not set", 300)}`;
}

function finding(
  page: Page,
  item: Finding,
  difference: Difference | undefined,
  options: RenderOptions,
): void {
  const style = severityStyles[item.severity];
  const bold: readonly Style[] = item.severity === "critical" ? [style, "bold"] : [style];
  page.entry(2, label(item.severity), ruleOf(item), {
    leadStyles: bold,
    styles: ["bold"],
    tail: placeOf(locationOf(item), options.sourceRoot),
  });
  const detail = (name: string, text: string): void =>
    page.entry(2, label(name), text, { leadStyles: ["dim"] });
  page.entry(2, label(""), item.message);
  if (item.counterexample !== undefined) detail("accepts", item.counterexample);
  for (const field of difference?.fields ?? []) detail("", fieldLine(field));
  for (const line of item.details) detail("", line);
  if (difference?.at !== undefined) detail("when", difference.at);
  if (difference?.actor !== undefined) detail("who", difference.actor);
  if (item.advice !== undefined) detail("fix", item.advice);
  if (item.suppression !== undefined) {
    const until = item.suppression.expires === undefined ? "" : ` (until ${item.suppression.expires})`;
    detail("suppressed", `${item.suppression.reason}${until}`);
  }
  // What is accepted asks for no answer.
  if (item.suppression !== undefined) return;
  for (const { short, text } of answersTo(difference)) {
    page.entry(2, label(""), `${short}:`, { styles: ["dim"] });
    page.verbatim(2 + LABEL + 2, text);
  }
}

function grant(page: Page, change: GrantChange, options: RenderOptions): void {
  const { grant: now, before } = change;
  const { displayName, name } = subjectOf(now);
  page.entry(2, `${changeSigns[change.change]} `, `${displayName}${name === undefined ? "" : ` (${name})`}`, {
    leadStyles: [changeStyles[change.change], "bold"],
    tail: placeOf(now.location, options.sourceRoot),
  });
  page.entry(4, "", `${nameOf(now.role)} at ${now.group.path}${now.group.isRoot ? " (root)" : ""}`, {
    styles: ["bold"],
  });
  if (before !== undefined && (before.role.key !== now.role.key || before.group.key !== now.group.key)) {
    page.entry(4, "was ", `${nameOf(before.role)} at ${before.group.path}`, { leadStyles: ["dim"] });
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

const changeHeadings: Readonly<Record<GrantChange["change"], string>> = {
  gained: "GAINED",
  lost: "LOST",
  widened: "WIDENED",
  narrowed: "NARROWED",
};

function lineSection(page: Page, heading: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  page.heading(`${heading} (${lines.length})`);
  for (const line of lines) page.entry(2, "", line);
}

function grantHeading(command: Report["command"], change: GrantChange["change"]): string {
  const heading = changeHeadings[change];
  if (command === "drift") return `${heading} BY DRIFT`;
  return command === "verify" ? `ANNOUNCED AND DONE: ${heading}` : heading;
}

const textHeadings: Readonly<Record<Report["command"], string>> = {
  review: "RISKS",
  drift: "DRIFT",
  verify: "NOT ANNOUNCED",
};

function head(page: Page, report: Report): void {
  const { state, line } = verdict(report);
  const stacks = stacksOf(report);
  page.entry(0, "", `${title(report)}${stacks === undefined ? "" : ` of ${stacks}`}`, { styles: ["bold"] });
  page.entry(0, "", `${line.charAt(0).toUpperCase()}${line.slice(1)}`, {
    styles: [verdictStyles[state], "bold"],
  });
  page.blank();
  const counts = severityCounts(report);
  const { suppressed } = report.summary;
  const found = counts === "" ? "none" : counts;
  page.entry(0, label("Findings"), suppressed === 0 ? found : `${found}; ${suppressed} suppressed`);
  for (const tally of tallies(report)) page.entry(0, label(tally.label), tallyLine(tally));
  page.entry(0, label("From"), provenanceParts(report).join(", "));
}

function grantSections(page: Page, { command, grants }: Report, options: RenderOptions): void {
  for (const kind of changeOrder) {
    const changes = grants.filter(({ change }) => change === kind);
    if (changes.length === 0) continue;
    page.heading(`${grantHeading(command, kind)} (${changes.length})`);
    for (const change of changes) grant(page, change, options);
  }
}

function trustSection(page: Page, report: Report, options: RenderOptions): void {
  const changes = trustOf(report);
  if (changes.length === 0) return;
  page.heading(`ROLES AND TRUST CHANGED (${changes.length})`);
  for (const { kind, name, grants, location, fields } of changes) {
    page.entry(2, "", `${kind} ${name}, ${plural(grants, "grant")} touched`, {
      tail: placeOf(location, options.sourceRoot),
    });
    for (const field of fields) page.entry(4, "", fieldLine(field));
  }
}

/** For a terminal: the verdict first, then what is dangerous, then who gains and loses what. */
export function renderText(report: Report, options: RenderOptions): string {
  const page = new Page(Math.max(NARROWEST, options.width ?? DEFAULT_WIDTH), options.colour === true);
  const findDifference = differenceFinder(report);
  head(page, report);
  lineSection(
    page,
    report.command === "verify" ? "MISSING OR NOT LOOKED AT" : "NOT LOOKED AT",
    report.incomplete,
  );
  if (report.findings.length > 0) {
    page.heading(`${textHeadings[report.command]} (${report.findings.length})`);
    report.findings.forEach((item, index) => {
      if (index > 0) page.blank();
      finding(page, item, findDifference(item), options);
    });
  }
  grantSections(page, report, options);
  trustSection(page, report, options);
  if (report.suppressed.length > 0) {
    page.heading(`SUPPRESSED BY THE POLICY FILE (${report.suppressed.length})`);
    for (const item of report.suppressed) finding(page, item, findDifference(item), options);
  }
  lineSection(page, "IN CODE", coverageLines(report));
  lineSection(page, "UNRESOLVED", report.unresolved);
  lineSection(page, "POLICY FILE: CHANGED", report.policy.changed ?? []);
  lineSection(page, "POLICY FILE: OUT OF DATE", report.policy.expired);
  lineSection(page, "UNUSED SUPPRESSIONS", report.policy.unused);
  const unrelated = unrelatedOf(report);
  if (unrelated.length > 0) {
    page.heading("NOT ACCESS-RELATED");
    page.entry(2, "", unrelated.join(", "));
  }
  return page.toString();
}
