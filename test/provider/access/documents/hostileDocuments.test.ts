import { parseTerraformState } from "../../../../provider/access/adopt/terraform/stateFile";
import { kinds } from "../../../../provider/kinds";
import * as access from "../../../../provider/access";
import { parseInventory } from "../../../../provider/access/documents/inventory";
import { checkBytes, parseJson, schemaProblems } from "../../../../provider/access/documents/jsonText";
import { parsePlan } from "../../../../provider/access/documents/plan";
import { parsePreview } from "../../../../provider/access/documents/preview";
import { parseStateExport } from "../../../../provider/access/documents/stateExport";
import { parseReport } from "../../../../provider/access/report/report";
import { parsePolicy } from "../../../../provider/access/suppressions/policyDocument";
import { inventoryOf, judge, preview, same, state, step } from "../../../support/documents";
import fc from "../../../support/properties";

const FILE = "document";
const ROOT = "a".repeat(40);
const uid = (n: number): string => `${ROOT}/${n.toString(16).padStart(16, "0")}`;
const [TEAM, CI, READER, BINDING] = [uid(1), uid(2), uid(3), uid(4)] as const;

const root = state("Group", "root", { name: "acme" }, { id: ROOT });
const team = state("Group", "team", { parentUid: ROOT, name: "team" }, { id: TEAM });
const pinned = {
  issuer: "https://token.actions.githubusercontent.com",
  subject: "repo:acme/pay:ref:refs/heads/main",
};
const ci = state("Identity", "ci", { parentUid: TEAM, name: "ci", claimMatch: pinned }, { id: CI });
const readerOf = (...capabilities: string[]) =>
  state("Role", "reader", { parentUid: ROOT, name: "reader", capabilities }, { id: READER });
const reader = readerOf("CAP_REPO_LIST");
const grant = { parentUid: TEAM, identityUid: CI, roleUid: READER };
const binding = state("RoleBinding", "binding", grant, { id: BINDING });
const basis = [root, team, ci, reader];

function errorOf(run: () => unknown): Error {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error("nothing was thrown");
}

describe("an object of an inventory", () => {
  const root = "a".repeat(40);
  const [team, other] = [`${root}/${"1".repeat(16)}`, `${root}/${"2".repeat(16)}`];
  const read = (kind: string, uid: string, inputs: object) =>
    access.parseInventory(JSON.stringify({ ...inventoryOf(root), objects: [{ kind, uid, inputs }] }));

  test.each(kinds.filter(({ spec }) => spec.fields["parentUid"] !== undefined).map(({ spec }) => spec))(
    "lies where its uid says: $kind",
    ({ kind, sharesParentUid }) => {
      const uid = sharesParentUid ? team : `${team}/${"3".repeat(16)}`;
      expect(read(kind, uid, { parentUid: team }).objects).toHaveLength(1);
      expect(read(kind, uid, {}).objects).toHaveLength(1);
      for (const parentUid of [other, root, `${team}/${"4".repeat(16)}`, "", null]) {
        expect(() => read(kind, uid, { parentUid })).toThrow(
          `objects[0].inputs.parentUid must be ${team}, where its uid ${uid.slice(0, 80)}`,
        );
      }
    },
  );

  test("that is a root lies nowhere", () => {
    expect(() => read("Group", root, { parentUid: team })).toThrow("parentUid must be left out");
  });

  test("is listed once, and objects of two kinds may share a uid", () => {
    const listed = (...kinds: string[]) =>
      access.parseInventory(
        JSON.stringify({
          ...inventoryOf(root),
          objects: kinds.map((kind, i) => ({ kind, uid: team, inputs: { name: `name-${i}` } })),
        }),
      );
    expect(listed("Group", "AccountAssociation").objects).toHaveLength(2);
    expect(() => listed("Group", "Role", "Group")).toThrow(
      `objects[2] is Group ${team.slice(0, 80)} a second time`,
    );
  });
});

