import { sha256 } from "../../../../provider/access/documents/digest";
import type { ReviewReport } from "../../../../provider/access/report/report";
import { command } from "../../../../provider/cli/commands/verify";
import { CommandChain } from "../../../support/commandChain";
import { ending } from "../support";

const urn = "urn:pulumi:prod::acme::pulumi-nodejs:dynamic/platform:Group::team";
const type = "pulumi-nodejs:dynamic/platform:Group";
const __provider = 'exports.handler=()=>require("pulumi-platform/dynamic").Group';
const inputs = { __provider, name: "team" };
const preview = {
  steps: [{ op: "create", urn, newState: { urn, type, custom: true, inputs } }],
  changeSummary: { create: 1 },
};
const goal = {
  type,
  name: "team",
  custom: true,
  inputDiff: { adds: inputs },
  outputDiff: {},
  protect: false,
};
const plan = {
  manifest: { version: "v3.230.0" },
  resourcePlans: { [urn]: { goal, steps: ["create"], state: inputs } },
};

describe("verify --plan-only", () => {
  const chain = new CommandChain();
  let planFile: string;
  let report: string;
  let digest: string;
  const verify = (...argv: readonly string[]) => chain.run("verify", report, "--plan-only", ...argv);

  beforeAll(async () => {
    planFile = chain.write("plan.json", JSON.stringify(plan));
    report = chain.path("review.json");
    const previewFile = chain.write("preview.json", JSON.stringify(preview));
    await chain.succeed([0], "review", previewFile, "--plan", planFile, "-o", `json=${report}`);
    const review = JSON.parse(chain.read("review.json")) as ReviewReport;
    digest = review.digest ?? "";
    expect(review.plan?.digest).toBe(sha256(JSON.stringify(plan)));
  });

  it("accepts the reviewed file, and prints one line", async () => {
    const stderr = `pulumi-platform: verify: ${planFile} is the plan that was reviewed\n`;
    expect(await verify("--plan", planFile, "--digest", digest)).toEqual({ code: 0, stdout: "", stderr });
  });

  // What a preview says of the stack, and what the stack records.
  const compareWithStack = async (steps: readonly object[], ...resources: readonly object[]) => {
    const saved = {
      ...plan,
      resourcePlans: { [urn]: { goal: { ...goal, inputDiff: {} }, steps: ["same"] } },
    };
    const savedFile = chain.write("saved.json", JSON.stringify(saved));
    const shown = chain.write("shown.json", JSON.stringify({ steps, changeSummary: { same: 1 } }));
    const reviewed = chain.path("reviewed.json");
    const { code } = await chain.run("review", shown, "--plan", savedFile, "-o", `json=${reviewed}`);
    const { digest: approved = "" } = JSON.parse(chain.read("reviewed.json")) as ReviewReport;
    const deployment = { manifest: {}, resources };
    const stateFile = chain.write("export.json", JSON.stringify({ version: 3, deployment }));
    const flags = ["--plan", savedFile, "--digest", approved, "--state", stateFile];
    return { review: code, ...(await chain.run("verify", reviewed, "--plan-only", ...flags)) };
  };
  const state = { ...goal, urn, id: "a".repeat(40), inputs, outputs: inputs };
  const step = (oldState: object, op = "same", newState: object = state) => ({ op, urn, oldState, newState });
  const defaultProvider = {
    urn: "urn:pulumi:prod::acme::pulumi:providers:pulumi-nodejs::default",
    type: "pulumi:providers:pulumi-nodejs",
    custom: true,
  };

  const edits: readonly [string, object][] = [
    ["another input", { inputs: { ...inputs, name: "other" } }],
    ["another output", { outputs: { more: 1 } }],
    ["another object", { id: "b".repeat(40) }],
    ["another type", { type: "pulumi-nodejs:dynamic/platform:Role" }],
    ["no such object", { external: true }],
    ["an object that is protected", { protect: true }],
    ["one that stays when it leaves the program", { retainOnDelete: true }],
    ["one that goes with another", { deletedWith: "urn:pulumi:prod::acme::a:b:C::c" }],
    ["ignored changes", { ignoreChanges: ["name"] }],
    ["another provider", { provider: `${defaultProvider.urn}_2::x` }],
    ["another parent", { parent: "urn:pulumi:prod::acme::a:b:C::c" }],
    ["a secret", { inputs: { ...inputs, name: "[secret]" } }],
  ];

  it("compares the rests of earlier replacements too, which a delete alone could be taken for", async () => {
    const rest = { ...state, id: "c".repeat(40), delete: true };
    const deletes = (oldState: object) => ({ op: "delete", urn, oldState });
    const honest = await compareWithStack([step(state), deletes(rest)], state, rest);
    const forged = await compareWithStack(
      [step(state, "refresh"), deletes({ ...state, delete: true })],
      state,
    );
    expect([honest.stderr, forged.stderr]).toEqual([
      expect.stringMatching(/and the stack is as it was then|is incomplete/),
      expect.stringMatching(/PP600[35]/),
    ]);
    expect(forged.code).toBe(2);
  });

  it.each([
    ["shows", [step(state)]],
    ["found by its refresh", [step(state, "refresh"), step(state)]],
  ])("accepts what the preview %s of the stack, and the stack has", async (_what, steps) => {
    const ended = await compareWithStack(steps, state, defaultProvider);
    expect(ended).toMatchObject({
      ...{ review: 0, code: 0 },
      stderr: expect.stringContaining("and the stack is as it was then") as string,
    });
  });

  it.each(edits)("refuses a preview that shows %s, or whose refresh found it", async (_, edit) => {
    const there = { ...state, ...edit };
    for (const ended of [
      await compareWithStack([step(there)], state),
      await compareWithStack([step(state)], there),
    ])
      expect(ended).toMatchObject(ending(2, /PP600[35]/));
    // Nothing proves what a refresh found.
    const found = await compareWithStack([step(state, "refresh", there), step(there)], state);
    expect(found).toMatchObject(ending(2, "is incomplete"));
  });

  it.each<[string, object]>([
    ["is only read", { external: true }],
    ["is a provider of the engine", { urn: defaultProvider.urn }],
    ["is a rest that is only read", { external: true, delete: true }],
  ])(
    "refuses a forged state that says of itself that it %s, beside the true one of a decoy",
    async (_what, edit) => {
      const forged = { ...state, id: "b".repeat(40), ...edit };
      for (const op of ["refresh", "read"]) {
        const decoy = { op, urn: `${urn}-decoy`, oldState: state, newState: state };
        for (const real of [step(forged), { op: "delete", urn, oldState: forged }]) {
          const ended = await compareWithStack([decoy, real], state);
          expect(ended).toMatchObject(ending(2, /PP600[35]/));
        }
      }
    },
  );

  it.each([
    ["white space", `${JSON.stringify(plan)}\n`],
    ["the order of members", JSON.stringify({ resourcePlans: plan.resourcePlans, manifest: plan.manifest })],
    ["the time", JSON.stringify({ ...plan, manifest: { ...plan.manifest, time: "2020-01-01T00:00:00Z" } })],
  ])("refuses a file that differs in %s", async (_what, text) => {
    const ended = await verify("--plan", chain.write("other.json", text), "--digest", digest);
    expect(ended).toMatchObject(ending(2, /not the plan that was reviewed \(PP6005\)/));
  });

  it("refuses another report than the approved one, and an incomplete one", async () => {
    const zeros = "0".repeat(64);
    expect(await verify("--plan", planFile, "--digest", zeros)).toMatchObject(
      ending(2, "not the report that was approved"),
    );
    const failed = chain.write(
      "failed.json",
      JSON.stringify({ ...preview, changeSummary: undefined, steps: [] }),
    );
    const incomplete = chain.path("incomplete.json");
    await chain.succeed([2, 4], "review", failed, "--plan", planFile, "-o", `json=${incomplete}`);
    expect(
      await chain.run("verify", incomplete, "--plan-only", "--plan", planFile, "--digest", digest),
    ).toMatchObject(ending(2, "is incomplete"));
  });

  it.each(["plan", "digest"])("needs --%s", async (name) => {
    const argv = name === "plan" ? ["--digest", digest] : ["--plan", planFile];
    expect(await verify(...argv)).toMatchObject(ending(2, `--plan-only needs --${name}`));
  });

  it.each<[string, readonly string[]]>([
    ["verify takes one report", []],
    ["verify takes one report", ["a.json", "b.json"]],
    ["--stack conflicts with --state", ["a.json", "--stack", "prod", "--state", "b.json"]],
    ["--root conflicts with --inventory", ["a.json", "--root", "acme", "--inventory", "b.json"]],
  ])("says %s", async (message, argv) => {
    expect(await chain.run("verify", ...argv)).toMatchObject(ending(2, message));
  });

  it("refuses a report of a review without a plan, and one without what it expects", async () => {
    const bare = chain.path("bare.json");
    await chain.succeed([0], "review", chain.path("preview.json"), "-o", `json=${bare}`);
    const { digest: approved = "" } = JSON.parse(chain.read("bare.json")) as ReviewReport;
    expect(await chain.run("verify", bare, "--plan", planFile, "--digest", approved)).toMatchObject(
      ending(2, "the report names no update plan: write it with review --plan FILE (PP6006)"),
    );
    expect(await chain.run("verify", bare)).toMatchObject(
      ending(2, "the report has no expected access: write it with review --inventory FILE"),
    );
  });

  const others = Object.entries(command.description.flags).filter(
    ([name]) => !["plan", "digest", "plan-only", "stack", "state", "cwd"].includes(name),
  );
  it.each(others)("refuses --%s, which would have no effect", async (name, { type: kind, choices }) => {
    const value = kind === "boolean" ? [] : [choices?.[0] ?? "1234567"];
    const ended = await verify("--plan", planFile, "--digest", digest, `--${name}`, ...value);
    expect(ended).toMatchObject(ending(2, `--${name} conflicts with --plan-only`));
  });
});
