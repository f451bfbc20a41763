import { defaultExpiry } from "../suppressions/expiry";
import { entryText, policyEntryFor } from "../suppressions/writeEntries";
import type { NewEntry } from "../suppressions/writeEntries";
import { isHighOrCritical } from "../review/finding";
import type { Finding } from "../review/finding";

const PLACEHOLDER_REASON = "write why this is accepted, and who agreed";

/**
 * The entry of the policy file that suppresses a finding; undefined where a person must write it. The entry of a high or
 * critical finding is refused until a person has filled in the reason and who accepted it.
 */
export function suppressionEntry(finding: Finding, now: number): string | undefined {
  const isBlank = isHighOrCritical(finding.severity);
  const entry = policyEntryFor(finding, isBlank ? "" : PLACEHOLDER_REASON, defaultExpiry(now));
  return entry && entryText(isBlank ? { ...entry, acceptedBy: "" } : entry, finding);
}

/** What a baseline adds to a policy file. */
interface BaselineEntries {
  /** Entries that suppress medium and low findings until they expire. */
  readonly entries: readonly NewEntry[];
  /** Findings that a person must accept by name. */
  readonly remaining: readonly Finding[];
}

/** Sorts findings into those that a baseline accepts and those that a person must accept. */
export function createBaseline(findings: readonly Finding[], now: number): BaselineEntries {
  const reason = `existed when the baseline was written on ${new Date(now).toISOString().slice(0, 10)}; not reviewed yet`;
  const expires = defaultExpiry(now);
  const entries: NewEntry[] = [];
  const remaining: Finding[] = [];
  for (const finding of findings) {
    const entry = isHighOrCritical(finding.severity) ? undefined : policyEntryFor(finding, reason, expires);
    if (entry === undefined) remaining.push(finding);
    else entries.push({ entry, finding });
  }
  return { entries, remaining };
}

/** The title of a finding in a comment of a policy file, by which a later run recognises it. */
export const commentTitle = ({ id, severity, fingerprint }: Finding): string =>
  `${severity} ${id}, fingerprint ${fingerprint}`;

/** A finding as a comment of the policy file, with the entry that a person may complete. */
export function formatComment(finding: Finding, now: number): string {
  const entry = suppressionEntry(finding, now);
  return [`  ${commentTitle(finding)}: ${finding.message}`, ...(entry === undefined ? [] : [entry])].join(
    "\n",
  );
}
