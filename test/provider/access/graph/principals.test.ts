import { Principals } from "../../../../provider/access/graph/principals";
import { graphOf } from "../../../../provider/access/graph/accessKinds";
import { PatternComparer } from "../../../../provider/access/trust/patternComparer";
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
  const principals = new Principals(entities, new PatternComparer(), subjects);
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
const ofArn = (arn: string, id: string): Props => ({
  awsIdentity: { awsAccount: ACCOUNT, arn, userIdPattern: `^${id}:.*$` },
});
const session = (name: string, id = "AROAEXAMPLE"): Props =>
  ofArn(`arn:aws:sts::${ACCOUNT}:assumed-role/${name}`, id);
const awsRole = (path: string): Props => ofArn(`arn:aws:iam::${ACCOUNT}:role/${path}`, "AROAEXAMPLE");

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

type Row = readonly [what: string, isOne: boolean, one: Props, other: Props];
/** What an issuer says of somebody. A text is a subject, and one with an anchor is a pattern of subjects. */
type Said = Props | string;
const saidBy = (issuer: string, said: Said): Props =>
  claims({
    issuer,
    ...(typeof said === "string" ? { [said.startsWith("^") ? "subjectPattern" : "subject"]: said } : said),
  });
/** Rows of one issuer. */
const by = (issuer: string, ...rows: readonly (readonly [string, boolean, Said, Said])[]): Row[] =>
  rows.map(([what, isOne, one, other]) => [what, isOne, saidBy(issuer, one), saidBy(issuer, other)]);

/** The main branch of whatever repository the claims name. */
const main = (more: Props): Props => ({ subjectPattern: ":main$", ...more });
const workflow = (file: string): Props => ({ workflow_ref: `acme/two/.github/workflows/${file}.yml@x` });
const ofGithub = by(
  GITHUB,
  ["the same trust", true, two, two],
  ["numbers that a pattern leaves open", true, two, "^repo:acme@[0-9]+/two@[0-9]+:environment:x$"],
  ["numbers of another repository", false, two, "^repo:acme@[0-9]+/three@[0-9]+:environment:x$"],
  ["another repository", false, two, "repo:acme/three:ref:refs/heads/main"],
  ["a pattern of it and others", true, two, "^repo:acme/two:ref:refs/heads/(main|x)$"],
  ["a pattern of others", false, two, "^repo:acme/three:.*$"],
  ["an environment of the same repository", true, two, "repo:acme/two:environment:e"],
  ["a repository with and without its numbers", true, two, "repo:acme@1/two@2:environment:e"],
  ["two patterns that overlap", true, "^repo:acme/.*:main$", "^repo:[a-z]+/two:.*$"],
  [
    "a number beside a branch",
    true,
    "repo:acme@1/two@2:ref:refs/heads/a@3",
    "^repo:acme/two:ref:refs/heads/a@3$",
  ],
  ["a repository alone, and a branch", true, "^repo:acme/two$", "^repo:acme/two:ref:refs/heads/[a-z]+$"],
  ["a branch of another one", false, "^repo:acme/two$", "^repo:acme/two-more:ref:refs/heads/[a-z]+$"],
  ["two branches in front", true, "ref:refs/heads/a:repo:acme/two", "ref:refs/heads/b:repo:acme@1/two@2"],
  ["numbers of two repositories", false, "repository_id:1:environment:a", "repository_id:2:environment:a"],
  [
    "such numbers in patterns",
    false,
    "^repository_id:11:environment:.*$",
    "^repository_id:22:environment:.*$",
  ],
  ["a pattern of an owner", true, two, "^repository_owner:acme:environment:.*$"],
  ["a pattern of another one", false, "repo:globex/x:ref:x", "^repository_owner:acme:environment:.*$"],
  [
    "another number of its owner",
    false,
    "repo:acme@1/pay@2:environment:p",
    "repository_owner_id:9:environment:p",
  ],
  ["its own number", true, "repo:acme@1/pay@2:environment:p", "repository_id:2:environment:p"],
  [
    "a repository by its workflow",
    true,
    two,
    "workflow_ref:acme/two/.github/workflows/a.yml@refs/heads/main",
  ],
  [
    "the repository of a workflow that others use",
    false,
    two,
    "job_workflow_ref:acme/two/.github/workflows/a.yml@x:repo:acme/three",
  ],
  [
    "other values of a claim that names an owner",
    false,
    main({ claims: { repository: "acme/two" } }),
    main({ claims: { repository: "acme/three" } }),
  ],
  [
    "a value and a pattern of a claim that names an owner",
    true,
    main({ claims: { repository: "acme/two" } }),
    main({ claimPatterns: { repository: "^acme/(two|three)$" } }),
  ],
  [
    "a value, and a pattern that is too large to read",
    true,
    main({ claims: { repository: "acme/two" } }),
    main({ claimPatterns: { repository: `^(acme/two|${"\\pL".repeat(60)})$` } }),
  ],
  [
    "two environments of a repository that only claims name",
    true,
    { subject: "environment:a", claims: { repository: "acme/two" } },
    { subject: "environment:b", claims: { repository: "acme/two" } },
  ],
  [
    "environments of repositories that only claims name",
    false,
    { subject: "environment:a", claims: { repository: "acme/two" } },
    { subject: "environment:a", claims: { repository: "acme/three" } },
  ],
  [
    "other values of a claim of one run",
    true,
    { subject: two, claims: { event_name: "push" } },
    { subject: two, claims: { event_name: "workflow_dispatch" } },
  ],
  ["another workflow", true, main({ claims: workflow("a") }), main({ claims: workflow("b") })],
  // Whoever asks for a token chooses its audience.
  ["another audience", true, { subject: two, audience: "a" }, { subject: two, audience: "b" }],
);

