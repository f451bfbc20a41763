import { DAY_MS } from "../../fields/formats";
import { addTo, groupBy, SECRET_MASK } from "../../fields/values";
import { printable } from "../../text/printable";
import { listFirst } from "../../text/plain";
import { didYouMean } from "../../text/suggestions";
import { urnParts } from "../documents/engineState";
import { specs } from "../documents/specs";
import { accessKinds } from "../graph/accessKinds";
import { GroupHierarchy, groupPath } from "../graph/groupHierarchy";
import type { Grant, Named, Scope } from "../graph/grant";
import type { Entity } from "../graph/model";
import { isHiddenProperty } from "../graph/graphBuilder";
import { grantsBySide } from "../graph/tokenTrusts";
import { describeTrust } from "../graph/trust";
import type { Comparison, ResourceChange } from "../review/compare";
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
    `does not suppress ${count}, which it matches by a name that this change gives, or that was changed by hand, or that only the program states, or in a group beside which it has effect in others: give --inventory, and name what exists by uid, or give a fingerprint`,
} as const satisfies Readonly<Record<string, (count: string, findings: readonly Finding[]) => string>>;

type Gap = keyof typeof gaps;

/** What became of one entry. */
interface EntryUse {
  readonly entry: WrittenEntry;
  used: boolean;
  /** The findings that it fits and does not suppress; `expired`: those that it would suppress if it had not expired. */
  readonly missed: Map<Gap | "expired", Finding[]>;
}

function isExpired({ expires }: Pick<PolicyEntry, "expires">, now: number): boolean {
  return expires !== undefined && !(now < Date.parse(`${expires}T00:00:00Z`) + DAY_MS);
}

/** What the name in an entry may mean that fits nothing: what its rule found is called so in the program alone, or nearly so. */
function nearNote({ match: { name, ...others } = {}, ...rest }: PolicyEntry, open: readonly Finding[]) {
  if (rest.rule === undefined || name === undefined) return undefined;
  const alike = open.filter((finding) => matchesEntry({ ...rest, match: others }, finding));
  const inProgram = ({ urn = "" }: Finding): string => urnParts(urn).name;
  const called = alike.filter((finding) => globMatches(name, inProgram(finding)));
  const [first] = called;
  if (first !== undefined) {
    const prints = called.map(({ fingerprint }) => fingerprint);
    return `does not match ${countFindings(called)}: ${JSON.stringify(inProgram(first))} is the name of its resource in the program, and no name of an object: give a uid, or fingerprint: ${listFirst(prints, 3)}`;
  }
  const names = alike.flatMap((finding) => [
    finding.name ?? "",
    finding.grant?.subject.name ?? "",
    inProgram(finding),
  ]);
  const meant = didYouMean(name, names);
  return meant === undefined
    ? undefined
    : `does not match ${countFindings(alike)}; did you mean the name ${JSON.stringify(meant)}?`;
}

/** Why an entry that has not expired suppresses less than it could. @param open The findings that no entry suppresses. */
function usageNotes(
  { entry, used, missed }: EntryUse,
  isUnused: boolean,
  open: readonly Finding[],
): string[] {
  const notes = (Object.keys(gaps) as Gap[]).flatMap((gap) => {
    const findings = missed.get(gap);
    return findings === undefined ? [] : [gaps[gap](countFindings(findings), findings)];
  });
  if (used || missed.size > 0) return notes;
  const near = nearNote(entry, open);
  if (near !== undefined) return [near];
  return isUnused ? ["matches no finding: remove it, or correct what it names"] : [];
}

