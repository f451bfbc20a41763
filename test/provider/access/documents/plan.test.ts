import { createHash } from "node:crypto";
import { comparePlan, parsePlan, withPlanned } from "../../../../provider/access/documents/plan";
import { parsePreview } from "../../../../provider/access/documents/preview";
import {
  digestRecord,
  listRecorded,
  parseStateExport,
} from "../../../../provider/access/documents/stateExport";
import { review } from "../../../../provider/access/report/reviewReport";
import { UNKNOWN } from "../../../../provider/fields/values";
import { PROVENANCE } from "../../../support/documents";

const SIGNATURE = "4dabf18193072939515e22adb298388d";
const urn = (name: string): string => `urn:pulumi:prod::acme::pulumi-nodejs:dynamic/platform:Role::${name}`;
const type = "pulumi-nodejs:dynamic/platform:Role";
const stack = "urn:pulumi:prod::acme::pulumi:pulumi:Stack::acme-prod";
const engines = "urn:pulumi:prod::acme::pulumi:providers:pulumi-nodejs::default";
const provider = `${engines}::8a1f`;
const __provider = 'exports.handler=()=>require("pulumi-platform/dynamic").Role';
const inputs = { __provider, name: "reader", parentUid: UNKNOWN, capabilities: ["CAP_REPO_LIST"] };
const secret = { [SIGNATURE]: "1b47061264138c4ac30d75fd1eb44270", ciphertext: "v1:a" };
const group = "urn:pulumi:prod::acme::pulumi-nodejs:dynamic/platform:Group::team";

interface Goal {
  [key: string]: unknown;
  inputDiff: { adds?: object; updates?: object; deletes?: string[] };
}
interface Plan {
  [key: string]: unknown;
  resourcePlans: Record<string, { goal?: Goal; steps: string[]; state?: unknown; [key: string]: unknown }>;
}

const options = {
  custom: true,
  parent: stack,
  provider,
  dependencies: [group],
  propertyDependencies: { parentUid: [group], name: null },
};

/** A preview and the plan of the same run: a new role, a changed one, one that stays, one that goes. */
const before = { ...inputs, parentUid: "uid", description: "old" };
const updated = { ...inputs, parentUid: "uid", name: "changed" };
const stateOf = (name: string, given: object, more: object = {}) => ({
  urn: urn(name),
  type,
  ...options,
  inputs: given,
  outputs: { more: "than inputs" },
  ...more,
});
const shownStep = (op: string, name: string, old?: object, now?: object, more: object = {}) => ({
  op,
  urn: urn(name),
  ...(old && { oldState: stateOf(name, old) }),
  ...(now && { newState: stateOf(name, now, more) }),
});
const kept = { protect: true, customTimeouts: { create: 60 } };
const ignoring = { ignoreChanges: ["name"] };
const previewOf = (shown: object = inputs): string =>
  JSON.stringify({
    steps: [
      shownStep("create", "new", undefined, shown),
      shownStep("update", "old", before, updated, kept),
      shownStep("same", "same", before, before, ignoring),
      shownStep("replace", "other", before, before),
      shownStep("delete", "gone", before),
      shownStep("read", "read", undefined, before, { external: true }),
    ],
    changeSummary: { create: 1, update: 1, delete: 1, replace: 1 },
  });
const goalOf = (name: string, inputDiff: Goal["inputDiff"], more: object = {}): Goal => ({
  type,
  name,
  inputDiff,
  outputDiff: {},
  protect: false,
  ...options,
  customTimeouts: {},
  ...more,
});
const replacing = ["create-replacement", "replace", "delete-replaced"];
const changed = { updates: { name: "changed" }, deletes: ["description"] };
const planOf = (adds: object = inputs): Plan => ({
  manifest: { time: "2026-01-01T00:00:00Z", magic: "m", version: "v3.230.0" },
  config: { "platform:baseUrl": "https://api.acme.example" },
  resourcePlans: {
    [engines]: {
      goal: { type, name: "default", inputDiff: { adds: { version: "1" } }, outputDiff: {} },
      steps: ["same"],
      state: {},
    },
    [urn("new")]: { goal: goalOf("new", { adds }), steps: ["create"], state: adds, seed: "AA==" },
    [urn("old")]: {
      goal: goalOf("old", changed, kept),
      steps: ["update"],
      state: { outputs: "bind nobody" },
    },
    [urn("same")]: { goal: goalOf("same", {}, ignoring), steps: ["same"], state: {} },
    [urn("other")]: { goal: goalOf("other", {}), steps: replacing, state: {} },
    [urn("gone")]: { steps: ["delete"], state: null },
  },
});

