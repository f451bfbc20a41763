import { renderers } from "../../../../../provider/access/report/render";
import { EntryList } from "../../../../../provider/access/report/render/sections";
import type { Finding } from "../../../../../provider/access/review/finding";
import { wrap } from "../../../../../provider/text/plain";
import { nightDrift, rewritten, riskyReview } from "./reports";
import { teamReview } from "./teamReview";
import { capabilityWords } from "../../../../../provider/access/report/render/words";

const uid = `ce2d1984a010471142503340d670612d63ffb9f6/1a2b3c4d5e6f7081/99aa88bb77cc66dd`;

test.each([40, 41, 60, 80, 200])("a uid is never broken, whatever the width: %d", (width) => {
  for (const text of [`binding ${uid} is gone`, `${"x".repeat(50)}:${uid},${"y".repeat(90)}`, uid]) {
    const lines = wrap(text, width);
    expect(lines.filter((line) => line.includes(uid))).toHaveLength(1);
    expect(lines.join("").replaceAll(" ", "")).toBe(text.replaceAll(" ", ""));
  }
  const report = rewritten(riskyReview, (text) => `${text} ${uid}`);
  for (const line of renderers.text(report, { width }).split("\n")) {
    expect(line.replaceAll(uid, "")).not.toMatch(/[0-9a-f]{16}/);
  }
});

test("references that only the update will know share one entry, and keep their number", () => {
  const [x2] = riskyReview.findings.filter(({ id }) => id === "X2");
  const many = Array.from({ length: 20 }, (_, i) => ({
    ...x2!,
    urn: `urn:pulumi:prod::acme::pulumi-nodejs:dynamic/platform:RoleBinding::binding-${i}`,
    policyEntry: `- rule: X2 # ${i}.`,
    message: `the role of binding-${i} is known after the update only`,
    fingerprint: i.toString(16).padStart(16, "0"),
  }));
  const report = {
    ...riskyReview,
    findings: [...riskyReview.findings.filter(({ id }) => id !== "X2"), ...many],
    summary: { ...riskyReview.summary, findings: { ...riskyReview.summary.findings, low: 20 } },
  };
  for (const format of ["text", "md", "html"] as const) {
    const text = renderers[format](report, { width: 200 });
    expect(text).toContain("the role of binding-0 is known");
    expect(text).not.toContain("the role of binding-1 is known");
    expect(text).toContain("and 19 more like this");
    expect(text).toContain("binding-19");
    expect(text).not.toContain("urn:");
  }
  // Each of them can be suppressed.
  const fix = renderers.text(report, { width: 200, fix: true });
  for (const { policyEntry } of many) expect(fix).toContain(policyEntry);
  expect(renderers.text(report, {})).toMatch(/^Findings .*20 low/m);
  // What another thing is to be done about stands apart.
  const [first, ...rest] = many;
  const unlike = { ...report, findings: [{ ...first!, advice: "ask the author" }, ...rest] };
  expect(renderers.text(unlike, { width: 200 })).toContain(
    "binding-1 is known after the update only, and 18 more",
  );
  // A finding that --strict makes high stays alone.
  const strict = { ...report, findings: many.map((finding) => ({ ...finding, severity: "high" as const })) };
  expect(renderers.text(strict, { width: 200 })).toContain("the role of binding-19 is known");
});

test("holders of one role are one entry, which says the fix once and where each of them is; a severe one stands alone", () => {
  const [grant] = teamReview().grants.map((change) => change.grant);
  const rules = ["G6", "G9"] as const;
  const holdersOf = (
    severity: "medium" | "high",
    advice = "bind another role",
    names: readonly string[] = ["ann", "bob", "cid"],
  ): readonly Finding[] =>
    names.flatMap((name, line) =>
      rules.map((id) => ({
        ...{ id, rule: id, severity, advice, grant, kind: "RoleBinding" },
        urn: `urn:pulumi:prod::acme::pulumi-nodejs:dynamic/platform:RoleBinding::${name}`,
        message: `${name} can change what ${id} is about`,
        details: [`what all have by ${id}`],
        location: { file: "index.ts", line: line + 1, column: 1 },
        fingerprint: `${line}${id.slice(1)}`,
      })),
    );
  const reportOf = (findings: readonly Finding[]) => ({
    ...riskyReview,
    findings,
    suppressed: [],
    trust: [],
  });
  const report = reportOf(holdersOf("medium"));
  const entries = new EntryList(report).open;
  expect(entries.map(({ about, findings }) => [about, findings.length])).toEqual([
    ["RoleBinding ann and 2 more", 6],
  ]);
  const unmanaged = holdersOf("medium").map(({ urn, ...finding }) => ({ ...finding, uid: urn }));
  expect(new EntryList(reportOf(unmanaged)).open.map(({ about }) => about)).toEqual([
    expect.stringMatching(/ and 2 more$/),
  ]);
  for (const format of ["text", "md", "html"] as const) {
    const printed = renderers[format](report, { width: 200 });
    const countOf = (text: string): number => printed.split(text).length - 1;
    for (const name of ["ann", "bob", "cid"])
      for (const id of rules) expect(countOf(`${name} can change what ${id} is about`)).toBe(1);
    for (const text of ["what all have by G6", "what all have by G9", "index.ts:3"])
      expect([format, text, countOf(text) > 0]).toEqual([format, text, true]);
    expect([format, countOf("what all have by G6"), countOf("bind another role")]).toEqual([format, 1, 2]);
  }
  // G6 of all of them, and then G9.
  expect(renderers.text(report, { width: 200 })).toMatch(
    /ann .* G6[^]*bob .* G6[^]*cid .* G6[^]*ann .* G9[^]*bob .* G9/,
  );
  expect(new EntryList(reportOf(holdersOf("high"))).open).toHaveLength(3);
  // Of many, a comment and a page fold what follows the first twenty.
  const many = Array.from({ length: 30 }, (_, i) => `holder${i}.`);
  for (const format of ["md", "html"] as const) {
    const printed = renderers[format](reportOf(holdersOf("medium", "less", many)), {});
    expect(printed).toContain("39 more findings</summary>");
    expect(printed.indexOf("holder20. can")).toBeLessThan(printed.indexOf("39 more findings"));
    expect(printed.indexOf("holder21. can")).toBeGreaterThan(printed.indexOf("39 more findings"));
  }
  // Of a difference each has commands of its own, and what is about no resource stands alone.
  const drift = { kind: "unmanaged", direction: "neutral", paths: [] } as const;
  for (const more of [{ drift }, { urn: undefined }]) {
    const apart = holdersOf("medium").map((finding) => ({ ...finding, ...more }));
    expect(new EntryList(reportOf(apart)).open.length).toBeGreaterThan(2);
  }
  // Two of which the very same is said are two.
  const twice = holdersOf("medium", "less", ["ann", "bob"]).map((each) => ({
    ...each,
    message: `of ${each.id}`,
  }));
  expect(new EntryList(reportOf(twice)).open).toHaveLength(2);
  const otherAdvice = [...holdersOf("medium", "of ann").slice(0, 2), ...holdersOf("medium").slice(2)];
  expect(new EntryList(reportOf(otherAdvice)).open).toHaveLength(2);
});

