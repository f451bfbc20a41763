import type { Comparison } from "../../../../provider/access/review/compare";
import { UNKNOWN } from "../../../../provider/fields/values";
import type { Props } from "../../../../provider/fields/values";
import {
  acme,
  binding,
  cards,
  compareResources,
  group,
  groups,
  identity,
  payments,
  pinned,
  pusher,
  resource,
  role,
  viewer,
} from "../../../support/access";
import type { ComparisonOptions, Resource } from "../../../support/access";
import { preview, state, step } from "../../../support/documents";
import { compare } from "../../../../provider/access/review/compare";
import { defaultRuleOptions, findingsOf } from "../../../../provider/access/rules";
import { found, NOW, severitiesOf } from "./support";

const base = [...groups, viewer];
const digest = (char: string): string => `sha256:${char.repeat(64)}`;
const repo = (more: Props = {}): Resource => resource("Repo", "api", { parentUid: payments, ...more });
const tag = (to: string, more: Props = {}): Resource =>
  resource("Tag", "latest", { parentUid: repo().uid, digest: digest(to), ...more });
const change = (before: Resource[], after: Resource[], options: ComparisonOptions = {}) =>
  compareResources([...base, ...before], [...base, ...after], options);

describe("R1 registry-loss", () => {
  const synced = (source: string): Resource => repo({ syncConfig: { source } });
  it.each([
    ["a repository that is deleted", [repo()], [], "high"],
    ["a tag that is deleted", [repo(), tag("a")], [repo()], "high"],
    ["a tag that is moved", [repo(), tag("a")], [repo(), tag("b")], "medium"],
    ["another source", [synced("a")], [synced("b")], "high"],
    ["a source that is set", [repo()], [synced("b")], "high"],
  ])("finds %s", (_, before, after, severity) => {
    expect(severitiesOf("R1", change(before, after))).toEqual([severity]);
  });

  it("finds a repository that is replaced", () => {
    const replaced = [repo()];
    expect(severitiesOf("R1", change(replaced, replaced, { replaced }))).toEqual(["high"]);
  });

  it("ignores new resources and the other fields of a tag", () => {
    expect(found("R1", change([], [synced("a"), tag("a")]))).toEqual([]);
    expect(found("R1", change([tag("a")], [tag("a", { deprecated: true })]))).toEqual([]);
    expect(found("R1", change([repo()], [repo({ description: "new" })]))).toEqual([]);
  });

  it("finds no loss of a tag that another resource of the program has from then on, and its move", () => {
    const other = (to: string): Resource => ({
      ...tag(to),
      uid: `${repo().uid}/${"9".repeat(16)}`,
      urn: `${tag(to).urn}-tag`,
    });
    expect(found("R1", change([repo(), tag("a")], [repo(), other("a")]))).toEqual([]);
    expect(severitiesOf("R1", change([repo(), tag("a")], [repo(), other("b")]))).toEqual(["medium"]);
  });

  it("finds what moves a tag back that was moved by hand, and no update that leaves it", () => {
    const live = [...base, repo(), tag("b")];
    const after = (one: Resource) => found("R1", change([repo(), tag("a")], [repo(), one], { live }));
    const renamed = { ...tag("a"), uid: `${repo().uid}/${"9".repeat(16)}`, urn: `${tag("a").urn}-tag` };
    expect(after(renamed).map(({ severity, message }) => [severity, message])).toEqual([
      ["medium", "tag latest is moved from sha256:bbbbbbbbbbbb… to sha256:aaaaaaaaaaaa…"],
    ]);
    expect(after(tag("a", { deprecated: true }))).toEqual([]);
    expect(after(tag("b", { deprecated: true }))).toEqual([]);
  });
});

