import type { Props } from "../../../../provider/fields/values";
import type { Severity } from "../../../../provider/access/review/finding";
import { defaultRuleOptions, findingsOf } from "../../../../provider/access/rules";
import { pick, randomOf } from "../../../../scripts/lib/random.cjs";
import type { Random } from "../../../../scripts/lib/random.cjs";
import {
  acme,
  binding,
  cards,
  claims,
  compareResources,
  group,
  groups,
  identity,
  owner,
  payments,
  pusher,
  resource,
  role,
  viewer,
  GITHUB,
  edit,
} from "../../../support/access";
import type { Resource } from "../../../support/access";
import { casesOf, seedsOf } from "../../../support/properties";

/*
 * What teams change on an ordinary day, of which the review says little or nothing: one that warns of such changes is not
 * read when it matters. What it warns of is in the suites of the rules.
 */

const NOW = Date.parse("2026-06-01T00:00:00Z");
const days = (count: number): string => new Date(NOW + count * 86_400_000).toISOString();

const workflow = (repository: string): Props =>
  claims({ issuer: GITHUB, subject: `repo:acme/${repository}:ref:refs/heads/main` });
const inGroup = (parentUid: string, one: Resource): Resource => edit(one, { parentUid });
const named = (name: string, one: Resource): Resource => ({
  ...one,
  urn: one.urn.replace(/::[^:]*$/, `::${name}`),
});
/** Another object beside one, whose uid ends in these digits. */
const beside = (one: Resource, name: string, end: string, inputs: Props = {}, more = {}): Resource =>
  named(name, { ...edit(one, inputs), uid: one.uid.slice(0, -2) + end, ...more });

const search = group("search", `${acme}/${"3".repeat(16)}`);
const boss = inGroup(acme, identity("boss", workflow("platform"), { external: true }));
const deployer = identity("deployer", workflow("pay"));
const builder = identity("builder", workflow("pay-build"));
const robot = inGroup(search.uid, identity("robot", workflow("search")));
const ada = identity("ada", claims({ issuer: "https://login.acme.example.com", subject: "ada" }));
const keyOf = (x: string) => JSON.stringify({ keys: [{ kty: "OKP", crv: "Ed25519", kid: "one", x }] });
const tester = identity("tester", {
  staticKeys: {
    issuer: "https://ci.acme.example.com",
    subject: "tester",
    issuerKeys: keyOf("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"),
    expirationTime: days(60),
  },
});
const reader = role("reader", ["REPO_LIST", "TAG_LIST"]);
const tagger = inGroup(payments, role("tagger", ["TAG_LIST"]));
const publisher = role("publisher", ["REPO_LIST", "MANIFEST_CREATE", "TAG_CREATE"]);
const api = resource("Repo", "api", { parentUid: payments, description: "The payment service" });
const stable = resource("Tag", "stable", { parentUid: api.uid, digest: `sha256:${"a".repeat(64)}` });
const events = resource("Subscription", "events", {
  name: undefined,
  parentUid: payments,
  sink: "https://hooks.acme.example.com/registry",
});
const staff = resource("IdentityProvider", "staff", {
  parentUid: acme,
  defaultRole: viewer.uid,
  scimEnabled: true,
  oidc: {
    issuer: "https://login.acme.example.com",
    clientId: "platform",
    clientSecret: "[secret]",
    pkceEnabled: true,
    additionalScopes: ["offline_access"],
    groupsClaim: "groups",
  },
});
const readers = resource("ExternalGroupRoleMapping", "readers", {
  name: undefined,
  parentUid: staff.uid,
  externalGroupId: "readers",
  roleUid: reader.uid,
  scope: acme,
});
const single = { ttl: "48h", email: "grace@acme.example.com", singleUse: true };
const invite = resource(
  "GroupInvite",
  "invite",
  { name: undefined, parentUid: payments, roleUid: reader.uid, ...single },
  { outputs: { expirationTime: days(2) } },
);

const twin = beside(events, "events-again", "ee");
const forAll = { email: undefined, singleUse: undefined, ttl: "240h", roleUid: viewer.uid };
const guests = beside(invite, "guests", "dd", forAll, { outputs: { expirationTime: days(9) } });
const token = resource("ScimToken", "sync", { name: undefined, parentUid: staff.uid, expireTime: days(100) });
const image = resource("Repo", "base", {
  parentUid: search.uid,
  customOverlay: {
    contents: { packages: ["curl=8.0", "git"] },
    environment: { LANG: "C.UTF-8" },
    annotations: { team: "search" },
    accounts: { runAs: "65532" },
  },
});
const triage = role("triage", ["REPO_LIST"]);
const unused = group("unused", `${acme}/${"4".repeat(16)}`);
const ofBranches = { issuer: GITHUB, subjectPattern: "^repo:acme/pay:ref:refs/heads/(main|next)$" };
const branches = identity("branches", claims(ofBranches));
const reading = binding(branches, viewer, payments);