const problems = (plan: unknown, preview = previewOf()): string[] =>
  comparePlan(parsePlan(typeof plan === "string" ? plan : JSON.stringify(plan)), parsePreview(preview));

/** The plan as an author would forge it: what the engine does not compare stays as it was previewed. */
function forge(edit: (resources: Plan["resourcePlans"], plan: Plan) => void): Plan {
  const plan = planOf();
  edit(plan.resourcePlans, plan);
  return plan;
}
/** The plan with members of one goal in place of others. */
const forgeGoal = (name: string, members: object): Plan =>
  forge((plans) => Object.assign(plans[urn(name)]!.goal!, members));
const adding = (more: object): Plan => forgeGoal("new", { inputDiff: { adds: { ...inputs, ...more } } });
const updating = (name: string, inputDiff: object): Plan => forgeGoal(name, { inputDiff });
const inEngines = (more: object): Plan => forge((plans) => Object.assign(plans[engines]!.goal!, more));
const aliased = (name: string, ...structuredAliases: object[]): Plan =>
  forgeGoal(name, { structuredAliases });

describe("an update plan", () => {
  it.each([
    ["a plain value", inputs, inputs],
    ["a secret in an object", { ...inputs, oidc: { a: "[secret]" } }, { ...inputs, oidc: { a: secret } }],
    ["null, which a preview does not show", inputs, { ...inputs, description: null }],
  ])("fits the preview of its run (%s)", (_what, shown, adds) => {
    expect(problems(planOf(adds), previewOf(shown))).toEqual([]);
  });

  type Shown = { op: string; urn: string; oldState?: object; newState?: object };
  const was = (old: object) => (step: Shown) => [{ ...step, oldState: { ...step.oldState, inputs: old } }];
  const is = (more: object) => (step: Shown) => [{ ...step, newState: { ...step.newState, ...more } }];
  const replacedBy = (step: Shown): Shown[] => [
    { ...step, newState: stateOf("other", { ...before, capabilities: [] }) },
    { ...step, op: "create-replacement" },
    { op: "delete-replaced", urn: step.urn },
  ];

  it.each<[string, (step: Shown) => Shown[], string]>([
    ["old", was({ ...before, name: "changed" }), "input name"],
    ["old", was(updated), "input description, input name"],
    ["same", was({ ...before, capabilities: [] }), "input capabilities"],
    ["other", was({ ...before, name: "x" }), "input name"],
    ["old", is({ external: true }), "external"],
    ["new", is({ delete: true }), "delete"],
    ["other", replacedBy, "input capabilities"],
  ])("does not fit a preview that shows something else of %s (%#)", (name, edit, named) => {
    const preview = JSON.parse(previewOf()) as { steps: Shown[] };
    preview.steps = preview.steps.flatMap((step) => (step.urn === urn(name) ? edit(step) : [step]));
    const [problem, ...more] = problems(planOf(), JSON.stringify(preview));
    expect(more).toEqual([]);
    expect(problem).toContain(`Role ${name}: the plan allows another ${named}`);
  });

  it.each<[string, Plan, string]>([
    ["another added input", adding({ name: "x" }), "Role new: the plan allows another input name"],
    ["an unknown in place of a value", adding({ name: UNKNOWN }), "another input name"],
    ["a value in place of an unknown", adding({ parentUid: "uid" }), "another input parentUid"],
    ["one more input like a property of every object", adding({ constructor: 1 }), "input constructor"],
    ["one input less", adding({ name: undefined }), "another input name"],
    ["an input that is not deleted", updating("old", { updates: changed.updates }), "input description"],
    ["an added and updated input", updating("old", { ...changed, adds: changed.updates }), "input name"],
    ["an input that may change", updating("same", { updates: { name: UNKNOWN } }), "another input name"],
    [
      "another operation",
      forge((plans) => (plans[urn("new")]!.steps = ["update"])),
      "Role new: the plan allows update, and the preview shows create",
    ],
    [
      "nothing of what is left out",
      forge((plans) => delete plans[urn("same")]!.goal),
      "without these options",
    ],
    ["a replacement by an option", updating("other", { adds: before }), "--replace or a taint replaces it"],
    ["a deletion's goal", forge((plans) => (plans[urn("gone")]!.goal = goalOf("gone", {}))), "another goal"],
    [
      "no goal",
      forge((plans) => delete plans[urn("new")]!.goal),
      "Role new: the plan allows another no goal",
    ],
    [
      "the resource left out",
      forge((plans) => Reflect.deleteProperty(plans, urn("new"))),
      "Role new is in the preview (create) and not in the plan",
    ],
    [
      "another resource, also in the place of one that is read",
      forge((plans) => (plans[urn("read")] = plans[urn("new")]!)),
      "Role read is in the plan (create) and not in the preview",
    ],
    [
      "the rest of an interrupted replacement",
      forge((plans) => (plans[urn("half")] = { ...plans[urn("gone")]!, steps: ["remove-pending-replace"] })),
      "keep it in the program for one more update, then remove it",
    ],
    ["an alias of what is deleted", aliased("new", { Name: "gone" }), "another aliases"],
    ["its urn as an alias", forgeGoal("new", { aliases: [urn("gone")] }), "another aliases"],
    [
      "an unknown in a provider that no preview shows",
      inEngines({ inputDiff: { updates: { baseUrl: UNKNOWN } } }),
      "default: the plan allows any value",
    ],
    ["a provider of the program named as the engine's", inEngines({ parent: stack }), "give it another name"],
    ...Object.entries({
      propertyDependencies: {},
      type: "other",
      name: "other",
      custom: false,
      parent: group,
      provider: `${engines}::04da6b54-80e4-46f7-96ec-b56ff0331ba9`,
      protect: true,
      id: "uid",
      dependencies: [],
      ignoreChanges: ["name"],
      additionalSecretOutputs: ["name"],
      customTimeouts: { create: 1 },
    }).map(([key, value]): [string, Plan, string] => [
      `another ${key}`,
      forgeGoal("new", { [key]: value }),
      `another ${key} than`,
    ]),
    ...(
      [
        ["goal.ignoreAll", forgeGoal("new", { ignoreAll: true })],
        ["goal.dependencieſ", forgeGoal("new", { dependencieſ: [] })],
        ["goal.inputDiff.Adds", forgeGoal("new", { inputDiff: { adds: inputs, Adds: {} } })],
        ["goal.customTimeouts.Create", forgeGoal("new", { customTimeouts: { Create: 1 } })],
        ["goal.structuredAliases.urn", aliased("new", { urn: urn("gone") })],
        ["Goal", forge((plans) => (plans[urn("new")]!["Goal"] = {}))],
        ["ResourcePlans", forge((_plans, plan) => (plan["ResourcePlans"] = {}))],
      ] as const
    ).map(([member, plan]): [string, Plan, string] => [
      `an unknown member ${member}`,
      plan,
      `the plan has the member ${member}, which this version does not know: use a newer one`,
    ]),
  ])("with %s does not fit", (_what, plan, problem) => {
    expect(problems(plan)).toContainEqual(expect.stringContaining(problem));
  });

  it("may name an alias of nothing, and the one that the preview shows", () => {
    expect(problems(aliased("new", { Name: "never" }, { NoParent: true }))).toEqual([]);
    const old = (name: string) => `"oldState":{"urn":"${urn(name)}"`;
    const preview = previewOf().replace(old("old"), old("earlier"));
    expect(problems(aliased("old", { Name: "earlier" }), preview)).toEqual([]);
    expect(problems(aliased("old", { Name: "gone" }), preview)).toHaveLength(1);
  });

  const component = (name: string, kind = "Team") => `urn:pulumi:prod::acme::acme:index:${kind}::${name}`;
  const below = (kind: string, name: string) =>
    urn(name).replace("pulumi-nodejs:", `acme:index:${kind}$pulumi-nodejs:`);
  const [ours, theirs] = [component("one"), component("other", "Crew")];

  /** Two components of the state get other names by aliases, and a role of the first takes over what `old` says. */
  function takesOver(old: object, aliases: object[]): string[] {
    const now = below("Crew", "crew-role");
    const options = { ...kept, parent: component("crew", "NewTeam") };
    const moves = [
      ["one", "Team"],
      ["other", "Crew"],
    ] as const;
    const steps = [
      ...moves.map(([name, kind]) => {
        const oldState = { urn: component(name, kind), type: `acme:index:${kind}` };
        return { op: "same", urn: component("crew", `New${kind}`), oldState, newState: {} };
      }),
      {
        ...shownStep("update", "", before, updated, options),
        urn: now,
        oldState: { ...stateOf("", before), ...old },
      },
    ];
    const components = moves.map(([name, kind]) => {
      const structuredAliases = [{ Name: name, Type: `acme:index:${kind}` }];
      const goal = { type: `acme:index:New${kind}`, name: "crew", structuredAliases };
      return [component("crew", `New${kind}`), { goal, steps: ["same"] }] as const;
    });
    const goal = { ...goalOf("crew-role", changed, options), structuredAliases: aliases };
    const resourcePlans = { ...Object.fromEntries(components), [now]: { goal, steps: ["update"] } };
    const shown = JSON.stringify({ steps, changeSummary: { update: 1, same: 2 } });
    return problems({ manifest: {}, resourcePlans }, shown);
  }

  const ofTeam = (name: string) => ({ urn: below("Team", name), parent: ours });
  const ofCrew = (name: string) => ({ urn: below("Crew", name), parent: theirs });
  it.each<[string, object, object[], number]>([
    ["its own name below the old parent", ofTeam("one-role"), [], 0],
    ["another name there", ofTeam("other"), [], 1],
    ["its own name below another component", ofCrew("other-role"), [], 1],
    ["the name of an alias there", ofTeam("x"), [{ Name: "x" }], 0],
    ["that name below another component", ofCrew("x"), [{ Name: "x" }], 1],
    ["the parent of an alias", ofCrew("x"), [{ Name: "x", Parent: theirs }], 0],
    ["the name of an alias below the old parent", ofTeam("x"), [{ Name: "x", Parent: theirs }], 0],
    ["no parent, as an alias says", { urn: urn("crew-role"), parent: stack }, [{ NoParent: true }], 0],
    ["a parent, where an alias says it has none", ofTeam("crew-role"), [{ NoParent: true }], 1],
    ["the urn of an alias", ofCrew("x"), [{ URN: below("Crew", "x") }], 0],
    ["the type and name of the urn of an alias alone", ofCrew("x"), [{ URN: below("Team", "x") }], 1],
  ])("by an alias takes over what had %s", (_what, old, aliases, count) => {
    expect(takesOver(old, aliases)).toHaveLength(count);
  });

  it.each<[string, string, object]>([
    ["its urn", below("Team", "x"), { URN: below("Team", "x") }],
    ["a parent of that type", below("Team", "x"), { Name: "x", Parent: component("nobody") }],
    ["the types of its parents", below("Team", "x"), { Name: "x", Type: `acme:index:Team$${type}` }],
    ["a stack of any name", urn("x"), { Name: "x", Parent: `${stack}-other` }],
    ["no parent", urn("x"), { Name: "x", Parent: component("nobody"), NoParent: true }],
    ["its project and stack", urn("x"), { Name: "x", Project: "acme", Stack: "prod", NoParent: true }],
  ])("shows no order of two aliases that lead to something, one by %s", (_what, first, alias) => {
    const second = { URN: below("Crew", "x") };
    const steps = [first, second.URN].map((old, index) => ({
      ...shownStep("update", "", before, updated, kept),
      urn: urn(`new-${index}`),
      oldState: { ...stateOf("", before), urn: old },
    }));
    const shown = JSON.stringify({ steps, changeSummary: { update: 2 } });
    const differing = (aliases: object[][]): string[] => {
      const plans = aliases.map((structuredAliases, index) => {
        const goal = { ...goalOf(`new-${index}`, changed, kept), structuredAliases };
        return [urn(`new-${index}`), { goal, steps: ["update"] }] as const;
      });
      return problems({ manifest: {}, resourcePlans: Object.fromEntries(plans) }, shown);
    };
    const gone = { URN: "urn:pulumi:prod::acme::acme:index:Gone::x" };
    expect(differing([[alias], [second, gone]])).toEqual([]);
    expect(differing([[alias, second], [second]])).toHaveLength(1);
    expect(differing([[second], [alias]])).toHaveLength(2);
  });

  const byHand = { ...before, capabilities: [] };
  it.each<[string, string, object, object | undefined, string[]]>([
    ["leaves as it is", "old", before, before, []],
    ["finds changed", "old", byHand, before, ["old"]],
    ["finds gone", "old", before, undefined, []],
    ["finds changed and goes", "gone", byHand, before, ["gone"]],
    ["finds, and which only reads", "read", byHand, before, []],
    ["finds, beside the rest of a replacement", "rest", byHand, before, []],
  ])("proves nothing of what a refresh %s", (_what, name, recorded, found, changed) => {
    const op = { old: "update", read: "read" }[name] ?? "delete";
    const old = found && { oldState: stateOf(name, found, name === "rest" ? { delete: true } : {}) };
    const now = op === "delete" ? {} : { newState: stateOf(name, updated) };
    const steps = [shownStep("refresh", name, recorded, found), { op, urn: urn(name), ...old, ...now }];
    const said = problems(planOf(), JSON.stringify({ steps, changeSummary: {} }));
    expect(said.filter((line) => line.includes("its refresh"))).toEqual(
      changed.map((each) => expect.stringContaining(`found changes by hand of ${each}, which`) as string),
    );
  });

  it("may delete what an interrupted replacement left, where the preview or the stack before shows it", () => {
    const [old, now] = ["1", "2"].map((end) => `${"a".repeat(40)}/${end.repeat(16)}`);
    const rest = stateOf("same", before, { id: old, delete: true });
    const same = shownStep("same", "same", before, before);
    const current = { ...same.oldState, id: now };
    const plan = parsePlan(
      JSON.stringify({
        resourcePlans: { [urn("same")]: { goal: goalOf("same", {}), steps: ["same", "delete-replaced"] } },
      }),
    );
    const state = parseStateExport(
      JSON.stringify({ version: 3, deployment: { resources: [current, { ...rest, outputs: {} }] } }),
    );
    const reviewOf = (more: object[], given?: typeof state) =>
      review(
        {
          preview: parsePreview(
            JSON.stringify({ steps: [{ ...same, oldState: current }, ...more], changeSummary: { same: 1 } }),
          ),
          before: given,
        },
        { provenance: PROVENANCE, failOn: "high", rules: () => [], plan },
      );
    const [hidden, shown, exported] = [
      reviewOf([]),
      reviewOf([{ op: "delete-replaced", urn: urn("same"), oldState: rest }]),
      reviewOf([], state),
    ];
    expect(hidden.incomplete).toEqual([
      expect.stringMatching(/left the old object.*--show-replacement-steps/),
    ]);
    for (const report of [shown, exported]) {
      expect(report.incomplete).toEqual([]);
      expect(report.unrelated).toEqual([
        expect.objectContaining({
          op: expect.stringMatching(/^delete of the old object/) as string,
          count: 1,
        }),
      ]);
    }
    expect(exported.plan?.record).toBe(digestRecord(listRecorded(state)));
    // The uid of what stays names no other object.
    const edited = { ...rest, id: now };
    expect(reviewOf([{ op: "delete-replaced", urn: urn("same"), oldState: edited }]).incomplete).toEqual([
      expect.stringMatching(/ same: what an interrupted replacement left has the uid of an object that/),
    ]);
  });

  it("cannot be compared with a preview that hides what is unchanged", () => {
    const { steps } = JSON.parse(previewOf()) as { steps: { op: string }[] };
    const shown = steps.filter(({ op }) => op !== "same");
    const hidden = JSON.stringify({ steps: shown, changeSummary: { create: 1, same: 1 } });
    expect(problems(planOf(), hidden)).toEqual([
      "the preview does not show 1 unchanged resources of the plan, so they cannot be compared: write it with --show-sames",
    ]);
  });

  it("has the digest of the file's bytes", () => {
    const plan = JSON.stringify(planOf());
    expect(parsePlan(plan).digest).toBe(createHash("sha256").update(plan).digest("hex"));
    expect(parsePlan(Buffer.from(plan)).digest).toBe(parsePlan(plan).digest);
    expect(parsePlan(`${plan}\n`).digest).not.toBe(parsePlan(plan).digest);
  });

  it.each([
    ["{}", "PP6002", "is not an update plan"],
    ['{"resourcePlans":{"urn":{"steps":"create"}}}', "PP6003", "has no steps"],
  ])("is refused as %s by %s", (text, errorCode, message) => {
    const told = { errorCode, message: expect.stringContaining(message) as string };
    expect(() => parsePlan(text, "plan.json")).toThrow(expect.objectContaining(told) as Error);
  });
});

