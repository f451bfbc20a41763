import { compareTexts } from "../../fields/values";
import type { SourceLocation } from "../documents/engineState";
import type { Scope, Grant } from "../graph/grant";

/** From worst to least. */
export const severities = ["critical", "high", "medium", "low"] as const;
export type Severity = (typeof severities)[number];

/** The worst of some severities; undefined where there is none. */
export const worstOf = (found: readonly Severity[]): Severity | undefined =>
  severities.find((severity) => found.includes(severity));

/** A suppression of such a finding must name its last day. */
export function isHighOrCritical(severity: Severity): boolean {
  return severity === "high" || severity === "critical";
}

/** An entry of the policy file that sets a finding apart. */
export interface Suppression {
  readonly reason: string;
  /** The last day on which it holds: `2027-01-31`. */
  readonly expires?: string;
}

export const differenceKinds = ["changed", "deleted", "unmanaged", "contested"] as const;
export type DifferenceKind = (typeof differenceKinds)[number];

export const driftDirections = ["widened", "narrowed", "neutral", "unknown"] as const;
/** What a difference does to access. */
export type DriftDirection = (typeof driftDirections)[number];

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
  /** Of a resource of another package that is not reviewed: the version of the package, where it is known. */
  readonly packageVersion?: string;
  /** The property that it is about: `claimMatch.subjectPattern`. */
  readonly field?: string;
  /** The group that it concerns, where there is no grant. */
  readonly group?: Scope;
  readonly grant?: Grant;
  /** How the holder proves who it is, as the program writes it: for suppressions. */
  readonly trust?: { readonly issuer?: string; readonly subject?: string };
  /** What an outsider could write to match a pattern. */
  readonly counterexample?: string;
  readonly location?: SourceLocation;
  /**
   * The same for the same finding in the next run, as long as the value that was found is the same: no line, no run data.
   * @pattern ^[0-9a-f]+$
   */
  readonly fingerprint: string;
  /** Of an open finding of a rule: an entry of the policy file that would suppress it, as YAML. */
  readonly policyEntry?: string;
  /** Of a finding in `suppressed`: what sets it apart. */
  readonly suppression?: Suppression;
  /** Of a finding `drift-*`; the difference of the same fingerprint says more. `paths`: the properties that differ. */
  readonly drift?: {
    readonly kind: DifferenceKind;
    readonly direction: DriftDirection;
    readonly paths: readonly string[];
  };
}
export const rank = ({ severity }: Finding): number => severities.indexOf(severity);
/** By the first letters of their rules what is told first: access that is given, and to whom. What is lost or only unsure comes last. */
const FAMILIES = "GTPKSRXD";

function familyRank({ id }: Finding): number {
  const known = FAMILIES.indexOf(id.charAt(0));
  return known === -1 ? FAMILIES.length : known;
}

/** Worst first, then what gives access, that at the root before that below; else by rule and resource. */
export function sortFindings(findings: readonly Finding[]): Finding[] {
  const isBelow = ({ grant }: Finding): number => Number(grant?.group.isRoot !== true);
  return [...findings].sort(
    (a, b) =>
      rank(a) - rank(b) ||
      familyRank(a) - familyRank(b) ||
      isBelow(a) - isBelow(b) ||
      compareTexts(a.id, b.id) ||
      compareTexts(a.urn ?? a.uid ?? "", b.urn ?? b.uid ?? "") ||
      compareTexts(a.message, b.message) ||
      compareTexts(a.fingerprint, b.fingerprint),
  );
}
