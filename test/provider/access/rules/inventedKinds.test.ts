import type { Props } from "../../../../provider/fields/values";
import { binding, compareResources, groups, payments, resource, viewer } from "../../../support/access";
import type { Resource } from "../../../support/access";
import { found } from "./support";

jest.mock("../../../../provider/kinds", () => {
  const { kinds } = jest.requireActual<{ kinds: readonly object[] }>("../../../../provider/kinds");
  const { inventedKinds } = jest.requireActual<{ inventedKinds: object }>("./inventedKinds");
  return { kinds: [...kinds, ...Object.values(inventedKinds).map((spec: unknown) => ({ spec }))] };
});

const base = [...groups, viewer];
const change = (before: Resource[], after: Resource[]) =>
  compareResources([...base, ...before], [...base, ...after]);
const invent = (kindName: string) => (inputs: Props) =>
  resource(kindName, "new", { parentUid: payments, ...inputs });
const [relay, mirror, shelf, robot] = [invent("Relay"), invent("Mirror"), invent("Shelf"), invent("Robot")];

const inShelf = resource("Repo", "api", { parentUid: shelf({}).uid }, { external: true });
const keySet = (key: object, more: Props = {}): Props => ({
  signer: { jwks: JSON.stringify({ keys: [key] }), ...more },
});
const kept = (until: string) => robot(keySet({ kty: "RSA" }, { until }));
const [over, earlier, later] = ["2026-05-01", "2026-07-01", "2026-08-01"].map((day) =>
  kept(`${day}T00:00:00Z`),
) as [Resource, Resource, Resource];

test.each<[rule: string, field: string | undefined, before: Resource[], after: Resource[]]>([
  ["X1", "delivery.url", [], [relay({ delivery: { url: "https://x.example/a" } })]],
  ["K4", "token", [], [relay({ token: "canary" })]],
  ["R1", undefined, [mirror({})], []],
  ["R1", "pointer", [mirror({ pointer: "a" })], [mirror({ pointer: "b" })]],
  ["R1", "upstream", [mirror({ upstream: "a" })], [mirror({ upstream: "b" })]],
  ["R2", "authorities", [], [mirror({ authorities: ["corp"] })]],
  ["R2", "runsAs", [], [mirror({ runsAs: "root" })]],
  ["D2", "uid", [shelf({}), inShelf], [inShelf]],
  ["D3", undefined, [shelf({}), inShelf], [inShelf]],
  ["K1", "signer.jwks", [], [robot(keySet({ kty: "RSA", d: "canary" }))]],
  ["K2", "signer.until", [over], [over]],
  ["S1", "signer.until", [earlier], [later]],
])("%s finds %s of a kind that no rule names", (id, field, before, after) => {
  const findings = found(id, change(before, after));
  expect(findings.map((each) => each.field)).toEqual([field]);
});

const GITHUB = "https://token.actions.githubusercontent.com";
const pinned = { authority: GITHUB, workload: "repo:acme/pay:ref:refs/heads/main" };
const elsewhere = { ...pinned, workload: "repo:evil/pay" };
const anyone = { authority: GITHUB, workloads: "^repo:.*$" };
const federation = (more: Props): Props => ({ federation: { ...pinned, ...more } });
const key = (kid: string, more: Props = {}): Props => keySet({ kty: "oct", kid }, more);

/** A robot of this trust with a grant. */
const bound = (trust: Props): Resource[] => [robot(trust), binding(robot(trust), viewer, payments)];

describe("a kind whose description alone says what is trusted", () => {
  it.each<[rule: string, field: string, trust: Props]>([
    ["T1", "federation.workloads", { federation: anyone }],
    ["T1", "delegates[1].workloads", { delegates: [pinned, anyone] }],
    ["T1", "cloud.actors", { cloud: { tenant: "123456789012", actors: "^arn:.*$" } }],
    ["T2", "federation.authorities", { federation: { authorities: "^https://.*$", workload: "a" } }],
    ["T3", "federation.workload", { federation: { authority: GITHUB, workload: "deploy" } }],
    ["T4", "federation.workload", federation({ workload: "repo:acme/pay:pull_request" })],
    ["T6", "federation.meantFor", federation({ meantFor: "sts.amazonaws.com" })],
    ["T6", "federation.meantForAny", federation({ meantForAny: "^.*$" })],
    ["T6", "federation.also.ref", federation({ also: { ref: "refs/heads/*" } })],
    ["T6", "signer.authority", key("a", { authority: "https://a.example/*", workload: "a" })],
  ])("has it judged by %s: %s", (id, field, trust) => {
    expect(found(id, change(bound({}), bound(trust)))).toMatchObject([{ kind: "Robot", field }]);
  });

  it.each<[from: Props, to: Props, field: string]>([
    [{ federation: pinned }, { federation: elsewhere }, "federation.workload"],
    [key("a"), key("b"), "signer.jwks"],
    [{ delegates: [pinned] }, { delegates: [elsewhere] }, "delegates"],
  ])("has its change judged by T5: %j to %j", (from, to, field) => {
    expect(found("T5", change(bound(from), bound(to)))).toMatchObject([{ severity: "high", field }]);
    expect(found("T5", change([robot(from)], [robot(to)]))).toEqual([]);
  });

  it("has an outsider reported by T7, and is called by what it trusts in lists of grants", () => {
    const known = bound(federation({}));
    const partner = resource("Robot", "partner", {
      parentUid: payments,
      ...federation({ workload: "repo:globex/pay:ref:refs/heads/main" }),
    });
    const joined = change([...known, partner], [...known, partner, binding(partner, viewer, payments)]);
    expect(found("T7", joined)).toMatchObject([{ field: "federation.workload" }]);
    expect(joined.before.grants.map(({ subject }) => subject.displayName)).toEqual([
      "GitHub Actions of acme/pay, branch main",
    ]);
  });
});
