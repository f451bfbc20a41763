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
  payments,
  pinned,
  pusher,
  role,
  viewer,
  acme,
  edit,
  GITHUB,
} from "../../../support/access";
import type { Resource } from "../../../support/access";
import type { Finding } from "../../../../provider/access/review/finding";
import { found, severitiesOf } from "./support";

const base = [...groups, viewer, pusher];
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
          'identity ci can be assumed by outsiders: claimMatch.subjectPattern accepts "repo:acme-intruder/intruder:ref:refs/heads/main": a wildcard, or a dot that is not escaped, reaches over the part that names the owner',
        counterexample: "repo:acme-intruder/intruder:ref:refs/heads/main",
        details: ["pattern: ^repo:acme.*", "whoever assumes it gets: viewer on acme / payments"],
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

  it("says of a subject that it is too large to be judged, and is all that reports it", () => {
    const trust = github({ subjectPattern: `^${"a".repeat(6000)}$` });
    const all = ["T1", "T3", "T4"].flatMap((id) => found(id, made(trust)));
    expect(all).toMatchObject([{ rule: "any-subject", severity: "critical" }]);
    expect(all[0]?.message).toContain("may be assumed by outsiders");
    expect(all[0]?.message).toContain("too large to be judged");
    expect(all[0]).not.toHaveProperty("counterexample");
  });

  it("takes a claim for none that is too large to be judged, or has the mail addresses of a domain", () => {
    const large = { repository: `^${"a".repeat(6000)}$` };
    expect(severitiesOf("T1", made(github({ subjectPattern: ".*", claimPatterns: large })))).toEqual([
      "critical",
    ]);
    expect(severitiesOf("T3", made(github({ subject: "environment:x", claimPatterns: large })))).toEqual([
      "high",
    ]);
    const email = "^.+@acme\\.com$";
    const mail = { issuer: "https://accounts.google.com", subjectPattern: ".*", claimPatterns: { email } };
    expect(severitiesOf("T1", made(claims(mail)))).toEqual(["critical"]);
  });

  const sso = (more: Props): Props => claims({ issuer: "https://sso.acme.com", ...more });

  it("is medium where everybody of a mail domain is accepted", () => {
    const [finding] = found("T1", made(sso({ subjectPattern: "^.*@acme\\.com$" })));
    expect(finding?.severity).toBe("medium");
    expect(finding?.message).toContain('can be assumed by everybody of the mail domain "acme.com"');
  });
});

test("T4 names the owners of a pattern where there are several", () => {
  const trust = github({ subjectPattern: "^repo:(?:acme|evil)/.*$" });
  expect(found("T4", made(trust, pusher))[0]?.details).toContain("owners: acme, evil");
});

describe("T2 any-issuer", () => {
  it("is critical, with an example, for a pattern that others can meet", () => {
    const findings = found("T2", made(claims({ issuerPattern: "^https://ci.acme\\.com$", subject: "ci" })));
    expect(findings).toMatchObject([{ severity: "critical", counterexample: "https://cinacme.com" }]);
  });

  const PARTNER = "https://oidc.partner.example";
  const added = identity("added", claims({ issuer: PARTNER, subject: "x" }));
  const adding = (before: readonly Resource[], options = {}): string[] =>
    severitiesOf("T2", compareResources(before, [...before, added], options));

  it("reports an issuer that no identity of the organisation trusts yet, without --issuer-allow", () => {
    const message = /trusts an issuer that no identity with a grant trusted before: \S+$/;
    expect(found("T2", compareResources(base, [...base, added]))).toMatchObject([
      { severity: "high", message: expect.stringMatching(message) },
    ]);
    // An identity without a grant may have been put there to make the issuer look known.
    const other = identity("other", claims({ issuer: PARTNER, subject: "y" }));
    expect(adding([...base, other])).toEqual(["high"]);
    expect(adding([...base, other, binding(other, viewer, payments)])).toEqual([]);
    // Once there is a list, it is asked of the issuers in use, too.
    const known = identity("known", claims({ issuer: "https://ci.acme.example", subject: "z" }));
    const inUse = [...base, other, known, binding(known, viewer, payments)];
    const advice =
      /settings\.issuerAllow, together with the issuers in use that you trust \(https:\/\/ci\.acme\.example\): every issuer/;
    expect(found("T2", compareResources(inUse, [...inUse, added]))).toMatchObject([
      { advice: expect.stringMatching(advice) },
    ]);
    expect(adding(groups, { withoutInventory: true })).toEqual([]);
    expect(found("T2", made(pinned))).toEqual([]);
    const service = claims({
      issuerPattern: "^https://token\\.actions\\.githubusercontent\\.com$",
      subject: "x",
    });
    expect(found("T2", made(service))).toEqual([]);
  });

  it.each([
    ["^https://(?:a|b)\\.acme\\.example$", []],
    ["^https://(?:a|b)\\.other\\.example$", ["high"]],
  ])("asks --issuer-allow of all that the pattern %s accepts", (issuerPattern, severities) => {
    const given = made(claims({ issuerPattern, subject: "x" }));
    expect(severitiesOf("T2", given, { issuerAllow: ["https://*.acme.example"] })).toEqual(severities);
  });

  it("takes no issuer for known that stands beside registered keys, and leaves those to T7", () => {
    const issuerKeys = JSON.stringify({ keys: [{ kty: "OKP", crv: "Ed25519", kid: "k", x: "k" }] });
    const keyed = identity("keyed", { staticKeys: { issuer: PARTNER, subject: "y", issuerKeys } });
    expect(adding([...base, keyed, binding(keyed, viewer, payments)])).toEqual(["high"]);
    const bound = compareResources(base, [...base, keyed, binding(keyed, pusher, payments)]);
    expect(found("T2", bound)).toEqual([]);
    expect(found("T7", bound)).toHaveLength(1);
  });

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
});

