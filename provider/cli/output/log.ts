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

/** Takes the number of objects of a kind that were read so far. */
type ReportCount = (kind: string, count: number) => void;

/** Shows on a terminal how many objects are read: by one line that is overwritten, and cleared at the end. */
export async function withProgress<T>(
  title: string,
  read: (report: ReportCount) => Promise<T>,
  stream: NodeJS.WriteStream = process.stderr,
): Promise<T> {
  const counts = new Map<string, number>();
  let shownAt = -Infinity;
  const report: ReportCount = (kind, count) => {
    counts.set(kind, count);
    const now = performance.now();
    if (!stream.isTTY || now - shownAt < 100) return;
    shownAt = now;
    const total = [...counts.values()].reduce((sum, each) => sum + each, 0);
    const line = `${title} ${total} (${kind} ${count})`;
    stream.write(`\r\x1b[K${line.slice(0, (stream.columns || 80) - 1)}`);
  };
  try {
    return await read(report);
  } finally {
    if (shownAt > -Infinity) stream.write("\r\x1b[K");
  }
}
