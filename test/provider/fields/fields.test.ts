import { createHash } from "node:crypto";
import { checkInputs } from "../../../provider/fields/check";
import { equal } from "../../../provider/fields/equal";
import { containsSecret } from "../../../provider/fields/fieldSpec";
import type { PublicSpec, FieldSpec, SecretSpec } from "../../../provider/fields/fieldSpec";
import type { Json, Props } from "../../../provider/fields/values";
import { findSchemaMismatch, fromWire, resourceReader, toWire } from "../../../provider/fields/wire";
import * as schema from "../../../provider/fields/builders";
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
import { maskCredentials } from "../../../provider/text/printable";
import { registerSecretsOf } from "../../../provider/lifecycle/messages";
import { kinds } from "../../../provider/kinds";
import { leavesOf, withValue } from "../support/samples";
import { adviseOnNames } from "../../../provider/fields/enumNames";
import { specs } from "../../../provider/access/documents/specs";

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

const secret: SecretSpec = { type: "string", secret: true };

describe("a secret", () => {
  test("that is not a string, or stands in an output, does not compile", () => {
    // @ts-expect-error -- a list that is a secret as a whole
    const list: FieldSpec = { type: "list", secret: true, items: { type: "string" } };
    // @ts-expect-error -- a map that is one
    const map: FieldSpec = { type: "map", secret: true, values: { type: "string" } };
    // @ts-expect-error -- an object that is one
    const object: FieldSpec = { type: "object", secret: true, fields: {} };
    // @ts-expect-error -- a number that is one
    const number: FieldSpec = { type: "integer", secret: true };
    const kind = { kind: "A", noun: "a", collection: "/a", listsByName: false, fields: {} };
    const inside: FieldSpec = { type: "object", fields: { password: secret } };
    // @ts-expect-error -- only an output that is a secret itself is marked as one
    const outputs = schema.kind({ ...kind, outputs: { inside } });
    expect([list, map, object, number, outputs]).toHaveLength(5);
  });

  test("is in no list and in no map that a builder describes", () => {
    const inside = schema.shape({ fields: { password: schema.secret() } });
    interface InsideArgs extends schema.ArgsOf<typeof inside> {}
    const object = schema.objectWithSecret<InsideArgs, object>(inside, { required: true });
    const all = [
      // @ts-expect-error -- a secret as an item
      schema.list(schema.secret()),
      // @ts-expect-error -- a secret as a value
      schema.map(schema.secret()),
      // @ts-expect-error -- an object with a secret as an item
      schema.list(object),
      // @ts-expect-error -- such an object as a value
      schema.map(object),
      // @ts-expect-error -- a member of an object that is said to have no secret
      schema.object<InsideArgs>(inside),
    ];
    expect(all).toHaveLength(5);
  });

  const secrets = kinds.flatMap(({ spec }) =>
    leavesOf({ ...spec.fields, ...spec.outputs })
      .filter(({ field }) => field.secret)
      .map(({ path }) => ({ name: `${spec.kind}.${path.join(".")}`, spec, path })),
  );

  test("of every kind is found by holdsSecret", () => {
    const holders = kinds.flatMap(({ spec }) =>
      Object.entries({ ...spec.fields, ...spec.outputs })
        .filter(([, field]) => containsSecret(field))
        .map(([key]) => `${spec.kind}.${key}`),
    );
    const wanted = secrets.map(({ spec, path }) => `${spec.kind}.${path[0] ?? ""}`);
    expect(holders.sort()).toEqual([...new Set(wanted)].sort());
    expect(holders).toEqual(expect.arrayContaining(["GroupInvite.code", "IdentityProvider.oidc"]));
  });

  test.each(secrets)("$name is masked in messages once its properties are known", ({ name, spec, path }) => {
    // No value may end another one: a part of a known secret is masked too.
    const value = `canary-${name}-${createHash("sha256").update(name).digest("hex")}`;
    const message = `the server refuses ${value}`;
    expect(maskCredentials(message)).toBe(message);
    registerSecretsOf(spec, withValue({}, path, value));
    expect(maskCredentials(message)).not.toContain(value);
  });
});

