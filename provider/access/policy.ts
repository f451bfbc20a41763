import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, stringify, visit } from "yaml";
import type { Document, Node } from "yaml";
import { printable } from "../api/errors";
import { didYouMean } from "../engine/check";
import { globMatches, globOf, globProblem, isCatchAll } from "./glob";
import { statedTexts, TextsBefore } from "./matchTexts";
import type { MatchTexts } from "./matchTexts";
import type { Comparison } from "./model";
import {
  DAY,
  driftKinds,
  endingRules,
  entryKeys,
  LONGEST_PERSON,
  LONGEST_REASON,
  matchKeys,
  ruleNames,
  TYPE,
} from "./policySchema";
import type { MatchKey } from "./policySchema";
import type { Finding, Severity } from "./report";

export type { MatchKey } from "./policySchema";

/** One exception: a finding that fits all that it names is let be. */
export interface PolicyEntry {
  /** The id or the name of a rule. */
  readonly rule?: string;
  /** A kind of drift. */
  readonly kind?: (typeof driftKinds)[number];
  /** A kind of resource. */
  readonly type?: string;
  readonly match: Readonly<Partial<Record<MatchKey, string>>>;
  readonly fields?: readonly string[];
  readonly reason: string;
  /** The person who accepted the finding: needed for high and critical findings of drift. */
  readonly acceptedBy?: string;
  /** The last day on which it counts, in UTC: `2027-01-31`. */
  readonly expires?: string;
}

export interface Policy {
  readonly file: string;
  /** Each with the line that it begins on. */
  readonly entries: readonly (PolicyEntry & { readonly line: number })[];
}

/** The policy file is wrong: every mistake on a line of its own. Ends with exit code 2. */
export class PolicyError extends Error {
  override readonly name = "PolicyError";
  readonly code = "USAGE";

  constructor(readonly problems: readonly string[]) {
    super(problems.join("\n"));
    this.stack = "";
  }
}

const LARGEST_FILE = 1_000_000;
const MOST_PROBLEMS = 20;

/** Collects mistakes with their places. */
class Reader {
  readonly problems: string[] = [];
  private readonly lines = new LineCounter();

  constructor(
    private readonly file: string,
    private readonly text: string,
  ) {}

  line(node: Node | null | undefined): number {
    return this.lines.linePos(node?.range?.[0] ?? 0).line;
  }

  say(node: Node | null | undefined, path: string, problem: string): void {
    const where = `${this.file}:${this.line(node)}: `;
    this.problems.push(printable(`${where}${path === "" ? "" : `${path}: `}${problem}`, 600));
  }

  document(): Document.Parsed {
    const { lines: lineCounter } = this;
    const document = parseDocument(this.text, {
      version: "1.2",
      schema: "core",
      lineCounter,
      prettyErrors: false,
    });
    for (const error of [...document.errors, ...document.warnings]) {
      const { line } = lineCounter.linePos(error.pos[0]);
      const message = (error.message.split("\n")[0] ?? "").replace(/\.$/, "");
      this.problems.push(`${this.file}:${line}: ${printable(message)}`);
    }
    if (document.directives.yaml.explicit)
      this.say(document.contents, "", "YAML directives are not used here: remove them");
    visit(document, {
      Node: (_key, node) => {
        if (isAlias(node) || node.anchor !== undefined) {
          this.say(
            node,
            "",
            "anchors and aliases (& and *) are not used here: write the entry out, and quote globs",
          );
        } else if (node.tag !== undefined) {
          this.say(node, "", `YAML tags (${node.tag}) are not used here: remove it`);
        }
      },
    });
    return document;
  }