describe("R2 image-trust", () => {
  const overlay = (customOverlay: Props): Resource => repo({ customOverlay });
  const certificate = { name: "corp-ca", content: "PEM" };

  it.each([
    ["a certificate", { certificates: { additional: [certificate] } }, ["high"]],
    ["a key", { contents: { runtimeKeyring: [{ name: "k.pub", content: "PEM" }] } }, ["high"]],
    ["a provider of certificates", { certificates: { providers: ["corp"] } }, ["high"]],
    ["a package repository", { contents: { runtimeRepositories: ["https://apk.example"] } }, ["medium"]],
    ["root by name", { accounts: { runAs: "root" } }, ["medium"]],
    ["root by number", { accounts: { runAs: "0:0" } }, ["medium"]],
    ["root by a hexadecimal number", { accounts: { runAs: "0x0:0" } }, ["medium"]],
    ["a name that only begins as root does", { accounts: { runAs: "rootless:app" } }, []],
    ["another user", { accounts: { runAs: "nonroot" } }, []],
    ["a user whose number begins with 0", { accounts: { runAs: "0123" } }, []],
    ["a package", { contents: { packages: ["curl"] } }, []],
    ["a variable", { environment: { TZ: "UTC" } }, []],
    ["a library that each program loads", { environment: { LD_PRELOAD: "/usr/lib/x.so" } }, ["high"]],
    ["where programs are looked for", { environment: { PATH: "/tmp/bin:/usr/bin" } }, ["high"]],
    ["a server that gets secrets", { environment: { VAULT_ADDR: "https://vault.example" } }, ["high"]],
    ["a name that only contains that of a server", { environment: { HOSTED: "yes" } }, []],
    ["memory for a language", { environment: { NODE_OPTIONS: "--max-old-space-size=4096" } }, []],
    ["a proxy, in small letters", { environment: { https_proxy: "http://proxy.example" } }, ["high"]],
    ["another source of packages", { environment: { PIP_EXTRA_INDEX_URL: "https://x.example" } }, ["high"]],
    ["code that each program runs first", { environment: { NODE_OPTIONS: "--require /x.js" } }, ["high"]],
  ])("%s", (_, customOverlay, severities) => {
    expect(severitiesOf("R2", change([repo()], [overlay(customOverlay)]))).toEqual(severities);
  });

  it("names changed variables one by one, and leaves the others to S1", () => {
    const environment = { PATH: "/bin", SSL_CERT_FILE: "/a.pem", TZ: "UTC" };
    const to = { ...environment, SSL_CERT_FILE: "/b.pem", TZ: "CET" };
    const changed = change([overlay({ environment })], [overlay({ environment: to })]);
    expect(
      findingsOf(changed, defaultRuleOptions(NOW)).map(({ id, severity, field }) => [id, severity, field]),
    ).toEqual([
      ["R2", "high", "customOverlay.environment.SSL_CERT_FILE"],
      ["S1", "medium", "customOverlay.environment.TZ"],
    ]);
    expect(severitiesOf("R2", change([overlay({ environment: to })], [overlay({})]))).toEqual([]);
  });
});

