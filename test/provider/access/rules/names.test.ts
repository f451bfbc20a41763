import { labelEntity } from "../../../../provider/access/rules/wording";
import builtInRoles from "../../../../emulator/data/builtinRoles.json";
import { builtInRoleNames } from "../../../../provider/access/rules/data/builtInRoleNames";
import { isCalledByName } from "../../../../provider/access/graph/accessKinds";
import { specs } from "../../../../provider/access/documents/specs";
import type { Comparison } from "../../../../provider/access/review/compare";
import {
  acme,
  binding,
  cards,
  compareResources,
  group,
  groups,
  identity,
  owner,
  payments,
  pinned,
  resource,
  role,
  viewer,
  edit,
} from "../../../support/access";
import type { Resource } from "../../../support/access";
import { found, severitiesOf } from "./support";

const base = [...groups, viewer, owner];
const change = (before: Resource[], after: Resource[]): Comparison =>
  compareResources([...base, ...before], [...base, ...after]);
const called = (one: Resource, name: string): Resource => edit(one, { name });

type Make = (name: string, parentUid?: string) => Resource;

/** One object of each kind that is found by its path, at the place of the second argument. */
const placed: Readonly<Record<string, Make>> = {
  Group: (name, parentUid = acme) => {
    const made = resource("Group", name, { parentUid });
    return { ...made, uid: `${parentUid}/${made.uid.slice(-16)}` };
  },
  Repo: (name, parentUid = payments) => resource("Repo", name, { parentUid }),
};

/** One object of each kind that lists call by name. */
const kinds: Readonly<Record<string, Make>> = {
  Role: (name, parentUid = acme) => resource("Role", name, { parentUid, capabilities: ["CAP_TAG_CREATE"] }),
  Identity: (name, parentUid = payments) => resource("Identity", name, { parentUid, ...pinned }),
  IdentityProvider: (name, parentUid = acme) =>
    resource("IdentityProvider", name, {
      parentUid,
      defaultRole: viewer.uid,
      oidc: { issuer: `https://${name}.example`, clientId: name },
    }),
};

test("has the names of the platform's roles", () => {
  expect(builtInRoleNames).toEqual(Object.keys(builtInRoles).sort());
});

test("tries each kind that has a name and is found by it", () => {
  const named = Object.values(specs).flatMap((spec) => {
    if (spec === undefined || !("name" in spec.fields)) return [];
    const isPulled = spec.usedBy === "imageName" && spec.identifiedBy === undefined;
    return spec.kind === "Group" || isCalledByName(spec.kind) || isPulled ? [spec.kind] : [];
  });
  expect([...Object.keys(kinds), ...Object.keys(placed)].sort()).toEqual(named.sort());
});

describe("a group that is renamed", () => {
  const team = group("team", `${acme}/${"5".repeat(16)}`);
  const below = group("below", `${team.uid}/${"6".repeat(16)}`);
  const ci = identity("ci", pinned);
  const writer = role("writer", ["TAG_CREATE"]);
  const repo = resource("Repo", "api", { parentUid: below.uid });

  test.each<[string, Resource[], string[]]>([
    ["has nothing in it", [], []],
    ["has a reader below it", [binding(ci, viewer, below.uid)], ["low"]],
    ["has somebody who writes below it", [binding(ci, writer, below.uid)], ["medium"]],
    ["has a repository below it", [repo], ["medium"]],
  ])("%s", (_title, more, expected) => {
    const all = [team, below, ci, writer, ...more];
    const renamed = all.map((each) => (each === team ? called(team, "old") : each));
    expect(severitiesOf("X6", change(all, renamed))).toEqual(expected);
  });
});

/* Two that exchange their names in several changes do so in each of them: no review knows the names of earlier ones. */
test.each(Object.entries({ ...kinds, ...placed }))("a %s that is used gets another name", (kind, made) => {
  const old = made("production");
  const writer = role("writer", ["TAG_CREATE"]);
  const ci = identity("ci", pinned);
  const uses: Readonly<Record<string, Resource[]>> = {
    Role: [binding(ci, old, payments)],
    Identity: [binding(old, writer, payments)],
    Group: [binding(ci, writer, old.uid)],
  };
  const all = [writer, ci, ...(uses[kind] ?? [])];
  const renamed = change([...all, old], [...all, called(old, "tmp")]);
  // Everybody who signs in by a provider reads.
  expect(severitiesOf("X6", renamed)).toEqual([kind === "IdentityProvider" ? "low" : "medium"]);
});

