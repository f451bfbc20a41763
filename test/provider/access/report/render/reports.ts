import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DriftReport, Report, ReviewReport } from "../../../../../provider/access/report/report";
import type { Finding, Severity } from "../../../../../provider/access/review/finding";
import type {
  Grant,
  GrantChange,
  GrantedRole,
  GroupNode,
  Scope,
  Subject,
} from "../../../../../provider/access/graph/grant";
import { reportProblem } from "../../../../../provider/access/report/report";
import { severities } from "../../../../../provider/access/review/finding";

/** Reports made by hand: what the forms are shown with. */
const ORGANISATION = "ce2d1984a010471142503340d670612d63ffb9f6";

const scope = (key: string, path: string, isRoot = false): Scope => ({
  key,
  uid: key,
  name: path.split(" / ").at(-1),
  path,
  isRoot,
});

const acme = scope(ORGANISATION, "acme", true);
const payments = scope(`${ORGANISATION}/1a2b3c4d5e6f7081`, "acme / payments");
const pci = scope("urn:pulumi:prod::access::platform:Group::pci", "acme / payments / pci");
const web = scope(`${ORGANISATION}/99aa88bb77cc66dd`, "acme / web");

const owner: GrantedRole = {
  key: "owner",
  uid: "owner",
  name: "owner",
  builtIn: true,
  capabilities: [
    "CAP_IAM_ROLES_CREATE",
    "CAP_IAM_ROLES_UPDATE",
    "CAP_IAM_ROLE_BINDINGS_CREATE",
    "CAP_REPO_DELETE",
  ],
};
const push: GrantedRole = {
  key: "push",
  uid: "push",
  name: "registry.push",
  builtIn: true,
  capabilities: ["CAP_MANIFEST_CREATE", "CAP_REPO_LIST", "CAP_TAG_CREATE", "CAP_TAG_UPDATE"],
};
const viewer: GrantedRole = {
  key: "viewer",
  uid: "viewer",
  name: "viewer",
  builtIn: true,
  capabilities: ["CAP_IAM_GROUPS_LIST", "CAP_REPO_LIST"],
};

const deployer: Subject = {
  key: "urn:pulumi:prod::access::platform:Identity::deployer",
  urn: "urn:pulumi:prod::access::platform:Identity::deployer",
  name: "ci-deployer",
  type: "identity",
  displayName: "GitHub Actions of acme/pay, branch main",
  matchesMany: false,
};
const anyBranch: Subject = {
  key: "id-any",
  uid: `${ORGANISATION}/0000aaaa1111bbbb`,
  name: "preview",
  type: "identity",
  displayName: "GitHub Actions of anybody whose subject matches repo:acme/.*",
  matchesMany: true,
};
const jo: Subject = {
  key: "jo",
  uid: "jo",
  name: "jo@example.com",
  type: "identity",
  displayName: "jo@example.com",
  matchesMany: false,
};
const invited: Subject = {
  key: "urn:pulumi:prod::access::platform:GroupInvite::contractor",
  type: "invite",
  displayName: "whoever holds the invite contractor",
  matchesMany: true,
};

const at = (line: number, column?: number) => ({
  file: "index.ts",
  line,
  ...(column === undefined ? {} : { column }),
});

const grant = (
  subject: Subject,
  role: GrantedRole,
  group: Scope,
  line?: number,
  sourceKind = "RoleBinding",
): Grant => ({
  subject,
  role,
  group,
  sourceKind,
  ...(line === undefined ? {} : { location: at(line, 3) }),
});

const change = (
  kind: GrantChange["change"],
  after: Grant,
  reason: string,
  added: readonly string[] = [],
  removed: readonly string[] = [],
  before?: Grant,
): GrantChange => ({
  change: kind,
  grant: after,
  ...(before === undefined ? {} : { before }),
  reason,
  capabilitiesAdded: added,
  capabilitiesRemoved: removed,
});

const fingerprint = (text: string): string => Buffer.from(text).toString("hex").padEnd(16, "0").slice(0, 16);

const finding = (
  id: string,
  rule: string,
  severity: Severity,
  message: string,
  more: Partial<Finding> = {},
): Finding => ({
  id,
  rule,
  severity,
  message,
  details: [],
  fingerprint: fingerprint(`${id}${message}`),
  ...more,
});

