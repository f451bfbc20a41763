import { NOT_IN_PROGRAM } from "../../../../../provider/access/graph/grant";
import type { GrantChange, Subject } from "../../../../../provider/access/graph/grant";
import type { ReviewReport } from "../../../../../provider/access/report/report";
import { renderers } from "../../../../../provider/access/report/render";
import {
  listAcceptedGrants,
  headlineOf,
  listOpenGrants,
  verdict,
} from "../../../../../provider/access/report/render/sections";
import type { Finding } from "../../../../../provider/access/review/finding";
import { cleanReview, nightDrift, riskyReview, wholeReports } from "./reports";

const withGrants = (grants: readonly GrantChange[]): ReviewReport => ({
  ...riskyReview,
  grants,
  findings: [],
});
const only = (kind: GrantChange["change"]): GrantChange =>
  riskyReview.grants.find(({ change }) => change === kind)!;

test.each([
  ["gained", "jo@example.com gains owner at acme"],
  ["widened", "GitHub Actions of acme/pay, branch main gains more access as registry.push at acme"],
  ["lost", "jo@example.com loses viewer at acme / web"],
  ["narrowed", "GitHub Actions of acme/pay, branch main loses some access as viewer at acme / web"],
] as const)("the headline describes a change that is %s", (kind, sentence) => {
  expect(headlineOf(withGrants([only(kind)]))).toEqual({ main: sentence });
});

test("several subjects are counted by what they are, whatever their names", () => {
  const gained = only("gained");
  const copy = (key: string, type: Subject["type"]): GrantChange => ({
    ...gained,
    grant: { ...gained.grant, subject: { ...gained.grant.subject, key, type, displayName: key } },
  });
  const sentence = (...grants: GrantChange[]) => headlineOf(withGrants(grants))?.main;
  expect(sentence(copy("a", "identity"), copy("b", "identity"))).toBe("2 identities gain owner at acme");
  expect(sentence(copy("a@acme.iam.gserviceaccount.com", "identity"), copy("b@acme", "identity"))).toBe(
    "2 identities gain owner at acme",
  );
  expect(sentence(copy("a@b", "invite"), copy("b@b", "invite"))).toBe("2 invites gain owner at acme");
  expect(sentence(copy("a", "externalGroup"), copy("b", "externalGroup"))).toBe(
    "2 directory groups gain owner at acme",
  );
  expect(sentence(copy("a", "identity"), copy("b", "invite"))).toBe("2 subjects gain owner at acme");
  const possible = (key: string): GrantChange => {
    const { grant, ...change } = copy(key, "identity");
    return { ...change, grant: { ...grant, isOneOf: true } };
  };
  expect(sentence(possible("a"))).toBe("a may gain owner at acme");
  expect(sentence(possible("a"), possible("b"))).toBe(
    "one or more of 2 identities may gain owner at acme (create them in an earlier change to see which)",
  );
});

test("of what is equally bad, the headline names who gains the most, however many gain less", () => {
  const gained = only("gained");
  const gainOf = (subject: string, role: string, capabilitiesAdded: readonly string[]): GrantChange => ({
    ...gained,
    capabilitiesAdded,
    grant: {
      ...gained.grant,
      subject: { ...gained.grant.subject, key: subject, displayName: subject },
      role: { ...gained.grant.role, key: role, name: role },
    },
  });
  const many = ["ann", "bob"].map((name) => gainOf(name, "viewer", ["CAP_A"]));
  const sentence = headlineOf(withGrants([...many, gainOf("cid", "owner", ["CAP_A", "CAP_B"])]));
  expect(sentence).toEqual({ main: "cid gains owner at acme", rest: "2 more changes of access" });
});

