import { printable } from "../../text/printable";
import { DocumentError } from "../documents/jsonText";
import { parseReport } from "../report/parseReport";
import type { ReviewReport } from "../report/report";

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
