import { compare } from "../../../../provider/access/review/compare";
import type { Comparison } from "../../../../provider/access/review/compare";
import { listResources, preview, state, step } from "../../../../provider/access/rules/ruleTesting";
import { UNKNOWN } from "../../../../provider/fields/values";
import type { Props } from "../../../../provider/fields/values";
import {
  acme,
  binding,
  cards,
  claims,
  compareResources,
  resource,
  group,
  groups,
  identity as inPayments,
  owner,
  payments,
  pinned,
  pusher,
  role,
  viewer,
  edit,
  GITHUB,
  byHand,
} from "../../../support/access";
import type { Resource } from "../../../support/access";
import { found, NOW, severitiesOf } from "./support";

/** Of the organisation: it acts everywhere. */
const identity = (name: string, trust: Props, given?: Parameters<typeof inPayments>[2]): Resource =>
  inPayments(name, { parentUid: acme, ...trust }, given);

const subjectOf = (name: string): string => `repo:acme/${name}:ref:refs/heads/main`;
const trustOf = (name: string): Props => claims({ issuer: GITHUB, subject: subjectOf(name) });
/** The same, whose token must hold a claim too. */
const askingMore = (name: string): Resource =>
  identity(name, claims({ issuer: GITHUB, subject: subjectOf(name), claims: { a: "b" } }));
const ADA = "GitHub Actions of acme/ada, branch main";
const people = (["ada", "bob", "cyd"] as const).map((name) => identity(name, trustOf(name)));
const [ada, bob, cyd] = people as [Resource, Resource, Resource];
const base = [...groups, viewer, pusher, owner, ...people];
const without = (all: readonly Resource[], ...gone: Resource[]): Resource[] =>
  all.filter((each) => !gone.includes(each));

