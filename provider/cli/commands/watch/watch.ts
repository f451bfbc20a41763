import { createServer } from "node:http";
import type { Server } from "node:http";
import { isWithin, listedKinds } from "../../../access/documents/inventory";
import type { Inventory } from "../../../access/documents/inventory";
import { organisationsOf } from "../../../access/documents/stateExport";
import type { StateExport } from "../../../access/documents/stateExport";
import { findDrift } from "../../../access/drift/drift";
import type { DriftRequest } from "../../../access/drift/drift";
import { ChangedResources } from "../../../access/drift/stateComparison";
import type { ChangeEvent } from "../../../access/drift/stateComparison";
import type { DriftReport } from "../../../access/report/report";
import { errorCodeOf, errorMessage, withCode } from "../../../errors/codedError";
import { createEventHandler } from "../../../events";
import type { EventHandlerOptions } from "../../../events";
import { durationNanos } from "../../../fields/formats";
import type { Client } from "../../../http/client";
import { takeInventory } from "../../../inventory/takeInventory";
import { readEnvironment } from "../../../settings/environment";
import { hasUserinfo } from "../../../text/address";
import { ownVersion } from "../../../text/packageVersion";
import { printable } from "../../../text/printable";
import { defineCommand } from "../../framework/defineCommand";
import { exitCodes, UsageError } from "../../framework/exitCodes";
import type { Flags, Values } from "../../framework/flags";
import { commonFlags, issueMarker } from "../../framework/options";
import { openConnection } from "../../input/connection";
import { resolveGroup } from "../../input/groups";
import { ownCommand } from "../../input/packageManager";
import { readStates, isUidManaged, unlistedManagedUids } from "../../input/states";
import { logError } from "../../output/log";
import { finishDrift } from "../../output/writeReport";
import { createRules, createSuppressor, readDriftOptions } from "../../policy/accessPolicy";

const flags = {
  stack: {
    type: "string",
    multiple: true,
    value: "STACK",
    help: "compare this stack; it is exported again for each run",
  },
  state: { type: "string", multiple: true, value: "FILE", help: "compare what pulumi stack export wrote" },
  group: {
    type: "string",
    multiple: true,
    value: "GROUP",
    help: "the group of the subscription whose events are accepted, by uid or name",
  },
  issuer: {
    type: "string",
    value: "URL",
    default: "PLATFORM_ISSUER_URL",
    help: "the platform's issuer, whose keys sign the events",
  },
  listen: {
    type: "string",
    value: "HOST:PORT",
    default: "127.0.0.1:8787",
    help: "where to listen; port 0 is any free one",
  },
  settle: {
    type: "string",
    value: "TIME",
    default: "5s",
    help: "how long no event may come before a run; a run waits at most ten times that",
  },
  cwd: { type: "string", value: "DIR", default: "this one", help: "the folder of the Pulumi project" },
  output: commonFlags.output,
  policy: commonFlags.policy,
  rules: commonFlags.rules,
  "source-root": commonFlags["source-root"],
  "page-url": commonFlags["page-url"],
  fix: commonFlags.fix,
  post: {
    ...commonFlags.post,
    choices: ["github-issue"],
    help: "post an issue of its own: it shows what was found last, and stays open until you close it",
  },
  marker: issueMarker,
  "dry-run": commonFlags["dry-run"],
} as const satisfies Flags;

type WatchValues = Values<typeof flags>;

function parseListen(text: string): { host: string; port: number } {
  const [, host = "", port = ""] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  if (host === "" || Number(port) > 65_535) {
    throw new UsageError(
      "PP5002",
      `--listen must be a host and a port, as in 127.0.0.1:8787, not "${printable(text, 80)}"`,
    );
  }
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
}

function parseSettle(text: string): number {
  const nanos = durationNanos(text);
  if (nanos === undefined || nanos < 0n) throw new UsageError("PP5002", "--settle must be a time, as in 5s");
  return Number(nanos / 1_000_000n);
}

