import { isWithin, listedKinds, parseInventory } from "../../access/documents/inventory";
import type { Inventory } from "../../access/documents/inventory";
import { DocumentError } from "../../access/documents/jsonText";
import { parsePlan } from "../../access/documents/plan";
import type { ExpectedAccess, ReviewReport } from "../../access/report/report";
import { digestRecord, listRecorded } from "../../access/documents/stateExport";
import type { StateExport } from "../../access/documents/stateExport";
import { takeInventory } from "../../inventory/takeInventory";
import { parseReviewReport } from "../../access/report/report";
import { NO_INVENTORY, verify } from "../../access/verify/verify";
import { printable } from "../../text/printable";
import { logError, withProgress } from "../output/log";
import { UsageError, exitCodes } from "../framework/exitCodes";
import { openConnection } from "../input/connection";
import { exitCodeOfReport, logSummary, writeReport } from "../output/writeReport";
import { readFlaggedDocument, readInput } from "../input/readFiles";
import { resolveGroup } from "../input/groups";
import { defineCommand } from "../framework/defineCommand";
import type { Flags, Parsed } from "../framework/flags";
import { commonFlags, publishingFlags, readCommonOptions } from "../framework/options";
import { provenanceFlags, readProvenance } from "../input/provenance";
import { readStates, unlistedManagedUids } from "../input/states";
import { addTo } from "../../fields/values";

const flags = {
  stack: {
    type: "string",
    value: "STACK",
    help: "the stack that was updated (runs pulumi stack export): its settings, and the uid of each resource that it created",
  },
  state: {
    type: "string",
    value: "FILE",
    help: "what pulumi stack export wrote after the update, in place of --stack",
  },
  inventory: {
    type: "string",
    value: "FILE",
    help: "the organisation after the update (pulumi-platform inventory); without it the live one is read",
  },
  root: {
    type: "string",
    value: "GROUP",
    default: "the one that the report names",
    help: "the group that the review was about, by uid or name",
  },
  plan: {
    type: "string",
    value: "FILE",
    help: "the update plan that was applied: must be the one that was reviewed",
  },
  "plan-only": {
    type: "boolean",
    help: "before the update: check only that --plan is the file that the approved report names, with --digest, and with --stack or --state that the stack is what the review saw; reads nothing else",
  },
  digest: {
    type: "string",
    value: "HEX",
    help: "the digest of the approved report, as the review's comment shows it: another report is refused",
  },
  cwd: { type: "string", value: "DIR", default: "this one", help: "the folder of the Pulumi project" },
  ...provenanceFlags,
  output: commonFlags.output,
  "exit-zero": commonFlags["exit-zero"],
  now: { ...commonFlags.now, help: "the time of the report (RFC 3339)" },
  ...publishingFlags,
} as const satisfies Flags;

interface LiveOptions {
  readonly root: string;
  readonly expected: ExpectedAccess | undefined;
  readonly recorded: StateExport | undefined;
  readonly stack?: string | undefined;
  readonly cwd?: string | undefined;
}

/** The organisation as it is now: all kinds that the review listed, and of others what the report and the state name. */
async function readLive({ root, expected, recorded, stack, cwd }: LiveOptions): Promise<Inventory> {
  const { client } = await openConnection({ stack, cwd });
  const group = await resolveGroup(client, root, "--root");
  const kinds = [...new Set([...listedKinds, ...(expected?.kinds ?? [])])];
  const additionalUids = unlistedManagedUids(recorded ? [recorded] : [], kinds, group);
  for (const { kind, uid } of [...(expected?.entities ?? []), ...(expected?.before ?? [])]) {
    if (uid !== undefined && !kinds.includes(kind) && isWithin(uid, group)) addTo(additionalUids, kind, uid);
  }
  return withProgress("looking at", (progress) =>
    takeInventory(client, { root: group, kinds, additionalUids, now: Date.now, progress }),
  );
}

/** @throws DocumentError where another plan was reviewed, or none. */
async function checkPlan(review: ReviewReport, path: string | undefined): Promise<void> {
  if (path === undefined) return;
  const input = await readInput(path, "--plan");
  const { digest } = parsePlan(input.bytes, input.name);
  if (review.plan === undefined) {
    throw new DocumentError(
      "PP6006",
      "--plan: the report names no update plan: write it with review --plan FILE",
    );
  }
  if (review.plan.digest !== digest) {
    throw new DocumentError(
      "PP6005",
      `--plan: ${input.name} has the digest ${digest}, not ${review.plan.digest}, so it is not the plan that was reviewed`,
    );
  }
}