describe("D1 lock-out", () => {
  const owns = people.map((who) => binding(who, owner, acme)) as [Resource, Resource, Resource];
  const all = [...base, ...owns];
  type Rules = Parameters<typeof severitiesOf>[2];
  const d1 = (before: readonly Resource[], after: readonly Resource[], options: Rules = {}, more = {}) =>
    severitiesOf("D1", compareResources(before, after, more), options);

  it.each([
    [1, 2, []],
    [2, 2, ["critical"]],
    [3, 1, ["critical"]],
  ])("%i of three owners go, %i must stay: %j", (gone, minOwners, severities) => {
    expect(d1(all, without(all, ...owns.slice(0, gone)), { minOwners })).toEqual(severities);
  });

  it("counts an identity and one that takes its tokens as one owner", () => {
    const heir = identity("heir", claims({ issuer: "https://issuer.platform.example", subject: ada.uid }));
    const four = [...all, heir, binding(heir, owner, acme)];
    expect(d1(four, without(four, ...owns.slice(1)), { minOwners: 2 })).toEqual(["critical"]);
    expect(d1(four, without(four, owns[0]), { minOwners: 3 })).toEqual([]);
  });

  it("doubts an owner who signs in by the tokens of an identity whose trust changes", () => {
    const mover = identity("mover", trustOf("mover"));
    const taker = identity(
      "taker",
      claims({ issuer: "https://issuer.platform.example", subject: mover.uid }),
    );
    const left = [...base, taker, binding(taker, owner, acme), owns[0]];
    const [before, after] = [mover, askingMore("mover")].map((each) => [...left, edit(mover, each.inputs)]);
    const options = { minOwners: 2 };
    expect(d1([...before!, owns[1]], after!, options)).toEqual(["medium"]);
    expect(d1([...before!, owns[1]], before!, options)).toEqual([]);
  });

  it("takes a role that no document describes for owner", () => {
    const hidden = edit(owns[1], { roleUid: UNKNOWN });
    const two = without(all, owns[1]);
    expect(d1([...two, hidden], two, { minOwners: 3 })).toEqual(["high"]);
    const described = (some: readonly Resource[]) => some.filter((each) => each !== owner);
    const after = without(all, owns[0]);
    const severities = (known: (some: readonly Resource[]) => readonly Resource[]) =>
      d1(known(all), known(after), { minOwners: 2 }, { withoutInventory: true });
    expect(severities((some) => some)).toEqual([]);
    expect(severities(described)).toEqual(["high"]);
    const comparison = compareResources(described(all), described(after), { withoutInventory: true });
    const [own, few] = found("D1", comparison, { minOwners: 3, self: ada.uid });
    expect(own).toMatchObject({ severity: "critical", details: [] });
    expect(few?.details[0]).toMatch(
      /^may have been an owner: GitHub Actions of acme\/ada, branch main loses .*, which no document describes$/,
    );
  });

  it("has another fingerprint where another owner goes", () => {
    const prints = [owns[1], owns[2]].map((second) => {
      const after = all.filter((each) => each !== owns[0] && each !== second);
      return found("D1", compareResources(all, after), { minOwners: 2 }).map(
        ({ fingerprint }) => fingerprint,
      );
    });
    expect(prints.map(({ length }) => length)).toEqual([1, 1]);
    expect(new Set(prints.flat()).size).toBe(2);
  });

  it.each([
    ["all of three", 3, 2, ["high"]],
    ["one of three", 1, 2, []],
    ["two of three", 2, 2, ["medium"]],
  ])("an owner whose trust asks for more may be unable to sign in: %s", (_, count, minOwners, severities) => {
    const names = ["ada", "bob", "cyd"].slice(0, count);
    const asked = names.map(askingMore);
    const after = all.map((each) => asked.find(({ uid }) => uid === each.uid) ?? each);
    expect(d1(all, after, { minOwners })).toEqual(severities);
    const required = { minOwners: 0, requiredOwner: ["*ada*"] };
    expect(found("D1", compareResources(all, after), required)).toMatchObject([
      {
        severity: "medium",
        message: `${ADA}, if a is b is a required owner of acme, and its trust is new or changes`,
      },
    ]);
  });

  describe("a grant that another resource makes, after the old one may be gone", () => {
    const moved = (old: Resource): [Resource, Resource] => [
      edit(old, { roleUid: viewer.uid }),
      resource("RoleBinding", `again-${old.uid}`, old.inputs),
    ];
    /** The owners of whom the bindings are replaced or updated to another role. */
    const compareMoved = (count: number, isReplaced: boolean): Comparison => {
      const after = owns.flatMap((old, i) => (i < count ? moved(old) : [old]));
      const replaced = isReplaced ? owns.slice(0, count) : [];
      return compareResources(all, [...base, ...after], { replaced });
    };

    it.each([
      ["one of three", 1, true, []],
      ["two of three", 2, true, ["medium"]],
      ["all, by replacements", 3, true, ["high"]],
      ["all, by updates", 3, false, ["high"]],
    ])("%s", (_, count, isReplaced, severities) => {
      const comparison = compareMoved(count, isReplaced);
      expect(severitiesOf("D1", comparison)).toEqual(severities);
      expect(severitiesOf("D1", comparison, { minOwners: 0, self: ada.uid })).toEqual(["high"]);
      expect(severitiesOf("D1", comparison, { minOwners: 0, self: "nobody" })).toEqual([]);
      const message = `${ADA} is a required owner of acme, and its grant may be deleted before it is made again`;
      const required = { minOwners: 0, requiredOwner: ["*ada*"] };
      expect(found("D1", comparison, required)).toMatchObject([{ severity: "medium", message }]);
      // One of those who are meant is enough.
      const anyone = { minOwners: 0, requiredOwner: ["*"] };
      expect(severitiesOf("D1", comparison, anyone)).toEqual(count === 3 ? ["medium"] : []);
    });

    it("doubts an owner whose role loses what another one gives", () => {
      const capabilities = owner.inputs["capabilities"];
      const [own, other] = [
        edit(role("own", []), { capabilities }),
        edit(role("other", []), { capabilities }),
      ];
      const less = edit(own, { capabilities: ["CAP_REPO_LIST"] });
      const [first, second] = [binding(ada, own, acme), binding(ada, other, acme)];
      const comparison = compareResources([...base, own, first], [...base, less, other, first, second]);
      expect(severitiesOf("D1", comparison)).toEqual(["high"]);
      expect(severitiesOf("D1", comparison, { minOwners: 0, self: ada.uid })).toEqual(["high"]);
      const kept = compareResources([...base, own, first], [...base, own, other, first, second]);
      expect(severitiesOf("D1", kept, { minOwners: 2, self: ada.uid })).toEqual([]);
    });
  });

  it.each([
    ["a new trust", "dan", 2, ["medium"]],
    ["a new trust, where others are enough", "dan", 1, []],
    ["the same trust", "bob", 2, []],
  ])(
    "a new identity in the place of an owner may be unable to sign in: %s",
    (_, name, minOwners, severities) => {
      const other = identity("other", trustOf(name));
      const before = without(all, owns[2]);
      const added = [...before, other, binding(other, owner, acme)];
      expect(
        severitiesOf("D1", compareResources(before, without(added, bob, owns[1])), { minOwners }),
      ).toEqual(severities);
      expect(severitiesOf("D1", compareResources(before, added), { minOwners: 3 })).toEqual([]);
    },
  );

  it.each([
    ["before it signed in", "2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z", []],
    ["after it signed in", "2026-05-02T00:00:00Z", "2026-05-01T00:00:00Z", ["high"]],
    ["when it was made, and it never signed in", "2026-01-01T00:00:10Z", undefined, []],
    ["after it was made, and it never signed in", "2026-05-01T00:00:00Z", undefined, ["high"]],
    ["when it was made, and it alone never signed in", "2026-01-01T00:00:00Z", null, ["high"]],
  ])("an owner who was written %s", (_, updateTime, seen, severities) => {
    // An earlier change asked for more of both others: this one asks for more of the last.
    const asked = askingMore("ada");
    const after = all.map((each) => (each.uid === asked.uid ? asked : each));
    const comparison = compareResources(all, after);
    const inventory = comparison.inventories[0]!;
    const written = { createTime: "2026-01-01T00:00:00Z", updateTime, lastSeenTime: seen ?? undefined };
    const objects = inventory.objects.map((object) => {
      if ([bob, cyd].some(({ uid }) => uid === object.uid)) return { ...object, ...written };
      const isSeen = seen === null && object.uid === ada.uid;
      return isSeen ? { ...object, lastSeenTime: "2026-05-01T00:00:00Z" } : object;
    });
    expect(severitiesOf("D1", { ...comparison, inventories: [{ ...inventory, objects }] })).toEqual(
      severities,
    );
  });

  it("is critical where the program manages the root", () => {
    const managed = [group("acme", acme), ...without(all, groups[0]!)];
    const rest = without(managed, owns[0], owns[1]);
    expect(d1(managed, rest, {}, { withoutInventory: true })).toEqual(["critical"]);
  });

  it("holds to the required owners, by uid, name or pattern", () => {
    const losing = (...requiredOwner: string[]) =>
      found("D1", compareResources(all, without(all, owns[0])), { requiredOwner });
    const message = `${ADA} is a required owner but no longer owns acme`;
    for (const required of [ada.uid, "ada", "a*"])
      expect(losing(required)).toMatchObject([{ severity: "critical", message }]);
    expect(losing("bob", "nobody", "*")).toEqual([]);
  });

  it("protects the pipeline's own rights", () => {
    const held = [...base, binding(cyd, pusher, payments)];
    expect(found("D1", compareResources(held, base), { self: cyd.uid })).toMatchObject([
      { severity: "critical", details: ["loses CAP_MANIFEST_CREATE, CAP_REPO_LIST, CAP_TAG_CREATE"] },
    ]);
    expect(d1(held, base, { self: ada.uid })).toEqual([]);
    // The same again: first gone, unless another grant, or a role of which nothing is known, gives it meanwhile.
    const again = { replaced: held.slice(-1) };
    expect(d1(held, held, { self: cyd.uid }, again)).toEqual(["high"]);
    const above = [...held, binding(cyd, pusher, acme)];
    expect(d1(above, above, { self: cyd.uid }, again)).toEqual([]);
    const hidden = without(held, pusher);
    const offline = { ...again, withoutInventory: true };
    expect(d1(hidden, hidden, { self: cyd.uid }, offline)).toEqual(["high"]);
    expect(d1(held, [...base, binding(cyd, pusher, acme)], { self: cyd.uid })).toEqual([]);
  });

  it("protects the pipeline's own identity", () => {
    const other = identity("cyd", claims({ issuer: "https://x.example", subject: "y" }));
    const rest = without(base, cyd);
    const self = cyd.uid;
    expect(d1(base, [...rest, other], { self })).toEqual(["critical"]);
    expect(d1(base, rest, { self })).toEqual(["critical"]);
    const pattern = (text: string) => identity("cyd", claims({ issuer: GITHUB, subjectPattern: text }));
    expect(d1(base, [...rest, pattern(`^${subjectOf("cyd")}$`)], { self })).toEqual([]);
    expect(d1([...rest, pattern("^repo:acme/.*$")], base, { self })).toEqual(["critical"]);
    const told = identity("cyd", { ...trustOf("cyd"), description: "new" });
    expect(d1(base, [...rest, told], { self })).toEqual([]);
  });
});

