import builtInRoles from "../../../../emulator/data/builtinRoles.json";
import capabilities from "../../../../emulator/data/capabilities.json";
import {
  capabilityFamilies,
  reportedEffects,
} from "../../../../provider/access/rules/data/capabilityFamilies";
import { familyOf } from "../../../../provider/access/rules/capabilityEffects";
import { defaultRuleOptions, findingsOf, rules } from "../../../../provider/access/rules";
import { severities } from "../../../../provider/access/review/finding";
import { capabilityNames } from "../../../../provider/kinds/capabilities";
import {
  binding,
  compareResources,
  groups,
  identity,
  owner,
  payments,
  pinned,
  role,
  viewer,
} from "../../../support/access";
import type { Resource } from "../../../support/access";
import { spreadOf } from "../../../support/properties";
import { NOW } from "./support";

const held: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(builtInRoles).map(([name, each]) => [name, each.capabilities]),
);
const ci = identity("ci", pinned);
const base = [...groups, ci, viewer, owner];
const MEDIUM = severities.indexOf("medium");

/** The rules that report a change at medium or worse. */
const reportedBy = (before: readonly Resource[], after: readonly Resource[]): string[] =>
  findingsOf(compareResources(before, after), defaultRuleOptions(NOW)).flatMap(({ id, severity }) =>
    severities.indexOf(severity) <= MEDIUM ? [id] : [],
  );

/** Names that no version of the API has had. */
const NEW_NAMES = [
  "CAP_NEW_FAMILY_LIST",
  "CAP_NEW_FAMILY_CHECK_ALL",
  "CAP_SECRETS_GET",
  "CAP_IAM_TRUST_FABRICS_LIST",
  "CAP_IAM_TRUST_FABRICS_UPDATE",
  "CAP_TAG_CHECK_POLICIES",
  "CAP_REPO_LIST_ALL",
  "CAP_ADMIN",
  "CAP_",
  "CAP_repo_list",
];

const all = [...Object.keys(capabilities), ...NEW_NAMES];

describe("a capability is proven to only read, or a finding where a subject gains it", () => {
  test.each(spreadOf(all, 40, 0))("%s", (capability) => {
    const none = role("some", ["REPO_LIST"]);
    const gained = role("some", ["REPO_LIST", capability.slice("CAP_".length)]);
    const isHarmless = familyOf(capability).effect === "reads";
    const bound = binding(ci, gained, payments);
    const reports = {
      bound: reportedBy([...base, gained], [...base, gained, bound]).filter((id) => /^G/.test(id)).length > 0,
      widened: reportedBy([...base, none, bound], [...base, gained, bound]).includes("G4"),
    };
    expect({ capability, ...reports }).toEqual({ capability, bound: !isHarmless, widened: !isHarmless });
    if (isHarmless) expect(Object.keys(capabilities)).toContain(capability);
  });

  test("which knows all names that editors offer", () => {
    expect(Object.keys(capabilities)).toEqual(
      expect.arrayContaining(capabilityNames.map((name) => `CAP_${name}`)),
    );
  });
});

describe("the table of families", () => {
  const reads = capabilityFamilies.filter(({ effect }) => effect === "reads");

  test("has each name that reads once, by its name and not by a form", () => {
    const names = reads.flatMap(({ names: each }) => (each instanceof RegExp ? [String(each)] : each));
    expect(names.filter((name) => !Object.hasOwn(capabilities, `CAP_${name}`))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });

  test.each(reads.flatMap(({ names, heldBy = [] }) => (heldBy.length === 0 ? [] : [{ names, heldBy }])))(
    "$heldBy have the names of their row, and nothing that does more than read",
    ({ names, heldBy }) => {
      const own = heldBy.flatMap((name) => held[name] ?? []);
      expect(own).toEqual(expect.arrayContaining(Array.from(names as string[], (name) => `CAP_${name}`)));
      expect(own.filter((capability) => familyOf(capability).effect !== "reads")).toEqual([]);
    },
  );

  test("has a rule for each effect, and a name for each row", () => {
    const effects = new Set(capabilityFamilies.map(({ effect }) => effect));
    expect(effects).toEqual(new Set(["reads", ...reportedEffects.map(({ effect }) => effect)]));
    expect(rules.map(({ id }) => id)).toEqual(
      expect.arrayContaining(reportedEffects.map(({ rule }) => rule)),
    );
    const used = new Set(all.map((capability) => familyOf(capability)));
    expect(capabilityFamilies.filter((family) => !used.has(family))).toEqual([]);
  });
});
