import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { printable } from "../api/errors";
import { parseStateExport } from "../access/stateExport";
import type { StateExport } from "../access/stateExport";
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
const NO_STACK = 6;

const MOST_BYTES = 1024 * 1024 * 1024;

/**
 * Runs the Pulumi CLI and answers its stdout.
 *
 * @param cwd the folder of the Pulumi project; the current one if not given.
 * @throws PulumiError with what it printed on stderr.
 */
export async function pulumi(args: readonly string[], cwd?: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)("pulumi", [...args, "--non-interactive"], {
      cwd,
      maxBuffer: MOST_BYTES,
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

/** What the files and stacks record, each file and each stack once. @throws DocumentError, UsageError, PulumiError */
export async function readStates(
  patterns: readonly string[],
  stacks: readonly string[],
  cwd: string | undefined,
): Promise<StateExport[]> {
  const states: StateExport[] = [];
  const files = patterns.flatMap((pattern) => matchingFiles(pattern, "--state"));
  for (const file of new Set(files)) states.push(parseStateExport(readText(file, "--state"), file));
  for (const stack of new Set(stacks)) {
    const text = await pulumi(["stack", "export", "--stack", stack], cwd).catch((error: unknown) => {
      if (!(error instanceof PulumiError && error.exitCode === NO_STACK)) throw error;
      throw new UsageError(
        `--stack names ${printable(stack, 100)}, and there is no such stack; see pulumi stack ls`,
      );
    });
    states.push(parseStateExport(text, `the export of stack ${stack}`));
  }
  return states;
}
