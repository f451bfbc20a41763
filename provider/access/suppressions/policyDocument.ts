import { LineCounter, Parser, isAlias, isMap, isNode, isScalar, isSeq, parseDocument, visit } from "yaml";
import type { CST, Document, Node } from "yaml";
import { CodedError } from "../../errors/codedError";
import { printable } from "../../text/printable";
import type {
  Assertions,
  ForbiddenAccess,
  RequiredAccess,
  SeparatedDuties,
  Written,
} from "../assertions/assertion";
import { MOST_LEVELS, propertyPath, schemaProblems, withLists } from "../documents/jsonText";
import type { SchemaProblem } from "../documents/jsonText";
import type { differenceKinds } from "../review/finding";
import { globProblems } from "../rules/ruleOptions";
import type { RuleOptions } from "../rules/ruleOptions";
import { unknownCapability } from "../rules/capabilityEffects";
import type { Glob } from "../trust/glob";

/**
 * The policy file. `npm run docs` writes `schema/access-policy.schema.json` from these types and `scripts/lib/policySchema.cjs`: tags
 * such as `@pattern` are copied, and `@errorMessage` is the message about a value that does not match.
 */

/** The commands whose findings an entry can suppress. */
export const policyCommands = ["review", "drift"] as const;

export type PolicyCommand = (typeof policyCommands)[number];

/** What `match` can name. */
export const matchKeys = ["uid", "name", "subject", "issuer", "role", "group"] as const;

export type MatchKey = (typeof matchKeys)[number];

/** A suppression: it suppresses each finding that matches all of its conditions. */
export interface PolicyEntry {
  /** A rule, by its id or name: see pulumi-platform explain. One of your own by its id. */
  readonly rule?: string;
  /** A kind of drift. */
  readonly kind?: (typeof differenceKinds)[number];
  /**
   * A kind of resource: Identity, RoleBinding, …
   * @pattern ^[A-Z][A-Za-z]{1,63}$
   * @errorMessage must be a kind of resource, as in Identity or RoleBinding
   */
  readonly type?: string;
  /**
   * What the finding is about, by uid, or by names, paths and trust that it had before the change and still has.
   * An asterisk stands for any characters, a question mark for one. An entry with a fingerprint needs none.
   * @minProperties 1
   * @errorMessage must name at least one of uid, name, subject, issuer, role, group
   */
  readonly match?: Readonly<Partial<Record<MatchKey, Glob>>>;
  /**
   * Properties that the finding may be about; all of them if not given. An entry for the rules R2 and S1 needs these or a
   * fingerprint: what they report of one object is unlike.
   * @minItems 1
   * @errorMessage must be a property or a list of them, as in ["claimMatch.*"]
   */
  readonly fields?: readonly Glob[];
  /**
   * The fingerprint of the finding, as reports show it. It changes with the value that was found, so the entry suppresses
   * no later value. An entry without it suppresses no finding that is high or critical, with a uid in match neither. Needed for
   * a rule whose findings are all high or critical, unless match has a uid.
   * @pattern ^[0-9a-f]{32}$
   * @errorMessage must be the fingerprint of a finding: 32 hex digits, as reports show it
   */
  readonly fingerprint?: string;
  /**
   * The commands whose findings it suppresses: review, drift or both. If not given, both; an entry with kind, or with a
   * rule drift-*, is for drift.
   * @minItems 1
   * @errorMessage must be review, drift or a list of them
   */
  readonly for?: readonly (typeof policyCommands)[number][];
  /**
   * Why the finding is accepted: for whoever reads the review.
   * @maxLength 1000
   * @pattern [\p{L}\p{N}]
   * @errorMessage must say why the finding is accepted
   */
  readonly reason: string;
  /**
   * The person who accepted the finding. Needed for findings of drift that are high or critical.
   * @maxLength 200
   * @pattern [\p{L}\p{N}]
   * @errorMessage must name the person who accepted the finding
   */
  readonly acceptedBy?: string;
  /**
   * The last day on which it applies, in UTC, as in 2027-01-31. Needed for findings that are high or critical.
   * @pattern ^20\d\d-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))$|^20(?:[02468][048]|[13579][26])-02-29$
   * @errorMessage must be a day, as in 2027-01-31
   */
  readonly expires?: string;
}

