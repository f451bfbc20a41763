import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { CommandChain } from "../support/commandChain";
import { Stack } from "../support/engine";
import { call } from "../support/wire";

/*
 * Each form of assertion of a policy file, broken in each way that there is, as the real engine previews it and as it is
 * done by hand. EDITS names what a preview edits.
 */
const PROGRAM = `
const platform = require("pulumi-platform");
const { OWNER, VIEWER } = process.env;
const has = (edit) => process.env.EDITS.split(" ").includes(edit);
const github = "https://token.actions.githubusercontent.com";
const of = (repository) => ({ issuer: github, subject: "repo:" + repository + ":ref:refs/heads/main" });
const org = new platform.Group("org", { name: "acme" });
const sandbox = new platform.Group("sandbox", { parentUid: org.id, name: "sandbox" });
const prod = new platform.Group("prod", { parentUid: org.id, name: has("renamedGroup") ? "prod" : "production" });
const team = new platform.Group("team", { parentUid: has("group") ? prod.id : sandbox.id, name: "team" });
const pusher = new platform.Role("pusher", { parentUid: org.id, name: "pusher",
  capabilities: ["CAP_MANIFEST_CREATE"] });
const reader = new platform.Role("reader", { parentUid: org.id, name: "reader",
  capabilities: has("role") ? ["CAP_REPO_LIST", "CAP_MANIFEST_CREATE", "CAP_IAM_ROLE_BINDINGS_CREATE"] : ["CAP_REPO_LIST"] });
const identity = (name, claimMatch, shown = name) =>
  new platform.Identity(name, { parentUid: org.id, name: shown, claimMatch });
const ci = identity("ci", has("trust") ? { issuer: github, subjectPattern: "^repo:acme.*$" } : of("acme/pay"));
const guest = identity("guest", of("other/guest"), has("renamedIdentity") ? "break-glass" : "guest");
const [ann, bob] = ["ann", "bob"].map((name) =>
  identity(name, has("issuer") && name === "ann" ? of("other/ann") : { issuer: "https://accounts.acme.example", subject: name }));
const bind = (name, identity, role, group) =>
  new platform.RoleBinding(name, { parentUid: group.id, identityUid: identity.id, roleUid: role });
bind("ci-pushes", ci, pusher.id, prod);
bind("guest-reads", guest, reader.id, prod);
bind("guest-pushes", guest, pusher.id, team);
bind("ann-owns", ann, OWNER, org);
if (!has("taken")) bind("bob-owns", bob, OWNER, org);
if (has("grant") || has("renamedIdentity") || has("renamedGroup")) bind("new", guest, pusher.id, prod);
if (has("above")) bind("new", guest, pusher.id, org);
if (has("duties")) bind("new", ci, new platform.Role("granter", { parentUid: org.id, name: "granter",
  capabilities: ["CAP_IAM_ROLE_BINDINGS_CREATE"] }).id, org);
if (has("owners")) bind("new", ci, OWNER, org);
if (has("invite")) new platform.GroupInvite("invite", { parentUid: prod.id, roleUid: OWNER, ttl: "1h",
  email: "eve@other.example", singleUse: true });
if (has("mapping")) {
  const directory = new platform.IdentityProvider("directory", { parentUid: org.id, name: "directory", defaultRole: VIEWER, oidc: {
    issuer: "https://accounts.acme.example", clientId: "1", clientSecret: "not a secret" } });
  new platform.ExternalGroupRoleMapping("mapping", { parentUid: directory.id, externalGroupId: "builders",
    roleUid: OWNER, scope: org.id });
}
`;