describe("D1 of an identity provider that goes", () => {
  const sso = (name: string, more: Props = { defaultRole: viewer.uid }): Resource =>
    resource("IdentityProvider", name, { parentUid: acme, ...more });
  const [staff, guests] = [sso("staff"), sso("guests")];
  const oidc = { issuer: "https://sso.acme.example", clientId: "a", groupsClaim: "groups" };
  const proven = { ...oidc, pkceEnabled: true };
  const [named, unclaimed] = [edit(staff, { oidc }), edit(staff, { oidc: { ...oidc, groupsClaim: "" } })];
  const given = { parentUid: staff.uid, externalGroupId: "admins" };
  const mapped = (what: Resource, scope: string): Resource =>
    resource("ExternalGroupRoleMapping", "admins", { ...given, roleUid: what.uid, scope });
  const owning = mapped(owner, acme);

  it.each<[string, Resource[], Resource[], string[]]>([
    ["the last one", [staff], [], ["high"]],
    ["one of two", [staff, guests], [guests], ["medium"]],
    ["one that gives no role", [sso("empty", {})], [], []],
    ["one that is changed", [staff], [sso("staff", {})], []],
    ["its claim of groups", [named, owning], [unclaimed, owning], ["medium"]],
    ["a group of it that owned the root", [named, owning], [named], ["medium"]],
    ["a group of it that owned another one", [named, mapped(owner, cards)], [named], []],
    ["a group of it that read the root", [named, mapped(viewer, acme)], [named], []],
    ["nothing", [named, owning], [named, owning], []],
    ["nothing: it asks for more proof", [named, owning], [edit(named, { oidc: proven }), owning], []],
  ])("is reported by what is left to sign in by, without %s", (_what, before, after, severities) => {
    const all = [...groups, viewer, owner];
    expect(severitiesOf("D1", compareResources([...all, ...before], [...all, ...after]))).toEqual(severities);
  });
});