describe("X1 exposure", () => {
  const to = (name: string, sink: string): Resource =>
    resource("Subscription", name, { parentUid: payments, sink });

  it("finds a new host, and neither one that is known nor one that is allowed", () => {
    const before = [to("a", "https://events.acme.example/a")];
    const of = (sink: string) => found("X1", change(before, [...before, to("b", sink)]));
    const message =
      "events of acme / payments and everything below it are sent to a new host: elsewhere.example";
    expect(of("https://elsewhere.example/x")).toMatchObject([{ severity: "medium", message }]);
    expect(of("https://events.acme.example/b")).toMatchObject([
      { message: expect.stringContaining("a new address at events.acme.example") as string },
    ]);
    const allowed = { sinkAllow: ["*.acme.example"] };
    expect(found("X1", change([], [to("b", "https://new.acme.example")]), allowed)).toEqual([]);
    expect(found("X1", change([], [to("b", "https://acme.example.evil")]), allowed)).toHaveLength(1);
    expect(found("X1", change(before, before))).toEqual([]);
  });

  it("knows an address on its group and below, not above and beside", () => {
    const at = (name: string, parentUid: string): Resource =>
      resource("Subscription", name, { parentUid, sink: "https://events.acme.example/a" });
    const known = [...groups, at("a", payments)];
    const messages = (where: string): string[] =>
      found("X1", change(known, [...known, at("b", where)])).map(({ message }) => message);
    expect(messages(payments)).toEqual([]);
    expect(messages(cards)).toEqual([]);
    expect(messages(acme)).toEqual([
      expect.stringContaining("events.acme.example, which received only those of other groups") as string,
    ]);
  });

  it.each([
    ["a host that is new there", "https://new.example/a", ["high"]],
    ["a host that received only those of other groups", "https://team.example/b", ["high"]],
    ["an address without a clear host", "https://ops@known.example/a", ["high"]],
    ["another address at a host that receives them", "https://known.example/b", ["high"]],
    ["an address that is allowed, at a host of many customers", "https://hooks.example/acme/1", []],
    ["the address of another customer there", "https://hooks.example/evil/1", ["high"]],
  ])("is as loud for the root group as what it learns: %s", (_what, sink, severities) => {
    const at = (name: string, parentUid: string, address: string): Resource =>
      resource("Subscription", name, { parentUid, sink: address });
    const before = [
      ...groups,
      at("known", acme, "https://known.example/a"),
      at("team", payments, "https://team.example/a"),
    ];
    const allowed = { sinkAllow: ["https://hooks.example/acme/*"] };
    expect(severitiesOf("X1", change(before, [...before, at("new", acme, sink)]), allowed)).toEqual(
      severities,
    );
  });
});