/** The organisation that each edit changes. */
const organisation: readonly Resource[] = [
  ...[...groups, search, viewer, pusher, owner],
  ...[boss, binding(boss, owner, acme, { external: true })],
  ...[deployer, builder, robot, ada, tester, reader, publisher],
  ...[binding(deployer, pusher, payments), binding(builder, publisher, payments)],
  ...[binding(robot, reader, search.uid), binding(ada, viewer, payments), binding(tester, reader, payments)],
  ...[api, stable, events, staff, readers, invite, twin, guests, token, image, triage, unused],
  ...[branches, reading],
];

type Resources = readonly Resource[];
interface Edit {
  /** The program after the change. */
  readonly to: (before: Resources, random: Random) => Resources;
  /** What the change makes anew, since the server cannot change it. */
  readonly replaced?: Resources;
  /** What the review reports: `G1 high`. None where it is left out. */
  readonly findings?: readonly string[];
}

const without =
  (...gone: Resources) =>
  (before: Resources): Resources =>
    before.filter(({ uid }) => !gone.some((one) => one.uid === uid));
const withInputs =
  (changed: Resource, inputs: Props) =>
  (before: Resources): Resources =>
    before.map((one) => (one.uid === changed.uid ? edit(one, inputs) : one));
const withNew =
  (...added: Resources) =>
  (before: Resources): Resources => [...before, ...added];
const withKeys = (changed: Props) =>
  withInputs(tester, { staticKeys: { ...(tester.inputs["staticKeys"] as Props), ...changed } });
const withOverlay = (changed: Props) =>
  withInputs(image, { customOverlay: { ...(image.inputs["customOverlay"] as Props), ...changed } });
const numberOf = (random: Random): string => String(Math.floor(random() * 1e9));

const WORDS = ["billing", "ledger", "fraud", "invoices", "gateway"];

/** A team with a group, the pipeline of its own repository, and what it may do there. */
function newTeam(random: Random): Resources {
  const name = `${pick(random, WORDS)}-${numberOf(random)}`;
  const own = group(name, `${acme}/${numberOf(random).padStart(16, "0")}`);
  const pipeline = inGroup(own.uid, identity(`${name}-ci`, workflow(name)));
  return [own, pipeline, binding(pipeline, pusher, own.uid), resource("Repo", name, { parentUid: own.uid })];
}

