import { createHash } from "node:crypto";
import type { Props } from "../../../../provider/fields/values";
import {
  binding,
  cards,
  claims,
  compareResources,
  resource,
  groups,
  identity,
  owner,
  payments,
  pinned,
  pusher,
  role,
  viewer,
  acme,
} from "../../../support/access";
import type { Resource } from "../../../support/access";
import { found, severitiesOf } from "./support";

const base = [...groups, viewer, pusher];
const GITHUB = "https://token.actions.githubusercontent.com";
const github = (more: Props): Props => claims({ issuer: GITHUB, ...more });

/** An identity that is made and bound. */
function made(trust: Props, what: Resource = viewer) {
  const who = identity("ci", trust);
  return compareResources(base, [...base, who, binding(who, what, payments)]);
}

describe("T1 any-subject", () => {
  it("shows a counterexample, why it fits, and what it would hold", () => {
    expect(found("T1", made(github({ subjectPattern: "^repo:acme.*" })))).toMatchObject([
      {
        severity: "critical",
        message:
          'identity ci can be assumed by outsiders: claimMatch.subjectPattern accepts "repo:acme-intruder/intruder:ref:refs/heads/main": a wildcard reaches over the part that names the owner',
        counterexample: "repo:acme-intruder/intruder:ref:refs/heads/main",
        details: ["pattern: ^repo:acme.*", "whoever assumes it gets 1 grant:", "viewer on acme / payments"],
        field: "claimMatch.subjectPattern",
      },
    ]);
  });

  const free = identity("ci", github({ subjectPattern: ".*" }));

  it("is high while the identity holds nothing", () => {
    expect(severitiesOf("T1", compareResources(base, [...base, free]))).toEqual(["high"]);
  });

  it("is found when an identity that was there before gains a grant, and not when nothing changes", () => {
    const before = [...base, free];
    const bound = [...before, binding(free, viewer, payments)];
    expect(severitiesOf("T1", compareResources(before, bound))).toEqual(["critical"]);
    expect(found("T1", compareResources(bound, bound))).toEqual([]);
  });

  it.each([
    ["an exact subject", pinned],
    ["one owner", github({ subjectPattern: "^repo:acme/.*$" })],
    ["an owner by its claim", github({ subjectPattern: ".*", claims: { repository_owner_id: "4711" } })],
    [
      "an owner by a claim's pattern",
      github({ subjectPattern: ".*", claimPatterns: { repository: "^acme/.*$" } }),
    ],
  ])("leaves %s alone", (_, trust) => {
    expect(found("T1", made(trust))).toEqual([]);
  });

  it.each([
    [
      "a claim that any customer can set",
      github({ subjectPattern: ".*", claims: { environment: "production" } }),
    ],
    [
      "a pattern that names no owner",
      github({ subjectPattern: ".*", claimPatterns: { repository: "^acme.*$" } }),
    ],
  ])("is not satisfied by %s", (_, trust) => {
    expect(severitiesOf("T1", made(trust))).toEqual(["critical"]);
  });

  it("is high where claims of an issuer that is not known narrow it", () => {
    const trust = claims({
      issuer: "https://sso.acme.example",
      subjectPattern: ".*",
      claims: { team: "sre" },
    });
    expect(severitiesOf("T1", made(trust))).toEqual(["high"]);
  });

  it("reports an AWS principal only where both patterns are open", () => {
    const aws = (more: Props): Props => ({ awsIdentity: { awsAccount: "123456789012", ...more } });
    expect(severitiesOf("T1", made(aws({ arnPattern: ".*", userIdPattern: ".*" })))).toEqual(["critical"]);
    expect(found("T1", made(aws({ arnPattern: ".*", userId: "AROAEXAMPLE:ci" })))).toEqual([]);
    const named = "^arn:aws:sts::123456789012:assumed-role/deploy/.*$";
    expect(found("T1", made(aws({ arnPattern: named, userIdPattern: ".*" })))).toEqual([]);
  });

  const tooLarge = `^${"a".repeat(6000)}$`;

  it.each([
    ["a subject", { subjectPattern: tooLarge }, "any-subject"],
    ["a claim", { subjectPattern: ".*", claimPatterns: { repository: tooLarge } }, "any-subject"],
    [
      "a claim beside a subject",
      { subject: "environment:x", claimPatterns: { repository: tooLarge } },
      "shared-issuer",
    ],
  ])("says once of %s that it is too large to be judged", (_, trust, rule) => {
    const all = ["T1", "T3", "T4"].flatMap((id) => found(id, made(github(trust))));
    expect(all).toMatchObject([{ rule, severity: "high" }]);
    expect(all[0]?.message).toContain("too large to be judged");
    expect(all[0]).not.toHaveProperty("counterexample");
  });

  const repositories = (count: number, to: (i: number) => string): string =>
    `^(?:${Array.from({ length: count }, (_, i) => `repo:acme/${to(i)}`).join("|")}):ref:refs/heads/main$`;

  it.each([
    repositories(60, (i) => `repository-${i}`),
    repositories(100, (i) => `${((i * 7919) % 1000003).toString(36)}-service-${i}`),
  ])("judges a long list of repositories that are written out", (subjectPattern) => {
    expect(["T1", "T3", "T4"].flatMap((id) => found(id, made(github({ subjectPattern }))))).toEqual([]);
  });

  const google = (more: Props): Props => claims({ issuer: "https://accounts.google.com", ...more });
  const sso = (more: Props): Props => claims({ issuer: "https://sso.acme.com", ...more });

  it.each<[string, "high" | "critical"]>([
    ["^.+@acme\\.com$", "high"],
    ["^[a-z]+@acme\\.com$", "high"],
    ["^[a-z]+@(?:acme\\.com|globex\\.com)$", "high"],
    // Everybody can have such an address.
    ["^.+@gmail\\.com$", "critical"],
    ["^.+@(?:acme|gmail)\\.com$", "critical"],
    ["acme\\.com", "critical"],
    ["^.+@acme\\.com", "critical"],
    ["^.+@acme.com$", "critical"],
    ["^.+@.+\\.com$", "critical"],
  ])(
    "is no more than high where mail addresses are all of domains that are written out: %s",
    (email, severity) => {
      const [finding] = found("T1", made(google({ subjectPattern: ".*", claimPatterns: { email } })));
      expect(finding?.severity).toBe(severity);
      expect(finding?.message).toContain(severity === "high" ? "may be assumed" : "can be assumed");
      // A claim of the same name pins nothing at a service that writes no addresses.
      expect(severitiesOf("T1", made(github({ subjectPattern: ".*", claimPatterns: { email } })))).toEqual([
        "critical",
      ]);
    },
  );

  it.each([
    [google({ subjectPattern: ".*", claims: { hd: "acme.com" } }), 1],
    [google({ subjectPattern: ".*", claimPatterns: { hd: "^(?:acme|globex)\\.com$" } }), 1],
    [google({ subjectPattern: ".*", claims: { hd: "acme.com", email: "ada@acme.com" } }), 0],
    [google({ subjectPattern: "^1034567890123456789(?:01|02)$", claims: { hd: "acme.com" } }), 0],
    [sso({ subjectPattern: "^.*@acme\\.com$" }), 1],
    [sso({ subjectPattern: "@acme\\.com$", claims: { email_verified: "true" } }), 1],
    [sso({ subjectPattern: "^svc-[a-z]+@acme\\.com$" }), 0],
    [sso({ subjectPattern: "^(?:ada|bob)@acme\\.com$" }), 0],
  ])("is medium where everybody of a mail domain is accepted: %j", (trust, count) => {
    const all = found("T1", made(trust));
    expect(all).toHaveLength(count);
    for (const { severity, message } of all) {
      expect(severity).toBe("medium");
      expect(message).toContain('can be assumed by everybody of the mail domain "acme.com"');
    }
  });
});

