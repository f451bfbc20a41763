import { compare } from "../../../../provider/access/review/compare";
import type { Sources } from "../../../../provider/access/review/compare";
import type { InventoryObject } from "../../../../provider/access/documents/inventory";
import { applyPolicy, findNewMatches } from "../../../../provider/access/suppressions/applyPolicy";
import { parsePolicy } from "../../../../provider/access/suppressions/policyDocument";
import { defaultRuleOptions, findingsOf } from "../../../../provider/access/rules";
import { parseStateExport } from "../../../../provider/access/documents/stateExport";
import type { Finding } from "../../../../provider/access/review/finding";
import { UNKNOWN } from "../../../../provider/fields/values";
import type { Props } from "../../../../provider/fields/values";
import { inventoryOf, preview, same, state, step, urn } from "../../../support/documents";
import type { State } from "../../../support/documents";
import { NOW } from "../rules/support";

const ACME = "a".repeat(40);
const OWNER = "0".repeat(40);
const below = (n: number): string => `${ACME}/${n.toString(16).padStart(16, "0")}`;
const [SANDBOX, PROD, GLASS, CI] = [below(1), below(2), below(3), below(4)] as const;
const [BINDING, DEEP, ROLE] = [below(5), below(6), below(7)] as const;

const create = (one: State) => step("create", undefined, one);
const update = (one: State, inputs: Props, more: object = {}) =>
  step("update", one, { ...one, inputs: { ...one.inputs, ...inputs }, ...more });
const replace = (one: State, inputs: Props) =>
  step("replace", one, { ...one, id: undefined, inputs: { ...one.inputs, ...inputs } });

const claims = (subject: string): Props => ({
  claimMatch: { issuer: "https://token.actions.githubusercontent.com", subject },
});
const trust = claims("repo:acme/pay:ref:refs/heads/main");
const acme = state("Group", "acme", { name: "acme" }, { id: ACME });
const sandbox = state("Group", "sandbox", { parentUid: ACME, name: "sandbox" }, { id: SANDBOX });
const prod = state("Group", "prod", { parentUid: ACME, name: "prod" }, { id: PROD });
const deep = state("Group", "deep", { parentUid: PROD, name: "deep" }, { id: DEEP });
const glass = state("Identity", "glass", { parentUid: ACME, name: "break-glass", ...trust }, { id: GLASS });
const ci = state("Identity", "ci", { parentUid: ACME, name: "ci", ...trust }, { id: CI });
const CAPS = ["CAP_IAM_ROLES_UPDATE", "CAP_IAM_IDENTITY_UPDATE", "CAP_IAM_ROLE_BINDINGS_CREATE"];
const ownerInputs = { name: "owner", capabilities: CAPS };
const builtIn: InventoryObject = { kind: "Role", uid: OWNER, builtIn: true, inputs: ownerInputs };
const admins = state("Role", "admins", { parentUid: ACME, name: "admins", capabilities: CAPS }, { id: ROLE });
const owners = state("Role", "owners", ownerInputs, { id: OWNER, external: true });

const grant = (
  identityUid: string,
  parentUid: string,
  roleUid = OWNER,
  more: Parameters<typeof state>[3] = {},
) => state("RoleBinding", "grant", { parentUid, identityUid, roleUid }, more);
const depends = (property: string, on: State) => ({ propertyDependencies: { [property]: [on.urn] } });
/** Grants that name something of which the uid is not known yet: to whom, where, and what. */
const grantTo = (who: State) => create(grant(UNKNOWN, PROD, OWNER, depends("identityUid", who)));
const grantOn = (where: State) => create(grant(CI, UNKNOWN, OWNER, depends("parentUid", where)));
const grantOf = (what: State) => create(grant(CI, PROD, UNKNOWN, depends("roleUid", what)));

/** It has the uid of its group. */
const partOf = { parentUid: SANDBOX, github: { installations: [] } };
const part = state("AccountAssociation", "part", partOf, { id: SANDBOX });

