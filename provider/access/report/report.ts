import { sortedJson } from "../../fields/formats";
import type { Props } from "../../fields/values";
import { printable } from "../../text/printable";
import { sha256 } from "../documents/digest";
import type { SourceLocation } from "../documents/engineState";
import { DocumentError, parseJson, documentProblem } from "../documents/jsonText";
import type { FieldEffect } from "../effects";
import type { GrantChange, GroupNode } from "../graph/grant";
import type { Candidates } from "../graph/model";
import type { Finding, DriftDirection, DifferenceKind, Severity } from "../review/finding";

/**
 * What a review, a drift run and a verification have found: the one form that every output is made from. Plain
 * JSON, sorted; the time of the run is in `provenance` alone, so that the same input gives the same bytes.
 *
 * `npm run docs` makes `schema/report.schema.json` of these types: tags such as `@minimum` go into it. Within a
 * schema version members are only added; what takes one away or changes its meaning raises `schemaVersion`.
 */

/** The version of the form of reports. */
export const SCHEMA_VERSION = 2;

/**
 * A number of things.
 * @asType integer
 * @minimum 0
 */
export type Count = number;

/**
 * SHA-256, hex.
 * @pattern ^[0-9a-f]{64}$
 */
export type Sha256 = string;

/** RFC 3339. */
export type Timestamp = string;

/** A change of what existing grants mean: of a role's capabilities, of who an identity is. */
export interface TrustChange {
  readonly kind: string;
  readonly name: string;
  readonly urn?: string;
  readonly uid?: string;
  readonly location?: SourceLocation;
  readonly fields: readonly FieldChange[];
  /** How many grants it touches. */
  readonly grants: Count;
}

export interface FieldChange {
  /** The property's path: `claimMatch.subjectPattern`. */
  readonly path: string;
  /** As text for people, shortened; a secret is "[secret]"; undefined is "not set". */
  readonly before?: string;
  readonly after?: string;
  /** Of a set, such as capabilities: the members that it gains, 20 of them at most. */
  readonly added?: readonly string[];
  /** Of a set, such as capabilities: the members that it loses, 20 of them at most. */
  readonly removed?: readonly string[];
}

/** What a report says of a property that differs. */
export function toFieldChange({ path, before, after, added, removed }: FieldEffect): FieldChange {
  return { path, before, after, added, removed };
}

/** Where a report comes from, as far as flags, documents and the CI's environment tell. */
export interface Provenance {
  /**
   * The commit that was looked at.
   * @pattern ^[0-9a-f]{7,64}$
   */
  readonly commit?: string;
  /**
   * The number of the pull request or merge request.
   * @pattern ^[0-9]{1,12}$
   */
  readonly pullRequest?: string;
  /** RFC 3339: when the report was written. */
  readonly time: Timestamp;
  /** The version of the Pulumi CLI that wrote the plan, or the state where there is no plan: `v3.230.0`. */
  readonly cli?: string;
  /** The version of this package. */
  readonly package: string;
  /** RFC 3339: when the inventory was taken. */
  readonly inventoryTime?: Timestamp;
  /** How old the inventory was at `time`. */
  readonly inventoryAgeSeconds?: Count;
}

/** One resource as a review expects it after the change. */
export interface ExpectedEntity {
  /** Stable within the report; references of other entities hold it. */
  readonly key: string;
  readonly kind: string;
  /** Absent where the change creates or replaces it. */
  readonly uid?: string;
  readonly urn?: string;
  readonly name?: string;
  readonly builtIn?: true;
  /** The arguments whose changes matter, without secrets; keys of issuers stand as their SHA-256. */
  readonly inputs: Props;
  /** What the references that the review could not read can name. */
  readonly candidates?: readonly Candidates[];
  /** What the server has set of an object that the change leaves as it is: an end, a version. */
  readonly outputs?: Props;
  /** Of an object before the change: the arguments that the change sets to something else, harmless ones too. */
  readonly changes?: readonly string[];
}

/** What a program declares of a resource. */
export interface DeclaredResource {
  readonly urn: string;
  readonly kind: string;
  /** The arguments whose changes matter, as in `ExpectedEntity`, those too that the server does not return. */
  readonly inputs: Props;
  /** As in `ExpectedEntity`. */
  readonly candidates?: readonly Candidates[];
}

/** Changes of one kind that concern no access. */
export interface UnrelatedChanges {
  readonly kind: string;
  readonly op: string;
  readonly count: Count;
  /** The names of the first three. */
  readonly names?: readonly string[];
}

/** What a resource of the program does not take over from it. */
export interface IgnoredChanges {
  readonly urn: string;
  /** As `ignoreChanges` names them. */
  readonly paths: readonly string[];
}