describe("a failure of a kind with a secret", () => {
  const enums: PublicSpec = { type: "list", items: { type: "enum", prefix: "CAP_", known: ["A"] } };
  const spec = schema.kind({
    kind: "MadeUp",
    noun: "made-up thing",
    collection: "/iam/v2/madeUps",
    listsByName: false,
    fields: {
      password: secret,
      oidc: { type: "object", fields: { clientSecret: secret, scopes: enums } },
      capabilities: enums,
      labels: { type: "map", values: { type: "integer" } },
      sink: { type: "string", format: "httpsUrl" },
    },
  });
  const failures = (inputs: Parameters<typeof checkInputs>[1]) =>
    checkInputs(spec, inputs, { olds: {}, now: 0 }).map(({ property }) => property);

  test.each([
    ["an item of a list", { capabilities: ["CAP_A", "b"] }, "capabilities[1]"],
    ["an item of a list in an object", { oidc: { scopes: ["b"] } }, "oidc.scopes[0]"],
    ["a value of a map", { labels: { a: "x" } }, "labels.a"],
    ["a value of a map under an odd key", { labels: { "a b": "x" } }, 'labels["a b"]'],
    ["a secret in an object", { oidc: { clientSecret: 1 } }, "oidc.clientSecret"],
    ["a field without a secret", { capabilities: "CAP_A" }, "capabilities"],
    ["an address without a password", { sink: "http://events.example.com" }, "sink"],
  ])("names %s", (_, inputs, property) => {
    expect(failures(inputs)).toEqual([property]);
  });

  test.each([
    ["a secret", { password: 1 }],
    ["an object with a secret", { oidc: "canary" }],
    ["an unknown name that may be a secret's", { pasword: "canary" }],
    ["an address with a password", { sink: "https://user:canary@events.example.com" }],
    ["an address that may hold one", { sink: "user:canary%40events.example.com" }],
  ])("has no property whose value would be printed: %s", (_, inputs) => {
    expect(failures(inputs)).toEqual([""]);
  });
});

const fieldOf = (kind: string, key: string) => {
  const field = specs[kind]?.fields[key];
  if (field === undefined) throw new Error(`${kind} has no ${key}`);
  return field;
};

test.each([
  [
    "the nearest of its family that reads",
    "Role",
    "capabilities",
    ["CAP_REPOSITORY_LISTING"],
    /; did you mean "CAP_REPO_LIST"\?$/,
  ],
  [
    "the one that the list has already, as such",
    "Role",
    "capabilities",
    ["CAP_REPO_LIST", "CAP_REPO_READ"],
    /; remove it: CAP_REPO_LIST, which is probably meant, is there already$/,
  ],
])("a wrong name is answered with %s", (_, kind, key, value, message) => {
  expect(adviseOnNames(fieldOf(kind, key), value)).toEqual([expect.stringMatching(message)]);
});

test("many unknown names are all named, and only the first ones get a proposal", () => {
  const field = fieldOf("Role", "capabilities");
  const many = Array.from({ length: 500 }, (_, i) => `CAP_REPO_LISTING_${i}`);
  const lines = adviseOnNames(field, many);
  expect(lines).toHaveLength(500);
  expect(lines.filter((line) => line.includes("did you mean"))).toHaveLength(10);
  expect(adviseOnNames(field, [...many, "CAP_REPO_LISTS_ALL"], many)).toEqual([
    expect.stringMatching(/^CAP_REPO_LISTS_ALL is not a name/),
  ]);
});

test.each(["CAP_VULN_READ", "CAP_SIGSTORE_CERTIFICATE_GET", "CAP_SIGSTORE_VIEW", "CAP_IAM_SCIM"])(
  "whoever writes %s is offered no capability that writes",
  (value) => {
    const [line = "", ...others] = adviseOnNames(fieldOf("Role", "capabilities"), [value]);
    expect(others).toEqual([]);
    expect(line).toContain(`${value} is not a name that this version knows`);
    expect(line).not.toMatch(/did you mean "\w+(?<!_GET|_LIST)"/);
  },
);
