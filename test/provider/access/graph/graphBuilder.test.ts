import { compare, recordedObjects } from "../../../../provider/access/review/compare";
import type { Inventory, InventoryObject } from "../../../../provider/access/documents/inventory";
import { parsePreview } from "../../../../provider/access/documents/preview";
import { review } from "../../../../provider/access/report/reviewReport";
import { graphOfState } from "../../../../provider/access/graph/effectiveAccess";
import { parseStateExport } from "../../../../provider/access/documents/stateExport";
import { identityKey, aggregatedKind, createOnlyOutputs } from "../../../../provider/fields/resourceSpec";
import { UNKNOWN } from "../../../../provider/fields/values";
import type { Props } from "../../../../provider/fields/values";
import { PROVENANCE, inventoryOf, preview, same, state, step, urn } from "../../../support/documents";
import { specs } from "../../../../provider/access/documents/specs";
import { samples } from "../../../support/samples";
import { lines } from "../fixtures";

const ROOT_UID = "a".repeat(40);
const uid = (n: number): string => `${ROOT_UID}/${n.toString(16).padStart(16, "0")}`;
const [TEAM, CI, READER, BINDING, HAND] = [1, 2, 3, 4, 5].map(uid) as [
  string,
  string,
  string,
  string,
  string,
];
const inventory = (...objects: InventoryObject[]): Inventory => inventoryOf(ROOT_UID, ...objects);
const root = state("Group", "root", { name: "acme" }, { id: ROOT_UID });
const team = state("Group", "team", { parentUid: ROOT_UID, name: "team" }, { id: TEAM });
const claimMatch = {
  issuer: "https://token.actions.githubusercontent.com",
  subject: "repo:acme/pay:pull_request",
};
const ci = state("Identity", "ci", { parentUid: TEAM, name: "ci", claimMatch }, { id: CI });
const reader = state(
  "Role",
  "reader",
  { parentUid: ROOT_UID, name: "reader", capabilities: ["CAP_REPO_LIST"] },
  { id: READER },
);
const grant = { parentUid: TEAM, identityUid: CI, roleUid: READER };
const binding = state("RoleBinding", "binding", grant, { id: BINDING });
const basis = [root, team, reader];
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
  test("keep a resource that only leaves the program", () => {
    const retained = { ...binding, retainOnDelete: true };
    const result = compare({ preview: preview(...[...basis, ci].map(same), step("delete", retained)) });
    expect(result.grants).toEqual([]);
    expect(result.unchanged).toBe(1);
    const gone = compare({ preview: preview(...[...basis, ci].map(same), step("delete", binding)) });
    expect(lines(gone.grants)).toEqual([`lost: ${asFirst} (+0 -1)`]);
  });

  test("keep both resources if a replacement retains the old one", () => {
    const elsewhere = { ...binding.inputs, parentUid: ROOT_UID };
    const old = { ...binding, retainOnDelete: true };
    const result = compare({
      preview: preview(
        ...[...basis, ci].map(same),
        step("replace", old, state("RoleBinding", "binding", elsewhere)),
      ),
    });
    expect(lines(result.grants)).toEqual([
      "gained: GitHub Actions of acme/pay, any pull request: reader at acme (+1 -0)",
    ]);
    expect(result.unchanged).toBe(1);
  });

  test.each<[string, Props, Props, string[]]>([
    [
      "an open invite, and one for an address",
      { ttl: "48h" },
      { ttl: "2h", email: "ada@acme.example", singleUse: true },
      ["gained: ada@acme.example, by invite: reader at acme / team (+1 -0)"],
    ],
    [
      "two open invites",
      { ttl: "48h" },
      { ttl: "2h" },
      ["gained: anyone with the invite's code: reader at acme / team (+1 -0)"],
    ],
  ])("never call narrower what stays beside its replacement: %s", (_words, old, anew, expected) => {
    const place = { parentUid: TEAM, roleUid: READER };
    const invite = (more: Props, flags: Props) =>
      state("GroupInvite", "invite", { ...place, ...more }, flags);
    const retained = invite(old, { id: BINDING, retainOnDelete: true });
    const { grants, unchanged } = compare({
      preview: preview(...basis.map(same), step("replace", retained, invite(anew, {}))),
    });
    expect(lines(grants)).toEqual(expected);
    expect(unchanged).toBe(1);
  });

  test("never call narrower an identity that stays beside its replacement", () => {
    const loose = { ...claimMatch, subject: undefined, subjectPattern: "repo:acme/.*" };
    const identity = (trust: Props, parentUid: string, flags: Props) =>
      state("Identity", "ci", { parentUid, name: "ci", claimMatch: trust }, flags);
    const retained = identity(loose, TEAM, { id: CI, retainOnDelete: true });
    const { grants, unchanged } = compare({
      preview: preview(
        ...[...basis, binding].map(same),
        step("replace", retained, identity(claimMatch, ROOT_UID, {})),
      ),
    });
    expect([lines(grants), unchanged]).toEqual([[], 1]);
  });

  test("keep a resource that was read with .get and is no longer in the program", () => {
    const read = state("RoleBinding", "read", {}, { id: BINDING, external: true, outputs: grant });
    const leaving = preview(...[...basis, ci].map(same), step("discard", read));
    const live = { kind: "RoleBinding", uid: BINDING, inputs: grant };
    expect(compare({ preview: leaving, inventory: inventory(live) })).toMatchObject({
      grants: [],
      unchanged: 1,
    });
    // Without an inventory nothing but the program says that it is there.
    expect(compare({ preview: leaving })).toMatchObject({ grants: [], unchanged: 0 });
  });

  test("lose a grant whose holder is deleted, though its own step says same", () => {
    const result = compare({ preview: preview(...[...basis, binding].map(same), step("delete", ci)) });
    expect(lines(result.grants)).toEqual([`lost: ${asFirst} (+0 -1)`]);
  });

  test("follow a reference to a replaced resource, and lose a uid that the program writes out", () => {
    const anew = state("Identity", "ci", { ...ci.inputs, parentUid: ROOT_UID });
    const dependencies = { identityUid: [ci.urn], roleUid: [reader.urn], parentUid: [team.urn] };
    const followed = state("RoleBinding", "binding", { ...grant, identityUid: UNKNOWN }, { dependencies });
    const steps = [...basis.map(same), step("replace", ci, anew)];
    expect(compare({ preview: preview(...steps, step("update", binding, followed)) })).toMatchObject({
      grants: [],
      unchanged: 1,
      unresolved: [],
    });
    const written = compare({ preview: preview(...steps, same(binding)) });
    expect(lines(written.grants)).toEqual([`lost: ${asFirst} (+0 -1)`]);
  });

  test("keep the uid of a resource that is updated, where only its outputs are unknown", () => {
    const renamed = state("Identity", "ci", { ...ci.inputs, name: "renamed" }, { id: CI });
    const unknown = state(
      "RoleBinding",
      "binding",
      { ...grant, identityUid: UNKNOWN },
      { dependencies: { identityUid: [ci.urn] } },
    );
    const result = compare({
      preview: preview(...basis.map(same), step("update", ci, renamed), step("update", binding, unknown)),
    });
    expect(result).toMatchObject({ grants: [], unchanged: 1, unresolved: [] });
  });

  test("resolve the only new identity in a GroupAccess, and give each of two all that it may have", () => {
    const fresh = (name: string) =>
      state("Identity", name, {
        parentUid: TEAM,
        name,
        claimMatch: { ...claimMatch, subject: `repo:acme/${name}:pull_request` },
      });
    const access = (...names: string[]) =>
      state(
        "GroupAccess",
        "access",
        {
          parentUid: TEAM,
          bindings: Object.fromEntries([
            ["old", { identityUid: CI, roleUid: READER }],
            ...names.map((name) => [name, { identityUid: UNKNOWN, roleUid: READER }]),
          ]) as Props,
        },
        { dependencies: { bindings: [ci.urn, reader.urn, ...names.map((name) => urn("Identity", name))] } },
      );
    const made = (...names: string[]) =>
      compare({
        preview: preview(
          ...[...basis, ci].map(same),
          ...names.map((name) => step("create", undefined, fresh(name))),
          step("create", undefined, access(...names)),
        ),
      });
    const one = made("a");
    expect(one.unresolved).toEqual([]);
    expect(lines(one.grants).sort()).toEqual([
      "gained: GitHub Actions of acme/a, any pull request: reader at acme / team (+1 -0)",
      `gained: ${asFirst} (+1 -0)`,
    ]);
    expect(one.grants.map(({ grant: { sourceKind: via, urn: of } }) => [via, of])).toEqual([
      ["GroupAccess", urn("GroupAccess", "access")],
      ["GroupAccess", urn("GroupAccess", "access")],
    ]);
    const two = made("a", "b");
    expect(two.unresolved).toEqual([
      "GroupAccess access: bindings.a.identityUid, bindings.b.identityUid is not known yet: it depends on a, b, ci, reader, and which of these is unknown",
    ]);
    expect(lines(two.grants).sort()).toEqual([
      "gained: GitHub Actions of acme/a, any pull request: reader at acme / team (+1 -0)",
      "gained: GitHub Actions of acme/b, any pull request: reader at acme / team (+1 -0)",
      `gained: ${asFirst} (+1 -0)`,
    ]);
  });

  test("show the grants that a GroupAccess gains and loses by a change of its bindings", () => {
    const access = (bindings: Props) =>
      state("GroupAccess", "access", { parentUid: TEAM, bindings }, { id: TEAM });
    const holder = { identityUid: CI, roleUid: READER };
    const change = (before: Props, after: Props) =>
      compare({
        preview: preview(...[...basis, ci].map(same), step("update", access(before), access(after))),
      });
    expect(lines(change({ a: holder }, {}).grants)).toEqual([`lost: ${asFirst} (+0 -1)`]);
    expect(lines(change({}, { a: holder }).grants)).toEqual([`gained: ${asFirst} (+1 -0)`]);
    // A label is a name, and the role is the program's.
    expect(change({ a: holder }, { b: holder })).toMatchObject({ grants: [], unchanged: 1 });
  });

  test("follow what a binding of a GroupAccess names through its replacement", () => {
    const anew = state("Identity", "ci", { ...ci.inputs, parentUid: ROOT_UID });
    const access = (identityUid: string) =>
      state(
        "GroupAccess",
        "access",
        { parentUid: TEAM, bindings: { ci: { identityUid, roleUid: READER } } },
        { id: TEAM, dependencies: { bindings: [ci.urn, reader.urn] } },
      );
    const steps = [...basis.map(same), step("replace", ci, anew)];
    expect(
      compare({ preview: preview(...steps, step("update", access(CI), access(UNKNOWN))) }),
    ).toMatchObject({ grants: [], unchanged: 1, unresolved: [] });
  });

  test("distinguish two resources with the same uid", () => {
    const services = state(
      "AccountAssociation",
      "services",
      { parentUid: TEAM, name: "services" },
      { id: TEAM },
    );
    const { after } = compare({ preview: preview(...basis.map(same), same(services)) });
    expect([...after.entities].map(([key, { kind }]) => [key, kind])).toContainEqual([
      JSON.stringify(["part", TEAM, "AccountAssociation"]),
      "AccountAssociation",
    ]);
    expect(after.entities.get(TEAM)?.kind).toBe("Group");
  });

  test("count resources of other packages without describing them", () => {
    const bucket = {
      urn: "urn:pulumi:production::acme::aws:s3/bucket:Bucket::logs",
      type: "aws:s3/bucket:Bucket",
    };
    const foreign = { op: "create", urn: bucket.urn, newState: bucket };
    const documents = preview(...basis.map(same), foreign);
    const report = review(
      { preview: documents },
      { provenance: PROVENANCE, failOn: "high", rules: () => [] },
    );
    expect(report.unrelated).toEqual([{ kind: "aws:s3/bucket:Bucket", op: "create", count: 1 }]);
  });

  test("compare nothing, and say so, where no resource of the platform is named", () => {
    const stack = { op: "same", urn: "urn:pulumi:s::p::pulumi:pulumi:Stack::p-s" };
    expect(
      compare({ preview: parsePreview(JSON.stringify({ steps: [stack], changeSummary: { same: 1 } })) }),
    ).toMatchObject({
      complete: false,
      incomplete: ["nothing was compared: the preview names no resource of the platform"],
    });
    expect(compare({ preview: parsePreview('{"duration": 1}') }).complete).toBe(false);
  });

  test("leave out objects that an interrupted replacement still has to delete", () => {
    const rest = { ...binding, id: uid(8), delete: true };
    const result = compare({ preview: preview(...[...basis, ci, binding].map(same), step("delete", rest)) });
    expect(result.grants).toEqual([]);
    expect(result.unchanged).toBe(1);
  });
});

