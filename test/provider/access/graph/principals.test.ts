import { Principals } from "../../../../provider/access/graph/principals";
import { graphOf } from "../../../../provider/access/graph/accessKinds";
import { Languages } from "../../../../provider/access/trust/languages";
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
const GITLAB = "https://gitlab.com";
const two = "repo:acme/two:ref:refs/heads/main";

/** What a change of these resources has as subjects, and which of them one principal may be. */
function compareSubjects(...resources: readonly Resource[]) {
  const { after } = compareResources(groups, [...groups, viewer, ...resources]);
  const { entities, grants } = graphOf(after.entities);
  const subjects = grants.map(({ subject }) => subject);
  const principals = new Principals(entities, new Languages(), subjects);
  return { subjects, principals };
}

/** Whether one principal may be both of two identities with these trusts. */
function mayBeOne(one: Props, other: Props): boolean {
  const both = [identity("one", one), identity("other", other)];
  const { subjects, principals } = compareSubjects(
    ...both,
    ...both.map((each) => binding(each, viewer, acme)),
  );
  const [a, b] = subjects;
  if (a === undefined || b === undefined) throw new Error("there are two grants");
  const same = principals.mayBeSame(a, b);
  // Asked from either side, of the pair and of all, the answer is the same.
  expect(principals.mayBeSame(b, a)).toBe(same);
  for (const [each, its] of [[a, b] as const, [b, a] as const])
    expect(principals.sharing(each)).toEqual(same ? [each, its] : [each]);
  expect(principals.distinct([a, b], (subject) => subject)).toHaveLength(same ? 1 : 2);
  return same;
}

const github = (more: Props): Props => claims({ issuer: GITHUB, ...more });
const exact = github({ subject: two });
const ACCOUNT = "123456789012";
const session = (name: string, id = "AROAEXAMPLE"): Props => ({
  awsIdentity: {
    awsAccount: ACCOUNT,
    arn: `arn:aws:sts::${ACCOUNT}:assumed-role/${name}`,
    userIdPattern: `^${id}:.*$`,
  },
});

const withKeys = (...kids: string[]): Props => ({
  staticKeys: {
    issuer: "https://ci.acme.example",
    subject: "s",
    issuerKeys: JSON.stringify({ keys: kids.map((kid) => ({ kty: "OKP", crv: "Ed25519", x: kid, kid })) }),
  },
});
const OID = "1a2b3c4d-86f1-41af-91ab-2d7cd011db47";
/** A public key of Ed25519 but for its last character, of which four bits count. */
const KEY = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHUR";
const TENANT = "72f988bf-86f1-41af-91ab-2d7cd011db47";

const circleci = (project: string): Props =>
  claims({
    issuer: `https://oidc.circleci.com/org/${TENANT}`,
    subjectPattern: "^org/.*$",
    claims: { "oidc.circleci.com/project-id": project },
  });

