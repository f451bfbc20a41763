import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  describeStanding,
  describeViolations,
  judgeAssertions,
} from "../../../../provider/access/assertions/judgeAssertions";
import { parsePolicy } from "../../../../provider/access/suppressions/policyDocument";
import { UNKNOWN } from "../../../../provider/fields/values";
import type { Props } from "../../../../provider/fields/values";
import {
  acme,
  binding,
  cards,
  claims,
  compareResources,
  group,
  groups,
  identity as inPayments,
  owner,
  payments,
  pusher,
  resource,
  role,
  viewer,
  edit,
  byHand,
  GITHUB,
} from "../../../support/access";
import type { Resource } from "../../../support/access";
import { urn } from "../../../../provider/access/rules/ruleTesting";
import { found } from "../rules/support";

/** Of the organisation: it acts everywhere. */
const identity = (name: string, trust: Props): Resource => inPayments(name, { parentUid: acme, ...trust });

const by = (name: string, subject = `repo:acme/${name}:ref:refs/heads/main`): Resource =>
  identity(name, claims({ issuer: GITHUB, subject }));
const withKeys = (name: string, kid: string): Resource =>
  identity(name, {
    staticKeys: {
      issuer: "https://ci.acme.example",
      subject: "s",
      issuerKeys: JSON.stringify({
        keys: [{ kty: "OKP", crv: "Ed25519", x: Buffer.from(kid).toString("base64url"), kid }],
      }),
    },
  });
const [ci, outsider] = [by("ci"), by("outsider", "repo:other/x:ref:refs/heads/main")];
const dev = role("dev", ["REPO_LIST"]);
const base = [...groups, viewer, pusher, owner, dev, ci, outsider];
const sandbox = group("sandbox", `${acme}/${"7".repeat(16)}`);

const OURS = `
forbid:
  - name: our own pipelines write payments
    who: { not: [{ issuer: ["${GITHUB}"], subject: ["repo:acme/*"] }, { name: [break-glass] }] }
    can: [CAP_MANIFEST_*, CAP_REPO_CREATE]
    on: [acme / payments]
    severity: critical
    reason: what runs there is ours
`;

/** What a policy says of a change, a line each. */
const messagesOf = (
  text: string,
  before: readonly Resource[],
  after: readonly Resource[],
  replaced: readonly Resource[] = [],
): string[] => {
  const { assertions } = parsePolicy(text);
  const change = compareResources(before, after, { replaced });
  return ["P1", "P2", "P3"].flatMap((id) => found(id, change, { assertions }).map(({ message }) => message));
};
/** How severe what it requires is. */
const severitiesOf = (text: string, before: readonly Resource[], after: readonly Resource[]): string[] =>
  found("P2", compareResources(before, after), parsePolicy(text)).map(({ severity }) => severity);
/** What it says of whom the next change would judge otherwise. */
const decides = (name: string): string =>
  `"who" chooses ${JSON.stringify(name)} by a name or uid, and the change decides whom that means`;
/** A policy that forbids to push to payments. */
const noPush = (who: string): string =>
  `forbid: [{ name: x, can: CAP_MANIFEST_CREATE, on: [acme / payments], who: { ${who} } }]`;

/** What breaks the first of them, beside the basis. */
const broken = (before: readonly Resource[], after: readonly Resource[]): string[] =>
  messagesOf(OURS, [...base, ...before], [...base, ...after]);

const exchanged = (all: readonly Resource[], edited: readonly Resource[]): Resource[] =>
  all.map((one) => edited.find(({ uid }) => uid === one.uid) ?? one);
/** `base` with another version of some of its resources. */
const changing = (before: readonly Resource[], ...edited: readonly Resource[]): string[] => {
  const all = [...base, ...before];
  return messagesOf(OURS, all, exchanged(all, edited));
};

describe("whoever can be one identity can be each that takes its tokens", () => {
  const takerOf = (name: string, { uid }: Resource): Resource =>
    identity(name, claims({ issuer: "https://issuer.platform.example", subject: uid }));
  const taker = takerOf("taker", outsider);
  const second = takerOf("second", taker);
  const open = identity("open", claims({ issuer: GITHUB, subjectPattern: "^repo:other/.*$" }));
  const bySub = (more: Props): Resource =>
    identity("taker", claims({ issuer: "https://issuer.platform.example", subjectPattern: "^.*$", ...more }));

  test.each([
    ["by its subject", "subject: ['repo:other/*']", taker, 1],
    ["by its name", "name: [outsider]", taker, 1],
    ["by its uid", `uid: [${outsider.uid}]`, taker, 1],
    ["two of them in a row", "subject: ['repo:other/*']", second, 1],
    ["by its claim sub", "subject: ['repo:other/*']", bySub({ claims: { sub: outsider.uid } }), 1],
    [
      "by a pattern of its claim sub",
      "subject: ['repo:other/*']",
      bySub({ claimPatterns: { sub: `^${outsider.uid.slice(0, -1)}.$` } }),
      1,
    ],
    ["by what more than one outsider can be", "matchesMany: true", takerOf("taker", open), 1],
    ["not the tokens of somebody else", "subject: ['repo:other/*']", takerOf("taker", ci), 0],
    ["left out by its own uid", `not: [{ uid: [${taker.uid}] }]`, taker, 0],
  ])("an assertion that forbids something: %s", (_, who, holder, count) => {
    const all = [...base, open, taker, second, holder].filter(
      (each, i, list) => list.lastIndexOf(each) === i,
    );
    expect(messagesOf(noPush(who), all, [...all, binding(holder, pusher, payments)])).toHaveLength(count);
  });

  test("a grant that stays, where somebody else can be the one whose tokens its holder takes", () => {
    const known = by("outsider", "repo:acme/ci:ref:refs/heads/main");
    const all = (one: Resource) => [
      ...groups,
      viewer,
      pusher,
      one,
      second,
      taker,
      binding(second, pusher, payments),
    ];
    const policy = noPush("subject: ['repo:other/*']");
    expect(messagesOf(policy, all(known), all(outsider))).toEqual([
      "x: second has registry.push on acme / payments",
    ]);
    expect(messagesOf(policy, all(outsider), all(outsider))).toEqual([]);
  });

  test("somebody else, where who takes its tokens goes, or takes them no longer, in the same change", () => {
    const known = by("outsider", "repo:acme/ci:ref:refs/heads/main");
    const both = identity(
      "taker",
      claims({
        issuer: "https://issuer.platform.example",
        subjectPattern: `^(?:${outsider.uid}|${ci.uid})$`,
      }),
    );
    const none = takerOf("taker", ci);
    const given = (...some: readonly Resource[]) => [...groups, viewer, pusher, ci, ...some];
    for (const [was, is] of [
      [taker, undefined],
      [both, none],
    ] as const) {
      const bound = binding(was, pusher, payments);
      const after = is === undefined ? given(outsider) : given(outsider, is, bound);
      const change = compareResources(given(known, was, bound), after);
      for (const id of ["T5", "T7"])
        expect(found(id, change)).toMatchObject([{ severity: "high", name: "outsider" }]);
    }
  });

  test.each([
    ["of the group in which it is made", payments, 1],
    ["of another group", acme, 0],
  ])("a new identity, where somebody takes all tokens %s", (_, place, count) => {
    const all = claims({
      issuer: "https://issuer.platform.example",
      subjectPattern: `^${place}/[0-9a-f]{16}$`,
    });
    const warden = identity("warden", all);
    const before = [...groups, viewer, pusher, warden, binding(warden, pusher, payments)];
    const stranger = inPayments(
      "stranger",
      claims({ issuer: GITHUB, subject: "repo:other/x:ref:refs/heads/main" }),
    );
    const after = [...before, stranger];
    expect(messagesOf(noPush("subject: ['repo:other/*']"), before, after)).toHaveLength(count);
    for (const id of ["T5", "T7"]) expect(found(id, compareResources(before, after))).toHaveLength(count);
  });

  test("they are one holder", () => {
    const duties =
      "separate: [{ name: n, duties: [[CAP_MANIFEST_CREATE], [CAP_EVENTS_SUBSCRIPTION_LIST]], on: [acme / payments] }]";
    const listener = role("listener", ["EVENTS_SUBSCRIPTION_LIST"]);
    const all = [...base, listener, taker, binding(outsider, listener, payments)];
    const both = [...all, binding(taker, pusher, payments)];
    expect(messagesOf(duties, all, both)).toEqual([
      "n: outsider and taker accept a common principal, which holds one of each duty",
    ]);
    // Of whoever takes the tokens of more than a hundred nobody follows who that may be.
    for (const [length, count] of [
      [90, 0],
      [110, 1],
    ] as const) {
      const chain = Array.from({ length }, (_, i) => identity(`link ${i}`, claims({})));
      const links = chain.map((link, i) => {
        const next = chain[i + 1]?.uid ?? "last";
        return edit(link, claims({ issuer: "https://issuer.platform.example", subject: next }));
      });
      const [head = taker] = links;
      const there = [...base, ...links, listener, binding(ci, listener, payments)];
      expect(messagesOf(duties, there, [...there, binding(head, pusher, payments)])).toHaveLength(count);
    }
    const two = "require: [{ name: n, can: CAP_REPO_LIST, on: [acme / payments], atLeast: 2 }]";
    const [three, left] = [
      [outsider, taker, ci],
      [outsider, taker],
    ].map((some) => [...base, taker, ...some.map((each) => binding(each, viewer, payments))]);
    expect(messagesOf(two, three!, left!)).toEqual(["n: acme / payments has 1 holder, fewer than 2"]);
  });
});