describe("D5 lost-events", () => {
  const to = (name: string, parentUid: string, sink: string): Resource =>
    resource("Subscription", name, { parentUid, sink });
  const siem = "https://siem.acme.example/in";
  const alerts = to("alerts", payments, siem);

  it.each<[string, Resource[], string[]]>([
    ["is deleted", [], ["high"]],
    ["moves to a group below", [to("moved", cards, siem)], ["high"]],
    ["gets an address at another host", [to("other", payments, "https://other.example/in")], ["high"]],
    ["gets another address at its host", [to("other", payments, "https://siem.acme.example/x")], ["high"]],
    ["moves to the group above", [to("moved", acme, siem)], []],
    ["has another one with its address beside it", [to("copy", payments, siem)], []],
    ["stays", [alerts], []],
  ])("judges a subscription that %s", (_, after, severities) => {
    expect(severitiesOf("D5", change([alerts], after))).toEqual(severities);
  });

  it("takes another address at a host for one of the same owner where --sink-allow names it", () => {
    const [old, now] = ["a", "b"].map((path) => to(path, payments, `https://hooks.example.com/${path}`));
    const replaced = { ...old!, inputs: now!.inputs };
    const changes = [change([old!], [now!]), change([old!], [replaced], { replaced: [old!] })];
    for (const each of changes) {
      expect(severitiesOf("D5", each)).toEqual(["high"]);
      expect(severitiesOf("D5", each, { sinkAllow: ["hooks.example.com"] })).toEqual(["medium"]);
      expect(severitiesOf("D5", each, { sinkAllow: ["example.com"] })).toEqual(["high"]);
      // An address says nothing of others at its host.
      expect(severitiesOf("D5", each, { sinkAllow: ["https://hooks.example.com/*"] })).toEqual(["high"]);
    }
  });

  it("does not count on what was made by hand", () => {
    const copy = to("copy", payments, siem);
    const live = [...groups, alerts, copy];
    expect(found("D5", compareResources([...groups, alerts], groups, { live }))).toMatchObject([
      {
        severity: "high",
        message: expect.stringContaining("only a subscription that was made by hand") as unknown,
      },
    ]);
    const kept = compareResources([...groups, alerts, copy], [...groups, copy], { live });
    expect(found("D5", kept)).toEqual([]);
  });

  it("names the group and the address, also of one that is replaced in place", () => {
    const elsewhere = { ...alerts, inputs: { ...alerts.inputs, sink: "https://other.example/in" } };
    const compared = compareResources([...groups, alerts], [...groups, elsewhere], { replaced: [alerts] });
    expect(found("D5", compared)).toMatchObject([
      {
        severity: "high",
        message: `events of acme / payments and everything below it are no longer sent to ${siem}`,
        field: "sink",
      },
    ]);
  });

  it("reports one that is replaced while another one is made for its address", () => {
    const elsewhere = { ...alerts, inputs: { ...alerts.inputs, sink: "https://other.example/in" } };
    const after = [...groups, elsewhere, to("copy", payments, siem)];
    const compared = compareResources([...groups, alerts], after, { replaced: [alerts] });
    expect(found("D5", compared)).toMatchObject([
      { severity: "medium", message: expect.stringContaining("may not be sent to") as unknown },
    ]);
    const kept = to("copy", payments, siem);
    const unwritten = compareResources([...groups, alerts, kept], after, { replaced: [alerts] });
    expect(found("D5", unwritten)).toEqual([]);
  });

  it("leaves the subscription of a group that is deleted too alone", () => {
    const old = [...groups.slice(0, 2), alerts];
    expect(found("D5", compareResources(old, groups.slice(0, 1)))).toEqual([]);
  });

  it("reports it where another resource makes a group in the place of that one, and does not send its events", () => {
    const anew: Resource = { ...resource("Group", "again", { parentUid: acme, name: "payments" }) };
    const after = [...groups.slice(0, 1), anew];
    const before = [...groups.slice(0, 2), alerts];
    expect(found("D5", compareResources(before, after))).toMatchObject([{ severity: "high" }]);
    const sent = [...after, to("anew", anew.uid, siem)];
    expect(found("D5", compareResources(before, sent))).toEqual([]);
    const inCapitals = { ...anew, inputs: { ...anew.inputs, name: "Payments" } };
    const other = resource("Group", "other", { parentUid: acme, name: "billing" });
    const severitiesWith = (made: Resource) =>
      severitiesOf("D5", compareResources(before, [...groups.slice(0, 1), made]));
    expect(severitiesWith(inCapitals)).toEqual(["high"]);
    expect(severitiesWith(other)).toEqual(["medium"]);
  });
});

describe("X2 unresolved", () => {
  const who = identity("ci", pinned);
  const own = role("dev", ["REPO_LIST"]);
  const oidc = { issuer: "https://login.acme.example", clientId: "a", clientSecret: "[secret]" };
  const hidden = { parentUid: payments, oidc };

  it("reports assumed references and unknown values that do not decide access: low, and high with --strict", () => {
    const given = change([who], [who, own, binding(who, own, payments)]);
    expect(found("X2", given)).toMatchObject([
      {
        severity: "low",
        message: expect.stringMatching(/^1 reference of role binding .* is assumed: roleUid$/),
        details: ["roleUid is assumed to be the id of role dev"],
      },
    ]);
    expect(severitiesOf("X2", given, { strict: true })).toEqual(["high"]);
    const described = identity("ci", { ...pinned, description: UNKNOWN });
    expect(found("X2", change([], [described]))[0]?.message).toBe(
      "description of identity ci is not known yet",
    );
  });

  it("finds a secret that may have changed", () => {
    const idp = (description: string) =>
      resource("IdentityProvider", "sso", { ...hidden, defaultRole: viewer.uid, description });
    const given = change([idp("old")], [idp("new")]);
    expect(found("X2", given)[0]?.message).toContain("so a change of it cannot be seen");
  });

  it.each<[string, unknown, number]>([
    ["another property of the same object", { "oidc.issuer": { kind: "update" } }, 0],
    ["the secret", { description: { kind: "update" }, "oidc.clientSecret": { kind: "update" } }, 1],
    ["what the secret is in", { oidc: { kind: "update" } }, 1],
    ["nothing", {}, 1],
    ["nothing that can be read", null, 1],
  ])("finds such a secret where the engine's comparison names %s: %j", (_what, detailedDiff, count) => {
    const id = `${payments}/${"a".repeat(16)}`;
    const login = (description: string) =>
      state("IdentityProvider", "sso", { ...hidden, name: "sso", description }, { id });
    const update = { ...step("update", login("old"), login("new")), detailedDiff };
    expect(found("X2", compare({ preview: preview(update) }))).toHaveLength(count);
  });

  it("reports lines that belong to no resource in one finding", () => {
    const given = { ...change([], []), unresolved: ["a", "b"] };
    expect(found("X2", given)).toMatchObject([
      { message: "2 inputs could not be resolved", details: ["a", "b"] },
    ]);
  });

  it("reports nothing where every value is known", () => {
    expect(found("X2", change([who], [who, binding(who, viewer, payments)]))).toEqual([]);
  });
});

