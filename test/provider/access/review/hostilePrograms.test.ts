import type { ReviewReport } from "../../../../provider/access/report/report";
import type { InventoryObject } from "../../../../provider/access/documents/inventory";
import { decidesAccess, effectOf } from "../../../../provider/fields/fieldAccess";
import { isReference } from "../../../../provider/access/graph/inputLeaves";
import { compare } from "../../../../provider/access/review/compare";
import { isSet } from "../../../../provider/fields/equal";
import type { AccessEffect, FieldSpec } from "../../../../provider/fields/fieldSpec";
import { ADOPT, stringOrEmpty, UNKNOWN } from "../../../../provider/fields/values";
import type { Json, Props } from "../../../../provider/fields/values";
import { partsOf } from "../../../../provider/fields/walk";
import { failing, inventoryOf, judge, preview, same, state, step, urn } from "../../../support/documents";
import type { State } from "../../../support/documents";
import { ownVersion } from "../../../../provider/text/packageVersion";
import { spreadOf } from "../../../support/properties";
import { lines } from "../fixtures";
import { found as foundBy } from "../rules/support";
import {
  GROUP_UID,
  IDENTITY_UID,
  leavesOf,
  ROLE_UID,
  ROOT_UID,
  samples,
  specOf,
  valueAt,
  withValue,
} from "../../support/samples";

const ROOT = "a".repeat(40);
const OWNER = "b".repeat(40);
const VIEWER = "c".repeat(40);
const uid = (n: number): string => `${ROOT}/${n.toString(16).padStart(16, "0")}`;
const [TEAM, CI, READER, BINDING, MALLORY] = [uid(1), uid(2), uid(3), uid(4), uid(5)] as const;

const owner = ["GROUPS_LIST", "ROLES_UPDATE", "ROLE_BINDINGS_CREATE", "IDENTITY_UPDATE"].map(
  (name) => `CAP_IAM_${name}`,
);
const pinned = {
  issuer: "https://token.actions.githubusercontent.com",
  subject: "repo:acme/pay:ref:refs/heads/main",
};
const other = { ...pinned, subject: "repo:acme/evil:ref:refs/heads/main" };

const root = state("Group", "root", { name: "acme" }, { id: ROOT });
const team = state("Group", "team", { parentUid: ROOT, name: "team" }, { id: TEAM });
const ci = state("Identity", "ci", { parentUid: TEAM, name: "ci", claimMatch: pinned }, { id: CI });
const ofMallory = { parentUid: TEAM, name: "mallory", claimMatch: other };
const mallory = state("Identity", "mallory", ofMallory, { id: MALLORY });
const reads = { parentUid: ROOT, name: "reader", capabilities: ["CAP_REPO_LIST"] };
const reader = state("Role", "reader", reads, { id: READER });
const grant = { parentUid: TEAM, identityUid: CI, roleUid: READER };
const binding = state("RoleBinding", "binding", grant, { id: BINDING });
const basis = [root, team, ci, mallory, reader];
const unchanged = basis.map(same);
const providerOf = (more: Props): State => {
  const oidc = { issuer: "https://a.example", clientId: "c" };
  const inputs = { parentUid: ROOT, name: "p", defaultRole: READER, oidc, ...more };
  return state("IdentityProvider", "p", inputs, { id: uid(9) });
};

type More = Partial<InventoryObject>;
const live = (kind: string, own: string, inputs: Props, more: More = {}): InventoryObject => ({
  ...{ kind, uid: own, inputs },
  ...more,
});
const builtIns = [
  live("Role", OWNER, { name: "owner", capabilities: owner }, { builtIn: true }),
  live("Role", VIEWER, { name: "viewer", capabilities: ["CAP_REPO_LIST"] }, { builtIn: true }),
];
const organisation = (...objects: InventoryObject[]) => ({
  inventory: inventoryOf(
    ROOT,
    live("Group", ROOT, { name: "acme" }),
    live("Group", TEAM, { parentUid: ROOT, name: "team" }),
    ...builtIns,
    ...objects,
  ),
});

/** Why a review is incomplete, but for the lists that these inventories do not have. */
const gapsOf = ({ incomplete }: Pick<ReviewReport, "incomplete">): string[] =>
  incomplete.filter((line) => !line.startsWith("the inventory does not list"));

type Steps = { op: string }[];
/** The review of these steps beside the unchanged basis; and the same where an inventory was taken. */
const reviewed = (...steps: Steps) => judge(preview(...unchanged, ...steps));
const reviewedLive = (...steps: Steps) => judge(preview(...unchanged, ...steps), organisation());

/** What the samples of the kinds refer to, and a uid below it. */
const around = [
  state("Group", "o", { name: "o" }, { id: ROOT_UID }),
  state("Group", "g", { parentUid: ROOT_UID, name: "g" }, { id: GROUP_UID }),
  state("Identity", "s", { parentUid: GROUP_UID, name: "s", claimMatch: pinned }, { id: IDENTITY_UID }),
  state("Role", "r", { name: "r", capabilities: owner }, { id: ROLE_UID }),
];
const own = `${GROUP_UID}/${"e".repeat(16)}`;
const listed = (...states: State[]) =>
  inventoryOf(
    ROOT_UID,
    ...states.map((one) => live(one.type.slice(one.type.lastIndexOf(":") + 1), one.id ?? "", one.inputs)),
  );

/** The digest's way to write a secret. */
const SECRET = "[secret]";
const create = (one: State) => step("create", undefined, one);
const anew = (kind: string, name: string, inputs: Props, more = {}) =>
  create(state(kind, name, inputs, more));

/** A value that decides access, as tests set it and as findings name it. */
interface DecidingValue {
  readonly field: FieldSpec;
  /** A member of an object, and whether it need not be set. */
  readonly isMember: boolean;
  readonly isOptional: boolean;
  readonly path: readonly string[];
  readonly named: string;
  readonly effect: AccessEffect | "none";
}

