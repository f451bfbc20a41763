import { accessKinds } from "../../../../provider/access/graph/accessKinds";
import type { AccessKind } from "../../../../provider/access/graph/accessKinds";
import { describeIdentity } from "../../../../provider/access/graph/subjects";
import type { Props } from "../../../../provider/fields/values";
import { compareResources, groups, payments, resource, viewer } from "../../../support/access";
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

beforeAll(() => {
  const robots: AccessKind = {
    assumable: true,
    describeHolder: describeIdentity,
    principal: { except: [] },
    accessFields: ["claimMatch", "signer"],
  };
  Object.assign(accessKinds, { Robot: robots });
});

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

  it("has its trust, its keys and their end reported by T1, T2, K1 and K2", () => {
    const open = robot({ claimMatch: { issuer: "https://sso.acme.example", subjectPattern: ".*" } });
    expect(found("T1", change([], [open]))).toMatchObject([{ kind: "Robot" }]);
    const issuer = { issuerAllow: ["https://other.example"] };
    expect(found("T2", change([], [open]), issuer)).toMatchObject([{ kind: "Robot" }]);
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
