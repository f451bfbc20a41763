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
} from "../../../support/access";
import type { Resource } from "../../../support/access";
import { casesOf, seedsOf } from "../../../support/properties";

/*
 * What teams change on an ordinary day, and what the review says of it. A review that warns of such changes is not read
 * when it matters: nothing of it is high but what a second person should look at, and the table says why.
 * `HONEST_EDITS=print` prints the findings of each edit.
 */

const GITHUB = "https://token.actions.githubusercontent.com";
const NOW = Date.parse("2026-06-01T00:00:00Z");
const days = (count: number): string => new Date(NOW + count * 86_400_000).toISOString();

const workflow = (repository: string): Props =>
  claims({ issuer: GITHUB, subject: `repo:acme/${repository}:ref:refs/heads/main` });
const inGroup = (parentUid: string, one: Resource): Resource => ({
  ...one,
  inputs: { ...one.inputs, parentUid },
});
const named = (name: string, one: Resource): Resource => ({
  ...one,
  urn: one.urn.replace(/::[^:]*$/, `::${name}`),
});
/** Another object beside one, whose uid ends in these digits. */
const beside = (one: Resource, name: string, end: string, inputs: Props = {}, more = {}): Resource =>
  named(name, { ...one, uid: one.uid.slice(0, -2) + end, inputs: { ...one.inputs, ...inputs }, ...more });

