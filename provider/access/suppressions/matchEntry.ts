import type { Finding } from "../review/finding";
import { trustMatches } from "../trust/addressGlob";
import { globMatches } from "../trust/glob";
import { statedTexts } from "./matchTexts";
import type { MatchTexts } from "./matchTexts";
import { matchKeys } from "./policyDocument";
import type { Policy, PolicyEntry } from "./policyDocument";

function matchesFields(fields: readonly string[], { field, drift }: Finding): boolean {
  const properties = drift?.paths ?? (field === undefined ? [] : [field]);
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

type Entry = Policy["entries"][number];

/** Finds the entries that may mean a finding, without trying each entry on each finding. */
export class EntryIndex {
  /** Entries by the one uid that they match. */
  private readonly byUid = new Map<string, Entry[]>();
  private readonly withoutExactUid: Entry[] = [];

  constructor(entries: readonly Entry[]) {
    for (const entry of entries) {
      const uid = entry.match?.uid;
      if (uid === undefined || /[*?\\]/.test(uid)) {
        this.withoutExactUid.push(entry);
        continue;
      }
      const known = this.byUid.get(uid);
      if (known) known.push(entry);
      else this.byUid.set(uid, [entry]);
    }
  }

  /** Entries that may match the finding, in the order of the file. */
  entriesFor(finding: Finding): Entry[] {
    const uids = new Set(statedTexts(finding).uid);
    const exact = [...uids].flatMap((uid) => this.byUid.get(uid ?? "") ?? []);
    return [...exact, ...this.withoutExactUid].sort((a, b) => a.line - b.line);
  }
}
