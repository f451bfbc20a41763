import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { printable } from "../api/errors";
import { parseStateExport } from "../access/documents/stateExport";
import type { StateExport } from "../access/documents/stateExport";
import { UsageError } from "./command";
import { matchingFiles, readText } from "./files";

/** Pulumi ended with an error: what it said, in one line. */
export class PulumiError extends Error {
  override readonly name = "PulumiError";

  constructor(
    message: string,
    /** Pulumi's exit code; -1 where it did not start. */
    readonly exitCode: number,
    /** What it printed on stdout; it may hold secrets. */
    readonly stdout = "",
  ) {
    super(message);
  }
}

/** Pulumi's exit code for a stack that there is not. */
const STACK_NOT_FOUND = 6;

const MAX_OUTPUT_BYTES = 1024 * 1024 * 1024;

/**
 * Runs the Pulumi CLI and answers its stdout.
 *
 * @param cwd the folder of the Pulumi project; the current one if not given.
 * @throws PulumiError with what it printed on stderr.
 */
export async function runPulumi(args: readonly string[], cwd?: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)("pulumi", [...args, "--non-interactive"], {
      cwd,
      maxBuffer: MAX_OUTPUT_BYTES,
      env: { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true" },
    });
    return stdout;
  } catch (error) {
    const { code, stderr, stdout } = error as { code?: unknown; stderr?: unknown; stdout?: unknown };
    const command = printable(`pulumi ${args.join(" ")}`, 200);
    if (code === "ENOENT") throw new PulumiError(`${command}: the Pulumi CLI is not on PATH`, -1);
    const said = typeof stderr === "string" ? printable(stderr.replace(/^error: /gm, "")) : "";
    throw new PulumiError(
      `${command} ended with ${String(code)}${said === "" ? "" : `: ${said}`}`,
      typeof code === "number" ? code : -1,
      typeof stdout === "string" ? stdout : "",
    );
  }
}

/** The export of a stack. With secrets in it, it is never written and never in a message. */
async function exportStack(stack: string, cwd: string | undefined, withSecrets: boolean): Promise<string> {
  const args = ["stack", "export", "--stack", stack];
  try {
    return await runPulumi(withSecrets ? [...args, "--show-secrets"] : args, cwd);
  } catch (error) {
    if (!(error instanceof PulumiError)) throw error;
    if (error.exitCode === STACK_NOT_FOUND) {
      throw new UsageError(
        `--stack names ${printable(stack, 100)}, and there is no such stack; see pulumi stack ls`,
      );
    }
    // Without the stack's key the secrets stay unread, which the comparison then says.
    if (withSecrets) return exportStack(stack, cwd, false);
    throw error;
  }
}

/**
 * What the files and stacks record, each file and each stack once.
 *
 * @param options `withSecrets`: keeps the plain text of secrets in memory, where a document has it.
 * @throws DocumentError, UsageError, PulumiError
 */
export async function readStates(
  patterns: readonly string[],
  stacks: readonly string[],
  cwd: string | undefined,
  options: { readonly withSecrets?: boolean } = {},
): Promise<StateExport[]> {
  const states: StateExport[] = [];
  const files = patterns.flatMap((pattern) => matchingFiles(pattern, "--state"));
  for (const file of new Set(files)) states.push(parseStateExport(readText(file, "--state"), file, options));
  for (const stack of new Set(stacks)) {
    const text = await exportStack(stack, cwd, options.withSecrets === true);
    states.push(parseStateExport(text, `the export of stack ${stack}`, options));
  }
  return states;
}
