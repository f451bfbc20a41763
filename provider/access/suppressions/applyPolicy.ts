import { DAY_MS } from "../../fields/formats";
import { addTo, SECRET_MASK } from "../../fields/values";
import { printable } from "../../text/printable";
import { didYouMean } from "../../text/suggestions";
import { specs } from "../documents/specs";
import { accessKinds } from "../graph/accessKinds";
import { GroupHierarchy, groupPath } from "../graph/groupHierarchy";
import type { Grant, Named, Scope, Subject } from "../graph/grant";
import { GrantEffects } from "../graph/grantIndex";
import type { Entity } from "../graph/model";
import { isHiddenProperty } from "../graph/graphBuilder";
import { describeTrust } from "../graph/trust";
import type { Comparison } from "../review/compare";
import { isHighOrCritical } from "../review/finding";
import type { Finding } from "../review/finding";
import { findRule } from "../rules";
import { canReport } from "../rules/rule";
import type { NewMatch } from "../rules/ruleOptions";
import { trustMatches, globMatches } from "../trust/glob";
import { exactKeyOf, matchKeys, policyCommands } from "./policyDocument";
import type {
  JudgedType,
  Policy,
  PolicyCommand,
  PolicyEntry,
  WrittenEntry,
  MatchKey,
} from "./policyDocument";

/** What became of findings. No finding is ever dropped: each is in one of the two lists. */
export interface SuppressionResult {
  readonly findings: readonly Finding[];
  readonly suppressed: readonly Finding[];
  /** Entries that match no finding, a line each. */
  readonly unused: readonly string[];
  /** Entries whose day is over, a line each, with the findings that are back. */
  readonly expired: readonly string[];
  /** How the policy file differs from its version before the change, a line each. */
  readonly changed?: readonly string[];
  /** Assertions that were broken before the change and still are, a line each. */
  readonly standing?: readonly string[];
}

/**
 * Sets the findings apart that a policy file suppresses.
 *
 * @param comparison What the findings come from: it says what exists before the change.
 * @param isComplete Whether all was looked at: where it was not, no entry is called unused.
 */
export type Suppressor = (
  findings: readonly Finding[],
  comparison: Comparison,
  isComplete: boolean,
) => SuppressionResult;

/** The commands that an entry is for. */
function commandsOf({ for: commands, rule, kind }: PolicyEntry): readonly PolicyCommand[] {
  if (commands !== undefined) return commands;
  if (kind !== undefined || rule?.startsWith("drift-") === true) return ["drift"];
  // What judges an update before it happens never finds drift.
  return rule !== undefined && findRule(rule)?.beforeUpdate === true ? ["review"] : policyCommands;
}

function countFindings(findings: readonly Finding[]): string {
  const ids = [...new Set(findings.map(({ id }) => id))];
  return `${findings.length === 1 ? "1 finding" : `${findings.length} findings`} (${ids.slice(0, 6).join(", ")})`;
}

/** Why an entry that fits a finding does not suppress it, with what its line in the report says of these findings. */
const gaps = {
  expires: (count) => `has no expires, so it does not suppress ${count}, high or critical: add expires`,
  acceptedBy: (count) =>
    `has no acceptedBy, so it does not suppress ${count} of drift, high or critical: name the person who accepted it`,
  fingerprint: (count, findings) => {
    const prints = findings.slice(0, 3).map(({ id, fingerprint }) => `${fingerprint} (${id})`);
    return `has no fingerprint, so it does not suppress ${count}, high or critical: add fingerprint: ${prints.join(" or ")}, in an entry for each`;
  },
  // Some rules report unlike things of one object.
  fields: (count, findings) => {
    const fields = [...new Set(findings.flatMap(foundProperties))].map((path) => JSON.stringify(path));
    return `has neither fields nor a fingerprint, so it does not suppress ${count}: that rule reports unlike things of one object: add fields: [${fields.slice(0, 6).join(", ")}], or a fingerprint`;
  },
  // It matches them by more than what was there before, where they are and have effect.
  unproven: (count) =>
    `does not suppress ${count}, which it matches by a name that this change gives, or that only the program states, or in a group beside which it has effect in others: give --inventory, and name what exists by uid, or give a fingerprint`,
} as const satisfies Readonly<Record<string, (count: string, findings: readonly Finding[]) => string>>;

