import type { Props } from "../../../../provider/fields/values";
import { binding, compareResources, groups, payments, resource, viewer } from "../../../support/access";
import type { ComparisonOptions, Resource } from "../../../support/access";
import { found, NOW, severitiesOf } from "./support";

jest.mock("../../../../provider/kinds", () => {
  const { kinds } = jest.requireActual<{ kinds: readonly object[] }>("../../../../provider/kinds");
  const { inventedKinds } = jest.requireActual<{ inventedKinds: object }>("./inventedKinds");
  return { kinds: [...kinds, ...Object.values(inventedKinds).map((spec: unknown) => ({ spec }))] };
});

const base = [...groups, viewer];
const change = (before: Resource[], after: Resource[], options: ComparisonOptions = {}) =>
  compareResources([...base, ...before], [...base, ...after], options);
const invent = (kindName: string) => (inputs: Props) =>
  resource(kindName, "new", { parentUid: payments, ...inputs });
const [relay, mirror, shelf, robot] = ["Relay", "Mirror", "Shelf", "Robot"].map(invent) as [
  (inputs: Props) => Resource,
  (inputs: Props) => Resource,
  (inputs: Props) => Resource,
  (inputs: Props) => Resource,
];

describe("a kind that no rule names", () => {
  it("has the host that its events go to reported by X1", () => {
    expect(found("X1", change([], [relay({ delivery: { url: "https://x.example/a" } })]))).toMatchObject([
      { field: "delivery.url", message: expect.stringContaining("are sent to a new host: x.example") },
    ]);
  });

  it("has a secret in plain text reported by K4", () => {
    expect(found("K4", change([], [relay({ token: "canary" })]))).toMatchObject([{ field: "token" }]);
  });

  it("has its removal and its moves reported by R1 and D2", () => {
    expect(severitiesOf("R1", change([mirror({})], []))).toEqual(["high"]);
    expect(found("R1", change([mirror({ pointer: "a" })], [mirror({ pointer: "b" })]))).toMatchObject([
      { severity: "medium", field: "pointer", message: "mirror new is moved from a to b" },
    ]);
    expect(found("R1", change([mirror({ upstream: "a" })], [mirror({ upstream: "b" })]))).toMatchObject([
      { severity: "high", field: "upstream" },
    ]);
    const inside = resource("Repo", "api", { parentUid: shelf({}).uid }, { external: true });
    expect(severitiesOf("D2", change([shelf({}), inside], [inside]))).toEqual(["high"]);
  });

  it("has what its images trust reported by R2", () => {
    expect(found("R2", change([], [mirror({ runsAs: "root", authorities: ["corp"] })]))).toMatchObject([
      { severity: "high", field: "authorities", message: expect.stringMatching(/certificates: corp$/) },
      { severity: "medium", field: "runsAs", message: expect.stringMatching(/runs as root: root$/) },
    ]);
  });

  it("has the delete that the server refuses reported by D3", () => {
    const inside = resource("Repo", "api", { parentUid: shelf({}).uid }, { external: true });
    expect(severitiesOf("D3", change([shelf({}), inside], [inside]))).toEqual(["medium"]);
  });

  it("has its keys and their end reported by K1 and K2", () => {
    const keys = (jwks: object) => robot({ signer: { jwks: JSON.stringify({ keys: [jwks] }) } });
    expect(severitiesOf("K1", change([], [keys({ kty: "RSA" })]))).toEqual(["medium"]);
    expect(found("K1", change([], [keys({ kty: "RSA", d: "canary" })]))).toMatchObject([
      { severity: "critical", field: "signer.jwks" },
    ]);
    const other = robot({ signer: { jwks: '{"keys":[{"kty":"RSA"}],"Keys":[{"kty":"RSA"}]}' } });
    expect(found("K1", change([], [other]))).toMatchObject([
      {
        severity: "critical",
        field: "signer.jwks",
        message: expect.stringMatching(/parsers read differently/),
      },
    ]);
    const until = new Date(NOW - 1000).toISOString();
    const ended = robot({ signer: { jwks: '{"keys":[]}', until } });
    expect(found("K2", change([ended], [ended]))).toMatchObject([
      { severity: "high", field: "signer.until" },
    ]);
  });
});

const GITHUB = "https://token.actions.githubusercontent.com";
const main = "repo:acme/pay:ref:refs/heads/main";
const pinned = { authority: GITHUB, workload: main };
const keySet = (kid: string): string => JSON.stringify({ keys: [{ kty: "oct", kid }] });

/** A robot of this trust with a grant. */
const bound = (trust: Props): Resource[] => [robot(trust), binding(robot(trust), viewer, payments)];

