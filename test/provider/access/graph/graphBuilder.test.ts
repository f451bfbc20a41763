import { compare } from "../../../../provider/access/review/compare";
import type { Inventory, InventoryObject } from "../../../../provider/access/documents/inventory";
import { parsePreview } from "../../../../provider/access/documents/preview";
import {
  effectiveAccess,
  graphOfInventory,
  graphOfState,
} from "../../../../provider/access/graph/effectiveAccess";
import { parseStateExport } from "../../../../provider/access/documents/stateExport";
import { identityKey, aggregatedKind, createOnlyOutputs } from "../../../../provider/fields/resourceSpec";
import { UNKNOWN } from "../../../../provider/fields/values";
import type { Props } from "../../../../provider/fields/values";
import { inventoryOf, preview, same, state, step, urn } from "../../../support/documents";
import { specs } from "../../../../provider/access/documents/specs";
import { samples } from "../../../support/samples";
import { withUids } from "../../../support/byHand";
import { lines } from "../fixtures";

const ROOT_UID = "a".repeat(40);
const uid = (n: number): string => `${ROOT_UID}/${n.toString(16).padStart(16, "0")}`;
const [TEAM, CI, READER, BINDING, HAND] = [uid(1), uid(2), uid(3), uid(4), uid(5)] as const;
const inventory = (...objects: InventoryObject[]): Inventory => inventoryOf(ROOT_UID, ...objects);
const root = state("Group", "root", { name: "acme" }, { id: ROOT_UID });
const team = state("Group", "team", { parentUid: ROOT_UID, name: "team" }, { id: TEAM });
const claimMatch = {
  issuer: "https://token.actions.githubusercontent.com",
  subject: "repo:acme/pay:pull_request",
};
const ci = state("Identity", "ci", { parentUid: TEAM, name: "ci", claimMatch }, { id: CI });
const reads = { parentUid: ROOT_UID, name: "reader", capabilities: ["CAP_REPO_LIST"] };
const reader = state("Role", "reader", reads, { id: READER });
const grant = { parentUid: TEAM, identityUid: CI, roleUid: READER };
const binding = state("RoleBinding", "binding", grant, { id: BINDING });
const basis = [root, team, reader];
const access = (bindings: Props, flags: Props = { id: TEAM }) =>
  state("GroupAccess", "access", { parentUid: TEAM, bindings }, flags);
const holder = { identityUid: CI, roleUid: READER };

/** What a preview of the basis and these steps changes. */
const update = (...steps: { op: string }[]) => compare({ preview: preview(...basis.map(same), ...steps) });
/** The same beside what the server lists. */
const updateOf = (listed: readonly InventoryObject[], ...steps: { op: string }[]) =>
  compare({ preview: preview(...basis.map(same), ...steps), inventory: inventory(...listed) });

const asFirst = "GitHub Actions of acme/pay, any pull request: reader at acme / team";

describe("groups that lie in each other", () => {
  const names = ["one", "two", "three"];
  const circle = (count: number) =>
    names
      .slice(0, count)
      .map((name, i) =>
        state("Group", name, { parentUid: uid(10 + ((i + 1) % count)), name }, { id: uid(10 + i) }),
      );
  const bound = state("RoleBinding", "in", { ...grant, parentUid: uid(10) }, { id: BINDING });

  test.each([2, 3])("are refused, as no one can say who has access there: %i", (count) => {
    const all = [...basis, ci, ...circle(count), bound];
    const said = /^the document says that the group one( lies in (two|three))* lies in one: write it again$/;
    expect(() => compare({ preview: preview(...all.map(same)) })).toThrow(said);
    const exported = JSON.stringify({ version: 3, deployment: { resources: all } });
    expect(() => graphOfState(parseStateExport(exported))).toThrow(said);
  });
});

