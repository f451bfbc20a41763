import type { Entity } from "../../../../provider/access/graph/model";
import { topProperty } from "../../../../provider/access/graph/inputLeaves";
import { describeIdentity, describeInvite } from "../../../../provider/access/graph/trust";
import type { Props } from "../../../../provider/fields/values";

const entity = (kind: string, inputs: Props, unresolved: string[] = []): Entity => ({
  key: "k",
  kind,
  name: typeof inputs["name"] === "string" ? inputs["name"] : undefined,
  inputs,
  unread: unresolved.map((path) => ({
    path,
    property: topProperty(path),
    reason: "unknown",
    decidesAccess: true,
  })),
  secretPaths: [],
});
const claims = (claimMatch: Props) => describeIdentity(entity("Identity", { name: "i", claimMatch }));
const github = "https://token.actions.githubusercontent.com";
const actions = (subject: string, more: Props = {}): Props => ({ issuer: github, subject, ...more });
const matching = (subjectPattern: string): Props => ({ issuer: github, subjectPattern });
const from = (issuer: string, subject: string): Props => ({ issuer, subject });
const gitlab = "project_path:acme/pay:ref_type:branch:ref:main";
const said = `subject “${gitlab}”`;
const uuid = (n: string): string => [8, 4, 4, 4, 12].map((count) => n.repeat(count)).join("-");
const [one, two, three] = [uuid("1"), uuid("2"), uuid("3")];
const account = "123456789012";

