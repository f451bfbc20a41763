import { defaultRuleOptions, findingsOf, findRule, rules } from "../../../../provider/access/rules";
import { severities } from "../../../../provider/access/report";
import {
  acme,
  binding,
  claims,
  comparison,
  entity,
  groups,
  identity,
  owner,
  payments,
  viewer,
} from "../../../support/access";
import { NOW } from "./support";
import { cpuSeconds } from "../../../support/cpu";

const options = defaultRuleOptions(NOW);
const open = identity("open", claims({ issuer: "https://sso.acme.example", subjectPattern: ".*" }));
const base = [...groups, viewer, owner];
const risky = comparison(base, [...base, open, binding(open, owner, acme), binding(open, viewer, payments)]);

it("has every rule once, in the order of the documentation", () => {
  expect(rules.map(({ id }) => id).join(" ")).toBe(
    "G1 G2 G3 G4 G5 G6 G7 G8 T1 T2 T3 T4 T5 T6 K1 K2 K3 K4 D1 D2 D3 D4 R1 R2 X1 X2 X3 X4",
  );
  expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length);
});

it("finds a rule by its id or name, in any case", () => {
  expect(findRule("g1")?.name).toBe("owner-grant");
  expect(findRule("Owner-Grant")?.id).toBe("G1");
  expect(findRule("G99")).toBeUndefined();
});

it("has a whole text for every rule", () => {
  for (const rule of rules) {
    for (const text of [rule.when, rule.what, rule.why, rule.fix, rule.except]) {
      expect(text.length).toBeGreaterThan(5);
      expect(text).toBe(text.trim());
    }
    for (const text of [rule.what, rule.why, rule.fix, rule.except]) expect(text).toMatch(/^[A-Z].*\.$/s);
    expect(rule.severities).toEqual(severities.filter((each) => rule.severities.includes(each)));
  }
});

it("puts the worst first, and answers the same for the same", () => {
  const findings = findingsOf(risky, options);
  const ranks = findings.map(({ severity }) => severities.indexOf(severity));
  expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
  expect(findings.slice(0, 2).map(({ id }) => id)).toEqual(["G1", "T1"]);
  expect(findingsOf(risky, options)).toEqual(findings);
  expect(JSON.parse(JSON.stringify(findings))).toEqual(findings);
});

it("keeps a fingerprint when a line, a uid or a word changes, and not when the subject does", () => {
  const prints = (given: Parameters<typeof findingsOf>[0]): string[] =>
    findingsOf(given, options).map(({ fingerprint }) => fingerprint);
  const first = prints(risky);
  for (const print of first) expect(print).toMatch(/^[0-9a-f]{32}$/);
  expect(new Set(first).size).toBe(first.length);

  const elsewhere = { ...open, location: { file: "index.ts", line: 7 }, description: "new" };
  const again = comparison(base, [
    ...base,
    elsewhere,
    binding(open, owner, acme),
    binding(open, viewer, payments),
  ]);
  expect(prints(again)).toEqual(first);

  const before = { ...open, key: open.urn!, uid: undefined };
  const preview = comparison(base, [
    ...base,
    before,
    binding(before, owner, acme),
    binding(before, viewer, payments),
  ]);
  expect(prints(preview)).toEqual(first);

  const other = identity("other", open.inputs);
  expect(prints(comparison(base, [...base, other, binding(other, owner, acme)]))).not.toEqual(
    expect.arrayContaining([first[0]]),
  );
});

it("lets no control character and no endless name through", () => {
  const evil = identity(`\u001b[31mred\u202e\n::error::${"x".repeat(5000)}`, open.inputs);
  const findings = findingsOf(comparison(base, [...base, evil, binding(evil, owner, acme)]), options);
  expect(findings.length).toBeGreaterThan(1);
  for (const { message, details, advice } of findings) {
    for (const line of [message, advice ?? "", ...details]) {
      expect(line).not.toMatch(/[\p{Cc}\u202e]/u);
      expect(line.length).toBeLessThan(410);
    }
  }
});

it("finds nothing where nothing is", () => {
  expect(findingsOf(comparison([], []), options)).toEqual([]);
  const odd = entity("Identity", "odd", { claimMatch: null, staticKeys: 5, awsIdentity: [], parentUid: 7 });
  const odder = entity("Repo", "odd", { customOverlay: "x", syncConfig: [1] });
  expect(() => findingsOf(comparison([odd, odder], [odder, odd]), options)).not.toThrow();
  expect(() => findingsOf(comparison([], [odder, odd]), options)).not.toThrow();
});

it("judges five thousand resources in a moment", () => {
  const many = Array.from({ length: 2500 }, (_, i) => identity(`i${i}`, open.inputs));
  const all = [...base, ...many, ...many.map((who) => binding(who, viewer, payments))];
  const change = comparison(base, all);
  expect(cpuSeconds(() => expect(findingsOf(change, options).length).toBe(2500))).toBeLessThan(10);
});
