import { graphOf } from "../graph/resolveGrants";
import { proposeEntry } from "../suppressions/writeEntries";
import { tupleOf } from "../graph/grant";
import type { GrantChange } from "../graph/grant";
import type { Comparison } from "../review/compare";
import { compareTexts } from "../../fields/values";
import type { Json } from "../../fields/values";
import {
  differenceKinds,
  driftDirections,
  isHighOrCritical,
  rank,
  severities,
  sortFindings,
} from "../review/finding";
import type { Finding, Severity } from "../review/finding";
import { fitReport, countBy, countGrants, sortGrants, reportOwnRules } from "../report/fitReport";
import { SCHEMA_VERSION, toFieldChange } from "../report/report";
import type { Coverage, Difference, DriftReport } from "../report/report";
import type { SuppressionResult } from "../suppressions/applyPolicy";
import { describeStaleness, listedKinds, isWithin } from "../documents/inventory";
import { findUnused } from "../report/accessTable";
import type { Entity } from "../graph/model";
import type { DetectedDifference, DriftNotes } from "./stateComparison";
import type { DriftRequest, DriftThreshold } from "./drift";
import { organisationsOf } from "../documents/stateExport";
import { topProperty } from "../graph/inputLeaves";
import { inputsToPin } from "../rules/findingValue";
import { isSecretArgument, maskSecrets } from "./differenceDescriber";
import { fingerprintOf } from "../documents/digest";
import { specs } from "../documents/specs";
import { parentOf } from "../../text/uid";
import { mayWiden } from "../effects";

/** Whether a finding decides the exit code. */
function meets(finding: Finding, failOn: DriftThreshold): boolean {
  const { drift } = finding;
  switch (failOn) {
    case "any":
      return true;
    case "widened":
      // A rule's finding speaks of the risk itself, whichever way access has moved.
      return drift === undefined ? isHighOrCritical(finding.severity) : mayWiden(drift.direction);
    case "unmanaged":
      return drift?.kind === "unmanaged";
    case "never":
      return false;
  }
}

const severityOf: Readonly<Record<DetectedDifference["direction"], Severity>> = {
  widened: "high",
  unknown: "high",
  narrowed: "medium",
  neutral: "low",
};

const directionLines: Readonly<Record<DetectedDifference["direction"], readonly string[]>> = {
  widened: ["access is widened"],
  unknown: ["whether access is widened is unknown"],
  narrowed: ["access is narrowed"],
  neutral: [],
};

/**
 * The value that a difference consists of. A secret value is in no fingerprint, so the time of the change stands for
 * it.
 */
function liveValue({
  what,
  spec,
  managed,
  fields,
  before = {},
  after,
  details,
  at,
}: DetectedDifference): Json {
  if (what === "contested") return [...details];
  // Of a deleted object what it was: the program may declare more in its place.
  if (after === undefined) {
    return inputsToPin(spec.kind, managed === undefined ? before : maskSecrets(managed, before).inputs, []);
  }
  const paths = fields.map(({ path }) => path);
  // What no program declares may change in any field.
  if (managed === undefined) return inputsToPin(spec.kind, after, Object.keys(spec.fields));
  const isSecret = isSecretArgument(managed.resource);
  const hasSecret = paths.some((path) => isSecret(topProperty(path)));
  const { inputs } = maskSecrets(managed, after);
  const ends = fields.filter(({ path }) => Object.hasOwn(spec.outputs ?? {}, path));
  return [
    inputsToPin(spec.kind, inputs, paths),
    hasSecret ? (at ?? null) : null,
    ...ends.map(({ path, after: end }) => [path, end ?? null]),
  ];
}

/** Identifies a difference, and the live value, in later runs too: no run data is in it. */
function fingerprintDifference(difference: DetectedDifference): string {
  const { what, direction, spec, uid, managed, fields } = difference;
  const properties = fields.map(({ path }) => path).sort();
  const identity = [`drift-${what}`, direction, spec.kind, uid, managed?.resource.urn ?? "", ...properties];
  return fingerprintOf([identity, liveValue(difference)]);
}

