import { driftThresholds, findDrift } from "../access/drift/drift";
import type { DriftThreshold } from "../access/drift/drift";
import { organisationsOf } from "../access/drift/roots";
import type { Inventory } from "../access/inventory";
import { parseInventory } from "../access/parseInventory";
import { listedKinds, takeInventory } from "../access/takeInventory";
import { printable } from "../api/errors";
import { complain, exitCodes, UsageError } from "./command";
import { connect } from "./connection";
import { conclude, isManaged, managedBesides } from "./driftRun";
import { readText } from "./files";
import { baselineAt, judgementBy } from "./judgement";
import { readGroup, readKinds } from "./inventory";
import { commonFlags, describeFlags, parseFlags, readCommon } from "./options";
import type { Flags } from "./options";
import { Progress } from "./progress";
import { readProvenance } from "./provenance";
import { readStates } from "./states";
import { packageVersion } from "./version";

const ownFlags = {
  stack: {
    type: "string",
    multiple: true,
    value: "STACK",
    help: "compare this stack (runs pulumi stack export); may be\ngiven several times",
  },
  state: {
    type: "string",
    multiple: true,
    value: "FILE",
    help: "compare what pulumi stack export wrote; * and ? stand\nfor any characters; may be given several times",
  },
  inventory: {
    type: "string",
    multiple: true,
    value: "FILE",
    help: "the organisation as pulumi-platform inventory wrote it;\nwithout it the live one is asked",
  },
  root: {
    type: "string",
    multiple: true,
    value: "UID",
    help: "look at this group and what is below it only; default\nthe organisations that the stacks manage",
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
    help: "an older inventory: tells since when; without a stack\nit is what is compared",
  },
  "write-baseline": {
    type: "string",
    value: "FILE",
    help: "accept what is found: adds an exception for each\nfinding that is not critical to this policy file",
  },
  cwd: { type: "string", value: "DIR", help: "the folder of the Pulumi project; default this one" },
} as const satisfies Flags;

/** Of the flags that the commands with a report share, those that mean something here. */
const shared = {
  output: commonFlags.output,
  policy: commonFlags.policy,
  "exit-zero": commonFlags["exit-zero"],
  now: commonFlags.now,
  "source-root": commonFlags["source-root"],
  summary: commonFlags.summary,
  post: {
    ...commonFlags.post,
    help: "github-issue: one issue for the stacks, closed by the\nfirst clean and complete run; with another --root or other\n--types it is another issue",
  },
  marker: { ...commonFlags.marker, help: "tells this issue from others; default the stacks" },
  "dry-run": commonFlags["dry-run"],
  help: commonFlags.help,
} as const satisfies Flags;

const flags = {
  ...ownFlags,
  ...shared,
  "fail-on": {
    type: "string",
    value: "WHICH",
    help: "any, widened, unmanaged or never: which findings\ndecide the exit code; default any",
  },
} as const satisfies Flags;

const usage = `Usage: pulumi-platform drift --stack STACK [options]

Compares what stacks record with the live organisation, by reading alone: what was changed outside of its program,
what is gone, what is in no stack, and what is in two.

Options:
${describeFlags(flags)}

Exit codes: 0 no drift, 1 error, 2 usage, 3 authentication, 4 incomplete: something was not looked at, or nothing
was compared, 7 drift (it beats 4).
`;

/** Of several inventories the one that was taken first. */
function oldest(inventories: readonly Inventory[]): Inventory | undefined {
  return [...inventories].sort((a, b) => Date.parse(a.takenAt) - Date.parse(b.takenAt))[0];
}

/** `pulumi-platform drift`: see its usage. Answers the exit code. */
export async function main(argv: string[]): Promise<number> {
  const { values, positionals } = parseFlags("drift", flags, argv);
  if (values.help) {
    process.stdout.write(usage);
    return exitCodes.clean;
  }
  if (positionals.length > 0) {
    throw new UsageError(
      `"${printable(positionals[0] ?? "", 80)}" is no option: name a file with --state, or a stack with --stack`,
    );
  }
  const options = readCommon(values, driftThresholds);
  if (options.post !== undefined && options.post !== "github-issue") {
    throw new UsageError("--post must be github-issue: drift belongs to no pull request");
  }
  if (values.stack.length + values.state.length + values.since.length === 0) {
    throw new UsageError("nothing to compare: name a stack with --stack, or what it exported with --state");
  }
  if (values.inventory.length > 0 && values.root.length + values.types.length > 0) {
    throw new UsageError(
      "--root and --types belong to a live organisation: leave them out beside --inventory",
    );
  }
  const roots = values.root.map((uid) => readGroup(uid, "--root"));
  const kinds = readKinds(values.types.length === 0 ? [] : values.types);
  const since = values.since.map((path) => parseInventory(readText(path, "--since"), path));
  const path = values["write-baseline"];
  const baseline = path === undefined ? undefined : baselineAt(path, options);
  const judge = baseline?.judge ?? judgementBy(options, "drift");
  const progress = new Progress("looking at");
  try {
    const states = await readStates(values.state, values.stack, values.cwd);
    let inventories: Inventory[];
    if (values.inventory.length > 0) {
      inventories = values.inventory.map((path) => parseInventory(readText(path, "--inventory"), path));
    } else {
      const chosen =
        roots.length > 0
          ? roots
          : [...new Set([...organisationsOf(states), ...since.map(({ root }) => root)])];
      const { client } = await connect({ stack: values.stack[0], cwd: values.cwd });
      inventories = [];
      for (const root of chosen) {
        inventories.push(
          await takeInventory(client, {
            root,
            kinds: [...new Set([...listedKinds, ...kinds])],
            also: managedBesides(states, kinds, root),
            // A stack that manages the group itself is told that it is gone.
            mayBeGone: isManaged(states, root),
            now: Date.now,
            progress: progress.report,
          }),
        );
      }
    }
    progress.done();
    const report = await findDrift({
      states,
      inventories,
      since: since.length === 0 ? undefined : since,
      failOn: options.failOn as DriftThreshold,
      now: options.now.getTime(),
      version: packageVersion(),
      scoped: roots.length > 0,
      judge,
    });
    for (const line of baseline?.write() ?? []) complain(line);
    const provenance = readProvenance({}, { now: options.now, inventory: oldest(inventories) });
    return await conclude({ ...report, provenance }, options);
  } finally {
    progress.done();
  }
}