/** The issuer whose events are accepted. */
function readIssuer(values: WatchValues): string {
  if (values.group.length === 0)
    throw new UsageError("PP5004", "--group is missing: give the group of the subscription");
  const issuer = values.issuer ?? readEnvironment()["PLATFORM_ISSUER_URL"] ?? "";
  if (issuer === "") {
    throw new UsageError(
      "PP5004",
      "--issuer is missing: give the address of the platform's issuer, or set PLATFORM_ISSUER_URL",
    );
  }
  if (!URL.canParse(issuer) || hasUserinfo(new URL(issuer))) {
    throw new UsageError(
      "PP5002",
      "--issuer must be the address of the platform's issuer, as in https://issuer.example.com",
    );
  }
  return issuer;
}

export const command = defineCommand(
  {
    name: "watch",
    usage: ["--stack STACK --group GROUP [options]"],
    about:
      "Receives the platform's events, verifies each, and compares the resources that a burst of them names: drift in seconds. " +
      "The next run of pulumi-platform drift finds what a lost event would have shown; watch does not replace it. " +
      "Subscribe the address under which the platform reaches it, and put TLS in front of it. Runs until SIGINT or SIGTERM.",
    flags,
    exitCodes: ["clean", "error", "usage", "authentication"],
  },
  ({ values }) => watch(values),
);
export const { main } = command;

/** Listens; returns the address for a person. @throws UsageError where the port cannot be used. */
async function listen(receiver: EventReceiver, host: string, port: number): Promise<string> {
  await new Promise<void>((done, failed) => {
    receiver.server.once("error", () =>
      failed(new UsageError("PP5010", `--listen names ${host}:${port}, where it cannot listen`)),
    );
    receiver.server.listen(port, host, () => done());
  });
  const address = receiver.server.address();
  const actualPort = address !== null && typeof address === "object" ? address.port : port;
  return `http://${host.includes(":") ? `[${host}]` : host}:${actualPort}`;
}

/** @returns the exit code when a signal ends it. @throws UsageError where a flag is wrong. */
async function watch(values: WatchValues): Promise<number> {
  const readOptions = () => readDriftOptions(values);
  // An error in the policy file ends the command before the first event.
  readOptions();
  if (values.stack.length + values.state.length === 0) {
    throw new UsageError(
      "PP5004",
      "nothing to compare: name a stack with --stack, or what it exported with --state",
    );
  }
  const issuer = readIssuer(values);
  const settleMs = parseSettle(values.settle ?? "5s");
  const { host, port } = parseListen(values.listen ?? "127.0.0.1:8787");
  const { client } = await openConnection({ stack: values.stack[0], cwd: values.cwd });
  const group = await Promise.all(values.group.map((text) => resolveGroup(client, text, "--group")));
  const readAllStates = () => readStates(values.state, values.stack, values.cwd, { withSecrets: true });
  // An error in the states ends the command before the first event.
  await readAllStates();
  const receiver = new EventReceiver({
    verify: { issuer, group },
    settleMs,
    run: async (changed) => {
      const states = await readAllStates();
      const { policy, ownRules, options } = readOptions();
      const suppress = createSuppressor(policy, new Date());
      const rules = createRules(options, policy, ownRules);
      const report = await reportChanges(client, changed, states, { rules, ownRules, suppress });
      if (report.findings.length === 0 && report.complete) return;
      await finishDrift(report, options);
    },
    log: logError,
  });
  const stopped = new Promise<void>((done) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => done());
  });
  console.error(`listening on ${await listen(receiver, host, port)}`);
  await stopped;
  await receiver.close();
  return exitCodes.clean;
}

const MAX_DELAY_FACTOR = 10;
/** The pause after a failed run, unless events come: what fails at once would else be repeated without end. */
const RETRY_MS = 60_000;

/** How a receiver of events verifies and handles them. */
interface EventReceiverOptions {
  readonly verify: Omit<EventHandlerOptions, "onEvent" | "log">;
  /** How long no event may come before a run, in milliseconds. */
  readonly settleMs: number;
  /** Compares the resources that a burst of events names. */
  readonly run: (changed: ChangedResources) => Promise<void>;
  /** Logs a line about an event that was refused, or a run that failed. */
  readonly log: (line: string) => void;
}