  /** The members of a map, unknown ones reported. */
  members(node: unknown, path: string, known: readonly string[]): Map<string, Node | null> | undefined {
    if (!isMap(node)) {
      this.say(isNode(node) ? node : undefined, path, `must be a map with the keys ${known.join(", ")}`);
      return undefined;
    }
    const members = new Map<string, Node | null>();
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : "";
      if (!known.includes(name)) {
        const meant = didYouMean(name, known);
        const hint = meant === undefined ? `known are ${known.join(", ")}` : `did you mean "${meant}"?`;
        this.say(isNode(key) ? key : node, path === "" ? name : `${path}.${name}`, `unknown key; ${hint}`);
      } else members.set(name, isNode(value) ? value : null);
    }
    return members;
  }

  textOf(node: Node | null, path: string): string | undefined {
    if (isScalar(node) && typeof node.value === "string") return node.value;
    const isPlain = isScalar(node) && (typeof node.value === "number" || typeof node.value === "boolean");
    const shown = isPlain ? `, in quotes: "${node.source ?? ""}"` : "";
    this.say(node, path, `must be text${shown}`);
    return undefined;
  }

  /** One of some words. */
  word(node: Node | null, path: string, words: readonly string[]): string | undefined {
    const word = this.textOf(node, path);
    if (word === undefined || words.includes(word)) return word;
    const meant = words.find((each) => each.toLowerCase() === word.toLowerCase()) ?? didYouMean(word, words);
    const hint = meant === undefined ? `known are ${words.join(", ")}` : `did you mean "${meant}"?`;
    this.say(node, path, `${JSON.stringify(word)} is not known; ${hint}`);
    return undefined;
  }

  glob(node: Node | null, path: string): string | undefined {
    const glob = this.textOf(node, path);
    const problem = glob === undefined ? undefined : globProblem(glob);
    if (problem !== undefined) this.say(node, path, problem);
    return problem === undefined ? glob : undefined;
  }
}

function readMatch(reader: Reader, node: Node | null, path: string): PolicyEntry["match"] {
  const members = reader.members(node, path, matchKeys);
  if (members?.size === 0) reader.say(node, path, `must name at least one of ${matchKeys.join(", ")}`);
  const match: Partial<Record<MatchKey, string>> = {};
  for (const key of matchKeys) {
    if (members?.has(key) !== true) continue;
    const glob = reader.glob(members.get(key) ?? null, `${path}.${key}`);
    if (glob !== undefined) match[key] = glob;
  }
  return match;
}

function readFields(reader: Reader, node: Node | null, path: string): string[] {
  if (!isSeq(node) || node.items.length === 0) {
    reader.say(node, path, 'must be a list of properties, as in ["claimMatch.*"]');
    return [];
  }
  return node.items.flatMap((item, i) => reader.glob(isNode(item) ? item : null, `${path}[${i}]`) ?? []);
}

function readEntry(
  reader: Reader,
  node: unknown,
  path: string,
): (PolicyEntry & { line: number }) | undefined {
  const members = reader.members(node, path, entryKeys);
  if (members === undefined) return undefined;
  const own = isNode(node) ? node : null;
  const before = reader.problems.length;
  const get = <T>(key: string, read: (value: Node | null, at: string) => T): T | undefined =>
    members.has(key) ? read(members.get(key) ?? null, `${path}.${key}`) : undefined;

  const rule = get("rule", (value, at) => reader.word(value, at, ruleNames));
  const kind = get("kind", (value, at) => reader.word(value, at, driftKinds)) as PolicyEntry["kind"];
  const type = get("type", (value, at) => {
    const text = reader.textOf(value, at);
    if (text === undefined || new RegExp(TYPE).test(text)) return text;
    reader.say(value, at, "must be a kind of resource, as in Identity or RoleBinding");
    return undefined;
  });
  const match = get("match", (value, at) => readMatch(reader, value, at)) ?? {};
  const fields = get("fields", (value, at) => readFields(reader, value, at));
  const reason = get("reason", (value, at) => {
    const text = reader.textOf(value, at);
    if (text === undefined) return undefined;
    if (text.trim() === "") reader.say(value, at, "must say why this is all right");
    if (text.length > LONGEST_REASON) reader.say(value, at, `must have at most ${LONGEST_REASON} characters`);
    return text;
  });
  const acceptedBy = get("acceptedBy", (value, at) => {
    const text = reader.textOf(value, at);
    if (text === undefined) return undefined;
    if (text.trim() === "") reader.say(value, at, "must name the person who accepted the finding");
    if (text.length > LONGEST_PERSON) reader.say(value, at, `must have at most ${LONGEST_PERSON} characters`);
    return text;
  });
  const expires = get("expires", (value, at) => {
    const text = reader.textOf(value, at);
    if (text === undefined || new RegExp(DAY).test(text)) return text;
    reader.say(value, at, `must be a day, as in 2027-01-31, not ${JSON.stringify(text)}`);
    return undefined;
  });

  if (!members.has("match"))
    reader.say(own, path, `match is missing: say which ${matchKeys.join(", ")} is meant`);
  if (!members.has("reason")) reader.say(own, path, "reason is missing: say why this is all right");
  if (!members.has("expires") && rule !== undefined && endingRules.includes(rule)) {
    reader.say(
      own,
      path,
      `expires is missing: findings of ${rule} are high or critical, so an exception must end`,
    );
  }
  const globs = Object.values(match);
  const isDrift = members.has("kind") || rule?.startsWith("drift-") === true;
  if (!isDrift && globs.length > 0 && globs.every(isCatchAll)) {
    reader.say(
      members.get("match") ?? own,
      `${path}.match`,
      "restricts nothing: write a uid, or a part of a name beside the wildcards",
    );
  }
  if (reader.problems.length > before || reason === undefined) return undefined;
  return {
    ...(rule === undefined ? {} : { rule }),
    ...(kind === undefined ? {} : { kind }),
    ...(type === undefined ? {} : { type }),
    match,
    ...(fields === undefined ? {} : { fields }),
    reason,
    ...(acceptedBy === undefined ? {} : { acceptedBy }),
    ...(expires === undefined ? {} : { expires }),
    line: reader.line(own),
  };
}

