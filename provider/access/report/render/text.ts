import { styleText } from "node:util";
import { capitalize, groupBy } from "../../../fields/values";
import type { GrantChange } from "../../graph/grant";
import type { Severity } from "../../review/finding";
import type { Report } from "../report";
import { describeChange, EntryList, headOf, originLine, sectionsOf, tallyLine } from "./sections";
import type { Block, Entry, Section } from "./sections";
import { plainIndented, shorten, terminal, terminalLine } from "./escape";
import type { RenderOptions } from "./renderOptions";
import { columnsOf, wrap } from "../../../text/plain";
import {
  UNDECLARED,
  capabilityWords,
  changeSigns,
  changeWord,
  fieldLine,
  formatLocation,
  formatRule,
  placeOfChange,
} from "./words";

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
  for (const section of sectionsOf(report, new EntryList(report))) {
    if (section.count > 0) printSection(page, section, report.command, options);
  }
  return page.toString();
}

function printHead(page: TextPage, report: Report, options: RenderOptions): void {
  const { title, stacks, verdict, headline, tallies, origins } = headOf(report, options);
  page.entry(0, "", `${title}${stacks === undefined ? "" : ` of ${stacks}`}`, { styles: ["bold"] });
  page.entry(0, "", capitalize(verdict.line), { styles: [verdictStyles[verdict.state], "bold"] });
  if (headline !== undefined) {
    const { main, rest } = headline;
    // Indented: no line of a long name begins where the verdict does.
    page.entry(2, "", `${shorten(main, 300)}${rest === undefined ? "" : `, and ${rest}`}`);
  }
  page.blank();
  for (const step of options.firstSteps ?? []) page.verbatim(0, step);
  if (options.firstSteps?.length) page.blank();
  for (const tally of tallies) page.entry(0, label(tally.label), tallyLine(tally));
  page.entry(0, label("From"), originLine(origins));
}

function printSection(
  page: TextPage,
  { id, content, heading, count, of }: Section,
  command: Report["command"],
  options: RenderOptions,
): void {
  switch (content.kind) {
    case "lines":
      page.heading(`${heading.toUpperCase()} (${count})`);
      for (const line of content.items) page.entry(2, "- ", line);
      for (const command of content.commands ?? []) page.verbatim(4, command);
      return;
    case "entries":
      page.heading(`${heading.toUpperCase()} (${count}${of === undefined ? "" : ` ${of}`})`);
      content.items.forEach((entry, index) => {
        if (index > 0) page.blank();
        printEntry(page, entry, options);
      });
      if (options.fix !== true && content.items.some(hasRemedy)) {
        page.blank();
        page.entry(2, "", "Use --fix to show the code and policy entries for these findings.", {
          styles: ["dim"],
        });
      }
      return;
    case "grants":
      // These are in the order of their kinds.
      for (const [word, changes] of groupBy(content.items, (change) => [changeWord(change)])) {
        const how = id === "accepted" ? "ACCEPTED BY THE POLICY FILE: " : "";
        page.heading(`${how}${grantHeading(command, word)} (${changes.length})`);
        for (const change of changes) printGrant(page, command, change, options);
      }
  }
}

const hasRemedy = ({ answers }: Entry): boolean => answers.some(({ kind }) => kind === "code");

function printEntry(page: TextPage, entry: Entry, options: RenderOptions): void {
  const { severity, rules, message, about, location, facts, answers } = entry;
  const tail = formatLocation(location, options.sourceRoot);
  if (severity === undefined) {
    page.entry(2, label("changed"), message, { styles: ["bold"], tail });
    page.entry(2, label(""), about);
  } else {
    const style = severityStyles[severity];
    page.entry(2, label(severity), rules.map(formatRule).join(", "), {
      leadStyles: severity === "critical" ? [style, "bold"] : [style],
      styles: ["bold"],
      tail,
    });
    page.entry(2, label(""), message);
  }
  for (const block of [...facts, ...answers]) printBlock(page, block, options);
}