/** The values that decide access, at every depth, of arguments that are set. */
function decidingValues(
  field: FieldSpec,
  value: Json | undefined,
  at: DecidingValue,
  inherited?: AccessEffect | "none",
): DecidingValue[] {
  if (field.secret === true || !decidesAccess(field, inherited) || !isSet(field, value)) return [];
  const members = partsOf(field, value).flatMap((part) =>
    decidingValues(
      part.field,
      part.value,
      {
        field: part.field,
        isMember: field.type === "object",
        isOptional: field.type === "object" && part.field.required !== true,
        path: [...at.path, part.key],
        named: `${at.named}${part.at}`,
        effect: effectOf(part.field, effectOf(field, inherited)),
      },
      effectOf(field, inherited),
    ),
  );
  return [at, ...members];
}

const decidingIn = (kind: string, inputs: Props): DecidingValue[] =>
  Object.entries(specOf(kind).fields).flatMap(([key, field]) =>
    decidingValues(field, inputs[key], {
      field,
      isMember: true,
      isOptional: field.required !== true,
      path: [key],
      named: key,
      effect: effectOf(field),
    }),
  );

describe("a value that is wrapped", () => {
  const cases = samples.flatMap(({ kind, label, inputs }, index) =>
    spreadOf(decidingIn(kind, inputs), 3, index).map((each) => ({ kind, label, inputs, ...each })),
  );

  test.each(cases)(
    "is a finding: $named of $label, secret or not known, new or changed",
    ({ kind, label, inputs, path, named }) => {
      const id = specOf(kind).sharesParentUid === true ? stringOrEmpty(inputs["parentUid"]) : own;
      const before = state(kind, label, inputs, { id });
      for (const [value, words] of [
        [SECRET, "is secret"],
        [UNKNOWN, "is not known yet"],
      ] as const) {
        const wrapped = withValue(inputs, path, value);
        const said = new RegExp(`^X3 ${named.replace(/[.[\]]/g, "\\$&")} of .* ${words}(?: now)?: `);
        const changed = step("update", before, state(kind, label, wrapped, { id }));
        const steps = [...around.map(same), changed, anew(kind, `${label}-new`, wrapped)];
        const report = judge(preview(...steps), { inventory: listed(...around) });
        expect(failing(report).filter((line) => said.test(line))).toHaveLength(2);
      }
    },
  );

  test("is no finding if the field is always secret, or decides no access", () => {
    const oidc = { issuer: "https://a.example", clientId: "c", clientSecret: SECRET };
    const changed = providerOf({ oidc, description: SECRET });
    const report = reviewed(step("update", providerOf({ oidc }), changed));
    expect(report.findings.filter(({ id }) => id === "X3")).toEqual([]);
  });

  test("differs from the placeholder text that a program writes itself", () => {
    const forged = `\u0000${JSON.stringify(["secret", urn("RoleBinding", "old"), "before", "roleUid"])}`;
    const hidden = state("RoleBinding", "old", { ...grant, roleUid: SECRET }, { id: BINDING });
    const report = reviewed(same(hidden), anew("RoleBinding", "new", { ...grant, roleUid: forged }));
    expect(report.summary.gained).toBe(1);
    expect(failing(report)).toContainEqual(expect.stringMatching(/^X3 roleUid .* cannot be read/));
  });
});

describe("a reference that is no uid, in a preview that no engine wrote", () => {
  const cases = samples.flatMap(({ kind, label, inputs }) =>
    decidingIn(kind, inputs)
      .filter(({ field }) => isReference({ field }))
      .map((each) => ({ kind, label, inputs, ...each })),
  );
  const texts = [" ", "\t", "x", `${ROOT} `, "A".repeat(40)];
  const wrong: readonly Json[] = [...texts, ...[0, 5, true, false], {}, [], [ROOT]];
  const empty: readonly Json[] = ["", null];

  test.each(spreadOf(cases, 25, 0))(
    "cannot be judged: $named of $label",
    ({ kind, label, inputs, path, named, isMember, isOptional }) => {
      const values: (Json | undefined)[] = [
        ...wrong,
        ...(isOptional ? [] : empty),
        // An item that is taken out is not there: only a member must be.
        ...(isMember && !isOptional ? [undefined] : []),
      ];
      // All are resources of one preview, so that one comparison judges them.
      const tried = values
        .flatMap((value) => ["create", "update", "replace"].map((op) => ({ op, value })))
        .map(({ op, value }, i) => {
          const name = `${label}-${i}`;
          const given = op === "create" ? {} : { id: uid(100 + i) };
          const declared = state(kind, name, withValue(inputs, path, value), given);
          const before = op === "create" ? undefined : state(kind, name, inputs, given);
          return { op, value, urn: declared.urn, step: step(op, before, declared) };
        });
      const compared = compare({ preview: preview(...unchanged, ...tried.map((each) => each.step)) });
      const findings = foundBy("X3", compared);
      for (const { op, value, urn: of } of tried) {
        const found = findings.filter((each) => each.severity === "high" && each.urn === of);
        expect({ value, op, found: found.map(({ message }) => message) }).toEqual({
          value,
          op,
          found: expect.arrayContaining([expect.stringContaining(`${named} of `) as string]) as string[],
        });
      }
    },
  );
});

