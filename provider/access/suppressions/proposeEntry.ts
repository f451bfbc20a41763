import { specs } from "../documents/specs";
import type { Comparison } from "../review/comparison";
import { isHighOrCritical } from "../review/finding";
import type { Finding } from "../review/finding";
import { globOf } from "../trust/glob";
import { defaultExpiry } from "./expiry";
import { matchesEntry } from "./matchEntry";
import { VerifiedTexts } from "./matchTexts";
import type { MatchTexts } from "./matchTexts";
import { matchKeys } from "./policyDocument";
import type { MatchKey, PolicyEntry } from "./policyDocument";
import { entryText } from "./writeEntries";

const PLACEHOLDER_REASON = "say why this is accepted, and who agreed";

/** The most findings that get an entry, worst first, because nobody reads thousands. */
const MOST_ENTRIES = 500;

const first = (texts: readonly (string | undefined)[]): string | undefined =>
  texts.find((text) => text !== undefined && text !== "");

/** The conditions of an entry for a finding: uids where the objects have them. Objects that this change creates are left out. */
function textsFor({ grant }: Finding, texts: MatchTexts): Partial<Record<MatchKey, string | undefined>> {
  if (grant === undefined) {
    const uid = first(texts.uid);
    if (uid !== undefined) return { uid };
    // Its fingerprint names what has neither.
    return { name: first(texts.name) };
  }
  const { subject, role, group } = grant;
  const choose = (uid: string | undefined, among: readonly (string | undefined)[]): string | undefined =>
    uid !== undefined && among.includes(uid) ? uid : first(among);
  return {
    subject: choose(subject.uid, texts.subject),
    role: choose(role.uid, texts.role),
    group: choose(group.uid, texts.group),
  };
}

/** Writes entries of the policy file for the findings of a review. Each matches only what existed before the change. */
export class EntryProposer {
  private readonly texts: VerifiedTexts;
  private readonly expires: string;
  private proposed = 0;

  constructor(comparison: Comparison, now: number) {
    this.texts = new VerifiedTexts(comparison);
    this.expires = Number.isNaN(now) ? "" : defaultExpiry(now);
  }

  /** The finding with an entry that would suppress it; the finding itself where only a person can write one. */
  addTo(finding: Finding): Finding {
    if (this.proposed >= MOST_ENTRIES || this.expires === "") return finding;
    const entry = this.entryFor(finding);
    if (entry === undefined) return finding;
    this.proposed += 1;
    return { ...finding, policyEntry: entryText(entry, finding) };
  }

  private entryFor(finding: Finding): PolicyEntry | undefined {
    const texts = this.texts.of(finding);
    const match: Partial<Record<MatchKey, string>> = {};
    const chosen = textsFor(finding, texts);
    for (const key of matchKeys) {
      const text = chosen[key];
      if (text !== undefined && text !== "") match[key] = globOf(text);
    }
    const { id, kind, field } = finding;
    const entry: PolicyEntry = {
      rule: id,
      ...(kind === undefined || specs[kind] === undefined ? {} : { type: kind }),
      ...(Object.keys(match).length === 0 ? {} : { match }),
      ...(field === undefined ? {} : { fields: [globOf(field)] }),
      fingerprint: finding.fingerprint,
      // The file is refused until a person has written why a high or critical finding is accepted.
      reason: isHighOrCritical(finding.severity) ? "" : PLACEHOLDER_REASON,
      expires: this.expires,
    };
    return matchesEntry(entry, finding, texts) ? entry : undefined;
  }
}
