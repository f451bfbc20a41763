import { findDrift } from "../access/drift/drift";
import type { DriftRequest } from "../access/drift/drift";
import { organisationsOf } from "../access/drift/roots";
import { aggregatedKinds } from "../access/drift/touched";
import type { ChangedResources } from "../access/drift/touched";
import type { Inventory } from "../access/documents/inventory";
import type { DriftReport } from "../access/report/report";
import type { StateExport } from "../access/documents/stateExport";
import { takeInventory } from "../inventory/takeInventory";
import { hasUserinfo } from "../api/address";
import type { Client } from "../api/client";
import { printable } from "../api/errors";
import { durationNanos } from "../engine/times";
import { logError, exitCodes, UsageError } from "./command";
import { connect } from "./connection";
import { finish, isManaged } from "./driftRun";
import { EventReceiver } from "./eventReceiver";
import { createSuppressor, createRules } from "./judgement";
import { readGroup } from "./inventory";
import { defineCommand } from "./define";
import type { Flags, Values } from "./flags";
import { commonFlags, readCommonOptions } from "./options";
import { readStates } from "./states";
import { packageVersion } from "./version";

const flags = {
  stack: {
    type: "string",
    multiple: true,
    value: "STACK",
    help: "compare this stack; exported anew for each run",
  },
  state: { type: "string", multiple: true, value: "FILE", help: "compare what pulumi stack export wrote" },
  group: {
    type: "string",
    multiple: true,
    value: "UID",
    help: "the group of the subscription whose events are accepted",
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
  "source-root": commonFlags["source-root"],
  post: {
    ...commonFlags.post,
    choices: ["github-issue"],
    help: "post an issue of its own: it shows what was found last, and stays open until you close it",
  },
  marker: {
    ...commonFlags.marker,
    default: "the stacks",
    help: "tells this issue from others",
  },
  "dry-run": commonFlags["dry-run"],
} as const satisfies Flags;

/** Compares what was touched, asking for that and for the names that it needs. */
export async function reportChanges(
  client: Client,
  touched: ChangedResources,
  states: readonly StateExport[],
  { rules, suppress: judge }: Pick<DriftRequest, "rules" | "suppress"> = {},
): Promise<DriftReport> {
  const also = touched.uidsToRead(states);
  const only = touched.uidsToCompare(also);
  const inventories: Inventory[] = [];
  for (const root of organisationsOf(states)) {
    const isBelow = (uid: string) => uid === root || uid.startsWith(`${root}/`);
    if (![...only].some(isBelow)) continue;
    inventories.push(
      await takeInventory(client, {
        root,
        kinds: ["Group", "Role", "Identity", ...aggregatedKinds(states)],
        additionalUids: new Map(
          [...also].map(([kind, uids]): [string, string[]] => [kind, uids.filter(isBelow)]),
        ),
        parentsToList: new Map(
          [...touched.parents].map(([kind, uids]): [string, string[]] => [kind, [...uids].filter(isBelow)]),
        ),
        isRootOptional: isManaged(states, root),
        now: Date.now,
      }),
    );
  }
  return findDrift({
    states,
    inventories,
    onlyUids: only,
    actors: touched.actors,
    failOn: "any",
    now: Date.now(),
    version: packageVersion(),
    isPartial: true,
    rules,
    suppress: judge,
  });
}

function readListen(text: string): { host: string; port: number } {
  const [, host = "", port = ""] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  if (host === "" || Number(port) > 65_535) {
    throw new UsageError(
      `--listen must be a host and a port, as in 127.0.0.1:8787, not "${printable(text, 80)}"`,
    );
  }
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
}

export const command = defineCommand(
  {
    name: "watch",
    usage: ["--stack STACK --group UID [options]"],
    about:
      "Receives the platform's events, verifies each, and compares what a burst of them touched: drift in seconds. " +
      "The next run of pulumi-platform drift finds what a lost event would have shown; watch does not replace it. " +
      "Subscribe the address under which the platform reaches it, and put TLS in front of it. Runs until SIGINT or SIGTERM.",
    flags,
    exitCodes: ["clean", "error", "usage", "authentication"],
  },
  ({ values }) => watch(values),
);
export const { main } = command;

/** @returns the exit code when a signal ends it. @throws UsageError where a flag is wrong. */
async function watch(values: Values<typeof flags>): Promise<number> {
  const options = readCommonOptions(values, ["any"]);
  if (values.stack.length + values.state.length === 0) {
    throw new UsageError("nothing to compare: name a stack with --stack, or what it exported with --state");
  }
  const group = values.group.map((uid) => readGroup(uid, "--group"));
  if (group.length === 0) throw new UsageError("--group is missing: give the group of the subscription");
  const issuer = values.issuer ?? process.env["PLATFORM_ISSUER_URL"] ?? "";
  if (!URL.canParse(issuer) || hasUserinfo(new URL(issuer))) {
    throw new UsageError(
      "--issuer must be the address of the platform's issuer, as in https://issuer.example.com",
    );
  }
  const settle = durationNanos(values.settle ?? "5s");
  if (settle === undefined || settle < 0n) throw new UsageError("--settle must be a time, as in 5s");
  const { host, port } = readListen(values.listen ?? "127.0.0.1:8787");
  const { client } = await connect({ stack: values.stack[0], cwd: values.cwd });
  // What is wrong with the states and the policy file shows before the first event.
  createSuppressor(options, "drift");
  await readStates(values.state, values.stack, values.cwd, { withSecrets: true });
  const receiver = new EventReceiver({
    verify: { issuer, group },
    settleMs: Number(settle / 1_000_000n),
    run: async (touched) => {
      const states = await readStates(values.state, values.stack, values.cwd, { withSecrets: true });
      const judge = createSuppressor({ ...options, now: new Date() }, "drift");
      const report = await reportChanges(client, touched, states, {
        rules: createRules(options),
        suppress: judge,
      });
      if (report.findings.length === 0 && report.complete) return;
      await finish(report, options);
    },
    log: logError,
  });
  const stopped = new Promise<void>((done) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => done());
  });
  await new Promise<void>((done, failed) => {
    receiver.server.once("error", () =>
      failed(new UsageError(`--listen names ${host}:${port}, where it cannot listen`)),
    );
    receiver.server.listen(port, host, () => done());
  });
  const address = receiver.server.address();
  const chosen = address !== null && typeof address === "object" ? address.port : port;
  console.error(`listening on http://${host.includes(":") ? `[${host}]` : host}:${chosen}`);
  await stopped;
  await receiver.close();
  return exitCodes.clean;
}