const e = "environment:e";
/** How a trust may name the repository, and whether that leaves open which one of its owner it is. */
const ways: readonly [how: string, said: Said, isOwnerAlone?: true][] = [
  ["a claim", { subject: e, claims: { repository: "acme/two" } }],
  ["a pattern of a claim", { subject: e, claimPatterns: { repository: "^acme/.*$" } }, true],
  ["its workflow", { subject: "ref:refs/heads/x", claims: workflow("a") }],
  ["its number and owner", { subject: `repository_id:55:${e}`, claims: { repository_owner: "acme" } }, true],
  ["its owner in the subject", `repository_owner:acme:${e}`, true],
  ["a pattern without it", { subjectPattern: "^environment:.*$", claims: { repository: "acme/two" } }],
  ["capitals", `repo:acme/Two:${e}`],
  ["a pattern in capitals", "^repo:Acme/Two:environment:.*$"],
  ["a claim in capitals", { subjectPattern: `:${e}$`, claims: { repository: "ACME/two" } }],
];
const byEachWay = ways.flatMap(([how, said, isOwnerAlone = false]) =>
  by(
    GITHUB,
    [`the same repository by ${how}`, true, two, said],
    [`another repository, beside ${how}`, isOwnerAlone, "repo:acme/three:ref:refs/heads/main", said],
    [`another owner, beside ${how}`, false, "repo:evil/two:ref:refs/heads/main", said],
  ),
);

const bareProjects = [
  { subject: "project_path:acme/infra" },
  { subjectPattern: "^project_path:acme/infra$" },
  { subjectPattern: "^project_path:acme/Infra\\z" },
  { subjectPattern: "^project_path:acme/infra(?::environment_protected:true)?$" },
  { subjectPattern: "^project_path:acme/[h-j]nfra$$" },
  { subjectPattern: "^project_path:acme/[a-z]+$" },
];
const branchOf = (project: string): string => `project_path:acme/${project}:ref_type:branch:ref:main`;
const ofGitlab = [
  ...by(
    GITLAB,
    ["a project of GitLab in capitals", true, branchOf("infra"), branchOf("Infra")],
    ["two projects of GitLab alone", false, "^project_path:acme/infra$", "project_path:acme/infra2"],
  ),
  ...bareProjects.flatMap((bare) =>
    ["infra", "infra2", "infra/sub"].flatMap((project) =>
      [branchOf(project), `^${branchOf(project)}$`].flatMap((other) => {
        const what = `a project of GitLab alone as ${JSON.stringify(bare)}, and ${other}`;
        return by(GITLAB, [what, project === "infra", { claims: { ref_protected: "true" }, ...bare }, other]);
      }),
    ),
  ),
];

