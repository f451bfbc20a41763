#!/usr/bin/env node
import { printable } from "../text/printable";
import { didYouMean } from "../text/suggestions";
import { logFailure, logError } from "./output/log";
import { helpFlag } from "./framework/defineCommand";
import { exitCodeOf, exitCodes, UsageError } from "./framework/exitCodes";
import { describeFlags } from "./framework/flags";
import type { Flags } from "./framework/flags";
import { commands } from "./commands/list";
import { ownVersion } from "../text/packageVersion";
import { withCode } from "../errors/codedError";
import { describeFileError } from "../text/files";
import { ownCommand } from "./input/packageManager";

function describeFailure(error: NodeJS.ErrnoException): string {
  return error.code === "EPIPE"
    ? "standard output was closed before everything was written"
    : `standard output cannot be written: ${describeFileError(error)}`;
}

/**
 * Reports output that cannot be written, and ends the process with an error then, unless it ends with findings or
 * another error anyway. The command itself goes on, because it may be in the middle of a change.
 */
function watchOutput(): void {
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

const version = { version: { type: "boolean", help: "show the version" } } as const satisfies Flags;

/** The help of the command line itself. */
function listCommands(): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    "Usage: pulumi-platform <command> [options]",
    "",
    describeFlags({ ...version, ...helpFlag }),
    "",
    "Commands:",
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    "",
    `Run ${ownCommand()} help <command> for the options of one.`,
  ].join("\n");
}

/** @throws UsageError for an unknown command or option. */
async function main([first, ...others]: readonly string[]): Promise<number> {
  if (first === undefined) {
    console.error(listCommands());
    return exitCodes.usage;
  }
  // `help review` is `review --help`.
  const [name = "", ...argv] = first === "help" ? [...others.slice(0, 1), "--help"] : [first, ...others];
  if (name === "--help" || name === "-h") console.log(listCommands());
  else if (name === "--version") console.log(ownVersion());
  else {
    const command = commands.find((one) => one.name === name);
    if (command !== undefined) return command.load().main(argv);
    const what = name.startsWith("-") ? "option" : "command";
    const meant = didYouMean(
      name,
      commands.map((one) => one.name),
    );
    const hint = meant === undefined ? "" : ` (did you mean ${meant}?)`;
    throw new UsageError(
      "PP5001",
      `unknown ${what} '${printable(name, 200)}'${hint}; see ${ownCommand()} help`,
    );
  }
  return exitCodes.clean;
}

watchOutput();
main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    logFailure(error);
    process.exitCode = exitCodeOf(error);
  },
);