describe("X3 cannot-be-judged", () => {
  const who = identity("ci", pinned);
  const lookup = resource("Role", "lookup", {}, { external: true });

  it("reports a role and an identity that no input describes, also without --strict", () => {
    const given = change([who, lookup], [who, lookup, binding(who, lookup, payments)]);
    expect(found("X3", given)).toMatchObject([
      {
        severity: "high",
        message:
          "GitHub Actions of acme/pay, branch main gains lookup on acme / payments: the capabilities of the role are unknown",
      },
    ]);
    const stranger = identity("stranger", pinned);
    const toStranger = binding(stranger, viewer, payments);
    const none = change([], [toStranger]);
    expect(found("X3", none)).toMatchObject([
      {
        message: expect.stringMatching(/: the inventory has no identity with this uid$/) as unknown,
        advice: expect.stringMatching(/^correct the uid: the update fails/) as unknown,
      },
    ]);
    const below = { ...none, inventory: { ...none.inventory, root: `${acme}/other` } } as Comparison;
    expect(found("X3", below)).toMatchObject([
      {
        message: expect.stringMatching(/: the group of this identity is not in the inventory$/) as unknown,
        advice: expect.stringMatching(/^take an inventory of the group above/) as unknown,
      },
    ]);
    const blind = Object.fromEntries(Object.entries(none).filter(([name]) => name !== "inventory"));
    expect(found("X3", blind as unknown as Comparison)).toMatchObject([
      {
        message: expect.stringMatching(/: who may assume the identity is unknown$/) as unknown,
        advice: expect.stringMatching(/^give --inventory/) as unknown,
      },
    ]);
  });

  it("reports a group that the inventory does not contain, unless the program makes it", () => {
    const foreign = "f".repeat(40);
    const elsewhere = binding(who, viewer, foreign);
    expect(found("X3", change([who], [who, elsewhere]))).toMatchObject([
      {
        severity: "high",
        field: "group",
        message: expect.stringMatching(/ gains viewer on f+: the inventory does not contain this group$/),
      },
    ]);
    const read = { ...group("foreign", foreign), isRead: true } as const;
    expect(severitiesOf("X3", change([who, read], [who, read, elsewhere]))).toEqual(["high"]);
    const made = group("new", `${acme}/${"9".repeat(16)}`);
    expect(found("X3", change([who], [who, made, binding(who, viewer, made.uid)]))).toEqual([]);
    const offline = compareResources([who, viewer], [who, viewer, elsewhere], { withoutInventory: true });
    expect(found("X3", offline).filter(({ field }) => field === "group")).toEqual([]);
  });

  it("reports a role and an identity that only the program describes, and believes none where there is an inventory", () => {
    const [role, told] = [pusher, who].map((one) => ({ ...one, isRead: true }) as const);
    const messagesOf = (before: Resource[], granted: Resource, options: ComparisonOptions = {}) =>
      found("X3", change(before, [...before, granted], options)).map(({ message }) => message);
    const offline = { withoutInventory: true };
    const ofRole = binding(who, role!, payments);
    expect(messagesOf([who, role!], ofRole, offline)).toContain(
      "GitHub Actions of acme/pay, branch main gains registry.push on acme / payments: only the program states the capabilities of the role",
    );
    const lacks = (kind: string): unknown[] => [
      expect.stringContaining(`: the inventory has no ${kind} with this uid`),
    ];
    expect(messagesOf([who, role!], ofRole)).toEqual(lacks("role"));
    const ofIdentity = binding(told!, viewer, payments);
    expect(messagesOf([told!], ofIdentity, offline)).toContainEqual(
      expect.stringMatching(/^ci gains .*: only the program states who may assume the identity$/),
    );
    expect(messagesOf([told!], ofIdentity)).toEqual(lacks("identity"));
  });

  it.each([
    ["secret", "[secret]"],
    ["unknown", UNKNOWN],
    ["unreadable", 5],
  ])("finds a value that is %s and decides access", (reason, sink) => {
    const given = resource("Subscription", "events", { parentUid: payments, sink });
    expect(severitiesOf("X3", change([], [given]))).toEqual(["high"]);
    // What the engine calls the same has the secret that it had.
    expect(severitiesOf("X3", change([given], [given]))).toEqual(reason === "secret" ? [] : ["high"]);
  });
});

