import { createHash } from "node:crypto";
import { comparePlan, parsePlan } from "../../../../provider/access/documents/plan";
import { parsePreview } from "../../../../provider/access/documents/preview";
import { review } from "../../../../provider/access/report/reviewReport";
import { PROVENANCE } from "../../../support/documents";

const urn = (name: string): string => `urn:pulumi:prod::acme::pulumi-nodejs:dynamic/platform:Role::${name}`;
const type = "pulumi-nodejs:dynamic/platform:Role";
const __provider = 'exports.handler=()=>require("pulumi-platform/dynamic").Role';
const inputs = { __provider, name: "reader", capabilities: ["CAP_REPO_LIST"] };
const secret = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ciphertext: "v1:a" };

function previewOf(op: string, state: object = inputs): string {
  const newState = { urn: urn("reader"), type, custom: true, inputs: state };
  const step = { op, urn: urn("reader"), ...(op === "delete" ? { oldState: newState } : { newState }) };
  return JSON.stringify({ steps: [step], changeSummary: { [op]: 1 } });
}

function planOf(steps: string[], state: object | undefined = inputs, name = "reader"): string {
  const engines = "urn:pulumi:prod::acme::pulumi:providers:pulumi-nodejs::default";
  const resourcePlans = {
    [engines]: { steps: ["same"], state: {} },
    [urn(name)]: { goal: {}, steps, state },
  };
  return JSON.stringify({ manifest: { version: "v3.230.0" }, resourcePlans });
}

const problems = (plan: string, preview: string): string[] =>
  comparePlan(parsePlan(plan), parsePreview(preview));

describe("an update plan", () => {
  it.each([
    ["create", ["create"], inputs, inputs],
    ["delete", ["delete"], inputs, undefined],
    ["update", ["update"], { ...inputs, name: "[secret]" }, { ...inputs, name: secret }],
  ])("fits the preview of its run (%s)", (op, steps, shown, state) => {
    const preview = op === "update" ? previewOf("create", shown) : previewOf(op, shown);
    expect(problems(planOf(op === "update" ? ["create"] : steps, state), preview)).toEqual([]);
  });

  it.each([
    [
      "another operation",
      planOf(["update"]),
      "Role reader: the plan allows update, and the preview shows create",
    ],
    [
      "other arguments",
      planOf(["create"], { ...inputs, name: "x" }),
      "Role reader: the plan has other arguments than the preview",
    ],
    [
      "another secret",
      planOf(["create"], { ...inputs, name: secret }),
      "Role reader: the plan has other arguments than the preview",
    ],
  ])("with %s does not fit", (_what, plan, problem) => {
    expect(problems(plan, previewOf("create"))).toEqual([problem]);
  });

  it("of other resources does not fit", () => {
    expect(problems(planOf(["create"], inputs, "other"), previewOf("create"))).toEqual([
      "Role other is in the plan (create) and not in the preview",
      "Role reader is in the preview (create) and not in the plan",
    ]);
  });

  it("has the digest of the file's bytes", () => {
    const plan = planOf(["create"]);
    expect(parsePlan(plan).digest).toBe(createHash("sha256").update(plan).digest("hex"));
    expect(parsePlan(Buffer.from(plan)).digest).toBe(parsePlan(plan).digest);
    expect(parsePlan(`${plan}\n`).digest).not.toBe(parsePlan(plan).digest);
  });

  it("that does not fit makes the review incomplete, and one that fits is named in the report", () => {
    const report = (plan: string) =>
      review(
        { preview: parsePreview(previewOf("create")) },
        { provenance: PROVENANCE, failOn: "high", rules: () => [], plan: parsePlan(plan) },
      );
    expect(report(planOf(["create"]))).toMatchObject({
      complete: true,
      plan: { digest: parsePlan(planOf(["create"])).digest },
    });
    expect(report(planOf(["update"])).complete).toBe(false);
  });

  it.each([
    ["{", /is truncated or invalid JSON/],
    ["{}", /is not an update plan/],
    ['{"resourcePlans":{"urn":{}}}', /has no steps/],
  ])("is refused as %s", (text, message) => {
    expect(() => parsePlan(text, "plan.json")).toThrow(message);
  });
});