test.each([
  [{ takenAt: "yesterday" }, "x is not a valid inventory: takenAt must be an RFC 3339 time"],
  [
    { refused: [{ kind: "Role", code: "X", errorCode: "PP3403", message: "" }] },
    "complete must be false where refused names lists",
  ],
  [{ complete: false }, "x is not a valid inventory: refused must name a list where complete is false"],
  [{ deployment: {} }, "x is an export of a stack, not an inventory: give it to --state"],
])("an inventory with %j is refused", (more, message) => {
  const document = JSON.stringify({ ...inventoryOf(ROOT), complete: true, ...more });
  expect(() => parseInventory(document, "x")).toThrow(message);
});

describe("what is called from a program of JavaScript", () => {
  const parsers = Object.entries(access).filter(([name]) =>
    name.startsWith("parse"),
  ) as unknown as readonly (readonly [string, (input: unknown, name?: string) => unknown])[];
  const cases = parsers.flatMap(([name, parse]) =>
    [undefined, null, 5, true, {}, [], new ArrayBuffer(1), "", "{", "\ud800"].map(
      (input) => [name, input, parse] as const,
    ),
  );

  test("is each parser of the package", () => {
    expect(parsers.map(([name]) => name).sort()).toEqual([
      "parseInventory",
      "parsePlan",
      "parsePolicy",
      "parsePreview",
      "parseReviewReport",
      "parseStateExport",
    ]);
  });

  test.each(cases)("%s says in one line what is wrong with %j, without a name", (_name, input, parse) => {
    const refused = expect.objectContaining({
      code: "USAGE",
      message: expect.stringMatching(
        /^the (?:inventory|plan|policy|preview|report|export)\b[^\n]+$/,
      ) as string,
    }) as Error;
    expect(() => parse(input)).toThrow(refused);
  });
});

describe("a document built to break the reader", () => {
  test.each(["constructor", "__proto__", "toString", "hasOwnProperty"])("may name a kind %s", (kind) => {
    const strange = state(kind, "strange", { name: "x" }, { id: uid(9) });
    expect(judge(preview(...basis.map(same), step("create", undefined, strange))).complete).toBe(true);
  });

  const readers = [
    ...[parsePreview, parseStateExport, parsePlan, parseInventory, parseReport, parseTerraformState],
    parseJson,
  ];
  const nested = (open: string, close: string): string => `${open.repeat(100_000)}1${close.repeat(100_000)}`;
  const tooLarge = /^document has a number that is too large/;
  const tooDeep = /^document:? is nested more than 200 levels deep[:;] \w/;

  test.each<[string, string | Buffer, RegExp]>([
    ["has a key twice", '{"a":1,"b":{},"a":2}', /^document has a key twice in one object/],
    ["has a key twice, once with an escape", '{"a":1,"\\u0061":2}', /^document has a key twice/],
    ["has a large number", '{"a":[{"b":1e400}]}', tooLarge],
    ["has a number of many digits", `{"a":-${"9".repeat(400)}}`, tooLarge],
    ["has half of a character", '{"a":"\\ud800"}', /^document has half of a surrogate pair in a string/],
    ["has lists in lists", `{"a":${nested("[", "]")}}`, tooDeep],
    ["has objects in objects", `{"a":${nested('{"a":', "}")}}`, tooDeep],
    ["is not UTF-8", Buffer.from([...Buffer.from('{"a":"'), 0xff, 0x22, 0x7d]), /^document is not UTF-8/],
    ...["null", '[{"steps":[]}]', '"x"', "3", "true"].map((text): [string, string, RegExp] => [
      `is ${text}`,
      text,
      /^document is not one object of JSON: \w/,
    ]),
  ])("is refused by each reader of JSON where it %s", (_what, text, message) => {
    for (const read of readers) {
      const refused = { code: "USAGE", message: expect.stringMatching(message) as string };
      expect(errorOf(() => read(text, FILE))).toMatchObject(refused);
    }
  });

  test.each([
    ["lists", `allow: ${nested("[", "]")}`],
    ["objects", `{"allow":${nested('{"a":', "}")}}`],
    ["lists in blocks", `allow:\n${"- ".repeat(100_000)}x\n`],
  ])("is refused as a policy file of 100,000 %s", (_what, text) => {
    expect(() => parsePolicy(text, FILE)).toThrow(tooDeep);
  });

  const exportWith = (inputs: string): string =>
    `{"version":3,"deployment":{"resources":[{"urn":"urn:pulumi:a::b::c::d","type":"c","${inputs}":{}}]}}`;

  test.each([
    ["Version", `{"version":3,"Version":3,"deployment":{}}`],
    ["RESOURCES", `{"version":3,"deployment":{"resources":[],"RESOURCES":[]}}`],
    ["Inputs", exportWith("Inputs")],
    ["inputſ", exportWith("inputſ")],
  ])("is refused as an export with a member in another case (%s)", (member, text) => {
    expect(() => parseStateExport(text, FILE)).toThrow(
      `${FILE} has the member ${member}, which the engine writes in another case`,
    );
  });

  test.each(["constructor", "shuffle", "__proto__"])("is incomplete with a step of operation %s", (op) => {
    const report = judge(preview(...basis.map(same), step(op, binding, binding)));
    expect(report.incomplete).toEqual([
      `the preview has a step of operation ${op}, which this version does not know: use a newer one`,
    ]);
  });

  test("is incomplete with a step whose urn is none", () => {
    const odd = { ...binding, urn: READER };
    expect(judge(preview(...basis.map(same), step("create", undefined, odd))).complete).toBe(false);
  });
});

