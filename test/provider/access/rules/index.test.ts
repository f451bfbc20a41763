import { defaultRuleOptions, findingsOf, findRule, rules } from "../../../../provider/access/rules";
import { canReport } from "../../../../provider/access/rules/rule";
import { specs } from "../../../../provider/access/documents/specs";
import { severities } from "../../../../provider/access/review/finding";
import {
  acme,
  binding,
  claims,
  compareResources,
  resource,
  groups,
  identity,
  owner,
  payments,
  viewer,
} from "../../../support/access";
import { NOW } from "./support";

const options = defaultRuleOptions(NOW);
const open = identity("open", claims({ issuer: "https://sso.acme.example", subjectPattern: ".*" }));
const base = [...groups, viewer, owner];
const bound = [binding(open, owner, acme), binding(open, viewer, payments)];
const risky = compareResources(base, [...base, open, ...bound]);

it("has every rule once, in the order of the documentation", () => {
  expect(rules.map(({ id }) => id).join(" ")).toBe(
    "G1 G2 G3 G4 G5 G6 G7 G8 G9 T1 T2 T3 T4 T5 T6 T7 K1 K2 K3 K4 D1 D2 D3 D4 D5 R1 R2 X1 X2 X3 X4 X5 X6 S2 S3 S4 P1 P2 P3 S1",
  );
  expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length);
});

it("finds a rule by its id or name, in any case", () => {
  expect(findRule("g1")?.name).toBe("owner-grant");
  expect(findRule("Owner-Grant")?.id).toBe("G1");
  expect(findRule("G99")).toBeUndefined();
});

it("documents every rule completely", () => {
  for (const rule of rules) {
    for (const text of [rule.when, rule.what, rule.why, rule.fix, rule.except]) {
      expect(text.length).toBeGreaterThan(5);
      expect(text).toBe(text.trim());
    }
    for (const text of [rule.what, rule.why, rule.fix, rule.except]) expect(text).toMatch(/^[A-Z].*\.$/s);
    expect(rule.severities).toEqual(severities.filter((each) => rule.severities.includes(each)));
  }
});

it("lists every rule at a kind at least, or says that it is about the change as a whole", () => {
  const kinds = Object.keys(specs);
  for (const rule of rules) {
    expect([rule.id, kinds.some((kind) => canReport(rule, kind))]).toEqual([
      rule.id,
      rule.about !== "change",
    ]);
  }
  expect(rules.filter(({ about }) => about === "change").map(({ id }) => id)).toEqual(["D4"]);
});

it("keeps a fingerprint when a line, a uid or a word changes, and not when the subject does", () => {
  // X2 reports the references to what has no uid yet, T2 an issuer that nobody trusted before.
  const prints = (given: Parameters<typeof findingsOf>[0]): string[] =>
    findingsOf(given, options).flatMap(({ id, fingerprint }) =>
      ["X2", "T2"].includes(id) ? [] : [fingerprint],
    );
  const first = prints(risky);
  for (const print of first) expect(print).toMatch(/^[0-9a-f]{32}$/);
  expect(new Set(first).size).toBe(first.length);

  const described = { ...open.inputs, description: "new" };
  const elsewhere = { ...open, inputs: described, sourcePosition: "project:///index.ts#7" };
  expect(prints(compareResources(base, [...base, elsewhere, ...bound]))).toEqual(first);

  const existing = [...base, open];
  expect(prints(compareResources(existing, [...existing, ...bound]))).toEqual(first);

  const other = identity("other", open.inputs);
  expect(prints(compareResources(base, [...base, other, binding(other, owner, acme)]))).not.toEqual(
    expect.arrayContaining([first[0]]),
  );
});

it("lets no control character and no endless name through", () => {
  const evil = identity(`\u001b[31mred\u202e\n::error::${"x".repeat(3000)}`, open.inputs);
  const findings = findingsOf(compareResources(base, [...base, evil, binding(evil, owner, acme)]), options);
  expect(findings.length).toBeGreaterThan(1);
  for (const { message, details, advice } of findings) {
    for (const line of [message, advice ?? "", ...details]) {
      expect(line).not.toMatch(/[\p{Cc}\u202e]/u);
      expect(line.length).toBeLessThan(410);
    }
  }
});

it("finds nothing in an empty comparison, and survives malformed inputs", () => {
  expect(findingsOf(compareResources([], []), options)).toEqual([]);
  const odd = resource("Identity", "odd", { claimMatch: null, staticKeys: 5, awsIdentity: [], parentUid: 7 });
  const odder = resource("Repo", "odd", { customOverlay: "x", syncConfig: [1] });
  expect(() => findingsOf(compareResources([odd, odder], [odder, odd]), options)).not.toThrow();
  expect(() => findingsOf(compareResources([], [odder, odd]), options)).not.toThrow();
});