test("what was there before all programs is not gained", () => {
  const old = { ...only("gained"), reason: NOT_IN_PROGRAM };
  const report = { ...nightDrift, grants: [old] };
  expect(headlineOf(report)?.main).toBe("jo@example.com has owner at acme, which is not in the program");
  for (const form of ["text", "md", "html"] as const) {
    expect(renderers[form](report, {})).toMatch(/not in the program/i);
    expect(renderers[form](report, {})).not.toMatch(/gained by drift \(|➕ gained|> gained</i);
  }
});

test.each([
  [0, true, "passes: everything is as the review announced"],
  [0, false, "incomplete: announced changes are missing or could not be checked"],
  [1, true, "fails: 1 finding that the review did not announce"],
  [
    2,
    false,
    "fails: 2 findings that the review did not announce; announced changes are missing or could not be checked",
  ],
])("a verification with %i findings that is complete (%j) %s", (failing, complete, line) => {
  const state = !complete ? "incomplete" : failing === 0 ? "clean" : "failing";
  expect(verdict({ ...wholeReports[2]!, failing, complete })).toEqual({ state, line });
});

test.each([
  [7_199, "119 minutes"],
  [7_200, "2 hours"],
  [48 * 3_600 - 1, "47 hours"],
  [48 * 3_600, "2 days"],
])("an inventory of %i seconds is %s old", (inventoryAgeSeconds, age) => {
  const report = { ...riskyReview, provenance: { ...riskyReview.provenance, inventoryAgeSeconds } };
  expect(renderers.text(report, { width: 400 })).toContain(age);
});

test("a verification begins with unannounced access", () => {
  expect(headlineOf(wholeReports[2]!)).toEqual({ main: "jo@example.com gains owner at acme" });
});

describe("access that the policy file accepts", () => {
  const [worst] = riskyReview.grants;
  const accept = (changed?: string[]): ReviewReport => {
    const isAbout = ({ grant }: Finding): boolean => grant?.subject.key === worst!.grant.subject.key;
    const suppression = { reason: "agreed" };
    return {
      ...riskyReview,
      findings: riskyReview.findings.filter((finding) => !isAbout(finding)),
      suppressed: riskyReview.findings.filter(isAbout).map((finding) => ({ ...finding, suppression })),
      policy: { ...riskyReview.policy, changed },
    };
  };

  test("is shown as any other where the same change writes the policy file", () => {
    const report = accept(["an entry is new"]);
    expect(renderers.text(report, {})).toContain("GAINED (3)");
    expect(listOpenGrants(report)).toEqual(riskyReview.grants);
    expect(listAcceptedGrants(report)).toEqual([]);
  });

  test.each(["text", "md", "html"] as const)(
    "is shown with its reason, and with its end if it has one: %s",
    (form) => {
      const print = (expires?: string): string =>
        renderers[form](
          {
            ...accept(),
            suppressed: accept().suppressed.map((each) => ({
              ...each,
              suppression: { reason: "agreed", expires },
            })),
          },
          {},
        );
      expect(print()).toMatch(/agreed(?! \(until)/);
      expect(print()).not.toContain("(until");
      expect(print("2027-01-31")).toContain("agreed (until 2027-01-31)");
    },
  );

  test("is folded in the page, below what is open", () => {
    const count = listAcceptedGrants(accept()).length;
    const page = renderers.html(accept(), {});
    expect(count).toBeGreaterThan(0);
    expect(page).toMatch(new RegExp(`<details><summary>Show ${count} changes? of access</summary>`));
    expect(renderers.html(riskyReview, {})).not.toMatch(/<summary>Show \d+ changes? of access/);
  });

  test("is shown as any other where a finding about it is open", () => {
    const report = { ...accept(), findings: riskyReview.findings };
    expect(listAcceptedGrants(report)).toEqual([]);
  });
});

test("there is no headline if no grant changes", () => {
  expect(renderers.html(cleanReview, {})).toContain('<p class="none">No finding.</p>');
  expect(headlineOf(cleanReview)).toBeUndefined();
});

test("a drift whose differences are all suppressed does not say that there is none", () => {
  const { differences, grants, summary } = nightDrift;
  const quiet = {
    ...nightDrift,
    complete: true,
    incomplete: [],
    failing: 0,
    findings: [],
    summary: { ...summary, findings: { critical: 0, high: 0, medium: 0, low: 0 } },
  };
  const line = verdict(quiet).line;
  expect(line).toContain(`passes: ${differences.length} difference`);
  expect(line).toMatch(/no finding, \d+ suppressed$/);
  expect(line).toContain(`${grants.length} change`);
  expect(verdict({ ...quiet, differences: [], grants: [] }).line).toBe("passes: no drift");
});
