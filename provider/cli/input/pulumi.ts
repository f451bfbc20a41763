import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { CodedError } from "../../errors/codedError";
import { printable } from "../../text/printable";
import { readEnvironment } from "../../settings/environment";
import { pulumiEnvironment } from "./backend";
import { findProgram, runProgram } from "./programs";

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

/** What messages say where there is no CLI. */
const NOT_FOUND = "the Pulumi CLI is not on PATH; folders of node_modules are not searched";

const MAX_OUTPUT_BYTES = 1024 * 1024 * 1024;

/** Where and how the CLI runs. */
interface ExecOptions {
  readonly cwd?: string | undefined;
  readonly env?: NodeJS.ProcessEnv;
  readonly timeout?: number;
}

/** Runs the Pulumi CLI. Rejects as `execFile` does. @throws PulumiError where no folder of PATH has it. */
export async function execPulumi(
  args: readonly string[],
  { cwd, env = readEnvironment(), timeout }: ExecOptions = {},
): Promise<string> {
  const cli = findProgram("pulumi", { ...env, PULUMI_SKIP_UPDATE_CHECK: "true" });
  if (cli === undefined) throw new PulumiError(NOT_FOUND, -1);
  const { stdout } = await runProgram(cli, args, { cwd, timeout, maxBuffer: MAX_OUTPUT_BYTES });
  return stdout;
}

/** What the CLI printed to standard error. Outside of a project it asks for the whole name of a stack, which helps nobody. */
function describeStderr(stderr: string, stack: string, cwd: string): string {
  // What reports call a stack leaves out the organisation, which this backend calls so.
  if (stderr.includes("organization name must be 'organization'")) {
    const [name = "", project = "PROJECT"] = stack.split("/").reverse();
    const whole = printable(`organization/${project}/${name}`, 200);
    return `a bucket or a folder has no organisations: write ${whole}, or ${printable(name, 100)} in the folder of its project`;
  }
  return /fully qualified name/.test(stderr)
    ? `there is no Pulumi project in ${printable(resolve(cwd), 200)} or above it: run the command in the folder of Pulumi.yaml, or give drift, verify and watch that folder by --cwd`
    : printable(stderr.replace(/^error: /gm, ""));
}

/**
 * Runs the Pulumi CLI on a stack and returns its stdout.
 *
 * @param cwd the folder of the Pulumi project; default: the current one.
 * @throws PulumiError with what it printed on stderr, ConfigError for a project that is not trusted.
 */
export async function runPulumi(command: readonly string[], stack: string, cwd = "."): Promise<string> {
  const env = pulumiEnvironment(readEnvironment(), stack, cwd);
  const args = [...command, "--stack", stack];
  try {
    return await execPulumi([...args, "--non-interactive"], { cwd, env });
  } catch (error) {
    const { code, stderr = "", stdout } = error as { code?: unknown; stderr?: string; stdout?: string };
    const command = printable(`pulumi ${args.join(" ")}`, 200);
    if (error instanceof PulumiError) throw new PulumiError(`${command}: ${error.message}`, -1);
    const message = existsSync(cwd)
      ? describeStderr(stderr, stack, cwd)
      : `there is no folder ${printable(cwd, 200)}`;
    throw new PulumiError(
      `${command} ended with ${String(code)}${message === "" ? "" : `: ${message}`}`,
      typeof code === "number" ? code : -1,
      stdout,
    );
  }
}

/** A stack's configuration with plain secrets: the API never returns them, and the token may be one. @throws as `runPulumi` does. */
export async function readStackConfig(
  stack: string,
  cwd?: string,
): Promise<Record<string, { readonly value: string; readonly secret: boolean }>> {
  const text = await runPulumi(["config", "--json", "--show-secrets"], stack, cwd);
  const config = JSON.parse(text) as Record<string, { value?: unknown; secret?: unknown }>;
  return Object.fromEntries(
    Object.entries(config).flatMap(([key, { value, secret }]) =>
      typeof value === "string" ? [[key, { value, secret: secret === true }]] : [],
    ),
  );
}
