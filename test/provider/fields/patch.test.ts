import { diffInputs } from "../../../provider/fields/diff";
import type { FieldSpec } from "../../../provider/fields/fieldSpec";
import { buildPatch } from "../../../provider/fields/patch";
import type { ResourceSpec } from "../../../provider/fields/resourceSpec";
import { UNKNOWN } from "../../../provider/fields/values";
import type { Json, Props } from "../../../provider/fields/values";
import { buildCreateBody } from "../../../provider/fields/wire";
import { kind as describeKind, object, shape, string, enumOf, kind } from "../../../provider/fields/builders";
import { otherValue } from "../../support/fieldValues";
import { samples as lives } from "../../support/samples";
import {
  GROUP_UID,
  leavesOf,
  ROOT_UID,
  sampleOf,
  samples,
  specOf,
  specs,
  valueAt,
  withValue,
} from "../support/samples";

function nested(path: readonly string[], value: Json): Props {
  const [step = "", ...rest] = path;
  return { [step]: rest.length === 0 ? value : nested(rest, value) };
}

const isPatched = (field: FieldSpec): boolean => !field.path && !field.immutable && !field.subresource;

/** Every leaf that a PATCH may name, once for each sample in which it is set or could be. */
const changes = samples.flatMap(({ kind, label, inputs }) =>
  leavesOf(specOf(kind).fields)
    .filter(({ path, field }) => isPatched(field) && valueAt(inputs, path) !== undefined)
    .map(({ path, field }) => ({ kind, label, inputs, field, path, name: path.join(".") })),
);

const onWire = (path: readonly string[]): string[] =>
  path.map((key) => (key === "syncConfig" ? "sync_config" : key));

describe("one field changed", () => {
  test("there is a sample of every leaf of every kind", () => {
    const covered = new Set(changes.map(({ kind, name }) => `${kind}.${name}`));
    const all = specs.flatMap(({ kind, fields }) =>
      leavesOf(fields)
        .filter(({ field }) => isPatched(field))
        .map(({ path }) => `${kind}.${path.join(".")}`),
    );
    expect(all.filter((name) => !covered.has(name))).toEqual([]);
    expect(all.length).toBeGreaterThan(40);
  });

  test.each(changes)("$kind, $label: $name alone is sent and named", ({ kind, inputs, path, field }) => {
    const value = otherValue(field, valueAt(inputs, path));
    expect(buildPatch(specOf(kind), inputs, withValue(inputs, path, value))).toEqual({
      mask: [onWire(path).join(".")],
      body: nested(onWire(path), value),
    });
  });
});

interface Exact {
  readonly name: string;
  readonly kind: string;
  readonly olds: Props;
  readonly news: Props;
  readonly mask: readonly string[];
  readonly body: Props;
}

const overlay = (members: Props): Props => ({ parentUid: GROUP_UID, name: "nginx", customOverlay: members });
const claims = (members: Props): Props => ({ parentUid: GROUP_UID, name: "ci", claimMatch: members });

const exact: readonly Exact[] = [
  {
    name: "nested objects are named leaf by leaf, so that siblings stay",
    kind: "Repo",
    olds: overlay({ accounts: { runAs: "a" }, environment: { A: "1" } }),
    news: overlay({ accounts: { runAs: "b" }, environment: { A: "1" }, contents: { packages: ["curl"] } }),
    mask: ["customOverlay.contents.packages", "customOverlay.accounts.runAs"],
    body: { customOverlay: { contents: { packages: ["curl"] }, accounts: { runAs: "b" } } },
  },
  {
    name: "a list of objects is one path, its items without what is not set",
    kind: "Repo",
    olds: overlay({ accounts: { users: [{ username: "a", uid: 1 }] } }),
    news: overlay({
      accounts: {
        users: [
          { username: "a", uid: 0, shell: "" },
          { username: "b", gid: 5 },
        ],
      },
    }),
    mask: ["customOverlay.accounts.users"],
    body: { customOverlay: { accounts: { users: [{ username: "a" }, { username: "b", gid: 5 }] } } },
  },
  {
    name: "from issuer to issuerPattern the new member is sent, and the audience that belonged to the old one is cleared",
    kind: "Identity",
    olds: claims({ issuer: "https://a.example.com", subject: "s" }),
    news: claims({ issuerPattern: "^https://a", subject: "s" }),
    mask: ["claimMatch.issuerPattern", "claimMatch.audience"],
    body: { claimMatch: { issuerPattern: "^https://a", audience: "" } },
  },
  {
    name: "an audience that the server took from the issuer is cleared with the issuer",
    kind: "Identity",
    olds: claims({ issuer: "https://a.example.com", subject: "s" }),
    news: claims({ issuer: "https://b.example.com", subject: "s" }),
    mask: ["claimMatch.issuer", "claimMatch.audience"],
    body: { claimMatch: { issuer: "https://b.example.com", audience: "" } },
  },
  {
    name: "it stays where the new issuer has the same host",
    kind: "Identity",
    olds: claims({ issuer: "https://a.example.com/one", subject: "s" }),
    news: claims({ issuer: "https://a.example.com/two", subject: "s" }),
    mask: ["claimMatch.issuer"],
    body: { claimMatch: { issuer: "https://a.example.com/two" } },
  },
];

