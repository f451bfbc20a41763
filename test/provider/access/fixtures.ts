import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ReviewReport } from "../../../provider/access/report/report";
import type { Finding } from "../../../provider/access/review/finding";
import type { GrantChange } from "../../../provider/access/graph/grant";
import { parsePreview } from "../../../provider/access/documents/preview";
import { review } from "../../../provider/access/report/reviewReport";
import { parseStateExport } from "../../../provider/access/documents/stateExport";
import { PROVENANCE } from "../../support/documents";

export const FIXTURES = join(__dirname, "../../fixtures/previews");

/** A document captured from the CLI by scripts/captureFixtures.mjs. */
export function fixture(name: string): Buffer {
  return readFileSync(join(FIXTURES, name));
}

/** The report on a captured preview, without rules. */
export function reportOf(
  preview: string,
  { before, rules = () => [] }: { before?: string; rules?: () => Finding[] } = {},
): ReviewReport {
  return review(
    {
      preview: parsePreview(fixture(preview), preview),
      ...(before === undefined ? {} : { before: parseStateExport(fixture(before), before) }),
    },
    { provenance: PROVENANCE, failOn: "high", rules },
  );
}

/** One line for each change of a grant. */
export function lines(grants: readonly GrantChange[]): string[] {
  return grants.map(({ change, grant: { subject, role, group }, capabilitiesAdded, capabilitiesRemoved }) => {
    const counts = `+${capabilitiesAdded.length} -${capabilitiesRemoved.length}`;
    return `${change}: ${subject.displayName}: ${role.name ?? "?"} at ${group.path} (${counts})`;
  });
}
