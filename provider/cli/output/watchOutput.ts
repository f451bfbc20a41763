import { withCode } from "../../errors/codedError";
import { exitCodes } from "../framework/exitCodes";
import { describeFileError } from "../input/fileErrors";
import { logError } from "./log";

function describeFailure(error: NodeJS.ErrnoException): string {
  return error.code === "EPIPE"
    ? "standard output was closed before everything was written"
    : `standard output cannot be written: ${describeFileError(error)}`;
}

/**
 * Reports output that cannot be written, and ends the process with an error then, unless it ends with findings or
 * another error anyway. The command itself goes on, because it may be in the middle of a change.
 */
export function watchOutput(): void {
  let hasFailed = false;
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (!hasFailed) logError(withCode(describeFailure(error), "PP5006"));
    hasFailed = true;
  });
  process.stderr.on("error", () => {
    hasFailed = true;
  });
  process.on("exit", (code) => {
    if (hasFailed && code === exitCodes.clean) process.exitCode = exitCodes.error;
  });
}
