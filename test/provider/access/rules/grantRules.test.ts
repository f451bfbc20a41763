import builtInRoles from "../../../../emulator/data/builtinRoles.json";
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
  identity,
  owner,
  payments,
  pinned,
  pusher,
  role,
  viewer,
  uid,
  edit,
  GITHUB,
  byHand,
} from "../../../support/access";
import type { Resource } from "../../../support/access";
import { found, severitiesOf } from "./support";

const ci = identity("ci", pinned);
const open = identity("open", claims({ issuer: "https://sso.acme.example", subjectPattern: "^team-.*$" }));
const base = [...groups, ci, open, viewer, pusher];
const withOwner = [...base, owner];

/** `after` is `before` and these. */
const adding = (before: readonly Resource[], ...more: Resource[]) =>
  compareResources(before, [...before, ...more]);

const namesOf = (name: keyof typeof builtInRoles): string[] =>
  builtInRoles[name].capabilities.map((capability) => capability.replace(/^CAP_/, ""));

/** A provider, by which people sign in. */
const providing = (inputs: Props): Resource =>
  resource("IdentityProvider", "sso", { parentUid: acme, defaultRole: viewer.uid, ...inputs });

describe("a grant whose identity moves to where it acts", () => {
  const changer = role("changer", ["IAM_ROLES_UPDATE"]);
  const other = group("other", `${acme}/${"7".repeat(16)}`);
  const lying = (where: string): Resource => edit(ci, { parentUid: where });

  it.each([
    ["from beside its group", other.uid, payments, ["high"]],
    ["from below its group", cards, payments, ["high"]],
    ["to the root", other.uid, acme, ["high"]],
    ["to where it acts less", payments, cards, []],
    ["from where it acted as much", acme, payments, []],
    ["nowhere", other.uid, other.uid, []],
  ])("is reported as a new one: %s", (_, from, to, severities) => {
    for (const [given, id] of [
      [owner, "G1"],
      [changer, "G2"],
    ] as const) {
      const [was, is] = [lying(from), lying(to)];
      const all = [...groups, other, owner, changer, binding(was, given, payments)];
      const change = compareResources([...all, was], [...all, is], { replaced: from === to ? [] : [was] });
      expect(severitiesOf(id, change)).toEqual(severities);
    }
  });
});

describe("G1 owner-grant", () => {
  const openInvite = { parentUid: payments, roleUid: owner.uid, ttl: "24h" };
  it.each([
    ["high below the root", binding(ci, owner, payments), "high"],
    ["critical at the root", binding(ci, owner, acme), "critical"],
    ["critical for a pattern", binding(open, owner, payments), "critical"],
    ["critical for an open invite", resource("GroupInvite", "guest", openInvite), "critical"],
    ["critical for everybody who signs in", providing({ defaultRole: owner.uid }), "critical"],
  ])("is %s", (_, made, severity) => {
    expect(severitiesOf("G1", adding(withOwner, made))).toEqual([severity]);
  });

  it.each([
    ["more subjects", "^team-a$", "^team-.*$", ["critical"]],
    ["more subjects, open before too", "^team-.*$", "team-", ["critical"]],
    ["subjects that cannot be judged", "(a|b)*b(a|b){60}$", "(a|b)*a(a|b){60}$", ["critical"]],
    ["fewer subjects", "^team-.*$", "^team-[a-z]+$", []],
    ["the same subjects", "^team-.*$", "^team-(?:.*)$", []],
  ])("judges a pattern that holds owner by whether it accepts %s", (_, old, now, severities) => {
    const at = (subjectPattern: string): Resource[] => [
      ...withOwner.filter((each) => each !== open),
      identity("open", claims({ issuer: "https://sso.acme.example", subjectPattern })),
      binding(open, owner, payments),
    ];
    expect(severitiesOf("G1", compareResources(at(old), at(now)))).toEqual(severities);
  });

  const takesAll = ["IAM_ROLE_BINDINGS_CREATE", "IAM_ROLES_UPDATE", "IAM_IDENTITY_UPDATE"];
  const names = namesOf("owner");

  it.each(names.filter((name) => name.startsWith("IAM_")))(
    "takes a role that lacks only CAP_%s of owner for one that is as good, or reports it otherwise",
    (left) => {
      const rest = names.filter((name) => name !== left);
      const boss = role("boss", rest);
      const change = adding([...withOwner, boss], binding(ci, boss, acme));
      expect(severitiesOf("G1", change)).toEqual(takesAll.includes(left) ? [] : ["critical"]);
      expect(severitiesOf("G2", change)).toEqual(takesAll.includes(left) ? ["high"] : []);
    },
  );

  it("takes a role of one's own that is called owner for what it holds", () => {
    const named = role("owner", ["REPO_LIST"]);
    expect(found("G1", adding([...base, named], binding(ci, named, payments)))).toEqual([]);
  });
});

