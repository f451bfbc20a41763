import { printable } from "../../text/printable";
import { DocumentError, parseJson } from "../documents/jsonText";
import { SCHEMA_VERSION } from "./report";
import type { Report, ReviewReport } from "./report";
import { documentProblem } from "../documents/jsonSchema";
import { sortedJson } from "../../fields/formats";
import { sha256 } from "../documents/digest";

/** The digest that a report must carry: of all that it says, but for the digest itself. */
export function reportDigest(report: ReviewReport): string {
  return sha256(sortedJson({ ...report, digest: undefined }));
}

/** Whether a report does not match the digest that it carries. A document that is nested too deeply for a digest does not. */
function isAltered(report: ReviewReport): boolean {
  if (report.digest === undefined) return false;
  try {
    return report.digest !== reportDigest(report);
  } catch {
    return true;
  }
}

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

/** Why a report cannot be verified; undefined where it can. */
function problemOf(report: ReviewReport): string | undefined {
  if (report.digest === undefined) return "has no digest: write it with review --output json=FILE";
  if (!report.complete)
    return "is incomplete, so it cannot be verified: correct what it lists as not checked, and review again";
  return undefined;
}

/**
 * Reads the JSON report of a review for `verify`. Who can write the file can write a digest into it
 * too, so `digest` is one from a place that its author cannot write to.
 *
 * @param name what messages call it: a path.
 * @throws DocumentError in one line.
 */
export function parseReviewReport(
  input: string | Uint8Array,
  name = "the report",
  digest?: string,
): ReviewReport {
  const shown = printable(name, 200);
  const report = parseReport(input, name);
  if (report.command !== "review") {
    throw new DocumentError(
      "PP6002",
      `${shown} is a report of ${report.command}: give the report that review --output json=FILE wrote`,
    );
  }
  const problem = problemOf(report);
  if (problem !== undefined) throw new DocumentError("PP6003", `${shown} ${problem}`);
  if (digest !== undefined && digest !== report.digest) {
    throw new DocumentError(
      "PP6005",
      `--digest: ${shown} has the digest ${report.digest}, not ${printable(digest, 80)}, so it is not the report that was approved`,
    );
  }
  return report;
}
