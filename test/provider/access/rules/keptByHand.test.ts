import { listedKinds } from "../../../../provider/access/documents/inventory";
import { compare } from "../../../../provider/access/review/compare";
import { defaultRuleOptions, findingsOf } from "../../../../provider/access/rules";
import { listResources, stepsOf } from "../../../../provider/access/rules/ruleTesting";
import { ADOPT, IMPORTED } from "../../../../provider/fields/values";
import { REFRESHED } from "../../../../provider/fields/refreshed";
import { parsePolicy } from "../../../../provider/access/suppressions/policyDocument";
import type { Props } from "../../../../provider/fields/values";
import {
  acme,
  binding,
  cards,
  claims,
  compareResources,
  groups,
  identity,
  objectOf,
  owner,
  payments,
  pinned,
  pusher,
  resource,
  role,
  viewer,
  edit,
  byHand,
  GITHUB,
} from "../../../support/access";
import type { Resource } from "../../../support/access";
import { inventoryOf, preview, state, step } from "../../../support/documents";
import { found, NOW } from "./support";

const stranger = {
  issuer: GITHUB,
  subject: "repo:evil/pay:ref:refs/heads/main",
};
const ci = identity("ci", pinned);
const idle = identity("idle", pinned);
const writer = role("writer", ["REPO_LIST"]);
const staff = resource("IdentityProvider", "staff", {
  parentUid: acme,
  defaultRole: viewer.uid,
  oidc: { issuer: "https://login.acme.example.com", clientId: "platform", pkceEnabled: true },
});
const grant = binding(ci, writer, acme);
const events = resource("Subscription", "events", {
  name: undefined,
  parentUid: payments,
  sink: "https://hooks.acme.example.com/registry",
});
const access = (bindings: Props): Resource => ({
  ...resource("GroupAccess", "access", { name: undefined, parentUid: payments, bindings }),
  uid: payments,
});
/** The same grant by another binding. */
const again = (one: Resource, where = acme): Resource => ({ ...one, uid: `${where}/${"9".repeat(16)}` });
type Change = Parameters<typeof compareResources>;
const x5 = (...given: Change) => found("X5", compareResources(...given));
const severitiesOf = (...given: Change): string[] => x5(...given).map(({ severity }) => severity);
/** What X5 says of a change, of which it says one thing. */
const onlyX5 = (...given: Change) => {
  const [finding, ...others] = x5(...given);
  expect(others).toEqual([]);
  return finding;
};
const services = (who: Resource): Resource =>
  resource("AccountAssociation", "services", {
    parentUid: acme,
    chainguard: { serviceBindings: { CATALOG_SYNCER: who.uid } },
  });
const seen = { "ci reads": { identityUid: ci.uid, roleUid: viewer.uid } };
const known = [...groups, viewer, pusher, owner, ci, idle, writer, staff, grant, events];

/** A resource that adopts an object, to which nothing else of the program refers. */
const adopting = (one: Resource): Resource => ({
  ...edit(one, { [ADOPT]: one.uid }),
  uid: `${acme}/${"8".repeat(16)}`,
});
const withChanged = (one: Resource): Resource[] => known.map((each) => (each.uid === one.uid ? one : each));

