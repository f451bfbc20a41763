import { SubjectJudge } from "../../../../provider/access/assertions/judgeAssertions";
import type { Share } from "../../../../provider/access/assertions/judgeAssertions";
import type { SubjectConditions } from "../../../../provider/access/assertions/assertion";
import type { Entity } from "../../../../provider/access/graph/model";
import { Languages } from "../../../../provider/access/trust/languages";
import { UNKNOWN } from "../../../../provider/fields/values";
import type { Props } from "../../../../provider/fields/values";
import {
  acme,
  binding,
  claims,
  compareResources,
  groups,
  identity,
  resource,
  viewer,
} from "../../../support/access";
import type { Resource } from "../../../support/access";

const GITHUB = "https://token.actions.githubusercontent.com";

/** Of those that can be a holder, how many the conditions describe. */
function shareOf(who: Resource, conditions: SubjectConditions, before: readonly Resource[] = [who]): Share {
  const grants = [binding(who, viewer, acme)];
  const comparison = compareResources([...groups, viewer, ...before], [...groups, viewer, who, ...grants]);
  const [grant] = comparison.after.grants.filter(({ role }) => role.name === "viewer");
  return new SubjectJudge(comparison.after, comparison.before, new Languages()).shareOf(
    grant!.subject,
    conditions,
  );
}

const GITLAB = "https://gitlab.com";
const AZURE = (tenant: string): string => `https://login.microsoftonline.com/${tenant}/v2.0`;
const BUILDKITE = "https://agent.buildkite.com";
const UUID = "72f988bf-86f1-41af-91ab-2d7cd011db47";
const trusting = (claimMatch: Props): Resource => identity("ci", claims({ issuer: GITHUB, ...claimMatch }));

