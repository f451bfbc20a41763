import { CodedError, hasCode, errorMessage } from "../../errors/codedError";
import { UsageError } from "../framework/exitCodes";
import { seedNames, serve } from "../../../emulator/main";
import { defineCommand } from "../framework/defineCommand";
import type { Flags, Parsed } from "../framework/flags";

const flags = {
  seed: {
    type: "string",
    value: "NAME",
    choices: seedNames,
    help: "start with a small organisation, and print what to set to use it",
  },
  format: {
    type: "string",
    value: "FORMAT",
    choices: ["text", "json"],
    default: "text",
    help: "how to print address, token and root group: json is one line for scripts",
  },
  log: { type: "boolean", help: "print a line for each request to standard error, without secrets" },
  port: { type: "string", value: "NUMBER", default: "0, any free one", help: "port to listen on" },
  host: {
    type: "string",
    value: "ADDRESS",
    default: "127.0.0.1",
    help: "address to listen on; a container needs 0.0.0.0",
  },
  data: {
    type: "string",
    value: "FILE",
    help: "keep the state in this file across restarts, written at the end and a quarter of a second after a change; a symbolic link is refused",
  },
  token: {
    type: "string",
    value: "TOKEN",
    default: "PLATFORM_TOKEN, else a random one",
    help: "bearer token that requests must carry",
  },
  latency: { type: "string", value: "TIME", help: "wait before each response, for example 20ms or 1s" },
  "deliver-to": {
    type: "string",
    value: "URL",
    help:
      'send the events of each Subscription to this http address on this machine, or "sinks": to their sinks; without ' +
      "it they are only listed",
  },
  recorded: {
    type: "boolean",
    help: "respond as the recorded gateway where it differs from the specification",
  },
  "omit-empty": {
    type: "boolean",
    help: 'leave empty members out of responses: "", 0, false, null, [], {}, zero enum names',
  },
  "sparse-updates": {
    type: "boolean",
    help:
      "respond to a PATCH with values for the uid and what it changed only: all other members are empty, and with " +
      "--omit-empty absent",
  },
} as const satisfies Flags;

export const command = defineCommand(
  {
    name: "emulator",
    usage: ["[options]"],
    about:
      "Serves the Platform API v2 on this machine, to try programs and for tests. Runs until SIGINT or SIGTERM.",
    flags,
    exitCodes: ["clean", "error", "usage"],
  },
  runEmulator,
);
export const { main } = command;

/** The emulator shares no code with the provider, so its errors get their codes here. */
async function runEmulator({ values }: Parsed<typeof flags>): Promise<number> {
  try {
    return await serve(values);
  } catch (error) {
    const message = errorMessage(error);
    if (hasCode(error, "USAGE")) throw new UsageError("PP8101", message);
    if (hasCode(error, "START")) throw new UsageError("PP8102", message);
    throw new CodedError("PP8102", message, { cause: error });
  }
}