/** All that a review expects to exist after the change and that may matter: `verify` compares with it. */
export interface ExpectedAccess {
  /** The uid of the group that the inventory was about: nothing outside of it is verified. */
  readonly root: string;
  /** RFC 3339: when the inventory was taken. */
  readonly inventoryTime: Timestamp;
  /** The kinds that the inventory listed: of these a new object is announced, or it is not expected. */
  readonly kinds: readonly string[];
  readonly entities: readonly ExpectedEntity[];
  /** The bindings that existed before of groups whose bindings one resource owns all: they are its, and no entities. */
  readonly owned?: readonly ExpectedEntity[];
  /** What the program declares of resources that will have something else, as what the server fills in or somebody changed by hand. */
  readonly declared?: readonly DeclaredResource[];
  /** The resources of the program whose `ignoreChanges` names something: URN and paths. */
  readonly ignored?: readonly IgnoredChanges[];
  /** What the change updates, replaces or deletes, as it was before. What is still so did not happen. */
  readonly before: readonly ExpectedEntity[];
  /** Uids that existed before and do not after. None of them can be what the change creates. */
  readonly removed: readonly string[];
}

/** A rule of the organisation's own that was asked: `explain` knows it by its file only. */
export interface ReportedRule {
  /** The id of the rule: `ACME1`. */
  readonly id: string;
  /** The name of the rule. */
  readonly name: string;
  /** Why it matters. */
  readonly why: string;
  /** What to write instead. */
  readonly fix: string;
  /** The file of the rule. */
  readonly file: string;
}

/** How many findings there are of each severity. */
export type SeverityCounts = Readonly<Record<Severity, Count>>;

/** How many grants change in each way. */
export interface GrantCounts {
  readonly gained: Count;
  readonly lost: Count;
  readonly widened: Count;
  readonly narrowed: Count;
}

/** What every report holds. */
export interface CommonReport {
  readonly schemaVersion: typeof SCHEMA_VERSION;
  readonly tool: { readonly name: "pulumi-platform"; readonly version: string };
  /** `organization/project/stack` of each stack that is looked at, as far as it is known. */
  readonly stacks: readonly string[];
  readonly complete: boolean;
  /** Why it is not complete, a line each. */
  readonly incomplete: readonly string[];
  /** How many findings reach `failOn`. */
  readonly failing: Count;
  /** Worst first. */
  readonly findings: readonly Finding[];
  /** Findings that the policy file sets apart. */
  readonly suppressed: readonly Finding[];
  /** What could not be resolved, a line each. */
  readonly unresolved: readonly string[];
  /** The policy file: entries that are unused or out of date, names that nothing has; how it differs from its base; a line each. */
  readonly policy: {
    readonly unused: readonly string[];
    readonly expired: readonly string[];
    readonly changed?: readonly string[];
    /** Assertions of the policy file that were broken before the change and still are. */
    readonly standing?: readonly string[];
  };
  /** The rules of the organisation's own that were asked. */
  readonly ownRules?: readonly ReportedRule[];
  readonly provenance: Provenance;
}

/** The update plan that a review read. */
export interface ReviewedPlan {
  /** SHA-256 of the file. */
  readonly digest: Sha256;
  /** SHA-256 of what the preview shows of the stack before the change: `verify --plan-only --stack` compares it with the stack. */
  readonly record?: Sha256;
}

/** What a preview does to access. */
export interface ReviewReport extends CommonReport {
  readonly command: "review";
  /** Findings of this severity and above decide the exit code. */
  readonly failOn: Severity | "never";
  readonly summary: GrantCounts & {
    /** Grants that stay as they are. */
    readonly unchanged: Count;
    readonly findings: SeverityCounts;
    readonly suppressed: Count;
  };
  /** Sorted by severity of what they bring, then subject, role, group. */
  readonly grants: readonly GrantChange[];
  readonly groups: readonly GroupNode[];
  readonly trust: readonly TrustChange[];
  /** What no other part of the report names: changes that concern no access, and what is new or goes and grants nothing itself. */
  readonly unrelated: readonly UnrelatedChanges[];
  /** Of a review that read an update plan. */
  readonly plan?: ReviewedPlan;
  /** Of a review with an inventory. */
  readonly expected?: ExpectedAccess;
  /** SHA-256 of the report's canonical JSON (sorted keys, no white space) without this member. */
  readonly digest?: Sha256;
}

/** What differs between a stack, or an older inventory, and the live organisation. */
export interface Difference {
  readonly kind: DifferenceKind;
  readonly direction: DriftDirection;
  /** The kind of the resource: `Identity`. */
  readonly type: string;
  readonly uid: string;
  readonly urn?: string;
  readonly name: string;
  /** The stack that records it. */
  readonly stack?: string;
  /** Of what is changed: from what is recorded to what is live. */
  readonly fields: readonly FieldChange[];
  /** Who did it, in words. */
  readonly actor?: string;
  /** When it was changed or created, as far as the API tells. */
  readonly at?: Timestamp;
  /** Ready answers; each is absent where there is none. */
  readonly answers: {
    /** A command that puts it back. */
    readonly revert?: string;
    /** Code or a command that takes it over into a program. */
    readonly adopt?: string;
    /** An entry of the policy file. */
    readonly suppress?: string;
  };
  /**
   * That of its finding.
   * @pattern ^[0-9a-f]+$
   */
  readonly fingerprint: string;
}

/** How many of some resources are in code. */
export interface ManagedCount {
  readonly managed: Count;
  readonly total: Count;
}

