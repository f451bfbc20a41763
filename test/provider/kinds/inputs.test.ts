import { checkInputs } from "../../../provider/fields/check";
import { innerFields } from "../../../provider/fields/fieldSpec";
import type { EnumSpec, FieldSpec } from "../../../provider/fields/fieldSpec";
import { ADOPT, UNKNOWN } from "../../../provider/fields/values";
import type { Props, Json } from "../../../provider/fields/values";
import { nearestWord } from "../../../provider/text/suggestions";
import {
  GROUP_UID,
  IDENTITY_UID,
  ROLE_UID,
  sampleOf,
  specOf,
  withValue,
  specs,
  samples,
  OTHER_IDENTITY_UID,
} from "../support/samples";
import { NOW, staticKeys, failuresOf, NAME_WANTED, refusals } from "./refusals";
import fc, { casesOf } from "../../support/properties";

const enumsIn = (field: FieldSpec): EnumSpec[] =>
  field.type === "enum" ? [field] : innerFields(field).flatMap(enumsIn);
const grant = { identityUid: IDENTITY_UID, roleUid: ROLE_UID };

describe("what check refuses", () => {
  test.each(specs)("$kind: each argument that is missing, by its name", ({ kind, fields, oneOfs = [] }) => {
    const required = Object.keys(fields).filter((key) => fields[key]?.required);
    const choices = oneOfs.filter((oneOf) => oneOf.required);
    const failures = failuresOf(kind, {}).map((failure) => failure.trim());
    expect(failures.map((failure) => failure.split(" ")[0])).toEqual(expect.arrayContaining(required));
    expect(failures).toEqual(
      expect.arrayContaining(choices.map(({ members }) => `exactly one of ${members.join(", ")} is needed`)),
    );
  });

  test.each(specs)("$kind: each argument of a wrong type, without its value", ({ kind, fields }) => {
    for (const [key, field] of Object.entries(fields)) {
      const inputs = { ...sampleOf(kind), [key]: field.type === "list" ? { canary: 1 } : ["canary"] };
      const failures = failuresOf(kind, inputs).filter((failure) => failure.trim().startsWith(key));
      expect([key, failures.length > 0]).toEqual([key, true]);
      expect(failures.join()).not.toContain("canary");
    }
  });

  describe.each(Object.entries(refusals))("of %s", (kind, cases) => {
    test.each(cases)("$name: every failure at once, with property and text", ({ inputs, failures }) => {
      expect(failuresOf(kind, inputs)).toEqual(failures);
    });
  });

  test.each<[string, string, Props, Props?]>([
    ["PP1002", "Group", { name: "team", nane: "team" }],
    ["PP1003", "Group", { name: ["team"] }],
    ["PP1005", "RepoReadme", { ...sampleOf("RepoReadme"), content: "x".repeat(4 * 1024 * 1024) }],
    ["PP1006", "Group", { name: "team", parentUid: "" }],
    ["PP1007", "Identity", { ...sampleOf("Identity", "service"), ...staticKeys }],
    ["PP1008", "Identity", { parentUid: GROUP_UID, name: "robot" }],
    ["PP1010", "Identity", withValue(staticKeys, ["staticKeys", "expirationTime"], "2026-02-28T00:00:00Z")],
    ["PP1009", "Group", { name: "team", kind: "customer" }],
    ["PP1011", "Group", { parentUid: GROUP_UID, name: "team", verified: true }],
    ["PP1012", "GroupAccess", { parentUid: GROUP_UID, bindings: { one: grant, same: grant } }],
    ["PP1110", "Group", { name: "team" }, { name: "team", parentUid: GROUP_UID }],
    [
      "PP1110",
      "GroupInvite",
      { ...sampleOf("GroupInvite", "open-invite"), singleUse: true },
      sampleOf("GroupInvite", "invite"),
    ],
    ["PP1006", "GroupInvite", { ...sampleOf("GroupInvite", "invite"), email: " " }],
    [
      "PP1006",
      "GroupInvite",
      { ...sampleOf("GroupInvite", "invite"), email: "\t" },
      sampleOf("GroupInvite", "invite"),
    ],
    ["PP1006", "Identity", withValue(staticKeys, ["staticKeys", "audiences"], [" "])],
    ["PP1013", "Role", { ...sampleOf("Role"), capabilities: ["CAP_REPO_LST"] }],
  ])("has the code %s: %s", (code, kind, inputs, olds = {}) => {
    const failures = checkInputs(specOf(kind), inputs, { olds, now: NOW });
    expect(failures.map((failure) => failure.code)).toContain(code);
  });

  test("a misspelt name is refused, unless the state has it or the object is taken over", () => {
    const role = sampleOf("Role");
    const refused = [`capabilities[1] CAP_REPO_LST is not a known name; did you mean CAP_REPO_LIST?`];
    const inputs = { ...role, capabilities: ["CAP_TAG_LIST", "CAP_REPO_LST"] };
    expect(failuresOf("Role", inputs)).toEqual(refused);
    expect(failuresOf("Role", inputs, role)).toEqual(refused);
    expect(failuresOf("Role", inputs, { ...role, capabilities: ["CAP_REPO_LST"] })).toEqual([]);
    expect(failuresOf("Role", { ...inputs, [ADOPT]: ROLE_UID })).toEqual([]);
  });

  test.each<[string, Props, string]>([
    [
      "Role",
      { capabilities: ["CAP_GROUP_LIST"] },
      "capabilities[0] CAP_GROUP_LIST is not a known name; did you mean CAP_IAM_GROUPS_LIST?",
    ],
    // Two letters of eight; of a shorter name each letter counts.
    [
      "Role",
      { capabilities: ["CAP_TAG_LSIT"] },
      "capabilities[0] CAP_TAG_LSIT is not a known name; did you mean CAP_TAG_LIST?",
    ],
    [
      "Repo",
      { catalogTier: "CATALOG_TIER_APP" },
      'catalogTier CATALOG_TIER_APP is not a known name, and the server would clear the field; did you mean "CATALOG_TIER_APPLICATION"?',
    ],
    [
      "Group",
      { parentUid: undefined, kind: "ORG_KIND_TEAM" },
      "kind ORG_KIND_TEAM is not a known name, and the server would clear the field; known are ORG_KIND_STARTER, ORG_KIND_CUSTOMER, ORG_KIND_DEV, ORG_KIND_INFRA, ORG_KIND_AWS_MARKETPLACE",
    ],
  ])("a name that %s does not know is refused: %j", (kind, args, line) => {
    const { parentUid, ...others } = sampleOf(kind);
    const sample: Props = { parentUid, ...others, ...args };
    const inputs = Object.fromEntries(Object.entries(sample).filter(([, value]) => value !== undefined));
    expect(failuresOf(kind, inputs)).toEqual([line]);
  });

  test("a name that the server may newly have is refused but in a list that grows, and where it has it", () => {
    const root: Props = { name: "acme", kind: "ORG_KIND_NEWER" };
    const adopted = { ...root, [ADOPT]: GROUP_UID };
    expect(failuresOf("Group", root)).toHaveLength(1);
    expect(failuresOf("Group", root, { name: "acme", kind: "ORG_KIND_DEV" })).toHaveLength(1);
    expect(failuresOf("Group", { ...root, name: "new" }, root)).toEqual([]);
    expect(failuresOf("Group", adopted)).toEqual([]);
    // What was adopted is written from then on.
    expect(failuresOf("Group", { ...adopted, kind: "ORG_KIND_TEAM" }, adopted)).toHaveLength(1);
    const role = { ...sampleOf("Role"), capabilities: ["CAP_NEWER_THAN_THIS"] };
    expect(failuresOf("Role", role)).toEqual([]);
  });

  test("no known name is taken for a misspelling of another one by one letter", () => {
    const enums = specs.flatMap(({ fields }) => Object.values(fields).flatMap(enumsIn));
    expect(enums.length).toBeGreaterThan(3);
    for (const field of enums) {
      const near = field.known.filter((name) => {
        const others = field.known.filter((other) => other !== name);
        return nearestWord(name, others, 1) !== undefined;
      });
      expect(near).toEqual([]);
    }
  });

  test("an unspecified member of several is named, and not another one", () => {
    const inputs = { parentUid: GROUP_UID, name: "robot", servicePrincipal: "SERVICE_PRINCIPAL_UNSPECIFIED" };
    expect(failuresOf("Identity", inputs)).toEqual([
      "servicePrincipal is no value: SERVICE_PRINCIPAL_UNSPECIFIED means none; exactly one of claimMatch, staticKeys, awsIdentity, servicePrincipal is needed",
    ]);
  });

  test("a new expiration of an identity that exists must be in the future, how far only the server knows", () => {
    const path = ["staticKeys", "expirationTime"];
    const before = withValue(staticKeys, path, "2026-06-01T00:00:00Z");
    expect(failuresOf("Identity", withValue(before, path, "2030-01-01T00:00:00Z"), before)).toEqual([]);
    expect(failuresOf("Identity", withValue(before, path, "2026-02-01T00:00:00Z"), before)).toEqual([
      'staticKeys.expirationTime must be in the future, not "2026-02-01T00:00:00Z"',
    ]);
  });

  test("a long value is not repeated whole in a message", () => {
    const long = "x".repeat(100_000);
    const reports = [
      ...failuresOf("Role", { parentUid: GROUP_UID, name: "r", capabilities: [long] }),
      ...failuresOf("Identity", {
        ...sampleOf("Identity", "service"),
        servicePrincipal: undefined,
        claimMatch: { issuerPattern: "(".repeat(2000), subject: "s" },
      }),
    ];
    expect(reports).toHaveLength(2);
    for (const report of reports) expect(report.length).toBeLessThan(500);
  });
});

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

