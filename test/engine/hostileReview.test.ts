import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { accessKinds } from "../../provider/access/graph/accessKinds";
import { parsePreview } from "../../provider/access/documents/preview";
import { listedKinds } from "../../provider/access/documents/inventory";
import { takeInventory } from "../../provider/inventory/takeInventory";
import { failing, judge } from "../support/documents";
import { clientOf } from "../support/driftMatrix";
import { Stack } from "../support/engine";
import { call } from "../support/wire";

/*
 * Edits of a program that a careless or hostile author may make, as the real engine previews them: none of them may
 * pass a review that has an inventory. EDITS names those of one preview.
 */
const PROGRAM = `
const pulumi = require("@pulumi/pulumi");
const platform = require("pulumi-platform");
const { OWNER, VIEWER } = process.env;
const chosen = process.env.EDITS.split(" ");
const has = (edit) => chosen.includes(edit);
const github = "https://token.actions.githubusercontent.com";
const of = (repository) => ({ issuer: github, subject: "repo:" + repository + ":ref:refs/heads/main" });
const org = new platform.Group("org", { name: "acme" });
const team = new platform.Group("team", { parentUid: org.id, name: "team" });
const sandbox = new platform.Group("sandbox", { parentUid: org.id, name: has("swap") ? "production" : "sandbox" });
const prod = new platform.Group("prod", {
  parentUid: has("move") ? sandbox.id : org.id,
  name: has("swap") ? "sandbox" : "production",
});
const ci = new platform.Identity("ci", { parentUid: team.id, name: "ci", claimMatch: of("acme/pay") });
const eve = new platform.Identity("eve",
  { parentUid: team.id, name: "eve", claimMatch: of(has("asByHand") ? "mallory/x" : "acme/eve") },
  has("ignored") ? { ignoreChanges: ["claimMatch"] } : {});
const anchor = has("deletedWith") ? undefined
  : new platform.Role("anchor", { parentUid: team.id, name: "anchor", capabilities: ["CAP_REPO_LIST"] });
new platform.RoleBinding("sandbox-owner", { parentUid: sandbox.id, identityUid: eve.id, roleUid: OWNER });
new platform.RoleBinding("ci-views", {
  parentUid: team.id,
  identityUid: ci.id,
  roleUid: has("secretUpdate") ? pulumi.secret(OWNER) : pulumi.secret(VIEWER),
});
if (!has("deletedWith")) {
  new platform.RoleBinding("ci-anchored", { parentUid: prod.id, identityUid: ci.id, roleUid: VIEWER }, { deletedWith: anchor });
}
const bind = (args, name = "new", opts) =>
  new platform.RoleBinding(name, { parentUid: prod.id, identityUid: eve.id, roleUid: OWNER, ...args }, opts);
const custom = (kind, name, props, opts) =>
  new pulumi.CustomResource("pulumi-nodejs:dynamic/platform:" + kind, name, props, opts);
const handler = (body) => "exports.handler = () => ({" + body + "})";
const edits = {
  secretRole: () => bind({ roleUid: pulumi.secret(OWNER) }, "secret-role"),
  secretHolder: () => bind({ identityUid: pulumi.secret(eve.id) }, "secret-holder"),
  secretPlace: () => bind({ parentUid: pulumi.secret(prod.id) }, "secret-place"),
  secretMap: () => new platform.GroupAccess("access", { parentUid: org.id,
    bindings: pulumi.secret({ a: { identityUid: eve.id, roleUid: OWNER } }) }),
  secretLabel: () => new platform.GroupAccess("access", { parentUid: org.id,
    bindings: { a: { identityUid: ci.id, roleUid: VIEWER }, b: pulumi.secret({ identityUid: eve.id, roleUid: OWNER }) } }),
  secretTrust: () => new platform.Identity("wide", { parentUid: team.id, name: "wide",
    claimMatch: pulumi.secret({ issuer: github, subjectPattern: ".*" }) }),
  secretSink: () => new platform.Subscription("events", { parentUid: org.id, sink: pulumi.secret("https://evil.example/") }),
  secretEmail: () => new platform.GroupInvite("invite", { parentUid: prod.id, roleUid: VIEWER, ttl: "1h",
    email: pulumi.secret("eve@evil.example"), singleUse: true }),
  secretAccount: () => new platform.AccountAssociation("cloud", { parentUid: prod.id, name: "cloud",
    amazon: { account: pulumi.secret("123456789012") } }),
  secretOverlay: () => new platform.Repo("repo", { parentUid: prod.id, name: "repo",
    customOverlay: pulumi.secret({ contents: { packages: ["curl"] } }) }),
  fakeRole: () => {
    const role = custom("Role", "viewer", { name: undefined, capabilities: undefined,
      __provider: handler('read: async (id) => ({ id, props: { name: "viewer", capabilities: ["CAP_REPO_LIST"] } })') }, { id: OWNER });
    bind({ roleUid: role.id });
  },
  fakeBinding: () => {
    custom("RoleBinding", "known", { parentUid: undefined, identityUid: undefined, roleUid: undefined,
      __provider: handler('read: async (id) => ({ id, props: {} })') }, { id: VIEWER });
    bind({});
  },
  fakeKind: () => custom("RoleBinding2", "x", { __provider: handler('create: async () => ({ id: "x", outs: {} })') }),
  dynamic: () => new pulumi.dynamic.Resource({ create: async () => ({ id: "x", outs: {} }) }, "x", {}),
  marker: () => { bind({ roleUid: VIEWER, identityUid: ci.id }); bind({}, "new#retained"); },
  secretUpdate: () => undefined,
  move: () => undefined,
  swap: () => undefined,
  asByHand: () => undefined,
  ignored: () => undefined,
};
for (const edit of chosen) edits[edit]?.();
`;

