import { GroupHierarchy, grantKey } from "../graph/groupHierarchy";
import { nameIn, tupleOf } from "../graph/grant";
import type { Grant, GrantChange } from "../graph/grant";
import { replaceKeys } from "../graph/keys";
import type { ReviewReport } from "../report/report";
import { entityLabel } from "./compareExpected";
import type { Differences, EntityDifference } from "./compareExpected";
import type { ResolvedAccess } from "./resolveCreated";

/** What the review announced, beside what happened. */
export interface AnnouncedChanges {
  /** Announced changes that happened. */
  readonly confirmed: readonly GrantChange[];
  /** Announced changes that did not happen. */
  readonly missing: readonly GrantChange[];
  /** Access that was not announced. */
  readonly unannounced: readonly GrantChange[];
}

const STILL_GRANTED = "announced as lost, but still granted";
const STILL_MORE = "announced as narrowed, but still as it was";

const describeGrant = ({ grant, before = grant }: GrantChange): string => {
  const { subject, role, group } = before;
  return `${subject.displayName}: ${nameIn(role)} at ${group.path}`;
};

/** A grant that names what was created as the server names it. */
function withNewKeys(grant: Grant, newKeys: ReadonlyMap<string, string>): Grant {
  const { subject, role, group } = grant;
  const renamed = <K extends { readonly key: string }>(part: K): K => ({
    ...part,
    key: replaceKeys(part.key, newKeys),
  });
  return { ...grant, subject: renamed(subject), role: renamed(role), group: renamed(group) };
}

/** Compares what the review announced with what differs: access that was to be lost and remains is not new. */
export function compareWithAnnouncement(
  review: ReviewReport,
  differences: Differences,
  newKeys: ResolvedAccess["newKeys"],
): AnnouncedChanges {
  const { more, remaining, less, taken, ungranted, expected } = differences;
  const remainingKeys = new Set(remaining.map(({ grant }) => tupleOf(grant)));
  const hierarchy = new GroupHierarchy(expected.entities);
  const differing = new Set(
    [...more, ...remaining, ...less, ...taken, ...ungranted].map(({ grant, before }) =>
      grantKey(before ?? grant, hierarchy),
    ),
  );
  const isMissing = ({ change, grant }: GrantChange): boolean =>
    change === "lost"
      ? remainingKeys.has(tupleOf(grant))
      : differing.has(grantKey(withNewKeys(grant, newKeys), hierarchy));
  return {
    confirmed: review.grants.filter((change) => !isMissing(change)),
    missing: [...less, ...taken, ...remaining.map(asNotLost)],
    unannounced: more,
  };
}

/** A grant that is still there, as the announced change that did not happen. */
function asNotLost(change: GrantChange): GrantChange {
  return change.change === "gained"
    ? { ...change, change: "lost", reason: STILL_GRANTED }
    : { ...change, change: "narrowed", reason: STILL_MORE };
}

/** What differs of the parts of a grant, as in "Identity ci: claimMatch.subject". */
function describeCauses(
  { subject, role, group, uid = "" }: GrantChange["grant"],
  causes: Differences["causes"],
): string[] {
  const parts = [subject.key, role.key, group.key, uid].flatMap((key) => causes.get(key) ?? []);
  return describeDifferences(parts);
}

/** What differs of objects, a text each. */
export function describeDifferences(differences: readonly EntityDifference[]): string[] {
  return [...new Set(differences.map(describeDifference))];
}

function describeDifference({ entity, what, fields }: EntityDifference): string {
  const label = entityLabel(entity);
  const paths = [...new Set(fields.map(({ path }) => path))].join(", ");
  switch (what) {
    case "new":
      return `${label} is new`;
    case "deleted":
      return `${label} is gone`;
    case "remaining":
      return `${label} is still there`;
    case "unapplied":
      return `${label} is as it was: ${paths}`;
    case "changed":
      return `${label} has changed: ${paths}`;
  }
}

/** What is not as announced without being more access, a line each. */
export function describeMissing(differences: Differences): string[] {
  const { remaining, less, taken, causes, entities } = differences;
  const describeTaken = (change: GrantChange): string => {
    const { grant, before = grant } = change;
    const reasons = [...new Set([...describeCauses(before, causes), ...describeCauses(grant, causes)])];
    const what = reasons.length === 0 ? `the ${grant.sourceKind} is gone` : reasons.join("; ");
    return `less access than there was, and nothing announced it: ${describeGrant(change)}: ${what}`;
  };
  return [
    ...less.map((change) => `announced, but missing: ${describeGrant(change)}`),
    ...taken.map(describeTaken),
    ...remaining.map(asNotLost).map((change) => `${change.reason}: ${describeGrant(change)}`),
    ...entities.flatMap((difference) => {
      const { entity, what, fields } = difference;
      const label = entityLabel(entity);
      if (what === "deleted") return [`announced, but missing: ${label}`];
      if (what === "remaining") return [`announced as deleted, but still there: ${label}`];
      if (what !== "unapplied") return [];
      return [`announced, but missing: ${label}: ${fields.map(({ path }) => path).join(", ")}`];
    }),
  ];
}
