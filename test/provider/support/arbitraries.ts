import fc from "../../support/properties";
import { formats } from "../../../provider/fields/formats";
import type { FieldSpec, OneOf, SecretSpec, StringSpec } from "../../../provider/fields/fieldSpec";
import type { Format } from "../../../provider/fields/formats";
import type { ResourceSpec } from "../../../provider/fields/resourceSpec";
import type { Json, Props } from "../../../provider/fields/values";
import { CERTIFICATE, JWKS, PUBLIC_KEY } from "./samples";

const words = ["a", "b", "acme", "two words", "ünïcode", "-", "0", "false", "null", "{}", "x.y"];

/** Other spellings of the examples of a format, and other values whose spelling is odd. */
const spellings: Partial<Readonly<Record<Format, readonly string[]>>> = {
  url: ["https://a.example.com/"],
  httpsUrl: ["https://a.example.com/"],
  duration: ["24h", "1h30m", "1.5s", "90m"],
  timestamp: [
    "2030-01-01T01:00:00+01:00",
    "2030-01-01T00:00:00.000Z",
    "2030-01-01T00:00:00.001Z",
    "2031-06-30T23:59:59-05:30",
  ],
  jwks: [
    JSON.stringify(JSON.parse(JWKS), null, 2),
    '{"keys":[{"e":"AQAB","n":"AQAB","kid":"a","kty":"RSA"}]}',
    JWKS,
    '{"keys":[{"kty":"EC","kid":"c"},{"kty":"EC","kid":"b"}]}',
    '{"keys":[{"kty":"EC","kid":"b"},{"kty":"EC","kid":"c"}]}',
  ],
  rsaPublicKey: [PUBLIC_KEY, `${PUBLIC_KEY}\n`],
};

function stringsOf(field: StringSpec | SecretSpec): fc.Arbitrary<string> {
  if (field.format !== undefined) {
    return fc.constantFrom(...formats[field.format].examples, ...(spellings[field.format] ?? []));
  }
  return field.pattern?.must.includes("PEM")
    ? fc.constant(CERTIFICATE)
    : fc.oneof(fc.constantFrom(...words), fc.string({ minLength: 1, maxLength: 6 }));
}

/** A value that is set. */
export function valueOf(field: FieldSpec): fc.Arbitrary<Json> {
  switch (field.type) {
    case "string":
      return stringsOf(field);
    case "enum":
      return fc.constantFrom(...field.known.slice(0, 4).map((name) => `${field.prefix}${name}`));
    case "boolean":
      return fc.constant(true);
    case "integer":
      return fc.oneof(
        fc.integer({ min: 1, max: 3 }),
        fc.integer().filter((number) => number !== 0),
      );
    case "list":
      return fc.array(valueOf(field.items), { minLength: 1, maxLength: field.maxItems ?? 3 });
    case "map":
      return fc.dictionary(
        fc.oneof(
          fc.constantFrom("a", "b", "a.b", "__proto__", "snake_case", "1"),
          fc.string({ minLength: 1 }),
        ),
        fc.oneof(
          valueOf(field.values),
          field.values.type === "string" ? fc.constant("") : valueOf(field.values),
        ),
        { minKeys: 1, maxKeys: 3, noNullPrototype: true },
      );
    case "object":
      return membersOf(field.fields, field.oneOfs ?? []).filter((members) =>
        Object.values(members).some((member) => member !== undefined && member !== null && member !== ""),
      );
  }
}

/** The spellings of "not set". */
function unsetOf(field: FieldSpec): fc.Arbitrary<Json | undefined> {
  const empty: Readonly<Record<FieldSpec["type"], Json>> = {
    string: "",
    enum: field.type === "enum" ? `${field.prefix}UNSPECIFIED` : "",
    boolean: false,
    integer: 0,
    list: [],
    map: {},
    object: {},
  };
  return fc.constantFrom<Json | undefined>(undefined, undefined, undefined, null, empty[field.type]);
}

/** Members of which the required are set, and of each one-of at most one. */
function membersOf(
  fields: Readonly<Record<string, FieldSpec>>,
  oneOfs: readonly OneOf[],
  fixed: Props = {},
): fc.Arbitrary<Props> {
  const chosen = fc.tuple(
    ...oneOfs.map(({ members, required }) => fc.constantFrom(...members, ...(required ? [] : [undefined]))),
  );
  return chosen.chain((choices) => {
    const allowed = (key: string): boolean =>
      !oneOfs.some(({ members }, i) => members.includes(key) && choices[i] !== key);
    const entries = Object.entries(fields).map(([key, field]): [string, fc.Arbitrary<Json | undefined>] => {
      if (key in fixed) return [key, fc.constant(fixed[key])];
      // Two members of a one-of, even one empty, are refused: the others are absent or null.
      if (!allowed(key)) return [key, fc.constantFrom(undefined, null)];
      const isChosen = oneOfs.some(({ members }) => members.includes(key));
      if (field.required || isChosen) return [key, valueOf(field)];
      return [key, fc.oneof(valueOf(field), unsetOf(field))];
    });
    return fc
      .record<Props>(Object.fromEntries(entries))
      .map((record) => Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)));
  });
}

/** The keys whose change replaces a resource, or that name its parent. */
function fixedKeys(spec: ResourceSpec): string[] {
  return Object.entries(spec.fields)
    .filter(([, field]) => field.immutable === true || field.path === true)
    .map(([key]) => key);
}

const isObject = (value: Json | undefined): value is Props =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** What cannot be changed inside an object, taken over from another. */
function withImmutables(fields: Readonly<Record<string, FieldSpec>>, from: Props, into: Props): Props {
  const result = { ...into };
  for (const [key, field] of Object.entries(fields)) {
    const [before, after] = [from[key], into[key]];
    if (field.type === "object" && isObject(before) && isObject(after)) {
      result[key] = withImmutables(field.fields, before, after);
    } else if (field.immutable) {
      if (before === undefined) Reflect.deleteProperty(result, key);
      else result[key] = before;
    }
  }
  return result;
}

/** Two sets of inputs of one resource, and what stays the same between them. */
export function pairOf(spec: ResourceSpec): fc.Arbitrary<{ a: Props; b: Props }> {
  return inputsOf(spec).chain((a) => {
    const immutable = Object.fromEntries(fixedKeys(spec).map((key) => [key, a[key]]));
    const kept = (spec.oneOfs ?? [])
      .filter((oneOf) => oneOf.immutable)
      .flatMap(({ members }) => members.filter((member) => a[member] === undefined || a[member] === null));
    const fixed: Props = { ...immutable, ...Object.fromEntries(kept.map((key) => [key, undefined])) };
    const held = (spec.oneOfs ?? []).map((oneOf) =>
      oneOf.immutable
        ? { ...oneOf, members: oneOf.members.filter((member) => !kept.includes(member)) }
        : oneOf,
    );
    return membersOf(spec.fields, held, fixed).map((b) => ({ a, b: withImmutables(spec.fields, a, b) }));
  });
}

export function inputsOf(spec: ResourceSpec): fc.Arbitrary<Props> {
  return membersOf(spec.fields, spec.oneOfs ?? []);
}