/** @param indent Columns before what belongs to a further finding; else the labels have a column of their own. */
function printBlock(page: TextPage, block: Block, options: RenderOptions, indent?: number): void {
  const bullet = (text: string, tail?: string): void => page.entry(indent ?? 2 + LABEL, "- ", text, { tail });
  switch (block.kind) {
    case "labelled":
      for (const { label: name, texts } of block.items) {
        // `pulumi-platform explain` says why: here it would stand at each finding of a rule.
        if (name === "why") continue;
        const lead = indent === undefined ? label(name) : `${name}: `;
        for (const text of texts) page.entry(indent ?? 2, lead, text, { leadStyles: ["dim"] });
      }
      return;
    case "findings":
      for (const { finding, location, answers } of block.items) {
        bullet(
          `${finding.severity} ${finding.id}: ${finding.message}`,
          formatLocation(location, options.sourceRoot),
        );
        for (const answer of answers) printBlock(page, answer, options, 4 + LABEL);
      }
      return;
    case "fields":
      for (const field of block.items)
        bullet(fieldLine(field, field.path, (text) => shorten(text, 300), "-"));
      return;
    case "lines":
      for (const line of block.items) bullet(line);
      return;
    case "code":
      // What takes a difference back is what a reader came for.
      if (options.fix !== true && block.language !== "sh") return;
      page.entry(2, label(""), `${block.short}:`, { styles: ["dim"] });
      page.verbatim(2 + LABEL + 2, block.text);
      return;
  }
}

function grantHeading(command: Report["command"], word: string): string {
  const heading = word.toUpperCase();
  if (command === "drift") return word === UNDECLARED ? heading : `${heading} BY DRIFT`;
  return command === "verify" ? `ANNOUNCED AND APPLIED: ${heading}` : heading;
}

function printGrant(
  page: TextPage,
  command: Report["command"],
  change: GrantChange,
  { sourceRoot }: RenderOptions,
): void {
  const { who, name, role, group, before } = describeChange(change);
  page.entry(2, `${changeSigns[change.change]} `, `${who}${name === undefined ? "" : ` (${name})`}`, {
    leadStyles: [changeStyles[change.change], "bold"],
    tail: formatLocation(placeOfChange(command, change), sourceRoot),
  });
  page.entry(4, "", `${role} at ${group}${change.grant.group.isRoot ? " (root)" : ""}`, { styles: ["bold"] });
  if (before.role !== undefined || before.group !== undefined) {
    page.entry(4, "was ", `${before.role ?? role} at ${before.group ?? group}`, { leadStyles: ["dim"] });
  }
  page.entry(4, "", change.reason, { styles: ["dim"] });
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

type Style = "bold" | "dim" | "red" | "yellow" | "green" | "cyan";

/** Collects lines; each piece of text is escaped here and nowhere else. */
class TextPage {
  private readonly lines: string[] = [];

  constructor(
    private readonly width: number,
    private readonly colour: boolean,
  ) {}

  style(text: string, ...styles: readonly Style[]): string {
    if (!this.colour || styles.length === 0 || text === "") return text;
    // The command line has decided already whether there are colours, by NO_COLOR and the stream.
    return styleText([...styles], text, { validateStream: false });
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
      this.lines.push(start + this.style(line, ...styles));
    });
    if (tail === "") return;
    const last = this.lines.length - 1;
    const used = indent + leadWidth + columnsOf(body.at(-1) ?? "");
    const gap = this.width - used - columnsOf(tail);
    const styled = this.style(tail, "dim");
    if (gap >= 2) this.lines[last] = `${this.lines[last] ?? ""}${" ".repeat(gap)}${styled}`;
    else for (const line of wrap(tail, room)) this.lines.push(padding + this.style(line, "dim"));
  }

  /** Code or a command to copy: never wrapped. */
  verbatim(indent: number, text: string): void {
    for (const line of text.split(/\r?\n/)) {
      this.lines.push(" ".repeat(indent) + plainIndented(line).replaceAll("##", "#\\u{23}"));
    }
  }

  toString(): string {
    return `${this.lines.map((line) => terminalLine(line.trimEnd())).join("\n")}\n`;
  }
}

interface EntryOptions {
  readonly tail?: string;
  readonly styles?: readonly Style[];
  readonly leadStyles?: readonly Style[];
}
