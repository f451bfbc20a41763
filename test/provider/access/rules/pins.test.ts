import { RE2JS } from "re2js";
import type { Props } from "../../../../provider/fields/values";
import { defaultRuleOptions, findingsOf, findRule } from "../../../../provider/access/rules";
import {
  binding,
  claims,
  compareResources,
  groups,
  identity,
  payments,
  viewer,
  GITHUB,
} from "../../../support/access";
import { memberAt } from "../../../support/samples";
import { NOW } from "./support";

/*
 * What is not proven to be pinned is open: each row is a trust and whether the rules let it pass. A trust that passes is
 * the near miss of one that does not.
 */
const TENANT = "72f988bf-86f1-41af-91ab-2d7cd011db47";
const PERSONAL = "9188040d-6c67-4c5b-b112-36a304b66dad";
const TWO_ISSUERS = "^https://(?:token\\.actions\\.githubusercontent|gitlab)\\.com$";
const MANY = Array.from({ length: 60 }, (_, i) => `repo:acme/repository-${i}`);
const CLUSTER = "https://oidc.eks.eu-west-1.amazonaws.com/id/0123456789ABCDEF";
const ACCOUNT = "123456789012";

/** Everybody of one owner is meant where only a mail domain is pinned. */
type Row = readonly [trust: Props, expected: "pinned" | "everybody" | "open"];

const at = (issuer: string, subject: Props): Props => claims({ issuer, ...subject });
const exact = (subject: string): Props => ({ subject });
const like = (subjectPattern: string): Props => ({ subjectPattern });
const any = like(".*");
const withClaim = (name: string, value: string): Props => ({ ...any, claims: { [name]: value } });
const withPattern = (name: string, value: string): Props => ({ ...any, claimPatterns: { [name]: value } });

/** One issuer of which each subject is written out. */
const issuer = (address: string, expected: Row[1]): Row => [at(address, exact("ci")), expected];
const issuers = (issuerPattern: string, expected: Row[1]): Row => [
  claims({ issuerPattern, subject: "ci" }),
  expected,
];
const github = (subject: Props, expected: Row[1]): Row => [at(GITHUB, subject), expected];
const gitlab = (subject: Props, expected: Row[1]): Row => [at("https://gitlab.com", subject), expected];
const google = (subject: Props, expected: Row[1]): Row => [
  at("https://accounts.google.com", subject),
  expected,
];
const own = (subject: Props, expected: Row[1]): Row => [at("https://sso.acme.com", subject), expected];
const circleci = (subject: Props, expected: Row[1]): Row => [
  at(`https://oidc.circleci.com/org/${TENANT}`, subject),
  expected,
];
const bitbucket = (subject: Props, expected: Row[1]): Row => [
  at("https://api.bitbucket.org/2.0/workspaces/acme/pipelines-config/identity/oidc", subject),
  expected,
];
const aws = (arnPattern: string, userIdPattern: string, expected: Row[1]): Row => [
  { awsIdentity: { awsAccount: ACCOUNT, arnPattern, userIdPattern } },
  expected,
];

