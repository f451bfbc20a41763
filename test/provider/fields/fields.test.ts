import { checkInputs } from "../../../provider/fields/check";
import { equal } from "../../../provider/fields/equal";
import type { PublicSpec } from "../../../provider/fields/fieldSpec";
import type { Json, Props } from "../../../provider/fields/values";
import { findSchemaMismatch, fromWire, resourceReader, toWire } from "../../../provider/fields/wire";
import {
  boolean,
  enumOf,
  integer,
  kind,
  list,
  map,
  object,
  shape,
  string,
  word,
} from "../../../provider/fields/builders";

/** A field, a value of it, the same value as the API writes it, and as a lookup returns it. */
interface Case {
  readonly title: string;
  readonly field: PublicSpec;
  readonly value: Json;
  readonly wire: Json;
  readonly read: Json;
}

const same = (title: string, field: PublicSpec, value: Json): Case => ({
  title,
  field,
  value,
  wire: value,
  read: value,
});

const members = shape({ fields: { text: string(), count: integer(), isOn: boolean() } });

/** Every builder. */
const simple: readonly Case[] = [
  same("string", string(), "a"),
  same("word", word("red", "green"), "green"),
  same("int64", string({ format: "int64" }), "9223372036854775807"),
  { ...same("duration", string({ format: "duration" }), "24h"), wire: "86400s", read: "86400s" },
  same("timestamp", string({ format: "timestamp" }), "2030-01-31T12:00:00Z"),
  same("enumOf", enumOf("COLOR_", "RED GREEN"), "COLOR_GREEN"),
  same("boolean", boolean(), true),
  same("integer", integer(), 7),
  { ...same("integer that the API writes as a string", integer(), -7), wire: "-7" },
  same("object", object(members), { text: "a", count: 2, isOn: true }),
  same("list", list(string()), ["b", "a"]),
  same("map", map(string()), { b: "1", a: "2" }),
];

/** What an item may hold that a field would take for not set. */
const zeros: readonly Case[] = [same("zero", integer(), 0), same("false", boolean(), false)];

/** Every container of a case. */
const containers: readonly ((inner: Case) => Case)[] = [
  ({ title, field, value, wire, read }) => ({
    title: `list(${title})`,
    field: list(field),
    value: [value, value],
    wire: [wire, wire],
    read: [read, read],
  }),
  ({ title, field, value, wire, read }) => ({
    title: `list(${title}, unordered)`,
    field: list(field, { unordered: true }),
    value: [value],
    wire: [wire],
    read: [read],
  }),
  ({ title, field, value, wire, read }) => ({
    title: `map(${title})`,
    field: map(field),
    value: { a: value, b: value },
    wire: { a: wire, b: wire },
    read: { a: read, b: read },
  }),
  ({ title, field, value, wire, read }) => ({
    title: `object(${title})`,
    field: object(shape({ fields: { inner: field, beside: string() } })),
    value: { inner: value, beside: "b" },
    wire: { inner: wire, beside: "b" },
    read: { inner: read, beside: "b" },
  }),
];

const inEach = (cases: readonly Case[]): Case[] => containers.flatMap((contain) => cases.map(contain));
const itemsOfZero = inEach(zeros).filter(({ field }) => field.type !== "object");
const once = [...simple, ...inEach(simple), ...itemsOfZero];
const cases = [...once, ...inEach(inEach(simple)), ...inEach(itemsOfZero)];

describe.each(cases)("$title", ({ field, value, wire, read }) => {
  const spec = kind({ kind: "Invented", collection: "/x/v1/invented", fields: { field } });
  const uid = "a".repeat(40);

  test("passes the check, and is sent and read back as the same value", () => {
    expect(checkInputs(spec, { field: value }, { olds: {}, now: 0 })).toEqual([]);
    expect(findSchemaMismatch(spec, { uid, field: wire }, uid)).toBeUndefined();
    const sent = toWire(field, value);
    expect(equal(field, fromWire(field, sent), value)).toBe(true);
    expect(equal(field, fromWire(field, wire), value)).toBe(true);
  });

  test("is what a lookup returns", () => {
    expect(resourceReader(spec)({ uid, field: wire })).toEqual({ uid, field: read });
  });

  test("of another type is refused by the check, and not set for a lookup", () => {
    const wrong = Array.isArray(value) || typeof value !== "object" ? { a: [] } : [{}];
    expect(checkInputs(spec, { field: wrong }, { olds: {}, now: 0 })).toHaveLength(1);
    expect(findSchemaMismatch(spec, { uid, field: wrong }, uid)).toMatch(/^field is not /);
    expect(findSchemaMismatch(spec, { uid, field: null }, uid)).toBeUndefined();
    const read = resourceReader(spec);
    expect(read({ uid, field: wrong })).toEqual(read({ uid }));
  });
});

test.each<[string, PublicSpec, readonly Json[], Json | undefined]>([
  ["a string", string(), [null, ""], ""],
  ["a number", integer(), [null, 0], 0],
  ["a flag", boolean(), [null, false], false],
  ["a list", list(string()), [null, []], []],
  ["a map", map(string()), [null, {}], {}],
  ["a large number", string({ format: "int64" }), [null, 0, 1e300, "1.5"], "0"],
  ["a large number with zeros", string({ format: "int64" }), [7, "007"], "7"],
  ["an object", object(members), [null, {}, { text: "", count: 0 }], undefined],
  ["a name", enumOf("COLOR_", "RED"), [null, 0, "", "COLOR_UNSPECIFIED", "UNKNOWN"], undefined],
  ["a newer name", enumOf("COLOR_", "RED"), [99], "99"],
  ["a time", string({ format: "timestamp" }), [null, "", "0001-01-01T00:00:00Z"], undefined],
  ["a list with items of no type", list(string()), [["a", 5, null]], ["a"]],
])(
  "%s that says nothing, or says it oddly, is for a lookup what it means",
  (_what, field, values, result) => {
    const read = resourceReader(kind({ kind: "Invented", collection: "/x/v1/invented", fields: { field } }));
    for (const value of values) expect(read({ uid: "a", field: value })).toEqual({ uid: "a", field: result });
  },
);

test.each([
  ["a flag", boolean({ required: true }), false],
  ["a number", integer({ required: true }), 0],
])("%s that must be given may say nothing, and is missing where it is left out", (_what, field, value) => {
  const spec = kind({ kind: "Invented", collection: "/x/v1/invented", fields: { field } });
  const codes = (inputs: Props) => checkInputs(spec, inputs, { olds: {}, now: 0 }).map(({ code }) => code);
  expect(codes({ field: value })).toEqual([]);
  for (const inputs of [{}, { field: null }]) expect(codes(inputs)).toEqual(["PP1001"]);
});
