import { errorCodeOf, withCode } from "../../errors/codedError";
import { plainIndented } from "../../access/report/render/escape";
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
  logError(withCode(error instanceof Error ? error.message : "failed", errorCodeOf(error)));
}
