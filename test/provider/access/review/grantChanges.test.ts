import fc, { casesOf } from "../../../support/properties";
import { diffGrants, changesByMoves } from "../../../../provider/access/review/grantChanges";
import { grantKey, graphOf } from "../../../../provider/access/graph/resolveGrants";
import type { Entity, AccessGraph } from "../../../../provider/access/graph/model";
import type { Props } from "../../../../provider/fields/values";
import { compare } from "../../../../provider/access/review/compare";
import { listResources, preview, stepsOf } from "../../../../provider/access/rules/ruleTesting";
import * as access from "../../../support/access";

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
    secretPaths: [],
  };
}

const graph = (...entities: Entity[]): AccessGraph => graphOf(new Map(entities.map((one) => [one.key, one])));

const at = (n: number): string => child(ROOT_UID, n);
const [team, below, someone, other, reader, writer] = [at(1), at(2), at(3), at(4), at(5), at(6)] as const;
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

const services = (group: string, serviceBindings: Props) =>
  entity("AccountAssociation", `AccountAssociation:${group}`, {
    parentUid: group,
    name: "services",
    chainguard: { serviceBindings },
  });
/** The basis with another definition of an object in it. */
const basisWith = (changed: Entity): Entity[] =>
  basis.map((one) => (one.key === changed.key ? changed : one));

const told = (before: AccessGraph, after: AccessGraph) => {
  const { changes, unchanged } = diffGrants(before, after);
  return { changes: changes.map(({ change, reason }) => `${change}: ${reason}`), unchanged };
};

describe("the difference between two graphs", () => {
  const before = graph(...basis, binding(1, someone, reader, team));

  test("calls another role with the same capabilities wider: others may change it", () => {
    const same = basisWith(role(writer, "CAP_REPO_LIST"));
    const [from, to] = [reader, writer].map((key) => graph(...same, binding(1, someone, key, team)));
    if (from === undefined || to === undefined) throw new Error("no graphs");
    expect(told(from, to).changes).toEqual([
      "widened: the role changes from reader to writer, another role with the same capabilities",
    ]);
  });

  const aside = child(ROOT_UID, 9);
  const besides = entity("Group", aside, { parentUid: ROOT_UID, name: "aside" });
  const movedTo = (parentUid: string) => entity("Group", aside, { parentUid, name: "aside" });

  test.each<[string, Entity, Entity, Entity, string, string[][]]>([
    [
      "a grant that moves down to a group below which another one moves",
      movedTo(below),
      binding(1, someone, writer, team),
      binding(1, someone, writer, below),
      "widened: moves from acme / team down to acme / team / below; acme / aside moves there",
      [["CAP_REPO_LIST", "CAP_REPO_UPDATE"]],
    ],
    [
      "a smaller role on a group below which another one moves",
      movedTo(below),
      binding(1, someone, writer, team),
      binding(1, someone, reader, team),
      "widened: the role changes from writer to reader; acme / aside moves there",
      [["CAP_REPO_LIST"]],
    ],
  ])("does not call narrower what reaches another group: %s", (_what, moved, old, now, line, onMoved) => {
    const [from, to] = [graph(...basis, besides, old), graph(...basis, moved, now)];
    expect(told(from, to).changes).toEqual([line]);
    const gained = changesByMoves(from, to).filter(({ change }) => change === "gained");
    expect(gained.map(({ grant, capabilitiesAdded }) => [grant.group.key, capabilitiesAdded])).toEqual(
      onMoved.map((capabilities) => [aside, capabilities]),
    );
  });

  test("gives what is held above the new place of a group, and takes what was above the old one alone", () => {
    const held = [
      binding(1, someone, reader, team),
      binding(2, other, reader, team),
      binding(3, other, reader, ROOT_UID),
      binding(4, someone, writer, aside),
    ];
    const under = (parentUid: string) =>
      basisWith(entity("Group", below, { parentUid, name: "below" })).concat(besides, held);
    const [from, to] = [graph(...under(team)), graph(...under(aside))];
    expect(
      changesByMoves(from, to).map(({ change, grant, reason }) => [change, grant.role.key, reason]),
    ).toEqual([
      ["gained", writer, "acme / team / below moves below acme / aside, where this is granted"],
      ["lost", reader, "acme / team / below moves away from acme / team, where this is granted"],
    ]);
  });

  test("calls a role of which nothing is known afterwards widened, not unchanged", () => {
    const unknown = entity("Role", reader, { parentUid: ROOT_UID, name: "reader" });
    const after = graph(...basisWith(unknown), binding(1, someone, reader, team));
    expect(told(before, after).changes).toEqual(["widened: what the role allows is not known on one side"]);
  });

  test("follows a service to what its identity holds", () => {
    const acting = services(team, { INGESTER: someone });
    const { changes } = diffGrants(before, graph(...basis, binding(1, someone, reader, team), acting));
    expect(
      changes.map(({ grant }) => [grant.subject.displayName, grant.role.name, grant.group.path]),
    ).toEqual([["the platform's service INGESTER, as “identity 3”", "reader", "acme / team"]]);
  });
});

