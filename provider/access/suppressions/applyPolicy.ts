import { printable } from "../../api/errors";
import type { Comparison } from "../review/comparison";
import type { Finding } from "../review/finding";
import { isHighOrCritical } from "../review/finding";
import { EntryIndex, matchesEntry } from "./matchEntry";
import { VerifiedTexts } from "./matchTexts";
import type { MatchTexts } from "./matchTexts";
import type { Policy, PolicyEntry } from "./policyDocument";

const DAY_MS = 86_400_000;

/** What became of findings. No finding is ever dropped: each is in one of the two lists. */
export interface PolicyResult {
  readonly findings: readonly Finding[];
  readonly suppressed: readonly Finding[];
  /** Entries that match no finding, a line each. */
  readonly unused: readonly string[];
  /** Entries whose day is over, a line each, with the findings that are back. */
  readonly expired: readonly string[];
}

const isOfDrift = ({ rule, kind }: PolicyEntry): boolean =>
  kind !== undefined || rule?.startsWith("drift-") === true;

function countFindings(findings: readonly Finding[]): string {
  const ids = [...new Set(findings.map(({ id }) => id))];
  return `${findings.length === 1 ? "1 finding" : `${findings.length} findings`} (${ids.slice(0, 6).join(", ")})`;
}

/** What became of one entry. */
interface EntryUse {
  used: boolean;
  /** Findings that it would suppress if it had not expired, or if it named its last day. */
  readonly afterExpiry: Finding[];
  readonly withoutExpiry: Finding[];
  /** Findings of drift that it would suppress, if it named a person. */
  readonly withoutPerson: Finding[];
  /** Findings that it matches only by names: of resources that the change creates, or that only the program names. */
  readonly ofNewResources: Finding[];
  readonly unverified: Finding[];
}

function isExpired({ expires }: PolicyEntry, now: number): boolean {
  return expires !== undefined && !(now < Date.parse(`${expires}T00:00:00Z`) + DAY_MS);
}

/** Why an entry that has not expired suppresses less than it could. */
function* usageNotes(use: EntryUse, isUnused: boolean): Generator<string> {
  const { used, withoutExpiry, withoutPerson, ofNewResources, unverified } = use;
  if (withoutExpiry.length > 0) {
    yield `has no expires, so it does not suppress ${countFindings(withoutExpiry)}, high or critical: add expires`;
  }
  if (withoutPerson.length > 0) {
    yield `has no acceptedBy, so it does not suppress ${countFindings(withoutPerson)} of drift, high or critical: name the person who accepted it`;
  }
  if (ofNewResources.length > 0) {
    yield `matches only resources that this change creates, renames or moves: ${countFindings(ofNewResources)} not suppressed: name one that exists before it, best by uid`;
  }
  if (unverified.length > 0) {
    yield `matches names that only the program states: ${countFindings(unverified)} not suppressed: give --inventory or --before, or name a uid`;
  }
  if (
    isUnused &&
    !used &&
    withoutExpiry.length + withoutPerson.length + ofNewResources.length + unverified.length === 0
  ) {
    yield "matches no finding: remove it, or correct what it names";
  }
}

function expiredNote({ expires = "" }: PolicyEntry, { afterExpiry }: EntryUse): string {
  const what =
    afterExpiry.length > 0
      ? `${countFindings(afterExpiry)} back: renew it or fix them`
      : "it matches no finding any more: remove it";
  return `expired on ${expires}; ${what}`;
}

type Entry = Policy["entries"][number];

/** Applies the entries of a policy, and keeps what became of each. */
class PolicyApplier {
  private readonly texts: VerifiedTexts;
  private readonly uses = new Map<Entry, EntryUse>();
  private readonly index: EntryIndex;

  constructor(
    private readonly policy: Policy,
    private readonly now: number,
    comparison: Comparison | undefined,
    /** High and critical findings need an entry that names a person. */
    private readonly needsPerson: boolean,
  ) {
    this.texts = new VerifiedTexts(comparison);
    this.index = new EntryIndex(policy.entries);
    for (const entry of policy.entries) {
      this.uses.set(entry, {
        ...{
          used: false,
          afterExpiry: [],
          withoutExpiry: [],
          withoutPerson: [],
          ofNewResources: [],
          unverified: [],
        },
      });
    }
  }

  /** The entry that suppresses a finding. */
  entryFor(finding: Finding): PolicyEntry | undefined {
    const texts = this.texts.of(finding);
    const fitting = this.index
      .entriesFor(finding)
      .filter((entry) => matchesEntry(entry, finding))
      .flatMap((entry): [Entry, EntryUse][] => {
        const use = this.uses.get(entry);
        return use === undefined ? [] : [[entry, use]];
      });
    const isSevere = isHighOrCritical(finding.severity);
    const allows = ([entry]: readonly [PolicyEntry, EntryUse]): boolean =>
      matchesEntry(entry, finding, texts) &&
      !isExpired(entry, this.now) &&
      (entry.expires !== undefined || !isSevere) &&
      (entry.acceptedBy !== undefined || !isSevere || !this.needsPerson);
    const found = fitting.find(allows);
    if (found !== undefined) {
      found[1].used = true;
      return found[0];
    }
    for (const [entry, use] of fitting) this.listFor(entry, use, finding, texts).push(finding);
    return undefined;
  }

  private listFor(entry: PolicyEntry, use: EntryUse, finding: Finding, texts: MatchTexts): Finding[] {
    if (matchesEntry(entry, finding, texts)) {
      if (isExpired(entry, this.now)) return use.afterExpiry;
      return entry.expires === undefined ? use.withoutExpiry : use.withoutPerson;
    }
    return this.texts.isUnverified(finding) ? use.unverified : use.ofNewResources;
  }

  notes(isUnused: (entry: PolicyEntry) => boolean): { unused: string[]; expired: string[] } {
    const [unused, expired]: [string[], string[]] = [[], []];
    for (const [entry, use] of this.uses) {
      const where = `${this.policy.file}:${entry.line}: `;
      if (isExpired(entry, this.now)) expired.push(printable(where + expiredNote(entry, use)));
      else for (const note of usageNotes(use, isUnused(entry))) unused.push(printable(where + note));
    }
    return { unused, expired };
  }
}

/**
 * Suppresses what the policy allows: findings of a review by uids, and by the names that resources had before the change.
 * @param now Milliseconds since the epoch: an entry counts to the end of its day, in UTC.
 * @param command What is run: entries that only the other command can use are not called unused.
 * @param isWhole Whether all was looked at: where it was not, no entry is called unused.
 * @param comparison What the findings of a review come from. Without it only uids match.
 */
export function applyPolicy(
  findings: readonly Finding[],
  policy: Policy,
  now: number,
  command?: "review" | "drift",
  isWhole = true,
  comparison?: Comparison,
): PolicyResult {
  const suppressor = new PolicyApplier(policy, now, comparison, command === "drift");
  const left: Finding[] = [];
  const suppressed: Finding[] = [];
  for (const finding of findings) {
    const entry = suppressor.entryFor(finding);
    if (entry === undefined) {
      left.push(finding);
      continue;
    }
    const { reason, expires } = entry;
    suppressed.push({ ...finding, suppression: { reason, ...(expires === undefined ? {} : { expires }) } });
  }
  const isAsked = (entry: PolicyEntry): boolean =>
    isWhole && (command === undefined || (command === "drift") === isOfDrift(entry));
  return { findings: left, suppressed, ...suppressor.notes(isAsked) };
}
