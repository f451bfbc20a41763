import { appendFileSync, statSync } from "node:fs";
import { renderers } from "../../access/report/render";
import type { RenderOptions } from "../../access/report/render";
import type { Report, DriftReport } from "../../access/report/report";
import { withCode } from "../../errors/codedError";
import { readEnvironment } from "../../settings/environment";
import { printable } from "../../text/printable";
import { exitCodes } from "../framework/exitCodes";
import type { CommonOptions } from "../framework/options";
import { readRepository, readRunUrl } from "../input/repository";
import { post } from "../post";
import { log, logError } from "./log";
import { writeResult } from "./writeFiles";

function terminalOptions(): RenderOptions {
  const isTerminal = process.stdout.isTTY;
  return {
    width: isTerminal ? process.stdout.columns : 80,
    colour: isTerminal && (readEnvironment()["NO_COLOR"] ?? "") === "",
  };
}

/**
 * Writes a report in every requested format, appends it to the step's summary, and posts it. The last two only warn
 * where they fail. @throws UsageError for a file.
 */
export async function writeReport(
  report: Report,
  options: CommonOptions,
  firstSteps: readonly string[] = [],
): Promise<void> {
  const { outputs, pageUrl, summary, marker, fix, "source-root": sourceRoot } = options;
  // This process has written the report, so the report's commit is the one that a flag or the environment names.
  const places: RenderOptions = {
    sourceRoot,
    pageUrl,
    repository: readRepository(readEnvironment()),
    runUrl: readRunUrl(readEnvironment()),
    commit: report.provenance.commit,
  };
  for (const { format, path } of outputs) {
    const text = renderers[format](report, {
      ...places,
      fix,
      firstSteps,
      ...(path === undefined && format === "text" ? terminalOptions() : {}),
    });
    writeResult(text, path);
  }
  if (summary) writeSummary(report, places);
  if (options.post !== undefined) {
    await post(report, {
      host: options.post,
      marker,
      sourceRoot,
      pageUrl,
      dryRun: options["dry-run"] === true,
      env: readEnvironment(),
      log,
    });
  }
}

/** Logs the result in one line, for a run that writes its report to files only. */
export function logSummary({ incomplete }: Report, { outputs }: CommonOptions, result: string): void {
  if (outputs.some(({ path }) => path === undefined)) return;
  const gaps = incomplete.length === 0 ? "" : `; incomplete: ${printable(incomplete.join("; "), 2_000)}`;
  log(`${result}${gaps}`);
}

/** The exit code of a report: findings come before incompleteness. */
export function exitCodeOfReport(
  { failing, complete }: Report,
  options: CommonOptions,
  findings: "reviewFindings" | "drift",
): number {
  if (failing > 0 && options["exit-zero"] !== true) return exitCodes[findings];
  return complete ? exitCodes.clean : exitCodes.incomplete;
}

/** Writes the report of a drift run; returns the exit code. */
export async function finishDrift(
  report: DriftReport,
  options: CommonOptions,
  firstSteps: readonly string[] = [],
): Promise<number> {
  await writeReport(report, options, firstSteps);
  for (const line of report.incomplete) logError(`incomplete: ${printable(line)}`);
  return exitCodeOfReport(report, options, "drift");
}

/** Appends the report to the summary of the step; where that fails, only warns. */
export function writeSummary(report: Report, options: RenderOptions): void {
  const reason = appendSummary(report, readEnvironment()["GITHUB_STEP_SUMMARY"], options);
  if (reason !== undefined) log(withCode(`pulumi-platform: warning: --summary: ${reason}`, "PP7005"));
}

/** GitHub drops a larger summary of a step. */
const MAX_BYTES = 1024 * 1024;
/** A smaller part of a report is of no help. */
const MIN_BYTES = 4096;

/**
 * Appends the report to the file that $GITHUB_STEP_SUMMARY names, within the size that GitHub accepts.
 *
 * @returns Undefined, or why nothing was written: one line for a person. It is no reason to fail.
 */
export function appendSummary(
  report: Report,
  file: string | undefined,
  options: RenderOptions = {},
): string | undefined {
  if (file === undefined || file === "")
    return "GITHUB_STEP_SUMMARY is not set: there is nowhere to write it";
  try {
    const used = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    const room = MAX_BYTES - used - 1;
    if (room < MIN_BYTES) return "earlier commands of this step have filled the summary";
    const text = renderers.md(report, { ...options, maxBytes: room });
    appendFileSync(file, `${used === 0 ? "" : "\n"}${text}`);
    return undefined;
  } catch {
    return "the file that GITHUB_STEP_SUMMARY names cannot be written";
  }
}