describe("what a plan has no steps or no goal of", () => {
  const compareOne = (step: { op: string }, planned: object) =>
    problems(
      { resourcePlans: { [urn("new")]: planned } },
      JSON.stringify({ steps: [step], changeSummary: { [step.op]: 1 } }),
    );

  it("is what the program reads in the place of what it deletes", () => {
    const read = shownStep("replace", "new", before, inputs, { external: true });
    expect(compareOne(read, { steps: ["delete-replaced"] })).toEqual([]);
    expect(compareOne(read, { steps: replacing })).toHaveLength(1);
  });

  it("is the old half of a replacement by an alias, under its new name: the old one has its delete", () => {
    const oldState = stateOf("old", before);
    const replaced = { ...shownStep("replace", "new", before, inputs), oldState };
    const preview = JSON.stringify({ steps: [replaced], changeSummary: { replace: 1 } });
    const updates = { parentUid: UNKNOWN };
    const structuredAliases = [{ Name: "old" }];
    const goal = { ...goalOf("new", { updates, deletes: ["description"] }), structuredAliases };
    const planOfSteps = (steps: string[]) => ({
      resourcePlans: { [urn("new")]: { goal, steps }, [urn("old")]: { steps: ["delete-replaced"] } },
    });
    expect(problems(planOfSteps(["create-replacement", "replace"]), preview)).toEqual([]);
    expect(problems(planOfSteps(replacing), preview)).toHaveLength(1);
  });
});