/**
 * @throws DocumentError where the stack is another one than the preview showed: that was edited, or the stack was updated since.
 */
function checkRecord({ plan }: ReviewReport, state: StateExport): void {
  if (plan?.record === digestRecord(listRecorded(state))) return;
  throw new DocumentError(
    "PP6005",
    "the stack records something else than the preview that was reviewed shows: it was updated since, the preview was edited, or another version wrote the report; write the preview and the plan again, and review them",
  );
}

/** The options of a check before the update, which has no result but its exit code. */
const ofPlanOnly: readonly string[] = ["plan-only", "plan", "digest", "stack", "state", "cwd"];

/** @throws UsageError where an option is missing, or would have no effect. */
function checkPlanOnly(values: Parsed<typeof flags>["values"]): void {
  const missing = (["plan", "digest"] as const).find((name) => values[name] === undefined);
  if (missing !== undefined) {
    throw new UsageError("PP5004", `--plan-only needs --${missing}: write --plan FILE --digest HEX`);
  }
  const isGiven = (value: unknown): boolean =>
    Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
  const other = Object.entries(values).find(([name, value]) => isGiven(value) && !ofPlanOnly.includes(name));
  if (other !== undefined) {
    throw new UsageError("PP5003", `--${other[0]} conflicts with --plan-only, which compares no access`);
  }
}

export const command = defineCommand(
  {
    name: "verify",
    usage: [
      "<review.json> --stack STACK [options]",
      "<review.json> --plan-only --plan FILE --digest HEX [--stack STACK]",
    ],
    about:
      "Compares what an approved review announced (review --inventory FILE --output json=review.json) with what the " +
      "organisation holds after the update. Sends read requests only.",
    arguments: ["review.json"],
    flags,
    exitCodes: ["clean", "error", "usage", "authentication", "incomplete", "reviewFindings"],
  },
  verifyUpdate,
);
export const { main } = command;

/** @throws UsageError, DocumentError in one line. */
async function verifyUpdate({ values, positionals }: Parsed<typeof flags>): Promise<number> {
  const [path] = positionals;
  if (path === undefined || positionals.length > 1) {
    throw new UsageError("PP5004", "verify takes one report: write it with review --output json=review.json");
  }
  if (values.stack !== undefined && values.state !== undefined) {
    throw new UsageError("PP5003", "--stack conflicts with --state; set only one of them");
  }
  if (values.root !== undefined && values.inventory !== undefined) {
    throw new UsageError("PP5003", "--root conflicts with --inventory; set only one of them");
  }
  if (values["plan-only"]) checkPlanOnly(values);
  const common = readCommonOptions(values);
  const input = await readInput(path, "the report");
  const review = parseReviewReport(input.bytes, input.name, values.digest);
  await checkPlan(review, values.plan);
  const { stack, state, cwd } = values;
  const [recorded] = await readStates(
    state === undefined ? [] : [state],
    stack === undefined ? [] : [stack],
    cwd,
  );
  if (values["plan-only"]) {
    if (recorded !== undefined) checkRecord(review, recorded);
    const and = recorded === undefined ? "" : ", and the stack is as it was then";
    logError(`verify: ${printable(values.plan ?? "", 200)} is the plan that was reviewed${and}`);
    return exitCodes.clean;
  }
  const root = values.root ?? review.expected?.root;
  const inventory =
    values.inventory === undefined && root !== undefined
      ? await readLive({ root, expected: review.expected, recorded, stack, cwd })
      : await readFlaggedDocument("--inventory", values.inventory, parseInventory);
  if (inventory === undefined) throw new DocumentError("PP6006", NO_INVENTORY);
  const report = verify(
    { review, inventory, state: recorded },
    { provenance: readProvenance(values, { now: common.now, inventory, cli: recorded?.cli }) },
  );
  await writeReport(report, common);
  const { failing, missing } = report;
  logSummary(
    report,
    common,
    `pulumi-platform: verify: ${failing} not announced, ${missing.length} announced and missing`,
  );
  return exitCodeOfReport(report, common, "reviewFindings");
}
