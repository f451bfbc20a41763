import { driftThresholds, findDrift } from "../access/drift/drift";
import type { DriftThreshold } from "../access/drift/drift";
import { organisationsOf } from "../access/drift/roots";
import type { Inventory } from "../access/documents/inventory";
import { parseInventory } from "../access/documents/parseInventory";
import { listedKinds, takeInventory } from "../inventory/takeInventory";
import { logError, UsageError } from "./command";
import { connect } from "./connection";
import { finish, isManaged, unlistedManagedUids } from "./driftRun";
import { readText } from "./files";
import { readBaseline, createSuppressor, createRules } from "./judgement";
import { resolveGroup } from "./groups";
import { readKinds } from "./inventory";
import { defineCommand } from "./define";
import type { Flags, Values } from "./flags";
import { commonFlags, readCommonOptions } from "./options";
import { Progress } from "./progress";
import { readProvenance } from "./provenance";
import { readStates } from "./states";
import { packageVersion } from "./version";

const ownFlags = {
  stack: {
    type: "string",
    multiple: true,
    value: "STACK",
    help: "compare this stack (runs pulumi stack export)",
  },
  state: {
    type: "string",
    multiple: true,
    value: "FILE",
    help: "compare what pulumi stack export wrote; * and ? match any characters",
  },
  inventory: {
    type: "string",
    multiple: true,
    value: "FILE",
    help: "the organisation as pulumi-platform inventory wrote it; without it, the live one is read",
  },
  root: {
    type: "string",
    multiple: true,
    value: "GROUP",
    default: "the organisations that the stacks manage",
    help: "check only this group, by uid or name, and what is below it",
  },
  types: {
    type: "string",
    multiple: true,
    value: "KIND[,KIND]",
    help: "+KIND: look for unmanaged ones of it too",
  },
  since: {
    type: "string",
    multiple: true,
    value: "FILE",
    help: "an older inventory: shows since when; without a stack it is what is compared",
  },
  "write-baseline": {
    type: "string",
    value: "FILE",
    help: "accept what is found: adds an exception for each medium and low finding to this policy file, and for each other one a comment that a person must complete",
  },
  cwd: { type: "string", value: "DIR", default: "this one", help: "the folder of the Pulumi project" },
} as const satisfies Flags;

/** Of the flags that the commands with a report share, those that mean something here. */
const shared = {
  output: commonFlags.output,
  policy: commonFlags.policy,
  "exit-zero": commonFlags["exit-zero"],
  now: commonFlags.now,
  strict: commonFlags.strict,
  self: { ...commonFlags.self, help: "the identity that must not have lost its access" },
  "min-owners": commonFlags["min-owners"],
  "required-owner": commonFlags["required-owner"],
  "max-removal": {
    ...commonFlags["max-removal"],
    help: "the part of all grants that may be lost to drift",
  },
  "issuer-allow": commonFlags["issuer-allow"],
  "sink-allow": commonFlags["sink-allow"],
  "source-root": commonFlags["source-root"],
  summary: commonFlags.summary,
  post: {
    ...commonFlags.post,
    choices: ["github-issue"],
    help: "post one issue for the stacks; the first clean and complete run closes it, and another --root or other --types is another issue",
  },
  marker: { ...commonFlags.marker, default: "the stacks", help: "tells this issue from others" },
  "dry-run": commonFlags["dry-run"],
} as const satisfies Flags;

const flags = {
  ...ownFlags,
  ...shared,
  "fail-on": {
    type: "string",
    value: "WHICH",
    choices: driftThresholds,
    default: "any",
    help: "which findings decide the exit code: widened counts what widens access or may widen it, unmanaged objects that give access among it, and high and critical findings of the rules; unmanaged counts each unmanaged object",
  },
} as const satisfies Flags;

/** An older inventory of a root that no newer one covers would compare nothing, in silence. @throws UsageError */
function requireSameRoots(since: readonly Inventory[], inventories: readonly Inventory[]): void {
  const roots = new Set(inventories.map(({ root }) => root));
  const lone = since.find(({ root }) => !roots.has(root));
  if (lone === undefined) return;
  throw new UsageError(
    `--since names an inventory of group ${lone.root}, and no newer one of that group is given: add it with --inventory, or leave this one out`,
  );
}

/** Of several inventories the one that was taken first. */
function oldest(inventories: readonly Inventory[]): Inventory | undefined {
  return [...inventories].sort((a, b) => Date.parse(a.takenAt) - Date.parse(b.takenAt))[0];
}

export const command = defineCommand(
  {
    name: "drift",
    usage: ["--stack STACK [options]"],
    about:
      "Compares what stacks record with the live organisation, with read requests only: what was changed outside of its " +
      "program, what was deleted, what is in no stack, and what is in two.",
    flags,
    exitCodes: ["clean", "error", "usage", "authentication", "incomplete", "drift"],
  },
  ({ values }) => reportDrift(values),
);
export const { main } = command;

/** @throws UsageError where a flag or a file is wrong. */
async function reportDrift(values: Values<typeof flags>): Promise<number> {
  const options = readCommonOptions(values, driftThresholds);
  if (values.stack.length + values.state.length + values.since.length === 0) {
    throw new UsageError("nothing to compare: name a stack with --stack, or what it exported with --state");
  }
  if (values.inventory.length > 0 && values.root.length + values.types.length > 0) {
    throw new UsageError(
      "--root and --types belong to a live organisation: leave them out beside --inventory",
    );
  }
  const kinds = readKinds(values.types.length === 0 ? [] : values.types);
  const since = values.since.map((path) => parseInventory(readText(path, "--since"), path));
  const path = values["write-baseline"];
  const baseline = path === undefined ? undefined : readBaseline(path, options);
  const judge = baseline?.suppress ?? createSuppressor(options, "drift");
  const progress = new Progress("looking at");
  try {
    const states = await readStates(values.state, values.stack, values.cwd, { withSecrets: true });
    let inventories: Inventory[];
    if (values.inventory.length > 0) {
      inventories = values.inventory.map((path) => parseInventory(readText(path, "--inventory"), path));
    } else {
      const { client } = await connect({ stack: values.stack[0], cwd: values.cwd });
      const roots = await Promise.all(values.root.map((text) => resolveGroup(client, text, "--root")));
      const chosen = new Set(
        roots.length > 0 ? roots : [...organisationsOf(states), ...since.map(({ root }) => root)],
      );
      inventories = [];
      for (const root of chosen) {
        inventories.push(
          await takeInventory(client, {
            root,
            kinds: [...new Set([...listedKinds, ...kinds])],
            additionalUids: unlistedManagedUids(states, kinds, root),
            // A stack that manages the group itself is told that it is gone.
            isRootOptional: isManaged(states, root),
            now: Date.now,
            progress: progress.report,
          }),
        );
      }
    }
    progress.done();
    requireSameRoots(since, inventories);
    const report = await findDrift({
      states,
      inventories,
      since: since.length === 0 ? undefined : since,
      failOn: options.failOn as DriftThreshold,
      now: options.now.getTime(),
      version: packageVersion(),
      isPartial: values.root.length > 0,
      rules: createRules(options),
      suppress: judge,
    });
    for (const line of baseline?.write() ?? []) logError(line);
    const provenance = readProvenance(
      {},
      {
        now: options.now,
        inventory: oldest(inventories),
        cli: states.find(({ cli }) => cli !== undefined)?.cli,
      },
    );
    return await finish({ ...report, provenance }, options);
  } finally {
    progress.done();
  }
}
