import { SubjectJudge } from "../../../../provider/access/assertions/selectSubjects";
import { graphOf } from "../../../../provider/access/graph/resolveGrants";
import type { Share } from "../../../../provider/access/assertions/selectSubjects";
import type { SubjectConditions, SubjectSelector } from "../../../../provider/access/assertions/assertion";
import type { Entity } from "../../../../provider/access/graph/model";
import { PatternComparer } from "../../../../provider/access/trust/patternComparer";
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
  edit,
  GITHUB,
} from "../../../support/access";
import type { Resource } from "../../../support/access";

/** Of those that can be a holder, how many the conditions describe. */
function shareOf(who: Resource, conditions: SubjectSelector, before: readonly Resource[] = [who]): Share {
  const grants = [binding(who, viewer, acme)];
  const comparison = compareResources([...groups, viewer, ...before], [...groups, viewer, who, ...grants]);
  const [grant] = comparison.after.grants.filter(({ role }) => role.name === "viewer");
  return new SubjectJudge(comparison.after, comparison.before, new PatternComparer()).shareOf(
    grant!.subject,
    conditions,
  );
}

const GITLAB = "https://gitlab.com";
const BUILDKITE = "https://agent.buildkite.com";
const UUID = "72f988bf-86f1-41af-91ab-2d7cd011db47";
const AZURE = (tenant: string): string => `https://login.microsoftonline.com/${tenant}/v2.0`;
const AZURE_V1 = `https://sts.windows.net/${UUID}/`;
const trusting = (claimMatch: Props): Resource => identity("ci", claims({ issuer: GITHUB, ...claimMatch }));

/** The trust in a subject, by the issuer whose form it has. A text with an anchor is a pattern. */
const subjectOf = (text: string): Props => ({
  ...(text.includes("project_path:") ? { issuer: GITLAB } : {}),
  [/[$^]/.test(text) ? "subjectPattern" : "subject"]: text,
});
const bothForms = (subject: string): Props[] => [subjectOf(subject), subjectOf(`^${subject}$`)];
const issuerOf = (text: string): Props =>
  text.startsWith("^") ? { issuer: undefined, issuerPattern: text } : { issuer: text };

