import type { Inventory } from "../../../../provider/access/documents/inventory";
import { defaultRuleOptions, findingsOf } from "../../../../provider/access/rules";
import type { Comparison } from "../../../../provider/access/review/compare";
import type { Finding } from "../../../../provider/access/review/finding";
import { mayWiden } from "../../../../provider/access/effects";
import { UNKNOWN } from "../../../../provider/fields/values";
import type { Json, Props } from "../../../../provider/fields/values";
import { specs } from "../../../../provider/access/documents/specs";
import { fieldsWhere } from "../../../../provider/access/graph/describedFields";
import {
  acme,
  binding,
  cards,
  compareResources,
  groups,
  identity,
  owner,
  payments,
  pinned,
  pusher,
  resource,
  viewer,
  edit,
  byHand,
} from "../../../support/access";
import type { Resource } from "../../../support/access";
import { changeField, propertyPathOf, samples, withMember } from "../../../support/samples";
import { withUids } from "../../../support/byHand";
import { found, inDays, NOW, severitiesOf } from "./support";

const robot = identity("robot", pinned);
const other = identity("other", pinned);
const base = [...groups, viewer, owner, pusher, robot, other];
const uids = { org: acme, someone: robot.uid, other: other.uid, reader: viewer.uid, writer: pusher.uid };

/** What all rules find. */
const findAll = (comparison: Comparison): Finding[] => findingsOf(comparison, defaultRuleOptions(NOW));

const change = (before: Resource[], after: Resource[], replaced: Resource[] = []): Comparison =>
  compareResources([...base, ...before], [...base, ...after], { replaced });

describe("a change of what its description does not call harmless", () => {
  const cases = samples.flatMap((sample) => {
    const own = resource(sample.own?.kind ?? "Repo", "own", { parentUid: payments });
    const inputs = withUids(sample.args, { ...uids, own: own.uid }) as Props;
    const given = resource(sample.kind, sample.label, inputs);
    const changed = (to: Record<string, unknown>): Resource =>
      edit(given, withUids(to, { ...uids, own: own.uid }) as Props);
    const updates = sample.fields.map((field) => ({
      title: `${sample.kind} ${propertyPathOf(field)} (${sample.label})`,
      after: changed(changeField(sample.args, field)),
      isReplaced: false,
    }));
    const replacements = (sample.replacements ?? []).map(({ property, to }) => ({
      title: `${sample.kind} ${property} (${sample.label}, replaced)`,
      after: changed(withMember(sample.args, property.split("."), to)),
      isReplaced: true,
    }));
    return [...updates, ...replacements].map((each) => ({ ...each, own, given }));
  });

  test.each(cases)("is a grant or a finding: $title", ({ own, given, after, isReplaced }) => {
    const comparison = change([own, given], [own, after], isReplaced ? [given] : []);
    const changed = comparison.changes.find(({ urn }) => urn === given.urn);
    const open = changed?.fields.filter(({ direction }) => mayWiden(direction)) ?? [];
    const isGranted = comparison.grants.some(
      ({ change: kind, grant }) =>
        (kind === "gained" || kind === "widened") &&
        [grant.urn, grant.subject.urn, grant.role.urn].includes(given.urn),
    );
    const findings = findAll(comparison).filter(({ urn, grant }) =>
      [urn, grant?.urn, grant?.subject.urn].includes(given.urn),
    );
    // R2 judges where packages come from, and who signs them.
    const arePackages = open.every(({ path }) => path.endsWith(".packages"));
    const isSeen = isGranted || findings.some(({ severity }) => arePackages || severity !== "low");
    expect({ open: open.map(({ path }) => path), isSeen: open.length === 0 || isSeen }).toEqual({
      open: open.map(({ path }) => path),
      isSeen: true,
    });
  });
});

