import { parsePolicy } from "../../../../provider/access/suppressions/policyDocument";
import { matchesEntry } from "../../../../provider/access/suppressions/applyPolicy";
import { addressMatches, addressPattern, hostMatches, hostOf } from "../../../../provider/access/trust/glob";
import { PatternComparer } from "../../../../provider/access/trust/patternComparer";
import type { Finding } from "../../../../provider/access/review/finding";
import { claims, compareResources, groups, identity, payments, resource } from "../../../support/access";
import { found } from "../rules/support";

const wildcards = "https://*.acme.example";
const ids = "https://oidc.acme.example/id/*";

/** A glob, an address, and whether the glob matches it. */
const addresses: [string, string, boolean][] = [
  [wildcards, "https://ci.acme.example", true],
  [wildcards, "https://ci.acme.example/", true],
  [wildcards, "https://acme.example", false],
  [wildcards, "https://.acme.example", false],
  [wildcards, "https://evil.example/x.acme.example", false],
  [wildcards, "https://evil.example?x.acme.example", false],
  [wildcards, "https://evil.example#x.acme.example", false],
  [wildcards, "https://evil.example\\.acme.example", false],
  [wildcards, "https://evil.example@ci.acme.example", false],
  [wildcards, "https://ci.acme.example\n", false],
  [wildcards, "https://evil.example%2f.acme.example", false],
  [wildcards, "https://ci.acme.example@evil.example", false],
  [wildcards, "https://ci.acme.example.evil.example", false],
  [wildcards, "https://evilacme.example", false],
  [wildcards, "https://ci.acme.example.", false],
  [wildcards, "https://ci.acme.example:8443", false],
  [wildcards, "https://CI.acme.example", false],
  [wildcards, "http://ci.acme.example", false],
  [wildcards, "https://ci.acme.example/x", false],
  [wildcards, " https://ci.acme.example", false],
  [wildcards, "https://ci.acme\u200b.example", false],
  [wildcards, "ci.acme.example", false],
  [wildcards, "", false],
  ["https://ci-*.acme.example", "https://ci-.acme.example", true],
  ["https://ci-*.acme.example", "https://ci-1.evil.acme.example", false],
  ["https://ci-?.acme.example", "https://ci-1.acme.example", true],
  ["https://ci-?.acme.example", "https://ci-..acme.example", false],
  ["https://oidc.*.acme.example", "https://oidc.evil.example/.acme.example", false],
  ["https://*.acme.example:8443", "https://ci.acme.example:8443", true],
  ["https://*.acme.example:8443", "https://ci.acme.example", false],
  [ids, "https://oidc.acme.example/id/1F", true],
  [ids, "https://oidc.acme.example/id/", false],
  [ids, "https://oidc.acme.example/id/1F/keys", false],
  [ids, "https://oidc.acme.example/id/..", false],
  [ids, "https://oidc.acme.example/id/%2e%2e", false],
  [ids, "https://oidc.acme.example/id/1F%2fx", false],
  [ids, "https://oidc.acme.example/ID/1F", false],
  ["https://oidc.acme.example/*/v2", "https://oidc.acme.example/tenant/v2", true],
  ["https://oidc.acme.example/\\*", "https://oidc.acme.example/*", true],
  ["https://oidc.acme.example/\\*", "https://oidc.acme.example/x", false],
  ["https://*.1.2.3", "https://evil.1.2.3", false],
  ["https://127.0.0.1", "https://2130706433", false],
  ["https://[::1]", "https://[::1]", true],
  // Globs that a flag or a policy file refuses match nothing.
  ["*", "https://ci.acme.example", false],
  ["https://acme.*", "https://acme.example", false],
  ["*.acme.example", "https://ci.acme.example", false],
  ["https://*acme.example", "https://evilacme.example", true],
];

test.each(addresses)("%j for %j: %s", (glob, address, matches) => {
  expect(addressMatches(glob, address)).toBe(matches);
});