function expiredNote({ entry: { expires = "" }, missed }: EntryUse, mayBeUnused: boolean): string {
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
  private readonly uses: readonly EntryUse[];
  /** By the one fingerprint, or else by the one uid, that they match: not each entry is tried on each finding. */
  private readonly byKey: ReadonlyMap<string, readonly EntryUse[]>;

  constructor(
    private readonly policy: Policy,
    private readonly now: number,
    comparison: Comparison | undefined,
    private readonly command: PolicyCommand | undefined,
  ) {
    this.texts = new VerifiedTexts(comparison);
    this.uses = policy.entries
      .filter((entry) => command === undefined || commandsOf(entry).includes(command))
      .map((entry) => ({ entry, used: false, missed: new Map() }));
    this.byKey = groupBy(this.uses, ({ entry }) => [exactKeyOf(entry) ?? ""]);
  }

  /** The entry that suppresses a finding. */
  entryFor(finding: Finding): PolicyEntry | undefined {
    const texts = this.texts.of(finding);
    const keys = new Set(["", finding.fingerprint, ...statedTexts(finding).uid.map((uid) => uid ?? "")]);
    const fitting = [...keys]
      .flatMap((key) => this.byKey.get(key) ?? [])
      .filter(({ entry }) => matchesEntry(entry, finding))
      .sort((a, b) => a.entry.line - b.entry.line)
      .map((use) => ({ use, reason: this.whyNot(use.entry, finding, texts) }));
    const found = fitting.find(({ reason }) => reason === undefined);
    if (found !== undefined) {
      found.use.used = true;
      return found.use.entry;
    }
    for (const { use, reason } of fitting) if (reason !== undefined) addTo(use.missed, reason, finding);
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

  /**
   * @param isComplete Whether all was looked at: where it was not, no entry is called unused.
   * @param open The findings that no entry suppresses.
   */
  notes(isComplete: boolean, open: readonly Finding[]): { unused: string[]; expired: string[] } {
    const [unused, expired]: [string[], string[]] = [[], []];
    for (const use of this.uses) {
      const { entry } = use;
      const where = `${this.policy.file}:${entry.line}: `;
      // An entry for both commands may serve the other one, so neither calls it unused.
      const mayBeUnused = isComplete && (this.command === undefined || commandsOf(entry).length === 1);
      if (isExpired(entry, this.now)) expired.push(printable(where + expiredNote(use, mayBeUnused)));
      else for (const note of usageNotes(use, mayBeUnused, open)) unused.push(printable(where + note));
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
function typeNotes({ file, types }: Policy, findings: readonly Finding[]): string[] {
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
    // One of this version that has not expired suppresses the finding.
    return `expired on ${judged.expires ?? ""}: renew it`;
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
  return { findings: left, suppressed, ...notes, unused: [...notes.unused, ...typeNotes(policy, left)] };
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

const matchesGlob = (key: MatchKey, glob: string, text: string): boolean =>
  (key === "subject" || key === "issuer" ? trustMatches : globMatches)(glob, text);

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
    const lists = key === "group" ? [texts.group, ...texts.reach] : [texts[key]];
    if (!lists.every((list) => list.some((text) => text !== undefined && matchesGlob(key, glob, text))))
      return false;
  }
  return entry.fields === undefined || matchesFields(entry.fields, finding);
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

/** A string of an object that a glob is compared with; `unknown` is one that may become any. */
type Text = string | undefined | typeof UNKNOWN_TEXT;

const UNKNOWN_TEXT = Symbol("unknown");

/** An object on one side of a change. */
interface Side {
  readonly entity: Entity;
  readonly entities: ReadonlyMap<string, Entity>;
  readonly hierarchy: GroupHierarchy;
}

/** Whether a document does not say how the path of a group is: a value is a secret, not known yet or assumed. */
function isPathUnknown({ entity, entities, hierarchy }: Side): boolean {
  return hierarchy.chain(entity.key).some((key) => {
    const group = entities.get(key);
    // A reference to what exists that the preview does not know may name any group.
    const isAssumed = group?.assumptions?.some(
      (one) => one.property === "parentUid" && entities.get(one.key)?.uid !== undefined,
    );
    return (
      group !== undefined &&
      (isAssumed === true || isHiddenProperty(group, "parentUid") || isHiddenProperty(group, "name"))
    );
  });
}

/** The strings of an object that a key of `match` is compared with, each at a place of its own. */
function textsOf(side: Side, key: MatchKey): readonly Text[] {
  const { entity, hierarchy } = side;
  const name = isHiddenProperty(entity, "name") ? UNKNOWN_TEXT : entity.name;
  const trust = describeTrust(entity);
  if (key === "subject")
    return [accessKinds[entity.kind]?.describeHolder?.(entity).displayName, name, trust?.subject];
  if (key === "issuer") return [trust?.issuer];
  if (key !== "group") return [name];
  const path = isPathUnknown(side) ? UNKNOWN_TEXT : hierarchy.scope(entity.key).path;
  // A name with slashes is escaped, so that it never equals the path of a nested group.
  return [path, typeof name === "string" ? groupPath([name]) : name];
}

/** The objects of a comparison before the change and after it. */
class ChangedObjects {
  private readonly before: GroupHierarchy;
  private readonly recorded: ReadonlyMap<string, Entity>;
  private readonly asRecorded: GroupHierarchy;
  readonly after: GroupHierarchy;

  constructor(
    private readonly existing: ReadonlyMap<string, Entity>,
    private readonly entities: ReadonlyMap<string, Entity>,
    changes: readonly ResourceChange[],
  ) {
    // What a program takes over is not recorded yet.
    const recorded = changes.flatMap(({ op, recorded: one }) =>
      one === undefined || op === "read" ? [] : [one],
    );
    this.recorded = new Map([...existing, ...recorded.map((entity) => [entity.key, entity] as const)]);
    this.before = new GroupHierarchy(existing);
    this.asRecorded = new GroupHierarchy(this.recorded);
    this.after = new GroupHierarchy(entities);
  }

  /** An object before the change: as it is, and, since somebody may have changed it by hand, as its stack records it. */
  sidesBefore(uid = ""): readonly Side[] {
    return [[this.existing, this.before] as const, [this.recorded, this.asRecorded] as const].flatMap(
      ([entities, hierarchy]) => {
        const entity = this.existing.has(uid) ? entities.get(uid) : undefined;
        return entity === undefined ? [] : [{ entity, entities, hierarchy }];
      },
    );
  }

  sideAfter(entity: Entity): Side {
    return { entity, entities: this.entities, hierarchy: this.after };
  }
}

/** The uids of a grant, which tell whether it existed before the change; undefined if one of its objects has none. */
function grantUids({ uid, subject, role, group }: Grant): string | undefined {
  const uids = [uid, subject.uid, role.uid, group.uid];
  return uids.includes(undefined) ? undefined : JSON.stringify(uids);
}

/** The groups from one to its root: by uids, since several groups can have the same name. */
const chainOf = ({ entity, entities, hierarchy }: Side): string =>
  JSON.stringify(hierarchy.chain(entity.key).map((key) => entities.get(key)?.uid ?? key));

/**
 * Tells what of a finding a suppression may match: uids, and the names, paths and trust that the same object had
 * before the change, also in its stack, and has after it. What the change, or somebody by hand, makes, renames or moves has no
 * name here.
 */
class VerifiedTexts {
  private readonly objects: ChangedObjects;
  private readonly byUid = new Map<string, Entity>();
  private readonly grants: ReadonlySet<string | undefined>;
  /** The keys and uids of all that an unknown reference is taken to name. */
  private readonly assumed = new Set<string | undefined>();

  constructor(private readonly comparison?: Comparison) {
    const entities = comparison?.after.entities ?? new Map<string, Entity>();
    this.objects = new ChangedObjects(
      comparison?.existing ?? new Map<string, Entity>(),
      entities,
      comparison?.changes ?? [],
    );
    for (const entity of entities.values()) {
      const { uid, kind, assumptions = [] } = entity;
      for (const { key } of assumptions) this.assumed.add(key).add(entities.get(key)?.uid ?? key);
      // A part of another object has the uid of that one.
      if (uid === undefined || specs[kind]?.sharesParentUid === true || this.byUid.has(uid)) continue;
      this.byUid.set(uid, entity);
    }
    this.grants = new Set(comparison?.before.grants.map(grantUids));
  }

  /** The strings of a finding that an entry may match: names and trust only if the change leaves them as they were. */
  of(finding: Finding): MatchTexts {
    // What drift finds is named by the state or by the live organisation.
    if (finding.drift !== undefined)
      return {
        ...statedTexts(finding),
        reach: this.reachOf(finding, (scope) => scopeTexts(this.known(scope))),
      };
    const { trust, uid, name, kind, grant } = finding;
    const subject = this.known(grant?.subject);
    const role = this.known(grant?.role);
    const isLasting = (key: MatchKey, text: string | undefined): boolean =>
      (grant === undefined ? this.lasting({ uid, name }, key, kind) : this.lasting(subject, key)).includes(
        text,
      );
    const ownName = isLasting("name", name) ? name : undefined;
    const isRole = kind === "Role" && grant === undefined;
    return {
      uid: [grant === undefined ? uid : this.grantingUid(grant), subject?.uid],
      // What is about no object has a name that the rule itself gives.
      name: [aboutOf(finding).length === 0 ? name : ownName],
      subject: [
        ...this.lasting(subject, "subject"),
        subject?.uid,
        isLasting("subject", trust?.subject) ? trust?.subject : undefined,
      ],
      issuer: [isLasting("issuer", trust?.issuer) ? trust?.issuer : undefined],
      role: [...this.lasting(role, "role", "Role"), role?.uid, ...(isRole ? [ownName, uid] : [])],
      group: this.groupTexts(grant?.group ?? finding.group),
      reach: this.reachOf(finding, (scope) => this.groupTexts(scope)),
    };
  }

  /**
   * An identity in one group may be bound in another one, or others may that take its tokens: whoever accepts findings in the first
   * accepts none there.
   */
  private reachOf({ grant, kind, uid, urn }: Finding, textsIn: (scope: Scope) => Texts): readonly Texts[] {
    const key = uid ?? urn;
    const { comparison } = this;
    if (comparison === undefined || grant !== undefined || kind === undefined || key === undefined) return [];
    const groups = new Map<string, Scope>();
    for (const { grants } of grantsBySide(comparison, { key, kind, uid, urn }))
      for (const { group } of grants) groups.set(JSON.stringify([group.key, group.path]), group);
    return [...groups.values()].map((group) => textsIn(group));
  }

  /** Undefined of what is only assumed: a preview does not distinguish the id of an object from a value derived from it. */
  private known<T extends Named>(named: T | undefined): T | undefined {
    const isAssumed =
      named !== undefined &&
      (this.assumed.has(named.key) || (named.uid !== undefined && this.assumed.has(named.uid)));
    return isAssumed ? undefined : named;
  }

  /** A binding is the same one only while it grants the same to the same. */
  private grantingUid({ uid, subject, role, group }: Grant): string | undefined {
    // What lives already is no program's claim.
    if (this.comparison?.drift !== undefined) return uid;
    const uids = [subject, role, group].map((named) => this.known<Named>(named)?.uid);
    return !uids.includes(undefined) && this.grants.has(JSON.stringify([uid, ...uids])) ? uid : undefined;
  }

  /** The strings of an object that are the same before the change, in its stack and after it, where its name is, also in the finding. */
  private lasting(named: Partial<Named> | undefined, key: MatchKey, kind?: string): Texts {
    const sides = [...this.objects.sidesBefore(named?.uid)];
    const [before] = sides;
    if (before === undefined || (kind !== undefined && before.entity.kind !== kind)) return [];
    const entity = this.byUid.get(before.entity.key);
    if (entity !== undefined) sides.push(this.objects.sideAfter(entity));
    if (sides.some((side) => side.entity.name !== named?.name)) return [];
    const isMoved = key === "group" && new Set(sides.map(chainOf)).size > 1;
    const [texts = [], ...others] = sides.map((side) => textsOf(side, key));
    return texts.flatMap((text, i) => {
      const isSame = others.every((other) => other[i] === text);
      return !isSame || typeof text !== "string" || text === SECRET_MASK || (isMoved && i === 0)
        ? []
        : [text];
    });
  }

  private groupTexts(scope: Scope | undefined): Texts {
    const group = this.known(scope);
    return [...this.lasting(group, "group", "Group"), group?.uid];
  }
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

function matchesAll(side: Side | undefined, keys: readonly MatchKey[], { match = {} }: PolicyEntry): boolean {
  if (side === undefined) return false;
  return keys.every((key) =>
    textsOf(side, key).some(
      (text) => text === UNKNOWN_TEXT || (text !== undefined && matchesGlob(key, match[key] ?? "", text)),
    ),
  );
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
  private readonly objects: ChangedObjects;
  private readonly written: ReadonlySet<string | undefined>;

  constructor(private readonly comparison: Comparison) {
    this.objects = new ChangedObjects(comparison.existing, comparison.after.entities, comparison.changes);
    this.written = new Set(
      comparison.changes.flatMap(({ op, after }) =>
        op === "create" || op === "update" || op === "replace" ? [after?.key] : [],
      ),
    );
  }

  /** The path of a group changes with each group above it; all else only with itself. */
  private isChanged({ kind, key, uid }: Entity): boolean {
    return this.written.has(key) || (kind === "Group" && this.comparison.existing.has(uid ?? ""));
  }

  /** A group comes with the one above it: only one that moved there is news. */
  private isCovered(entity: Entity, keys: readonly MatchKey[], entry: PolicyEntry): boolean {
    if (!keys.includes("group")) return false;
    const [, above = ""] = this.objects.after.chain(entity.key);
    const parent = this.comparison.after.entities.get(above);
    if (parent === undefined || !matchesAll(this.objects.sideAfter(parent), ["group"], entry)) return false;
    const [before] = this.objects.sidesBefore(entity.uid);
    return before === undefined || before.hierarchy.parentOf(before.entity.key) === parent.uid;
  }

  *of(entry: PolicyEntry): Generator<{ readonly entity: Entity; readonly keys: readonly MatchKey[] }> {
    for (const entity of this.comparison.after.entities.values()) {
      if (!this.isChanged(entity) || !isConcerned(entry, entity)) continue;
      const keys = ownKeys(entity, entry);
      if (keys.length === 0) continue;
      if (!matchesAll(this.objects.sideAfter(entity), keys, entry)) continue;
      const [before, recorded] = this.objects.sidesBefore(entity.uid);
      // What the change does not write may be called by hand as it likes: the exception does not apply to it.
      const had = this.written.has(entity.key) ? [before, recorded] : [before];
      if (had.every((side) => matchesAll(side, keys, entry))) continue;
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