/** A type of another package that this organisation has judged: its resources give no access. */
export interface JudgedType {
  /**
   * The exact type token, as in aws:s3/bucket:Bucket, or pulumi:providers:aws for the provider itself.
   * @maxLength 200
   * @pattern ^(?!command:|pulumi-[a-z]+:)(?:pulumi:providers:[a-zA-Z][\w-]*|[a-zA-Z][\w-]*:[\w./-]+:\w+)$
   * @errorMessage must be the exact type token of a resource of another package, as in aws:s3/bucket:Bucket; what runs code of the program is accepted one by one, below allow
   */
  readonly type: string;
  /**
   * The exact version of its package, as in 6.83.0.
   * @maxLength 100
   * @pattern ^\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$
   * @errorMessage must be an exact version, as in "6.83.0"
   */
  readonly version: string;
  /**
   * Why its resources give no access: for whoever reads the review.
   * @maxLength 1000
   * @pattern [\p{L}\p{N}]
   * @errorMessage must say why its resources give no access
   */
  readonly reason: string;
  /**
   * The last day on which it applies, in UTC, as in 2027-01-31.
   * @pattern ^20\d\d-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))$|^20(?:[02468][048]|[13579][26])-02-29$
   * @errorMessage must be a day, as in 2027-01-31
   */
  readonly expires?: string;
}

/** Limits in the place of flags: a flag that is given wins. */
export interface PolicySettings {
  /**
   * As --fail-on of a review.
   * @errorMessage must be critical, high, medium, low or never
   */
  readonly failOn?: "critical" | "high" | "medium" | "low" | "never";
  /**
   * As --strict.
   * @errorMessage must be true or false
   */
  readonly strict?: boolean;
  /**
   * As --min-owners.
   * @asType integer
   * @minimum 0
   * @maximum 10000
   * @errorMessage must be a whole number
   */
  readonly minOwners?: number;
  /**
   * As --required-owner.
   * @errorMessage must be an owner or a list of them, by uid or name
   */
  readonly requiredOwners?: readonly Glob[];
  /**
   * As --max-removal.
   * @pattern ^(?:100|\d{1,2})(?:\.\d+)?%$
   * @errorMessage must be a percentage, as in 25%
   */
  readonly maxRemoval?: string;
  /**
   * As --issuer-allow.
   * @errorMessage must be an issuer or a list of them, as in ["https://*.acme.example"]
   */
  readonly issuerAllow?: readonly string[];
  /**
   * As --sink-allow.
   * @errorMessage must be a host, an https address or a list of them, as in ["*.acme.example"]
   */
  readonly sinkAllow?: readonly string[];
  /**
   * As --self: the uid of the identity that the pipeline runs as.
   * @pattern ^[0-9a-f]{40}(?:/[0-9a-f]{16})*$
   * @errorMessage must be a uid
   */
  readonly selfIdentity?: string;
}

export interface PolicyDocument {
  /**
   * Access that nobody may have.
   * @errorMessage must be a list of assertions, each with name, on, and can or role
   */
  readonly forbid?: readonly ForbiddenAccess[];
  /**
   * Access that some must have.
   * @errorMessage must be a list of assertions, each with name, on, can or role, and atLeast or atMost
   */
  readonly require?: readonly RequiredAccess[];
  /**
   * Duties of which nobody may have one of each.
   * @errorMessage must be a list of assertions, each with name, on and duties
   */
  readonly separate?: readonly SeparatedDuties[];
  /**
   * The file of the rules of your own, relative to this one.
   * @maxLength 500
   * @pattern ^(?!/)[^\\:]+\.[cm]?[jt]s$
   * @errorMessage must be the path of a JavaScript file, relative to this one
   */
  readonly rules?: string;
  readonly settings?: PolicySettings;
  /**
   * Types of resources of other packages that rule X4 does not report.
   * @errorMessage must be a list of types, each with type, version and reason
   */
  readonly types?: readonly JudgedType[];
  /**
   * Findings that are suppressed.
   * @errorMessage must be a list of suppressions; write allow: [] for none
   */
  readonly allow?: readonly PolicyEntry[];
}