describe("D1 of the identity that took the inventory", () => {
  const lists = ["IAM_ROLE_BINDINGS_LIST", "EVENTS_SUBSCRIPTION_LIST", "REPO_CREATE"];
  const review = role("review", lists);
  const fewer = role("review", ["EVENTS_SUBSCRIPTION_LIST", "REPO_CREATE"]);
  const reads = binding(cyd, review, acme);
  const held = [...base, review, reads];
  const both = [...held, role("same", lists), binding(cyd, role("same", lists), acme)];
  const reviewed = (before: readonly Resource[], after: readonly Resource[], caller = cyd.uid) =>
    found("D1", compareResources(before, after, { caller })).map(({ severity, message }) => [
      severity,
      message,
    ]);
  const loses = [
    "high",
    expect.stringMatching(/^the identity that took the inventory, .*, loses [^,]+ on acme$/),
  ];

  it.each([
    ["its role lists less", held, [...without(held, review), fewer]],
    ["its binding goes", held, without(held, reads)],
    ["that of a role that no document describes goes", without(held, review), base],
    ["its binding moves to a group below", held, [...without(held, reads), binding(cyd, review, payments)]],
    ["it holds another role", held, [...without(held, reads), binding(cyd, viewer, acme)]],
  ])("is reported where %s", (_what, before, after) => {
    expect(reviewed(before, after)).toContainEqual(loses);
    expect(reviewed(before, after, ada.uid)).not.toContainEqual(loses);
  });

  it("names the one list that it loses", () => {
    const after = [...without(held, review), fewer];
    expect(found("D1", compareResources(held, after, { caller: cyd.uid }))).toMatchObject([
      { details: [expect.stringMatching(/^what it may not list, /), "loses CAP_IAM_ROLE_BINDINGS_LIST"] },
    ]);
  });

  it.each([
    ["it may write less", held, [...without(held, review), role("review", lists.slice(0, 2))]],
    ["another role lists the same", both, without(both, reads)],
  ])("is silent where %s", (_what, before, after) => {
    expect(reviewed(before, after)).toEqual([]);
  });
});