describe("a capability that a role gives", () => {
  /** By the rule that reports it below the root, and how severe that is. */
  const expected: Readonly<Record<string, readonly string[]>> = {
    "G2 high": ["IAM_ROLES_UPDATE", "IAM_IDENTITY_UPDATE", "IAM_SCIM_MANAGE", "INTERNAL"],
    "G3 high": ["IAM_ROLE_BINDINGS_CREATE", "IAM_ROLE_BINDINGS_UPDATE"],
    "G3 medium": ["IAM_GROUP_INVITES_CREATE", "IAM_IDENTITY_CREATE", "IAM_TRUST_FABRICS_UPDATE"],
    "G6 medium": ["TAG_UPDATE", "APK_CREATE", "REPO_CHECK_POLICIES", "SIGSTORE_CERTIFICATE_CREATE"],
    "G9 medium": [
      "IAM_ROLES_CREATE",
      "IAM_ROLES_READ",
      "IAM_GROUPS_DELETE",
      "IAM_TRUST_FABRICS_LIST",
      "EVENTS_SUBSCRIPTION_CREATE",
      "LOGGIE_LOGS_WRITE",
      "NEW_FAMILY_LIST",
    ],
    nothing: ["IAM_ROLES_LIST", "REPO_BLOBS_GET", "MANIFEST_METADATA_LIST", "LIBRARIES_PYTHON_LIST"],
  };
  const rows = Object.entries(expected).flatMap(([what, names]) =>
    names.map((name) => [name, what] as const),
  );

  /** What rules report of an identity that gets each of them, all in one change. */
  function reportedAt(where: string, trust = pinned): [string, string][] {
    const roles = rows.map(([name]) => role(name, [name]));
    const holders = rows.map((_, i) => identity(`holder-${i}`, trust));
    const before = [...withOwner, ...roles, ...holders];
    const change = adding(before, ...holders.map((who, i) => binding(who, roles[i]!, where)));
    const findings = ["G1", "G2", "G3", "G6", "G9"].flatMap((id) => found(id, change));
    return rows.map(([name]) => {
      const own = findings.filter(({ grant }) => grant?.role.name === name);
      return [name, own.map(({ id, severity }) => `${id} ${severity}`).join() || "nothing"];
    });
  }

  it("is reported by one rule", () => {
    expect(reportedAt(payments)).toEqual(rows);
  });

  it("is reported by the same rule as high at a root group, and where many subjects hold it", () => {
    const high = rows.map(([name, what]) => [name, what.replace("medium", "high")]);
    expect(reportedAt(acme)).toEqual(high);
    expect(reportedAt(payments, open.inputs)).toEqual(high);
  });
});

describe("G2 takeover-caps", () => {
  it("ignores a role that the subject already has on a group above", () => {
    const held = role("some", ["IAM_ROLES_UPDATE"]);
    const before = [...withOwner, held, binding(ci, held, payments)];
    expect(found("G2", adding(before, binding(ci, held, cards)))).toEqual([]);
    expect(found("G2", adding(before, binding(ci, held, acme)))).toHaveLength(1);
  });
});

