import { formats } from "../../../provider/fields/formats";
import type { Format } from "../../../provider/fields/formats";
import type { FieldSpec } from "../../../provider/fields/fieldSpec";
import type { ResourceSpec } from "../../../provider/fields/resourceSpec";
import { isObject } from "../../../provider/fields/values";
import type { Json, Props } from "../../../provider/fields/values";
import {
  JWKS,
  PUBLIC_KEY,
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
import { diffInputs } from "../../../provider/fields/diff";
import { buildCreateBody, emptyWireValue, readBody } from "../../../provider/fields/wire";
import { mergeLive, NORMALIZED, outputsFor } from "../../../provider/fields/mergeLive";

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

/** Texts that look like another value. */
const oddTexts = ["0", "false", "null", "{}", "x.y", "ünïcode"];

/** Other values of a field that are set. */
function otherValuesOf(field: FieldSpec): readonly Json[] {
  if (field.type === "enum") return field.known.slice(0, 4).map((name) => `${field.prefix}${name}`);
  if (field.type === "integer") return [1, -3];
  if (field.type !== "string") return [];
  return field.format ? [...formats[field.format].examples, ...(spellings[field.format] ?? [])] : oddTexts;
}

/** The spellings of "not set". */
function unsetOf(field: FieldSpec): readonly (Json | undefined)[] {
  const empty: Readonly<Record<FieldSpec["type"], Json>> = {
    string: "",
    enum: field.type === "enum" ? `${field.prefix}UNSPECIFIED` : "",
    boolean: false,
    integer: 0,
    list: [],
    map: {},
    object: {},
  };
  return [undefined, null, empty[field.type]];
}

/** A value with one part written in another way, each part at any depth in turn. */
function variantsOf(field: FieldSpec, value: Json | undefined): Json[] {
  const inside =
    field.type === "list" && Array.isArray(value)
      ? value.flatMap((item, i) =>
          variantsOf(field.items, item).map((other) => value.map((each, at) => (at === i ? other : each))),
        )
      : field.type === "map" && isObject(value)
        ? [
            ...["a.b", "__proto__", "1"].map((key) => Object.fromEntries([[key, Object.values(value)[0]]])),
            ...Object.entries(value).flatMap(([key, each]) =>
              variantsOf(field.values, each).map((other) => ({ ...value, [key]: other })),
            ),
          ]
        : field.type === "object" && isObject(value)
          ? Object.entries(field.fields).flatMap(([key, inner]) =>
              [...unsetOf(inner), ...variantsOf(inner, value[key])].map((other) => ({
                ...value,
                [key]: other,
              })),
            )
          : [];
  return [...otherValuesOf(field), ...(inside as Json[])];
}

/** The inputs of the samples of a kind, also with each part written in another way. */
const inputsOf = ({ kind, fields }: ResourceSpec): Props[] =>
  samples
    .filter((sample) => sample.kind === kind)
    .flatMap(({ inputs }) => [inputs, ...(variantsOf({ type: "object", fields }, inputs) as Props[])])
    .map((inputs) => Object.fromEntries(Object.entries(inputs).filter(([, value]) => value !== undefined)));

const overTheWire = (value: Props): Props => JSON.parse(JSON.stringify(value)) as Props;

/** The resource that inputs make, as the server would answer it: every empty member present. */
function answered(spec: ResourceSpec, inputs: Props): Props {
  const body = overTheWire(buildCreateBody(spec, inputs));
  const empties = Object.entries(spec.fields)
    .filter(([, field]) => !field.path)
    .map(([key, field]): [string, Json] => [field.wire ?? key, emptyWireValue(field)]);
  return {
    ...Object.fromEntries(empties),
    ...body,
    uid: GROUP_UID,
    createTime: "2026-01-01T00:00:00.123Z",
    updateTime: null,
  };
}

/** What the answer tells, and what it cannot: the address, and what is not in the body. */
const liveOf = (spec: ResourceSpec, inputs: Props, uid = ROOT_UID): Props => ({
  ...readBody(spec, answered(spec, inputs), uid),
  ...Object.fromEntries(
    Object.entries(inputs).filter(([key, value]) => {
      const field = spec.fields[key];
      return (field?.path ?? field?.subresource) && Boolean(value);
    }),
  ),
});

/** Without what is sent and never answered. */
function toldOnly(fields: ResourceSpec["fields"], live: Props): Props {
  const entries = Object.entries(live)
    .filter(([key]) => !fields[key]?.inputOnly)
    .map(([key, value]): [string, Json | undefined] => {
      const field = fields[key];
      const isObject = value !== null && typeof value === "object" && !Array.isArray(value);
      return [key, field?.type === "object" && isObject ? toldOnly(field.fields, value) : value];
    });
  return Object.fromEntries(entries);
}

describe("the body of a create", () => {
  test("leaves out every spelling of what is not set", () => {
    const inputs = {
      parentUid: GROUP_UID,
      name: "nginx",
      description: "",
      catalogTier: "CATALOG_TIER_UNSPECIFIED",
      bundles: [],
      syncConfig: null,
      customOverlay: { contents: { packages: [] }, environment: {} },
    };
    expect(buildCreateBody(specOf("Repo"), inputs)).toEqual({ name: "nginx" });
  });
});

describe("hooks of the kinds", () => {
  test("a group below a root inherits its kind and has no other", () => {
    const body = { name: "team", kind: "ORG_KIND_CUSTOMER", verified: true };
    expect(readBody(specOf("Group"), body, GROUP_UID)).toEqual({ name: "team" });
    expect(readBody(specOf("Group"), body, ROOT_UID)).toEqual(body);
  });

  test.each([
    ["both forms", { identityUid: "a", roleUid: "b", identity: { uid: "a" }, role: { uid: "b" } }],
    ["uids only", { identityUid: "a", roleUid: "b" }],
    ["objects only", { identity: { uid: "a", name: "x" }, role: { uid: "b" } }],
    ["empty uids beside some", { identityUid: "", roleUid: "", identity: { uid: "a" }, role: { uid: "b" } }],
    ["uids beside null", { identityUid: "a", roleUid: "b", identity: null, role: null }],
    ["uids beside empty objects", { identityUid: "a", roleUid: "b", identity: { uid: "" }, role: {} }],
  ])("a binding is read from %s", (_name, body) => {
    expect(readBody(specOf("RoleBinding"), body, GROUP_UID)).toEqual({ identityUid: "a", roleUid: "b" });
  });

  test("a binding whose response has neither form has no identity and no role", () => {
    expect(readBody(specOf("RoleBinding"), { identity: null, role: [] }, GROUP_UID)).toEqual({});
  });
});

describe("reading what the server holds", () => {
  test.each(specs)("$kind: keeps the program's spelling of whatever means the same", (spec) => {
    for (const inputs of inputsOf(spec))
      expect(mergeLive(spec, inputs, liveOf(spec, inputs))).toEqual({ inputs, outs: inputs });
  });

  test.each(specs)("$kind: takes everything where nothing is known of the program", (spec) => {
    for (const inputs of inputsOf(spec)) {
      const live = toldOnly(spec.fields, liveOf(spec, inputs));
      expect(mergeLive(spec, {}, live)).toEqual({ inputs: live, outs: live });
      expect(mergeLive(spec, { __provider: "x" }, live).inputs).toEqual(live);
    }
  });

  test.each(samples)("$kind, $label: each field that the program set shows as drift", ({ kind, inputs }) => {
    const spec = specOf(kind);
    for (const { path, field } of leavesOf(spec.fields)) {
      if (valueAt(inputs, path) === undefined || field.path || field.inputOnly) continue;
      if (spec.fields[path[0] ?? ""]?.inputOnly) continue;
      const other = field.type === "list" ? ["other"] : field.type === "map" ? { other: "x" } : "other";
      const drifted = withValue(inputs, path, field.type === "boolean" ? undefined : other);
      const { inputs: read } = mergeLive(spec, inputs, drifted);
      expect([path, read]).toEqual([path, drifted]);
      const around = path.slice(0, -1);
      const isAlone = around.length > 0 && Object.keys(valueAt(inputs, around) as Props).length === 1;
      const gone = withValue(inputs, isAlone ? around : path, undefined);
      expect([path, mergeLive(spec, inputs, withValue(inputs, path, undefined)).inputs]).toEqual([
        path,
        gone,
      ]);
      expect(diffInputs(spec, read, inputs).changed).toBe(true);
    }
  });

  test.each(specs)("$kind: what the program did not set shows only where it is security relevant", (spec) => {
    const shown = leavesOf(spec.fields)
      .filter(({ path, field }) => {
        if (field.path) return false;
        const value: Json = field.type === "list" ? ["x"] : field.type === "map" ? { a: "x" } : "x";
        const live = withValue({}, path, field.type === "boolean" || value);
        const parent = { parentUid: GROUP_UID };
        const olds = path.length === 1 ? parent : withValue(parent, path.slice(0, -1), {});
        const { inputs } = mergeLive(spec, olds, { ...parent, ...live });
        return valueAt(inputs, path) !== undefined;
      })
      .map(({ path }) => path.join("."));
    expect(shown).toMatchSnapshot();
  });
});

describe("what the server fills in", () => {
  const claims = (members: Props): Props => ({ parentUid: GROUP_UID, name: "ci", claimMatch: members });
  const issuer = { issuer: "https://a.example.com/path", subject: "s" };
  const issuers = { issuerPattern: "^https://.*$", subject: "s" };
  const keys = sampleOf("Identity", "keys");
  const end = ["staticKeys", "expirationTime"];
  const synced = { parentUid: GROUP_UID, name: "nginx", syncConfig: { source: "nginx" } };
  const filled = {
    ...synced,
    description: "From the source",
    catalogTier: "CATALOG_TIER_BASE",
    bundles: ["base"],
    aliases: ["a:b"],
    activeTags: ["latest"],
  };

  test.each<[string, string, Props, Props]>([
    ["the host as audience", "Identity", claims(issuer), claims({ ...issuer, audience: "a.example.com" })],
    ["the default expiration of keys", "Identity", withValue(keys, end, undefined), keys],
    ["what a synced repository gets from its source", "Repo", synced, filled],
  ])("%s is not drift", (_what, kind, olds, live) => {
    expect(mergeLive(specOf(kind), olds, live).inputs).toEqual(olds);
  });

  test.each<[string, string, Props, Props]>([
    ["another audience", "Identity", claims(issuer), claims({ ...issuer, audience: "evil.example.com" })],
    [
      "an audience beside a pattern of issuers",
      "Identity",
      claims(issuers),
      claims({ ...issuers, audience: "a.example.com" }),
    ],
    ["another expiration than given", "Identity", keys, withValue(keys, end, "2028-01-01T00:00:00Z")],
    [
      "another description than the program gave to a synced repository",
      "Repo",
      { ...synced, description: "Mine" },
      { ...synced, description: "From the source" },
    ],
  ])("%s is drift", (_what, kind, olds, live) => {
    expect(mergeLive(specOf(kind), olds, live).inputs).toEqual(live);
  });
});

describe("a source that the server rewrites", () => {
  const repo = specOf("Repo");
  const SOURCE_UID = `${ROOT_UID}/00000000000000aa`;
  const repoOf = (source: string, more: Props = {}): Props => ({
    parentUid: GROUP_UID,
    name: "nginx",
    syncConfig: { source, ...more },
  });
  const inputs = repoOf("nginx");
  const outs = { ...inputs, [NORMALIZED]: { "syncConfig.source": SOURCE_UID } };

  test("is remembered beside the program's spelling", () => {
    expect(outputsFor(repo, inputs, repoOf(SOURCE_UID))).toEqual(outs);
    expect(NORMALIZED).toBe("__normalized");
  });

  test("reads as the program's spelling as long as the server's form is the same", () => {
    expect(mergeLive(repo, outs, repoOf(SOURCE_UID))).toEqual({ inputs, outs });
  });

  test("shows drift if the server's form changed or is missing", () => {
    const other = `${ROOT_UID}/00000000000000bb`;
    const drifted = mergeLive(repo, outs, repoOf(other));
    expect(drifted.inputs).toEqual(repoOf(other));
    expect(drifted.outs).toEqual(repoOf(other));
    expect(diffInputs(repo, drifted.outs, inputs).changed).toBe(true);
    const gone = mergeLive(repo, outs, { parentUid: GROUP_UID, name: "nginx" });
    expect(gone.inputs).toEqual({ parentUid: GROUP_UID, name: "nginx" });
  });

  test("is remembered if a response omits the object or the member, or has the form of somebody else", () => {
    const ofAnother = repoOf(`${ROOT_UID}/00000000000000bb`);
    for (const live of [{}, { name: "nginx" }, { syncConfig: { google: "g" } }, ofAnother]) {
      expect(outputsFor(repo, inputs, live, outs)).toEqual(outs);
    }
    const more = repoOf("nginx", { google: "g" });
    expect(outputsFor(repo, more, {}, outs)).toEqual({ ...more, [NORMALIZED]: outs[NORMALIZED] });
  });
});

test("a value that is sent and never returned is kept from state on read, whatever the response contains", () => {
  const spec = specOf("IdentityProvider");
  const secret = ["oidc", "clientSecret"];
  const olds = withValue(sampleOf("IdentityProvider"), secret, "canary");
  for (const returned of [undefined, "", "other"])
    expect(mergeLive(spec, olds, withValue(olds, secret, returned)).inputs).toEqual(olds);
});
