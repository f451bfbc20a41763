import type { Props } from "../engine/spec";
import type { Direction, FieldEffect } from "./effects";

/**
 * What a review, a drift run and a verification have found: the one form that every output is made from. Plain
 * JSON, sorted; the time of the run is in `provenance` alone, so that the same input gives the same bytes.
 */

/** From worst to least. */
export const severities = ["critical", "high", "medium", "low"] as const;
export type Severity = (typeof severities)[number];

/** A place in the user's program. `file` is relative to the Pulumi project. Lines and columns count from 1. */
export interface SourceLocation {
  readonly file: string;
  readonly line: number;
  readonly column?: number;
}

/** Something that a report speaks of: an identity, a role, a group. */
export interface Named {
  /** Stable within the report: the uid where it is known, else the urn. */
  readonly key: string;
  readonly uid?: string;
  readonly urn?: string;
  /** The resource's own name; undefined where nothing tells it. */
  readonly name?: string;
}

/** Who holds a grant. */
export interface Subject extends Named {
  readonly type: "identity" | "invite" | "identityProvider" | "externalGroup" | "service" | "unknown";
  /** For people: "GitHub Actions of acme/pay, branch main". */
  readonly words: string;
  /** More than one outsider can be it: a pattern, an invite without an e-mail address. */
  readonly open: boolean;
}

export interface GrantedRole extends Named {
  readonly builtIn: boolean;
  /** Undefined where they are not known. Sorted. */
  readonly capabilities?: readonly string[];
}

export interface Scope extends Named {
  /** Names from the root down, joined by " / ": "acme / payments". */
  readonly path: string;
  readonly isRoot: boolean;
}

/** One subject holding one role at one group and everything below it. */
export interface Grant {
  readonly subject: Subject;
  readonly role: GrantedRole;
  readonly group: Scope;
  /** The kind of resource that grants it: `RoleBinding`, `GroupAccess`, `GroupInvite`, … */
  readonly via: string;
  readonly urn?: string;
  readonly uid?: string;
  readonly location?: SourceLocation;
}

export interface GrantChange {
  readonly change: "gained" | "lost" | "widened" | "narrowed";
  /** After the change; before it where it is lost. */
  readonly grant: Grant;
  /** Where it is widened or narrowed: what it was. */
  readonly before?: Grant;
  /** In words: "role gains 3 capabilities", "moves from acme / payments up to acme". */
  readonly reason: string;
  readonly capabilitiesAdded: readonly string[];
  readonly capabilitiesRemoved: readonly string[];
}

/** A change of what existing grants mean: of a role's capabilities, of who an identity is. */
export interface TrustChange {
  readonly kind: string;
  readonly name: string;
  readonly urn?: string;
  readonly uid?: string;
  readonly location?: SourceLocation;
  readonly fields: readonly FieldChange[];
  /** How many grants it touches. */
  readonly grants: number;
}

export interface FieldChange {
  /** The property's path: `claimMatch.subjectPattern`. */
  readonly property: string;
  /** As text for people, shortened; a secret is "[secret]"; undefined is "not set". */
  readonly before?: string;
  readonly after?: string;
}

/** What a report says of a property that differs. */
export function toFieldChange({ path, before, after }: FieldEffect): FieldChange {
  return { property: path, before, after };
}

export interface Finding {
  /** The rule's id (`G1`), or `drift-changed`, `drift-deleted`, `drift-unmanaged`, `drift-contested`. */
  readonly id: string;
  /** The rule's name: `owner-grant`. */
  readonly rule: string;
  readonly severity: Severity;
  /** One line, what is found. */
  readonly message: string;
  /** More of it, each a line: who inherits what, which grants are touched. */
  readonly details: readonly string[];
  /** What to do instead, one line. */
  readonly advice?: string;
  /** The kind of the resource: `Identity`. */
  readonly kind?: string;
  readonly name?: string;
  readonly urn?: string;
  readonly uid?: string;
  /** The property that it is about: `claimMatch.subjectPattern`. */
  readonly field?: string;
  /** The group that it concerns, where there is no grant. */
  readonly group?: Scope;
  readonly grant?: Grant;
  /** How the holder proves who it is, as the program writes it: for exceptions. */
  readonly trust?: { readonly issuer?: string; readonly subject?: string };
  /** What an outsider could write to match a pattern. */
  readonly witness?: string;
  readonly location?: SourceLocation;
  /** Hex; the same for the same finding in the next run: no line, no run data in it. */
  readonly fingerprint: string;
  /** Set where the policy file lets it be. */
  readonly excepted?: { readonly reason: string; readonly expires?: string };
  readonly drift?: DriftDetails;
}

