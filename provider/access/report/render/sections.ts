import type { GrantChange } from "../../graph/grant";
import type { Report, TrustChange } from "../report";
import type { Entry, EntryList } from "./entries";
import { coverageLines } from "./head";
import { changeOrder, describeUnrelatedChanges, listTrustChanges } from "./words";

/** A part of a report below its head: every form prints the same parts in the same order. */
export interface Section {
  readonly id: string;
  readonly heading: string;
  /** How many things it is about: findings, not entries. */
  readonly count: number;
  /** Whether a reader must see it without opening it. */
  readonly isOpen: boolean;
  readonly content: Content;
}

type Content =
  | { readonly kind: "lines"; readonly lines: readonly string[] }
  | { readonly kind: "entries"; readonly entries: readonly Entry[] }
  | { readonly kind: "grants"; readonly grants: readonly GrantChange[] }
  | { readonly kind: "trust"; readonly changes: readonly TrustChange[] };

const findingHeadings: Readonly<Record<Report["command"], string>> = {
  review: "Risks",
  drift: "What differs",
  verify: "Not announced",
};

const grantHeadings: Readonly<Record<Report["command"], string>> = {
  review: "Who gains and loses what",
  drift: "Access gained and lost by drift",
  verify: "Announced and applied",
};

const lineSection = (id: string, heading: string, lines: readonly string[], isOpen = false): Section => ({
  id,
  heading,
  count: lines.length,
  isOpen,
  content: { kind: "lines", lines },
});

/** The parts of a report. Of those that are empty, only findings and grants are there: that there is none says something. */
export function sectionsOf(report: Report, { open, accepted }: EntryList): Section[] {
  const { command, findings, suppressed, policy, unresolved } = report;
  const shown = new Set<unknown>(open.map(({ change }) => change));
  const trust = listTrustChanges(report).filter((change) => !shown.has(change));
  const sorted = changeOrder.flatMap((kind) => report.grants.filter(({ change }) => change === kind));
  const sections: Section[] = [
    {
      id: "findings",
      heading: findingHeadings[command],
      count: findings.length,
      isOpen: true,
      content: { kind: "entries", entries: open },
    },
    {
      id: "grants",
      heading: grantHeadings[command],
      count: sorted.length,
      isOpen: true,
      content: { kind: "grants", grants: sorted },
    },
    {
      id: "trust",
      heading: "Roles and trust changed",
      count: trust.length,
      isOpen: false,
      content: { kind: "trust", changes: trust },
    },
    {
      id: "suppressed",
      heading: "Suppressed by the policy file",
      count: suppressed.length,
      isOpen: false,
      content: { kind: "entries", entries: accepted },
    },
    lineSection("coverage", "Coverage", coverageLines(report)),
    lineSection("unresolved", "Unresolved", unresolved),
    lineSection("policyChanged", "Policy file changed", policy.changed ?? [], true),
    lineSection("expired", "Expired suppressions", policy.expired, true),
    lineSection("standing", "Assertions broken before", policy.standing ?? []),
    lineSection("unused", "Unused suppressions", policy.unused),
    lineSection("unrelated", "Other changes", describeUnrelatedChanges(report)),
  ];
  return sections.filter(({ id, count }) => count > 0 || id === "findings" || id === "grants");
}