/** A trust, the conditions, and what is proven: pairs that should be inside, and near misses. */
const pairs: readonly [trust: Props, conditions: SubjectConditions, share: Share][] = [
  [{ subject: "repo:acme/pay:ref:refs/heads/main" }, { subject: ["repo:acme/*"] }, "all"],
  [{ subject: "repo:acme/pay:ref:refs/heads/main" }, { subject: ["repo:evil/*", "repo:acme/*"] }, "all"],
  [{ subject: "repo:acme/pay" }, { subject: ["repo:acme/pa?"] }, "all"],
  // GitHub adds numbers to the names of newer repositories, and a template may put other claims first.
  [{ subject: "repo:acme@1/pay@2:ref:refs/heads/main" }, { subject: ["repo:acme/*"] }, "all"],
  [{ subjectPattern: "^repo:acme@1/pay@2:.*$" }, { subject: ["repo:acme/*"] }, "all"],
  [
    { subject: "ref:refs/heads/main:repo:acme/pay" },
    { subject: ["repo:acme/pay:ref:refs/heads/main"] },
    "some",
  ],
  // A branch or an environment may have the form of such a number.
  [{ subject: "repo:acme/pay:ref:refs/heads/a@2" }, { subject: ["repo:acme/pay:ref:refs/heads/a"] }, "none"],
  [
    { subject: "repo:acme/pay:ref:refs/heads/a@2/b" },
    { subject: ["repo:acme/pay:ref:refs/heads/a/b"] },
    "none",
  ],
  [
    { subjectPattern: "^repo:acme/pay:ref:refs/heads/a@2/b$" },
    { subject: ["repo:acme/pay:ref:refs/heads/a/b"] },
    "none",
  ],
  [{ subjectPattern: "^repo:acme@x/pay:.*$" }, { subject: ["repo:acme/*"] }, "none"],
  [{ subject: "ref:refs/heads/main:repo:acme/pay" }, { subject: ["repo:acme/*"] }, "some"],
  [{ subject: "ref:refs/heads/main:repo:other/pay" }, { subject: ["repo:acme/*"] }, "none"],
  [{ subject: "repo:acme-evil/pay" }, { subject: ["repo:acme/*"] }, "none"],
  [{ subject: "repo:ACME/pay" }, { subject: ["repo:acme/*"] }, "some"],
  [{ subjectPattern: "^repo:ACME/pay:.*$" }, { subject: ["repo:acme/*"] }, "some"],
  // What says which repository runs may stand in a claim, or nowhere.
  [{ subject: "environment:e", claims: { repository: "acme/pay" } }, { subject: ["repo:acme/*"] }, "some"],
  [
    { subject: "environment:e", claims: { repository: "ACME/pay" } },
    { subject: ["repo:acme/pay:*"] },
    "some",
  ],
  [
    { subject: "environment:e", claims: { repository: "acme/shop" } },
    { subject: ["repo:acme/pay:*"] },
    "none",
  ],
  [
    { subject: "environment:e", claimPatterns: { repository: "^acme/.*$" } },
    { subject: ["repo:acme/pay:*"] },
    "some",
  ],
  [
    {
      subject: "environment:e",
      claims: { workflow_ref: "acme/pay/.github/workflows/a.yml@refs/heads/main" },
    },
    { subject: ["repo:acme/pay:*"] },
    "some",
  ],
  [{ subject: "repository_id:55:environment:e" }, { subject: ["repo:acme/pay:*"] }, "some"],
  [{ subject: "repository_owner:acme:environment:e" }, { subject: ["repo:acme/pay:*"] }, "some"],
  [{ subject: "repository_owner:evil:environment:e" }, { subject: ["repo:acme/pay:*"] }, "none"],
  [
    { subjectPattern: "^environment:.*$", claims: { repository: "acme/pay" } },
    { subject: ["repo:acme/pay:*"] },
    "some",
  ],
  [{ subject: "pull_request" }, { subject: ["repo:acme/pay:*"] }, "some"],
  [{ subject: "repo:Contractor@1/pay@2:environment:prod" }, { subject: ["repo:contractor/*"] }, "some"],
  // What it says of the owner, and what it can never be.
  [{ subject: "repository_owner:acme:environment:p" }, { subject: ["system:serviceaccount:dev:*"] }, "none"],
  [{ subject: "repository_owner:acme:environment:p" }, { subject: ["repository_owner:evil:*"] }, "none"],
  [{ subject: "repository_id:123:environment:p" }, { subject: ["project_path:acme/*"] }, "none"],
  [
    { issuer: BUILDKITE, subject: UUID, claims: { organization_slug: "acme" } },
    { subject: ["repo:acme/pay:*"] },
    "none",
  ],
  [
    { issuer: BUILDKITE, subject: UUID, claims: { organization_slug: "acme" } },
    { subject: ["organization:evil:pipeline:*"] },
    "none",
  ],
  [
    { issuer: BUILDKITE, subject: UUID, claims: { organization_slug: "acme" } },
    { subject: ["organization:acme:pipeline:*"] },
    "some",
  ],
  // The rest of a pattern counts, whatever a claim says of the repository.
  [
    { subjectPattern: "^repo:acme/[^:]+:environment:dev$", claims: { repository: "acme/pay" } },
    { subject: ["repo:acme/pay:environment:prod"] },
    "none",
  ],
  [{ issuer: GITLAB, subject: "project_path:acme/pay" }, { subject: ["project_path:acme/pay:*"] }, "some"],
  [{ issuer: GITLAB, subject: "project_path:acme/pay2" }, { subject: ["project_path:acme/pay:*"] }, "none"],
  [
    { issuer: GITLAB, subjectPattern: "^project_path:acme/Pay$" },
    { subject: ["project_path:acme/pay:ref:y"] },
    "some",
  ],
  [
    { issuer: GITLAB, subjectPattern: "^project_path:acme/pay2$" },
    { subject: ["project_path:acme/pay:*"] },
    "none",
  ],
  [{ subject: "repo:acme@1/pay@2" }, { subject: ["repo:acme/pay:*"] }, "some"],
  [{ subjectPattern: "^repo:acme@1/pay@2$" }, { subject: ["repo:acme/pay:*"] }, "some"],
  [{ subject: "repo:acme/pay2" }, { subject: ["repo:acme/pay:*"] }, "none"],
  ...(["subject", "subjectPattern"] as const).flatMap((name) =>
    (
      [
        ["repo:acme/pay:environment:dev", "repo:acme/*:environment:prod", "none"],
        ["project_path:acme/pay:ref:dev", "project_path:acme/*:ref:prod", "none"],
        ["repo:acme/pay", "repo:acme/*:environment:prod", "some"],
        ["project_path:ACME/pay", "project_path:acme/*:ref:prod", "some"],
      ] as const
    ).map(([subject, glob, share]): [Props, SubjectConditions, Share] => [
      {
        ...(subject.startsWith("project") ? { issuer: GITLAB } : {}),
        [name]: name === "subject" ? subject : `^${subject}$`,
      },
      { subject: [glob] },
      share,
    ]),
  ),
  [{ subjectPattern: "^repo:acme/pay:environment:[a-z]+$" }, { subject: ["*:ref:main"] }, "none"],
  [
    { issuer: GITLAB, subject: "project_path:acme/Pay:ref:x" },
    { subject: ["project_path:acme/pay:*"] },
    "some",
  ],
  [
    { issuer: GITLAB, subject: "project_path:acme/pay:ref:x" },
    { subject: ["project_path:acme/pay:ref:y"] },
    "none",
  ],
  [{ subject: "repo:acme/pay\u200b" }, { subject: ["repo:acme/*"] }, "none"],
  [{ subject: "repo:acme/a*" }, { subject: ["repo:acme/a\\*"] }, "all"],
  [{ subject: "repo:acme/ab" }, { subject: ["repo:acme/a\\*"] }, "none"],
  [{ subjectPattern: "^repo:acme/.*$" }, { subject: ["repo:acme/*"] }, "all"],
  [
    { subjectPattern: "^repo:acme/(?:pay|bill):.*$" },
    { subject: ["repo:acme/pay:*", "repo:acme/bill:*"] },
    "all",
  ],
  [{ subjectPattern: "^repo:acme/(?:pay|bill):.*$" }, { subject: ["repo:acme/pay:*"] }, "some"],
  [{ subjectPattern: "^repo:acme.*$" }, { subject: ["repo:acme/*"] }, "some"],
  [{ subjectPattern: "^repo:acme/.*" }, { subject: ["repo:acme/*"] }, "all"],
  [{ subjectPattern: "repo:acme/.*$" }, { subject: ["repo:acme/*"] }, "some"],
  [{ subjectPattern: "^repo:acme/pay|repo:evil/x$" }, { subject: ["repo:acme/*"] }, "some"],
  [{ subjectPattern: "(?i)^repo:acme/.*$" }, { subject: ["repo:acme/*"] }, "some"],
  [
    { subjectPattern: "^repo:acme/[^:]+:environment:.*$" },
    { subject: ["repo:acme/*:environment:prod"] },
    "some",
  ],
  [{ subjectPattern: "" }, { subject: ["repo:acme/*"] }, "some"],
  [{ subjectPattern: "^a(b$" }, { subject: ["repo:acme/*"] }, "some"],
  [{ subjectPattern: "^[ab]*a[ab]{900}$" }, { subject: ["*a???b"] }, "some"],
  [{ subjectPattern: "^[a-z:/]+$" }, { subject: ["*a*"] }, "some"],
  [{ subjectPattern: "^spiffe://acme.example/ci$" }, { subject: ["*ci"] }, "some"],
  [{ subject: UNKNOWN }, { subject: ["repo:acme/*"] }, "some"],
  [{ subject: "x" }, { issuer: [GITHUB] }, "all"],
  [{ subject: "x" }, { issuer: ["https://*.githubusercontent.com"] }, "all"],
  [{ subject: "x" }, { issuer: ["http://token.actions.githubusercontent.com"] }, "none"],
  [{ subject: "x" }, { issuer: ["https://*.com"] }, "all"],
  [
    { subject: "x", issuer: "https://token.actions.githubusercontent.com.evil.example" },
    { issuer: ["https://*.githubusercontent.com"] },
    "none",
  ],
  [{ subject: "x", issuer: UNKNOWN }, { issuer: [GITHUB] }, "some"],
  // A tenant of Azure has an issuer for each version of its tokens.
  [{ subject: "x", issuer: `https://sts.windows.net/${UUID}/` }, { issuer: [AZURE(UUID)] }, "some"],
  [{ subject: "x", issuer: `https://sts.windows.net/${UUID}/` }, { issuer: [AZURE("*")] }, "some"],
  [{ subject: "x", issuer: AZURE(UUID) }, { issuer: [`https://sts.windows.net/${UUID}/`] }, "some"],
  [
    { subject: "x", issuer: undefined, issuerPattern: `^https://sts\\.windows\\.net/${UUID}/$` },
    { issuer: [AZURE(UUID)] },
    "some",
  ],
  [{ subject: "x", issuer: AZURE(UUID) }, { issuer: [AZURE(UUID)] }, "all"],
  [
    { subject: "x", issuer: `https://sts.windows.net/${UUID}/` },
    { issuer: [AZURE(`f${UUID.slice(1)}`)] },
    "none",
  ],
  [{ subject: "x", issuer: `${GITHUB}/` }, { issuer: [GITHUB] }, "some"],
  [{ subject: "x", issuer: `${GITHUB}.evil` }, { issuer: [GITHUB] }, "none"],
  [
    { subject: "x", issuer: undefined, issuerPattern: "^https://[a-z]+\\.acme\\.example$" },
    { issuer: ["https://*.acme.example"] },
    "all",
  ],
  [
    { subject: "x", issuer: undefined, issuerPattern: "^https://.*acme.example$" },
    { issuer: ["https://*.acme.example"] },
    "some",
  ],
  [
    { subject: "x", issuer: undefined, issuerPattern: "^http://.*$" },
    { issuer: ["https://*.acme.example"] },
    "none",
  ],
  [{ subject: "repo:acme/pay" }, { issuer: ["https://gitlab.com"], subject: ["repo:acme/*"] }, "none"],
  [{ subjectPattern: "^repo:acme.*$" }, { issuer: [GITHUB], subject: ["repo:acme/*"] }, "some"],
  [{ subject: "x", audience: "acme" }, { audience: ["acme"] }, "all"],
  [{ subject: "x", audiencePattern: "^acme-.*$" }, { audience: ["acme-*"] }, "all"],
  [{ subject: "x", audiencePattern: "^acme.*$" }, { audience: ["acme-*"] }, "some"],
  [{ subject: "x" }, { audience: ["acme"] }, "some"],
  [{ subject: "x", claims: { repository_owner: "acme" } }, { claims: { repository_owner: ["acme"] } }, "all"],
  [
    { subject: "x", claimPatterns: { repository: "^acme/.*$" } },
    { claims: { repository: ["acme/*"] } },
    "all",
  ],
  [
    { subject: "x", claimPatterns: { repository: "^acme.*$" } },
    { claims: { repository: ["acme/*"] } },
    "some",
  ],
  [
    { subject: "x", claimPatterns: { repository: "^evil/.*$" } },
    { claims: { repository: ["acme/*"] } },
    "none",
  ],
  [{ subject: "x" }, { claims: { repository_owner: ["acme"] } }, "some"],
  // Capitals tell no owners apart, and a subject says what a claim says.
  [{ subject: "x", claims: { repository: "ACME/pay" } }, { claims: { repository: ["acme/pay"] } }, "some"],
  [
    { subject: "x", claimPatterns: { repository: "^ACME/pay$" } },
    { claims: { repository: ["acme/*"] } },
    "some",
  ],
  [
    { subject: "x", claims: { repository_owner: "acme" } },
    { claims: { repository_owner: ["ACME"] } },
    "some",
  ],
  [
    { subject: "repo:ACME/pay:environment:p", claims: { repository: "ACME/pay" } },
    { claims: { repository: ["acme/pay"] } },
    "some",
  ],
  [{ subject: "x", claims: { environment: "Prod" } }, { claims: { environment: ["prod"] } }, "none"],
  [{ subject: "x", claims: { repository: "acme/shop" } }, { claims: { repository_owner: ["acme"] } }, "all"],
  ...(["subject", "subjectPattern"] as const).flatMap((name) =>
    (
      [
        ["repo:acme/web:ref:refs/heads/main", { repository_owner: ["acme"] }, "all"],
        ["repo:acme@1/web@2:ref:refs/heads/main", { repository_owner: ["ac*"] }, "all"],
        ["repo:acme@1/web@2:ref:refs/heads/main", { repository: ["acme/w?b"] }, "all"],
        ["repo:acme/web", { repository: ["acme/web"] }, "all"],
        ["repo:acme/web:ref:refs/heads/main", { repository: ["acme/pay"] }, "none"],
        ["repo:acme/web:ref:refs/heads/acme/pay", { repository: ["*/pay"] }, "none"],
        ["repo:ACME/web:ref:refs/heads/main", { repository_owner: ["acme"] }, "some"],
        ["repo:acme-evil/web:ref:refs/heads/main", { repository_owner: ["acme"] }, "none"],
        ["repo:acme/web:ref:refs/heads/main", { repository_id: ["1"] }, "some"],
        ["repository_owner:acme:environment:p", { repository_owner: ["acme"] }, "all"],
        ["environment:p", { repository_owner: ["acme"] }, "some"],
      ] as const
    ).map(([subject, asked, share]): [Props, SubjectConditions, Share] => [
      { [name]: name === "subject" ? subject : `^${subject}$` },
      { claims: asked },
      share,
    ]),
  ),
  [{ subjectPattern: "^repo:acme/.*$" }, { claims: { repository_owner: ["acme"] } }, "all"],
  [{ subjectPattern: "^repo:acme/.*$" }, { claims: { repository: ["acme/pay"] } }, "some"],
  [{ subjectPattern: "^repo:globex/.*$" }, { claims: { repository: ["acme/pay"] } }, "none"],
  [{ subjectPattern: "^repo:acme.*$" }, { claims: { repository_owner: ["acme"] } }, "some"],
  [{ subjectPattern: "repo:acme/.*$" }, { claims: { repository_owner: ["acme"] } }, "some"],
  ...(["subject", "subjectPattern"] as const).flatMap((name) =>
    (
      [
        ["project_path:acme/ci/infra:ref:main", { project_path: ["acme/ci/infra"] }, "all"],
        ["project_path:acme/ci/infra:ref:main", { namespace_path: ["acme/ci"] }, "all"],
        ["project_path:acme/infra", { project_path: ["acme/*"] }, "all"],
        ["project_path:ACME/infra:ref:main", { project_path: ["acme/infra"] }, "some"],
        ["project_path:acme/web:ref:main", { project_path: ["acme/infra"] }, "none"],
        ["project_path:acme/ci/infra:ref:main", { namespace_path: ["acme"] }, "none"],
      ] as const
    ).map(([subject, asked, share]): [Props, SubjectConditions, Share] => [
      { issuer: GITLAB, [name]: name === "subject" ? subject : `^${subject}$` },
      { claims: asked },
      share,
    ]),
  ),
  // Of an issuer that nobody knows, a subject says nothing of the claims.
  ...[{ issuer: "https://ci.evil.example" }, { issuer: undefined, issuerPattern: "^https://.*$" }].flatMap(
    (issuer) =>
      ([{ subject: "repo:acme/web:x" }, { subjectPattern: "^repo:acme/.*$" }] as const).map(
        (subject): [Props, SubjectConditions, Share] => [
          { ...issuer, ...subject },
          { claims: { repository_owner: ["acme"] } },
          "some",
        ],
      ),
  ),
  [{ subject: "x", claims: { actor: "acme" } }, { claims: { repository_owner: ["acme"] } }, "some"],
  [{ subject: "x", claims: { ref: UNKNOWN } }, { claims: { ref: ["main"] } }, "some"],
  [{ subject: "x" }, { matchesMany: false }, "all"],
  [{ subjectPattern: "^x.*$" }, { matchesMany: false }, "none"],
  [{ subjectPattern: "^x.*$" }, { matchesMany: true }, "all"],
  [{ subject: "x" }, { type: ["identity"] }, "all"],
  [{ subject: "x" }, { type: ["invite", "externalGroup"] }, "none"],
  [{ subject: "x" }, {}, "all"],
];

