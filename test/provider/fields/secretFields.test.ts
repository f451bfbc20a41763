import { createHash } from "node:crypto";
import { maskCredentials } from "../../../provider/text/printable";
import { checkInputs } from "../../../provider/fields/check";
import { registerSecretsOf } from "../../../provider/lifecycle/messages";
import { containsSecret } from "../../../provider/fields/fieldSpec";
import type { FieldSpec, PublicSpec, SecretSpec } from "../../../provider/fields/fieldSpec";
import { kinds } from "../../../provider/kinds";
import * as schema from "../../../provider/fields/builders";
import { leavesOf, withValue } from "../support/samples";

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