describe("X5 recorded-state: what was done by hand and becomes the program's", () => {
  const trust = edit(ci, claims(stranger));
  const wider = ["CAP_REPO_LIST", "CAP_IAM_ROLE_BINDINGS_CREATE"];
  test.each([
    ["the trust of an identity", trust, "claimMatch.subject"],
    ["a capability of a role", edit(writer, { capabilities: wider }), "capabilities"],
    ["the default role of a provider", edit(staff, { defaultRole: owner.uid }), "defaultRole"],
    ["the role of a binding", edit(grant, { roleUid: owner.uid }), "roleUid"],
  ])("is high: %s", (_what, changed, field) => {
    const after = withChanged(changed);
    const finding = onlyX5(known, after, { live: after });
    expect(finding?.severity).toBe("high");
    expect(finding?.details.at(-1)).toContain(`, ${field}: recorded `);
    expect(compareResources(known, after, { live: after }).grants).toEqual([]);
    // A change that undoes it, one that leaves it, and one that makes it by itself.
    const described = withChanged(edit(changed, { ...changed.inputs, description: "more" }));
    const only = known.map((each) => (each.uid === changed.uid ? edit(each, { description: "more" }) : each));
    expect(x5(known, known, { live: after })).toEqual([]);
    expect(x5(known, only, { live: after })).toEqual([]);
    expect(x5(known, described)).toEqual([]);
    expect(x5(known, described, { live: after })).toHaveLength(1);
  });

  test.each<[string, Resource, Props | string, string]>([
    [
      "the trust of an identity",
      trust,
      { claimMatch: { subject: "changed" } },
      "claimMatch.subject: recorded (not recorded), now ",
    ],
    [
      "a capability of a role",
      edit(writer, { capabilities: wider }),
      { capabilities: { 1: "added" } },
      "capabilities: recorded CAP_REPO_LIST, now ",
    ],
    [
      "all of a role",
      edit(writer, { capabilities: wider }),
      { capabilities: "changed" },
      "capabilities: recorded (not recorded), now ",
    ],
    [
      "anything, where the program has the mark encrypted",
      edit(writer, { capabilities: wider }),
      "[secret]",
      "capabilities: recorded (not recorded), now ",
    ],
    [
      "the default role of a provider",
      edit(staff, { defaultRole: owner.uid }),
      { defaultRole: "changed" },
      "defaultRole: recorded (not recorded), now ",
    ],
    [
      "the role of a binding",
      edit(grant, { roleUid: owner.uid }),
      { roleUid: "changed" },
      "roleUid: recorded (not recorded), now ",
    ],
  ])("is high after a refresh has recorded it: %s", (_what, changed, mark, recorded) => {
    const { kind, urn, uid: id } = changed;
    const others = known.filter(({ uid }) => uid !== id);
    const outputs = { ...changed.inputs, [REFRESHED]: mark };
    const reviewed = (news: Resource, withoutInventory: boolean) => {
      const [before, after] = [changed, news].map(({ inputs }) =>
        state(kind, "x", inputs, { id, urn, outputs }),
      );
      const steps = [step("update", before, after)];
      return x5(others, others, { live: withChanged(changed), steps, withoutInventory }).filter(
        ({ field }) => field !== "inventory",
      );
    };
    for (const withoutInventory of [false, true]) {
      const [first, ...more] = reviewed(changed, withoutInventory);
      expect([first?.severity, more]).toEqual(["high", []]);
      expect(first?.details.join("\n")).toContain(`, ${recorded}`);
      expect(first?.message).toMatch(/^1 object was made, changed or deleted by hand/);
      // A change that undoes it.
      const before = known.find(({ uid }) => uid === id) ?? changed;
      if (typeof mark !== "string" && mark["capabilities"] !== "changed")
        expect(reviewed(before, withoutInventory)).toEqual([]);
    }
  });

  it("reports a grant that pulumi import took into the state, where a program first declares it", () => {
    const owned = byHand(binding(ci, owner, acme));
    const { kind, urn, uid: id, inputs } = owned;
    const place = { sourcePosition: "project:///index.ts#7" };
    const reviewed = (before: object, after: object) => {
      const [old, now] = [before, after].map((more) => state(kind, "x", inputs, { id, urn, ...more }));
      return x5(known, known, { live: [...known, owned], steps: [step("same", old, now)] });
    };
    const imported = { outputs: { ...inputs, [IMPORTED]: true } };
    expect(reviewed(imported, place).map(({ severity }) => severity)).toEqual(["high"]);
    expect(reviewed({}, place)).toEqual([]);
    // Declared before, in a library, whose lines are no places of the program.
    const inLibrary = { sourcePosition: "project:///node_modules/acme/index.js#7" };
    expect(reviewed(imported, inLibrary)).toHaveLength(1);
    expect(reviewed({ ...imported, ...inLibrary }, place)).toEqual([]);
    // The same grant by another resource, with an inventory and without.
    const gone = step("delete", state(kind, "x", inputs, { id, urn, ...imported }), undefined);
    const again = step("create", undefined, state(kind, "y", inputs, {}));
    for (const withoutInventory of [false, true]) {
      const more = { live: [...known, owned], steps: [gone, again], withoutInventory };
      const found = x5(known, known, more).filter(({ field }) => field !== "inventory");
      expect(found.map(({ severity }) => severity)).toEqual(["high"]);
    }
  });

  it("names what the stack records and what the server has", () => {
    const after = withChanged(trust);
    const [finding] = x5(known, after, { live: after });
    expect(finding?.details.at(-1)).toMatch(/repo:(acme|evil)\/pay:.*repo:(?!\1)\w+\/pay:/);
  });

  it("claims nothing of what the stack keeps secret, and is as severe", () => {
    const live = withChanged(edit(writer, { capabilities: wider }));
    const { urn, uid: id, inputs } = live.find((each) => each.uid === writer.uid) ?? writer;
    const own = { id, urn };
    const secret = { ...inputs, capabilities: "[secret]" };
    const others = known.filter((each) => each.uid !== writer.uid);
    const shown = step("update", state("Role", "writer", secret, own), state("Role", "writer", inputs, own));
    const [finding] = x5(others, others, { live, steps: [shown] });
    expect(finding).toMatchObject({
      severity: "high",
      message: expect.stringContaining("1 object may have been changed by hand") as string,
    });
  });

  it("is found beside what the change adds to it", () => {
    const live = withChanged(edit(writer, { capabilities: wider }));
    const after = withChanged(edit(writer, { capabilities: [...wider, "CAP_TAG_CREATE"] }));
    const other = withChanged(edit(writer, { capabilities: ["CAP_REPO_LIST", "CAP_TAG_CREATE"] }));
    expect(x5(known, after, { live })).toHaveLength(1);
    // What it takes back was not there for the rules: ci could only read.
    const [hidden, ...more] = x5(known, other, { live });
    expect([more, hidden?.details]).toEqual([
      [],
      [
        expect.stringMatching(/^high T7: identity ci .* could only read so far$/),
        expect.stringMatching(/^role writer, capabilities: recorded /),
      ],
    ]);
  });

  it("is high where a refresh takes it over, and the program changes nothing", () => {
    const [recorded, now] = [["CAP_REPO_LIST"], wider].map((capabilities) =>
      state("Role", "writer", { parentUid: acme, name: "writer", capabilities }, { id: writer.uid }),
    );
    const live = withChanged(edit(writer, { capabilities: wider }));
    const others = known.filter((each) => each !== writer);
    const given = compare({
      preview: preview(step("refresh", recorded, now), step("same", now, now), ...stepsOf(others, others)),
      inventory: listResources(acme, live),
    });
    expect(found("X5", given)).toMatchObject([{ severity: "high", field: "adopt" }]);
  });

  it("is not about what the program only reads from now on", () => {
    const of = (capabilities: string[], external = false) =>
      state(
        "Role",
        "writer",
        { parentUid: acme, name: "writer", capabilities },
        { id: writer.uid, external },
      );
    const live = withChanged(edit(writer, { capabilities: wider }));
    const steps = (after: ReturnType<typeof of>, op: string) =>
      compare({
        preview: preview(step(op, of(["CAP_REPO_LIST"]), after)),
        inventory: listResources(acme, live),
      });
    expect(found("X5", steps(of(wider), "update"))).toMatchObject([{ severity: "high" }]);
    expect(found("X5", steps(of(wider, true), "read"))).toEqual([]);
  });

  it("is nothing where less is allowed, or where nothing of access differs", () => {
    const less = withChanged(edit(staff, { defaultRole: undefined }));
    const described = withChanged(edit(ci, { description: "pipelines" }));
    expect(x5(known, less, { live: less })).toEqual([]);
    expect(x5(known, described, { live: described })).toEqual([]);
  });

  it("is high where a resource of another name, or of another kind, gives what was changed by hand", () => {
    const changed = edit(grant, { roleUid: owner.uid });
    const live = withChanged(changed);
    const others = known.filter((each) => each !== grant);
    const owning = again(binding(ci, owner, acme));
    const bindings = { ci: { identityUid: ci.uid, roleUid: owner.uid } };
    const inAccess = { ...resource("GroupAccess", "all", { parentUid: acme, bindings }), uid: acme };
    for (const now of [owning, inAccess]) {
      const [finding] = x5(known, [...others, now], { live });
      expect(finding?.severity).toBe("high");
      expect(finding?.details).toContainEqual(expect.stringMatching(/^critical G1: /));
    }
    expect(severitiesOf(known, live, { live, replaced: [changed] })).toEqual(["high"]);
    // The binding itself may stay as it is: a refresh takes it back, and not the other one.
    expect(severitiesOf(known, [...known, owning], { live })).toEqual(["high"]);
    // The change may also write something else to it, or make it anew elsewhere.
    const moved = { ...binding(ci, writer, payments), urn: grant.urn, uid: grant.uid };
    const less = edit(grant, { roleUid: viewer.uid });
    expect(severitiesOf(known, [...others, less, owning], { live })).toEqual(["high"]);
    expect(severitiesOf(known, [...others, moved, owning], { live, replaced: [grant] })).toEqual(["high"]);
    // Or only read it from now on.
    const own = { id: grant.uid, urn: grant.urn };
    const name = grant.urn.slice(grant.urn.lastIndexOf("::") + 2);
    const reading = step(
      "read",
      state("RoleBinding", name, grant.inputs, own),
      state("RoleBinding", name, {}, { ...own, external: true, outputs: changed.inputs }),
    );
    expect(severitiesOf(others, [...others, owning], { live, steps: [reading] })).toEqual(["high"]);
    // What goes, and what is made again as it was recorded.
    expect(severitiesOf(known, others, { live })).toEqual([]);
    expect(severitiesOf(known, [...others, edit(owning, { roleUid: writer.uid })], { live })).toEqual([]);
  });

  const made = binding(idle, owner, acme);
  const given = byHand(made);

  // An import names the object by its uid, as a create that adopts does by a property.
  const importing = (one: Resource) => {
    const { urn: own, uid: id, inputs, kind } = one;
    const name = own.slice(own.lastIndexOf("::") + 2);
    const now = state(kind, name, inputs, { id, urn: own });
    return step("import", undefined, Object.assign(now, { importID: id }));
  };
  test.each([
    ["an adopted binding", adopting(made)],
    ["a binding that is made again", again(made)],
  ])("is high: %s of an owner", (_what, now) => {
    const finding = onlyX5(known, [...known, now], { live: [...known, given] });
    expect(finding).toMatchObject({ severity: "high", field: "adopt" });
    expect(finding?.details.at(-1)).toMatch(
      /^role binding .*: made by hand, or gives what was given by hand$/,
    );
  });

  // No program recorded what it allowed before, and grants of the program's give it already.
  test.each([
    ["high", ["REPO_LIST", "IAM_ROLES_UPDATE"]],
    ["medium", ["REPO_LIST", "TAG_CREATE"]],
    ["low", ["REPO_LIST"]],
  ])("is %s: an adopted role of a binding that the program has, with %j", (severity, capabilities) => {
    const bound = role("bound", capabilities);
    const before = [...known, binding(idle, bound, payments)];
    const live = [...before, byHand(bound)];
    const given = compareResources(before, [...before, adopting(bound)], { live });
    expect(given.grants).toEqual([]);
    expect(found("X5", given)).toMatchObject([
      {
        severity,
        field: "adopt",
        details: [expect.stringMatching(`^${severity} G4: role bound gains CAP_`)],
      },
    ]);
  });

  it("is high: an entry of a resource that owns all bindings, and an import", () => {
    const program = [...known, access(seen)];
    const more = access({ ...seen, "idle owns": { identityUid: idle.uid, roleUid: owner.uid } });
    const live = [...program, byHand(binding(idle, owner, payments))];
    expect(severitiesOf(program, [...known, more], { live })).toEqual(["high"]);
    const imported = { live: [...known, given], steps: [importing(made)] };
    expect(severitiesOf(known, known, imported)).toEqual(["high"]);
  });

  it("is high: a mapping that was made by hand, and whom somebody let in through an identity that stays", () => {
    const inputs = { parentUid: staff.uid, scope: acme, externalGroupId: "evil", roleUid: owner.uid };
    const mapping = (name: string): Resource => resource("ExternalGroupRoleMapping", name, inputs);
    const mapped = { live: [...known, byHand(mapping("hand"))] };
    expect(severitiesOf(known, [...known, mapping("declared")], mapped)).toEqual(["high"]);
    // Whom somebody let in by an identity of theirs gets one of the program.
    const [lent, own] = [identity("lent", claims(stranger)), identity("own", claims(stranger))];
    const live = [...known, byHand(lent), byHand(binding(lent, owner, acme))];
    expect(severitiesOf(known, [...known, own, binding(own, owner, acme)], { live })).toEqual(["high"]);
    // The identity is restored afterwards, and the new one stays.
    const before = [...known, binding(ci, owner, acme)];
    const lentBy = before.map((each) => (each === ci ? edit(ci, claims(stranger)) : each));
    const entering = [...before, own, binding(own, owner, acme)];
    expect(severitiesOf(before, entering, { live: lentBy })).toContain("high");
  });

  it("is high: a stranger who writes by hand, taken over with the identity first or with the binding later", () => {
    const zed = identity("zed", claims(stranger));
    const grants = binding(zed, pusher, payments);
    const program = [...known, binding(ci, pusher, payments)];
    const steps: [readonly Resource[], Resource, readonly Resource[]][] = [
      [program, adopting(zed), [...program, byHand(zed), byHand(grants)]],
      [[...program, zed], adopting(grants), [...program, zed, byHand(grants)]],
    ];
    for (const [before, taken, live] of steps) {
      const finding = onlyX5(before, [...before, taken], { live });
      expect(finding?.severity).toBe("high");
      expect(finding?.details).toContainEqual(
        expect.stringMatching(/^high T7: identity zed trusts .*"evil"/),
      );
    }
  });

  // What is restored at the server afterwards is no drift, and no change of the program.
  describe("of what a new grant leads to, changed by hand to less", () => {
    const zed = identity("zed", claims(stranger));
    const lead = role("lead", ["REPO_LIST", "IAM_ROLES_UPDATE"]);
    const program = [...known, zed, lead];
    const entry = (who: Resource, what: Resource): Resource =>
      access({ ...seen, "zed pushes": { identityUid: who.uid, roleUid: what.uid } });
    const changed = (one: Resource, inputs: Props, all = program): Resource[] =>
      all.map((each) => (each.uid === one.uid ? edit(each, inputs) : each));
    const pinnedByHand = changed(zed, pinned);
    const less = { capabilities: ["CAP_REPO_LIST"] };
    test.each<[string, Resource[], Resource[], Resource[], RegExp, string]>([
      [
        "a trust",
        program,
        [...program, binding(zed, pusher, payments)],
        pinnedByHand,
        /^high T7: .*"evil"/,
        "claimMatch.subject",
      ],
      [
        "a trust, at the root",
        program,
        [...program, binding(zed, viewer, acme)],
        pinnedByHand,
        /^high T7: .*"evil"/,
        "claimMatch.subject",
      ],
      [
        "a trust, by an entry",
        [...program, access(seen)],
        [...program, entry(zed, pusher)],
        [...pinnedByHand, access(seen)],
        /^high T7: .*"evil"/,
        "claimMatch.subject",
      ],
      [
        "a role",
        program,
        [...program, binding(idle, lead, acme)],
        changed(lead, less),
        /^(critical|high) G/,
        "capabilities",
      ],
    ])("%s is high", (_what, before, after, live, said, field) => {
      const finding = onlyX5(before, after, { live });
      const message = expect.stringContaining("changed by hand") as unknown;
      expect(finding).toMatchObject({ severity: "high", message });
      expect(finding?.details[0]).toMatch(said);
      expect(finding?.details.at(-1)).toContain(`, ${field}: recorded `);
      // Nothing was done by hand, and what was done there leads nowhere.
      expect(x5(before, after)).toEqual([]);
      expect(x5(before, before, { live })).toEqual([]);
      const other = binding(ci, viewer, cards);
      expect(x5(before, [...before, other], { live })).toEqual([]);
    });
    it.each([{}, { description: "other" }])(
      "says what an assertion counts by what is recorded: %j",
      (more) => {
        const { assertions } = parsePolicy(
          "require: [{ name: few, can: CAP_IAM_ROLES_UPDATE, on: acme, atMost: 1 }]",
        );
        const before = [...program, binding(ci, lead, acme)];
        // An update of something else leaves what was done by hand.
        const after = [...changed(lead, more, before), binding(idle, lead, acme)];
        const given = compareResources(before, after, { live: changed(lead, less, before) });
        const [finding] = found("X5", given, { assertions });
        expect(finding?.details).toContainEqual(expect.stringMatching(/^high P2: few: acme has 2 holders/));
      },
    );

    const duties = parsePolicy(
      "separate: [{ name: duties, duties: [[CAP_TAG_CREATE], [CAP_IAM_ROLES_UPDATE]], on: acme / payments }]",
    );
    const twin = identity("twin", pinned);
    const pushing = { "ci pushes": { identityUid: ci.uid, roleUid: pusher.uid } };
    it.each<[string, Resource[], Resource[], RegExp]>([
      ["a binding of a GroupAccess", [access(pushing)], [access({})], /^group access access.*: recorded /],
      [
        "the trust of another identity",
        [twin, binding(twin, pusher, payments)],
        [edit(twin, claims(stranger)), binding(twin, pusher, payments)],
        /^identity twin, claimMatch\.subject: recorded /,
      ],
    ])("is high where an assertion counts what no new grant names: %s", (_what, more, byHand, line) => {
      const [before, live] = [
        [...program, ...more],
        [...program, ...byHand],
      ];
      const given = compareResources(before, [...before, binding(ci, lead, payments)], { live });
      const [finding, ...others] = found("X5", given, duties);
      expect(others).toEqual([]);
      expect(finding).toMatchObject({
        severity: "high",
        message: expect.stringMatching(/^1 object was changed by hand, which hides /) as unknown,
      });
      expect(finding?.details).toEqual([
        expect.stringMatching(/^high P3: duties: /),
        expect.stringMatching(line),
      ]);
    });

    it("is low where it hides a new grant of which no rule says anything", () => {
      const [before, live] = [idle, ci].map((who) => [...program, services(who)]) as [Resource[], Resource[]];
      const finding = onlyX5(before, [...before, binding(idle, viewer, payments)], { live });
      const message = expect.stringMatching(/ this change would give 1 grant more$/) as unknown;
      expect(finding).toMatchObject({ severity: "low", message });
      expect(finding?.details[0]).toMatch(/^new grant: .*CATALOG_SYNCER/);
      const elsewhere = onlyX5(before, [...before, binding(idle, viewer, cards)], { live });
      expect(elsewhere?.fingerprint).not.toBe(finding?.fingerprint);
    });

    it("tells what was only changed beside what is taken over, and the grants that it hides", () => {
      const made = resource("Group", "hand", { parentUid: acme });
      const taking = [...program, adopting(made), binding(ci, lead, payments)];
      const narrowed = [...changed(lead, less), byHand(made)];
      const finding = onlyX5(program, taking, { live: narrowed });
      expect(finding).toMatchObject({
        severity: "high",
        message: expect.stringMatching(
          /^1 object was made, .* undoes it: group hand; 1 object was changed by hand, which hides .*: role lead; had nothing/,
        ) as unknown,
      });
      expect(finding?.details).toContainEqual(expect.stringMatching(/^role lead, capabilities: recorded /));
      const before = [...program, services(idle)];
      const adding = [...before, adopting(made), binding(idle, viewer, payments)];
      expect(x5(before, adding, { live: [...program, services(ci), byHand(made)] })).toMatchObject([
        {
          severity: "low",
          details: [
            expect.stringMatching(/^new grant: .*CATALOG_SYNCER/),
            expect.stringMatching(/^account association services, .*: recorded /),
          ],
        },
      ]);
    });

    it("is nothing where the rules say no more, and something where a binding gives it by hand", () => {
      const after = [...program, binding(zed, viewer, payments)];
      const renamed = changed(zed, { name: "other" });
      expect(x5(program, after, { live: renamed })).toEqual([]);
      const twice = binding(zed, pusher, cards);
      const byOther = edit(twice, { roleUid: pusher.uid });
      const recorded = [...program, edit(twice, { roleUid: viewer.uid })];
      // The binding that has the role by hand goes back to what is recorded.
      const live = [...program, byOther];
      const more = [...recorded, again(byOther, cards)];
      const [finding] = x5(recorded, more, { live });
      expect(finding?.details).toContainEqual(expect.stringMatching(/^high T7: identity zed /));
    });
  });

  it("is medium where what is taken over is declared otherwise than it is: the run refuses that", () => {
    const group = known.find(({ kind, uid }) => kind === "Group" && uid === cards)!;
    const live = [...known, given];
    const others = known.filter(({ uid }) => uid !== cards);
    const take = (inputs: Props) => x5(others, [...others, adopting(edit(group, inputs))], { live });
    const message = expect.stringMatching(/will fail: .*another name$/) as unknown;
    expect(take({ name: "other" })).toMatchObject([{ severity: "medium", field: "name", message }]);
    expect(take({})).toEqual([]);
  });

  it("is as it was for an object that another resource of the program gives up, and nothing is deleted", () => {
    const renamed = (one: Resource): Resource => ({ ...adopting(one), urn: `${one.urn}-2` });
    const take = (old: Resource, now: Resource, live: readonly Resource[], more = {}) =>
      compareResources(known, [...known.filter((one) => one !== old), renamed(now)], { live, ...more });
    const group = known.find(({ uid }) => uid === cards)!;
    for (const one of [ci, writer, grant, staff, events, group]) {
      for (const withoutInventory of [false, true]) {
        const given = take(one, one, known, { withoutInventory });
        const ids = findingsOf(given, defaultRuleOptions(NOW)).map(({ id }) => id);
        expect([one.kind, given.grants, ids]).toEqual([
          one.kind,
          [],
          withoutInventory ? expect.any(Array) : [],
        ]);
        expect(given.changes.map(({ op }) => op)).not.toContain("delete");
      }
    }
    // What was done to it by hand becomes the program's as by an update, and nothing else is taken over.
    const changed = edit(ci, claims(stranger));
    expect(found("X5", take(ci, changed, withChanged(changed)))).toMatchObject([
      { severity: "high", field: "adopt" },
    ]);
    expect(found("X5", take(ci, ci, withChanged(changed)))).toMatchObject([
      { severity: "medium", message: expect.stringContaining("will fail") as unknown },
    ]);
    // A preview with --refresh shows it as the server has it, and what the stack records before.
    const recorded = { id: ci.uid, urn: ci.urn };
    const live = state("Identity", "ci", changed.inputs, recorded);
    const shown = preview(
      step("refresh", state("Identity", "ci", ci.inputs, recorded), live),
      step("delete", live),
      step("create", undefined, state("Identity", "ci-2", { ...changed.inputs, [ADOPT]: ci.uid })),
    );
    const inventory = inventoryOf(acme, ...withChanged(changed).map(objectOf));
    expect(found("X5", compare({ preview: shown, inventory }))).toMatchObject([{ field: "adopt" }]);
  });

  it("is medium: an adopted object that another stack manages, and none of one that it does not", () => {
    const free = known.map((each) => (each.uid === writer.uid ? byHand(each) : each));
    const taking = [...free, adopting(writer)];
    const judged = (...otherStacks: Resource[]) =>
      found("X5", compareResources(free, taking, { otherStacks })).filter(({ field }) => field === "urn");
    expect(judged(writer)).toMatchObject([
      { severity: "medium", message: expect.stringMatching(/managed by another stack too: .*: role \S+$/) },
    ]);
    expect(judged(viewer)).toEqual([]);
    expect(
      found("X5", compareResources(known, known, { otherStacks: [writer] })).map(({ field }) => field),
    ).not.toContain("urn");
  });

  it("is medium: an adopted receiver of events; and low: an adopted grant of which no rule says anything", () => {
    const sent = resource("Subscription", "evil", { parentUid: payments, sink: "https://evil.example/x" });
    for (const [one, severity] of [
      [sent, "medium"],
      [binding(idle, viewer, payments), "low"],
    ] as const)
      expect(severitiesOf(known, [...known, adopting(one)], { live: [...known, byHand(one)] })).toEqual([
        severity,
      ]);
  });

  describe("the first import of a stack", () => {
    const firstImport = (
      taken: readonly Resource[],
      omittedUnchanged = 0,
      listed = [...known, given, events],
    ) => {
      const shown = { ...preview(...taken.map(importing)), omittedUnchanged };
      const inventory = inventoryOf(acme, ...listed.map(objectOf));
      return findingsOf(compare({ preview: shown, inventory }), defaultRuleOptions(NOW));
    };

    // Where it leaves other bindings of the root group, it is not the first day of an organisation.
    test.each<[string, readonly Resource[], string]>([
      ["of all", [...known.slice(4), made], "medium"],
      ["of an owner alone", [made], "high"],
    ])("is one finding, the worst first: %s", (_what, taken, severity) => {
      const [finding, ...others] = firstImport(taken);
      expect(others).toEqual([]);
      expect(finding).toMatchObject({ id: "X5", severity, field: "adopt" });
      expect(finding?.message).toContain(`${taken.length} object`);
      expect(finding?.details[0]).toMatch(/^critical /);
      expect(finding?.details).toContainEqual(expect.stringMatching(/^critical G1: .* owner on acme/));
    });

    it("is low where no rule says more of a new object, and nothing where none gives access", () => {
      const reported = (taken: Resource) =>
        firstImport([taken], 0, [...known, taken]).map(({ id, severity }) => [id, severity]);
      expect(reported(binding(idle, viewer, payments))).toEqual([["X5", "low"]]);
      expect(reported(role("reader", ["REPO_LIST"]))).toEqual([]);
    });

    it("is bounded, and accepted by its fingerprint for what it takes over alone", () => {
      const many = Array.from({ length: 30 }, (_, i) => identity(`robot-${i}`, pinned));
      const owners = many.map((robot) => binding(robot, owner, acme));
      const taking = (count: number) =>
        firstImport(owners.slice(0, count), 0, [...known, ...many, ...owners]);
      const [[all], [fewer]] = [taking(30), taking(29)];
      expect(all?.details).toHaveLength(42);
      for (const at of [20, 41]) expect(all?.details[at]).toMatch(/^and \d+ more$/);
      expect(all?.fingerprint).not.toBe(fewer?.fingerprint);
    });

    it.each([
      [1, "medium"],
      [2, "high"],
    ])("is not taken for it where %d unchanged resources are not shown: %s", (omittedUnchanged, severity) => {
      const reported = firstImport([...known.slice(4), made], omittedUnchanged);
      expect(reported.find(({ id }) => id === "X5")).toMatchObject({ severity, field: "adopt" });
    });
  });

  test.each(listedKinds)("names a %s that was deleted by hand and leaves the program", (kind) => {
    const gone = resource(kind, "gone", {
      parentUid: kind === "ExternalGroupRoleMapping" ? staff.uid : acme,
    });
    const program = [...known, gone];
    const given = compareResources(program, known, { live: known });
    expect(found("X5", given)).toMatchObject([{ field: "adopt", message: expect.stringMatching(/ gone\b/) }]);
    expect(x5(program, program, { live: known })).toMatchObject([{ field: "missing" }]);
    expect(x5(program, known)).toEqual([]);
    const described = [...known, edit(gone, { description: "x" })];
    const message = expect.stringMatching(/^updating .* gone will fail: /) as unknown;
    expect(x5(program, described, { live: known })).toMatchObject([
      { severity: "medium", field: "uid", message, details: [expect.stringContaining("with --refresh")] },
    ]);
  });
});

