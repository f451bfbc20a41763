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