describe("an inventory beside a preview", () => {
  const live = (
    kind: string,
    id: string,
    inputs: Props,
    more: Partial<InventoryObject> = {},
  ): InventoryObject => ({
    kind,
    uid: id,
    inputs,
    ...more,
  });
  const byHand = live("RoleBinding", HAND, { parentUid: ROOT_UID, identityUid: CI, roleUid: "b".repeat(40) });
  const owner = live(
    "Role",
    "b".repeat(40),
    { name: "owner", capabilities: ["CAP_IAM_ROLES_UPDATE"] },
    { builtIn: true },
  );

  test("names built-in roles, and adds what no program knows to both graphs", () => {
    const result = compare({
      preview: preview(...[...basis, ci, binding].map(same)),
      inventory: inventory(owner, byHand),
    });
    expect(result.unchanged).toBe(2);
    const found = result.after.grants.find(({ uid: id }) => id === HAND);
    expect(found).toMatchObject({
      role: { name: "owner", builtIn: true, capabilities: ["CAP_IAM_ROLES_UPDATE"] },
      group: { path: "acme", isRoot: true },
    });
  });

  test("loses a binding created by hand when its identity is deleted", () => {
    const result = compare({
      preview: preview(...basis.map(same), step("delete", ci)),
      inventory: inventory(owner, byHand),
    });
    expect(lines(result.grants)).toEqual([
      "lost: GitHub Actions of acme/pay, any pull request: owner at acme (+0 -1)",
    ]);
  });

  test("holds when a managed identity was last seen, also of one that changes or is deleted", () => {
    const seen = live("Identity", CI, ci.inputs, { lastSeenTime: "2026-01-01T00:00:00Z" });
    for (const last of [step("update", ci, ci), step("delete", ci)]) {
      const { changes } = compare({ preview: preview(...basis.map(same), last), inventory: inventory(seen) });
      const change = changes.find(({ urn }) => urn === ci.urn);
      for (const entity of [change?.before, change?.after ?? change?.before])
        expect(entity).toMatchObject({ lastSeenTime: "2026-01-01T00:00:00Z" });
    }
    const { before, after } = compare({
      preview: preview(...[...basis, ci].map(same)),
      inventory: inventory(seen),
    });
    for (const graph of [before, after]) {
      expect(graph.entities.get(CI)).toMatchObject({ urn: ci.urn, lastSeenTime: "2026-01-01T00:00:00Z" });
    }
  });

  test("does not count the bindings of a resource that owns them twice", () => {
    const access = state(
      "GroupAccess",
      "access",
      { parentUid: TEAM, bindings: { ci: { identityUid: CI, roleUid: READER } } },
      { id: TEAM },
    );
    const owned = live("RoleBinding", BINDING, grant);
    const result = compare({
      preview: preview(...[...basis, ci].map(same), step("delete", access)),
      inventory: inventory(owned),
    });
    expect(lines(result.grants)).toEqual([`lost: ${asFirst} (+0 -1)`]);
  });

  test("that lacks a list makes the comparison incomplete", () => {
    const partial: Inventory = {
      ...inventory(),
      complete: false,
      refused: [{ kind: "Role", code: "PERMISSION_DENIED", message: "no" }],
    };
    expect(compare({ preview: preview(...basis.map(same)), inventory: partial }).incomplete).toEqual([
      "the inventory lacks Role: the server refused its list, or a part of it (PERMISSION_DENIED)",
    ]);
  });
});

