import fc, { casesOf } from "../../../support/properties";
import { diffGrants } from "../../../../provider/access/review/grantChanges";
import { grantKey, GroupHierarchy } from "../../../../provider/access/graph/groupHierarchy";
import type { Entity, AccessGraph } from "../../../../provider/access/graph/model";
import type { Grant } from "../../../../provider/access/graph/grant";
import { graphOf } from "../../../../provider/access/graph/grants";
import type { Props } from "../../../../provider/engine/description";

const ROOT_UID = "a".repeat(40);
const child = (parent: string, n: number): string => `${parent}/${n.toString(16).padStart(16, "0")}`;

function entity(kind: string, key: string, inputs: Props): Entity {
  const name = inputs["name"];
  return {
    key,
    kind,
    uid: key,
    urn: `urn:pulumi:s::p::pulumi-nodejs:dynamic/platform:${kind}::${key}`,
    name: typeof name === "string" ? name : undefined,
    inputs,
    unresolved: [],
    secretPaths: [],
  };
}

const graph = (...entities: Entity[]): AccessGraph => graphOf(new Map(entities.map((one) => [one.key, one])));

const [team, below, someone, other, reader, writer] = [1, 2, 3, 4, 5, 6].map((n) => child(ROOT_UID, n)) as [
  string,
  string,
  string,
  string,
  string,
  string,
];
const root = entity("Group", ROOT_UID, { name: "acme" });
const groups = [
  root,
  entity("Group", team, { parentUid: ROOT_UID, name: "team" }),
  entity("Group", below, { parentUid: team, name: "below" }),
];
const github = {
  issuer: "https://token.actions.githubusercontent.com",
  subject: "repo:acme/pay:ref:refs/heads/main",
};
const identity = (key: string, claimMatch: Props = github) =>
  entity("Identity", key, { parentUid: ROOT_UID, name: `identity ${key.slice(-1)}`, claimMatch });
const role = (key: string, ...capabilities: string[]) =>
  entity("Role", key, { parentUid: ROOT_UID, name: key === reader ? "reader" : "writer", capabilities });
const binding = (key: number, identityUid: string, roleUid: string, parentUid: string) =>
  entity("RoleBinding", child(parentUid, 100 + key), { parentUid, identityUid, roleUid });
const basis = [
  ...groups,
  identity(someone),
  identity(other),
  role(reader, "CAP_REPO_LIST"),
  role(writer, "CAP_REPO_LIST", "CAP_REPO_UPDATE"),
];

const told = (before: AccessGraph, after: AccessGraph) => {
  const { changes, unchanged } = diffGrants(before, after);
  return { changes: changes.map(({ change, reason }) => `${change}: ${reason}`), unchanged };
};