/** An entry, with the line that it begins on. */
export type WrittenEntry = PolicyEntry & { readonly line: number };

/** A policy file that was read. */
export interface Policy {
  readonly file: string;
  readonly assertions: Assertions;
  /** The file of the rules of one's own, relative to this one. */
  readonly rules?: string;
  /** The line that names it. */
  readonly rulesLine?: number;
  readonly settings: PolicySettings;
  readonly entries: readonly WrittenEntry[];
  /** Types of other packages that were judged, each with its line. */
  readonly types: readonly (JudgedType & { readonly line: number })[];
}

/** The keys and values directly inside of a token of YAML. */
function childrenOf(token: CST.Token): (CST.Token | null | undefined)[] {
  if (token.type === "document") return [token.value];
  return "items" in token ? token.items.flatMap(({ key, value }) => [key, value]) : [];
}

/** Whether a text has more than MOST_LEVELS levels: the parser of documents calls itself for each. */
function isYamlTooDeep(text: string): boolean {
  const open = Array.from(new Parser().parse(text), (token) => ({ token, level: 0 }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const level = next.level + 1;
    for (const token of childrenOf(next.token)) {
      if (!token) continue;
      if (level > MOST_LEVELS) return true;
      open.push({ token, level });
    }
  }
  return false;
}

/** The line of a list that is written as empty above an error, where an entry follows it. */
function lineOfFilledList(text: string, error: number): number | undefined {
  const lines = text.split("\n");
  const list = lines.slice(0, error).findLastIndex((line) => /^[a-z]+: *\[\]/.test(line));
  const next = lines.slice(list + 1).find((line) => !/^\s*(?:#|$)/.test(line)) ?? "";
  return list >= 0 && /^ *- /.test(next) ? list + 1 : undefined;
}

/** A YAML document, what is wrong with it, and where its values stand. */
class YamlText {
  /** A line each, with the place. */
  readonly problems: string[] = [];
  readonly document: Document.Parsed;
  private readonly lines = new LineCounter();

  /** @param file how messages call it. */
  constructor(
    private readonly file: string,
    text: string,
  ) {
    const options = { version: "1.2", schema: "core", prettyErrors: false, logLevel: "error" } as const;
    this.document = parseDocument(text, { ...options, lineCounter: this.lines });
    // What the parser says after its first error follows from it.
    for (const error of [...this.document.errors.slice(0, 1), ...this.document.warnings]) {
      const { line } = this.lines.linePos(error.pos[0]);
      const list = lineOfFilledList(text, line);
      if (list === undefined) {
        // What follows the colon quotes the file, which may be none of ours.
        const said = (error.message.split(/\n|: /, 1)[0] ?? "").replace(/\.$/, "");
        this.report(
          line,
          `${said}: check the indentation, the hyphens and the colons here and in the line above`,
        );
      } else this.report(list, "take the [] out of this line: entries follow it");
    }
    this.refuseExtensions();
  }

  /** The node at a path, and its line; if it is missing or unknown, the nearest one that contains or names it. */
  placeOf(keys: readonly string[]): { readonly node: Node | undefined; readonly line: number } {
    let node: Node | null = this.document.contents;
    // A list or an object begins on the line below its name.
    let named: Node | null = node;
    for (const key of keys) {
      if (isMap(node)) {
        const pair = node.items.find(({ key: name }) => isScalar(name) && String(name.value) === key);
        if (pair === undefined) break;
        named = isNode(pair.key) ? pair.key : node;
        node = isNode(pair.value) ? pair.value : named;
      } else if (isSeq(node)) {
        const item = node.items[Number(key)];
        if (isNode(item)) named = node = item;
      }
    }
    return { node: node ?? undefined, line: this.lineOf(named) };
  }

  private lineOf(node: Node | null): number {
    return this.lines.linePos(node?.range?.[0] ?? 0).line;
  }

  private report(line: number, problem: string): void {
    this.problems.push(printable(`${this.file}:${line}: ${problem}`, 600));
  }

  /** Anchors, tags and directives are refused, because with them a file can mean something else than a reader sees. */
  private refuseExtensions(): void {
    const { contents, directives } = this.document;
    if (directives.yaml.explicit) {
      this.report(this.lineOf(contents), "YAML directives are not used here: remove them");
    }
    visit(this.document, {
      Node: (_key, node) => {
        if (isAlias(node) || node.anchor !== undefined) {
          const advice = "write the entry out, and quote globs";
          this.report(this.lineOf(node), `anchors and aliases (& and *) are not used here: ${advice}`);
        } else if (node.tag !== undefined) {
          this.report(this.lineOf(node), `YAML tags are not used here: remove it`);
        }
      },
    });
  }
}

/** The policy file is wrong: every mistake on a line of its own. Ends with exit code 2. */
export class PolicyError extends CodedError {
  override readonly name = "PolicyError";
  readonly code = "USAGE";

  constructor(readonly problems: readonly string[]) {
    super("PP6101", problems.join("\n"));
    this.stack = "";
  }
}

const LARGEST_FILE = 1_000_000;
const MOST_PROBLEMS = 20;
const MOST_OPEN_ENTRIES = 1_000;
const ENTRIES = "write the entries as a list below allow";

/** The string as the file has it: YAML reads `2027` and `yes` as a number and a boolean. */
function quotedSource(node: unknown): string {
  const isPlain = isScalar(node) && (typeof node.value === "number" || typeof node.value === "boolean");
  return isPlain ? `, in quotes: "${node.source ?? String(node.value)}"` : "";
}

function describe(yaml: YamlText, file: string, { keys, keyword, requirement }: SchemaProblem): string {
  const { node, line } = yaml.placeOf(keys);
  const advice = keyword === "type" && requirement === "must be a string" ? quotedSource(node) : "";
  const path = propertyPath(keys) || "the policy";
  return printable(`${file}:${line}: ${path} ${requirement}${advice}`, 600);
}

/** The patterns of capabilities that match none: the assertion would never find anything. */
function capabilityProblems({ forbid = [], require = [], separate = [] }: PolicyDocument): SchemaProblem[] {
  const lists = [
    ...Object.entries({ forbid, require }).flatMap(([list, assertions]) =>
      assertions.map(({ can = [] }, i) => ({ keys: [list, String(i), "can"], can })),
    ),
    ...separate.flatMap(({ duties }, i) =>
      duties.map((can, duty) => ({ keys: ["separate", String(i), "duties", String(duty)], can })),
    ),
  ];
  return lists.flatMap(({ keys, can }) =>
    can.flatMap((pattern, i) => {
      const problem = unknownCapability(pattern);
      if (problem === undefined) return [];
      const requirement = `${printable(JSON.stringify(pattern), 80)} ${problem}`;
      return [{ keys: [...keys, String(i)], keyword: "capability", requirement }];
    }),
  );
}

/** The issuers and hosts that match less than they say. */
function settingProblems({ settings = {} }: PolicyDocument): SchemaProblem[] {
  return (["issuerAllow", "sinkAllow"] as const).flatMap((name) => {
    const requirement = globProblems[name](settings[name] ?? []);
    return requirement === undefined ? [] : [{ keys: ["settings", name], keyword: "glob", requirement }];
  });
}

/** What a policy says of the rules beside its exceptions. */
export function limitsOf({ settings, assertions }: Policy): Partial<RuleOptions> {
  const { requiredOwners, maxRemoval, selfIdentity, strict, minOwners, issuerAllow, sinkAllow } = settings;
  return {
    assertions,
    ...(strict !== undefined && { strict }),
    ...(minOwners !== undefined && { minOwners }),
    ...(issuerAllow && { issuerAllow }),
    ...(sinkAllow && { sinkAllow }),
    ...(requiredOwners && { requiredOwner: requiredOwners }),
    ...(maxRemoval !== undefined && { maxRemoval: Number(maxRemoval.replace("%", "")) / 100 }),
    ...(selfIdentity !== undefined && { self: selfIdentity }),
  };
}

function refuseLong(problems: readonly unknown[], file: string, lines: readonly string[]): never {
  const more = problems.length - MOST_PROBLEMS;
  throw new PolicyError(more > 0 ? [...lines, `${file}: and ${more} more mistakes`] : lines);
}

function parse(text: string, file: string): { yaml: YamlText; value: unknown } {
  if (text.length > LARGEST_FILE) {
    throw new PolicyError([`${file}: is larger than ${LARGEST_FILE} characters`]);
  }
  if (isYamlTooDeep(text)) {
    throw new PolicyError([`${file}: is nested more than ${MOST_LEVELS} levels deep; ${ENTRIES}`]);
  }
  const yaml = new YamlText(file, text);
  return { yaml, value: yaml.problems.length > 0 ? undefined : yaml.document.toJS() };
}

/** The fingerprint or the uid without which an entry matches nothing; undefined of one that is open to many findings. */
export function exactKeyOf({ fingerprint, match }: PolicyEntry): string | undefined {
  if (fingerprint !== undefined) return fingerprint;
  return match?.uid === undefined || /[*?\\]/.test(match.uid) ? undefined : match.uid;
}

/** The policy of a text, and its document, to which entries can be added. */
export function readPolicy(text: string, file: string): { policy: Policy; document: Document.Parsed } {
  const { yaml, value } = parse(text, file);
  if (yaml.problems.length > 0) refuseLong(yaml.problems, file, yaml.problems.slice(0, MOST_PROBLEMS));
  const ofSchema = schemaProblems("access-policy", value);
  const written = ofSchema.length > 0 ? {} : (withLists(value) as PolicyDocument);
  const problems =
    ofSchema.length > 0 ? ofSchema : [...capabilityProblems(written), ...settingProblems(written)];
  if (problems.length > 0) {
    // What is written and wrong comes first: what is missing often follows from it.
    const placed = problems.map((problem) => ({
      problem,
      isMissing: problem.requirement.startsWith("is missing"),
      line: yaml.placeOf(problem.keys).line,
    }));
    const first = placed
      .sort((a, b) => Number(a.isMissing) - Number(b.isMissing) || a.line - b.line)
      .slice(0, MOST_PROBLEMS);
    refuseLong(
      problems,
      file,
      first.map(({ problem }) => describe(yaml, file, problem)),
    );
  }
  const { allow = [], types = [], settings = {}, rules, ...assertions } = written;
  const open = allow.filter((entry) => exactKeyOf(entry) === undefined).length;
  if (open > MOST_OPEN_ENTRIES) {
    const why = "each is compared with each finding; name a uid or a fingerprint in the others";
    throw new PolicyError([
      `${file}: ${open} entries have neither a fingerprint nor a whole uid, and at most ${MOST_OPEN_ENTRIES} may have: ${why}`,
    ]);
  }
  const lineOf = (list: keyof PolicyDocument, i: number): number => yaml.placeOf([list, String(i)]).line;
  const placed = <T>(list: "forbid" | "require" | "separate", each: readonly T[] = []): Written<T>[] =>
    each.map((assertion, i) => ({ ...assertion, place: `${file}:${lineOf(list, i)}` }));
  const policy: Policy = {
    file,
    assertions: {
      forbid: placed("forbid", assertions.forbid),
      require: placed("require", assertions.require),
      separate: placed("separate", assertions.separate),
    },
    ...(rules === undefined ? {} : { rules, rulesLine: yaml.placeOf(["rules"]).line }),
    settings,
    entries: allow.map((entry, i) => ({ ...entry, line: lineOf("allow", i) })),
    types: types.map((type, i) => ({ ...type, line: lineOf("types", i) })),
  };
  return { policy, document: yaml.document };
}

/**
 * Reads the policy file, strictly: YAML 1.2 without anchors, aliases and tags, of the form that
 * `schema/access-policy.schema.json` describes.
 *
 * @param fileName For messages: each names the line and the path of what is wrong.
 * @throws PolicyError with all mistakes; its `code` is "USAGE".
 */
export function parsePolicy(text: string, fileName = "the policy"): Policy {
  const file = printable(fileName);
  // A program in JavaScript may hand over what it has read as bytes.
  if (typeof (text as unknown) !== "string")
    throw new PolicyError([`${file}: is no text: give it as a string`]);
  return readPolicy(text.replace(/^\ufeff/, ""), file).policy;
}
