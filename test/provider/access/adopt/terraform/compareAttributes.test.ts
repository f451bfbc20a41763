import { compareAttributes } from "../../../../../provider/access/adopt/terraform/adoption";
import {
  mappingOf,
  mappingOfAttribute,
  typeMappings,
} from "../../../../../provider/access/adopt/terraform/mapping";
import type {
  AttributeMapping,
  AttributeMappings,
} from "../../../../../provider/access/adopt/terraform/mapping";
import { parseTerraformState } from "../../../../../provider/access/adopt/terraform/stateFile";
import type { FieldSpec } from "../../../../../provider/fields/fieldSpec";
import type { Json, Props } from "../../../../../provider/fields/values";
import { CLIENT_SECRET, INVITE_CODE, pulledState, terraformObjects } from "../../../../support/terraform";
import type { TerraformObject } from "../../../../support/terraform";
import { memberAt, withMember } from "../../../../support/samples";
import { leavesOf, specOf } from "../../../support/samples";

type Path = readonly string[];

/** What a comparison says of an object whose attributes are these. */
function compare(
  object: TerraformObject,
  attributes: unknown = object.attributes,
  sensitive: readonly string[] = [],
) {
  const row = { ...object, type: `chainguard_${object.type}`, attributes, sensitive };
  const [instance] = parseTerraformState(JSON.stringify(pulledState([row])), "x").instances;
  const mapping = mappingOf(row.type);
  if (instance === undefined || mapping === undefined || "reason" in mapping) throw new Error("no mapping");
  const readme = object.readme === undefined ? undefined : { content: object.readme };
  const liveOf = (kind: string) => (kind === object.kind ? (object.args as Props) : readme);
  const { differences, unmapped } = compareAttributes(instance, mapping, liveOf);
  return { differences, unmapped, shown: JSON.stringify({ differences, unmapped }) };
}

/** The attributes that the table names, but for blocks. */
function namedPaths(attributes: AttributeMappings, path: Path = []): { path: Path; isComputed: boolean }[] {
  return Object.entries(attributes).flatMap(([name, mapping]) =>
    "members" in mapping
      ? namedPaths(mapping.members, [...path, name])
      : [{ path: [...path, name], isComputed: "isComputed" in mapping }],
  );
}

/** The attributes of an object, with the mapping of each. */
function mappedPaths(
  values: Props,
  known: AttributeMappings,
  fields: Readonly<Record<string, FieldSpec>>,
  path: Path = [],
): { path: Path; mapping: AttributeMapping }[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const mapping = mappingOfAttribute(name, known, fields);
    if (!("members" in mapping)) return [{ path: [...path, name], mapping }];
    const field = fields[mapping.to];
    const members = field?.type === "object" ? field.fields : {};
    return mappedPaths((value ?? {}) as Props, mapping.members, members, [...path, name]);
  });
}

/** Another value of the same type. */
function otherThan(value: unknown): Json {
  if (typeof value === "boolean") return !value;
  if (typeof value === "number") return value + 1;
  if (Array.isArray(value)) {
    const [first] = value as unknown[];
    const isObject = first !== null && typeof first === "object";
    return isObject
      ? [{ ...first, name: "other", groupname: "other", username: "other", installation_id: 9 }]
      : ["other"];
  }
  if (value !== null && typeof value === "object")
    return { ...(value as Props), other: "other", installation_id: 9 };
  return typeof value === "string" && value !== "" ? `${value}x` : "other";
}

const cases = typeMappings.flatMap((mapping) => {
  if ("reason" in mapping) return [];
  const objects = terraformObjects.filter(({ type }) => type === mapping.type);
  return objects.flatMap((object) =>
    mappedPaths(object.attributes as Props, mapping.attributes, specOf(object.kind).fields).map((one) => ({
      ...one,
      object,
      label: `${object.type}.${object.name}: ${one.path.join(".")}`,
    })),
  );
});

/** The server rewrites it, or never returns it. */
const uncompared = ["oidc.client_secret", "sync_config.source"];

