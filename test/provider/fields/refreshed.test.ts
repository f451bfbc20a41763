import { equal } from "../../../provider/fields/equal";
import { isJudged } from "../../../provider/fields/fieldAccess";
import { inputsOfProgram, isRefreshed, markRefreshed, REFRESHED } from "../../../provider/fields/refreshed";
import { containsUnknown, UNKNOWN } from "../../../provider/fields/values";
import type { Props } from "../../../provider/fields/values";
import { valuesOf } from "../../support/fieldValues";
import { specOf, specs } from "../support/samples";

const trust = (more: Props): Props => ({
  claimMatch: { issuer: "https://a.example", subject: "ci", ...more },
});
const bound = (bindings: Props): Props => ({ parentUid: "a", bindings });
const ada = { identityUid: "ada", roleUid: "viewer" };

test.each<[string, string, Props, Props, Props | undefined, Props]>([
  ["nothing", "Identity", trust({}), trust({}), undefined, trust({})],
  [
    "another value",
    "Identity",
    trust({}),
    trust({ subject: "x" }),
    { claimMatch: { subject: "changed" } },
    trust({ subject: UNKNOWN }),
  ],
  [
    "a value that is new",
    "Identity",
    trust({}),
    trust({ audience: "x" }),
    { claimMatch: { audience: "added" } },
    trust({}),
  ],
  [
    "a value that is gone",
    "Identity",
    trust({ audience: "x" }),
    trust({}),
    { claimMatch: { audience: "changed" } },
    trust({ audience: UNKNOWN }),
  ],
  [
    "a new entry",
    "Identity",
    trust({ claims: { a: "1" } }),
    trust({ claims: { a: "1", b: "2" } }),
    { claimMatch: { claims: { b: "added" } } },
    trust({ claims: { a: "1" } }),
  ],
  [
    "an entry that is gone",
    "Identity",
    trust({ claims: { a: "1", b: "2" } }),
    trust({ claims: { a: "1" } }),
    { claimMatch: { claims: { b: "changed" } } },
    trust({ claims: { a: "1", b: UNKNOWN } }),
  ],
  [
    "an empty entry that is gone",
    "Identity",
    trust({ claims: { a: "", b: "2" } }),
    trust({ claims: { b: "2" } }),
    { claimMatch: { claims: { a: "changed" } } },
    trust({ claims: { a: UNKNOWN, b: "2" } }),
  ],
  [
    "an empty entry that is new",
    "Identity",
    trust({ claims: { b: "2" } }),
    trust({ claims: { a: "", b: "2" } }),
    { claimMatch: { claims: { a: "added" } } },
    trust({ claims: { b: "2" } }),
  ],
  [
    "a new binding",
    "GroupAccess",
    bound({ ada }),
    bound({ ada, "unmanaged: eve": { ...ada, identityUid: "eve" } }),
    { bindings: { "unmanaged: eve": "added" } },
    bound({ ada }),
  ],
  [
    "a part of a binding",
    "GroupAccess",
    bound({ ada }),
    bound({ ada: { ...ada, roleUid: "owner" } }),
    { bindings: { ada: { roleUid: "changed" } } },
    bound({ ada: { ...ada, roleUid: UNKNOWN } }),
  ],
  [
    "the order of a set",
    "Role",
    { capabilities: ["A", "B"] },
    { capabilities: ["B", "A"] },
    undefined,
    { capabilities: ["B", "A"] },
  ],
  [
    "a text for people",
    "Role",
    { name: "r", description: "a" },
    { name: "r", description: "b" },
    undefined,
    { name: "r", description: "b" },
  ],
  ["a name", "Role", { name: "r" }, { name: "s" }, { name: "changed" }, { name: UNKNOWN }],
])("a refresh that finds %s of %s", (_what, kind, given, live, mark, program) => {
  const spec = specOf(kind);
  const found = markRefreshed(spec, given, live);
  expect(found).toEqual(mark === undefined ? {} : { [REFRESHED]: mark });
  expect(isRefreshed(found)).toBe(mark !== undefined);
  expect(inputsOfProgram(spec, live, found)).toEqual(program);
});

test("of every field what the program gave is known, or unknown, and never what somebody else wrote", () => {
  const wrong = specs.flatMap((spec) =>
    Object.entries(spec.fields).flatMap(([key, field]) => {
      const values = [undefined, ...valuesOf(field, 6)];
      const inputsWith = (value: Props[string] | undefined): Props =>
        value === undefined ? {} : { [key]: value };
      return values.flatMap((given) =>
        values.flatMap((live) => {
          // A resource without arguments is one that is imported.
          const olds = {
            ...Object.fromEntries(
              Object.keys(spec.fields)
                .slice(0, 2)
                .map((each) => [each, null]),
            ),
            ...inputsWith(given),
          };
          const mark = markRefreshed(spec, olds, inputsWith(live));
          const program = inputsOfProgram(spec, inputsWith(live), mark)[key];
          const isMarked = isRefreshed(mark);
          const shouldBe = (isJudged(field) || key === "name") && !equal(field, given, live);
          const isRight = !shouldBe || containsUnknown(program) || equal(field, program, given);
          const again = markRefreshed(spec, { ...inputsWith(live), ...mark }, inputsWith(given));
          const isForgotten = containsUnknown(program) || !isRefreshed(again);
          return isRight && isForgotten && (isMarked || !shouldBe)
            ? []
            : [[spec.kind, key, given, live, mark]];
        }),
      );
    }),
  );
  expect(wrong).toEqual([]);
});