type Gap = keyof typeof gaps;

/** What became of one entry. */
interface EntryUse {
  used: boolean;
  /** The findings that it fits and does not suppress; `expired`: those that it would suppress if it had not expired. */
  readonly missed: Map<Gap | "expired", Finding[]>;
}

function isExpired({ expires }: Pick<PolicyEntry, "expires">, now: number): boolean {
  return expires !== undefined && !(now < Date.parse(`${expires}T00:00:00Z`) + DAY_MS);
}

/** Why an entry that has not expired suppresses less than it could. */
function usageNotes({ used, missed }: EntryUse, isUnused: boolean): string[] {
  const notes = (Object.keys(gaps) as Gap[]).flatMap((gap) => {
    const findings = missed.get(gap);
    return findings === undefined ? [] : [gaps[gap](countFindings(findings), findings)];
  });
  return isUnused && !used && missed.size === 0
    ? ["matches no finding: remove it, or correct what it names"]
    : notes;
}

/** What was accepted has changed, or the fingerprint is mistyped: this is told where another one would fit. */
function otherFingerprint(findings: readonly Finding[]): string {
  const prints = findings.slice(0, 3).map(({ id, fingerprint }) => `${fingerprint} (${id})`);
  return `its fingerprint is not that of ${countFindings(findings)}, which it fits otherwise: it may be mistyped, or the value has changed since; now it is ${prints.join(" or ")}`;
}

function expiredNote({ expires = "" }: PolicyEntry, { missed }: EntryUse, mayBeUnused: boolean): string {
  const back = missed.get("expired");
  const what =
    back === undefined
      ? `${mayBeUnused ? "it matches no finding any more: " : ""}remove it`
      : `${countFindings(back)} back: renew it or fix them`;
  return `expired on ${expires}; ${what}`;
}