describe("a value that becomes secret", () => {
  const given = { parentUid: ROOT_UID, identityUid: own, roleUid: ROLE_UID };
  const all = [...around, state("RoleBinding", "its", given, { id: uid(77) })];

  /** What a report says beside the finding that a value cannot be judged, and that a secret inside it may have changed. */
  const saidBeside = ({ findings, grants, groups, trust, summary }: ReviewReport) => ({
    messages: findings.flatMap(({ id, message }) => (["X2", "X3"].includes(id) ? [] : [`${id} ${message}`])),
    grants,
    groups,
    trust,
    changes: [summary.gained, summary.lost, summary.widened, summary.narrowed, summary.unchanged],
  });

  const cases = samples.flatMap(({ kind, label, inputs }, index) => {
    const hidden = leavesOf(specOf(kind).fields)
      .filter(({ path, field }) => field.secret === true && valueAt(inputs, path) !== undefined)
      .reduce((masked, { path }) => withValue(masked, path, SECRET), inputs);
    const deciding = spreadOf(decidingIn(kind, hidden), 3, index);
    return deciding.length === 0 ? [] : [{ kind, label, inputs: hidden, deciding }];
  });

  test.each(cases)(
    "is one finding, and the report says nothing else of it: $label",
    ({ kind, label, inputs, deciding }) => {
      const id = specOf(kind).sharesParentUid === true ? stringOrEmpty(inputs["parentUid"]) : own;
      const plain = state(kind, label, inputs, { id });
      for (const [op, known] of [
        ["same", {}],
        ["update", { inventory: listed(...all, plain) }],
      ] as const) {
        const judged = (after: Props): ReviewReport =>
          judge(preview(...all.map(same), step(op, plain, state(kind, label, after, { id }))), known);
        const expected = saidBeside(judged(inputs));
        for (const { path, named } of deciding) {
          const report = judged(withValue(inputs, path, SECRET));
          const found = report.findings.filter((finding) => finding.id === "X3");
          const advice = expect.stringContaining("pulumi.unsecret") as string;
          expect(found).toMatchObject([{ severity: "high", field: path[0], advice }]);
          expect(found[0]?.message).toContain(`${named} of `);
          expect({ named, ...saidBeside(report) }).toEqual({ named, ...expected });
        }
      }
    },
  );
});

test("what an update writes is judged, whatever a forged preview says of one that failed", () => {
  const failed = { id: READER, outputs: reads, initErrors: ["failed"] };
  const wide = state("Role", "reader", { ...reads, capabilities: owner }, failed);
  const report = judge(preview(...[root, team, ci, binding].map(same), step("update", reader, wide)));
  expect(failing(report)).toContainEqual(expect.stringMatching(/^G4 /));
});

test.each<[string | string[]]>([["[secret]"], [["[secret]"]]])(
  "capabilities that were secret are compared with those that the server has: %j",
  (capabilities) => {
    const held = live("Role", READER, reads);
    const bound = live("RoleBinding", BINDING, grant);
    const hidden = state("Role", "reader", { ...reads, capabilities }, { id: READER });
    const gained = (now: readonly string[]) => {
      const shown = state("Role", "reader", { ...reads, capabilities: [...now] }, { id: READER });
      const steps = [root, team, ci, binding].map(same);
      return judge(
        preview(...steps, step("update", hidden, shown)),
        organisation(held, bound, live("Identity", CI, ci.inputs)),
      );
    };
    expect(gained(reads.capabilities).grants).toEqual([]);
    expect(failing(gained([...reads.capabilities, ...owner]))).toContainEqual(expect.stringMatching(/^G4 /));
  },
);

test("a secret item of a list is judged as it was only where all other items keep their places", () => {
  const role = (...capabilities: string[]) =>
    state("Role", "r", { parentUid: ROOT_UID, name: "r", capabilities }, { id: own });
  const held = state(
    "RoleBinding",
    "held",
    { parentUid: ROOT_UID, identityUid: uid(78), roleUid: own },
    { id: uid(77) },
  );
  const old = role("CAP_REPO_LIST", "CAP_TAG_LIST");
  const inventory = listed(...around, old, held);
  const grantsOf = (...capabilities: string[]) =>
    judge(preview(...[...around, held].map(same), step("update", old, role(...capabilities))), { inventory })
      .grants;
  expect(grantsOf("CAP_REPO_LIST", SECRET)).toEqual(grantsOf("CAP_REPO_LIST", "CAP_TAG_LIST"));
  expect(grantsOf("CAP_TAG_LIST", SECRET)).not.toEqual(grantsOf("CAP_TAG_LIST", "CAP_TAG_LIST"));
});

describe("a name that nobody can read", () => {
  const named = samples.filter(({ inputs }) => typeof inputs["name"] === "string");

  test.each(named)("is a finding: $label", ({ kind, label, inputs }) => {
    const plain = state(kind, label, inputs, { id: own });
    const aboutName = (...steps: ReturnType<typeof same>[]): string[] =>
      judge(preview(...around.map(same), ...steps)).findings.flatMap(({ id, severity, field, message }) =>
        id === "X3" && field === "name" ? [`${severity} ${message.slice(0, message.indexOf(" of "))}`] : [],
      );
    const secret = { ...inputs, name: SECRET };
    const unknown = { ...inputs, name: UNKNOWN };
    for (const hidden of [secret, unknown]) {
      expect(aboutName(anew(kind, label, hidden))).toEqual(["high name"]);
      expect(aboutName(step("update", plain, state(kind, label, hidden, { id: own })))).toEqual([
        "high name",
      ]);
    }
    expect(aboutName(same(plain))).toEqual([]);
    expect(aboutName(same(state(kind, label, secret, { id: own })))).toEqual([]);
  });
});

test("thousands of unknown labels are reviewed quickly, and reported in few lines", () => {
  const count = 1_000;
  const sources = Array.from({ length: count }, (_, i) =>
    anew("Identity", `i${i}`, { parentUid: TEAM, name: `i${i}`, claimMatch: pinned }),
  );
  const bindings = Object.fromEntries(
    sources.map((_one, i) => [`l${i}`, { identityUid: UNKNOWN, roleUid: UNKNOWN }]),
  );
  const dependencies = { bindings: sources.map(({ urn: from }) => from ?? "") };
  const all = anew("GroupAccess", "all", { parentUid: TEAM, bindings }, { dependencies });
  const report = reviewed(...sources, all);
  expect(failing(report).filter((line) => line.startsWith("X3"))).toHaveLength(1);
  expect(report.unresolved).toHaveLength(1);
  expect(JSON.stringify(report.findings).length).toBeLessThan(100_000);
});

