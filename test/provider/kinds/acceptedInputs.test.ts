import { UNKNOWN } from "../../../provider/fields/values";
import type { Json, Props } from "../../../provider/fields/values";
import { sampleOf, withValue, samples, specs } from "../support/samples";
import { NAME_WANTED, failuresOf } from "./refusals/support";

describe("what check accepts", () => {
  test.each(samples)("$kind: $label, with the engine's own key", ({ kind, inputs }) => {
    expect(failuresOf(kind, { ...inputs, __provider: "text" }, {}, Date.now())).toEqual([]);
  });

  test("a description of 512 characters outside the basic plane", () => {
    expect(failuresOf("Group", { name: "g", description: "😀".repeat(512) })).toEqual([]);
  });

  test("keys of a map that are also names of built-in members", () => {
    const claims = JSON.parse(
      '{"__proto__":"a","constructor":"b","toString":"c","hasOwnProperty":"d"}',
    ) as Props;
    const identity = withValue(sampleOf("Identity", "claims"), ["claimMatch", "claims"], claims);
    expect(failuresOf("Identity", identity)).toEqual([]);
  });
});

/** Every way to a value inside, the value itself left out. */
function pathsInto(value: Json | undefined, path: readonly (string | number)[] = []): (string | number)[][] {
  const here = path.length === 0 ? [] : [[...path]];
  if (Array.isArray(value)) return [...here, ...value.flatMap((item, i) => pathsInto(item, [...path, i]))];
  if (value !== null && typeof value === "object") {
    return [...here, ...Object.entries(value).flatMap(([key, item]) => pathsInto(item, [...path, key]))];
  }
  return here;
}

function withUnknown(value: Json | undefined, path: readonly (string | number)[]): Json {
  const [step, ...rest] = path;
  if (step === undefined) return UNKNOWN;
  if (Array.isArray(value)) return value.map((item, i) => (i === step ? withUnknown(item, rest) : item));
  const members = value as Props;
  return { ...members, [step]: withUnknown(members[step], rest) };
}

describe("unknown values", () => {
  test.each(samples)("$kind: $label: none fails, in any place", ({ kind, inputs }) => {
    const paths = pathsInto(inputs);
    expect(paths.length).toBeGreaterThan(1);
    for (const path of paths) {
      expect([path, failuresOf(kind, withUnknown(inputs, path) as Props, {}, Date.now())]).toEqual([
        path,
        [],
      ]);
    }
  });

  test.each(specs)("$kind: all unknown at once has no failure", (spec) => {
    const inputs = Object.fromEntries(Object.keys(spec.fields).map((key) => [key, UNKNOWN]));
    expect(failuresOf(spec.kind, inputs)).toEqual([]);
  });

  test("an unknown one-of member may be beside a known one", () => {
    const identity = { ...sampleOf("Identity", "claims"), staticKeys: UNKNOWN };
    expect(failuresOf("Identity", identity)).toEqual([]);
    const inside = withValue(sampleOf("Identity", "claims"), ["claimMatch", "issuerPattern"], UNKNOWN);
    expect(failuresOf("Identity", inside)).toEqual([]);
  });

  test("a verified group may get its kind later, and a kind its parent", () => {
    expect(failuresOf("Group", { name: "g", verified: true, kind: UNKNOWN })).toEqual([]);
    expect(failuresOf("Group", { parentUid: UNKNOWN, name: "g", kind: "ORG_KIND_DEV" })).toEqual([]);
  });

  test("what is known beside an unknown is still checked", () => {
    const identity = { parentUid: UNKNOWN, name: "CI", claimMatch: { issuer: UNKNOWN } };
    expect(failuresOf("Identity", identity)).toEqual([
      `name ${NAME_WANTED}`,
      "claimMatch needs exactly one of subject, subjectPattern",
    ]);
  });
});