const everything = [part, acme, sandbox, prod, deep, glass, ci, admins];
/** The steps of a change: what they leave out stays as it is. */
const withSteps = (...steps: { op: string; urn?: string }[]) => [
  ...everything.filter(({ urn: own }) => !steps.some((one) => one.urn === own)).map(same),
  ...steps,
];

const policy = (match: string) =>
  parsePolicy(`allow:\n  - match: ${match}\n    reason: meant\n    expires: 2027-01-31\n`, "p.yaml");

type Step = Parameters<typeof withSteps>[number];
const sourcesOf = (steps: Step[], objects: readonly InventoryObject[] = [builtIn]): Sources => ({
  preview: preview(...withSteps(...steps)),
  inventory: inventoryOf(ACME, ...objects),
});

function judge(sources: Sources, match: string, rule = "G1") {
  const comparison = compare(sources);
  // A name alone accepts nothing that is high.
  const found = findingsOf(comparison, defaultRuleOptions(NOW))
    .filter(({ id }) => id === rule)
    .map((one): Finding => ({ ...one, severity: "medium" }));
  expect(found).not.toEqual([]);
  return applyPolicy(found, policy(match), NOW, "review", true, comparison);
}

const created = (kind: string, name: string, inputs: Props) =>
  state(kind, `${name}-new`, { name, ...inputs });