/** A subject, a glob of subjects, and what is proven: pairs that should be inside, and near misses. */
const subjects: readonly [subject: string, glob: string, share: Share][] = [
  ["repo:acme/pay:ref:refs/heads/main", "repo:acme/*", "all"],
  // GitHub adds numbers to the names of newer repositories, and a template may put other claims first.
  ["repo:acme@1/pay@2:ref:refs/heads/main", "repo:acme/*", "all"],
  ["^repo:acme@1/pay@2:.*$", "repo:acme/*", "all"],
  ["ref:refs/heads/main:repo:acme/pay", "repo:acme/pay:ref:refs/heads/main", "some"],
  // A branch or an environment may have the form of such a number.
  ["repo:acme/pay:ref:refs/heads/a@2", "repo:acme/pay:ref:refs/heads/a", "none"],
  ["repo:acme/pay:ref:refs/heads/a@2/b", "repo:acme/pay:ref:refs/heads/a/b", "none"],
  ["^repo:acme/pay:ref:refs/heads/a@2/b$", "repo:acme/pay:ref:refs/heads/a/b", "none"],
  ["^repo:acme@x/pay:.*$", "repo:acme/*", "none"],
  ["ref:refs/heads/main:repo:other/pay", "repo:acme/*", "some"],
  ["repo:acme-evil/pay", "repo:acme/*", "none"],
  ["repo:ACME/pay", "repo:acme/*", "some"],
  ["^repo:ACME/pay:.*$", "repo:acme/*", "some"],
  ["repo:Contractor@1/pay@2:environment:prod", "repo:contractor/*", "some"],
  ["^(?-i:repo:ACME/pay:.*)$", "repo:acme/*", "some"],
  ["^bob\\+x@acme\\.example$", "bob@acme.example", "some"],
  // The form of a subject that is customised.
  ["repository:acme/pay:environment:prod", "repo:acme/pay:*", "all"],
  ["repository:acme@1/pay@2:environment:prod", "repo:acme/pay:*", "all"],
  ["repo:acme/pay:environment:prod", "repository:acme/pay:*", "all"],
  ["^repository:acme/pay:.*$", "repo:acme/pay:*", "all"],
  ["^repo:acme/pay:.*$", "repository:acme/pay:*", "all"],
  ["^repository:ACME/pay:.*$", "repo:acme/*", "some"],
  ["repository:evil/pay:environment:prod", "repo:acme/pay:*", "none"],
  ["repo:acme/pay\u200b", "repo:acme/*", "some"],
  // What says which repository runs may stand in a claim, or nowhere.
  ["repository_owner:acme:environment:e", "repo:acme/pay:*", "some"],
  ["pull_request", "repo:acme/pay:*", "some"],
  // What it says of the owner, and what it can never be.
  ["repository_owner:acme:environment:p", "system:serviceaccount:dev:*", "none"],
  ["repository_owner:acme:environment:p", "repository_owner:evil:*", "none"],
  ["project_path:acme/pay", "project_path:acme/pay:*", "some"],
  ["project_path:acme/pay2", "project_path:acme/pay:*", "none"],
  ["^project_path:acme/Pay$", "project_path:acme/pay:ref:y", "some"],
  ["^project_path:acme/pay2$", "project_path:acme/pay:*", "none"],
  ["project_path:acme/Pay:ref:x", "project_path:acme/pay:*", "some"],
  ["project_path:acme/pay:ref:x", "project_path:acme/pay:ref:y", "none"],
  ["repo:acme@1/pay@2", "repo:acme/pay:*", "some"],
  ["^repo:acme@1/pay@2$", "repo:acme/pay:*", "some"],
  ["^repo:acme/pay:environment:[a-z]+$", "*:ref:main", "none"],
  ["^repo:acme/.*$", "repo:acme/*", "all"],
  ["^repo:acme.*$", "repo:acme/*", "some"],
  ["^a(b$", "repo:acme/*", "some"],
  ["^[ab]*a[ab]{900}$", "*a???b", "some"],
  ["^[a-z:/]+$", "*a*", "some"],
  ["^spiffe://acme.example/ci$", "*ci", "some"],
];

/** Subjects that say the same as a text and as a pattern. */
const bothWays: readonly [subject: string, glob: string, share: Share][] = [
  ["repo:acme/pay:environment:dev", "repo:acme/*:environment:prod", "none"],
  ["project_path:acme/pay:ref:dev", "project_path:acme/*:ref:prod", "none"],
  ["repo:acme/pay", "repo:acme/*:environment:prod", "some"],
  ["project_path:ACME/pay", "project_path:acme/*:ref:prod", "some"],
];

/** An issuer and a glob of issuers. */
const issuers: readonly [issuer: string, glob: string, share: Share][] = [
  [GITHUB, GITHUB, "all"],
  [GITHUB, "https://*.githubusercontent.com", "all"],
  [`${GITHUB}.evil.example`, "https://*.githubusercontent.com", "none"],
  [UNKNOWN, GITHUB, "some"],
  [`${GITHUB}/`, GITHUB, "some"],
  // A tenant of Azure has an issuer for each version of its tokens.
  [AZURE_V1, AZURE(UUID), "some"],
  // Runs of one repository get tokens from the address of all, or of their enterprise.
  [`${GITHUB}/acme`, GITHUB, "some"],
  [GITHUB, `${GITHUB}/acme`, "some"],
  [`^https://token\\.actions\\.githubusercontent\\.com/acme$`, GITHUB, "some"],
  ["https://oidc.vercel.com/acme", "https://oidc.vercel.com", "some"],
  [AZURE(UUID), AZURE_V1, "some"],
  [`^https://sts\\.windows\\.net/${UUID}/$`, AZURE(UUID), "some"],
  [AZURE_V1, AZURE(`f${UUID.slice(1)}`), "none"],
  ["^https://[a-z]+\\.acme\\.example$", "https://*.acme.example", "all"],
  ["^https://.*acme.example$", "https://*.acme.example", "some"],
  ["^http://.*$", "https://*.acme.example", "some"],
];