describe("the difference between two graphs", () => {
  const before = graph(...basis, binding(1, someone, reader, team));

  test("is empty if another resource grants the same", () => {
    const access = entity("GroupAccess", `GroupAccess:${team}`, {
      parentUid: team,
      bindings: { "ci reads": { identityUid: someone, roleUid: reader } },
    });
    expect(told(before, graph(...basis, access))).toEqual({ changes: [], unchanged: 1 });
  });

  test("is empty if one of two equal bindings is deleted", () => {
    const twice = graph(...basis, binding(1, someone, reader, team), binding(2, someone, reader, team));
    expect(told(twice, before)).toEqual({ changes: [], unchanged: 1 });
  });

  test.each([
    [
      "a binding that moves up",
      [binding(1, someone, reader, ROOT_UID)],
      "widened: moves from acme / team up to acme",
    ],
    [
      "a binding that moves down",
      [binding(1, someone, reader, below)],
      "narrowed: moves from acme / team down to acme / team / below",
    ],
    [
      "a role that can do more",
      [binding(1, someone, writer, team)],
      "widened: the role changes from reader to writer",
    ],
  ])("reports %s as one change", (_what, bindings, line) => {
    expect(told(before, graph(...basis, ...bindings))).toEqual({ changes: [line], unchanged: 0 });
  });

  test("lists a role with fewer capabilities as one change", () => {
    const wide = graph(...basis, binding(1, someone, writer, team));
    expect(told(wide, before).changes).toEqual(["narrowed: the role changes from writer to reader"]);
  });

  test("lists a change of the holder as a loss and a gain", () => {
    const after = graph(...basis, binding(1, other, reader, team));
    expect(told(before, after).changes.sort()).toEqual(["gained: new grant", "lost: grant removed"]);
  });

  test("treats a moved group as another scope", () => {
    const moved = [root, groups[1]!, entity("Group", below, { parentUid: ROOT_UID, name: "below" })];
    const [old, now] = [groups, moved].map((of) =>
      graph(...of, ...basis.slice(groups.length), binding(1, someone, reader, below)),
    );
    expect(told(old!, now!).changes.sort()).toEqual(["gained: new grant", "lost: grant removed"]);
  });

  const withClaims = (claimMatch: Props) =>
    graph(
      ...basis.filter(({ key }) => key !== someone),
      identity(someone, claimMatch),
      binding(1, someone, reader, team),
    );
  const { issuer } = github;

  test.each<[string, Props, Props, string]>([
    ["a pattern in the place of a subject", github, { issuer, subjectPattern: "^repo:acme/.*$" }, "widened"],
    ["a subject that the pattern accepted", { issuer, subjectPattern: "^repo:acme/.*$" }, github, "narrowed"],
    [
      "a subject that the pattern did not accept",
      { issuer, subjectPattern: "^repo:other/.*$" },
      github,
      "widened",
    ],
    ["a further claim", github, { ...github, claims: { environment: "production" } }, "narrowed"],
    ["a claim that goes", { ...github, claims: { environment: "production" } }, github, "widened"],
    ["another claim", { ...github, claims: { a: "1" } }, { ...github, claims: { a: "2" } }, "widened"],
    ["another subject", github, { issuer, subject: "repo:acme/pay:pull_request" }, "widened"],
    ["another issuer", github, { ...github, issuer: "https://gitlab.com" }, "widened"],
    ["a pattern that is no pattern", { issuer, subjectPattern: "(" }, github, "widened"],
  ])("reports %s by its effect on trust", (_what, old, now, change) => {
    expect(diffGrants(withClaims(old), withClaims(now)).changes.map((one) => one.change)).toEqual([change]);
  });

  test("names the capabilities that a bound role gains and loses", () => {
    const after = graph(
      ...basis.filter(({ key }) => key !== reader),
      role(reader, "CAP_TAG_LIST"),
      binding(1, someone, reader, team),
    );
    expect(diffGrants(before, after).changes).toMatchObject([
      { change: "widened", capabilitiesAdded: ["CAP_TAG_LIST"], capabilitiesRemoved: ["CAP_REPO_LIST"] },
    ]);
  });

  test("calls a role of which nothing is known afterwards widened, not unchanged", () => {
    const after = graph(
      ...basis.filter(({ key }) => key !== reader),
      entity("Role", reader, { parentUid: ROOT_UID, name: "reader" }),
      binding(1, someone, reader, team),
    );
    expect(told(before, after).changes).toEqual(["widened: what the role allows is not known on one side"]);
  });

  test("follows a service to what its identity holds", () => {
    const services = entity("AccountAssociation", `AccountAssociation:${team}`, {
      parentUid: team,
      name: "services",
      chainguard: { serviceBindings: { INGESTER: someone } },
    });
    const { changes } = diffGrants(before, graph(...basis, binding(1, someone, reader, team), services));
    expect(
      changes.map(({ grant }) => [grant.subject.displayName, grant.role.name, grant.group.path]),
    ).toEqual([["the platform's service INGESTER, as identity 3", "reader", "acme / team"]]);
  });
});

