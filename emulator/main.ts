import { parseArgs } from "node:util";
import type { Emulator } from "./index";
import { startEmulator } from "./index";
import { settingChecks } from "./settings";

const usage = `Usage: pulumi-platform emulator [options]

Serves the Platform API v2 on 127.0.0.1, for trying programs and for tests.

Options:
  --port NUMBER      port to listen on; default 0, any free one
  --data FILE        keep the state in this file across restarts; a symbolic link is refused
  --token TOKEN      bearer token that requests must carry; default PLATFORM_TOKEN, else a random one
  --latency TIME     wait before each answer, for example 20ms or 1s
  --deliver-to URL   send all events to this http address on this machine, or "sinks": to the
                     subscriptions' own sinks; without it they are only listed
  --recorded         answer as the recorded gateway does where it differs from the specification
  --omit-empty       leave empty members out of answers: "", 0, false, null, [], {}, zero enum names
  --sparse-updates   answer a PATCH with values for the uid and what it changed only: all other
                     members are empty, and with --omit-empty absent
  --help             show this text
`;

class UsageError extends Error {}

interface Arguments {
  readonly help: boolean;
  readonly port: number;
  readonly data?: string;
  readonly token?: string;
  readonly latencyMs: number;
  readonly deliverTo?: string;
  readonly recorded: boolean;
  readonly omitEmpty: boolean;
  readonly sparseUpdates: boolean;
}

/**
 * The command line of the emulator. Runs until SIGINT or SIGTERM.
 *
 * @param argv arguments after the command's name.
 * @returns the exit code: 0 after a clean end, 1 when it cannot start or save, 2 for wrong arguments.
 */
export async function main(argv: string[]): Promise<number> {
  let given: Arguments;
  try {
    given = readArguments(argv);
  } catch (error) {
    return fail(error, 2);
  }
  if (given.help) {
    process.stdout.write(usage);
    return 0;
  }
  const token = given.token ?? (process.env.PLATFORM_TOKEN === "" ? undefined : process.env.PLATFORM_TOKEN);
  let emulator: Emulator;
  try {
    emulator = await startEmulator({
      port: given.port,
      dataFile: given.data,
      token,
      latencyMs: given.latencyMs,
      deliverTo: given.deliverTo,
      recorded: given.recorded,
      omitEmpty: given.omitEmpty,
      patchAnswer: given.sparseUpdates ? "sparse" : "full",
    });
  } catch (error) {
    return fail(error, 1);
  }
  const stopped = stopSignal();
  console.log(`listening on ${emulator.url}`);
  if (token === undefined) console.log(`token: ${emulator.token}`);
  console.log("press Ctrl+C to stop");
  await stopped;
  try {
    await emulator.close();
    return 0;
  } catch (error) {
    return fail(error, 1);
  }
}

/** A value may begin with a dash: its own check tells what is wrong with it. */
function joinValues(argv: readonly string[]): string[] {
  const joined: string[] = [];
  for (const arg of argv) {
    const flag = joined.at(-1) ?? "";
    if (/^--(port|latency)$/.test(flag) && arg.startsWith("-")) joined[joined.length - 1] = `${flag}=${arg}`;
    else joined.push(arg);
  }
  return joined;
}

function readArguments(argv: string[]): Arguments {
  const { values } = parseArgs({
    args: joinValues(argv),
    options: {
      port: { type: "string", default: "0" },
      data: { type: "string" },
      token: { type: "string" },
      latency: { type: "string", default: "0" },
      "deliver-to": { type: "string" },
      recorded: { type: "boolean", default: false },
      "omit-empty": { type: "boolean", default: false },
      "sparse-updates": { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
    allowPositionals: false,
  });
  const port = Number(values.port);
  if (!/^[0-9]{1,5}$/.test(values.port) || port > 65_535) {
    throw new UsageError(`--port must be a number from 0 to 65535, not "${values.port}"`);
  }
  const latency = /^([0-9]+(?:\.[0-9]+)?)(ms|s)?$/.exec(values.latency);
  if (!latency) throw new UsageError(`--latency must be a time such as 20ms or 1s, not "${values.latency}"`);
  const deliverTo = values["deliver-to"];
  for (const name of ["data", "token", "deliver-to"] as const) {
    if (values[name] === "") throw new UsageError(`--${name} must not be empty`);
  }
  if (deliverTo !== undefined && !settingChecks.deliverTo.accepts(deliverTo)) {
    throw new UsageError(`--deliver-to must be ${settingChecks.deliverTo.rule}`);
  }
  return {
    help: values.help,
    port,
    data: values.data,
    token: values.token,
    deliverTo,
    latencyMs: Number(latency[1]) * (latency[2] === "s" ? 1000 : 1),
    recorded: values.recorded,
    omitEmpty: values["omit-empty"],
    sparseUpdates: values["sparse-updates"],
  };
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
}

function fail(error: unknown, code: number): number {
  const message = error instanceof Error ? error.message : String(error);
  console.error(`emulator: ${message.replace(/\s+/g, " ")}`);
  return code;
}
