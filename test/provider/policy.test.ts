import fs from "node:fs";
import { basename, join } from "node:path";
import type { PolicyResource } from "@pulumi/policy";
import { accessPolicies, policyRules } from "../../provider/policy";
import type { AccessPolicyArgs } from "../../provider/policy";
import type { Inventory, InventoryObject } from "../../provider/access/documents/inventory";
import { rules } from "../../provider/access/rules";
import { inventoryOf } from "../support/documents";
import { temporaryFolder } from "../support/folders";
import type { Props } from "../../provider/fields/values";
import { explainAsMarkdown, explainRule } from "../../provider/access/rules/explain";

const org = "a".repeat(40);
const GITHUB = "https://token.actions.githubusercontent.com";

/** As the policy SDK hands it over: what is not known throws. */
function unknowing(props: Record<string, unknown>): Record<string, unknown> {
  return new Proxy(props, {
    get: (object, key: string) => {
      if (object[key] === "?") throw new Error(`${key} can't be known during preview`);
      const value = object[key];
      return value !== null && typeof value === "object" && !Array.isArray(value)
        ? unknowing(value as Record<string, unknown>)
        : value;
    },
  });
}

function resource(
  kind: string,
  name: string,
  props: Record<string, unknown>,
  from: Record<string, PolicyResource> = {},
): PolicyResource {
  const sources = Object.entries(from).map(([key, source]) => [key, [source]]);
  return {
    type: `pulumi-nodejs:dynamic/platform:${kind}`,
    urn: `urn:pulumi:prod::acme::pulumi-nodejs:dynamic/platform:${kind}::${name}`,
    name,
    props: unknowing({
      __provider: `exports.handler=()=>require("pulumi-platform/dynamic").${kind}`,
      name,
      ...props,
    }),
    opts: { protect: false, ignoreChanges: [] },
    dependencies: Object.values(from),
    propertyDependencies: Object.fromEntries(sources),
  } as unknown as PolicyResource;
}

interface Violation {
  readonly name: string;
  readonly message: string;
  readonly urn: string | undefined;
}
async function reported(
  resources: PolicyResource[],
  policies: Iterable<ReturnType<typeof accessPolicies>[number]> = accessPolicies(),
): Promise<Violation[]> {
  const found: Violation[] = [];
  for (const { name, validateStack } of policies)
    await validateStack({ resources } as Parameters<typeof validateStack>[0], (message, urn) => {
      found.push({ name, message, urn });
    });
  return found;
}

/** Each violation as "policy: message" with its urn's name. */
const violations = async (resources: PolicyResource[], args: AccessPolicyArgs = {}): Promise<string[]> =>
  (await reported(resources, accessPolicies(args))).map(
    ({ name, message, urn }) => `${name} @${urn?.split("::").at(-1)}: ${message.split("\n")[0]}`,
  );

const ci = (claimMatch: Record<string, unknown>) =>
  resource("Identity", "ci", { parentUid: org, claimMatch: { issuer: GITHUB, ...claimMatch } });
const admin = resource("Role", "admin", { parentUid: org, capabilities: ["CAP_IAM_ROLES_UPDATE"] });

function bound(identityUid: string, roleUid: string, identity: PolicyResource): PolicyResource[] {
  const binding = { parentUid: org, identityUid, roleUid };
  return [identity, admin, resource("RoleBinding", "b", binding, { identityUid: identity, roleUid: admin })];
}

/** A resource of another package, of this provider; of none if it is a component. */
function foreign(type: string, provider?: string): PolicyResource {
  const own = resource("Group", "other", {});
  return {
    ...own,
    type,
    urn: `urn:pulumi:prod::acme::${type}::other`,
    props: {},
    ...(provider === undefined
      ? {}
      : {
          provider: { name: provider, props: {}, type: `pulumi:providers:${type.split(":")[0]}`, urn: "" },
        }),
  };
}

const folder = temporaryFolder();