describe("what breaks a forbidden access", () => {
  const pushes = (where: string) => [binding(outsider, pusher, where)];

  test.each([
    ["at the group", payments, "acme / payments"],
    ["below it", cards, "acme / payments / cards"],
    ["above it", acme, "acme"],
  ])("a grant %s", (_, where, path) => {
    const change = compareResources(base, [...base, ...pushes(where)]);
    expect(found("P1", change, parsePolicy(OURS))).toMatchObject([
      {
        message: `our own pipelines write payments: outsider has registry.push on ${path}`,
        details: ["may use CAP_MANIFEST_CREATE", "asserted in the policy:3: what runs there is ours"],
        grant: { role: { name: "registry.push" }, group: { path } },
      },
    ]);
  });

  test("no grant beside it, of less, or to whom it is not about, and two alike once", () => {
    const again = {
      ...pushes(payments)[0]!,
      ...{ uid: `${payments}/${"9".repeat(16)}`, urn: urn("RoleBinding", "b") },
    };
    expect(broken([], [...pushes(payments), again])).toHaveLength(1);
    expect(broken([sandbox], [sandbox, binding(outsider, pusher, sandbox.uid)])).toEqual([]);
    expect(broken([], [binding(outsider, viewer, payments)])).toEqual([]);
    expect(broken([], [binding(ci, pusher, payments)])).toEqual([]);
  });

  // An identity acts in its own group and below: away from it, its grant gives nothing.
  test.each([
    ["everywhere", acme, 1],
    ["below it", cards, 1],
    ["beside it as before", sandbox.uid, 0],
  ])("a grant that gave nothing, by an identity that now acts %s", (_, parentUid, count) => {
    const away = edit(outsider, { parentUid: sandbox.uid });
    const near = edit(outsider, { parentUid });
    const all = [...groups, viewer, pusher, owner, sandbox];
    const sides = [away, near].map((one) => [...all, one, binding(one, pusher, payments)]);
    const [before = [], after = []] = sides;
    expect(messagesOf(OURS, before, after, [away])).toHaveLength(count);
    const both = `separate: [{ name: n, duties: [[CAP_MANIFEST_CREATE], [CAP_REPO_LIST]], on: [acme / payments] }]`;
    expect(messagesOf(both, before, after, [away])).toHaveLength(count);
    const none = `require: [{ name: n, can: CAP_MANIFEST_CREATE, on: [acme / payments], atMost: 0 }]`;
    expect(messagesOf(none, before, after, [away])).toHaveLength(count);
  });

  test("a role that gains a capability", () => {
    const bound = [binding(outsider, dev, payments)];
    expect(changing(bound, role("dev", ["REPO_LIST", "MANIFEST_CREATE"]))).toHaveLength(1);
    expect(changing(bound, role("dev", ["REPO_LIST", "TAG_LIST"]))).toEqual([]);
  });

  test("a role whose capabilities nobody can read", () => {
    const bound = [binding(outsider, dev, payments)];
    expect(changing(bound, edit(dev, { capabilities: UNKNOWN }))).toHaveLength(1);
  });

  test("a trust that no longer lies in what is excluded, or is secret or unknown now", () => {
    const bound = [binding(ci, pusher, payments)];
    const trust = (claimMatch: Props) => changing(bound, edit(ci, claims({ issuer: GITHUB, ...claimMatch })));
    expect(trust({ subjectPattern: "^repo:acme/ci:ref:.*$" })).toEqual([]);
    expect(trust({ subjectPattern: "^repo:acme.*$" })).toHaveLength(1);
    expect(trust({ subject: "repo:evil/x" })).toHaveLength(1);
    expect(trust({ subject: UNKNOWN })).toHaveLength(1);
  });

  test("a trust that accepts more than one that broke it already", () => {
    const bound = [binding(outsider, pusher, payments)];
    const wider = edit(outsider, claims({ issuer: GITHUB, subjectPattern: "^repo:other/.*$" }));
    expect(changing(bound, edit(outsider, { description: "hello" }))).toEqual([]);
    expect(changing(bound, wider)).toHaveLength(1);
  });

  const keyed = (kid: string): Resource => withKeys("named", kid);
  const otherKeyed = withKeys("other", "k1");
  const moved = (one: Resource, subject: string): Resource => edit(one, claims({ issuer: GITHUB, subject }));
  test.each<[string, (named: Resource, other: Resource) => [Resource[], Resource[]], string[]]>([
    ["it goes, and the same is there by another name", (named, other) => [[named], [other]], ["other"]],
    [
      "it trusts somebody else",
      (one, other) => [
        [one, other],
        [moved(one, "repo:a/b"), other],
      ],
      ["other"],
    ],
    ["it goes, and another one has its keys", () => [[keyed("k1"), otherKeyed], [otherKeyed]], ["other"]],
    ["it stays", (named, other) => [[named], [named, other]], []],
    ["it goes, and nobody else is it", (named) => [[named, ci], [ci]], []],
  ])("whoever is forbidden by name is known by it still: %s", (_, sides, expected) => {
    const named = by("named", "repo:other/y:ref:refs/heads/main");
    const other = identity("other", { ...named.inputs, name: "other" });
    const [before, after] = sides(named, other).map((own) => [...groups, pusher, ...own]);
    expect(messagesOf(noPush("name: [nam*]"), before ?? [], after ?? [])).toEqual(
      expected.map((name) => `x: ${decides(name)}`),
    );
  });

  test("an invite, a mapping, a service", () => {
    const given = { name: undefined, parentUid: payments, roleUid: pusher.uid };
    const invite = resource("GroupInvite", "i", { ...given, email: "a@b.example" });
    const oidc = { issuer: "https://login.example", clientId: "a" };
    const provider = resource("IdentityProvider", "sso", { parentUid: acme, oidc });
    const of = { parentUid: provider.uid, externalGroupId: "devs", scope: payments };
    const mapping = resource("ExternalGroupRoleMapping", "m", { ...given, ...of });
    expect(broken([], [invite])).toHaveLength(1);
    expect(broken([provider], [provider, mapping])).toHaveLength(1);
    const services = (more: Props) =>
      resource("AccountAssociation", "a", {
        parentUid: payments,
        name: "a",
        chainguard: { serviceBindings: { INGESTER: ci.uid } },
        ...more,
      });
    const bound = binding(ci, pusher, payments);
    expect(broken([bound], [bound, services({})])).toEqual([
      expect.stringContaining("INGESTER has registry.push"),
    ]);
    // What else the association holds does not make a service anybody else.
    const github = { github: { appInstallations: { 1: { installations: [{ installationId: "1" }] } } } };
    expect(broken([bound, services({})], [bound, services(github)])).toEqual([]);
    // A directory that asks for more about a person may let more into its groups.
    const sso = (more: Props) => edit(provider, { defaultRole: pusher.uid, oidc: { ...oidc, ...more } });
    expect(broken([sso({})], [sso({ additionalScopes: ["email", "groups"] })])).toHaveLength(1);
    expect(broken([sso({})], [sso({ clientId: "b" })])).toHaveLength(1);
  });

  test("a new identity with an excluded name", () => {
    const glass = by("break-glass", "repo:other/y");
    expect(broken([glass], [glass, binding(glass, pusher, payments)])).toEqual([]);
    expect(broken([], [glass, binding(glass, pusher, payments)])).toEqual([
      expect.stringContaining(decides("break-glass")),
      expect.stringContaining("break-glass has registry.push"),
    ]);
  });

  test("a group that goes does not leave it where the change makes another one", () => {
    const two = `forbid: [{ name: x, role: registry.push, who: { name: outsider }, on: ["${cards}", acme / ops] }]`;
    const ops = group("ops", `${acme}/${"9".repeat(16)}`);
    const others = [...base.filter(({ uid }) => uid !== cards), ops];
    const judged = (...made: Resource[]) => messagesOf(two, [...base, ops], [...others, ...made]);
    expect(judged()).toEqual([]);
    const anew = { ...group("cards", `${payments}/${"8".repeat(16)}`), urn: urn("Group", "new") };
    expect(judged(anew)).toEqual([
      expect.stringContaining("acme / payments / cards goes, and the new group acme / payments / cards may"),
    ]);
  });

  test("a new group whose name has a character that nobody sees is one of them", () => {
    const hidden = group("car\u200bds", `${payments}/${"8".repeat(16)}`);
    const below = (on: string) =>
      messagesOf(`forbid: [{ name: x, role: registry.push, on: [${on}] }]`, base, [
        ...base,
        hidden,
        binding(outsider, pusher, hidden.uid),
      ]);
    for (const on of ["acme / payments / *", "acme / payments / cards"]) {
      expect(below(on)).toEqual([
        expect.stringContaining("x: outsider has registry.push on acme / payments / “"),
      ]);
    }
  });

  test("a group below one of them does not leave it where it goes and is made elsewhere, or moves", () => {
    const below =
      "forbid: [{ name: x, role: registry.push, who: { name: outsider }, on: [acme / payments] }]";
    const judged = (after: readonly Resource[], replaced: Resource[] = []) =>
      messagesOf(below, base, after, replaced);
    const others = base.filter(({ uid }) => uid !== cards);
    const madeAt = (name: string) => ({
      ...group(name, `${acme}/${"8".repeat(16)}`),
      urn: urn("Group", "new"),
    });
    expect(judged(others)).toEqual([]);
    expect(judged([...others, madeAt("cards")])).toEqual([
      expect.stringContaining(
        "acme / payments / cards goes, and the new group acme / cards may take its place",
      ),
    ]);
    expect(judged([...others, madeAt("billing")])).toEqual([]);
    const moved = edit(groups[2]!, { parentUid: acme });
    expect(judged(exchanged(base, [moved]), [moved])).toEqual([
      expect.stringContaining('acme / payments / cards becomes acme / cards, which "on" does not name'),
    ]);
  });

  test("a role in a group that nobody can read, or below one whose parent nobody can read", () => {
    const owning = "forbid: [{ name: x, role: owner, on: [acme / payments] }]";
    const nowhere = (what: Resource) => edit(binding(outsider, what, payments), { parentUid: UNKNOWN });
    const inner = resource("Group", "inner", { parentUid: UNKNOWN });
    const judged = (text: string, ...after: Resource[]) => messagesOf(text, base, [...base, ...after]);
    expect(judged(OURS, nowhere(pusher))).toHaveLength(1);
    expect(judged(owning, nowhere(owner))).toHaveLength(1);
    expect(judged(owning, nowhere(pusher))).toEqual([]);
    expect(judged(OURS, inner, binding(outsider, pusher, inner.uid))).toHaveLength(1);
  });

  test("what was broken before is counted, and no finding", () => {
    const old = [...base, ...pushes(payments)];
    const comparison = compareResources(old, [...old, binding(ci, viewer, acme)]);
    const { assertions } = parsePolicy(OURS);
    expect(found("P1", comparison, { assertions })).toEqual([]);
    expect(describeStanding(judgeAssertions(comparison, assertions))).toEqual([
      "the policy:3: our own pipelines write payments: broken in 1 place before this change; access --policy lists them",
    ]);
  });

  test("a grant further down than one that broke it already", () => {
    expect(broken(pushes(payments), [...pushes(payments), ...pushes(cards)])).toEqual([
      "our own pipelines write payments: outsider has registry.push on acme / payments / cards",
    ]);
  });
});