describe("what looks like a resource of this package", () => {
  test.each([
    ["a text that is secret", SECRET],
    ["a text that is not known", UNKNOWN],
    ["the text of another kind", 'exports.handler=()=>require("pulumi-platform/dynamic").Role'],
    ["more behind it", 'exports.handler=()=>require("pulumi-platform/dynamic").RoleBinding;evil()'],
  ])("is not reviewed with %s", (_what, text) => {
    const one = state("RoleBinding", "b", { ...grant, __provider: text });
    expect(failing(reviewed(create(one)))).toContainEqual(expect.stringMatching(/^X4 /));
  });

  test("is not reviewed where the text in its outputs, which deletes it, is another", () => {
    const one = { ...binding, outputs: { __provider: "evil" } };
    expect(failing(reviewed(step("delete", one)))).toContainEqual(expect.stringMatching(/^X4 /));
  });
});

describe("a resource of another package", () => {
  const ref = (pkg: string, name: string): string =>
    `urn:pulumi:production::acme::pulumi:providers:${pkg}::${name}::0c5b`;
  const foreign = (type: string, given: object = {}): State => {
    const provider = ref(type.slice(0, type.indexOf(":")), "default_4_16_7");
    const urn = `urn:pulumi:production::acme::${type}::x`;
    return { urn, type, custom: true, provider, inputs: {}, ...given } as unknown as State;
  };
  const all = (one: State) => [
    create(one),
    step("update", one, one),
    step("replace", one, one),
    step("delete", one),
    step("read", undefined, one),
    step("import", undefined, one),
  ];

  test.each<[string, object?]>([
    ["aws:iam/role:Role"],
    ["kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding"],
    ["pulumi-nodejs:dynamic:Resource"],
    ["pulumi-nodejs:dynamic/other:RoleBinding"],
    ["pulumi-nodejs:dynamic/platform:RoleBinding2"],
    ["pulumi-nodejs:dynamic/platform:RoleBinding/x"],
    ["acme:index:Team"],
    ["random:index/unknown:Unknown"],
    ["pulumi:providers:command"],
    ["pulumi:providers:random", { inputs: { version: "4.16.7", pluginDownloadURL: "https://evil.example" } }],
    [
      "pulumi:providers:random",
      { inputs: { version: "4.16.7", __internal: { pluginDownloadURL: "https://evil.example" } } },
    ],
    ["pulumi:providers:tls", { inputs: { __internal: { parameterization: {} } } }],
    ["random:index/randomId:RandomId", { provider: ref("random", "default_4_16_7_https_/evil.example") }],
    ["random:index/randomId:RandomId", { provider: ref("random", "mine") }],
    ["random:index/randomId:RandomId", { provider: undefined }],
    // The plugin of dynamic resources runs the code that it is given, whatever the type.
    ["random:index/randomId:RandomId", { provider: ref("pulumi-nodejs", "default") }],
    ["random:index/randomId:RandomId", { provider: ref("tls", "default") }],
    [
      "random:index/randomId:RandomId",
      { provider: ref("random", "default").replace("::pulumi:", "::a$$pulumi:") },
    ],
    ["random:index/randomId:RandomId", { inputs: { __provider: "exports.handler=()=>evil" } }],
    ["random:index/randomId:RandomId", { outputs: { __provider: "exports.handler=()=>evil" } }],
    ["pulumi:pulumi:StackReference", { provider: ref("pulumi-nodejs", "default") }],
    ["pulumi:pulumi:StackReference", { inputs: { __provider: "exports.handler=()=>evil" } }],
    ["pulumi:index:Stash", { provider: ref("pulumi-nodejs", "default") }],
    ["acme:index:Team", { custom: false, provider: undefined, inputs: { __provider: "x" } }],
  ])("is not reviewed with the type %s, whatever happens to it", (type, given = {}) => {
    const one = foreign(type, given);
    for (const changed of all(one)) {
      expect(failing(reviewed(changed))).toEqual([expect.stringMatching(/^X4 .* is not reviewed/)]);
    }
    expect(failing(reviewed(same(one)))).toEqual([]);
  });

  test.each<[string, object?]>([
    ["random:index/randomId:RandomId"],
    ["tls:index/privateKey:PrivateKey", { provider: ref("tls", "default") }],
    ["pulumi:providers:random", { inputs: { version: "4.16.7", __internal: {} } }],
    ["pulumi:pulumi:StackReference"],
    ["pulumi:index:Stash", { provider: ref("pulumi", "default") }],
    ["acme:index:Team", { custom: false, provider: undefined }],
  ])("is known to be harmless with the type %s", (type, given = {}) => {
    for (const changed of all(foreign(type, given))) {
      expect(failing(reviewed(changed))).toEqual([]);
    }
  });
});

describe("a provider that the engine calls unchanged", () => {
  const type = "pulumi:providers:platform";
  const plugin = (name: string, inputs: object): State =>
    ({
      urn: `urn:pulumi:production::acme::${type}::${name}`,
      type,
      custom: true,
      inputs,
    }) as unknown as State;
  const internal = { __internal: { name: "evil", parameterization: "eA==" } };

  test("is not reviewed where its inputs name another plugin than before", () => {
    const [published, other, next] = [{}, internal, { __internal: { name: "worse" } }].map((inputs) =>
      plugin("mine", inputs),
    ) as [State, State, State];
    for (const [before, after] of [
      [published, other],
      [other, next],
    ] as const)
      expect(failing(reviewed(step("same", before, after)))).toEqual([
        "X4 platform mine is not reviewed (update): it runs a plugin of another address or in another form",
      ]);
    expect(failing(reviewed(same(other)))).toEqual([]);
  });

  test("and is another one than before is a change of the resource, there and back", () => {
    const token = "platform:index:RoleBinding";
    const managedBy = (name: string) =>
      ({
        urn: `urn:pulumi:production::acme::${token}::b`,
        type: token,
        custom: true,
        inputs: grant,
        provider: `urn:pulumi:production::acme::${type}::${name}::0c5b`,
      }) as unknown as State;
    const [ours, far, farther] = ["default", "far", "farther"].map(managedBy) as [State, State, State];
    for (const [before, after] of [
      [ours, far],
      [far, farther],
      [far, ours],
    ] as const)
      expect(failing(reviewed(...unchanged, step("same", before, after)))).toEqual([
        "X4 RoleBinding b is not reviewed (update): it has a provider of its own, which may be another plugin, or talk to another address",
      ]);
    expect(failing(reviewed(...unchanged, same(far)))).toEqual([]);
  });

  test("and runs another plugin than its name says takes the resources along", () => {
    const own = plugin(`default_${ownVersion().replaceAll(".", "_")}`, internal);
    const kind = "platform:index:RoleBinding";
    const named = { urn: `urn:pulumi:production::acme::${kind}::b`, type: kind, inputs: grant };
    const one = { ...named, custom: true, provider: `${own.urn}::0c5b` } as unknown as State;
    expect(failing(reviewed(...unchanged, create(one)))).toEqual([]);
    expect(failing(reviewed(...unchanged, same(own), create(one)))).toEqual([
      "X4 RoleBinding b is not reviewed (create): its provider runs a plugin of another address or in another form",
    ]);
  });
});