/** The finding of a difference. */
export function findingOf(difference: DetectedDifference): Finding {
  const { what, spec, uid, name, direction, managed } = difference;
  const id = `drift-${what}`;
  const reasons = difference.fields.filter(({ reason }) => reason !== "");
  return {
    id,
    rule: id,
    severity: what === "contested" ? "medium" : severityOf[direction],
    message: difference.message,
    details: [
      ...directionLines[direction],
      ...reasons.map(({ path, reason }) => `${path}: ${reason}`),
      ...difference.details,
    ],
    advice: difference.advice,
    kind: spec.kind,
    name,
    urn: managed?.resource.urn,
    uid,
    location: managed?.resource.location,
    fingerprint: fingerprintDifference(difference),
    drift: { kind: what, direction, paths: difference.fields.map(({ path }) => path) },
  };
}

/** A difference as a report has it, with the answers to its finding. */
export function reportDifference(
  difference: DetectedDifference,
  finding: Finding,
  { changed, now }: Pick<DriftRequest, "changed" | "now">,
): Difference {
  const { what, spec, uid, name, direction, managed, at, revert, adopt } = difference;
  return {
    kind: what,
    direction,
    type: spec.kind,
    uid,
    urn: managed?.resource.urn,
    name,
    stack: managed?.stack,
    fields: difference.fields.map(toFieldChange),
    actor: changed?.actors.get(uid),
    at,
    answers: { revert, adopt, suppress: proposeEntry(finding, "drift", now) },
    fingerprint: finding.fingerprint,
  };
}

/** What a run found, before it is a report. */
interface DriftResult {
  readonly request: DriftRequest;
  readonly notes: DriftNotes;
  /** Worst first. */
  readonly findings: readonly Finding[];
  /** The differences, in the order of their findings. */
  readonly differences: readonly Difference[];
  readonly coverage?: Coverage;
  readonly comparison: Comparison;
  /** How many objects were compared. */
  readonly compared: number;
}

/** Deeper than any group. */
const NO_GROUP = 1e6;

/** How deep the group lies at which something gives access: 1 for a root. What gives none comes last. */
function depthOf({ grant, kind = "", uid = "" }: Finding): number {
  const { grantsAccess, sharesParentUid } = specs[kind] ?? {};
  const own = sharesParentUid === true ? uid : parentOf(uid);
  const group = grant?.group.uid ?? (grantsAccess === "always" ? own : undefined);
  return group?.split("/").length ?? NO_GROUP;
}

/**
 * Worst first; of one severity what gives access at the root, which reaches everything, and then what changed last: `timeOf` is
 * empty where nobody knows when that was.
 */
export function sortDriftFindings(
  findings: readonly Finding[],
  timeOf: (finding: Finding) => string,
): Finding[] {
  const age = (finding: Finding): number => -(Date.parse(timeOf(finding)) || 0);
  return sortFindings(findings).sort(
    (a, b) => rank(a) - rank(b) || depthOf(a) - depthOf(b) || age(a) - age(b),
  );
}

/** What was compared, where it is not the default kinds of complete organisations. */
function describeScope({ states, since = [], inventories, changed }: DriftRequest): string | undefined {
  if (changed !== undefined) return "events";
  const sorted = (texts: Iterable<string>) => [...new Set(texts)].sort(compareTexts);
  const roots = sorted(inventories.map(({ root }) => root)).join(", ");
  const organisations = sorted([...organisationsOf(states), ...since.map(({ root }) => root)]).join(", ");
  const extra = sorted(
    inventories.flatMap(({ kinds }) => kinds.filter((kind) => !listedKinds.includes(kind))),
  );
  const missing = listedKinds.filter((kind) => inventories.some(({ kinds }) => !kinds.includes(kind)));
  const parts = [
    ...(roots === organisations ? [] : [`below ${roots}`]),
    ...(extra.length === 0 ? [] : [`with ${extra.join(", ")}`]),
    ...(missing.length === 0 ? [] : [`without ${sorted(missing).join(", ")}`]),
  ];
  return parts.length === 0 ? undefined : parts.join("; ");
}

