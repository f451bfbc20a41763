import { printable } from "../../text/printable";
import { DocumentError, parseJson } from "../documents/jsonText";
import { isAltered } from "./reportDigest";
import { SCHEMA_VERSION } from "./report";
import type { Report } from "./report";
import { documentProblem } from "../documents/jsonSchema";

/**
 * Why a value is no report of the published form (`schema/report.schema.json`); undefined where it is one.
 * One line, safe to print: the report may come from a job that is not to be trusted.
 */
export function reportProblem(value: unknown): string | undefined {
  return documentProblem(value, { name: "report", version: SCHEMA_VERSION });
}

/**
 * Reads a report that a command wrote with `--output json`. The report of a review has to match its digest.
 *
 * @param name what messages call it: a path.
 * @throws DocumentError in one line.
 */
export function parseReport(input: string | Uint8Array, name = "the report"): Report {
  const file = printable(name, 200);
  const value = parseJson(input, file);
  const problem = reportProblem(value);
  if (problem !== undefined) throw new DocumentError("PP6003", `${file} is not a valid report: ${problem}`);
  const report = value as Report;
  if (report.command === "review" && isAltered(report)) {
    throw new DocumentError(
      "PP6003",
      `${file} does not match its digest: it was changed after the review, or is truncated`,
    );
  }
  return report;
}
