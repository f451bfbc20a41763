import { compareTexts } from "../../fields/values";
import { urnParts } from "../documents/engineState";
import { describeStaleness } from "../documents/inventory";
import { comparePlan, withPlanned } from "../documents/plan";
import type { UpdatePlan } from "../documents/plan";
import { withRests } from "../documents/preview";
import { accessKinds, isAccessField, isShownByGrants } from "../graph/accessKinds";
import { tupleOf } from "../graph/grant";
import { compare, leavesObject } from "../review/compare";
import type { Sources, Comparison, ResourceChange } from "../review/compare";
import { sortFindings, severities } from "../review/finding";
import type { Finding, Severity } from "../review/finding";
import type { OwnRule } from "../rules/ownRules";
import type { SuppressionResult, Suppressor } from "../suppressions/applyPolicy";
import { proposeEntry } from "../suppressions/writeEntries";
import { expectedAccess } from "./expected";
import { countFailing, countBy, countGrants, sortGrants, reportOwnRules, fitReport } from "./fitReport";
import { toFieldChange, SCHEMA_VERSION, reportDigest } from "./report";
import type { Provenance, TrustChange, ReviewReport } from "./report";

/** What the rules find in a comparison. */
export type Rules = (comparison: Comparison) => readonly Finding[];

export interface ReviewOptions {
  readonly failOn: Severity | "never";
  readonly rules: Rules;
  /** Those of them that are the organisation's own, for the report. */
  readonly ownRules?: readonly OwnRule[];
  /** Sets the findings apart that a policy file suppresses. The comparison says what exists before the change. */
  readonly judge?: Suppressor;
  readonly provenance: Provenance;
  /** The update plan that `up` is held to. */
  readonly plan?: UpdatePlan;
}

/** Changes of what existing grants mean. */
function trustChanges({ changes, after }: Comparison): TrustChange[] {
  return changes.flatMap(({ op, kind, urn, after: entity, fields }): TrustChange[] => {
    const relevant = fields.filter(
      ({ path, effect }) =>
        isAccessField(kind, path) || (effect !== "none" && !isShownByGrants(kind, path, effect)),
    );
    if ((op !== "update" && op !== "replace") || entity === undefined || relevant.length === 0) return [];
    const touched = after.index.about({ key: entity.key, urn });
    return [
      {
        kind,
        name: entity.name ?? urnParts(urn ?? "").name,
        urn,
        uid: entity.uid,
        location: entity.location,
        fields: relevant.map(toFieldChange),
        grants: new Set(touched.map(tupleOf)).size,
      },
    ];
  });
}

/** Whether a change may have to do with who may do what. */
function concernsAccess({ kind, fields, op }: ResourceChange): boolean {
  // A change that shows no field is one of a secret, or of what a reference leads to.
  if (op === "update" && fields.length > 0) return fields.some(({ effect }) => effect !== "none");
  return accessKinds[kind] !== undefined;
}

/** How many of a kind are named. */
const MOST_NAMES = 3;

/** What no other part of the report shows: changes that concern no access, and what is new or goes and grants nothing itself. */
function unrelated(comparison: Comparison): ReviewReport["unrelated"] {
  const counts = new Map<string, { kind: string; op: string; count: number; names: readonly string[] }>();
  const granting = new Set(
    comparison.grants.flatMap(({ grant, before }) => [grant.urn, ...(before ? [before.urn] : [])]),
  );
  const isShown = (change: ResourceChange): boolean => {
    const { op, urn } = change;
    if (!concernsAccess(change) || change.isRest) return false;
    // A new group or identity, and one that goes, is named by grants, which do not say that it is.
    return (op !== "create" && op !== "delete") || (urn !== undefined && granting.has(urn));
  };
  for (const change of comparison.changes) {
    const { kind } = change;
    if (change.op === "same" || change.op === "read" || isShown(change)) continue;
    const op =
      change.op === "delete" && leavesObject(change)
        ? "left at the server"
        : change.isRest
          ? "delete of the old object that an interrupted replacement left"
          : change.op;
    const key = `${kind} ${op}`;
    const known = counts.get(key) ?? { kind, op, count: 0, names: [] };
    const name = (change.after ?? change.before)?.name ?? urnParts(change.urn ?? "").name;
    const names = known.names.length < MOST_NAMES ? [...known.names, name] : known.names;
    counts.set(key, { ...known, count: known.count + 1, names });
  }
  return [...counts.values()].sort((a, b) => compareTexts(a.kind, b.kind) || compareTexts(a.op, b.op));
}