describe("the fingerprint of a grant", () => {
  const equalToOwner = ["IAM_ROLES_UPDATE", "IAM_ROLE_BINDINGS_CREATE", "IAM_IDENTITY_UPDATE"];
  const boss = role("boss", equalToOwner);
  const oidc = { issuer: "https://login.acme.example", clientId: "a" };
  const staff = resource("IdentityProvider", "staff", { parentUid: acme, defaultRole: viewer.uid, oidc });
  const given = { externalGroupId: "a", roleUid: boss.uid, scope: payments };
  const mapping = resource("ExternalGroupRoleMapping", "m", { parentUid: staff.uid, ...given });
  const single = { ttl: "24h", email: "a@acme.example", singleUse: true };
  const invite = resource("GroupInvite", "i", { parentUid: payments, roleUid: boss.uid, ...single });
  const bound = binding(ci, boss, payments);
  const entry = { identityUid: ci.uid, roleUid: boss.uid };
  const access = resource("GroupAccess", "g", { name: undefined, parentUid: payments, bindings: { entry } });
  const evil = { issuer: "https://token.actions.githubusercontent.com", subject: "repo:evil/a:x" };

  // Each resource that gives a role, the objects that say to whom, and each value that decides it: another one of each.
  const givers: Readonly<
    Record<string, readonly [Resource, Resource | undefined, ...(readonly [0 | 1, Props])[]]>
  > = {
    "a binding": [bound, ci, [0, { parentUid: cards }], [1, claims(evil)]],
    "a resource of all bindings": [access, ci, [0, { parentUid: cards }], [1, claims(evil)]],
    "a mapping": [
      ...([mapping, staff, [0, { scope: cards }], [0, { externalGroupId: "b" }]] as const),
      [1, { oidc: { ...oidc, issuer: "https://evil.example" } }],
      [1, { oidc: { ...oidc, groupsClaim: "teams" } }],
      [1, { scimEnabled: true }],
    ],
    "an invite": [
      ...([invite, undefined, [0, { parentUid: cards }], [0, { email: "b@acme.example" }]] as const),
      [0, { ttl: "48h" }],
      [0, { singleUse: undefined }],
    ],
    "the default of a provider": [
      ...([edit(staff, { defaultRole: boss.uid }), undefined, [0, { scimEnabled: true }]] as const),
      [0, { oidc: { ...oidc, issuer: "https://evil.example" } }],
      [0, { oidc: { ...oidc, clientId: "b" } }],
    ],
  };

  // G1 says it of a new grant, and G4 of a role that begins to allow as much.
  it.each(
    Object.entries(givers).flatMap(([what, giver]) =>
      (["G1", "G4"] as const).map((rule) => ({ what, giver, rule })),
    ),
  )(
    "accepts no other value, holder or role: $what by $rule",
    ({ giver: [giver, holder, ...others], rule }) => {
      const printOf = (one: Resource, who = holder, what = boss): (string | undefined)[] => {
        const programWith = (given: Resource): Resource[] => [
          ...[...withOwner, given, one],
          ...(who === undefined ? [] : [who]),
        ];
        const before = rule === "G1" ? base : programWith(role("boss", ["REPO_LIST"]));
        return found(rule, compareResources(before, programWith(what))).map(({ fingerprint }) => fingerprint);
      };
      const changed = others.map(([at, inputs]) =>
        at === 0 ? printOf(edit(giver, inputs)) : printOf(giver, holder && edit(holder, inputs)),
      );
      const all = [
        ...[printOf(giver), ...changed],
        printOf(giver, holder, role("boss", [...equalToOwner, "REPO_DELETE"])),
      ];
      expect(all.map(({ length }) => length)).toEqual(all.map(() => 1));
      expect(new Set(all.flat()).size).toBe(all.length);
      // A text for people is none of them.
      expect(printOf(giver, holder && edit(holder, { description: "x" }))).toEqual(all[0]);
    },
  );

  it("stays with its object where an alias gives the URN to another one", () => {
    const other = group("other", `${acme}/${"7".repeat(16)}`);
    const [who, twin] = ["who", "twin"].map((name) => identity(name, { ...pinned, parentUid: acme })) as [
      Resource,
      Resource,
    ];
    const same = role("same", equalToOwner);
    const [root, place] = groups as [Resource, Resource];
    const printOf = (all: readonly Resource[], ...of: Parameters<typeof binding>): (string | undefined)[] =>
      found("G1", compareResources(all, [...all, binding(...of)])).map(({ fingerprint }) => fingerprint);
    const prints = [
      printOf([...groups, other, who, boss], who, boss, payments),
      printOf([root, { ...other, urn: place.urn }, who, boss], who, boss, other.uid),
      printOf([...groups, { ...twin, urn: who.urn }, boss], twin, boss, payments),
      printOf([...groups, who, { ...same, urn: boss.urn }], who, same, payments),
    ];
    expect(prints.map(({ length }) => length)).toEqual([1, 1, 1, 1]);
    expect(new Set(prints.flat()).size).toBe(4);
    // Nor by a name that somebody gave by hand.
    const renamed = { ...edit(other, { name: "payments" }), urn: place.urn };
    const all = [root, { ...other, urn: place.urn }, who, boss];
    const change = compareResources(all, [...all, binding(who, boss, other.uid)], {
      live: [root, renamed, who, boss],
    });
    expect(found("G1", change)).toHaveLength(1);
    expect(prints.flat()).not.toContain(found("G1", change)[0]?.fingerprint);
  });
});

it("the fingerprint of what a role gives holds whom its holder trusts until the update", () => {
  const [narrow, wide] = [role("spare", ["REPO_LIST"]), role("spare", ["REPO_LIST", "IAM_IDENTITY_UPDATE"])];
  const printsFrom = (former: string): string[] => {
    const was = identity("ci", { claimMatch: { ...(pinned["claimMatch"] as Props), subject: former } });
    const held = binding(ci, narrow, payments);
    const before = [...base.filter((one) => one !== ci), owner, held];
    const change = compareResources([...before, was, narrow], [...before, ci, wide]);
    return ["G4", "T5"].flatMap((id) => found(id, change).map(({ fingerprint }) => fingerprint));
  };
  const prints = ["repo:acme/old:ref:refs/heads/main", "repo:evil/old:ref:refs/heads/main"].map(printsFrom);
  expect(prints.map(({ length }) => length)).toEqual([2, 2]);
  expect(new Set(prints.flat()).size).toBe(4);
});

