#!/usr/bin/env node
import { main as emulator } from "../../emulator/main";

const USAGE = `Usage: pulumi-platform <command> [options]

Commands:
  emulator   serve the Platform API from memory, for trying and testing programs

Run pulumi-platform <command> --help for its options.`;

/** Exit codes: 0 done, 1 error, 2 wrong use. */
async function main(argv: readonly string[]): Promise<number> {
  const [command, ...rest] = argv;
  switch (command) {
    case "emulator":
      return await emulator(rest);
    case "--help":
    case "-h":
    case "help":
      console.log(USAGE);
      return 0;
    case undefined:
      console.error(USAGE);
      return 2;
    default:
      console.error(
        `pulumi-platform: unknown command ${JSON.stringify(command)}; see pulumi-platform --help`,
      );
      return 2;
  }
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(`pulumi-platform: ${error instanceof Error ? error.message : "failed"}`);
    process.exitCode = 1;
  },
);