const rows: readonly Row[] = [
  // Exact issuers.
  issuer("https://sso.acme.com", "pinned"),
  issuer("https://sso.acme.co.uk", "pinned"),
  issuer("https://sso.acme.com:8443/realms/ci", "pinned"),
  // Names that whoever comes first has.
  issuer("https://acme.github.io", "open"),
  issuer("https://acme.s3.eu-west-1.amazonaws.com", "open"),
  // Services of which no address is known that names a customer.
  issuer("https://api.doppler.com", "open"),
  issuer("https://sso.acme.internal", "pinned"),
  issuer("https://xn--mller-kva.de", "pinned"),
  issuer("http://sso.acme.com", "open"),
  issuer("https://203.0.113.7", "open"),
  issuer("https://0x7f.1", "open"),
  issuer("https://[2001:db8::1]", "open"),
  issuer("https://github.io", "open"),
  issuer("https://sso.acme.corporation", "open"),
  issuer("https://sso.acme.com.", "open"),
  issuer("https://sso..acme.com", "open"),
  issuer("https://gitl\u0430b.acme.com", "open"),
  issuer("https://xn--80ak6aa92e.com", "open"),
  issuer("https://sso.acme.com@evil.example", "open"),
  issuer("https://sso.acme.com\\@evil.example", "open"),
  // Issuers at services for many customers.
  issuer(`https://login.microsoftonline.com/${TENANT}/v2.0`, "pinned"),
  issuer(`https://sts.windows.net/${TENANT}/`, "pinned"),
  issuer("https://login.microsoftonline.com/common/v2.0", "open"),
  issuer(`https://login.microsoftonline.com/${PERSONAL}/v2.0`, "open"),
  issuer("https://login.microsoftonline.com", "open"),
  issuer(`https://oidc.circleci.com/org/${TENANT}`, "pinned"),
  issuer("https://oidc.circleci.com", "open"),
  issuer(CLUSTER, "pinned"),
  issuer("https://oidc.eks.eu-west-1.amazonaws.com", "open"),
  issuer("https://acme.okta.com/oauth2/default", "pinned"),
  issuer("https://okta.com", "open"),
  issuer("https://api.amazon.com", "open"),
  issuer("https://auth.openai.com", "open"),
  issuer("https://accounts.zoho.com", "open"),
  issuer("https://acme.onelogin.com/oidc/2", "pinned"),
  issuer("https://openid-connect.onelogin.com/oidc", "open"),
  issuer("https://acme.cloudflareaccess.com", "pinned"),
  issuer(`https://acme.b2clogin.com/${TENANT}/v2.0/`, "pinned"),
  issuer(`https://acme.b2clogin.com/tfp/${TENANT}/b2c_1_signin/v2.0/`, "pinned"),
  issuer("https://acme.b2clogin.com", "open"),
  issuer(`https://${TENANT}.ciamlogin.com/${TENANT}/v2.0`, "pinned"),
  issuers("^https://acme\\.b2clogin\\.com/.*$", "open"),
  issuer("https://acme.eu.auth0.com/", "pinned"),
  issuer("https://eu.auth0.com.evil.amazonaws.com", "open"),
  issuer("https://raw.githubusercontent.com/acme/oidc", "open"),
  issuer("https://oidc.vercel.com/acme", "pinned"),
  issuer("https://oidc.fly.io/acme", "pinned"),
  issuer("https://oidc.fly.io/personal", "open"),
  issuer("https://acme.semaphoreci.com", "pinned"),
  issuer(`https://${TENANT}.tokens.sts.global.api.aws`, "pinned"),
  issuer("https://acme.other.api.aws", "open"),
  issuer(`https://login.partner.microsoftonline.cn/${TENANT}/v2.0`, "open"),
  // Patterns of issuers.
  issuers("^https://sso\\.acme\\.com$", "pinned"),
  issuers("^https://(?:ci|sso)\\.acme\\.com$", "pinned"),
  issuers("^https://sso\\.acme\\.com/realms/[a-z]+$", "pinned"),
  issuers("(?i)^https://sso\\.acme\\.com$", "pinned"),
  issuers(`^https://login\\.microsoftonline\\.com/${TENANT}/v2\\.0$`, "pinned"),
  issuers("^https?://sso\\.acme\\.com$", "open"),
  issuers("^https://gitl\u0430b\\.acme\\.com$", "open"),
  issuers("^https://2130706433$", "open"),
  issuers("^https://10\\.0\\.0\\.1$", "open"),
  issuers("^https://sso[1-9]\\.acme\\.com$", "open"),
  issuers("^https://sso\\.acme\\.com:[0-9]+$", "open"),
  // Subjects of GitHub Actions.
  github(exact("repo:acme/pay:ref:refs/heads/main"), "pinned"),
  github(exact("repo:acme@1/pay@2:ref:refs/heads/main"), "pinned"),
  github(exact("environment:production:repo:acme/pay"), "pinned"),
  github(exact("repository_owner_id:4711:environment:production"), "pinned"),
  github(exact("environment:production"), "open"),
  github(exact("job_workflow_ref:acme/flows/.github/workflows/deploy.yml@refs/heads/main"), "open"),
  github(exact("acme/pay"), "open"),
  github(like("^repo:(?:acme|globex)/pay:environment:production$"), "pinned"),
  github(like("^repo:acme{1,9}/pay:environment:production$"), "open"),
  github(like("^repo:acme[1-9]/(?:a|b|c|d|e|f|g|h|i|j):.*$"), "open"),
  github(like("^environment_node_id:EN_[A-Za-z]+$"), "open"),
  github(like("^REPO:acme/pay:.*$"), "open"),
  github(withClaim("repository_owner", "acme"), "pinned"),
  github(withClaim("repository_owner_id", "4711"), "pinned"),
  github(withClaim("workflow_ref", "acme/pay/.github/workflows/deploy.yml@refs/heads/main"), "pinned"),
  github(withClaim("job_workflow_ref", "acme/flows/.github/workflows/deploy.yml@refs/heads/main"), "open"),
  github(withClaim("environment_node_id", "EN_kwDOA"), "open"),
  github(withClaim("repository", ""), "open"),
  github(withClaim("repository_owner_id", "acme"), "open"),
  github(withPattern("repository", "^acme/.*$"), "pinned"),
  github(withPattern("repository_owner", "^acme[1-9]$"), "open"),
  github(like(`^(?:${MANY.join("|")}):ref:refs/heads/main$`), "pinned"),
  // Two issuers, of which each knows only subjects of its own.
  [claims({ issuerPattern: TWO_ISSUERS, subjectPattern: "^(?:repo:acme/.*|project_path:.*)$" }), "open"],
  [
    claims({ issuerPattern: TWO_ISSUERS, subjectPattern: "^(?:repo:acme/.*|project_path:acme/.*)$" }),
    "pinned",
  ],
  // Subjects of GitLab CI.
  gitlab(like("^project_path:acme/.*$"), "pinned"),
  gitlab(withClaim("project_id", "4711"), "pinned"),
  gitlab(withClaim("ci_config_ref_uri", "gitlab.com/acme/ci//deploy.yml@refs/heads/main"), "open"),
  gitlab(withClaim("user_login", "ada"), "open"),
  [at("https://agent.buildkite.com", exact(TENANT)), "pinned"],
  [at("https://agent.buildkite.com", exact("pay")), "open"],
  // Environments of Pulumi ESC.
  [at("https://api.pulumi.com/oidc/v2", exact("pulumi:org:o1:env:e1")), "pinned"],
  [at("https://api.pulumi.com/oidc/v2", like("^pulumi:org:o1:env:.*$")), "pinned"],
  [at("https://api.pulumi.com/oidc/v2", like("^pulumi:org:.*:env:e1$")), "open"],
  [at("https://api.pulumi.com/oidc/v2", exact("opaque")), "open"],
  // Accounts of Google.
  google(exact("103456789012345678901"), "pinned"),
  google(withClaim("hd", "acme.com"), "everybody"),
  google(withClaim("hd", "gmail.com"), "open"),
  google(withClaim("email", "ada@gmail.com"), "pinned"),
  google(withClaim("email", "ci@acme.iam.gserviceaccount.com"), "pinned"),
  // Google knows of such an address only that somebody could read its mail once.
  google(withClaim("email", "ada@acme.com"), "open"),
  google(withClaim("email", "ada@acmegserviceaccount.com"), "open"),
  google({ ...any, claims: { email: "ada@acme.com", hd: "acme.com" } }, "pinned"),
  google({ ...any, claims: { email: "ada@globex.com", hd: "acme.com" } }, "everybody"),
  google(withPattern("email", "^[a-z]+@acme\\.com$"), "open"),
  google(withClaim("azp", "32555940559.apps.googleusercontent.com"), "open"),
  // Subjects at an issuer of one's own.
  own(exact("ci"), "pinned"),
  own(like("^(?:ci|cd)$"), "pinned"),
  own(like("^system:serviceaccount:ci:.*$"), "pinned"),
  own(like("^system:serviceaccount:.*:ci$"), "open"),
  own(like("^.*@acme\\.com$"), "everybody"),
  own(like("^svc-[a-z]+@acme\\.com$"), "pinned"),
  own(like("^.*@(?:acme|globex)\\.com$"), "everybody"),
  own(like("^user-.*$"), "open"),
  ...["duck.com", "proton.me", "web.de", "hey.com", "tutanota.com", "mailbox.org", "qq.com"].map((host) =>
    own(like(`^.*@${host.replaceAll(".", "\\.")}$`), "open"),
  ),
  // Users of a tenant of a service: where everybody can sign up, they are anybody.
  ...[
    "https://acme.eu.auth0.com/",
    "https://acme.okta.com/oauth2/default",
    "https://acme.onelogin.com/oidc/2",
    "https://acme.cloudflareaccess.com",
    "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_AbCdEf123",
    "https://securetoken.google.com/acme",
    `https://acme.b2clogin.com/${TENANT}/v2.0/`,
    `https://${TENANT}.ciamlogin.com/${TENANT}/v2.0`,
    `https://auth.pingone.eu/${TENANT}/as`,
    `https://login.microsoftonline.com/${TENANT}/v2.0`,
  ].flatMap((tenant): Row[] => [
    [at(tenant, exact("auth0|64f0")), "pinned"],
    [at(tenant, like("^(?:auth0\\|64f0|auth0\\|64f1)$")), "pinned"],
    [at(tenant, any), "open"],
    [at(tenant, { ...any, audience: "acme" }), "open"],
    [at(tenant, withClaim("email", "ada@acme.com")), "open"],
    [at(tenant, like("^auth0\\|.*$")), "open"],
    [at(tenant, like("^auth0\\|64f0")), "open"],
    [at(tenant, like("^.*@acme\\.com$")), "open"],
    [at(tenant, like("^system:serviceaccount:ci:.*$")), "open"],
    [at(tenant, like("^spiffe://acme\\.org/.*$")), "open"],
    [at(tenant, like("^repo:acme/.*$")), "open"],
  ]),
  [at(CLUSTER, like("^system:serviceaccount:ci:.*$")), "pinned"],
  [at(CLUSTER, like("^system:serviceaccount:.*:ci$")), "open"],
  [at("https://token.actions.githubusercontent.com/acme", like("^repo:acme/.*$")), "pinned"],
  [at("https://token.actions.githubusercontent.com/acme", like("^repo:.*$")), "open"],
  // Jobs at issuers that serve one customer each.
  ...[
    ["https://acme.semaphoreci.com", `org:acme:project:${TENANT}:repo:pay:`, `org:acme:project:.*:repo:pay:`],
    ["https://acme.app.spacelift.io", "space:acme:stack:pay:run_type:", "space:acme:stack:.*:run_type:"],
    [
      "https://oidc.vercel.com/acme",
      "owner:acme:project:pay:environment:",
      "owner:acme:project:.*:environment:",
    ],
    ["https://oidc.fly.io/acme", "acme:pay:", "acme:.*:"],
  ].flatMap(([tenant = "", project = "", anyProject = ""]): Row[] => [
    [at(tenant, like(`^${project}.*$`)), "pinned"],
    [at(tenant, like(`^${anyProject}[a-z]+$`)), "open"],
    [at(tenant, like(`^${project.slice(0, -6)}.*$`)), "open"],
    own(like(`^${project}.*$`), "open"),
  ]),
  circleci(like(`^org/${TENANT}/project/p1/user/.*$`), "pinned"),
  circleci(like(`^org/${TENANT}/project/(?:p1|p2)/user/.*$`), "pinned"),
  circleci(like(`^org/${TENANT}/project/p1.*$`), "open"),
  own(like(`^org/${TENANT}/project/p1/user/.*$`), "open"),
  bitbucket(like(`^\\{${TENANT}\\}:\\{[0-9a-f-]+\\}$`), "pinned"),
  bitbucket(like(`^\\{${TENANT}\\}:.*$`), "pinned"),
  bitbucket(like("^\\{[0-9a-f-]+\\}:.*$"), "open"),
  own(like(`^\\{${TENANT}\\}:.*$`), "open"),
  // A GitHub and a GitLab of one's own.
  own(like("^repo:acme/.*$"), "pinned"),
  own(like("^repository_owner:acme:.*$"), "pinned"),
  own(like("^project_path:acme/.*$"), "pinned"),
  // Principals of AWS.
  aws(`^arn:aws:sts::${ACCOUNT}:assumed-role/deploy/.*$`, ".*", "pinned"),
  aws(`^arn:aws:iam::${ACCOUNT}:role/(?:deploy|build)$`, ".*", "pinned"),
  aws(".*", "^AROAEXAMPLE0000000000:.*$", "pinned"),
  aws(`^arn:aws:iam::${ACCOUNT}:role/team-.*$`, ".*", "open"),
  aws(`^arn:aws:sts::${ACCOUNT}:assumed-role/deploy[0-9]/.*$`, ".*", "open"),
  aws(".*", ".*", "open"),
  aws(".*", `^${ACCOUNT}$`, "pinned"),
  aws(".*", `^${ACCOUNT}:.*$`, "open"),
  aws(`^arn:aws:sts::${ACCOUNT}:federated-user/ada$`, ".*", "open"),
];