const search = group("search", `${acme}/${"3".repeat(16)}`);
const boss = inGroup(acme, identity("boss", workflow("platform"), { external: true }));
// The team of search administers its own group.
const lead = inGroup(acme, identity("lead", workflow("search-admin"), { external: true }));
const deployer = identity("deployer", workflow("pay"));
const builder = identity("builder", workflow("pay-build"));
const robot = inGroup(search.uid, identity("robot", workflow("search")));
const ada = identity("ada", claims({ issuer: "https://login.acme.example.com", subject: "ada" }));
const firstKey = { kty: "OKP", crv: "Ed25519", kid: "one", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" };
const twoKeys = JSON.stringify({
  keys: [firstKey, { ...firstKey, kid: "two", x: "Kx11qYAYCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }],
});
const tester = identity("tester", {
  staticKeys: {
    issuer: "https://ci.acme.example.com",
    subject: "tester",
    issuerKeys: JSON.stringify({ keys: [firstKey] }),
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
const once = { singleUse: true, ttl: "48h" };
const ticket = beside(guests, "ticket", "99", once, { outputs: { expirationTime: days(2) } });
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
  ...[lead, binding(lead, owner, search.uid, { external: true })],
  ...[deployer, builder, robot, ada, tester, reader, publisher],
  ...[binding(deployer, pusher, payments), binding(builder, publisher, payments)],
  ...[binding(robot, reader, search.uid), binding(ada, viewer, payments), binding(tester, reader, payments)],
  ...[api, stable, events, staff, readers, invite, twin, guests, ticket, token, image, triage, unused],
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
    before.map((one) => (one.uid === changed.uid ? { ...one, inputs: { ...one.inputs, ...inputs } } : one));
const withNew =
  (...added: Resources) =>
  (before: Resources): Resources => [...before, ...added];
const withKeys = (changed: Props) =>
  withInputs(tester, { staticKeys: { ...(tester.inputs["staticKeys"] as Props), ...changed } });
const withScopes = (...additionalScopes: string[]) =>
  withInputs(staff, { oidc: { ...(staff.inputs["oidc"] as Props), additionalScopes } });
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
  // Two roles can exchange their names in two changes, and a reader knows a role by its name.
  "renames a role": {
    to: withInputs(publisher, { name: "image publisher" }),
    findings: ["X6 medium"],
  },
  // Two groups can exchange their names in several changes: pulls and exceptions name a group by its path.
  "renames a group": { to: withInputs(search, { name: "finding" }), findings: ["X6 medium"] },
  "renames an identity": { to: withInputs(robot, { name: "search-robot" }), findings: ["X6 low"] },
  "adds a repository": {
    to: (before, random) =>
      withNew(resource("Repo", `repo-${numberOf(random)}`, { parentUid: payments }))(before),
  },
  // The inventory has no tags: the tag may exist, and be moved.
  "adds a tag": {
    to: (before, random) =>
      withNew(
        resource("Tag", `v${numberOf(random)}`, { parentUid: api.uid, digest: `sha256:${"b".repeat(64)}` }),
      )(before),
    findings: ["S1 medium"],
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
  // A new repository may change what the group publishes.
  "adds the pipeline of another repository": {
    to: (before, random) => {
      const pipeline = identity(`ci-${numberOf(random)}`, workflow(`pay-${numberOf(random)}`));
      return [...before, pipeline, binding(pipeline, publisher, payments)];
    },
    findings: ["G6 medium", "X2 low"],
  },
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
  // Whoever has the key can use it for longer.
  "renews an end": { to: withKeys({ expirationTime: days(85) }), findings: ["S1 medium"] },
  // Somebody else signs in: who decides that is in the settings of the repository.
  "pins a trust to an environment": {
    to: withInputs(
      builder,
      claims({ issuer: GITHUB, subject: "repo:acme/pay-build:environment:production" }),
    ),
    findings: ["T5 high"],
  },
  // All who hold the role gain it, in three groups.
  "adds a capability to read": {
    to: withInputs(reader, { capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST", "CAP_MANIFEST_LIST"] }),
    findings: ["G4 medium"],
  },
  // All who hold the role may write more.
  "adds a capability to write": {
    to: withInputs(publisher, {
      capabilities: ["CAP_REPO_LIST", "CAP_MANIFEST_CREATE", "CAP_TAG_CREATE", "CAP_TAG_UPDATE"],
    }),
    findings: ["G4 medium"],
  },
  // A pipeline may change what another team publishes.
  "lets a pipeline push elsewhere": {
    to: withNew(binding(deployer, pusher, search.uid)),
    findings: ["G6 medium"],
  },
  // Whoever administers its group can change who it is, and pushes there too.
  "lets the pipeline of a team with an owner of its own push elsewhere": {
    to: withNew(binding(robot, pusher, payments)),
    findings: ["G3 medium", "G6 medium"],
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
  // The directory decides who reads in the whole organisation.
  "maps another directory group to read": {
    to: withNew(beside(readers, "auditors", "ee", { externalGroupId: "auditors" })),
    findings: ["G7 medium"],
  },
  // The receiver learns of a group that it did not know.
  "sends events of another group to the known receiver": {
    to: withNew(named("more", inGroup(search.uid, { ...events, uid: `${search.uid}/${"e".repeat(16)}` }))),
    findings: ["X1 medium"],
  },
  // Nobody hears of the events any more.
  "takes the subscriptions of a receiver away": {
    to: without(events, twin),
    findings: ["D5 high", "D5 high"],
  },
  // Those who pull the tag get another image, and which one they get now is only recorded: the inventory has no tags.
  "moves a tag": {
    to: withInputs(stable, { digest: `sha256:${"c".repeat(64)}` }),
    findings: ["R1 medium", "X5 medium"],
  },
  // Pulls fail.
  "deletes a repository": { to: without(api, stable), findings: ["R1 high", "R1 high"] },
  // Who is there stays, and nobody is taken away any more: whoever left the company keeps access until somebody looks.
  "turns provisioning off": {
    to: withInputs(staff, { scimEnabled: false }),
    findings: ["G8 medium", "X2 low"],
  },
  // The directory needs the new token before the old one ends.
  "rotates the token of the directory": {
    to: withInputs(token, { rotate: "june" }),
    findings: ["G8 medium"],
  },
  // Whoever has the token can use it for longer.
  "lets the token of the directory end later": {
    to: withInputs(token, { expireTime: days(300) }),
    findings: ["G8 high"],
  },
  "withdraws the token of the directory": { to: without(token) },
  "asks for the mail address of a person": {
    to: withScopes("offline_access", "email"),
    findings: ["G8 low", "X2 low"],
  },
  // What the issuer puts into a token for it, only its owner knows.
  "asks for a scope of the issuer's own": {
    to: withScopes("offline_access", "groups"),
    findings: ["G8 high", "X2 low"],
  },
  "maps a directory group to read in one group": {
    to: withNew(beside(readers, "payments-readers", "cc", { externalGroupId: "payments", scope: payments })),
  },
  "lets an invite end sooner": { to: withInputs(invite, { ttl: "12h" }), replaced: [invite] },
  // It can be accepted again.
  "makes an open invite that lasts longer": {
    to: withInputs(guests, { ttl: "480h" }),
    replaced: [guests],
    findings: ["K3 high"],
  },
  "names who may accept an open invite": {
    to: withInputs(guests, { email: "linus@acme.example.com", singleUse: true, ttl: "24h" }),
    replaced: [guests],
  },
  // The old code may be used up, and the new one counts again.
  "makes a code anew that counts once": {
    to: withInputs(ticket, { ttl: "24h" }),
    replaced: [ticket],
    findings: ["K3 high"],
  },
  // Whoever reads the mail becomes a member.
  "invites somebody of another company": {
    to: withNew(beside(invite, "partner", "aa", { email: "eve@partner.example" })),
    findings: ["T7 medium"],
  },
  // Nobody holds it: whoever binds it is judged by what it then allows.
  "lets a role read that nobody holds": {
    to: withInputs(triage, { capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST"] }),
    findings: ["S1 low"],
  },
  // In another stack somebody may bind it next.
  "lets a role write that nobody holds": {
    to: withInputs(triage, { capabilities: ["CAP_REPO_LIST", "CAP_TAG_CREATE"] }),
    findings: ["S1 medium"],
  },
  // No role for readers has a capability of that name: what it reads is not known.
  "lets a role read what this version does not know": {
    to: withInputs(publisher, {
      capabilities: [...(publisher.inputs["capabilities"] as string[]), "CAP_SBOM_LIST"],
    }),
    findings: ["D3 medium", "G4 medium"],
  },
  "deletes a role that nobody holds": { to: without(triage) },
  "renames a role that nobody holds": { to: withInputs(triage, { name: "triagers" }) },
  // The packages come from repositories, and are signed with keys, that the image trusted before: R2 judges these.
  "takes a newer package": {
    to: withOverlay({ contents: { packages: ["curl=8.1", "git"] } }),
    findings: ["S1 low"],
  },
  // A variable can load code: `LD_PRELOAD`.
  "sets a variable of an image": {
    to: withOverlay({ environment: { LANG: "C.UTF-8", TZ: "UTC" } }),
    findings: ["S1 medium"],
  },
  "labels an image": { to: withOverlay({ annotations: { team: "search", tier: "2" } }) },
  // Others may pull by that name already.
  "gives a repository another name to pull by": {
    to: withInputs(image, { aliases: ["base:latest"] }),
    findings: ["S1 medium"],
  },
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
  // Pulls of it fail.
  "deletes a tag": { to: without(stable), findings: ["R1 high"] },
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
  // The account's clients act for the group.
  "connects another account": {
    to: withNew(
      resource("AccountAssociation", "staging", {
        parentUid: search.uid,
        amazon: { account: "210987654321" },
      }),
    ),
    findings: ["S1 high"],
  },
  // Whoever has the new key signs in.
  "registers the next key": {
    to: withKeys({ issuerKeys: twoKeys }),
    findings: ["T5 high"],
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

/** The rate of findings an edit, by severity, and the rules that they are of. */
function printRates(made: number, counts: Partial<Record<Severity, Record<string, number>>>): void {
  const lines = Object.entries(counts).map(([severity, byRule]) => {
    const sum = Object.values(byRule).reduce((all, one) => all + one, 0);
    const rules = Object.entries(byRule).map(([id, count]) => `${id} ${count}`);
    return `${severity}: ${sum}, ${(sum / made).toFixed(2)} an edit (${rules.sort().join(", ")})`;
  });
  process.stdout.write(`${made} edits\n${lines.sort().join("\n")}\n`);
}

const isLoud = (finding: string): boolean => /high|critical/.test(finding);
const all = Object.entries(edits).map(([name, edit]) => ({ name, findings: [], ...edit }));
const isPrinted = process.env["HONEST_EDITS"] === "print";

describe("an honest edit", () => {
  test.each(all)("that $name is reported as the table says", ({ name, to, replaced, findings }) => {
    const found = findingsAfter(to(organisation, randomOf(1)), replaced);
    const texts = found.map(({ id, severity }) => `${id} ${severity}`).sort();
    if (isPrinted) process.stdout.write(`${name}: ${texts.join(", ")}\n`);
    expect(texts).toEqual([...findings].sort());
  });

  test("beside others is no louder than alone", () => {
    const counts: Partial<Record<Severity, Record<string, number>>> = {};
    let made = 0;
    for (const seed of seedsOf(200)) {
      const random = randomOf(seed);
      const chosen = new Set(Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(random, all)));
      made += chosen.size;
      const found = findingsAfter(
        [...chosen].reduce((before, { to }) => to(before, random), organisation),
        [...chosen].flatMap(({ replaced = [] }) => replaced),
      );
      for (const { id, severity } of found) {
        const byRule = (counts[severity] ??= {});
        byRule[id] = (byRule[id] ?? 0) + 1;
      }
      const expected = new Set([...chosen].flatMap(({ findings }) => findings));
      const loud = found.map(({ id, severity }) => `${id} ${severity}`).filter(isLoud);
      expect({ seed, louder: loud.filter((each) => !expected.has(each)) }).toEqual({ seed, louder: [] });
    }
    if (isPrinted) printRates(made, counts);
    expect(made).toBeGreaterThan(1.5 * casesOf(200));
  });
});