export interface DriftDetails {
  readonly kind: "changed" | "deleted" | "unmanaged" | "contested";
  readonly direction: Direction;
  readonly fields: readonly FieldChange[];
  /** RFC 3339: of the change as far as the API tells. */
  readonly when?: string;
  /** Ready answers: a command, code, an entry of the policy file. Absent where there is none. */
  readonly revert?: string;
  readonly adopt?: string;
  readonly accept?: string;
}

/** A node of the tree of groups, with what changes there. */
export interface GroupNode extends Scope {
  readonly parentKey?: string;
  readonly change: "added" | "removed" | "moved" | "renamed" | "same";
}

/** Where a report comes from, as far as flags and the CI's environment tell. */
export interface Provenance {
  /** The commit that was looked at: hex. */
  readonly commit?: string;
  /** The number of the pull request or merge request. */
  readonly pullRequest?: string;
  /** RFC 3339: when the report was written. */
  readonly time: string;
  /** The version of the Pulumi CLI that wrote the plan, as in `v3.230.0`. */
  readonly cli?: string;
  /** The version of this package. */
  readonly package: string;
  /** RFC 3339: when the inventory was taken. */
  readonly inventoryTime?: string;
  /** How old the inventory was at `time`. */
  readonly inventoryAgeSeconds?: number;
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
  /** The arguments without secrets and descriptions; keys of issuers stand as their SHA-256. */
  readonly inputs: Props;
}

/** All that a review expects to exist after the change and that decides who may do what: `verify` compares with it. */
export interface ExpectedAccess {
  /** The uid of the group that the inventory was about: nothing outside of it is verified. */
  readonly root: string;
  /** RFC 3339: when the inventory was taken. */
  readonly inventoryTime: string;
  readonly entities: readonly ExpectedEntity[];
  /** Uids that existed before and do not after. None of them can be what the change creates. */
  readonly removed: readonly string[];
}

export interface Report {
  readonly schemaVersion: 1;
  readonly tool: { readonly name: "pulumi-platform"; readonly version: string };
  readonly command: "review" | "drift" | "verify";
  /** `organization/project/stack` as far as it is known: the key of a comment. */
  readonly stack?: string;
  /** Of a drift run that looked at less than whole organisations, or at other kinds: what it looked at. */
  readonly scope?: string;
  readonly complete: boolean;
  /** Why it is not complete, a line each. */
  readonly incomplete: readonly string[];
  /** Findings of this severity and above decide the exit code. */
  readonly failOn: Severity | "any" | "widened" | "unmanaged" | "never";
  /** How many findings reach `failOn`. */
  readonly failing: number;
  readonly summary: {
    readonly gained: number;
    readonly lost: number;
    readonly widened: number;
    readonly narrowed: number;
    readonly kept: number;
    readonly findings: Readonly<Record<Severity, number>>;
    readonly excepted: number;
  };
  /** Sorted by severity of what they bring, then subject, role, group. */
  readonly grants: readonly GrantChange[];
  readonly trust: readonly TrustChange[];
  /** Worst first. */
  readonly findings: readonly Finding[];
  readonly excepted: readonly Finding[];
  /** What could not be resolved, a line each. */
  readonly unresolved: readonly string[];
  /** Changes that concern no access: kind, operation, how many. */
  readonly unrelated: readonly { readonly kind: string; readonly op: string; readonly count: number }[];
  readonly groups: readonly GroupNode[];
  /** Entries of the policy file: of no use, or out of date; how the file differs from its base; a line each. */
  readonly policy: {
    readonly unused: readonly string[];
    readonly expired: readonly string[];
    readonly changed?: readonly string[];
  };
  readonly provenance?: Provenance;
  /** Of a review that read an update plan. `digest`: SHA-256 of its canonical JSON, hex. */
  readonly plan?: { readonly digest: string };
  /** Of a review with an inventory. */
  readonly expected?: ExpectedAccess;
  /** Of a verification: access that the organisation holds and that the review did not announce. */
  readonly unannounced?: readonly GrantChange[];
  /** Of a verification: changes that the review announced and that did not come. */
  readonly missing?: readonly GrantChange[];
  /** Of a verification: the digest of the review's report. */
  readonly reviewDigest?: string;
  /** Of a review: SHA-256 of the report's canonical JSON without this member, hex. */
  readonly digest?: string;
}