test.each([
  ["1 operation", 1],
  ["2 operations", 2],
])("an export with %s pending makes the comparison incomplete, and says what to do", (what, count) => {
  const pending = Array.from({ length: count }, () => ({}));
  const before = parseStateExport(
    JSON.stringify({ version: 3, deployment: { resources: [root], pending_operations: pending } }),
  );
  expect(compare({ preview: preview(same(root)), before }).incomplete).toEqual([
    `an update of the stack was interrupted, and its state does not say how ${what} ended: run pulumi refresh, export the state again (pulumi stack export), and review again`,
  ]);
});

describe("what exists before a change", () => {
  const old = state("Identity", "x", { parentUid: TEAM, name: "break-glass" }, { id: CI });
  const changed = preview(step("update", old, old));
  const namesIn = (given?: Inventory): unknown[] =>
    [...recordedObjects(changed, undefined, given).values()].map(({ name }) => name);
  const named = { kind: "Identity", uid: CI, inputs: { name: "live" } };

  test.each([
    ["is named by the old state of a preview without an inventory", undefined, ["break-glass"]],
    ["is named by an inventory that has it", inventory(named), ["live"]],
    ["does not exist if the inventory would have it", { ...inventory(), kinds: ["Identity"] }, []],
    [
      "is named by the old state if the inventory lists no such kind",
      { ...inventory(), kinds: ["Group"] },
      ["break-glass"],
    ],
  ])("%s", (_words, given, expected) => {
    expect(namesIn(given)).toEqual(expected);
  });
});