const POLICY = `
forbid:
  - name: our own pipelines write production
    who: { not: [{ issuer: ["https://token.actions.githubusercontent.com"], subject: ["repo:acme/*"] },
                 { name: [break-glass] }, { issuer: ["https://accounts.acme.example"], type: [identity] }] }
    can: [CAP_MANIFEST_*]
    on: [acme / production]
    severity: critical
require:
  - { name: two owners, role: owner, on: [acme], atLeast: 2, atMost: 2, who: { type: [identity], matchesMany: false } }
  - { name: few push, can: [CAP_MANIFEST_CREATE], on: [acme / production], atMost: 3 }
  - { name: ours push, can: [CAP_MANIFEST_CREATE], on: [acme / production], atLeast: 1, who: { subject: ["repo:acme/*"] } }
  - { name: the team is served, can: [CAP_MANIFEST_CREATE], on: [acme / sandbox / team], atLeast: 1 }
separate:
  - name: builders do not grant
    duties: [[CAP_MANIFEST_CREATE], [CAP_IAM_ROLE_BINDINGS_CREATE]]
    on: [acme]
    who: { not: [{ issuer: ["https://accounts.acme.example"], type: [identity] }] }
  - name: pushers do not list
    duties: [[CAP_MANIFEST_CREATE], [CAP_REPO_LIST]]
    on: [acme / production]
    who: { not: [{ issuer: ["https://accounts.acme.example"], type: [identity] }] }
settings: { failOn: critical }
`;

const BOTH = /holds one of each duty$/;

/** How an edit breaks each form of assertion. The last ones have a name by which an author may hope to leave one. */
const EDITS: readonly (readonly [edit: string, messages: Readonly<Record<string, RegExp>>])[] = [
  ["grant", { P1: /guest has pusher on acme \/ production$/, P2: /production has 4 holders/, P3: BOTH }],
  ["above", { P1: /guest has pusher on acme$/, P2: /production has 4 holders/, P3: BOTH }],
  ["role", { P1: /guest has reader on acme \/ production$/, P2: /production has 4 holders/, P3: BOTH }],
  [
    "group",
    {
      P1: /guest has pusher on acme \/ production \/ team$/,
      P2: /the team is served: no group that is known here is "acme \/ sandbox \/ team"$/,
      P3: BOTH,
    },
  ],
  ["trust", { P1: /ci has pusher on acme \/ production$/, P2: /ours push: .* 0 holders, fewer than 1$/ }],
  ["issuer", { P1: /ann has owner on acme$/, P3: /ann holds one of each duty$/ }],
  ["invite", { P1: /has owner on acme \/ production$/, P2: /production has 4 holders/, P3: BOTH }],
  ["mapping", { P1: /builders.* has owner on acme$/, P2: /production has 4 holders/, P3: BOTH }],
  ["taken", { P2: /acme has 1 holder, fewer than 2$/ }],
  ["owners", { P2: /acme has 3 holders, more than 2$/ }],
  ["duties", { P3: /ci holds one of each duty$/ }],
  ["renamedIdentity", { P1: /"guest" becomes "break-glass": "who" chooses by this name$/ }],
  ["renamedIdentity", { P1: /has pusher on acme \/ production$/ }],
  ["renamedGroup", { P1: /guest has pusher on acme \/ prod$/ }],
  ["renamedGroup", { P1: /acme \/ production becomes acme \/ prod, which "on" does not name$/ }],
];

/** The part of a report that the tests read. */
interface Report {
  readonly complete: boolean;
  readonly findings: readonly { readonly id: string; readonly message: string; readonly severity: string }[];
  readonly policy?: { readonly standing?: readonly string[] };
}