describe("a new grant of what its subject holds already, maybe by hand alone", () => {
  const [a, b, c] = ["a", "b", "c"].map((name) => role(name, ["REPO_LIST", "TAG_CREATE"])) as [
    Resource,
    Resource,
    Resource,
  ];
  const who = "who: { type: identity }, on: [acme / payments]";
  const service = resource("AccountAssociation", "cloud", {
    parentUid: payments,
    chainguard: { serviceBindings: { INGESTER: ci.uid } },
  });
  const reads = binding(ci, dev, payments);

  test.each<[string, string, Resource[]]>([
    ["forbidden access", `forbid: [{ name: x, can: CAP_TAG_CREATE, ${who} }]`, []],
    [
      "forbidden access of its service",
      "forbid: [{ name: x, can: CAP_TAG_CREATE, on: [acme / payments], who: { type: service } }]",
      [service],
    ],
    ["a role", `forbid: [{ name: x, role: a, ${who} }]`, []],
    [
      "separated duties",
      `separate: [{ name: x, duties: [[CAP_REPO_LIST], [CAP_TAG_CREATE]], ${who} }]`,
      [reads],
    ],
    [
      "the most that may hold it",
      `require: [{ name: x, can: CAP_TAG_CREATE, atMost: 1, ${who} }]`,
      [by("other"), binding(by("other"), pusher, payments)],
    ],
  ])("%s", (_, policy, own) => {
    const count = (before: readonly Resource[], given: readonly Resource[]): number => {
      const all = [...base, ...own, ...before];
      const messages = messagesOf(policy, all, [...all, ...given]);
      return messages.filter((message) => !message.includes("no given stack records what the role")).length;
    };
    const next = [binding(ci, b, payments)];
    const held = binding(ci, a, payments);
    expect(count([a, b, held], next)).toBe(1);
    expect(count([a, b, byHand(held)], next)).toBe(1);
    // What stays as somebody made it is not the doing of the change.
    expect(count([a, b, byHand(held)], [c, by("new"), binding(by("new"), viewer, acme)])).toBe(0);
    expect(count([byHand(a), b, byHand(held)], [by("new"), binding(by("new"), viewer, acme)])).toBe(0);
  });
});

describe("the fingerprint of a broken assertion", () => {
  const [list, tag, both] = [
    role("list", ["REPO_LIST"]),
    role("tag", ["TAG_CREATE"]),
    role("both", ["REPO_LIST", "TAG_CREATE"]),
  ];
  const on = "on: [acme / payments]";
  const printsOf = (id: string, text: string, before: readonly Resource[], after: Resource): string[] => {
    const all = [...base, list, tag, both, ...before];
    const prints = found(id, compareResources(all, [...all, after]), parsePolicy(text));
    return prints.map(({ fingerprint }) => fingerprint);
  };
  const trusted = ["repo:acme/other:ref:refs/heads/main", "repo:evil/other:ref:refs/heads/main"];

  test.each([
    ["P1", `forbid: [{ name: x, role: both, ${on} }]`],
    ["P3", `separate: [{ name: x, duties: [CAP_REPO_LIST, CAP_TAG_CREATE], ${on} }]`],
  ])("%s holds each grant that breaks it together, and its place", (id, text) => {
    const prints = [payments, acme].map((place) =>
      printsOf(id, text, [binding(ci, tag, place)], binding(ci, list, payments)),
    );
    expect(prints.map(({ length }) => length)).toEqual([1, 1]);
    expect(new Set(prints.flat()).size).toBe(2);
  });

  test.each([
    ["P1", `forbid: [{ name: x, role: both, who: { not: [{ name: [ci] }] }, ${on} }]`],
    ["P2", `require: [{ name: x, role: both, atMost: 0, ${on} }]`],
    ["P3", `separate: [{ name: x, duties: [CAP_REPO_LIST, CAP_TAG_CREATE], ${on} }]`],
  ])("%s holds whom each holder trusts", (id, text) => {
    const prints = trusted.map((subject) => {
      const other = by("other", subject);
      return printsOf(id, text, [other, binding(other, tag, payments)], binding(other, list, payments));
    });
    expect(prints.map(({ length }) => length)).toEqual([1, 1]);
    expect(new Set(prints.flat()).size).toBe(2);
  });
});

