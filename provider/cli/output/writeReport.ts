import { withCode } from "../../errors/codedError";
import { renderers } from "../../access/report/render";
import type { RenderOptions } from "../../access/report/render";
import type { Report, DriftReport } from "../../access/report/report";
import { log, logError } from "./log";
import { printable } from "../../text/printable";
import { exitCodes } from "../framework/exitCodes";
import { writeText } from "./writeFiles";
import type { CommonOptions } from "../framework/options";
import { readRepository, readRunUrl } from "../input/repository";
import { post } from "../post";
import { appendSummary } from "./stepSummary";
import { readEnvironment } from "../../settings/environment";

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
export async function writeReport(report: Report, options: CommonOptions): Promise<void> {
  const { outputs, sourceRoot, pageUrl, summary, marker, dryRun, fix } = options;
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
      ...(path === undefined && format === "text" ? terminalOptions() : {}),
    });
    if (path === undefined) process.stdout.write(text);
    else writeText(path, text, "--output");
  }
  if (summary) {
    const reason = appendSummary(report, readEnvironment()["GITHUB_STEP_SUMMARY"], places);
    if (reason !== undefined) log(withCode(`pulumi-platform: warning: --summary: ${reason}`, "PP7005"));
  }
  if (options.post !== undefined) {
    await post(report, {
      host: options.post,
      marker,
      sourceRoot,
      pageUrl,
      dryRun,
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
  { exitZero }: CommonOptions,
  findings: "reviewFindings" | "drift",
): number {
  if (failing > 0 && !exitZero) return exitCodes[findings];
  return complete ? exitCodes.clean : exitCodes.incomplete;
}

/** Writes the report of a drift run; returns the exit code. */
export async function finishDrift(report: DriftReport, options: CommonOptions): Promise<number> {
  await writeReport(report, options);
  for (const line of report.incomplete) logError(`incomplete: ${printable(line)}`);
  return exitCodeOfReport(report, options, "drift");
}