test("what the fields of an entry say is not repeated by the details of its rules, with its reason neither", () => {
  const [finding] = riskyReview.findings;
  const urn = "urn:pulumi:prod::acme::pulumi-nodejs:dynamic/platform:AccountAssociation::accounts";
  const details = ["amazon.account: 1 → 2 (another value than before)", "who has it (and his own)"];
  const change = {
    ...{ kind: "AccountAssociation", name: "accounts", urn },
    ...{ fields: [{ path: "amazon.account", before: "1", after: "2" }], grants: [] },
  };
  const report = {
    ...riskyReview,
    trust: [change],
    findings: [{ ...finding!, grant: undefined, kind: "AccountAssociation", urn, details }],
  };
  const text = renderers.text(report as unknown as typeof riskyReview, { width: 200 });
  expect(text.split("amazon.account").length - 1).toBe(1);
  expect(text).toContain("who has it (and his own)");
});

test("of a difference the command that restores it comes first, also where a rule finds something worse", () => {
  const [changed] = nightDrift.findings;
  const rule = { id: "T1", rule: "any-subject", severity: "critical", message: "worse" } as const;
  const worse = { ...changed!, ...rule, drift: undefined };
  for (const findings of [nightDrift.findings, [worse, ...nightDrift.findings]]) {
    const report = { ...nightDrift, findings };
    const [entry] = new EntryList(report).open;
    expect(entry?.answers[0]).toMatchObject({ kind: "code", heading: "Restore it" });
    // What the rule advises is for what stays.
    const text = renderers.text(report, {});
    expect(text.includes("if kept")).toBe(findings.includes(worse));
    expect(text.indexOf("restore:")).toBeLessThan(text.search(/^ {2}(fix|if kept) /m));
    expect(renderers.md(report, {})).toContain("<summary>Restore it</summary>");
  }
});

test("code and policy entries are shown with --fix only, and what restores a difference always", () => {
  for (const report of [nightDrift, teamReview()]) {
    const [plain, fix] = [renderers.text(report, {}), renderers.text(report, { fix: true })];
    expect(plain).not.toMatch(/^ +(update the program|suppress, below allow .*):$/m);
    expect(plain).toContain("Use --fix");
    expect(fix).toMatch(/^ +suppress, below allow in the policy file:$/m);
    expect(fix).not.toContain("Use --fix");
  }
  expect(renderers.text(nightDrift, {})).toContain("pulumi up --refresh --target");
  expect(renderers.text(riskyReview, {})).not.toContain("Use --fix");
});

test("of many capabilities those are shown that give the access of others, and then those that write", () => {
  const reading = "ACTIONS ADVISORIES EVENTS_SUBSCRIPTION IAM_GROUPS MANIFEST REPO"
    .split(" ")
    .map((area) => `CAP_${area}_LIST`);
  const all = [...reading, "CAP_TAG_CREATE", "CAP_IAM_ROLES_LIST", "CAP_IAM_ROLES_UPDATE"];
  expect(capabilityWords(all)).toEqual([
    "IAM_ROLES: update, list",
    "TAG: create",
    ...[
      "ACTIONS: list",
      "ADVISORIES: list",
      "EVENTS_SUBSCRIPTION: list",
      "IAM_GROUPS: list",
      "and 2 more areas",
    ],
  ]);
  expect(capabilityWords(all.slice(3))).toEqual([
    ...["IAM_GROUPS: list", "MANIFEST: list", "REPO: list", "TAG: create", "IAM_ROLES: list, update"],
  ]);
});