describe("X5 recorded-state: a binding that was revoked by hand", () => {
  const entries = { ...seen, "idle reads": { identityUid: idle.uid, roleUid: viewer.uid } };
  const more = { "more reads": { identityUid: ci.uid, roleUid: writer.uid } };
  const program = [...known, access(entries)];
  const live = [...known, byHand(binding(ci, viewer, payments))];
  const after = (bindings: Props) => [...known, access(bindings)];
  const single = binding(idle, viewer, payments);
  const renamed = { ...again(single, payments), urn: `${single.urn}-again` };

  it.each<[string, Resource[], Resource[], Resource[], string[]]>([
    ["comes back with another entry", program, after({ ...entries, ...more }), live, ["medium"]],
    ["stays revoked where the entries stay", program, program, live, []],
    ["leaves the program", program, after(seen), live, ["low"]],
    ["comes back by another resource", [...known, single], [...known, renamed], known, ["medium", "low"]],
    ["was revoked by nobody", program, after({ ...entries, ...more }), program, []],
  ])("%s", (_what, before, news, server, severities) => {
    expect(severitiesOf(before, news, { live: server })).toEqual(severities);
  });

  it.each([
    [after({ ...entries, ...more }), "2 grants were revoked by hand, and this change makes them again: "],
    [after({}), "2 bindings were revoked by hand, and this change no longer declares them: of "],
  ])("is counted with others", (news, message) => {
    const messages = x5(program, news, { live: known }).map((each) => each.message);
    expect(messages).toContainEqual(expect.stringContaining(message));
  });
});

