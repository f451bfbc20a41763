import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readState } from "../../../provider/access/documents/engineState";
import type { FieldSpec } from "../../../provider/fields/fieldSpec";
import { kinds } from "../../../provider/kinds";
import * as platform from "../../../provider/index";
import * as native from "../../../provider/native/index";
import { providerText } from "../../../provider/program/resource";
import { settingDefinitions } from "../../../provider/settings/definitions";
import { ownVersion } from "../../../provider/text/packageVersion";
import { ROOT } from "../../support/engine";

interface Property {
  readonly type?: string;
  readonly oneOf?: readonly Property[];
  readonly enum?: readonly { readonly name: string; readonly value: string }[];
  readonly $ref?: string;
  readonly description?: string;
  readonly secret?: boolean;
  readonly replaceOnChanges?: boolean;
  readonly items?: Property;
  readonly additionalProperties?: Property;
  readonly properties?: Readonly<Record<string, Property>>;
}

interface Resource {
  readonly inputProperties: Readonly<Record<string, Property>>;
  readonly requiredInputs?: readonly string[];
  readonly properties: Readonly<Record<string, Property>>;
}

const schema = JSON.parse(readFileSync(join(ROOT, "schema/plugin.json"), "utf8")) as {
  readonly config: { readonly variables: Readonly<Record<string, Property>> };
  readonly types: Readonly<Record<string, Property>>;
  readonly resources: Readonly<Record<string, Resource>>;
  readonly functions: Readonly<Record<string, { readonly description: string }>>;
};

/** The type that a property refers to. */
const referred = (property: Property | undefined): Property | undefined =>
  schema.types[property?.$ref?.replace("#/types/", "") ?? ""];

/** What the schema and the description say differently of these fields, at any depth. */
function differences(
  path: string,
  fields: Readonly<Record<string, FieldSpec>>,
  properties: Readonly<Record<string, Property>>,
): string[] {
  const keys = Object.keys({ ...fields, ...properties });
  return keys.flatMap((key) => {
    const [field, property] = [fields[key], properties[key]];
    const at = `${path}.${key}`;
    if (field === undefined || property === undefined) return [`${at} is in one of the two only`];
    let [inner, type]: [FieldSpec, Property | undefined] = [field, property];
    while (inner.type === "list" || inner.type === "map") {
      type = inner.type === "list" ? type?.items : type?.additionalProperties;
      inner = inner.type === "list" ? inner.items : inner.values;
    }
    const members = referred(type)?.properties ?? {};
    const names = (type?.oneOf ?? []).flatMap((each) => referred(each)?.enum ?? []).map(({ value }) => value);
    const known = inner.type === "enum" ? inner.known.map((name) => `${inner.prefix}${name}`) : [];
    return [
      ...(names.join() === known.join() ? [] : [`${at} has other names`]),
      ...(property.description ? [] : [`${at} has no description`]),
      ...(property.secret === (field.secret ?? undefined)
        ? []
        : [`${at} is a secret in one of the two only`]),
      ...(property.replaceOnChanges === (field.immutable || undefined) ? [] : [`${at} replaces in one only`]),
      ...(inner.type === "object" ? differences(at, inner.fields, members) : []),
    ];
  });
}

test("the schema has every kind, field, setting and lookup, with its documentation", () => {
  expect(Object.keys(schema.resources).sort()).toEqual(
    kinds.map(({ spec }) => `platform:index:${spec.kind}`).sort(),
  );
  for (const { spec } of kinds) {
    const {
      inputProperties = {},
      properties = {},
      requiredInputs = [],
    } = schema.resources[`platform:index:${spec.kind}`] ?? {};
    expect(differences(spec.kind, spec.fields, inputProperties)).toEqual([]);
    expect(differences(spec.kind, { ...spec.fields, ...spec.outputs }, properties)).toEqual([]);
    const required = Object.entries(spec.fields).flatMap(([key, field]) => (field.required ? [key] : []));
    expect(requiredInputs).toEqual(required.sort());
  }
  const calls = Object.entries(platform).filter(
    ([name, value]) => typeof value === "function" && /^[a-z]/.test(name),
  );
  const lookups = calls.map(([name]) => name).filter((name) => !name.endsWith("Output") && name !== "adopt");
  expect(Object.keys(schema.functions).sort()).toEqual(
    lookups.map((name) => `platform:index:${name}`).sort(),
  );
  const keys = Object.values(settingDefinitions).flatMap((each) => ("key" in each ? [each.key] : []));
  expect(Object.keys(schema.config.variables)).toEqual(keys);
});

test("the native form exports what the dynamic one does, its provider, and the enumerations of the schema", () => {
  const enumerations = Object.entries(schema.types).flatMap(([token, { enum: members }]) =>
    members ? [[token.replace("platform:index:", ""), members] as const] : [],
  );
  const more = ["Provider", ...enumerations.map(([name]) => name)];
  expect(Object.keys(native).sort()).toEqual([...Object.keys(platform), ...more].sort());
  for (const [name, members] of enumerations) {
    const exported = Object.entries(native[name as keyof typeof native]);
    expect(exported).toEqual(members.map(({ name: key, value }) => [key, value]));
  }
});

describe("a review trusts a resource of the plugin", () => {
  const read = (provider: string | undefined, more: object = {}) =>
    readState(
      {
        urn: "urn:pulumi:prod::acme::platform:index:Role::reader",
        type: "platform:index:Role",
        custom: true,
        inputs: { name: "reader" },
        ...(provider === undefined ? {} : { provider: `urn:pulumi:prod::acme::${provider}::id` }),
        ...more,
      },
      "digest",
    );
  const version = ownVersion().replaceAll(".", "_");

  test.each([
    ["of the default provider", "pulumi:providers:platform::default", {}],
    ["of this version", `pulumi:providers:platform::default_${version}`, {}],
    ["once dynamic", "pulumi:providers:platform::default", { outputs: { __provider: providerText("Role") } }],
  ])("%s", (_name, provider, more) => {
    expect(read(provider, more)).toMatchObject({ kind: "Role", inputs: { name: "reader" } });
  });

  test.each([
    ["without a provider", undefined, {}],
    ["of a component", undefined, { custom: false }],
    ["of another package", "pulumi:providers:random::default", {}],
    ["of another version", "pulumi:providers:platform::default_9_9_9", {}],
    ["of another address", "pulumi:providers:platform::default_0_1_0_https_/plugins.example.com", {}],
    ["of a provider of the program", "pulumi:providers:platform::second", {}],
    ["another text", "pulumi:providers:platform::default", { inputs: { __provider: "exports.handler = 1" } }],
    [
      "with the text of another kind",
      "pulumi:providers:platform::default",
      { inputs: { __provider: providerText("Group") } },
    ],
  ])("but none %s", (_name, provider, more) => {
    const state = read(provider, more);
    expect(state?.kind).toBeUndefined();
    expect(state?.notReviewed).toEqual(expect.any(String));
  });
});
