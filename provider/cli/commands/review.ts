import { existsSync } from "node:fs";
import { parseInventory } from "../../access/documents/inventory";
import { parsePlan } from "../../access/documents/plan";
import { parsePreview } from "../../access/documents/preview";
import type { ReviewReport } from "../../access/report/report";
import { findBefore, review } from "../../access/report/reviewReport";
import type { Finding } from "../../access/review/finding";
import { parseStateExport } from "../../access/documents/stateExport";
import { printable } from "../../text/printable";
import { UsageError } from "../framework/exitCodes";
import { logError } from "../output/log";
import { exitCodeOfReport, logSummary, writeReport } from "../output/writeReport";
import { checkFilesOfChange, checkProjectFiles } from "../input/projectFiles";
import { readStates } from "../input/states";
import { readFlaggedDocument, readInput } from "../input/readFiles";
import {
  BaselineFile,
  readReviewPolicy,
  readReviewRules,
  createReviewSuppressor,
  createRules,
} from "../policy/accessPolicy";
import type { Suppressor } from "../../access/suppressions/applyPolicy";
import { provenanceFlags, readProvenance } from "../input/provenance";
import { defineCommand } from "../framework/defineCommand";
import type { Flags, Parsed } from "../framework/flags";
import { commonFlags, readCommonOptions } from "../framework/options";
import type { CommonOptions } from "../framework/options";

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
  state: {
    type: "string",
    multiple: true,
    value: "FILE",
    help: "another stack (pulumi stack export), from who reviews: what it records, and the inventory confirms, is not called made by hand; * and ? match any characters",
  },
  plan: {
    type: "string",
    value: "FILE",
    help: "the update plan of the same preview (--save-plan): must say what the preview says; its digest goes into the report",
  },
  project: {
    type: "string",
    value: "DIR",
    default: "this folder",
    help: "the project as the change has it, with the files of all its stacks: they must not set environment variables or replace plugins",
  },
  ...provenanceFlags,
  "fail-on": {
    type: "string",
    value: "LEVEL",
    choices: levels,
    default: "high",
    help: "findings of this severity and above end with 5",
  },
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
  "write-baseline": {
    type: "string",
    value: "FILE",
    help: "accept what was there before the change: add an exception for each such finding below critical to this policy file, and a comment for each critical one; - is standard output",
  },
} as const satisfies Flags;

/** The result in one line. */
function summarize({ summary, failing }: ReviewReport): string {
  const { gained, lost, widened, narrowed } = summary;
  return `pulumi-platform review: ${gained} gained, ${lost} lost, ${widened} widened, ${narrowed} narrowed; ${failing} findings meet --fail-on`;
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

/** The path of the preview. @throws UsageError for arguments that do not go together. */
function readPreviewPath({ values, positionals }: Parsed<typeof flags>): string {
  const [path] = positionals;
  if (path === undefined || positionals.length > 1) {
    throw new UsageError(
      "PP5004",
      "review takes one preview: write it with pulumi preview --json --show-sames > preview.json",
    );
  }
  const { before, inventory, state, plan, policy, "policy-base": policyBase } = values;
  const documents = [path, before, inventory, ...state, plan, policy, policyBase];
  if (documents.filter((document) => document === "-").length > 1) {
    throw new UsageError("PP5003", "only one document can come from standard input");
  }
  return path;
}

/** @throws UsageError where there is no project to check, ConfigError where it must not run. */
function checkProject(folder: string | undefined, stack: string | undefined): void {
  if (folder === undefined) {
    checkProjectFiles(".", stack);
    return;
  }
  if (checkFilesOfChange(folder) !== undefined) return;
  throw new UsageError(
    "PP5005",
    `--project ${printable(folder, 200)}: neither this folder nor one above it in its repository has a Pulumi.yaml`,
  );
}

/** @throws UsageError, DocumentError in one line. */
async function readDocuments(path: string, values: Parsed<typeof flags>["values"]) {
  const preview = await readInput(path, "the preview");
  const sources = {
    preview: parsePreview(preview.bytes, preview.name),
    before: await readFlaggedDocument("--before", values.before, parseStateExport),
    inventory: await readFlaggedDocument("--inventory", values.inventory, parseInventory),
    otherStacks: await readStates(values.state, [], undefined),
  };
  if (sources.otherStacks.length > 0 && sources.inventory === undefined) {
    throw new UsageError("PP5004", "--state needs --inventory, which must confirm what other stacks record");
  }
  // A preview that failed wrote no plan, and its report says why.
  const isWritten = sources.preview.problems.length === 0 || existsSync(values.plan ?? "");
  return {
    sources,
    plan: isWritten ? await readFlaggedDocument("--plan", values.plan, parsePlan) : undefined,
  };
}

/** The baseline that the run writes. It accepts what the rules find where nothing changes too. */
function createBaseline(
  path: string | undefined,
  options: CommonOptions,
  suppress: Suppressor | undefined,
  find: () => readonly Finding[],
): BaselineFile | undefined {
  if (path === undefined) return undefined;
  const before = new Set(find().map(({ fingerprint }) => fingerprint));
  return new BaselineFile(path, options, "review", suppress, ({ fingerprint }) => before.has(fingerprint));
}

/** @throws UsageError, DocumentError in one line. */
async function reviewPreview(parsed: Parsed<typeof flags>): Promise<number> {
  const { values } = parsed;
  const path = readPreviewPath(parsed);
  const { policy: policyPath, rules: rulesPath, "policy-base": policyBase, "base-ref": baseRef } = values;
  const policyFlags = { policy: policyPath, rules: rulesPath, policyBase, baseRef };
  const policy = readReviewPolicy(policyFlags);
  const ownRules = readReviewRules(policyFlags, policy?.policy);
  const common = readCommonOptions(values);
  const failOn = values["fail-on"] ?? policy?.policy.settings.failOn ?? "high";
  const { sources, plan } = await readDocuments(path, values);
  checkProject(values.project, sources.preview.stack);
  const provenance = readProvenance(values, {
    now: common.now,
    inventory: sources.inventory,
    cli: plan?.cli ?? sources.before?.cli,
  });
  const rules = createRules(common, policy?.policy, ownRules);
  const byPolicy = policy && createReviewSuppressor(policy, common.now);
  const baseline = createBaseline(values["write-baseline"], common, byPolicy, () =>
    findBefore(sources, { rules, plan }),
  );
  const suppress: Suppressor | undefined = baseline ? (...args) => baseline.suppress(...args) : byPolicy;
  const report = review(sources, { failOn, rules, ownRules, judge: suppress, provenance, plan });
  for (const line of baseline?.write() ?? []) logError(line);
  await writeReport(report, common);
  logSummary(report, common, summarize(report));
  return exitCodeOfReport(report, common, "reviewFindings");
}