describe("the version of another package, which an exception names", () => {
  const plugin = (inputs: object): State => {
    const type = "pulumi:providers:aws";
    const own = `urn:pulumi:production::acme::${type}::default_6_83_0`;
    return { urn: own, type, custom: true, inputs } as unknown as State;
  };
  const [published, newer] = [plugin({ version: "6.83.0" }), plugin({ version: "6.84.0" })];
  const elsewhere = plugin({ version: "6.83.0", pluginDownloadURL: "https://evil.example" });
  const bucket = {
    urn: "urn:pulumi:production::acme::aws:s3/bucket:Bucket::logs",
    type: "aws:s3/bucket:Bucket",
    custom: true,
    provider: `${published.urn}::0c5b`,
    inputs: {},
  } as unknown as State;

  test.each<[string, { op: string }[], string | undefined]>([
    ["no provider at all, whatever its name says", [], undefined],
    ["a new provider", [create(published)], "6.83.0"],
    ["a new one of another address", [create(elsewhere)], undefined],
    ["an unchanged one", [same(published)], "6.83.0"],
    ["another version", [step("update", published, newer)], "6.84.0"],
    ["an address that is new", [step("update", published, elsewhere)], undefined],
    // As a plan shows it: only what changes.
    ["an update without what was before", [step("update", undefined, newer)], undefined],
  ])("is known by the provider that documents show: %s", (_title, steps, version) => {
    const { findings } = reviewed(...steps, create(bucket));
    const found = findings.find(({ urn: own }) => own === bucket.urn);
    expect(found?.id).toBe("X4");
    expect(found?.packageVersion).toBe(version);
  });
});

describe("a resource that is read with .get", () => {
  const read = (kind: string, name: string, id: string, outputs: Props) =>
    step("read", undefined, state(kind, name, {}, { id, external: true, outputs }));

  test("or adopted cannot make a new grant look like an existing one", () => {
    const said = { parentUid: TEAM, identityUid: MALLORY, roleUid: OWNER };
    const imported = state("RoleBinding", "known", said, { id: uid(60), importID: uid(60) });
    for (const first of [read("RoleBinding", "known", uid(60), said), step("import", undefined, imported)]) {
      const report = reviewedLive(first, anew("RoleBinding", "b", said));
      expect(failing(report)).toContainEqual(expect.stringMatching(/^G1 /));
    }
  });

  test("keeps what is adopted, which the provider does not delete for another resource that is replaced", () => {
    const held = state("RoleBinding", "b", grant, { id: BINDING });
    const moved = state("RoleBinding", "b", { ...grant, roleUid: OWNER });
    const adopted = state("RoleBinding", "kept", grant, { id: BINDING, importID: BINDING });
    const { grants } = reviewedLive(step("replace", held, moved), step("import", undefined, adopted));
    expect(grants.map(({ change }) => change)).toEqual(["gained"]);
  });

  test.each(["ScimToken", "AccountAssociation"])(
    "keeps nothing of what the same change deletes where it shares the uid of its parent: %s",
    (kind) => {
      const inputs =
        kind === "ScimToken"
          ? { parentUid: TEAM }
          : { parentUid: TEAM, name: "a", amazon: { account: "1".repeat(12) } };
      const held = state(kind, "held", inputs, { id: TEAM, outputs: inputs });
      const { changes } = compare({
        preview: preview(step("delete", held), read(kind, "again", TEAM, inputs)),
      });
      expect(changes.map(({ op, after }) => [op, after])).toContainEqual(["read", undefined]);
    },
  );

  test("or adopted is announced as it is, whatever the program declares: the update refuses that", () => {
    const adopted = state("Role", "reader", { ...reads, capabilities: owner }, { importID: READER });
    const objects = [
      live("Role", READER, reads),
      live("Identity", CI, ci.inputs),
      live("RoleBinding", BINDING, grant),
    ];
    const steps = [root, team, ci, mallory].map(same);
    const report = judge(
      preview(...steps, step("import", undefined, adopted), same(binding)),
      organisation(...objects),
    );
    expect(report.grants).toEqual([]);
    expect(report.expected?.entities).toContainEqual(
      expect.objectContaining({ uid: READER, inputs: expect.objectContaining(reads) as unknown }),
    );
    expect(report.findings).toContainEqual(
      expect.objectContaining({ id: "X5", severity: "medium", field: "capabilities" }),
    );
  });

  test("or adopted is refused for what it declares otherwise, but for what an import ignores", () => {
    const wider = { ...reads, capabilities: owner };
    const found = (more: Props, options: object) => {
      const adopted = state("Role", "reader", { ...wider, ...more }, { importID: READER, ...options });
      const steps = [...[root, team, ci, mallory].map(same), step("import", undefined, adopted)];
      const { findings } = judge(preview(...steps), organisation(live("Role", READER, reads)));
      return findings.filter(({ id, field }) => id === "X5" && field === "capabilities").length;
    };
    const ignoring = { ignoreChanges: ["capabilities"] };
    expect([found({}, {}), found({}, ignoring), found({ [ADOPT]: READER }, ignoring)]).toEqual([1, 0, 1]);
  });

  test.each([
    ["by a uid that is not known yet", anew("Role", "x", { ...reads, [ADOPT]: UNKNOWN }), "create"],
    ["by a secret uid", anew("Role", "x", { ...reads, [ADOPT]: SECRET }), "create"],
    [
      "in the place of another one",
      step("replace", reader, state("Role", "reader", { ...reads, [ADOPT]: READER })),
      "create",
    ],
  ])("or adopted is not reviewed %s", (_how, adopting, op) => {
    const { findings, grants } = reviewedLive(same(binding), adopting);
    expect(findings).toContainEqual(
      expect.objectContaining({
        id: "X4",
        severity: "high",
        message: expect.stringContaining(
          ` is not reviewed (${op}): it adopts an object that the preview does not show`,
        ) as unknown,
      }),
    );
    expect(grants.every(({ change }) => change !== "narrowed")).toBe(true);
  });

  test("cannot list fewer capabilities than the live role has", () => {
    const more = { name: "owner", capabilities: [...owner, "CAP_NEVER_HELD_DELETE"] };
    const dependencies = { roleUid: [urn("Role", "custom")] };
    const report = reviewed(
      read("Role", "owner", "d".repeat(40), more),
      anew("Role", "custom", { parentUid: ROOT, name: "custom", capabilities: owner }),
      anew("RoleBinding", "b", { ...grant, roleUid: UNKNOWN }, { dependencies }),
    );
    expect(failing(report)).toContainEqual(expect.stringMatching(/^G1 .*equivalent to owner/));
  });
});

