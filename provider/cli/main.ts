#!/usr/bin/env node
import { Command, CommanderError } from "commander";
import { printable } from "../text/printable";
import { logFailure, logError } from "./output/log";
import { exitCodeOf, exitCodes, UsageError } from "./framework/exitCodes";
import { commands } from "./commands/list";
import { ownVersion } from "../text/packageVersion";
import { withCode } from "../errors/codedError";
import { describeFileError } from "./input/readFiles";
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

/** Creates the parser of the command line; each command parses its own arguments. */
function createProgram(onEnd: (code: number) => void): Command {
  const program = new Command("pulumi-platform")
    .usage("<command> [options]")
    .helpOption("-h, --help", "show this text")
    .helpCommand(false)
    .option("--version", "show the version")
    .exitOverride()
    .enablePositionalOptions()
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .configureOutput({ writeErr: () => undefined, getOutHelpWidth: () => 100 })
    .addHelpText("after", `\nRun ${ownCommand()} help <command> for the options of one.`);
  for (const { name, summary, load } of commands) {
    program
      .command(name)
      .description(summary)
      .usage("[options]")
      .helpOption(false)
      .allowUnknownOption()
      .allowExcessArguments()
      .passThroughOptions()
      .argument("[arguments...]")
      .action(async (argv: string[]) => {
        const { main } = load();
        onEnd(await main(argv));
      });
  }
  return program;
}

/** @throws UsageError for an unknown command or option. */
async function main(argv: readonly string[]): Promise<number> {
  let code: number = exitCodes.clean;
  const program = createProgram((ended) => (code = ended));
  const [first] = argv;
  if (first === undefined) {
    console.error(program.helpInformation());
    return exitCodes.usage;
  }
  if (first === "--version") {
    console.log(ownVersion());
    return code;
  }
  try {
    // `help review` is `review --help`.
    await program.parseAsync(first === "help" ? [...argv.slice(1, 2), "--help"] : argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === "commander.helpDisplayed") return exitCodes.clean;
    throw new UsageError(
      "PP5001",
      `${printable(error.message.replace(/^error: /, ""), 200)}; see ${ownCommand()} help`,
    );
  }
  return code;
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