describe("the exact PATCH", () => {
  test.each(exact)("$name", ({ kind, olds, news, mask, body }) => {
    expect(buildPatch(specOf(kind), olds, news)).toEqual({ mask, body });
  });
});

/** A kind whose object has a member that cannot be changed beside one that can. */
const madeUp: ResourceSpec = describeKind({
  kind: "MadeUp",
  noun: "made-up thing",
  collection: "/iam/v2/madeUps",
  listsByName: false,
  fields: {
    inner: object(shape({ fields: { fixed: string({ immutable: true }), free: string() } })),
  },
});

test("an immutable member is left out of the PATCH and replaces by the name of its field", () => {
  const olds = { inner: { fixed: "a", free: "a" } };
  expect(buildPatch(madeUp, olds, { inner: { fixed: "b", free: "b" } })).toEqual({
    mask: ["inner.free"],
    body: { inner: { free: "b" } },
  });
  expect(diffInputs(madeUp, olds, { inner: { fixed: "b", free: "a" } }).replaces).toEqual(["inner"]);
  expect(diffInputs(madeUp, olds, { inner: { fixed: "a", free: "b" } }).replaces).toEqual([]);
  expect(diffInputs(madeUp, olds, { inner: { fixed: UNKNOWN, free: "b" } }).replaces).toEqual(["inner"]);
  expect(diffInputs(madeUp, olds, { inner: { fixed: "a", free: UNKNOWN } }).replaces).toEqual([]);
  expect(diffInputs(madeUp, olds, { inner: UNKNOWN }).replaces).toEqual(["inner"]);
});

test("a label that all objects have a member of is new where it is not there yet", () => {
  const [olds, news] = [{}, { constructor: { identityUid: GROUP_UID, roleUid: GROUP_UID } }];
  expect(diffInputs(specOf("GroupAccess"), { bindings: olds }, { bindings: news }).properties).toMatchObject([
    { path: "bindings.constructor", change: "add" },
  ]);
});

const keysOf = (found: readonly { readonly property: string }[]) => found.map(({ property }) => property);