/** The most findings that get an entry, worst first, because nobody reads thousands. */
const MOST_ENTRIES = 500;

/** What the rules find, after the policy file; each finding that is left has an entry that would suppress it. */
function findAndSuppress(
  comparison: Comparison,
  { rules, judge, provenance }: ReviewOptions,
): SuppressionResult {
  const found = sortFindings(rules(comparison));
  const none = { findings: found, suppressed: [], unused: [], expired: [] };
  const judged = judge?.(found, comparison, comparison.complete) ?? none;
  const now = Date.parse(provenance.time);
  return {
    ...judged,
    findings: judged.findings.map((finding, i) =>
      i >= MOST_ENTRIES || Number.isNaN(now)
        ? finding
        : { ...finding, policyEntry: proposeEntry(finding, "review", now) },
    ),
  };
}

/** Turns a comparison and what the rules find in it into a report. */
export function reportOn(comparison: Comparison, options: ReviewOptions): ReviewReport {
  const { failOn, plan, provenance } = options;
  const { findings, suppressed, unused, expired, changed, standing } = findAndSuppress(comparison, options);
  const report = fitReport<ReviewReport>({
    schemaVersion: SCHEMA_VERSION,
    tool: { name: "pulumi-platform", version: provenance.package },
    command: "review",
    stacks: comparison.stack === undefined ? [] : [comparison.stack],
    complete: comparison.complete,
    incomplete: comparison.incomplete,
    failOn,
    failing: countFailing(findings, failOn),
    summary: {
      ...countGrants(comparison.grants),
      unchanged: comparison.unchanged,
      findings: countBy(findings, severities, ({ severity }) => severity),
      suppressed: suppressed.length,
    },
    grants: sortGrants(comparison.grants, findings),
    trust: trustChanges(comparison),
    findings,
    suppressed,
    unresolved: comparison.unresolved,
    unrelated: unrelated(comparison),
    groups: comparison.groups,
    policy: { unused, expired, changed, standing },
    ...reportOwnRules(options.ownRules),
    provenance,
    plan: plan && { digest: plan.digest, record: comparison.recordDigest },
    expected: expectedAccess(comparison),
  });
  return { ...report, digest: reportDigest(report) };
}

/** What the rules find where nothing changes: what was there before, and what a review of the change finds beside it. */
export function findBefore(
  { preview: given, ...sources }: Sources,
  { rules, plan }: Pick<ReviewOptions, "rules" | "plan">,
): readonly Finding[] {
  const preview = withPlanned(given, plan);
  const steps = preview.steps.flatMap(({ urn, before }) =>
    before === undefined || before.pendingDelete ? [] : [{ op: "same", urn, before, after: before }],
  );
  return rules(compare({ ...sources, preview: { ...preview, steps } }));
}

/**
 * Reviews a preview: who gains or loses what, and what is dangerous about it. Reads nothing and writes
 * nothing: the same input gives the same report.
 *
 * @throws DocumentError where the documents do not belong together.
 */
export function review(sources: Sources, options: ReviewOptions): ReviewReport {
  const shown = withRests(sources.preview, sources.before);
  const preview = withPlanned(shown, options.plan);
  const comparison = compare({ ...sources, preview });
  const stale =
    sources.inventory && describeStaleness(sources.inventory, Date.parse(options.provenance.time));
  const problems = [
    ...(stale === undefined ? [] : [stale]),
    ...(options.plan === undefined ? [] : comparePlan(options.plan, shown)),
  ];
  if (problems.length === 0) return reportOn(comparison, options);
  const incomplete = [...comparison.incomplete, ...problems];
  return reportOn({ ...comparison, complete: false, incomplete }, options);
}