describe("an exception", () => {
  it.each([
    ["{ subject: break-glass }", grant(GLASS, PROD)],
    ["{ name: break-glass, role: owner }", grant(GLASS, PROD)],
    ["{ group: acme / sandbox* }", grant(CI, SANDBOX)],
    ["{ group: acme / prod / deep }", grant(CI, DEEP)],
    [`{ uid: ${CI} }`, grant(CI, DEEP)],
    [`{ group: ${DEEP}, subject: ci }`, grant(CI, DEEP)],
    ["{ role: admins }", grant(CI, PROD, ROLE)],
    [`{ role: ${ROLE} }`, grant(CI, PROD, ROLE)],
    ["{ subject: GitHub Actions of acme/pay* }", grant(CI, PROD)],
  ])("%s matches the state before the change", (match, binding) => {
    const exported = { version: 3, deployment: { resources: [...everything, owners] } };
    for (const sources of [
      sourcesOf([create(binding)]),
      { preview: preview(...withSteps(same(owners), create(binding))) },
      { preview: preview(create(binding)), before: parseStateExport(JSON.stringify(exported)) },
    ]) {
      expect(judge(sources, match)).toMatchObject({ findings: [], suppressed: [{ id: "G1" }], unused: [] });
    }
  });

  const fake = created("Identity", "break-glass", { parentUid: ACME, ...trust });
  const fresh = created("Group", "sandbox", { parentUid: ACME });
  const slash = created("Group", "acme / sandbox", {});
  const role = created("Role", "admins", { parentUid: ACME, capabilities: CAPS });
  const other = state("Group", "other", { parentUid: ACME, name: "prod" }, { id: below(9) });
  const mirror = state("Group", "mirror", { parentUid: below(9), name: "mirror" }, { id: below(10) });
  const held = state("RoleBinding", "grant", grant(CI, PROD, ROLE).inputs, { id: BINDING });

  const safe = claims("repo:acme/safe:pull_request");
  const unseen = state("Group", "odd", { parentUid: ACME, name: "sandbox\u200b" }, { id: below(11) });
  const slashBefore = state("Group", "slash", { name: "acme / sandbox" }, { id: "b".repeat(40) });
  const onProd = create(grant(CI, PROD));
  const onDeep = create(grant(CI, DEEP));
  const assumed = update(deep, { parentUid: UNKNOWN }, depends("parentUid", prod));
  const reassigned = { parentUid: SANDBOX, identityUid: UNKNOWN };

  const [SUBJECT, ADMINS, BY_UID] = ["{ subject: break-glass }", "{ role: admins }", `{ uid: "${BINDING}" }`];
  const [IN_SANDBOX, LIKE_SANDBOX, IN_DEEP] = ["sandbox", "sandbox*", "prod / deep"].map(
    (path) => `{ group: acme / ${path} }`,
  ) as [string, string, string];
  const hostile: [string, string, Step[]][] = [
    ["an identity made under the name", SUBJECT, [create(fake), grantTo(fake)]],
    ["an identity renamed to the name", SUBJECT, [update(ci, { name: "break-glass" }), onProd]],
    ["an identity replaced", "{ name: break-glass }", [replace(glass, { parentUid: PROD }), grantTo(glass)]],
    ["a trust changed to the words", "{ subject: GitHub Actions of acme/safe* }", [update(ci, safe), onProd]],
    ["a claim changed to the text", "{ subject: 'repo:acme/safe:*' }", [update(ci, safe), onProd]],
    ["a group made under the name", LIKE_SANDBOX, [create(fresh), grantOn(fresh)]],
    ["a group renamed to fit", LIKE_SANDBOX, [update(prod, { name: "sandbox-2" }), onProd]],
    ["a group below one that is renamed", LIKE_SANDBOX, [update(prod, { name: "sandbox-2" }), onDeep]],
    ["a root whose own name is the path", IN_SANDBOX, [create(slash), grantOn(slash)]],
    ["a root that had that name before", IN_SANDBOX, [same(slashBefore), create(grant(CI, "b".repeat(40)))]],
    [
      "two groups that exchange their names",
      IN_SANDBOX,
      [update(prod, { name: "sandbox" }), update(sandbox, { name: "prod" }), onProd],
    ],
    ["a moving group", "{ group: acme / sandbox / deep }", [update(deep, { parentUid: SANDBOX }), onDeep]],
    [
      "a group that moves below one of the same name",
      "{ group: acme / prod / mirror }",
      [same(other), update(mirror, { parentUid: PROD }), create(grant(CI, below(10)))],
    ],
    ["a group whose parent is not known yet", IN_DEEP, [update(deep, { parentUid: UNKNOWN }), onDeep]],
    ["a group replaced at its place", IN_SANDBOX, [replace(sandbox, {}), grantOn(sandbox)]],
    ["a role made under the name", ADMINS, [create(role), grantOf(role)]],
    ["a renamed role", "{ role: safe }", [update(admins, { name: "safe" }), create(grant(CI, PROD, ROLE))]],
    ["a binding of that uid that grants to another one now", BY_UID, [update(held, { identityUid: GLASS })]],
    ["a name with characters that nobody sees", LIKE_SANDBOX, [same(unseen), create(grant(CI, below(11)))]],
    ["an identity that an unknown value may name", SUBJECT, [grantTo(glass)]],
    [
      "an updated identity that an unknown value may name",
      `{ uid: "${GLASS}" }`,
      [update(glass, { description: "new" }), grantTo(glass)],
    ],
    [
      "a binding that is updated to an unknown value, by its uid",
      BY_UID,
      [update(held, reassigned, depends("identityUid", ci))],
    ],
    ["a group that an unknown value may name", LIKE_SANDBOX, [grantOn(sandbox)]],
    ["a group whose parent is assumed", IN_DEEP, [assumed, onDeep]],
    ["another case", "{ group: acme / Sandbox }", [create(grant(CI, SANDBOX))]],
  ];

  it("matches a binding by its uid while that grants the same to the same", () => {
    const claimMatch = {
      issuer: "https://token.actions.githubusercontent.com",
      subjectPattern: "^repo:acme/.*$",
    };
    const steps = [same(held), update(ci, { claimMatch })];
    expect(judge(sourcesOf(steps), BY_UID)).toMatchObject({ findings: [], suppressed: [{ id: "G1" }] });
  });

  it.each(hostile)("does not match %s", (_what, match, steps) => {
    expect(judge(sourcesOf(steps), match)).toMatchObject({ suppressed: [] });
  });

  it("does not trust the state that an import shows", () => {
    const steps = [step("import", sandbox, sandbox), create(grant(CI, SANDBOX))];
    expect(judge(sourcesOf(steps), "{ group: acme / sandbox }").suppressed).toEqual([]);
    expect(judge(sourcesOf(steps), `{ group: "${SANDBOX}" }`).suppressed).toHaveLength(1);
  });

  it.each([Number.NaN, Infinity])("that ends does not count at a time that is none: %d", (now) => {
    const comparison = compare(sourcesOf([create(grant(GLASS, PROD))]));
    const found = findingsOf(comparison, defaultRuleOptions(NOW));
    const judged = applyPolicy(found, policy("{ subject: break-glass }"), now, "review", true, comparison);
    expect(judged.suppressed).toEqual([]);
  });
});