describe("what only something made by hand makes known", () => {
  const own = { issuer: "https://sign-in.evil.example", subject: "ada" };
  const toEvil = (name: string, parentUid: string): Resource =>
    resource("Subscription", name, { name: undefined, parentUid, sink: "https://evil.example/x" });

  it.each<[string, string, Props, Resource, string, string]>([
    ["T7", "who reads", stranger, viewer, "low", "medium"],
    ["T7", "who writes", stranger, pusher, "medium", "high"],
    ["T2", "who reads", own, viewer, "medium", "high"],
  ])("%s of a stranger %s", (id, _what, trusted, held, expected, asNew) => {
    const [helper, partner] = ["helper", "partner"].map((name) => identity(name, claims(trusted))) as [
      Resource,
      Resource,
    ];
    const there = binding(helper, held, acme);
    const severities = (before: readonly Resource[], more = {}): string[] => {
      const after = [...before, partner, binding(partner, held, payments)];
      return found(id, compareResources(before, after, more)).map(({ severity }) => severity);
    };
    // An identity and its grant, a grant of an identity of the stack, and a trust that was changed.
    expect(severities([...known, byHand(helper), byHand(there)])).toEqual([expected]);
    expect(severities([...known, helper, byHand(there)])).toEqual([expected]);
    const bound = binding(ci, held, acme);
    const live = [...withChanged(edit(ci, claims(trusted))), bound];
    expect(severities([...known, bound], { live })).toEqual([expected]);
    expect(severities(known)).toEqual([asNew]);
    // The stack knows it there, or elsewhere.
    expect(severities([...known, helper, there])).toEqual([]);
    expect(severities([...known, helper, binding(helper, held, cards), byHand(there)])).toEqual([]);
  });

  const recorded = edit(toEvil("other", acme), { sink: "https://hooks.acme.example.com/other" });
  test.each<[string, Resource[], Resource[] | undefined, string[]]>([
    ["a subscription", [byHand(toEvil("hand", acme))], undefined, ["medium"]],
    ["the address of one of the stack", [recorded], [toEvil("other", acme)], ["medium"]],
    ["a subscription of the stack", [toEvil("other", acme)], undefined, []],
  ])("X1: %s", (_what, before, changed, expected) => {
    const after = [...known, ...before, toEvil("official", payments)];
    const live = changed === undefined ? {} : { live: [...known, ...changed] };
    const given = compareResources([...known, ...before], after, live);
    expect(found("X1", given).map(({ severity }) => severity)).toEqual(expected);
  });
});
