import fc, { casesOf } from "../../support/properties";
import { checkInputs } from "../../../provider/fields/check";
import type { FieldSpec } from "../../../provider/fields/fieldSpec";
import { UNKNOWN } from "../../../provider/fields/values";
import type { Json, Props } from "../../../provider/fields/values";
import { specs } from "../support/samples";
import { NOW } from "./refusals/support";

const hostile = fc.oneof(
  fc.jsonValue({ maxDepth: 5 }),
  fc.constantFrom<Json>(
    null,
    "",
    0,
    -1,
    1e308,
    true,
    [],
    {},
    [[]],
    [{}],
    [null],
    UNKNOWN,
    [UNKNOWN],
    { a: UNKNOWN },
    JSON.parse('{"__proto__":{"polluted":true}}') as Json,
    { constructor: { prototype: 1 } },
    "\u0000",
    "\ud800",
    "9".repeat(400),
  ),
  fc.string({ unit: "binary", maxLength: 50 }),
) as fc.Arbitrary<Json>;

/** Values that get deep into a field: the right type with anything inside, or anything. */
function nearly(field: FieldSpec): fc.Arbitrary<Json> {
  const inside = (): fc.Arbitrary<Json> => {
    switch (field.type) {
      case "list":
        return fc.array(nearly(field.items), { maxLength: 3 });
      case "map":
        return fc.dictionary(fc.string({ maxLength: 5 }), nearly(field.values), { maxKeys: 3 });
      case "object":
        return objectOf(field.fields);
      case "boolean":
        return fc.boolean();
      case "integer":
        return fc.double();
      default:
        return fc.string({ unit: "grapheme" });
    }
  };
  return fc.oneof({ weight: 3, arbitrary: inside() }, { weight: 1, arbitrary: hostile });
}

function objectOf(fields: Readonly<Record<string, FieldSpec>>): fc.Arbitrary<Props> {
  const known = fc.record(
    Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, nearly(field)])),
    { requiredKeys: [] },
  );
  const strange = fc.dictionary(
    fc.oneof(fc.constantFrom("__proto__", "constructor", "toString", "__x", "a.b", ""), fc.string()),
    hostile,
    { maxKeys: 2 },
  );
  return fc
    .tuple(known, strange)
    .map(([a, b]) => Object.fromEntries([...Object.entries(a), ...Object.entries(b)]));
}

describe("hostile input", () => {
  test.each(specs)("$kind: check never throws and never changes what it is given", (spec) => {
    fc.assert(
      fc.property(objectOf(spec.fields), objectOf(spec.fields), (inputs, olds) => {
        const before = JSON.stringify([inputs, olds]);
        const failures = checkInputs(spec, inputs, { olds, now: NOW });
        for (const { property, reason } of failures) {
          expect(typeof property).toBe("string");
          expect(reason).not.toBe("");
        }
        expect(JSON.stringify([inputs, olds])).toBe(before);
      }),
      { numRuns: casesOf(150) },
    );
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});
