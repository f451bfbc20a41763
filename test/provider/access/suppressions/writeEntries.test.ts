import { applyPolicy } from "../../../../provider/access/suppressions/applyPolicy";
import { parsePolicy, PolicyError } from "../../../../provider/access/suppressions/policyDocument";
import { teamComparison, teamReview } from "../report/render/teamReview";

const NOW = Date.parse("2026-05-11T06:00:00Z");
const report = teamReview();

test("every finding of a review has an entry that suppresses it, and not the worse ones beside it", () => {
  expect(report.findings.map(({ id, policyEntry }) => [id, policyEntry !== undefined])).toEqual(
    report.findings.map(({ id }) => [id, true]),
  );
  for (const finding of report.findings) {
    const entry = (finding.policyEntry ?? "").replace('reason: ""', "reason: agreed by the owners");
    const policy = parsePolicy(`allow:\n${entry}\n`, "access-policy.yaml");
    const { suppressed, unused } = applyPolicy(
      report.findings,
      policy,
      NOW,
      "review",
      true,
      teamComparison(),
    );
    expect(suppressed.map(({ fingerprint }) => fingerprint)).toContain(finding.fingerprint);
    expect(new Set(suppressed.map(({ id }) => id))).toEqual(new Set([finding.id]));
    expect(unused).toEqual([]);
  }
});

test("the file is refused until a person says why a finding is accepted", () => {
  for (const { policyEntry } of report.findings) {
    expect(() => parsePolicy(`allow:\n${policyEntry}\n`, "access-policy.yaml")).toThrow(PolicyError);
  }
});
