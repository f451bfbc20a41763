import { toFileError } from "../../text/files";
import { printable } from "../../text/printable";
import { exitCodeRows, exitCodes, UsageError } from "./exitCodes";
import type { ExitCodeName } from "./exitCodes";
import { describeFlags, parseFlags, wrapText } from "./flags";
import type { Flags, Parsed } from "./flags";
import { ownCommand } from "../input/packageManager";

/** What the help, the shell completion and the documents contain about a command. */
interface CommandDescription {
  readonly name: string;
  /** What follows the name, one string for each form of the call. */
  readonly usage: readonly string[];
  readonly about: string;
  /** Arguments that are no flags, by their names in the help; without it, there are none. */
  readonly arguments?: readonly string[];
  readonly flags: Flags;
  readonly exitCodes: readonly ExitCodeName[];
}

/** A command whose code is loaded. */
export interface LoadedCommand {
  readonly description: CommandDescription;
  /** Takes the arguments after the command's name; returns the exit code. */
  readonly main: (argv: readonly string[]) => Promise<number>;
}

/** The flag that every command has. */
export const helpFlag = {
  help: { type: "boolean", short: "h", help: "show this text" },
} as const satisfies Flags;

/** Describes the exit codes of a command. */
function describeExitCodes(names: readonly ExitCodeName[]): string {
  const rows = exitCodeRows(names).map(([code, meaning]) => `  ${code}  ${meaning}`);
  const findings = exitCodeRows(names.filter((name) => name === "reviewFindings" || name === "drift"));
  const first = findings.map(([code]) => code).join(" or ");
  // A command with findings may be incomplete too.
  const order = first === "" ? [] : [`  If both apply, the exit code is ${first}, not 4.`];
  return ["Exit codes:", ...rows, ...order].join("\n");
}

/** The help of a command. @param width of a line at most. */
export function formatHelp(description: CommandDescription, width?: number): string {
  const { name, usage, about, flags, exitCodes: codes } = description;
  const calls = usage.map(
    (call, index) => `${index === 0 ? "Usage:" : "      "} pulumi-platform ${name} ${call}`,
  );
  const options = describeFlags({ ...flags, ...helpFlag }, width);
  return `${[calls.join("\n"), wrapText(about, width), options, describeExitCodes(codes)].join("\n\n")}\n`;
}

/**
 * Creates a command from its description and its function.
 *
 * @param run gets the parsed arguments; returns the exit code.
 */
export function defineCommand<F extends Flags>(
  description: CommandDescription & { readonly flags: F },
  run: (parsed: Parsed<F>) => Promise<number>,
): LoadedCommand {
  const flags: F & typeof helpFlag = { ...description.flags, ...helpFlag };
  const main = async (argv: readonly string[]): Promise<number> => {
    const parsed = parseFlags(description.name, flags, argv);
    if (parsed.values.help) {
      process.stdout.write(
        formatHelp(description, process.stdout.isTTY ? process.stdout.columns : undefined),
      );
      return exitCodes.clean;
    }
    const [extra] = parsed.positionals;
    if (extra !== undefined && description.arguments === undefined) {
      throw new UsageError(
        "PP5001",
        `unknown argument "${printable(extra, 80)}"; see ${ownCommand()} ${description.name} --help`,
      );
    }
    try {
      return await run(parsed);
    } catch (error) {
      throw toFileError(error);
    }
  };
  return { description, main };
}
