import { plainIndented } from "../../access/report/render/escape";
import { errorCodeOf, errorMessage, withCode } from "../../errors/codedError";
import { logLines } from "../../text/printable";

/** Writes to stderr. The text may contain names that a stranger chose: no control sequence and no command of a CI runner passes. */
export function log(text: string): void {
  console.error(logLines(text.replace(/\r\n/g, "\n").split("\n").map(plainIndented).join("\n")));
}

export function logError(text: string): void {
  log(`pulumi-platform: ${text}`);
}

/** Logs what ended a command. */
export function logFailure(error: unknown): void {
  logError(withCode(errorMessage(error), errorCodeOf(error)));
}

/** Shows the progress of a run on a terminal: one line that is overwritten, and cleared at the end. */
export class Progress {
  private readonly counts = new Map<string, number>();
  private shownAt = 0;
  private isShown = false;

  constructor(
    private readonly title: string,
    private readonly stream: NodeJS.WriteStream = process.stderr,
  ) {}

  /** Sets the number of objects of a kind so far. */
  readonly report = (kind: string, count: number): void => {
    this.counts.set(kind, count);
    const now = performance.now();
    if (!this.stream.isTTY || now - this.shownAt < 100) return;
    this.shownAt = now;
    this.isShown = true;
    const total = [...this.counts.values()].reduce((sum, each) => sum + each, 0);
    const line = `${this.title} ${total} (${kind} ${count})`;
    this.stream.write(`\r\x1b[K${line.slice(0, (this.stream.columns || 80) - 1)}`);
  };

  done(): void {
    if (this.isShown) this.stream.write("\r\x1b[K");
  }
}
