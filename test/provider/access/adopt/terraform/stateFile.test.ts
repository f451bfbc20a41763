import { parseTerraformState } from "../../../../../provider/access/adopt/terraform/stateFile";
import {
  printForgetCommand,
  selectFromTerraform,
} from "../../../../../provider/access/adopt/terraform/adoption";
import type { TerraformReport } from "../../../../../provider/access/adopt/terraform/adoption";
import type { Inventory } from "../../../../../provider/access/documents/inventory";
import { inventoryOf } from "../../../../support/documents";
import { quoteForShell } from "../../../../../provider/text/plain";
import { DocumentError } from "../../../../../provider/access/documents/jsonText";
import { PROVIDER, pulledState } from "../../../../support/terraform";
import type { StateRow } from "../../../../support/terraform";

const group: StateRow = { type: "chainguard_group", name: "this", attributes: { id: "x" } };
const parse = (document: unknown) => parseTerraformState(JSON.stringify(document), "terraform.tfstate");

describe("a state of Terraform", () => {
  const rows: readonly StateRow[] = [
    { ...group, module: 'module.teams["a"].module.b[2]', key: "x.y", status: "tainted" },
    { ...group, name: "gone", deposed: "1a2b3c4d" },
    { ...group, mode: "data", name: "org" },
  ];

  test("reads what terraform state pull writes", () => {
    const pulled = parse(pulledState(rows));
    expect(pulled.instances.map(({ address, provider, status }) => [address, provider, status])).toEqual([
      ["chainguard_group.gone", PROVIDER, "deposed"],
      ["data.chainguard_group.org", PROVIDER, undefined],
      ['module.teams["a"].module.b[2].chainguard_group.this["x.y"]', PROVIDER, "tainted"],
    ]);
  });

  test.each([
    ["[]", "is not one object of JSON: give what terraform state pull"],
    ["{}", "is not a state of Terraform or OpenTofu"],
    ['{"version":3,"modules":[]}', "is a state of version 3, and only version 4 is supported: give what"],
    ['{"version":5,"resources":[]}', "is a state of version 5, and only version 4 is supported"],
    ['{"format_version":"2.0"}', "is what terraform show -json writes: give what terraform state pull"],
    [
      '{"serial":1,"lineage":"x","meta":{},"encrypted_data":"c2VhbGVk","encryption_version":"v0"}',
      "is an encrypted state: give what tofu state pull writes",
    ],
    ['{"version":4}', "resources is missing"],
    ['{"version":4,"resources":{}}', "resources must be a list"],
    ['{"version":4,"resources":[null]}', "resources[0] must be an object"],
  ])("%.60s: %s", (text, message) => {
    expect(() => parseTerraformState(text, "terraform.tfstate")).toThrow(DocumentError);
    expect(() => parseTerraformState(text, "terraform.tfstate")).toThrow(/^terraform\.tfstate/);
    expect(() => parseTerraformState(text, "terraform.tfstate")).toThrow(message);
  });

  const wrong: readonly (readonly [string, Partial<StateRow>])[] = [
    ["mode", { mode: "ephemeral" }],
    ["type", { type: 'x"y' }],
    ["type", { type: 7 }],
    ["name", { name: "a\u001b[31mb" }],
    ["name", { name: "a'; rm -rf /" }],
    ["name", { name: "a\nb" }],
    ["provider", { provider: {} }],
    ["index", { key: { a: 1 } }],
    ["index", { key: -1 }],
    ["index", { key: 1.5 }],
    ["attributes", { attributes: [] }],
    ["attributes", { attributes: "x" }],
  ];
  test.each(wrong)("an invalid %s is refused with its path: %j", (member, change) => {
    const place = new RegExp(`resources\\[0\\].*${member}`);
    expect(() => parse(pulledState([{ ...group, ...change }]))).toThrow(place);
  });

  test.each([
    7,
    "module",
    "module.",
    "module.a.",
    "module.a]",
    'module.a["b',
    "module.a[x]",
    "x.a",
    "module.a..b",
  ])("%j is not accepted as a module path", (module) => {
    expect(() => parse(pulledState([{ ...group, module }]))).toThrow("must be a path of modules");
  });
});