const groups: readonly GroupNode[] = [
  { ...acme, change: "same" },
  { ...payments, parentKey: acme.key, change: "renamed" },
  { ...pci, parentKey: payments.key, change: "added" },
  { ...web, parentKey: acme.key, change: "same" },
];

const tool = { name: "pulumi-platform", version: "0.1.0" } as const;

const ownerAtRoot = grant(jo, owner, acme, 31);

/** A pull request that should not be merged. */
export const riskyReview: ReviewReport = {
  schemaVersion: 2,
  tool,
  command: "review",
  stacks: ["acme/access/prod"],
  complete: true,
  incomplete: [],
  failOn: "high",
  failing: 3,
  summary: {
    gained: 3,
    lost: 1,
    widened: 1,
    narrowed: 1,
    unchanged: 37,
    findings: { critical: 2, high: 1, medium: 1, low: 1 },
    suppressed: 1,
  },
  grants: [
    change("gained", ownerAtRoot, "new binding", owner.capabilities),
    change("gained", grant(anyBranch, push, payments, 44), "new binding", push.capabilities),
    change("gained", grant(invited, viewer, pci, 52, "GroupInvite"), "new invite", viewer.capabilities),
    change(
      "widened",
      grant(deployer, push, acme, 18),
      "moves from acme / payments up to acme",
      [],
      [],
      grant(deployer, push, payments, 18),
    ),
    change("lost", grant(jo, viewer, web), "binding deleted", [], viewer.capabilities),
    change(
      "narrowed",
      grant(deployer, viewer, web, 61),
      "role loses 2 capabilities",
      [],
      ["CAP_TAG_CREATE", "CAP_TAG_UPDATE"],
    ),
  ],
  trust: [
    {
      kind: "Identity",
      name: "ci-deployer",
      urn: deployer.urn,
      location: at(12, 1),
      fields: [
        {
          path: "claimMatch.subject",
          before: "repo:acme/pay:ref:refs/heads/main",
          after: "repo:acme/pay:pull_request",
        },
      ],
      grants: 2,
    },
  ],
  findings: [
    finding(
      "T1",
      "any-subject",
      "critical",
      'identity "preview": subjectPattern accepts subjects of strangers',
      {
        kind: "Identity",
        name: "preview",
        urn: "urn:pulumi:prod::access::platform:Identity::preview",
        counterexample: "repo:acme/evil-fork:pull_request",
        location: at(40, 3),
        grant: grant(anyBranch, push, payments, 44),
        details: ["holds registry.push at acme / payments", "holds viewer at acme / web"],
        advice: "anchor the pattern and name the repository: ^repo:acme/pay:ref:refs/heads/main$",
      },
    ),
    finding("G1", "owner-grant", "critical", "jo@example.com becomes owner of the organisation", {
      kind: "RoleBinding",
      name: "jo-owns",
      location: at(31, 3),
      grant: ownerAtRoot,
      advice: "give a role that holds only what is needed, at a group below the root",
    }),
    finding(
      "K3",
      "open-invite",
      "high",
      'invite "contractor" has no e-mail address and can be used more than once',
      {
        kind: "GroupInvite",
        name: "contractor",
        location: at(52, 3),
        advice: "set email and singleUse",
      },
    ),
    finding(
      "G5",
      "scope-widened",
      "medium",
      "ci-deployer: registry.push moves from acme / payments up to acme",
      {
        grant: grant(deployer, push, acme, 18),
        details: ["reaches acme / web"],
      },
    ),
    finding("X2", "unresolved", "low", "the role of binding nightly is known after the update only"),
  ],
  suppressed: [
    finding("T4", "pull-request-ref", "medium", 'identity "docs" accepts pull requests', {
      location: at(70),
      suppression: { reason: "publishes previews of documentation only", expires: "2027-01-31" },
    }),
  ],
  unresolved: ["RoleBinding nightly: roleUid is known after the update only"],
  unrelated: [
    { kind: "Repo", op: "create", count: 3 },
    { kind: "Subscription", op: "update", count: 1 },
  ],
  groups,
  policy: { unused: ["T3 old-bot"], expired: ["K2 static-ci (2026-03-01)"] },
  provenance: { time: "2026-05-11T06:00:00.000Z", package: "0.1.0" },
};

/** What a night left, as drift wrote it: `forms.test.ts` holds the file to the product. */
export const nightDrift = JSON.parse(
  readFileSync(join(__dirname, "golden/nightDrift.json"), "utf8"),
) as DriftReport;