type Claims = NonNullable<SubjectConditions["claims"]>;

/** A claim that is pinned, and a claim that is asked for. Capitals tell no owners apart. */
const pinnedClaims: readonly [pinned: Props, asked: Claims, share: Share][] = [
  [{ claims: { repository_owner: "acme" } }, { repository_owner: ["acme"] }, "all"],
  [{ claimPatterns: { repository: "^acme/.*$" } }, { repository: ["acme/*"] }, "all"],
  [{ claimPatterns: { repository: "^acme.*$" } }, { repository: ["acme/*"] }, "some"],
  [{ claimPatterns: { repository: "^evil/.*$" } }, { repository: ["acme/*"] }, "none"],
  [{}, { repository_owner: ["acme"] }, "some"],
  [{ claims: { repository: "ACME/pay" } }, { repository: ["acme/pay"] }, "some"],
  [{ claimPatterns: { repository: "^ACME/pay$" } }, { repository: ["acme/*"] }, "some"],
  [{ claims: { repository_owner: "acme" } }, { repository_owner: ["ACME"] }, "some"],
  // A pattern can say that its capitals count.
  [{ claimPatterns: { repository: "^(?-i:ACME/pay)$" } }, { repository: ["acme/pay"] }, "some"],
  [{ claimPatterns: { repository_owner: "(?-i)^Acme$" } }, { repository_owner: ["acme"] }, "some"],
  [{ claimPatterns: { repository: "^(?-i:Evil/pay)$" } }, { repository: ["acme/pay"] }, "none"],
  [{ claimPatterns: { email: "^Bob@(?-i:Acme)\\.example$" } }, { email: ["bob@acme.example"] }, "some"],
  // Spellings of one mailbox.
  [{ claims: { email: "bob+x@acme.example" } }, { email: ["bob@acme.example"] }, "some"],
  [{ claimPatterns: { email: "^bob\\+x@acme\\.example$" } }, { email: ["bob@acme.example"] }, "some"],
  [{ claimPatterns: { upn: "^B\\.ob\\+[xy]@acme\\.example$" } }, { upn: ["bob+z@acme.example"] }, "some"],
  [{ claimPatterns: { email: "^bo@bücher\\.example$" } }, { email: ["bo@xn--bcher-kva.example"] }, "some"],
  [{ claimPatterns: { email: "^bobby\\+x@acme\\.example$" } }, { email: ["bob@acme.example"] }, "none"],
  [{ claims: { environment: "Prod" } }, { environment: ["prod"] }, "none"],
  [{ claims: { repository: "acme/shop" } }, { repository_owner: ["acme"] }, "all"],
  [{ claims: { actor: "acme" } }, { repository_owner: ["acme"] }, "some"],
  [{ claims: { ref: UNKNOWN } }, { ref: ["main"] }, "some"],
  [{ claims: { ref: "main", environment: "prod" } }, { ref: ["main"] }, "all"],
  [{ claimPatterns: { ref: "^main-[a-z]+$" } }, { ref: ["main-*"] }, "all"],
];

