import { REFRESHED } from "../../../../provider/fields/refreshed";
import { startEmulator } from "../../../../emulator";
import type { Emulator } from "../../../../emulator";
import { parseStateExport } from "../../../../provider/access/documents/stateExport";
import { takeInventory } from "../../../../provider/inventory/takeInventory";
import { listedKinds } from "../../../../provider/access/documents/inventory";
import type { Inventory } from "../../../../provider/access/documents/inventory";
import { ChangedResources } from "../../../../provider/access/drift/stateComparison";
import type { DriftReport } from "../../../../provider/access/report/report";
import type { StateExport } from "../../../../provider/access/documents/stateExport";
import { HandlerStack } from "../../support/handlerStack";
import { IMPORTED } from "../../../../provider/fields/values";
import type { Props } from "../../../../provider/fields/values";
import {
  bind,
  driftBetween,
  inventoryOf,
  live,
  ofGitHub,
  org,
  root,
  secret,
  stateOf,
} from "../../../support/driftDocuments";
import { recordedResource } from "../../../support/documents";
import type { Live } from "../../../support/driftDocuments";
import { clientOf } from "../../support/server";
import { brief, describeDriftMatrix, survey } from "./driftMatrix";
import type { Surveyed } from "./driftMatrix";
import { randomOrganisation } from "../../../support/organisation";
import { declared, samples, surroundings } from "../../../support/samples";
import { call } from "../../../support/wire";
import { specOf } from "../../support/samples";

interface Row {
  readonly [key: string]: unknown;
}

/** A state as the engine would write it, of resources that the handlers make. */
class Made {
  readonly rows: Row[] = [];
  readonly ids: Record<string, string> = {};

  constructor(private readonly stack = "test") {}

  row(name: string, kind: string, id: string, inputs: Props, outputs: Props, more: Row = {}): void {
    const type = `pulumi-nodejs:dynamic/platform:${kind}`;
    const urn = `urn:pulumi:${this.stack}::test::${type}::${name}`;
    this.rows.push({ urn, type, custom: true, id, inputs, outputs, ...more });
  }

  export(): StateExport {
    return parseStateExport(
      JSON.stringify({ version: 3, deployment: { resources: this.rows } }),
      "export.json",
    );
  }
}