describe("what is proven of a trust and a selector", () => {
  test.each(pairs)("%j in %j: %s", (trust, conditions, share) => {
    expect(shareOf(trusting(trust), conditions)).toBe(share);
  });

  test("`not` describes the others", () => {
    const inverse = { all: "none", some: "some", none: "all" } as const;
    for (const [trust, conditions, share] of pairs) {
      const who = trusting(trust);
      const grants = [binding(who, viewer, acme)];
      const { before, after } = compareResources(
        [...groups, viewer, who],
        [...groups, viewer, who, ...grants],
      );
      const subject = after.grants.find(({ role }) => role.name === "viewer")!.subject;
      const judge = new SubjectJudge(after, before, new Languages());
      expect([trust, judge.shareOf(subject, { not: [conditions] })]).toEqual([trust, inverse[share]]);
    }
  });
});

const ACCOUNT = "123456789012";
const AWS_SESSION = `arn:aws:sts::${ACCOUNT}:assumed-role/x/ci`;

test.each<[trust: Props, subject: string, share: Share]>([
  [{ arn: AWS_SESSION }, AWS_SESSION, "all"],
  [{ arn: AWS_SESSION }, `arn:aws:iam::${ACCOUNT}:role/x`, "some"],
  [{ arn: AWS_SESSION }, `arn:aws:iam::${ACCOUNT}:role/path/x`, "some"],
  [{ arn: AWS_SESSION }, "arn:aws:iam::*:role/*", "some"],
  [{ arnPattern: `^arn:aws:sts::${ACCOUNT}:assumed-role/x/.*$` }, `arn:aws:iam::${ACCOUNT}:role/x`, "some"],
  [{ arn: AWS_SESSION }, `arn:aws:iam::${ACCOUNT}:role/y`, "none"],
  [{ arnPattern: `^arn:aws:sts::${ACCOUNT}:assumed-role/x/.*$` }, `arn:aws:iam::${ACCOUNT}:role/y`, "none"],
  [{ arnPattern: `^arn:aws:sts::${ACCOUNT}:assumed-role/x/.*$` }, `arn:aws:iam::${ACCOUNT}:user/x`, "none"],
  [{ arn: `arn:aws:iam::${ACCOUNT}:role/path/x` }, AWS_SESSION, "some"],
  [{ arn: `arn:aws:iam::${ACCOUNT}:role/x` }, AWS_SESSION, "some"],
  [{ arn: `arn:aws:iam::${ACCOUNT}:role/x` }, `arn:aws:sts::${ACCOUNT}:assumed-role/x/*`, "some"],
  [{ arn: `arn:aws:iam::${ACCOUNT}:role/y` }, AWS_SESSION, "none"],
])("a role of AWS by its path and by its sessions: %j in %s: %s", (trust, subject, share) => {
  const role = identity("ci", { awsIdentity: { awsAccount: ACCOUNT, userIdPattern: "^AROA:.*$", ...trust } });
  expect(shareOf(role, { subject: [subject] })).toBe(share);
});

