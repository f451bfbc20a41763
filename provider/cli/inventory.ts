import { listedKinds, takeInventory } from "../inventory/takeInventory";
import type { Inventory } from "../access/documents/inventory";
import { json } from "../access/report/render/escape";
import { printable } from "../api/errors";
import { isUid } from "../api/uid";
import { kinds } from "../resources";
import { logError, exitCodes, UsageError } from "./command";
import { connect } from "./connection";
import { writeResults } from "./files";
import { resolveGroup } from "./groups";
import { defineCommand } from "./define";
import type { Flags, Values } from "./flags";
import { outputFlag, readDestinations } from "./options";
import { Progress } from "./progress";

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
    help: "these kinds instead of the usual ones; +KIND adds to those, as in --types +Tag",
  },
  stack: { type: "string", value: "STACK", help: "take the settings of this stack too" },
  output: outputFlag(forms),
} as const satisfies Flags;

/** The kinds that an inventory can hold: not those that are made of others, whose parts it holds. */
export const inventoryKinds: readonly string[] = kinds
  .filter(({ spec }) => spec.listing?.aggregates === undefined)
  .map(({ spec }) => spec.kind);

/** The kinds that `--types` names. @throws UsageError */
export function readKinds(given: readonly string[]): readonly string[] {
  const words = given.flatMap((text) => text.split(",")).map((word) => word.trim());
  if (words.length === 0) return listedKinds;
  for (const word of words) {
    if (!inventoryKinds.includes(word.replace(/^\+/, ""))) {
      throw new UsageError(
        `--types must name kinds of ${inventoryKinds.join(", ")}, not "${printable(word, 80)}"`,
      );
    }
  }
  const added = words.filter((word) => word.startsWith("+")).map((word) => word.slice(1));
  const chosen = words.filter((word) => !word.startsWith("+"));
  return [...new Set([...(chosen.length === 0 ? listedKinds : chosen), ...added])];
}

/** @throws UsageError */
export function readGroup(text: string, flag: string): string {
  if (!isUid(text)) {
    throw new UsageError(
      `${flag} must be the uid of a group: 40 hex digits, then 16 more after each slash; not "${printable(text, 80)}"`,
    );
  }
  return text;
}

/** What is missing, a line each. */
export function describeRefusals({ refused }: Inventory): string[] {
  return refused.map(
    ({ kind, scope, code, message }) =>
      `${kind}${scope === undefined ? "" : ` at ${scope}`} was not looked at: ${code}: ${printable(message, 300)}`,
  );
}

function formatSummary(inventory: Inventory): string {
  const counts = new Map(inventory.kinds.map((kind) => [kind, 0]));
  let builtIn = 0;
  for (const object of inventory.objects) {
    if (object.builtIn) builtIn += 1;
    else counts.set(object.kind, (counts.get(object.kind) ?? 0) + 1);
  }
  const rows = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  const width = Math.max(...rows.map(([kind]) => kind.length));
  const lines = rows.map(([kind, count]) => `  ${kind.padEnd(width)}  ${String(count).padStart(6)}`);
  const more = builtIn === 0 ? [] : [`  and ${builtIn} roles of the platform's own`];
  return [`${inventory.root} at ${inventory.takenAt}:`, ...lines, ...more, ""].join("\n");
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
    throw new UsageError("--root is missing: give the uid or the name of the group to list");
  }
  const wanted = readKinds(values.types);
  const outputs = readDestinations(values.output, forms, "text");
  const progress = new Progress("listing");
  let inventory: Inventory;
  try {
    const { client } = await connect({ stack: values.stack });
    const root = await resolveGroup(client, values.root, "--root");
    inventory = await takeInventory(client, {
      root,
      kinds: wanted,
      now: Date.now,
      progress: progress.report,
    });
  } finally {
    progress.done();
  }
  writeResults(outputs, { text: () => formatSummary(inventory), json: () => `${json(inventory, 1)}\n` });
  for (const line of describeRefusals(inventory)) logError(line);
  return inventory.complete ? exitCodes.clean : exitCodes.incomplete;
}