describe("what an assertion names and no stack records, so that a hand may change what it means for a while", () => {
  const reported = (text: string, before: readonly Resource[], after: readonly Resource[]) =>
    found("P1", compareResources(before, after), parsePolicy(text)).map(
      ({ severity, message, fingerprint }) => ({ severity, message, fingerprint }),
    );

  test("a role of one's own, with what it allows as what is accepted", () => {
    const forbidden = (name: string): string =>
      `forbid: [{ name: x, role: ${name}, on: [acme / payments], severity: critical }]`;
    const push = role("push", ["REPO_LIST", "TAG_CREATE"]);
    const wider = byHand(edit(push, { capabilities: ["CAP_REPO_LIST", "CAP_TAG_CREATE", "CAP_TAG_LIST"] }));
    const like = role("like", ["REPO_LIST", "TAG_CREATE"]);
    const pushing = (one: Resource) =>
      reported(forbidden("push"), [...base, one], [...base, one, like, binding(ci, like, payments)]);
    const message = 'x: no given stack records what the role "push" allows, which the assertion names';
    const [finding, ...more] = pushing(wider);
    expect(more).toEqual([]);
    expect(finding).toMatchObject({ severity: "medium", message });
    const [, asIs] = pushing(byHand(push));
    expect(asIs).toMatchObject({ severity: "medium", message });
    expect(asIs?.fingerprint).not.toBe(finding?.fingerprint);
    const team = group("team", `${payments}/${"3".repeat(16)}`);
    const bound = binding(ci, like, team.uid);
    const inNewGroup = reported(
      forbidden("push"),
      [...base, byHand(push)],
      [...base, byHand(push), like, team, bound],
    );
    expect(inNewGroup.map((each) => each.message)).toContain(message);
    // What a stack records, what is built in, and a change of other things.
    expect(pushing(push).map(({ severity }) => severity)).toEqual(["critical"]);
    const all = [...base, byHand(push)];
    expect(reported(forbidden("owner"), all, [...all, binding(ci, viewer, payments)])).toEqual([]);
    expect(reported(forbidden("push"), all, exchanged(all, [edit(ci, { description: "x" })]))).toEqual([]);
  });

  test("a role is told once, and only of a change that gives what one of them is about", () => {
    const push = byHand(role("push", ["REPO_LIST", "TAG_CREATE"]));
    const policy = `
forbid:
  - { name: x, role: push, on: acme / payments, who: { not: [{ uid: ${outsider.uid} }] } }
  - { name: y, role: push, on: acme / payments }
  - { name: z, role: push, on: acme / payments / cards }
require: [{ name: few, role: push, on: acme / payments, atLeast: 1 }]
`;
    const all = [...base, push, sandbox];
    const told = (before: readonly Resource[], after: readonly Resource[]): string[] =>
      (["P1", "P2"] as const).flatMap((rule) =>
        found(rule, compareResources(before, after), parsePolicy(policy))
          .filter(({ message }) => message.includes("no given stack records"))
          .map(({ field = "" }) => field),
      );
    const reads = binding(ci, viewer, payments);
    expect(told(all, [...all, reads])).toEqual(["x"]);
    expect(told(all, [...all, binding(outsider, viewer, payments)])).toEqual(["y"]);
    expect(told([...all, reads], all)).toEqual(["few"]);
    expect(told(all, [...all, binding(ci, viewer, sandbox.uid)])).toEqual([]);
    expect(told(all, [...all, group("new", `${acme}/${"6".repeat(16)}`)])).toEqual([]);
    // The first change of a stack is asked too.
    const theirs = all.map(byHand);
    expect(told(theirs, [...theirs, reads])).toEqual(["x"]);
  });

  test.each(["acme / lost", "[acme / payments, acme / lost*]", "acme / payments"])(
    "a group, which the assertion may mean by another name: %s",
    (on) => {
      const policy = (more = "can: CAP_TAG_CREATE"): string =>
        `forbid: [{ name: x, ${more}, on: ${on}, severity: critical }]`;
      const renamed = group("zz", sandbox.uid);
      const lost = group("lost", `${acme}/${"6".repeat(16)}`);
      const messages = (text: string, before: readonly Resource[], ...made: Resource[]): string[] =>
        reported(text, [...base, ...before], [...base, ...before, ...made]).flatMap(
          ({ severity, message }) => (severity === "medium" ? [message] : []),
        );
      const pushes = binding(ci, pusher, renamed.uid);
      const said = 'x: no given stack records acme / zz, which "on" may mean';
      expect(messages(policy(), [byHand(renamed)], pushes)).toEqual([said]);
      // Another group has its name, by hand or by a stack.
      expect(messages(policy(), [byHand(renamed), byHand(lost)], pushes)).toEqual([said]);
      expect(messages(policy(), [byHand(renamed), lost], pushes)).toEqual([said]);
      // One finding, however many such groups get access.
      const other = group("yy", `${acme}/${"8".repeat(16)}`);
      const both = [byHand(renamed), byHand(other)];
      expect(messages(policy(), both, pushes, binding(outsider, pusher, other.uid))).toEqual([
        expect.stringMatching(/records acme \/ (?:zz, acme \/ yy|yy, acme \/ zz), which/),
      ]);
      // Elsewhere, what the assertion is not about, what a stack records, and what has the name since it was made.
      expect(messages(policy(), [byHand(renamed)], binding(ci, viewer, cards), lost)).toEqual([]);
      expect(messages(policy(), [byHand(renamed)], binding(ci, viewer, renamed.uid))).toEqual([]);
      expect(
        messages(policy("can: CAP_TAG_CREATE, who: { type: invite }"), [byHand(renamed)], pushes),
      ).toEqual([]);
      expect(messages(policy(), [renamed], pushes)).toEqual([]);
      const all = [...base, byHand(renamed)];
      const given = compareResources(all, [...all, pushes]);
      const times = { createTime: "2026-01-01T00:00:00Z", updateTime: "2026-01-01T00:00:00Z" };
      const inventories = given.inventories.map((inventory) => ({
        ...inventory,
        objects: inventory.objects.map((object) => ({ ...object, ...times })),
      }));
      const since = found("P1", { ...given, inventories }, parsePolicy(policy()));
      expect(since.filter(({ severity }) => severity === "medium")).toEqual([]);
    },
  );

  test("a group that a uid names is the one that is meant", () => {
    const renamed = byHand(group("zz", sandbox.uid));
    const policy = `forbid: [{ name: x, can: CAP_TAG_CREATE, on: ${payments} }]`;
    const all = [...base, renamed];
    expect(reported(policy, all, [...all, binding(ci, pusher, renamed.uid)])).toEqual([]);
  });
});

