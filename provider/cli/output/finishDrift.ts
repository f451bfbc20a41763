import type { DriftReport } from "../../access/report/report";
import { printable } from "../../text/printable";
import type { CommonOptions } from "../framework/options";
import { logError } from "./log";
import { chooseExitCode, writeReport } from "./writeReport";

/** Writes the report of a drift run; returns the exit code. */
export async function finishDrift(report: DriftReport, options: CommonOptions): Promise<number> {
  await writeReport(report, options);
  for (const line of report.incomplete) logError(`incomplete: ${printable(line)}`);
  return chooseExitCode(report, options, "drift");
}