describe("the attributes of Terraform beside a live object", () => {
  test("the samples cover every attribute that the tables name", () => {
    const tried = new Set(cases.map(({ object, path }) => `${object.type}.${path.join(".")}`));
    const known = typeMappings.flatMap((mapping) =>
      "reason" in mapping
        ? []
        : namedPaths(mapping.attributes)
            .filter(({ isComputed }) => !isComputed)
            .map(({ path }) => `${mapping.type}.${path.join(".")}`),
    );
    expect(known.filter((path) => !tried.has(path))).toEqual([]);
    const unknown = cases.filter(
      ({ mapping }) => "reason" in mapping && mapping.reason.includes("does not know"),
    );
    expect(unknown.map(({ label }) => label)).toEqual([]);
  });

  test("every attribute becomes an argument that its kind has", () => {
    for (const { mapping, object, label } of cases) {
      if (!("to" in mapping)) continue;
      const spec = specOf("kind" in mapping && mapping.kind ? mapping.kind : object.kind);
      const names = leavesOf(spec.fields).map(({ path }) => path[path.length - 1]);
      expect({ label, isKnown: [...names, ...Object.keys(spec.fields)].includes(mapping.to) }).toEqual({
        label,
        isKnown: true,
      });
    }
  });

  test.each(terraformObjects.map((object) => [`${object.type}.${object.name}`, object] as const))(
    "%s: equal values do not differ",
    (_, object) => {
      expect(compare(object).differences).toEqual([]);
    },
  );

  test.each(cases.map((one) => [one.label, one] as const))("%s: another value is found", (_, one) => {
    const { object, path, mapping } = one;
    const attribute = path.join(".");
    const { differences, unmapped } = compare(
      object,
      withMember(object.attributes, path, otherThan(memberAt(object.attributes, path))),
    );
    const before = compare(object).unmapped.map((each) => each.attribute);
    if ("to" in mapping && !uncompared.includes(attribute)) {
      expect(differences.map((each) => each.attribute)).toEqual([attribute]);
    } else expect(differences).toEqual([]);
    if ("reason" in mapping) {
      const wasSet = before.includes(attribute);
      const value = memberAt(object.attributes, path);
      expect(unmapped.some((each) => each.attribute === attribute)).toBe(
        typeof value === "boolean" ? !wasSet : true,
      );
    } else expect(unmapped.map((each) => each.attribute)).toEqual(before);
  });

  test("a block in the older form, a list of one, equals the block", () => {
    for (const object of terraformObjects) {
      const attributes = Object.fromEntries(
        Object.entries(object.attributes).map(([name, value]) => {
          const mapping = mappingOf(`chainguard_${object.type}`);
          const known = mapping && "attributes" in mapping ? mapping.attributes : {};
          const isBlock = "members" in mappingOfAttribute(name, known, specOf(object.kind).fields);
          return [name, isBlock ? (value === null ? [] : [value]) : value];
        }),
      );
      expect(compare(object, attributes).differences).toEqual([]);
    }
  });

  test("an attribute that this version does not know is named, without its value", () => {
    const [object] = terraformObjects;
    if (object === undefined) throw new Error("no object");
    const { unmapped, shown } = compare(object, {
      ...object.attributes,
      new_one: "value-of-it",
      unset: null,
      constructor: "x",
    });
    expect(unmapped.map(({ attribute }) => attribute)).toEqual([
      "verified_protection",
      "new_one",
      "constructor",
    ]);
    expect(shown).not.toContain("value-of-it");
  });

  test("no value of a sensitive attribute is shown, nor one that the API never returns", () => {
    for (const object of terraformObjects) {
      const { sensitive = [] } = object;
      for (const { path } of cases.filter((one) => one.object === object)) {
        const attributes = withMember(object.attributes, path, "leaked-value");
        const { shown } = compare(object, attributes, [...sensitive, ...path.slice(0, 1)]);
        expect(shown).not.toContain("leaked-value");
        expect(shown).not.toContain(CLIENT_SECRET);
        expect(shown).not.toContain(INVITE_CODE);
      }
    }
  });

  test("values of wrong types are reported as differences", () => {
    for (const { object, path } of cases) {
      for (const value of [7, true, "x", null, [], [null], [[1]], {}, { a: null }, { __proto__: null }]) {
        expect(() => compare(object, withMember(object.attributes, path, value))).not.toThrow();
      }
    }
  });
});