test("a service of the platform has no other name", () => {
  const service = identity("ci", { servicePrincipal: "INGESTER" });
  expect(shareOf(service, { subject: ["COSIGNED"] })).toBe("none");
  expect(shareOf(service, { subject: ["INGESTER"] })).toBe("all");
});

describe("what a program writes beside something else than a token of that issuer", () => {
  const subject = "repo:acme/pay";
  const keys = identity("ci", {
    staticKeys: {
      issuer: GITHUB,
      subject,
      issuerKeys: '{"keys":[]}',
      expirationTime: "2030-01-01T00:00:00Z",
    },
  });

  test.each<SubjectConditions>([{ issuer: [GITHUB] }, { subject: [subject] }, { issuer: ["*"] }])(
    "static keys are of no issuer and subject: %j",
    (conditions) => {
      expect(shareOf(keys, conditions)).not.toBe("all");
    },
  );

  test("a secret trust is in nothing", () => {
    const { after } = compareResources([...groups], [...groups, trusting({ subject })]);
    const known = [...after.entities.values()].find(({ kind }) => kind === "Identity")!;
    const value = {
      path: "claimMatch.subject",
      property: "claimMatch",
      reason: "secret",
      decidesAccess: true,
    };
    const secret = { ...known, unread: [value] } as Entity;
    const graph = { entities: new Map([[secret.key, secret]]), grants: [] };
    const judge = new SubjectJudge(graph, graph, new Languages());
    const holder = { key: secret.key, type: "identity", displayName: "", matchesMany: false } as const;
    expect(judge.shareOf(holder, { subject: ["repo:acme/*"] })).toBe("some");
    expect(judge.shareOf(holder, { not: [{ subject: ["repo:acme/*"] }] })).toBe("some");
  });
});