/** The entries of a policy, and what became of each. */
class Suppressions {
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
    const entries = policy.entries.filter(
      (entry) => command === undefined || commandsOf(entry).includes(command),
    );
    this.index = new EntryIndex(entries);
    for (const entry of entries) this.uses.set(entry, { used: false, missed: new Map() });
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
    const reasons = fitting.map(([entry, use]) => [entry, use, this.whyNot(entry, finding, texts)] as const);
    const found = reasons.find(([, , reason]) => reason === undefined);
    if (found !== undefined) {
      found[1].used = true;
      return found[0];
    }
    for (const [, { missed }, reason] of reasons) if (reason !== undefined) addTo(missed, reason, finding);
    return undefined;
  }

  /** Why an entry that fits a finding does not suppress it; undefined where it does. */
  private whyNot(entry: PolicyEntry, finding: Finding, texts: MatchTexts): Gap | "expired" | undefined {
    if (!matchesEntry(entry, finding, texts)) return "unproven";
    if (isExpired(entry, this.now)) return "expired";
    if (!isHighOrCritical(finding.severity)) {
      const isExact = entry.fingerprint !== undefined || entry.fields !== undefined;
      return isExact || findRule(finding.id)?.exampleFields === undefined ? undefined : "fields";
    }
    if (entry.expires === undefined) return "expires";
    if (entry.acceptedBy === undefined && this.command === "drift") return "acceptedBy";
    // A name, and a uid too, would accept the next change of the same object.
    return entry.fingerprint === undefined ? "fingerprint" : undefined;
  }

  /** Findings that nobody accepts, which an entry fits in all but the fingerprint. */
  private otherwiseFitting(entry: PolicyEntry, open: readonly Finding[]): readonly Finding[] {
    const { fingerprint, ...rest } = entry;
    if (fingerprint === undefined) return [];
    // What it fits by its rule alone may be another thing: this is told only where it is never called unused.
    if (rest.match === undefined && (rest.rule === undefined || commandsOf(entry).length === 1)) return [];
    return open.filter((finding) => matchesEntry(rest, finding));
  }

  /**
   * @param isComplete Whether all was looked at: where it was not, no entry is called unused.
   * @param open The findings that no entry accepts.
   */
  notes(isComplete: boolean, open: readonly Finding[]): { unused: string[]; expired: string[] } {
    const [unused, expired]: [string[], string[]] = [[], []];
    for (const [entry, use] of this.uses) {
      const where = `${this.policy.file}:${entry.line}: `;
      // An entry for both commands may serve the other one, so neither calls it unused.
      const mayBeUnused = isComplete && (this.command === undefined || commandsOf(entry).length === 1);
      const like = use.used || use.missed.size > 0 ? [] : this.otherwiseFitting(entry, open);
      if (isExpired(entry, this.now)) expired.push(printable(where + expiredNote(entry, use, mayBeUnused)));
      else if (like.length > 0) unused.push(printable(where + otherFingerprint(like)));
      else for (const note of usageNotes(use, mayBeUnused)) unused.push(printable(where + note));
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
 * @param command What is run: entries that only the other command can use are not applied, and not called unused.
 * @param isComplete Whether all was looked at: where it was not, no entry is called unused.
 * @param comparison What the findings of a review come from. Without it only uids match.
 */
export function applyPolicy(
  findings: readonly Finding[],
  policy: Policy,
  now: number,
  command?: PolicyCommand,
  isComplete = true,
  comparison?: Comparison,
): SuppressionResult {
  const suppressions = new Suppressions(policy, now, comparison, command);
  const left: Finding[] = [];
  const suppressed: Finding[] = [];
  for (const finding of findings) {
    const entry = judgedTypeOf(policy, finding, now) ?? suppressions.entryFor(finding);
    if (entry === undefined) {
      left.push(finding);
      continue;
    }
    const { reason, expires } = entry;
    suppressed.push({ ...finding, suppression: { reason, expires } });
  }
  const notes = suppressions.notes(isComplete, left);
  return { findings: left, suppressed, ...notes, unused: [...notes.unused, ...typeNotes(policy, left, now)] };
}

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

/** Finds the entries that may mean a finding, without trying each entry on each finding. */
class EntryIndex {
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

type Texts = readonly (string | undefined)[];

/** What each key of `match` is compared with. */
interface MatchTexts extends Readonly<Record<MatchKey, Texts>> {
  /** The further groups in which the object of a finding gives something: `group` must match each of them too. */
  readonly reach: readonly Texts[];
}

const scopeTexts = (scope: Scope | undefined): Texts => [scope?.path, scope?.name, scope?.uid];

/** All strings of a finding that an entry can match, including names that the program chose. */
function statedTexts({ uid, name, kind, grant, group, trust }: Finding): MatchTexts {
  const own = kind === "Role" ? [name, uid] : [];
  const scope = grant?.group ?? group;
  return {
    uid: [uid, grant?.uid, grant?.subject.uid],
    name: [name, grant?.subject.name],
    subject: [grant?.subject.displayName, grant?.subject.name, grant?.subject.uid, trust?.subject],
    issuer: [trust?.issuer],
    role: [grant?.role.name, grant?.role.uid, ...own],
    group: scopeTexts(scope),
    reach: [],
  };
}

/** What a finding is about: the resource itself, where there is no grant. */
function aboutOf({ grant, uid, name, kind, group }: Finding): readonly Partial<Named>[] {
  const about: (Partial<Named> | undefined)[] =
    grant === undefined
      ? [kind === undefined ? undefined : { uid, name }, group]
      : [grant.subject, grant.role, grant.group];
  return about.filter((named) => named !== undefined);
}

function displayNameOf(entity: Entity): string | undefined {
  return accessKinds[entity.kind]?.describeHolder?.(entity).displayName;
}

/** A group's name with slashes escaped, so that it never equals the path of a nested group. */
function escapeName({ name }: Entity): string | undefined {
  return name === undefined ? undefined : groupPath([name]);
}

/** Whether a document does not say in which group something lies: the value is a secret, not known yet or assumed. */
function isParentUnknown(entity: Entity | undefined): boolean {
  if (entity === undefined) return false;
  const isAssumed = entity.assumptions?.some(({ property }) => property === "parentUid") === true;
  return isAssumed || isHiddenProperty(entity, "parentUid");
}

/** Removes the strings that an entry may match. */
const withoutTexts = <T extends Named>(named: T): T => ({
  ...named,
  uid: undefined,
  name: undefined,
  ...("path" in named ? { path: "" } : {}),
});

/** The uids of a grant, which tell whether it existed before the change; undefined if one of its objects has none. */
function grantUids({ uid, subject, role, group }: Grant): string | undefined {
  const uids = [uid, subject.uid, role.uid, group.uid];
  return uids.includes(undefined) ? undefined : JSON.stringify(uids);
}

/**
 * Tells what of a finding a suppression may match: uids, and the names, paths and trust that the same object had
 * before the change and has after it. What the change makes, renames or moves has no name here.
 */
class VerifiedTexts {
  private readonly existing: ReadonlyMap<string, Entity>;
  private readonly before: GroupHierarchy;
  private readonly after: GroupHierarchy;
  private readonly byUid = new Map<string, Entity>();
  private readonly grants: ReadonlySet<string | undefined>;
  private readonly effects: GrantEffects | undefined;
  /** The keys and uids of all that an unknown reference is taken to name. */
  private readonly assumed = new Set<string | undefined>();

  constructor(private readonly comparison?: Comparison) {
    this.existing = comparison?.existing ?? new Map<string, Entity>();
    this.before = new GroupHierarchy(this.existing);
    const entities = comparison?.after.entities ?? new Map<string, Entity>();
    this.after = new GroupHierarchy(entities);
    for (const entity of entities.values()) {
      const { uid, kind, assumptions = [] } = entity;
      for (const { key } of assumptions) this.assumed.add(key).add(entities.get(key)?.uid ?? key);
      // A part of another object has the uid of that one.
      if (uid === undefined || specs[kind]?.sharesParentUid === true || this.byUid.has(uid)) continue;
      this.byUid.set(uid, entity);
    }
    this.effects = comparison && new GrantEffects(comparison);
    this.grants = new Set(comparison?.before.grants.map(grantUids));
  }

  /** The strings of a finding that an entry may match: names and trust only if the change leaves them as they were. */
  of(finding: Finding): MatchTexts {
    // What drift finds is named by the state or by the live organisation.
    if (finding.drift !== undefined)
      return { ...statedTexts(finding), reach: this.reachOf(finding, scopeTexts) };
    const { trust, uid, name, kind } = finding;
    const group = finding.group && this.omitAssumedTexts(finding.group);
    const grant = finding.grant && {
      ...finding.grant,
      subject: this.omitAssumedTexts(finding.grant.subject),
      role: this.omitAssumedTexts(finding.grant.role),
      group: this.omitAssumedTexts(finding.grant.group),
    };
    const own =
      grant === undefined ? this.existingObject({ uid, name }, kind) : this.existingObject(grant.subject);
    const before = describeTrust(own);
    const ownName = own !== undefined && own.name === name ? name : undefined;
    const role = this.existingObject(grant?.role, "Role");
    const isRole = kind === "Role" && grant === undefined;
    return {
      uid: [grant === undefined ? uid : this.grantingUid(grant), grant?.subject.uid],
      // What is about no object has a name that the rule itself gives.
      name: [aboutOf(finding).length === 0 ? name : ownName],
      subject: [
        ...this.subjectTexts(grant?.subject, own),
        trust?.subject === before?.subject && trust?.subject !== SECRET_MASK ? trust?.subject : undefined,
      ],
      issuer: [trust?.issuer === before?.issuer && trust?.issuer !== SECRET_MASK ? trust?.issuer : undefined],
      role: [role?.name, grant?.role.uid, ...(isRole ? [ownName, uid] : [])],
      group: this.groupTexts(grant?.group ?? group),
      reach: this.reachOf(finding, (scope) => this.groupTexts(scope)),
    };
  }

  /** An identity in one group may be bound in another one: whoever accepts findings in the first accepts none there. */
  private reachOf({ grant, kind, uid, urn }: Finding, textsOf: (scope: Scope) => Texts): readonly Texts[] {
    const key = uid ?? urn;
    if (grant !== undefined || kind === undefined || key === undefined) return [];
    const groups = new Map<string, Scope>();
    for (const { group } of this.effects?.of({ key, kind, uid, urn }) ?? []) {
      groups.set(JSON.stringify([group.key, group.path]), group);
    }
    return [...groups.values()].map((group) => textsOf(this.omitAssumedTexts(group)));
  }

  /**
   * Removes the strings of an object that is only assumed, since a preview does not distinguish the id of an object from
   * a value derived from it.
   */
  private omitAssumedTexts<T extends Named>(named: T): T {
    return this.assumed.has(named.key) || (named.uid !== undefined && this.assumed.has(named.uid))
      ? withoutTexts(named)
      : named;
  }

  /** A binding is the same one only while it grants the same to the same. */
  private grantingUid(grant: Grant): string | undefined {
    // What lives already is no program's claim.
    if (this.comparison?.drift !== undefined) return grant.uid;
    const uids = grantUids(grant);
    return uids !== undefined && this.grants.has(uids) ? grant.uid : undefined;
  }

  /** An object as it exists, where its name is the same before the change, after it and in the finding. */
  private existingObject(named: Partial<Named> | undefined, kind?: string): Entity | undefined {
    const object = this.existing.get(named?.uid ?? "");
    if (named === undefined || object === undefined) return undefined;
    const after = this.byUid.get(object.key);
    const isRenamed = object.name !== named.name || (after !== undefined && after.name !== object.name);
    return isRenamed || (kind !== undefined && object.kind !== kind) ? undefined : object;
  }

  private subjectTexts(
    subject: Subject | undefined,
    object: Entity | undefined,
  ): readonly (string | undefined)[] {
    if (subject === undefined) return [];
    const words = object === undefined ? undefined : displayNameOf(object);
    return [words === subject.displayName ? words : undefined, object?.name, subject.uid];
  }

  private groupTexts(
    scope: (Named & { readonly path: string }) | undefined,
  ): readonly (string | undefined)[] {
    const object = this.existingObject(scope, "Group");
    if (scope === undefined || object === undefined) return [scope?.uid];
    const { path } = this.before.scope(object.key);
    const after = this.byUid.get(object.key);
    const isThere = after === undefined || this.after.scope(after.key).path === path;
    const isStill = isThere && this.isUnmoved(object.key, after);
    return [isStill && scope.path === path ? path : undefined, escapeName(object), scope.uid];
  }

  /**
   * Whether a group has the same groups above it as before. It compares uids, since several groups can have the same
   * name.
   */
  private isUnmoved(uid: string, after: Entity | undefined): boolean {
    const before = this.before.chain(uid);
    if (before.some((key) => isParentUnknown(this.existing.get(key)))) return false;
    if (after === undefined) return true;
    const entities = this.comparison?.after.entities;
    const now = this.after.chain(after.key).map((key) => {
      const entity = entities?.get(key);
      return entity === undefined ? key : isParentUnknown(entity) ? undefined : entity.uid;
    });
    return JSON.stringify(now) === JSON.stringify(before);
  }
}

/** A string of an object that a glob is compared with; `unknown` is one that may become any. */
type Text = string | undefined | typeof UNKNOWN_TEXT;

const UNKNOWN_TEXT = Symbol("unknown");

/** An object on one side of a change. */
interface Side {
  readonly entity: Entity;
  readonly hierarchy: GroupHierarchy;
  readonly hidesParent?: true;
}

const isHolder = ({ kind }: Entity): boolean => accessKinds[kind]?.describeHolder !== undefined;

/** What an object alone decides of what an exception matches. */
function ownKeys(entity: Entity, { match = {} }: PolicyEntry): readonly MatchKey[] {
  const keys: readonly MatchKey[] = isHolder(entity)
    ? ["name", "subject", "issuer"]
    : entity.kind === "Role" && match.role !== undefined
      ? ["role"]
      : entity.kind === "Group" && match.group !== undefined
        ? ["group"]
        : ["name"];
  return keys.filter((key) => match[key] !== undefined && !/^[*?]+$/.test(match[key]));
}

function textsOf({ entity, hierarchy, hidesParent }: Side, key: MatchKey): readonly Text[] {
  const name = isHiddenProperty(entity, "name") ? UNKNOWN_TEXT : entity.name;
  const trust = describeTrust(entity);
  if (key === "subject") return [displayNameOf(entity), name, trust?.subject];
  if (key === "issuer") return [trust?.issuer];
  if (key !== "group") return [name];
  const path =
    hidesParent === true || isHiddenProperty(entity, "parentUid")
      ? UNKNOWN_TEXT
      : hierarchy.scope(entity.key).path;
  return [name === UNKNOWN_TEXT ? name : path, name === UNKNOWN_TEXT ? name : escapeName(entity)];
}

function matchesAll(side: Side | undefined, keys: readonly MatchKey[], { match = {} }: PolicyEntry): boolean {
  if (side === undefined) return false;
  return keys.every((key) => {
    const glob = match[key] ?? "";
    const matches = key === "subject" || key === "issuer" ? trustMatches : globMatches;
    return textsOf(side, key).some(
      (text) => text === UNKNOWN_TEXT || (text !== undefined && matches(glob, text)),
    );
  });
}

/** Whether findings that an entry is for can be about an object, or about a grant to it, of it or in it. */
function isConcerned({ rule, type }: PolicyEntry, entity: Entity): boolean {
  if (isHolder(entity) || entity.kind === "Role" || entity.kind === "Group") return true;
  if (type !== undefined && type !== entity.kind) return false;
  const found = rule === undefined ? undefined : findRule(rule);
  return found === undefined || canReport(found, entity.kind);
}

/** Evaluates the exceptions of a policy on what was there before a change and on what is there after it. */
class NewMatches {
  private readonly before: GroupHierarchy;
  private readonly after: GroupHierarchy;
  private readonly written: ReadonlySet<string | undefined>;

  constructor(private readonly comparison: Comparison) {
    this.before = new GroupHierarchy(comparison.existing);
    this.after = new GroupHierarchy(comparison.after.entities);
    this.written = new Set(
      comparison.changes.flatMap(({ op, after }) =>
        op === "create" || op === "update" || op === "replace" ? [after?.key] : [],
      ),
    );
  }

  /** A reference to what exists that the preview does not know may name any group. */
  private hidesParent({ assumptions = [] }: Entity): boolean {
    const { entities } = this.comparison.after;
    return assumptions.some(
      ({ property, key }) => property === "parentUid" && entities.get(key)?.uid !== undefined,
    );
  }

  private sides(entity: Entity): { readonly before?: Side; readonly after: Side } {
    const object = this.comparison.existing.get(entity.uid ?? "");
    return {
      ...(object === undefined ? {} : { before: { entity: object, hierarchy: this.before } }),
      after: { entity, hierarchy: this.after, ...(this.hidesParent(entity) ? { hidesParent: true } : {}) },
    };
  }

  /** The path of a group changes with each group above it; all else only with itself. */
  private isChanged({ kind, key, uid }: Entity): boolean {
    return this.written.has(key) || (kind === "Group" && this.comparison.existing.has(uid ?? ""));
  }

  /** A group comes with the one above it: only one that moved there is news. */
  private isCovered(entity: Entity, keys: readonly MatchKey[], entry: PolicyEntry): boolean {
    if (!keys.includes("group")) return false;
    const [, above = ""] = this.after.chain(entity.key);
    const parent = this.comparison.after.entities.get(above);
    if (parent === undefined || !matchesAll(this.sides(parent).after, ["group"], entry)) return false;
    const { before } = this.sides(entity);
    return before === undefined || before.hierarchy.parentOf(before.entity.key) === parent.uid;
  }

  *of(entry: PolicyEntry): Generator<{ readonly entity: Entity; readonly keys: readonly MatchKey[] }> {
    for (const entity of this.comparison.after.entities.values()) {
      if (!this.isChanged(entity) || !isConcerned(entry, entity)) continue;
      const keys = ownKeys(entity, entry);
      if (keys.length === 0) continue;
      const { before, after } = this.sides(entity);
      if (!matchesAll(after, keys, entry) || matchesAll(before, keys, entry)) continue;
      if (!this.isCovered(entity, keys, entry)) yield { entity, keys };
    }
  }
}

/**
 * Finds what begins to match an exception by a change: the change itself is judged without it, and the next one is not.
 * An entry with a fingerprint accepts one finding, whatever matches it.
 */
export function findNewMatches(policy: Policy, now: number, comparison: Comparison): NewMatch[] {
  const found = new NewMatches(comparison);
  return policy.entries.flatMap((entry) => {
    // A uid of its own stays with its object.
    const isOpen = matchKeys.some((key) => key !== "uid" && entry.match?.[key] !== undefined);
    if (!isOpen || entry.fingerprint !== undefined || isExpired(entry, now)) return [];
    return Array.from(found.of(entry), ({ entity, keys }) => ({
      entity,
      condition: matchKeys
        .filter((key) => keys.includes(key))
        .map((key) => `${key}: ${entry.match?.[key] ?? ""}`)
        .join(", "),
      entry: `${policy.file}:${entry.line}`,
    }));
  });
}
