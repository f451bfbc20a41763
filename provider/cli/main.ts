#!/usr/bin/env node
import type { Command } from "./command";
import { complain, complainOf, exitCodeOf, exitCodes } from "./command";
import { packageVersion } from "./version";

/** A command's code is loaded when it is called for: the others cost its start nothing. */
const commands: readonly Command[] = [
  {
    name: "emulator",
    summary: "serve the Platform API from memory, for trying and testing programs",
    load: async () => (await import("../../emulator/main.js")).main,
  },
  {
    name: "whoami",
    summary: "show whom the configured credential stands for, and when it ends",
    load: async () => (await import("./whoami.js")).main,
  },
  {
    name: "doctor",
    summary: "check configuration, address, TLS, token, clock and versions",
    load: async () => (await import("./doctor.js")).main,
  },
  {
    name: "review",
    summary: "say who gains and who loses what by a preview",
    load: async () => (await import("./review.js")).main,
  },
  {
    name: "verify",
    summary: "check after an update that access is what the approved review announced",
    load: async () => (await import("./verify.js")).main,
  },
  {
    name: "access",
    summary: "answer who can do what where",
    load: async () => (await import("./access.js")).main,
  },
  {
    name: "explain",
    summary: "what a rule of the access review finds, why, how to fix it and how to except it",
    load: async () => (await import("./explain.js")).explain,
  },
  {
    name: "post",
    summary: "post a report of review or drift as a comment or an issue",
    load: async () => (await import("./postReport.js")).main,
  },
  {
    name: "inventory",
    summary: "list the live organisation into one document",
    load: async () => (await import("./inventory.js")).main,
  },
  {
    name: "drift",
    summary: "find what was changed outside of its program",
    load: async () => (await import("./drift.js")).main,
  },
  {
    name: "adopt",
    summary: "write the program, and the state, of what exists",
    load: async () => (await import("./adopt.js")).main,
  },
  {
    name: "watch",
    summary: "receive events, and look at what they touched",
    load: async () => (await import("./watch.js")).main,
  },
];

function usage(): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}   ${summary}`);
  return `Usage: pulumi-platform <command> [options]

Commands:
${lines.join("\n")}

Run pulumi-platform <command> --help for its options, pulumi-platform --version for the version.`;
}

async function main(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv;
  if (name === "--help" || name === "-h" || name === "help") {
    console.log(usage());
    return exitCodes.clean;
  }
  if (name === "--version") {
    console.log(packageVersion());
    return exitCodes.clean;
  }
  if (name === undefined) {
    console.error(usage());
    return exitCodes.usage;
  }
  const command = commands.find((candidate) => candidate.name === name);
  if (!command) {
    complain(`unknown command ${JSON.stringify(name)}; see pulumi-platform --help`);
    return exitCodes.usage;
  }
  const run = await command.load();
  return await run(rest);
}

// Whoever reads may stop early (`| head`): what was found still decides the exit code.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") process.exit(exitCodes.error);
  });
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    complainOf(error);
    process.exitCode = exitCodeOf(error);
  },
);