const edits: Readonly<Record<string, Edit>> = {
  "describes a repository": { to: withInputs(api, { description: "Takes the money" }) },
  "adds a repository": {
    to: (before, random) =>
      withNew(resource("Repo", `repo-${numberOf(random)}`, { parentUid: payments }))(before),
  },
  // The set-up that G6 recommends: a new group, and one pipeline of its own.
  "adds a team": {
    to: (before, random) => [...before, ...newTeam(random)],
    findings: ["G6 low", "X2 low", "X2 low", "X2 low"],
  },
  "adds a reading role": {
    to: (before, random) => withNew(role(`auditor-${numberOf(random)}`, ["REPO_LIST"]))(before),
  },
  "binds a reader of the team": { to: withNew(binding(builder, viewer, payments)) },
  // A preview does not prove what a reference to a new object becomes.
  "adds a person of the known issuer": {
    to: (before, random) => {
      const name = `person-${numberOf(random)}`;
      const person = identity(name, claims({ issuer: "https://login.acme.example.com", subject: name }));
      return [...before, person, binding(person, viewer, payments)];
    },
    findings: ["X2 low"],
  },
  "takes a grant away": { to: without(binding(builder, publisher, payments)) },
  "takes a capability away": { to: withInputs(publisher, { capabilities: ["CAP_REPO_LIST"] }) },
  "deletes an identity and its grant": { to: without(robot, binding(robot, reader, search.uid)) },
  "gives less": {
    to: (before) =>
      withNew(binding(deployer, reader, payments))(without(binding(deployer, pusher, payments))(before)),
  },
  "shortens an end": { to: withKeys({ expirationTime: days(40) }) },
  // All who hold the role gain it, in three groups.
  "adds a capability to read": {
    to: withInputs(reader, { capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST", "CAP_MANIFEST_LIST"] }),
    findings: ["G4 medium"],
  },
  "binds a role of a group in the group below it": {
    to: withNew(tagger, binding(deployer, tagger, cards)),
    findings: ["X2 low"],
  },
  "renames a resource of the program": {
    to: (before) => before.map((one) => (one.uid === deployer.uid ? named("pipeline", one) : one)),
  },
  // Somebody of that mail domain was invited before, and that was reviewed.
  "invites a colleague": {
    to: withNew(beside(invite, "second", "ee", { email: "alan@acme.example.com" })),
  },
  "withdraws the token of the directory": { to: without(token), findings: ["G8 medium"] },
  "maps a directory group to read in one group": {
    to: withNew(beside(readers, "payments-readers", "cc", { externalGroupId: "payments", scope: payments })),
  },
  "lets an invite end sooner": { to: withInputs(invite, { ttl: "12h" }), replaced: [invite] },
  "names who may accept an open invite": {
    to: withInputs(guests, { email: "linus@acme.example.com", singleUse: true, ttl: "24h" }),
    replaced: [guests],
  },
  "deletes a role that nobody holds": { to: without(triage) },
  "renames a role that nobody holds": { to: withInputs(triage, { name: "triagers" }) },
  "labels an image": { to: withOverlay({ annotations: { team: "search", tier: "2" } }) },
  "copies an image of the catalogue": {
    to: (before, random) =>
      withNew(
        resource("Repo", `nginx-${numberOf(random)}`, {
          parentUid: search.uid,
          syncConfig: { source: "nginx" },
        }),
      )(before),
  },
  "marks a tag as deprecated": { to: withInputs(stable, { deprecated: true }) },
  "takes one of two equal subscriptions away": { to: without(twin) },
  "lets one resource own the bindings of an empty group": {
    to: withNew(resource("GroupAccess", "unused", { name: undefined, parentUid: unused.uid, bindings: {} })),
  },
  "accepts terms": {
    to: withNew(
      resource("TermsAcceptance", "more", { name: undefined, parentUid: search.uid, documentIds: ["beta"] }),
    ),
  },
  "lets fewer branches sign in": {
    to: withInputs(
      branches,
      claims({ issuer: GITHUB, subjectPattern: "^repo:acme/pay:ref:refs/heads/main$" }),
    ),
  },
  // The same runs sign in, by tokens that they have made for another service.
  "asks for an audience": {
    to: withInputs(branches, claims({ ...ofBranches, audience: "https://platform.acme.example.com" })),
    findings: ["T5 medium"],
  },
  "moves a grant down": {
    to: (before) =>
      withNew(binding(builder, publisher, cards))(without(binding(builder, publisher, payments))(before)),
  },
  "removes what nobody uses": { to: without(unused) },
  "protects a repository": {
    to: (before) => before.map((one) => (one.uid === api.uid ? { ...one, protect: true as const } : one)),
  },
  // It has another uid then, which stands in the set-up of what signs in too.
  "moves an identity together with its grant": {
    to: (before) =>
      before.map((one) => (one.uid === branches.uid || one.uid === reading.uid ? inGroup(cards, one) : one)),
    replaced: [branches, reading],
    findings: ["D2 high", "X2 low"],
  },
};

function findingsAfter(
  after: Resources,
  replaced: Resources = [],
): { readonly id: string; readonly severity: Severity }[] {
  const left = replaced.filter(({ uid }) => after.some((one) => one.uid === uid));
  // An inventory has no tags unless it is asked for them.
  const live = organisation.filter(({ kind }) => kind !== "Tag");
  const comparison = compareResources(organisation, after, { replaced: left, live });
  return findingsOf(comparison, defaultRuleOptions(NOW)).map(({ id, severity }) => ({ id, severity }));
}

const isLoud = (finding: string): boolean => /high|critical/.test(finding);
const all = Object.entries(edits).map(([name, edit]) => ({ name, findings: [], ...edit }));

describe("an honest edit", () => {
  test.each(all)("that $name is reported as the table says", ({ to, replaced, findings }) => {
    const found = findingsAfter(to(organisation, randomOf(1)), replaced);
    const texts = found.map(({ id, severity }) => `${id} ${severity}`).sort();
    expect(texts).toEqual([...findings].sort());
  });

  test("beside others is no louder than alone", () => {
    let made = 0;
    for (const seed of seedsOf(200)) {
      const random = randomOf(seed);
      const chosen = new Set(Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(random, all)));
      made += chosen.size;
      const found = findingsAfter(
        [...chosen].reduce((before, { to }) => to(before, random), organisation),
        [...chosen].flatMap(({ replaced = [] }) => replaced),
      );
      const expected = new Set([...chosen].flatMap(({ findings }) => findings));
      // D4 counts what all of them take away together.
      const loud = found
        .flatMap(({ id, severity }) => (id === "D4" ? [] : `${id} ${severity}`))
        .filter(isLoud);
      expect({ seed, louder: loud.filter((each) => !expected.has(each)) }).toEqual({ seed, louder: [] });
    }
    expect(made).toBeGreaterThan(1.5 * casesOf(200));
  });
});