describe("who has no trust of their own", () => {
  const invite = resource("GroupInvite", "hello", {
    parentUid: acme,
    role: viewer.uid,
    email: "a@acme.example",
  });

  test("an identity of a person is of no issuer", () => {
    const person = identity("ada", {});
    expect(shareOf(person, { issuer: [GITHUB] })).toBe("none");
    expect(shareOf(person, { type: ["identity"] })).toBe("all");
  });

  test("an invite is never excluded by a name", () => {
    const { before, after } = compareResources([...groups, viewer], [...groups, viewer, invite]);
    const judge = new SubjectJudge(after, before, new Languages());
    const [grant] = after.grants.filter(({ subject }) => subject.type === "invite");
    expect(judge.shareOf(grant!.subject, { name: ["hello"] })).not.toBe("all");
    expect(judge.shareOf(grant!.subject, { type: ["invite"] })).toBe("all");
  });
});

describe("a name", () => {
  const who = trusting({ subject: "x" });

  test("is that of an object that had it before", () => {
    expect(shareOf(who, { name: ["ci"] })).toBe("all");
    expect(shareOf(who, { name: ["other"] })).toBe("none");
  });

  test("that the change gives proves nothing", () => {
    expect(shareOf(who, { name: ["ci"] }, [])).toBe("some");
    const renamed = { ...who, inputs: { ...who.inputs, name: "break-glass" } };
    expect(shareOf(renamed, { name: ["break-glass"] }, [who])).toBe("some");
    expect(shareOf(renamed, { name: ["ci"] }, [who])).toBe("some");
  });

  test("is no uid", () => {
    expect(shareOf(who, { uid: [who.uid] })).toBe("all");
    expect(shareOf({ ...who, inputs: { ...who.inputs, name: who.uid } }, { uid: ["ci"] })).toBe("none");
  });
});