describe("two graphs of any kind", () => {
  const keys = ({ grants, hierarchy }: AccessGraph) =>
    new Set(grants.map((grant) => grantKey(grant, hierarchy)));
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
        ...(service === undefined ? [] : [services(team, { INGESTER: service })]),
      ),
    );

  test("before + gained - lost = after, and each grant is counted once", () => {
    fc.assert(
      fc.property(organisation, organisation, (before, after) => {
        const { changes, unchanged } = diffGrants(before, after);
        const result = keys(before);
        const size = result.size;
        const gone = changes.flatMap(({ change, grant, before: old }) =>
          change === "lost" ? [grant] : old ? [old] : [],
        );
        const come = changes.flatMap(({ change, grant }) => (change === "lost" ? [] : [grant]));
        for (const grant of gone) expect(result.delete(grantKey(grant, before.hierarchy))).toBe(true);
        for (const grant of come) {
          const key = grantKey(grant, after.hierarchy);
          expect(result.has(key)).toBe(false);
          result.add(key);
        }
        expect([...result].sort()).toEqual([...keys(after)].sort());
        expect(unchanged).toBe(size - gone.length);
      }),
      { numRuns: casesOf(200) },
    );
  });
});

test("what comes in the place of an identity that stays at the server, with a grant by hand, gains it", () => {
  const { binding: bindingOf, groups: all, viewer, payments } = access;
  const ci = access.identity("ci", access.pinned);
  const now = {
    ...ci,
    inputs: { ...ci.inputs, ...access.claims({ issuer: "https://x.example", subject: "x" }) },
  };
  const bound = bindingOf(ci, viewer, payments);
  const byHand = { ...bound, uid: `${payments}/${"9".repeat(16)}`, urn: `${bound.urn}-hand` };
  const before = [...all, viewer, ci, bound];
  const steps = stepsOf(before, [...all, viewer, now, bound], [now]).map((each) =>
    each.urn === ci.urn ? { ...each, oldState: { ...each.oldState!, retainOnDelete: true } } : each,
  );
  const inventory = listResources(access.acme, [...before, byHand]);
  const { grants } = compare({ preview: preview(...steps), inventory });
  expect(grants).toMatchObject([{ change: "gained", grant: { subject: { key: ci.uid }, urn: bound.urn } }]);
});

test("moved groups change the grants of holders above them up to a limit", () => {
  const holders = Array.from({ length: 250 }, (_, i) => identity(at(1000 + i)));
  const bindings = holders.map(({ key }, i) => binding(i, key, reader, below));
  const sideOf = (count: number, parentUid: string): AccessGraph => {
    const moving = Array.from({ length: count }, (_, i) =>
      entity("Group", at(2000 + i), { parentUid, name: `g${i}` }),
    );
    return graph(...basis, ...holders, ...bindings, ...moving);
  };
  const move = (count: number) => changesByMoves(sideOf(count, team), sideOf(count, below));
  expect(move(200)).toHaveLength(50_000);
  expect(() => move(201)).toThrow(
    "the groups that move gain and lose more grants, and at most 50,000 are read: move fewer of them at once",
  );
});