describe("one object under another name of the program", () => {
  const OWN = uid(60);
  /** A sample of each kind whose arguments name one object, which a create with the same ones takes over. */
  const objects = samples.flatMap(({ label, kind, args }) => {
    const spec = specs[kind];
    if (spec === undefined || aggregatedKind(spec) !== undefined || createOnlyOutputs(spec).length > 0)
      return [];
    const known: Props = JSON.parse(
      JSON.stringify(args)
        .replaceAll("${own}", OWN)
        .replaceAll("${reader}", READER)
        .replaceAll("${org}", ROOT_UID),
    ) as Props;
    if (identityKey(spec, known) === undefined) return [];
    return [
      { label, kind, inputs: known, id: spec.sharesParentUid === true ? OWN : `${OWN}/${"5".repeat(16)}` },
    ];
  });
  const rename = (
    { kind, inputs, id }: (typeof objects)[number],
    { news = inputs, live = undefined as Props | undefined, hasInventory = true } = {},
  ) =>
    compare({
      preview: preview(
        ...basis.map(same),
        step("create", undefined, state(kind, "new", news)),
        step("delete", state(kind, "old", inputs, { id })),
      ),
      ...(hasInventory
        ? {
            inventory: {
              ...inventory(...(live === undefined ? [] : [{ kind, uid: id, inputs: live }])),
              kinds: [kind],
            },
          }
        : {}),
    });

  it("is of these kinds", () => {
    expect(objects.map(({ kind }) => kind).sort()).toEqual([
      "AccountAssociation",
      "ExternalGroupRoleMapping",
      "RepoReadme",
      "Tag",
      "TermsAcceptance",
    ]);
  });

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

  it.each(objects)("is another one where its parent is not known: $label", (object) => {
    const news = { ...object.inputs, parentUid: UNKNOWN };
    const { changes } = rename(object, { news, live: object.inputs });
    expect(changes.map(({ op }) => op)).toEqual(expect.arrayContaining(["create", "delete"]));
  });

  it.each(objects)("is changed by a create that writes over it, and by no other: $label", (object) => {
    const spec = specs[object.kind];
    const [changed] = Object.keys(object.inputs).filter(
      (key) => !["parentUid", "name", ...(spec?.identifiedBy ?? [])].includes(key),
    );
    if (changed === undefined) return;
    const news = { ...object.inputs, [changed]: changed === "documentIds" ? ["other"] : "other" };
    const ops = rename(object, { news, live: object.inputs }).changes.map(({ op }) => op);
    expect(ops.includes("update")).toBe(spec?.operations?.upsert === true);
    expect(ops.includes("delete")).toBe(spec?.operations?.upsert !== true);
  });

  it.each(objects)("takes back what was changed by hand only where a create writes it: $label", (object) => {
    const spec = specs[object.kind];
    const named = ["parentUid", ...(spec?.identifiedBy ?? [])];
    const [changed = ""] = Object.keys(object.inputs).filter((key) => !named.includes(key));
    const live = { ...object.inputs, [changed]: changed === "documentIds" ? ["other"] : "other" };
    const paths = rename(object, { live }).changes.flatMap(({ fields }) => fields.map(({ path }) => path));
    expect(paths).toEqual(spec?.operations?.upsert === true ? [changed] : []);
  });

  const tag = (name: string, to: string, id?: string) =>
    state(
      "Tag",
      name,
      { parentUid: OWN, name: to, digest: `sha256:${name.repeat(64)}` },
      id === undefined ? {} : { id },
    );
  const [one, two] = [`${OWN}/${"6".repeat(16)}`, `${OWN}/${"7".repeat(16)}`];
  const changesOf = (...steps: { op: string }[]) =>
    compare({ preview: preview(...basis.map(same), ...steps) })
      .changes.filter(({ op }) => op !== "same")
      .map(({ op, urn: own, before, after }) => [own, op, before?.key, after?.key]);

  it.each<[string, { op: string }[], unknown[]]>([
    [
      "passes from a replaced resource to a new one",
      [
        step("replace", tag("a", "latest", one), tag("a", "old")),
        step("create", undefined, tag("b", "latest")),
      ],
      [
        [urn("Tag", "a"), "create", undefined, urn("Tag", "a")],
        [urn("Tag", "b"), "update", one, one],
      ],
    ],
    [
      "is exchanged",
      [
        step("replace", tag("a", "latest", one), tag("a", "next")),
        step("replace", tag("b", "next", two), tag("b", "latest")),
      ],
      [
        [urn("Tag", "a"), "update", two, two],
        [urn("Tag", "b"), "update", one, one],
      ],
    ],
    [
      "stays with a resource that is replaced for another reason",
      [step("replace", tag("a", "latest", one), tag("a", "latest"))],
      [[urn("Tag", "a"), "update", one, one]],
    ],
    [
      "hides no other object that goes",
      [
        step("replace", tag("a", "latest", one), tag("a", "old")),
        step("replace", tag("b", "next", two), tag("b", "latest")),
      ],
      [
        [urn("Tag", "a"), "replace", one, one],
        [urn("Tag", "b"), "replace", two, two],
      ],
    ],
    [
      "is not taken by two",
      [
        step("delete", tag("a", "latest", one)),
        step("create", undefined, tag("b", "latest")),
        step("create", undefined, tag("c", "latest")),
      ],
      [
        [urn("Tag", "a"), "delete", one, undefined],
        [urn("Tag", "b"), "create", undefined, urn("Tag", "b")],
        [urn("Tag", "c"), "create", undefined, urn("Tag", "c")],
      ],
    ],
  ])("%s", (_words, steps, expected) => {
    expect(changesOf(...steps)).toEqual(expected);
  });
});
