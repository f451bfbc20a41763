import type { DriftReport } from "../../access/report/report";
import { printable } from "../../text/printable";
import { exitCodes } from "../framework/exitCodes";
import type { CommonOptions } from "../framework/options";
import { logError } from "./log";
import { writeReport } from "./writeReport";

/** Writes the report of a drift run; returns the exit code. */
export async function finishDrift(report: DriftReport, options: CommonOptions): Promise<number> {
  await writeReport(report, options);
  for (const line of report.incomplete) logError(`incomplete: ${printable(line)}`);
  const { clean, drift, incomplete } = exitCodes;
  if (report.failing > 0 && !options.exitZero) return drift;
  return report.complete ? clean : incomplete;
}
