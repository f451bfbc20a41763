import { generateKeyPairSync } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { calculateJwkThumbprint } from "jose";
import type { JWK } from "jose";
import { compareKeys, createEffectContext, describeEffects } from "../../../../provider/access/effects";
import type { ReasonedDirection } from "../../../../provider/access/effects";
import { keysIn } from "../../../../provider/access/documents/digest";
import { PatternComparer } from "../../../../provider/access/trust/patternComparer";
import { specOf } from "../../support/samples";

/** The key of RFC 7638, section 3.1, and its thumbprint there. */
const rfc = {
  kty: "RSA",
  n: "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw",
  e: "AQAB",
  alg: "RS256",
  kid: "2011-04-29",
};

const jwkOf = ({ publicKey }: { publicKey: KeyObject }): JWK => publicKey.export({ format: "jwk" });
const generated: readonly (readonly [string, JWK])[] = [
  ["RSA", jwkOf(generateKeyPairSync("rsa", { modulusLength: 2048 }))],
  ["EC P-256", jwkOf(generateKeyPairSync("ec", { namedCurve: "P-256" }))],
  ["EC P-521", jwkOf(generateKeyPairSync("ec", { namedCurve: "P-521" }))],
  ["Ed25519", jwkOf(generateKeyPairSync("ed25519"))],
];
const setOf = (...keys: object[]): string => JSON.stringify({ keys });
const namesIn = (...keys: object[]): string[] => [
  ...(keysIn(setOf(...keys)) ?? new Map<string, string>()).values(),
];

test("names the key of RFC 7638 by its thumbprint there", () => {
  expect(namesIn(rfc)).toEqual(["key NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs, kid 2011-04-29"]);
});

test.each(generated)(
  "names a key by the thumbprint that another library computes: %s",
  async (_type, key) => {
    expect(namesIn({ ...key, kid: "a" })).toEqual([`key ${await calculateJwkThumbprint(key)}, kid a`]);
  },
);

test.each<[string, object]>([
  ["a type that nobody knows", { kty: "constructor", kid: "a" }],
  ["a member that is missing", { kty: "RSA", e: "AQAB", kid: "a" }],
  ["a member of another type", { kty: "OKP", crv: "Ed25519", x: 1, kid: "a" }],
])("says of a key with %s that it has no thumbprint", (_title, key) => {
  expect(namesIn(key)).toEqual([
    expect.stringMatching(/^key of an unknown form \(sha256 [0-9a-f]{32}\), kid a$/),
  ]);
});

test("tells nothing of a secret, and needs no kid", () => {
  expect(namesIn({ kty: "oct", k: "hunter2" })).toEqual(["key of an unknown form (private), without a kid"]);
});

test("is how a report shows a change of keys, never by their members", () => {
  const [[, one], [, two], [, three]] = generated as [[string, JWK], [string, JWK], [string, JWK]];
  const keyed = (...keys: object[]) => ({
    staticKeys: { issuer: "https://a.example", subject: "s", issuerKeys: setOf(...keys) },
  });
  const context = createEffectContext(new Map(), new Map(), new PatternComparer());
  const effects = describeEffects(specOf("Identity"), keyed(one, two), keyed(two, three), context);
  const [first, second, third] = [one, two, three].map((key) => namesIn(key)[0] ?? "");
  expect(effects).toEqual([
    {
      path: "staticKeys.issuerKeys",
      before: `${first}; ${second}`,
      after: `${second}; ${third}`,
      effect: "keys",
      direction: "widened",
      reason: `adds ${third}; takes away ${first}`,
    },
  ]);
  for (const { n, x } of [one, two, three]) expect(JSON.stringify(effects)).not.toContain(n ?? x);
});

const [[, first], [, second], [, third]] = generated as [[string, JWK], [string, JWK], [string, JWK]];
const a = { ...first, kid: "a" };
const anotherA = { ...second, kid: "a" };
const b = { ...third, kid: "b" };

test.each<[string, object[], object[], ReasonedDirection["direction"]]>([
  ["an order that means nothing", [a, b], [b, a], "neutral"],
  ["one key that is there twice", [a, a, b], [b, a], "neutral"],
  ["an item that is no key", [a], [a, []], "neutral"],
  ["an added key", [a], [a, b], "widened"],
  ["a key that goes", [a, b], [a], "narrowed"],
  ["two keys of one kid that change places", [a, anotherA], [anotherA, a], "unknown"],
  ["two keys without a kid that change places", [first, second], [second, first], "unknown"],
  ["two keys of one kid that stay, beside one that goes", [a, b, anotherA], [a, anotherA], "narrowed"],
  ["the first of two keys of one kid, which goes", [a, anotherA], [anotherA], "unknown"],
  ["both keys of one kid, which go", [a, anotherA, b], [b], "narrowed"],
  ["a second key of one kid", [a], [anotherA, a], "widened"],
])("compares the keys that count: %s", (_title, before, after, direction) => {
  expect(compareKeys(setOf(...before), setOf(...after)).direction).toBe(direction);
});