describe("patterns that guessed texts miss", () => {
  it.each([
    "^repo:[a-z]{4}/pay:ref:refs/heads/main$",
    "[a-z]{1,7}",
    "^repo:[a-z]{9,39}/.*$",
    "[A-Z0-9]+",
    "^repo:acme[0-9]*/pay:.*$",
    "(?i)^REPO:[^I].*$",
  ])("%s is open to strangers", (subjectPattern) => {
    const [finding] = found("T1", made(github({ subjectPattern })));
    expect(finding?.severity).toBe("critical");
    expect(finding?.counterexample).toMatch(/^repo:/);
    expect(severitiesOf("T3", made(github({ subjectPattern })))).toEqual(["high"]);
  });

  it("checks each issuer that a pattern accepts", () => {
    const trust = claims({
      issuerPattern: "^https://(?:token\\.actions\\.githubusercontent|gitlab)\\.com$",
      subjectPattern: "^(?:repo:acme/.*|project_path:.*)$",
    });
    expect(found("T2", made(trust))).toEqual([]);
    expect(found("T1", made(trust))[0]?.counterexample).toMatch(/^project_path:intruder/);
  });

  it("names the owners where there are several", () => {
    const trust = github({ subjectPattern: "^repo:(?:acme|evil)/.*$" });
    expect(found("T1", made(trust))).toEqual([]);
    expect(found("T4", made(trust, pusher))[0]?.details).toContain("owners: acme, evil");
  });

  it.each([
    ["^repo:acme/pay:ref:refs/heads/[a-z]{4}$", 1],
    ["^repo:acme/pay:ref:refs/heads/feature/.*$", 1],
    ["^repo:acme/pay:ref:refs/heads/[a-z]+-[0-9]+$", 1],
    ["^repo:acme/pay:ref:refs/heads/(?:main|next)$", 0],
    ["^repo:acme/pay:ref:refs/heads/release-[0-9]+$", 0],
  ])("counts the branches of %s", (subjectPattern, count) => {
    expect(found("T4", made(github({ subjectPattern }), pusher))).toHaveLength(count);
  });
});

describe("T2 any-issuer", () => {
  const by = (issuerPattern: string): Props => claims({ issuerPattern, subject: "ci" });

  it.each([
    "https://*.mycompany\\.com",
    "^https://ci.acme\\.com$",
    "https://gitlab\\.com$",
    "^https://gitlab\\.com",
  ])("%s is critical", (pattern) => {
    const [finding] = found("T2", made(by(pattern)));
    expect(finding?.severity).toBe("critical");
    expect(new RegExp(pattern).test(finding?.counterexample ?? "")).toBe(true);
  });

  it.each(["^https://gitlab\\.com$", "^https://(?:ci|sso)\\.mycompany\\.com$"])(
    "%s is not found",
    (pattern) => {
      const who = identity("ci", by(pattern));
      const after = [...base, who, binding(who, viewer, payments)];
      expect(found("T2", compareResources(base, after, { withoutInventory: true }))).toEqual([]);
    },
  );

  it("reports an issuer that no identity of the organisation trusts yet, without --issuer-allow", () => {
    const trust = claims({ issuer: "https://oidc.partner.example", subject: "x" });
    expect(found("T2", made(trust))).toMatchObject([
      {
        severity: "high",
        message: expect.stringMatching(/trusts an issuer that no identity with a grant trusted before: \S+$/),
      },
    ]);
    const other = identity("other", claims({ issuer: "https://oidc.partner.example", subject: "y" }));
    const added = identity("added", trust);
    const before = [...base, other];
    const known = [...before, binding(other, viewer, payments)];
    expect(found("T2", compareResources(known, [...known, added]))).toEqual([]);
    // An identity without a grant may have been put there to make the issuer look known.
    expect(severitiesOf("T2", compareResources(before, [...before, added]))).toEqual(["high"]);
    // Whoever holds registered keys writes any issuer beside them.
    const staticKeys = { issuer: "https://oidc.partner.example", subject: "y", issuerKeys: '{"keys":[]}' };
    const keyed = identity("keyed", { staticKeys });
    const withKeys = [...base, keyed, binding(keyed, viewer, payments)];
    expect(severitiesOf("T2", compareResources(withKeys, [...withKeys, added]))).toEqual(["high"]);
    expect(severitiesOf("T2", compareResources(known, [...known, keyed]))).toEqual(["high"]);
    const offline = { withoutInventory: true };
    expect(found("T2", compareResources(groups, [...groups, added], offline))).toEqual([]);
    for (const issuer of [
      "https://token.actions.githubusercontent.com.",
      "https://tokens.actions.githubusercontent.com",
    ])
      expect(
        severitiesOf("T2", made(claims({ issuer, subject: "repo:acme/pay:ref:refs/heads/main" }))),
      ).toEqual(["high"]);
    expect(found("T2", made(pinned))).toEqual([]);
  });

  it("reports a pattern that writes out an issuer nobody trusts yet", () => {
    const trust = claims({ issuerPattern: "^https://oidc\\.partner\\.example$", subject: "x" });
    expect(severitiesOf("T2", made(trust))).toEqual(["high"]);
    const other = identity("other", claims({ issuer: "https://oidc.partner.example", subject: "y" }));
    const known = [...base, other, binding(other, viewer, payments)];
    expect(found("T2", compareResources(known, [...known, identity("added", trust)]))).toEqual([]);
  });

  it.each([
    ["^https://login\\.partner\\.example/acme$", []],
    ["^https://login\\.partner\\.example/evil$", ["high"]],
    ["^https://login\\.partner\\.example/(?:acme|evil)$", ["high"]],
    ["^https://login\\.partner\\.example/.*$", ["high"]],
  ])("knows the issuers of %s only if each of them is known", (issuerPattern, expected) => {
    const other = identity("other", claims({ issuer: "https://login.partner.example/acme", subject: "y" }));
    const known = [...base, other, binding(other, viewer, payments)];
    const added = identity("added", claims({ issuerPattern, subject: "x" }));
    expect(severitiesOf("T2", compareResources(known, [...known, added]))).toEqual(expected);
  });

  it("knows no issuer by a pattern that others can meet", () => {
    const open = identity("open", claims({ issuerPattern: "^https://.*$", subject: "y" }));
    const known = [...base, open, binding(open, viewer, payments)];
    const added = identity("added", claims({ issuer: "https://login.evil.example", subject: "x" }));
    expect(severitiesOf("T2", compareResources(known, [...known, added]))).toEqual(["high"]);
  });

  it("reports an issuer that was trusted on another group only as medium", () => {
    const by = (name: string, subject: string) =>
      identity(name, claims({ issuer: "https://oidc.partner.example", subject }));
    const [there, here] = [by("there", "x"), by("here", "y")];
    const at = (where: string): string[] => {
      const known = [...base, there, binding(there, viewer, where)];
      return severitiesOf("T2", compareResources(known, [...known, here, binding(here, viewer, payments)]));
    };
    expect(at(cards)).toEqual(["medium"]);
    expect(at(payments)).toEqual([]);
    expect(at(acme)).toEqual([]);
  });

  it("holds issuers to the list of --issuer-allow, if there is one", () => {
    const trust = claims({ issuer: "https://oidc.partner.example", subject: "x" });
    expect(severitiesOf("T2", made(trust), { issuerAllow: ["https://*.acme.example"] })).toEqual(["high"]);
    expect(found("T2", made(trust), { issuerAllow: ["https://*.partner.example"] })).toEqual([]);
  });
});

describe("T3 shared-issuer", () => {
  it.each([
    ["an environment's name", github({ subject: "environment:production" })],
    ["any repository", github({ subjectPattern: "^repo:.*$" })],
    [
      "claims that any customer can set",
      github({ subject: "ref:refs/heads/main", claims: { workflow: "deploy", ref: "x" } }),
    ],
    ["any project of GitLab", claims({ issuer: "https://gitlab.com/", subjectPattern: "^project_path:.*$" })],
    [
      "any pipeline of Buildkite",
      claims({ issuer: "https://agent.buildkite.com", subjectPattern: ":pipeline:deploy:" }),
    ],
  ])("finds %s", (_, trust) => {
    expect(severitiesOf("T3", made(trust))).toEqual(["high"]);
  });

  it.each([
    ["a repository", pinned],
    ["an owner in another form", github({ subject: "repository_owner:acme:environment:production" })],
    ["an owner's claim", github({ subject: "environment:production", claims: { repository_owner: "acme" } })],
    [
      "an issuer of one's own",
      claims({ issuer: "https://gitlab.acme.example", subject: "environment:production" }),
    ],
    [
      "a person at Google",
      claims({ issuer: "https://accounts.google.com", subject: "103456789012345678901" }),
    ],
  ])("leaves %s alone", (_, trust) => {
    expect(found("T3", made(trust))).toEqual([]);
  });
});