test.each<[string, object, string[], string | undefined]>([
  ["random", { version: "4.16.7", __internal: {} }, ["create"], undefined],
  ["aws", { version: "6.83.0" }, ["create"], "it runs a plugin of a package that this version does not know"],
  [
    "random",
    { version: "4.16.7", __internal: { pluginDownloadURL: "https://evil.example" } },
    ["update"],
    "it runs a plugin of another address or in another form",
  ],
])("the provider %s of a plan, with %j, is a step of the preview", (name, inputs, steps, notReviewed) => {
  const urn = `urn:pulumi:prod::acme::pulumi:providers:${name}::default_1_0_0`;
  const goal = { type: `pulumi:providers:${name}`, inputDiff: { adds: inputs } };
  const plan = parsePlan(JSON.stringify({ resourcePlans: { [urn]: { steps, goal } } }));
  const none = { steps: [], omittedUnchanged: 0, problems: [] };
  const { steps: added } = withPlanned(none, plan);
  expect(added).toMatchObject([{ op: steps[0], urn }]);
  expect(added[0]?.after?.notReviewed).toBe(notReviewed);
  expect(withPlanned({ ...none, steps: [{ op: "same", urn }] }, plan).steps).toHaveLength(1);
  expect(withPlanned(none, undefined)).toBe(none);
});