describe("T4 pull-request-ref", () => {
  const ALL_OF_GITHUB =
    "any pull request, any branch, any tag and any environment, also a new one without protection";
  const ANY_REF = "any pull request, any branch and any tag";
  const PULL = "any pull request";
  const TARGET = "pull_request_target";
  const NEW_ENVIRONMENT = "any environment, also a new one without protection";
  const DEPLOYMENT = "any preview deployment";
  const PLAN = "any plan, also of a pull request";
  const PREVIEW = "any preview, also of a pull request";
  const PROPOSED = "any proposed run, also of a pull request";
  const TASK = "any command that somebody runs as a task";
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
  const project = "pulumi:deploy:org:acme:project:p:stack:";
  const update = `${project}s`;
  const workspace = "organization:acme:project:p:workspace:w";

  const rows: readonly Row[] = [
    // Branches, tags, pull requests and environments of GitHub.
    hub(like("^repo:acme/pay:.*$"), ALL_OF_GITHUB),
    hub(like("^repo:acme/pay:ref:.*$"), ANY_REF),
    hub(like("^repo:acme/pay:ref:.*$", { event_name: "schedule" })),
    hub(like("^repo:acme/pay:ref:.*$", { event_name: TARGET, ref: "refs/heads/main" }), ANY_REF),
    hub(like("^repo:acme/pay:ref:refs/heads/.*$"), "any branch"),
    hub(like("^repo:acme/pay:ref:refs/heads/main"), "branches of many names"),
    hub(like("^repo:acme/pay:ref:refs/heads/(?:main|next)$")),
    hub(like("^repo:acme/pay:ref:refs/heads/release-[0-9]+$")),
    hub(like("^repo:acme/pay:ref:refs/tags/.*$"), "any tag"),
    hub(like("^repo:acme/pay:ref:refs/tags/v[0-9.]+$")),
    hub(like("^repo:acme/pay:ref:refs/tags/v[0-9a-z.]+$"), "tags of many names"),
    hub(like("^repo:acme/pay:ref:refs/pull/.*$"), PULL),
    hub("repo:acme/pay:ref:refs/pull/1/merge", PULL),
    hub(like("^repo:acme/pay:environment:.*$"), NEW_ENVIRONMENT),
    hub(like("^repo:acme/pay:environment:dev-.*$"), "environments of many names"),
    hub(like("^repo:acme/[a-z]+:environment:production$")),
    // A new environment has an id as well.
    hub(like("^repo:acme/pay:environment_node_id:[^:]+$"), NEW_ENVIRONMENT),
    hub("repo:acme/pay:environment_node_id:EN_kwDOA"),
    hub(
      { subjectPattern: "^repo:acme/pay:.*$", claimPatterns: { environment_node_id: "^.+$" } },
      ALL_OF_GITHUB,
    ),
    hub(like("^repo:acme/pay:.*$", { environment_node_id: "EN_kwDOA" })),
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
      "repo:acme/pay:runner_environment:github-hosted",
      "repo:acme/pay:environment:",
      "repo:acme/pay:ref_protected:false",
      "actor_id:1:repository_owner:acme",
      // Another owner's workflow, and one of a pull request.
      "repository_owner:acme:job_workflow_ref:evil/x/.github/workflows/a.yml@refs/heads/main",
      "repo:acme/pay:job_workflow_ref:evil/acme/.github/workflows/a.yml@refs/heads/main",
      `repo:acme/pay:job_workflow_ref:${WORKFLOW}@refs/pull/3/merge`,
    ].map((subject) => hub(subject, PULL)),
    ...[
      "repo:acme/pay:ref:refs/heads/main",
      "repo:acme/pay:environment:production",
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
    at("https://ghes.acme.com/_services/token")("repo:acme/pay", PULL),
    // GitLab, one of one's own, and an issuer that is none.
    at("https://gitlab.acme.example")(like("^project_path:acme/pay:.*$"), "any branch and any tag"),
    at("https://sso.acme.example")(like("^user-.*$")),
    ...[
      "project_path:acme/pay",
      "project_path:acme/pay:pipeline_source:merge_request_event",
      "project_path:acme/pay:ref_protected:false",
      "project_path:acme/pay:ref_type:branch",
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
    buildkite(like("^organization:acme:pipeline:pay:ref:refs/tags/.*$"), "any tag"),
    buildkite("organization:acme:pipeline:pay", "any branch and pull request"),
    buildkite(ORG, "any branch and pull request"),
    buildkite(exact(ORG, { build_branch: "main" })),
    terraform(`${workspace}:run_phase:plan`, PLAN),
    terraform(`${workspace}:run_phase:apply`),
    terraform(like(`^${workspace}:run_phase:.*$`), PLAN),
    terraform(`${deployment}:plan`, PLAN),
    terraform(like(`^${deployment}:apply$`)),
    pulumi(update, PREVIEW),
    pulumi(`${update}:operation:update:scope:write`),
    // A stack of a pull request is updated as well.
    pulumi(like(`^${project}pr-pay-[0-9]+:operation:update:scope:write$`), "any stack of a pull request"),
    pulumi(
      like(`^${project}[^:]+:operation:update:scope:write$`),
      "any stack of a pull request and any stack",
    ),
    pulumi(like(`^${project}(?:dev|prod):operation:update:scope:write$`)),
    vercel("owner:acme:project:p", DEPLOYMENT),
    vercel("owner:acme:project:p:environment:production"),
    vercel(like("^owner:acme:project:p:environment:.*$"), `${DEPLOYMENT} and any developer's machine`),
    at("https://oidc.vercel.com/acme")("owner:acme:project:pay:environment:preview", DEPLOYMENT),
    // Machines, not runs: who deploys is decided elsewhere.
    at("https://oidc.fly.io/acme")("acme:pay:machine"),
    codefresh(like("^account:a1:pipeline:p1(:.*)?$"), "any pull request and any branch"),
    // A branch of a fork may be called main as well.
    codefresh(like(`^${fresh}:[^:]+:scm_ref:main(?::scm_pull_request_target_branch:[^:]+)?$`), PULL),
    codefresh(`${fresh}:u:scm_ref:main:scm_pull_request_target_branch:main`, PULL),
    codefresh(like(`^${fresh}:[^:]+:scm_ref:main$`)),
    // Issuers for each customer.
    semaphore(job("pull-request:ref:refs/pull/7/merge"), PULL),
    semaphore(job("branch:ref:refs/heads/main")),
    semaphore(like(`^${job(".*")}$`), ANY_REF),
    // A pull request has the branch that it is for in this claim.
    semaphore(like(`^${job(".*")}$`, { branch: "main" }), ANY_REF),
    semaphore(like(`^${job(".*")}$`, { ref: "refs/heads/main" })),
    spacelift(run("TRACKED:scope:write")),
    spacelift(run("PROPOSED:scope:read"), PROPOSED),
    spacelift(run("TASK:scope:write"), TASK),
    spacelift(like(`^${run(".*")}$`), `${PROPOSED} and ${TASK}`),
    spacelift(like(`^${run(".*")}$`, { runType: "TRACKED" })),
    spacelift(
      like("^space:acme:module:pay:run_type:.*$"),
      `${PROPOSED} and any test of a module, also of a pull request`,
    ),
    azure("sc://acme/pay/deploy", CONNECTION),
    at(`https://login.microsoftonline.com/${ORG}/v2.0`)(`/eid1/c/pub/t/x/a/y/sc/${ORG}/${STEP}`, CONNECTION),
    azure("p://acme/pay/deploy", PIPELINE),
    azure(exact("p://acme/pay/deploy", { rpo_ref: "refs/heads/main" })),
    harness("account/a1:org/acme:project/pay", "any run, perhaps of a pull request"),
    harness(exact("account/a1:org/acme:project/pay", { environment_id: "production" })),
    harness(exact("account/a1:org/acme:project/pay", { environment_type: "Production" })),
    harness(
      exact("account/a1:org/acme:project/pay", { environment_type: "PreProduction" }),
      "any run, perhaps of a pull request",
    ),
    circleci(user, "any branch"),
    circleci(exact(user, { "oidc.circleci.com/vcs-ref": "refs/heads/main" })),
    circleci(ref("refs/heads/main")),
    circleci(like(`^${ref("refs/heads/release-[0-9]+")}$`)),
    // What stands before a name may look like the end of a subject: no form tells where the name begins.
    circleci(like(`^${ref("refs/heads/.*")}$`), "any branch and any tag"),
    circleci(like(`^org/${ORG}/project/${ORG}/user/.*$`), "any branch and any tag"),
    bitbucket(like(`^\\{${ORG}\\}:.*$`), `any branch and pull request and ${NEW_ENVIRONMENT}`),
    bitbucket(like(`^\\{${ORG}\\}:.*$`, { deploymentEnvironmentUuid: `{${STEP}}` })),
    bitbucket(like(`^\\{${ORG}\\}:\\{${STEP}\\}:\\{[0-9a-f-]+\\}$`)),
    bitbucket(like(`^\\{${ORG}\\}:\\{[0-9a-f-]{36}\\}:\\{[0-9a-f-]+\\}$`), "environments of many names"),
    bitbucket(
      {
        subjectPattern: `^\\{${ORG}\\}:.*$`,
        claimPatterns: { deploymentEnvironmentUuid: "^\\{[0-9a-f-]{36}\\}$" },
      },
      `any branch and pull request and ${NEW_ENVIRONMENT}`,
    ),
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
    [hub(like("^repo:acme/b\\.js:.*$")), '"^repo:acme/pay:ref:refs/heads/main$"'],
    [
      hub("repo:acme/bot:pull_request"),
      '"^repo:acme/pay:ref:refs/heads/main$" in claimMatch.subjectPattern in place of claimMatch.subject',
    ],
    [
      buildkite("organization:acme:pipeline:pay:ref:refs/pull/1/head:commit:c:step:s"),
      '"^organization:acme:pipeline:pay:ref:refs/heads/main:commit:[0-9a-f]{40}:step:[a-z-]+$" in claimMatch.subjectPattern in place of claimMatch.subject',
    ],
  ])("has an example for the property that %j sets", ([trust], example) => {
    expect(found("T4", made(trust, pusher)).map(({ advice }) => advice)).toEqual([
      `pin the branch or a protected environment, as in ${example}`,
    ]);
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
  /** What is found where an identity with a grant trusts something else. */
  const changed = (from: Props, to: Props, what = viewer, where = payments) => {
    const [old, now] = [identity("ci", from), identity("ci", to)];
    const grant = binding(old, what, where);
    return found("T5", compareResources([...base, old, grant], [...base, now, grant]));
  };
  const judge = (from: Props, to: Props, what = pusher, where = payments): string[] =>
    changed(from, to, what, where).map(({ severity }) => severity);

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
  const main = audience(GITHUB, "a");
  const [google, own] = ["https://accounts.google.com", "https://idp.acme.example"];
  const ADA = "1".repeat(21);
  const [POD, NUMBERED] = ["system:serviceaccount:web:app", "repo:acme@1/pay@2:ref:refs/heads/main"];

  const account = { awsAccount: "123456789012", userIdPattern: "^A.*$" };
  const session = (name: string): Props => ({
    awsIdentity: { ...account, arn: `arn:aws:sts::123456789012:${name}` },
  });
  const people = "assumed-role/AWSReservedSSO_Admin_0123456789abcdef";

  it.each<[string, Props, Props, string]>([
    ["session of a role", session("assumed-role/ci/a"), session("assumed-role/ci/b"), "high"],
    ["user of IAM", session(`${people}/ada@acme.com`), session(`${people}/eve@acme.com`), "high"],
    ["federated user", session("federated-user/a"), session("federated-user/b"), "high"],
    ["audience of a run, which asks for any", main, audience(GITHUB, "b"), "medium"],
    ["audience, and branch", audience(GITHUB, "a"), audience(GITHUB, "b", MAIN.replace("main", "x")), "high"],
    // Another site has seen the tokens of a person.
    ["audience of a person", audience(google, "a", ADA), audience(google, "b", ADA), "high"],
    ["audience of an issuer of one's own", audience(own, "a"), audience(own, "b"), "high"],
    ["audience of a service account", audience(own, "a", POD), audience(own, "b", POD), "medium"],
    ["form, with the repository's numbers", main, audience(GITHUB, "a", NUMBERED), "medium"],
    ["form, without them", audience(GITHUB, "a", NUMBERED), main, "high"],
    ["repository with numbers", main, audience(GITHUB, "a", NUMBERED.replace("pay", "web")), "high"],
    ["form at an issuer of one's own", audience(own, "a"), audience(own, "a", NUMBERED), "high"],
  ])("another %s", (_, from, to, severity) => {
    expect(judge(from, to)).toEqual([severity]);
  });

  it("another audience is high in a trust that was changed by hand: the update writes all of it", () => {
    const [recorded, live, now] = ["a", "c", "b"].map((text) => {
      const who = identity("ci", audience(GITHUB, text));
      return [...base, who, binding(who, pusher, payments)];
    });
    const judged = [recorded!, live!].map((server) =>
      severitiesOf("T5", compareResources(recorded!, now!, { live: server })),
    );
    expect(judged).toEqual([["medium"], ["high"]]);
  });

  const ofKeys = { issuer: "i", subject: "s", issuerKeys: "{}" };
  const keys = (more: Props): Props => ({ staticKeys: { ...ofKeys, ...more } });

  const keySet = (...kids: string[]): Props => {
    const all = kids.map((kid) => ({ kty: "OKP", crv: "Ed25519", x: encoded(kid), kid }));
    return keys({ issuerKeys: JSON.stringify({ keys: all }) });
  };
  /** A public key of 32 bytes. */
  const encoded = (text: string): string => createHash("sha256").update(text).digest("base64url");
  const UNREADABLE = "a key set is no JSON Web Key Set that every parser reads alike";
  const nameOf = (kid: string): string =>
    `key ${createHash("sha256")
      .update(`{"crv":"Ed25519","kty":"OKP","x":"${encoded(kid)}"}`)
      .digest("base64url")}, kid ${kid}`;

  it.each([
    ["added", keySet("old"), keySet("old", "new"), `adds ${nameOf("new")}`],
    ["replaced", keySet("old"), keySet("new"), `adds ${nameOf("new")}; takes away ${nameOf("old")}`],
    ["unreadable", keySet("old"), keys({ issuerKeys: "{}" }), UNREADABLE],
  ])("says of %s keys which ones they are, and that their holder gets the grants", (_, from, to, which) => {
    const [finding] = changed(from, to);
    expect(finding?.severity).toBe("high");
    expect(finding?.message).toBe(
      `the keys of identity ci change: whoever has a new one gets 1 grant: staticKeys.issuerKeys (${which})`,
    );
    expect(finding?.advice).toContain("if you rotate the keys");
  });

  it("says of new keys with another subject that the principal is a different one", () => {
    const [finding] = changed(keySet("old"), {
      staticKeys: { ...(keySet("new")["staticKeys"] as Props), subject: "x" },
    });
    expect(finding?.severity).toBe("high");
    expect(finding?.message).toContain("a different principal inherits 1 grant");
    expect(changed(main, audience(GITHUB, "b"))[0]?.message).toBe(
      "the trust of identity ci changes: tokens for another audience are accepted, and give 1 grant: claimMatch.audience",
    );
  });

  const strange = github({ subject: "repo:globex/x:y" });
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
    const message =
      "identity ci-main takes the place of identity ci, which is deleted: a different principal inherits 1 grant: claimMatch.subject";
    const change = `claimMatch.subject: ${MAIN} → ${MAIN.replace("acme", "globex")}`;
    const details = [change, "inherits: viewer on acme / payments"];
    expect(found("T5", renamed(pinned, other))).toMatchObject([{ severity: "high", message, details }]);
  });

  it.each([
    ["for the same principal", pinned, pinned, payments],
    ["for fewer principals", github({ subjectPattern: "^repo:acme/.*$" }), pinned, payments],
    ["with a grant on another group", pinned, strange, acme],
  ])("leaves a new identity %s alone", (_, from, to, where) => {
    expect(found("T5", renamed(from, to, where))).toEqual([]);
  });

  it("reports the grants of that deleted identity alone whose principal is a different one", () => {
    const [same, other, now] = [
      identity("same", pinned),
      identity("strange", strange),
      identity("ci-main", pinned),
    ];
    const before = [...base, same, other, binding(same, viewer, payments), binding(other, pusher, acme)];
    const after = [...base, now, binding(now, viewer, payments), binding(now, pusher, acme)];
    expect(found("T5", compareResources(before, after))).toMatchObject([
      { message: expect.stringContaining("takes the place of identity strange") as string },
    ]);
  });
});