const nameOf = (i: number): string => `row-${i}`;

/** What the findings of each row mean, by its name. All rows are one change, so that one comparison judges them. */
function judgeRows(): ReadonlyMap<string, Row[1]> {
  const base = [...groups, viewer];
  const identities = rows.map(([trust], i) => identity(nameOf(i), trust));
  const change = compareResources(
    base,
    [...base, ...identities, ...identities.map((who) => binding(who, viewer, payments))],
    { withoutInventory: true },
  );
  const trustRules = ["T1", "T2", "T3"].map((id) => findRule(id)!);
  const found = new Map<string, Row[1]>();
  for (const finding of findingsOf(change, defaultRuleOptions(NOW), trustRules)) {
    const { name = "", severity, counterexample, field = "" } = finding;
    const pattern = memberAt(rows[Number(name.slice("row-".length))]![0], field.split("."));
    if (counterexample !== undefined && typeof pattern === "string" && field.endsWith("Pattern"))
      expect([pattern, RE2JS.compile(pattern).test(counterexample)]).toEqual([pattern, true]);
    const isOpen = ["high", "critical"].includes(severity) || found.get(name) === "open";
    found.set(name, isOpen ? "open" : "everybody");
  }
  return found;
}

it("reports each trust that is not proven to be pinned, and none that is", () => {
  const found = judgeRows();
  const judged = rows.map(([trust], i) => [trust, found.get(nameOf(i)) ?? "pinned"]);
  expect(judged).toEqual(rows);
});
