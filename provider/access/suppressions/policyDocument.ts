import type { differenceKinds } from "../review/finding";
import type { Assertions, ForbiddenAccess, RequiredAccess, SeparatedDuties } from "../assertions/assertion";
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
   * @pattern \S
   * @errorMessage must say why the finding is accepted
   */
  readonly reason: string;
  /**
   * The person who accepted the finding. Needed for findings of drift that are high or critical.
   * @maxLength 200
   * @pattern \S
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
   * @pattern \S
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
   * @errorMessage must be a host or a list of them, as in ["*.acme.example"]
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
