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

const search = group("search", `${acme}/${"3".repeat(16)}`);
const boss = inGroup(acme, identity("boss", workflow("platform"), { external: true }));
// The team of search administers its own group.
const lead = inGroup(acme, identity("lead", workflow("search-admin"), { external: true }));
const deployer = identity("deployer", workflow("pay"));
const builder = identity("builder", workflow("pay-build"));
const robot = inGroup(search.uid, identity("robot", workflow("search")));
const ada = identity("ada", claims({ issuer: "https://login.acme.example.com", subject: "ada" }));
const tester = identity("tester", {
  static: {
    issuer: "https://ci.acme.example.com",
    subject: "tester",
    issuerKeys: JSON.stringify({
      keys: [{ kty: "OKP", crv: "Ed25519", kid: "one", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }],
    }),
    expiration: days(60),
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
  oidc: { issuer: "https://login.acme.example.com", clientId: "platform", pkceEnabled: true },
});
const readers = resource("ExternalGroupRoleMapping", "readers", {
  name: undefined,
  parentUid: staff.uid,
  externalGroupId: "readers",
  roleUid: reader.uid,
  scope: acme,
});
const invite = resource("GroupInvite", "invite", {
  name: undefined,
  parentUid: payments,
  roleUid: reader.uid,
  ttl: "24h",
  email: "grace@acme.example.com",
  singleUse: true,
});

/** The organisation that each edit changes. */
const organisation: readonly Resource[] = [
  ...groups,
  search,
  viewer,
  pusher,
  owner,
  boss,
  binding(boss, owner, acme, { external: true }),
  lead,
  binding(lead, owner, search.uid, { external: true }),
  deployer,
  builder,
  robot,
  ada,
  tester,
  reader,
  publisher,
  binding(deployer, pusher, payments),
  binding(builder, publisher, payments),
  binding(robot, reader, search.uid),
  binding(ada, viewer, payments),
  binding(tester, reader, payments),
  api,
  stable,
  events,
  staff,
  readers,
  invite,
];

type Resources = readonly Resource[];
interface Edit {
  /** The program after the change. */
  readonly to: (before: Resources, random: Random) => Resources;
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
  "describes an identity": { to: withInputs(deployer, { description: "The pipeline" }) },
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
  "adds a group below": {
    to: (before, random) =>
      withNew(group(`sub-${numberOf(random)}`, `${payments}/${numberOf(random).padStart(16, "0")}`))(before),
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
  "binds a reader of another team": { to: withNew(binding(robot, reader, cards)) },
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
  "shortens an end": {
    to: withInputs(tester, { static: { ...(tester.inputs["static"] as Props), expiration: days(20) } }),
  },
  "renews an end": {
    to: withInputs(tester, { static: { ...(tester.inputs["static"] as Props), expiration: days(85) } }),
  },
  // Somebody else signs in: who decides that is in the settings of the repository.
  "pins a trust to an environment": {
    to: withInputs(
      builder,
      claims({ issuer: GITHUB, subject: "repo:acme/pay-build:environment:production" }),
    ),
    findings: ["T5 high"],
  },
  // Somebody else signs in.
  "moves a pipeline to another repository": {
    to: withInputs(builder, workflow("pay-images")),
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
  // Whoever reads the mail becomes a member, and no grant of that mail domain exists.
  "invites a colleague": {
    to: withNew(
      named("second", {
        ...invite,
        uid: `${invite.uid.slice(0, -2)}ee`,
        inputs: { ...invite.inputs, email: "alan@acme.example.com" },
      }),
    ),
    findings: ["T7 medium"],
  },
  // The directory decides who reads in the whole organisation.
  "maps another directory group to read": {
    to: withNew(
      named("auditors", {
        ...readers,
        uid: `${readers.uid.slice(0, -2)}ee`,
        inputs: { ...readers.inputs, externalGroupId: "auditors" },
      }),
    ),
    findings: ["G7 medium"],
  },
  // The receiver learns of a group that it did not know.
  "sends events of another group to the known receiver": {
    to: withNew(named("more", inGroup(search.uid, { ...events, uid: `${search.uid}/${"e".repeat(16)}` }))),
    findings: ["X1 medium"],
  },
  // Nobody hears of the events any more.
  "takes a subscription away": { to: without(events), findings: ["D5 high"] },
  // Those who pull the tag get another image.
  "moves a tag": { to: withInputs(stable, { digest: `sha256:${"c".repeat(64)}` }), findings: ["R1 medium"] },
  // Pulls fail.
  "deletes a repository": { to: without(api, stable), findings: ["R1 high", "R1 high"] },
};

function findingsAfter(after: Resources): { readonly id: string; readonly severity: Severity }[] {
  return findingsOf(compareResources(organisation, after), defaultRuleOptions(NOW)).map(
    ({ id, severity }) => ({ id, severity }),
  );
}

const isLoud = (finding: string): boolean => /high|critical/.test(finding);
const all = Object.entries(edits).map(([name, edit]) => ({ name, findings: [], ...edit }));
const isPrinted = process.env["HONEST_EDITS"] === "print";

describe("an honest edit", () => {
  test.each(all)("that $name is reported as the table says", ({ to, findings }) => {
    const found = findingsAfter(to(organisation, randomOf(1)));
    expect(found.map(({ id, severity }) => `${id} ${severity}`).sort()).toEqual([...findings].sort());
  });

  test("beside others is no louder than alone", () => {
    const counts: Record<string, number> = {};
    let made = 0;
    for (let seed = 0; seed < 200; seed += 1) {
      const random = randomOf(seed);
      const chosen = new Set(Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(random, all)));
      made += chosen.size;
      const found = findingsAfter([...chosen].reduce((before, { to }) => to(before, random), organisation));
      for (const { severity } of found) counts[severity] = (counts[severity] ?? 0) + 1;
      const expected = new Set([...chosen].flatMap(({ findings }) => findings));
      const loud = found.map(({ id, severity }) => `${id} ${severity}`).filter(isLoud);
      expect({ seed, louder: loud.filter((each) => !expected.has(each)) }).toEqual({ seed, louder: [] });
    }
    if (isPrinted) process.stdout.write(`${JSON.stringify({ edits: made, findings: counts })}\n`);
    expect(made).toBeGreaterThan(300);
  });
});
