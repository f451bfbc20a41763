import fc from "../../support/properties";
import { compareKeys } from "../../../provider/access/effects";
import { equal, equalForDrift, isSet } from "../../../provider/fields/equal";
import type { FieldSpec, PublicSpec } from "../../../provider/fields/fieldSpec";
import { formats } from "../../../provider/fields/formats";
import { UNKNOWN } from "../../../provider/fields/values";
import type { Json } from "../../../provider/fields/values";

const text: FieldSpec = { type: "string" };
const number: FieldSpec = { type: "integer" };
const flag: FieldSpec = { type: "boolean" };
const time: FieldSpec = { type: "string", format: "timestamp" };
const period: FieldSpec = { type: "string", format: "duration" };
const keys: FieldSpec = { type: "string", format: "jwks" };
const choice: FieldSpec = { type: "enum", prefix: "KIND_", known: ["A"] };
const list: FieldSpec = { type: "list", items: text };
const set: FieldSpec = { type: "list", items: choice, unordered: true };
const map: FieldSpec = { type: "map", values: text };
const object: PublicSpec = {
  type: "object",
  fields: { a: text, b: number, inner: { type: "object", fields: { c: set } } },
};

const anyJson = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
const anySpec = fc.constantFrom(text, number, flag, time, period, keys, choice, list, set, map, object);

describe("unknown values", () => {
  test("differ from every known value and are always set", () => {
    fc.assert(
      fc.property(anySpec, anyJson, (spec, value) => {
        expect(isSet(spec, UNKNOWN)).toBe(true);
        expect(equal(spec, UNKNOWN, value)).toBe(value === UNKNOWN);
      }),
    );
  });
});

describe("not set", () => {
  test.each<[string, FieldSpec, readonly (Json | undefined)[]]>([
    ["text", text, ["", null, undefined]],
    ["number", number, [0, -0, null, undefined]],
    ["boolean", flag, [false, null, undefined]],
    [
      "time",
      time,
      ["", null, "0001-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z", "1970-01-01T01:00:00+01:00"],
    ],
    ["enumeration", choice, ["", null, "KIND_UNSPECIFIED"]],
    ["list", list, [[], null]],
    ["set", set, [[], null]],
    ["map", map, [{}, null]],
    ["object", object, [{}, null, { a: "" }, { a: null, b: 0, inner: { c: [] } }, { strange: "x" }]],
  ])("of a %s: absent, null and the default are the same", (_name, spec, values) => {
    for (const a of values) {
      expect(isSet(spec, a)).toBe(false);
      for (const b of values) expect(equal(spec, a, b)).toBe(true);
    }
  });

  test.each<[string, FieldSpec, Json]>([
    ["a blank", text, " "],
    ["a text that says zero", text, "0"],
    ["a number below zero", number, -1],
    ["true", flag, true],
    ["an enumeration's name", choice, "KIND_A"],
    ["a list of an empty text", list, [""]],
    ["a map with an empty value", map, { a: "" }],
    ["an object with one member", object, { inner: { c: ["KIND_A"] } }],
    ["a second after the epoch", time, "1970-01-01T00:00:01Z"],
  ])("%s is set", (_name, spec, value) => {
    expect(isSet(spec, value)).toBe(true);
    expect(equal(spec, value, undefined)).toBe(false);
  });
});

describe("equality", () => {
  test("is reflexive, symmetric and survives JSON", () => {
    fc.assert(
      fc.property(anySpec, anyJson, anyJson, (spec, a, b) => {
        expect(equal(spec, a, structuredClone(a))).toBe(true);
        expect(equal(spec, a, JSON.parse(JSON.stringify(a)) as Json)).toBe(true);
        expect(equal(spec, a, b)).toBe(equal(spec, b, a));
        if (isSet(spec, a) !== isSet(spec, b)) expect(equal(spec, a, b)).toBe(false);
      }),
    );
  });

  test("a set is equal to any order of itself, with any repetition", () => {
    const names = fc.array(fc.constantFrom("KIND_A", "KIND_B", "KIND_C", "KIND_D"), { minLength: 1 });
    fc.assert(
      fc.property(names, fc.nat(), (items, seed) => {
        const turned = [...items.slice(seed % items.length), ...items.slice(0, seed % items.length)];
        expect(equal(set, items, turned.reverse())).toBe(true);
        expect(equal(set, items, [...items, ...items])).toBe(true);
        expect(equal(set, items, [...items, "KIND_E"])).toBe(false);
      }),
    );
  });

  test("formats are equal by content only where the field has the format", () => {
    expect(equal(period, "24h", "86400s")).toBe(true);
    expect(equal(text, "24h", "86400s")).toBe(false);
    expect(equal(time, "2030-01-01T00:00:00Z", "2030-01-01T01:00:00+01:00")).toBe(true);
    expect(equal(text, "2030-01-01T00:00:00Z", "2030-01-01T01:00:00+01:00")).toBe(false);
    expect(equal(keys, '{"keys":[],"a":1}', '{ "a":1, "keys":[] }')).toBe(true);
    expect(equal(text, '{"keys":[],"a":1}', '{ "a":1, "keys":[] }')).toBe(false);
  });
});

describe("a key set that parsers read differently", () => {
  const key = (x: string): string => `{"kty":"OKP","crv":"Ed25519","x":"${x}"}`;
  const good = `{"keys":[${key("good")}]}`;

  it.each([
    ["keys twice", `{"keys":[${key("evil")}],"keys":[${key("good")}]}`],
    ["a member of a key twice", `{"keys":[{"x":"evil",${key("good").slice(1)}]}`],
    ["keys in another case", `{"Keys":[${key("evil")}],"keys":[${key("good")}]}`],
  ])("equals only itself: %s", (_words, text) => {
    expect(formats.jwks.problem(text)).toMatch(/every parser reads alike/);
    expect(equal(keys, text, good)).toBe(false);
    expect(equalForDrift(keys, text, good)).toBe(false);
    expect(equal(keys, text, text)).toBe(true);
    expect(compareKeys(good, text).direction).toBe("unknown");
    expect(compareKeys(text, good).direction).toBe("unknown");
  });
});