const AZURE = `https://login.microsoftonline.com/${TENANT}/v2.0`;
const AZURE_V1 = `https://sts.windows.net/${TENANT}/`;
const oid = (value: string): Props => ({ claims: { oid: value } });
const azurePattern = `^https://login[.]microsoftonline[.]com/${TENANT}/v2[.]0$`;
const besideOid: readonly [what: string, isOne: boolean, other: Props][] = [
  ["one oid", true, { subject: "b", audience: "two", ...oid(OID) }],
  ["one oid in a pattern", true, { subjectPattern: "^b$", claimPatterns: { oid: `^${OID.toUpperCase()}$` } }],
  [
    "a pattern of the issuer",
    true,
    { issuer: undefined, issuerPattern: azurePattern, subject: "b", ...oid(OID) },
  ],
  ["another oid", false, { subject: "b", ...oid(TENANT) }],
  ["one subject, and another oid", false, { subject: "a", ...oid(TENANT) }],
  ["another subject without an oid", false, { subject: "b" }],
  ["one subject without an oid", true, { subject: "a" }],
  ["an issuer of another kind", false, { issuer: "https://sso.acme.example", subject: "b", ...oid(OID) }],
  ["another tenant", false, { issuer: AZURE.replace(TENANT, OID), subject: "b", ...oid(OID) }],
];
const ofAzure: Row[] = [
  ...besideOid.flatMap(([what, isOne, other]) =>
    [{ subject: "a" }, { subjectPattern: "^a$" }].map((subject): Row => {
      const one = saidBy(AZURE, { audience: "one", ...oid(OID), ...subject });
      return [`tokens of Azure for ${JSON.stringify(subject)} and ${what}`, isOne, one, saidBy(AZURE, other)];
    }),
  ),
  ["both versions of the issuer of one tenant", true, saidBy(AZURE_V1, "s"), saidBy(AZURE, "s")],
  ...[TENANT, "00000000-86f1-41af-91ab-2d7cd011db47"].map((tenant): Row => [
    `a pattern of a version of the issuer of a tenant of Azure, and the other version of ${tenant}`,
    tenant === TENANT,
    claims({ issuerPattern: `^${AZURE_V1.replaceAll(".", "\\.")}$`, subject: "s" }),
    saidBy(AZURE.replace(TENANT, tenant), "s"),
  ]),
];

const SSO = "https://sso.acme.example";
const ofDomain = (subject: string): Props => ({ subject, claimPatterns: { email: "^.*@acme\\.example$" } });
const account = (name: string): string => `system:serviceaccount:${name}`;
const pipeline = "organization:acme:pipeline:pay:ref:refs/heads/main";
const project = (id: string): Props => ({
  subjectPattern: "^org/.*$",
  claims: { "oidc.circleci.com/project-id": id },
});
const ofOthers = [
  ...by(
    SSO,
    [
      "one mail address, and other subjects",
      true,
      { subject: "1", claims: { email: "ada@acme.example" } },
      { subject: "2", claims: { email: "Ada@acme.example" } },
    ],
    [
      "one address in two claims",
      true,
      { subject: "1", claims: { upn: "ada@acme.example" } },
      { subject: "2", claims: { email: "ada@acme.example" } },
    ],
    [
      "two addresses in two claims",
      false,
      { subject: "1", claims: { preferred_username: "ada@acme.example" } },
      { subject: "2", claims: { email: "bob@acme.example" } },
    ],
    [
      "one address, as the subject and in a claim",
      true,
      "ada@acme.example",
      { subject: "2", claims: { email: "Ada@acme.example" } },
    ],
    [
      "two addresses, as the subject and in a claim",
      false,
      "ada@acme.example",
      { subject: "2", claims: { email: "bob@acme.example" } },
    ],
    [
      "one subject, with two addresses in two claims",
      true,
      { subject: "a", claims: { email: "ada.l@acme.example" } },
      { subject: "a", claims: { upn: "al@acme.example" } },
    ],
    [
      "one subject, with two addresses in one claim",
      false,
      { subject: "a", claims: { email: "ada@acme.example" } },
      { subject: "a", claims: { email: "bob@acme.example" } },
    ],
    [
      "one address in one claim, of whom one trust asks for another one too",
      true,
      { subject: "1", claims: { email: "ada.l@acme.example" } },
      { subject: "2", claims: { email: "ada.l@acme.example", upn: "al@acme.example" } },
    ],
    [
      "two addresses in one claim, beside one in another claim",
      false,
      { subject: "1", claims: { email: "ada.l@acme.example", upn: "al@acme.example" } },
      { subject: "2", claims: { upn: "bob@acme.example" } },
    ],
    ["one mail domain, and other subjects", false, ofDomain("1"), ofDomain("2")],
    [
      "one oid at an issuer of one's own",
      false,
      { subject: "a", ...oid(OID) },
      { subject: "b", ...oid(OID) },
    ],
    ["environments at an issuer of one's own", false, "environment:a", "environment:b"],
  ),
  ...by(
    "https://agent.buildkite.com",
    ["a pipeline of Buildkite and the id of one", true, TENANT, pipeline],
    [
      "an id of another organisation",
      false,
      { subject: TENANT, claims: { organization_slug: "evil" } },
      pipeline,
    ],
  ),
  ...by(`https://oidc.circleci.com/org/${TENANT}`, ["other projects", false, project(OID), project(TENANT)]),
  ...by(
    "https://k8s.acme.example",
    ["accounts of one namespace", true, account("prod:a"), account("prod:b")],
    ["a pattern of one of them", true, account("prod:a"), `^${account("prod:b")}$`],
    ["accounts of two namespaces", false, account("prod:a"), account("dev:a")],
    ["a pattern of another namespace", false, account("prod:a"), `^${account("dev:a")}$`],
  ),
];