it("a fingerprint holds whom the identities trust whose tokens a holder takes", () => {
  const printsOf = (subject: string, ofFirst: Props = {}): (string | undefined)[] => {
    const first = identity("first", {
      claimMatch: { ...(pinned["claimMatch"] as Props), subject },
      ...ofFirst,
    });
    const second = identity("second", claims({ issuer: "https://tokens.acme.example", subject: first.uid }));
    const third = identity("third", claims({ issuer: "https://tokens.acme.example", subject: second.uid }));
    const program = [...withOwner, first, second, third];
    const change = compareResources(program, [...program, binding(third, owner, payments)]);
    return found("G1", change).map(({ fingerprint }) => fingerprint);
  };
  const prints = ["repo:acme/a:ref:refs/heads/main", "repo:evil/a:ref:refs/heads/main"].map((of) =>
    printsOf(of),
  );
  expect(prints.map(({ length }) => length)).toEqual([1, 1]);
  expect(new Set(prints.flat()).size).toBe(2);
  expect(printsOf("repo:acme/a:ref:refs/heads/main", { description: "x" })).toEqual(prints[0]);
});

it.each([
  ["written out", (uid: string) => ({ subject: uid })],
  ["hidden in a pattern", (uid: string) => ({ subjectPattern: `^[${uid[0]}]${uid.slice(1)}$` })],
])("the fingerprint of a changed trust holds what others get by its tokens: %s", (_, subject) => {
  const first = (name: string) =>
    identity(
      "first",
      claims({ ...(pinned["claimMatch"] as Props), subject: `repo:acme/${name}:ref:refs/heads/main` }),
    );
  const taker = identity(
    "taker",
    claims({ issuer: "https://tokens.acme.example", ...subject(first("").uid) }),
  );
  const prints = [pusher, owner].map((what) => {
    const all = [...withOwner, pusher, taker, binding(taker, what, payments)];
    return found("T5", compareResources([...all, first("old")], [...all, first("new")])).map(
      ({ fingerprint }) => fingerprint,
    );
  });
  expect(prints.map(({ length }) => length)).toEqual([1, 1]);
  expect(new Set(prints.flat()).size).toBe(2);
});

describe("what another stack manages", () => {
  const external = { external: true } as const;
  const [recorded, live] = [["REPO_LIST"], ["REPO_LIST", "IAM_ROLE_BINDINGS_CREATE"]].map((capabilities) =>
    role("theirs", capabilities, external),
  ) as [Resource, Resource];
  const held = binding(ci, live, payments, external);
  const judge = (...otherStacks: readonly Resource[]): string[] => {
    const there = [...withOwner, live, held];
    return severitiesOf("G3", compareResources(there, [...there, binding(ci, live, cards)], { otherStacks }));
  };

  it("is held by what that stack records of the role, and not by what somebody made of it by hand", () => {
    expect(judge(live, held)).toEqual([]);
    expect(judge(recorded, held)).toEqual(["high"]);
  });
});

describe("what a subject holds by hand alone", () => {
  const some = role("some", ["REPO_LIST"]);
  const broad = role("broad", ["REPO_LIST"]);
  const next = role("next", ["REPO_LIST"]);
  const allow = (one: Resource, capability: string): Resource =>
    edit(one, { capabilities: [...(one.inputs["capabilities"] as string[]), `CAP_${capability}`] });
  const official = binding(ci, some, payments);

  it.each([
    ["G2", "IAM_ROLES_UPDATE", "high"],
    ["G3", "IAM_ROLE_BINDINGS_CREATE", "high"],
    ["G3", "IAM_GROUP_INVITES_CREATE", "medium"],
    ["G6", "TAG_CREATE", "medium"],
    ["G9", "IAM_GROUPS_DELETE", "medium"],
  ])("is reported by %s as it becomes official: CAP_%s", (rule, capability, severity) => {
    const granted = allow(broad, capability);
    const known = [...withOwner, some, granted, allow(next, capability), official];
    const after = [...known, binding(ci, allow(next, capability), cards)];
    // live.test.ts has each way to give by hand: what is asked here is which rule speaks of it.
    const hands = [
      [...known, byHand(binding(ci, granted, payments))],
      known.map((each) => (each === some ? allow(some, capability) : each)),
    ];
    for (const live of hands)
      expect(severitiesOf(rule, compareResources(known, after, { live }))).toEqual([severity]);
    // What the stack records is known, unless somebody took it away by hand.
    const recorded = [...known, binding(ci, granted, payments)];
    const later = [...recorded, binding(ci, allow(next, capability), cards)];
    expect(severitiesOf(rule, compareResources(recorded, later))).toEqual([]);
    expect(severitiesOf(rule, compareResources(recorded, later, { live: known }))).toEqual([severity]);
    // Nobody can say since when a role that no stack manages allows what it does, but for the platform's own.
    const gained = (held: Resource, given: Resource): string[] => {
      const before = [...known.filter((each) => each !== granted), held, binding(ci, held, payments)];
      return severitiesOf(rule, compareResources(before, [...before, binding(ci, given, cards)]));
    };
    const theirs = byHand(granted);
    expect(gained(theirs, allow(next, capability))).toEqual([severity]);
    expect(gained(theirs, theirs)).toEqual([]);
    expect(
      gained(role("theirs", ["REPO_LIST", capability], { builtIn: true }), allow(next, capability)),
    ).toEqual([]);
  });
});

