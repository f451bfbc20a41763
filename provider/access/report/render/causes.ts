import { subjectKinds } from "../../graph/accessKinds";
import { tupleOf } from "../../graph/grant";
import type { GrantChange, Named } from "../../graph/grant";
import type { Finding } from "../../review/finding";
import type { Difference, Report, TrustChange } from "../report";
import { differenceFinder, listTrustChanges } from "./words";

/** A resource whose change alters what existing grants mean: a role, an identity, a provider of identities. */
export type ChangedResource = Omit<TrustChange, "grants">;

/** What one change of the program, or one difference, leads to. */
export interface Cause {
  /** Worst first; at least one. */
  readonly findings: readonly [Finding, ...Finding[]];
  readonly change?: ChangedResource;
  readonly difference?: Difference;
  /** The grants that the change widens or narrows without touching them. */
  readonly grants: readonly GrantChange[];
}

function changedResources(report: Report): readonly ChangedResource[] {
  if (report.command !== "drift") return listTrustChanges(report);
  return report.differences
    .filter(({ kind }) => kind === "changed")
    .map(({ type, ...rest }) => ({ ...rest, kind: type }));
}

/** Whether the grant itself stays, so that the change of its holder or its role explains it. */
export function isIndirect({ before, grant }: GrantChange): boolean {
  return before?.role.key === grant.role.key && before.group.key === grant.group.key;
}

/** Finds the change that explains a finding or a change of a grant. */
export class CauseFinder {
  private readonly changes = new Map<string, ChangedResource>();
  private readonly grants = new Map<string, GrantChange>();

  constructor(report: Report) {
    for (const change of changedResources(report)) {
      for (const id of [change.urn, change.uid]) {
        if (id !== undefined) this.changes.set(`${change.kind} ${id}`, change);
      }
    }
    for (const change of report.grants) this.grants.set(tupleOf(change.grant), change);
  }

  ofGrant(change: GrantChange): ChangedResource | undefined {
    if (!isIndirect(change)) return undefined;
    const { subject, role } = change.grant;
    const [ofSubject, ofRole] = [this.find(subject), this.find(role, "Role")];
    const isOfRole = change.capabilitiesAdded.length + change.capabilitiesRemoved.length > 0;
    return isOfRole ? (ofRole ?? ofSubject) : (ofSubject ?? ofRole);
  }

  ofFinding({ kind, urn, uid, grant }: Finding): ChangedResource | undefined {
    const own = kind === undefined ? undefined : this.find({ urn, uid }, kind);
    if (own !== undefined || grant === undefined) return own;
    const change = this.grants.get(tupleOf(grant));
    return change === undefined ? undefined : this.ofGrant(change);
  }

  private find(
    { urn, uid }: Pick<Partial<Named>, "urn" | "uid">,
    kind?: string,
  ): ChangedResource | undefined {
    const kinds = kind === undefined ? subjectKinds : [kind];
    for (const each of kinds) {
      const found = this.changes.get(`${each} ${urn}`) ?? this.changes.get(`${each} ${uid}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** One resource is one cause; a finding about none stands alone. */
function resourceKey({ kind, urn, uid, fingerprint }: Finding): string {
  const id = urn ?? uid;
  return id === undefined ? `finding ${fingerprint}` : `${kind} ${id}`;
}

/** Findings by what causes them, in the order of the worst finding of each. */
export function groupByCause(report: Report, findings: readonly Finding[], finder: CauseFinder): Cause[] {
  const findDifference = differenceFinder(report);
  const groups = new Map<ChangedResource | string, [Finding, ...Finding[]]>();
  for (const finding of findings) {
    const key = finder.ofFinding(finding) ?? resourceKey(finding);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [finding]);
    else known.push(finding);
  }
  const grants = new Map<ChangedResource, GrantChange[]>();
  for (const change of report.grants) {
    const cause = finder.ofGrant(change);
    if (cause === undefined) continue;
    const known = grants.get(cause);
    if (known === undefined) grants.set(cause, [change]);
    else known.push(change);
  }
  return [...groups].map(([key, grouped]) => {
    const change = typeof key === "string" ? undefined : key;
    const difference = grouped.map(findDifference).find((found) => found !== undefined);
    return {
      findings: grouped,
      grants: change === undefined ? [] : (grants.get(change) ?? []),
      ...(change === undefined ? {} : { change }),
      ...(difference === undefined ? {} : { difference }),
    };
  });
}
