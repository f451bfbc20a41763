import { listedKinds, takeInventory } from "../access/takeInventory";
import type { Inventory } from "../access/inventory";
import { json } from "../access/render/escape";
import { printable } from "../api/errors";
import { isUid } from "../api/uid";
import { kinds } from "../resources";
import { complain, exitCodes, UsageError } from "./command";
import { connect } from "./connection";
import { writeText } from "./files";
import { describeFlags, parseFlags, readDestinations } from "./options";
import type { Flags } from "./options";
import { Progress } from "./progress";

const flags = {
  root: { type: "string", value: "UID", help: "the group to list, with everything below it" },
  types: {
    type: "string",
    multiple: true,
    value: "KIND[,KIND]",
    help: `these kinds instead of the usual ones;\n+KIND adds to those, as in --types +Tag`,
  },
  stack: { type: "string", value: "STACK", help: "take the settings of this stack too" },
  output: {
    type: "string",
    short: "o",
    multiple: true,
    value: "FORMAT[=PATH]",
    help: "text (a count of each kind) or json; to a file, or\nto stdout; may be given several times; default text",
  },
  help: { type: "boolean", short: "h", help: "show this text" },
} as const satisfies Flags;

const usage = `Usage: pulumi-platform inventory --root UID [options]

Lists the live organisation into one sorted document, by reading alone. The address and the credential come
from the environment (PLATFORM_BASE_URL, PLATFORM_TOKEN, …), and from a stack's configuration with --stack.

Options:
${describeFlags(flags)}

Exit codes: 0 complete, 1 error, 2 usage, 3 authentication, 4 incomplete: a list was refused, or broke off.
`;

/** The kinds that an inventory can hold: not those that are made of others, whose parts it holds. */
export const heldKinds: readonly string[] = kinds
  .filter(({ spec }) => spec.listing?.gathers === undefined)
  .map(({ spec }) => spec.kind);

/** The kinds that `--types` names. @throws UsageError */
export function readKinds(given: readonly string[]): readonly string[] {
  const words = given.flatMap((text) => text.split(",")).map((word) => word.trim());
  if (words.length === 0) return listedKinds;
  for (const word of words) {
    if (!heldKinds.includes(word.replace(/^\+/, ""))) {
      throw new UsageError(
        `--types must name kinds of ${heldKinds.join(", ")}, not "${printable(word, 80)}"`,
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
export function refusals({ refused }: Inventory): string[] {
  return refused.map(
    ({ kind, scope, code, message }) =>
      `${kind}${scope === undefined ? "" : ` at ${scope}`} was not looked at: ${code}: ${printable(message, 300)}`,
  );
}

function summary(inventory: Inventory): string {
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

/** `pulumi-platform inventory`: see its usage. Answers the exit code. */
export async function main(argv: string[]): Promise<number> {
  const { values, positionals } = parseFlags("inventory", flags, argv);
  if (values.help) {
    process.stdout.write(usage);
    return exitCodes.clean;
  }
  if (positionals.length > 0) throw new UsageError(`"${printable(positionals[0] ?? "", 80)}" is no option`);
  if (values.root === undefined) {
    throw new UsageError("--root is missing: give the uid of the group to list, as in --root <uid>");
  }
  const root = readGroup(values.root, "--root");
  const wanted = readKinds(values.types);
  const outputs = readDestinations(values.output, ["text", "json"], "text");
  const progress = new Progress("listing");
  let inventory: Inventory;
  try {
    const { client } = await connect({ stack: values.stack });
    inventory = await takeInventory(client, {
      root,
      kinds: wanted,
      now: Date.now,
      progress: progress.report,
    });
  } finally {
    progress.done();
  }
  for (const { format, path } of outputs) {
    const text = format === "json" ? `${json(inventory, 1)}\n` : summary(inventory);
    if (path === undefined) process.stdout.write(text);
    else writeText(path, text, "--output");
  }
  for (const line of refusals(inventory)) complain(line);
  return inventory.complete ? exitCodes.clean : exitCodes.incomplete;
}