describe("T4 pull-request-ref", () => {
  it.each([
    [
      "any run of a repository",
      github({ subjectPattern: "^repo:acme/pay:.*$" }),
      "any pull request, any branch, any tag and any environment, also a new one without protection",
    ],
    ["pull requests by name", github({ subject: "repo:acme/pay:pull_request" }), "any pull request"],
    ["any branch", github({ subjectPattern: "^repo:acme/pay:ref:refs/heads/.*$" }), "any branch"],
    [
      "any ref",
      github({ subjectPattern: "^repo:acme/pay:ref:.*$" }),
      "any pull request, any branch and any tag",
    ],
    [
      "branches that begin like main",
      github({ subjectPattern: "^repo:acme/pay:ref:refs/heads/main" }),
      "any branch whose name begins like that",
    ],
    [
      "a GitLab of one's own",
      claims({ issuer: "https://gitlab.acme.example", subjectPattern: "^project_path:acme/pay:.*$" }),
      "any branch and any tag",
    ],
    [
      "a claim that does not tell",
      github({ subjectPattern: "^repo:acme/.*$", claims: { repository_owner: "acme" } }),
      "any pull request, any branch, any tag and any environment, also a new one without protection",
    ],
  ])("finds %s", (_, trust, what) => {
    const [finding] = found("T4", made(trust, pusher));
    expect(finding?.message).toContain(`can be assumed by ${what}: it accepts "`);
    expect(finding?.severity).toBe("high");
  });

  it.each([
    [github({ subject: "repo:acme/bot:pull_request" }), '"repo:acme/bot:ref:refs/heads/main"'],
    [github({ subjectPattern: "^repo:acme/b\\.js:.*$" }), '"^repo:acme/b\\\\.js:ref:refs/heads/main$"'],
    [github({ subject: "repo:acme/b.js:pull_request" }), '"repo:acme/b.js:ref:refs/heads/main"'],
    [github({ subjectPattern: "^repo:acme/.*$" }), '"^repo:acme/pay:ref:refs/heads/main$"'],
    [
      claims({ issuer: "https://gitlab.com", subject: "project_path:acme/a/b:ref_type:mr:ref:x" }),
      '"project_path:acme/a/b:ref_type:branch:ref:main"',
    ],
    [
      claims({
        issuer: "https://agent.buildkite.com",
        subject: "organization:acme:pipeline:pay:ref:refs/pull/1/head:commit:c:step:s",
      }),
      '"^organization:acme:pipeline:pay:ref:refs/heads/main:commit:[0-9a-f]{40}:step:[a-z-]+$" in claimMatch.subjectPattern in place of claimMatch.subject',
    ],
  ])("has an example for the property that %j sets, of its repository", (trust, example) => {
    expect(found("T4", made(trust, pusher)).map(({ advice }) => advice)).toEqual([
      `pin the branch or a protected environment, as in ${example}`,
    ]);
  });

  it.each([
    ["repo:acme/risk:.*", ["claimMatch.subjectPattern is not anchored at its start: begin it with ^"]],
    ["^repo:acme/risk:.*", []],
    ["(?:^repo:acme/risk:.*)", []],
  ])("says of %j whether it is anchored, where a claim pins the owner", (subjectPattern, lines) => {
    const [finding] = found("T4", made(github({ subjectPattern, claims: { repository_owner: "acme" } })));
    expect(finding?.details.filter((line) => line.includes("anchored"))).toEqual(lines);
  });

  const NEW_ENVIRONMENT = "any environment, also a new one without protection";
  const at = (issuer: string, more: Props): Props => claims({ issuer, ...more });
  const terraform = (more: Props): Props => at("https://app.terraform.io", more);
  const pulumi = (more: Props): Props => at("https://api.pulumi.com/oidc", more);
  const gitlab = (more: Props): Props => at("https://gitlab.com", more);
  const buildkite = (more: Props): Props => at("https://agent.buildkite.com", more);
  const vercel = (more: Props): Props => at("https://oidc.vercel.com", more);
  const codefresh = (more: Props): Props => at("https://oidc.codefresh.io", more);

  it.each<readonly [Props, string | undefined]>([
    [github({ subjectPattern: "^repo:acme/pay:environment:.*$" }), NEW_ENVIRONMENT],
    [
      github({ subjectPattern: "^repo:acme/pay:environment:dev-.*$" }),
      "any environment whose name begins like that",
    ],
    [github({ subjectPattern: "^repo:acme/pay:environment:(?:dev|prod)$" }), undefined],
    [github({ subjectPattern: "^repo:acme/pay:environment:prod-[0-9]+$" }), undefined],
    [
      github({ subjectPattern: "^repo:acme/pay:environment:.*$", claims: { ref: "refs/heads/main" } }),
      undefined,
    ],
    [
      github({ subjectPattern: "^repo:acme/pay:environment:.*$", claims: { environment: "prod" } }),
      undefined,
    ],
    [github({ subjectPattern: "^repo:acme/pay:ref:refs/pull/.*$" }), "any pull request"],
    [github({ subject: "repo:acme/pay:ref:refs/pull/1/merge" }), "any pull request"],
    [github({ subjectPattern: "^repo:acme/pay:ref:refs/tags/.*$" }), "any tag"],
    [github({ subjectPattern: "^repo:acme/pay:ref:refs/tags/v[0-9]+\\.[0-9]+$" }), undefined],
    [github({ subject: "repo:acme/pay:ref:refs/tags/v1.0" }), undefined],
    [github({ subjectPattern: "^repo:acme/pay:ref:refs/heads/[0-9]+$" }), "branches of many names"],
    [github({ subjectPattern: "^repo:acme/pay:ref:refs/tags/[0-9]+$" }), "tags of many names"],
    [
      github({ subjectPattern: "^repo:acme/pay:.*$", claims: { event_name: "pull_request_target" } }),
      `any pull request, any branch, any tag and ${NEW_ENVIRONMENT}`,
    ],
    [
      github({ subjectPattern: "^repo:acme/pay:.*$", claims: { event_name: "pull_request_review" } }),
      `any pull request, any branch, any tag and ${NEW_ENVIRONMENT}`,
    ],
    [
      github({ subjectPattern: "^repo:acme/pay:ref:.*$", claims: { event_name: "workflow_dispatch" } }),
      "any pull request, any branch and any tag",
    ],
    [github({ subjectPattern: "^repo:acme/pay:ref:.*$", claims: { event_name: "schedule" } }), undefined],
    [
      github({
        subjectPattern: "^repo:acme/pay:ref:.*$",
        claims: { event_name: "pull_request_target", ref: "refs/heads/main" },
      }),
      "any pull request, any branch and any tag",
    ],
    [gitlab({ subjectPattern: "^project_path:acme/pay:ref_type:tag:ref:.*$" }), "any tag"],
    [gitlab({ subject: "project_path:acme/pay:ref_type:tag:ref:v1.0" }), undefined],
    [
      gitlab({
        subjectPattern: "^project_path:acme/pay:ref_type:branch:ref:.*$",
        claims: { pipeline_source: "merge_request_event" },
      }),
      "any branch",
    ],
    [
      gitlab({
        subjectPattern: "^project_path:acme/pay:ref_type:tag:ref:.*$",
        claims: { ref_protected: "true" },
      }),
      undefined,
    ],
    [buildkite({ subjectPattern: "^organization:acme:pipeline:pay:ref:refs/tags/.*$" }), "any tag"],
    [
      terraform({ subject: "organization:acme:project:p:workspace:w:run_phase:plan" }),
      "any plan, also of a pull request",
    ],
    [terraform({ subjectPattern: "^organization:acme:.*$" }), "any plan, also of a pull request"],
    [
      terraform({ subjectPattern: "^organization:acme:project:p:workspace:w:run_phase:.*$" }),
      "any plan, also of a pull request",
    ],
    [terraform({ subject: "organization:acme:project:p:workspace:w:run_phase:apply" }), undefined],
    [
      terraform({ subjectPattern: "^organization:acme:.*$", claims: { terraform_run_phase: "apply" } }),
      undefined,
    ],
    [
      pulumi({ subject: "pulumi:deploy:org:acme:project:p:stack:s:operation:preview:scope:write" }),
      "any preview, also of a pull request",
    ],
    [
      pulumi({ subjectPattern: "^pulumi:deploy:org:acme:project:p:stack:s:.*$" }),
      "any preview, also of a pull request",
    ],
    [pulumi({ subject: "pulumi:deploy:org:acme:project:p:stack:s:operation:update:scope:write" }), undefined],
    [
      vercel({ subjectPattern: "^owner:acme:project:p:environment:.*$" }),
      "any preview deployment and any developer's machine",
    ],
    [vercel({ subject: "owner:acme:project:p:environment:production" }), undefined],
    [buildkite({ subject: "72f988bf-86f1-41af-91ab-2d7cd011db47" }), "any branch and pull request"],
    [
      buildkite({
        subject: "72f988bf-86f1-41af-91ab-2d7cd011db47",
        claims: { build_branch: "main" },
      }),
      undefined,
    ],
    [
      terraform({ subject: "organization:acme:project:p:stack:s:deployment:d:operation:plan" }),
      "any plan, also of a pull request",
    ],
    [
      terraform({ subjectPattern: "^organization:acme:project:p:stack:s:deployment:d:operation:apply$" }),
      undefined,
    ],
    [codefresh({ subjectPattern: "^account:a1:pipeline:p1(:.*)?$" }), "any pull request and any branch"],
    // A branch of a fork may be called main as well.
    [
      codefresh({
        subjectPattern:
          "^account:a1:pipeline:p1:scm_repo_url:r:scm_user_name:[^:]+:scm_ref:main(?::scm_pull_request_target_branch:[^:]+)?$",
      }),
      "any pull request",
    ],
    [
      codefresh({
        subject:
          "account:a1:pipeline:p1:scm_repo_url:r:scm_user_name:u:scm_ref:main:scm_pull_request_target_branch:main",
      }),
      "any pull request",
    ],
    [
      codefresh({
        subjectPattern: "^account:a1:pipeline:p1:scm_repo_url:r:scm_user_name:[^:]+:scm_ref:main$",
      }),
      undefined,
    ],
  ])("judges the code that runs by %j", (trust, what) => {
    const messages = found("T4", made(trust, pusher)).map(({ message }) => message);
    expect(messages).toEqual(
      what === undefined ? [] : [expect.stringContaining(`can be assumed by ${what}: it accepts "`)],
    );
  });

  const WORKFLOW = "acme/ci/.github/workflows/deploy.yml";
  const PULL = "any pull request";
  const PLAN = "any plan, also of a pull request";

  it.each<readonly [Props, string | undefined]>([
    ...[
      "repo:acme/pay",
      "repo:acme/pay:event_name:pull_request",
      "repo:acme/pay:event_name:pull_request_target",
      "repo:acme/pay:ref:refs/heads/main:event_name:pull_request_target",
      "repo:acme/pay:base_ref:main",
      "repo:acme/pay:head_ref:feature",
      "repo:acme/pay:context:repo",
      "repo:acme/pay:workflow:ci",
      "repo:acme/pay:actor:dependabot[bot]",
      "repo:acme/pay:repository_visibility:public",
      "repo:acme/pay:runner_environment:github-hosted",
      "repo:acme/pay:environment:",
      "repo:acme/pay:ref_protected:false",
      "repository:acme/pay",
      "repository:acme/pay:event_name:pull_request",
      "repository_owner:acme",
      "repository_owner:acme:visibility:public",
      "repository_owner_id:4711",
      "enterprise:acme",
      "actor_id:1:repository_owner:acme",
      "workflow:ci:repository_owner:acme",
      // Another owner's workflow, and one of a pull request.
      "repository_owner:acme:job_workflow_ref:evil/x/.github/workflows/a.yml@refs/heads/main",
      "repo:acme/pay:job_workflow_ref:evil/acme/.github/workflows/a.yml@refs/heads/main",
      `repo:acme/pay:job_workflow_ref:${WORKFLOW}@refs/pull/3/merge`,
    ].map((subject) => [github({ subject }), PULL] as const),
    ...[
      "repo:acme/pay:ref:refs/heads/main",
      "repo:acme/pay:environment:production",
      `repo:acme/pay:environment:production:job_workflow_ref:${WORKFLOW}@refs/heads/main`,
      `repo:acme/pay:job_workflow_ref:${WORKFLOW}@refs/heads/main`,
      `repository_owner:acme:job_workflow_ref:${WORKFLOW}@refs/tags/v1`,
      "repository_owner:acme:ref:refs/heads/main",
      "repository_owner_id:4711:environment:production",
      "repo:acme/pay:ref_protected:true",
      "environment:production:repo:acme/pay",
      `workflow_ref:${WORKFLOW}@refs/heads/main`,
    ].map((subject) => [github({ subject }), undefined] as const),
    [
      github({
        subject: "repo:acme/pay:ref:refs/heads/main",
        claims: { event_name: "pull_request_target" },
      }),
      PULL,
    ],
    [github({ subject: "repo:acme/pay:pull_request", claims: { environment: "production" } }), undefined],
    [github({ subject: "repository_owner:acme", claims: { ref: "refs/heads/main" } }), undefined],
    [github({ subject: "repository_owner:acme", claims: { ref: "refs/pull/7/merge" } }), PULL],
    [github({ subject: "repository_owner:acme", claimPatterns: { ref: "^refs/heads/.*$" } }), PULL],
    [
      github({
        subject: "repository_owner:acme",
        claims: { job_workflow_ref: `${WORKFLOW}@refs/heads/main` },
      }),
      undefined,
    ],
    [
      github({
        subject: "repository_owner:globex",
        claims: { job_workflow_ref: `${WORKFLOW}@refs/heads/main` },
      }),
      PULL,
    ],
    [github({ subjectPattern: "^repository_owner:acme:workflow:[a-z]+$" }), PULL],
    [github({ subjectPattern: "^repository_owner:acme:ref:refs/heads/(?:main|next)$" }), undefined],
    [claims({ issuer: "https://ghes.acme.com/_services/token", subject: "repo:acme/pay" }), PULL],
    ...[
      "project_path:acme/pay",
      "project_path:acme/pay:pipeline_source:merge_request_event",
      "project_path:acme/pay:ref_protected:false",
      "project_path:acme/pay:ref_type:branch",
      "project_path:acme/pay:deployment_tier:production",
    ].map((subject) => [gitlab({ subject }), "any branch"] as const),
    [gitlab({ subject: "project_path:acme/pay", claims: { ref_protected: "true" } }), undefined],
    [gitlab({ subject: "project_path:acme/pay:environment_protected:true" }), undefined],
    [gitlab({ subject: "project_path:acme/pay:ref:main" }), undefined],
    [terraform({ subject: "organization:acme:project:p:workspace:w" }), PLAN],
    [terraform({ subject: "organization:acme:project:p" }), PLAN],
    [
      terraform({
        subject: "organization:acme:project:p:workspace:w",
        claims: { terraform_run_phase: "apply" },
      }),
      undefined,
    ],
    [buildkite({ subject: "organization:acme:pipeline:pay" }), "any branch and pull request"],
    [vercel({ subject: "owner:acme:project:p" }), "any preview deployment"],
    [codefresh({ subject: "account:a1:pipeline:p1" }), PULL],
    [pulumi({ subject: "pulumi:deploy:org:acme:project:p:stack:s" }), "any preview, also of a pull request"],
  ])("holds what does not prove a reviewed run to be anybody's: %j", (trust, what) => {
    const messages = found("T4", made(trust, pusher)).map(({ message }) => message);
    expect(messages).toEqual(
      what === undefined ? [] : [expect.stringContaining(`can be assumed by ${what}: it accepts "`)],
    );
  });

  const ORG = "72f988bf-86f1-41af-91ab-2d7cd011db47";
  const STEP = "9188040d-6c67-4c5b-b112-36a304b66dad";
  const user = `org/${ORG}/project/${ORG}/user/${STEP}`;
  const ref = (name: string): string => `${user}/vcs-origin/github.com/acme/pay/vcs-ref/${name}`;
  const circleci = (match: Props): Props =>
    claims({ issuer: `https://oidc.circleci.com/org/${ORG}`, ...match });
  const bitbucket = (match: Props): Props =>
    claims({
      issuer: "https://api.bitbucket.org/2.0/workspaces/acme/pipelines-config/identity/oidc",
      ...match,
    });

  const semaphore = (match: Props): Props => claims({ issuer: "https://acme.semaphoreci.com", ...match });
  const job = (type: string): string => `org:acme:project:${ORG}:repo:pay:ref_type:${type}`;
  const spacelift = (match: Props): Props => claims({ issuer: "https://acme.app.spacelift.io", ...match });
  const run = (type: string): string => `space:acme:stack:pay:run_type:${type}`;
  const azure = (match: Props): Props => claims({ issuer: `https://vstoken.dev.azure.com/${ORG}`, ...match });
  const CONNECTION = "any run that may use the service connection, perhaps of a pull request";
  const PIPELINE = "any run of the pipeline, also of a pull request";
  const harness = (match: Props): Props =>
    claims({ issuer: "https://app.harness.io/ng/api/oidc/account/a1", ...match });

  it.each<[Props, string | undefined]>([
    [semaphore({ subject: job("pull-request:ref:refs/pull/7/merge") }), "any pull request"],
    [semaphore({ subject: job("branch:ref:refs/heads/main") }), undefined],
    [semaphore({ subjectPattern: `^${job("branch:ref:refs/heads/main")}$` }), undefined],
    [semaphore({ subjectPattern: `^${job(".*")}$` }), "any pull request, any branch and any tag"],
    [semaphore({ subjectPattern: `^${job("branch:ref:.*")}$` }), "any branch"],
    [semaphore({ subjectPattern: `^${job("tag:ref:.*")}$` }), "any tag"],
    // A pull request has the branch that it is for in this claim.
    [
      semaphore({ subjectPattern: `^${job(".*")}$`, claims: { branch: "main" } }),
      "any pull request, any branch and any tag",
    ],
    [semaphore({ subjectPattern: `^${job(".*")}$`, claims: { ref: "refs/heads/main" } }), undefined],
    [
      semaphore({ subjectPattern: `^${job(".*")}$`, claims: { ref_type: "branch" } }),
      "any pull request, any branch and any tag",
    ],
    [spacelift({ subject: run("TRACKED:scope:write") }), undefined],
    [spacelift({ subject: run("PROPOSED:scope:read") }), "any proposed run, also of a pull request"],
    [spacelift({ subjectPattern: `^${run(".*")}$` }), "any proposed run, also of a pull request"],
    [spacelift({ subjectPattern: `^${run(".*")}$`, claims: { runType: "TRACKED" } }), undefined],
    [
      spacelift({ subjectPattern: "^space:acme:module:pay:run_type:.*$" }),
      "any proposed run, also of a pull request and any test of a module, also of a pull request",
    ],
    [azure({ subject: "sc://acme/pay/deploy" }), CONNECTION],
    [
      claims({
        issuer: `https://login.microsoftonline.com/${ORG}/v2.0`,
        subject: `/eid1/c/pub/t/x/a/y/sc/${ORG}/${STEP}`,
      }),
      CONNECTION,
    ],
    [azure({ subject: "p://acme/pay/deploy" }), PIPELINE],
    [azure({ subject: "p://acme/pay/deploy", claims: { rpo_ref: "refs/heads/main" } }), undefined],
    [azure({ subject: "p://acme/pay/deploy", claims: { rpo_ref: "refs/pull/7/merge" } }), PIPELINE],
    [harness({ subject: "account/a1:org/acme:project/pay" }), "any run, perhaps of a pull request"],
    [
      harness({ subject: "account/a1:org/acme:project/pay", claims: { environment_id: "production" } }),
      undefined,
    ],
    [
      claims({
        issuer: "https://oidc.vercel.com/acme",
        subject: "owner:acme:project:pay:environment:preview",
      }),
      "any preview deployment",
    ],
    // Machines, not runs: who deploys is decided elsewhere.
    [claims({ issuer: "https://oidc.fly.io/acme", subject: "acme:pay:machine" }), undefined],
    [circleci({ subject: user }), "any branch"],
    [circleci({ subject: user, claims: { "oidc.circleci.com/vcs-ref": "refs/heads/main" } }), undefined],
    [circleci({ subject: ref("refs/heads/main") }), undefined],
    [circleci({ subjectPattern: `^${user}$` }), "any branch"],
    [circleci({ subjectPattern: `^${ref("refs/heads/main")}$` }), undefined],
    [circleci({ subjectPattern: `^${ref("refs/heads/(?:main|prod)")}$` }), undefined],
    [circleci({ subjectPattern: `^${ref("refs/heads/release-[0-9]+")}$` }), undefined],
    // What stands before a name may look like the end of a subject: no form tells where the name begins.
    [circleci({ subjectPattern: `^${ref("refs/heads/.*")}$` }), "any branch and any tag"],
    [circleci({ subjectPattern: `^${ref("refs/tags/.*")}$` }), "any branch and any tag"],
    [circleci({ subjectPattern: `^${ref(".*")}$` }), "any branch and any tag"],
    [circleci({ subjectPattern: `^org/${ORG}/project/${ORG}/user/.*$` }), "any branch and any tag"],
    [bitbucket({ subjectPattern: `^\\{${ORG}\\}:.*$` }), "any branch and pull request"],
    [bitbucket({ subjectPattern: `^\\{${ORG}\\}:\\{[0-9a-f-]+\\}$` }), "any branch and pull request"],
    [bitbucket({ subjectPattern: `^\\{${ORG}\\}:.*$`, claims: { branchName: "main" } }), undefined],
    [
      bitbucket({ subjectPattern: `^\\{${ORG}\\}:.*$`, claims: { deploymentEnvironmentUuid: `{${STEP}}` } }),
      undefined,
    ],
    [bitbucket({ subjectPattern: `^\\{${ORG}\\}:\\{${STEP}\\}:\\{[0-9a-f-]+\\}$` }), undefined],
  ])("judges the code that runs at an issuer for each customer by %j", (trust, what) => {
    const messages = found("T4", made(trust, pusher)).map(({ message }) => message);
    expect(messages).toEqual(
      what === undefined ? [] : [expect.stringContaining(`can be assumed by ${what}: it accepts "`)],
    );
  });

  it("is medium if the identity only reads, and high if that is unknown", () => {
    const trust = github({ subjectPattern: "^repo:acme/pay:.*$" });
    const reader = role("reader", ["REPO_LIST"]);
    const unknown = resource("Role", "lookup", {});
    const change = (what: Resource) => {
      const who = identity("ci", trust);
      return compareResources([...base, what], [...base, what, who, binding(who, what, payments)]);
    };
    expect(severitiesOf("T4", change(reader))).toEqual(["medium"]);
    expect(severitiesOf("T4", change(unknown))).toEqual(["high"]);
  });

  it.each([
    ["the main branch", pinned],
    [
      "a branch by its claim",
      github({ subjectPattern: "^repo:acme/pay:.*$", claims: { ref: "refs/heads/main" } }),
    ],
    [
      "a branch by a claim's pattern",
      github({ subjectPattern: "^repo:acme/pay:.*$", claimPatterns: { ref: "^refs/heads/(main|rel)$" } }),
    ],
    ["an environment", github({ subjectPattern: "^repo:acme/[a-z]+:environment:production$" })],
    ["what T1 finds", github({ subjectPattern: ".*" })],
    ["another issuer", claims({ issuer: "https://sso.acme.example", subjectPattern: "^user-.*$" })],
  ])("leaves %s alone", (_, trust) => {
    expect(found("T4", made(trust, pusher))).toEqual([]);
  });
});

