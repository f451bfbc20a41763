import type { Entity } from "../../../provider/access/model";
import { describeIdentity, describeInvite, describeProvider } from "../../../provider/access/subjects";
import type { Props } from "../../../provider/engine/spec";

const entity = (kind: string, inputs: Props, unresolved: string[] = []): Entity => ({
  key: "k",
  kind,
  name: typeof inputs["name"] === "string" ? inputs["name"] : undefined,
  inputs,
  unresolved,
  hidden: [],
});
const claims = (claimMatch: Props) => describeIdentity(entity("Identity", { name: "i", claimMatch }));
const github = "https://token.actions.githubusercontent.com";

describe("the holder of an identity in words", () => {
  test.each<[Props, string]>([
    [
      { issuer: github, subject: "repo:acme/pay:ref:refs/heads/main" },
      "GitHub Actions of acme/pay, branch main",
    ],
    [{ issuer: github, subject: "repo:acme/pay:ref:refs/tags/v1" }, "GitHub Actions of acme/pay, tag v1"],
    [
      { issuer: github, subject: "repo:acme/pay:environment:prod" },
      "GitHub Actions of acme/pay, environment prod",
    ],
    [
      { issuer: github, subject: "repo:acme/pay:pull_request" },
      "GitHub Actions of acme/pay, any pull request",
    ],
    [{ issuer: `${github}/acme`, subject: "odd" }, "odd of GitHub Actions"],
    [
      { issuer: "https://gitlab.com", subject: "project_path:acme/pay:ref_type:branch:ref:main" },
      "GitLab CI of acme/pay, branch main",
    ],
    [
      {
        issuer: "https://agent.buildkite.com",
        subject: "organization:acme:pipeline:pay:ref:refs/heads/main:commit:0:step:1",
      },
      "Buildkite of acme/pay, branch main",
    ],
    [
      { issuer: "https://k8s.example.com", subject: "system:serviceaccount:prod:api" },
      "Kubernetes service account prod/api of k8s.example.com",
    ],
    [{ issuer: "https://accounts.google.com", subject: "1045" }, "Google account 1045"],
    [{ issuer: "https://login.example.com", subject: "x" }, "x of login.example.com"],
    [
      { issuer: github, subject: "repo:acme/pay:pull_request", claims: { actor: "bot" } },
      "GitHub Actions of acme/pay, any pull request, if actor is bot",
    ],
  ])("%j is one holder", (match, words) => {
    expect(claims(match)).toEqual({ words, open: false });
  });

  test.each<[Props, string]>([
    [
      { issuer: github, subjectPattern: "^repo:acme/.*$" },
      "GitHub Actions, any subject that matches “^repo:acme/.*$”",
    ],
    [{ issuerPattern: ".*", subject: "x" }, "x of any issuer that matches “.*”"],
    [
      { issuer: github, subjectPattern: "repo:acme/pay" },
      "GitHub Actions, any subject that matches “repo:acme/pay”",
    ],
  ])("%j is open to several", (match, words) => {
    expect(claims(match)).toEqual({ words, open: true });
  });

  test("a pattern that one text alone matches is one holder", () => {
    expect(claims({ issuer: github, subjectPattern: "^repo:acme/pay\\.js:ref:refs/heads/main$" }).open).toBe(
      false,
    );
    expect(claims({ issuer: github, subjectPattern: "^repo:acme/pay\\w$" }).open).toBe(true);
  });

  test.each<[Props, string, boolean]>([
    [
      { awsIdentity: { awsAccount: "123456789012", arn: "arn:aws:iam::123456789012:role/ci", userId: "A" } },
      "AWS role ci of account 123456789012",
      false,
    ],
    [
      { awsIdentity: { awsAccount: "123456789012", arnPattern: ".*", userIdPattern: ".*" } },
      "AWS account 123456789012, any principal that matches “.*”",
      true,
    ],
    [
      { staticKeys: { issuer: "https://keys.example.com", subject: "ci", issuerKeys: "{}" } },
      "holder of the static keys of keys.example.com, subject ci",
      false,
    ],
    [{ servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" }, "the platform's service INGESTER", false],
    [{ name: "ann" }, "signed-in user “ann”", false],
  ])("%j", (inputs, words, open) => {
    expect(describeIdentity(entity("Identity", inputs))).toEqual({ words, open });
  });

  test("is not told where its trust is not known yet", () => {
    const unknown = entity("Identity", { name: "i", claimMatch: {} }, ["claimMatch.subject"]);
    expect(describeIdentity(unknown)).toEqual({
      words: "identity “i”, whose trust is not known yet",
      open: true,
    });
  });

  test("shows no control character, and not all of a long text", () => {
    const { words } = claims({ issuer: github, subject: `\u001b[2J\u202e${"x".repeat(5000)}` });
    // eslint-disable-next-line no-control-regex
    expect(words).not.toMatch(/[\u0000-\u001f\u202e]/);
    expect(words.length).toBeLessThan(300);
  });
});

test("an invite is for its e-mail address, or for anyone with its code", () => {
  const invite = (inputs: Props) => describeInvite(entity("GroupInvite", inputs));
  expect(invite({ email: "ann@example.com" })).toEqual({ words: "ann@example.com, by invite", open: false });
  expect(invite({})).toEqual({ words: "anyone with the invite's code", open: true });
  expect(invite({ singleUse: true })).toEqual({ words: "the first with the invite's code", open: true });
});

test("an identity provider lets in whoever signs in by it", () => {
  const provider = entity("IdentityProvider", {
    name: "staff",
    oidc: { issuer: "https://login.example.com" },
  });
  expect(describeProvider(provider).words).toBe("anyone who signs in by “staff” (login.example.com)");
});