test.each([
  ["https://ci.acme.example", true],
  ["https://ci.acme.example.evil.example", false],
])("is how an option allows the issuer %j, and how an exception matches it: %s", (address, matches) => {
  const trusting = identity("ci", claims({ issuer: address, subject: "x" }));
  const change = compareResources(groups, [...groups, trusting]);
  expect(found("T2", change, { issuerAllow: [wildcards] })).toHaveLength(matches ? 0 : 1);
  for (const key of ["issuer", "subject"] as const) {
    const finding = { id: "T2", trust: { [key]: address } } as unknown as Finding;
    const entry = { rule: "T2", match: { [key]: wildcards }, reason: "x" };
    expect(matchesEntry(entry, finding)).toBe(matches);
  }
});

/** A glob over hosts, the address of a receiver, and whether events may go there. */
const receivers: [string, string, boolean][] = [
  ["*.acme.example", "https://hooks.acme.example/in?token=1", true],
  ["*.acme.example", "https://HOOKS.acme.example/in", true],
  ["*.acme.example", "https://hooks.acme.example:443/in", true],
  ["*.acme.example", "http://hooks.acme.example/in", true],
  ["*.acme.example", "https://hooks.acme.example:8443/in", false],
  ["*.acme.example", "https://acme.example.evil.example/in", false],
  ["*.acme.example", "https://evil.example/.acme.example", false],
  ["*.acme.example", "https://evil.example@hooks.acme.example/in", false],
  ["*.acme.example", "https://hooks.acme.example./in", false],
  ["*.acme.example", "hooks.acme.example/in", false],
  ["*.acme.example", "https://evil\u3002example/.acme.example", false],
  ["hooks.acme.example:8443", "https://hooks.acme.example:8443/in", true],
  ["hooks.acme.example:8443", "https://hooks.acme.example/in", false],
  ["*", "https://hooks.acme.example/in", false],
];

describe.each(receivers)("--sink-allow %j for %j", (glob, address, allows) => {
  it(`${allows ? "allows" : "reports"} it`, () => {
    const host = hostOf(address);
    expect(host !== undefined && hostMatches(glob, host)).toBe(allows);
    const to = resource("Subscription", "audit", { parentUid: payments, sink: address });
    const change = compareResources(groups, [...groups, to]);
    expect(found("X1", change, { sinkAllow: [glob] })).toHaveLength(allows ? 0 : 1);
  });
});

it("shows no password of a receiver whose host is not clear", () => {
  const sink = "https://hooks.acme.example:hunter2@evil.example/in?token=hunter3";
  const to = resource("Subscription", "audit", { parentUid: payments, sink });
  const [finding] = found("X1", compareResources(groups, [...groups, to]));
  expect(finding?.message).toMatch(
    /are sent to an address to which no reviewed subscription sends them: \S*evil\.example/,
  );
  expect(JSON.stringify(finding)).not.toMatch(/hunter/);
});

it.each([
  ["^https://[a-z0-9-]+\\.acme\\.example$", true],
  ["^https://[a-z]+\\.[a-z]+\\.acme\\.example$", true],
  ["^https://ci\\.[a-z]+\\.example$", false],
  ["^https://[a-z/.]+\\.acme\\.example$", false],
])(
  "an issuerPattern %s is allowed by a glob only if all that it accepts is: %s",
  (issuerPattern, allowed) => {
    expect(new PatternComparer().isSubset(issuerPattern, addressPattern(wildcards) ?? "")).toBe(
      allowed ? "yes" : "no",
    );
  },
);

it("the policy file says what is wrong with a glob over issuers in the words of the schema", () => {
  const text = (issuer: string): string =>
    `allow:\n  - rule: G6\n    match: { issuer: "${issuer}" }\n    reason: x\n`;
  expect(() => parsePolicy(text("https://*/x"), "p.yaml")).toThrow(/p\.yaml:3: allow\[0\]\.match\.issuer/);
  for (const glob of [wildcards, ids, "123456789012", "https://\\[::1\\]:8443/a", "^https://.\\*$"]) {
    expect(() => parsePolicy(text(glob.replaceAll("\\", "\\\\")), "p.yaml")).not.toThrow();
  }
});
