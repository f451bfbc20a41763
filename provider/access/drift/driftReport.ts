import { proposeEntry } from "../suppressions/writeEntries";
import { tupleOf } from "../graph/grant";
import type { GrantChange } from "../graph/grant";
import type { Comparison } from "../review/comparison";
import { compareTexts } from "../../fields/values";
import { differenceKinds, driftDirections, severities } from "../review/finding";
import type { Finding } from "../review/finding";
import { fitReport } from "../report/fitReport";
import { reportOwnRules, SCHEMA_VERSION } from "../report/report";
import type { Coverage, Difference, DriftReport, GrantCounts } from "../report/report";
import { countBy, sortGrants } from "../report/counts";
import type { SuppressionResult } from "../report/reviewReport";
import { describeStaleness, listedKinds } from "../documents/inventory";
import { findUnused } from "../report/unusedAccess";
import type { Entity } from "../graph/model";
import type { DriftNotes } from "./difference";
import type { DriftRequest } from "./request";
import { organisationsOf } from "./roots";
import { countMeeting } from "./threshold";

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

export function sortDriftFindings(findings: readonly Finding[]): Finding[] {
  return [...findings].sort(
    (a, b) =>
      severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
      compareTexts(a.id, b.id) ||
      compareTexts(a.kind ?? "", b.kind ?? "") ||
      compareTexts(a.name ?? "", b.name ?? "") ||
      compareTexts(a.uid ?? "", b.uid ?? "") ||
      compareTexts(a.urn ?? "", b.urn ?? "") ||
      compareTexts(a.message, b.message),
  );
}

/** What was compared, where it is not the default kinds of complete organisations. */
function describeScope({
  states,
  since = [],
  inventories,
  onlyUids: only,
}: DriftRequest): string | undefined {
  if (only !== undefined) return "events";
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

function suppressFindings({ request, notes, findings, comparison }: DriftResult): SuppressionResult {
  const { suppress: judge, onlyUids: only, isPartial: scoped } = request;
  const isWhole = notes.incomplete.size === 0 && only === undefined && scoped !== true;
  return judge?.(findings, isWhole, comparison) ?? { findings, suppressed: [], unused: [], expired: [] };
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

/** The changes of access about which only suppressed findings speak. */
function acceptedGrants(
  grants: Comparison["grants"],
  open: readonly Finding[],
  suppressed: readonly Finding[],
) {
  const [isAccepted, isOpen] = [createAbout(suppressed), createAbout(open)];
  return new Set(grants.filter((change) => isAccepted(change) && !isOpen(change)));
}

/** An open finding of a rule with the entry that accepts it; differences have theirs among their answers. */
function withEntry(finding: Finding, now: number): Finding {
  return finding.drift === undefined
    ? { ...finding, policyEntry: proposeEntry(finding, "drift", now) }
    : finding;
}

/** After how many days without a sign-in an identity is counted as unused. */
const UNUSED_DAYS = 90;

/** How many identities nobody uses; nothing where there are none. */
function countUnused(
  inventories: DriftRequest["inventories"],
  { after }: Comparison,
): Pick<DriftReport, "unusedIdentities"> {
  const found = inventories.map((inventory) => {
    const isOwn = ({ uid = "" }: Entity) => uid === inventory.root || uid.startsWith(`${inventory.root}/`);
    const entities = new Map([...after.entities].filter(([, entity]) => isOwn(entity)));
    return findUnused({ entities, grants: [] }, inventory, UNUSED_DAYS);
  });
  const [unused, unknown] = [found.flatMap((each) => each.unused), found.flatMap((each) => each.unknown)];
  return unused.length === 0
    ? {}
    : { unusedIdentities: { days: UNUSED_DAYS, unused: unused.length, unknown: unknown.length } };
}

function countGrants(grants: Comparison["grants"]): GrantCounts {
  return countBy(grants, ["gained", "lost", "widened", "narrowed"], ({ change }) => change);
}

/** Turns what a run found into a report. */
export function reportDrift(result: DriftResult): DriftReport {
  const { request, notes, comparison, compared, coverage, differences } = result;
  const { failOn, states, inventories, version, now } = request;
  const stale = inventories.flatMap((inventory) => describeStaleness(inventory, now) ?? []);
  const incomplete = new Set([...notes.incomplete, ...stale]);
  const judged = suppressFindings(result);
  const { suppressed, unused, expired } = judged;
  const findings = judged.findings.map((finding) => withEntry(finding, now));
  const accepted = acceptedGrants(comparison.grants, findings, suppressed);
  const open = comparison.grants.filter((change) => !accepted.has(change));
  return fitReport({
    schemaVersion: SCHEMA_VERSION,
    tool: { name: "pulumi-platform", version },
    command: "drift",
    stacks: [...new Set(states.flatMap(({ stack }) => stack ?? []))].sort(compareTexts),
    scope: describeScope(request),
    complete: incomplete.size === 0,
    incomplete: [...incomplete].sort(compareTexts),
    failOn,
    failing: countMeeting(findings, failOn),
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
    ...(accepted.size === 0 ? {} : { acceptedGrants: [...accepted] }),
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