describe("assertions of a policy file", () => {
  let emulator: Emulator;
  let stack: Stack;
  let chain: CommandChain;
  let env: Record<string, string>;
  let root: string;

  beforeAll(async () => {
    emulator = await startEmulator();
    stack = new Stack(emulator);
    stack.files({ "index.js": PROGRAM });
    await stack.init();
    chain = new CommandChain(emulator);
    const roleUid = async (name: string) => {
      const body = await call(emulator, "GET", `/iam/v2/roles?name=${name}`);
      return (body["roles"] as { uid: string }[])[0]?.uid ?? "";
    };
    env = { OWNER: await roleUid("owner"), VIEWER: await roleUid("viewer") };
    await stack.succeed(["up", "--yes", "--skip-preview"], { ...env, EDITS: "" });
    root = stack.ids()["org"] ?? "";
    chain.write("policy.yaml", POLICY);
    chain.write("state.json", (await stack.succeed(["stack", "export"])).stdout);
    await takeInventory();
  });
  afterAll(async () => {
    await emulator.close();
    stack.dispose();
    chain.remove();
  });

  const takeInventory = async () =>
    chain.write("inventory.json", await chain.succeed([0], "inventory", "--root", root, "-o", "json"));
  const policy = () => ["--policy", chain.path("policy.yaml")];
  const inventory = () => ["--inventory", chain.path("inventory.json")];

  async function review(edit: string, ...more: string[]) {
    const preview = await stack.succeed(["preview", "--json", "--show-sames"], { ...env, EDITS: edit });
    const file = chain.write(`${edit}.json`, preview.stdout);
    const { code, stdout } = await chain.run(
      "review",
      file,
      ...inventory(),
      ...policy(),
      "-o",
      "json",
      ...more,
    );
    return { code, report: JSON.parse(stdout) as Report };
  }
  const assertionsOf = ({ findings }: Report) =>
    findings.filter(({ id }) => id.startsWith("P")).map(({ id, message }) => `${id} ${message}`);

  test("an organisation that keeps them has no finding", async () => {
    const { code, report } = await review("nothing");
    expect({ code, findings: report.findings, standing: report.policy?.standing }).toEqual({
      code: 0,
      findings: [],
      standing: [],
    });
    expect((await chain.run("access", ...inventory(), ...policy())).code).toBe(0);
  });

  test.each(EDITS)("a review reports %s: %j", async (edit, messages) => {
    const { code, report } = await review(edit, "--fail-on", "high");
    expect(report.complete).toBe(true);
    for (const [rule, message] of Object.entries(messages)) {
      expect(assertionsOf(report)).toContainEqual(expect.stringMatching(`^${rule} .*${message.source}`));
    }
    expect(code).toBe(5);
  });

  test("settings of the file decide what fails, and a flag wins over them", async () => {
    chain.write("policy.yaml", POLICY.replace("failOn: critical", "failOn: never"));
    expect((await review("taken")).code).toBe(0);
    expect((await review("taken", "--fail-on", "high")).code).toBe(5);
    chain.write("policy.yaml", POLICY);
    expect((await review("taken")).code).toBe(5);
  });

  test("what is broken by hand is drift, counted by a review, and listed by access", async () => {
    const ids = stack.ids();
    const bound = await call(emulator, "POST", `/iam/v2/roleBindings/${ids["prod"] ?? ""}`, {
      identityUid: ids["guest"],
      roleUid: ids["pusher"],
    });
    await takeInventory();
    const drift = await chain.run(
      "drift",
      "--state",
      chain.path("state.json"),
      ...inventory(),
      ...policy(),
      "-o",
      "json",
    );
    const broken = [
      /^P1 our own pipelines write production: guest has pusher on acme \/ production$/,
      /^P2 few push: acme \/ production has 4 holders, more than 3$/,
      /^P3 pushers do not list: guest holds one of each duty$/,
    ].map((message): unknown => expect.stringMatching(message));
    expect(assertionsOf(JSON.parse(drift.stdout) as Report).sort()).toEqual(broken);
    expect(drift.code).toBe(7);
    const { code, report } = await review("nothing");
    expect({ code, findings: assertionsOf(report), standing: report.policy?.standing }).toEqual({
      code: 0,
      findings: [],
      standing: ["our own pipelines write production", "few push", "pushers do not list"].map(
        (name): unknown => expect.stringContaining(`${name}: broken in 1 place before`),
      ),
    });
    const access = await chain.run("access", ...inventory(), ...policy());
    expect(access.code).toBe(5);
    expect(access.stdout).toContain("guest has pusher on acme / production");
    await call(emulator, "DELETE", `/iam/v2/roleBindings/${String(bound["uid"])}`);
    await takeInventory();
  });
});
