import { listedKinds } from "../../../../provider/access/documents/inventory";
import { parsePreview } from "../../../../provider/access/documents/preview";
import type { Finding } from "../../../../provider/access/review/finding";
import { review } from "../../../../provider/access/report/reviewReport";
import { parseStateExport } from "../../../../provider/access/documents/stateExport";
import { inventoryOf, judge, preview, PROVENANCE, state, step } from "../../../support/documents";
import { fixture, lines, reportOf } from "../fixtures";

describe("a review of a captured preview", () => {
  test("names the program and the line of a grant", () => {
    const { grants } = reportOf("create.json");
    const location = grants.find(({ grant }) => grant.sourceKind === "GroupInvite")?.grant.location;
    expect(location).toEqual({ file: "index.js", line: expect.any(Number), column: 17 });
    const program = fixture("program/index.js").toString().split("\n");
    expect(program[(location?.line ?? 0) - 1]).toContain("new platform.GroupInvite");
  });

  test("is incomplete where a group is renamed and what lies in it is not shown", () => {
    const document = JSON.parse(fixture("rename.json").toString()) as { steps: { op: string }[] };
    const steps = document.steps.filter(({ op }) => op !== "same");
    const preview = parsePreview(JSON.stringify({ ...document, steps }));
    const report = review({ preview }, { provenance: PROVENANCE, failOn: "high", rules: () => [] });
    expect(report.incomplete).toEqual([
      expect.stringMatching(/^resources that unchanged ones refer to change \(team\)/),
    ]);
  });

  test("resolves a value that depends on one new resource, and not one that depends on several", () => {
    const report = reportOf("unknowns.json");
    expect(lines(report.grants)).toEqual([
      "gained: GitHub Actions of acme/fresh, branch main: reader at acme / payments (+2 -0)",
      "gained: an identity that is not known yet: reader at acme / payments (+2 -0)",
    ]);
    expect(report.unresolved).toEqual([
      "RoleBinding through-several: identityUid is not known yet: it depends on fresh, other, and which of these is unknown",
    ]);
  });

  test("never calls a secret unchanged", () => {
    const report = reportOf("secret.json");
    expect(report.unresolved).toContain(
      "IdentityProvider provider: oidc.clientSecret is [secret]: it may have changed",
    );
    expect(JSON.stringify(report)).not.toContain("canary");
  });

  test("lists what a refresh found", () => {
    expect(lines(reportOf("refresh.json").grants)).toEqual([
      "widened: anyone who signs in at login.example.com by “staff”: reader at acme (+1 -0)",
      "lost: GitHub Actions of acme/pay, branch main: reader at acme / payments (+0 -2)",
      // No document says of a refresh that all of this has happened: an update could delete the grant last.
      "widened: GitHub Actions of acme/pay, branch main: reader at acme / payments (+1 -0)",
      "widened: auditor@example.com, by invite: reader at acme / audit (+1 -0)",
    ]);
  });

  test.each([
    [
      "protected.json",
      [
        /^the preview failed: builder: Preview failed: .*cannot be deleted$/,
        /^\| because it is protected\. To unprotect the resource, .* or use the command:$/,
        /^\| `pulumi state unprotect .*Identity::builder'`$/,
      ],
    ],
    [
      "program-fails.json",
      [
        /^the preview failed: Running program .*:$/,
        /^\| Error: the program gave up$/,
        /^\| at Object.*\d+\)$/,
      ],
    ],
    ["check-fails.json", [/^the preview failed: wrong: .*CAP_.*$/]],
  ])("says the whole cause where the preview failed (%s)", (name, causes) => {
    const { complete, incomplete } = reportOf(name);
    expect(complete).toBe(false);
    for (const [index, cause] of causes.entries()) expect(incomplete[index]).toMatch(cause);
  });

  test("bounds the cause of a failed preview, and escapes it", () => {
    const causes = Array.from({ length: 40 }, () => `\u001b[2J${"x".repeat(900)}`);
    const diagnostics = [{ severity: "error", message: ["error: no", ...causes].join("\n") }];
    const failed = JSON.stringify({ steps: [], changeSummary: {}, diagnostics });
    const { problems } = parsePreview(failed);
    expect(problems).toHaveLength(13);
    expect(problems[0]).toBe("the preview failed: no");
    expect(problems.at(-1)).toBe("| … and 29 more lines");
    // eslint-disable-next-line no-control-regex
    for (const line of problems) expect(line).toMatch(/^[^\u0000-\u001f]{1,520}$/);
  });
});

describe("an inventory that does not show what is there now", () => {
  const allBut = (...kinds: string[]) => listedKinds.filter((kind) => !kinds.includes(kind));
  test.each([
    [{ takenAt: "2026-05-29T00:00:00Z" }, undefined],
    [{ takenAt: "2026-05-28T23:59:59Z" }, "the inventory was taken 3 days ago"],
    [{ takenAt: "2023-07-10T00:00:00Z" }, "the inventory was taken 1,057 days ago"],
    [
      { kinds: allBut("RoleBinding", "Identity") },
      "the inventory does not list Identity, RoleBinding: take it without --types",
    ],
  ])("%j: %s", (members, gap) => {
    const object = { kind: "Group", uid: "a".repeat(40), inputs: { name: "acme" } };
    const inventory = { ...inventoryOf(object.uid, object), kinds: listedKinds, ...members };
    const group = state("Group", "acme", { name: "acme" }, { id: "a".repeat(40) });
    const { complete, incomplete } = judge(preview(step("same", group, group)), { inventory });
    expect({ complete, incomplete }).toEqual({
      complete: gap === undefined,
      incomplete: gap === undefined ? [] : [expect.stringContaining(gap)],
    });
  });
});

describe("a report", () => {
  const finding = (severity: Finding["severity"], id: string): Finding => ({
    id,
    rule: "a-rule",
    severity,
    message: "found",
    details: [],
    fingerprint: id,
  });

  test("has an entry that accepts it for each of the first 500 findings", () => {
    const many = Array.from({ length: 501 }, () => finding("low", "L"));
    const { findings } = reportOf("same-shown.json", { rules: () => many });
    expect(findings.filter(({ policyEntry }) => policyEntry !== undefined)).toHaveLength(500);
  });

  test("refuses an export of another stack", () => {
    const other = fixture("export-v3.json")
      .toString()
      .replaceAll("urn:pulumi:production", "urn:pulumi:staging");
    expect(() =>
      review(
        { preview: parsePreview(fixture("update.json")), before: parseStateExport(other) },
        { provenance: PROVENANCE, failOn: "high", rules: () => [] },
      ),
    ).toThrow(
      "--before is an export of stack acme/staging, and the preview is of acme/production: give both of one stack",
    );
  });
});
