import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DriftReport, Report, ReviewReport } from "../../../../../provider/access/report/report";
import type { Finding, Severity } from "../../../../../provider/access/review/finding";
import type { GrantChange, GroupNode, Subject } from "../../../../../provider/access/graph/grant";
import { reportProblem } from "../../../../../provider/access/report/report";
import { severities } from "../../../../../provider/access/review/finding";

/** A report that was made once: `forms.test.ts` holds each of its forms to a file. */
const readGolden = (name: string): unknown =>
  JSON.parse(readFileSync(join(__dirname, "golden", `${name}.json`), "utf8"));

/** A pull request that should not be merged. */
export const riskyReview = readGolden("riskyReview") as ReviewReport;

/** What a night left, as drift wrote it. */
export const nightDrift = readGolden("nightDrift") as DriftReport;

/** Nothing to say. */
export const cleanReview: ReviewReport = {
  ...riskyReview,
  failing: 0,
  summary: {
    ...{ gained: 0, lost: 0, widened: 0, narrowed: 0, unchanged: 41, suppressed: 0 },
    findings: { critical: 0, high: 0, medium: 0, low: 0 },
  },
  grants: [],
  trust: [],
  findings: [],
  suppressed: [],
  unresolved: [],
  unrelated: [],
  groups: [],
  policy: { unused: [], expired: [] },
};

const provenance = {
  commit: "1f2e3d4c5b6a",
  pullRequest: "12",
  time: "2026-05-11T06:00:00.000Z",
  cli: "v3.230.0",
  package: "0.1.0",
  inventoryTime: "2026-05-11T05:50:00Z",
  inventoryAgeSeconds: 600,
};
const digest = "0".repeat(64);
const share = { managed: 1, total: 3 };

/** A report of each command with every member that it may have. */
export const wholeReports: readonly Report[] = [
  {
    ...riskyReview,
    incomplete: ["the preview failed: no", "| because of this"],
    policy: { ...riskyReview.policy, changed: ["an entry is new"] },
    provenance,
    plan: { digest },
    expected: {
      root: riskyReview.groups[0]!.key,
      inventoryTime: provenance.inventoryTime,
      kinds: [],
      before: [],
      entities: [{ key: "a", kind: "Group", uid: "b", urn: "c", name: "d", inputs: { name: "e" } }],
      removed: ["f"],
    },
    digest,
  },
  {
    ...nightDrift,
    scope: "below acme",
    grants: riskyReview.grants,
    acceptedGrants: riskyReview.grants.slice(0, 2),
    groups: riskyReview.groups,
    coverage: {
      ...share,
      byKind: [{ kind: "Group", ...share }],
      byGroup: [{ uid: riskyReview.groups[0]!.key, path: "acme", ...share }],
    },
    unresolved: ["a secret was not compared"],
    policy: { unused: ["an entry"], expired: ["another"] },
    provenance,
  },
  {
    schemaVersion: 2,
    tool: riskyReview.tool,
    command: "verify",
    stacks: riskyReview.stacks,
    complete: false,
    incomplete: ["announced, but missing: a binding"],
    failOn: "low",
    failing: 5,
    summary: {
      confirmed: 4,
      unannounced: 1,
      missing: 1,
      unchanged: 9,
      findings: riskyReview.summary.findings,
      suppressed: 1,
    },
    grants: riskyReview.grants,
    unannounced: riskyReview.grants.slice(0, 1),
    missing: riskyReview.grants.slice(-1),
    trust: riskyReview.trust,
    findings: riskyReview.findings,
    suppressed: riskyReview.suppressed,
    unresolved: ["a role"],
    policy: { unused: [], expired: [] },
    provenance,
    plan: { digest },
    reviewDigest: digest,
  },
];

/** Every place of a text in a value. */
function textPlaces(value: unknown): { at: object; key: string; text: string }[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === "string" ? [{ at: value, key, text: inner }] : textPlaces(inner),
  );
}

/** The report with each text rewritten that its schema leaves to whoever writes the report. */
export function rewritten<Kind extends Report>(report: Kind, write: (text: string) => string): Kind {
  const copy = JSON.parse(JSON.stringify(report)) as Kind;
  for (const { at, key, text } of textPlaces(copy)) {
    Reflect.set(at, key, write(text));
    if (reportProblem(copy) !== undefined) Reflect.set(at, key, text);
  }
  return copy;
}

/** A report with `count` changes of grants and as many findings, `criticals` of which are critical. */
export function largeReview(count: number, criticals = 3): ReviewReport {
  const roles = riskyReview.grants.slice(0, 3).map(({ grant }) => grant.role);
  const [acme] = riskyReview.groups;
  const scopes = Array.from({ length: 60 }, (_, index) => ({
    ...{ key: `group-${index}`, uid: `group-${index}`, name: `team ${index}` },
    path: `acme / division ${index % 6} / team ${index}`,
    isRoot: false,
  }));
  const where = scopes.map((group, index): GroupNode => ({
    ...group,
    parentKey: index < 6 ? acme!.key : `group-${index % 6}`,
    change: index % 7 === 0 ? "added" : "same",
  }));
  const at = (line: number) => ({ file: "index.ts", line });
  const grants = Array.from({ length: count }, (_, index): GrantChange => {
    const subject: Subject = {
      key: `identity-${index % 400}`,
      name: `deployer-${index % 400}`,
      type: "identity",
      displayName: `GitHub Actions of acme/service-${index % 400}, branch main`,
      matchesMany: false,
    };
    const role = roles[index % roles.length]!;
    const group = scopes[index % scopes.length]!;
    return {
      change: (["gained", "gained", "widened", "lost"] as const)[index % 4]!,
      grant: { subject, role, group, sourceKind: "RoleBinding", location: { ...at(index + 1), column: 3 } },
      reason: "binding",
      capabilitiesAdded: role.capabilities ?? [],
      capabilitiesRemoved: [],
    };
  });
  const rest = severities.slice(1);
  const findings = grants.map(({ grant }, index): Finding => {
    const severity =
      index < criticals
        ? "critical"
        : (rest[Math.floor(((index - criticals) * 3) / (count - criticals + 1))] ?? "low");
    return {
      id: "G1",
      rule: "owner-grant",
      severity,
      message: `finding number ${index} of ${severity} severity`,
      details: ["one line", "and another"],
      fingerprint: index.toString(16).padStart(16, "0"),
      location: at(index + 1),
      grant,
      advice: "give less",
    };
  });
  const tally = (severity: Severity): number => findings.filter((item) => item.severity === severity).length;
  const counted = (kind: string): number => grants.filter(({ change }) => change === kind).length;
  return {
    ...riskyReview,
    failing: tally("critical") + tally("high"),
    summary: {
      gained: counted("gained"),
      lost: counted("lost"),
      widened: counted("widened"),
      narrowed: 0,
      unchanged: 0,
      findings: Object.fromEntries(severities.map((each) => [each, tally(each)])) as Record<Severity, number>,
      suppressed: 0,
    },
    grants,
    findings,
    suppressed: [],
    groups: [acme!, ...where],
  };
}