describe("G3 delegation-caps, of a role or an identity that others may change", () => {
  const search = group("search", `${acme}/${"3".repeat(16)}`);
  const inGroup = (parentUid: string, one: Resource): Resource => edit(one, { parentUid });
  const lister = (parentUid: string): Resource => inGroup(parentUid, role("lister", ["REPO_LIST"]));
  const robot = (parentUid: string): Resource => inGroup(parentUid, identity("robot", pinned));
  const boss = identity("boss", claims({ issuer: "https://sso.acme.example", subject: "boss" }));
  const directory = resource("IdentityProvider", "directory", { parentUid: acme, defaultRole: viewer.uid });
  const known = [...withOwner, search, boss, directory];
  const places = { above: acme, beside: search.uid, at: payments, below: cards };
  type Place = keyof typeof places;

  const given = (kind: string, inputs: Props) => (roleUid: string) =>
    resource(kind, "given", { parentUid: search.uid, roleUid, ...inputs });
  const bindings = (roleUid: string): Props => ({ ci: { identityUid: ci.uid, roleUid } });
  const inside = { parentUid: directory.uid, externalGroupId: "team", scope: search.uid };
  const services = { chainguard: { serviceBindings: { INGESTER: ci.uid } } };
  it.each<[string, string[], ...((roleUid: string) => Resource)[]]>([
    ["a RoleBinding above its group", ["high"], () => binding(ci, lister(payments), acme)],
    ["a RoleBinding beside its group", ["medium"], () => binding(ci, lister(payments), search.uid)],
    ["a RoleBinding of its group", [], () => binding(ci, lister(payments), payments)],
    ["a RoleBinding below its group", [], () => binding(ci, lister(payments), cards)],
    ["a GroupAccess", ["medium"], (roleUid) => given("GroupAccess", { bindings: bindings(roleUid) })("")],
    ["an invite", ["medium"], given("GroupInvite", { ttl: "24h", email: "ada@acme.example" })],
    ["a mapping", ["medium"], given("ExternalGroupRoleMapping", inside)],
    ["a provider", ["high"], (defaultRole) => providing({ defaultRole })],
    [
      "an association of an identity with it",
      ["medium"],
      () => binding(ci, lister(payments), search.uid),
      () => resource("AccountAssociation", "cloud", { parentUid: payments, ...services }),
    ],
  ])("a role that %s gives is one that others may change: %j", (_what, severities, ...givers) => {
    const made = givers.map((give) => give(lister(payments).uid));
    const before = [...known, lister(payments)];
    const findings = found("G3", compareResources(before, [...before, ...made]));
    expect(findings.map(({ severity }) => severity)).toEqual(severities);
    for (const { name, field } of findings) expect([name, field]).toEqual(["lister", "parentUid"]);
    // One that is made with its grant is no other one.
    expect(severitiesOf("G3", compareResources(known, [...before, ...made]))).toEqual(severities);
  });

  const admin = binding(boss, owner, payments);
  const hidden = binding(boss, role("hidden", ["REPO_LIST"]), payments);
  it.each<[string, Resource, Place, Resource[], string[]]>([
    ["pushes, beside a group of an owner", pusher, "beside", [admin], ["medium"]],
    ["pushes, above a group of an owner", pusher, "above", [admin], ["medium"]],
    ["owns, beside a group of an owner", owner, "beside", [admin], ["high"]],
    ["has an unknown role, beside it", role("unknown", ["TAG_CREATE"]), "beside", [admin], ["medium"]],
    ["pushes, beside a group whose people have an unknown role", pusher, "beside", [hidden], ["medium"]],
    ["pushes, in a group of an owner", pusher, "at", [admin], []],
    ["pushes, below a group of an owner", pusher, "below", [admin], []],
    ["only reads, beside a group of an owner", viewer, "beside", [admin], []],
    ["pushes, beside a group of nobody else", pusher, "beside", [], []],
    ["pushes where the same owner is", pusher, "beside", [admin, binding(boss, owner, search.uid)], []],
    ["pushes, beside a group whose people push", pusher, "beside", [binding(boss, pusher, payments)], []],
  ])("an identity that %s", (_title, what, place, admins, severities) => {
    const before = [...known, robot(payments), ...admins];
    const after = [...before, binding(robot(payments), what, places[place])];
    const findings = found("G3", compareResources(before, after));
    expect(findings.map(({ severity }) => severity)).toEqual(severities);
    for (const { message } of findings) expect(message).toMatch(/: .*boss.* can change who has it$/);
  });

  it("is accepted for those who can change it now, and where it has a grant", () => {
    const eve = identity("eve", claims({ issuer: "https://sso.acme.example", subject: "eve" }));
    const printsOf = (place: string, ...more: Resource[]): string[] => {
      const change = adding(
        [...known, robot(payments), admin, ...more],
        binding(robot(payments), pusher, place),
      );
      return found("G3", change).map(({ fingerprint }) => fingerprint);
    };
    const others = printsOf(search.uid, eve, binding(eve, owner, payments));
    const prints = [printsOf(search.uid), printsOf(acme), others];
    expect(prints.map(({ length }) => length)).toEqual([1, 1, 1]);
    expect(new Set(prints.flat()).size).toBe(3);
  });

  const strangers = "6576696c00000000000000000000000000000000";
  it.each<[string, Resource, Resource, string[], string?]>([
    ["a role", ci, lister(strangers), ["high"]],
    ["an identity that pushes", robot(strangers), pusher, ["high"]],
    ["an identity that only reads", robot(strangers), viewer, ["medium"]],
    ["an identity that reads all", robot(strangers), viewer, ["high"], acme],
  ])("%s of another organisation", (_what, who, what, severities, place = payments) => {
    const made = [who, what].filter((each) => each.inputs["parentUid"] === strangers);
    const elsewhere = made.map((each) => ({ ...each, uid: `${strangers}/${"4".repeat(16)}` }));
    const [holder, given] = [who, what].map(
      (each) => elsewhere.find(({ kind }) => kind === each.kind) ?? each,
    );
    const after = [...known, ...elsewhere, binding(holder!, given!, place)];
    for (const withoutInventory of [true, false])
      expect(severitiesOf("G3", compareResources(known, after, { withoutInventory }))).toEqual(severities);
    const comparison = compareResources(known, after);
    expect(severitiesOf("X3", comparison)).toEqual(["high"]);
    // Drift may compare both organisations.
    const inventory = comparison.inventories[0]!;
    const inventories = [inventory, { ...inventory, root: strangers }];
    expect(severitiesOf("X3", { ...comparison, inventories })).toEqual([]);
    expect(found("G3", compareResources(after, [...after, search]))).toEqual([]);
  });
});

