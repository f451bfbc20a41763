import { plainIndented } from "../access/render/escape";
import { hasCode } from "../api/errors";
import { logLines } from "../api/logText";

/** Exit codes, after Pulumi's own: a crash and a failed `npx` are 1, so 1 never means a finding. */
export const exitCodes = {
  clean: 0,
  error: 1,
  usage: 2,
  authentication: 3,
  incomplete: 4,
  reviewFindings: 5,
  drift: 7,
} as const;

/** Arguments, or a file that they name, are wrong: one line that says what to write. Ends with code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly code = "USAGE";
}

/** Writes to stderr. The text may hold names that anybody chose: nothing in it commands a terminal or a CI runner. */
export function log(text: string): void {
  console.error(logLines(text.replace(/\r\n/g, "\n").split("\n").map(plainIndented).join("\n")));
}

/** Tells on stderr what went wrong. */
export function complain(text: string): void {
  log(`pulumi-platform: ${text}`);
}

/** `complain` of what ended a command. */
export function complainOf(error: unknown): void {
  complain(error instanceof Error ? error.message : "failed");
}

/** One command of the command line. Loaded when it is called for. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** Takes the arguments after the command's name, answers the exit code. */
  readonly load: () => Promise<(argv: string[]) => Promise<number>>;
}

/** The exit code for an error that ended a command: whether other arguments, or another credential, could help. */
export function exitCodeOf(error: unknown): number {
  if (hasCode(error, "USAGE") || hasCode(error, "CONFIG")) return exitCodes.usage;
  const isAuthentication = ["CREDENTIAL", "AUTHENTICATION", "UNAUTHENTICATED"].some((code) =>
    hasCode(error, code),
  );
  return isAuthentication ? exitCodes.authentication : exitCodes.error;
}
