import { mayWiden } from "../effects";
import { isHighOrCritical } from "../review/finding";
import type { Finding } from "../review/finding";
import type { DriftThreshold } from "./request";

/** Whether a finding decides the exit code. */
function meets(finding: Finding, failOn: DriftThreshold): boolean {
  const { drift } = finding;
  switch (failOn) {
    case "any":
      return true;
    case "widened":
      // A rule's finding speaks of the risk itself, whichever way access has moved.
      return drift === undefined ? isHighOrCritical(finding.severity) : mayWiden(drift.direction);
    case "unmanaged":
      return drift?.kind === "unmanaged";
    case "never":
      return false;
  }
}

/** How many findings meet a threshold. */
export function countMeeting(findings: readonly Finding[], failOn: DriftThreshold): number {
  return findings.filter((finding) => meets(finding, failOn)).length;
}