function read(text: string, file: string): { policy: Policy; document: Document.Parsed } {
  if (text.length > LARGEST_FILE)
    throw new PolicyError([`${file}: is larger than ${LARGEST_FILE} characters`]);
  const reader = new Reader(file, text);
  const entries: (PolicyEntry & { line: number })[] = [];
  let document: Document.Parsed;
  try {
    document = reader.document();
  } catch {
    throw new PolicyError([`${file}: is nested too deeply to be read`]);
  }
  if (reader.problems.length === 0) {
    const members = reader.members(document.contents, "", ["allow"]);
    const allow = members?.get("allow");
    if (isSeq(allow)) {
      for (const [i, item] of allow.items.entries()) {
        const entry = readEntry(reader, item, `allow[${i}]`);
        if (entry) entries.push(entry);
      }
    } else if (members !== undefined) {
      reader.say(
        allow ?? document.contents,
        "allow",
        "must be a list of exceptions; write allow: [] for none",
      );
    }
  }
  const { problems } = reader;
  if (problems.length > MOST_PROBLEMS) {
    problems.splice(MOST_PROBLEMS, Infinity, `${file}: and ${problems.length - MOST_PROBLEMS} more mistakes`);
  }
  if (problems.length > 0) throw new PolicyError(problems);
  return { policy: { file, entries }, document };
}

/**
 * Reads the policy file, strictly: YAML 1.2 without anchors, aliases and tags, no unknown key.
 * @param fileName For messages: each names the line and the path of what is wrong.
 * @throws PolicyError with all mistakes; its `code` is "USAGE".
 */
export function parsePolicy(text: string, fileName: string): Policy {
  return read(text.replace(/^\ufeff/, ""), printable(fileName)).policy;
}

function isFieldMeant(fields: readonly string[], { field, drift }: Finding): boolean {
  const properties = drift?.paths ?? (field === undefined ? [] : [field]);
  return (
    properties.length > 0 &&
    properties.every((property) => fields.some((glob) => globMatches(glob, property)))
  );
}

/**
 * Whether a finding is one that an entry means, whatever its date.
 * @param texts What the entry may match: all that the finding says, if not given.
 */
export function isMeant(
  entry: PolicyEntry,
  finding: Finding,
  texts: MatchTexts = statedTexts(finding),
): boolean {
  if (entry.rule !== undefined && entry.rule !== finding.id && entry.rule !== finding.rule) return false;
  if (entry.kind !== undefined && entry.kind !== finding.drift?.kind) return false;
  if (entry.type !== undefined && entry.type !== finding.kind) return false;
  for (const key of matchKeys) {
    const glob = entry.match[key];
    if (glob === undefined) continue;
    if (!texts[key].some((text) => text !== undefined && globMatches(glob, text))) return false;
  }
  return entry.fields === undefined || isFieldMeant(entry.fields, finding);
}

const DAY_MS = 86_400_000;
const LOUD: readonly Severity[] = ["critical", "high"];

/** What became of findings. No finding is ever dropped: each is in one of the two lists. */
export interface Applied {
  readonly findings: readonly Finding[];
  readonly suppressed: readonly Finding[];
  /** Entries that let nothing be, a line each. */
  readonly unused: readonly string[];
  /** Entries whose day is over, a line each, with the findings that are back. */
  readonly expired: readonly string[];
}

const isOfDrift = ({ rule, kind }: PolicyEntry): boolean =>
  kind !== undefined || rule?.startsWith("drift-") === true;

function named(findings: readonly Finding[]): string {
  const ids = [...new Set(findings.map(({ id }) => id))];
  return `${findings.length === 1 ? "1 finding" : `${findings.length} findings`} (${ids.slice(0, 6).join(", ")})`;
}