describe("D1 of an identity with static keys that is --self", () => {
  const keySet = (...kids: string[]): string =>
    JSON.stringify({ keys: kids.map((kid) => ({ kty: "OKP", crv: "Ed25519", kid })) });
  const trusted = {
    issuer: "https://ci.acme.example",
    subject: "cyd",
    expirationTime: "2026-09-01T00:00:00Z",
  };
  const withKeys = (issuerKeys: string, more: Props = {}): Resource =>
    identity("cyd", { staticKeys: { ...trusted, issuerKeys, ...more } });
  const old = withKeys(keySet("a"));
  const until = "2026-08-01T00:00:00Z";

  it.each<[string, Resource, RegExp | undefined]>([
    ["a key changes", withKeys(keySet("b")), /may lose the key that it authenticates with: .*takes away key/],
    ["the keys expire earlier", withKeys(keySet("a"), { expirationTime: until }), /: .*\(ends earlier\)$/],
    ["a key is added", withKeys(keySet("a", "b")), undefined],
    ["more changes", withKeys(keySet("b"), { subject: "dan" }), /different principal: staticKeys.subject/],
  ])("says what it loses where %s", (_, now, message) => {
    const findings = found("D1", compareResources([...groups, old], [...groups, now]), { self: old.uid });
    const expected = { severity: "critical", message: expect.stringMatching(message ?? "") as string };
    expect(findings).toMatchObject(message === undefined ? [] : [expected]);
  });
});