describe("an exception for a group", () => {
  const made = (kind: string, name: string, n: number, inputs: Props): State =>
    state(kind, name, { parentUid: SANDBOX, name, ...inputs }, { id: below(n) });
  const tester = made("Identity", "tester", 12, trust);
  const moved = update(tester, claims("repo:mallory/x:ref:refs/heads/main"));
  const grown = made("Role", "grown", 13, { capabilities: ["CAP_REPO_LIST"] });
  const more = update(grown, { capabilities: CAPS });
  const bound = (identityUid: string, where: string, roleUid: string): State => ({
    ...grant(identityUid, where, roleUid),
    urn: urn("RoleBinding", `to-${where.slice(-2)}`),
    id: `${where}/${"c".repeat(16)}`,
  });

  const inSandbox = (subject: string, roleUid: string): State => bound(subject, SANDBOX, roleUid);
  const inProduction = (subject: string, roleUid: string): State => bound(subject, PROD, roleUid);
  const rows: [string, string, Step, string][] = [
    ["the trust of an identity", "T5", moved, below(12)],
    ["the capabilities of a role", "G4", more, CI],
  ];

  it.each(rows)("accepts %s where all that it gives is there", (_what, rule, changed, holder) => {
    const role = rule === "G4" ? below(13) : ROLE;
    const steps = [changed, same(inSandbox(holder, role))];
    expect(judge(sourcesOf(steps), "{ group: acme / sandbox }", rule).suppressed).toHaveLength(1);
  });

  it.each([
    ["in production", PROD, []],
    ["in the sandbox", SANDBOX, ["T5"]],
  ])(
    "accepts the trust of an identity whose tokens another one takes that holds something %s: %s",
    (_what, where, ids) => {
      const taker = created("Identity", "taker", {
        parentUid: ACME,
        claimMatch: { issuer: "https://issuer.platform.example", subject: below(12) },
      });
      const [one, other] = [
        { ...taker, id: `${ACME}/${"d".repeat(16)}` },
        where === PROD ? inProduction : inSandbox,
      ] as const;
      const steps = [moved, same(inSandbox(below(12), ROLE)), same(one), same(other(one.id, ROLE))];
      const judged = judge(sourcesOf(steps), "{ group: acme / sandbox }", "T5");
      expect(judged.suppressed.map(({ id }) => id)).toEqual(ids);
    },
  );

  it("accepts not what it gives before the change, nor by an object that is deleted with it", () => {
    const gone = step("delete", inProduction(below(12), ROLE));
    const steps = [moved, gone, same(inSandbox(below(12), ROLE))];
    expect(judge(sourcesOf(steps), "{ group: acme / sandbox }", "T5").suppressed).toEqual([]);
  });
});