describe("a change that only prepares the next one", () => {
  const both = `
forbid:
  - { name: by name, can: [CAP_MANIFEST_*], on: [acme / payments], who: { not: [{ name: [break-glass, spare] }] } }
  - { name: of guests, can: [CAP_MANIFEST_*], on: [acme], who: { name: [guest-*] } }
  - { name: with trust, can: [CAP_MANIFEST_*], on: [acme], who: { not: [{ name: [bot], subject: ["repo:acme/*"] }] } }
  - { name: by role, role: dev, on: [acme / payments] }
require:
  - { name: reviewed, can: [CAP_REPO_LIST], on: [acme], atMost: 9, who: { name: [reviewer] } }
`;
  const [guest, spare] = [by("guest-1", "repo:other/y"), by("spare")];
  const trusting = (one: Resource, subject: string) => edit(one, { claimMatch: { issuer: GITHUB, subject } });
  const named = (one: Resource, name: string) => edit(one, { name });
  const after = (...edited: readonly Resource[]): string[] => {
    const all = [...base, guest, spare];
    const made = edited.filter(({ uid }) => all.every((one) => one.uid !== uid));
    return messagesOf(both, all, [...exchanged(all, edited), ...made]);
  };
  const paid = groups.find(({ uid }) => uid === payments)!;

  test.each<[what: string, edited: readonly Resource[], messages: readonly string[]]>([
    ["nothing", [edit(ci, { description: "hello" })], []],
    ["an excluded name", [named(outsider, "break-glass")], [`by name: ${decides("break-glass")}`]],
    ["leaving a name that is meant", [named(guest, "regular")], [`of guests: ${decides("regular")}`]],
    ["entering a name that is meant", [named(outsider, "guest-2")], []],
    ["a trust of whom one leaves out", [trusting(spare, "repo:other/z")], [`by name: ${decides("spare")}`]],
    ["a trust of whom nothing leaves out", [trusting(outsider, "repo:other/z")], []],
    ["a name beside a trust that is not meant", [named(outsider, "bot")], []],
    ["a name beside a trust that is", [named(ci, "bot")], [`with trust: ${decides("bot")}`]],
    ["a name that is required", [named(outsider, "reviewer")], [`reviewed: ${decides("reviewer")}`]],
    [
      "another group in the place of one",
      [named(paid, "old"), { ...group("payments", `${acme}/${"8".repeat(16)}`), urn: urn("Group", "new") }],
      ["by name", "by role"].map(
        (name) => `${name}: acme / payments becomes acme / old, which "on" does not name`,
      ),
    ],
    [
      "what a role allows",
      [edit(dev, { capabilities: ["CAP_TAG_LIST"] })],
      ['by role: the change decides what the role "dev" allows, which the assertion names'],
    ],
    [
      "another role of a name",
      [named(dev, "old"), resource("Role", "dev-2", { parentUid: acme, name: "dev", capabilities: [] })],
      ['by role: the change decides what the role "dev" allows, which the assertion names'],
    ],
  ])("%s", (_, edited, messages) => {
    expect(after(...edited)).toEqual(messages);
  });

  test("what was done by hand is judged as it is", () => {
    const all = [...base, guest, spare];
    const edited = [
      named(guest, "regular"),
      edit(dev, { capabilities: ["CAP_TAG_LIST"] }),
      edit(groups[2]!, { parentUid: acme }),
    ];
    const drift = { ...compareResources(all, exchanged(all, edited)), drift: true as const };
    const { worse } = judgeAssertions(drift, parsePolicy(both).assertions);
    expect(Object.values(worse).flat()).toEqual([]);
  });

  test("two roles of one name are none that an assertion can mean", () => {
    const twin = resource("Role", "dev-2", { parentUid: acme, name: "dev", capabilities: ["CAP_TAG_LIST"] });
    const all = [...base, twin];
    const { worse } = judgeAssertions(compareResources(all, all), parsePolicy(both).assertions);
    expect(worse.forbid).toMatchObject([
      { message: 'several roles are called "dev"', details: ["name the one that is meant by its uid"] },
    ]);
  });
});

describe("a role", () => {
  const noOwners = `forbid: [{ name: nobody owns payments, role: owner, on: [acme / payments], who: { not: [{ name: [ci] }] } }]`;
  const held = (...grants: readonly Resource[]): string[] => messagesOf(noOwners, base, [...base, ...grants]);

  test.each([
    ["role: ownr, on: acme", 'no document says what the role "ownr" allows; did you mean "owner"?'],
    ["role: nothing-like-it, on: acme", 'no document says what the role "nothing-like-it" allows'],
    ["role: hidden, on: acme", 'no document says what the role "hidden" allows'],
    [
      "role: owner, on: acme / paymens",
      'no group that is known here is "acme / paymens"; did you mean "acme / payments"?',
    ],
  ])("that no document describes is a finding, as a group is: %s", (text, message) => {
    const policy = parsePolicy(`forbid: [{ name: x, ${text} }]`);
    const details = [expect.anything(), "asserted in the policy:1"];
    const all = [...base, resource("Role", "hidden", { parentUid: acme, capabilities: UNKNOWN })];
    expect(found("P1", compareResources(all, all), policy)).toMatchObject([
      { severity: "high", message: `x: ${message}`, details, advice: "correct the name in the policy file" },
    ]);
    const offline = found("P1", compareResources(all, all, { withoutInventory: true }), policy);
    expect(offline[0]?.advice).toBe("give --inventory, or correct the name in the policy file");
  });

  test("that the change calls like it says nothing", () => {
    const copy = role("owner", ["REPO_LIST"]);
    expect(held(copy, binding(outsider, copy, payments))).toEqual([]);
  });
});

describe("a name that nothing has", () => {
  const unknown = (text: string, known: object = {}): readonly string[] => {
    const { worse, unknown } = judgeAssertions(
      { ...compareResources(base, base), ...known },
      parsePolicy(text.replace("[{", "[{ name: x,")).assertions,
    );
    expect(Object.values(worse).flat()).toEqual([]);
    return unknown;
  };
  const called = "the policy:1: x: nobody who is known here is called";
  const nobody = `${called} "outsidr", so who means nobody by it; did you mean "outsider"?`;

  test.each([
    ["forbid: [{ role: owner, on: acme, who: { name: outsidr } }]", [nobody]],
    [
      "forbid: [{ role: owner, on: acme, who: { not: [{ name: [ci, outsidr] }] } }]",
      [nobody.replace("who means nobody", "not leaves out nobody")],
    ],
    [
      "forbid: [{ role: owner, on: acme, who: { name: contractors } }]",
      [
        expect.stringMatching(
          / "contractors", so who means nobody by it; the nearest names are "outsider", "ci"$/,
        ),
      ],
    ],
    ["require: [{ role: owner, on: acme, atMost: 9, who: { name: outsidr } }]", [nobody]],
    ["separate: [{ duties: [CAP_REPO_LIST, CAP_TAG_LIST], on: acme, who: { name: outsidr } }]", [nobody]],
    [
      "forbid: [{ role: owner, on: acme, who: { uid: x } }]",
      ["the policy:1: x: nobody who is known here has the uid x, so who means nobody by it"],
    ],
    [
      "forbid: [{ role: owner, on: [acme / paymens, acme] }]",
      ['the policy:1: x: no group that is known here is "acme / paymens"; did you mean "acme / payments"?'],
    ],
    [`forbid: [{ role: owner, on: [acme, "*/ later"], who: { name: [ci, later-*], uid: ${ci.uid} } }]`, []],
  ])("is said, and breaks nothing: %s", (text, lines) => {
    expect(unknown(text)).toEqual(lines);
  });

  test("is not known where nobody has looked at the organisation", () => {
    expect(
      unknown("forbid: [{ role: owner, on: acme, who: { name: outsidr } }]", { inventories: [] }),
    ).toEqual([]);
  });
});

describe("a group that an assertion means by the change alone", () => {
  const place = (name: string): Resource => group(name, `${acme}/${"8".repeat(16)}`);
  const [bound, on] = [binding(ci, pusher, place("").uid), "on: [acme / team*]"];

  test.each([
    ["at least", `require: [{ name: x, can: CAP_TAG_DELETE, atLeast: 1, ${on} }]`, "0 holders, fewer than 1"],
    ["at most", `require: [{ name: x, can: CAP_REPO_LIST, atMost: 0, ${on} }]`, "1 holder, more than 0"],
    ["forbidden", `forbid: [{ name: x, can: CAP_REPO_LIST, ${on} }]`, "ci has registry.push on acme / team2"],
    ["apart", `separate: [{ name: x, duties: [CAP_REPO_LIST, CAP_MANIFEST_CREATE], ${on} }]`, "one of each"],
  ])("%s: breaks it, and did not before", (_, policy, message) => {
    const judged = (before: Resource[], after: Resource[]): string[] =>
      messagesOf(policy, [...base, ...before], [...base, ...after]);
    const [team, other] = [place("team2"), place("other")];
    expect(judged([], [team, bound])).toEqual([expect.stringContaining(message)]);
    expect(judged([other, bound], [team, bound])).toEqual([expect.stringContaining(message)]);
    expect(judged([team, bound], [team, bound])).toEqual([]);
  });
});