describe("a name that looks like a key", () => {
  test("hides no group of a directory behind another", () => {
    const given = { parentUid: uid(9), roleUid: READER, scope: ROOT };
    const mapping = (name: string, externalGroupId: string) =>
      anew("ExternalGroupRoleMapping", name, { ...given, externalGroupId });
    const mappings = [mapping("a", "x"), mapping("b", "x#retained"), mapping("c", "#retained")];
    const report = reviewed(same(providerOf({})), ...mappings);
    expect(report.summary.gained).toBe(3);
  });
});

test("a SCIM token is reported: its bearer can admit anyone", () => {
  for (const [name, shown] of [
    ["staff", "staff"],
    ["x” of “admins", '“x" of "admins”'],
  ] as const) {
    const provider = providerOf({ name, defaultRole: OWNER });
    const report = reviewedLive(same(provider), anew("ScimToken", "scim", { parentUid: uid(9) }));
    expect(lines(report.grants)).toEqual([
      `gained: whoever has a SCIM token of ${shown}: owner at acme (+4 -0)`,
    ]);
    expect(failing(report).map((line) => line.slice(0, 2))).toEqual(["G1", "G7", "G8"]);
  }
});

test("a group whose new name nobody can read is called by the name that the server has", () => {
  const named = (name: string, more = {}) =>
    state("Group", "test-area", { parentUid: ROOT, name, description: "x", ...more }, { id: TEAM });
  const renamed = step("update", named("team"), named(SECRET, { description: "y" }));
  const granted = anew("RoleBinding", "b", { parentUid: TEAM, identityUid: CI, roleUid: OWNER });
  const steps = [root, ci, mallory, reader].map(same);
  const report = judge(preview(...steps, renamed, granted), organisation());
  expect(lines(report.grants)).toEqual([expect.stringMatching(/: owner at acme \/ team \(name not known\)/)]);
  expect(report.findings.map(({ id, severity }) => `${severity} ${id}`)).toContain("high X3");
  expect(JSON.stringify(report.findings)).not.toMatch(/acme \/ test-area/);
});