describe("the graphs of a preview", () => {
  test("have no value of the server in place of a secret that may be a token", () => {
    const inputs = { parentUid: TEAM, sink: "[secret]" };
    const hooked = state("Subscription", "hook", inputs, { id: uid(9), secretPaths: ["sink"] });
    const sink = "https://hooks.acme.example/token";
    const live = { kind: "Subscription", uid: uid(9), inputs: { ...inputs, sink } };
    const { after } = updateOf([live], same(hooked));
    const entity = after.entities.get(uid(9));
    expect(entity?.unread?.map(({ path, reason }) => [path, reason])).toEqual([["sink", "secret"]]);
    expect(JSON.stringify(entity)).not.toContain("token");
  });

  test("follow a reference to a replaced resource, and lose a uid that the program writes out", () => {
    const anew = state("Identity", "ci", { ...ci.inputs, parentUid: ROOT_UID });
    const dependencies = { identityUid: [ci.urn], roleUid: [reader.urn], parentUid: [team.urn] };
    const followed = state("RoleBinding", "binding", { ...grant, identityUid: UNKNOWN }, { dependencies });
    const moved = step("replace", ci, anew);
    const result = update(moved, step("update", binding, followed));
    expect(result).toMatchObject({ grants: [], unchanged: 1, unresolved: [] });
    expect(lines(update(moved, same(binding)).grants)).toEqual([`lost: ${asFirst} (+0 -1)`]);
  });

  test.each<[string, string[]]>([
    ["declares no more", ["lost"]],
    ["still declares", []],
  ])("lose a binding that is only read, and that a GroupAccess %s", (_what, expected) => {
    const bound = { identityUid: "b".repeat(40), roleUid: "c".repeat(40) };
    const accessOf = (bindings: Props) =>
      state("GroupAccess", "access", { parentUid: ROOT_UID, bindings }, { id: ROOT_UID });
    const resource = (options: Props) =>
      state("RoleBinding", "read", { parentUid: ROOT_UID, ...bound }, { id: BINDING, ...options });
    const now = accessOf(expected.length === 0 ? { admin: bound } : {});
    const live = { kind: "RoleBinding", uid: BINDING, inputs: { parentUid: ROOT_UID, ...bound } };
    const read = step("read", undefined, resource({ external: true }));
    for (const [taken, ...objects] of [[read], [read, live]] as const) {
      const shown = preview(taken, step("update", accessOf({ admin: bound }), now));
      const listed = objects.length > 0 && { inventory: inventory(...objects) };
      const { grants, after } = compare({ preview: shown, ...listed });
      expect(grants.map(({ change }) => change)).toEqual(expected);
      expect(after.grants.length > 0).toBe(expected.length === 0);
    }
  });

  test("compare nothing, and say so, where no resource of the platform is named", () => {
    const state = { urn: "urn:pulumi:s::p::pulumi:pulumi:Stack::p-s", type: "pulumi:pulumi:Stack" };
    const stack = { op: "same", urn: state.urn, oldState: state, newState: state };
    const shown = parsePreview(JSON.stringify({ steps: [stack], changeSummary: { same: 1 } }));
    const { complete, incomplete } = compare({ preview: shown });
    expect([complete, incomplete]).toEqual([
      false,
      ["nothing was compared: the preview names no resource of the platform"],
    ]);
  });
});

describe("an inventory beside a preview", () => {
  const OWNER = "b".repeat(40);
  const byHand = {
    kind: "RoleBinding",
    uid: HAND,
    inputs: { parentUid: ROOT_UID, identityUid: CI, roleUid: OWNER },
  };
  const inputs = { name: "owner", capabilities: ["CAP_IAM_ROLES_UPDATE"] };
  const owner = { kind: "Role", uid: OWNER, inputs, builtIn: true as const };

  test("loses a binding created by hand when its identity is deleted", () => {
    expect(lines(updateOf([owner, byHand], step("delete", ci)).grants)).toEqual([
      "lost: GitHub Actions of acme/pay, any pull request: owner at acme (+0 -1)",
    ]);
  });

  test("does not count the bindings of a resource that owns them twice", () => {
    const owned = { kind: "RoleBinding", uid: BINDING, inputs: grant };
    const result = updateOf([owned], same(ci), step("delete", access({ ci: holder })));
    expect(lines(result.grants)).toEqual([`lost: ${asFirst} (+0 -1)`]);
  });
});

test("a binding of a GroupAccess that cannot be read stays beside those that the server has", () => {
  const hidden = access({ a: "[secret]", b: holder }, { id: TEAM, secretPaths: ["bindings.a"] });
  const listed = { ...inventory(), kinds: ["RoleBinding"] };
  const { after } = compare({ preview: preview(...[...basis, ci, hidden].map(same)), inventory: listed });
  expect(after.grants.map(({ subject }) => subject.type)).toEqual(["unknown"]);
});

