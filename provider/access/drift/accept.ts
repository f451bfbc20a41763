import { entryText, policyEntryFor } from "../policy";
import type { PolicyEntry } from "../policy";
import type { Finding } from "../report";

const UNSAID = "say why this is all right, and who has agreed";
const MONTHS = 3;

/**
 * The last day of exceptions that are made at a time: the end of the third month after it, so that what is
 * written does not differ from day to day.
 *
 * @param now milliseconds since the epoch.
 * @returns `2027-01-31`, in UTC.
 */
export function lastDay(now: number): string {
  const today = new Date(now);
  const day = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + MONTHS + 1, 0));
  return day.toISOString().slice(0, 10);
}

/** The entry of the policy file that lets a finding be; undefined where a person must write it. */
export function acceptingEntry(finding: Finding, now: number): string | undefined {
  const entry = policyEntryFor(finding, UNSAID, lastDay(now));
  return entry && entryText(entry);
}

/** Entries that let findings be for the time being; `rest`: those that no entry may let be. */
export function baselineOf(
  findings: readonly Finding[],
  now: number,
): { readonly entries: readonly PolicyEntry[]; readonly rest: readonly Finding[] } {
  const reason = `was so when the baseline was written on ${new Date(now).toISOString().slice(0, 10)}; not looked into yet`;
  const expires = lastDay(now);
  const entries: PolicyEntry[] = [];
  const rest: Finding[] = [];
  for (const finding of findings) {
    const entry = policyEntryFor(finding, reason, expires);
    if (entry === undefined) rest.push(finding);
    else entries.push(entry);
  }
  return { entries, rest };
}