test.each<[string, object, object[]]>([
  ["another plugin", { updates: { __internal: { name: "evil" } } }, [{ op: "update" }]],
  ["another plugin, by the configuration of the stack", { adds: { name: "evil" } }, [{ op: "update" }]],
  ["another version", { updates: { version: "4.17.0" } }, [{ op: "update" }]],
  ["other settings", { updates: { region: "eu" }, adds: { __internal: {} } }, []],
  ["nothing", {}, []],
])(
  "a provider that the plan calls unchanged is updated where its inputs name another plugin: %s",
  (...given) => {
    const [, inputDiff, steps] = given;
    const own = "urn:pulumi:prod::acme::pulumi:providers:random::default";
    const planned = { steps: ["same"], goal: { type: "pulumi:providers:random", inputDiff } };
    const plan = parsePlan(JSON.stringify({ resourcePlans: { [own]: planned } }));
    expect(withPlanned({ steps: [], omittedUnchanged: 0, problems: [] }, plan).steps).toMatchObject(steps);
  },
);

test("the plan says which inputs differ, whatever the preview says", () => {
  const goal = { type, inputDiff: { adds: { a: 1 }, updates: { oidc: secret }, deletes: ["c"] } };
  const plan = parsePlan(JSON.stringify({ resourcePlans: { [stack]: { steps: ["update"], goal } } }));
  const steps = [{ op: "update", urn: stack, differing: ["description"] }];
  const planned = withPlanned({ steps, omittedUnchanged: 0, problems: [] }, plan);
  expect(planned.steps[0]?.differing).toEqual(["a", "oidc", "c"]);
});