describe("drift", () => {
  let emulator: Emulator;
  let made: Made;
  let on: Surveyed;

  beforeAll(async () => {
    emulator = await startEmulator({ bindingResponse: "hydrated" });
    made = new Made();
    const declarations = {
      ...surroundings,
      ...Object.fromEntries(
        samples.flatMap((sample) => Object.entries(declared(sample.label, sample, sample.args))),
      ),
    };
    const handlers = new HandlerStack(emulator, declarations);
    for (const name of Object.keys(declarations)) {
      const { kind, id, inputs, outs } = await handlers.make(name);
      made.ids[name] = id;
      made.row(name, kind, id, inputs, outs);
    }
    on = { emulator, states: [made.export()], ids: made.ids };
  });

  afterAll(() => emulator.close());
  afterEach(() => emulator.clearFaults());

  test("is empty in an unchanged organisation", async () => {
    const report = await survey(on);
    expect(report.findings).toEqual([]);
    expect(report).toMatchObject({ complete: true, incomplete: [], unresolved: [], failing: 0 });
    expect(report.summary.compared).toBe(made.rows.length);
  });

  test("says what it does not compare, since another version or another provider manages it", async () => {
    const urn = "urn:pulumi:test::test::pulumi-nodejs:dynamic/platform:Webhook::hook";
    const newer = recordedResource({
      urn,
      type: "pulumi-nodejs:dynamic/platform:Webhook",
      id: "1",
      notReviewed: "this version does not know the kind",
    });
    const states = on.states.map((state) => ({ ...state, resources: [...state.resources, newer] }));
    const { incomplete } = await survey({ ...on, states });
    expect(incomplete).toEqual([
      expect.stringContaining(`not compared, since this version does not know the kind: ${urn}`),
    ]);
  });

  test("says that an interrupted update may have made what is in no state", async () => {
    const states = on.states.map((state) => ({ ...state, pendingOperations: 2 }));
    const { unresolved } = await survey({ ...on, states });
    expect(unresolved).toEqual([
      expect.stringMatching(
        /^test\/test: an update .* how 2 operations ended: run pulumi up again, .*shown as unmanaged until then$/,
      ),
    ]);
  });

  describeDriftMatrix(() => on);

  const uidOf = (name: string): string => made.ids[name] ?? "";
  const at = (report: DriftReport, name: string) => report.findings.filter(({ uid }) => uid === uidOf(name));
  /** Binds a role at a group by hand; returns the uid of the binding. */
  const bindAt = async (group: string, identityUid = uidOf("someone"), role = "writer"): Promise<string> => {
    const body = { identityUid, roleUid: uidOf(role) };
    const { uid } = await call(emulator, "POST", `/iam/v2/roleBindings/${uidOf(group)}`, body);
    return String(uid);
  };
  const unbind = (uid: string) => call(emulator, "DELETE", `/iam/v2/roleBindings/${uid}`);
  const patch = (address: string, body: Record<string, unknown>) =>
    call(emulator, "PATCH", `${address}?updateMask=${Object.keys(body).join(",")}`, body);

  test("reports a change that removes access as narrowed, with the removed access", async () => {
    const address = `/iam/v2/roles/${uidOf("role")}`;
    await patch(address, { capabilities: ["CAP_TAG_LIST"] });
    const { findings, differences } = await survey(on);
    await patch(address, { capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST"] });
    expect(findings).toMatchObject([
      {
        severity: "medium",
        details: ["access is narrowed", "capabilities: takes away CAP_REPO_LIST", "in stack test/test"],
        drift: { kind: "changed", direction: "narrowed", paths: ["capabilities"] },
      },
    ]);
    expect(differences).toMatchObject([
      {
        kind: "changed",
        direction: "narrowed",
        type: "Role",
        uid: uidOf("role"),
        stack: "test/test",
        fields: [{ path: "capabilities", before: "CAP_REPO_LIST, CAP_TAG_LIST", after: "CAP_TAG_LIST" }],
        at: expect.stringMatching(/^20/),
        answers: { adopt: 'capabilities: ["CAP_TAG_LIST"],' },
        fingerprint: findings[0]?.fingerprint,
      },
    ]);
  });

  test("a later change of what was made by hand is another finding", async () => {
    const at = `/iam/v2/groups/${uidOf("team")}`;
    const { uid } = await call(emulator, "POST", at, { name: "by-hand" });
    const address = `/iam/v2/groups/${String(uid)}`;
    const prints = new Set<string>();
    for (const body of [{}, { name: "break-glass" }, { description: "changed" }]) {
      if (Object.keys(body).length > 0) await patch(address, body);
      const { findings } = await survey(on);
      for (const one of findings) if (one.uid === uid) prints.add(one.fingerprint);
    }
    await call(emulator, "DELETE", address);
    expect(prints.size).toBe(3);
  });

  test("a role made by hand has no command that deletes it, and the finding says why", async () => {
    const at = `/iam/v2/roles/${uidOf("team")}`;
    const { uid } = await call(emulator, "POST", at, { name: "by-hand", capabilities: ["CAP_REPO_LIST"] });
    const { findings, differences } = await survey(on);
    await call(emulator, "DELETE", `/iam/v2/roles/${String(uid)}`);
    expect(differences.find((one) => one.uid === uid)?.answers.revert).toBeUndefined();
    expect(findings.find((one) => one.uid === uid)?.advice).toBe(
      "delete it by hand (look first for bindings that use it), adopt it into a program, or suppress it; if another stack manages it, compare that one too",
    );
  });

  test("a role granted by hand is reported with the holder, role, group and the code that adopts it", async () => {
    const uid = await bindAt("team");
    const report = await survey(on, { failOn: "unmanaged" });
    await unbind(uid);
    expect(report.failing).toBe(1);
    expect(report.findings[0]).toMatchObject({
      id: "drift-unmanaged",
      severity: "high",
      message: "Role binding someone → writer at org / team is not managed by any stack",
      details: ["access is widened"],
    });
    expect(report.differences[0]).toMatchObject({
      direction: "widened",
      answers: {
        revert: `curl -fX DELETE -H "Authorization: Bearer $PLATFORM_TOKEN" \\\n  "$PLATFORM_BASE_URL/iam/v2/roleBindings/${uid}"`,
        adopt: `new RoleBinding("someone-writer-team", adopt("${uid}", {
  parentUid: "${uidOf("team")}",
  identityUid: "${uidOf("someone")}",
  roleUid: "${uidOf("writer")}",
}));`,
      },
    });
  });

  test.each([
    ["second", "by 2 stacks", ["test/second", "test/test"]],
    ["test", "twice in one stack", ["test/test"]],
  ])(
    "reports an object that stack %s manages too as contested, once, with both URNs",
    async (stack, who, stacks) => {
      const second = new Made(stack);
      second.row("mine", "Role", uidOf("role"), {}, {});
      const urn = `urn:pulumi:${stack}::test::pulumi-nodejs:dynamic/platform:Role::mine`;
      second.rows[0] = { ...made.rows.find(({ id }) => id === uidOf("role")), urn };
      const report = await survey({ ...on, states: [...on.states, second.export()] });
      expect(brief(report)).toEqual([
        { kind: "Role", uid: uidOf("role"), what: "contested", direction: "neutral", fields: [] },
      ]);
      expect(report.findings[0]?.message).toContain(`is managed ${who}: each update undoes the other`);
      expect(report.findings[0]?.details).toHaveLength(2);
      expect(report.differences[0]?.answers.adopt).toBe(
        `# after removing it from the program:\npulumi state delete ${urn} --stack ${stack}`,
      );
      expect(report.stacks).toEqual(stacks);
    },
  );

  test("what a stack has given up and not deleted yet is unmanaged, and each change of it is another finding", async () => {
    const grant = await bindAt("team", uidOf("someone"), "role");
    const at = `/iam/v2/roleBindings/${grant}`;
    const other = new Made("other");
    const inputs = { parentUid: uidOf("team"), identityUid: uidOf("someone"), roleUid: uidOf("role") };
    other.row("rest", "RoleBinding", grant, inputs, {}, { delete: true });
    const states = [...on.states, other.export()];
    const reports = [await survey({ ...on, states })];
    await patch(at, { roleUid: uidOf("writer") });
    reports.push(await survey({ ...on, states }));
    other.rows[0] = { ...other.rows[0], retainOnDelete: true };
    reports.push(await survey({ ...on, states: [...on.states, other.export()] }));
    await unbind(grant);
    const found = reports.map(({ findings }) => findings.find(({ uid }) => uid === grant));
    expect(found).toMatchObject([{ severity: "high" }, { severity: "high" }, { severity: "high" }]);
    for (const [i, next] of ["deletes it", "deletes it", "leaves it at the server"].entries())
      expect(found[i]?.details).toContain(`an empty stack has given it up: its next pulumi up ${next}`);
    expect(found[0]?.fingerprint).not.toBe(found[1]?.fingerprint);
    expect(found[0]?.advice).toBe("finish the update of that stack, or delete it");
    const { answers } = reports[0]?.differences.find(({ uid }) => uid === grant) ?? {};
    expect(answers?.adopt).toBeUndefined();
    expect(answers?.revert).toContain(at);
  });

  test.each([
    ["more access", ["CAP_REPO_LIST", "CAP_TAG_LIST", "CAP_IAM_ROLE_BINDINGS_CREATE"], ["widened"]],
    [
      "more of which a part is ignored",
      ["CAP_REPO_LIST", "CAP_IAM_ROLE_BINDINGS_CREATE"],
      ["widened"],
      "capabilities[0]",
    ],
    [
      "more by another spelling",
      ["CAP_REPO_LIST", "CAP_TAG_LIST", "CAP_IAM_ROLE_BINDINGS_CREATE"],
      ["widened"],
      '["capabilities"]',
    ],
    ["less", ["CAP_TAG_LIST"], []],
  ])("where the program ignores changes, %s is drift only if it may be more", async (...given) => {
    const [, capabilities, directions, path = "capabilities"] = given;
    const role = uidOf("role");
    const rows = made.rows.map((row) => (row["id"] === role ? { ...row, ignoreChanges: [path] } : row));
    await patch(`/iam/v2/roles/${role}`, { capabilities });
    const report = await survey({ ...on, states: [Object.assign(new Made(), { rows }).export()] });
    await patch(`/iam/v2/roles/${role}`, { capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST"] });
    expect(brief(report).map(({ uid, direction }) => [uid, direction])).toEqual(
      directions.map((direction) => [role, direction]),
    );
    // A restore would record it, and change nothing.
    for (const { advice } of report.findings)
      expect(advice).toBe(
        "take capabilities out of ignoreChanges, and run pulumi up --refresh; or copy the change into the program",
      );
    expect(report.differences.flatMap(({ answers }) => answers.revert ?? [])).toEqual([]);
  });

  test("to restore what refers to a deleted object restores that too", async () => {
    const [role, who] = [
      live("Role", { name: "r", capabilities: ["CAP_REPO_LIST"] }),
      live("Identity", { name: "i", ...ofGitHub("s") }),
    ];
    const [bound, other] = [bind(who, role), bind(who, role, `${org}/${"7".repeat(16)}`)];
    const report = await driftBetween([stateOf([role, who, bound], "prod")], [root, role]);
    const targets = new Map(
      report.differences.map(({ kind, type, answers }) => [
        `${kind} ${type}`,
        (answers.revert ?? "").match(/--target /g)?.length,
      ]),
    );
    expect(targets).toEqual(
      new Map([
        ["deleted Identity", 1],
        ["deleted RoleBinding", 2],
      ]),
    );
    // What another stack manages is restored by that.
    const apart = await driftBetween(
      [stateOf([who], "one"), stateOf([role, bound], "two")],
      [root, role, other],
    );
    const ofBinding = apart.differences.find(({ uid }) => uid === bound.uid);
    expect(ofBinding?.answers.revert).not.toContain("Identity");
  });

  test.each<[string, Props, string, string]>([
    ["one of several", { capabilities: { 1: "added" } }, "widened", "CAP_REPO_LIST"],
    ["one", secret({ capabilities: { 1: "added" } }), "widened", "CAP_REPO_LIST"],
    ["all of it", { capabilities: "changed" }, "unknown", "(not recorded)"],
  ])(
    "finds %s that a refresh has recorded, also where the program ignores it",
    async (_what, mark, direction, before) => {
      const role = live("Role", {
        name: "r",
        capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST"],
        description: "reads",
      });
      const outputs = { ...role.inputs, [REFRESHED]: mark };
      for (const ignoreChanges of [[], ["capabilities"]]) {
        const { resources, ...rest } = stateOf([{ ...role, outputs }], "prod");
        const marked = { ...rest, resources: resources.map((each) => ({ ...each, ignoreChanges })) };
        const { differences } = await driftBetween([marked], [root, role]);
        expect(differences).toEqual([expect.objectContaining({ kind: "changed", direction, uid: role.uid })]);
        expect(differences[0]?.fields).toMatchObject([
          { path: "capabilities", before, after: "CAP_REPO_LIST, CAP_TAG_LIST" },
        ]);
        expect(differences[0]?.answers.revert === undefined).toBe(ignoreChanges.length > 0);
      }
    },
  );

  test("what pulumi import took into the state is unmanaged until a program declares it", async () => {
    const role = live("Role", { name: "r", capabilities: ["CAP_REPO_LIST"] });
    const { resources, ...rest } = stateOf(
      [{ ...role, outputs: { ...role.inputs, [IMPORTED]: true } }],
      "prod",
    );
    const kindsOf = async (all: StateExport["resources"]) =>
      (await driftBetween([{ ...rest, resources: all }], [root, role])).differences.map(({ kind }) => kind);
    expect(await kindsOf(resources)).toEqual(["unmanaged"]);
    expect(await kindsOf(resources.map((each) => ({ ...each, isUndeclared: undefined })))).toEqual([]);
  });

  test("a grant and its holder are unmanaged, though a program reads them with get", async () => {
    const org = uidOf("org");
    const holder = await call(emulator, "POST", `/iam/v2/identities/${org}`, {
      name: "by-hand",
      claimMatch: { issuer: "https://a.example.com", subject: "by-hand" },
    });
    emulator.advanceClock(2);
    const grant = await bindAt("team", String(holder["uid"]));
    const other = new Made("other");
    other.row("holder", "Identity", String(holder["uid"]), {}, {}, { external: true });
    other.row("grant", "RoleBinding", grant, {}, {}, { external: true });
    const report = await survey({ ...on, states: [...on.states, other.export()] });
    await unbind(grant);
    await call(emulator, "DELETE", `/iam/v2/identities/${String(holder["uid"])}`);
    // Of one severity, what came last is first.
    expect(brief(report)).toEqual([
      expect.objectContaining({ kind: "RoleBinding", what: "unmanaged", direction: "widened" }),
      expect.objectContaining({ kind: "Identity", what: "unmanaged", direction: "widened" }),
    ]);
  });

  test("a kind that the inventory does not hold, and groups that it does not cover, are reported as not compared", async () => {
    const root = uidOf("org");
    const inventory = await takeInventory(clientOf(emulator), { root, now: Date.now });
    const report = await survey(on, { inventories: [inventory] });
    expect(report.findings).toEqual([]);
    expect(report.incomplete.length).toBeGreaterThan(3);
    for (const [i, noun] of ["acceptance of terms", "readme", "tag"].entries()) {
      expect(report.incomplete[i]).toContain(`${noun}: not compared: the inventory contains no`);
    }
    for (const line of report.incomplete.slice(3)) {
      expect(line).toMatch(/resources below [0-9a-f]{40} were not compared: no inventory covers them/);
    }
    const part = await survey(on, { inventories: [inventory], isPartial: true });
    expect(part.unresolved).toContainEqual(
      expect.stringMatching(
        / were not compared: .*, so nobody judged what the roles and identities there give/,
      ),
    );
    expect((await survey(on, { states: [], inventories: [inventory] })).incomplete).toEqual([
      expect.stringContaining("nothing was compared"),
    ]);
  });

  test("of equally bad ones lists first what lies at the root, though it changed before", async () => {
    const bound = [await bindAt("org"), await bindAt("team")];
    const { findings } = await survey(on);
    for (const uid of bound) await unbind(uid);
    expect(findings.filter(({ severity }) => severity === "high").map(({ uid }) => uid)).toEqual(bound);
  });

  test("an older inventory dates the drift, and is compared alone where there is no stack", async () => {
    const root = uidOf("org");
    const take = () => takeInventory(clientOf(emulator), { root, now: Date.now });
    const before = await take();
    const body = { name: "new here", capabilities: ["CAP_REPO_LIST"] };
    const { uid } = await call(emulator, "POST", `/iam/v2/roles/${root}`, body);
    await patch(`/iam/v2/groups/${uidOf("team")}`, { description: "other" });
    const alone = await survey({ ...on, states: [] }, { inventories: [await take()], since: [before] });
    const both = await survey(on, { since: [before] });
    const later = await take();
    const gone = await survey({ ...on, states: [] }, { inventories: [before], since: [later] });
    const old = await survey(on, { since: [later] });
    await call(emulator, "DELETE", `/iam/v2/roles/${String(uid)}`);
    await patch(`/iam/v2/groups/${uidOf("team")}`, { description: "before" });
    expect(brief(alone).map(({ what }) => what)).toEqual(["changed", "unmanaged"]);
    expect(alone.findings[1]?.message).toMatch(/^Role .*new here.* is new$/);
    expect(brief(gone).map(({ what }) => what)).toEqual(["deleted", "changed"]);
    expect(at(both, "team")[0]?.details).toContain(`it changed after ${before.takenAt}`);
    expect(alone.findings[1]?.details).toContain(`it was created after ${before.takenAt}`);
    expect(at(old, "team")[0]?.details).toContain(`it was the same at ${later.takenAt}`);
    expect(old.findings.find((one) => one.uid === uid)?.details).toContain(`it existed at ${later.takenAt}`);
    expect(alone.complete).toBe(true);
  });

  describe("of a group whose bindings one resource has", () => {
    const changed = (direction: string, label: string) => [
      {
        kind: "GroupAccess",
        uid: uidOf("access"),
        what: "changed",
        direction,
        fields: [`bindings[${JSON.stringify(label)}]`],
      },
    ];

    test("finds a binding created by hand once, as a change of that resource, by name", async () => {
      const uid = await bindAt("access-own");
      const alone = await survey(on);
      emulator.advanceClock(2);
      const second = await bindAt("access-own", uidOf("other"), "reader");
      const times = [alone, await survey(on)].map(({ differences }) => Date.parse(differences[0]?.at ?? ""));
      expect(times[1]).toBeGreaterThan(times[0] ?? NaN);
      await unbind(second);
      const report = await survey(on);
      const touched = new ChangedResources();
      touched.add({ name: "iam.rolebindings.created", subject: uid });
      const only = await survey(on, { changed: touched });
      await unbind(uid);
      expect(brief(report)).toEqual(changed("widened", "unmanaged: someone as writer"));
      expect(brief(only)).toEqual(brief(report));
      expect(report.findings[0]).toMatchObject({
        severity: "high",
        name: expect.stringContaining("with access"),
      });
      const { answers } = report.differences[0]!;
      expect(answers.revert).toContain("GroupAccess::access");
      // A label that a program may have, beside those that it has.
      const code = answers.adopt ?? "";
      expect(code).toMatch(/^bindings: \{\n/);
      expect(code).toContain('"someone as writer": {');
      expect(code).toContain('"someone reads": {');
      expect(code).not.toContain("unmanaged");
    });

    test("finds none that an update wrote before it failed: its state has the inputs of the one before", async () => {
      const uid = await bindAt("access-own");
      const body = { identityUid: uidOf("someone"), roleUid: uidOf("writer") };
      const reports = [];
      const denied = ["deleting binding: PERMISSION_DENIED"];
      for (const [initErrors, isWritten] of [
        [denied, true],
        [[], true],
        [denied, false],
      ] as const) {
        const rows = made.rows.map((row) => {
          if (row["id"] !== uidOf("access") || !String(row["type"]).endsWith(":GroupAccess")) return row;
          const outputs = row["outputs"] as { bindings: object };
          return {
            ...row,
            initErrors,
            outputs: { ...outputs, bindings: isWritten ? { ...outputs.bindings, more: body } : null },
          };
        });
        const text = JSON.stringify({ version: 3, deployment: { resources: rows } });
        reports.push(brief(await survey({ ...on, states: [parseStateExport(text, "export.json")] })));
      }
      await unbind(uid);
      const found = changed("widened", "unmanaged: someone as writer");
      expect(reports).toEqual([[], found, found]);
    });

    test("finds a binding that the resource ignores by a name that anybody may choose", async () => {
      const identity = await call(emulator, "POST", `/iam/v2/identities/${uidOf("org")}`, {
        name: "break-glass",
        claimMatch: { issuer: "https://a.example.com", subject: "break-glass" },
      });
      await bindAt("access-own", String(identity["uid"]));
      const report = await survey(on);
      await call(emulator, "DELETE", `/iam/v2/identities/${String(identity["uid"])}`);
      expect(brief(report).map(({ kind, what }) => [kind, what])).toEqual([
        ["RoleBinding", "unmanaged"],
        ["Identity", "unmanaged"],
      ]);
      const { answers } = report.differences[0]!;
      expect(report.findings[0]?.details).toContainEqual(
        expect.stringMatching(/GroupAccess::access ignores it$/),
      );
      expect(answers.adopt).toBeUndefined();
    });

    test("finds a binding removed by hand, and one with another identity", async () => {
      const list = await call(
        emulator,
        "GET",
        `/iam/v2/roleBindings?uidp.children_of=${uidOf("access-own")}`,
      );
      const held = (list["roleBindings"] ?? []) as { uid: string; identity: { uid: string } }[];
      const { uid } = held.find(({ identity }) => identity.uid === uidOf("someone")) ?? { uid: "" };
      await unbind(uid);
      const removed = await survey(on);
      const swapped = await bindAt("access-own", uidOf("other"), "reader");
      const both = await survey(on);
      await unbind(swapped);
      await bindAt("access-own", uidOf("someone"), "reader");
      expect(brief(removed)).toEqual(changed("narrowed", "someone reads"));
      expect(brief(both).map(({ what, direction }) => [what, direction])).toEqual([["changed", "widened"]]);
      expect(both.differences[0]?.fields.map(({ path }) => path)).toEqual([
        'bindings["someone reads"]',
        'bindings["unmanaged: other as reader"]',
      ]);
      expect(brief(await survey(on))).toEqual([]);
    });
  });

  test("does not report people who signed in, nor the organisation itself, as unmanaged", async () => {
    const { root, seed } = randomOrganisation(
      3,
      { groups: 2, identities: 20, roles: 0, bindings: 0, repos: 0, others: 0 },
      [],
    );
    const server = await startEmulator({ seed });
    const inventory = await takeInventory(clientOf(server), { root, now: Date.now });
    await server.close();
    const report = await survey(
      { ...on, states: [] },
      { inventories: [inventory], since: [{ ...inventory, objects: [] }] },
    );
    const people = (seed["identities"] as { uid: string; email?: string }[]).filter(({ email }) => email);
    expect(people.length).toBeGreaterThan(0);
    const found = new Set(report.findings.map(({ uid }) => uid));
    expect(found.size).toBe(20 + 2 - people.length);
    for (const { uid } of people) expect(found).not.toContain(uid);
    expect(found).not.toContain(root);
  });

  test("reports a moved object as deleted and unmanaged", async () => {
    const { uid } = await call(emulator, "GET", `/iam/v2/roleBindings/${uidOf("binding")}`);
    await unbind(String(uid));
    const moved = await bindAt("team", uidOf("someone"), "reader");
    const report = await survey(on);
    await unbind(moved);
    expect(brief(report).map(({ what, uid: of }) => [what, of])).toEqual([
      ["unmanaged", moved],
      ["deleted", uid],
    ]);
    expect(report.differences[1]).toMatchObject({
      direction: "narrowed",
      answers: {
        revert: expect.stringMatching(/^pulumi up --refresh --target urn:\S+ --stack test$/),
        adopt: expect.stringContaining("pulumi state delete urn:"),
      },
    });
  });

  test("reports each object deleted by hand as deleted, and no others", async () => {
    const labels = samples.filter(({ permanent, kind }) => !permanent && kind !== "RoleBinding");
    for (const { label, kind, writing } of labels) {
      const id = made.ids[label] ?? "";
      const { delete: own } = writing ?? {};
      const address = `${specOf(kind).collection}/${id}`;
      const ours = own?.address.replace("${own}", made.ids[`${label}-own`] ?? "");
      await call(emulator, own?.method ?? "DELETE", ours ?? address, own?.body);
    }
    const report = await survey(on);
    const gone = brief(report)
      .filter(({ what }) => what === "deleted")
      .map(({ uid, kind }) => `${kind ?? ""} ${uid ?? ""}`);
    const expected = labels.map(({ label, kind }) => `${kind} ${made.ids[label] ?? ""}`);
    expect(gone.sort()).toEqual([...expected, `RoleBinding ${uidOf("binding")}`].sort());
    expect(report.findings.filter(({ drift }) => drift?.kind !== "deleted")).toEqual([]);
  });
});

describe("drift between documents", () => {
  const team = live("Group", { name: "team" });
  const ci = live("Identity", { name: "ci", ...ofGitHub("repo:acme/ci:ref:refs/heads/main") });
  const reader = live("Role", { name: "reader", capabilities: ["CAP_REPO_LIST"] });
  const bindings = { reads: { identityUid: ci.uid, roleUid: reader.uid } };
  const access = { kind: "GroupAccess", uid: team.uid, inputs: { parentUid: team.uid, bindings } };
  const held = [team, ci, reader];
  const objects = [root, ...held, bind(ci, reader, team.uid)];
  const compared = (given: readonly Live[], more: Partial<Inventory> = {}) =>
    driftBetween([stateOf([...held, access])], [], { inventories: [inventoryOf(given, more)] });

  test("a group whose bindings could not be listed has not lost them, and a group that is gone has", async () => {
    const refused = [{ kind: "RoleBinding", code: "PERMISSION_DENIED", errorCode: "PP3403", message: "no" }];
    const report = await compared([root, ...held], { complete: false, refused });
    expect(report).toMatchObject({
      findings: [],
      incomplete: ["role binding: not compared: PERMISSION_DENIED: no"],
    });
    const gone = await compared([root, ci, reader]);
    expect(
      brief(gone)
        .map(({ kind, what }) => `${kind} ${what}`)
        .sort(),
    ).toEqual(["Group deleted", "GroupAccess deleted"]);
  });

  test("a binding of its own contests the resource that has all of its group", async () => {
    const own = objects.at(-1)!;
    const report = await driftBetween([stateOf([...held, access, own])], objects);
    expect(brief(report)).toMatchObject([{ kind: "RoleBinding", uid: own.uid, what: "contested" }]);
    const none = { ...access, inputs: { parentUid: team.uid, bindings: {} } };
    const undeclared = await driftBetween([stateOf([...held, none, own])], objects);
    expect(brief(undeclared).map(({ what }) => what)).toEqual(["changed", "contested"]);
    const [changed] = undeclared.differences;
    expect(changed?.answers.revert).toBeUndefined();
    expect(undeclared.findings.find(({ id }) => id === "drift-changed")).toMatchObject({
      advice: expect.stringContaining("deletes what the other one declares") as string,
      details: expect.arrayContaining([expect.stringMatching(/^\S+ declares one there: urn:/)]) as string[],
    });
    // It is one binding, which goes with either of the two.
    for (const { findings } of [report, undeclared])
      expect(findings.filter(({ rule }) => rule === "repeated-grant")).toEqual([]);
  });

  test("what no single request deletes has no command for it", async () => {
    const token = live("ScimToken", { neverExpires: true });
    const report = await driftBetween([stateOf(held)], [...objects, token], { rules: () => [] });
    const { findings, differences } = report;
    expect(findings.find(({ uid }) => uid === token.uid)?.advice).toContain(
      "delete it by hand (no single request does)",
    );
    expect(differences.find(({ uid }) => uid === token.uid)?.answers.revert).toBeUndefined();
  });

  test("says nothing of what one of two inventories does not list", async () => {
    const kinds = listedKinds.filter((kind) => kind !== "Role");
    const refused = [{ kind: "Role", code: "PERMISSION_DENIED", errorCode: "PP3403", message: "no" }];
    const whole = inventoryOf([root, ...held]);
    const less = [root, team, ci];
    const lists = "role: not compared: only one of the inventories contains it";
    const lacks = "role: what is new is not seen: the older inventory lacks its list, or a part of it";
    // What the inventories of another organisation list shows nothing of this one.
    for (const others of [[], [inventoryOf([], { root: "b".repeat(40) })]])
      for (const [older, newer, incomplete] of [
        [whole, inventoryOf(less, { kinds }), [lists]],
        [inventoryOf(less, { kinds }), whole, [lists]],
        [inventoryOf(less, { refused, complete: false }), whole, [lacks]],
        [
          whole,
          inventoryOf(less, { refused, complete: false }),
          ["role: not compared: PERMISSION_DENIED: no"],
        ],
      ] as const) {
        const compare = { inventories: [...others, newer], since: [...others, older] };
        expect(await driftBetween([], [], compare)).toMatchObject({ findings: [], incomplete });
      }
  });

  describe("an object is dated by the older inventory of its own organisation", () => {
    const DAY = "2026-05-20T00:00:00Z";
    const other = "b".repeat(40);
    const trust = ofGitHub("repo:acme/new:x");
    const [ours, ...theirs] = [live("Identity", trust), live("Identity", trust, other)];
    const listed = [inventoryOf([root, ours]), inventoryOf(theirs, { root: other })];
    const older = (objects: readonly Live[], more: Partial<Inventory> = {}) =>
      inventoryOf(objects, { takenAt: DAY, ...more });
    const refused = [{ kind: "Identity", code: "UNAVAILABLE", errorCode: "PP3503", message: "no" }];
    const timesBeside = async (...since: readonly Inventory[]) => {
      const { findings } = await driftBetween([stateOf([team])], [], { inventories: listed, since });
      return [ours, ...theirs].map(({ uid }) =>
        findings
          .find((finding) => finding.uid === uid && finding.drift !== undefined)
          ?.details.find((line) => /^it (?:existed|was created)/.test(line)),
      );
    };
    const first = inventoryOf(theirs, { root: other, takenAt: "2026-05-01T00:00:00Z" });

    test.each<[string, readonly Inventory[], readonly (string | undefined)[]]>([
      [
        "which is not the first one that is given",
        [first, older([root, ours])],
        [`it existed at ${DAY}`, `it existed at ${first.takenAt}`],
      ],
      [
        "which lacks it",
        [first, older([root])],
        [`it was created after ${DAY}`, `it existed at ${first.takenAt}`],
      ],
      ["which is not given", [first], [undefined, `it existed at ${first.takenAt}`]],
      ["which lists no such kind", [older([root], { kinds: ["Group"] })], [undefined, undefined]],
      ["whose list was refused", [older([root], { complete: false, refused })], [undefined, undefined]],
    ])("%s", async (_, since, times) => {
      expect(await timesBeside(...since)).toEqual(times);
    });
  });

  test("an end that only the server sets has moved since an older inventory, though no argument differs", async () => {
    const token = { ...live("ScimToken", {}), uid: org };
    const at = (tokenExpireTime: string) => ({ ...token, details: { tokenExpireTime } });
    const [early, late] = ["2026-07-01T00:00:00Z", "2026-08-01T00:00:00Z"];
    const recorded = stateOf([{ ...token, outputs: { ...token.inputs, tokenExpireTime: early } }]);
    const takenAt = "2026-05-20T00:00:00Z";
    for (const [then, line] of [
      [early, `it changed after ${takenAt}`],
      [late, `it was the same at ${takenAt}`],
    ] as const) {
      const { findings } = await driftBetween([recorded], [root, at(late)], {
        since: [inventoryOf([root, at(then)], { takenAt })],
      });
      const changed = findings.find(({ id }) => id === "drift-changed");
      expect(changed?.details).toContain(line);
    }
  });

  test("events name what changed, whose parts and collections are compared with it", () => {
    const touched = new ChangedResources();
    const on = `${org}/${"7".repeat(16)}`;
    const [tag, other] = [on, team.uid].map((parent) => live("Tag", { name: "t" }, parent)) as [Live, Live];
    const actor = { subject: "ada" };
    const names = [
      "platform.registry.repo.updated",
      "platform.registry.tag.updated.batch",
      "elsewhere.updated",
    ];
    expect(names.map((name) => touched.add({ name, subject: on, actor }))).toEqual([true, true, false]);
    expect(touched.actors.get(on)).toBe("by ada");
    for (const kind of ["Repo", "RepoReadme"]) expect(touched.concerns(kind, on)).toBe(true);
    expect([tag, other].map(({ uid }) => touched.concerns("Tag", uid))).toEqual([true, false]);
    expect(["GroupAccess", "Group"].map((kind) => touched.concerns(kind, org))).toEqual([true, false]);
    expect([org, team.uid].map((root) => touched.concernsBelow(root))).toEqual([true, false]);
  });
});
