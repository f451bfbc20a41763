import { errorCodeOf, errorMessage } from "../../errors/codedError";
import type { ErrorCode } from "../../errors/registry";
import { toFileError } from "../../text/files";
import { exitCodeOf, exitCodes } from "../framework/exitCodes";
import type { NamedGroup } from "../input/groups";
import { PostError } from "../post/http";

/** The result of one check of `doctor`: a line of the report. */
export interface CheckResult {
  readonly check: string;
  readonly state: "ok" | "warning" | "wrong" | "skipped";
  /** The finding, and the fix where something is wrong. */
  readonly text: string;
  /** The one command that mends it, or that makes the check possible. */
  readonly command?: string;
  /** The exit code of a check that failed. */
  readonly code?: number;
  /** The code of its error. */
  readonly errorCode?: ErrorCode;
  /** For the check "groups": the root groups that the credential may see. */
  readonly groups?: readonly NamedGroup[];
}

export const ok = (check: string, text: string): CheckResult => ({ check, state: "ok", text });
export const warning = (check: string, text: string): CheckResult => ({ check, state: "warning", text });
export const wrong = (
  check: string,
  text: string,
  errorCode: ErrorCode,
  code: number = exitCodes.error,
): CheckResult => ({ check, state: "wrong", text, code, errorCode });
export function failed(check: string, thrown: unknown): CheckResult {
  const error = toFileError(thrown);
  return wrong(check, errorMessage(error), errorCodeOf(error), exitCodeOf(error));
}

/** A part of CI that is not set up, and the command that does it. */
export const missing = (check: string, text: string, command: string): CheckResult => ({
  ...wrong(check, text, "PP7006"),
  command,
});

/** What cannot be judged has not passed. @param command What makes it possible. */
export const unchecked = (check: string, reason: string, command?: string): CheckResult => ({
  check,
  state: "skipped",
  text: `not checked: ${reason}`,
  command,
});

/** Runs a check that asks the host: what the host does not answer is not checked. */
export async function judge(check: string, run: () => Promise<CheckResult[]>): Promise<CheckResult[]> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof PostError)) throw error;
    if (error.status === 401)
      return [wrong(check, `${error.message}; replace the token`, "PP7001", exitCodes.authentication)];
    const hint = error.status === 403 || error.status === 404 ? "; may the token read it?" : "";
    return [unchecked(check, `${error.message}${hint}`)];
  }
}

/**
 * Runs the checks one after the other. A host that cannot be reached is one line: none of the others would learn more.
 *
 * @param host what the line is about
 */
export async function judgeAll(
  host: string,
  parts: readonly (readonly [string, () => Promise<CheckResult[]>])[],
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const [check, run] of parts) {
    const found = await judge(check, async () => {
      try {
        return await run();
      } catch (error) {
        if (!(error instanceof PostError) || error.status !== undefined || error.errorCode === "PP7004")
          throw error;
        return [unchecked(host, error.message)];
      }
    });
    results.push(...found);
    if (found.some((one) => one.check === host)) break;
  }
  return results;
}