test.each([
  ["create", inventory()],
  ["read", inventory({ kind: "Role", uid: READER, inputs: reads })],
])("what adopts a uid is shown as %s, by whether the inventory has it", (op, given) => {
  const adopting = step("create", undefined, state("Role", "r", { ...reads, __adopt: READER }));
  const { changes } = compare({ preview: preview(same(root), adopting), inventory: given });
  expect(changes.flatMap((change) => (change.op === "same" ? [] : [change.op]))).toEqual([op]);
});

describe("the access that an inventory tells of", () => {
  const graph = graphOfInventory(
    inventory(
      ...[root, team].map(({ id = "", inputs }) => ({ kind: "Group", uid: id, inputs })),
      { kind: "Group", uid: uid(7), inputs: { parentUid: TEAM, name: "team" } },
      { kind: "RoleBinding", uid: BINDING, inputs: grant },
    ),
  );

  test("is undecided where nothing tells what the role allows", () => {
    const { access, undecided } = effectiveAccess(graph, { can: "CAP_REPO_LIST" });
    expect([access, undecided.map(({ grant: { uid } }) => uid)]).toEqual([[], [BINDING]]);
  });

  test("is not asked for by a name that several groups have", () => {
    const said = `--on "team" names several groups: give the uid of one: acme / team (${TEAM}); acme / team / team (`;
    expect(() => effectiveAccess(graph, { on: "team" })).toThrow(said);
  });
});

test.each([
  ["1 operation", [{}], ": run pulumi up again, or pulumi refresh"],
  [
    "2 operations",
    [{}, { type: "creating", resource: { urn: root.urn } }],
    "\\. Whether Group \\S+ was created .* run pulumi refresh --clear-pending-creates",
  ],
])(
  "an export with %s pending makes the comparison incomplete, and says what to do",
  (what, pending, advice) => {
    const deployment = { resources: [root], pending_operations: pending };
    const before = parseStateExport(JSON.stringify({ version: 3, deployment }));
    expect(compare({ preview: preview(same(root)), before }).incomplete).toEqual([
      expect.stringMatching(`^an update .* how ${what} ended${advice}; then export the state again .*$`),
    ]);
  },
);