describe("T5 trust-changed", () => {
  const changed = (from: Props, to: Props, isBound = true) => {
    const [old, now] = [identity("ci", from), identity("ci", to)];
    const rest = isBound ? [...base, binding(old, viewer, payments)] : base;
    return compareResources([...rest, old], [...rest, now]);
  };

  it("lists what the new principal inherits", () => {
    const other = github({ subject: "repo:globex/pay:ref:refs/heads/main" });
    expect(found("T5", changed(pinned, other))).toMatchObject([
      {
        severity: "high",
        message:
          "the trust of identity ci changes: a different principal inherits 1 grant: claimMatch.subject",
        details: [
          "claimMatch.subject: repo:acme/pay:ref:refs/heads/main → repo:globex/pay:ref:refs/heads/main",
          "inherits:",
          "viewer on acme / payments",
        ],
      },
    ]);
  });

  const keys = (more: Props): Props => ({
    staticKeys: { issuer: "i", subject: "s", issuerKeys: "{}", ...more },
  });

  it.each([
    ["keys", keys({}), keys({ issuerKeys: '{"keys":[]}' }), 1],
    ["the way it authenticates", pinned, keys({}), 1],
    [
      "a claim's value",
      github({ subject: "s", claims: { a: "1" } }),
      github({ subject: "s", claims: { a: "2" } }),
      1,
    ],
    ["a claim taken away", github({ subject: "s", claims: { a: "1" } }), github({ subject: "s" }), 1],
    ["a claim that is added", github({ subject: "s" }), github({ subject: "s", claims: { a: "1" } }), 0],
    ["the end of its keys", keys({}), keys({ expirationTime: "2026-07-01T00:00:00Z" }), 0],
    ["its description", pinned, { ...pinned, description: "new" }, 0],
  ])("of %s", (_, from, to, count) => {
    expect(found("T5", changed(from, to))).toHaveLength(count);
  });

  const keySet = (...kids: string[]): Props =>
    keys({
      issuerKeys: JSON.stringify({ keys: kids.map((kid) => ({ kty: "OKP", crv: "Ed25519", x: kid, kid })) }),
    });
  const nameOf = (kid: string): string =>
    `key ${createHash("sha256").update(`{"crv":"Ed25519","kty":"OKP","x":"${kid}"}`).digest("base64url")}, kid ${kid}`;

  it.each([
    ["added", keySet("old"), keySet("old", "new"), `adds ${nameOf("new")}`],
    ["replaced", keySet("old"), keySet("new"), `adds ${nameOf("new")}; takes away ${nameOf("old")}`],
    [
      "unreadable",
      keySet("old"),
      keys({ issuerKeys: "{}" }),
      "a key set is no JSON Web Key Set that every parser reads alike",
    ],
  ])("says of %s keys which ones they are, and that their holder gets the grants", (_, from, to, which) => {
    expect(found("T5", changed(from, to))).toMatchObject([
      {
        severity: "high",
        message: `the keys of identity ci change: whoever has a new one gets 1 grant: staticKeys.issuerKeys (${which})`,
        advice: expect.stringContaining("if you rotate the keys") as string,
      },
    ]);
  });

  it.each([
    ["subject", { subject: "other" }],
    ["issuer", { issuer: "other" }],
  ])("says of new keys with another %s that the principal is a different one", (_, more) => {
    const to = { staticKeys: { ...(keySet("new")["staticKeys"] as Props), ...more } };
    expect(found("T5", changed(keySet("old"), to))).toMatchObject([
      {
        severity: "high",
        message: expect.stringContaining("a different principal inherits 1 grant") as string,
      },
    ]);
  });

  it("ignores the removal of the old key", () => {
    expect(found("T5", changed(keySet("old", "new"), keySet("new")))).toEqual([]);
  });

  /** A renamed resource of a program: one identity is deleted, another one is created. */
  const renamed = (from: Props, to: Props, where = payments) => {
    const [old, now] = [identity("ci", from), identity("ci-main", to)];
    return compareResources(
      [...base, old, binding(old, viewer, payments)],
      [...base, now, binding(now, viewer, where)],
    );
  };

  it("reports a new identity that gets the grants of a deleted one for another principal", () => {
    const other = github({ subject: "repo:globex/pay:ref:refs/heads/main" });
    expect(found("T5", renamed(pinned, other))).toMatchObject([
      {
        severity: "high",
        field: "claimMatch.subject",
        message:
          "identity ci-main takes the place of identity ci, which is deleted: a different principal inherits 1 grant: claimMatch.subject",
        details: [
          "claimMatch.subject: repo:acme/pay:ref:refs/heads/main → repo:globex/pay:ref:refs/heads/main",
          "inherits:",
          "viewer on acme / payments",
        ],
      },
    ]);
  });

  it.each([
    ["for the same principal", pinned, pinned, payments],
    ["for fewer principals", github({ subjectPattern: "^repo:acme/.*$" }), pinned, payments],
    ["with a grant on another group", pinned, github({ subject: "repo:globex/x:y" }), acme],
  ])("leaves a new identity %s alone", (_, from, to, where) => {
    expect(found("T5", renamed(from, to, where))).toEqual([]);
  });

  it("reports the grants of that deleted identity alone whose principal is a different one", () => {
    const [same, strange] = [
      identity("same", pinned),
      identity("strange", github({ subject: "repo:globex/x:y" })),
    ];
    const now = identity("ci-main", pinned);
    const before = [...base, same, strange, binding(same, viewer, payments), binding(strange, pusher, acme)];
    const after = [...base, now, binding(now, viewer, payments), binding(now, pusher, acme)];
    expect(found("T5", compareResources(before, after))).toMatchObject([
      { message: expect.stringContaining("takes the place of identity strange") as string },
    ]);
  });

  it("ignores an identity without grants", () => {
    expect(found("T5", changed(pinned, github({ subject: "repo:globex/x:y" }), false))).toEqual([]);
  });

  it("reports the issuer of an identity provider, and not its secret", () => {
    const idp = (oidc: Props): Resource =>
      resource("IdentityProvider", "sso", { parentUid: acme, defaultRole: viewer.uid, oidc });
    const [old, moved] = [idp({ issuer: "https://a.example" }), idp({ issuer: "https://b.example" })];
    expect(found("T5", compareResources([...base, old], [...base, moved]))).toHaveLength(1);
    const kept = idp({ issuer: "https://a.example", clientSecret: "[secret]" });
    expect(found("T5", compareResources([...base, old], [...base, kept]))).toEqual([]);
  });
});

