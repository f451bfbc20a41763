import { startEmulator } from "./index";
import { settingChecks } from "./settings";

/** An invalid option; the message names it and what to write. */
class UsageError extends Error {
  readonly code = "USAGE";
}

/** The options of the command line, not yet parsed. */
export interface ServeOptions {
  /** Default 0: any free port. */
  readonly port?: string | undefined;
  readonly data?: string | undefined;
  /** Default PLATFORM_TOKEN, else a random one. */
  readonly token?: string | undefined;
  /** A time such as 20ms or 1s. */
  readonly latency?: string | undefined;
  readonly "deliver-to"?: string | undefined;
  readonly recorded?: boolean;
  readonly "omit-empty"?: boolean;
  readonly "sparse-updates"?: boolean;
}

/**
 * Serves the API until SIGINT or SIGTERM.
 *
 * @returns the exit code after a clean end.
 * @throws Error with code USAGE for invalid options; other errors if it cannot start or save.
 */
export async function serve(options: ServeOptions): Promise<number> {
  const port = readPort(options.port ?? "0");
  const latencyMs = readLatency(options.latency ?? "0");
  const deliverTo = options["deliver-to"];
  if (deliverTo !== undefined && !settingChecks.deliverTo.accepts(deliverTo)) {
    throw new UsageError(`--deliver-to must be ${settingChecks.deliverTo.rule}`);
  }
  const fromEnvironment = process.env.PLATFORM_TOKEN === "" ? undefined : process.env.PLATFORM_TOKEN;
  const token = options.token ?? fromEnvironment;
  const emulator = await startEmulator({
    port,
    dataFile: options.data,
    token,
    latencyMs,
    deliverTo,
    recorded: options.recorded ?? false,
    omitEmpty: options["omit-empty"] ?? false,
    patchResponse: options["sparse-updates"] === true ? "sparse" : "full",
  });
  const stopped = waitForStopSignal();
  console.log(`listening on ${emulator.url}`);
  if (token === undefined) console.log(`token: ${emulator.token}`);
  console.log("press Ctrl+C to stop");
  await stopped;
  await emulator.close();
  return 0;
}

function readPort(text: string): number {
  const port = Number(text);
  if (!/^[0-9]{1,5}$/.test(text) || port > 65_535) {
    throw new UsageError(`--port must be a number from 0 to 65535, not "${text}"`);
  }
  return port;
}

function readLatency(text: string): number {
  const latency = /^([0-9]+(?:\.[0-9]+)?)(ms|s)?$/.exec(text);
  if (!latency) throw new UsageError(`--latency must be a time such as 20ms or 1s, not "${text}"`);
  return Number(latency[1]) * (latency[2] === "s" ? 1000 : 1);
}

function waitForStopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
}