/** What became of one entry. */
interface Use {
  used: boolean;
  /** Findings that it would let be, were it not over, or had it an end. */
  readonly returned: Finding[];
  readonly endless: Finding[];
  /** Findings of drift that it would suppress, if it named a person. */
  readonly anonymous: Finding[];
  /** Findings that it fits by words alone: of what the change makes, or of what nothing but the program names. */
  readonly made: Finding[];
  readonly unverified: Finding[];
}

function isOver({ expires }: PolicyEntry, now: number): boolean {
  return expires !== undefined && !(now < Date.parse(`${expires}T00:00:00Z`) + DAY_MS);
}

/** What there is to say of an entry that is not over. */
function* notesOn(use: Use, isUnused: boolean): Generator<string> {
  const { used, endless, anonymous, made, unverified } = use;
  if (endless.length > 0) {
    yield `has no expires, so it does not let ${named(endless)} be, high or critical: add expires`;
  }
  if (anonymous.length > 0) {
    yield `has no acceptedBy, so it does not suppress ${named(anonymous)} of drift, high or critical: name the person who accepted it`;
  }
  if (made.length > 0) {
    yield `matches only things made, renamed or moved in this change: ${named(made)} not let be: name what exists before it, best by uid`;
  }
  if (unverified.length > 0) {
    yield `matches names that only the program states: ${named(unverified)} not let be: give --inventory or --before, or name a uid`;
  }
  if (isUnused && !used && endless.length + anonymous.length + made.length + unverified.length === 0) {
    yield "lets nothing be: remove it, or correct what it names";
  }
}

function expiredNote({ expires = "" }: PolicyEntry, { returned }: Use): string {
  const what =
    returned.length > 0
      ? `${named(returned)} back: renew it or fix them`
      : "it means nothing any more: remove it";
  return `expired on ${expires}; ${what}`;
}

type Entry = Policy["entries"][number];

/** Finds the entries that may mean a finding, without trying each entry on each finding. */
class EntryIndex {
  /** Entries by the one uid that they match. */
  private readonly byUid = new Map<string, Entry[]>();
  private readonly others: Entry[] = [];

  constructor(entries: readonly Entry[]) {
    for (const entry of entries) {
      const { uid } = entry.match;
      if (uid === undefined || /[*?\\]/.test(uid)) {
        this.others.push(entry);
        continue;
      }
      const known = this.byUid.get(uid);
      if (known) known.push(entry);
      else this.byUid.set(uid, [entry]);
    }
  }

  /** In the order of the file. */
  candidates(finding: Finding): Entry[] {
    const uids = new Set(statedTexts(finding).uid);
    const exact = [...uids].flatMap((uid) => this.byUid.get(uid ?? "") ?? []);
    return [...exact, ...this.others].sort((a, b) => a.line - b.line);
  }
}

/** Applies the entries of a policy, and keeps what became of each. */
class Suppressor {
  private readonly texts: TextsBefore;
  private readonly uses = new Map<Entry, Use>();
  private readonly index: EntryIndex;

  constructor(
    private readonly policy: Policy,
    private readonly now: number,
    comparison: Comparison | undefined,
    /** High and critical findings need an entry that names a person. */
    private readonly needsPerson: boolean,
  ) {
    this.texts = new TextsBefore(comparison);
    this.index = new EntryIndex(policy.entries);
    for (const entry of policy.entries) {
      this.uses.set(entry, {
        ...{ used: false, returned: [], endless: [], anonymous: [], made: [], unverified: [] },
      });
    }
  }

  /** The entry that lets a finding be. */
  entryFor(finding: Finding): PolicyEntry | undefined {
    const texts = this.texts.of(finding);
    const fitting = this.index
      .candidates(finding)
      .filter((entry) => isMeant(entry, finding))
      .flatMap((entry): [Entry, Use][] => {
        const use = this.uses.get(entry);
        return use === undefined ? [] : [[entry, use]];
      });
    const isLoud = LOUD.includes(finding.severity);
    const allows = ([entry]: readonly [PolicyEntry, Use]): boolean =>
      isMeant(entry, finding, texts) &&
      !isOver(entry, this.now) &&
      (entry.expires !== undefined || !isLoud) &&
      (entry.acceptedBy !== undefined || !isLoud || !this.needsPerson);
    const found = fitting.find(allows);
    if (found !== undefined) {
      found[1].used = true;
      return found[0];
    }
    for (const [entry, use] of fitting) this.listFor(entry, use, finding, texts).push(finding);
    return undefined;
  }

