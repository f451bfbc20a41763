import { fitReport } from "../report/fitReport";
import { SCHEMA_VERSION } from "../report/report";
import { severities, sortFindings } from "../review/finding";
import type { Provenance, TrustChange, VerifyReport } from "../report/report";
import { countBy } from "../report/counts";
import { compareWithAnnouncement, describeMissing } from "./announcement";
import type { AnnouncedChanges } from "./announcement";
import { compareExpected } from "./compareExpected";
import type { Differences, EntityDifference } from "./compareExpected";
import { describeGaps, splitByRoot } from "./gaps";
import { resolveCreated } from "./resolveCreated";
import { liveEntities, readExpected } from "./sources";
import type { VerifySources } from "./sources";
import { findUnannounced } from "./verifyFindings";

export type { VerifySources } from "./sources";

export interface VerifyOptions {
  readonly provenance: Provenance;
}

function toTrustChange({ kind, entity, fields }: EntityDifference): TrustChange {
  const { name, key, urn, uid } = entity;
  return { kind, name: name ?? key, urn, uid, fields, grants: 0 };
}

function buildReport(
  { review }: VerifySources,
  { provenance }: VerifyOptions,
  announced: AnnouncedChanges,
  differences: Differences,
  incomplete: readonly string[],
): VerifyReport {
  const { confirmed, unannounced, missing } = announced;
  const changed = differences.entities.filter(({ what }) => what === "new" || what === "changed");
  const findings = sortFindings(findUnannounced(unannounced, changed, differences.causes));
  return fitReport({
    schemaVersion: SCHEMA_VERSION,
    tool: { name: "pulumi-platform", version: provenance.package },
    command: "verify",
    stacks: review.stacks,
    complete: incomplete.length === 0,
    incomplete,
    failOn: "low",
    failing: findings.length,
    summary: {
      confirmed: confirmed.length,
      unannounced: unannounced.length,
      missing: missing.length,
      unchanged: differences.unchanged,
      findings: countBy(findings, severities, ({ severity }) => severity),
      suppressed: 0,
    },
    grants: confirmed,
    unannounced,
    missing,
    trust: changed.map(toTrustChange),
    findings,
    suppressed: [],
    unresolved: differences.unread,
    policy: { unused: [], expired: [] },
    provenance,
    plan: review.plan,
    reviewDigest: review.digest,
  });
}

/**
 * Compares what an approved review announced with what the organisation contains after the update. Does no I/O:
 * the same input gives the same report.
 *
 * @throws DocumentError where the documents do not belong together.
 */
export function verify(sources: VerifySources, options: VerifyOptions): VerifyReport {
  const expected = readExpected(sources);
  const live = liveEntities(sources);
  const resolved = resolveCreated(expected, live.values(), sources.state);
  const { inside, outside } = splitByRoot(resolved.entities, expected.root);
  const before = splitByRoot(resolved.before, expected.root).inside;
  const { inventory, state } = sources;
  const differences = compareExpected({ expected: inside, before, live }, { expected, inventory, state });
  const announced = compareWithAnnouncement(sources.review, differences, resolved.newKeys);
  const incomplete = [
    ...describeGaps(sources, expected.root, outside),
    ...differences.gaps,
    ...describeMissing(differences),
  ];
  return buildReport(sources, options, announced, differences, [...new Set(incomplete)]);
}
