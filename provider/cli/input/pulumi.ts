import { CodedError } from "../../errorCodes/codedError";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { printable } from "../../api/errors";
import { readEnvironment } from "../../settings/environment";
import { pulumiEnvironment } from "./backend";

/** The Pulumi CLI failed: what it printed, in one line. */
export class PulumiError extends CodedError {
  override readonly name = "PulumiError";

  constructor(
    message: string,
    /** Pulumi's exit code; -1 where it did not start. */
    readonly exitCode: number,
    /** What it printed on stdout; it may contain secrets. */
    readonly stdout = "",
  ) {
    super("PP5009", message);
  }
}

/** Pulumi's exit code where the stack does not exist. */
export const STACK_NOT_FOUND = 6;

const MAX_OUTPUT_BYTES = 1024 * 1024 * 1024;

/**
 * Runs the Pulumi CLI and returns its stdout.
 *
 * @param cwd the folder of the Pulumi project; default: the current one.
 * @throws PulumiError with what it printed on stderr, ConfigError for a backend that is not confirmed.
 */
export async function runPulumi(args: readonly string[], cwd?: string): Promise<string> {
  const env = pulumiEnvironment(readEnvironment(), cwd);
  try {
    const { stdout } = await promisify(execFile)("pulumi", [...args, "--non-interactive"], {
      cwd,
      maxBuffer: MAX_OUTPUT_BYTES,
      env: { ...env, PULUMI_SKIP_UPDATE_CHECK: "true" },
    });
    return stdout;
  } catch (error) {
    const { code, stderr, stdout } = error as { code?: unknown; stderr?: unknown; stdout?: unknown };
    const command = printable(`pulumi ${args.join(" ")}`, 200);
    if (code === "ENOENT") throw new PulumiError(`${command}: the Pulumi CLI is not on PATH`, -1);
    const message = typeof stderr === "string" ? printable(stderr.replace(/^error: /gm, "")) : "";
    throw new PulumiError(
      `${command} ended with ${String(code)}${message === "" ? "" : `: ${message}`}`,
      typeof code === "number" ? code : -1,
      typeof stdout === "string" ? stdout : "",
    );
  }
}