/** A subject, as a text and as a pattern, that says what a claim says. */
const saidClaims: readonly [subject: string, asked: Claims, share: Share][] = [
  ["repo:acme/web:ref:refs/heads/main", { repository_owner: ["acme"] }, "all"],
  ["repo:acme@1/web@2:ref:refs/heads/main", { repository: ["acme/w?b"] }, "all"],
  ["repo:acme/web:ref:refs/heads/acme/pay", { repository: ["*/pay"] }, "none"],
  ["repo:ACME/web:ref:refs/heads/main", { repository_owner: ["acme"] }, "some"],
  ["repo:acme-evil/web:ref:refs/heads/main", { repository_owner: ["acme"] }, "none"],
  ["repo:acme/web:ref:refs/heads/main", { repository_id: ["1"] }, "some"],
  ["repository_owner:acme:environment:p", { repository_owner: ["acme"] }, "all"],
  ["environment:p", { repository_owner: ["acme"] }, "some"],
  ["project_path:acme/ci/infra:ref:main", { project_path: ["acme/ci/infra"] }, "all"],
  ["project_path:acme/ci/infra:ref:main", { namespace_path: ["acme/ci"] }, "all"],
  ["project_path:ACME/infra:ref:main", { project_path: ["acme/infra"] }, "some"],
  ["project_path:acme/web:ref:main", { project_path: ["acme/infra"] }, "none"],
  ["project_path:acme/ci/infra:ref:main", { namespace_path: ["acme"] }, "none"],
];
const patternsOfClaims: readonly [pattern: string, asked: Claims, share: Share][] = [
  ["^repo:acme/.*$", { repository_owner: ["acme"] }, "all"],
  ["^repo:acme/.*$", { repository: ["acme/pay"] }, "some"],
  ["^repo:globex/.*$", { repository: ["acme/pay"] }, "none"],
  ["^repo:acme.*$", { repository_owner: ["acme"] }, "some"],
  ["repo:acme/.*$", { repository_owner: ["acme"] }, "some"],
];

/** A subject that names no repository, with what a claim says of it. */
const onBuildkite = { issuer: BUILDKITE, subject: UUID, claims: { organization_slug: "acme" } };

type Pair = readonly [trust: Props, conditions: SubjectConditions, share: Share];

const pairs: readonly Pair[] = [
  ...subjects.map(([subject, glob, share]): Pair => [subjectOf(subject), { subject: [glob] }, share]),
  ...bothWays.flatMap(([subject, glob, share]) =>
    bothForms(subject).map((trust): Pair => [trust, { subject: [glob] }, share]),
  ),
  ...issuers.map(([issuer, glob, share]): Pair => {
    const trust = { subject: "x", ...issuerOf(issuer) };
    return [trust, { issuer: [glob] }, share];
  }),
  ...pinnedClaims.map(([pinned, asked, share]): Pair => [
    { subject: "x", ...pinned },
    { claims: asked },
    share,
  ]),
  ...saidClaims.flatMap(([subject, asked, share]) =>
    bothForms(subject).map((trust): Pair => [trust, { claims: asked }, share]),
  ),
  ...patternsOfClaims.map(([text, asked, share]): Pair => [subjectOf(text), { claims: asked }, share]),
  // Of an issuer that nobody knows, a subject says nothing of the claims.
  ...["https://ci.evil.example", "^https://.*$"].flatMap((issuer) =>
    ["repo:acme/web:x", "^repo:acme/.*$"].map((subject): Pair => {
      const trust = { ...subjectOf(subject), ...issuerOf(issuer) };
      return [trust, { claims: { repository_owner: ["acme"] } }, "some"];
    }),
  ),
  [{ subject: "environment:e", claims: { repository: "acme/pay" } }, { subject: ["repo:acme/*"] }, "some"],
  [
    { subjectPattern: "^environment:.*$", claims: { repository: "acme/pay" } },
    { subject: ["repo:acme/pay:*"] },
    "some",
  ],
  [onBuildkite, { subject: ["organization:evil:pipeline:*"] }, "some"],
  // The rest of a pattern counts, whatever a claim says of the repository.
  [
    { subjectPattern: "^repo:acme/[^:]+:environment:dev$", claims: { repository: "acme/pay" } },
    { subject: ["repo:acme/pay:environment:prod"] },
    "none",
  ],
  [
    { subject: "repo:ACME/pay:environment:p", claims: { repository: "ACME/pay" } },
    { claims: { repository: ["acme/pay"] } },
    "some",
  ],
  [subjectOf("repo:acme/pay"), { subject: ["repo:evil/*", "repo:acme/*"] }, "all"],
  [subjectOf("^repo:acme/(?:pay|bill):.*$"), { subject: ["repo:acme/pay:*", "repo:acme/bill:*"] }, "all"],
  [{ subjectPattern: "" }, { subject: ["repo:acme/*"] }, "some"],
  [{ subject: UNKNOWN }, { subject: ["repo:acme/*"] }, "some"],
  [{ subject: "repo:acme/pay" }, { issuer: [GITLAB], subject: ["repo:acme/*"] }, "none"],
  [{ subjectPattern: "^repo:acme.*$" }, { issuer: [GITHUB], subject: ["repo:acme/*"] }, "some"],
  [{ subject: "x", audience: "acme" }, { audience: ["acme"] }, "all"],
  [{ subject: "x", audiencePattern: "^acme-.*$" }, { audience: ["acme-*"] }, "all"],
  [{ subject: "x" }, { audience: ["acme"] }, "some"],
  [{ subject: "x" }, { matchesMany: false }, "all"],
  [{ subjectPattern: "^x.*$" }, { matchesMany: false }, "none"],
  [{ subject: "x" }, { type: ["identity"] }, "all"],
  [{ subject: "x" }, { type: ["invite", "externalGroup"] }, "none"],
  [{ subject: "x" }, {}, "all"],
];

