import { sortedJson } from "../../fields/formats";
import { sha256 } from "../documents/digest";
import type { ReviewReport } from "./report";

/** The digest that a report must carry: of all that it says, but for the digest itself. */
export function reportDigest(report: ReviewReport): string {
  return sha256(sortedJson({ ...report, digest: undefined }));
}

/** Whether a report does not match the digest that it carries. A document that is nested too deeply for a digest does not. */
export function isAltered(report: ReviewReport): boolean {
  if (report.digest === undefined) return false;
  try {
    return report.digest !== reportDigest(report);
  } catch {
    return true;
  }
}