describe("what replaces a resource", () => {
  test.each(specs)(
    "$kind: its parent, and what its samples replace it by",
    ({ kind, fields, oneOfs = [] }) => {
      const immutable = Object.keys(fields).filter((key) => fields[key]?.immutable);
      const choices = oneOfs.filter((oneOf) => oneOf.immutable).flatMap(({ members }) => members);
      const replacements = lives
        .filter((life) => life.kind === kind)
        .flatMap((life) => life.replacements ?? []);
      const replaced = keysOf(replacements).filter((key) => key in fields && !choices.includes(key));
      expect(immutable.sort()).toEqual([...new Set(["parentUid", ...replaced])].sort());
    },
  );

  test.each(samples)("$kind, $label: no change of anything else", ({ kind, inputs }) => {
    const spec = specOf(kind);
    for (const { path, field } of leavesOf(spec.fields)) {
      if (field.immutable || valueAt(inputs, path) === undefined) continue;
      const changed = withValue(inputs, path, otherValue(field, valueAt(inputs, path)));
      expect([path, diffInputs(spec, inputs, changed)]).toMatchObject([
        path,
        { changed: true, replaces: [] },
      ]);
    }
  });

  test.each(samples)("$kind, $label: an unknown value, where it cannot be changed", ({ kind, inputs }) => {
    const spec = specOf(kind);
    for (const { path, field } of leavesOf(spec.fields)) {
      if (valueAt(inputs, path) === undefined) continue;
      const unknown = withValue(inputs, path, UNKNOWN);
      const replaces = field.immutable ? [path[0]] : [];
      expect([path, diffInputs(spec, inputs, unknown)]).toMatchObject([path, { changed: true, replaces }]);
    }
    for (const [key, field] of Object.entries(spec.fields)) {
      if (inputs[key] === undefined) continue;
      const cannotChange =
        field.immutable === true ||
        (field.type === "object" && leavesOf(field.fields).some((leaf) => leaf.field.immutable));
      expect([key, diffInputs(spec, inputs, { ...inputs, [key]: UNKNOWN })]).toMatchObject([
        key,
        { changed: true, replaces: cannotChange ? [key] : [] },
      ]);
    }
  });

  const kindsOfIdentity = ["claimMatch", "staticKeys", "awsIdentity", "servicePrincipal"];
  const keyOf = (inputs: Props) => kindsOfIdentity.find((key) => key in inputs) ?? "";
  const relationships = ["claims", "keys", "aws", "service"].map((label): Props => {
    const inputs = sampleOf("Identity", label);
    return { [keyOf(inputs)]: inputs[keyOf(inputs)] };
  });
  const [claimed = {}] = relationships;

  test.each<[string, string, Props, Props, string[]]>([
    ["a parent that is given", "Group", {}, { parentUid: ROOT_UID }, ["parentUid"]],
    ["a parent that is not known yet", "Group", {}, { parentUid: UNKNOWN }, ["parentUid"]],
    ["a parent that is taken away", "Group", { parentUid: ROOT_UID }, {}, ["parentUid"]],
    ["an empty parent, but not", "Group", {}, { parentUid: "" }, []],
    ...relationships.flatMap((from) =>
      relationships
        .filter((to) => to !== from)
        .map((to): [string, string, Props, Props, string[]] => [
          `${keyOf(to)} in place of ${keyOf(from)}`,
          "Identity",
          from,
          to,
          [keyOf(from), keyOf(to)],
        ]),
    ),
    ["one where there was none, but not", "Identity", {}, claimed, []],
    ["none where there was one, but not", "Identity", claimed, {}, []],
    // It can only turn out to be none.
    ["an unknown one beside it, but not", "Identity", claimed, { ...claimed, staticKeys: UNKNOWN }, []],
    ["an unknown one", "Identity", claimed, { staticKeys: UNKNOWN }, ["claimMatch", "staticKeys"]],
    ["two unknown ones", "Identity", claimed, { claimMatch: UNKNOWN, staticKeys: UNKNOWN }, ["staticKeys"]],
    ["the same, wholly unknown, but not", "Identity", claimed, { claimMatch: UNKNOWN }, []],
  ])("%s: %s", (_what, kind, olds, news, replaces) => {
    const found = diffInputs(specOf(kind), { name: "a", ...olds }, { name: "a", ...news });
    expect([...found.replaces].sort()).toEqual([...replaces].sort());
  });
});

/** A kind with a name that the server takes where none is given. */
const webhook = kind({
  kind: "Webhook",
  collection: "/registry/v2/webhooks",
  fields: {
    name: string({ required: true, immutable: true }),
    mode: enumOf("MODE_", "AUDIT ENFORCE", { default: "AUDIT" }),
  },
});

test("a name that is the default is sent where a program spells it out, else cleared", () => {
  const spelledOut = { name: "a", mode: "MODE_AUDIT" };
  expect(buildCreateBody(webhook, spelledOut)).toEqual(spelledOut);
  expect(buildCreateBody(webhook, { name: "a", mode: "" })).toEqual({ name: "a" });
  expect(buildPatch(webhook, { mode: "MODE_ENFORCE" }, { mode: "MODE_AUDIT" })).toEqual({
    mask: ["mode"],
    body: { mode: "MODE_AUDIT" },
  });
  expect(buildPatch(webhook, { mode: "MODE_ENFORCE" }, {})).toEqual({
    mask: ["mode"],
    body: { mode: "MODE_UNSPECIFIED" },
  });
  expect(buildPatch(webhook, {}, { mode: "MODE_AUDIT" })).toEqual({ mask: [], body: {} });
});
