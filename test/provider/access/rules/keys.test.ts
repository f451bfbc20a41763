import type { Props } from "../../../../provider/fields/values";
import {
  acme,
  compareResources,
  resource,
  groups,
  identity,
  owner,
  payments,
  pinned,
  role,
  viewer,
} from "../../../support/access";
import type { Resource } from "../../../support/access";
import { found, inDays, severitiesOf } from "./support";

const base = [...groups, viewer, owner];
const keys = (more: Props = {}): Props => ({
  staticKeys: {
    issuer: "https://build",
    subject: "ci",
    issuerKeys: '{"keys":[{"kty":"OKP","x":"1"}]}',
    ...more,
  },
});
const made = (...all: Resource[]) => compareResources(base, [...base, ...all]);

describe("K1 static-keys", () => {
  it("is medium for a new identity with keys, and for one that changes to keys", () => {
    expect(severitiesOf("K1", made(identity("ci", keys())))).toEqual(["medium"]);
    const change = compareResources([...base, identity("ci", pinned)], [...base, identity("ci", keys())]);
    expect(severitiesOf("K1", change)).toEqual(["medium"]);
  });

  it.each(["d", "k", "p"])("is critical for a private member %s, whose value is not shown", (member) => {
    const issuerKeys = JSON.stringify({ keys: [{ kty: "x" }, { kty: "RSA", [member]: "canary-value" }] });
    const findings = found("K1", made(identity("ci", keys({ issuerKeys }))));
    expect(findings).toMatchObject([{ severity: "critical" }]);
    expect(JSON.stringify(findings)).not.toContain("canary-value");
  });

  it("ignores exchanged public keys and other identities", () => {
    const other = keys({ issuerKeys: '{"keys":[{"kty":"OKP","x":"2"}]}' });
    const change = compareResources([...base, identity("ci", keys())], [...base, identity("ci", other)]);
    expect(found("K1", change)).toEqual([]);
    expect(found("K1", made(identity("ci", pinned)))).toEqual([]);
  });
});

describe("K2 expiry", () => {
  it.each([
    [inDays(0, -1), ["high"]],
    [inDays(0, 1), ["medium"]],
    [inDays(30, -1), ["medium"]],
    [inDays(30), []],
    [inDays(90), []],
    [inDays(91), ["low"]],
    [undefined, ["low"]],
  ])("new keys until %s: %j", (expirationTime, severities) => {
    const trust = keys(expirationTime === undefined ? {} : { expirationTime });
    expect(severitiesOf("K2", made(identity("ci", trust)))).toEqual(severities);
  });

  it.each([
    [inDays(-3), ["high"]],
    [inDays(29), ["medium"]],
    [inDays(300), []],
  ])("keys that were there before, until %s: %j", (expirationTime, severities) => {
    const all = [...base, identity("ci", keys({ expirationTime }))];
    expect(severitiesOf("K2", compareResources(all, all))).toEqual(severities);
  });

  it.each([
    [inDays(-1), ["low"]],
    [inDays(1), []],
  ])("an invite until %s: %j", (expirationTime, severities) => {
    const invite = resource("GroupInvite", "i", { parentUid: payments }, { outputs: { expirationTime } });
    expect(severitiesOf("K2", compareResources([...base, invite], [...base, invite]))).toEqual(severities);
  });
});

describe("K3 open-invite", () => {
  const invite = (more: Props): Resource =>
    resource("GroupInvite", "guest", { parentUid: payments, roleUid: viewer.uid, ttl: "48h", ...more });
  const closed = { email: "ada@acme.example", singleUse: true };

  it.each([
    ["nothing is wrong", closed, []],
    ["no e-mail address", { singleUse: true }, ["high"]],
    ["an empty e-mail address", { email: "", singleUse: true }, ["high"]],
    ["more than one use", { email: "ada@acme.example" }, ["high"]],
    ["seven days", { ...closed, ttl: "168h" }, []],
    ["a second more than seven days", { ...closed, ttl: "604801s" }, ["high"]],
    ["the role owner", { roleUid: owner.uid }, ["critical"]],
  ])("%s", (_, more, severities) => {
    expect(severitiesOf("K3", made(invite(more)))).toEqual(severities);
  });

  it("is critical with capabilities of G2", () => {
    const admin = role("admin", ["IAM_ROLES_UPDATE"]);
    const change = compareResources([...base, admin], [...base, admin, invite({ roleUid: admin.uid })]);
    expect(severitiesOf("K3", change)).toEqual(["critical"]);
  });

  it("names every problem in one line", () => {
    expect(found("K3", made(invite({ ttl: "1000h" })))[0]?.message).toBe(
      "an open invite to acme / payments as viewer: anyone with the code can accept it; it can be used more than once; valid for 1000h (limit 7 days)",
    );
  });

  it("is not reported for an invite that existed before", () => {
    const all = [...base, invite({})];
    expect(found("K3", compareResources(all, all))).toEqual([]);
  });
});

describe("K4 plain-secret", () => {
  const idp = (oidc: Props): Resource =>
    resource("IdentityProvider", "sso", { parentUid: acme, defaultRole: viewer.uid, oidc });

  it("finds a client secret and a code in plain text, and never shows them", () => {
    const code = resource("GroupInvite", "i", { parentUid: payments }, { outputs: { code: "canary-code" } });
    const findings = found("K4", made(idp({ clientSecret: "canary-secret" }), code));
    expect(findings.map(({ severity, field }) => [severity, field])).toEqual([
      ["high", "code"],
      ["high", "oidc.clientSecret"],
    ]);
    expect(JSON.stringify(findings)).not.toContain("canary");
  });

  it("ignores a secret that the preview masks", () => {
    expect(found("K4", made(idp({ clientSecret: "[secret]" })))).toEqual([]);
  });
});