describe("access that is reported as lost", () => {
  const asOwner = { parentUid: TEAM, identityUid: MALLORY, roleUid: OWNER };

  test("stays where the engine leaves its delete to that of another resource", () => {
    const held = { ...state("RoleBinding", "b", asOwner, { id: BINDING }), deletedWith: reader.urn } as State;
    const others = [root, team, ci, mallory].map(same);
    const withRemoval = (removal: Parameters<typeof preview>[0]) =>
      judge(preview(...others, removal, step("delete", held)), organisation());
    const left = withRemoval(step("delete", reader));
    expect([left.grants, gapsOf(left)]).toEqual([[], []]);
    expect(reviewedLive(step("delete", held)).summary.lost).toBe(1);
    // What is replaced may be deleted first, and then the engine deletes both.
    const replaced = withRemoval(step("replace", reader, state("Role", "reader", reader.inputs)));
    expect(replaced.grants.map(({ change }) => change)).toContain("lost");
    const doubt = [expect.stringMatching(/RoleBinding b .*Role reader, and one of the two is replaced/)];
    expect(gapsOf(replaced)).toEqual(doubt);
    // By an alias it has another name from then on.
    const renamed = step("replace", reader, state("Role", "other", reader.inputs));
    expect(gapsOf(withRemoval(renamed))).toEqual(doubt);
    const moved = step("replace", held, state("RoleBinding", "b", { ...asOwner, roleUid: VIEWER }));
    const steps = preview(...others, step("delete", reader), moved);
    expect(gapsOf(judge(steps, organisation()))).toEqual(doubt);
  });

  test.each(["replace", "read-replacement"])(
    "is lost where what gave it is replaced by what is only read, by %s, and the other object stays as it is",
    (op) => {
      const binding = (name: string, id: string, given: Props, more = {}) =>
        state("RoleBinding", name, given, { id, ...more });
      const other = { parentUid: TEAM, identityUid: CI, roleUid: READER };
      const server = organisation(live("RoleBinding", BINDING, asOwner), live("RoleBinding", uid(8), other));
      const old = binding("b", BINDING, asOwner);
      // The state after the change may claim to be what goes.
      for (const shown of [other, asOwner]) {
        const read = binding("b", uid(8), shown, { external: true });
        const report = judge(preview(...unchanged, step(op, old, read)), server);
        expect(report).toMatchObject({ findings: [], unrelated: [] });
        expect(gapsOf(report)).toEqual([]);
        expect(lines(report.grants)).toEqual([expect.stringMatching(/^lost: .*owner at acme \/ team/)]);
      }
    },
  );

  test("may be lost where another provider takes over what is deleted: neither knows what the other one manages", () => {
    const of = (provider: string) => ({ provider: `urn:pulumi:p::s::pulumi:providers:${provider}::id` });
    const held = state("RoleBinding", "b", asOwner, { id: BINDING, ...of("pulumi-nodejs::default") });
    const adopting = (provider: string) =>
      anew("RoleBinding", "c", { ...asOwner, __adopt: BINDING }, of(provider));
    const withTaker = (provider: string) =>
      gapsOf(
        judge(
          preview(step("delete", held), adopting(provider)),
          organisation(live("RoleBinding", BINDING, asOwner)),
        ),
      );
    expect(withTaker("pulumi-nodejs::default")).toEqual([]);
    for (const other of ["pulumi-nodejs::default_3_230_0", "pulumi-nodejs::second"])
      expect(withTaker(other)).toEqual([
        expect.stringMatching(/RoleBinding b is deleted, .*another provider/),
      ]);
  });

  test("is lost though something that is only read claims to grant it", () => {
    const held = state("RoleBinding", "b", asOwner, { id: BINDING });
    const { parentUid, ...entry } = asOwner;
    const objects = organisation(live("RoleBinding", BINDING, asOwner));
    const claims = [
      state("GroupAccess", "read", { parentUid, bindings: { a: entry } }, { id: TEAM, external: true }),
      state("RoleBinding", "read", asOwner, { id: `${"d".repeat(40)}/${"1".repeat(16)}`, external: true }),
      state("RoleBinding", "read", asOwner, { id: BINDING, external: true }),
    ];
    const gone = step("delete", held);
    for (const claim of claims)
      for (const read of [step("read", undefined, claim), same(claim)])
        for (const steps of [
          [gone, read],
          [read, gone],
        ]) {
          const report = judge(preview(...unchanged, ...steps), objects);
          expect(lines(report.grants)).toEqual([expect.stringMatching(/^lost: .*owner at acme \/ team/)]);
        }
    const [, , its] = claims;
    const { grants } = judge(preview(...unchanged, gone, same(its!)));
    expect(grants.map(({ change }) => change)).toEqual(["lost"]);
  });

  test("a second process is refused where it begins, and later where it may have taken over what is deleted", () => {
    const of = (provider: string) => ({ provider: `urn:pulumi:p::s::pulumi:providers:${provider}::id` });
    const [own, other, declared] = ["default", "default_3_230_0", "mine"].map((name) =>
      of(`pulumi-nodejs::${name}`),
    );
    const inOwn = (one: State): State => ({ ...one, ...own });
    const stays = unchanged.map(({ oldState }) => same(inOwn(oldState as State)));
    const repo = (more: object) =>
      state("Repo", "app", { parentUid: TEAM, name: "app" }, { id: BINDING, ...more });
    const spare = state("Role", "spare", { ...reads, name: "spare" }, { id: uid(6) });
    const judged = (...steps: Steps) => gapsOf(judge(preview(...stays, ...steps), organisation()));
    const begins = [expect.stringMatching(/get processes of their own, of another form or version/)];
    const made = { ...repo({ ...other }), id: undefined };
    expect(judged(create(made))).toEqual(begins);
    expect(judged(create({ ...made, ...declared }))).toEqual([]);
    expect(judged(same(repo({ ...other })), step("delete", inOwn(spare)))).toEqual([]);
    // All move at once, as by a new version.
    const moved = stays.map(({ oldState }) =>
      step("same", oldState as State, { ...(oldState as State), ...other }),
    );
    expect(gapsOf(judge(preview(...moved, create(made)), organisation()))).toEqual([]);
    const known = { parentUid: uid(9), externalGroupId: "devs", roleUid: READER, scope: ROOT };
    const mapping = (name: string, provider: object, id?: string, more: Props = {}) =>
      state("ExternalGroupRoleMapping", name, { ...known, ...more }, { id, ...provider });
    const held = mapping("a", { ...own }, uid(8));
    expect(
      judged(step("delete", held), same(repo({ ...other })), create(mapping("b", { ...other }))),
    ).toEqual([
      expect.stringMatching(
        /a is deleted, and ExternalGroupRoleMapping b of another provider may be the same/,
      ),
    ]);
    // Of a new resource, what names its object may not be known yet.
    for (const [given, count] of [
      [{ parentUid: UNKNOWN }, 1],
      [{ externalGroupId: "others" }, 0],
    ] as const) {
      const made = create(mapping("b", { ...other }, undefined, given));
      expect(judged(step("delete", held), same(repo({ ...other })), made)).toHaveLength(count);
    }
    expect(judged(same(held), create(mapping("b", { ...own })))).toEqual([
      expect.stringMatching(/a and ExternalGroupRoleMapping b are one object/),
    ]);
  });

  test("is judged of an object that one resource manages, not two", () => {
    const one = state("Role", "reader", reads, { id: READER });
    const adopting = anew("Role", "r2", { ...reads, __adopt: READER });
    const objects = organisation(live("Role", READER, reads));
    const both = expect.stringMatching(/Role reader and Role r2 are one object/) as unknown;
    expect(gapsOf(judge(preview(...unchanged, adopting), objects))).toEqual([both]);
    const narrowed = state("Role", "r2", { ...reads, capabilities: ["CAP_TAG_LIST"] }, { id: READER });
    const second = state("Role", "r2", reads, { id: READER });
    const update = step("update", second, narrowed);
    expect(gapsOf(judge(preview(...unchanged, update), objects))).toEqual([both]);
    const renamed = state("Role", "r2", { ...reads, name: "other" }, { id: READER });
    expect(gapsOf(judge(preview(...unchanged, step("update", second, renamed)), objects))).toEqual([both]);
    expect(gapsOf(judge(preview(step("delete", one), adopting), objects))).toEqual([]);
  });

  test("is judged of the bindings of a group that one resource owns, not two", () => {
    const held = state("RoleBinding", "b", asOwner, { id: BINDING });
    const { parentUid, ...entry } = asOwner;
    const access = (bindings: Props) => state("GroupAccess", "all", { parentUid, bindings }, { id: TEAM });
    const objects = organisation(live("RoleBinding", BINDING, asOwner));
    const judged = (...steps: Steps) => gapsOf(judge(preview(...unchanged, ...steps), objects));
    const both = expect.stringMatching(
      /GroupAccess all owns all .* that RoleBinding b is for too/,
    ) as unknown;
    const dropped = step("update", access({ a: entry }), access({}));
    expect(judged(same(held), dropped)).toEqual([both]);
    expect(judged(same(held), create(access({ a: entry })))).toEqual([both]);
    expect(judged(step("delete", held), create(access({ a: entry })))).toEqual([]);
    expect(judged(dropped)).toEqual([]);
  });

  describe("of a GroupAccess that a refresh has shown more of", () => {
    const label = "unmanaged: mallory as owner";
    const access = (more: Props = {}, bindings: Props = { a: grant }) =>
      state("GroupAccess", "access", { parentUid: TEAM, bindings, ...more }, { id: TEAM });
    const recorded = access({}, { a: grant, [label]: asOwner });
    const grantsAfter = (...steps: Steps) => lines(reviewedLive(...steps).grants);
    const mallorys = (given: string[]) => given.filter((line) => line.includes("acme/evil"));

    test("goes where the program does not have it", () => {
      expect(mallorys(grantsAfter(step("update", recorded, access())))).toEqual([
        expect.stringMatching(/^lost: /),
      ]);
    });

    test.each<[string, Props]>([
      ["its identity", { identityUids: [MALLORY] }],
      ["its role", { roleUids: [OWNER] }],
      ["a pattern", { namePatterns: ["mallory as .*"] }],
    ])("stays where it is ignored by %s", (_what, ignore) => {
      expect(grantsAfter(step("update", recorded, access({ ignore })))).toEqual([]);
    });

    test.each(["ignore", "ignore.namePatterns", "ignore.namePatterns[0]"])(
      "stays where nobody knows %s, which the review says",
      (path) => {
        const [, member, item] = /^ignore(\.namePatterns)?(\[0\])?$/.exec(path) ?? [];
        const patterns = item === undefined ? "[secret]" : ["[secret]"];
        const ignore = member === undefined ? "[secret]" : { namePatterns: patterns };
        const hidden = state(
          "GroupAccess",
          "access",
          { parentUid: TEAM, bindings: { a: grant }, ignore },
          { id: TEAM, secretPaths: [path] },
        );
        const report = reviewedLive(step("update", recorded, hidden));
        expect(mallorys(lines(report.grants))).toEqual([]);
        expect(report.findings.map(({ id }) => id)).toContain("X3");
      },
    );

    test("stays where the GroupAccess goes, or moves to another group", () => {
      expect(mallorys(grantsAfter(step("delete", recorded)))).toEqual([]);
      expect(mallorys(grantsAfter(step("replace", recorded, access({ parentUid: ROOT }))))).toEqual([]);
    });
  });

  test("stays with a role that is replaced while a binding keeps its uid, and the failure is reported", () => {
    const dependencies = { roleUid: [reader.urn] };
    const kept = { id: BINDING, dependencies, ignoreChanges: ["roleUid"] };
    const keeping = state("RoleBinding", "binding", grant, kept);
    const successor = state("Role", "reader", { ...reader.inputs, parentUid: TEAM });
    const report = judge(
      preview(...[root, team, ci, mallory].map(same), step("replace", reader, successor), same(keeping)),
    );
    expect(report.summary.lost).toBe(0);
    expect(report.findings.map(({ id }) => id)).toEqual(expect.arrayContaining(["D2", "D3"]));
  });

  test("remains in a replaced group that contains an object created by hand, and the failure is reported", () => {
    const byHand = live("RoleBinding", `${TEAM}/${"9".repeat(16)}`, asOwner);
    const moved = state("Group", "team", { parentUid: uid(40), name: "team" });
    const empty = [root, reader].map(same);
    const report = judge(preview(...empty, step("replace", team, moved)), organisation(byHand));
    expect(report.summary.lost).toBe(0);
    expect(report.findings.map(({ id }) => id)).toContain("D3");
  });
});

