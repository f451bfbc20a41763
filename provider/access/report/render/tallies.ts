import type { ManagedCount, Report } from "../report";
import { differenceKinds, driftDirections, severities } from "../../review/finding";
import type { Severity } from "../../review/finding";
import { changeOrder } from "./words";

/** A row of numbers in the head of a report. */
export interface Tally {
  readonly label: string;
  readonly counts: readonly { readonly count: number; readonly name: string }[];
}

/** What the commands count, but for their findings. */
export function tallies(report: Report): Tally[] {
  const tally = <Name extends string>(
    label: string,
    counts: Readonly<Record<Name, number>>,
    names: readonly Name[],
  ): Tally => ({ label, counts: names.map((name) => ({ count: counts[name], name })) });
  switch (report.command) {
    case "review":
      return [tally("Grants", report.summary, [...changeOrder, "unchanged"])];
    case "drift": {
      const { summary } = report;
      const compared = tally("Compared", { resources: summary.compared }, ["resources"]);
      const differences = tally("Drift", summary.differences, differenceKinds);
      const access = tally("Access", summary.directions, driftDirections);
      const grants = report.grants.length === 0 ? [] : [tally("Grants", summary, changeOrder)];
      return report.differences.length === 0 ? [compared] : [compared, differences, access, ...grants];
    }
    case "verify":
      return [tally("Access", report.summary, ["confirmed", "unannounced", "missing", "unchanged"])];
  }
}

/** `2 gained, 0 lost`. */
export function tallyLine({ counts }: Tally): string {
  return counts.map(({ count, name }) => `${count.toLocaleString("en-US")} ${name}`).join(", ");
}

/** `2 critical, 1 high`: those that there are, worst first. */
export function severityCounts(report: Report): string {
  const present = severities.filter((severity) => report.summary.findings[severity] > 0);
  return present.map((severity: Severity) => `${report.summary.findings[severity]} ${severity}`).join(", ");
}

const share = ({ managed, total }: ManagedCount): string =>
  `${managed.toLocaleString("en-US")} of ${total.toLocaleString("en-US")} (${total === 0 ? 100 : Math.floor((managed / total) * 100)} %)`;

/** What share of the organisation is in code: the whole, then each kind, then each group. */
export function coverageLines(report: Report): string[] {
  if (report.command !== "drift" || report.coverage === undefined) return [];
  const { byKind, byGroup, ...whole } = report.coverage;
  return [
    `all kinds: ${share(whole)}`,
    ...byKind.map(({ kind, ...count }) => `${kind}: ${share(count)}`),
    ...byGroup.map(({ path, ...count }) => `${path}: ${share(count)}`),
  ];
}