it("G9 names the capabilities and the role", () => {
  const held = role("cleaner", ["IAM_ROLES_DELETE", "REPO_LIST"]);
  const message = /can take away what others have on acme \/ payments.*: CAP_IAM_ROLES_DELETE$/;
  expect(found("G9", adding([...withOwner, held], binding(ci, held, payments)))).toMatchObject([
    { message: expect.stringMatching(message) as string, details: ["through role cleaner"] },
  ]);
});

describe("G4 role-widened", () => {
  const dev = role("dev", ["REPO_LIST"]);
  const wider = (...more: string[]): Resource => role("dev", ["REPO_LIST", ...more]);

  const whole = ["IAM_ROLES_UPDATE", "IAM_ROLE_BINDINGS_CREATE", "IAM_IDENTITY_UPDATE"];
  it.each<[string[], string, string, Resource?]>([
    [["TAG_LIST"], payments, "low"],
    [["TAG_CREATE"], payments, "medium"],
    [["TAG_CREATE"], payments, "high", open],
    [["IAM_IDENTITY_CREATE"], payments, "medium"],
    [["IAM_IDENTITY_CREATE"], acme, "high"],
    [["IAM_ROLES_DELETE"], acme, "high"],
    [["IAM_ROLES_UPDATE"], payments, "high"],
    [whole, payments, "high"],
    [whole, acme, "critical"],
  ])("with %j at %s is %s", (capabilities, where, severity, who = ci) => {
    const bound = [...base, binding(who, dev, where)];
    const change = compareResources([...bound, dev], [...bound, wider(...capabilities)]);
    expect(severitiesOf("G4", change)).toEqual([severity]);
  });

  it("has the severity of what it gives everyone who signs in, and is medium where many can hold it", () => {
    const provider = providing({ defaultRole: dev.uid });
    const invite = resource("GroupInvite", "open", { parentUid: payments, roleUid: dev.uid, ttl: "24h" });
    const gain = (holder: Resource, ...more: string[]): string[] => {
      const held = [...withOwner, holder];
      return severitiesOf("G4", compareResources([...held, dev], [...held, wider(...more)]));
    };
    expect(gain(provider, "REPO_BLOBS_DELETE")).toEqual(["high"]);
    expect(gain(invite, "TAG_LIST")).toEqual(["medium"]);
  });
});

describe("G5 scope-widened", () => {
  const at = (...places: string[]): Resource[] => places.map((place) => binding(ci, viewer, place));

  it.each<[string, Resource[], Resource[], string[]]>([
    ["a move up", at(cards), at(payments), ["medium"]],
    ["a move up to the root", at(payments), at(acme), ["high"]],
    // A later change may remove the one below.
    ["a second binding above", at(cards), at(cards, payments), ["medium"]],
    ["a second binding below", at(payments), at(payments, cards), []],
    ["another role above", [binding(ci, pusher, cards)], at(acme), []],
  ])("judges %s", (_what, before, after, severities) => {
    expect(severitiesOf("G5", compareResources([...base, ...before], [...base, ...after]))).toEqual(
      severities,
    );
  });

  it("states the groups that are reached", () => {
    const change = compareResources([...base, ...at(cards)], [...base, ...at(acme)]);
    const message =
      "GitHub Actions of acme/pay, branch main has viewer on acme, no longer on acme / payments / cards alone, and reaches 2 more groups";
    expect(found("G5", change)).toMatchObject([{ message, details: ["acme", "acme / payments"] }]);
  });
});