describe("an argument of a new resource", () => {
  const known = { inventory: listed(...around) };
  const saidOf = (kind: string, label: string, inputs: Props) => {
    const { findings, grants } = judge(preview(...around.map(same), anew(kind, label, inputs)), known);
    const said = findings.map(({ id, severity, message, details }) => [id, severity, message, ...details]);
    return JSON.stringify([said, grants]);
  };
  const another = (value: Json | undefined): Json | undefined =>
    typeof value === "boolean"
      ? !value
      : typeof value !== "string"
        ? undefined
        : value.startsWith("https://")
          ? value.replace(/[a-z]+\.example/, "evil.example")
          : value.replace(/[^/]([^/]*)$/, (end, rest: string) => (end.startsWith("7") ? "8" : "7") + rest);

  // What an identity trusts, and what a role allows, matters where they are bound; ends have rules of their own.
  const parts = ["Identity", "Role", "Group"];
  const cases = samples.flatMap(({ kind, label, inputs }) =>
    parts.includes(kind)
      ? []
      : decidingIn(kind, inputs).flatMap(({ path, named, effect }) => {
          const value = another(valueAt(inputs, path));
          // R2 names keys and certificates; an image of the catalogue is nobody else's.
          const isNamed = /content$|^syncConfig.source$/.test(named);
          const isCase = value !== undefined && effect !== "expiry" && named !== "parentUid" && !isNamed;
          return isCase ? [{ kind, label, inputs, path, named, value }] : [];
        }),
  );

  test.each(spreadOf(cases, 20, 0))(
    "shows in the report: $named of $label",
    ({ kind, label, inputs, path, value }) => {
      expect(saidOf(kind, label, withValue(inputs, path, value))).not.toBe(saidOf(kind, label, inputs));
    },
  );
});
