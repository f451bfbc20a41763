#!/usr/bin/env node
import { Command, CommanderError } from "commander";
import { printable } from "../text/printable";
import { logFailure } from "./output/log";
import { watchOutput } from "./output/watchOutput";
import { exitCodeOf, exitCodes, UsageError } from "./framework/exitCodes";
import { commands } from "./commands/list";
import { ownVersion } from "../text/packageVersion";

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
    .addHelpText("after", "\nRun pulumi-platform <command> --help for its options.");
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
      `${printable(error.message.replace(/^error: /, ""), 200)}; see pulumi-platform --help`,
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