let files = 0;
function writeText(text: string): string {
  const path = join(folder, `${files++}.json`);
  fs.writeFileSync(path, text);
  return path;
}
const writeInventory = (inventory: Inventory, takenAt = new Date().toISOString()): string =>
  writeText(JSON.stringify({ ...inventory, takenAt }));

const refusal = (errorCode: string, message: string) =>
  expect.objectContaining({ errorCode, message: expect.stringContaining(message) as string }) as Error;

describe("the rules as policies", () => {
  const pinned = ci({ subject: "repo:acme/pay:ref:refs/heads/main" });

  it.each([
    ["not known yet", "?", "?"],
    ["known, and which nothing proves to be these", `${org}/${"1".repeat(16)}`, `${org}/${"2".repeat(16)}`],
  ])("follow references that are %s", async (_, identityUid, roleUid) => {
    expect(await violations(bound(identityUid, roleUid, pinned))).toEqual([
      expect.stringMatching(/^takeover-caps @b: GitHub Actions of acme\/pay, branch main can take over/),
      "unresolved-advice @b: 2 references of role binding b are assumed: identityUid, roleUid",
    ]);
  });

  it("judge patterns by what they hold", async () => {
    const open = ci({ subjectPattern: "^repo:acme" });
    expect(await violations([open])).toEqual([
      expect.stringMatching(/^any-subject @ci: identity ci can be assumed by outsiders/),
      expect.stringMatching(/^shared-issuer @ci: /),
    ]);
  });

  it("report nothing for harmless resources, also of other packages, and for components", async () => {
    expect(await violations([pinned])).toEqual([]);
    expect(await violations([foreign("random:index/randomId:RandomId", "default_4_16_7")])).toEqual([]);
    expect(await violations([foreign("acme:index:Team")])).toEqual([]);
    expect(await violations([])).toEqual([]);
  });

  it.each([
    ["aws:iam/role:Role", "default_6_83_0"],
    ["command:local:Command", "default"],
    ["pulumi-nodejs:dynamic:Resource", "default"],
    ["pulumi-nodejs:dynamic/platform:Unknown", "default"],
    ["random:index/randomId:RandomId", "mine"],
  ])("stop %s of the provider %s, which nobody can review", async (type, provider) => {
    expect(await violations([pinned, foreign(type, provider)])).toEqual([
      expect.stringMatching(/^not-reviewed @other: .* is not reviewed/),
    ]);
  });

  it("print no line that a name could turn into a command, or that hides another", async () => {
    const open = ci({ subjectPattern: "^repo:\u202e\n::error::\u001b[2J##[error]\u0301\u0301.*" });
    const printed = (await reported([open])).flatMap(({ message }) => message.split("\n"));
    expect(printed.filter((line) => line.includes("pattern: ^repo:"))).not.toEqual([]);
    for (const line of printed) expect(line).not.toMatch(/^\s*::|##\[|[\p{Cc}\u202e]/u);
  });

  it("read the inventory once", async () => {
    const inventory = writeInventory(inventoryOf(org));
    const read = jest.spyOn(fs, "readFileSync");
    const policies = accessPolicies({ inventory });
    const judge = async (resources: PolicyResource[]) => {
      // As the SDK does, each policy gets copies of its own.
      for (const policy of policies)
        await reported(
          resources.map((each) => ({ ...each })),
          [policy],
        );
      return read.mock.calls.filter(([path]) => path === inventory).length;
    };
    try {
      expect(await judge([pinned, admin])).toBe(1);
      expect(await judge([pinned])).toBe(1);
    } finally {
      read.mockRestore();
    }
  });

  describe("with an inventory", () => {
    const owner = "0".repeat(40);
    const sandbox = `${org}/${"5".repeat(16)}`;
    const [robot, admins, directory] = ["6", "7", "8"].map((digit) => `${org}/${digit.repeat(16)}`) as [
      string,
      string,
      string,
    ];
    const canBind = { capabilities: ["CAP_IAM_ROLE_BINDINGS_CREATE"] };
    const object = (kind: string, uid: string, inputs: Props, more: object = {}): InventoryObject => ({
      kind,
      uid,
      inputs: uid === org || uid === owner ? inputs : { parentUid: org, ...inputs },
      ...more,
    });
    const trustOf = (repository: string) => ({
      claimMatch: { issuer: GITHUB, subject: `repo:${repository}:ref:refs/heads/m` },
    });
    const held = { parentUid: sandbox, identityUid: robot, roleUid: admins };
    const login = { parentUid: org, defaultRole: owner, oidc: { issuer: "https://x.example" } };
    const objects = [
      object("Group", org, { name: "acme" }),
      object("Group", sandbox, { name: "sandbox" }),
      object("Role", owner, { name: "owner", ...canBind }, { builtIn: true }),
      object("Role", admins, { name: "admins", ...canBind }),
      object("Identity", robot, { name: "robot", ...trustOf("evil/x") }),
      object("RoleBinding", `${sandbox}/${"1".repeat(16)}`, held),
      object("IdentityProvider", directory, { name: "directory", ...login }),
    ];
    const kinds = ["Group", "Role", "Identity", "IdentityProvider", "RoleBinding"];
    const inventory = writeInventory({ ...inventoryOf(org, ...objects), kinds });
    const harmless = {
      Role: { capabilities: ["CAP_REPO_LIST"] },
      Group: {},
      Identity: { claimMatch: { issuer: GITHUB, subject: "repo:acme/pay:ref:refs/heads/main" } },
      IdentityProvider: { defaultRole: owner, oidc: { issuer: "https://login.acme.example" } },
    };
    const decoyOf = (kind: keyof typeof harmless, parentUid = org) =>
      resource(kind, "decoy", { parentUid, ...harmless[kind] });
    const chainguard = { serviceBindings: { INGESTER: robot } };

    const granted = { parentUid: org, identityUid: robot, roleUid: owner };
    const access = { parentUid: org, bindings: { x: { identityUid: robot, roleUid: owner } } };
    const invite = { parentUid: org, roleUid: owner, ttl: "3600s" };
    const mapping = { parentUid: directory, externalGroupId: "g", roleUid: owner, scope: org };
    // Every kind that grants, by each reference that says what or to whom.
    const values: [string, string, Record<string, unknown>, keyof typeof harmless][] = [
      ["RoleBinding", "roleUid", granted, "Role"],
      ["RoleBinding", "roleUid", { ...granted, roleUid: admins }, "Role"],
      ["RoleBinding", "identityUid", granted, "Identity"],
      ["RoleBinding", "parentUid", granted, "Group"],
      ["GroupAccess", "bindings", access, "Role"],
      ["GroupAccess", "parentUid", access, "Group"],
      ["GroupInvite", "roleUid", invite, "Role"],
      ["GroupInvite", "parentUid", invite, "Group"],
      ["IdentityProvider", "defaultRole", login, "Role"],
      ["ExternalGroupRoleMapping", "roleUid", mapping, "Role"],
      ["ExternalGroupRoleMapping", "parentUid", mapping, "IdentityProvider"],
      ["ExternalGroupRoleMapping", "scope", mapping, "Group"],
      ["AccountAssociation", "chainguard", { parentUid: org, chainguard }, "Identity"],
      ["AccountAssociation", "parentUid", { parentUid: org, chainguard }, "Group"],
    ];

    it.each(values)(
      "find in a %s what its %s is, whatever it depends on",
      async (kind, property, props, decoy) => {
        for (const place of [org, sandbox]) {
          const other = decoyOf(decoy, place);
          const bare = await violations([other, resource(kind, "it", props)], { inventory });
          const dependent = resource(kind, "it", props, { [property]: other });
          const hidden = await violations([other, dependent], { inventory });
          expect(hidden).toEqual(expect.arrayContaining(bare));
          expect(bare.join("\n")).toMatch(/^(owner-grant|open-invite|delegation-caps) @it: /m);
        }
        // The same of a value that nobody knows.
        const unknown = decoy === "Group" ? "9".repeat(40) : `${org}/${"9".repeat(16)}`;
        const isWhole = kind === "GroupAccess" || kind === "AccountAssociation";
        const given = isWhole ? props : { ...props, [property]: unknown };
        const other = decoyOf(decoy, sandbox);
        const bare = await violations([other, resource(kind, "it", given)]);
        expect(await violations([other, resource(kind, "it", given, { [property]: other })])).toEqual(
          expect.arrayContaining(bare),
        );
      },
    );

    it("judge a reference to a resource that has another name now by both", async () => {
      const capabilities = ["CAP_IAM_ROLES_UPDATE"];
      const renamed = resource("Role", "r", { parentUid: org, name: "renamed", capabilities });
      const binding = { parentUid: org, identityUid: robot, roleUid: admins };
      const found = await violations([renamed, resource("RoleBinding", "b", binding, { roleUid: renamed })], {
        inventory,
      });
      // Where it is renamed, it allows what it did until the update has written it.
      const delegates = expect.stringMatching(/^delegation-caps .*: CAP_IAM_ROLE_BINDINGS_CREATE$/) as string;
      expect(found.filter((line) => line.includes("@b"))).toEqual([
        expect.stringMatching(/^takeover-caps .*: CAP_IAM_ROLES_UPDATE$/),
        ...[delegates, delegates],
      ]);
    });

    it("call nothing new that the inventory has as the program declares it", async () => {
      const ada = `${org}/${"a".repeat(16)}`;
      const trust = { claimMatch: { issuer: "https://login.acme.example", subject: "ada" } };
      const binding = { parentUid: sandbox, identityUid: ada, roleUid: admins };
      const there = writeInventory({
        ...inventoryOf(
          org,
          ...objects,
          object("Identity", ada, { name: "ada", ...trust }),
          object("RoleBinding", `${sandbox}/${"2".repeat(16)}`, binding),
        ),
        kinds,
      });
      const identity = resource("Identity", "ada", { parentUid: org, ...trust });
      const bind = resource("RoleBinding", "b", { name: undefined, ...binding }, { identityUid: identity });
      expect(await violations([identity, bind], { inventory: there })).toEqual([]);
      // By its name, whatever else the program says of it.
      const described = resource("Identity", "ada", { parentUid: org, ...trust, description: "ours" });
      const same = resource("RoleBinding", "b", { name: undefined, ...binding }, { identityUid: described });
      expect(await violations([described, same], { inventory: there })).toEqual([]);
      expect(await violations([identity, bind], { inventory })).toContainEqual(
        expect.stringMatching(/^any-issuer @ada: identity ada trusts an issuer that no identity/),
      );
    });

    it("take a new uid for that of the one new resource, and assume it where there are two", async () => {
      const fresh = `${org}/${"9".repeat(16)}`;
      const [one, two] = ["one", "two"].map((name) =>
        resource("Role", name, { parentUid: org, capabilities: ["CAP_REPO_LIST"] }),
      ) as [PolicyResource, PolicyResource];
      const inputs = { parentUid: org, identityUid: robot, roleUid: fresh };
      const binding = resource("RoleBinding", "b", inputs, { roleUid: one });
      expect(await violations([one, binding], { inventory })).toEqual([]);
      expect(await violations([one, two, binding], { inventory })).toEqual([
        expect.stringMatching(/^unresolved-advice @b: .* assumed: roleUid$/),
      ]);
    });

    /** The policies that refuse a resource before its request. */
    const asked = async (each: PolicyResource, policies = accessPolicies({ inventory })) => {
      const found: string[] = [];
      const of = { ...each, stackTags: new Map() } as unknown;
      for (const { name, validateResource } of policies)
        for (const validate of [validateResource ?? []].flat())
          await validate(of as Parameters<typeof validate>[0], () => void found.push(name));
      return found;
    };

    it("judge what the policy file forbids and separates, and take its limits", async () => {
      const policyFile = writeText(`
forbid:
  - { name: ours only, can: [CAP_IAM_ROLE_BINDINGS_*], on: [acme], who: { not: [{ subject: ["repo:acme/*"] }] } }
separate:
  - { name: apart, duties: [[CAP_IAM_ROLE_BINDINGS_CREATE], [CAP_REPO_LIST]], on: [acme / sandbox] }
settings: { issuerAllow: ["https://ci.acme.example"] }
`);
      const of = (all: readonly string[], ...names: string[]) =>
        all.filter((line) => names.some((name) => line.startsWith(name)));
      const asserted = ["forbidden-access", "separation-of-duties"];
      const [team, reader] = [decoyOf("Group"), decoyOf("Role")];
      const bind = (roleUid: string, parentUid: string, from: Record<string, PolicyResource> = {}) =>
        resource("RoleBinding", "b", { name: undefined, identityUid: robot, roleUid, parentUid }, from);
      const find = async (...stack: PolicyResource[]) =>
        of(await violations(stack, { inventory, policyFile }), ...asserted);

      // It holds that in the sandbox already.
      expect(await find(bind(admins, sandbox))).toEqual([]);
      expect(await find(bind(admins, org))).toEqual([
        "forbidden-access @b: ours only: robot has admins on acme",
      ]);
      const [fresh, made] = [`${org}/${"e".repeat(16)}`, `${org}/${"d".repeat(16)}`];
      expect(await find(team, bind(admins, made, { parentUid: team }))).toEqual([
        expect.stringMatching(/^forbidden-access @b: ours only: robot has admins on acme/),
      ]);
      expect(await find(reader, bind(fresh, sandbox, { roleUid: reader }))).toEqual([
        "separation-of-duties @b: apart: robot holds one of each duty",
      ]);
      const policies = () => accessPolicies({ inventory, policyFile });
      expect(of(await asked(bind(admins, org), policies()), ...asserted)).toEqual(["forbidden-access"]);
      // Before its request nobody can say what a new role allows.
      expect(of(await asked(bind(fresh, org), policies()), ...asserted)).toEqual([]);

      const other = ci({ subject: "repo:acme/pay:ref:refs/heads/main" });
      expect(of(await violations([other], { inventory, policyFile }), "any-issuer")).toHaveLength(1);
      const options = { issuerAllow: [GITHUB] };
      expect(of(await violations([other], { inventory, policyFile, options }), "any-issuer")).toEqual([]);
      expect(await violations([other], { policyFile })).toContainEqual(
        expect.stringMatching(/^not-judged .*inventory is missing: the policy file asserts/),
      );
    });

    it("refuse before its request what is mandatory, and do not ask again for what is there", async () => {
      expect(await asked(resource("RoleBinding", "b", { ...granted, name: undefined }))).toContain(
        "owner-grant",
      );
      const policies = accessPolicies({ inventory });
      const role = resource("Role", "new", { parentUid: org, ...canBind });
      const fresh = { parentUid: org, identityUid: robot, roleUid: `${org}/${"9".repeat(16)}` };
      expect(await asked(role, policies)).toEqual([]);
      expect(await asked(resource("RoleBinding", "b", fresh), policies)).toEqual(["delegation-caps"]);
      expect(await asked(resource("Role", "admins", { parentUid: org, ...canBind }))).toEqual([]);
    });

    it("refuse before its request what existing grants would give more by, or to somebody else", async () => {
      const widened = (capabilities: string[], name = "admins") =>
        resource("Role", name, { parentUid: org, capabilities });
      const trusting = (repository: string) =>
        resource("Identity", "robot", { parentUid: org, ...trustOf(repository) });
      const more = ["CAP_IAM_ROLE_BINDINGS_CREATE", "CAP_IAM_ROLES_UPDATE"];
      for (const [each, expected] of [
        [widened(more), ["role-widened"]],
        [widened(["CAP_REPO_LIST"]), []],
        [widened(more, "other"), []],
        [trusting("mallory/x"), ["trust-changed"]],
        [trusting("evil/x"), []],
      ] as const) {
        const [early, late] = [await asked(each), await violations([each], { inventory })];
        const isOf = (line: string): boolean => /^(role-widened|trust-changed)(?!-advice)/.test(line);
        expect(early.filter(isOf)).toEqual(expected);
        expect(late.filter(isOf).map((line) => line.split(" ")[0])).toEqual(expected);
        expect((await violations([each])).filter(isOf)).toEqual([]);
      }
      const renamed = widened(more, "other");
      const inputs = { name: undefined, identityUid: robot, roleUid: admins, parentUid: sandbox };
      const bound = resource("RoleBinding", "b", inputs, { roleUid: renamed });
      expect(await violations([renamed, bound], { inventory })).toContainEqual(
        expect.stringMatching(/^role-widened /),
      );
    });

    it("warn of an address of events only where the inventory has no such subscription", async () => {
      const sink = "https://audit.acme.example/x";
      const place = { parentUid: sandbox, sink };
      const listed = writeInventory({
        ...inventoryOf(org, ...objects, object("Subscription", `${sandbox}/${"2".repeat(16)}`, place)),
        kinds: [...kinds, "Subscription"],
      });
      const find = async (to: string) => {
        const one = resource("Subscription", "s", { name: undefined, ...place, sink: to });
        return (await violations([one], { inventory: listed })).map((line) => line.split(" @")[0]);
      };
      expect(await find(sink)).toEqual([]);
      expect(await find("https://elsewhere.example/x")).toEqual(["exposure-advice"]);
    });

    it.each([
      [
        "an inventory that is not there",
        "/nowhere/inventory.json",
        /cannot be read: file or folder not found \(PP5005\)/,
      ],
      ["an inventory that is none", writeText("{}"), /PP60/],
      ["one of last week", writeInventory(inventoryOf(org), "2026-01-01T00:00:00Z"), /was taken .* days ago/],
    ])("report %s as one violation in one line", async (_what, path, message) => {
      const [found, ...more] = await violations([pinned], { inventory: path });
      expect([found, more]).toEqual([
        expect.stringMatching(/^not-judged @undefined: the access cannot /),
        [],
      ]);
      expect(found).toMatch(message);
    });
  });

  it("stop high findings by default, and warn of the others", () => {
    const levels = new Map(accessPolicies().map(({ name, enforcementLevel }) => [name, enforcementLevel]));
    expect(levels.get("owner-grant")).toBe("mandatory");
    expect(levels.get("supply-chain-write")).toBe("mandatory");
    expect(levels.get("supply-chain-write-advice")).toBe("advisory");
    expect(levels.has("owner-grant-advice")).toBe(false);
    expect(levels.get("exposure-advice")).toBe("advisory");
    expect(new Set(levels.keys()).size).toBe(accessPolicies().length);
  });

  it("can be configured by id or name", () => {
    const levels = accessPolicies({ enforcement: { X1: "mandatory", "owner-grant": "disabled" } });
    const of = (name: string) => levels.find((policy) => policy.name === name)?.enforcementLevel;
    expect([of("exposure-advice"), of("owner-grant")]).toEqual(["mandatory", "disabled"]);
    expect(() => accessPolicies({ enforcement: { "owner-grnt": "disabled" } })).toThrow(
      refusal("PP1301", 'did you mean "owner-grant"?'),
    );
  });

  describe("of one's own", () => {
    const ownRule = (find: string): string => {
      const path = join(folder, `${files++}.cjs`);
      const text = `id: "ACME1", name: "no-admin-here", severity: "high", why: "x", fix: "y"`;
      fs.writeFileSync(path, `module.exports = [{ ${text}, find: (facts) => ${find} }];`);
      return path;
    };
    const found = 'facts.grantsToJudge().map((grant) => ({ message: "an admin", grant }))';
    const path = ownRule(found);
    const stack = bound("?", "?", pinned);

    it.each<[string, AccessPolicyArgs]>([
      ["the option names", { rules: path }],
      ["the policy file names", { policyFile: writeText(`rules: ${basename(path)}\n`) }],
    ])("are asked where %s their file, and can be configured", async (_, args) => {
      expect(await violations(stack, args)).toContainEqual(
        expect.stringMatching(/^no-admin-here @b: .*an admin/),
      );
      const configured = accessPolicies({ ...args, enforcement: { ACME1: "advisory" } });
      expect(configured.find(({ name }) => name === "no-admin-here")?.enforcementLevel).toBe("advisory");
    });

    it("stop the update where one fails, and the pack where their file is wrong", async () => {
      expect(await violations(stack, { rules: ownRule("facts.none.x") })).toContainEqual(
        expect.stringMatching(/^not-judged .*rule ACME1 of .*\.cjs cannot judge this: TypeError: /),
      );
      expect(() => accessPolicies({ rules: join(folder, "none.cjs") })).toThrow(refusal("PP6102", ""));
    });
  });

  it.each<[message: string, args: AccessPolicyArgs]>([
    ['did you mean "issuerAllow"?', { options: { issuerAlow: [] } as object }],
    ["issuerAllow must be the https", { options: { issuerAllow: ["x.example"] } }],
    ["small ASCII letters", { options: { issuerAllow: ["https://CI.acme.example"] } }],
    ["sinkAllow must be a host", { options: { sinkAllow: ["http://x.example"] } }],
    ["G1 must be one of advisory", { enforcement: { G1: "mandatoy" as "mandatory" } }],
    ...Object.entries<[string, ...unknown[]]>({
      self: ["the uid of an identity", 1],
      minOwners: ["a whole number of at least 0", -1, 0.5, "1"],
      requiredOwner: ["a list of strings", "uid", [1]],
      maxRemoval: ["a number from 0 to 1", -0.1, 1.1, "1"],
      sinkAllow: ["a list of strings", "x.example"],
      now: ["a number", Number.NaN],
      issuerAllow: ["a list of strings", "https://x.example"],
      newMatches: ["a function", true],
      assertions: ["the assertions of a policy", [], { forbid: [], require: [] }],
      strict: ["true or false", "true"],
    }).flatMap(([option, [must, ...values]]) =>
      values.map((value): [string, AccessPolicyArgs] => [
        `${option} must be ${must}`,
        { options: { [option]: value } },
      ]),
    ),
  ])("refuse with %j: %j", (message, args) => {
    expect(() => accessPolicies(args)).toThrow(refusal("PP1302", message));
  });

  it.each([
    { minOwners: 0 },
    { maxRemoval: 0 },
    { maxRemoval: 1 },
    { strict: true, self: "uid" },
    { now: 0, requiredOwner: ["uid"], sinkAllow: ["https://hooks.example/acme"], self: undefined },
    { newMatches: () => [], assertions: { forbid: [], require: [], separate: [] } },
  ])("take %j", (options) => {
    expect(accessPolicies({ options })).not.toEqual([]);
  });

  it.each(rules.map((rule) => [rule.id, rule] as const))(
    "run %s, or its explanation says why not",
    (id, rule) => {
      const isRun = policyRules.includes(rule);
      const [, reason] =
        /Not in the policy pack: ([^.]+)\./.exec(explainAsMarkdown(rule).replace(/\s+/g, " ")) ?? [];
      expect(explainRule(rule).inPolicyPack).toBe(isRun);
      expect(reason === undefined).toBe(isRun);
      const enforce = () => accessPolicies({ enforcement: { [id]: "disabled" } });
      if (isRun) expect(enforce).not.toThrow();
      else expect(enforce).toThrow(`enforcement: ${id} is not in the policy pack: ${reason}`);
    },
  );

  it("are those that do without the state before and without secrets, or with the object in the inventory", () => {
    expect(policyRules.map(({ id }) => id).join(" ")).toBe(
      "G1 G2 G3 G4 G6 G7 G9 T1 T2 T3 T4 T5 T6 K1 K2 K3 R2 X1 X2 X3 X4 P1 P3",
    );
  });
});