describe("two graphs of any kind", () => {
  const keys = (of: AccessGraph, places: GroupHierarchy) =>
    new Set(of.grants.map((grant) => grantKey(grant, places)));
  const parents = [undefined, ROOT_UID, team];
  const organisation = fc
    .record({
      parentOfBelow: fc.constantFrom(ROOT_UID, team),
      capabilities: fc.array(fc.subarray(["CAP_A", "CAP_B", "CAP_C"]), { minLength: 2, maxLength: 2 }),
      subjects: fc.array(fc.constantFrom("one", "two"), { minLength: 2, maxLength: 2 }),
      bindings: fc.array(
        fc.record({
          identity: fc.constantFrom(someone, other),
          role: fc.constantFrom(reader, writer),
          group: fc.constantFrom(ROOT_UID, team, below),
          kind: fc.constantFrom("RoleBinding", "GroupAccess", "GroupInvite"),
        }),
        { maxLength: 8 },
      ),
      service: fc.constantFrom(undefined, someone, other),
    })
    .map(({ parentOfBelow, capabilities, subjects, bindings, service }) =>
      graph(
        root,
        entity("Group", team, { parentUid: parents[1], name: "team" }),
        entity("Group", below, { parentUid: parentOfBelow, name: "below" }),
        ...[someone, other].map((key, i) =>
          identity(key, { issuer: "https://i.example.com", subject: subjects[i] }),
        ),
        ...[reader, writer].map((key, i) => role(key, ...(capabilities[i] ?? []))),
        ...bindings.map(({ kind, ...one }, i) => {
          const key = child(one.group, 200 + i);
          if (kind === "GroupInvite") {
            return entity(kind, key, { parentUid: one.group, roleUid: one.role, email: `${i}@example.com` });
          }
          const grant = { identityUid: one.identity, roleUid: one.role };
          return kind === "RoleBinding"
            ? entity(kind, key, { parentUid: one.group, ...grant })
            : entity(kind, key, { parentUid: one.group, bindings: { label: grant } });
        }),
        ...(service === undefined
          ? []
          : [
              entity("AccountAssociation", `AccountAssociation:${team}`, {
                parentUid: team,
                chainguard: { serviceBindings: { INGESTER: service } },
              }),
            ]),
      ),
    );

  test("before + gained - lost = after, and each grant is counted once", () => {
    fc.assert(
      fc.property(organisation, organisation, (before, after) => {
        const places = {
          before: new GroupHierarchy(before.entities),
          after: new GroupHierarchy(after.entities),
        };
        const { changes, unchanged } = diffGrants(before, after);
        const result = keys(before, places.before);
        const size = result.size;
        const gone = changes.flatMap(({ change, grant, before: old }) =>
          change === "lost" ? [grant] : old ? [old] : [],
        );
        const come = changes.flatMap(({ change, grant }) => (change === "lost" ? [] : [grant]));
        for (const grant of gone) expect(result.delete(grantKey(grant, places.before))).toBe(true);
        for (const grant of come) {
          const key = grantKey(grant, places.after);
          expect(result.has(key)).toBe(false);
          result.add(key);
        }
        expect([...result].sort()).toEqual([...keys(after, places.after)].sort());
        expect(unchanged).toBe(size - gone.length);
      }),
      { numRuns: casesOf(200) },
    );
  });

  test("a graph does not differ from itself", () => {
    fc.assert(
      fc.property(organisation, (one) => {
        expect(diffGrants(one, one).changes).toEqual([]);
      }),
    );
  });

  test("gained grants in one direction are lost grants in the other", () => {
    const keysOf = (of: AccessGraph, grants: readonly Grant[]) =>
      grants.map((grant) => grantKey(grant, new GroupHierarchy(of.entities))).sort();
    fc.assert(
      fc.property(organisation, organisation, (one, two) => {
        const come = diffGrants(one, two).changes.flatMap(({ change, grant }) =>
          change === "lost" ? [] : [grant],
        );
        const gone = diffGrants(two, one).changes.flatMap(({ change, grant, before }) =>
          change === "lost" ? [grant] : before ? [before] : [],
        );
        expect(keysOf(two, come)).toEqual(keysOf(two, gone));
      }),
    );
  });
});
