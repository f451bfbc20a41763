import { DAY_MS } from "../../fields/formats";
import { printable } from "../../text/printable";
import type { Comparison } from "../review/comparison";
import type { Finding } from "../review/finding";
import { isHighOrCritical } from "../review/finding";
import { findRule } from "../rules";
import { EntryIndex, matchesEntry, foundProperties } from "./matchEntry";
import { VerifiedTexts } from "./matchTexts";
import type { MatchTexts } from "./matchTexts";
import { didYouMean } from "../../text/suggestions";
import { policyCommands } from "./policyDocument";
import type { JudgedType, Policy, PolicyCommand, PolicyEntry, WrittenEntry } from "./policyDocument";

/** What became of findings. No finding is ever dropped: each is in one of the two lists. */
interface PolicyResult {
  readonly findings: readonly Finding[];
  readonly suppressed: readonly Finding[];
  /** Entries that match no finding, a line each. */
  readonly unused: readonly string[];
  /** Entries whose day is over, a line each, with the findings that are back. */
  readonly expired: readonly string[];
}

/** The commands that an entry is for. */
function commandsOf({ for: commands, rule, kind }: PolicyEntry): readonly PolicyCommand[] {
  if (commands !== undefined) return commands;
  return kind !== undefined || rule?.startsWith("drift-") === true ? ["drift"] : policyCommands;
}

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
  /** Findings that it would suppress, if it had their fingerprint. */
  readonly unpinned: Finding[];
  /** Findings of rules that report unlike things of one object, that it would suppress if it named their properties. */
  readonly withoutFields: Finding[];
  /** Findings that it matches only by names: of resources that the change creates, or that only the program names. */
  readonly ofNewResources: Finding[];
  readonly unverified: Finding[];
  /** Findings about objects of the group that it names, which also give something in other groups. */
  readonly reachingFurther: Finding[];
}

export function isExpired({ expires }: Pick<PolicyEntry, "expires">, now: number): boolean {
  return expires !== undefined && !(now < Date.parse(`${expires}T00:00:00Z`) + DAY_MS);
}

