import type { Finding } from "../review/finding";
import { trustMatches } from "../trust/addressGlob";
import { globMatches } from "../trust/glob";
import { statedTexts } from "./matchTexts";
import type { MatchTexts } from "./matchTexts";
import { matchKeys } from "./policyDocument";
import type { PolicyEntry, WrittenEntry } from "./policyDocument";

/** The properties that a finding is about. One of several names them in a list. */
export const foundProperties = ({ field, drift }: Finding): readonly string[] =>
  drift?.paths ?? field?.split(", ") ?? [];

function matchesFields(fields: readonly string[], finding: Finding): boolean {
  const properties = foundProperties(finding);
  return (
    properties.length > 0 &&
    properties.every((property) => fields.some((glob) => globMatches(glob, property)))
  );
}

/**
 * Whether an entry matches a finding, whatever its expiry.
 * @param texts What the entry may match; by default all strings of the finding.
 */
export function matchesEntry(
  entry: PolicyEntry,
  finding: Finding,
  texts: MatchTexts = statedTexts(finding),
): boolean {
  if (entry.rule !== undefined && entry.rule !== finding.id && entry.rule !== finding.rule) return false;
  if (entry.kind !== undefined && entry.kind !== finding.drift?.kind) return false;
  if (entry.type !== undefined && entry.type !== finding.kind) return false;
  if (entry.fingerprint !== undefined && entry.fingerprint !== finding.fingerprint) return false;
  for (const key of matchKeys) {
    const glob = entry.match?.[key];
    if (glob === undefined) continue;
    const matches = key === "subject" || key === "issuer" ? trustMatches : globMatches;
    const lists = key === "group" ? [texts.group, ...texts.reach] : [texts[key]];
    if (!lists.every((list) => list.some((text) => text !== undefined && matches(glob, text)))) return false;
  }
  return entry.fields === undefined || matchesFields(entry.fields, finding);
}

/** The fingerprint or the uid without which an entry matches nothing; undefined of one that is open to many findings. */
export function exactKeyOf({ fingerprint, match }: PolicyEntry): string | undefined {
  if (fingerprint !== undefined) return fingerprint;
  return match?.uid === undefined || /[*?\\]/.test(match.uid) ? undefined : match.uid;
}

/** Finds the entries that may mean a finding, without trying each entry on each finding. */
export class EntryIndex {
  /** Entries by the one fingerprint, or else by the one uid, that they match. */
  private readonly exact = new Map<string, WrittenEntry[]>();
  private readonly open: WrittenEntry[] = [];

  constructor(entries: readonly WrittenEntry[]) {
    for (const entry of entries) {
      const key = exactKeyOf(entry);
      const known = key === undefined ? this.open : this.exact.get(key);
      if (known) known.push(entry);
      else if (key !== undefined) this.exact.set(key, [entry]);
    }
  }

  /** Entries that may match the finding, in the order of the file. */
  entriesFor(finding: Finding): readonly WrittenEntry[] {
    const keys = new Set([finding.fingerprint, ...statedTexts(finding).uid]);
    const exact = [...keys].flatMap((key) => this.exact.get(key ?? "") ?? []);
    if (exact.length === 0) return this.open;
    return [...exact, ...this.open].sort((a, b) => a.line - b.line);
  }
}