describe("X4 not-reviewed", () => {
  const type = "command:local:Command";
  const own = { urn: `urn:pulumi:production::acme::${type}::migrate`, type, inputs: {} };
  const command = state("Command", "migrate", {}, own);
  const of = (op: "create" | "same" | "delete") => {
    const shown = step(op, op === "create" ? undefined : command, op === "delete" ? undefined : command);
    return change([], [], { steps: [shown] });
  };

  it("finds changes that cannot be reviewed, and ignores unchanged resources", () => {
    expect(found("X4", of("create"))).toMatchObject([
      {
        severity: "high",
        name: "migrate",
        message: "Command migrate is not reviewed (create): it runs commands",
        details: ["type command:local:Command"],
      },
    ]);
    expect(severitiesOf("X4", of("delete"))).toEqual(["high"]);
    expect(found("X4", of("same"))).toEqual([]);
  });
});

describe("X5 recorded-state", () => {
  const who = identity("ci", pinned);
  const grant = binding(who, viewer, payments);
  const described = { ...who, inputs: { ...who.inputs, description: "pipelines" } };
  const changed = { ...who, inputs: { ...who.inputs, parentUid: acme } };
  const tag = resource("Tag", "stable", { parentUid: payments, digest: `sha256:${"a".repeat(64)}` });
  const deprecated = { ...tag, inputs: { ...tag.inputs, deprecated: true } };
  const moved = { ...tag, inputs: { ...tag.inputs, digest: `sha256:${"b".repeat(64)}` } };
  const offline = { withoutInventory: true };
  const managed = role("reader", ["REPO_LIST"]);

  it.each([
    ["an update of an identity", [who], [changed], ["medium"]],
    ["a text for people, which is all that the update writes", [who], [described], []],
    ["a flag of a tag, whose image the update leaves as the server has it", [tag], [deprecated], []],
    ["a tag that is moved", [tag], [moved], ["medium"]],
    [
      "a role that a new grant names",
      [who, managed],
      [who, managed, binding(who, managed, payments)],
      ["medium"],
    ],
    ["a new identity", [], [who], []],
    ["a deleted binding", [who, grant], [who], []],
    ["an unchanged identity without a new grant", [who], [who], []],
  ])("reports what is compared with the record only: %s", (_what, before, after, expected) => {
    const given = compareResources([viewer, ...before], [viewer, ...after], offline);
    expect(severitiesOf("X5", given)).toEqual(expected);
    expect(severitiesOf("X5", given, { strict: true })).toEqual(expected.map(() => "high"));
    expect(found("X5", change(before, after))).toEqual([]);
  });

  it.each([
    ["an unchanged resource", grant, ["low"]],
    ["an update", { ...grant, inputs: { ...grant.inputs, roleUid: pusher.uid } }, ["medium"]],
    ["a deletion", undefined, ["low"]],
  ])("reports what the server does not have: %s", (_what, after, expected) => {
    const basis = [...groups, viewer, pusher, who];
    const given = compareResources([...basis, grant], after ? [...basis, after] : basis, { live: basis });
    expect(severitiesOf("X5", given)).toEqual(expected);
  });
});