describe("G6 and G9 for the pipeline of a new group", () => {
  const own = group("team", `${acme}/${"3".repeat(16)}`);
  const inOwn = (one: Resource): Resource => edit(one, { parentUid: own.uid });
  const [pipeline, second, crowd] = [identity("pipeline", pinned), identity("second", pinned), open].map(
    inOwn,
  ) as [Resource, Resource, Resource];
  const above = identity("above", { parentUid: acme, ...pinned });
  const bound = binding(pipeline, pusher, own.uid);
  const other = binding(second, pusher, own.uid);
  const tagger = role("tagger", ["TAG_CREATE"]);
  const elsewhere = [tagger, binding(pipeline, tagger, payments)];
  const unknown = binding(ci, role("unknown", []), own.uid);

  test.each<[string, readonly Resource[], readonly Resource[], string[]]>([
    ["is low beside a reader", [], [own, pipeline, bound, ci, binding(ci, viewer, own.uid)], ["low"]],
    ["that is there already is medium", [own], [own, pipeline, bound], ["medium"]],
    ["beside one of whom nothing is known is medium", [], [own, pipeline, bound, ci, unknown], ["medium"]],
    ["with two who push is medium", [], [own, pipeline, second, bound, other], ["medium", "medium"]],
    ["of an identity of another group is medium", [], [own, ci, binding(ci, pusher, own.uid)], ["medium"]],
    [
      "of a new identity of the organisation is low",
      [],
      [own, above, binding(above, pusher, own.uid)],
      ["low"],
    ],
    ["of one that was there is medium", [above], [own, above, binding(above, pusher, own.uid)], ["medium"]],
    ["that many can be is high", [], [own, crowd, binding(crowd, pusher, own.uid)], ["high"]],
    ["and of another group is medium there", [], [own, pipeline, bound, ...elsewhere], ["medium", "low"]],
  ])("%s", (_title, before, after, expected) => {
    const all = [...groups, viewer, pusher];
    expect(severitiesOf("G6", compareResources([...all, ...before], [...all, ...after]))).toEqual(expected);
  });

  test("says where an identity must lie that is to see the registry", () => {
    const adviceTo = (who: Resource, what = pusher, rule = "G6") =>
      found(rule, adding([...groups, what, who], binding(who, what, payments))).map(({ advice }) => advice);
    const hint = "define the identity in the organisation: one of a group below does not see the registry";
    expect(adviceTo(identity("inside", pinned))).toEqual([expect.stringContaining(hint)]);
    expect(adviceTo(above)).toEqual([expect.not.stringContaining(hint)]);
    const cleaner = role("cleaner", ["IAM_GROUPS_DELETE"]);
    expect(adviceTo(identity("inside", pinned), cleaner, "G9")).toEqual([expect.not.stringContaining(hint)]);
  });

  test("is high where the group is a root", () => {
    const root = group("new", uid("new"));
    const who = edit(pipeline, { parentUid: root.uid });
    expect(severitiesOf("G6", adding(base, root, who, binding(who, pusher, root.uid)))).toEqual(["high"]);
  });
});

const atAws = (arnPattern: string): Props => ({
  awsIdentity: { awsAccount: "123456789012", arnPattern, userIdPattern: "^A.*$" },
});

const oneRepository = "^repo:acme/pay:ref:refs/heads/(?:main|release-[0-9]+)$";
const byPattern = (subjectPattern: string): Props => claims({ issuer: GITHUB, subjectPattern });

test.each<[string, Props, string]>([
  ["branches of one repository", byPattern(oneRepository), "medium"],
  ["two environments", byPattern("^repo:acme/pay:environment:(?:eu|us)$"), "medium"],
  ["the sessions of one role", atAws("^arn:aws:sts::123456789012:assumed-role/ci/[\\w=,.@-]+$"), "medium"],
  ["any repository of an organisation", byPattern("^repo:acme/[^:]+:environment:eu$"), "high"],
  ["any branch of one repository", byPattern("^repo:acme/pay:ref:.*$"), "high"],
  ["a pattern of issuers", claims({ issuerPattern: "^https://.*$", subject: "repo:acme/pay:ref:a" }), "high"],
  ["any role", atAws("^arn:aws:sts::123456789012:assumed-role/.*$"), "high"],
])("G6 of a pattern that accepts %s", (_what, trust, severity) => {
  const who = identity("who", trust);
  expect(severitiesOf("G6", adding([...groups, pusher, who], binding(who, pusher, payments)))).toEqual([
    severity,
  ]);
});