describe("the holder of an identity in words", () => {
  test.each<[Props, string]>([
    [actions("repo:acme/pay:ref:refs/heads/main"), "GitHub Actions of acme/pay, branch main"],
    [actions("repo:acme/pay:ref:refs/tags/v1"), "GitHub Actions of acme/pay, tag v1"],
    [actions("repo:acme/pay:environment:prod"), "GitHub Actions of acme/pay, environment prod"],
    [actions("repo:acme/pay:pull_request"), "GitHub Actions of acme/pay, any pull request"],
    [from(`${github}/acme`, "odd"), "token.actions.githubusercontent.com/acme, subject “odd”"],
    [from("https://gitlab.com", gitlab), "GitLab CI of acme/pay, branch main"],
    [
      from(
        "https://agent.buildkite.com",
        "organization:acme:pipeline:pay:ref:refs/heads/main:commit:0:step:1",
      ),
      "Buildkite, subject “organization:acme:pipeline:pay:ref:refs/heads/main:commit:0:step:1”",
    ],
    [
      from("https://k8s.example.com", "system:serviceaccount:prod:api"),
      "k8s.example.com, Kubernetes service account prod/api",
    ],
    [from("https://accounts.google.com", "1045"), "Google account 1045"],
    [from("https://login.example.com", "x"), "login.example.com, subject “x”"],
    [from("http://login.example.com/", "x"), "http://login.example.com, subject “x”"],
    [from("https://a@login.example.com/b?c#d", "x"), "login.example.com/b?c#d, subject “x”"],
    [
      actions("repo:acme/pay:pull_request", { claims: { actor: "bot" } }),
      "GitHub Actions of acme/pay, any pull request, if actor is bot",
    ],
  ])("%j is one holder", (match, words) => {
    expect(claims(match)).toEqual({ displayName: words, matchesMany: false });
  });

  test.each<[Props, string]>([
    [matching("^repo:acme/.*$"), "GitHub Actions, any subject that matches “^repo:acme/.*$”"],
    [{ issuerPattern: ".*", subject: "x" }, "any issuer that matches “.*”, subject “x”"],
    [matching("repo:acme/pay"), "GitHub Actions, any subject that matches “repo:acme/pay”"],
  ])("%j is open to several", (match, words) => {
    expect(claims(match)).toEqual({ displayName: words, matchesMany: true });
  });

  test("a pattern that one text alone matches is one holder", () => {
    expect(claims(matching("^repo:acme/pay\\.js:ref:refs/heads/main$")).matchesMany).toBe(false);
    expect(claims(matching("^repo:acme/pay\\w$")).matchesMany).toBe(true);
  });

  test.each<[Props, string, boolean]>([
    [
      { awsIdentity: { awsAccount: account, arn: `arn:aws:iam::${account}:role/ci`, userId: "A" } },
      "AWS account 123456789012, role ci",
      false,
    ],
    [
      { awsIdentity: { awsAccount: "123456789012", arnPattern: ".*", userIdPattern: ".*" } },
      "AWS account 123456789012, any principal that matches “.*”",
      true,
    ],
    // A user id that is written out leaves no other principal; one of a pattern leaves many for one ARN.
    ...(["userId", "userIdPattern"] as const).map((id): [Props, string, boolean] => [
      { awsIdentity: { awsAccount: account, arnPattern: "^x$", [id]: id === "userId" ? "A" : "^A:.*$" } },
      "AWS account 123456789012, any principal that matches “^x$”",
      id === "userIdPattern",
    ]),
    [
      { staticKeys: { issuer: "https://keys.example.com", subject: "ci", issuerKeys: "{}" } },
      "holder of the static keys of keys.example.com, subject ci",
      false,
    ],
    [{ servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" }, "the platform's service INGESTER", false],
    [{ name: "ann" }, "signed-in user “ann”", false],
  ])("%j", (inputs, words, open) => {
    expect(describeIdentity(entity("Identity", inputs))).toEqual({ displayName: words, matchesMany: open });
  });

  test.each<[string, Props, string]>([
    ["a host that begins so", from("https://gitlab.evil.example", gitlab), `gitlab.evil.example, ${said}`],
    [
      "a known host as the user of another one",
      from("https://gitlab.com@evil.example/x", "s"),
      "evil.example/x, subject “s”",
    ],
    ["letters of another alphabet", from("https://gіtlab.com", "s"), "xn--gtlab-n2e.com, subject “s”"],
    ["a known host with a path", from("https://gitlab.com/evil", gitlab), `gitlab.com/evil, ${said}`],
    [
      "a subject that closes its quotes",
      from("https://evil.example", "x” of GitHub Actions of acme/pay, branch main “"),
      'evil.example, subject “x" of GitHub Actions of acme/pay, branch main "”',
    ],
    [
      "a branch with words of ours",
      actions("repo:evil/x:ref:refs/heads/main, if actor is bot"),
      "GitHub Actions of evil/x, branch “main, if actor is bot”",
    ],
    [
      "a repository with words of ours",
      actions("repo:acme/pay, branch main (evil/x:ref:refs/heads/main"),
      "GitHub Actions, subject “repo:acme/pay, branch main (evil/x:ref:refs/heads/main”",
    ],
    [
      "a claim with words of ours",
      actions("repo:evil/x:pull_request", { claims: { "a is b, or of acme": "yes and no" } }),
      "GitHub Actions of evil/x, any pull request, if “a is b, or of acme” is “yes and no”",
    ],
    [
      "an organisation of another address of CircleCI",
      from(`https://oidc.circleci.com/org/${one}`, `org/${two}/project/${three}/user/x`),
      `oidc.circleci.com/org/${one}, subject “org/${two}/project/${three}/user/x”`,
    ],
  ])("%s cannot pass for another issuer", (_, match, words) => {
    expect(claims(match).displayName).toBe(words);
  });

  test("hides nothing of a pattern that is judged", () => {
    const subjectPattern = `^repo:acme/${"pay|".repeat(200)}x$|evil`;
    expect(claims({ issuer: github, subjectPattern }).displayName).toContain("|evil”");
  });

  test("shows no control character, and not all of a long text", () => {
    const { displayName: words } = claims({ issuer: github, subject: `\u001b[2J\u202e${"x".repeat(5000)}` });
    // eslint-disable-next-line no-control-regex
    expect(words).not.toMatch(/[\u0000-\u001f\u202e]/);
    expect(words.length).toBeLessThan(300);
  });
});

test.each<[Props, string, boolean]>([
  [{ email: "ann@example.com" }, "ann@example.com, by invite", false],
  [{}, "anyone with the invite's code", true],
  [{ singleUse: true }, "the first with the invite's code", true],
])("an invite of %j is for its e-mail address, or for anyone with its code", (inputs, displayName, open) => {
  expect(describeInvite(entity("GroupInvite", inputs))).toEqual({ displayName, matchesMany: open });
});
