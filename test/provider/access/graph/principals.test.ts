import { Principals } from "../../../../provider/access/graph/principals";
import { graphOf } from "../../../../provider/access/graph/resolveGrants";
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
  GITHUB,
} from "../../../support/access";
import type { Resource } from "../../../support/access";

const GITLAB = "https://gitlab.com";
const two = "repo:acme/two:ref:refs/heads/main";

/** What a change of these resources has as subjects, and which of them one principal may be. */
function compareSubjects(...resources: readonly Resource[]) {
  const { after } = compareResources(groups, [...groups, viewer, ...resources]);
  const { entities, grants } = graphOf(after.entities);
  const subjects = grants.map(({ subject }) => subject);
  const principals = new Principals(entities, subjects, new PatternComparer());
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
  const same = principals.sharing(a).includes(b);
  // Asked from either side, the answer is the same.
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
const inRepository = (repository: string): Props => ({ claims: { repository } });
const matching = (repository: string): Props => ({ claimPatterns: { repository } });
const workflow = (file: string): Props => ({ workflow_ref: `acme/two/.github/workflows/${file}.yml@x` });
const ownedBy = "^repository_owner:acme:environment:.*$";
const ofGithub = by(
  GITHUB,
  ["numbers that a pattern leaves open", true, two, "^repo:acme@[0-9]+/two@[0-9]+:environment:x$"],
  ["another repository", false, two, "repo:acme/three:ref:refs/heads/main"],
  ["a pattern of it and others", true, two, "^repo:acme/two:ref:refs/heads/(main|x)$"],
  ["a repository with and without its numbers", true, two, "repo:acme@1/two@2:environment:e"],
  ["two patterns that overlap", true, "^repo:acme/.*:main$", "^repo:[a-z]+/two:.*$"],
  ["a branch's number", true, "repo:acme@1/two@2:ref:refs/heads/a@3", "^repo:acme/two:ref:refs/heads/a@3$"],
  ["a repository alone, and a branch", true, "^repo:acme/two$", "^repo:acme/two:ref:refs/heads/[a-z]+$"],
  ["a branch of another one", false, "^repo:acme/two$", "^repo:acme/two-more:ref:refs/heads/[a-z]+$"],
  // test/provider/access/trust/automaton.test.ts has what is written out at the start of a pattern.
  ["alternatives of another owner", false, two, "^repo:evil/(?:two|three):.*$"],
  ["two branches in front", true, "ref:refs/heads/a:repo:acme/two", "ref:refs/heads/b:repo:acme@1/two@2"],
  ["numbers of two repositories", false, "repository_id:1:environment:a", "repository_id:2:environment:a"],
  ["such patterns", false, "^repository_id:11:environment:.*$", "^repository_id:22:environment:.*$"],
  ["a pattern of an owner", true, two, ownedBy],
  ["a pattern of another one", false, "repo:globex/x:ref:x", ownedBy],
  ["its own number", true, "repo:acme@1/pay@2:environment:p", "repository_id:2:environment:p"],
  ["a repository by its workflow", true, two, "workflow_ref:acme/two/.github/workflows/a.yml@refs/heads/m"],
  [
    "the repository of a workflow that others use",
    false,
    two,
    "job_workflow_ref:acme/two/.github/workflows/a.yml@x:repo:acme/three",
  ],
  ["another claim of an owner", false, main(inRepository("acme/two")), main(inRepository("acme/three"))],
  ["a pattern of that claim", true, main(inRepository("acme/two")), main(matching("^acme/(two|three)$"))],
  [
    "a value, and a pattern that is too large to read",
    true,
    main(inRepository("acme/two")),
    main(matching(`^(acme/two|${"\\pL".repeat(60)})$`)),
  ],
  [
    "two environments of a repository that only claims name",
    true,
    { subject: "environment:a", ...inRepository("acme/two") },
    { subject: "environment:b", ...inRepository("acme/two") },
  ],
  [
    "environments of repositories that only claims name",
    false,
    { subject: "environment:a", ...inRepository("acme/two") },
    { subject: "environment:a", ...inRepository("acme/three") },
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
  ["a claim", { subject: e, ...inRepository("acme/two") }],
  ["a pattern of a claim", { subject: e, ...matching("^acme/.*$") }, true],
  ["its workflow", { subject: "ref:refs/heads/x", claims: workflow("a") }],
  ["its number and owner", { subject: `repository_id:55:${e}`, claims: { repository_owner: "acme" } }, true],
  ["its owner in the subject", `repository_owner:acme:${e}`, true],
  ["a pattern without it", { subjectPattern: "^environment:.*$", ...inRepository("acme/two") }],
  ["capitals", `repo:acme/Two:${e}`],
  ["a pattern in capitals", "^repo:Acme/Two:environment:.*$"],
  ["a claim in capitals", { subjectPattern: `:${e}$`, ...inRepository("ACME/two") }],
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
const b = { subject: "b", ...oid(OID) };
const besideOid: readonly [what: string, isOne: boolean, other: Props][] = [
  ["one oid", true, { ...b, audience: "two" }],
  ["one oid in a pattern", true, { subjectPattern: "^b$", claimPatterns: { oid: `^${OID.toUpperCase()}$` } }],
  ["a pattern of the issuer", true, { ...b, issuer: undefined, issuerPattern: azurePattern }],
  ["another oid", false, { subject: "b", ...oid(TENANT) }],
  ["one subject, and another oid", false, { subject: "a", ...oid(TENANT) }],
  ["another subject without an oid", false, { subject: "b" }],
  ["one subject without an oid", true, { subject: "a" }],
  ["an issuer of another kind", false, { ...b, issuer: "https://sso.acme.example" }],
  ["another tenant", false, { ...b, issuer: AZURE.replace(TENANT, OID) }],
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
const ADA = "ada@acme.example";
const AL = "al@acme.example";
const BOB = "bob@acme.example";
const who = (subject: string, claims: Props): Props => ({ subject, claims });
const account = (name: string): string => `system:serviceaccount:${name}`;
const pipeline = "organization:acme:pipeline:pay:ref:refs/heads/main";
const project = (id: string): Props => ({
  subjectPattern: "^org/.*$",
  claims: { "oidc.circleci.com/project-id": id },
});
const ofOthers = [
  ...by(
    SSO,
    ["one mail address", true, who("1", { email: ADA }), who("2", { email: "Ada@acme.example" })],
    ["one address in two claims", true, who("1", { upn: ADA }), who("2", { email: ADA })],
    ["two in two claims", false, who("1", { preferred_username: ADA }), who("2", { email: BOB })],
    ["an address as a subject and a claim", true, ADA, who("2", { email: "Ada@acme.example" })],
    ["two addresses, as the subject and in a claim", false, ADA, who("2", { email: BOB })],
    ["one subject, and addresses in two claims", true, who("a", { email: ADA }), who("a", { upn: AL })],
    ["one subject, and addresses in one claim", false, who("a", { email: ADA }), who("a", { email: BOB })],
    ["one address and another claim too", true, who("1", { email: ADA }), who("2", { email: ADA, upn: AL })],
    ["another in one of two claims", false, who("1", { email: ADA, upn: AL }), who("2", { upn: BOB })],
    ["one mail domain, and other subjects", false, ofDomain("1"), ofDomain("2")],
    ["environments at an issuer of one's own", false, "environment:a", "environment:b"],
  ),
  ...by(
    "https://agent.buildkite.com",
    ["a pipeline of Buildkite and the id of one", true, TENANT, pipeline],
    ["an id of another organisation", false, who(TENANT, { organization_slug: "evil" }), pipeline],
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
  ["the issuer of an enterprise", true, exact, saidBy(`${GITHUB}/acme`, `repo:acme/two:${e}`)],
  [
    "two service connections of one project of Azure DevOps",
    true,
    saidBy("https://vstoken.dev.azure.com/1", "sc://acme/pay/c1"),
    saidBy("https://vstoken.dev.azure.com/1", "sc://Acme/Pay/c2"),
  ],
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
  expect(subjects.filter(({ matchesMany }) => matchesMany)).toEqual([]);
  const counts = subjects.map((subject) => [subject.name, principals.sharing(subject).length]);
  expect(counts.sort()).toEqual([
    ["COSIGNED", 1],
    ["INGESTER", 3],
    ["INGESTER", 3],
    ["acts", 1],
    ["ingester", 3],
  ]);
});

const invite = (name: string, email: string): Resource =>
  resource("GroupInvite", name, { parentUid: acme, roleUid: viewer.uid, email });

test.each<[string, string, boolean]>([
  [ADA, "Ada@acme.example", true],
  [ADA, "ada+work@acme.example", true],
  ["a.da@gmail.com", "ada@googlemail.com", true],
  ["nia@b\u00fccher.example", "nia@xn--bcher-kva.example", true],
  ['"ada"@acme.example', "ada(work)@acme.example", true],
  [ADA, BOB, false],
  ["ada@acme example", "ada@acme_ example", false],
])("invites of %s and %s are for one person: %p", (one, other, expected) => {
  const { subjects, principals } = compareSubjects(invite("a", one), invite("b", other));
  for (const subject of subjects) expect(principals.sharing(subject)).toHaveLength(expected ? 2 : 1);
});

const { staticKeys: keyed } = withKeys("a") as { staticKeys: Props };
/** Whether the invites to these addresses, and an identity with this trust at our own issuer, are of one person. */
function areOfOne(trust: Props, ...addresses: string[]): boolean {
  const person = identity("person", "staticKeys" in trust ? trust : claims({ issuer: SSO, ...trust }));
  const invites = addresses.map((address, i) => invite(`invite-${i}`, address));
  const { subjects, principals } = compareSubjects(person, binding(person, viewer, acme), ...invites);
  const shared = new Set(subjects.map((subject) => principals.sharing(subject).length));
  expect([...shared]).toEqual([shared.has(1) ? 1 : 1 + addresses.length]);
  return !shared.has(1);
}

test.each<[string, boolean, Props]>([
  ["its subject is the address", true, { subject: "Ada@acme.example" }],
  ["its subject is the address behind a scheme", true, { subject: "mailto:Ada@acme.example" }],
  ["its subject is the address behind a connection", true, { subject: `email|${ADA}` }],
  ["its claim is", true, { issuer: GITHUB, ...who(two, { email: ADA }) }],
  ["a pattern of its claim matches it", true, ofDomain("1")],
  ["its subject is another address", false, { subject: BOB }],
  ["a pattern of its claim does not match it", false, { subject: "1", claimPatterns: { email: "^b.*$" } }],
  ["its key has a subject that is the address", false, { staticKeys: { ...keyed, subject: ADA } }],
  ["it names none", false, { issuer: GITHUB, subject: two }],
])("an invite is for the person of an identity where %s: %p", (_what, expected, trust) => {
  expect(areOfOne(trust, ADA)).toBe(expected);
});

test.each([
  ["^ada@acme\\.example$", ADA],
  ["^ada\\+work@acme\\.example$", ADA],
  ["^a\\.da\\+[a-z]+@googlemail\\.com$", "ada@gmail.com"],
])(
  "whoever an invite means is the person of a pattern, whatever tag one of them has: %s",
  (email, mailbox) => {
    const tagged = mailbox.replace("ada", "Ada+home");
    for (const trust of [{ subject: "1", claimPatterns: { email } }, { subjectPattern: email }])
      for (const invited of [[tagged, mailbox], [tagged], [mailbox]])
        expect(areOfOne(trust, ...invited)).toBe(true);
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
  const mayBeBob = (side: typeof after, past?: typeof after): boolean => {
    const principals = new Principals(side.entities, subjects, new PatternComparer(), past?.entities);
    const [one, group] = ["bob", "a"].map((name) => subjects.find((subject) => subject.name === name));
    return principals.sharing(one!).includes(group!);
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
  expect(principals.distinct(subjects, (subject) => subject)).toHaveLength(400);
});