describe("T6 loose-audience", () => {
  it("finds an audience pattern that accepts anything, and a `*` in an exact value", () => {
    expect(severitiesOf("T6", made(github({ subject: "repo:acme/pay:x", audiencePattern: ".*" })))).toEqual([
      "medium",
    ]);
    const [star] = found("T6", made(github({ subject: "repo:acme/pay:*" })));
    expect(star).toMatchObject({ severity: "low", field: "claimMatch.subject" });
    expect(star?.advice).toContain("claimMatch.subjectPattern");
    const [claim] = found("T6", made(github({ subject: "s", claims: { ref: "refs/heads/*" } })));
    expect(claim?.advice).toContain("claimMatch.claimPatterns.ref");
    const [anchor] = found("T6", made(github({ subject: "^repo:acme/pay:ref:refs/heads/main$" })));
    expect(anchor?.message).toMatch(/^identity ci can never be assumed: .* the \^ in .* is no anchor$/);
    expect(anchor?.advice).toBe(
      "write the value without ^ and $, or the pattern in claimMatch.subjectPattern",
    );
  });

  it.each([
    [{ audience: "sts.amazonaws.com" }, "AWS"],
    [{ audience: "api://AzureADTokenExchange" }, "Azure"],
    [{ audience: "sigstore" }, "Sigstore"],
    [{ audience: "https://github.com/evil" }, "GitHub Actions"],
    [{ audiencePattern: "^https://github\\.com/.*$" }, "GitHub Actions"],
    [{ audience: "https://platform.acme.example" }, undefined],
    [{ audience: "https://github.com/acme/pay" }, undefined],
    [{}, undefined],
  ])("says who else receives the tokens of %j", (audience, receiver) => {
    const all = found("T6", made(github({ subject: "repo:acme/pay:x", ...audience })));
    expect(all).toMatchObject(
      receiver === undefined
        ? []
        : [{ severity: "low", message: expect.stringContaining(receiver) as string }],
    );
  });

  it("ignores exact values and named audiences", () => {
    const trust = github({ subject: "repo:acme/pay:x", audiencePattern: "^https://(a|b)\\.acme\\.example$" });
    expect(found("T6", made(trust))).toEqual([]);
  });
});