/** Nothing to say. */
export const cleanReview: ReviewReport = {
  ...riskyReview,
  failing: 0,
  summary: {
    gained: 0,
    lost: 0,
    widened: 0,
    narrowed: 0,
    unchanged: 41,
    findings: { critical: 0, high: 0, medium: 0, low: 0 },
    suppressed: 0,
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
      root: ORGANISATION,
      inventoryTime: provenance.inventoryTime,
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
    groups,
    coverage: {
      ...share,
      byKind: [{ kind: "Group", ...share }],
      byGroup: [{ uid: ORGANISATION, path: "acme", ...share }],
    },
    unresolved: ["a secret was not compared"],
    policy: { unused: ["an entry"], expired: ["another"] },
    provenance,
  },
  {
    schemaVersion: 2,
    tool,
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
export function hostileCopy(report: Report, write: (text: string) => string): Report {
  const copy = JSON.parse(JSON.stringify(report)) as Report;
  for (const { at, key, text } of textPlaces(copy)) {
    Reflect.set(at, key, write(text));
    if (reportProblem(copy) !== undefined) Reflect.set(at, key, text);
  }
  return copy;
}

/** A report with `count` changes of grants and as many findings, `criticals` of which are critical. */
export function largeReview(count: number, criticals = 3): ReviewReport {
  const roles = [owner, push, viewer];
  const scopes = Array.from({ length: 60 }, (_, index) =>
    scope(`group-${index}`, `acme / division ${index % 6} / team ${index}`),
  );
  const where = scopes.map((at_, index): GroupNode => ({
    ...at_,
    parentKey: index < 6 ? acme.key : `group-${index % 6}`,
    change: index % 7 === 0 ? "added" : "same",
  }));
  const grants = Array.from({ length: count }, (_, index) => {
    const subject: Subject = {
      key: `identity-${index % 400}`,
      name: `deployer-${index % 400}`,
      type: "identity",
      displayName: `GitHub Actions of acme/service-${index % 400}, branch main`,
      matchesMany: false,
    };
    const role = roles[index % roles.length] ?? viewer;
    const kinds = ["gained", "gained", "widened", "lost"] as const;
    const kind = kinds[index % kinds.length] ?? "gained";
    return change(
      kind,
      grant(subject, role, scopes[index % scopes.length] ?? acme, index + 1),
      "binding",
      role.capabilities,
    );
  });
  const rest = severities.slice(1);
  const findings = grants.map(({ grant: held }, index) => {
    const severity =
      index < criticals
        ? "critical"
        : (rest[Math.floor(((index - criticals) * 3) / (count - criticals + 1))] ?? "low");
    return finding("G1", "owner-grant", severity, `finding number ${index} of ${severity} severity`, {
      location: at(index + 1),
      fingerprint: index.toString(16).padStart(16, "0"),
      grant: held,
      details: ["one line", "and another"],
      advice: "give less",
    });
  });
  const tally = (severity: Severity): number => findings.filter((item) => item.severity === severity).length;
  const counted = (kind: GrantChange["change"]): number =>
    grants.filter((item) => item.change === kind).length;
  return {
    ...riskyReview,
    failing: tally("critical") + tally("high"),
    summary: {
      gained: counted("gained"),
      lost: counted("lost"),
      widened: counted("widened"),
      narrowed: 0,
      unchanged: 0,
      findings: {
        critical: tally("critical"),
        high: tally("high"),
        medium: tally("medium"),
        low: tally("low"),
      },
      suppressed: 0,
    },
    grants,
    findings,
    suppressed: [],
    groups: [{ ...acme, change: "same" }, ...where],
  };
}

const FIXED = new Set([
  "schemaVersion",
  "tool",
  "command",
  "failOn",
  "change",
  "type",
  "severity",
  "fingerprint",
  "id",
  "rule",
  "kind",
  "direction",
  "op",
  "sourceKind",
  "expires",
  "at",
  "time",
]);

/** The same report with every free text in it replaced by what `write` answers. */
export function rewritten<Kind extends Report>(report: Kind, write: (text: string) => string): Kind {
  const visit = (value: unknown): unknown => {
    if (typeof value === "string") return write(value);
    if (Array.isArray(value)) return value.map(visit);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, FIXED.has(key) ? inner : visit(inner)]),
    );
  };
  return visit(report) as Kind;
}
