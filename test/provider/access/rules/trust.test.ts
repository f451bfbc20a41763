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
import { compare } from "../../../../provider/access/review/compare";
import { inventoryOf, preview, state, step } from "../../../support/documents";
import { found, severitiesOf } from "./support";

const base = [...groups, viewer, pusher];
const GITHUB = "https://token.actions.githubusercontent.com";
const github = (more: Props): Props => claims({ issuer: GITHUB, ...more });

/** An identity that is made and bound. */
function made(trust: Props, what: Resource = viewer) {
  const who = identity("ci", trust);
  return compareResources(base, [...base, who, binding(who, what, payments)]);
}

/** What a rule says of each of these trusts where all are new in one change, so that one comparison judges them. */
function foundInEach(
  id: string,
  trusts: readonly Props[],
  { what = viewer, where = payments, before = base } = {},
) {
  const all = trusts.map((trust, i) => identity(`row-${i}`, trust));
  const bound = all.map((who) => binding(who, what, where));
  const findings = found(id, compareResources(before, [...before, ...all, ...bound]));
  return all.map(({ urn }) => findings.filter((each) => each.urn === urn));
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

  it("judges a long list of repositories that are written out", () => {
    const names = Array.from({ length: 60 }, (_, i) => `repo:acme/repository-${i}`);
    const trust = github({ subjectPattern: `^(?:${names.join("|")}):ref:refs/heads/main$` });
    expect(["T1", "T3", "T4"].flatMap((id) => found(id, made(trust)))).toEqual([]);
  });

  const google = (more: Props): Props => claims({ issuer: "https://accounts.google.com", ...more });
  const sso = (more: Props): Props => claims({ issuer: "https://sso.acme.com", ...more });

  it.each<[string, "high" | "critical"]>([
    ["^.+@acme\\.com$", "high"],
    ["^[a-z]+@(?:acme\\.com|globex\\.com)$", "high"],
    // Everybody can have such an address.
    ["^.+@gmail\\.com$", "critical"],
    ["^.+@(?:acme|gmail)\\.com$", "critical"],
    ["acme\\.com", "critical"],
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
    [google({ subjectPattern: ".*", claims: { hd: "acme.com", email: "ada@acme.com" } }), 0],
    [google({ subjectPattern: "^1034567890123456789(?:01|02)$", claims: { hd: "acme.com" } }), 0],
    [sso({ subjectPattern: "^.*@acme\\.com$" }), 1],
    [sso({ subjectPattern: "@acme\\.com$", claims: { email_verified: "true" } }), 1],
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

describe("a pattern of several issuers or owners", () => {
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

  const PARTNER = "https://oidc.partner.example";
  const added = identity("added", claims({ issuer: PARTNER, subject: "x" }));
  const adding = (before: readonly Resource[], options = {}): string[] =>
    severitiesOf("T2", compareResources(before, [...before, added], options));

  it("knows an identity whose only grant gets another name by an alias, and another role", () => {
    const grant = binding(added, viewer, payments);
    const who = state("Identity", "partner", added.inputs, { id: added.uid });
    const bindingOf = (name: string, roleUid: string) =>
      state("RoleBinding", name, { ...grant.inputs, roleUid }, { id: grant.uid });
    const [old, now] = [bindingOf("old", viewer.uid), bindingOf("new", pusher.uid)];
    const comparison = compare({
      preview: preview(step("same", who, who), step("update", old, now)),
      inventory: inventoryOf(acme, ...base, added, grant),
    });
    expect(comparison.grants.some(({ change }) => change === "gained")).toBe(true);
    expect(severitiesOf("T2", comparison)).toEqual([]);
  });

  it("reports an issuer that no identity of the organisation trusts yet, without --issuer-allow", () => {
    const message = /trusts an issuer that no identity with a grant trusted before: \S+$/;
    expect(found("T2", compareResources(base, [...base, added]))).toMatchObject([
      { severity: "high", message: expect.stringMatching(message) },
    ]);
    // An identity without a grant may have been put there to make the issuer look known.
    const other = identity("other", claims({ issuer: PARTNER, subject: "y" }));
    expect(adding([...base, other])).toEqual(["high"]);
    expect(adding([...base, other, binding(other, viewer, payments)])).toEqual([]);
    expect(adding(groups, { withoutInventory: true })).toEqual([]);
    expect(found("T2", made(pinned))).toEqual([]);
  });

  it("takes no issuer for known that stands beside registered keys, and leaves those to T7", () => {
    const issuerKeys = JSON.stringify({ keys: [{ kty: "OKP", crv: "Ed25519", kid: "k", x: "k" }] });
    const keyed = identity("keyed", { staticKeys: { issuer: PARTNER, subject: "y", issuerKeys } });
    expect(adding([...base, keyed, binding(keyed, viewer, payments)])).toEqual(["high"]);
    const bound = compareResources(base, [...base, keyed, binding(keyed, pusher, payments)]);
    expect(found("T2", bound)).toEqual([]);
    expect(found("T7", bound)).toHaveLength(1);
  });

  it.each(["https://token.actions.githubusercontent.com.", "https://tokens.actions.githubusercontent.com"])(
    "takes %s for another issuer than that of GitHub Actions",
    (issuer) => {
      const trust = claims({ issuer, subject: "repo:acme/pay:ref:refs/heads/main" });
      expect(severitiesOf("T2", made(trust))).toEqual(["high"]);
    },
  );

  const ACME = { issuer: "https://login.partner.example/acme" };
  const EVIL = { issuer: "https://login.evil.example" };
  it.each<[known: Props, added: Props, where: string, severities: string[]]>([
    [ACME, { issuerPattern: "^https://login\\.partner\\.example/acme$" }, payments, []],
    [ACME, { issuerPattern: "^https://login\\.partner\\.example/evil$" }, payments, ["high"]],
    [ACME, { issuerPattern: "^https://login\\.partner\\.example/(?:acme|evil)$" }, payments, ["high"]],
    [ACME, { issuerPattern: "^https://login\\.partner\\.example/.*$" }, payments, ["high"]],
    // Others can meet the pattern too.
    [{ issuerPattern: "^https://.*$" }, EVIL, payments, ["high"]],
    [EVIL, EVIL, cards, ["medium"]],
    [EVIL, EVIL, acme, []],
  ])("beside %j, %j on another group or below is known only if each of its issuers is", (...row) => {
    const [old, now, where, severities] = row;
    const there = identity("there", claims({ subject: "y", ...old }));
    const here = identity("here", claims({ subject: "x", ...now }));
    const known = [...base, there, binding(there, viewer, where)];
    const change = compareResources(known, [...known, here, binding(here, viewer, payments)]);
    expect(severitiesOf("T2", change)).toEqual(severities);
  });

  it("holds issuers to the list of --issuer-allow, if there is one", () => {
    const trust = claims({ issuer: PARTNER, subject: "x" });
    expect(severitiesOf("T2", made(trust), { issuerAllow: ["https://*.acme.example"] })).toEqual(["high"]);
    expect(found("T2", made(trust), { issuerAllow: ["https://*.partner.example"] })).toEqual([]);
  });
});

describe("T3 shared-issuer", () => {
  it.each([
    ["an environment's name", github({ subject: "environment:production" })],
    ["any project of GitLab", claims({ issuer: "https://gitlab.com/", subjectPattern: "^project_path:.*$" })],
  ])("finds %s", (_, trust) => {
    expect(severitiesOf("T3", made(trust))).toEqual(["high"]);
  });
});

describe("T4 pull-request-ref", () => {
  const ALL_OF_GITHUB =
    "any pull request, any branch, any tag and any environment, also a new one without protection";
  const ANY_REF = "any pull request, any branch and any tag";
  const PULL = "any pull request";
  const NEW_ENVIRONMENT = "any environment, also a new one without protection";
  const PLAN = "any plan, also of a pull request";
  const PREVIEW = "any preview, also of a pull request";
  const PROPOSED = "any proposed run, also of a pull request";
  const CONNECTION = "any run that may use the service connection, perhaps of a pull request";
  const PIPELINE = "any run of the pipeline, also of a pull request";
  const WORKFLOW = "acme/ci/.github/workflows/deploy.yml";
  const ORG = "72f988bf-86f1-41af-91ab-2d7cd011db47";
  const STEP = "9188040d-6c67-4c5b-b112-36a304b66dad";

  const like = (subjectPattern: string, values?: Props): Props => ({
    subjectPattern,
    ...(values === undefined ? {} : { claims: values }),
  });
  const exact = (subject: string, values: Props): Props => ({ subject, claims: values });
  /** A trust, and whose code may run by it; nobody's where a reviewed run is proven. */
  type Row = readonly [trust: Props, who: string | undefined];
  /** Rows of one issuer. A text is an exact subject. */
  const at =
    (issuer: string) =>
    (match: Props | string, who?: string): Row => [
      claims({ issuer, ...(typeof match === "string" ? { subject: match } : match) }),
      who,
    ];
  const hub = at(GITHUB);
  const gitlab = at("https://gitlab.com");
  const buildkite = at("https://agent.buildkite.com");
  const terraform = at("https://app.terraform.io");
  const pulumi = at("https://api.pulumi.com/oidc");
  const vercel = at("https://oidc.vercel.com");
  const codefresh = at("https://oidc.codefresh.io");
  const circleci = at(`https://oidc.circleci.com/org/${ORG}`);
  const bitbucket = at("https://api.bitbucket.org/2.0/workspaces/acme/pipelines-config/identity/oidc");
  const semaphore = at("https://acme.semaphoreci.com");
  const spacelift = at("https://acme.app.spacelift.io");
  const azure = at(`https://vstoken.dev.azure.com/${ORG}`);
  const harness = at("https://app.harness.io/ng/api/oidc/account/a1");

  const job = (type: string): string => `org:acme:project:${ORG}:repo:pay:ref_type:${type}`;
  const run = (type: string): string => `space:acme:stack:pay:run_type:${type}`;
  const user = `org/${ORG}/project/${ORG}/user/${STEP}`;
  const ref = (name: string): string => `${user}/vcs-origin/github.com/acme/pay/vcs-ref/${name}`;
  const fresh = "account:a1:pipeline:p1:scm_repo_url:r:scm_user_name";
  const deployment = "organization:acme:project:p:stack:s:deployment:d:operation";
  const update = "pulumi:deploy:org:acme:project:p:stack:s";
  const workspace = "organization:acme:project:p:workspace:w";

  const rows: readonly Row[] = [
    // Branches, tags, pull requests and environments of GitHub.
    hub(like("^repo:acme/pay:.*$"), ALL_OF_GITHUB),
    hub(like("^repo:acme/.*$", { repository_owner: "acme" }), ALL_OF_GITHUB),
    hub(like("^repo:acme/pay:.*$", { event_name: "pull_request_target" }), ALL_OF_GITHUB),
    hub(like("^repo:acme/pay:ref:.*$"), ANY_REF),
    hub(like("^repo:acme/pay:ref:.*$", { event_name: "schedule" })),
    hub(
      like("^repo:acme/pay:ref:.*$", { event_name: "pull_request_target", ref: "refs/heads/main" }),
      ANY_REF,
    ),
    hub(like("^repo:acme/pay:ref:refs/heads/.*$"), "any branch"),
    hub(like("^repo:acme/pay:ref:refs/heads/main"), "any branch whose name begins like that"),
    hub(like("^repo:acme/pay:ref:refs/heads/[0-9]+$"), "branches of many names"),
    hub(like("^repo:acme/pay:ref:refs/heads/(?:main|next)$")),
    hub(like("^repo:acme/pay:ref:refs/heads/release-[0-9]+$")),
    hub(like("^repo:acme/pay:ref:refs/tags/.*$"), "any tag"),
    hub(like("^repo:acme/pay:ref:refs/tags/[0-9]+$"), "tags of many names"),
    hub(like("^repo:acme/pay:ref:refs/tags/v[0-9]+\\.[0-9]+$")),
    hub(like("^repo:acme/pay:ref:refs/tags/v[0-9.]+$")),
    hub(like("^repo:acme/pay:ref:refs/tags/v[0-9a-z.]+$"), "any tag whose name begins like that"),
    hub(like("^repo:acme/pay:ref:refs/pull/.*$"), PULL),
    hub("repo:acme/pay:ref:refs/pull/1/merge", PULL),
    hub(like("^repo:acme/pay:environment:.*$"), NEW_ENVIRONMENT),
    hub(like("^repo:acme/pay:environment:dev-.*$"), "any environment whose name begins like that"),
    hub(like("^repo:acme/pay:environment:(?:dev|prod)$")),
    hub(like("^repo:acme/[a-z]+:environment:production$")),
    hub(like("^repo:acme/pay:environment:.*$", { environment: "prod" })),
    hub(like("^repo:acme/pay:.*$", { ref: "refs/heads/main" })),
    hub({ subjectPattern: "^repo:acme/pay:.*$", claimPatterns: { ref: "^refs/heads/(main|rel)$" } }),
    // What T1 finds.
    hub(like(".*")),
    // Subjects of GitHub that do not prove a reviewed run are anybody's.
    ...[
      "repo:acme/pay",
      "repo:acme/pay:pull_request",
      "repo:acme/pay:ref:refs/heads/main:event_name:pull_request_target",
      "repo:acme/pay:base_ref:main",
      "repo:acme/pay:workflow:ci",
      "repo:acme/pay:runner_environment:github-hosted",
      "repo:acme/pay:environment:",
      "repo:acme/pay:ref_protected:false",
      "repository_owner:acme",
      "actor_id:1:repository_owner:acme",
      // Another owner's workflow, and one of a pull request.
      "repository_owner:acme:job_workflow_ref:evil/x/.github/workflows/a.yml@refs/heads/main",
      "repo:acme/pay:job_workflow_ref:evil/acme/.github/workflows/a.yml@refs/heads/main",
      `repo:acme/pay:job_workflow_ref:${WORKFLOW}@refs/pull/3/merge`,
    ].map((subject) => hub(subject, PULL)),
    ...[
      "repo:acme/pay:ref:refs/heads/main",
      "repo:acme/pay:environment:production",
      `repo:acme/pay:environment:production:job_workflow_ref:${WORKFLOW}@refs/heads/main`,
      `repo:acme/pay:job_workflow_ref:${WORKFLOW}@refs/heads/main`,
      "repo:acme/pay:ref_protected:true",
      `workflow_ref:${WORKFLOW}@refs/heads/main`,
    ].map((subject) => hub(subject)),
    hub(exact("repo:acme/pay:ref:refs/heads/main", { event_name: "pull_request_target" }), PULL),
    hub(exact("repo:acme/pay:pull_request", { environment: "production" })),
    hub(exact("repository_owner:acme", { ref: "refs/pull/7/merge" }), PULL),
    hub({ subject: "repository_owner:acme", claimPatterns: { ref: "^refs/heads/.*$" } }, PULL),
    hub(exact("repository_owner:acme", { job_workflow_ref: `${WORKFLOW}@refs/heads/main` })),
    hub(exact("repository_owner:globex", { job_workflow_ref: `${WORKFLOW}@refs/heads/main` }), PULL),
    hub(like("^repository_owner:acme:workflow:[a-z]+$"), PULL),
    hub(like("^repository_owner:acme:ref:refs/heads/(?:main|next)$")),
    at("https://ghes.acme.com/_services/token")("repo:acme/pay", PULL),
    // GitLab, one of one's own, and an issuer that is none.
    at("https://gitlab.acme.example")(like("^project_path:acme/pay:.*$"), "any branch and any tag"),
    at("https://sso.acme.example")(like("^user-.*$")),
    ...[
      "project_path:acme/pay",
      "project_path:acme/pay:pipeline_source:merge_request_event",
      "project_path:acme/pay:ref_protected:false",
      "project_path:acme/pay:ref_type:branch",
      "project_path:acme/pay:deployment_tier:production",
    ].map((subject) => gitlab(subject, "any branch")),
    gitlab(
      like("^project_path:acme/pay:ref_type:branch:ref:.*$", { pipeline_source: "merge_request_event" }),
      "any branch",
    ),
    gitlab(like("^project_path:acme/pay:ref_type:tag:ref:.*$"), "any tag"),
    gitlab(like("^project_path:acme/pay:ref_type:tag:ref:.*$", { ref_protected: "true" })),
    gitlab("project_path:acme/pay:ref_type:tag:ref:v1.0"),
    gitlab(exact("project_path:acme/pay", { ref_protected: "true" })),
    gitlab("project_path:acme/pay:environment_protected:true"),
    gitlab("project_path:acme/pay:ref:main"),
    buildkite(like("^organization:acme:pipeline:pay:ref:refs/tags/.*$"), "any tag"),
    buildkite("organization:acme:pipeline:pay", "any branch and pull request"),
    buildkite(ORG, "any branch and pull request"),
    buildkite(exact(ORG, { build_branch: "main" })),
    terraform(`${workspace}:run_phase:plan`, PLAN),
    terraform(`${workspace}:run_phase:apply`),
    terraform(workspace, PLAN),
    terraform(exact(workspace, { terraform_run_phase: "apply" })),
    terraform(like(`^${workspace}:run_phase:.*$`), PLAN),
    terraform(like("^organization:acme:.*$", { terraform_run_phase: "apply" })),
    terraform(`${deployment}:plan`, PLAN),
    terraform(like(`^${deployment}:apply$`)),
    pulumi(update, PREVIEW),
    pulumi(`${update}:operation:preview:scope:write`, PREVIEW),
    pulumi(`${update}:operation:update:scope:write`),
    vercel("owner:acme:project:p", "any preview deployment"),
    vercel("owner:acme:project:p:environment:production"),
    vercel(
      like("^owner:acme:project:p:environment:.*$"),
      "any preview deployment and any developer's machine",
    ),
    at("https://oidc.vercel.com/acme")(
      "owner:acme:project:pay:environment:preview",
      "any preview deployment",
    ),
    // Machines, not runs: who deploys is decided elsewhere.
    at("https://oidc.fly.io/acme")("acme:pay:machine"),
    codefresh("account:a1:pipeline:p1", PULL),
    codefresh(like("^account:a1:pipeline:p1(:.*)?$"), "any pull request and any branch"),
    // A branch of a fork may be called main as well.
    codefresh(like(`^${fresh}:[^:]+:scm_ref:main(?::scm_pull_request_target_branch:[^:]+)?$`), PULL),
    codefresh(`${fresh}:u:scm_ref:main:scm_pull_request_target_branch:main`, PULL),
    codefresh(like(`^${fresh}:[^:]+:scm_ref:main$`)),
    // Issuers for each customer.
    semaphore(job("pull-request:ref:refs/pull/7/merge"), PULL),
    semaphore(job("branch:ref:refs/heads/main")),
    semaphore(like(`^${job(".*")}$`), ANY_REF),
    semaphore(like(`^${job("branch:ref:.*")}$`), "any branch"),
    // A pull request has the branch that it is for in this claim.
    semaphore(like(`^${job(".*")}$`, { branch: "main" }), ANY_REF),
    semaphore(like(`^${job(".*")}$`, { ref: "refs/heads/main" })),
    semaphore(like(`^${job(".*")}$`, { ref_type: "branch" }), ANY_REF),
    spacelift(run("TRACKED:scope:write")),
    spacelift(run("PROPOSED:scope:read"), PROPOSED),
    spacelift(like(`^${run(".*")}$`), PROPOSED),
    spacelift(like(`^${run(".*")}$`, { runType: "TRACKED" })),
    spacelift(
      like("^space:acme:module:pay:run_type:.*$"),
      `${PROPOSED} and any test of a module, also of a pull request`,
    ),
    azure("sc://acme/pay/deploy", CONNECTION),
    at(`https://login.microsoftonline.com/${ORG}/v2.0`)(`/eid1/c/pub/t/x/a/y/sc/${ORG}/${STEP}`, CONNECTION),
    azure("p://acme/pay/deploy", PIPELINE),
    azure(exact("p://acme/pay/deploy", { rpo_ref: "refs/heads/main" })),
    azure(exact("p://acme/pay/deploy", { rpo_ref: "refs/pull/7/merge" }), PIPELINE),
    harness("account/a1:org/acme:project/pay", "any run, perhaps of a pull request"),
    harness(exact("account/a1:org/acme:project/pay", { environment_id: "production" })),
    circleci(user, "any branch"),
    circleci(exact(user, { "oidc.circleci.com/vcs-ref": "refs/heads/main" })),
    circleci(ref("refs/heads/main")),
    circleci(like(`^${ref("refs/heads/main")}$`)),
    circleci(like(`^${ref("refs/heads/release-[0-9]+")}$`)),
    // What stands before a name may look like the end of a subject: no form tells where the name begins.
    circleci(like(`^${ref("refs/heads/.*")}$`), "any branch and any tag"),
    circleci(like(`^${ref("refs/tags/.*")}$`), "any branch and any tag"),
    circleci(like(`^${ref(".*")}$`), "any branch and any tag"),
    circleci(like(`^org/${ORG}/project/${ORG}/user/.*$`), "any branch and any tag"),
    bitbucket(like(`^\\{${ORG}\\}:.*$`), "any branch and pull request"),
    bitbucket(like(`^\\{${ORG}\\}:.*$`, { branchName: "main" })),
    bitbucket(like(`^\\{${ORG}\\}:.*$`, { deploymentEnvironmentUuid: `{${STEP}}` })),
    bitbucket(like(`^\\{${ORG}\\}:\\{${STEP}\\}:\\{[0-9a-f-]+\\}$`)),
  ];

  it("names whose code may run by each trust that does not prove a reviewed run, and is high", () => {
    const findings = foundInEach(
      "T4",
      rows.map(([trust]) => trust),
      { what: pusher },
    );
    const said = rows.map(([trust], i) => [
      trust,
      ...(findings[i] ?? []).map(({ message, severity }) => [
        severity,
        /can be assumed by (.*): it accepts "/.exec(message)?.[1],
      ]),
    ]);
    expect(said).toEqual(rows.map(([trust, who]) => [trust, ...(who === undefined ? [] : [["high", who]])]));
  });

  it.each([
    [hub("repo:acme/bot:pull_request"), '"repo:acme/bot:ref:refs/heads/main"'],
    [hub(like("^repo:acme/b\\.js:.*$")), '"^repo:acme/b\\\\.js:ref:refs/heads/main$"'],
    [hub("repo:acme/b.js:pull_request"), '"repo:acme/b.js:ref:refs/heads/main"'],
    [hub(like("^repo:acme/.*$")), '"^repo:acme/pay:ref:refs/heads/main$"'],
    [gitlab("project_path:acme/a/b:ref_type:mr:ref:x"), '"project_path:acme/a/b:ref_type:branch:ref:main"'],
    [
      buildkite("organization:acme:pipeline:pay:ref:refs/pull/1/head:commit:c:step:s"),
      '"^organization:acme:pipeline:pay:ref:refs/heads/main:commit:[0-9a-f]{40}:step:[a-z-]+$" in claimMatch.subjectPattern in place of claimMatch.subject',
    ],
  ])("has an example for the property that %j sets, of its repository", ([trust], example) => {
    expect(found("T4", made(trust, pusher)).map(({ advice }) => advice)).toEqual([
      `pin the branch or a protected environment, as in ${example}`,
    ]);
  });

  it.each([
    ["repo:acme/risk:.*", ["claimMatch.subjectPattern is not anchored at its start: begin it with ^"]],
    ["^repo:acme/risk:.*", []],
    ["(?:^repo:acme/risk:.*)", []],
  ])("says of %j whether it is anchored, where a claim pins the owner", (subjectPattern, lines) => {
    const [trust] = hub(like(subjectPattern, { repository_owner: "acme" }));
    const [finding] = found("T4", made(trust, pusher));
    expect(finding?.details.filter((line) => line.includes("anchored"))).toEqual(lines);
  });

  it.each([
    ["medium if the identity only reads", role("reader", ["REPO_LIST"]), "medium"],
    ["high if what it holds is unknown", resource("Role", "lookup", {}), "high"],
  ])("is %s", (_, what, severity) => {
    const [trust] = hub(like("^repo:acme/pay:.*$"));
    expect(foundInEach("T4", [trust], { what, before: [...base, what] }).flat()).toMatchObject([
      { severity },
    ]);
  });
});

describe("T5 trust-changed", () => {
  const changed = (from: Props, to: Props, isBound = true) => {
    const [old, now] = [identity("ci", from), identity("ci", to)];
    const rest = isBound ? [...base, binding(old, viewer, payments)] : base;
    return compareResources([...rest, old], [...rest, now]);
  };

  /** How severe it is that an identity with a grant trusts something else. */
  const judge = (from: Props, to: Props, what = pusher, where = payments): string[] => {
    const [old, now] = [identity("ci", from), identity("ci", to)];
    const grant = binding(old, what, where);
    return severitiesOf("T5", compareResources([...base, old, grant], [...base, now, grant]));
  };

  const PRODUCTION = { subject: "repo:acme/pay:environment:production" };
  it.each<[string, Resource, string, Props, string]>([
    ["reads", viewer, payments, PRODUCTION, "medium"],
    ["reads, of many", viewer, payments, { subjectPattern: "^repo:acme/(?:pay|shop):ref:.*$" }, "medium"],
    ["reads all below the root", viewer, acme, PRODUCTION, "high"],
    ["writes", pusher, payments, PRODUCTION, "high"],
    ["is of several owners", viewer, payments, { subjectPattern: "^repo:(?:acme|globex)/pay:.*$" }, "high"],
    ["is of nobody in particular", viewer, payments, { subjectPattern: "^repo:acme.*$" }, "high"],
  ])("is judged by what it gives and to whom: one that %s", (_, role, where, to, severity) => {
    expect(judge(pinned, github(to), role, where)).toEqual([severity]);
    // Whoever is accepted until the trust is narrowed is judged alike.
    const [old, now] = [identity("ci", pinned), identity("ci", github(to))];
    const late = compareResources([...base, now], [...base, old, binding(old, role, where)]);
    expect(severitiesOf("T5", late)).toEqual([severity]);
  });

  const MAIN = "repo:acme/pay:ref:refs/heads/main";
  const audience = (issuer: string, text: string, subject = MAIN): Props =>
    claims({ issuer, subject, audience: text });
  const [google, own] = ["https://accounts.google.com", "https://idp.acme.example"];
  const ADA = "1".repeat(21);
  const [POD, NUMBERED] = ["system:serviceaccount:web:app", "repo:acme@1/pay@2:ref:refs/heads/main"];

  const session = (arn: string): Props => ({
    awsIdentity: {
      awsAccount: "123456789012",
      arn: `arn:aws:sts::123456789012:${arn}`,
      userIdPattern: "^A.*$",
    },
  });
  const people = "assumed-role/AWSReservedSSO_Admin_0123456789abcdef";

  it.each<[string, Props, Props, string]>([
    ["session of a role", session("assumed-role/ci/a"), session("assumed-role/ci/b"), "high"],
    ["role", session("assumed-role/ci/a"), session("assumed-role/cd/a"), "high"],
    ["user of IAM", session(`${people}/ada@acme.com`), session(`${people}/eve@acme.com`), "high"],
    ["federated user", session("federated-user/a"), session("federated-user/b"), "high"],
    ["audience of a run, which asks for any", audience(GITHUB, "a"), audience(GITHUB, "b"), "medium"],
    ["audience, and branch", audience(GITHUB, "a"), audience(GITHUB, "b", MAIN.replace("main", "x")), "high"],
    // Another site has seen the tokens of a person.
    ["audience of a person", audience(google, "a", ADA), audience(google, "b", ADA), "high"],
    ["audience of an issuer of one's own", audience(own, "a"), audience(own, "b"), "high"],
    ["audience of a service account", audience(own, "a", POD), audience(own, "b", POD), "medium"],
    [
      "form of a subject, with the numbers of the repository",
      audience(GITHUB, "a"),
      audience(GITHUB, "a", NUMBERED),
      "medium",
    ],
    ["form of a subject, without them", audience(GITHUB, "a", NUMBERED), audience(GITHUB, "a"), "high"],
    [
      "repository with numbers",
      audience(GITHUB, "a"),
      audience(GITHUB, "a", NUMBERED.replace("pay", "web")),
      "high",
    ],
    [
      "subject with numbers at an issuer of one's own",
      audience(own, "a"),
      audience(own, "a", NUMBERED),
      "high",
    ],
  ])("another %s", (_, from, to, severity) => {
    expect(judge(from, to)).toEqual([severity]);
  });

  const keys = (more: Props): Props => ({
    staticKeys: { issuer: "i", subject: "s", issuerKeys: "{}", ...more },
  });

  const claim = (a: string): Props => github({ subject: "s", claims: { a } });
  it.each([
    ["keys", keys({}), keys({ issuerKeys: '{"keys":[]}' }), 1],
    ["the way it authenticates", pinned, keys({}), 1],
    ["a claim's value", claim("1"), claim("2"), 1],
    ["a claim taken away", claim("1"), github({ subject: "s" }), 1],
    ["a claim that is added", github({ subject: "s" }), claim("1"), 0],
    ["the end of its keys", keys({}), keys({ expirationTime: "2026-07-01T00:00:00Z" }), 0],
    ["its description", pinned, { ...pinned, description: "new" }, 0],
  ])("of %s", (_, from, to, count) => {
    expect(found("T5", changed(from, to))).toHaveLength(count);
  });

  const keySet = (...kids: string[]): Props =>
    keys({
      issuerKeys: JSON.stringify({
        keys: kids.map((kid) => ({ kty: "OKP", crv: "Ed25519", x: encoded(kid), kid })),
      }),
    });
  const encoded = (text: string): string => Buffer.from(text).toString("base64url");
  const nameOf = (kid: string): string =>
    `key ${createHash("sha256")
      .update(`{"crv":"Ed25519","kty":"OKP","x":"${encoded(kid)}"}`)
      .digest("base64url")}, kid ${kid}`;

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

  const sso = (more: Props): Props => claims({ issuer: "https://sso.acme.example", ...more });
  const google = (more: Props): Props => claims({ issuer: "https://accounts.google.com", ...more });
  const gitlab = (subject: string): Props => claims({ issuer: "https://gitlab.com", subject });
  const strangers: readonly (readonly [Props, string])[] = [
    [github(GLOBEX), 'organisation of GitHub Actions "globex"'],
    [
      github({ subjectPattern: "^repo:(?:acme|globex)/pay:ref:refs/heads/main$" }),
      'organisation of GitHub Actions "globex"',
    ],
    [
      github({ subjectPattern: ".*", claims: { repository_owner: "globex" } }),
      'organisation of GitHub Actions "globex"',
    ],
    // Beside a claim of a known one: they never hold together.
    [github({ ...GLOBEX, claims: { repository_owner: "acme" } }), 'organisation of GitHub Actions "globex"'],
    [
      github({ subject: "repo:globex@9/pay@2:ref:refs/heads/main" }),
      'organisation of GitHub Actions "globex@9"',
    ],
    // An organisation of GitHub has that name.
    [gitlab("project_path:globex/pay:x"), 'group of GitLab CI "globex"'],
    [
      claims({ issuer: azure("2"), subject: "app" }),
      'tenant of Azure "22222222-0000-0000-0000-000000000000"',
    ],
    [aws("222222222222"), 'account of AWS "222222222222"'],
    [sso({ subjectPattern: "^(?:ada|eve@globex\\.com)$" }), 'mail domain "globex.com"'],
    [sso({ subject: "eve@gmail.com" }), 'mail address "eve@gmail.com"'],
  ];
  const acquaintances: readonly Props[] = [
    github({ subject: "repo:ACME/search:ref:refs/heads/main" }),
    github({ subject: "repo:acme/x:y", claims: { repository_owner_id: "1" } }),
    gitlab("project_path:acme/ops:x"),
    claims({ issuer: azure("1"), subject: "other" }),
    aws("111111111111"),
    sso({ subject: "bob@acme.com" }),
    // It pins nobody.
    github({ subjectPattern: ".*" }),
  ];

  const e = "environment:e";
  const numbered = (subject: string, repository_owner_id = "4711"): Props =>
    github({ subject, claims: { repository_owner_id } });
  const globexShop = github({ subject: `repo:globex/shop:${e}` });
  const person = { subject: "1".repeat(21) };
  const oneOf = (owners: string, more: Props): Props =>
    github({ subjectPattern: `^repo:(?:${owners})/pay:${e}$`, claims: more });
  it.each<[string, Props, Props, string[]]>([
    ["an organisation beside a number only", numbered(`repo:globex/pay:${e}`), globexShop, ["high"]],
    ["both again", numbered(`repo:globex/pay:${e}`), numbered(`repo:globex/shop:${e}`), []],
    [
      "an account beside a domain only",
      google({ ...person, claims: { hd: "acme.com" } }),
      google(person),
      ["high"],
    ],
    ["one that one part names", oneOf("acme|globex", { repository_owner: "acme" }), globexShop, ["high"]],
    [
      "a stranger beside an organisation that was named with the number",
      numbered(`repo:acme/pay:${e}`, "666"),
      oneOf("acme|evil", { repository_owner_id: "666" }),
      ["high"],
    ],
    [
      "an owner that two parts name",
      github({ subject: `repo:globex/pay:${e}`, claims: { repository_owner: "globex" } }),
      globexShop,
      [],
    ],
  ])("knows by what one part says of an owner nothing of another one: %s", (_, old, trust, severities) => {
    const number = identity(
      "number",
      github({ subject: "environment:e", claims: { repository_owner_id: "4711" } }),
    );
    const own = [number, identity("old", old)];
    const all = [...before, ...own, ...own.map((who) => binding(who, pusher, payments))];
    const who = identity("ci", trust);
    const change = compareResources(all, [...all, who, binding(who, pusher, payments)]);
    expect(severitiesOf("T7", change)).toEqual(severities);
  });

  it("names the organisation, tenant, account or domain that a trust brings, and leaves known ones alone", () => {
    const findings = foundInEach("T7", [...strangers.map(([trust]) => trust), ...acquaintances], { before });
    expect(findings).toMatchObject([
      ...strangers.map(([, who], i) => [
        {
          severity: "medium",
          message: expect.stringContaining(`identity row-${i} trusts ${who}`) as string,
          details: ["whoever assumes it gets:", "viewer on acme / payments"],
        },
      ]),
      ...acquaintances.map(() => []),
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

  describe("who a subject is at an issuer that one owner runs", () => {
    const ENTERPRISE = "https://token.actions.githubusercontent.com/acme";
    const WORKSPACE = "https://api.bitbucket.org/2.0/workspaces/acme/pipelines-config/identity/oidc";
    const CIRCLECI = "https://oidc.circleci.com/org/11111111-0000-0000-0000-000000000000";
    // A service that no table knows, with many customers.
    const DEPLOYMENTS = "https://oidc.deployments.example";
    const GITHUB_SERVER = "https://github.acme.com/_services/token";
    const by = (issuer: string, more: Props): Props => claims({ issuer, ...more });
    const sso = (more: Props): Props => by("https://sso.acme.com", more);
    const google = (more: Props): Props => by("https://accounts.google.com", more);
    const trusted = [
      sso({ subject: "ada@acme.com" }),
      sso({ subject: "opaque" }),
      sso({ subject: "spiffe://acme.com/ci" }),
      by("https://gitlab.acme.com", { subject: "project_path:acme/pay:ref_type:branch:ref:main" }),
      by(DEPLOYMENTS, { subject: "deployment:acme/shop/production" }),
      by(GITHUB_SERVER, { subject: "repo:acme/pay:ref:refs/heads/main" }),
      by(ENTERPRISE, { subject: "repo:acme/pay:ref:refs/heads/main" }),
      by(azure("1"), { subject: "app" }),
      by(CIRCLECI, { subject: "org/1/project/p1/user/u1" }),
      by(WORKSPACE, { subject: "{1}:{2}" }),
      google({ subject: "103456789012345678901", claims: { hd: "acme.com" } }),
      github({ subject: "repo:acme/pay:ref:refs/heads/main" }),
    ].map((trust, i) => identity(`trusted-${i}`, trust));
    const all = [...base, ...trusted, ...trusted.map((who) => binding(who, viewer, acme))];
    const unknown: readonly (readonly [Props, string])[] = [
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
      ...[
        { subject: "deployment:evil/shop/production" },
        { subjectPattern: "^deployment:evil/shop/production$" },
      ].map(
        (more) =>
          [by(DEPLOYMENTS, more), `subjects of ${DEPLOYMENTS} that begin with "deployment:evil/"`] as const,
      ),
      [
        by(DEPLOYMENTS, { subject: "project/acme/shop" }),
        `subjects of ${DEPLOYMENTS} that begin with "project/acme/"`,
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
    ];

    const familiar: readonly Props[] = [
      sso({ subject: "other" }),
      sso({ subject: "bob@acme.com" }),
      sso({ subject: "BOB@ACME.com." }),
      sso({ subject: "bob@corp.acme.com" }),
      sso({ subjectPattern: "^.*@acme\\.com$" }),
      sso({ subjectPattern: "@acme\\.com$" }),
      sso({ subjectPattern: "^svc-[a-z]+@(?:ci\\.)?acme\\.com$" }),
      sso({ subject: "opaque", claims: { email: "bob@acme.com", team: "sre" } }),
      sso({ subject: "spiffe://acme.com/other" }),
      sso({ subjectPattern: "^system:serviceaccount:other:.*$" }),
      sso({ subject: "system:serviceaccount:other:ci" }),
      sso({ subject: "https://ci.acme.com/job/release" }),
      sso({ subject: "service/release" }),
      by(DEPLOYMENTS, { subject: "deployment:acme/blog/production" }),
      by(GITHUB_SERVER, { subject: "environment:production:actor:ada" }),
      by(ENTERPRISE, { subject: "repo:acme/search:environment:production" }),
      by(ENTERPRISE, {
        subject: "repo:acme/search:environment:production",
        claims: { job_workflow_ref: "acme/flows/.github/workflows/x.yml@refs/heads/main" },
      }),
      by(CIRCLECI, { subjectPattern: "^org/1/project/p2/user/.*$" }),
      by(WORKSPACE, { subjectPattern: `^\\{${"1".repeat(8)}-1111-1111-1111-${"1".repeat(12)}\\}:.*$` }),
      google({ subject: "103456789012345678909", claims: { hd: "acme.com" } }),
      google({ subjectPattern: ".*", claims: { hd: "acme.com" } }),
    ];

    it("is found of each that is not known, and of no other", () => {
      const trusts = [...unknown.map(([trust]) => trust), ...familiar];
      const named = foundInEach("T7", trusts, { where: acme, before: all }).map((findings, i) => [
        trusts[i],
        ...findings.map(({ severity, message }) => `${severity} ${/trusts (.*?), which/.exec(message)?.[1]}`),
      ]);
      expect(named).toEqual([
        ...unknown.map(([trust, who]) => [trust, `high ${who}`]),
        ...familiar.map((trust) => [trust]),
      ]);
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
    const at = (where: string, trust: Props, what: Resource, place = payments, had = what) => {
      const [there, who] = [identity("there", trust), identity("ci", trust)];
      const all = [...before, there, binding(there, had, where)];
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

    it.each(trusts)("finds one as high that only identities that read trusted: %j", (trust) => {
      for (const where of [payments, acme])
        expect(at(where, trust, pusher, payments, viewer)).toEqual(["high"]);
      expect(at(payments, trust, viewer, payments, pusher)).toEqual([]);
    });

    it("asks who holds a role once it does more than read, and not of what it reads more", () => {
      const [reads, who] = [role("checker", ["REPO_LIST"]), identity("ci", github(GLOBEX))];
      const all = [...before, reads, who, binding(who, reads, payments)];
      const widened = (...capabilities: string[]) => {
        const wider = role("checker", ["REPO_LIST", ...capabilities]);
        return severitiesOf("T7", compareResources(all, [...all.filter((one) => one !== reads), wider]));
      };
      expect(widened("TAG_CREATE")).toEqual(["high"]);
      expect(widened("TAG_LIST")).toEqual([]);
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

  it.each([
    ["in the group of the first one", viewer, payments, viewer, payments, []],
    ["below it", viewer, payments, viewer, cards, []],
    ["in another group", viewer, cards, viewer, payments, ["medium"]],
    ["at the root", viewer, payments, viewer, acme, ["high"]],
    ["there, to write as the first one does", pusher, payments, pusher, payments, []],
    ["there, to write where the first one reads", viewer, payments, pusher, payments, ["high"]],
  ])(
    "an invite makes its mail domain known to later ones on its group alone: %s",
    (_, has, first, gets, then, severities) => {
      const invite = (name: string, what: Resource, parentUid: string) =>
        resource("GroupInvite", name, {
          parentUid,
          roleUid: what.uid,
          ttl: "24h",
          email: `${name}@globex.com`,
        });
      const there = [...before, invite("eve", has, first)];
      expect(severitiesOf("T7", compareResources(there, [...there, invite("bob", gets, then)]))).toEqual(
        severities,
      );
    },
  );

  it("finds an invite to read a new domain whose role begins to write", () => {
    const reads = role("reads", ["REPO_LIST"]);
    const writes = {
      ...reads,
      inputs: { ...reads.inputs, capabilities: ["CAP_REPO_LIST", "CAP_TAG_CREATE"] },
    };
    const invite = resource("GroupInvite", "eve", {
      ...{ parentUid: payments, roleUid: reads.uid, ttl: "24h", email: "eve@globex.com" },
    });
    const comparison = compareResources([...before, reads, invite], [...before, writes, invite]);
    expect(severitiesOf("T7", comparison)).toEqual(["high"]);
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
    const all = [...before, own, binding(own, pusher, payments)];
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