describe("what begins to match an exception", () => {
  const entry = (match: string, more = ""): string =>
    `allow:\n  - match: ${match}\n    reason: meant\n    expires: 2027-01-31\n${more}`;
  const beginning = (steps: Step[], text: string, objects: InventoryObject[] = []): string[] => {
    const comparison = compare(sourcesOf(steps, [builtIn, ...objects]));
    const read = parsePolicy(text, "p.yaml");
    const newMatches = () => findNewMatches(read, NOW, comparison);
    const found = findingsOf(comparison, { ...defaultRuleOptions(NOW), newMatches });
    const left = applyPolicy(found, read, NOW, "review", true, comparison).findings;
    return left.filter(({ id }) => id === "S4").map(({ severity, message }) => `${severity} ${message}`);
  };
  const glassLike = created("Identity", "break-glass", { parentUid: SANDBOX, ...trust });
  const lab = created("Group", "lab", { parentUid: ACME });
  /** What begins to match what an entry names, if anything. */
  it.each<[string, Step[], match: string, string]>([
    ["a new identity under the name", [create(glassLike)], "name: break-glass", "identity break-glass"],
    ["a renamed identity", [update(ci, { name: "bob-2" })], "subject: bob*", "identity bob-2"],
    ["another trust", [update(ci, claims("repo:acme/safe:x"))], "subject: repo:acme/safe:*", "identity ci"],
    ["a renamed role", [update(admins, { name: "safe" })], "role: safe", "role safe"],
    ["a renamed group", [update(prod, { name: "sandbox-2" })], "group: acme / sandbox*", "group sandbox-2"],
    ...[SANDBOX, UNKNOWN, "[secret]"].map((parentUid): [string, Step[], string, string] => [
      `a group whose parent becomes ${parentUid}`,
      [update(deep, { parentUid })],
      "group: acme / sandbox*",
      "group deep",
    ]),
    [
      "a group with a name that is not known",
      [update(prod, { name: UNKNOWN })],
      "group: acme / sandbox*",
      "group prod",
    ],
    [
      "a group whose parent depends on what the change imports",
      [step("import", undefined, prod), update(deep, { parentUid: UNKNOWN }, depends("parentUid", prod))],
      "group: acme / sandbox*",
      "group deep",
    ],
    [
      "nothing: a group that goes below one that the change makes",
      [create(lab), update(deep, { parentUid: UNKNOWN }, depends("parentUid", lab))],
      "group: acme / sandbox*",
      "",
    ],
    ["a group below a renamed one", [update(prod, { name: "test" })], "group: acme / test / *", "group deep"],
    [
      "nothing: a new group below one that matches",
      [create(created("Group", "more", { parentUid: SANDBOX }))],
      "group: acme / sandbox*",
      "",
    ],
    ["nothing: what matched before", [update(glass, { description: "new" })], "name: break-glass", ""],
  ])("%s", (_what, steps, match, who) => {
    const said = `medium ${who} begins to match an exception of the policy file: ${match}`;
    expect(beginning(steps, entry(`{ ${match} }`))).toEqual(who === "" ? [] : [said]);
  });

  it.each([
    ["", 1],
    ["    type: Repo\n", 1],
    ["    type: Subscription\n", 0],
    ["    rule: G6\n", 0],
  ])("is a repository where findings of the entry can be about one: %j", (more, count) => {
    const api = state("Repo", "api", { parentUid: PROD, name: "api" }, { id: below(20) });
    expect(beginning([update(api, { name: "web" })], entry("{ name: web }", more))).toHaveLength(count);
  });

  it("is found where a program takes over a name that was given by hand", () => {
    const inputs = { ...ci.inputs, name: "break-glass" };
    const live: InventoryObject = { kind: "Identity", uid: CI, inputs };
    expect(beginning([update(ci, inputs)], entry("{ name: break-glass }"), [live])).toHaveLength(1);
    expect(beginning([same(ci)], entry("{ name: break-glass }"), [live])).toEqual([]);
  });
});
