import { checkInputs } from "../../../provider/fields/check";
import { innerFields } from "../../../provider/fields/fieldSpec";
import type { EnumSpec, FieldSpec } from "../../../provider/fields/fieldSpec";
import { ADOPT } from "../../../provider/fields/values";
import type { Props } from "../../../provider/fields/values";
import { nearestWord } from "../../../provider/text/suggestions";
import { GROUP_UID, IDENTITY_UID, ROLE_UID, sampleOf, specOf, withValue, specs } from "../support/samples";
import { NOW, staticKeys, failuresOf } from "./refusals/support";
import { accounts } from "./refusals/accounts";
import { grants } from "./refusals/grants";
import { identities } from "./refusals/identities";
import { registry } from "./refusals/registry";
import type { Refusals } from "./refusals/support";

const cases: Refusals = { ...accounts, ...grants, ...identities, ...registry };
const enumsIn = (field: FieldSpec): EnumSpec[] =>
  field.type === "enum" ? [field] : innerFields(field).flatMap(enumsIn);
const grant = { identityUid: IDENTITY_UID, roleUid: ROLE_UID };

describe("what check refuses", () => {
  test.each(specs)("$kind: each argument that is missing, by its name", ({ kind, fields, oneOfs = [] }) => {
    const required = Object.keys(fields).filter((key) => fields[key]?.required);
    const choices = oneOfs.filter((oneOf) => oneOf.required);
    const failures = failuresOf(kind, {}).map((failure) => failure.trim());
    expect(failures.map((failure) => failure.split(" ")[0])).toEqual(expect.arrayContaining(required));
    expect(failures).toEqual(
      expect.arrayContaining(choices.map(({ members }) => `exactly one of ${members.join(", ")} is needed`)),
    );
  });

  test.each(specs)("$kind: each argument of a wrong type, without its value", ({ kind, fields }) => {
    for (const [key, field] of Object.entries(fields)) {
      const inputs = { ...sampleOf(kind), [key]: field.type === "list" ? { canary: 1 } : ["canary"] };
      const failures = failuresOf(kind, inputs).filter((failure) => failure.trim().startsWith(key));
      expect([key, failures.length > 0]).toEqual([key, true]);
      expect(failures.join()).not.toContain("canary");
    }
  });

  describe.each(Object.keys(cases))("of %s", (kind) => {
    test.each(cases[kind] ?? [])(
      "$name: every failure at once, with property and text",
      ({ inputs, failures }) => {
        expect(failuresOf(kind, inputs)).toEqual(failures);
      },
    );
  });

  test.each<[string, string, Props]>([
    ["PP1002", "Group", { name: "team", nane: "team" }],
    ["PP1003", "Group", { name: ["team"] }],
    ["PP1005", "RepoReadme", { ...sampleOf("RepoReadme"), content: "x".repeat(4 * 1024 * 1024) }],
    ["PP1006", "Group", { name: "team", parentUid: "" }],
    ["PP1007", "Identity", { ...sampleOf("Identity", "service"), ...staticKeys }],
    ["PP1008", "Identity", { parentUid: GROUP_UID, name: "robot" }],
    ["PP1010", "Identity", withValue(staticKeys, ["staticKeys", "expirationTime"], "2026-02-28T00:00:00Z")],
    ["PP1009", "Group", { name: "team", kind: "customer" }],
    ["PP1011", "Group", { parentUid: GROUP_UID, name: "team", verified: true }],
    ["PP1012", "GroupAccess", { parentUid: GROUP_UID, bindings: { one: grant, same: grant } }],
    ["PP1013", "Role", { ...sampleOf("Role"), capabilities: ["CAP_REPO_LST"] }],
  ])("has the code %s: %s", (code, kind, inputs) => {
    const failures = checkInputs(specOf(kind), inputs, { olds: {}, now: NOW });
    expect(failures.map((failure) => failure.code)).toContain(code);
  });

  test("a misspelt name is refused, unless the state has it or the object is taken over", () => {
    const role = sampleOf("Role");
    const refused = [`capabilities[1] CAP_REPO_LST is not a known name; did you mean CAP_REPO_LIST?`];
    const inputs = { ...role, capabilities: ["CAP_TAG_LIST", "CAP_REPO_LST"] };
    expect(failuresOf("Role", inputs)).toEqual(refused);
    expect(failuresOf("Role", inputs, role)).toEqual(refused);
    expect(failuresOf("Role", inputs, { ...role, capabilities: ["CAP_REPO_LST"] })).toEqual([]);
    expect(failuresOf("Role", { ...inputs, [ADOPT]: ROLE_UID })).toEqual([]);
  });

  test("no known name is taken for a misspelling of another one by one letter", () => {
    const enums = specs.flatMap(({ fields }) => Object.values(fields).flatMap(enumsIn));
    expect(enums.length).toBeGreaterThan(3);
    for (const field of enums) {
      const near = field.known.filter((name) => {
        const others = field.known.filter((other) => other !== name);
        return nearestWord(name, others, 1) !== undefined;
      });
      expect(near).toEqual([]);
    }
  });

  test("an unspecified member of several is named, and not another one", () => {
    const inputs = { parentUid: GROUP_UID, name: "robot", servicePrincipal: "SERVICE_PRINCIPAL_UNSPECIFIED" };
    expect(failuresOf("Identity", inputs)).toEqual([
      "servicePrincipal is no value: SERVICE_PRINCIPAL_UNSPECIFIED means none; exactly one of claimMatch, staticKeys, awsIdentity, servicePrincipal is needed",
    ]);
  });

  test("a new expiration of an identity that exists must be in the future, how far only the server knows", () => {
    const path = ["staticKeys", "expirationTime"];
    const before = withValue(staticKeys, path, "2026-06-01T00:00:00Z");
    expect(failuresOf("Identity", withValue(before, path, "2030-01-01T00:00:00Z"), before)).toEqual([]);
    expect(failuresOf("Identity", withValue(before, path, "2026-02-01T00:00:00Z"), before)).toEqual([
      'staticKeys.expirationTime must be in the future, not "2026-02-01T00:00:00Z"',
    ]);
  });

  test("a long value is not repeated whole in a message", () => {
    const long = "x".repeat(100_000);
    const reports = [
      ...failuresOf("Role", { parentUid: GROUP_UID, name: "r", capabilities: [long] }),
      ...failuresOf("Identity", {
        ...sampleOf("Identity", "service"),
        servicePrincipal: undefined,
        claimMatch: { issuerPattern: "(".repeat(2000), subject: "s" },
      }),
    ];
    expect(reports).toHaveLength(2);
    for (const report of reports) expect(report.length).toBeLessThan(500);
  });
});