describe("what becomes of the instances of a state", () => {
  const root = "a".repeat(40);
  const [team, gone, role] = [1, 2, 3].map((n) => `${root}/${String(n).repeat(16)}`) as [
    string,
    string,
    string,
  ];
  const row = (type: string, name: string, id: string): StateRow => ({
    ...{ type: `chainguard_${type}`, name, attributes: { id } },
  });
  const state = parse(
    pulledState([
      row("group", "team", team),
      row("group", "gone", gone),
      row("role", "role", role),
      row("image_tag", "tag", `${team}/${"4".repeat(16)}`),
      row("group", "far", "b".repeat(40)),
    ]),
  );
  const objects = [team, role].map((uid, i) => ({ kind: i === 0 ? "Group" : "Role", uid, inputs: {} }));
  const inventory = { ...inventoryOf(root, ...objects), kinds: ["Group", "Role"] };
  const remaining = (only?: readonly string[], more: Partial<Inventory> = {}) =>
    selectFromTerraform(state, { ...inventory, ...more }, only);

  test("is adopted, is gone, or stays with its reason", () => {
    const { mapped, missing, remaining: left } = remaining();
    const addresses = (all: readonly { instance: { address: string } }[]) =>
      all.map(({ instance }) => instance.address);
    expect(addresses(mapped)).toEqual(["chainguard_group.team", "chainguard_role.role"]);
    expect(addresses(missing)).toEqual(["chainguard_group.gone"]);
    expect(left).toEqual([
      { address: "chainguard_group.far", reason: `it is not below ${root}` },
      { address: "chainguard_image_tag.tag", reason: "objects of the kind Tag were not read" },
    ]);
    const asked = [{ kind: "Tag", uid: `${team}/${"4".repeat(16)}` }];
    expect(addresses(remaining(undefined, { asked }).missing)).toContain("chainguard_image_tag.tag");
    const refused = [{ kind: "Group", code: "PERMISSION_DENIED", errorCode: "PP3403", message: "no" }];
    expect(addresses(remaining(undefined, { refused }).missing)).toEqual([]);
    for (const only of [["Group"], [team]]) {
      const chosen = remaining(only);
      expect(addresses(chosen.mapped)).toEqual(["chainguard_group.team"]);
      expect(chosen.remaining).toContainEqual({
        address: "chainguard_role.role",
        reason: "--only leaves it out",
      });
    }
  });

  test("is forgotten by one command, whose last line ends it", () => {
    const report = { forget: ["a.b", 'a.c["d"]'] } as unknown as TerraformReport;
    expect(printForgetCommand(report)).toEqual(["terraform state rm \\", "  'a.b' \\", `  'a.c["d"]'`]);
  });
});

describe("the address of an instance", () => {
  const read = (row: Partial<StateRow>) =>
    parse(pulledState([{ ...group, type: "x_group", name: "r", ...row }])).instances[0];

  // As `terraform state list` of Terraform 1.11.4 prints them.
  test.each([
    [0, "[0]"],
    ["it's", `["it's"]`],
    ['a"b', '["a\\"b"]'],
    ["a\nb", '["a\\nb"]'],
    ["\u001b[31mred", '["\\u001b[31mred"]'],
    ["${x}", '["$${x}"]'],
    ["$${x}", '["$$${x}"]'],
    ["%{y}", '["%%{y}"]'],
    ["back\\slash", '["back\\\\slash"]'],
    ["ünï", '["ünï"]'],
    ["\u202edesrever", '["\\u202edesrever"]'],
    ["\u{e0001}tag", '["\\U000e0001tag"]'],
    ["😀", '["😀"]'],
    ["", '[""]'],
  ])("%j is written as Terraform writes it", (key, text) => {
    expect(read({ key })?.address).toBe(`x_group.r${text}`);
    const inModule = read({ module: `module.a${text}.module.b${text}`, key });
    expect(inModule?.address).toBe(`module.a${text}.module.b${text}.x_group.r${text}`);
  });

  test("names its provider, in each form that Terraform writes", () => {
    const providers = ['module.a.provider["host/a/b"].c', "provider.aws", "x"].map(
      (provider) => read({ provider })?.provider,
    );
    expect(providers).toEqual(["host/a/b", "aws", "x"]);
  });

  test("is one word of a shell", () => {
    expect(quoteForShell(`a["it's"]`)).toBe(`'a["it'\\''s"]'`);
  });
});