/** Receives events and handles each burst of them by one run, one run at a time. */
export class EventReceiver {
  readonly server: Server;
  /** What the events since the last run name. */
  private waiting = new ChangedResources();
  private timer: NodeJS.Timeout | undefined;
  /** When the first event since the last run came. */
  private firstAt: number | undefined;
  private isClosed = false;
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly options: EventReceiverOptions) {
    const { verify, log } = options;
    this.server = createServer(
      createEventHandler({ ...verify, onEvent: (event) => this.accept(event), log }),
    );
  }

  /** Runs without a pause; resolves when each event so far was in a run. */
  async waitUntilIdle(): Promise<void> {
    if (this.timer) this.start();
    await this.running;
  }

  /** Accepts no more events, and checks once those that wait: nobody delivers an accepted event again. */
  async close(): Promise<void> {
    this.isClosed = true;
    await new Promise<void>((done) => {
      this.server.close(() => done());
      this.server.closeAllConnections();
    });
    await this.waitUntilIdle();
    if (!this.waiting.isEmpty)
      this.options.log(`the last events were not checked: run ${ownCommand()} drift`);
  }

  private accept(event: ChangeEvent): void {
    if (this.waiting.add(event)) this.schedule();
  }

  private schedule(): void {
    const { settleMs } = this.options;
    const now = performance.now();
    this.firstAt ??= now;
    const remaining = this.firstAt + MAX_DELAY_FACTOR * settleMs - now;
    this.startIn(Math.max(0, Math.min(settleMs, remaining)));
  }

  private startIn(delayMs: number): void {
    clearTimeout(this.timer);
    if (!this.isClosed) this.timer = setTimeout(() => this.start(), delayMs);
  }

  private start(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.firstAt = undefined;
    this.running = this.running.then(() => this.run());
  }

  private async run(): Promise<void> {
    const changed = this.waiting;
    if (changed.isEmpty) return;
    this.waiting = new ChangedResources();
    try {
      await this.options.run(changed);
    } catch (error) {
      changed.addAll(this.waiting);
      this.waiting = changed;
      const next = this.isClosed ? "" : "; the next run checks its events again";
      this.options.log(
        withCode(`a run failed: ${printable(errorMessage(error))}${next}`, errorCodeOf(error)),
      );
      // Events that came meanwhile start a run sooner.
      if (this.timer === undefined) this.startIn(Math.max(this.options.settleMs, RETRY_MS));
    }
  }
}

/** Reads each organisation that events concern, and of what lists leave out the objects that they name. */
async function readInventories(
  client: Client,
  changed: ChangedResources,
  states: readonly StateExport[],
): Promise<Inventory[]> {
  const inventories: Inventory[] = [];
  for (const root of organisationsOf(states).filter((uid) => changed.concernsBelow(uid))) {
    const managed = unlistedManagedUids(states, listedKinds, root);
    const uidsOf = (kind: string): string[] => {
      const named = [...(changed.uids.get(kind) ?? [])].filter((uid) => isWithin(uid, root));
      const concerned = (managed.get(kind) ?? []).filter((uid) => changed.concerns(kind, uid));
      return [...new Set([...named, ...concerned])];
    };
    const kinds = new Set([...changed.uids.keys(), ...managed.keys()]);
    inventories.push(
      await takeInventory(client, {
        root,
        additionalUids: new Map([...kinds].map((kind) => [kind, uidsOf(kind)])),
        isRootOptional: isUidManaged(states, root),
        now: Date.now,
      }),
    );
  }
  return inventories;
}

/** Compares the resources that events name with what the states record. */
export async function reportChanges(
  client: Client,
  changed: ChangedResources,
  states: readonly StateExport[],
  { rules, ownRules, suppress }: Pick<DriftRequest, "rules" | "ownRules" | "suppress"> = {},
): Promise<DriftReport> {
  return findDrift({
    states,
    inventories: await readInventories(client, changed, states),
    changed,
    failOn: "any",
    now: Date.now(),
    version: ownVersion(),
    isPartial: true,
    rules,
    ownRules,
    suppress,
  });
}