  private listFor(entry: PolicyEntry, use: Use, finding: Finding, texts: MatchTexts): Finding[] {
    if (isMeant(entry, finding, texts)) {
      if (isOver(entry, this.now)) return use.returned;
      return entry.expires === undefined ? use.endless : use.anonymous;
    }
    return this.texts.isUnverified(finding) ? use.unverified : use.made;
  }

  notes(isUnused: (entry: PolicyEntry) => boolean): { unused: string[]; expired: string[] } {
    const [unused, expired]: [string[], string[]] = [[], []];
    for (const [entry, use] of this.uses) {
      const where = `${this.policy.file}:${entry.line}: `;
      if (isOver(entry, this.now)) expired.push(printable(where + expiredNote(entry, use)));
      else for (const note of notesOn(use, isUnused(entry))) unused.push(printable(where + note));
    }
    return { unused, expired };
  }
}

/**
 * Lets be what the policy allows: findings of a review by uids, and by the names that things had before the change.
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
): Applied {
  const suppressor = new Suppressor(policy, now, comparison, command === "drift");
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

/** The uids that say which grant of a resource is meant, since one resource may make many. */
function uidsOf(grant: Finding["grant"]): Partial<Record<MatchKey, string | undefined>> {
  if (grant === undefined) return {};
  const { subject, role, group } = grant;
  return { subject: subject.uid, role: role.uid, group: group.uid };
}

/**
 * An entry that lets this finding be, and as little else as can be said.
 * @param expires The last day on which it counts: `2027-01-31`.
 * @returns undefined where no glob matches it: that is for a person to write.
 */
export function policyEntryFor(finding: Finding, reason: string, expires: string): PolicyEntry | undefined {
  const { id, uid, name, kind, grant, group, drift, field } = finding;
  const texts: Partial<Record<MatchKey, string | undefined>> =
    uid !== undefined
      ? { uid, ...uidsOf(grant) }
      : grant !== undefined
        ? {
            subject: grant.subject.displayName,
            role: grant.role.name ?? grant.role.uid,
            group: grant.group.path,
          }
        : { name, group: group?.path };
  const match: Partial<Record<MatchKey, string>> = {};
  for (const key of matchKeys) {
    const text = texts[key];
    if (text !== undefined && text !== "") match[key] = globOf(text);
  }
  if (Object.keys(match).length === 0) return undefined;
  const properties = drift?.paths ?? (field === undefined ? [] : [field]);
  const entry: PolicyEntry = {
    ...(drift ? { kind: drift.kind } : { rule: id }),
    ...(kind === undefined ? {} : { type: kind }),
    match,
    ...(properties.length > 0 ? { fields: properties.map(globOf) } : {}),
    reason,
    expires,
  };
  return isMeant(entry, finding) ? entry : undefined;
}

/** What the file says of an entry. */
function membersOf({
  rule,
  kind,
  type,
  match,
  fields,
  reason,
  acceptedBy,
  expires,
}: PolicyEntry): Record<string, unknown> {
  const members = Object.entries({ rule, kind, type, match, fields, reason, acceptedBy, expires });
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}

/** An entry as it stands below `allow:` in the file. */
export function entryText(entry: PolicyEntry): string {
  // Indented by the printer: a value of several lines may begin with blanks of its own.
  const text = stringify({ allow: [membersOf(entry)] }, { version: "1.2", schema: "core", lineWidth: 0 });
  return text.replace(/^allow:\n/, "").replace(/\n$/, "");
}

const HEADER = ` Exceptions from the access review: pulumi-platform explain
 yaml-language-server: $schema=./node_modules/pulumi-platform/schema/access-policy.schema.json`;

/**
 * The text of a policy file with further entries at its end; comments stay.
 * @param text The file as it is; undefined for a new one.
 * @param comments Blocks of lines that follow as comments.
 * @throws PolicyError where the file as it is is wrong.
 */
export function appendEntries(
  text: string | undefined,
  entries: readonly PolicyEntry[],
  fileName = "access-policy.yaml",
  comments: readonly string[] = [],
): string {
  const { document } = read(text ?? "allow: []\n", fileName);
  if (text === undefined) document.commentBefore = HEADER;
  const allow = document.get("allow");
  if (!isSeq(allow)) throw new PolicyError([`${fileName}: allow must be a list`]);
  for (const entry of entries) {
    allow.flow = false;
    allow.add(document.createNode(membersOf(entry)));
  }
  const blocks = comments.map((block) => `${block.replace(/^ {0,2}/gm, "  # ")}\n`);
  const written = [document.toString({ lineWidth: 0 }), ...blocks].join("");
  parsePolicy(written, fileName);
  return written;
}
