import { Principals } from "../../../../provider/access/graph/principals";
import { graphOf } from "../../../../provider/access/graph/grants";
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

test.each<[string, boolean, Props, Props]>([
  ["the same trust", true, exact, exact],
  ["another repository", false, exact, github({ subject: "repo:acme/three:ref:refs/heads/main" })],
  ["another issuer", false, exact, claims({ issuer: "https://gitlab.com", subject: two })],
  ["a pattern that is the same text", true, exact, github({ subjectPattern: `^${two}$` })],
  [
    "a pattern of it and others",
    true,
    exact,
    github({ subjectPattern: "^repo:acme/two:ref:refs/heads/(main|x)$" }),
  ],
  ["a pattern of others", false, exact, github({ subjectPattern: "^repo:acme/three:.*$" })],
  [
    "a claim that its tokens may have",
    true,
    exact,
    github({ subject: two, claims: { repository: "acme/two" } }),
  ],
  [
    "other values of one claim",
    false,
    github({ subject: two, claims: { environment: "a" } }),
    github({ subject: two, claims: { environment: "b" } }),
  ],
  [
    "a value and a pattern of one claim",
    true,
    github({ subject: two, claims: { environment: "a" } }),
    github({ subject: two, claimPatterns: { environment: "^[a-c]$" } }),
  ],
  [
    "another audience",
    false,
    github({ subject: two, audience: "a" }),
    github({ subject: two, audience: "b" }),
  ],
  ["no audience and one", true, exact, github({ subject: two, audience: "b" })],
  [
    "two patterns that overlap",
    true,
    github({ subjectPattern: "^repo:acme/.*:main$" }),
    github({ subjectPattern: "^repo:[a-z]+/two:.*$" }),
  ],
  [
    "two patterns that do not",
    false,
    github({ subjectPattern: "^repo:acme/.*:main$" }),
    github({ subjectPattern: "^repo:acme/.*:other$" }),
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

test("everybody in a group of a directory signs in by it, and no document tells who is in two groups", () => {
  const provider = resource("IdentityProvider", "staff", { parentUid: acme, defaultRole: viewer.uid });
  const mapping = (name: string): Resource =>
    resource("ExternalGroupRoleMapping", name, {
      parentUid: provider.uid,
      externalGroupId: name,
      roleUid: viewer.uid,
      scope: acme,
    });
  const { subjects, principals } = compareSubjects(provider, mapping("a"), mapping("b"));
  const find = (name: string) => subjects.find((subject) => subject.name === name);
  const [directory, a, b] = [find("staff"), find("a"), find("b")];
  if (directory === undefined || a === undefined || b === undefined)
    throw new Error("there are three subjects");
  expect(
    [
      [directory, a],
      [a, directory],
      [a, b],
    ].map(([x, y]) => principals.mayBeSame(x!, y!)),
  ).toEqual([true, true, false]);
  expect(
    principals
      .sharing(directory)
      .map(({ key }) => key)
      .sort(),
  ).toEqual([directory.key, a.key, b.key].sort());
  expect(
    principals
      .sharing(a)
      .map(({ key }) => key)
      .sort(),
  ).toEqual([a.key, directory.key].sort());
});