test.each<[string, boolean, Props, Props]>([
  ["the same trust", true, exact, exact],
  [
    "the numbers of a repository, which a pattern leaves open",
    true,
    exact,
    github({ subjectPattern: "^repo:acme@[0-9]+/two@[0-9]+:environment:x$" }),
  ],
  [
    "the numbers of another repository, which a pattern leaves open",
    false,
    exact,
    github({ subjectPattern: "^repo:acme@[0-9]+/three@[0-9]+:environment:x$" }),
  ],
  [
    "one mail address of an issuer, and other subjects",
    true,
    claims({ issuer: "https://sso.acme.example", subject: "1", claims: { email: "ada@acme.example" } }),
    claims({ issuer: "https://sso.acme.example", subject: "2", claims: { email: "Ada@acme.example" } }),
  ],
  [
    "one mail domain of an issuer, and other subjects",
    false,
    claims({
      issuer: "https://sso.acme.example",
      subject: "1",
      claimPatterns: { email: "^.*@acme\\.example$" },
    }),
    claims({
      issuer: "https://sso.acme.example",
      subject: "2",
      claimPatterns: { email: "^.*@acme\\.example$" },
    }),
  ],
  ["another repository", false, exact, github({ subject: "repo:acme/three:ref:refs/heads/main" })],
  [
    "a pattern of it and others",
    true,
    exact,
    github({ subjectPattern: "^repo:acme/two:ref:refs/heads/(main|x)$" }),
  ],
  ["a pattern of others", false, exact, github({ subjectPattern: "^repo:acme/three:.*$" })],
  [
    "other values of a claim that names an owner",
    false,
    github({ subjectPattern: ":main$", claims: { repository: "acme/two" } }),
    github({ subjectPattern: ":main$", claims: { repository: "acme/three" } }),
  ],
  [
    "a value and a pattern of a claim that names an owner",
    true,
    github({ subjectPattern: ":main$", claims: { repository: "acme/two" } }),
    github({ subjectPattern: ":main$", claimPatterns: { repository: "^acme/(two|three)$" } }),
  ],
  ...(
    [
      ["a claim", { subject: "environment:e", claims: { repository: "acme/two" } }],
      ["a pattern of a claim", { subject: "environment:e", claimPatterns: { repository: "^acme/.*$" } }],
      [
        "its workflow",
        { subject: "ref:refs/heads/x", claims: { workflow_ref: "acme/two/.github/workflows/a.yml@x" } },
      ],
      [
        "its number, and its owner",
        { subject: "repository_id:55:environment:e", claims: { repository_owner: "acme" } },
      ],
      ["its owner in the subject", { subject: "repository_owner:acme:environment:e" }],
      ["a pattern without it", { subjectPattern: "^environment:.*$", claims: { repository: "acme/two" } }],
      ["capitals", { subject: "repo:acme/Two:environment:e" }],
      ["a pattern in capitals", { subjectPattern: "^repo:Acme/Two:environment:.*$" }],
      ["a claim in capitals", { subjectPattern: ":environment:e$", claims: { repository: "ACME/two" } }],
    ] as const
  ).flatMap(([how, trust]): [string, boolean, Props, Props][] => [
    [`the same repository by ${how}`, true, exact, github(trust)],
    [
      `another repository, beside ${how}`,
      how.includes("owner") || how === "a pattern of a claim",
      github({ subject: "repo:acme/three:ref:refs/heads/main" }),
      github(trust),
    ],
    [
      `another owner, beside ${how}`,
      false,
      github({ subject: "repo:evil/two:ref:refs/heads/main" }),
      github(trust),
    ],
  ]),
  [
    "two environments of a repository that only claims name",
    true,
    github({ subject: "environment:a", claims: { repository: "acme/two" } }),
    github({ subject: "environment:b", claims: { repository: "acme/two" } }),
  ],
  [
    "environments of repositories that only claims name",
    false,
    github({ subject: "environment:a", claims: { repository: "acme/two" } }),
    github({ subject: "environment:a", claims: { repository: "acme/three" } }),
  ],
  [
    "numbers of two repositories",
    false,
    github({ subject: "repository_id:1:environment:a" }),
    github({ subject: "repository_id:2:environment:a" }),
  ],
  [
    "a project of GitLab in capitals",
    true,
    claims({ issuer: "https://gitlab.com", subject: "project_path:acme/infra:ref_type:branch:ref:main" }),
    claims({ issuer: "https://gitlab.com", subject: "project_path:acme/Infra:ref_type:branch:ref:main" }),
  ],
  ...(
    [
      { subject: "project_path:acme/infra" },
      { subjectPattern: "^project_path:acme/infra$" },
      { subjectPattern: "^project_path:acme/Infra\\z" },
      { subjectPattern: "^project_path:acme/infra(?::environment_protected:true)?$" },
      { subjectPattern: "^project_path:acme/[h-j]nfra$$" },
      { subjectPattern: "^project_path:acme/[a-z]+$" },
    ] as const
  ).flatMap((bare) =>
    ["infra", "infra2", "infra/sub"].flatMap((project) => {
      const branch = `project_path:acme/${project}:ref_type:branch:ref:main`;
      return [{ subject: branch }, { subjectPattern: `^${branch}$` }].map(
        (other): [string, boolean, Props, Props] => [
          `a project of GitLab alone as ${JSON.stringify(bare)}, and one as ${JSON.stringify(other)}`,
          project === "infra",
          claims({ issuer: GITLAB, claims: { ref_protected: "true" }, ...bare }),
          claims({ issuer: GITLAB, ...other }),
        ],
      );
    }),
  ),
  [
    "two projects of GitLab alone",
    false,
    claims({ issuer: GITLAB, subjectPattern: "^project_path:acme/infra$" }),
    claims({ issuer: GITLAB, subject: "project_path:acme/infra2" }),
  ],
  [
    "a repository alone, and a branch of it",
    true,
    github({ subjectPattern: "^repo:acme/two$" }),
    github({ subjectPattern: "^repo:acme/two:ref:refs/heads/[a-z]+$" }),
  ],
  [
    "a repository alone, and a branch of another one",
    false,
    github({ subjectPattern: "^repo:acme/two$" }),
    github({ subjectPattern: "^repo:acme/two-more:ref:refs/heads/[a-z]+$" }),
  ],
  [
    "an issuer with a slash at its end",
    true,
    exact,
    claims({ issuer: `${GITHUB}/`, subject: "repo:acme/two:environment:e" }),
  ],
  [
    "patterns of two repositories by their numbers",
    false,
    github({ subjectPattern: "^repository_id:11:environment:.*$" }),
    github({ subjectPattern: "^repository_id:22:environment:.*$" }),
  ],
  [
    "a pattern of an owner, and a repository of it",
    true,
    exact,
    github({ subjectPattern: "^repository_owner:acme:environment:.*$" }),
  ],
  [
    "a pattern of an owner, and a repository of another one",
    false,
    github({ subject: "repo:globex/x:ref:refs/heads/main" }),
    github({ subjectPattern: "^repository_owner:acme:environment:.*$" }),
  ],
  [
    "the numbers of a repository, and another number of its owner",
    false,
    github({ subject: "repo:acme@1/pay@2:environment:p" }),
    github({ subject: "repository_owner_id:9:environment:p" }),
  ],
  [
    "the numbers of a repository, and its own",
    true,
    github({ subject: "repo:acme@1/pay@2:environment:p" }),
    github({ subject: "repository_id:2:environment:p" }),
  ],
  [
    "a pipeline of Buildkite and the id of one",
    true,
    claims({ issuer: "https://agent.buildkite.com", subject: TENANT }),
    claims({
      issuer: "https://agent.buildkite.com",
      subject: "organization:acme:pipeline:pay:ref:refs/heads/main",
    }),
  ],
  [
    "pipelines of Buildkite, one by its id, of two organisations",
    false,
    claims({ issuer: "https://agent.buildkite.com", subject: TENANT, claims: { organization_slug: "evil" } }),
    claims({
      issuer: "https://agent.buildkite.com",
      subject: "organization:acme:pipeline:pay:ref:refs/heads/main",
    }),
  ],
  [
    "environments at an issuer of one's own",
    false,
    claims({ issuer: "https://ci.acme.example", subject: "environment:a" }),
    claims({ issuer: "https://ci.acme.example", subject: "environment:b" }),
  ],
  [
    "other projects of one organisation of CircleCI",
    false,
    circleci("1a2b3c4d-86f1-41af-91ab-2d7cd011db47"),
    circleci("5e6f7a8b-86f1-41af-91ab-2d7cd011db47"),
  ],
  [
    "other values of a claim of one run",
    true,
    github({ subject: two, claims: { event_name: "push" } }),
    github({ subject: two, claims: { event_name: "workflow_dispatch" } }),
  ],
  [
    "another workflow of one repository",
    true,
    github({ subjectPattern: ":main$", claims: { workflow_ref: "acme/two/.github/workflows/a.yml@x" } }),
    github({ subjectPattern: ":main$", claims: { workflow_ref: "acme/two/.github/workflows/b.yml@x" } }),
  ],
  [
    "another audience, which whoever asks for a token chooses",
    true,
    github({ subject: two, audience: "a" }),
    github({ subject: two, audience: "b" }),
  ],
  [
    "two branches of a repository that stands behind them",
    true,
    github({ subject: "ref:refs/heads/a:repo:acme/two" }),
    github({ subject: "ref:refs/heads/b:repo:acme@1/two@2" }),
  ],
  [
    "a repository by its workflow",
    true,
    exact,
    github({ subject: "workflow_ref:acme/two/.github/workflows/a.yml@refs/heads/main" }),
  ],
  [
    "the repository of a workflow that others use",
    false,
    exact,
    github({ subject: "job_workflow_ref:acme/two/.github/workflows/a.yml@x:repo:acme/three" }),
  ],
  [
    "a role of AWS by its path and by a session",
    true,
    {
      awsIdentity: {
        ...(session("b/x")["awsIdentity"] as Props),
        arn: `arn:aws:iam::${ACCOUNT}:role/path/b`,
      },
    },
    session("b/x"),
  ],
  [
    "a number beside a branch",
    true,
    github({ subject: "repo:acme@1/two@2:ref:refs/heads/a@3" }),
    github({ subjectPattern: "^repo:acme/two:ref:refs/heads/a@3$" }),
  ],
  ["an environment of the same repository", true, exact, github({ subject: "repo:acme/two:environment:e" })],
  ...["prod:b", "dev:a"].flatMap((account) => [
    ...[
      { subject: `system:serviceaccount:${account}` },
      { subjectPattern: `^system:serviceaccount:${account}$` },
    ].map((trust): [string, boolean, Props, Props] => [
      `an account of the namespace prod, and ${JSON.stringify(trust)}`,
      account === "prod:b",
      claims({ issuer: "https://k8s.acme.example", subject: "system:serviceaccount:prod:a" }),
      claims({ issuer: "https://k8s.acme.example", ...trust }),
    ]),
  ]),
  [
    "accounts of one namespace in two clusters",
    false,
    claims({ issuer: "https://k8s.acme.example", subject: "system:serviceaccount:prod:a" }),
    claims({ issuer: "https://k8s-two.acme.example", subject: "system:serviceaccount:prod:a" }),
  ],
  ...(
    [
      ["one oid", true, { subject: "b", audience: "two", claims: { oid: OID } }],
      [
        "one oid in a pattern",
        true,
        { subjectPattern: "^b$", claimPatterns: { oid: `^${OID.toUpperCase()}$` } },
      ],
      [
        "one oid, of a pattern of the issuer",
        true,
        {
          issuer: undefined,
          issuerPattern: `^https://login[.]microsoftonline[.]com/${TENANT}/v2[.]0$`,
          subject: "b",
          claims: { oid: OID },
        },
      ],
      ["another oid", false, { subject: "b", claims: { oid: TENANT } }],
      ["one subject, and another oid", false, { subject: "a", claims: { oid: TENANT } }],
      ["another subject without an oid", false, { subject: "b" }],
      ["one subject without an oid", true, { subject: "a" }],
      [
        "one oid at an issuer of another kind",
        false,
        { issuer: "https://sso.acme.example", subject: "b", claims: { oid: OID } },
      ],
      [
        "one oid in another tenant",
        false,
        { issuer: `https://login.microsoftonline.com/${OID}/v2.0`, subject: "b", claims: { oid: OID } },
      ],
    ] as const
  ).flatMap(([what, isOne, other]) =>
    [{ subject: "a" }, { subjectPattern: "^a$" }].map((subject): [string, boolean, Props, Props] => [
      `tokens of Azure for ${JSON.stringify(subject)} and ${what}`,
      isOne,
      claims({
        issuer: `https://login.microsoftonline.com/${TENANT}/v2.0`,
        audience: "one",
        claims: { oid: OID },
        ...subject,
      }),
      claims({ issuer: `https://login.microsoftonline.com/${TENANT}/v2.0`, ...other }),
    ]),
  ),
  [
    "one oid at an issuer of one's own",
    false,
    claims({ issuer: "https://sso.acme.example", subject: "a", claims: { oid: OID } }),
    claims({ issuer: "https://sso.acme.example", subject: "b", claims: { oid: OID } }),
  ],
  ["a key that both have", true, withKeys("a"), withKeys("b", "a")],
  ...[`${KEY}o`, `${KEY}p`, `${KEY}o=`, `${KEY}r==`, `${KEY}o\n`].map(
    (spelling): [string, boolean, Props, Props] => [
      `a key, and another spelling of it ${JSON.stringify(spelling)}`,
      true,
      withKeys(`${KEY}o`),
      withKeys(spelling),
    ],
  ),
  ["a key, and one with another last bit that counts", false, withKeys(`${KEY}o`), withKeys(`${KEY}s`)],
  ["other keys, whatever stands beside them", false, withKeys("a"), withKeys("b")],
  [
    "keys, and tokens of what the keys name",
    false,
    withKeys("a"),
    claims({ issuer: "https://ci.acme.example", subject: "s" }),
  ],
  [
    "both versions of the issuer of one tenant of Azure",
    true,
    claims({ issuer: `https://sts.windows.net/${TENANT}/`, subject: "s" }),
    claims({ issuer: `https://login.microsoftonline.com/${TENANT}/v2.0`, subject: "s" }),
  ],
  ...[TENANT, "00000000-86f1-41af-91ab-2d7cd011db47"].map((tenant): [string, boolean, Props, Props] => [
    `a version of the issuer of a tenant of Azure, and a pattern of the other one of ${tenant}`,
    tenant === TENANT,
    claims({ issuerPattern: `^https://sts\\.windows\\.net/${TENANT}/$`, subject: "s" }),
    claims({ issuer: `https://login.microsoftonline.com/${tenant}/v2.0`, subject: "s" }),
  ]),
  [
    "a value, and a pattern that is too large to read",
    true,
    github({ subjectPattern: ":main$", claims: { repository: "acme/two" } }),
    github({ subjectPattern: ":main$", claimPatterns: { repository: `^(acme/two|${"\\pL".repeat(60)})$` } }),
  ],
  ["another session of one role of AWS", true, session("builder/a"), session("builder/b")],
  [
    "a repository with and without its numbers",
    true,
    exact,
    github({ subject: "repo:acme@1/two@2:environment:e" }),
  ],
  ["another user id of AWS", false, session("builder/a"), session("builder/a", "AROAOTHER")],
  [
    "two patterns that overlap",
    true,
    github({ subjectPattern: "^repo:acme/.*:main$" }),
    github({ subjectPattern: "^repo:[a-z]+/two:.*$" }),
  ],
  [
    "a pattern of the issuer",
    true,
    exact,
    claims({ issuerPattern: "^https://token[.]actions[.]githubusercontent[.]com$", subject: two }),
  ],
  ["a service of the platform", false, exact, { servicePrincipal: "INGESTER" }],
])("of two identities with %s one principal may be both: %s", (_, isOne, one, other) => {
  expect(mayBeOne(one, other)).toBe(isOne);
});

