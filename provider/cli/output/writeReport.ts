import { withCode } from "../../errors/codedError";
import { renderers } from "../../access/report/render";
import type { RenderOptions } from "../../access/report/render";
import type { Report } from "../../access/report/report";
import { log } from "./log";
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
