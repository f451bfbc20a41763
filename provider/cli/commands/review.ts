import { parseInventory } from "../../access/documents/parseInventory";
import { parsePlan } from "../../access/documents/plan";
import { parsePreview } from "../../access/documents/preview";
import type { ReviewReport } from "../../access/report/report";
import { review } from "../../access/report/reviewReport";
import { parseStateExport } from "../../access/documents/stateExport";
import { exitCodes, UsageError } from "../framework/exitCodes";
import { writeReport } from "../output/writeReport";
import { readInput, textOf } from "../input/readInput";
import { createReviewSuppressor, createRules } from "../policy/suppressors";
import { provenanceFlags, readProvenance } from "../input/provenance";
import { defineCommand } from "../framework/defineCommand";
import type { Flags, Parsed } from "../framework/flags";
import { commonFlags, readCommonOptions } from "../framework/options";

const levels = ["high", "critical", "medium", "low", "never"] as const;

const flags = {
  before: {
    type: "string",
    value: "FILE",
    help: "the stack before (pulumi stack export), where the preview is written without --show-sames",
  },
  inventory: {
    type: "string",
    value: "FILE",
    help: "the live organisation (pulumi-platform inventory): names and capabilities of built-in roles, what no program knows",
  },
  plan: {
    type: "string",
    value: "FILE",
    help: "the update plan of the same preview (--save-plan): must say what the preview says; its digest goes into the report",
  },
  ...provenanceFlags,
  ...commonFlags,
  "policy-base": {
    type: "string",
    value: "FILE",
    help: "the policy file as it is without this change: it decides, and a --policy file that differs is reported",
  },
  "base-ref": {
    type: "string",
    value: "REF",
    help: "as --policy-base, read from git: the --policy file as it is at this branch, tag or commit",
  },
  "fail-on": {
    type: "string",
    value: "LEVEL",
    choices: levels,
    default: "high",
    help: "findings of this severity and above end with 5",
  },
} as const satisfies Flags;

/** The exit code of a review: findings come before incompleteness. */
function codeOf(report: ReviewReport, exitZero: boolean): number {
  if (report.failing > 0 && !exitZero) return exitCodes.reviewFindings;
  return report.complete ? exitCodes.clean : exitCodes.incomplete;
}

/** Logs the result in one line, for a run that writes its report to files only. */
function logSummary({ summary, failing, complete, incomplete }: ReviewReport): void {
  const { gained, lost, widened, narrowed } = summary;
  const counts = `${gained} gained, ${lost} lost, ${widened} widened, ${narrowed} narrowed`;
  const gaps = complete ? "" : `; incomplete: ${incomplete.join("; ")}`;
  console.error(`pulumi-platform review: ${counts}; ${failing} findings meet --fail-on${gaps}`);
}

export const command = defineCommand(
  {
    name: "review",
    usage: ["<preview> [options]"],
    about:
      "Shows who gains and who loses access in a preview, and what is dangerous about it. The preview is what pulumi " +
      "preview --json --show-sames wrote: a file, or - for standard input.",
    arguments: ["preview"],
    flags,
    exitCodes: ["clean", "error", "usage", "incomplete", "reviewFindings"],
  },
  reviewPreview,
);
export const { main } = command;

/** @throws UsageError, DocumentError in one line. */
async function reviewPreview({ values, positionals }: Parsed<typeof flags>): Promise<number> {
  const [path] = positionals;
  if (path === undefined || positionals.length > 1) {
    throw new UsageError(
      "review takes one preview: write it with pulumi preview --json --show-sames > preview.json",
    );
  }
  const documents = [
    path,
    values.before,
    values.inventory,
    values.plan,
    values.policy,
    values["policy-base"],
  ];
  if (documents.filter((document) => document === "-").length > 1) {
    throw new UsageError("only one document can come from standard input");
  }
  const common = readCommonOptions(values, levels);
  const failOn = levels.find((level) => level === common.failOn) ?? "high";
  const suppress = createReviewSuppressor(
    { policy: values.policy, policyBase: values["policy-base"], baseRef: values["base-ref"] },
    common.now,
  );
  const preview = await readInput(path, "the preview");
  const before = values.before === undefined ? undefined : await readInput(values.before, "--before");
  const inventory =
    values.inventory === undefined ? undefined : await readInput(values.inventory, "--inventory");
  const plan = values.plan === undefined ? undefined : await readInput(values.plan, "--plan");
  const sources = {
    preview: parsePreview(preview.bytes, preview.name),
    before: before && parseStateExport(before.bytes, before.name),
    inventory: inventory && parseInventory(textOf(inventory), inventory.name),
  };
  const updatePlan = plan && parsePlan(textOf(plan), plan.name);
  const provenance = readProvenance(values, {
    now: common.now,
    inventory: sources.inventory,
    cli: updatePlan?.cli ?? sources.before?.cli,
  });
  const report = review(sources, {
    failOn,
    rules: createRules(common),
    judge: suppress,
    provenance,
    plan: updatePlan,
  });
  await writeReport(report, common);
  if (common.outputs.every(({ path: file }) => file !== undefined)) logSummary(report);
  return codeOf(report, common.exitZero);
}