describe("T6 loose-audience", () => {
  it.each<[Props, string, string, string]>([
    [{ subject: "repo:acme/pay:x", audiencePattern: ".*" }, "medium", "audiencePattern", "audience"],
    [{ subject: "repo:acme/pay:*" }, "low", "subject", "claimMatch.subjectPattern"],
    [{ subject: "s", claims: { ref: "refs/heads/*" } }, "low", "claims.ref", "claimMatch.claimPatterns.ref"],
    [
      { subject: "^repo:acme/pay:ref:refs/heads/main$" },
      "low",
      "subject",
      "write the value without ^, $ and *",
    ],
  ])(
    "finds a pattern for anything, and an exact value like a pattern: %j",
    (trust, severity, field, advice) => {
      const [finding, ...others] = found("T6", made(github(trust)));
      expect(others).toEqual([]);
      expect(finding).toMatchObject({ severity, field: `claimMatch.${field}` });
      expect(finding?.advice).toContain(advice);
    },
  );

  it.each([
    [{ audience: "sts.amazonaws.com" }, "AWS"],
    [{ audience: "https://github.com/evil" }, "GitHub Actions"],
    [{ audiencePattern: "^https://github\\.com/.*$" }, "GitHub Actions"],
    [{ audiencePattern: "^https://(a|b)\\.acme\\.example$" }, undefined],
    [{ audience: "https://github.com/acme/pay" }, undefined],
    [{}, undefined],
  ])("says who else receives the tokens of %j", (audience, receiver) => {
    const all = found("T6", made(github({ subject: "repo:acme/pay:x", ...audience })));
    expect(all.map(({ severity }) => severity)).toEqual(receiver === undefined ? [] : ["low"]);
    for (const { message } of all) expect(message).toContain(receiver);
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
  const adding = (all: readonly Resource[], trust: Props, what = pusher, where = payments) => {
    const who = identity("ci", trust);
    return compareResources(all, [...all, who, binding(who, what, where)]);
  };
  /** How severe it is that an identity of this trust gets a grant in an organisation that trusts some. */
  const judged = (...given: Parameters<typeof adding>): string[] => severitiesOf("T7", adding(...given));
  const inWords = ({ severity, message }: Finding): string => `${severity}: ${/which .*/.exec(message)?.[0]}`;

  it("points at the grant that is new, where the identity stays as it is", () => {
    const at = (line: number) => ({ sourcePosition: `project:///index.ts#${line}` });
    const who = { ...identity("ci", github(GLOBEX)), ...at(14) };
    const grant = { ...binding(who, pusher, payments), ...at(20) };
    const all = [...before, who];
    const lineOf = (...given: Parameters<typeof compareResources>) =>
      found("T7", compareResources(...given)).map(({ location }) => location?.line);
    expect(lineOf(all, [...all, grant])).toEqual([20]);
    expect(lineOf(before, [...all, grant])).toEqual([14]);
  });

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
  const globex = 'organisation of GitHub Actions "globex"';
  const strangers: readonly (readonly [Props, string])[] = [
    [github(GLOBEX), globex],
    [github({ subjectPattern: "^repo:(?:acme|globex)/pay:ref:refs/heads/main$" }), globex],
    [github({ subjectPattern: ".*", claims: { repository_owner: "globex" } }), globex],
    // Beside a claim of a known one: they never hold together.
    [github({ ...GLOBEX, claims: { repository_owner: "acme" } }), globex],
    [github({ subject: "repo:globex@9/pay@2:ref:refs/heads/main" }), globex.replace("x", "x@9")],
    // An organisation of GitHub has that name.
    [gitlab("project_path:globex/pay:x"), 'group of GitLab CI "globex"'],
    [claims({ issuer: azure("2"), subject: "app" }), 'tenant of Azure "22222222-0000-0000'],
    [aws("222222222222"), 'account of AWS "222222222222"'],
    [sso({ subjectPattern: "^(?:ada|eve@globex\\.com)$" }), 'mail domain "globex.com"'],
    [sso({ subject: "eve@gmail.com" }), 'mail address "eve@gmail.com"'],
    // An identity of another organisation of the platform, and what delivers the events of a group.
    ...["", "webhook:"].map((kind): [Props, string] => [
      sso({ subjectPattern: `^${kind}${"f".repeat(40)}\\/${"0".repeat(16)}$` }),
      `object of the platform "${"f".repeat(40)}/${"0".repeat(16)}"`,
    ]),
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
  const evil = { repository_owner_id: "6" };
  const [person, hd] = [{ subject: "1".repeat(21) }, { hd: "acme.com" }];
  const oneOf = (owners: string, more: Props): Props =>
    github({ subjectPattern: `^repo:(?:${owners})/pay:${e}$`, claims: more });
  it.each<[string, Props, Props, string[]]>([
    ["an organisation beside a number only", numbered(`repo:globex/pay:${e}`), globexShop, ["high"]],
    ["both again", numbered(`repo:globex/pay:${e}`), numbered(`repo:globex/shop:${e}`), []],
    ["an account beside a domain only", google({ ...person, claims: hd }), google(person), ["high"]],
    ["one that one part names", oneOf("acme|globex", { repository_owner: "acme" }), globexShop, ["high"]],
    ["a stranger beside its number", numbered(`repo:acme/pay:${e}`, "6"), oneOf("acme|evil", evil), ["high"]],
  ])("knows by what one part says of an owner nothing of another one: %s", (_, old, trust, severities) => {
    const own = [identity("number", numbered(e)), identity("old", old)];
    const all = [...before, ...own, ...own.map((who) => binding(who, pusher, payments))];
    expect(judged(all, trust)).toEqual(severities);
  });

  it("names the organisation, tenant, account or domain that a trust brings, and leaves known ones alone", () => {
    const findings = foundInEach("T7", [...strangers.map(([trust]) => trust), ...acquaintances], { before });
    expect(findings).toMatchObject([
      ...strangers.map(([, who], i) => [
        {
          severity: "medium",
          message: expect.stringContaining(`identity row-${i} trusts ${who}`) as string,
          details: ["whoever assumes it gets: viewer on acme / payments"],
        },
      ]),
      ...acquaintances.map(() => []),
    ]);
  });

  it("judges who trusts an identity by its uid, and what others hold by its trust where that changes", () => {
    const stranger = identity("stranger", github(GLOBEX));
    const all = [...before, stranger];
    const proxy = identity("proxy", sso({ subject: stranger.uid }));
    const outer = identity("outer", sso({ subjectPattern: `^${proxy.uid}$` }));
    const held = [...all, proxy, outer, binding(outer, pusher, payments)];
    expect(found("T7", compareResources([...all, proxy], held))).toMatchObject([
      {
        severity: "high",
        message: expect.stringContaining(`outer trusts object of the platform "${proxy.uid}"`) as string,
      },
    ]);
    // Its trust changes while it is trusted, and has no grant of its own.
    const honest = held.map((each) => (each === stranger ? identity("stranger", pinned) : each));
    const message = `identity stranger trusts ${globex}, which had no access before`;
    expect(found("T7", compareResources(honest, held))).toMatchObject([{ message, severity: "high" }]);
    expect(found("T5", compareResources(honest, held))).toHaveLength(1);
  });

  it.each([
    ["a role that reads, below the root", viewer, payments, ["medium"]],
    ["a role that reads, on the root", viewer, acme, ["high"]],
    ["a role that writes", pusher, payments, ["high"]],
    ["a role that is unknown", resource("Role", "lookup", {}), payments, ["high"]],
  ] as const)("is judged by %s", (_, what, where, severities) => {
    const all = found("T7", adding(before, github(GLOBEX), what, where));
    expect(all.map(inWords)).toEqual([`${severities[0]}: which had no access before`]);
  });

  describe("who a subject is at an issuer that one owner runs", () => {
    const ENTERPRISE = "https://token.actions.githubusercontent.com/acme";
    const WORKSPACE = "https://api.bitbucket.org/2.0/workspaces/acme/pipelines-config/identity/oidc";
    const CIRCLECI = "https://oidc.circleci.com/org/11111111-0000-0000-0000-000000000000";
    // A service that no table knows, with many customers.
    const DEPLOYMENTS = "https://oidc.deployments.example";
    const GITLAB = "https://gitlab.acme.com";
    const WORKFLOW = "acme/flows/.github/workflows/x.yml@refs/heads/main";
    const EVIL = `organisation of GitHub Actions at ${ENTERPRISE} "evil"`;
    const deploymentsOf = (start: string) => `subjects of ${DEPLOYMENTS} that begin with "${start}"`;
    const GITHUB_SERVER = "https://github.acme.com/_services/token";
    const by = (issuer: string, more: Props): Props => claims({ issuer, ...more });
    const sso = (more: Props): Props => by("https://sso.acme.com", more);
    const trusted = [
      sso({ subject: "ada@acme.com" }),
      sso({ subject: "opaque" }),
      sso({ subject: "spiffe://acme.com/ci" }),
      by(GITLAB, { subject: "project_path:acme/pay:ref_type:branch:ref:main" }),
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
      [sso({ subjectPattern: "^spiffe://evil\\.com/.*$" }), 'trust domain of SPIFFE "evil.com"'],
      [sso({ subjectPattern: "^(?:ada|spiffe://evil\\.com/x)$" }), 'trust domain of SPIFFE "evil.com"'],
      [by(ENTERPRISE, { subject: "repo:evil/pay:ref:refs/heads/main" }), EVIL],
      [by(ENTERPRISE, { subjectPattern: "^repo:(?:acme|evil)/pay:.*$" }), EVIL],
      [by(ENTERPRISE, { subject: "environment:production", claims: { repository: "evil/pay" } }), EVIL],
      [by(GITLAB, { subject: "project_path:evil/pay:ref:main" }), `group of GitLab CI at ${GITLAB} "evil"`],
      [by(DEPLOYMENTS, { subject: "deployment:evil/shop/production" }), deploymentsOf("deployment:evil/")],
      [by(DEPLOYMENTS, { subjectPattern: "^deployment:evil/shop$" }), deploymentsOf("deployment:evil/")],
      [by(DEPLOYMENTS, { subject: "project/acme/shop" }), deploymentsOf("project/acme/")],
      [sso({ subject: "eve@evil.com" }), 'mail domain "evil.com"'],
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
        "<mallory@evil.com>",
        "mallory@evil.com|x",
        "mallory@[1.2.3.4]",
        "mallory\uff20evil.com",
        "mallory@evil\u3002com",
        "mallory%40evil.com",
        "mallory_evil.com#EXT#@acme.com",
        "mallory%evil.com@acme.com",
        "@acme.com",
        "evil|ada@acme.com",
      ].map((subject) => [sso({ subject }), `subject ${JSON.stringify(subject)}`] as const),
      [sso({ subject: "mallory@acme.com\u200b" }), 'subject "mallory@acme.com\\u{200b}"'],
      [google({ ...person, claims: { hd: "evil.com" } }), `account of Google "${person.subject}"`],
      [google({ subjectPattern: ".*", claims: { hd: "evil.com" } }), 'mail domain "evil.com"'],
      [github({ ...GLOBEX, claims: { repository_id: "7" } }), globex],
    ];

    const familiar: readonly Props[] = [
      sso({ subject: "other" }),
      sso({ subject: "BOB@ACME.com." }),
      sso({ subject: "bob@corp.acme.com" }),
      sso({ subjectPattern: "^.*@acme\\.com$" }),
      sso({ subjectPattern: "^svc-[a-z]+@(?:ci\\.)?acme\\.com$" }),
      sso({ subject: "opaque", claims: { email: "bob@acme.com", team: "sre" } }),
      sso({ subject: "spiffe://acme.com/other" }),
      sso({ subject: "system:serviceaccount:other:ci" }),
      sso({ subject: "https://ci.acme.com/job/release" }),
      by(DEPLOYMENTS, { subject: "deployment:acme/blog/production" }),
      by(GITHUB_SERVER, { subject: "environment:production:actor:ada" }),
      by(ENTERPRISE, { subject: "repo:acme/search:environment:e", claims: { job_workflow_ref: WORKFLOW } }),
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
  });

  it("leaves an identity without a grant alone, and finds it when it gets one", () => {
    const planted = identity("planted", github(GLOBEX));
    expect(found("T7", compareResources(before, [...before, planted]))).toEqual([]);
    const now = [...before, planted];
    const change = compareResources(now, [...now, binding(planted, pusher, payments)]);
    expect(severitiesOf("T7", change)).toEqual(["high"]);
  });

  it("is medium for the first identity with a grant of all", () => {
    expect(judged(base, github(GLOBEX), pusher, acme)).toEqual(["medium"]);
  });

  it("says nothing without an inventory", () => {
    const who = identity("ci", github(GLOBEX));
    const after = [...before, who, binding(who, pusher, payments)];
    expect(found("T7", compareResources(before, after, { withoutInventory: true }))).toEqual([]);
  });

  it.each([
    ["globex@1", "globex@1", []],
    ["globex@1", "globex@9", ["medium"]],
    ["globex@1", "globex", []],
    ["globex", "globex@9", []],
    ["globex@1", "acme@1", []],
    ["acme-inc@1", "acme-ltd@1", ["medium"]],
  ])("knows %s, and judges %s", (old, now, expected) => {
    const [first, second] = [old, now].map((what) =>
      github({ subject: `repo:${what}/pay${what.includes("@") ? "@2" : ""}:ref:refs/heads/main` }),
    ) as [Props, Props];
    const who = identity("first", first);
    expect(judged([...before, who, binding(who, viewer, payments)], second, viewer)).toEqual(expected);
  });

  it("is high for whom somebody put by hand in the place of whom a stack records", () => {
    const recorded = identity("partner", github({ subject: "repo:acme/pay:ref:refs/heads/main" }));
    const swapped = edit(recorded, github({ subject: "repo:evil/pay:ref:refs/heads/main" }));
    const program = [...before, recorded, binding(recorded, pusher, payments)];
    const after = [...program, binding(recorded, pusher, cards)];
    const live = program.map((one) => (one === recorded ? swapped : one));
    expect(found("T7", compareResources(program, after, { live })).map(inWords)).toEqual([
      "high: which had access only by what no given stack records: made by hand, or in another stack",
    ]);
  });

  describe("of whom another stack manages", () => {
    const external = { external: true } as const;
    const theirs = identity("partner", github(GLOBEX), external);
    const bound = binding(theirs, pusher, payments, external);
    const there = [...before, theirs, bound];
    const wordsWith = (...otherStacks: readonly Resource[]): string[] => {
      const after = [...there, binding(theirs, pusher, cards)];
      return found("T7", compareResources(there, after, { otherStacks })).map(inWords);
    };
    const access = resource(
      "GroupAccess",
      "team",
      {
        name: undefined,
        parentUid: payments,
        bindings: { partner: { identityUid: theirs.uid, roleUid: pusher.uid } },
      },
      { uid: payments },
    );
    const unknown = [
      "medium: which had access only by what no given stack records: made by hand, or in another stack",
    ];

    it("knows what that records as the server has it", () => {
      expect(wordsWith()).toEqual(unknown);
      expect(wordsWith(theirs, bound)).toEqual([]);
      expect(wordsWith(theirs, access)).toEqual([]);
    });

    it("knows nothing that only one of the two has", () => {
      const swapped = edit(theirs, github({ subject: "repo:acme/pay:ref:refs/heads/main" }));
      expect(wordsWith(theirs)).toEqual(unknown);
      expect(wordsWith(bound)).toEqual(unknown);
      // Somebody was put there by hand in the place of whom that stack records.
      expect(wordsWith(swapped, bound)).toEqual(unknown.map((words) => words.replace("medium", "high")));
      expect(wordsWith(theirs, edit(bound, { roleUid: viewer.uid }))).toEqual(unknown);
    });
  });

  const inviting = (email: string, parentUid: string, what: Resource): Resource =>
    resource("GroupInvite", email, { parentUid, roleUid: what.uid, ttl: "24h", email });
  const KNOWN_ELSEWHERE = "which had access on other groups only";
  const READ_ONLY = "which could only read so far";

  it.each([
    ["in the group of the first one", viewer, payments, viewer, payments, []],
    ["below it", viewer, payments, viewer, cards, []],
    ["in another group", viewer, cards, viewer, payments, [`medium: ${KNOWN_ELSEWHERE}`]],
    ["at the root", viewer, payments, viewer, acme, [`high: ${KNOWN_ELSEWHERE}`]],
    ["there, to write as the first one does", pusher, payments, pusher, payments, []],
    ["there, to write where the first one reads", viewer, payments, pusher, payments, [`high: ${READ_ONLY}`]],
  ])(
    "an invite makes its mail domain known to later ones on its group alone: %s",
    (_, has, first, gets, then, severities) => {
      const there = [...before, inviting("eve@globex.com", first, has)];
      const after = [...there, inviting("bob@globex.com", then, gets)];
      expect(found("T7", compareResources(there, after)).map(inWords)).toEqual(severities);
    },
  );

  it.each([
    ["2020-01-01T00:00:00Z", 1],
    ["2100-01-01T00:00:00Z", 0],
  ])("an invite makes nobody known once it has ended: %s", (expirationTime, count) => {
    const first = { ...inviting("eve@globex.com", payments, pusher), outputs: { expirationTime } };
    const there = [...before, first];
    const after = [...there, inviting("bob@globex.com", payments, pusher)];
    expect(found("T7", compareResources(there, after))).toHaveLength(count);
  });

  it("finds an invite to read a new domain whose role begins to write", () => {
    const [reads, writes] = [role("reads", ["REPO_LIST"]), role("reads", ["REPO_LIST", "TAG_CREATE"])];
    const invite = inviting("eve@globex.com", payments, reads);
    const comparison = compareResources([...before, reads, invite], [...before, writes, invite]);
    expect(severitiesOf("T7", comparison)).toEqual(["high"]);
  });

  describe("of registered keys", () => {
    const key = (whose: string, more: Props = {}): Props => ({
      ...{ kty: "OKP", crv: "Ed25519" },
      ...{ x: createHash("sha256").update(whose).digest("base64url"), ...more },
    });
    const issuer = "https://ci.acme.example";
    const keyed = (name: string, ...keys: Props[]): Resource =>
      identity(name, { staticKeys: { issuer, subject: name, issuerKeys: JSON.stringify({ keys }) } });
    const own = keyed("own", key("ours", { kid: "1" }));
    const all = [...before, own, binding(own, pusher, payments)];
    const foundOf = ({ inputs }: Resource, what = viewer, where = payments) =>
      found("T7", adding(all, inputs, what, where)).map(({ severity, field }) => [severity, field]);

    it.each([
      ["a stranger's key", keyed("new", key("theirs")), "staticKeys.issuerKeys"],
      ["a stranger's beside a known one", keyed("new", key("ours"), key("theirs")), "staticKeys.issuerKeys"],
      ["a known key with another kid", keyed("new", key("ours", { kid: "2", use: "sig" })), undefined],
    ])("finds %s only where no identity with a grant had it", (_what, who, field) => {
      const expected = (severity: string) => (field === undefined ? [] : [[severity, field]]);
      expect(foundOf(who)).toEqual(expected("medium"));
      expect(foundOf(who, pusher)).toEqual(expected("high"));
      expect(foundOf(who, viewer, acme)[0]?.[0]).toBe("high");
    });

    it("leaves the next key of an identity to T5, and finds one that only waited for a grant", () => {
      const next = { ...own, inputs: keyed("own", key("ours"), key("next")).inputs };
      const changed = compareResources(all, [...all.filter((each) => each !== own), next]);
      expect([severitiesOf("T7", changed), severitiesOf("T5", changed)]).toEqual([[], ["high"]]);
      const planted = keyed("planted", key("theirs"));
      const described = edit(planted, { description: "x" });
      const bound = [...all, described, binding(planted, pusher, payments)];
      expect(severitiesOf("T7", compareResources([...all, planted], bound))).toEqual(["high"]);
    });
  });
});