/** Why an entry that has not expired suppresses less than it could. */
function* usageNotes(use: EntryUse, isUnused: boolean): Generator<string> {
  const { used, withoutExpiry, withoutPerson, unpinned, withoutFields } = use;
  const { ofNewResources, unverified, reachingFurther } = use;
  if (withoutExpiry.length > 0) {
    yield `has no expires, so it does not suppress ${countFindings(withoutExpiry)}, high or critical: add expires`;
  }
  if (withoutPerson.length > 0) {
    yield `has no acceptedBy, so it does not suppress ${countFindings(withoutPerson)} of drift, high or critical: name the person who accepted it`;
  }
  if (unpinned.length > 0) {
    const prints = unpinned.slice(0, 3).map(({ id, fingerprint }) => `${fingerprint} (${id})`);
    yield `has no fingerprint, so it does not suppress ${countFindings(unpinned)}, high or critical: add fingerprint: ${prints.join(" or ")}, in an entry for each`;
  }
  if (withoutFields.length > 0) {
    const fields = [...new Set(withoutFields.flatMap(foundProperties))].map((path) => JSON.stringify(path));
    yield `has neither fields nor a fingerprint, so it does not suppress ${countFindings(withoutFields)}: that rule reports unlike things of one object: add fields: [${fields.slice(0, 6).join(", ")}], or a fingerprint`;
  }
  if (ofNewResources.length > 0) {
    yield `matches only resources that this change creates, renames or moves: ${countFindings(ofNewResources)} not suppressed: name one that exists before it, best by uid`;
  }
  if (unverified.length > 0) {
    yield `matches names that only the program states: ${countFindings(unverified)} not suppressed: give --inventory or --before, or name a uid`;
  }
  if (reachingFurther.length > 0) {
    yield `names a group, and ${countFindings(reachingFurther)} not suppressed: what they are about also has effect in other groups: name it by uid, or give a fingerprint`;
  }
  const isFitting = Object.values(use).some((list) => Array.isArray(list) && list.length > 0);
  if (isUnused && !used && !isFitting) {
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

/** Applies the entries of a policy, and keeps what became of each. */
class PolicyApplier {
  private readonly texts: VerifiedTexts;
  private readonly uses = new Map<WrittenEntry, EntryUse>();
  private readonly index: EntryIndex;

  constructor(
    private readonly policy: Policy,
    private readonly now: number,
    comparison: Comparison | undefined,
    private readonly command: PolicyCommand | undefined,
  ) {
    this.texts = new VerifiedTexts(comparison);
    const entries = policy.entries.filter((entry) => this.isFor(entry));
    this.index = new EntryIndex(entries);
    for (const entry of entries) {
      this.uses.set(entry, {
        used: false,
        afterExpiry: [],
        withoutExpiry: [],
        withoutPerson: [],
        unpinned: [],
        withoutFields: [],
        ofNewResources: [],
        unverified: [],
        reachingFurther: [],
      });
    }
  }

  private isFor(entry: PolicyEntry): boolean {
    return this.command === undefined || commandsOf(entry).includes(this.command);
  }

  /** Why an entry that fits does not suppress a finding; undefined where it does. */
  private listOfGap(entry: PolicyEntry, use: EntryUse, finding: Finding): Finding[] | undefined {
    if (!isHighOrCritical(finding.severity)) {
      const isExact = entry.fingerprint !== undefined || entry.fields !== undefined;
      return isExact || findRule(finding.id)?.exampleFields === undefined ? undefined : use.withoutFields;
    }
    if (entry.expires === undefined) return use.withoutExpiry;
    if (entry.acceptedBy === undefined && this.command === "drift") return use.withoutPerson;
    // A name, and a uid too, would accept the next change of the same object.
    return entry.fingerprint === undefined ? use.unpinned : undefined;
  }

  /** The entry that suppresses a finding. */
  entryFor(finding: Finding): PolicyEntry | undefined {
    const texts = this.texts.of(finding);
    const fitting = this.index
      .entriesFor(finding)
      .filter((entry) => matchesEntry(entry, finding))
      .flatMap((entry): [WrittenEntry, EntryUse][] => {
        const use = this.uses.get(entry);
        return use === undefined ? [] : [[entry, use]];
      });
    const allows = ([entry, use]: readonly [PolicyEntry, EntryUse]): boolean =>
      matchesEntry(entry, finding, texts) &&
      !isExpired(entry, this.now) &&
      this.listOfGap(entry, use, finding) === undefined;
    const found = fitting.find(allows);
    if (found !== undefined) {
      found[1].used = true;
      return found[0];
    }
    for (const [entry, use] of fitting) this.listFor(entry, use, finding, texts).push(finding);
    return undefined;
  }

  /** An entry for both commands may serve the other one, so neither calls it unused. */
  private mayBeUnused(entry: PolicyEntry): boolean {
    return this.command === undefined || commandsOf(entry).length === 1;
  }

  private listFor(entry: PolicyEntry, use: EntryUse, finding: Finding, texts: MatchTexts): Finding[] {
    if (matchesEntry(entry, finding, texts)) {
      if (isExpired(entry, this.now)) return use.afterExpiry;
      return this.listOfGap(entry, use, finding) ?? use.unpinned;
    }
    if (matchesEntry(entry, finding, { ...texts, reach: [] })) return use.reachingFurther;
    return this.texts.isUnverified(finding) ? use.unverified : use.ofNewResources;
  }

  /** @param isWhole Whether all was looked at: where it was not, no entry is called unused. */
  notes(isWhole: boolean): { unused: string[]; expired: string[] } {
    const [unused, expired]: [string[], string[]] = [[], []];
    for (const [entry, use] of this.uses) {
      const where = `${this.policy.file}:${entry.line}: `;
      if (isExpired(entry, this.now)) expired.push(printable(where + expiredNote(entry, use)));
      else
        for (const note of usageNotes(use, isWhole && this.mayBeUnused(entry)))
          unused.push(printable(where + note));
    }
    return { unused, expired };
  }
}

const NOT_REVIEWED = "X4";

/** The judged type that a finding is about. Without a known version, the resource may be of any package. */
const judgedTypeOf = (policy: Policy, { id, kind, packageVersion }: Finding, now: number) =>
  id === NOT_REVIEWED && packageVersion !== undefined
    ? policy.types.find(
        (judged) => judged.type === kind && judged.version === packageVersion && !isExpired(judged, now),
      )
    : undefined;

/** Why a judged type does not apply to a finding that looks like it, a line each. */
function typeNotes({ file, types }: Policy, findings: readonly Finding[], now: number): string[] {
  const open = findings.filter(({ id }) => id === NOT_REVIEWED);
  const kinds = [...new Set(open.flatMap(({ kind }) => kind ?? []))];
  const noteOf = (judged: JudgedType): string | undefined => {
    const own = open.find(({ kind }) => kind === judged.type);
    if (own === undefined) {
      const meant = didYouMean(judged.type, kinds);
      return meant === undefined ? undefined : `does not match; did you mean "${meant}"?`;
    }
    if (own.packageVersion === undefined) {
      return "does not apply: no document shows the version of its plugin (give --plan, and --before), or the plugin comes from an address of its own";
    }
    if (own.packageVersion !== judged.version) return `does not apply to version ${own.packageVersion}`;
    return isExpired(judged, now) ? `expired on ${judged.expires ?? ""}: renew it` : undefined;
  };
  return types.flatMap((judged) => {
    const note = noteOf(judged);
    return note === undefined
      ? []
      : [printable(`${file}:${judged.line}: type ${judged.type} ${judged.version} ${note}`)];
  });
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
  command?: PolicyCommand,
  isWhole = true,
  comparison?: Comparison,
): PolicyResult {
  const suppressor = new PolicyApplier(policy, now, comparison, command);
  const left: Finding[] = [];
  const suppressed: Finding[] = [];
  for (const finding of findings) {
    const entry = judgedTypeOf(policy, finding, now) ?? suppressor.entryFor(finding);
    if (entry === undefined) {
      left.push(finding);
      continue;
    }
    const { reason, expires } = entry;
    suppressed.push({ ...finding, suppression: { reason, ...(expires === undefined ? {} : { expires }) } });
  }
  const notes = suppressor.notes(isWhole);
  return { findings: left, suppressed, ...notes, unused: [...notes.unused, ...typeNotes(policy, left, now)] };
}