describe("D2 in-use", () => {
  const seen = (days: number): Resource =>
    identity("old", pinned, { lastSeenTime: new Date(NOW - days * 86_400_000 + 1000).toISOString() });

  const dev = role("dev", ["REPO_LIST"]);
  const bound = binding(ada, dev, payments);
  const moved = edit(bound, { identityUid: bob.uid });
  const outside = byHand(bound);
  const ignoring = (...identityUids: string[]): Resource =>
    resource(
      "GroupAccess",
      "all",
      { parentUid: payments, bindings: {}, ignore: { identityUids } },
      { uid: payments },
    );
  const [kept, freed] = [identity("x", pinned, { protect: true }), identity("x", pinned)];
  const all = [...base, dev];

  it.each<[string, Resource[], Resource[], string[], Resource[]?]>([
    ["a deleted identity that was seen 30 days ago", [...all, seen(30)], all, ["high"]],
    ["a deleted identity that was seen 31 days ago", [...all, seen(31)], all, []],
    ["a deleted identity of a grant that nobody manages", [...all, outside], without(all, ada), ["high"]],
    ["a deleted identity of a grant that stays", [...all, bound], [...without(all, ada), bound], ["high"]],
    ["one whose grant another one gets", [...all, bound], [...without(all, ada), moved], []],
    [
      "one that a list still names",
      [...all, ignoring(ada.uid)],
      [...without(all, ada), ignoring(ada.uid)],
      ["high"],
    ],
    ["one that a list named", [...all, ignoring(ada.uid)], [...without(all, ada), ignoring(bob.uid)], []],
    ["a replaced identity that holds something", [...all, bound], [...all, bound], ["high"], [ada]],
    ["a replaced role whose bindings follow", [...all, bound], [...all, bound], [], [dev]],
    ["a replaced role of a grant that nobody manages", [...all, outside], [...all, outside], ["high"], [dev]],
    ["protect that is removed", [...all, kept], [...all, freed], ["high"]],
    ["protect that is set", [...all, freed], [...all, kept], []],
    ["protect that stays", [...all, kept], [...all, kept], []],
  ])("judges %s", (_what, before, after, severities, replaced = []) => {
    expect(severitiesOf("D2", compareResources(before, after, { replaced }))).toEqual(severities);
  });

  it("says by which grant what refers to it does", () => {
    const [finding] = found("D2", compareResources([...all, outside], without(all, ada)));
    expect(finding?.details).toEqual([
      expect.stringMatching(/^role binding .*: .*: dev on acme \/ payments$/),
    ]);
  });

  it.each([
    [{}, "medium", ""],
    [{ protect: true }, "high", ", and no longer protected"],
  ])("finds what the program managed and only reads from now on: %j", (options, severity, more) => {
    const id = `${acme}/${"9".repeat(16)}`;
    const inputs = { parentUid: acme, sink: "https://x.example" };
    const managed = state("Subscription", "events", inputs, { id, ...options });
    const read = state("Subscription", "events", managed.inputs, { id, external: true });
    const change = compare({ preview: preview(step("read", managed, read)) });
    const message = `subscription events is only read from now on${more}: neither an update nor drift restores it`;
    expect(found("D2", change)).toMatchObject([{ severity, message }]);
    expect(found("D2", compare({ preview: preview(step("read", read, read)) }))).toEqual([]);
  });

  const viewing = binding(ada, viewer, payments);
  const elsewhere = { parentUid: acme, identityUid: ada.uid, roleUid: viewer.uid };
  const given = { parentUid: payments, identityUid: ada.uid, roleUid: viewer.uid };
  const held = state("RoleBinding", "held", given, { id: viewing.uid, retainOnDelete: true });
  const foundIn = (...steps: ReturnType<typeof step>[]) =>
    found("D2", compare({ preview: preview(...steps), inventory: listResources(acme, [...base, viewing]) }));

  it("finds nothing left of what the program only read, and of what another resource takes over", () => {
    const read = state("RoleBinding", "held", given, { id: viewing.uid, external: true });
    const other = state("RoleBinding", "other", given, { id: viewing.uid });
    const gone = state("Identity", "ada", ada.inputs, { id: ada.uid });
    for (const steps of [
      [step("discard", read)],
      [step("import", undefined, other), step("delete", held)],
      // The server deletes the bindings of an identity with it.
      [step("delete", held), step("delete", gone)],
    ])
      expect(foundIn(...steps).map(({ message }) => message)).not.toContainEqual(
        expect.stringMatching(/left at the server/),
      );
  });

  it.each([
    ["its resource goes", step("delete", held), ""],
    ["its resource is replaced", step("replace", held, state("RoleBinding", "held", elsewhere)), "what was "],
  ])("finds what is left at the server, and who keeps what by it: %s", (_, change, what) => {
    const message = expect.stringMatching(
      `^${what}role binding held is left at the server, and in no program`,
    );
    const details = [expect.stringMatching(/^stays: .*viewer on acme \/ payments$/)];
    expect(foundIn(change)).toMatchObject([{ severity: "medium", message, details }]);
  });
});