describe("a kind whose description alone says what is trusted", () => {
  it.each<[rule: string, trust: Props, expected: object]>([
    [
      "T1",
      { federation: { authority: GITHUB, workloads: "^repo:.*$" } },
      {
        severity: "critical",
        field: "federation.workloads",
        counterexample: expect.stringMatching(/^repo:/),
      },
    ],
    [
      "T1",
      { cloud: { tenant: "123456789012", actors: "^arn:.*$" } },
      { severity: "critical", field: "cloud.actors" },
    ],
    [
      "T2",
      { federation: { authorities: "^https://.*$", workload: "a" } },
      { severity: "critical", field: "federation.authorities" },
    ],
    [
      "T3",
      { federation: { authority: GITHUB, workload: "deploy" } },
      { severity: "high", field: "federation.workload", message: expect.stringContaining("GitHub Actions") },
    ],
    [
      "T3",
      { federation: { authority: GITHUB, workload: "deploy", also: { ref: "refs/heads/main" } } },
      { details: ["subject: deploy", "claims that any customer can set: ref"] },
    ],
    [
      "T4",
      { federation: { authority: GITHUB, workload: "repo:acme/pay:pull_request" } },
      { field: "federation.workload", message: expect.stringContaining("any pull request") },
    ],
    [
      "T6",
      { federation: { ...pinned, meantFor: "sts.amazonaws.com" } },
      { severity: "low", field: "federation.meantFor" },
    ],
    [
      "T6",
      { federation: { ...pinned, meantForAny: "^.*$" } },
      { severity: "medium", field: "federation.meantForAny" },
    ],
    [
      "T6",
      { federation: { ...pinned, also: { ref: "refs/heads/*" } } },
      { field: "federation.also.ref", advice: expect.stringContaining("use federation.alsoLike.ref,") },
    ],
    [
      "T6",
      { signer: { authority: "https://a.example/*", workload: "a", jwks: keySet("a") } },
      { field: "signer.authority", advice: "if a part must vary, create an identity for each value" },
    ],
  ])("has it judged by %s: %j", (id, trust, expected) => {
    expect(found(id, change(bound({}), bound(trust)))).toMatchObject([{ kind: "Robot", ...expected }]);
  });

  it("has each trust of a list judged", () => {
    const open = { authority: GITHUB, workloads: "^repo:.*$" };
    expect(found("T1", change(bound({}), bound({ delegates: [pinned, open] })))).toMatchObject([
      { severity: "critical", field: "delegates[1].workloads" },
    ]);
  });

  it.each<[from: Props, to: Props, field: string]>([
    [{ federation: pinned }, { federation: { ...pinned, workload: "repo:evil/pay" } }, "federation.workload"],
    [{ signer: { jwks: keySet("a") } }, { signer: { jwks: keySet("b") } }, "signer.jwks"],
    [{ delegates: [pinned] }, { delegates: [{ ...pinned, workload: "repo:evil/pay" }] }, "delegates"],
  ])("has its change judged by T5: %j to %j", (from, to, field) => {
    expect(found("T5", change(bound(from), bound(to)))).toMatchObject([{ severity: "high", field }]);
    expect(found("T5", change([robot(from)], [robot(to)]))).toEqual([]);
  });

  it("has a longer life of its keys left to the rules of ends", () => {
    const ends = (until: string) => bound({ signer: { jwks: keySet("a"), until } });
    const longer = change(ends("2026-07-01T00:00:00Z"), ends("2026-08-01T00:00:00Z"));
    expect(found("T5", longer)).toEqual([]);
    expect(found("S1", longer)).toMatchObject([{ field: "signer.until" }]);
  });

  it("has an outsider reported by T7, and an issuer that nobody allowed by T2", () => {
    const known = bound({ federation: pinned });
    const partner = resource("Robot", "partner", {
      parentUid: payments,
      federation: { ...pinned, workload: "repo:globex/pay:ref:refs/heads/main" },
    });
    const joined = change([...known, partner], [...known, partner, binding(partner, viewer, payments)]);
    expect(found("T7", joined)).toMatchObject([{ field: "federation.workload" }]);
    const options = { issuerAllow: ["https://other.example"] };
    expect(found("T2", change(bound({}), known), options)).toMatchObject([{ field: "authority" }]);
  });

  it("is called by what it trusts in lists of grants", () => {
    const { after } = change(bound({}), bound({ federation: pinned }));
    expect(after.grants.map(({ subject }) => subject.displayName)).toEqual([
      "GitHub Actions of acme/pay, branch main",
    ]);
  });
});
