import type { Inventory } from "../../access/documents/inventory";
import { isWithin, listedKinds, parseInventory } from "../../access/documents/inventory";
import type { StateExport } from "../../access/documents/stateExport";
import { findDrift, driftThresholds } from "../../access/drift/drift";
import type { DriftReport } from "../../access/report/report";
import { plural, quoteWord } from "../../text/plain";
import { printable } from "../../text/printable";
import { isTopUid } from "../../text/uid";
import type { DriftRequest } from "../../access/drift/drift";
import { organisationsOf } from "../../access/documents/stateExport";
import { takeInventory } from "../../inventory/takeInventory";
import { defineCommand } from "../framework/defineCommand";
import { UsageError } from "../framework/exitCodes";
import { printFlags } from "../framework/flags";
import type { Flags, Values } from "../framework/flags";
import { commonFlags, issueMarker } from "../framework/options";
import type { CommonOptions } from "../framework/options";
import { ownVersion } from "../../text/packageVersion";
import { openConnection } from "../input/connection";
import { resolveGroup } from "../input/groups";
import { readKinds, isUidManaged, unlistedManagedUids, readStates } from "../input/states";
import { readProvenance } from "../input/provenance";
import { readText } from "../input/readFiles";
import { finishDrift } from "../output/writeReport";
import { logError, withProgress } from "../output/log";
import type { Policy } from "../../access/suppressions/policyDocument";
import { ownCommand } from "../input/packageManager";
import { BaselineFile, createRules, createSuppressor, readDriftOptions } from "../policy/accessPolicy";

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
    help: "+KIND: find unmanaged objects of this kind too",
  },
  since: {
    type: "string",
    multiple: true,
    value: "FILE",
    help: "an older inventory: shows since when something differs; without a stack it is compared with the new one",
  },
  "write-baseline": {
    type: "string",
    value: "FILE",
    help: "accept the findings: add an exception for each medium and low finding to this policy file, and a comment for each other one that a person must complete; - is standard output",
  },
  cwd: { type: "string", value: "DIR", default: "this one", help: "the folder of the Pulumi project" },
} as const satisfies Flags;

const flags = {
  ...ownFlags,
  "fail-on": {
    type: "string",
    value: "WHICH",
    choices: driftThresholds,
    default: "any",
    help: "which findings decide the exit code; widened: those that widen access or may widen it, unmanaged objects that grant access, and high and critical findings of the rules; unmanaged: unmanaged objects",
  },
  ...commonFlags,
  self: { ...commonFlags.self, help: "the identity that must not have lost its access" },
  "max-removal": {
    ...commonFlags["max-removal"],
    help: "the share of all grants that may be lost to drift",
  },
  post: {
    ...commonFlags.post,
    choices: ["github-issue"],
    help: "post one issue for the stacks; the first clean and complete run closes it, and another --root or other --types is another issue",
  },
  marker: issueMarker,
} as const satisfies Flags;

type DriftValues = Values<typeof flags>;

/** @throws UsageError where the flags name nothing to compare, or two sources of the live organisation. */
function checkSources(values: DriftValues): void {
  if (values.stack.length + values.state.length + values.since.length === 0) {
    throw new UsageError(
      "PP5004",
      "nothing to compare: name a stack with --stack, or what it exported with --state",
    );
  }
  if (values.inventory.length > 0 && values.root.length + values.types.length > 0) {
    throw new UsageError("PP5003", "--root and --types conflict with --inventory; leave them out");
  }
}

/** Reads inventories that are shown as one. @throws UsageError where two may contain the same object: which one counts? */
function readInventories(flag: "--inventory" | "--since", paths: readonly string[]): readonly Inventory[] {
  const inventories = paths.map((path) => parseInventory(readText(path, flag), path));
  for (const [i, { root }] of inventories.entries()) {
    const other = inventories.find((each, k) => k !== i && isWithin(root, each.root));
    if (other === undefined) continue;
    const what =
      other.root === root
        ? `two inventories of group ${root}`
        : `inventories of group ${other.root} and of ${root} below it`;
    throw new UsageError("PP6004", `${flag} names ${what}: leave one of them out`);
  }
  return inventories;
}

/** @throws UsageError where an older inventory is compared with nothing, or is not older, or where one is missing. */
function checkOlder(
  since: readonly Inventory[],
  inventories: readonly Inventory[],
  { hasStates }: { readonly hasStates: boolean },
): void {
  for (const { root, takenAt } of since) {
    const newer = inventories.find((inventory) => inventory.root === root);
    if (newer === undefined) {
      throw new UsageError(
        "PP6004",
        `--since names an inventory of group ${root}, and no newer one of that group is given: add it with --inventory, or leave this one out`,
      );
    }
    if (Date.parse(takenAt) >= Date.parse(newer.takenAt)) {
      throw new UsageError(
        "PP6004",
        `--since names an inventory of group ${root} that is not older than the compared one: it was taken at ${takenAt}, and the compared one at ${newer.takenAt}`,
      );
    }
  }
  const alone = inventories.find(({ root }) => !since.some((older) => older.root === root));
  if (hasStates || alone === undefined) return;
  throw new UsageError(
    "PP6004",
    `the inventory of group ${alone.root} is compared with nothing: add an older one with --since, or a stack, or leave it out`,
  );
}

