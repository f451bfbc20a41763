import { parseReport, reportProblem, reportDigest } from "../../../../provider/access/report/report";
import { cleanReview, largeReview, nightDrift, riskyReview, wholeReports } from "./render/reports";

test.each([riskyReview, nightDrift, cleanReview, largeReview(50), ...wholeReports])(
  "a report of ours is one (%#)",
  (report) => {
    const whole = report.command === "review" ? { ...report, digest: reportDigest(report) } : report;
    expect(parseReport(JSON.stringify(whole), "report.json")).toEqual(JSON.parse(JSON.stringify(whole)));
  },
);

test.each([
  ["findings", { findings: [] }],
  ["its verdict", { failing: 0 }],
  ["the commit", { provenance: { ...riskyReview.provenance, commit: "0".repeat(40) } }],
])("a review whose file has other %s than its digest says is refused", (_what, edit) => {
  const altered = { ...riskyReview, digest: reportDigest(riskyReview), ...edit };
  expect(() => parseReport(JSON.stringify(altered), "review.json")).toThrow(
    "review.json does not match its digest: it was changed after the review, or is truncated",
  );
});

const [first, ...rest] = riskyReview.findings;

test.each<[string, unknown, string]>([
  ["no object", null, "the report must be an object"],
  ["a member of another type", { ...riskyReview, complete: "yes" }, "complete must be true or false"],
  [
    "a member that no report has",
    { ...riskyReview, "x\u001b[2J": 1 },
    '["x\\u001b[2J"] is an unknown property; known are schemaVersion, ',
  ],
  ["a member of another command", { ...riskyReview, differences: [] }, "differences is an unknown property"],
  ["another command", { ...riskyReview, command: "plan" }, "command must be one of review, drift, verify"],
  [
    "a severity that there is not",
    { ...riskyReview, findings: [{ ...first, severity: "worst" }, ...rest] },
    'findings[0].severity must be one of critical, high, medium, low, not "worst"',
  ],
  ["a number below the least", { ...riskyReview, failing: -1 }, "failing must be 0 or more"],
  [
    "a commit that is none",
    { ...riskyReview, provenance: { ...riskyReview.provenance, commit: "main" } },
    "provenance.commit must match ^[0-9a-f]{7,64}$",
  ],
  [
    "an older version",
    { ...riskyReview, schemaVersion: 1 },
    "its schemaVersion is 1, and this version of pulumi-platform reads 2: make the report again with this version",
  ],
])("of %s the problem is named in one line, with its place", (_what, value, problem) => {
  const read: unknown = JSON.parse(JSON.stringify(value));
  expect(reportProblem(read)).toContain(problem);
  expect(() => parseReport(JSON.stringify(value), "r\n.json")).toThrow(
    value === null ? /^r \.json is not one object of JSON: .*$/ : /^r \.json is not a valid report: .*$/,
  );
});
