import { sortedJson } from "../../engine/values/values";
import { sha256 } from "../documents/digest";
import type { ReviewReport } from "./report";

/** The digest that a report must carry: of all that it says, but for the digest itself. */
export function reportDigest(report: ReviewReport): string {
  return sha256(sortedJson({ ...report, digest: undefined }));
}
