import { exitCodes } from "../../framework/exitCodes";
import { PostError } from "../../post/http";
import { unchecked, wrong } from "../checkResult";
import type { CheckResult } from "../checkResult";

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