const githubPattern = "^https://token[.]actions[.]githubusercontent[.]com$";
const acrossIssuers: Row[] = [
  ["an issuer with a slash at its end", true, exact, saidBy(`${GITHUB}/`, `repo:acme/two:${e}`)],
  ["a pattern of the issuer", true, exact, claims({ issuerPattern: githubPattern, subject: two })],
  [
    "accounts of one namespace in two clusters",
    false,
    saidBy("https://k8s.acme.example", account("prod:a")),
    saidBy("https://k8s-two.acme.example", account("prod:a")),
  ],
  ["a service of the platform", false, exact, { servicePrincipal: "INGESTER" }],
];

const ofAws: Row[] = [
  ["a role of AWS by its path and by a session", true, awsRole("path/b"), session("b/x")],
  ["another session of one role of AWS", true, session("builder/a"), session("builder/b")],
  ["another user id of AWS", false, session("builder/a"), session("builder/a", "AROAOTHER")],
];

const ofKeys: Row[] = [
  ["a key that both have", true, withKeys("a"), withKeys("b", "a")],
  ...[`${KEY}o`, `${KEY}p`, `${KEY}o=`, `${KEY}r==`, `${KEY}o\n`].map((spelling): Row => {
    const what = `a key, and another spelling of it ${JSON.stringify(spelling)}`;
    return [what, true, withKeys(`${KEY}o`), withKeys(spelling)];
  }),
  ["a key, and one with another last bit that counts", false, withKeys(`${KEY}o`), withKeys(`${KEY}s`)],
  ["other keys, whatever stands beside them", false, withKeys("a"), withKeys("b")],
  ["keys, and tokens of what the keys name", false, withKeys("a"), saidBy("https://ci.acme.example", "s")],
];

test.each([
  ...[...ofGithub, ...byEachWay, ...ofGitlab, ...ofAzure, ...ofOthers],
  ...[...acrossIssuers, ...ofAws, ...ofKeys],
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

test.each<[string, string, boolean]>([
  ["ada@acme.example", "Ada@acme.example", true],
  ["ada@acme.example", "ada+work@acme.example", true],
  ["a.da@gmail.com", "ada@googlemail.com", true],
  ["a.da@acme.example", "ada@acme.example", false],
  ["ada@acme.example", "bob@acme.example", false],
])("invites of %s and %s are for one person: %p", (one, other, expected) => {
  const invite = (name: string, email: string): Resource =>
    resource("GroupInvite", name, { parentUid: acme, roleUid: viewer.uid, email });
  const { subjects, principals } = compareSubjects(invite("a", one), invite("b", other));
  for (const subject of subjects) expect(principals.sharing(subject)).toHaveLength(expected ? 2 : 1);
});

test.each<[string, boolean, Props]>([
  ["its subject is the address", true, { issuer: "https://sso.acme.example", subject: "Ada@acme.example" }],
  ["its subject is the address behind a scheme", true, { subject: "mailto:Ada@acme.example" }],
  ["its subject is the address behind a connection", true, { subject: "email|ada@acme.example" }],
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

test.each([
  ["^ada@acme\\.example$", "ada@acme.example"],
  ["^ada\\+work@acme\\.example$", "ada@acme.example"],
  ["^a\\.da\\+[a-z]+@googlemail\\.com$", "ada@gmail.com"],
])(
  "whoever an invite means is the person of a pattern, whatever tag one of them has: %s",
  (email, mailbox) => {
    const tagged = mailbox.replace("ada", "Ada+home");
    const trusts: Props[] = [{ subject: "1", claimPatterns: { email } }, { subjectPattern: email }];
    for (const trust of trusts) {
      const person = identity("person", claims({ issuer: "https://sso.acme.example", ...trust }));
      const invites = [tagged, mailbox].map((address, i) =>
        resource("GroupInvite", `invite-${i}`, { parentUid: acme, roleUid: viewer.uid, email: address }),
      );
      for (const some of [invites, invites.slice(0, 1), invites.slice(1)]) {
        const { subjects, principals } = compareSubjects(person, binding(person, viewer, acme), ...some);
        for (const subject of subjects) expect(principals.sharing(subject)).toHaveLength(1 + some.length);
      }
    }
  },
);

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
  const comparer = new PatternComparer();
  const mayBeBob = (side: typeof after, past?: typeof after): boolean => {
    const principals = new Principals(side.entities, comparer, subjects, past?.entities);
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