describe("one object under another name of the program", () => {
  const OWN = uid(60);
  /** A sample of each kind whose arguments name one object, which a create with the same ones takes over. */
  const objects = samples.flatMap(({ label, kind, args }) => {
    const spec = specs[kind];
    if (spec === undefined || aggregatedKind(spec) !== undefined || createOnlyOutputs(spec).length > 0)
      return [];
    const inputs = withUids(args, { own: OWN, reader: READER, org: ROOT_UID }) as Props;
    if (identityKey(spec, inputs) === undefined) return [];
    const id = spec.sharesParentUid === true ? OWN : `${OWN}/${"5".repeat(16)}`;
    return [{ label, kind, inputs, id }];
  });
  const rename = (
    { kind, inputs, id }: (typeof objects)[number],
    { live = undefined as Props | undefined, hasInventory = true } = {},
  ) => {
    const listed = live === undefined ? [] : [{ kind, uid: id, inputs: live }];
    const steps = [
      step("create", undefined, state(kind, "new", inputs)),
      step("delete", state(kind, "old", inputs, { id })),
    ];
    return compare({
      preview: preview(...basis.map(same), ...steps),
      ...(hasInventory ? { inventory: { ...inventory(...listed), kinds: [kind] } } : {}),
    });
  };

  it.each(objects)("is the same object: $label", (object) => {
    for (const result of [rename(object, { hasInventory: false }), rename(object, { live: object.inputs })]) {
      expect(result.grants).toEqual([]);
      const changed = result.changes.filter(({ op }) => op !== "same");
      expect(changed.map(({ op, fields, urn: own }) => [op, fields, own])).toEqual([
        ["update", [], urn(object.kind, "new")],
      ]);
    }
  });

  it.each(objects)("is a new one where the server has it no more: $label", (object) => {
    expect(rename(object, {}).changes.map(({ op }) => op)).toEqual(
      expect.arrayContaining(["create", "delete"]),
    );
  });

  it.each([
    ["secret", "[secret]", true],
    ["unknown", UNKNOWN, false],
  ])("is a new one where only an equal one is adopted and an argument is %s", (_why, value, isSecret) => {
    const { kind, inputs, id } = objects.find((object) => object.kind === "AccountAssociation")!;
    const one = (name: string, hidden: string, more: Props = {}) => {
      const secretPaths = isSecret ? [hidden] : [];
      return state(kind, name, { ...inputs, [hidden]: value }, { secretPaths, ...more });
    };
    const created = (name: string, hidden: string) => step("create", undefined, one(name, hidden));
    const gone = step("delete", one("old", "description", { id }));
    const { changes } = update(created("new", "description"), gone);
    expect(changes.map(({ op }) => op)).toEqual(expect.arrayContaining(["create", "delete"]));
    const { incomplete } = update(created("a", "parentUid"), created("b", "parentUid"));
    expect(incomplete.filter((line) => line.includes("one object"))).toEqual([]);
  });

  it.each(objects)("takes back what was changed by hand only where a create writes it: $label", (object) => {
    const spec = specs[object.kind];
    const named = ["parentUid", ...(spec?.identifiedBy ?? [])];
    const [changed = ""] = Object.keys(object.inputs).filter((key) => !named.includes(key));
    const live = { ...object.inputs, [changed]: changed === "documentIds" ? ["other"] : "other" };
    const paths = rename(object, { live }).changes.flatMap(({ fields }) => fields.map(({ path }) => path));
    expect(paths).toEqual(spec?.operations?.takesOver === true ? [changed] : []);
  });

  const tag = (name: string, to: string, id?: string) => {
    const inputs = { parentUid: OWN, name: to, digest: `sha256:${name.repeat(64)}` };
    return state("Tag", name, inputs, id === undefined ? {} : { id });
  };
  const [one, two] = [`${OWN}/${"6".repeat(16)}`, `${OWN}/${"7".repeat(16)}`];
  const [tagA, tagB] = [tag("a", "latest", one), tag("b", "next", two)];
  const make = (name: string) => step("create", undefined, tag(name, "latest"));
  it.each<[string, { op: string }[], unknown[]]>([
    [
      "passes from a replaced resource to a new one",
      [step("replace", tagA, tag("a", "old")), make("b")],
      [
        [urn("Tag", "a"), "create", undefined, urn("Tag", "a")],
        [urn("Tag", "b"), "update", one, one],
      ],
    ],
    [
      "is exchanged",
      [step("replace", tagA, tag("a", "next")), step("replace", tagB, tag("b", "latest"))],
      [
        [urn("Tag", "a"), "update", two, two],
        [urn("Tag", "b"), "update", one, one],
      ],
    ],
    [
      "hides no other object that goes",
      [step("replace", tagA, tag("a", "old")), step("replace", tagB, tag("b", "latest"))],
      [
        [urn("Tag", "a"), "replace", one, one],
        [urn("Tag", "b"), "replace", two, two],
      ],
    ],
    [
      "is not taken by two",
      [step("delete", tagA), make("b"), make("c")],
      [
        [urn("Tag", "a"), "delete", one, undefined],
        [urn("Tag", "b"), "create", undefined, urn("Tag", "b")],
        [urn("Tag", "c"), "create", undefined, urn("Tag", "c")],
      ],
    ],
  ])("%s", (_words, steps, expected) => {
    const changed = update(...steps).changes.filter(({ op }) => op !== "same");
    expect(changed.map(({ op, urn: own, before, after }) => [own, op, before?.key, after?.key])).toEqual(
      expected,
    );
  });

  it.each<[string, { op: string }, unknown[][]]>([
    ["a create", make("b"), [["update", one, ["digest"]]]],
    [
      "a replacement",
      step("replace", tagB, tag("b", "latest")),
      [
        ["delete", two, []],
        ["update", one, ["digest"]],
      ],
    ],
    ["no object, by another name", step("replace", tagA, tag("a", "third")), [["replace", one, ["name"]]]],
  ])("is written over where nobody gives it up: %s", (_words, change, expected) => {
    const live = [tagA, tagB].map(({ id = "", inputs }) => ({ kind: "Tag", uid: id, inputs }));
    const listed = { ...inventory(...live), kinds: ["Tag"] };
    const { changes } = compare({ preview: preview(...basis.map(same), change), inventory: listed });
    const changed = changes.filter(({ op }) => op !== "same");
    expect(
      changed.map(({ op, before, fields }) => [op, before?.key, fields.map(({ path }) => path)]),
    ).toEqual(expected);
  });
});