describe("T7 new-outsider", () => {
  const GLOBEX = { subject: "repo:globex/pay:ref:refs/heads/main" };
  const known = [
    identity("known", pinned),
    identity("gitlab", claims({ issuer: "https://gitlab.com", subject: "project_path:acme/pay:x" })),
    identity("azure", claims({ issuer: azure("1"), subject: "app" })),
    identity("mail", claims({ issuer: "https://sso.acme.example", subject: "ada@acme.com" })),
    identity("aws", aws("111111111111")),
  ];
  const before = [...base, ...known, ...known.map((who) => binding(who, viewer, payments))];
  /** Adds an identity with a grant to an organisation that trusts some. */
  const add = (trust: Props, what: Resource = viewer, where = payments) => {
    const who = identity("ci", trust);
    return compareResources(before, [...before, who, binding(who, what, where)]);
  };

  function azure(tenant: string): string {
    return `https://login.microsoftonline.com/${tenant.repeat(8)}-0000-0000-0000-000000000000/v2.0`;
  }
  function aws(awsAccount: string): Props {
    const arn = `arn:aws:iam::${awsAccount}:role/deploy`;
    return { awsIdentity: { awsAccount, arn, userIdPattern: ".*" } };
  }

  it.each([
    ["an organisation of GitHub", github(GLOBEX), 'organisation of GitHub Actions "globex"'],
    [
      "one of two organisations",
      github({ subjectPattern: "^repo:(?:acme|globex)/pay:ref:refs/heads/main$" }),
      'organisation of GitHub Actions "globex"',
    ],
    [
      "an organisation by a claim",
      github({ subjectPattern: ".*", claims: { repository_owner: "globex" } }),
      'organisation of GitHub Actions "globex"',
    ],
    [
      "an organisation beside a claim of a known one, which never hold together",
      github({ ...GLOBEX, claims: { repository_owner: "acme" } }),
      'organisation of GitHub Actions "globex"',
    ],
    [
      "the group of GitLab with the name of an organisation of GitHub",
      claims({ issuer: "https://gitlab.com", subject: "project_path:globex/pay:x" }),
      'group of GitLab CI "globex"',
    ],
    ["a tenant of Azure", claims({ issuer: azure("2"), subject: "app" }), 'tenant of Azure "22222222'],
    [
      "an organisation of CircleCI",
      claims({ issuer: "https://oidc.circleci.com/org/11111111-0000-0000-0000-000000000000", subject: "x" }),
      'organisation of CircleCI "11111111',
    ],
    ["an account of AWS", aws("222222222222"), 'account of AWS "222222222222"'],
    [
      "a mail domain with a dot at its end",
      claims({ issuer: "https://sso.acme.example", subject: "eve@globex.com." }),
      'mail domain "globex.com"',
    ],
    [
      "a mail domain beside a name",
      claims({ issuer: "https://sso.acme.example", subjectPattern: "^(?:ada|eve@globex\\.com)$" }),
      'mail domain "globex.com"',
    ],
    [
      "the number of an owner",
      github({ subject: "repo:globex@9/pay@2:ref:refs/heads/main" }),
      'organisation of GitHub Actions "globex@9"',
    ],
    [
      "a mail domain",
      claims({ issuer: "https://sso.acme.example", subject: "eve@globex.com" }),
      'mail domain "globex.com"',
    ],
    [
      "an address at a public mail host",
      claims({ issuer: "https://sso.acme.example", subject: "eve@gmail.com" }),
      'mail address "eve@gmail.com"',
    ],
    [
      "an account of Google",
      claims({ issuer: "https://accounts.google.com", subject: "103456789012345678901" }),
      'account of Google "103456789012345678901"',
    ],
  ])("finds %s", (_, trust, who) => {
    expect(found("T7", add(trust))).toMatchObject([
      {
        severity: "medium",
        message: expect.stringContaining(`identity ci trusts ${who}`) as string,
        details: ["whoever assumes it gets:", "viewer on acme / payments"],
      },
    ]);
  });

  it.each([
    ["a role that reads, below the root", viewer, payments, ["medium"]],
    ["a role that reads, on the root", viewer, acme, ["high"]],
    ["a role that writes", pusher, payments, ["high"]],
    ["a role that is unknown", resource("Role", "lookup", {}), payments, ["high"]],
  ] as const)("is judged by %s", (_, what, where, severities) => {
    expect(severitiesOf("T7", add(github(GLOBEX), what, where))).toEqual(severities);
  });

  it.each([
    [
      "another repository of a known organisation",
      github({ subject: "repo:ACME/search:ref:refs/heads/main" }),
    ],
    [
      "a known organisation and a new number",
      github({ subject: "repo:acme/x:y", claims: { repository_owner_id: "1" } }),
    ],
    [
      "a known group of GitLab",
      claims({ issuer: "https://gitlab.com/", subject: "project_path:acme/ops:x" }),
    ],
    ["a known tenant", claims({ issuer: azure("1"), subject: "other" })],
    ["a known account", aws("111111111111")],
    ["a known mail domain", claims({ issuer: "https://sso.acme.example", subject: "bob@acme.com" })],
    ["what pins nobody", github({ subjectPattern: ".*" })],
  ])("leaves %s alone", (_, trust) => {
    expect(found("T7", add(trust, pusher))).toEqual([]);
  });

  describe("who a subject is at an issuer that one owner runs", () => {
    const ENTERPRISE = "https://token.actions.githubusercontent.com/acme";
    const WORKSPACE = "https://api.bitbucket.org/2.0/workspaces/acme/pipelines-config/identity/oidc";
    const CIRCLECI = "https://oidc.circleci.com/org/11111111-0000-0000-0000-000000000000";
    const by = (issuer: string, more: Props): Props => claims({ issuer, ...more });
    const sso = (more: Props): Props => by("https://sso.acme.com", more);
    const google = (more: Props): Props => by("https://accounts.google.com", more);
    const trusted = [
      sso({ subject: "ada@acme.com" }),
      sso({ subject: "opaque" }),
      sso({ subject: "spiffe://acme.com/ci" }),
      by("https://gitlab.acme.com", { subject: "project_path:acme/pay:ref_type:branch:ref:main" }),
      by(ENTERPRISE, { subject: "repo:acme/pay:ref:refs/heads/main" }),
      by(azure("1"), { subject: "app" }),
      by(CIRCLECI, { subject: "org/1/project/p1/user/u1" }),
      by(WORKSPACE, { subject: "{1}:{2}" }),
      google({ subject: "103456789012345678901", claims: { hd: "acme.com" } }),
      github({ subject: "repo:acme/pay:ref:refs/heads/main" }),
    ].map((trust, i) => identity(`trusted-${i}`, trust));
    const all = [...base, ...trusted, ...trusted.map((who) => binding(who, viewer, acme))];
    const strangers = (trust: Props): string[] => {
      const who = identity("ci", trust);
      return found("T7", compareResources(all, [...all, who, binding(who, viewer, acme)])).map(
        ({ severity, message }) => `${severity} ${/trusts (.*?), which/.exec(message)?.[1]}`,
      );
    };

    it.each<readonly [Props, string]>([
      [sso({ subject: "spiffe://evil.com/ns/x" }), 'trust domain of SPIFFE "evil.com"'],
      [sso({ subjectPattern: "^spiffe://evil\\.com/.*$" }), 'trust domain of SPIFFE "evil.com"'],
      [sso({ subjectPattern: "^(?:ada|spiffe://evil\\.com/x)$" }), 'trust domain of SPIFFE "evil.com"'],
      [
        by(ENTERPRISE, { subject: "repo:evil/pay:ref:refs/heads/main" }),
        `organisation of GitHub Actions at ${ENTERPRISE} "evil"`,
      ],
      [
        by(ENTERPRISE, { subjectPattern: "^repo:(?:acme|evil)/pay:.*$" }),
        `organisation of GitHub Actions at ${ENTERPRISE} "evil"`,
      ],
      [
        by(ENTERPRISE, { subject: "environment:production", claims: { repository: "evil/pay" } }),
        `organisation of GitHub Actions at ${ENTERPRISE} "evil"`,
      ],
      [
        by("https://gitlab.acme.com", { subject: "project_path:evil/pay:ref_type:branch:ref:main" }),
        'group of GitLab CI at https://gitlab.acme.com "evil"',
      ],
      [sso({ subject: "eve@evil.com" }), 'mail domain "evil.com"'],
      [sso({ subject: "eve@evil.acme.com.evil.com" }), 'mail domain "evil.acme.com.evil.com"'],
      [sso({ subject: "opaque", claims: { email: "mallory@evil.com" } }), 'mail domain "evil.com"'],
      [sso({ subject: "opaque", claimPatterns: { upn: "^mallory@evil\\.com$" } }), 'mail domain "evil.com"'],
      [sso({ subject: "opaque", claimPatterns: { email: "mallory@evil" } }), 'claim email "mallory@evil"'],
      [
        by(azure("1"), { subject: "app", claims: { upn: "mallory_evil.com#EXT#@acme.com" } }),
        'claim upn "mallory_evil.com#EXT#@acme.com"',
      ],
      [
        sso({ subjectPattern: "^(?:ada|.*_evil\\.com#EXT#)@acme\\.com$" }),
        'subject "^(?:ada|.*_evil\\\\.com#EXT#)@acme\\\\.com$"',
      ],
      ...[
        "mallory@evil.com ",
        "<mallory@evil.com>",
        "mallory@evil.com|x",
        "mallory@evil_x.com",
        "mallory@[1.2.3.4]",
        "mallory@evil",
        "mallory\uff20evil.com",
        "mallory\ufe6bevil.com",
        "mallory@evil\u3002com",
        "mallory@acme\u3002com",
        "mallory%40evil.com",
        "mallory%2540evil.com",
        "mallory_evil.com#EXT#@acme.com",
        "mallory%evil.com@acme.com",
        "mallory@evil.com@acme.com",
        "@acme.com",
        "evil|ada@acme.com",
      ].map((subject) => [sso({ subject }), `subject ${JSON.stringify(subject)}`] as const),
      [sso({ subject: "mallory@acme.com\u200b" }), 'subject "mallory@acme.com\\u{200b}"'],
      [google({ subject: "103456789012345678909" }), 'account of Google "103456789012345678909"'],
      [
        google({ subject: "103456789012345678909", claims: { hd: "evil.com" } }),
        'account of Google "103456789012345678909"',
      ],
      [google({ subjectPattern: ".*", claims: { hd: "evil.com" } }), 'mail domain "evil.com"'],
      [github({ ...GLOBEX, claims: { repository_id: "7" } }), 'organisation of GitHub Actions "globex"'],
    ])("finds each that is not known: %j", (trust, who) => {
      expect(strangers(trust)).toEqual([`high ${who}`]);
    });

    it.each([
      [sso({ subject: "other" })],
      [sso({ subject: "bob@acme.com" })],
      [sso({ subject: "BOB@ACME.com." })],
      [sso({ subject: "bob@corp.acme.com" })],
      [sso({ subjectPattern: "^.*@acme\\.com$" })],
      [sso({ subjectPattern: "@acme\\.com$" })],
      [sso({ subjectPattern: "^svc-[a-z]+@(?:ci\\.)?acme\\.com$" })],
      [sso({ subject: "opaque", claims: { email: "bob@acme.com", team: "sre" } })],
      [sso({ subject: "spiffe://acme.com/other" })],
      [sso({ subjectPattern: "^system:serviceaccount:other:.*$" })],
      [by(ENTERPRISE, { subject: "repo:acme/search:environment:production" })],
      [
        by(ENTERPRISE, {
          subject: "repo:acme/search:environment:production",
          claims: { job_workflow_ref: "acme/flows/.github/workflows/x.yml@refs/heads/main" },
        }),
      ],
      [by(CIRCLECI, { subjectPattern: "^org/1/project/p2/user/.*$" })],
      [by(WORKSPACE, { subjectPattern: `^\\{${"1".repeat(8)}-1111-1111-1111-${"1".repeat(12)}\\}:.*$` })],
      [google({ subject: "103456789012345678909", claims: { hd: "acme.com" } })],
      [google({ subjectPattern: ".*", claims: { hd: "acme.com" } })],
    ])("leaves those alone that are known: %j", (trust) => {
      expect(strangers(trust)).toEqual([]);
    });

    it("reports a role that only reads, or converts what it is sent, as medium below the root", () => {
      const reader = role("reader", ["REPO_LIST", "GUARDENER_DFC_CONVERT", "GUARDENER_ACTIONS_MIGRATE"]);
      const who = identity("ci", github(GLOBEX));
      const now = [...all, reader];
      expect(
        severitiesOf("T7", compareResources(now, [...now, who, binding(who, reader, payments)])),
      ).toEqual(["medium"]);
    });
  });

  it("leaves an identity without a grant alone, and finds it when it gets one", () => {
    const planted = identity("planted", github(GLOBEX));
    expect(found("T7", compareResources(before, [...before, planted]))).toEqual([]);
    const now = [...before, planted];
    const change = compareResources(now, [...now, binding(planted, pusher, payments)]);
    expect(severitiesOf("T7", change)).toEqual(["high"]);
    const other = identity("ci", github(GLOBEX));
    const added = compareResources(now, [...now, other, binding(other, pusher, payments)]);
    expect(severitiesOf("T7", added)).toEqual(["high"]);
  });

  it("is medium for the first identity with a grant of all", () => {
    const who = identity("ci", github(GLOBEX));
    const first = compareResources(base, [...base, who, binding(who, pusher, acme)]);
    expect(severitiesOf("T7", first)).toEqual(["medium"]);
  });

  it("says nothing without an inventory", () => {
    const who = identity("ci", github(GLOBEX));
    const after = [...before, who, binding(who, pusher, payments)];
    expect(found("T7", compareResources(before, after, { withoutInventory: true }))).toEqual([]);
  });

  describe("of what was trusted on another group only", () => {
    const at = (where: string, trust: Props, what: Resource, place = payments) => {
      const [there, who] = [identity("there", trust), identity("ci", trust)];
      const all = [...before, there, binding(there, viewer, where)];
      return severitiesOf("T7", compareResources(all, [...all, who, binding(who, what, place)]));
    };
    const trusts = [
      github(GLOBEX),
      claims({ issuer: "https://sso.acme.example", subject: "eve@globex.com" }),
    ];

    it.each(trusts)("finds one as medium below the root: %j", (trust) => {
      expect(at(cards, trust, viewer, acme)).toEqual(["high"]);
      expect(at(cards, trust, viewer)).toEqual(["medium"]);
      expect(at(cards, trust, owner)).toEqual(["medium"]);
      expect(at(payments, trust, owner)).toEqual([]);
      expect(at(acme, trust, owner)).toEqual([]);
    });
  });

  it.each([
    ["globex@1", "globex@1", []],
    ["globex@1", "globex@9", ["medium"]],
    ["globex@1", "globex", []],
    ["globex", "globex@9", []],
    ["globex@1", "acme@1", []],
    ["acme-inc@1", "acme-ltd@1", ["medium"]],
  ])("knows %s, and judges %s", (old, now, expected) => {
    const by = (name: string, what: string): Resource =>
      identity(
        name,
        github({ subject: `repo:${what}/pay${what.includes("@") ? "@2" : ""}:ref:refs/heads/main` }),
      );
    const [first, second] = [by("first", old), by("second", now)];
    const all = [...before, first, binding(first, viewer, payments)];
    expect(
      severitiesOf("T7", compareResources(all, [...all, second, binding(second, viewer, payments)])),
    ).toEqual(expected);
  });

  it("finds an invite to a new mail domain as it does a trust, and not one to a known one", () => {
    const invite = (email: string, parentUid = payments, what = viewer, all: readonly Resource[] = before) =>
      found(
        "T7",
        compareResources(all, [
          ...all,
          resource("GroupInvite", "ada", { parentUid, roleUid: what.uid, ttl: "24h", email }),
        ]),
      );
    for (const email of ["eve@globex.com", "eve@gmail.com"]) {
      expect(invite(email)).toMatchObject([{ severity: "medium", field: "email" }]);
      expect(invite(email, acme)).toMatchObject([{ severity: "high" }]);
      expect(invite(email, payments, pusher)).toMatchObject([{ severity: "high" }]);
      expect(invite(email, acme, pusher, base)).toMatchObject([{ severity: "medium" }]);
    }
    expect(invite("bob@ACME.com")).toEqual([]);
  });

  describe("of registered keys", () => {
    const key = (x: string, more: Props = {}): Props => ({ kty: "OKP", crv: "Ed25519", x, ...more });
    const keyed = (name: string, ...keys: Props[]): Resource =>
      identity(name, {
        staticKeys: {
          issuer: "https://ci.acme.example",
          subject: name,
          issuerKeys: JSON.stringify({ keys }),
          expirationTime: "2026-07-01T00:00:00Z",
        },
      });
    const own = keyed("own", key("ours", { kid: "1" }));
    const all = [...before, own, binding(own, viewer, payments)];
    const adding = (who: Resource, what = viewer, where = payments): (string | undefined)[][] =>
      found("T7", compareResources(all, [...all, who, binding(who, what, where)])).map(
        ({ severity, field }) => [severity, field],
      );

    it.each([
      ["a stranger's key", keyed("new", key("theirs")), "staticKeys.issuerKeys"],
      [
        "a stranger's key beside a known one",
        keyed("new", key("ours"), key("theirs")),
        "staticKeys.issuerKeys",
      ],
      ["a known key", keyed("new", key("ours")), undefined],
      ["a known key with another kid", keyed("new", key("ours", { kid: "2", use: "sig" })), undefined],
    ])("finds %s only where no identity with a grant had it", (_what, who, field) => {
      const expected = (severity: string) => (field === undefined ? [] : [[severity, field]]);
      expect(adding(who)).toEqual(expected("medium"));
      expect(adding(who, pusher)).toEqual(expected("high"));
      expect(adding(who, viewer, acme)[0]?.[0]).toBe("high");
    });

    it("leaves the next key of an identity to T5, and finds one that only waited for a grant", () => {
      const next = { ...own, inputs: keyed("own", key("ours"), key("next")).inputs };
      const changed = compareResources(all, [...all.filter((each) => each !== own), next]);
      expect([severitiesOf("T7", changed), severitiesOf("T5", changed)]).toEqual([[], ["high"]]);
      const planted = keyed("planted", key("theirs"));
      const described = { ...planted, inputs: { ...planted.inputs, description: "x" } };
      const bound = [...all, described, binding(planted, pusher, payments)];
      expect(severitiesOf("T7", compareResources([...all, planted], bound))).toEqual(["high"]);
    });
  });
});