describe("S1 changed-setting", () => {
  const provider = resource("IdentityProvider", "staff", { parentUid: acme, defaultRole: viewer.uid });
  const single = { email: "ada@acme.example", singleUse: true };
  const invite = (ttl: string): Resource =>
    resource("GroupInvite", "ada", { parentUid: payments, roleUid: viewer.uid, ttl, ...single });
  const trusted = { issuer: "https://ci.acme.example", subject: "ci", issuerKeys: '{"keys":[]}' };
  const keys = (expirationTime?: Json): Resource =>
    identity("keyed", {
      staticKeys: { ...trusted, ...(expirationTime === undefined ? {} : { expirationTime }) },
    });
  const association = (account: string): Resource =>
    resource("AccountAssociation", "cloud", { parentUid: payments, amazon: { account } });
  const access = (more: Props): Resource =>
    resource("GroupAccess", "all", { parentUid: payments, bindings: {}, ...more });
  const sink = (path: string): Resource =>
    resource("Subscription", "events", { parentUid: payments, sink: `https://hooks.acme.example/${path}` });
  const repo = resource("Repo", "api", { parentUid: payments });

  test.each<[string, Resource[], Resource[], string[]]>([
    ["keys that end later", [keys("2026-07-01T00:00:00Z")], [keys("2026-08-01T00:00:00Z")], ["medium"]],
    ["keys that had expired", [keys("2026-05-01T00:00:00Z")], [keys("2026-08-01T00:00:00Z")], ["high"]],
    ["keys that had expired, until later", [keys("2026-05-01T00:00:00Z")], [keys(UNKNOWN)], ["high"]],
    ["keys that count, with the end removed", [keys("2026-07-01T00:00:00Z")], [keys()], ["medium"]],
    ["accounts of another owner", [association("1")], [association("2")], ["high"]],
    ["bindings that are left alone", [access({})], [access({ ignore: { roleUids: [owner.uid] } })], ["high"]],
    ["a description", [association("1")], [edit(association("1"), { description: "x" })], []],
  ])("%s", (_title, before, after, expected) => {
    expect(severitiesOf("S1", change(before, after))).toEqual(expected);
  });

  const contents = fieldsWhere(({ access }) => access?.startsWith("images.") === true)("Repo")
    .map(({ path }) => path)
    .filter((path) => path !== "syncConfig.source");
  const samplesOf: Readonly<Record<string, Json>> = {
    "customOverlay.contents.packages": ["curl"],
    "customOverlay.contents.runtimeRepositories": ["https://apk.example"],
    "customOverlay.contents.runtimeKeyring": [{ name: "a.rsa.pub", content: "x" }],
    "customOverlay.environment": { NODE_OPTIONS: "-r x" },
    "customOverlay.accounts.runAs": "0",
    "customOverlay.accounts.users": [{ username: "u", uid: 0 }],
    "customOverlay.accounts.groups": [{ groupname: "g" }],
    "customOverlay.certificates.additional": [{ name: "ca", content: "x" }],
    "customOverlay.certificates.providers": ["other"],
    aliases: ["nginx:latest"],
  };

  test("knows a value of each argument of a repository that images depend on", () => {
    expect(Object.keys(samplesOf).sort()).toEqual([...contents].sort());
  });

  test.each(contents)("a new repository that sets %s is a finding", (path) => {
    const inputs = withMember(repo.inputs, path.split("."), samplesOf[path]) as Props;
    const isSevere = ({ severity }: { severity: string }): boolean =>
      (severity !== "low") !== path.endsWith(".packages");
    const severe = findAll(change([], [{ ...repo, inputs }])).filter(isSevere);
    expect(severe.map(({ id, urn }) => [/^(?:S1|R2)$/.test(id), urn])).toEqual([[true, repo.urn]]);
  });

  const meansMore = Object.keys(specs).flatMap((kind) =>
    fieldsWhere(({ unsetMeans }) => unsetMeans !== undefined)(kind).map(({ path }) => [kind, path] as const),
  );
  const holders: Readonly<Record<string, Resource>> = { Repo: repo, IdentityProvider: provider };
  const set: Readonly<Record<string, Json>> = { ...samplesOf, scimEnabled: true };

  test("knows what may mean more where it is not set", () => {
    expect(meansMore).toEqual([
      ["Repo", "customOverlay.contents.runtimeRepositories"],
      ["Repo", "customOverlay.contents.runtimeKeyring"],
      ["IdentityProvider", "scimEnabled"],
    ]);
  });

  test.each(meansMore)("%s: to set %s, or to take it away, is a finding", (kind, path) => {
    const holder = holders[kind] as Resource;
    const [top = "", ...inner] = path.split(".");
    const withValue = (value: Json | undefined): Resource => ({
      ...holder,
      inputs: withMember(holder.inputs, path.split("."), value) as Props,
    });
    const full = withValue(set[path]);
    const empty = withValue(Array.isArray(set[path]) ? [] : false);
    const without = [empty, withValue(undefined), ...(inner.length > 0 ? [holder] : [])];
    for (const none of without) {
      const lost = findAll(change([full], [none])).filter(({ field }) => field?.startsWith(top));
      expect(lost.map(({ id, severity }) => [id, severity])).toEqual([
        [kind === "IdentityProvider" ? "G8" : "S1", "medium"],
      ]);
      const gained = findAll(change([none], [full])).filter(({ field }) => field?.startsWith(top));
      expect(gained).not.toEqual([]);
    }
    expect(findAll(change([holder], [empty]))).toEqual([]);
  });

  test("a new repository without them is none", () => {
    expect(findAll(change([], [repo]))).toEqual([]);
  });

  test.each<[string, number, string, string[]]>([
    ["a longer life", 1, "48h", ["medium"]],
    ["the same life", 0.5, "24h", ["medium"]],
    ["a shorter life that ends sooner", 2, "24h", []],
    ["the same life, after its end", -1, "24h", ["high"]],
  ])("an invite that is made anew with %s", (_what, days, ttl, expected) => {
    const old = { ...invite("24h"), outputs: { expirationTime: inDays(days) } };
    const now = invite(ttl);
    const anew = compareResources([...base, old], [...base, now], { replaced: [old] });
    expect(severitiesOf("S1", anew)).toEqual(expected);
    expect(severitiesOf("K2", anew)).toEqual([]);
    // Another name of its resource does the same, and the grant is gained: only another life is worth a word beside it.
    const other = { ...now, uid: `${now.uid.slice(0, -1)}e`, urn: `${now.urn}-other` };
    const said = expected.filter(() => days < 0 || ttl === "48h");
    expect(severitiesOf("S1", change([old], [other]))).toEqual(said);
  });

  test("no address of events, which X1 judges", () => {
    expect(severitiesOf("S1", change([sink("a")], [sink("b")], [sink("a")]))).toEqual([]);
  });

  const copy = (syncConfig: Props): Resource => edit(repo, { syncConfig });
  test.each<[string, Resource, string[]]>([
    ["accounts of a group", association("1"), ["high"]],
    ["a registry that images are copied to", copy({ source: "nginx", google: "gcr.io/evil" }), ["high"]],
    ["an image of another registry", copy({ source: "evil.example/nginx" }), ["high"]],
  ])("of a new resource: %s", (_title, after, expected) => {
    expect(severitiesOf("S1", change([], [after]))).toEqual(expected);
  });

  test("a role that nobody holds", () => {
    const own = resource("Role", "own", { parentUid: payments, capabilities: ["CAP_REPO_LIST"] });
    const wider = edit(own, { capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST"] });
    expect(severitiesOf("S1", change([own], [wider]))).toEqual(["medium"]);
  });

  const there = byHand(binding(robot, viewer, payments));
  const declared = { robot: { identityUid: robot.uid, roleUid: viewer.uid } };
  test.each<[string, Resource[], Props, string[]]>([
    ["of a group without bindings", [], {}, []],
    ["that lacks a binding of its group", [there], {}, ["medium"]],
    ["with all bindings of its group", [there], declared, []],
  ])("access %s", (_what, before, bindings, expected) => {
    expect(severitiesOf("S1", change(before, [...before, access({ bindings })]))).toEqual(expected);
  });

  test("what an identity trusts that holds nothing yet", () => {
    const changed = edit(keys(), { staticKeys: { ...trusted, subject: "other" } });
    expect(severitiesOf("S1", change([keys()], [changed]))).toEqual(["medium"]);
  });

  test("names each property, and what it was", () => {
    const [finding] = found("S1", change([association("1")], [association("2")]));
    expect(finding?.details).toEqual(["amazon.account: 1 → 2 (another value than before)"]);
  });

  test("a created tag may take the place of one that exists", () => {
    const tag = (own: Resource): Resource =>
      resource("Tag", "latest", { parentUid: own.uid, digest: `sha256:${"a".repeat(64)}` });
    expect(severitiesOf("S1", change([repo], [repo, tag(repo)]))).toEqual(["high"]);
    const renamed = { ...tag(repo), uid: `${repo.uid}/${"9".repeat(16)}`, urn: `${tag(repo).urn}-2` };
    expect(severitiesOf("S1", change([repo, tag(repo)], [repo, renamed]))).toEqual([]);
    // An inventory that lists tags shows whether one exists.
    const created = change([repo], [repo, tag(repo)]);
    const withTags = (more: Partial<Inventory>): Comparison => {
      const inventory = created.inventories[0]!;
      return { ...created, inventories: [{ ...inventory, kinds: [...inventory.kinds, "Tag"], ...more }] };
    };
    expect(severitiesOf("S1", withTags({}))).toEqual([]);
    expect(
      severitiesOf(
        "S1",
        withTags({ refused: [{ kind: "Tag", code: "X", errorCode: "PP3403", message: "" }] }),
      ),
    ).toEqual(["high"]);
    expect(severitiesOf("S1", withTags({ root: cards }))).toEqual(["high"]);
    expect(severitiesOf("S1", change([], [repo, tag(repo)]))).toEqual([]);
    const live = [...base, repo, edit(tag(repo), { digest: `sha256:${"b".repeat(64)}` })];
    const over = compareResources([...base, repo], [...base, repo, tag(repo)], { live });
    expect(findAll(over).map(({ id, severity }) => `${id} ${severity}`)).toEqual(["S1 high", "R1 medium"]);
  });
});

describe("S2 new-organisation", () => {
  const root = { ...resource("Group", "labs", {}), uid: "f".repeat(40) };

  test.each<[string, Resource[], Resource[], string[]]>([
    ["a new group without a parent", [], [root], ["medium"]],
    ["a root that exists", [root], [edit(root, { description: "x" })], []],
    ["a new group in another one", [], [resource("Group", "labs", { parentUid: payments })], []],
  ])("%s", (_title, before, after, expected) => {
    expect(severitiesOf("S2", change(before, after))).toEqual(expected);
  });

  test("a group that loses its parent", () => {
    const below = resource("Group", "labs", { parentUid: payments });
    const lost = { ...below, inputs: { name: "labs" } };
    expect(severitiesOf("S2", change([below], [lost], [below]))).toEqual(["medium"]);
  });
});

describe("S3 repeated-grant", () => {
  const one = binding(robot, viewer, payments);
  const second = { ...one, uid: `${payments}/0000000000000002`, urn: `${one.urn}-2` };
  const bindings = { robot: { identityUid: robot.uid, roleUid: viewer.uid } };
  const all = resource("GroupAccess", "all", { parentUid: payments, bindings });

  test.each<[string, Resource[], Resource[], string[]]>([
    ["two new bindings", [], [one, second], ["low"]],
    ["a second binding", [one], [one, second], ["low"]],
    ["a binding beside a GroupAccess", [one], [one, all], ["low"]],
    ["two that exist", [one, second], [one, second], []],
    ["another role", [one], [one, binding(robot, pusher, payments)], []],
    ["another group", [one], [one, binding(robot, viewer, acme)], []],
    ["another identity", [one], [one, binding(other, viewer, payments)], []],
    ["a GroupAccess that takes over what was made by hand", [byHand(one)], [byHand(one), all], []],
  ])("%s", (_title, before, after, expected) => {
    expect(severitiesOf("S3", change(before, after))).toEqual(expected);
  });
});