describe("X6 look-alike", () => {
  const inviting = (email: string): Resource =>
    resource("GroupInvite", "ada", { parentUid: payments, roleUid: viewer.uid, email });
  const reported = (before: Resource[], after: Resource[]): (string | undefined)[] =>
    found("X6", change(before, after)).map(({ severity, details }) => `${severity} ${details[0] ?? ""}`);

  test.each([
    ["ada@\u0430cme.example", "ada@\\u{430}cme.example", "\u0430cme.example"],
    ["ada@xn--cme-5cd.example", "", "\u0430cme.example"],
    ["ada@\u0430\u0441\u0441.com", "", "\u0430\u0441\u0441.com"],
    ["\u0430da@acme.example", "", "\u0430da"],
  ])("reports the address %s", (email, whole, word) => {
    const [finding, ...others] = found("X6", change(groups, [...groups, inviting(email)]));
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ severity: "high", field: "email", kind: "GroupInvite" });
    expect(finding?.message).toContain(`look alike: ${JSON.stringify(word)}`);
    expect(finding?.details[0]).toMatch(/^written out: .*\\u\{4(30|41)\}/);
    expect(finding?.details[1]).toContain(whole);
  });

  test.each([
    "ada@acme.example",
    "ada@münchen.example",
    "ада@acme.example",
    "ada@例え.example",
    "ada@xn--r8jz45g.example",
  ])("leaves %s alone", (email) => {
    expect(found("X6", change(groups, [...groups, inviting(email)]))).toEqual([]);
  });

  test.each(["ma\u2170n", "m\u0251in", "\uff4dain", "\u{1d5c6}ain", "m\u1d00in", "\u212aernel"])(
    "reports %s, which is written with other forms of letters",
    (branch) => {
      const subject = `repo:acme/pay:ref:refs/heads/${branch}`;
      const one = identity("ci", { claimMatch: { issuer: "https://a.example", subject } });
      expect(reported(groups, [...groups, one])).toEqual([
        expect.stringMatching(/^high written out: .*\\u\{/),
      ]);
    },
  );

  test("judges names, patterns and addresses, and only what is new", () => {
    const mixed = identity("d\u0435ployer", { claimMatch: { issuer: "https://a.example", subject: "x" } });
    const pattern = identity("deployer", {
      claimMatch: { issuer: "https://a.example", claimPatterns: { email: "^ada@acm\u0435\\.example$" } },
    });
    expect(reported(groups, [...groups, mixed])).toEqual(["medium written out: d\\u{435}ployer"]);
    expect(reported(groups, [...groups, pattern])).toEqual(["high written out: acm\\u{435}.example"]);
    expect(reported([...groups, mixed], [...groups, mixed])).toEqual([]);
    const later = { ...mixed, inputs: { ...mixed.inputs, description: "d\u0435ployer, \u0430nother" } };
    expect(reported([...groups, mixed], [...groups, later])).toEqual([]);
  });
});
