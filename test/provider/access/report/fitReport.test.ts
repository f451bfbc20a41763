import { reportProblem, reportDigest, parseReviewReport } from "../../../../provider/access/report/report";
import type { Report } from "../../../../provider/access/report/report";
import { fitReport } from "../../../../provider/access/report/fitReport";
import { renderers } from "../../../../provider/access/report/render";
import type { Finding } from "../../../../provider/access/review/finding";
import { reportOf } from "../fixtures";

const MOST = 500_000;
/** Invisible characters are six bytes each in JSON. */
const WIDE = "\u200b".repeat(500);

const finding = (n: number, severity: Finding["severity"]): Finding => ({
  id: "T1",
  rule: "any-subject",
  severity,
  message: `finding ${n} ${WIDE}`,
  details: [],
  fingerprint: "0123456789abcdef0123456789abcdef",
});

const many = <Item>(count: number, make: (n: number) => Item): Item[] =>
  Array.from({ length: count }, (_, n) => make(n));

const report = reportOf("create.json");
const [grant] = report.grants;
const [group] = report.groups;
if (grant === undefined || group === undefined) throw new Error("the fixture has neither grants nor groups");

/** Reports of which each list alone is too long, and what is said of it. */
const wide = many(500, () => WIDE);
const mixed = many(500, (n) => finding(n, n < 10 ? "high" : "low"));
const groups = many(2_000, (n) => ({ ...group, path: `${n} ${WIDE.slice(300)}` }));
const none = { unused: [], expired: [] };
const long: [string, Partial<Report>, RegExp][] = [
  ["findings", { findings: mixed }, /of 500 findings \(\d+ low\)/],
  ["suppressed", { suppressed: many(500, (n) => finding(n, "high")) }, /of 500 accepted findings/],
  ["grants", { grants: many(1_000, () => grant) }, /of 1000 changed grants/],
  ["groups", { groups }, /of 2000 groups/],
  ["unresolved", { unresolved: wide }, /of 500 lines about what is not resolved/],
  ["incomplete", { incomplete: wide }, /of 500 lines about what is not checked/],
  ["policy", { policy: { ...none, unused: wide } }, /of 500 entries of the policy file without effect/],
  ["broken assertions", { policy: { ...none, standing: wide } }, /of 500 assertions that were broken before/],
];
const all: [string, Partial<Report>, RegExp] = [
  "all together",
  Object.assign({}, ...long.map(([, lists]) => lists)) as Partial<Report>,
  /of 500 findings .* of 1000 changed grants, .* of 2000 groups, /,
];

test.each([...long, all])(
  "a report with too many of %s is cut to what fits, and says so",
  (_what, lists, says) => {
    const whole = { ...report, ...lists } as typeof report;
    const fitted = fitReport(whole, MOST);
    const size = Buffer.byteLength(renderers.json(fitted, {}));
    expect(size).toBeLessThan(MOST);
    // What fits is listed.
    expect(size).toBeGreaterThan(MOST / 2);
    expect(fitted.complete).toBe(false);
    expect(fitted.incomplete.at(-1)).toMatch(says);
    expect(fitted.incomplete.at(-1)).toMatch(
      /^the report would have more than 0\.5 MB, .*: split the change into smaller ones$/,
    );
    expect(fitted.summary).toEqual(whole.summary);
    expect(reportProblem(JSON.parse(JSON.stringify(fitted)))).toBeUndefined();
  },
);

test.each([
  ["letters that are longer in HTML", "<'&".repeat(200)],
  ["marks that are written out", "\u0301".repeat(300)],
  ["one letter", "n".repeat(600)],
])(
  "the page of a report of names of %s has no more bytes than its JSON may have, and says so",
  (_what, name) => {
    const grants = many(400, (n) => ({
      ...grant,
      grant: { ...grant.grant, subject: { ...grant.grant.subject, displayName: `${n} ${name}` } },
    }));
    const findings = many(200, (n) => ({ ...finding(n, "high"), message: `${n} ${name}` }));
    const long = { ...report, grants, findings };
    const page = renderers.html(long, { maxBytes: MOST });
    expect(Buffer.byteLength(page)).toBeLessThanOrEqual(MOST);
    expect(Buffer.byteLength(page)).toBeGreaterThan(MOST / 6);
    expect(page).toMatch(
      /the page would have more than 0\.5 MB, so it counts and does not list \d+ of 200 findings/,
    );
    expect(renderers.html(long, {})).not.toContain("the page would have more");
  },
);

test("the worst findings stay", () => {
  const kept = fitReport({ ...report, findings: mixed }, MOST).findings;
  expect(kept).toEqual(mixed.slice(0, kept.length));
});

test("a list leaves to the others what it does not need", () => {
  const findings = many(90, (n) => finding(n, "low"));
  expect(fitReport({ ...report, findings }, MOST)).toEqual({ ...report, findings });
});

test("a report that was cut is not verified", () => {
  const fitted = fitReport({ ...report, findings: many(500, (n) => finding(n, "low")) }, MOST);
  const text = JSON.stringify({ ...fitted, digest: reportDigest(fitted) });
  expect(() => parseReviewReport(text, "report.json")).toThrow(/is incomplete, so it cannot be verified/);
});