function withValueAt(value: Json | undefined, path: readonly (string | number)[], other: Json): Json {
  const [step, ...rest] = path;
  if (step === undefined) return other;
  if (Array.isArray(value))
    return value.map((item, i) => (i === step ? withValueAt(item, rest, other) : item));
  const members = value as Props;
  return { ...members, [step]: withValueAt(members[step], rest, other) };
}

describe("unknown values", () => {
  test.each(samples)("$kind: $label: none fails, in any place", ({ kind, inputs }) => {
    const paths = pathsInto(inputs);
    expect(paths.length).toBeGreaterThan(1);
    for (const path of paths) {
      const unknown = withValueAt(inputs, path, UNKNOWN) as Props;
      expect([path, failuresOf(kind, unknown, {}, Date.now())]).toEqual([path, []]);
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

/** The inputs of a sample with a few values replaced, at any depth, and with keys that no description has. */
function spoiled(inputs: Props): fc.Arbitrary<Props> {
  const wrong = fc.array(fc.tuple(fc.constantFrom(...pathsInto(inputs)), hostile), { maxLength: 4 });
  const strange = fc.dictionary(
    fc.oneof(fc.constantFrom("__proto__", "constructor", "toString", "__x", "a.b", ""), fc.string()),
    hostile,
    { maxKeys: 2 },
  );
  return fc.tuple(wrong, strange).map(([all, more]) => {
    // The deepest first: a path leads through no value that is replaced.
    const deepest = all.sort(([one], [other]) => other.length - one.length);
    const replaced = deepest.reduce(
      (props, [path, value]) => withValueAt(props, path, value) as Props,
      inputs,
    );
    return Object.fromEntries([...Object.entries(replaced), ...Object.entries(more)]);
  });
}

describe("hostile input", () => {
  test.each(samples)("$kind, $label: check never throws and never changes what it is given", (sample) => {
    fc.assert(
      fc.property(spoiled(sample.inputs), spoiled(sample.inputs), (inputs, olds) => {
        const before = JSON.stringify([inputs, olds]);
        const failures = checkInputs(specOf(sample.kind), inputs, { olds, now: NOW });
        for (const { property, reason } of failures) {
          expect(typeof property).toBe("string");
          expect(reason).not.toBe("");
        }
        expect(JSON.stringify([inputs, olds])).toBe(before);
      }),
      { numRuns: casesOf(100) },
    );
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});

/* With `ignoreChanges` the engine hands `check` what is recorded, as a refresh may have found it. */

const check = (kind: string, olds: Props, inputs: Props): string[] =>
  checkInputs(specOf(kind), inputs, { olds, now: 0 }).map(({ property, reason }) => `${property} ${reason}`);
const access = (bindings: Props): Props => ({ parentUid: GROUP_UID, bindings });
const UNMANAGED = "unmanaged: carol as editor";
const repo = (more: Props): Props => ({ parentUid: GROUP_UID, name: "web", ...more });

test.each<[string, string, Props, Props]>([
  [
    "a label of what others made",
    "GroupAccess",
    access({ mine: grant, [UNMANAGED]: { ...grant, identityUid: OTHER_IDENTITY_UID } }),
    { allowSelfRemoval: true },
  ],
  [
    "a label of what others made that is longer than a program's may be",
    "GroupAccess",
    access({ [`unmanaged: ${"x".repeat(200)}`]: grant }),
    { allowSelfRemoval: true },
  ],
  [
    "a grant of a role that is gone",
    "GroupAccess",
    access({ [UNMANAGED]: { ...grant, roleUid: "" } }),
    { allowSelfRemoval: true },
  ],
  [
    "a reserved key",
    "Repo",
    repo({ customOverlay: { environment: { CHAINGUARD_X: "1" } } }),
    { description: "new" },
  ],
  [
    "a reserved key beside one that changes",
    "Repo",
    repo({ customOverlay: { environment: { CHAINGUARD_X: "1" } } }),
    { customOverlay: { environment: { CHAINGUARD_X: "1", X: "2" } } },
  ],
  ["a name that is newer than this package", "Repo", repo({ catalogTier: 17 }), { description: "new" }],
  ["an invite without a role", "GroupInvite", { parentUid: GROUP_UID, ttl: "1h" }, { email: "a@b.example" }],
])(
  "%s is refused where the program writes it, and passes where it is recorded",
  (_what, kind, inputs, more) => {
    expect(check(kind, {}, inputs)).not.toEqual([]);
    expect(check(kind, inputs, inputs)).toEqual([]);
    expect(check(kind, inputs, { ...inputs, ...more })).toEqual([]);
  },
);

test("the same label for another grant is the program's own, and so is another label", () => {
  const olds = access({ [UNMANAGED]: grant });
  const refused = `bindings["${UNMANAGED}"] has a label that begins with "unmanaged:", which is reserved for bindings that the program does not have`;
  expect(check("GroupAccess", olds, access({ [UNMANAGED]: { ...grant, roleUid: GROUP_UID } }))).toEqual([
    refused,
  ]);
  expect(check("GroupAccess", olds, access({ "unmanaged: x": grant }))).toEqual([
    refused.replace(UNMANAGED, "unmanaged: x"),
  ]);
});

test.each(samples.map(({ kind, label, inputs }) => [kind, label, inputs] as const))(
  "%s %s: an invalid value beside a recorded one is refused",
  (kind, _label, inputs) => {
    expect(check(kind, inputs, { ...inputs, nonsense: "x" })).toEqual([
      expect.stringContaining("nonsense is not an argument"),
    ]);
  },
);