/** The inventory that was taken first: a report is as old as its oldest part. */
function oldest(inventories: readonly Inventory[]): Inventory | undefined {
  return [...inventories].sort((a, b) => Date.parse(a.takenAt) - Date.parse(b.takenAt))[0];
}

export const command = defineCommand(
  {
    name: "drift",
    usage: ["--stack STACK [options]"],
    about:
      "Compares what stacks record with the live organisation, with read requests only: what was changed outside of its " +
      "program, what was deleted, what no stack manages, and what two manage.",
    flags,
    exitCodes: ["clean", "error", "usage", "authentication", "incomplete", "drift"],
  },
  ({ values }) => detectDrift(values),
);
export const { main } = command;

/** What suppresses findings, and the baseline that the run writes. */
function prepareSuppression(
  path: string | undefined,
  policy: Policy | undefined,
  options: CommonOptions,
): { readonly baseline?: BaselineFile; readonly suppress: DriftRequest["suppress"] } {
  const suppressByPolicy = createSuppressor(policy, options.now);
  if (path === undefined) return { suppress: suppressByPolicy };
  const baseline = new BaselineFile(path, options, "drift", suppressByPolicy);
  return { baseline, suppress: (...args) => baseline.suppress(...args) };
}

/** What to do about objects that were there before anybody managed them, as long as no exception accepts anything. */
function describeFirstSteps({ summary, suppressed }: DriftReport, values: DriftValues): string[] {
  const { unmanaged } = summary.differences;
  if (unmanaged === 0 || suppressed.length > 0 || values["write-baseline"] !== undefined) return [];
  const path = values.policy ?? "access-policy.yaml";
  const again = { ...values, "write-baseline": path, output: undefined, post: undefined };
  const words = [ownCommand(), "drift", ...printFlags(flags, again).map(quoteWord)];
  return [
    `No stack that is compared manages ${plural(unmanaged, "object")}. If another stack does, add it with --stack. Adopt what a program is to manage: see node_modules/pulumi-platform/docs/tasks/adopt.md.`,
    "This accepts the rest for a time, and prepares an entry for what is high or critical:",
    `  ${printable(words.join(" "), 4000)}`,
    ...(values.policy === undefined ? [`Give later runs --policy ${path}.`] : []),
  ];
}

/** Where the live organisation comes from. */
interface LiveSources {
  readonly values: DriftValues;
  readonly states: readonly StateExport[];
  readonly since: readonly Inventory[];
  /** Kinds whose unmanaged objects are looked for. */
  readonly kinds: readonly string[];
}

async function readLive({ values, states, since, kinds }: LiveSources): Promise<Inventory[]> {
  const { client } = await openConnection({ stack: values.stack[0], cwd: values.cwd });
  const requested = await Promise.all(values.root.map((text) => resolveGroup(client, text, "--root")));
  const named =
    requested.length > 0 ? requested : [...organisationsOf(states), ...since.map(({ root }) => root)];
  // What lies in another one is read with it.
  const roots = new Set(
    named.filter((root) => !named.some((other) => other !== root && isWithin(root, other))),
  );
  const inventories: Inventory[] = [];
  for (const root of roots) {
    const request = {
      root,
      kinds: [...new Set([...listedKinds, ...kinds])],
      additionalUids: unlistedManagedUids(states, kinds, root),
      // Where a stack manages the group itself, its deletion is drift and no error.
      isRootOptional: isUidManaged(states, root),
      now: Date.now,
    };
    inventories.push(
      await withProgress("looking at", (progress) => takeInventory(client, { ...request, progress })),
    );
  }
  return inventories;
}

/** Whether inventories contain the whole of each organisation of the stacks, and whole organisations only. */
function coversAll(inventories: readonly Inventory[], states: readonly StateExport[]): boolean {
  const roots = inventories.map(({ root }) => root);
  return roots.every(isTopUid) && organisationsOf(states).every((root) => roots.includes(root));
}

/** @throws UsageError where a flag or a file is wrong. */
async function detectDrift(values: DriftValues): Promise<number> {
  const { policy, ownRules, options } = readDriftOptions(values);
  checkSources(values);
  const kinds = readKinds(values.types);
  const since = readInventories("--since", values.since);
  const { baseline, suppress } = prepareSuppression(values["write-baseline"], policy, options);
  const states = await readStates(values.state, values.stack, values.cwd, { withSecrets: true });
  const inventories =
    values.inventory.length > 0
      ? readInventories("--inventory", values.inventory)
      : await readLive({ values, states, since, kinds });
  checkOlder(since, inventories, { hasStates: states.length > 0 });
  const report = await findDrift({
    states,
    inventories,
    since: since.length === 0 ? undefined : since,
    failOn: values["fail-on"] ?? "any",
    now: options.now.getTime(),
    version: ownVersion(),
    isPartial: values.root.length > 0 && !coversAll(inventories, states),
    rules: createRules(options, policy, ownRules),
    ownRules,
    suppress,
  });
  for (const line of baseline?.write() ?? []) logError(line);
  const cli = states.find((state) => state.cli !== undefined)?.cli;
  const provenance = readProvenance({}, { now: options.now, inventory: oldest(inventories), cli });
  return await finishDrift({ ...report, provenance }, options, describeFirstSteps(report, values));
}
