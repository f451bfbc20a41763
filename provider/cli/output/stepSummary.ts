import { appendFileSync, statSync } from "node:fs";
import { renderers } from "../../access/report/render";
import type { RenderOptions } from "../../access/report/render";
import type { Report } from "../../access/report/report";

/** GitHub drops a larger summary of a step. */
const MAX_BYTES = 1024 * 1024;
/** A smaller part of a report is of no help. */
const MIN_BYTES = 4096;

/**
 * Appends the report to the file that $GITHUB_STEP_SUMMARY names, within the size that GitHub accepts.
 *
 * @returns Undefined, or why nothing was written: one line for a person. It is no reason to fail.
 */
export function appendSummary(
  report: Report,
  file: string | undefined,
  options: RenderOptions = {},
): string | undefined {
  if (file === undefined || file === "")
    return "GITHUB_STEP_SUMMARY is not set: there is nowhere to write it";
  try {
    const used = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    const room = MAX_BYTES - used - 1;
    if (room < MIN_BYTES) return "earlier commands of this step have filled the summary";
    const text = renderers.md(report, { ...options, maxBytes: room });
    appendFileSync(file, `${used === 0 ? "" : "\n"}${text}`);
    return undefined;
  } catch {
    return "the file that GITHUB_STEP_SUMMARY names cannot be written";
  }
}