describe("required access", () => {
  it("counts nobody as a holder of before who was one only as far as anybody could say", () => {
    const most = `require: [{ name: few, can: [CAP_MANIFEST_CREATE], on: [acme / payments], atMost: 1, who: { type: [identity] } }]`;
    const access = (roleUid: string): Resource =>
      resource(
        "GroupAccess",
        "a",
        { parentUid: payments, bindings: { x: { identityUid: outsider.uid, roleUid } } },
        { uid: payments },
      );
    const own = [...base, binding(ci, pusher, acme)];
    const before = [...own, access("[secret]")];
    expect(messagesOf(most, before, [...own, access(pusher.uid)])).toEqual([
      "few: acme / payments has 2 holders, more than 1",
    ]);
    expect(messagesOf(most, before, [...own, access(viewer.uid)])).toEqual([]);
  });

  const twoToThree = `require: [{ name: owners, role: owner, on: [acme], atLeast: 2, atMost: 3, who: { type: [identity], matchesMany: false } }]`;
  const owners = (names: readonly string[]): Resource[] =>
    names.flatMap((name) => [by(name), binding(by(name), owner, acme)]);

  test("an identity of a group below holds it there, and not at the organisation", () => {
    const below = inPayments("below", by("below").inputs);
    const place = (parentUid: string): Resource => edit(below, { parentUid });
    const required = (on: string): string =>
      `require: [{ name: read, can: CAP_REPO_LIST, on: ["${on}"], atLeast: 1 }]`;
    const [held, instead] = [binding(by("a"), viewer, acme), binding(below, viewer, acme)];
    const judged = (on: string): string[] => {
      const all = [...base, by("a"), place(payments)];
      return messagesOf(required(on), [...all, held], [...all, instead]);
    };
    expect(judged("acme")).toEqual(["read: acme has 0 holders, fewer than 1"]);
    expect(judged("acme / payments")).toEqual([]);
  });

  test.each([
    ["ab", "a", ["owners: acme has 1 holder, fewer than 2"]],
    ["ab", "", ["owners: acme has 0 holders, fewer than 2"]],
    ["a", "", ["owners: acme has 0 holders, fewer than 2"]],
    ["ab", "ad", ["owners: acme has 1 holder who surely can sign in, fewer than 2"]],
    ["abc", "abcd", ["owners: acme has 4 holders, more than 3"]],
    ["abcd", "abcde", ["owners: acme has 5 holders, more than 3"]],
    ["abcd", "abce", ["owners: acme has 4 holders, more than 3"]],
    ["ab", "ab", []],
    ["a", "a", []],
    ["", "a", []],
    ["abcde", "abcd", []],
  ])("the owners %j become %j", (before, after, messages) => {
    const [old, now] = [before, after].map((names) => [...base, ...owners(Array.from(names))]);
    expect(messagesOf(twoToThree, old!, now!)).toEqual(messages);
  });

  /** How severe it is that a change takes it from others, where so many must hold it. */
  const atLeast = (count: number): string =>
    `require: [{ name: owners, role: owner, on: [acme], atLeast: ${count} }]`;

  test.each([
    ["of whom one has not signed in since it was written", ["a", "b"], "2026-05-01T00:00:00Z", ["medium"]],
    ["which both have signed in since they were written", ["a", "b"], "2026-05-03T00:00:00Z", []],
    ["where nobody goes", ["a", "b", "c"], "2026-05-01T00:00:00Z", []],
  ])("two holders are left, %s", (_, left, lastSeenTime, expected) => {
    const comparison = compareResources([...base, ...owners(["a", "b", "c"])], [...base, ...owners(left)]);
    const inventory = comparison.inventories[0]!;
    const objects = inventory.objects.map((object) => ({
      ...object,
      updateTime: "2026-05-02T00:00:00Z",
      lastSeenTime: object.uid === by("b").uid ? lastSeenTime : "2026-05-04T00:00:00Z",
    }));
    const changed = { ...comparison, inventories: [{ ...inventory, objects }] };
    expect(found("P2", changed, parsePolicy(atLeast(2))).map(({ severity }) => severity)).toEqual(expected);
  });

  const withTrust = (name: string, more: Props) =>
    edit(by(name), claims({ ...(by(name).inputs["claimMatch"] as Props), ...more }));

  const NARROW = { claims: { repository: "acme/none" } };

  test.each<[string, Props, Props]>([
    ["a further claim", {}, NARROW],
    ["fewer subjects", { subject: undefined, subjectPattern: "^repo:acme/b:.*$" }, {}],
    ["another subject", { subject: "repo:other/b:ref:refs/heads/main" }, {}],
  ])("a holder whose trust asks for %s may be unable to sign in", (_, old, now) => {
    const [asks, asked] = [withTrust("b", old), withTrust("b", now)];
    const both = (one: Resource) => exchanged([...base, ...owners(["a", "b"])], [one]);
    expect(severitiesOf(atLeast(2), both(asks), both(asked))).toEqual(["medium"]);
    expect(severitiesOf(atLeast(2), both(asked), both(asked))).toEqual([]);
  });
});

describe("who may hold it, as far as anybody can say", () => {
  const count = (after: readonly Resource[], limits: string): string[] =>
    messagesOf(`require: [{ name: n, role: owner, on: [acme], ${limits} }]`, base, [...base, ...after]);
  const secretRole = resource("Role", "hidden", { parentUid: acme, capabilities: UNKNOWN });
  const owning = binding(ci, owner, acme);
  const atMostOne = "require: [{ name: n, role: owner, on: [acme], atMost: 1 }]";
  const doubtful: readonly [what: string, grant: readonly Resource[]][] = [
    ["a role that nobody can read", [secretRole, binding(outsider, secretRole, acme)]],
    ["an unknown role", [edit(binding(outsider, owner, acme), { roleUid: UNKNOWN })]],
    ["an unknown group", [edit(binding(outsider, owner, acme), { parentUid: UNKNOWN })]],
    ["an unknown holder", [edit(binding(outsider, owner, acme), { identityUid: UNKNOWN })]],
  ];

  test.each(doubtful)("%s counts for the most, and not for the least", (_, grant) => {
    expect(count([owning, ...grant], "atMost: 1")).toEqual(["n: acme has 2 holders, more than 1"]);
    expect(count(grant, "atLeast: 1, atMost: 9")).toEqual([]);
    const counted = found("P2", compareResources(base, [...base, owning, ...grant]), parsePolicy(atMostOne));
    expect(counted.flatMap(({ details }) => details.slice(0, -1))).toEqual([
      "holder: ci",
      expect.stringMatching(/^holder: .*, who may not count$/),
    ]);
    const { worse, standing } = judgeAssertions(
      compareResources(base, [...base, ...grant]),
      parsePolicy("require: [{ name: n, role: owner, on: [acme], atLeast: 1 }]").assertions,
    );
    expect([worse.require, standing.map(({ message }) => message)]).toEqual([
      [],
      ["acme has 0 holders, fewer than 1"],
    ]);
  });
});

