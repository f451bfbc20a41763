import { createHash } from "node:crypto";
import type { ReviewReport } from "./report";

function sortKeys(_key: string, value: unknown): unknown {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  const entries = Object.entries(value as Record<string, unknown>);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

/** JSON with sorted keys and no white space: the same for documents that mean the same. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, sortKeys);
}

/** SHA-256 of a text, hex. */
export function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

/** The digest that a report must carry: of all that it says, but for the digest itself. */
export function reportDigest(report: ReviewReport): string {
  return sha256(canonicalJson({ ...report, digest: undefined }));
}