describe("G7 mass-grant", () => {
  const idp = ({ uid: defaultRole }: Resource): Resource => providing({ defaultRole });
  const given = { parentUid: uid("p"), externalGroupId: "admins", scope: acme };
  const mapping = (what: Resource): Resource =>
    resource("ExternalGroupRoleMapping", "admins", { ...given, roleUid: what.uid });

  const sync = resource("ScimToken", "sync", { parentUid: idp(pusher).uid });
  const lister = role("lister", ["REPO_LIST"]);
  const reader = role("reader", ["REPO_LIST", "REPO_BLOBS_GET"]);
  const admin = role("admin", ["IAM_IDENTITY_UPDATE"]);
  const decoy = role("viewer", ["REPO_LIST", "MANIFEST_CREATE"]);

  const BELOW = "on acme and everything below it";
  const everyone = (what: string) => `everyone who signs in through sso gets ${what} ${BELOW}`;
  const added = (what: string) => `whoever has a SCIM token of sso can add people, who get ${what} ${BELOW}`;
  const member = (what: string) => `every member of group “admins” of 700000000000 gets ${what} ${BELOW}`;
  it.each<[string, readonly Resource[], Resource, string[]]>([
    ["a default role beyond viewer", withOwner, idp(pusher), [`high: ${everyone("registry.push")}`]],
    ["a token of a directory", [...withOwner, idp(pusher)], sync, [`high: ${added("registry.push")}`]],
    ["viewer", withOwner, idp(viewer), []],
    ["less than viewer", [...withOwner, lister], idp(lister), []],
    [
      "a role of one's own that is called viewer",
      [...groups, decoy],
      idp(decoy),
      [`high: ${everyone("viewer")}`],
    ],
    ["more than to list, without viewer", [...groups, reader], idp(reader), [`high: ${everyone("reader")}`]],
    ["to list, where viewer is not known", [...groups, lister], idp(lister), []],
    ["a mapping with capabilities of G1", withOwner, mapping(owner), [`high: ${member("owner")}`]],
    ["a mapping with those of G2", [...withOwner, admin], mapping(admin), [`high: ${member("admin")}`]],
    ["any mapping on a root group", withOwner, mapping(pusher), [`medium: ${member("registry.push")}`]],
    ["any other below", withOwner, edit(mapping(pusher), { scope: payments }), []],
  ])("judges %s", (_what, before, made, expected) => {
    const findings = found("G7", adding(before, made));
    expect(findings.map(({ severity, message }) => `${severity}: ${message}`)).toEqual(expected);
  });
});

describe("G8 identity-provider", () => {
  const idp = (more: Props) =>
    providing({ oidc: { issuer: "https://login.acme.example", clientId: "a", ...more } });
  const between = (before: readonly Resource[], after: readonly Resource[]) =>
    compareResources([...withOwner, ...before], [...withOwner, ...after]);

  it.each<[string, Resource[], Resource[], string | undefined]>([
    ["is new", [], [idp({})], "oidc.issuer"],
    ["changes its issuer", [idp({})], [idp({ issuer: "https://login.other.example" })], "oidc.issuer"],
    ["changes its client", [idp({})], [idp({ clientId: "b" })], "oidc.clientId"],
    ["names groups by another claim", [idp({})], [idp({ groupsClaim: "roles" })], "oidc.groupsClaim"],
    ["asks for less proof", [idp({ pkceEnabled: true })], [idp({})], "oidc.pkceEnabled"],
    ["asks for more proof", [idp({})], [idp({ pkceEnabled: true })], undefined],
    ["has another name", [idp({})], [edit(idp({}), { name: "staff" })], undefined],
    ["asks for fewer scopes", [idp({ additionalScopes: ["email"] })], [idp({})], undefined],
    ["names groups by no claim", [idp({ groupsClaim: "roles" })], [idp({})], undefined],
  ])("judges one that %s", (_, before, after, field) => {
    const issuer = `https://login.${field === "oidc.issuer" && before.length > 0 ? "other" : "acme"}.example`;
    const what = before.length === 0 ? "is new" : `changes ${field}`;
    const message = `identity provider sso ${what}: ${issuer} decides who signs in`;
    const expected = field === undefined ? [] : [{ severity: "high", field, message }];
    const findings = found("G8", between(before, after));
    expect(findings.map(({ severity, field: at, message }) => ({ severity, field: at, message }))).toEqual(
      expected,
    );
  });

  const token = (name: string) => resource("ScimToken", name, { parentUid: idp({}).uid });
  it.each<[string, Resource[], Resource[], string[]]>([
    ["goes", [idp({}), token("a")], [idp({})], ["medium", "high"]],
    ["goes, and another one stays", [idp({}), token("a"), token("b")], [idp({}), token("b")], []],
    ["goes with its provider", [idp({}), token("a")], [], []],
    ["is used no more", [edit(idp({}), { scimEnabled: true })], [idp({})], ["medium", "high"]],
  ])("finds a token of a directory that %s, and is high with --strict", (_, before, after, severities) => {
    const given = between(before, after);
    const judged = [false, true].flatMap((strict) => severitiesOf("G8", given, { strict }));
    expect(judged).toEqual(severities);
  });
});