test("a service of the platform is one principal in all associations, and as an identity", () => {
  const acts = identity("acts", exact);
  const association = (name: string, service: string): Resource =>
    resource("AccountAssociation", name, {
      parentUid: acme,
      name,
      chainguard: { serviceBindings: { [service]: acts.uid } },
    });
  const ingester = identity("ingester", { servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" });
  const { subjects, principals } = compareSubjects(
    acts,
    binding(acts, viewer, acme),
    ingester,
    binding(ingester, viewer, acme),
    association("one", "INGESTER"),
    association("two", "INGESTER"),
    association("three", "COSIGNED"),
  );
  const counts = subjects.map((subject) => [subject.name, principals.sharing(subject).length]);
  expect(counts.sort()).toEqual([
    ["COSIGNED", 1],
    ["INGESTER", 3],
    ["INGESTER", 3],
    ["acts", 1],
    ["ingester", 3],
  ]);
});

test("invites of one address are for one person", () => {
  const invite = (name: string, email: string): Resource =>
    resource("GroupInvite", name, { parentUid: acme, roleUid: viewer.uid, email });
  const { subjects, principals } = compareSubjects(
    invite("a", "ada@acme.example"),
    invite("b", "Ada@acme.example"),
    invite("c", "bob@acme.example"),
  );
  const addresses = (subject: (typeof subjects)[number]) =>
    principals.sharing(subject).map(({ displayName }) => displayName);
  expect(subjects.map((subject) => addresses(subject).length)).toEqual([2, 2, 1]);
});

test.each<[string, boolean, Props]>([
  ["its subject is the address", true, { issuer: "https://sso.acme.example", subject: "Ada@acme.example" }],
  ["its claim is", true, { issuer: GITHUB, subject: two, claims: { email: "ada@acme.example" } }],
  [
    "a pattern of its claim matches it",
    true,
    { subject: "1", claimPatterns: { email: "^a.*@acme\\.example$" } },
  ],
  ["its subject is another address", false, { subject: "bob@acme.example" }],
  ["a pattern of its claim does not match it", false, { subject: "1", claimPatterns: { email: "^b.*$" } }],
  ["it names none", false, { issuer: GITHUB, subject: two }],
])("an invite is for the person of an identity where %s: %p", (_what, expected, trust) => {
  const person = identity("person", claims({ issuer: "https://sso.acme.example", ...trust }));
  const { subjects, principals } = compareSubjects(
    person,
    binding(person, viewer, acme),
    resource("GroupInvite", "a", { parentUid: acme, roleUid: viewer.uid, email: "ada@acme.example" }),
  );
  for (const subject of subjects) expect(principals.sharing(subject)).toHaveLength(expected ? 2 : 1);
});

const provider = (name: string, issuer: string): Resource =>
  resource("IdentityProvider", name, {
    parentUid: acme,
    defaultRole: viewer.uid,
    oidc: { issuer, clientId: name },
  });
const mapping = (name: string, of: Resource): Resource =>
  resource("ExternalGroupRoleMapping", name, {
    parentUid: of.uid,
    externalGroupId: name,
    roleUid: viewer.uid,
    scope: acme,
  });

test("everybody in a group of a directory signs in by it, and no document tells who is in two groups", () => {
  const staff = provider("staff", "https://login.acme.example");
  const bob = identity("bob", claims({ issuer: "https://login.acme.example", subject: "bob" }));
  const { subjects, principals } = compareSubjects(
    staff,
    provider("other", "https://login.acme.example"),
    provider("partner", "https://login.partner.example"),
    ...[mapping("a", staff), mapping("b", staff)],
    bob,
    binding(bob, viewer, acme),
  );
  const whoMayBe = (name: string) => {
    const one = subjects.find((subject) => subject.name === name);
    if (one === undefined) throw new Error(`${name} has no grant`);
    const same = subjects.filter((each) => each !== one && principals.mayBeSame(one, each));
    expect(new Set(principals.sharing(one))).toEqual(new Set([one, ...same]));
    return same.map((each) => each.name).sort();
  };
  expect(whoMayBe("staff")).toEqual(["a", "b", "bob", "other"]);
  expect(whoMayBe("a")).toEqual(["bob", "other", "staff"]);
  expect(whoMayBe("bob")).toEqual(["a", "b", "other", "staff"]);
  expect(whoMayBe("partner")).toEqual([]);
});

test("a group of a directory whose issuer the update changes is of both issuers meanwhile", () => {
  const [old, now] = ["https://old.acme.example", "https://new.acme.example"];
  const bob = identity("bob", claims({ issuer: old, subject: "bob" }));
  const sideOf = (issuer: string) => {
    const staff = provider("staff", issuer);
    const all = [...groups, viewer, staff, mapping("a", staff), bob, binding(bob, viewer, acme)];
    return compareResources(groups, all).after;
  };
  const [before, after] = [sideOf(old), sideOf(now)];
  const subjects = after.grants.map(({ subject }) => subject);
  const languages = new Languages();
  const mayBeBob = (side: typeof after, past?: typeof after): boolean => {
    const principals = new Principals(side.entities, languages, subjects, past?.entities);
    const [one, group] = ["bob", "a"].map((name) => subjects.find((subject) => subject.name === name));
    return principals.mayBeSame(one!, group!);
  };
  expect([mayBeBob(before), mayBeBob(after), mayBeBob(after, before)]).toEqual([true, false, true]);
});

test("hundreds of identities by patterns are told apart within the steps of one review", () => {
  const trustOf = (i: number): Props =>
    github({ subjectPattern: `^repo:acme/service-${i}:(?:ref:refs/heads/[a-z0-9-]+|environment:[^:]+)$` });
  const all = Array.from({ length: 400 }, (_, i) => identity(`service-${i}`, trustOf(i)));
  const twin = identity("twin", github({ subject: "repo:acme/Service-7:pull_request" }));
  const { subjects, principals } = compareSubjects(
    ...[...all, twin].flatMap((each) => [each, binding(each, viewer, acme)]),
  );
  const linked = subjects.flatMap((one) => {
    const others = principals.sharing(one).slice(1);
    return others.length === 0 ? [] : [[one.name, ...others.map(({ name }) => name)]];
  });
  expect(linked.sort()).toEqual([
    ["service-7", "twin"],
    ["twin", "service-7"],
  ]);
});