const EDITS: readonly (readonly [edit: string, finding: RegExp])[] = [
  ["secretRole", /^X3 roleUid of role binding secret-role is secret/],
  ["secretHolder", /^X3 identityUid of role binding secret-holder is secret/],
  ["secretPlace", /^X3 parentUid of role binding secret-place is secret/],
  ["secretMap", /^X3 bindings of group access access is secret/],
  ["secretLabel", /^X3 bindings.* of group access access is secret/],
  ["secretTrust", /^X3 claimMatch.* of identity wide is secret/],
  ["secretSink", /^X3 sink of subscription events is secret/],
  ["secretEmail", /^X3 email of group invite invite is secret/],
  ["secretAccount", /^X3 amazon.* of account association cloud is secret/],
  ["secretOverlay", /^X3 customOverlay.* of repo repo is secret/],
  ["secretUpdate", /^X3 roleUid of role binding ci-views is secret/],
  ["fakeRole", /^X4 .*viewer is not reviewed/],
  ["fakeRole", /^G1 /],
  ["fakeBinding", /^X4 .*known is not reviewed/],
  ["fakeBinding", /^G1 /],
  ["fakeKind", /^X4 .*x is not reviewed/],
  ["dynamic", /^X4 .*x is not reviewed/],
  ["marker", /^G1 /],
  ["move", /^G1 .*becomes owner on acme \/ sandbox \/ production/],
  ["swap", /^X6 .*: acme \/ sandbox was the path of another one/],
];

/** Edits that share a preview, since the finding of each names a resource of its own; the others have one each. */
const TOGETHER: readonly (readonly string[])[] = [
  [
    ...["secretRole", "secretHolder", "secretPlace", "secretMap", "secretTrust", "secretSink", "secretEmail"],
    ...["secretAccount", "secretOverlay", "secretUpdate"],
  ],
  ["secretLabel", "fakeKind", "dynamic"],
];

const previewOf = (edit: string): string => TOGETHER.find((edits) => edits.includes(edit))?.join(" ") ?? edit;

interface Environment extends Record<string, string> {
  OWNER: string;
  VIEWER: string;
  EDITS: string;
}

