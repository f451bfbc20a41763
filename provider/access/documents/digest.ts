import { createHash } from "node:crypto";
import { sortedJson } from "../../engine/values";
import type { ReviewReport } from "../report/report";

/** SHA-256 of a text, hex. */
export function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

/** The digest that a report must carry: of all that it says, but for the digest itself. */
export function reportDigest(report: ReviewReport): string {
  return sha256(sortedJson({ ...report, digest: undefined }));
}
