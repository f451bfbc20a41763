import type { Grant, GrantChange, Subject } from "../../graph/grant";
import { weighGrants } from "../counts";
import type { Report } from "../report";
import { changeOrder, chooseName, plural, nameSubject } from "./words";

/** A report in one sentence: it holds names that somebody chose. */
export interface Headline {
  /** `2 identities gain owner at acme`. */
  readonly main: string;
  /** `4 more changes of access`. */
  readonly rest?: string;
}

const verbs: Readonly<Record<GrantChange["change"], readonly [one: string, many: string, after: string]>> = {
  gained: ["gains", "gain", ""],
  widened: ["gains more access as", "gain more access as", ""],
  lost: ["loses", "lose", ""],
  narrowed: ["loses some access as", "lose some access as", ""],
};

/** Changes of a verification that nobody announced come before those that somebody did. */
function listShownChanges(report: Report): readonly GrantChange[] {
  return report.command === "verify" && report.unannounced.length > 0 ? report.unannounced : report.grants;
}

/** What several subjects of one type are called. A name tells nothing: that of a service account may hold an @ too. */
const subjectNouns: Readonly<Record<Subject["type"], string>> = {
  identity: "identities",
  invite: "invites",
  identityProvider: "identity providers",
  externalGroup: "directory groups",
  service: "services",
  unknown: "subjects",
};

function countSubjects(grants: readonly Grant[]): string {
  const subjects = new Map(grants.map((grant) => [grant.subject.key, grant]));
  const [only, ...more] = subjects.values();
  if (only !== undefined && more.length === 0) return nameSubject(only).displayName;
  const types = new Set(Array.from(subjects.values(), ({ subject }) => subject.type));
  const [type = "unknown"] = types.size === 1 ? types : [];
  return `${subjects.size.toLocaleString("en-US")} ${subjectNouns[type]}`;
}

/** The changes that matter most: those of the worst finding, with all that change alike. */
function mostSevere(report: Report, changes: readonly GrantChange[]): GrantChange[] {
  const weigh = weighGrants(report.findings);
  const alike = new Map<string, { changes: GrantChange[]; weight: number }>();
  for (const change of changes) {
    const { role, group } = change.grant;
    const key = JSON.stringify([change.change, role.key, group.key]);
    const weight = weigh(change) * 10 + changeOrder.indexOf(change.change);
    const known = alike.get(key) ?? { changes: [], weight };
    known.changes.push(change);
    known.weight = Math.min(known.weight, weight);
    alike.set(key, known);
  }
  const sorted = [...alike.values()].sort(
    (a, b) => a.weight - b.weight || b.changes.length - a.changes.length,
  );
  return sorted[0]?.changes ?? [];
}

/** The report in one sentence: who gains or loses the most. Undefined where no grant changes. */
export function headlineOf(report: Report): Headline | undefined {
  const changes = listShownChanges(report);
  const shownChanges = mostSevere(report, changes);
  const [first] = shownChanges;
  if (first === undefined) return undefined;
  const { role, group } = first.grant;
  const grants = shownChanges.map(({ grant }) => grant);
  const isOne = new Set(grants.map(({ subject }) => subject.key)).size === 1;
  const [one, many, after] = verbs[first.change];
  const main = `${countSubjects(grants)} ${isOne ? one : many} ${chooseName(role)} at ${group.path}${after}`;
  const hiddenCount = changes.length - shownChanges.length;
  return {
    main,
    ...(hiddenCount === 0
      ? {}
      : { rest: plural(hiddenCount, "more change of access", "more changes of access") }),
  };
}
