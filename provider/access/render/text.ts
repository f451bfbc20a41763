import type { FieldChange, Finding, GrantChange, Report, Severity } from "../report";
import { plainIndented, shorten, terminal, terminalLine } from "./escape";
import type { RenderOptions } from "./options";
import {
  capabilityWords,
  changeOrder,
  changeSigns,
  locationOf,
  nameOf,
  placeOf,
  plural,
  provenanceParts,
  ruleOf,
  severityCounts,
  subjectOf,
  title,
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

function fieldLine({ property, before, after }: FieldChange): string {
  const from = shorten(before ?? "not set", 300);
  return `${property}: ${from} → ${shorten(after ?? "not set", 300)}`;
}

function finding(page: Page, item: Finding, options: RenderOptions): void {
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
  if (item.witness !== undefined) detail("accepts", item.witness);
  for (const field of item.drift?.fields ?? []) detail("", fieldLine(field));
  for (const line of item.details) detail("", line);
  if (item.drift?.when !== undefined) detail("when", item.drift.when);
  if (item.advice !== undefined) detail("fix", item.advice);
  if (item.excepted !== undefined) {
    const until = item.excepted.expires === undefined ? "" : ` (until ${item.excepted.expires})`;
    detail("excepted", `${item.excepted.reason}${until}`);
  }
  // What is accepted asks for no answer.
  if (item.excepted === undefined) answers(page, item);
}

function answers(page: Page, { drift }: Finding): void {
  const ready = [
    ["put back", drift?.revert],
    ["take over", drift?.adopt],
    ["accept", drift?.accept],
  ] as const;
  for (const [name, text] of ready) {
    if (text === undefined) continue;
    page.entry(2, label(""), `${name}:`, { styles: ["dim"] });
    page.verbatim(2 + LABEL + 2, text);
  }
}

function grant(page: Page, change: GrantChange, options: RenderOptions): void {
  const { grant: now, before } = change;
  const { words, name } = subjectOf(now);
  page.entry(2, `${changeSigns[change.change]} `, `${words}${name === undefined ? "" : ` (${name})`}`, {
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

const textHeadings: Readonly<Record<Report["command"], string>> = {
  review: "RISKS",
  drift: "DRIFT",
  verify: "NOT ANNOUNCED",
};

/** For a terminal: the verdict first, then what is dangerous, then who gains and loses what. */
export function renderText(report: Report, options: RenderOptions): string {
  const page = new Page(Math.max(NARROWEST, options.width ?? DEFAULT_WIDTH), options.colour === true);
  const { state, line } = verdict(report);
  const of = report.stack === undefined ? "" : ` of ${report.stack}`;
  page.entry(0, "", `${title(report)}${of}`, { styles: ["bold"] });
  page.entry(0, "", `${line.charAt(0).toUpperCase()}${line.slice(1)}`, {
    styles: [verdictStyles[state], "bold"],
  });
  const { summary } = report;
  const counts = severityCounts(report);
  page.blank();
  const found = counts === "" ? "none" : counts;
  page.entry(0, label("Findings"), summary.excepted === 0 ? found : `${found}; ${summary.excepted} excepted`);
  if (report.command === "review") {
    page.entry(
      0,
      label("Grants"),
      `${summary.gained} gained, ${summary.widened} widened, ${summary.lost} lost, ${summary.narrowed} narrowed, ${summary.kept} kept`,
    );
  }
  const provenance = provenanceParts(report);
  if (provenance.length > 0) page.entry(0, label("From"), provenance.join(", "));
  lineSection(
    page,
    report.command === "verify" ? "MISSING OR NOT LOOKED AT" : "NOT LOOKED AT",
    report.incomplete,
  );
  if (report.findings.length > 0) {
    page.heading(`${textHeadings[report.command]} (${report.findings.length})`);
    report.findings.forEach((item, index) => {
      if (index > 0) page.blank();
      finding(page, item, options);
    });
  }
  for (const kind of changeOrder) {
    const changes = report.grants.filter(({ change }) => change === kind);
    if (changes.length === 0) continue;
    page.heading(
      `${report.command === "verify" ? "ANNOUNCED AND DONE: " : ""}${changeHeadings[kind]} (${changes.length})`,
    );
    for (const change of changes) grant(page, change, options);
  }
  if (report.trust.length > 0) {
    page.heading(`ROLES AND TRUST CHANGED (${report.trust.length})`);
    for (const change of report.trust) {
      page.entry(2, "", `${change.kind} ${change.name}, ${plural(change.grants, "grant")} touched`, {
        tail: placeOf(change.location, options.sourceRoot),
      });
      for (const field of change.fields) page.entry(4, "", fieldLine(field));
    }
  }
  if (report.excepted.length > 0) {
    page.heading(`EXCEPTED BY THE POLICY FILE (${report.excepted.length})`);
    for (const item of report.excepted) finding(page, item, options);
  }
  lineSection(page, "UNRESOLVED", report.unresolved);
  lineSection(page, "POLICY FILE: CHANGED", report.policy.changed ?? []);
  lineSection(page, "POLICY FILE: OUT OF DATE", report.policy.expired);
  lineSection(page, "POLICY FILE: OF NO USE", report.policy.unused);
  if (report.unrelated.length > 0) {
    page.heading("NOT ACCESS-RELATED");
    page.entry(2, "", report.unrelated.map(({ kind, op, count }) => `${count} ${kind} ${op}`).join(", "));
  }
  return page.toString();
}
