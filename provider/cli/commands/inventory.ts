import type { Inventory } from "../../access/documents/inventory";
import { json } from "../../access/report/render/escape";
import { takeInventory } from "../../inventory/takeInventory";
import { defineCommand } from "../framework/defineCommand";
import { exitCodes, UsageError } from "../framework/exitCodes";
import type { Flags, Values } from "../framework/flags";
import { outputFlag, readDestinations } from "../framework/options";
import { openConnection } from "../input/connection";
import { resolveGroup } from "../input/groups";
import { readKinds } from "../input/states";
import { describeRefusals } from "../../access/documents/inventory";
import { logError, withProgress } from "../output/log";
import { writeResults } from "../output/writeFiles";

const forms = ["text", "json"] as const;

const flags = {
  root: {
    type: "string",
    value: "GROUP",
    help: "the group to list, by uid or name, with everything below it",
  },
  types: {
    type: "string",
    multiple: true,
    value: "KIND[,KIND]",
    help: "these kinds instead of the default ones; +KIND adds to the default ones, as in --types +Tag",
  },
  stack: { type: "string", value: "STACK", help: "read the settings of this stack too" },
  output: outputFlag(forms),
} as const satisfies Flags;

function formatSummary(inventory: Inventory): string {
  const counts = new Map(inventory.kinds.map((kind) => [kind, 0]));
  let builtIn = 0;
  for (const object of inventory.objects) {
    if (object.builtIn) builtIn += 1;
    else counts.set(object.kind, (counts.get(object.kind) ?? 0) + 1);
  }
  const rows = [...counts];
  const width = Math.max(...rows.map(([kind]) => kind.length));
  const lines = rows.map(([kind, count]) => `  ${kind.padEnd(width)}  ${String(count).padStart(6)}`);
  const more = builtIn === 0 ? [] : [`  and ${builtIn} built-in roles`];
  return [
    `${inventory.root} at ${inventory.takenAt}:`,
    ...lines,
    ...more,
    describeCaller(inventory),
    "",
  ].join("\n");
}

/** Whose list it is. Bindings show that an identity may list all; of others nobody knows. */
function describeCaller({ caller }: Inventory): string {
  if (caller === undefined)
    return "the token does not say whose it is, so nobody can tell whether it may see everything";
  return caller.includes("/")
    ? `taken by ${caller}`
    : `taken by the person ${caller}; nobody can tell whether this person may see everything`;
}

export const command = defineCommand(
  {
    name: "inventory",
    usage: ["--root GROUP [options]"],
    about:
      "Lists the live organisation into one sorted document. Sends read requests only. The address and the credential " +
      "come from the environment (PLATFORM_BASE_URL, PLATFORM_TOKEN, …), and from a stack's configuration with --stack.",
    flags,
    exitCodes: ["clean", "error", "usage", "authentication", "incomplete"],
  },
  ({ values }) => writeInventory(values),
);
export const { main } = command;

/** @throws UsageError where a flag is wrong. */
async function writeInventory(values: Values<typeof flags>): Promise<number> {
  if (values.root === undefined) {
    throw new UsageError("PP5004", "--root is missing: give the uid or the name of the group to list");
  }
  const wanted = readKinds(values.types);
  const outputs = readDestinations(values.output, forms);
  const { client } = await openConnection({ stack: values.stack });
  const root = await resolveGroup(client, values.root, "--root");
  const inventory = await withProgress("listing", (progress) =>
    takeInventory(client, { root, kinds: wanted, now: Date.now, progress }),
  );
  writeResults(outputs, { text: () => formatSummary(inventory), json: () => `${json(inventory, 1)}\n` });
  for (const line of describeRefusals(inventory)) logError(line);
  return inventory.complete ? exitCodes.clean : exitCodes.incomplete;
}
