import { reportProblem } from "../../provider/access/report/report";
import type { Sources } from "../../provider/access/review/compare";
import type { RecordedResource } from "../../provider/access/documents/engineState";
import type { Preview } from "../../provider/access/documents/preview";
import type { Provenance, Report, ReviewReport } from "../../provider/access/report/report";
import { review } from "../../provider/access/report/reviewReport";
import { defaultRuleOptions, findingsOf } from "../../provider/access/rules";
import type { RuleOptions } from "../../provider/access/rules";
import { step } from "../../provider/access/rules/ruleTesting";
import type { DescribedState as State } from "../../provider/access/rules/ruleTesting";
import { withNamedKinds } from "./namedKinds";

export { inventoryOf, preview, state, step, urn } from "../../provider/access/rules/ruleTesting";
export type { DescribedState as State } from "../../provider/access/rules/ruleTesting";

export const same = (one: State) => step("same", one, one);

/** What a state records of a resource that has nothing but what is given. */
export const recordedResource = (given: Partial<RecordedResource>): RecordedResource => ({
  urn: "",
  type: "",
  inputs: {},
  outputs: {},
  secretPaths: [],
  external: false,
  protect: false,
  retainOnDelete: false,
  pendingDelete: false,
  ignoreChanges: [],
  ...given,
});

/** Where the reports of tests come from. */
export const PROVENANCE: Provenance = { time: "2026-06-01T00:00:00.000Z", package: "1.2.3" };

/** The report of all rules, as the command line makes it with these options alone. */
export function judge(
  given: Preview,
  more: Omit<Sources, "preview"> = {},
  options: Partial<RuleOptions> = {},
): ReviewReport {
  const now = Date.parse("2026-06-01T00:00:00Z");
  const report = review(
    { preview: given, ...more },
    {
      provenance: PROVENANCE,
      failOn: "high",
      rules: (comparison) =>
        withNamedKinds(findingsOf(comparison, { ...defaultRuleOptions(now), ...options })),
    },
  );
  // What post and verify refuse is no report.
  const problem = reportProblem(JSON.parse(JSON.stringify(report)));
  if (problem !== undefined) throw new Error(problem);
  return report;
}

/** Each finding that fails a run: `X3 sink of subscription events is secret: …`. */
export function failing({ findings }: Report): string[] {
  return findings
    .filter(({ severity }) => severity === "critical" || severity === "high")
    .map(({ id, message }) => `${id} ${message}`);
}