describe("whom an assertion names by a name or uid", () => {
  const twin = by("twin", "repo:acme/ci:environment:production");
  const pushTo = (...who: Resource[]): Resource[] => who.map((each) => binding(each, pusher, payments));
  const serving = { chainguard: { serviceBindings: { INGESTER: ci.uid } } };
  const named = resource("AccountAssociation", "assoc", { parentUid: payments, ...serving });
  const renamed = edit(named, { name: "other" });
  const other = resource("AccountAssociation", "zz", { parentUid: cards, ...serving });
  const asOutsider = edit(named, { chainguard: { serviceBindings: { INGESTER: outsider.uid } } });
  const shared = [...pushTo(ci), binding(outsider, viewer, acme), asOutsider];
  const [old, anew] = ["old", "new"].map((name) => by(name, "repo:acme/old:ref:refs/heads/main")) as [
    Resource,
    Resource,
  ];
  const lists = role("groups", ["IAM_GROUPS_LIST"]);
  const given = { parentUid: payments, roleUid: pusher.uid };
  const eve = resource("GroupInvite", "i", { ...given, email: "Eve@acme.example" });
  const beside = (who: string): string =>
    `require: [{ name: x, role: registry.push, on: acme / payments, atLeast: 1, who: { not: [{ name: ${who} }] } }]`;
  const apart = `separate: [{ name: x, duties: [[CAP_MANIFEST_CREATE], [CAP_IAM_ROLES_*]], on: acme, who: { name: ci } }]`;
  const never = `require: [{ name: x, can: [CAP_MANIFEST_CREATE, CAP_IAM_GROUPS_LIST], on: acme / payments, atMost: 0 }]`;
  const provider = resource("IdentityProvider", "okta", {
    parentUid: acme,
    oidc: { issuer: "https://acme.okta.com", clientId: "c" },
    defaultRole: viewer.uid,
  });
  const idle = edit(provider, { defaultRole: undefined });
  const sso = edit(idle, { name: "sso" });
  const toJoe = (name: string): Resource =>
    resource("GroupInvite", name, { ...given, email: "joe@acme.example" });
  const ofAssociation = noPush("type: service, name: assoc");
  const pushes = (who: string): string => `x: ${who} has registry.push on acme / payments`;
  const decidesCi = `x: ${decides("ci")}`;
  const NOBODY = "x: acme / payments has 0 holders, fewer than 1";
  const ONE = "x: acme / payments has 1 holder, more than 0";

  test.each<[string, string, Resource[], Resource[], string[], Resource[]?]>([
    ["is replaced", noPush(`uid: ["${ci.uid}"]`), [], pushTo(ci), [decidesCi, pushes("ci")], [ci]],
    ["is an association with another name", ofAssociation, [named], [renamed], [`x: ${decides("other")}`]],
    ["is an association, and no identity", noPush("type: identity, name: assoc"), [named], [renamed], []],
    [
      "is of a directory with another name",
      noPush("type: externalGroup, name: okta"),
      [idle],
      [sso],
      [`x: ${decides("sso")}`],
    ],
    [
      "is an invite of one address with another",
      noPush(`type: invite, uid: ["${toJoe("a").uid}"]`),
      [toJoe("a")],
      [toJoe("b")],
      [`x: ${decides("b")}`, pushes("b")],
    ],
    [
      "has separated duties by another identity",
      apart,
      [],
      [twin, binding(twin, owner, acme), ...pushTo(twin)],
      ["x: twin holds one of each duty"],
    ],
    ["is excluded, and counts by another", beside("ci"), pushTo(outsider), [twin, ...pushTo(twin)], [NOBODY]],
    ["goes, and counts anew", beside("old"), [old, ...pushTo(outsider)], [anew, ...pushTo(anew)], [NOBODY]],
    ["is an association, of one service", ofAssociation, shared, [...shared, other], [pushes("INGESTER")]],
    [
      "may not hold it, and does by two",
      never,
      pushTo(ci),
      [...pushTo(ci), twin, binding(twin, lists, payments), lists],
      [ONE],
    ],
    ["is invited by a mail address", noPush("subject: eve@acme.example"), [], [eve], [pushes("i")]],
  ])("%s", (_, policy, before, after, messages, replaced = []) => {
    expect(messagesOf(policy, [...base, ...before], [...base, ...after], replaced)).toEqual(messages);
  });

  test.each([
    ["joe@acme.example", []],
    [
      "eve@acme.example",
      [
        `x: ${decides("eve@acme.example, by invite")}`,
        "x: eve@acme.example, by invite has registry.push on acme / payments",
      ],
    ],
  ])("of a replaced invite to %s nobody can say whether its uid excludes it", (email, messages) => {
    const invite = (to: string, ttl: string): Resource =>
      resource("GroupInvite", "joe", {
        ...{ name: undefined, parentUid: payments, roleUid: pusher.uid, singleUse: true },
        ...{ email: to, ttl },
      });
    const [old, now] = [invite("joe@acme.example", "24h"), invite(email, "48h")];
    const policy = noPush(`type: invite, not: [{ uid: ["${old.uid}"] }]`);
    const said = messagesOf(policy, [...base, old], [...base, now], [old]);
    // Of the old one nobody can say until when it is there.
    expect(said.filter((message) => !message.includes("joe@"))).toEqual(messages);
  });

  test.each([
    ["ends later", "2099-01-01T00:00:00Z", []],
    ["had ended", "2001-01-01T00:00:00Z", ["x: ci has registry.push on acme / payments"]],
  ])("holds it already, by a key that %s", (_, end, messages) => {
    const withEnd = (expirationTime: string): Resource =>
      identity("ci", {
        staticKeys: { ...(withKeys("ci", "k").inputs["staticKeys"] as Props), expirationTime },
      });
    const [then, now] = [end, "2099-02-01T00:00:00Z"].map((each) => [
      ...base.filter((one) => one !== ci),
      withEnd(each),
      ...pushTo(ci),
    ]);
    expect(messagesOf(noPush("name: ci"), then ?? [], now ?? [])).toEqual(messages);
  });

  test.each([
    ["2099-01-01T00:00:00Z", []],
    ["2001-01-01T00:00:00Z", ["owners: acme has 1 holder, fewer than 2"]],
  ])("an owner whose keys end at %s is left with another one", (expirationTime, messages) => {
    const keys = { ...(withKeys("k", "k").inputs["staticKeys"] as Props), expirationTime };
    const signer = identity("k", { staticKeys: keys });
    const [a, b] = [by("a"), by("b")];
    const left = [...base, a, b, signer, binding(signer, owner, acme), binding(a, owner, acme)];
    const two = "require: [{ name: owners, role: owner, on: [acme], atLeast: 2 }]";
    const before = [...left, binding(b, owner, acme)];
    expect(messagesOf(two, before, left)).toEqual(messages);
    const lockOut = found("D1", compareResources(before, left), { minOwners: 2 });
    expect(lockOut.map(({ message }) => message)).toEqual(
      messages.map(() => "acme has 1 owner left who surely can sign in, fewer than 2"),
    );
    // As it is, it is broken already.
    expect(messagesOf(two, left, left)).toEqual([]);
  });

  const mapping = (id: string): Resource =>
    resource("ExternalGroupRoleMapping", id, {
      ...{ name: undefined, parentUid: provider.uid, scope: acme },
      ...{ externalGroupId: id, roleUid: pusher.uid },
    });

  test("whoever signs in by the issuer of a directory is of its people, whatever the directory gives", () => {
    const person = identity("bob", claims({ issuer: "https://acme.okta.com", subject: "u-1" }));
    const reads = edit(mapping("devs"), { roleUid: viewer.uid });
    for (const [name, ...before] of [
      ["okta", provider],
      ["okta", idle],
      ["devs", idle, reads],
    ] as const) {
      const all = [...base, ...before];
      const after = [...all, person, binding(person, pusher, payments)];
      expect(messagesOf(noPush(`name: ${name}`), all, after)).toEqual([pushes("bob")]);
      expect(messagesOf(noPush(`name: ${name}`), all, [...all, outsider])).toEqual([]);
    }
  });

  test("whoever is required by a name had it before the change by which they go", () => {
    const others = [...base.filter((each) => each !== ci), provider];
    for (const [who, ...goes] of [
      ["name: ci", ci, binding(ci, pusher, acme)],
      ["type: externalGroup, name: devs", mapping("devs")],
    ] as const) {
      const required = `require: [{ name: x, role: registry.push, on: acme, atLeast: 1, who: { ${who} } }]`;
      expect(messagesOf(required, [...others, ...goes], others)).toEqual([
        "x: acme has 0 holders, fewer than 1",
      ]);
    }
  });

  test("a new group of a directory surely holds nothing, and another default role lets nobody else in", () => {
    const required = `require: [{ name: x, role: registry.push, on: acme, atLeast: 1, who: { type: externalGroup } }]`;
    const all = [...base, provider];
    expect(messagesOf(required, [...all, mapping("devs")], [...all, mapping("nobody")])).toEqual([
      "x: acme has 0 holders who surely can sign in, fewer than 1",
    ]);
    // It is called by its own name, and by that of its directory.
    const byName = (who: string, before: readonly Resource[] = all) =>
      messagesOf(
        `forbid: [{ name: x, role: registry.push, on: acme, who: { type: externalGroup, ${who} } }]`,
        before,
        [...before, mapping("devs")],
      );
    // Nobody could have meant a group by a name that has no access yet: anybody of the directory may take it.
    for (const meant of ["name: devs", "name: okta", "not: [{ name: ops }]", "not: [{ name: devs }]"])
      expect(byName(meant)).toContainEqual(expect.stringMatching(/has registry\.push on/));
    // It is a finding with whatever role it comes: the next change could give it more.
    const harmless = edit(mapping("devs"), { roleUid: viewer.uid });
    // Its directory, which stays meant, is the same people by another name.
    for (const type of ["", "type: externalGroup, "])
      expect(messagesOf(noPush(`${type}not: [{ name: devs }]`), all, [...all, harmless])).toEqual([
        `x: ${decides("devs")}`,
      ]);
    expect(byName("name: ops")).toEqual([]);
    const reads = (parentUid: string): Resource =>
      resource("ExternalGroupRoleMapping", "reads", { ...harmless.inputs, parentUid });
    expect(byName("not: [{ name: devs }]", [...all, reads(provider.uid)])).toEqual([]);
    const other = { ...provider, ...resource("IdentityProvider", "other", provider.inputs) };
    expect(byName("not: [{ name: devs }]", [...all, other, reads(other.uid)])).toContainEqual(
      "x: devs has registry.push on acme",
    );
    const less = edit(provider, { defaultRole: dev.uid });
    const forbidden = `forbid: [{ name: x, can: CAP_REPO_LIST, on: acme, who: { type: identityProvider } }]`;
    expect(messagesOf(forbidden, all, [...base, edit(provider, { description: "x" })])).toEqual([]);
    expect(messagesOf(forbidden, all, [...base, less])).toEqual(["x: okta has dev on acme"]);
  });
});

