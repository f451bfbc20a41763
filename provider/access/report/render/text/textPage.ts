import { plainIndented, terminal, terminalLine } from "../escape";
import { columnsOf, wrap } from "./wrap";

export type Style = "bold" | "dim" | "red" | "yellow" | "green" | "cyan";

const codes: Readonly<Record<Style, string>> = {
  bold: "1",
  dim: "2",
  red: "31",
  yellow: "33",
  green: "32",
  cyan: "36",
};

/** Collects lines; each piece of text is escaped here and nowhere else. */
export class TextPage {
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