test.each(pairs)("what is proven of %j in %j is %s, and the inverse of `not`", (trust, conditions, share) => {
  const inverse = { all: "none", some: "some", none: "all" } as const;
  expect(shareOf(trusting(trust), conditions)).toBe(share);
  expect(shareOf(trusting(trust), { not: [conditions] })).toBe(inverse[share]);
});

const ACCOUNT = "123456789012";
const AWS_SESSION = `arn:aws:sts::${ACCOUNT}:assumed-role/x/ci`;

test.each<[trust: Props, subject: string, share: Share]>([
  [{ arn: AWS_SESSION }, AWS_SESSION, "all"],
  [{ arn: AWS_SESSION }, `arn:aws:iam::${ACCOUNT}:role/x`, "some"],
  [{ arn: AWS_SESSION }, `arn:aws:iam::${ACCOUNT}:role/path/x`, "some"],
  [{ arnPattern: `^arn:aws:sts::${ACCOUNT}:assumed-role/x/.*$` }, `arn:aws:iam::${ACCOUNT}:role/x`, "some"],
  [{ arn: AWS_SESSION }, `arn:aws:iam::${ACCOUNT}:role/y`, "none"],
  [{ arnPattern: `^arn:aws:sts::${ACCOUNT}:assumed-role/x/.*$` }, `arn:aws:iam::${ACCOUNT}:role/y`, "none"],
  [{ arn: `arn:aws:iam::${ACCOUNT}:role/path/x` }, AWS_SESSION, "some"],
  [{ arn: `arn:aws:iam::${ACCOUNT}:role/x` }, `arn:aws:sts::${ACCOUNT}:assumed-role/x/*`, "some"],
  [{ arn: `arn:aws:iam::${ACCOUNT}:role/y` }, AWS_SESSION, "none"],
  [{ arn: AWS_SESSION }, `arn:aws:sts::${ACCOUNT}:assumed-role/x/other`, "some"],
  [{ arn: AWS_SESSION }, `arn:aws:sts::${ACCOUNT}:assumed-role/y/ci`, "none"],
  [{ arnPattern: `^arn:aws:sts::${ACCOUNT}:assumed-role/x/deploy$` }, AWS_SESSION, "some"],
])("a role of AWS by its path and by its sessions: %j in %s: %s", (trust, subject, share) => {
  const role = identity("ci", { awsIdentity: { awsAccount: ACCOUNT, userIdPattern: "^AROA:.*$", ...trust } });
  expect(shareOf(role, { subject: [subject] })).toBe(share);
});

