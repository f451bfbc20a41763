import type { Emulator } from "./index";
import { startEmulator } from "./index";
import type { SeedName } from "./organisations";
import { formatRequest } from "./requestLog";
import { settingTable } from "./settings";

export { seedNames } from "./organisations";

/** USAGE: an invalid option; the message names it and what to write. START: another address or data file helps. */
class ServeError extends Error {
  constructor(
    readonly code: "USAGE" | "START",
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The options of the command line, not yet parsed. */
export interface ServeOptions {
  /** Default 0: any free port. */
  readonly port?: string | undefined;
  /** Default 127.0.0.1. */
  readonly host?: string | undefined;
  readonly data?: string | undefined;
  /** Default PLATFORM_TOKEN, else a random one. */
  readonly token?: string | undefined;
  /** A time such as 20ms or 1s. */
  readonly latency?: string | undefined;
  readonly "deliver-to"?: string | undefined;
  readonly recorded?: boolean;
  readonly "omit-empty"?: boolean;
  readonly "sparse-updates"?: boolean;
  readonly seed?: SeedName | undefined;
  /** Default "text". */
  readonly format?: "text" | "json" | undefined;
  readonly log?: boolean;
}

/**
 * Serves the API until SIGINT or SIGTERM.
 *
 * @returns the exit code after a clean end.
 * @throws Error with code USAGE for invalid options, with code START if it cannot start; other errors if it cannot save.
 */
export async function serve(options: ServeOptions): Promise<number> {
  const port = readPort(options.port ?? "0");
  const latencyMs = readLatency(options.latency ?? "0");
  const deliverTo = options["deliver-to"];
  if (deliverTo !== undefined && !settingTable.deliverTo.accepts(deliverTo)) {
    throw new ServeError("USAGE", `--deliver-to must be ${settingTable.deliverTo.requirement}`);
  }
  const fromEnvironment = process.env.PLATFORM_TOKEN === "" ? undefined : process.env.PLATFORM_TOKEN;
  const token = options.token ?? fromEnvironment;
  const host = options.host ?? "127.0.0.1";
  const emulator = await startEmulator({
    port,
    host,
    dataFile: options.data,
    token,
    latencyMs,
    deliverTo,
    recorded: options.recorded ?? false,
    omitEmpty: options["omit-empty"] ?? false,
    patchResponse: options["sparse-updates"] === true ? "sparse" : "full",
    ...(options.seed !== undefined && { seed: options.seed }),
    ...(options.log && { onRequest: (request) => console.error(formatRequest(request)) }),
  }).catch((error: unknown) => {
    throw new ServeError("START", describeStartFailure(error, `${host}:${port}`), { cause: error });
  });
  const stopped = waitForStopSignal();
  console.log(options.format === "json" ? formatJson(emulator, options) : formatText(emulator, options));
  await stopped;
  await emulator.close();
  return 0;
}

/** Why an address cannot be listened on, and what to write instead. */
const listenFailures: Readonly<Record<string, string>> = {
  EADDRINUSE: "another process listens there; give another --port, or end that process",
  EACCES: "permission denied; give a --port above 1023",
  EADDRNOTAVAIL: "it is not an address of this machine; give another --host",
  ENOTFOUND: "the host name is unknown; give another --host",
};

function describeStartFailure(error: unknown, address: string): string {
  const { code = "", syscall, message } = error as NodeJS.ErrnoException;
  if (syscall !== "listen" && syscall !== "getaddrinfo") return message;
  return `cannot listen on ${address}: ${listenFailures[code] ?? code}`;
}

/** The first root group; undefined without a seed and without data. */
const findRoot = (emulator: Emulator): { readonly name?: unknown; readonly uid?: unknown } | undefined =>
  emulator.state()["groups"]?.find(({ uid }) => !String(uid).includes("/"));

/** What a script needs to use the emulator. */
function formatJson(emulator: Emulator, { token, seed }: ServeOptions): string {
  const root = findRoot(emulator);
  const isFromEnvironment = token === undefined && emulator.token === process.env.PLATFORM_TOKEN;
  return JSON.stringify({
    url: emulator.url,
    // There it may be a real one.
    ...(isFromEnvironment ? {} : { token: emulator.token }),
    ...(root === undefined ? {} : { rootUid: root.uid }),
    ...(seed === undefined ? {} : { seed }),
  });
}

function formatText(emulator: Emulator, { token, "deliver-to": deliverTo }: ServeOptions): string {
  const isGiven = token !== undefined || emulator.token === process.env.PLATFORM_TOKEN;
  const root = findRoot(emulator);
  const sendsNone = deliverTo !== undefined && (emulator.state()["subscriptions"] ?? []).length === 0;
  return [
    `listening on ${emulator.url}`,
    ...(isGiven ? [] : [`token: ${emulator.token}`]),
    root === undefined
      ? "no root group: --seed acme brings one, and a Group without parentUid makes one"
      : `root group: ${String(root.name)}, uid ${String(root.uid)}`,
    ...(sendsNone
      ? ["no event is sent yet: each Subscription sends those of its group, and there is none"]
      : []),
    "paste these lines into another terminal:",
    `  export PLATFORM_BASE_URL=${emulator.url}`,
    // A token that was given is not repeated: logs of CI keep what is printed.
    isGiven
      ? "  # and PLATFORM_TOKEN, to the token that you have set"
      : `  export PLATFORM_TOKEN=${emulator.token}`,
    ...(root === undefined ? [] : [`  export PLATFORM_ROOT_GROUP=${String(root.uid)}`]),
    "press Ctrl+C to stop",
  ].join("\n");
}

function readPort(text: string): number {
  const port = Number(text);
  if (!/^[0-9]{1,5}$/.test(text) || port > 65_535) {
    throw new ServeError("USAGE", `--port must be a number from 0 to 65535, not "${text}"`);
  }
  return port;
}

function readLatency(text: string): number {
  const latency = /^([0-9]+(?:\.[0-9]+)?)(ms|s)?$/.exec(text);
  if (!latency) throw new ServeError("USAGE", `--latency must be a time such as 20ms or 1s, not "${text}"`);
  return Number(latency[1]) * (latency[2] === "s" ? 1000 : 1);
}

function waitForStopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
}