describe("D3 will-fail", () => {
  const dev = role("dev", ["REPO_LIST"]);

  const leaf = groups[2]!;
  const rest = without(base, leaf);
  const bound = binding(ada, dev, payments);
  const outside = byHand(bound);
  const inLeaf = resource("Repo", "api", { parentUid: cards });
  const adopted = { ...viewer, external: undefined };
  const wider = role("viewer", ["TAG_CREATE"], { uid: viewer.uid, builtIn: true });
  const others = without(base, viewer);

  it.each<[string, Resource[], Resource[], RegExp[]]>([
    [
      "a binding that has the uid of another kind",
      base,
      [...base, binding(viewer, dev, payments)],
      [
        /^the update of .* will fail: identityUid is the uid of role viewer, and must be that of .* Identity$/,
      ],
    ],
    [
      "a role that is deleted while it is bound",
      [...base, dev, outside],
      [...base, outside],
      [/^deleting role dev will fail: 1 binding still uses it$/],
    ],
    [
      "a group that is deleted with something in it",
      [...rest, leaf, inLeaf],
      [...rest, inLeaf],
      [/^deleting group .*cards will fail: it still contains 1 resource$/],
    ],
    ["a changed built-in role", [...others, adopted], [...others, wider], [/viewer/]],
    ["a changed role of one's own", [...base, dev], [...base, role("dev", ["TAG_CREATE"])], []],
  ])("judges %s", (_what, before, after, messages) => {
    const expected = messages.map((text) => ({
      severity: "medium",
      message: expect.stringMatching(text) as string,
    }));
    expect(found("D3", compareResources(before, after))).toMatchObject(expected);
  });
});

describe("D4 mass-removal", () => {
  const bindings = Array.from({ length: 8 }, (_, i) => {
    const who = identity(`p${i}`, pinned);
    return [who, binding(who, viewer, payments)];
  });
  const change = (gone: number, of = 8): Comparison => {
    const kept = [...base, ...bindings.map(([who]) => who!)];
    const held = bindings.slice(0, of).map(([, made]) => made!);
    return compareResources([...kept, ...held], [...kept, ...held.slice(gone)]);
  };

  it.each([
    [2, 8, 0.25, 0],
    [3, 8, 0.25, 1],
    [1, 2, 0.25, 0],
    [2, 2, 0.25, 1],
    [0, 8, 0, 0],
  ])("%i of %i, at most %f: %i", (gone, of, maxRemoval, count) => {
    expect(found("D4", change(gone, of), { maxRemoval })).toHaveLength(count);
  });

  it("counts a grant whose role keeps less than half of its capabilities", () => {
    const dev = ["REPO_LIST", "TAG_LIST", "TAG_CREATE"];
    const people = Array.from({ length: 4 }, (_, i) => identity(`q${i}`, pinned));
    const organisation = (...capabilities: string[]) => {
      const own = role("dev", capabilities);
      return [...base, own, ...people, ...people.map((who) => binding(who, own, payments))];
    };
    const narrowed = (count: number) =>
      found("D4", compareResources(organisation(...dev), organisation(...dev.slice(0, count))));
    expect(narrowed(1)[0]?.message).toBe("4 of 4 grants are lost at once: 100%, limit 25%");
    expect(narrowed(2)).toEqual([]);
    const [before, after] = [payments, cards].map((where) => [
      ...base,
      ...people,
      ...people.map((who) => binding(who, viewer, where)),
    ]);
    expect(found("D4", compareResources(before!, after!))).toEqual([]);
  });
});