test.each<[SubjectConditions, Share]>([
  [{ issuer: [ACCOUNT] }, "all"],
  [{ issuer: [GITHUB] }, "none"],
  [{ audience: ["acme"] }, "some"],
])("an identity of AWS has its account for an issuer, and no audience: %j: %s", (conditions, share) => {
  const role = identity("ci", {
    awsIdentity: { awsAccount: ACCOUNT, userIdPattern: "^AROA:.*$", arn: AWS_SESSION },
  });
  expect(shareOf(role, conditions)).toBe(share);
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
    const graph = graphOf(new Map([[secret.key, secret]]), []);
    const judge = new SubjectJudge(graph, graph, new PatternComparer());
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

  test.each<[string, Resource]>([
    ["an invite", edit(invite, { email: "A+x@acme.example" })],
    [
      "a claim",
      identity(
        "c",
        claims({ issuer: "https://sso.acme.example", subject: "1", claims: { email: "a+x@acme.example" } }),
      ),
    ],
    ["a subject", identity("s", claims({ issuer: "https://sso.acme.example", subject: "a+x@acme.example" }))],
  ])("an address with another tag may be the same mailbox: %s", (_what, holder) => {
    const asked = { claims: { email: ["a@acme.example"] } };
    const bySubject = { subject: ["a@acme.example"] };
    expect([shareOf(holder, asked), shareOf(holder, bySubject)]).toContain("some");
    expect(shareOf(holder, { subject: ["b@acme.example"], claims: { email: ["b@acme.example"] } })).toBe(
      "none",
    );
  });

  test("an invite without an address may be anybody's who can be invited", () => {
    const open = edit(invite, { email: undefined });
    for (const conditions of [{ subject: ["bob@evil.example"] }, { claims: { email: ["*@evil.example"] } }])
      expect(shareOf(open, conditions)).toBe("some");
    expect(shareOf(open, { claims: { repository: ["acme/*"] } })).toBe("none");
  });

  test.each<[SubjectConditions, Share]>([
    [{ issuer: ["https://acme.okta.com"] }, "all"],
    [{ issuer: ["https://acme.okta.com"], subject: ["ada"] }, "some"],
    [{ issuer: [GITHUB] }, "none"],
  ])("who signs in by a provider has a token of its issuer: %j: %s", (conditions, share) => {
    const oidc = { issuer: "https://acme.okta.com", clientId: "c" };
    const provider = resource("IdentityProvider", "okta", { parentUid: acme, oidc, defaultRole: viewer.uid });
    const { before, after } = compareResources([...groups, viewer, provider], [...groups, viewer, provider]);
    const judge = new SubjectJudge(after, before, new PatternComparer());
    expect(after.grants.map(({ subject }) => judge.shareOf(subject, conditions))).toEqual([share]);
  });

  test("an identity of a person is of no issuer", () => {
    const person = identity("ada", {});
    expect(shareOf(person, { issuer: [GITHUB] })).toBe("none");
    expect(shareOf(person, { type: ["identity"] })).toBe("all");
  });

  test("an identity that a service assumes is of both types", () => {
    const service = identity("signer", { servicePrincipal: "SERVICE_PRINCIPAL_COSIGNED" });
    for (const type of ["identity", "service"] as const)
      expect(shareOf(service, { type: [type] })).toBe("all");
    expect(shareOf(service, { type: ["invite"] })).toBe("none");
  });

  test("an invite is never excluded by a name", () => {
    const { before, after } = compareResources([...groups, viewer], [...groups, viewer, invite]);
    const judge = new SubjectJudge(after, before, new PatternComparer());
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
    expect(shareOf(identity("c\u200bi", claims({})), { name: ["ci"] })).toBe("some");
  });

  test("that the change gives proves nothing", () => {
    expect(shareOf(who, { name: ["ci"] }, [])).toBe("some");
    const renamed = edit(who, { name: "break-glass" });
    expect(shareOf(renamed, { name: ["break-glass"] }, [who])).toBe("some");
    expect(shareOf(renamed, { name: ["ci"] }, [who])).toBe("some");
  });

  test("is no uid", () => {
    expect(shareOf(who, { uid: [who.uid] })).toBe("all");
    expect(shareOf(edit(who, { name: who.uid }), { uid: ["ci"] })).toBe("none");
  });
});
