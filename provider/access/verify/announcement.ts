import { GroupHierarchy, grantKey } from "../graph/groupHierarchy";
import type { Grant, GrantChange } from "../graph/grant";
import { replaceKeys } from "../graph/keys";
import type { ReviewReport } from "../report/report";
import { entityLabel } from "./compareExpected";
import type { Differences } from "./compareExpected";
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

const describeGrant = ({ subject, role, group }: GrantChange["grant"]): string =>
  `${subject.displayName}: ${role.name ?? role.uid ?? role.key} at ${group.path}`;

const tupleKey = ({ subject, role, group }: GrantChange["grant"]): string =>
  JSON.stringify([subject.key, role.key, group.key]);

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
  const { more, less, expected } = differences;
  const lost = new Set(
    review.grants.filter(({ change }) => change === "lost").map(({ grant }) => tupleKey(grant)),
  );
  const isRemaining = ({ change, grant }: GrantChange): boolean =>
    change === "gained" && lost.has(tupleKey(grant));
  const remaining = more.filter(isRemaining);
  const remainingKeys = new Set(remaining.map(({ grant }) => tupleKey(grant)));
  const hierarchy = new GroupHierarchy(expected.entities);
  const differing = new Set(
    [...more, ...less].map(({ grant, before }) => grantKey(before ?? grant, hierarchy)),
  );
  const isMissing = ({ change, grant }: GrantChange): boolean =>
    change === "lost"
      ? remainingKeys.has(tupleKey(grant))
      : differing.has(grantKey(withNewKeys(grant, newKeys), hierarchy));
  return {
    confirmed: review.grants.filter((change) => !isMissing(change)),
    missing: [
      ...less,
      ...remaining.map((change): GrantChange => ({ ...change, change: "lost", reason: STILL_GRANTED })),
    ],
    unannounced: more.filter((change) => !isRemaining(change)),
  };
}

/** What was announced and did not happen, a line each. */
export function describeMissing({ missing }: AnnouncedChanges, differences: Differences): string[] {
  return [
    ...missing.map(({ grant, before, reason }) =>
      reason === STILL_GRANTED
        ? `${STILL_GRANTED}: ${describeGrant(grant)}`
        : `announced, but missing: ${describeGrant(before ?? grant)}`,
    ),
    ...differences.entities
      .filter(({ what }) => what === "deleted")
      .map(({ entity }) => `announced, but missing: ${entityLabel(entity)}`),
  ];
}