describe.each([
  ...Object.entries(kinds).map(([kind, made]) => ["name", kind, made, payments, "medium"] as const),
  ...Object.entries(placed).map(
    ([kind, made]) => ["path", kind, made, kind === "Group" ? acme : payments, "high"] as const,
  ),
])("the %s of a %s", (what, _kind, made, parent, severity) => {
  const [one, other] = [made("one"), made("other")];
  const taken = made("other", cards);

  test.each<[string, Resource[], Resource[]]>([
    ["that another one has", [one, other], [called(one, "other"), other]],
    ["that another one had", [one, other], [called(one, "other"), called(other, "third")]],
    ["but for its case and spaces", [one, other], [called(one, " Other\u200b"), other]],
    ["but for a variation selector", [one, other], [called(one, "other\ufe0f"), other]],
    ["of one that is deleted", [one, other], [called(one, "other")]],
  ])("%s", (_title, before, after) => {
    const findings = found("X6", change(before, after)).filter(({ urn }) => urn === one.urn);
    expect(findings).toMatchObject([{ severity, field: "name" }]);
    expect(findings[0]?.message).toContain(`is or was the ${what} of another one`);
  });

  test("of another group is a finding for a name, and none for a path", () => {
    const renamed = found("X6", change([one, taken], [called(one, "other"), taken]));
    const findings = renamed.filter(({ message }) => message.includes("of another one"));
    expect(findings.map(({ severity: is }) => is)).toEqual(what === "name" ? [severity] : []);
  });

  test("that two exchange is two findings", () => {
    const after = [called(one, "other"), called(other, "one")];
    expect(severitiesOf("X6", change([one, other], after))).toEqual([severity, severity]);
  });

  test("that a new one takes beside another one is a finding", () => {
    const second = { ...one, uid: `${parent}/${"8".repeat(16)}`, urn: `${one.urn}-second` };
    expect(severitiesOf("X6", change([one], [one, second]))).toEqual([severity]);
  });

  test("is none where a resource is renamed in its program, is new, or keeps its name", () => {
    const moved = { ...one, uid: `${parent}/${"8".repeat(16)}`, urn: `${one.urn}-moved` };
    expect(found("X6", change([one], [moved]))).toEqual([]);
    const beside = what === "name" ? [] : [taken];
    expect(found("X6", change(beside, [...beside, other]))).toEqual([]);
    const described = edit(one, { description: "new" });
    expect(found("X6", change([one, other], [described, other]))).toEqual([]);
  });
});

test.each([...builtInRoleNames, "Viewer", "ow\u200bner"])(
  "a role called %s, as one of the platform",
  (name) => {
    expect(severitiesOf("X6", change([], [role(name, ["REPO_LIST"])]))).toEqual(["medium"]);
    const renamed = role("some", ["REPO_LIST"]);
    expect(severitiesOf("X6", change([renamed], [called(renamed, name)]))).toEqual(["medium"]);
  },
);

describe("two of one name", () => {
  test("are told apart where people sign in by them", () => {
    const providers = ["a", "b"].map((name) => called(kinds["IdentityProvider"]!(name), "sso"));
    const given = { externalGroupId: "admins", roleUid: viewer.uid, scope: acme };
    const mappings = providers.map(({ uid: parentUid }, i) =>
      resource("ExternalGroupRoleMapping", `m${i}`, { parentUid, ...given }),
    );
    const { grants } = change(providers, [...providers, ...mappings]);
    const names = grants.map(({ grant: { subject } }) => subject.displayName);
    expect(new Set(names).size).toBe(2);
    for (const [i, name] of [...names].sort().entries()) {
      expect(name).toMatch(
        new RegExp(`of sso \\(https://${"ab"[i] ?? ""}\\.example, in acme, uid …/[0-9a-f]{16}\\)$`),
      );
    }
  });
});

test.each([
  ["ci", "identity ci"],
  [" ci", "identity “ ci”"],
  ["\tci", "identity “\\tci”"],
  ["c i", "identity “c i”"],
  ["ci” is deleted, and “x", 'identity “ci" is deleted, and "x”'],
])("the label of a name that reads as more than a name is in quotes: %j", (name, label) => {
  expect(labelEntity({ kind: "Identity", name })).toBe(label);
});