/** What share of the organisation is in code. */
export interface Coverage extends ManagedCount {
  readonly byKind: readonly (ManagedCount & { readonly kind: string })[];
  /** Of what lies directly in each group. */
  readonly byGroup: readonly (ManagedCount & { readonly uid: string; readonly path: string })[];
}

/** What the live organisation holds that its stacks do not record, or record otherwise. */
export interface DriftReport extends CommonReport {
  readonly command: "drift";
  /** What was looked at, where that is not the usual kinds of whole organisations. */
  readonly scope?: string;
  /** Which findings decide the exit code. */
  readonly failOn: "any" | "widened" | "unmanaged" | "never";
  /** Differences are all that there are, the suppressed ones too. */
  readonly summary: GrantCounts & {
    /** Resources that were compared. */
    readonly compared: Count;
    readonly differences: Readonly<Record<DifferenceKind, Count>>;
    readonly directions: Readonly<Record<DriftDirection, Count>>;
    readonly findings: SeverityCounts;
    readonly suppressed: Count;
  };
  readonly differences: readonly Difference[];
  /** Access that is gained and lost by what differs, without what the policy file accepts. */
  readonly grants: readonly GrantChange[];
  /** The same of which the policy file accepts all findings. */
  readonly acceptedGrants?: readonly GrantChange[];
  readonly groups: readonly GroupNode[];
  readonly coverage?: Coverage;
  /** Of a comparison of whole organisations in which some identities have not signed in for so many days. */
  readonly unusedIdentities?: {
    /** For how many days they have not. */
    readonly days: Count;
    /** How many have not signed in, or never and are older than that. */
    readonly unused: Count;
    /** Of how many nobody knows. */
    readonly unknown: Count;
  };
}

/** Whether the organisation holds after an update what the review announced. */
export interface VerifyReport extends CommonReport {
  readonly command: "verify";
  readonly failOn: "low";
  readonly summary: {
    /** Announced changes that came. */
    readonly confirmed: Count;
    readonly unannounced: Count;
    readonly missing: Count;
    /** Grants that are as they were expected to be. */
    readonly unchanged: Count;
    readonly findings: SeverityCounts;
    readonly suppressed: Count;
  };
  /** Announced changes that came. */
  readonly grants: readonly GrantChange[];
  /** Access that the organisation holds and that the review did not announce. */
  readonly unannounced: readonly GrantChange[];
  /** Access that is less than the review expected, and access that was to be lost and is still there. */
  readonly missing: readonly GrantChange[];
  readonly trust: readonly TrustChange[];
  /** The update plan that the review read. */
  readonly plan?: ReviewedPlan;
  /** The digest of the review's report. */
  readonly reviewDigest?: Sha256;
}

/**
 * @discriminator command
 */
export type Report = ReviewReport | DriftReport | VerifyReport;

/** The digest that a report must carry: of all that it says, but for the digest itself. */
export function reportDigest(report: ReviewReport): string {
  return sha256(sortedJson({ ...report, digest: undefined }));
}

/**
 * Why a value is no report of the published form (`schema/report.schema.json`); undefined where it is one.
 * One line, safe to print: the report may come from a job that is not to be trusted.
 */
export function reportProblem(value: unknown): string | undefined {
  return documentProblem(value, { name: "report", version: SCHEMA_VERSION });
}

/**
 * Reads a report that a command wrote with `--output json`. The report of a review has to match its digest.
 *
 * @param name what messages call it: a path.
 * @throws DocumentError in one line.
 */
export function parseReport(input: string | Uint8Array, name = "the report"): Report {
  const file = printable(name, 200);
  const value = parseJson(input, file);
  const problem = reportProblem(value);
  if (problem !== undefined) throw new DocumentError("PP6003", `${file} is not a valid report: ${problem}`);
  const report = value as unknown as Report;
  if (report.command === "review" && report.digest !== reportDigest(report)) {
    const lack = report.digest === undefined ? "has no digest" : "does not match its digest";
    throw new DocumentError(
      "PP6003",
      `${file} ${lack}: it was changed after the review, or is truncated; write it with review --output json=FILE`,
    );
  }
  return report;
}

/**
 * Reads the JSON report of a review for `verify`. Who can write the file can write a digest into it
 * too, so `digest` is one from a place that its author cannot write to.
 *
 * @param name what messages call it: a path.
 * @throws DocumentError in one line.
 */
export function parseReviewReport(
  input: string | Uint8Array,
  name = "the report",
  digest?: string,
): ReviewReport {
  const shown = printable(name, 200);
  const report = parseReport(input, name);
  if (report.command !== "review") {
    throw new DocumentError(
      "PP6002",
      `${shown} is a report of ${report.command}: give the report that review --output json=FILE wrote`,
    );
  }
  if (!report.complete) {
    throw new DocumentError(
      "PP6003",
      `${shown} is incomplete, so it cannot be verified: correct what it lists as not checked, and review again`,
    );
  }
  if (digest !== undefined && digest !== report.digest) {
    throw new DocumentError(
      "PP6005",
      `--digest: ${shown} has the digest ${report.digest}, not ${printable(digest, 80)}, so it is not the report that was approved`,
    );
  }
  return report;
}