async function inventoryOf(emulator: Emulator, root: string) {
  const kinds = Object.keys(accessKinds).filter((kind) => listedKinds.includes(kind));
  return takeInventory(clientOf(emulator), { root, kinds, now: Date.now });
}

describe("a review of what the engine previews of a hostile edit", () => {
  let emulator: Emulator;
  let stack: Stack;
  let env: Environment;
  let root: string;
  beforeAll(async () => {
    emulator = await startEmulator();
    stack = new Stack(emulator);
    stack.files({ "index.js": PROGRAM });
    await stack.init();
    const roleUid = async (name: string) => {
      const body = await call(emulator, "GET", `/iam/v2/roles?name=${name}`);
      return (body["roles"] as { uid: string }[])[0]?.uid ?? "";
    };
    env = { OWNER: await roleUid("owner"), VIEWER: await roleUid("viewer"), EDITS: "" };
    await stack.succeed(["up", "--yes", "--skip-preview"], env);
    root = stack.ids()["org"] ?? "";
  });
  afterAll(async () => {
    await emulator.close();
    stack.dispose();
  });

  const reports = new Map<string, Promise<ReturnType<typeof judge>>>();
  async function review(edits: string, ...more: string[]) {
    const run = await stack.pulumi(["preview", "--json", ...more], { ...env, EDITS: edits });
    return judge(parsePreview(run.stdout), { inventory: await inventoryOf(emulator, root) });
  }
  const reviewOnce = (edit: string) => {
    const edits = previewOf(edit);
    const known = reports.get(edits) ?? review(edits, "--show-sames");
    reports.set(edits, known);
    return known;
  };

  test("reports nothing if nothing is edited", async () => {
    const report = await reviewOnce("nothing");
    expect({ findings: report.findings, incomplete: report.incomplete }).toEqual({
      findings: [],
      incomplete: [],
    });
  });

  test.each(EDITS)("%s: %s", async (edit, finding) => {
    const report = await reviewOnce(edit);
    expect(report.incomplete).toEqual([]);
    expect(failing(report)).toContainEqual(expect.stringMatching(finding));
  });

  test("reports that a program begins to ignore who is trusted", async () => {
    const report = await reviewOnce("ignored");
    expect(failing(report)).toEqual([
      expect.stringMatching(/^S1 identity eve ignores changes of claimMatch/),
    ]);
  });

  describe("of what somebody changed by hand", () => {
    const trust = (repository: string) =>
      call(emulator, "PATCH", `/iam/v2/identities/${stack.ids()["eve"] ?? ""}?updateMask=claimMatch`, {
        claimMatch: {
          issuer: "https://token.actions.githubusercontent.com",
          subject: `repo:${repository}:ref:refs/heads/main`,
        },
      });
    beforeAll(() => trust("mallory/x"));
    afterAll(() => trust("acme/eve"));

    test.each([
      ["asByHand", "--show-sames"],
      ["asByHand", "--refresh", "--show-sames"],
      ["asByHand", "--refresh"],
      ["ignored", "--refresh", "--show-sames"],
      ["ignored", "--refresh"],
    ])("%s is reported in a preview with %s %s", async (edits, ...flags) => {
      const report = await review(edits, ...flags);
      expect(failing(report)).toContainEqual(expect.stringMatching(/^X5 .*eve/));
    });

    test("nothing is reported where a refresh is followed by what the program says", async () => {
      const report = await review("nothing", "--refresh", "--show-sames");
      expect(report.findings.filter(({ id }) => id === "X5")).toEqual([]);
    });
  });

  test("reports no grant as lost if the engine skips its delete because of another resource", async () => {
    const report = await reviewOnce("deletedWith");
    expect(report.grants.filter(({ change }) => change === "lost")).toEqual([]);
    const count = () => emulator.state()["roleBindings"]?.length;
    const before = count();
    await stack.pulumi(["up", "--yes", "--skip-preview"], { ...env, EDITS: "deletedWith" });
    expect(count()).toBe(before);
  });
});