describe("separated duties", () => {
  const apart = `separate: [{ name: apart, duties: [[CAP_MANIFEST_CREATE], [CAP_IAM_ROLES_*]], on: [acme] }]`;
  const admin = role("admin", ["IAM_ROLES_UPDATE"]);
  const judged = (before: readonly Resource[], after: readonly Resource[]): string[] =>
    messagesOf(apart, [...base, admin, ...before], [...base, admin, ...after]);

  const [build, grant, more] = [
    binding(ci, pusher, cards),
    binding(ci, admin, acme),
    binding(ci, pusher, payments),
  ];
  const one = "apart: ci holds one of each duty";
  const trusting = (name: string, subjectPattern: string): Resource =>
    identity(name, claims({ issuer: GITHUB, subjectPattern }));
  const wide = trusting("wide", "^repo:acme/(ci|x):ref:.*$");
  const narrow = trusting("wide", "^repo:acme/x:ref:.*$");
  const ofWide = binding(wide, admin, acme);
  const twin = by("twin", "repo:acme/ci:ref:refs/heads/main");
  const other = by("twin");
  const both = (who: Resource) => [who, binding(who, pusher, cards), binding(who, admin, acme)];
  const together = (names: string) =>
    `apart: ${names} accept a common principal, which holds one of each duty`;

  test.each<[string, Resource[], Resource[], string[]]>([
    ["nobody holds one of each, in different groups neither", [build], [build, grant], [one]],
    ["who held both may stay", [build, grant], [build, grant], []],
    ["who held both may not get more of one", [build, grant], [build, grant, more], [one]],
    ["nor the same again by a new grant", [more, grant], [build, more, grant], [one]],
    ["nor another identity", both(ci), both(other), ["apart: twin holds one of each duty"]],
    [
      "nor does one principal by two identities of the same trust",
      [build],
      [build, twin, binding(twin, admin, acme)],
      [together("ci and twin")],
    ],
    [
      "nor does a principal of both by identities that accept others too",
      [build],
      [build, wide, ofWide],
      [together("ci and wide")],
    ],
    ["nor by one that now does", [build, narrow, ofWide], [build, wide, ofWide], [together("ci and wide")]],
    ["as it may by one that does not accept it", [build], [build, narrow, ofWide], []],
  ])("%s", (_, before, after, messages) => {
    expect(judged(before, after)).toEqual(messages);
  });

  test("of thousands of identities that accept one principal it names some", () => {
    const many = Array.from({ length: 60 }, (_, i) => trusting(`wide${i}`, `^repo:acme/(ci|x${i}):ref:.*$`));
    const grants = many.map((one) => binding(one, admin, acme));
    const [message = "", ...more] = judged([], [binding(ci, pusher, cards), ...many, ...grants]);
    expect({ more: more.length, length: message.length < 400 }).toEqual({ more: 60, length: true });
  });
});

describe("a role that several grants give together", () => {
  const auditor = role("auditor", ["REPO_LIST", "TAG_LIST"]);
  const [repos, tags] = [role("repos", ["REPO_LIST"]), role("tags", ["TAG_LIST"])];
  const all = [...base, auditor, repos, tags];
  const none = `forbid: [{ name: none, role: auditor, on: [acme / payments], who: {} }]`;
  const judged = (before: readonly Resource[], after: readonly Resource[]): string[] =>
    messagesOf(none, [...all, ...before], [...all, ...after]);
  const [first, second] = [binding(ci, repos, payments), binding(ci, tags, payments)];

  test("is held where one is made before the other is deleted", () => {
    expect(judged([first], [second])).toEqual([
      "none: ci has repos on acme / payments and tags on acme / payments",
    ]);
    expect(judged([first, second], [first])).toEqual([]);
  });

  test("is held by one principal of two identities", () => {
    const twin = identity("twin", claims({ issuer: GITHUB, subjectPattern: "^repo:acme/ci:.*$" }));
    expect(judged([first], [first, twin, binding(twin, tags, payments)])).toEqual([
      expect.stringMatching(/^none: (ci|twin) has .* as (ci|twin)/),
    ]);
    const other = identity("twin", claims({ issuer: GITHUB, subjectPattern: "^repo:acme/other:.*$" }));
    expect(judged([first], [first, other, binding(other, tags, payments)])).toEqual([]);
  });
});

test("a trust that is narrowed into an assertion accepts whom it did until the update ends", () => {
  const late = by("late", "repo:other/late:ref:refs/heads/main");
  const ours = edit(late, claims({ issuer: GITHUB, subject: "repo:acme/late:ref:refs/heads/main" }));
  expect(broken([late], [ours, binding(late, pusher, payments)])).toHaveLength(1);
  expect(broken([], [ours, binding(ours, pusher, payments)])).toEqual([]);
});

describe("of one graph", () => {
  test("all that is broken is described, worst first", () => {
    const { after } = compareResources(base, [...base, binding(outsider, pusher, payments)]);
    const low = "  - { name: push, can: [CAP_MANIFEST_CREATE], on: [acme / payments], severity: low }";
    const { assertions } = parsePolicy(OURS.replace("forbid:", `forbid:\n${low}`));
    expect(
      describeViolations({ before: after, after, changes: [], inventories: [] }, assertions),
    ).toMatchObject([
      {
        severity: "critical",
        message: "our own pipelines write payments: outsider has registry.push on acme / payments",
        place: "the policy:4",
        grant: { role: { name: "registry.push" } },
      },
      { severity: "low", place: "the policy:3" },
    ]);
  });
});

describe("the assertions of docs/assertions.md", () => {
  const page = readFileSync(join(__dirname, "../../../../docs/assertions.md"), "utf8");
  const policies = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = ""]) => parsePolicy(text));
  const production = group("production", `${acme}/${"8".repeat(16)}`);
  const glass = by("break-glass", "repo:acme/glass:ref:refs/heads/main");
  const second = by("second");
  const [reviewer, reads] = [by("reviewer"), role("reads", ["IAM_ROLE_BINDINGS_LIST"])];
  const before: readonly Resource[] = [
    ...[...base, production, glass, second, reviewer, reads, binding(reviewer, reads, acme)],
    ...[glass, second].map((one) => binding(one, owner, acme)),
  ];

  test("an organisation that keeps them breaks none by a harmless change", () => {
    const pulls = role("pulls", ["MANIFEST_LIST", "MANIFEST_METADATA_LIST", "REPO_LIST", "TAG_LIST"]);
    const reading = [viewer, pulls].map((each) => binding(outsider, each, acme));
    const after = [...before, binding(ci, viewer, acme), pulls, ...reading, by("another")];
    for (const { assertions } of policies) {
      const { worse } = judgeAssertions(compareResources(before, after), assertions);
      expect(worse).toEqual({ forbid: [], require: [], separate: [] });
    }
  });
});