describe("sizes", () => {
  const LONG = "x".repeat(4_001);
  const MANY = 10_001;
  const urnOf = (name: string): string => `urn:pulumi:a::b::pulumi-nodejs:dynamic/platform:Identity::${name}`;
  const claims = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`claim-${n}`, "x"]));
  const claiming = (of: object) => ({ claimMatch: { claims: of } });
  const ones = Array.from({ length: MANY }, () => 1);
  const [half, type] = ["x".repeat(2_500), "pulumi-nodejs:dynamic/platform:Identity"];
  const identity = (inputs: object, more: object = {}) => ({
    ...{ urn: urnOf("ci"), type, id: CI, inputs: { __provider: "x", ...inputs } },
    ...more,
  });
  const depends = (propertyDependencies: object) => identity({}, { propertyDependencies });
  /** A state that is over one limit, and what the error says of it. */
  const excesses: [string, ReturnType<typeof identity>, RegExp][] = [
    ["a long name", identity({ name: LONG }), /name has 4,001 characters, and at most 4,000 are read/],
    ["a long URN", identity({}, { urn: urnOf(LONG) }), /urn has 4,\d{3} characters/],
    ["a long id", identity({}, { id: LONG }), /id has 4,001 characters/],
    ["a long parent", identity({}, { parent: LONG }), /parent has 4,001 characters/],
    ["a long reference", identity({ parentUid: LONG }), /parentUid has 4,001 characters/],
    ["a long key", identity(claiming({ [LONG]: "x" })), /a key of claimMatch\.claims has 4,/],
    ["a long path", identity({ [half]: { [half]: 1 } }), /a key of x+ … has 5,001/],
    ["many claims", identity(claiming(claims(MANY))), /claims has 10,001 members, and at most 10,000/],
    ["many arguments", identity(claims(MANY)), /the arguments has 10,002 members/],
    ["many numbers", identity({ other: ones }), /other has 10,001 items/],
    ["many outputs", identity({}, { outputs: { x: ones } }), /x has 10,001/],
    ["a long dependency", depends({ name: [LONG] }), /propertyDependencies\.name has 4,001/],
    ["many dependencies", depends(claims(MANY)), /propertyDependencies has 10,001 members/],
    ["a long ignored path", identity({}, { ignoreChanges: [LONG] }), /ignoreChanges has 4,001 characters/],
  ];
  type State = ReturnType<typeof identity>;
  const inventoryOfState = ({ id, inputs }: State) =>
    JSON.stringify({ ...inventoryOf(ROOT), objects: [{ kind: "Identity", uid: id, inputs }] });
  const exportText = (resources: object[]) => JSON.stringify({ version: 3, deployment: { resources } });
  const stepped = (more: object) => parsePreview(JSON.stringify({ steps: [more] }), FILE);
  const places: [string, (state: State) => unknown][] = [
    ["a new state of a preview", (state) => stepped({ op: "create", urn: state.urn, newState: state })],
    ["an old state of a preview", (state) => stepped({ op: "delete", urn: state.urn, oldState: state })],
    ["an export", (state) => parseStateExport(exportText([state]), FILE)],
    ["an inventory", (state) => parseInventory(inventoryOfState(state), FILE)],
  ];
  const states = places.slice(0, -1);

  test.each(
    excesses.flatMap(([what, state, says]) =>
      (Object.keys(state.inputs).length > 1 ? places : states).map(([where, read]) => ({
        ...{ what, where },
        ...{ state, read, says },
      })),
    ),
  )("$what in $where is refused by one error that names the place", ({ state, read, says }) => {
    const error = errorOf(() => read(state));
    expect(error).toMatchObject({ errorCode: "PP6009", code: "USAGE" });
    expect(error.message).toMatch(says);
    expect(error.message).toMatch(/^document: Identity [^\n]{1,600}$/);
  });

  test("all of a document has a limit", () => {
    expect(() => checkBytes(250_000_000, FILE)).not.toThrow();
    expect(() => checkBytes(250_000_001, FILE)).toThrow("document has 251 MB, and at most 250 MB are read");
  });

  test("a URN of a plan has the same limit", () => {
    const plan = JSON.stringify({ resourcePlans: { [urnOf(LONG)]: { steps: [] } } });
    expect(errorOf(() => parsePlan(plan, FILE))).toMatchObject({ errorCode: "PP6009" });
  });

  test("names, keys and lists are read up to their limits", () => {
    const [name, key] = ["x".repeat(4_000), "x".repeat(4_000 - "claimMatch".length - "claims".length)];
    const most = identity({ name, claimMatch: { claims: { ...claims(9_999), [key]: name } } });
    for (const [, read] of places) expect(() => read(most)).not.toThrow();
  });

  test("groups above one another are read up to a limit", () => {
    const groupAt = (n: number) => {
      const inputs = { name: `g${n}`, parentUid: n === 0 ? ROOT : uid(n - 1) };
      return same(state("Group", `g${n}`, inputs, { id: uid(n) }));
    };
    const nested = (count: number) => Array.from({ length: count }, (_, n) => groupAt(n));
    expect(judge(preview(same(root), ...nested(99))).groups).toHaveLength(100);
    expect(errorOf(() => judge(preview(same(root), ...nested(101))))).toMatchObject({
      errorCode: "PP6009",
      message: expect.stringMatching(
        /^the group g\d+ lies below more groups, and at most 100 are read/,
      ) as string,
    });
  });

  test("the path of a group is read up to a limit", () => {
    const name = "n".repeat(3_400);
    const groupAt = (n: number) => {
      const inputs = { name, parentUid: n === 0 ? ROOT : uid(n - 1) };
      return same(state("Group", `g${n}`, inputs, { id: uid(n) }));
    };
    expect(() => judge(preview(same(root), groupAt(0), groupAt(1)))).not.toThrow();
    expect(errorOf(() => judge(preview(same(root), groupAt(0), groupAt(1), groupAt(2))))).toMatchObject({
      errorCode: "PP6009",
      message: expect.stringMatching(
        /^the path of the group n+ …, its name .* has 10,\d+ characters, and at most 10,000 are read/,
      ) as string,
    });
  });
});

test("what is written and wrong is said before what is missing", () => {
  const [first] = schemaProblems("access-policy", { allow: [{ expires: 5 }] });
  expect(first?.keys).toEqual(["allow", "0", "expires"]);
});

test("JSON of any content and layout is read as JSON.parse does, but where it is cut off or has a key twice", () => {
  const objects = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 });
  fc.assert(
    fc.property(objects, fc.string(), fc.constantFrom(0, 2, "\t"), (object, key, indent) => {
      const text = JSON.stringify({ ...object, [key]: object }, null, indent);
      expect(parseJson(text, "x")).toEqual(JSON.parse(text));
      expect(() => parseJson(text.slice(0, -1), "x")).toThrow(/^x (ends in the middle|is not one object)/);
      const twice = `{${JSON.stringify(key)}:":",${text.slice(1)}`;
      expect(() => parseJson(twice, "x")).toThrow(/^x has a key twice in one object/);
    }),
  );
});