/** Tells whether some finding is about a change of access: the grant itself, or an object that makes it what it is. */
function createAbout(findings: readonly Finding[]): (change: GrantChange) => boolean {
  const tuples = new Set<string>();
  const uids = new Set<string | undefined>();
  const moved = new Set<string | undefined>();
  for (const { grant, uid, drift } of findings) {
    if (grant !== undefined) tuples.add(tupleOf(grant));
    else if (uid !== undefined) {
      uids.add(uid);
      if (drift?.paths.includes("parentUid") === true) moved.add(uid);
    }
  }
  return ({ grant }) =>
    tuples.has(tupleOf(grant)) ||
    [grant.uid, grant.subject.uid, grant.role.uid].some((uid) => uids.has(uid)) ||
    moved.has(grant.group.uid);
}

/** After how many days without a sign-in an identity is counted as unused. */
const UNUSED_DAYS = 90;

/** How many identities nobody uses; nothing where there are none. */
function countUnused(
  inventories: DriftRequest["inventories"],
  { after }: Comparison,
): Pick<DriftReport, "unusedIdentities"> {
  const found = inventories.map((inventory) => {
    const isOwn = ({ uid = "" }: Entity) => isWithin(uid, inventory.root);
    const entities = new Map([...after.entities].filter(([, entity]) => isOwn(entity)));
    return findUnused(graphOf(entities, []), inventory, UNUSED_DAYS);
  });
  const [unused, unknown] = [found.flatMap((each) => each.unused), found.flatMap((each) => each.unknown)];
  return unused.length === 0
    ? {}
    : { unusedIdentities: { days: UNUSED_DAYS, unused: unused.length, unknown: unknown.length } };
}

/** Turns what a run found into a report. */
export function reportDrift(result: DriftResult): DriftReport {
  const { request, notes, comparison, compared, coverage, differences } = result;
  const { failOn, states, inventories, version, now } = request;
  const stale = inventories.flatMap((inventory) => describeStaleness(inventory, now) ?? []);
  const incomplete = new Set([...notes.incomplete, ...stale]);
  const isComplete = incomplete.size === 0 && request.changed === undefined && request.isPartial !== true;
  const none = { findings: result.findings, suppressed: [], unused: [], expired: [] };
  const judged: SuppressionResult = request.suppress?.(result.findings, comparison, isComplete) ?? none;
  const { suppressed, unused, expired } = judged;
  // Differences have the entry that accepts them among their answers.
  const findings = judged.findings.map((finding) =>
    finding.drift === undefined ? { ...finding, policyEntry: proposeEntry(finding, "drift", now) } : finding,
  );
  // Accepted is a change of access about which only suppressed findings speak.
  const [isSuppressed, isFound] = [createAbout(suppressed), createAbout(findings)];
  const isAccepted = (change: GrantChange): boolean => isSuppressed(change) && !isFound(change);
  const accepted = comparison.grants.filter(isAccepted);
  const open = comparison.grants.filter((change) => !isAccepted(change));
  return fitReport({
    schemaVersion: SCHEMA_VERSION,
    tool: { name: "pulumi-platform", version },
    command: "drift",
    stacks: [...new Set(states.flatMap(({ stack }) => stack ?? []))].sort(compareTexts),
    scope: describeScope(request),
    complete: incomplete.size === 0,
    incomplete: [...incomplete].sort(compareTexts),
    failOn,
    failing: findings.filter((finding) => meets(finding, failOn)).length,
    summary: {
      compared,
      differences: countBy(differences, differenceKinds, ({ kind }) => kind),
      directions: countBy(differences, driftDirections, ({ direction }) => direction),
      ...countGrants(open),
      findings: countBy(findings, severities, ({ severity }) => severity),
      suppressed: suppressed.length,
    },
    differences,
    grants: sortGrants(open, findings),
    ...(accepted.length === 0 ? {} : { acceptedGrants: accepted }),
    groups: comparison.groups,
    coverage,
    ...(coverage === undefined ? {} : countUnused(inventories, comparison)),
    findings,
    suppressed,
    unresolved: [...notes.unresolved, ...comparison.unresolved].sort(compareTexts),
    policy: { unused, expired },
    ...reportOwnRules(request.ownRules),
    provenance: { time: new Date(now).toISOString(), package: version },
  });
}
