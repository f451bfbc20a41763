import { generateKeyPairSync } from "node:crypto";
import { compare } from "../../../../provider/access/review/compare";
import { UNKNOWN } from "../../../../provider/fields/values";
import type { Props } from "../../../../provider/fields/values";
import {
  acme,
  cards,
  compareResources,
  resource,
  groups,
  identity,
  owner,
  payments,
  pinned,
  viewer,
} from "../../../support/access";
import type { Resource } from "../../../support/access";
import { preview, state, step } from "../../../support/documents";
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

/** A public key as a key set has it. */
const rsa = (modulusLength: number) =>
  generateKeyPairSync("rsa", { modulusLength }).publicKey.export({ format: "jwk" });

describe("K1 static-keys", () => {
  it.each([
    ["a member in capitals", '{"keys":[{"kty":"OKP","x":"1"}],"Keys":[]}'],
    ["many levels", `{"keys":[{"kty":"EC","x":${"[".repeat(20_000)}${"]".repeat(20_000)}}]}`],
  ])("is critical for a key set that parsers read differently, by %s", (_what, issuerKeys) => {
    expect(found("K1", made(identity("ci", keys({ issuerKeys }))))).toMatchObject([
      { severity: "critical", message: expect.stringContaining("that parsers read differently") as string },
    ]);
  });

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

  it("names the other identities that have the key, whatever its kid", () => {
    const key = { ...rsa(2048) };
    const set = (kid: string) => keys({ issuerKeys: JSON.stringify({ keys: [{ ...key, kid }] }) });
    const [scanner, other] = [identity("scanner", set("a")), identity("other", keys())];
    const change = (...all: Resource[]) =>
      compareResources([...base, scanner, other], [...base, scanner, other, ...all]);
    expect(found("K1", change(identity("helper", set("b"))))).toMatchObject([
      { severity: "medium", details: ["the same key is registered for identity scanner"] },
    ]);
    const alone = keys({ issuerKeys: JSON.stringify({ keys: [rsa(2048)] }) });
    expect(found("K1", change(identity("helper", alone)))).toMatchObject([{ details: [] }]);
  });

  it.each([
    ["RSA of 1024 bits", { ...rsa(1024) }, ["critical"]],
    ["the exponent 1", { ...rsa(2048), e: "AQ" }, ["critical"]],
    ["an even modulus", { ...rsa(2048), n: Buffer.alloc(256, 0xfe).toString("base64url") }, ["critical"]],
    ["the factor 3", { ...rsa(2048), n: Buffer.alloc(256, 0xff).toString("base64url") }, ["critical"]],
    ["a key that is not of RSA", { kty: "OKP", crv: "Ed25519", x: "A".repeat(43) }, []],
    ["alg none", { ...rsa(2048), alg: "None" }, ["critical"]],
    ["alg HS256", { ...rsa(2048), alg: "HS256" }, ["critical"]],
    ["alg RS256", { ...rsa(2048), alg: "RS256" }, []],
    ["keys at another address", { ...rsa(2048), jku: "https://keys.acme.example" }, ["critical"]],
    ["a certificate at another address", { ...rsa(2048), x5u: "https://keys.acme.example" }, ["critical"]],
  ])("of a changed key set, %s: %j", (_, key, severities) => {
    const before = [...base, identity("ci", keys())];
    const now = identity("ci", keys({ issuerKeys: JSON.stringify({ keys: [key] }) }));
    expect(severitiesOf("K1", compareResources(before, [...base, now]))).toEqual(severities);
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
    const findings = found("K2", made(identity("ci", trust)));
    expect(findings.map(({ severity }) => severity)).toEqual(severities);
    if (expirationTime === undefined)
      expect(findings[0]?.message).toMatch(/ are valid for 365 days, the server's default$/);
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
    [inDays(0, 1), []],
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

  it.each([
    ["ada@acme.example", "an invite of ada@acme.example to"],
    ["", "an open invite to"],
    // There all the same, though nobody can read it.
    [UNKNOWN, "an invite to"],
  ])("with the address %j is %s", (email, start) => {
    const [finding] = found("K3", made(invite({ email, singleUse: true, ttl: "1000h" })));
    expect(finding?.message.startsWith(`${start} acme / payments as viewer: `)).toBe(true);
  });

  it("names every problem in one line", () => {
    expect(found("K3", made(invite({ ttl: "1000h" })))[0]?.message).toBe(
      "an open invite to acme / payments as viewer: anyone with the code can accept it; it can be used more than once; valid for 1000h (limit 7 days)",
    );
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

  const INVITE = `${payments}/${"7".repeat(16)}`;
  const expirationTime = "2027-01-01T00:00:00Z";
  const invite = { parentUid: payments, roleUid: viewer.uid, ttl: "48h" };
  const known = { id: INVITE, outputs: { ...invite, code: "[secret]", expirationTime } };
  const code = "94944c6db1293dd6d58cea4f966ac7e77affe744170b9222f0056a63d4488efb";
  /** The findings about a new resource of which one property depends on an invite. */
  const fromInvite = (kind: string, inputs: Props, property: string, isNew = false) => {
    const one = state("GroupInvite", "open", invite, isNew ? {} : known);
    const dependencies = { [property]: [one.urn] };
    const source = isNew ? step("create", undefined, one) : step("same", one, one);
    const reader = step("create", undefined, state(kind, "reader", inputs, { dependencies }));
    const findings = found("K4", compare({ preview: preview(source, reader) }));
    return findings.map(({ severity, field }) => [severity, field]);
  };

  it.each<[string, Props, string, string]>([
    ["Group", { parentUid: payments, name: "a" }, "description", "description"],
    ["RepoReadme", { parentUid: payments }, "content", "content"],
    ["Repo", { parentUid: payments, name: "a" }, "customOverlay", "customOverlay.annotations.a"],
    ["Tag", { parentUid: payments, digest: "a" }, "name", "name"],
  ])("finds a secret of another resource in a text of %s", (kind, others, property, field) => {
    const at = (value: string): Props => ({
      ...others,
      [property]: property === field ? value : { annotations: { a: value } },
    });
    const of = (value: string, isNew = false) => fromInvite(kind, at(value), property, isNew);
    expect(of("[secret]")).toEqual([["high", field]]);
    expect(of(UNKNOWN, true)).toEqual([["medium", field]]);
    expect(of(code)).toEqual([["high", field]]);
    expect(of(`open until ${expirationTime}`)).toEqual([["high", field]]);
    expect(fromInvite(kind, at(code), "parentUid")).toEqual([]);
    expect(of("")).toEqual([]);
  });

  it("finds it again only where the argument changes", () => {
    const one = state("GroupInvite", "open", invite, known);
    const dependencies = { description: [one.urn] };
    const reader = (more: Props) =>
      state("Group", "g", { parentUid: acme, ...more }, { id: cards, dependencies });
    const of = (before: Props, after: Props, ...changed: string[]) => {
      const detailedDiff = Object.fromEntries(changed.map((path) => [path, { kind: "update" }]));
      const update = { ...step("update", reader(before), reader(after)), detailedDiff };
      return found("K4", compare({ preview: preview(step("same", one, one), update) })).length;
    };
    expect(of({ name: "a", description: code }, { name: "b", description: code })).toBe(0);
    expect(of({ name: "a", description: "x" }, { name: "a", description: code })).toBe(1);
    expect(of({ name: "a", description: "x" }, { name: "a", description: "[secret]" })).toBe(1);
    const [was, is] = [
      { name: "a", description: "[secret]" },
      { name: "b", description: "[secret]" },
    ];
    expect(of(was, is, "name")).toBe(0);
    expect(of(was, is, "name", "description")).toBe(1);
    expect(of(was, { ...is, description: code }, "name", "description")).toBe(1);
  });

  it("ignores a secret that the preview masks", () => {
    expect(found("K4", made(idp({ clientSecret: "[secret]" })))).toEqual([]);
  });
});
